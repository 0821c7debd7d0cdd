"""What scans say of switches: open, closed or doubtful, and the state that has lasted.

In a matrix without diodes, three closed switches at the corners of a rectangle make the fourth read as closed: a ghost.
Such a switch is doubtful. A state is only accepted once it has lasted, because contacts bounce and a magnet sliding
past opens and closes a reed contact several times.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from common.moments import to_microseconds

Scan = Sequence[Sequence[bool]]
"""One scan: for each driven row, whether each column was connected to it."""


class SwitchState(enum.Enum):
    """The state of a switch."""

    OPEN = "open"
    CLOSED = "closed"
    DOUBTFUL = "doubtful"


def switch_states(reading: Scan, *, diodes: bool) -> tuple[SwitchState, ...]:
    """Determine the state of each switch, row by row, from one scan: open, closed or doubtful.

    With ``diodes`` every reading is correct. Without, a switch is certain exactly if all sets of closed switches with
    this reading agree on it: an open one always, a closed one if it is the only path from its row to its column. If a
    switch moved during the scan, the inconsistent part is doubtful. Raises ValueError for rows of unequal length.
    """
    if len({len(row) for row in reading}) > 1:
        raise ValueError(f"rows of {sorted({len(row) for row in reading})} switches; expected equal ones")
    states = []
    for number, row in enumerate(reading):
        for column, is_connected in enumerate(row):
            has_other_path = not diodes and _has_other_path(reading, number, column)
            if has_other_path:
                states.append(SwitchState.DOUBTFUL)
            else:
                states.append(SwitchState.CLOSED if is_connected else SwitchState.OPEN)
    return tuple(states)


def _has_other_path(reading: Scan, row: int, column: int) -> bool:
    """Return whether three other switches that read as closed connect the row to the column: along, across, and back.

    Readings are complete (switches connected by any path read as closed), so a longer path implies a short one.
    """
    return any(
        other_row != row and reading[other_row][column] and reading[other_row][other_column]
        for other_column, is_connected in enumerate(reading[row])
        if is_connected and other_column != column
        for other_row in range(len(reading))
    )


DEFAULT_SWITCH_SETTLE_S = 0.04
"""How long a switch must be stable; a magnet that slides past closes a reed contact several times."""

MIN_SCANS = 3
"""Minimum number of equal scans in a row, however far apart they are."""

CHATTER_FLIPS = 12
CHATTER_S = 1.0
"""A switch that changes this often within this many seconds is ignored: nobody moves a piece that fast."""

_MAX_CHANGES = 256


@dataclass(frozen=True)
class SwitchChange:
    """A switch that closed or opened, and when that was first seen (monotonic seconds)."""

    switch: int
    closed: bool
    time_s: float


@dataclass(frozen=True)
class SwitchSnapshot:
    """The state of all switches at ``time_s`` (monotonic seconds), by their numbers.

    A ``doubtful`` one is unreadable (a ghost, or chattering), and its ``closed`` is false. ``changes`` are those since
    the snapshot before, oldest first; a switch that was doubtful in between is only included if its state differs.
    """

    time_s: float
    closed: tuple[bool, ...]
    doubtful: tuple[bool, ...]
    changes: tuple[SwitchChange, ...]


@dataclass
class _Switch:
    stable: SwitchState | None = None
    last_certain: SwitchState | None = None
    candidate: SwitchState | None = None
    since_s: float = 0.0
    scans: int = 0
    flips_s: deque[float] = field(default_factory=lambda: deque(maxlen=CHATTER_FLIPS))

    def chatters(self, time_s: float) -> bool:
        return len(self.flips_s) == CHATTER_FLIPS and time_s - self.flips_s[0] <= CHATTER_S


class SwitchDebouncer:
    """Converts scans to snapshots.

    Args:
        switches: number of switches.
        settle_s: how long a state must be stable to be accepted; at least ``MIN_SCANS`` scans.

    A switch that changed ``CHATTER_FLIPS`` times within ``CHATTER_S`` is doubtful until it is quiet.
    """

    def __init__(self, switches: int, *, settle_s: float = DEFAULT_SWITCH_SETTLE_S) -> None:
        if not settle_s >= 0:
            raise ValueError(f"settle_s is {settle_s}; expected seconds, 0 or more")
        self._switches = [_Switch() for _ in range(switches)]
        self._settle_s = settle_s
        self._changes: deque[SwitchChange] = deque(maxlen=_MAX_CHANGES)
        self._scans = 0
        self._first_s = 0.0

    def add_scan(self, states: Sequence[SwitchState], time_s: float) -> None:
        """Process one scan, made at ``time_s`` (monotonic seconds, never before the last one).

        Raises ValueError for a scan with another number of switches.
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
            if switch.scans >= MIN_SCANS and _has_passed(self._settle_s, switch.since_s, time_s):
                self._accept(number, switch)

    def snapshot(self, time_s: float) -> SwitchSnapshot | None:
        """Return the accepted state at ``time_s``, with the changes since the snapshot before.

        ``None`` until there were enough scans to accept the state of a stable switch.
        """
        if self._scans < MIN_SCANS or not _has_passed(self._settle_s, self._first_s, time_s):
            return None
        states = [
            SwitchState.DOUBTFUL if switch.stable is None or switch.chatters(time_s) else switch.stable
            for switch in self._switches
        ]
        changes = tuple(sorted(self._changes, key=lambda change: change.time_s))
        self._changes.clear()
        return SwitchSnapshot(
            time_s,
            closed=tuple(state is SwitchState.CLOSED for state in states),
            doubtful=tuple(state is SwitchState.DOUBTFUL for state in states),
            changes=changes,
        )

    def _accept(self, number: int, switch: _Switch) -> None:
        switch.stable = switch.candidate
        if switch.candidate in (switch.last_certain, SwitchState.DOUBTFUL):
            return
        if switch.last_certain is not None:
            self._changes.append(SwitchChange(number, switch.candidate is SwitchState.CLOSED, switch.since_s))
        switch.last_certain = switch.candidate


def _has_passed(span_s: float, start_s: float, time_s: float) -> bool:
    """Return whether a span is over, in whole microseconds: 10.04 is 0.04 after 10.0, which is not true of floats."""
    return to_microseconds(time_s - start_s) >= to_microseconds(span_s)
