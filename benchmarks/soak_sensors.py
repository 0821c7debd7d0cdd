"""Switches under the soak's table: felt by the referee alone or beside the camera, with faults of their own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from referee.sensing.values import PlaceChange, Sensed
from simulator.faults_table import FaultyTable
from simulator.sensors import VirtualSwitches, drawn_faults, felt_places
from vision.errors import CameraError, EndOfFramesError, FrameError
from vision.frame import Frame

Eyes = Literal["camera", "sensors", "both"]
EYES: tuple[Eyes, ...] = ("camera", "sensors", "both")

_SECONDS_A_TURN = 7.0


@dataclass
class FeltTable:
    """What the switches say, as a board would report it: the newest snapshot, and what changed since the last one.

    ``misfelt`` gathers when which switches said what is not so, or the cable was off (all of them): not for the
    referee.
    """

    table: FaultyTable
    switches: VirtualSwitches
    misfelt: list[tuple[float, frozenset[str]]] = field(default_factory=list)
    _told: Sensed | None = None

    def latest(self, now_s: float) -> Sensed | None:
        """Say what the switches say now; while the cable is off, what they said last."""
        blocks, layout = self.table.blocks, self.table.setting.layout
        closed = self.switches.closed(blocks, now_s)
        if closed is None:
            self.misfelt.append((now_s, frozenset(layout.places)))
            return self._told
        felt = felt_places(layout, blocks)
        wrong = frozenset(place for place, is_closed in closed.items() if is_closed != (place in felt))
        if wrong:
            self.misfelt.append((now_s, wrong))
        before = self._told.occupied if self._told else closed
        changed = [place for place, is_closed in closed.items() if is_closed != before[place]]
        # A piece was lifted before it, or another one, was put down.
        in_order = sorted(changed, key=lambda place: closed[place])
        changes = tuple(PlaceChange(place, closed[place], now_s) for place in in_order)
        told = Sensed(now_s, closed, changes=changes)
        self._told = replace(told, changes=())
        return told


def felt_table(table: FaultyTable, turns: int) -> FeltTable:
    """Put switches under a table, with the faults that its seed draws for a game of so many turns."""
    faults = drawn_faults(table.setting.layout, np.random.default_rng([table.seed, 62]), turns * _SECONDS_A_TURN)
    return FeltTable(table, VirtualSwitches(table.setting.layout, table.seed, faults))


@dataclass
class NoCamera:
    """Ticks of the table's own clock in place of frames: whatever befalls the camera, the switches are still felt."""

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
