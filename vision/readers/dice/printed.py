"""Faces that are printed on dice, of a known set: digits, stars and shapes of four squares, read without teaching.

A die's upper side, flattened, is compared with drawings of such faces, turned and sized in all ways (normalised
cross-correlation). Which faces each die of the set has, and that each die lies there once, decides the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import permutations, product
from pathlib import Path

import cv2
import numpy as np

from common.program import PROGRAM
from vision.errors import LayoutError
from vision.frame import Image
from vision.readers.dice.faces import ink_of
from vision.readers.dice.networks import CROP_PX, DIE_IN_CROP_PX, WEIGHTS, Floats, crop

SIX_OR_NINE = "6"
PRINTED = ("0", "1", "2", "3", "4", "5", SIX_OR_NINE, "7", "8", "*", "I", "O", "T", "L", "S")
"""The faces that are known. A 6 and a 9 are one, since a die may lie either way up; its other faces tell them apart."""

DRAWN_PX = CROP_PX
"""The side of a drawing in ``printed.npz``, which ``scripts/draw_printed_faces.py`` writes."""

EDGE_PX = 26.0
"""How long a die's edge is in the square that is compared, of which a little less than the edge is looked at."""

_INSIDE = np.hypot(*(np.indices((CROP_PX, CROP_PX)) - (CROP_PX - 1) / 2)) < 0.44 * EDGE_PX
_TURNS = 36
_SIZES = (0.85, 1.0, 1.18)
_SHIFTS_PX = (-1.8, 0.0, 1.8)
_SOFT_PX = 1.1
"""How sharp a face comes out of a flattened picture at best, as the standard deviation of a blur."""

_SHARPNESS = 60.0
"""How much a better likeness counts, in log-odds per unit of correlation; dice with dark ink on white gave it."""


class PrintedFaces:
    """Drawings of printed faces in all their turns and sizes."""

    def __init__(self, path: Path = WEIGHTS / "printed.npz") -> None:
        with np.load(path, allow_pickle=False) as held:
            names, drawings = [str(name) for name in held["names"]], held["drawings"]
        self._kinds = np.repeat([PRINTED.index(name) for name in names], _TURNS * len(_SIZES))
        self._inks = np.concatenate([_turned(one, size) for one in drawings for size in _SIZES])

    def chances(self, image: Image, x_px: float, y_px: float, side_px: float) -> Floats:
        """How probable each of PRINTED is on a die of a flattened picture, given where it is; they sum to 1."""
        seen = []
        for across, down in product(_SHIFTS_PX, _SHIFTS_PX):
            shift = side_px / EDGE_PX
            square = crop(image, x_px + across * shift, y_px + down * shift, side_px * DIE_IN_CROP_PX / EDGE_PX)
            seen.append(ink_of(square, _INSIDE)[_INSIDE.ravel()])
        likeness = (self._inks @ np.stack(seen).T).max(axis=1)
        best = np.full(len(PRINTED), -1.0)
        np.maximum.at(best, self._kinds, likeness)
        odds = np.exp(_SHARPNESS * (best - best.max()))
        return np.asarray(odds / odds.sum(), dtype=np.float32)


@cache
def shipped_faces() -> PrintedFaces:
    """The faces that come with the project."""
    return PrintedFaces()


def _turned(drawing: Image, size: float) -> Floats:
    """A drawing in one size and all turns as a die's square shows it: the points of _INSIDE, of mean 0 and length 1."""
    scale = size * EDGE_PX / DRAWN_PX
    soft = cv2.GaussianBlur(drawing.astype(np.float32), (0, 0), _SOFT_PX / scale)
    inks = []
    for turn in range(_TURNS):
        matrix = cv2.getRotationMatrix2D(((DRAWN_PX - 1) / 2,) * 2, 360 * turn / _TURNS, scale)
        ink = cv2.warpAffine(soft, matrix, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR)[_INSIDE]
        inks.append((ink - ink.mean()) / ink.std() / np.sqrt(len(ink)))
    return np.asarray(inks, dtype=np.float32)


def check_printed(sets: Sequence[str]) -> None:
    """Raise LayoutError for a face that is not known."""
    unknown = sorted({face for faces in sets for face in faces if _class_of(face) is None})
    if unknown:
        raise LayoutError(
            f"the dice have the faces {', '.join(unknown)}; without teaching only 0 to 9, * and the shapes I, O, T, L "
            f"and S can be read; teach faces with `{PROGRAM} pieces enrol --dice` and name the file instead"
        )


def _class_of(face: str) -> int | None:
    """The index in PRINTED that a face of a die shows as; ``None`` for one that is not known."""
    known = SIX_OR_NINE if face == "9" else face
    return PRINTED.index(known) if known in PRINTED else None


def face_probabilities(chances: Floats, sets: Sequence[str]) -> list[dict[str, float]]:
    """What each die shows, given the probabilities of PRINTED (n, 15) and the faces of each die of the set.

    Each die of the set lies there once, any face of it is as likely as another, and which is which is not known: the
    probabilities are sums over all ways to tell. Where more dice are seen than the set has, each is taken by itself.
    """
    names = tuple(dict.fromkeys("".join(sets)))
    counts = [Counter(faces) for faces in sets]
    # weights[i, d, f]: how probable it is that die d shows face f and looks like the die that was seen as i
    weights = np.array(
        [[[die[name] / die.total() * _chance(one, name) for name in names] for die in counts] for one in chances]
    )
    if len(chances) > len(sets):
        told = weights.sum(axis=1)
    else:
        told = np.zeros((len(chances), len(names)))
        totals = weights.sum(axis=2)
        rows = np.arange(len(chances))
        for which in permutations(range(len(sets)), len(chances)):
            each = totals[rows, list(which)]
            for row, die in enumerate(which):
                told[row] += weights[row, die] * np.prod(np.delete(each, row))
    shares = told / np.maximum(told.sum(axis=1, keepdims=True), 1e-300)
    return [{name: float(share) for name, share in zip(names, one, strict=True)} for one in shares]


def _chance(chances: Floats, face: str) -> float:
    kind = _class_of(face)
    return 1e-9 if kind is None else float(chances[kind]) + 1e-9
