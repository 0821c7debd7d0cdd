"""What the soak's referee has in place of a camera: a reader that is told what can be seen, and switches with faults.

The perfect reader says of each frame what a reader that never errs would say. With it a soak costs no pictures, so
that thousands of turns show whether players, service and judge get along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from referee.sensing.values import PlaceChange, SensorSnapshot
from simulator.faults.table import FaultyTable
from simulator.play.actions import Arrangement
from simulator.play.deblockle import facing
from simulator.rendering.dice import dice_tray
from simulator.scene.pieces import SYMBOLS, BlockPose, DiePose
from simulator.scene.scene import ForeignObject, Scene, Setting
from simulator.scene.sheets import sheet_of
from simulator.switches import VirtualSwitches, draw_switch_faults, sensed_places
from vision.errors import CameraError, EndOfFramesError, FrameError, NotLocatedError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CubeSolid, Pose, Side, outline_px, project
from vision.layout.pieces import BlockPieces, DicePieces
from vision.reading import DieReading, Hindrance, HindranceKind, PlaceReading, Reading, RollReading

_SURE = 0.995
PLAIN_HEIGHT_PX = 16.0
"""A side face that is lower in the picture than this need not be readable."""

_PLAIN_OPEN_SHARE = 0.9
_COVERED_SHARE = 0.08
_PIPS = "123456"
_GRID = 8


def sides_in_plain_view(
    setting: Setting,
    pose: Pose,
    blocks: Mapping[str, CubeSolid],
    place: str,
    least_height_px: float = PLAIN_HEIGHT_PX,
) -> list[Side]:
    """The compass sides of the block on ``place`` that are high enough in the picture and that no block hides."""
    solid = blocks[place]
    nearer = [
        outline_px(block, setting.camera, pose)
        for other, block in blocks.items()
        if other != place and _distance(pose, block) < _distance(pose, solid)
    ]
    found = []
    for side in Side:
        if solid.facing_camera(side, pose.camera_position_mm) <= 0:
            continue
        corners = solid.side_corners_mm(side)
        outline = project(setting.camera, pose, corners)
        width = float(np.linalg.norm(outline[1] - outline[0]) + np.linalg.norm(outline[2] - outline[3])) / 2
        height = abs(float(cv2.contourArea(outline.astype(np.float32)))) / max(width, 1.0)
        if height >= least_height_px and _open_share(outline, nearer) >= _PLAIN_OPEN_SHARE:
            found.append(side)
    return found


def covered_places(
    setting: Setting, pose: Pose, things: Sequence[ForeignObject], more_than: float = _COVERED_SHARE
) -> set[str]:
    """The places of which things hide more than a share, counted on a piece that stands or would stand there."""
    layout = setting.layout
    hulls = [_thing_outline(setting, pose, thing) for thing in things]
    found = set()
    for place in layout.places:
        outline = _place_outline(setting, pose, place)
        if outline is None:
            continue
        area = abs(float(cv2.contourArea(outline)))
        shared = sum(float(cv2.intersectConvexConvex(outline, hull)[0]) for hull in hulls)
        if shared > more_than * area:
            found.add(place)
    return found


def _place_outline(setting: Setting, pose: Pose, place: str) -> npt.NDArray[np.float32] | None:
    """What is seen of what stands, or would stand, on a place; of a cell that is written in the cell itself."""
    layout = setting.layout
    sheet = sheet_of(layout, place)
    if sheet is None:
        solid = layout.board.solid_at(place)
        return None if solid is None else outline_px(solid, setting.camera, pose)
    corners = sheet.on_table(sheet.surface.outline_mm(place))
    return hull_px(project(setting.camera, pose, np.column_stack([corners, np.zeros(len(corners))])))


def hull_px(points_px: FloatArray) -> npt.NDArray[np.float32]:
    """The outline around points of a picture, shape (n, 2)."""
    return np.asarray(cv2.convexHull(points_px.astype(np.float32))[:, 0], dtype=np.float32)


def _distance(pose: Pose, block: CubeSolid) -> float:
    x, y, _ = pose.camera_position_mm
    return float(np.hypot(block.x_mm - x, block.y_mm - y))


def _open_share(outline: FloatArray, nearer: Sequence[npt.NDArray[np.float32]]) -> float:
    """How much of a quadrilateral lies outside all the outlines, from 0 to 1."""
    shares = (np.arange(_GRID) + 0.5) / _GRID
    u, v = (one.ravel()[:, None] for one in np.meshgrid(shares, shares))
    top = outline[0] * (1 - u) + outline[1] * u
    bottom = outline[3] * (1 - u) + outline[2] * u
    points = top * (1 - v) + bottom * v
    hidden = [any(cv2.pointPolygonTest(one, (float(x), float(y)), False) >= 0 for one in nearer) for x, y in points]
    return 1.0 - float(np.mean(hidden))


def _thing_outline(setting: Setting, pose: Pose, thing: ForeignObject) -> npt.NDArray[np.float32]:
    reach = thing.half_width_mm
    angles = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
    ring = np.column_stack([thing.x_mm + reach * np.cos(angles), thing.y_mm + reach * np.sin(angles)])
    points = np.vstack(
        [
            np.column_stack([ring, np.full(len(ring), level)])
            for level in (thing.base_mm, thing.base_mm + thing.height_mm)
        ]
    )
    return hull_px(project(setting.camera, pose, points))


@dataclass
class PerfectReader:
    """A reader that is told what stands where, and says so as a camera would: not through hands, things or shaking."""

    table: FaultyTable
    looks: tuple[str, ...]
    _seen: tuple[Scene, dict[str, PlaceReading]] | None = None

    def read(self, frame: Frame) -> Reading:
        """Say what the newest frame shows."""
        scene = self.table.scene
        if frame.image.size == 0:
            black = Hindrance(HindranceKind.BAD_FRAME, "the frame is black")
            return Reading(frame.sequence, frame.time_s, {}, (black,))
        if scene.hands:
            hand = Hindrance(HindranceKind.HAND, "a hand is over the board")
            return Reading(frame.sequence, frame.time_s, {}, (hand,))
        if self.table.is_shaken:
            moving = Hindrance(HindranceKind.MOVED_CAMERA, "the camera is moving")
            return Reading(frame.sequence, frame.time_s, {}, (moving,))
        # Between two hands every frame shows the same, and geometry takes longer than all the rest of a soak.
        if self._seen is None or not _alike(self._seen[0], scene):
            self._seen = (scene, self._look_at(scene))
        return Reading(frame.sequence, frame.time_s, self._seen[1], rolls=_rolls(scene))

    def _look_at(self, scene: Scene) -> dict[str, PlaceReading]:
        layout = scene.setting.layout
        standing = Arrangement.on_board(layout, scene.pieces)
        looks = standing.appearance(layout.places)
        hidden = covered_places(scene.setting, scene.setting.pose, scene.things)
        places = {}
        for place in layout.places:
            rest = (1 - _SURE) / (len(self.looks) - 1)
            chances = {one: _SURE if one == looks[place] else rest for one in self.looks}
            sides = self._sides(place, standing) if isinstance(standing.get(place), BlockPose) else {}
            places[place] = PlaceReading(chances, sides, HindranceKind.OBJECT if place in hidden else None)
        return places

    def _sides(self, place: str, standing: Arrangement) -> dict[str, dict[str, float]]:
        setting = self.table.scene.setting
        layout = setting.layout
        solids = {
            other: CubeSolid(
                piece.x_mm, piece.y_mm, layout.board.height_mm, BlockPieces.on(layout.board).side_mm, piece.turned_deg
            )
            for other, piece in standing.items()
        }
        shown = facing(layout, standing[place])
        rest = (1 - _SURE) / (len(SYMBOLS) - 1)
        return {
            side: {symbol: _SURE if symbol == shown[side] else rest for symbol in SYMBOLS}
            for side in sides_in_plain_view(setting, setting.pose, solids, place)
        }

    def crop(self, frame: Frame, place: str) -> Image:
        """There is no picture to cut out."""
        raise NotLocatedError(f"perfect eyes keep no picture of {place} in frame {frame.sequence}")


def _rolls(scene: Scene) -> tuple[RollReading, ...]:
    """The dice that lie in the tray, where a table has one."""
    tray = dice_tray(scene.setting.layout)
    if tray is None:
        return ()
    dice = [
        piece
        for piece in scene.pieces
        if isinstance(piece, DiePose) and tray.bounds_mm.contains(piece.x_mm, piece.y_mm)
    ]
    names = DicePieces.on(tray).colours
    rest = (1 - _SURE) / (len(_PIPS) - 1)
    seen = [
        DieReading(
            die.x_mm,
            die.y_mm,
            {face: _SURE if number == die.value else rest for number, face in enumerate(die.printed or _PIPS, 1)},
            die.colour if die.colour in names else "",
        )
        for die in sorted(dice, key=lambda die: (die.x_mm, die.y_mm))
    ]
    return (RollReading(tray.name, tuple(seen)),)


def _alike(before: Scene, now: Scene) -> bool:
    """Whether the same camera sees the same pieces and things."""
    return before.setting is now.setting and (before.pieces, before.things) == (now.pieces, now.things)


_SECONDS_A_TURN = 7.0


@dataclass
class TableSwitches:
    """What the switches say, as a board would report it: the newest snapshot, and what changed since the last one.

    ``sensor_errors`` gathers when which switches said what is not so, or the cable was off (all of them): not for the
    referee.
    """

    table: FaultyTable
    switches: VirtualSwitches
    sensor_errors: list[tuple[float, frozenset[str]]] = field(default_factory=list)
    _told: SensorSnapshot | None = None

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Say what the switches say now; while the cable is off, what they said last."""
        pieces, layout = self.table.pieces, self.table.setting.layout
        closed = self.switches.closed(pieces, now_s)
        if closed is None:
            self.sensor_errors.append((now_s, frozenset(layout.places)))
            return self._told
        sensed = sensed_places(layout, pieces)
        wrong = frozenset(place for place, is_closed in closed.items() if is_closed != (place in sensed))
        if wrong:
            self.sensor_errors.append((now_s, wrong))
        before = self._told.occupied if self._told else closed
        changed = [place for place, is_closed in closed.items() if is_closed != before[place]]
        # A piece was lifted before it, or another one, was put down.
        in_order = sorted(changed, key=lambda place: closed[place])
        changes = tuple(PlaceChange(place, closed[place], now_s) for place in in_order)
        told = SensorSnapshot(now_s, closed, changes=changes)
        self._told = replace(told, changes=())
        return told


def switches_under(table: FaultyTable, turns: int) -> TableSwitches:
    """Put switches under a table, with the faults that its seed draws for a game of so many turns."""
    faults = draw_switch_faults(table.setting.layout, np.random.default_rng([table.seed, 62]), turns * _SECONDS_A_TURN)
    return TableSwitches(table, VirtualSwitches(table.setting.layout, table.seed, faults))


@dataclass
class NoCamera:
    """Ticks of the table's own clock in place of frames: whatever befalls the camera, the switches still sense."""

    table: FaultyTable

    def read(self, timeout_s: float) -> Frame:  # noqa: ARG002 - a tick never keeps anyone waiting
        """Give the next tick; raises EndOfFramesError when the game is over."""
        try:
            return self.table.read(0.0)
        except EndOfFramesError:
            raise
        except (CameraError, FrameError):
            sequence = round(self.table.time_s * self.table.fps)
            tick = Frame(np.zeros((1, 1, 3), np.uint8), self.table.time_s, sequence, "no camera")
            self.table.wait(1 / self.table.fps)
            return tick
