"""The demo's time, which is that of the virtual table's newest frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from simulator.table import VirtualTable
from vision.frame import Frame

_VIRTUAL_DAY = datetime(2025, 1, 1, 12, tzinfo=UTC)


@dataclass
class VirtualClock:
    """A clock that shows the time of the newest frame."""

    time_s: float = 0.0

    def read(self) -> float:
        """Return that time in seconds."""
        return self.time_s

    def wall_clock(self) -> datetime:
        """Return a date and time on a fixed day."""
        return _VIRTUAL_DAY + timedelta(seconds=round(self.time_s, 3))


@dataclass
class ClockedCamera:
    """The virtual camera, which sets the clock by its frames; ``taken`` is called after each."""

    table: VirtualTable
    now: VirtualClock
    taken: Callable[[], None]

    def read(self, timeout_s: float) -> Frame:
        """Take the next frame; raises EndOfFramesError when there is none."""
        frame = self.table.read(timeout_s)
        self.now.time_s = frame.time_s
        self.taken()
        return frame
