"""Faces without pips (numbers, letters, stars, shapes), learned from one picture per face.

A face is stored as its ink: the distance of each point's colour from the body's, so that dice of other colours match
too. The upper face is the one whose ink has the highest normalised cross-correlation over all rotations.
"""

from __future__ import annotations

import io
import tokenize
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import cv2
import numpy as np

from common.durable import write_durably
from common.phrases import counted
from vision.errors import EnrolmentError
from vision.frame import Image
from vision.opencv import as_lab
from vision.readers.dice.finding import find_dice
from vision.readers.dice.networks import CROP_PX, DIE_IN_CROP_PX, Networks
from vision.readers.networks import Floats
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
