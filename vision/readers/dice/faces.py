"""Faces without pips: numbers, letters, stars and shapes, learned from one picture a face.

A face is kept as its ink: how far each point's colour is from the body's, so that dice of other colours fit, too. What
is up is the face whose ink is most like that seen, over all turns (normalised cross-correlation).
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from common.program import PROGRAM
from vision.errors import EnrolmentError
from vision.frame import Image
from vision.readers.dice.finding import FindingSettings, find_dice
from vision.readers.dice.networks import CROP_PX, DIE_IN_CROP_PX, Floats, Networks

_TURNS = 36
_SIZES = (0.88, 0.97, 1.06, 1.16)
_SHIFTS_PX = ((0, 0), (1.3, 0), (-1.3, 0), (0, 1.3), (0, -1.3))
"""By how much the finder may be off, in the size of a die and in where its middle is."""
_BLUR_PX = 0.8
"""Softens the ink so that a die that is found a pixel off still fits."""
_SHARPNESS = 30.0
"""How much a better likeness counts, in log-odds per unit of correlation; one picture a face of made dice gave it."""
_REACH = 0.46
"""How far from the middle ink is looked at, as a share of the edge: the rim shows the sides and the table."""


INSIDE = np.hypot(*(np.indices((CROP_PX, CROP_PX)) - (CROP_PX - 1) / 2)) < _REACH * DIE_IN_CROP_PX
"""The points of a square that are looked at, (CROP_PX, CROP_PX)."""


@dataclass(frozen=True, eq=False)
class FaceSet:
    """The faces of a set of dice: their names and their ink, (n, CROP_PX * CROP_PX), each of length 1."""

    names: tuple[str, ...]
    inks: Floats

    def probabilities(self, square: Image) -> dict[str, float]:
        """How probable each face is, given a die's square of ``FoundDie``; they sum to 1."""
        turned = np.stack([ink_of(one) for one in _turned(square)])
        likeness = (self.inks @ turned.T).max(axis=1)
        chances = np.exp(_SHARPNESS * (likeness - likeness.max()))
        chances /= chances.sum()
        return {name: float(chance) for name, chance in zip(self.names, chances, strict=True)}

    def save(self, path: Path) -> None:
        """Write the faces to a file."""
        with path.open("wb") as file:
            np.savez_compressed(file, names=np.array(self.names), inks=self.inks.astype(np.float16))

    @classmethod
    def load(cls, path: Path) -> FaceSet:
        """Read what ``save`` wrote; raises EnrolmentError."""
        try:
            with np.load(path, allow_pickle=False) as held:
                names, inks = held["names"], held["inks"].astype(np.float32)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            raise EnrolmentError(
                f"cannot read the faces {path}; expected what `{PROGRAM} pieces enrol --dice` wrote"
            ) from None
        return cls(tuple(str(name) for name in names), np.asarray(inks, dtype=np.float32))


def learn_faces(pictures: Mapping[str, Image], networks: Networks) -> FaceSet:
    """Learn faces from one picture each, by name; raises EnrolmentError where a picture shows no die or several."""
    inks = []
    for name, image in pictures.items():
        found = find_dice(image, networks, (10.0, 0.6 * min(image.shape[:2])), FindingSettings())
        if len(found) != 1:
            raise EnrolmentError(
                f"the picture of the face {name!r} shows {len(found) or 'no'} dice; expected one alone, that face up"
            )
        inks.append(ink_of(found[0].square))
    if len(inks) < 2:
        raise EnrolmentError(f"{len(inks)} face was given; expected at least two, to tell them apart")
    return FaceSet(tuple(pictures), np.stack(inks))


def _turned(square: Image) -> list[Image]:
    middle = (CROP_PX - 1) / 2
    turned = []
    for turn in range(_TURNS):
        for size in _SIZES:
            for across, down in _SHIFTS_PX:
                matrix = cv2.getRotationMatrix2D((middle + across, middle + down), 360 * turn / _TURNS, size)
                matrix[:, 2] -= np.array([across, down])
                turned.append(np.asarray(cv2.warpAffine(square, matrix, (CROP_PX, CROP_PX)), dtype=np.uint8))
    return turned


def ink_of(square: Image, inside: npt.NDArray[np.bool_] = INSIDE) -> Floats:
    """How far each point of the upper side is from the body's colour, its mean taken off, of length 1; 0 outside."""
    lab = cv2.cvtColor(square.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)
    body = np.median(lab[inside], axis=0)
    away = cv2.GaussianBlur(np.linalg.norm(lab - body, axis=2), (0, 0), _BLUR_PX)
    ink = np.where(inside, away - away[inside].mean(), 0).astype(np.float32).ravel()
    return np.asarray(ink / max(float(np.linalg.norm(ink)), 1e-6), dtype=np.float32)
