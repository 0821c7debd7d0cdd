"""Disturbances of the camera, the light and the table: their times and their effects."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

import numpy as np

from benchmarks.scene import variety
from benchmarks.scene.mirrored import Mirrored
from benchmarks.scene.things import ForeignObject
from simulator.scene.pieces import BlockPose, Colour, DiscPose, PiecePose
from simulator.scene.scene import Lamp, Lighting, Setting, first_fitting, growing_distances, looking_at
from simulator.scene.sheets import extent_mm, lying_sheets, place_mm
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import BlockPieces, DiscPieces
from vision.layout.table import TableLayout

Delivery = Literal["dropped", "stopped", "unplugged", "bad", "frozen", "bands", "swing", "mirrored", "low rate"]

DISTURBANCE_KINDS = (
    "thing beside the board",
    "thing on the board",
    "coin on a piece",
    "sheet over pieces",
    "camera bumped",
    "table bumped",
    "lamp switched",
    "lamp dimmed",
    "markers covered",
    "frames dropped",
    "no frames",
    "bad frames",
    "camera unplugged",
    "covering",
    "lamp mirrored",
    "light in bands",
    "exposure swinging",
    "picture mirrored",
    "picture frozen",
    "low-rate video",
)
"""Faults around the board, by name.

Each lasts about one turn; a bump and a lamp last until the next one, a coin on a piece until somebody asks or plays it.
"""

_DELIVERIES: dict[str, Delivery] = {
    "frames dropped": "dropped",
    "no frames": "stopped",
    "bad frames": "bad",
    "camera unplugged": "unplugged",
    "light in bands": "bands",
    "exposure swinging": "swing",
    "picture mirrored": "mirrored",
    "picture frozen": "frozen",
    "low-rate video": "low rate",
}
_LONGEST_S: dict[Delivery, float] = {
    "stopped": 2.6,
    "unplugged": 2.6,
    "dropped": 4.0,
    "bad": 4.0,
    "mirrored": 9.0,
    "frozen": 9.0,
}
_LONGEST_SPOILT_S = 15.0
"""The longest time for which frames fail, and for all other ways of delivery."""
SPOILT: frozenset[Delivery] = frozenset({"bad", "bands", "swing", "mirrored", "low rate"})
"""Deliveries of frames that show less than there is."""
_NUDGE_SHARE, _NUDGE_DEG, _NUDGE_MM = 0.5, 0.4, 2.0
"""Share of bumps that are small, and the standard deviations of a small one, which moves the picture by a few pixels:
harder to notice.
"""
_SHAKE_S = 0.3
_MOST_STEPS_BACK = 200
_THING_COLOURS: tuple[Colour, ...] = (
    (0.45, 0.65, 0.75),
    (0.7, 0.7, 0.72),
    (0.2, 0.2, 0.7),
    (0.85, 0.85, 0.88),
    (0.28, 0.42, 0.66),
)


@dataclass(frozen=True)
class Disturbance:
    """One disturbance: its kind, its beginning and end (``None``: permanent), and its effects.

    ``things`` are foreign objects; ``lighting`` and ``pose`` replace those of the setting; the camera shakes until
    ``shaking_until_s``; ``delivery`` loses, repeats or spoils frames, or unplugs the camera.
    """

    kind: str
    began_s: float
    ended_s: float | None = None
    things: tuple[ForeignObject, ...] = ()
    lighting: Lighting | None = None
    pose: Pose | None = None
    shaking_until_s: float = 0.0
    delivery: Delivery | None = None

    def holds_at(self, time_s: float) -> bool:
        """Whether it is active."""
        return self.began_s <= time_s and (self.ended_s is None or time_s < self.ended_s)

    def overlaps(self, from_s: float, to_s: float) -> bool:
        """Whether it is active at some time in the interval."""
        return self.began_s <= to_s and (self.ended_s is None or self.ended_s > from_s)

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing, because there was no square or piece to put an object on."""
        return not (self.things or self.lighting or self.pose or self.delivery)


class Disturbances:
    """All disturbances of a game, in the order in which they began."""

    def __init__(self) -> None:
        self._all: list[Disturbance] = []

    def __iter__(self) -> Iterator[Disturbance]:
        return iter(self._all)

    def begin(self, disturbance: Disturbance) -> int:
        """Add a disturbance and return its number."""
        self._all.append(disturbance)
        return len(self._all) - 1

    def end(self, number: int, time_s: float) -> None:
        """End one that has not ended yet."""
        one = self._all[number]
        if one.ended_s is None or one.ended_s > time_s:
            self._all[number] = replace(one, ended_s=max(time_s, one.began_s))

    def remove_things(self, time_s: float) -> None:
        """Remove all foreign objects."""
        for number, one in enumerate(self._all):
            if one.things and one.holds_at(time_s):
                self.end(number, time_s)

    def at(self, time_s: float) -> list[Disturbance]:
        """Return the active ones."""
        return [one for one in self._all if one.holds_at(time_s)]


