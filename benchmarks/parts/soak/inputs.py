"""What the soak's referee has in place of a camera: a reader that is told what stands where, and switches with faults.

The perfect reader says of each frame what a reader that never errs would say. With it a soak costs no pictures, so
that thousands of turns show whether players, service and judge get along.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.parts.soak.occlusion import covered_places, sides_in_plain_view
from referee.sensing.values import PlaceChange, SensorSnapshot
from simulator.faults.table import FaultyTable
from simulator.play.actions import Arrangement
from simulator.play.deblockle import facing
from simulator.scene.pieces import SYMBOLS, BlockPose
from simulator.scene.scene import Scene
from simulator.switches import VirtualSwitches, drawn_switch_faults, sensed_places
from vision.errors import CameraError, EndOfFramesError, FrameError, NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CubeSolid
from vision.layout.pieces import BlockPieces
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading

_SURE = 0.995


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
        return Reading(frame.sequence, frame.time_s, self._seen[1])

    def _look_at(self, scene: Scene) -> dict[str, PlaceReading]:
        layout = scene.setting.layout
        standing = Arrangement.on_board(layout, scene.pieces)
        looks = standing.appearance(layout.board.places)
        hidden = covered_places(scene.setting, scene.setting.pose, scene.things)
        places = {}
        for place in layout.board.places:
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
    faults = drawn_switch_faults(table.setting.layout, np.random.default_rng([table.seed, 62]), turns * _SECONDS_A_TURN)
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
