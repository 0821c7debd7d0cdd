"""Perfect eyes in place of the camera and the reader: what a reader that never errs would say of each frame.

With them a soak costs no pictures, so that thousands of turns show whether players, service and judge get along;
what then still fails with real pictures is the reader's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.soak_geometry import covered_places, sides_in_plain_view
from engine.api import EMPTY
from simulator.faults_table import FaultyTable
from simulator.scene import SYMBOLS, BlockPose, Scene
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.layout import TableLayout
from vision.reading import Hindrance, PlaceReading, Reading
from vision.solids import BlockSolid

_SURE = 0.995


@dataclass
class PerfectEyes:
    """A reader that is told what stands where, and says so as a camera would: not through hands, things or shaking."""

    table: FaultyTable
    looks: tuple[str, ...]
    _seen: tuple[Scene, dict[str, PlaceReading]] | None = None

    def read(self, frame: Frame) -> Reading:
        """Say what the newest frame shows."""
        scene = self.table.scene
        if frame.image.size == 0:
            black = Hindrance("bad frame", "the frame is black")
            return Reading(frame.sequence, frame.time_s, {}, (black,))
        if scene.hands:
            return Reading(frame.sequence, frame.time_s, {}, (Hindrance("hand", "a hand is over the board"),))
        if self.table.is_shaken:
            return Reading(frame.sequence, frame.time_s, {}, (Hindrance("moved camera", "the camera is moving"),))
        # Between two hands every frame shows the same, and geometry takes longer than all the rest of a soak.
        if self._seen is None or not _alike(self._seen[0], scene):
            self._seen = (scene, self._look_at(scene))
        return Reading(frame.sequence, frame.time_s, self._seen[1])

    def _look_at(self, scene: Scene) -> dict[str, PlaceReading]:
        layout = scene.setting.layout
        standing = {place: block for block in scene.blocks if (place := _place_of(layout, block)) in layout.places}
        hidden = covered_places(scene.setting, scene.setting.pose, scene.things)
        places = {}
        for place in layout.places:
            block = standing.get(place)
            look = EMPTY if block is None else f"{block.colour} block, {block.up} up"
            rest = (1 - _SURE) / (len(self.looks) - 1)
            chances = {one: _SURE if one == look else rest for one in self.looks}
            sides = {} if block is None else self._sides(place, standing)
            places[place] = PlaceReading(chances, sides, "object" if place in hidden else None)
        return places

    def _sides(self, place: str, standing: Mapping[str, BlockPose]) -> dict[str, dict[str, float]]:
        setting = self.table.scene.setting
        layout = setting.layout
        solids = {
            other: BlockSolid(block.x_mm, block.y_mm, layout.board_top_mm, layout.block_side_mm, block.turned_deg)
            for other, block in standing.items()
        }
        facing = self.table.facing(standing[place])
        rest = (1 - _SURE) / (len(SYMBOLS) - 1)
        return {
            side: {symbol: _SURE if symbol == facing[side] else rest for symbol in SYMBOLS}
            for side in sides_in_plain_view(setting, setting.pose, solids, place)
        }

    def crop(self, frame: Frame, place: str) -> Image:
        """There is no picture to cut out."""
        raise NotLocatedError(f"perfect eyes keep no picture of {place} in frame {frame.sequence}")


def _alike(before: Scene, now: Scene) -> bool:
    """Whether the same camera sees the same blocks and things."""
    return before.setting is now.setting and (before.blocks, before.things) == (now.blocks, now.things)


def _place_of(layout: TableLayout, block: BlockPose) -> str:
    return "" if block.base_mm is not None else _place_of_point(layout, block.x_mm, block.y_mm)


def _place_of_point(layout: TableLayout, x_mm: float, y_mm: float) -> str:
    column = round(x_mm / layout.cell_mm + (layout.columns - 1) / 2)
    return f"{chr(ord('a') + column)}{round(y_mm / layout.cell_mm + (layout.rows - 1) / 2) + 1}"
