"""Inputs of the soak's referee besides a camera: a perfect reader, and switches with faults.

The perfect reader gives the reading of a reader that never errs, from the scene. It needs no rendering, so that
thousands of turns can test players, service and judge together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
import numpy.typing as npt

from app.sensing.health import SensorSnapshot
from benchmarks.faults.switches import VirtualSwitches, draw_switch_faults, sensed_places
from benchmarks.faults.table import FaultyTable
from simulator.play.actions import Arrangement
from simulator.play.deblockle import block_faces
from simulator.rendering.hands import HandOcclusion, cover_mask
from simulator.rendering.painting import box_around, clipped, polygon_mask
from simulator.scene.pieces import SYMBOLS, BlockPose, DiePose, InkPose
from simulator.scene.scene import Scene, Setting, Thing
from simulator.scene.sheets import dice_tray, lying_sheets, sheet_of
from vision.errors import CameraError, EndOfFramesError, FrameError, NotLocatedError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CubeSolid, Pose, Side, hull_px, outline_px, project
from vision.layout.pieces import BlockPieces, DicePieces
from vision.reading import (
    DieReading,
    Hindrance,
    HindranceKind,
    PlaceChange,
    PlaceReading,
    Reading,
    RollReading,
    uniform_reading,
)

_SURE = 0.995
PLAIN_HEIGHT_PX = 16.0
"""Least height in the picture of a readable side face."""

_PLAIN_OPEN_SHARE = 0.9
_COVERED_SHARE = 0.08
_PIPS = "123456"
_GRID = 8
_SHRINK = 2
"""Pixels of the picture per pixel, along each direction, of the mask that finds covered places."""


def sides_in_plain_view(
    setting: Setting,
    pose: Pose,
    blocks: Mapping[str, CubeSolid],
    place: str,
    least_height_px: float = PLAIN_HEIGHT_PX,
) -> list[Side]:
    """The sides of the block on ``place`` that are high enough in the picture, and not hidden by other blocks."""
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
    setting: Setting, pose: Pose, things: Sequence[Thing], more_than: float = _COVERED_SHARE
) -> set[str]:
    """The places of which objects hide more than a share of the piece that stands, or would stand, there."""
    layout = setting.layout
    hidden = cover_mask(replace(setting, pose=pose), (), _SHRINK, things)
    found = set()
    for place in layout.places:
        outline = _place_outline(setting, pose, place)
        if outline is None:
            continue
        box = clipped(box_around(outline / _SHRINK, 0), hidden.shape)
        if box is None:
            continue
        left, top, right, bottom = box
        own = polygon_mask((bottom - top, right - left), outline / _SHRINK - (left, top)) > 127
        if hidden[top:bottom, left:right][own].mean() > 255 * more_than:
            found.add(place)
    return found


def _place_outline(setting: Setting, pose: Pose, place: str) -> npt.NDArray[np.float32] | None:
    """The outline in pixels of the piece that stands, or would stand, on a place, or of a sheet's cell."""
    layout = setting.layout
    sheet = sheet_of(layout, place)
    if sheet is None:
        solid = layout.board.solid_at(place)
        return None if solid is None else outline_px(solid, setting.camera, pose)
    corners = sheet.on_table(sheet.surface.outline_mm(place))
    return hull_px(project(setting.camera, pose, np.column_stack([corners, np.zeros(len(corners))])))


def _distance(pose: Pose, block: CubeSolid) -> float:
    x, y, _ = pose.camera_position_mm
    return float(np.hypot(block.x_mm - x, block.y_mm - y))


def _open_share(outline: FloatArray, nearer: Sequence[npt.NDArray[np.float32]]) -> float:
    """The share of a quadrilateral outside all the outlines, on a grid of samples."""
    shares = (np.arange(_GRID) + 0.5) / _GRID
    u, v = (one.ravel()[:, None] for one in np.meshgrid(shares, shares))
    top = outline[0] * (1 - u) + outline[1] * u
    bottom = outline[3] * (1 - u) + outline[2] * u
    points = top * (1 - v) + bottom * v
    hidden = [any(cv2.pointPolygonTest(one, (float(x), float(y)), False) >= 0 for one in nearer) for x, y in points]
    return 1.0 - float(np.mean(hidden))


