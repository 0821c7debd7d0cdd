"""Printed faces of a known set of dice (digits, stars and tetromino shapes), read without enrolment.

A small network classifies each upper side. The known faces of each die, and that each die of the set is there once,
resolve the rest. ``benchmarks/training/printed.py`` trains and writes the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np

from common.phrases import joined
from vision.errors import LayoutError
from vision.frame import Image
from vision.readers.dice.finding import CROP_PX, DIE_IN_CROP_PX, WEIGHTS, crop
from vision.readers.networks import Floats, Network, checksums
from vision.sampling import median

SIX_OR_NINE = "6"
PRINTED = ("0", "1", "2", "3", "4", "5", SIX_OR_NINE, "7", "8", "*", "I", "O", "T", "L", "S")
"""The known faces. A 6 and a 9 are one class, since a die may be upside down; the die's other faces resolve it."""
_CLASSES = {face: number for number, face in enumerate(PRINTED)} | {"9": PRINTED.index(SIX_OR_NINE)}

MOST_DICE = 7
"""Maximum number of dice told apart: all assignments are compared, 5,040 for seven."""

EDGE_PX = 26.0
"""Edge of a die in the square that is read: the corners of its upper side are cut off."""

SEEN_PX = 24
"""Side of the central part that the network sees; no face is larger."""

_MARGIN_PX = (CROP_PX - SEEN_PX) // 2
"""Width, in pixels, of the border of a square that the network does not see."""
_INSIDE = np.hypot(*(np.indices((SEEN_PX, SEEN_PX)) - (SEEN_PX - 1) / 2)) < 0.46 * EDGE_PX
"""The points of the central part from which the colours of body and ink are measured, (SEEN_PX, SEEN_PX)."""
_FAINT, _MOST = 2.0, 4.0
"""Grey levels added to the spread of the colours before dividing by it, so that pure noise stays small, and the limit
at which the result is clipped, against reflections.
"""

_QUARTER_TURNS = 4
"""Number of quarter turns at which a die in doubt is classified; the results are averaged."""
_NO_DOUBT = 0.99
"""Probability of a class above which one view of a die is enough. Higher: slower, and fewer misread faces."""


class PrintedFaces:
    """The network of a folder that reads printed faces."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        held = checksums(folder, "printed.json")
        self._network = Network(folder / "printed.onnx", held["printed"])
        self._temperature = float(held["temperature"])

    def chances(self, image: Image, dice: Sequence[tuple[float, float, float]]) -> Floats:
        """Return the probability of each of PRINTED for each die of a flattened picture, (n, 15); each row sums to 1.

        A die is given by the centre of its upper side and the length of an edge, (x, y, side) in pixels.
        """
        upright = [crop(image, x, y, side * DIE_IN_CROP_PX / EDGE_PX) for x, y, side in dice]
        outputs = self._network.run(printed_input(upright))
        unsure = np.flatnonzero(self._calibrated(outputs).max(axis=1) < _NO_DOUBT)
        if len(unsure):
            turned = [np.rot90(upright[one], quarter) for quarter in range(1, _QUARTER_TURNS) for one in unsure]
            more = self._network.run(printed_input(turned)).reshape(_QUARTER_TURNS - 1, len(unsure), len(PRINTED))
            outputs[unsure] = (outputs[unsure] + more.sum(axis=0)) / _QUARTER_TURNS
        return self._calibrated(outputs)

    def _calibrated(self, outputs: Floats) -> Floats:
        odds = np.exp((outputs - outputs.max(axis=1, keepdims=True)) / self._temperature)
        return np.asarray(odds / odds.sum(axis=1, keepdims=True), dtype=np.float32)


def printed_input(squares: Sequence[Image]) -> Floats:
    """Convert squares (n, CROP_PX, CROP_PX, 3) to the network's input: the ink in their centre, (n, 1, SEEN_PX,
    SEEN_PX).

    Colours are projected on their principal axis, from the body's to the ink's, so that neither colours nor light
    matter: the body is near 0 and the ink, the smaller part, above.
    """
    seen = np.stack(squares).astype(np.float32)[:, _MARGIN_PX:-_MARGIN_PX, _MARGIN_PX:-_MARGIN_PX]
    upper = seen[:, _INSIDE]
    body = median(upper, axis=1)
    away = upper - upper.mean(axis=1, keepdims=True)
    # a matrix product gives the same, but on ARM NumPy may then warn of overflows that did not happen
    _, axes = np.linalg.eigh(np.einsum("npi,npj->nij", away, away))
    axis = axes[:, :, -1:]
    along = (away @ axis)[..., 0]
    # the rarer colour is farther from the mean
    signs = np.where((along * along * along).sum(axis=1) < 0, -1, 1)
    ink = ((seen - body[:, None, None]) @ axis[:, None])[..., 0] * signs[:, None, None]
    spread = along.std(axis=1) + _FAINT
    return np.asarray(np.clip(ink / spread[:, None, None], -_MOST, _MOST)[:, None], dtype=np.float32)


@cache
def shipped_faces() -> PrintedFaces:
    """Load the network that comes with the project."""
    return PrintedFaces()


def check_count(key: str, dice: Sequence[str]) -> None:
    """Raise LayoutError for more dice, listed under a key of the layout, than can be told apart."""
    if len(dice) > MOST_DICE:
        raise LayoutError("dice.{key} lists {dice} dice; expected {most_dice} or fewer", key, len(dice), MOST_DICE)


def check_printed(sets: Sequence[str]) -> None:
    """Raise LayoutError for an unknown face, or too many dice."""
    check_count("faces", sets)
    unknown = sorted({face for faces in sets for face in faces if face not in _CLASSES})
    if unknown:
        raise LayoutError(
            "the dice have the faces {names}; without teaching only 0 to 9, * and the shapes I, O, T, "
            "L and S can be read; teach faces with `./run pieces enrol --dice` and name the file instead",
            joined(unknown, ", "),
        )


def face_probabilities(chances: Floats, sets: Sequence[str]) -> list[dict[str, float]]:
    """Return the probabilities of each die's faces, given those of PRINTED (n, 15) and each die's faces in the set.

    Each die of the set is there at most once, all its faces are equally likely, and the assignment is unknown: the
    probabilities are sums over all assignments.
    """
    names = tuple(dict.fromkeys("".join(sets)))
    shares = np.array([[faces.count(name) / len(faces) for name in names] for faces in sets])
    seen = chances[:, [_CLASSES[name] for name in names]] + 1e-9
    # weights[i, d, f]: probability that die d shows face f and looks like the die seen as i
    weights = seen[:, None] * shares
    rows = np.arange(len(chances))
    which = np.array(list(permutations(range(len(sets)), len(chances))), dtype=np.intp)
    each = weights.sum(axis=2)[rows, which]
    others = np.stack([np.prod(np.delete(each, row, axis=1), axis=1) for row in rows], axis=1)
    of_die = [np.bincount(which[:, row], others[:, row], minlength=len(sets)) for row in rows]
    joint = np.array([share @ weights[row] for row, share in enumerate(of_die)])
    likely = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
    return [dict(zip(names, one, strict=True)) for one in likely.tolist()]
