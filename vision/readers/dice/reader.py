"""Reading the dice in a tray: position in millimetres, upper face, and whether each is at rest.

A small network classifies the printed faces of a known set (digits, stars and tetromino shapes) without enrolment. The
known faces of each die, and that each die of the set is there once, resolve the rest.
``benchmarks/training/printed.py`` trains and writes the network.
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np

from common.phrases import joined
from vision.errors import LayoutError
from vision.frame import FloatArray, Image
from vision.geometry import Rectangle, project
from vision.layout.pieces import DicePieces, Surface
from vision.opencv import as_lab
from vision.readers.dice.finding import (
    CROP_PX,
    DIE_IN_CROP_PX,
    WEIGHTS,
    Candidate,
    FindingSettings,
    FoundDie,
    Networks,
    crop,
    find_dice,
    shipped,
)
from vision.readers.dice.photographs import SURE, FaceSet
from vision.readers.networks import Floats, Network, checksums
from vision.readers.protocols import SurfaceView
from vision.reading import DieReading, RollReading
from vision.sampling import PlaneWindow, median, plane_map, sample

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


TRAY = FindingSettings(largest_px=18.0, no_doubt=0.9, apart=0.85, leaning=0.08)
"""``leaning`` is set so that fewer than one in 200 flat dice of rendered trays are read as leaning. The dice's size is
known in a tray, so the picture can be small, which is faster."""


@dataclass(frozen=True)
class TraySettings:
    """How a tray is read. Set by hand."""

    px_per_mm: float = 1.8
    """Scale of the flattened tray, in pixels per mm. Larger: finer, slower."""
    beside_mm: float = 6.0
    """Tolerated distance, in mm, of a die's centre beyond the tray. Larger: reads what lies further beside it."""
    rest_mm: float = 2.0
    """Maximum movement, in mm, of a die at rest, above the finder's noise. Larger: slow dice count as at rest too."""


_SETTINGS = TraySettings()


class DiceReader:
    """Reads the dice of one tray; implements ``vision.readers.protocols.RollReader``."""

    def __init__(self, surface: Surface, networks: Networks | None = None, printed: PrintedFaces | None = None) -> None:
        """Read dice with pips, with learned faces, or with the printed faces of a known set.

        The layout may name a file of learned faces, or list the printed ones. Raises LayoutError where the surface has
        other pieces, for an unknown printed face or colour, or for too many dice that are told apart; EnrolmentError
        where the file can't be read.
        """
        self._surface = surface
        self._pieces = DicePieces.on(surface)
        check_printed(self._pieces.printed)
        _check_colours(self._pieces.colours)
        self._faces = None if self._pieces.faces is None else FaceSet.load(self._pieces.faces)
        self._networks = networks or shipped()
        self._printed = (printed or shipped_faces()) if self._pieces.printed else None
        middle = (self._pieces.smallest_mm + self._pieces.largest_mm) / 2
        bounds = surface.bounds_mm.grown(_SETTINGS.beside_mm + self._pieces.largest_mm / 2)
        self._window = PlaneWindow.over(bounds, surface.height_mm + middle, _SETTINGS.px_per_mm)
        # a bound method would keep the reader alive until the garbage collector runs
        self._map = functools.lru_cache(maxsize=1)(functools.partial(plane_map, window=self._window))

    def read(self, view: SurfaceView, previous: RollReading | None) -> RollReading:
        """Read every die in the tray, from left to right."""
        flat = sample(view.image, self._map(view.camera, view.pose))
        scale = _SETTINGS.px_per_mm
        sides = self._pieces.smallest_mm * scale, self._pieces.largest_mm * scale
        camera_mm = view.pose.camera_position_mm
        tray = self._surface.bounds_mm.grown(_SETTINGS.beside_mm)
        found = find_dice(
            flat,
            self._networks,
            sides,
            TRAY,
            slant_at=lambda x, y: self._slant(x, y, camera_mm),
            is_possible=lambda one: tray.contains(*self._position_mm(one, camera_mm)),
        )
        dice = [
            (self._reading(die, faces, self._position_mm(die, camera_mm), view, previous), die)
            for die, faces in self._with_faces(flat, found)
        ]
        dice.sort(key=lambda pair: (pair[0].x_mm, pair[0].y_mm))
        return RollReading(self._surface.name, _name_by_colour(dice, self._pieces.colours))

    def _with_faces(self, flat: Image, found: Sequence[FoundDie]) -> Iterable[tuple[FoundDie, dict[str, float]]]:
        """Return the dice found, at most as many as a printed set has, with the probability of each face."""
        if self._faces is not None:
            learned = self._faces
            return [(die, learned.probabilities(die.square)) for die in found]
        sets = self._pieces.printed
        if self._printed is None or not found:
            return [(die, die.values()) for die in found]
        ranked = sorted(found, key=lambda die: -die.strength)
        # what is weaker than any die is grain or print; one die too many stays, so that this is no roll
        likeliest = [die for number, die in enumerate(ranked) if number < len(sets) or die.strength >= SURE]
        scale = _SETTINGS.px_per_mm
        chances = self._printed.chances(
            flat, [(die.x_px, die.y_px, self._limited(die.side_px / scale) * scale) for die in likeliest]
        )
        if len(likeliest) > len(sets):
            return zip(likeliest, [face_probabilities(one[None], sets)[0] for one in chances], strict=True)
        return zip(likeliest, face_probabilities(chances, sets), strict=True)

    def _limited(self, edge_mm: float) -> float:
        """Return the length of a die's edge, limited to the layout's range."""
        return min(max(edge_mm, self._pieces.smallest_mm), self._pieces.largest_mm)

    def _slant(self, x_px: float, y_px: float, camera_mm: FloatArray) -> tuple[float, float]:
        """Return the slant, as in ``finding.SlantAt``, at a pixel of the flattened picture."""
        x, y = self._window.to_mm(x_px, y_px)
        camera_x, camera_y, camera_z = camera_mm.tolist()
        above = camera_z - self._window.height_mm
        return (camera_x - x) / above, (y - camera_y) / above

    def _position_mm(self, die: Candidate, camera_mm: FloatArray) -> tuple[float, float]:
        """Return a die's position: on the ray of its upper side, at the height given by its size."""
        x, y = self._window.to_mm(die.x_px, die.y_px)
        camera_x, camera_y, camera_z = camera_mm.tolist()
        away, above = camera_z - self._window.height_mm, camera_z - self._surface.height_mm
        side = die.side_px / _SETTINGS.px_per_mm
        # closer to the camera than the plane, it looks larger: side = measured * (above - side) / away
        side = self._limited(side * above / (away + side))
        nearer = (above - side) / away
        return camera_x + (x - camera_x) * nearer, camera_y + (y - camera_y) * nearer

    def _reading(
        self,
        die: FoundDie,
        faces: Mapping[str, float],
        place_mm: tuple[float, float],
        view: SurfaceView,
        previous: RollReading | None,
    ) -> DieReading:
        x_mm, y_mm = place_mm
        distances_mm = (
            [] if previous is None else [math.hypot(x_mm - one.x_mm, y_mm - one.y_mm) for one in previous.dice]
        )
        is_at_rest = previous is None or min(distances_mm, default=math.inf) < _SETTINGS.rest_mm
        return DieReading(
            x_mm,
            y_mm,
            _flatten(faces, die.cocked),
            at_rest=is_at_rest,
            cocked=die.cocked > 0.5,
            half_hidden=self._is_cut_off(x_mm, y_mm, view),
        )

    def _is_cut_off(self, x_mm: float, y_mm: float, view: SurfaceView) -> bool:
        """Return whether the upper side of even the smallest die there extends beyond the picture's edge."""
        upper = Rectangle(x_mm, x_mm, y_mm, y_mm).grown(self._pieces.smallest_mm / 2)
        pixels = project(view.camera, view.pose, upper.corners_mm(self._window.height_mm))
        last = np.asarray(view.camera.size) - 1
        return bool((np.clip(pixels, 0, last) != pixels).any())


