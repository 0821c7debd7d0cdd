"""Drawing dice and their values on a photograph or a picture of the table, for a person to check."""

from __future__ import annotations

from collections.abc import Sequence

import cv2

from vision.frame import Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import DicePieces
from vision.layout.surfaces import Surface
from vision.readers.dice.photographs import DieInPicture
from vision.reading import RollReading

_SURE, _DOUBTFUL, _NO_VALUE = (60, 200, 0), (0, 170, 255), (0, 0, 230)
"""Colours of certain and doubtful dice and of those without a value, blue-green-red."""
SURE_FROM = 0.9
"""Probability from which a value counts as certain."""


def draw_dice(picture: Image, dice: Sequence[DieInPicture]) -> Image:
    """Return a copy with a box and value for each die: green if certain, orange if in doubt, red if it leans."""
    drawn = picture.copy()
    for die in dice:
        _draw(drawn, die)
    return drawn


def draw_roll(picture: Image, roll: RollReading, surface: Surface, camera: CameraModel, pose: Pose) -> Image:
    """Return a copy with a box and value for each die of a tray, in the colours of ``draw_dice``; a die that is no roll
    yet is red, with the reason.
    """
    drawn = picture.copy()
    half = DicePieces.on(surface).largest_mm * 0.6
    for die in roll.dice:
        around = [(die.x_mm + x, die.y_mm + y, surface.height_mm + half) for x in (-half, half) for y in (-half, half)]
        pixels = project(camera, pose, around)
        best, probability = die.best
        value = best if die.is_settled else None
        (left, top), (right, bottom) = pixels.min(axis=0).tolist(), pixels.max(axis=0).tolist()
        _draw(drawn, DieInPicture((left, top, right, bottom), value, probability), die.why_unsettled)
    return drawn


def _draw(drawn: Image, die: DieInPicture, why_no_value: str = "leans") -> None:
    thickness = max(1, round(min(drawn.shape[:2]) / 400))
    colour = _NO_VALUE if die.value is None else _SURE if die.probability >= SURE_FROM else _DOUBTFUL
    left, top, right, bottom = (round(end) for end in die.box)
    cv2.rectangle(drawn, (left, top), (right, bottom), colour, thickness, cv2.LINE_AA)
    label = why_no_value if die.value is None else f"{die.value} {die.probability:.0%}"
    size = max(0.35, (bottom - top) / 90)
    cv2.putText(drawn, label, (left, max(top - 3, 10)), cv2.FONT_HERSHEY_SIMPLEX, size, colour, thickness)