@dataclass
class PerfectReader:
    """Reads the true scene, except where hands, objects or a moving camera would prevent a reading."""

    table: FaultyTable
    looks: tuple[str, ...]
    _seen: tuple[Scene, dict[str, PlaceReading]] | None = None
    _occlusion: tuple[Setting, HandOcclusion] | None = None

    def read(self, frame: Frame) -> Reading:
        """Read the newest scene."""
        scene = self.table.scene
        if frame.image.size == 0:
            black = Hindrance(HindranceKind.BAD_FRAME, "the frame is black")
            return Reading(frame.sequence, frame.time_s, {}, (black,))
        if "mirrored" in self.table.deliveries:
            mirrored = Hindrance(HindranceKind.NOT_LOCATED, "the picture is mirrored")
            return Reading(frame.sequence, frame.time_s, {}, (mirrored,))
        hand = Hindrance(HindranceKind.HAND, "a hand is over the board")
        if scene.hands and not lying_sheets(scene.setting.layout):
            return Reading(frame.sequence, frame.time_s, {}, (hand,))
        if self.table.is_shaken:
            moving = Hindrance(HindranceKind.MOVED_CAMERA, "the camera is moving")
            return Reading(frame.sequence, frame.time_s, {}, (moving,))
        # The scene only changes with a hand present, and its geometry takes most of a soak's time.
        if self._seen is None or not _is_unchanged(self._seen[0], scene):
            self._seen = (scene, self._look_at(scene))
        if scene.hands:
            places = {**self._seen[1], **self._under_hands(scene)}
            return Reading(frame.sequence, frame.time_s, places, (hand,))
        return Reading(frame.sequence, frame.time_s, self._seen[1], rolls=_rolls(scene))

    def _under_hands(self, scene: Scene) -> dict[str, PlaceReading]:
        """Return readings of the places that hands hide."""
        if self._occlusion is None or self._occlusion[0] is not scene.setting:
            self._occlusion = (scene.setting, HandOcclusion(scene.setting))
        hidden = uniform_reading(self.looks, HindranceKind.HAND)
        return dict.fromkeys(self._occlusion[1].covered(scene.hands, ()), hidden)

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
        shown = block_faces(layout, standing[place])
        rest = (1 - _SURE) / (len(SYMBOLS) - 1)
        return {
            side: {symbol: _SURE if symbol == shown[side] else rest for symbol in SYMBOLS}
            for side in sides_in_plain_view(setting, setting.pose, solids, place)
        }

    def crop(self, frame: Frame, place: str) -> Image:
        """Raise NotLocatedError: there is no picture."""
        raise NotLocatedError(f"the perfect reader keeps no picture of {place} in frame {frame.sequence}")


def _rolls(scene: Scene) -> tuple[RollReading, ...]:
    """The dice in the table's tray, if it has one."""
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


def _is_unchanged(before: Scene, now: Scene) -> bool:
    """Whether camera, pieces and objects are the same; of sheets, whether the ink is."""
    pieces, pieces_now = before.pieces, now.pieces
    if lying_sheets(now.setting.layout):
        pieces, pieces_now = (tuple(one for one in each if isinstance(one, InkPose)) for each in (pieces, pieces_now))
    return before.setting is now.setting and (pieces, before.things) == (pieces_now, now.things)


_SECONDS_A_TURN = 7.0


@dataclass
class TableSwitches:
    """The switches' reports, as by a controller: the newest snapshot, and the changes since the last one.

    ``sensor_errors`` records when which switches were wrong, or all while unplugged; it is for the scorer only.
    """

    table: FaultyTable
    switches: VirtualSwitches
    sensor_errors: list[tuple[float, frozenset[str]]] = field(default_factory=list)
    _last: SensorSnapshot | None = None

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Give the current snapshot; while unplugged, the last one."""
        pieces, layout = self.table.pieces, self.table.setting.layout
        closed = self.switches.closed(pieces, now_s)
        if closed is None:
            self.sensor_errors.append((now_s, frozenset(layout.places)))
            return self._last
        sensed = sensed_places(layout, pieces)
        wrong = frozenset(place for place, is_closed in closed.items() if is_closed != (place in sensed))
        if wrong:
            self.sensor_errors.append((now_s, wrong))
        before = self._last.occupied if self._last else closed
        changed = [place for place, is_closed in closed.items() if is_closed != before[place]]
        # Pieces are lifted before they are put down.
        in_order = sorted(changed, key=lambda place: closed[place])
        changes = tuple(PlaceChange(place, closed[place], now_s) for place in in_order)
        snapshot = SensorSnapshot(now_s, closed, changes=changes)
        self._last = replace(snapshot, changes=())
        return snapshot


def switches_under(table: FaultyTable, turns: int) -> TableSwitches:
    """Put switches under a table, with faults drawn from its seed for a game of so many turns."""
    faults = draw_switch_faults(table.setting.layout, np.random.default_rng([table.seed, 62]), turns * _SECONDS_A_TURN)
    return TableSwitches(table, VirtualSwitches(table.setting.layout, table.seed, faults))


@dataclass
class NoCamera:
    """Gives clock ticks instead of frames, so that switches work whatever happens to the camera."""

    table: FaultyTable

    def read(self, timeout_s: float) -> Frame:  # noqa: ARG002 - a tick comes at once
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