def _flatten(faces: Mapping[str, float], cocked: float) -> dict[str, float]:
    """Return the probabilities of faces of a die that may lean, in which case all are equally likely."""
    return {name: (1 - cocked) * chance + cocked / len(faces) for name, chance in faces.items()}


_COLOURS = {
    "red": "#ca2d2b",
    "orange": "#ec7427",
    "yellow": "#f8c539",
    "green": "#268240",
    "blue": "#1459a8",
    "purple": "#813b98",
    "pink": "#f184a4",
    "brown": "#7f4d30",
    "grey": "#848484",
    "black": "#1f1f1f",
    "white": "#eae8e4",
    "ivory": "#eadbc0",
}
"""Typical colours of these names, of plastic in even light, in sRGB."""

_LIGHT_SHARE = 0.35
"""Weight of a difference in lightness relative to one in hue, since light varies and hue does not."""


def _check_colours(names: Sequence[str]) -> None:
    """Raise LayoutError for a colour that dice can't be named by, or too many dice."""
    check_count("colours", names)
    for name in names:
        if name not in _COLOURS:
            raise LayoutError("dice.colours has {name!r}; expected {names}", name, joined(_COLOURS, ", "))


def _name_by_colour(dice: Sequence[tuple[DieReading, FoundDie]], names: Sequence[str]) -> tuple[DieReading, ...]:
    """Return the dice named by their colours so that all names together fit best.

    They stay without names if the layout doesn't distinguish them by colour, or if more are seen than it names.
    """
    if not names or len(dice) > len(names):
        return tuple(die for die, _ in dice)
    rgb = np.array([[*bytes.fromhex(_COLOURS[name].removeprefix("#"))] for name in names], dtype=np.uint8)
    typical = as_lab(rgb[None, :, ::-1])[0]
    away = np.array([found.colour_lab() for _, found in dice]).reshape(-1, 1, 3) - typical
    away[..., 0] *= _LIGHT_SHARE
    unlike = np.square(away).sum(axis=2)
    which = np.array(list(permutations(range(len(names)), len(dice))), dtype=np.intp)
    best = which[unlike[np.arange(len(dice)), which].sum(axis=1).argmin()]
    return tuple(replace(die, die=names[one]) for (die, _), one in zip(dice, best.tolist(), strict=True))
