"""Perfect eyes in place of the camera and the reader: what a reader that never errs would say of each frame.

With them a soak costs no pictures, so that thousands of turns show whether players, service and judge get along;
what then still fails with real pictures is the reader's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.api import EMPTY
from simulator.faults_table import FaultyTable
from simulator.handling import STEPS, neighbour
from simulator.scene import SYMBOLS, BlockPose
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import Pose
from vision.layout import TableLayout
from vision.reading import Hindrance, PlaceReading, Reading

FLATTEST_DEG = 22.0
"""A side face seen at less than this angle is a few pixels wide and can't be read."""

_SURE = 0.995


def sides_in_view(layout: TableLayout, pose: Pose, place: str, occupied: set[str]) -> list[str]:
    """The compass sides of a block on ``place`` that the camera sees, ``occupied`` places standing in the way."""
    x, y = layout.centre_mm(place)
    centre = np.array([x, y, layout.board_top_mm + layout.block_side_mm / 2])
    found = []
    for side, (columns, rows) in STEPS.items():
        beside = neighbour(layout, place, columns, rows)
        if beside is not None and beside in occupied:
            continue
        normal = np.array([columns, rows, 0.0])
        towards = pose.camera_position_mm - (centre + normal * layout.block_side_mm / 2)
        if float(normal @ towards) / float(np.linalg.norm(towards)) >= math.sin(math.radians(FLATTEST_DEG)):
            found.append(side)
    return found


@dataclass
class PerfectEyes:
    """A reader that is told what stands where, and says so as a camera would: not through hands, things or shaking."""

    table: FaultyTable
    looks: tuple[str, ...]

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
        layout = scene.setting.layout
        standing = {place: block for block in scene.blocks if (place := _place_of(layout, block)) in layout.places}
        hidden = {_place_of_point(layout, thing.x_mm, thing.y_mm) for thing in scene.things}
        places = {}
        for place in layout.places:
            block = standing.get(place)
            look = EMPTY if block is None else f"{block.colour} block, {block.up} up"
            rest = (1 - _SURE) / (len(self.looks) - 1)
            chances = {one: _SURE if one == look else rest for one in self.looks}
            sides = {} if block is None else self._sides(place, block, set(standing))
            places[place] = PlaceReading(chances, sides, "object" if place in hidden else None)
        return Reading(frame.sequence, frame.time_s, places)

    def _sides(self, place: str, block: BlockPose, occupied: set[str]) -> dict[str, dict[str, float]]:
        setting = self.table.scene.setting
        facing = self.table.facing(block)
        rest = (1 - _SURE) / (len(SYMBOLS) - 1)
        return {
            side: {symbol: _SURE if symbol == facing[side] else rest for symbol in SYMBOLS}
            for side in sides_in_view(setting.layout, setting.pose, place, occupied)
        }

    def crop(self, frame: Frame, place: str) -> Image:
        """There is no picture to cut out."""
        raise NotLocatedError(f"perfect eyes keep no picture of {place} in frame {frame.sequence}")


def _place_of(layout: TableLayout, block: BlockPose) -> str:
    return "" if block.base_mm is not None else _place_of_point(layout, block.x_mm, block.y_mm)


def _place_of_point(layout: TableLayout, x_mm: float, y_mm: float) -> str:
    column = round(x_mm / layout.cell_mm + (layout.columns - 1) / 2)
    return f"{chr(ord('a') + column)}{round(y_mm / layout.cell_mm + (layout.rows - 1) / 2) + 1}"
