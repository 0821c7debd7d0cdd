"""Drawing stacks onto the picture, for a person to check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import cv2
import numpy as np

from vision.drawing import write_text
from vision.frame import Image
from vision.geometry import project
from vision.opencv import as_colour
from vision.readers.protocols import SurfaceView

if TYPE_CHECKING:
    from vision.readers.stacks.reader import StackSighting

_SURE, _UNSURE = (80, 220, 80), (60, 60, 255)
"""Colours of certain and of other tops, blue-green-red."""
_SURE_FROM = 0.9
"""Probability above which a top is drawn as certain."""


def draw_stacks(image: Image, view: SurfaceView, stacks: Mapping[str, StackSighting]) -> Image:
    """Return a copy of the picture with every stack's base and edges, labelled with its top.

    ``yellow M5`` is a yellow medium pyramid on five others. Certain tops are green, others red with the probability.
    """
    picture = as_colour(image).copy()
    for stack in stacks.values():
        look, share = max(stack.looks.items(), key=lambda one: one[1])
        sure = stack.log_odds > 0 and share > _SURE_FROM
        colour = _SURE if sure else _UNSURE
        corners = np.round(project(view.camera, view.pose, stack.solid.corners_mm())).astype(np.int32)
        below = corners[:4]
        cv2.polylines(picture, [below.reshape(-1, 1, 2)], True, colour, 1, cv2.LINE_AA)
        tip = project(view.camera, view.pose, [[stack.top.x_mm, stack.top.y_mm, stack.top.tip_mm]])[0]
        for corner in below:
            end = (int(tip[0]), int(tip[1]))
            cv2.line(picture, (int(corner[0]), int(corner[1])), end, colour, 1, cv2.LINE_AA)
        named, size = look.split()
        doubt = "" if sure else f" {share:.2f}"
        write_text(picture, f"{named} {size[0].upper()}{stack.top.pieces}{doubt}", tip - (20, 4), colour)
    return picture