class DisturbanceMaker:
    """Draws disturbances of each kind for one setting, from one random generator."""

    def __init__(self, setting: Setting, rng: np.random.Generator) -> None:
        self._setting = setting
        self._rng = rng
        self._pose = setting.pose

    def make(self, kind: str, now_s: float, free: tuple[str, ...], pieces: tuple[PiecePose, ...] = ()) -> Disturbance:
        """Draw one that begins about ``now_s``; an object lies on the first of the ``free`` squares or ``pieces``.

        It is empty if there is none of them that the object could lie on.
        Raises ValueError for a kind that is not one of ``DISTURBANCE_KINDS``.
        """
        rng = self._rng
        began_s = now_s + float(rng.uniform(0.0, 1.5))
        if kind in _DELIVERIES:
            lasts_s = float(rng.uniform(0.5, _LONGEST_S.get(_DELIVERIES[kind], _LONGEST_SPOILT_S)))
            return Disturbance(kind, began_s, began_s + lasts_s, delivery=_DELIVERIES[kind])
        match kind:
            case "thing beside the board":
                return Disturbance(kind, now_s, things=(self._beside(),))
            case "thing on the board":
                return Disturbance(kind, now_s, things=tuple(self._on_board(place) for place in free[:1]))
            case "coin on a piece":
                return Disturbance(kind, now_s, things=tuple(islice(self._on_piece(pieces), 1)))
            case "sheet over pieces":
                return Disturbance(kind, now_s, things=tuple(islice(self._over_pieces(pieces), 1)))
            case "camera bumped" | "table bumped":
                is_nudge = rng.random() < _NUDGE_SHARE
                anew = draw_pose(self._setting.camera, self._setting.layout, rng)
                self._pose = self._nudged(self._pose) if is_nudge else anew
                return Disturbance(kind, now_s, pose=self._pose, shaking_until_s=now_s + _SHAKE_S)
            case "lamp switched" | "lamp dimmed":
                return Disturbance(kind, began_s, lighting=self._lighting(switched=kind == "lamp switched"))
            case "covering":
                return Disturbance(kind, now_s, things=self._covering())
            case "lamp mirrored":
                return Disturbance(kind, began_s, began_s + float(rng.uniform(4.0, 15.0)), lighting=self._mirrored())
            case "markers covered":
                return Disturbance(kind, now_s, things=self._over_markers())
        raise ValueError(f"no such fault: {kind}; there are {', '.join(DISTURBANCE_KINDS)}")

    def _nudged(self, pose: Pose) -> Pose:
        turn = Pose.from_vectors(np.radians(self._rng.normal(0.0, _NUDGE_DEG, 3)), np.zeros(3)).rotation
        return Pose(turn @ pose.rotation, turn @ pose.translation + self._rng.normal(0.0, _NUDGE_MM, 3))

    def _colour(self) -> Colour:
        return _THING_COLOURS[int(self._rng.integers(len(_THING_COLOURS)))]

    def _beside(self) -> ForeignObject:
        board, rng = self._setting.layout.board, self._rng
        away_mm = board.bounds_mm.far_mm + 36.0
        x_mm = float(rng.uniform(-0.75, 0.75)) * board.columns * board.cell_mm / 2
        y_mm = away_mm if rng.random() < 0.5 else -away_mm
        kind: Literal["coin", "cup"] = "coin" if rng.random() < 0.5 else "cup"
        return ForeignObject(kind, x_mm, y_mm, self._colour(), radius_mm=float(rng.uniform(11.0, 26.0)))

    def _on_board(self, place: str) -> ForeignObject:
        layout, rng = self._setting.layout, self._rng
        x_mm, y_mm = place_mm(layout, place)
        kind: Literal["coin", "cup"] = "coin" if rng.random() < 0.6 else "cup"
        return ForeignObject(kind, x_mm, y_mm, self._colour(), layout.board.height_mm, float(rng.uniform(9.0, 14.0)))

    def _on_piece(self, pieces: tuple[PiecePose, ...]) -> Iterator[ForeignObject]:
        """Yield a coin on each piece with a level top.

        On a block it is large enough to hide the symbol completely; on a disc small enough to leave a rim, because from
        above a disc under a coin of its own size looks like a disc of the coin's colour.
        """
        for piece, level_mm in self._with_level_tops(pieces):
            least, most = (12.5, 14.0) if isinstance(piece, BlockPose) else (7.5, 10.0)
            radius_mm = float(self._rng.uniform(least, most))
            yield ForeignObject("coin", piece.x_mm, piece.y_mm, self._colour(), level_mm, radius_mm)

    def _over_pieces(self, pieces: tuple[PiecePose, ...]) -> Iterator[ForeignObject]:
        """Yield a sheet of paper on each piece with a level top, large enough to hide some of what stands around it."""
        for piece, level_mm in self._with_level_tops(pieces):
            radius_mm = float(self._rng.uniform(0.7, 1.4)) * self._setting.layout.board.cell_mm
            yield ForeignObject("card", piece.x_mm, piece.y_mm, self._colour(), level_mm, radius_mm)

    def _with_level_tops(self, pieces: tuple[PiecePose, ...]) -> Iterator[tuple[PiecePose, float]]:
        levels = ((piece, level_top_mm(self._setting.layout, piece)) for piece in pieces)
        return ((piece, level_mm) for piece, level_mm in levels if level_mm is not None)

    def _over_markers(self) -> tuple[ForeignObject, ...]:
        markers = self._setting.layout.markers
        ids = list(markers.centres_mm)
        count = 1 + int(self._rng.integers(min(3, len(ids))))
        chosen = self._rng.permutation(ids)[:count].tolist()
        return tuple(
            ForeignObject(
                "card", *markers.centres_mm[one], self._colour(), base_mm=0.5, radius_mm=markers.side_mm * 0.75
            )
            for one in chosen
        )

    def _covering(self) -> tuple[ForeignObject, ...]:
        """Return what lies over part of the board, or of one sheet, and over what stands there."""
        rng, layout = self._rng, self._setting.layout
        kind = variety.COVERINGS[int(rng.integers(len(variety.COVERINGS)))]
        things = variety.varied_coverings(rng, kind, layout.board)
        sheets = lying_sheets(layout)
        if not sheets:
            return things
        sheet = sheets[int(rng.integers(len(sheets)))]
        return tuple(replace(one, x_mm=one.x_mm + sheet.x_mm, y_mm=one.y_mm + sheet.y_mm) for one in things)

    def _mirrored(self) -> Lighting:
        """Return the usual light with a lamp or a window that the board or the first sheet mirrors."""
        rng, board = self._rng, self._setting.layout.board
        target = np.array([*(rng.uniform(-0.85, 0.85, 2) * variety.half_mm(board)), board.height_mm])
        kind = variety.MIRRORED[int(rng.integers(len(variety.MIRRORED)))]
        finish = sorted(variety.FINISHES.items())[int(rng.integers(len(variety.FINISHES)))][1]
        panel = variety.varied_panel(rng, kind, self._pose.camera_position_mm, target)
        return replace(self._setting.lighting, mirrored=Mirrored((panel,), finish))

    def _lighting(self, *, switched: bool) -> Lighting:
        rng, usual = self._rng, self._setting.lighting
        if not switched:
            share = float(rng.uniform(0.45, 0.85))
            return replace(usual, lamps=tuple(replace(lamp, strength=lamp.strength * share) for lamp in usual.lamps))
        if rng.random() < 0.4:
            return replace(usual, lamps=usual.lamps[1:], ambient=usual.ambient * 1.1)
        angle = float(rng.uniform(-np.pi, np.pi))
        warmth = float(rng.uniform(-0.12, 0.12))
        lamp = Lamp(
            (600 * float(np.cos(angle)), 600 * float(np.sin(angle)), float(rng.uniform(900.0, 1300.0))),
            strength=float(rng.uniform(0.35, 0.6)),
            colour=(1.0 - warmth, 1.0, 1.0 + warmth),
        )
        return replace(usual, lamps=(lamp,))


