"""What was read of dice, drawn over the picture for a person to check."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.frame import Image
from vision.readers.dice.photographs import DieInPicture

_SURE, _DOUBTFUL, _LEANS = (60, 200, 0), (0, 170, 255), (0, 0, 230)
_SURE_FROM = 0.9


def draw_dice(picture: Image, dice: Sequence[DieInPicture]) -> Image:
    """A copy with a box around each die and its value: green where it is sure, orange in doubt, red where it leans."""
    drawn = picture.copy()
    thickness = max(1, round(min(picture.shape[:2]) / 400))
    for die in dice:
        colour = _LEANS if die.value is None else _SURE if die.probability >= _SURE_FROM else _DOUBTFUL
        left, top, right, bottom = (round(end) for end in die.box)
        cv2.rectangle(drawn, (left, top), (right, bottom), colour, thickness, cv2.LINE_AA)
        label = "leans" if die.value is None else f"{die.value} {die.probability:.0%}"
        size = max(0.35, (bottom - top) / 90)
        cv2.putText(drawn, label, (left, max(top - 3, 10)), cv2.FONT_HERSHEY_SIMPLEX, size, colour, thickness)
    return np.asarray(drawn, dtype=np.uint8)
