"""From scan after scan to what is believed: a switch's state counts once it has stayed. Pure.

Contacts bounce for some milliseconds (see ``hardware.debounce``), a magnet that is slid past opens and closes a reed
contact for longer; and a scan may fall into the middle of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from hardware.sensor_matrix import SwitchState

DEFAULT_SETTLE_S = 0.04
LEAST_SCANS = 3
"""How many scans in a row must agree, however far apart they are."""

CHATTER_FLIPS = 12
CHATTER_S = 1.0
_MOST_CHANGES = 256


@dataclass(frozen=True)
class SwitchChange:
    """A switch that closed or opened, and when that was first seen (monotonic seconds)."""

    switch: int
    closed: bool
    time_s: float


@dataclass(frozen=True)
class SwitchSnapshot:
    """What all switches say at ``time_s`` (monotonic seconds), by their numbers.

    One that is ``doubtful`` can't be told (a ghost, or it chatters), and its ``closed`` is false. ``changes`` are those
    since the snapshot before, oldest first; what was doubtful in between is told only if it came out different.
    """

    time_s: float
    closed: tuple[bool, ...]
    doubtful: tuple[bool, ...]
    changes: tuple[SwitchChange, ...] = ()


@dataclass
class _Switch:
    believed: SwitchState | None = None
    certain: SwitchState | None = None
    candidate: SwitchState | None = None
    since_s: float = 0.0
    scans: int = 0
    flips_s: deque[float] = field(default_factory=lambda: deque(maxlen=CHATTER_FLIPS))

    def chatters(self, time_s: float) -> bool:
        return len(self.flips_s) == CHATTER_FLIPS and time_s - self.flips_s[0] <= CHATTER_S


class SwitchSettler:
    """Takes scans, gives snapshots.

    Args:
        switches: how many there are.
        settle_s: how long a state must have been seen without a break to be believed; at least ``LEAST_SCANS`` scans.

    A switch that changed ``CHATTER_FLIPS`` times within ``CHATTER_S`` is doubtful until it is quiet.
    """

    def __init__(self, switches: int, *, settle_s: float = DEFAULT_SETTLE_S) -> None:
        if not settle_s >= 0:
            raise ValueError(f"settle_s is {settle_s}; expected seconds, 0 or more")
        self._switches = [_Switch() for _ in range(switches)]
        self._settle_s = settle_s
        self._changes: deque[SwitchChange] = deque(maxlen=_MOST_CHANGES)
        self._scans = 0
        self._first_s = 0.0

    def feed(self, states: Sequence[SwitchState], time_s: float) -> None:
        """Take one scan, made at ``time_s`` (monotonic seconds, never before the last one).

        Raises ValueError for a scan of another number of switches.
        """
        if len(states) != len(self._switches):
            raise ValueError(f"a scan of {len(states)} switches; expected {len(self._switches)}")
        if self._scans == 0:
            self._first_s = time_s
        self._scans += 1
        for number, (switch, state) in enumerate(zip(self._switches, states, strict=True)):
            if state is not switch.candidate:
                if switch.candidate is not None:
                    switch.flips_s.append(time_s)
                switch.candidate, switch.since_s, switch.scans = state, time_s, 0
            switch.scans += 1
            if switch.scans >= LEAST_SCANS and _has_passed(self._settle_s, switch.since_s, time_s):
                self._believe(number, switch)

    def snapshot(self, time_s: float) -> SwitchSnapshot | None:
        """Give what is believed at ``time_s``, with what changed since the snapshot before.

        ``None`` until there were enough scans for a switch that lies still to be believed.
        """
        if self._scans < LEAST_SCANS or not _has_passed(self._settle_s, self._first_s, time_s):
            return None
        believed = [
            SwitchState.DOUBTFUL if switch.believed is None or switch.chatters(time_s) else switch.believed
            for switch in self._switches
        ]
        changes = tuple(sorted(self._changes, key=lambda change: change.time_s))
        self._changes.clear()
        return SwitchSnapshot(
            time_s,
            closed=tuple(state is SwitchState.CLOSED for state in believed),
            doubtful=tuple(state is SwitchState.DOUBTFUL for state in believed),
            changes=changes,
        )

    def _believe(self, number: int, switch: _Switch) -> None:
        switch.believed = switch.candidate
        if switch.candidate in (switch.certain, SwitchState.DOUBTFUL):
            return
        if switch.certain is not None:
            self._changes.append(SwitchChange(number, switch.candidate is SwitchState.CLOSED, switch.since_s))
        switch.certain = switch.candidate


def _has_passed(span_s: float, start_s: float, time_s: float) -> bool:
    """Whether a span is over, in whole microseconds: 10.04 is 0.04 after 10.0, which floats deny."""
    return round((time_s - start_s) * 1e6) >= round(span_s * 1e6)