def level_top_mm(layout: TableLayout, piece: PiecePose) -> float | None:
    """Return the height of the level top of a piece on the board, ``None`` if it has none."""
    match piece:
        case BlockPose():
            return layout.board.height_mm + BlockPieces.on(layout.board).side_mm
        case DiscPose(ball=None):
            return layout.board.height_mm + DiscPieces.on(layout.board).disc_mm
    return None


TILTS_DEG = (4.0, 26.0)
"""The least and the most tilt of an ordinary camera from straight down."""


def draw_pose(
    camera: CameraModel, layout: TableLayout, rng: np.random.Generator, tilts_deg: tuple[float, float] = TILTS_DEG
) -> Pose:
    """Return a pose from the first player's side, tilted by so much, with all markers well inside the picture."""
    tilt, azimuth = float(rng.uniform(*tilts_deg)), -90.0 + float(rng.uniform(-12.0, 12.0))
    roll = float(rng.uniform(-3.0, 3.0))
    shift = rng.uniform(-8.0, 8.0, 2)
    extent = extent_mm(layout)
    middle = (extent.min(axis=0) + extent.max(axis=0)) / 2 if lying_sheets(layout) else np.zeros(3)
    corners = middle + (extent - middle) * 1.04
    target = (float(middle[0] + shift[0]), float(middle[1] + shift[1]), 0.0)
    distances = growing_distances(590.0, 1.03, _MOST_STEPS_BACK)
    return first_fitting(camera, corners, 6, (looking_at(one, tilt, azimuth, roll, target) for one in distances))
