"""Reading dice in a photograph, with unknown camera and unknown size of the dice."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.errors import FrameError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import DicePieces, Surface
from vision.readers.dice.faces import FaceSet
from vision.readers.dice.finding import VALUES, FindingSettings, FoundDie, find_dice
from vision.readers.dice.networks import Networks
from vision.reading import RollReading

PHOTOGRAPH = FindingSettings(leaning=0.02, side_strength=0.3)
"""Settings for photographs: dice hardly ever lean, only weak candidates are taken for side faces."""
BOX_PER_SIDE = 1.48
"""Side of a box that contains the whole die, in edges. Set by hand."""
LARGEST_SIDE_PX = 1600
"""The longer side of a photograph; larger ones are reduced to this."""
READABLE_EDGE_PX = 12.0
"""Edge from which a die can be read, in pixels of the reduced photograph."""
SMALLEST_SIDE_PX = 48
"""Minimum side of a picture."""
SMALLEST_DIE_PX = 10.0
"""Edge of the smallest die searched for, in pixels of the reduced photograph. Smaller: finds smaller dice, slower."""
LARGEST_DIE = 0.45
"""Edge of the largest die searched for, as a share of the shorter side of the picture."""

SURE = 0.4
"""Strength above which a die is clearly seen; grain and print stay below it in the training photographs."""
MAX_RATIO = 1.8
"""Maximum ratio of edges in one picture: dice are 12 to 20 mm, and some are farther away than others."""
EQUALISING = 0.5
"""Exponent by which an edge is moved towards its picture's median, from the training photographs."""


@dataclass(frozen=True)
class DieInPicture:
    """A die in a photograph: its box (left, top, right, bottom) in pixels, its value and its probability.

    ``value`` is ``None`` for a leaning die, a string for a learned face.
    """

    box: tuple[float, float, float, float]
    value: int | str | None
    probability: float


def read_photograph(
    image: Image, networks: Networks, name: str = "the picture", faces: FaceSet | None = None
) -> tuple[DieInPicture, ...]:
    """Read every die in a photograph, from left to right; raises FrameError for one that is too small.

    ``faces`` are the learned faces of dice without pips.
    """
    height, width = image.shape[:2]
    if min(height, width) < SMALLEST_SIDE_PX:
        raise FrameError(
            f"{name} is {width} x {height} pixels; dice need at least {SMALLEST_SIDE_PX} x {SMALLEST_SIDE_PX}; "
            "take a larger picture"
        )
    scale = _scale(image)
    smaller = image
    if scale < 1:
        size = round(width * scale), round(height * scale)
        smaller = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    sides = SMALLEST_DIE_PX, LARGEST_DIE * min(smaller.shape[:2])
    found = _without_odd_sizes(find_dice(smaller, networks, sides, PHOTOGRAPH))
    dice = [_die_in_picture(die, smaller, scale, faces) for die in found]
    return tuple(sorted(dice, key=lambda die: die.box))


def least_edge_px(image: Image) -> int:
    """Return the shortest edge of a die that can be read, in pixels of the photograph."""
    return math.ceil(READABLE_EDGE_PX / _scale(image))


def _scale(image: Image) -> float:
    """Return by how much a photograph is reduced: 1 for one that isn't."""
    longer: int = max(image.shape[:2])
    return min(1.0, LARGEST_SIDE_PX / longer)


def _without_odd_sizes(found: Sequence[FoundDie]) -> list[FoundDie]:
    """Remove weak candidates far smaller or larger than the clear ones, and equalise the others' edges."""
    sure = [die.side_px for die in found if die.strength >= SURE]
    if not sure:
        return list(found)
    median_px = statistics.median(sure)
    alike = [die for die in found if die.strength >= SURE or 1 / MAX_RATIO < die.side_px / median_px < MAX_RATIO]
    return [replace(die, side_px=die.side_px ** (1 - EQUALISING) * median_px**EQUALISING) for die in alike]


def _die_in_picture(die: FoundDie, image: Image, scale: float, faces: FaceSet | None) -> DieInPicture:
    middle, half = np.array([die.x_px, die.y_px]), die.side_px * BOX_PER_SIDE / 2
    box = np.clip([middle - half, middle + half], 0, image.shape[1::-1]).ravel() / scale
    left, top, right, bottom = (round(float(end), 1) for end in box)
    value: int | str | None
    if faces is not None:
        value, chance = max(faces.probabilities(die.square).items(), key=lambda pair: pair[1])
        probability = die.is_die * chance
    elif die.cocked > 0.5:
        value, probability = None, die.is_die * die.cocked
    else:
        # among all classes, not only the six values as in ``die.values()``: a die with other faces would look certain
        pips = die.probabilities[: len(VALUES)]
        value, probability = int(VALUES[pips.argmax()]), float(pips.max())
    return DieInPicture((left, top, right, bottom), value, probability)


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
