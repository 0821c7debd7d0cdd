"""Reading dice in a photograph, with unknown camera and unknown size of the dice, and learning faces without pips.

A learned face is stored as its ink: the distance of each point's colour from the body's, so that dice of other colours
match too. The upper face is the one whose ink has the highest normalised cross-correlation over all rotations.
"""

from __future__ import annotations

import io
import math
import statistics
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import cv2
import numpy as np

from common.durable import write_durably
from common.phrases import counted
from vision.errors import EnrolmentError, FrameError
from vision.frame import Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import DicePieces, Surface
from vision.opencv import as_lab
from vision.readers.dice.finding import CROP_PX, DIE_IN_CROP_PX, VALUES, FindingSettings, FoundDie, Networks, find_dice
from vision.readers.networks import Floats
from vision.reading import RollReading
from vision.sampling import median

_TURNS = 36
"""Number of rotations at which a die is compared, over a full turn. More: finer, slower. Set by hand."""
_SIZES = (0.88, 0.97, 1.06, 1.16)
"""Factors by which a die is resized before it is compared, because the finder may misjudge its size."""
_SHIFTS_PX = ((0, 0), (1.3, 0), (-1.3, 0), (0, 1.3), (0, -1.3))
"""Offsets of its centre, in pixels of the square, for the same reason."""
_BLUR_PX = 0.8
"""Blurs the ink so that a die found one pixel off still matches."""
_SHARPNESS = 30.0
"""Log-odds per unit of correlation, estimated from one picture per face of rendered dice."""
_REACH = 0.46
"""Distance from the centre within which ink is compared, as a share of the edge: the rim shows the sides and table."""

_MOST_FILE_BYTES = 1024 * 1024
"""Maximum size of an unpacked file of faces; a hundred faces take a fifth of it."""
_DAMAGED = (
    *(OSError, ValueError, KeyError, EOFError, TypeError, RuntimeError, MemoryError, SyntaxError),
    *(tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
"""The undocumented exceptions of NumPy and zipfile for damaged files."""

INSIDE = np.hypot(*(np.indices((CROP_PX, CROP_PX)) - (CROP_PX - 1) / 2)) < _REACH * DIE_IN_CROP_PX
"""The points of a square that are compared, (CROP_PX, CROP_PX)."""


@dataclass(frozen=True, eq=False)
class FaceSet:
    """The faces of a set of dice: their names and their ink, (n, CROP_PX * CROP_PX), each of length 1."""

    names: tuple[str, ...]
    inks: Floats

    def probabilities(self, square: Image) -> dict[str, float]:
        """Return the probability of each face, given a die's ``FoundDie.square``; they sum to 1."""
        correlation = (self.inks @ inks_of(_transformed_squares(square)).T).max(axis=1)
        chances = np.exp(_SHARPNESS * (correlation - correlation.max()))
        chances /= chances.sum()
        return {name: float(chance) for name, chance in zip(self.names, chances, strict=True)}

    def save(self, path: Path) -> None:
        """Write the faces to a file, atomically; raises OSError."""
        packed = io.BytesIO()
        np.savez_compressed(packed, names=np.array(self.names), inks=self.inks.astype(np.float16))
        write_durably(path, packed.getvalue())

    @classmethod
    def load(cls, path: Path) -> FaceSet:
        """Read a file written by ``save``; raises EnrolmentError."""
        unreadable = EnrolmentError(f"cannot read the faces {path}; expected what `./run pieces enrol --dice` wrote")
        try:
            with zipfile.ZipFile(path) as packed:
                if sum(part.file_size for part in packed.infolist()) > _MOST_FILE_BYTES:
                    raise unreadable
            with np.load(path, allow_pickle=False) as held:
                names, inks = held["names"], held["inks"]
        except _DAMAGED:
            raise unreadable from None
        is_sound = names.ndim == 1 and names.dtype.kind == "U" and inks.dtype == np.float16
        if not is_sound or inks.shape != (len(names), INSIDE.size) or len(names) < 2 or not np.isfinite(inks).all():
            raise unreadable
        return cls(tuple(map(str, names)), inks.astype(np.float32))


def learn_faces(pictures: Mapping[str, Image], networks: Networks) -> FaceSet:
    """Learn faces from one picture each, by name.

    Raises EnrolmentError unless each shows exactly one die, and for a name that could not be written in a roll.
    """
    inks = []
    for name, image in pictures.items():
        if not name or "," in name or name.split() != [name]:
            raise EnrolmentError(f"{name!r} can't name a face: a roll is faces separated by commas; use, say, 7 or *")
        found = find_dice(image, networks, (10.0, 0.6 * min(image.shape[:2])))
        if len(found) != 1:
            raise EnrolmentError(
                f"the picture of the face {name!r} shows {len(found) or 'no'} dice; expected one alone, that face up, "
                "and no markers or anything printed"
            )
        inks.append(ink_of(found[0].square))
    if len(inks) < 2:
        raise EnrolmentError(f"{counted(len(inks), 'face')} given; expected at least two")
    return FaceSet(tuple(pictures), np.stack(inks))


def _transformed_squares(square: Image) -> list[Image]:
    """Return the square at every rotation, size and offset at which it is compared."""
    middle = (CROP_PX - 1) / 2
    squares = []
    for turn, size, (across, down) in product(range(_TURNS), _SIZES, _SHIFTS_PX):
        matrix = cv2.getRotationMatrix2D((middle + across, middle + down), 360 * turn / _TURNS, size)
        matrix[:, 2] -= np.array([across, down])
        squares.append(np.asarray(cv2.warpAffine(square, matrix, (CROP_PX, CROP_PX)), dtype=np.uint8))
    return squares


def ink_of(square: Image) -> Floats:
    """Return the ink of one square; see ``inks_of``."""
    return np.asarray(inks_of([square])[0])


def inks_of(squares: Sequence[Image]) -> Floats:
    """Return each point's distance from its square's body's colour, mean removed, of length 1; 0 outside the upper
    side; shape (squares, CROP_PX * CROP_PX).
    """
    # all at once, which is far faster than one by one
    lab = as_lab(np.concatenate(squares)).reshape(len(squares), CROP_PX, CROP_PX, 3)
    away = lab - median(lab[:, INSIDE], axis=1)[:, None, None]
    soft = np.stack([cv2.GaussianBlur(one, (0, 0), _BLUR_PX) for one in np.sqrt(np.square(away).sum(axis=3))])
    ink = np.where(INSIDE, soft - soft[:, INSIDE].mean(axis=1)[:, None, None], 0).astype(np.float32)
    rows = ink.reshape(len(squares), -1)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6), dtype=np.float32)


PHOTOGRAPH = FindingSettings(leaning=0.02, side_strength=0.3, beside=1.1, apart=0.6, least_die=0.6)
"""Settings for photographs, set on training photographs: dice hardly ever lean, a slanted view brings them closer
together, and only weak candidates are taken for side faces.
"""
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
    middle, half = np.array([die.x_px, die.y_px]), die.side_px * np.array(die.box_edges) / 2
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
