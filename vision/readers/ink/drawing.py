"""Drawing what was read from a sheet onto the picture, for a person to check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import cv2
import numpy as np

from common.places import EMPTY
from vision.drawing import whole_pixels, write_text
from vision.frame import Image
from vision.geometry import project
from vision.layout.surfaces import Surface
from vision.opencv import as_colour
from vision.readers.protocols import SurfaceView

if TYPE_CHECKING:
    from vision.readers.ink.reader import InkSighting

_SURE, _UNSURE = (60, 140, 20), (60, 60, 255)
"""Colours of certain and of other readings, blue-green-red."""
_LEAST_SURE = 0.9
"""Probability above which a reading is drawn as certain."""


def draw_ink(image: Image, view: SurfaceView, surface: Surface, sightings: Mapping[str, InkSighting]) -> Image:
    """Return a copy of the picture with the outline of each written cell and what is read there.

    Certain readings are green, others red.
    """
    picture = as_colour(image).copy()
    for place, one in sightings.items():
        if one.log_odds <= 0:
            continue
        likely = {look: share for look, share in one.reading.probabilities.items() if look != EMPTY}
        look = max(likely, key=lambda name: likely[name])
        colour = _SURE if likely[look] > _LEAST_SURE and one.is_certain else _UNSURE
        outline = surface.outline_mm(place)
        points = np.column_stack([outline, np.full(len(outline), surface.height_mm)])
        pixels = project(view.camera, view.pose, points)
        cv2.polylines(picture, [whole_pixels(pixels)], True, colour, 1, cv2.LINE_AA)
        said = look.removeprefix("digit ").replace(" circled", "o")
        write_text(picture, said, pixels.min(axis=0).astype(float), colour)
    return picture
