"""Drawing detected blocks on the picture, for a person to check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import cv2
import numpy as np

from vision.drawing import write_text
from vision.frame import Image
from vision.geometry import CameraModel, Pose, Side, project
from vision.opencv import as_colour

if TYPE_CHECKING:
    from vision.readers.blocks.reader import BlockSighting

_SURE, _UNSURE, _SIDE = (80, 220, 80), (60, 60, 255), (255, 200, 60)
"""Colours of outlines and names: blue, green, red."""


def draw_blocks(image: Image, blocks: Mapping[str, BlockSighting], camera: CameraModel, pose: Pose) -> Image:
    """Return a copy of the picture with every block's outline, top symbol and readable sides written on it.

    Blocks are drawn green, or red with their log-odds if these are 0 or less.
    """
    picture = as_colour(image).copy()
    for place, block in blocks.items():
        colour = _SURE if block.log_odds > 0 else _UNSURE
        corners = np.round(project(camera, pose, block.solid.corners_mm())).astype(np.int32)
        below, above = corners[:4], corners[4:]
        cv2.polylines(picture, [above.reshape(-1, 1, 2), below.reshape(-1, 1, 2)], True, colour, 1, cv2.LINE_AA)
        for low, high in zip(below, above, strict=True):
            cv2.line(picture, tuple(map(int, low)), tuple(map(int, high)), colour, 1, cv2.LINE_AA)
        doubt = "" if block.log_odds > 0 else f" {block.log_odds:.0f}"
        write_text(
            picture,
            f"{place} {block.colour or '?'} {block.face.symbol}{doubt}",
            above.min(axis=0).astype(np.float64),
            colour,
        )
        for side in Side:
            probabilities = block.sides.get(side)
            if probabilities:
                symbol = max(probabilities, key=lambda name: probabilities[name])
                middle = project(camera, pose, block.solid.side_corners_mm(side).mean(axis=0))[0]
                write_text(picture, f"{side[0]}:{symbol}", middle, _SIDE)
    return picture
