"""Reading the dice in a tray: position in millimetres, upper face, and whether each is at rest."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np

from common.phrases import joined
from vision.errors import LayoutError
from vision.frame import FloatArray, Image
from vision.geometry import Rectangle, project
from vision.layout.pieces import DicePieces, Surface
from vision.opencv import as_lab
from vision.readers.dice.finding import Candidate, FindingSettings, FoundDie, Networks, find_dice, shipped
from vision.readers.dice.photographs import SURE, FaceSet
from vision.readers.dice.printed import PrintedFaces, check_count, check_printed, face_probabilities, shipped_faces
from vision.readers.protocols import SurfaceView
from vision.reading import DieReading, RollReading
from vision.sampling import PlaneWindow, plane_map, sample

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
