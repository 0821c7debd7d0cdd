"""Switches on the Pi's own pins, through gpiozero: a matrix, single switches, or both.

Columns and single switches are inputs with pull-ups. A row is driven low only while it is read and floats otherwise, so
two closed switches in one column never connect a high pin to a low one. docs/hardware.md has the wiring.

In a matrix without diodes, three closed switches at the corners of a rectangle make the fourth read as closed: a ghost.
Such a switch is doubtful. A state is only accepted once it has lasted, because contacts bounce and a magnet sliding
past opens and closes a reed contact several times.
"""

import enum
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

from gpiozero import GPIODevice
from gpiozero.pins import Factory

from common.backoff import Backoff
from common.moments import to_microseconds
from common.phrases import Phrase
from hardware.errors import HardwareError, part_and_reason
from hardware.pin_map import PinAllocator, PinName
from hardware.pins import hardware_error, open_pin_factory, pin_errors

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

CHATTER_FLIPS = 12  # more than any hand makes within CHATTER_S; set by hand
CHATTER_S = 1.0
"""A switch that changes this often within this many seconds is ignored: nobody moves a piece that fast."""

_MAX_CHANGES = 256  # that wait for the reader; set by hand


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
    """Converts scans to snapshots; a state must be stable for ``settle_s``, at least ``MIN_SCANS`` scans, to be
    accepted.

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
        """Process a scan made at ``time_s``, never before the last one; raises ValueError for another number of
        switches.
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
        """Return the accepted state at ``time_s`` with the changes since the last snapshot; ``None`` before enough
        scans.
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


_SCAN_S = 0.02
"""Minimum time between two scans, in seconds. Set by hand."""

_NAME = "sensors"
_CHARGE_S = 50e-6  # for a column to rise through its pull-up; set by hand


@dataclass(frozen=True)
class SwitchPins:
    """Broadcom numbers of the pins connected to switches, none used twice. Made by ``switch_pins``.

    Switches are numbered row by row, then the ``singles``. ``diodes``: each switch of the matrix has one, with its
    cathode (the ring) towards the row.
    """

    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    singles: tuple[int, ...] = ()
    diodes: bool = True

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.rows) * len(self.columns) + len(self.singles)

    @property
    def uses(self) -> tuple[tuple[str, int], ...]:
        """The use of each pin, in words, and its Broadcom number."""
        named = ((Phrase("sensor row"), self.rows), (Phrase("sensor column"), self.columns), ("sensor", self.singles))
        return tuple((f"{what} {number}", pin) for what, pins in named for number, pin in enumerate(pins, start=1))


def switch_pins(
    *,
    rows: Sequence[PinName] = (),
    columns: Sequence[PinName] = (),
    singles: Sequence[PinName] = (),
    diodes: bool = True,
    taken: Iterable[tuple[str, int]] = (),
) -> SwitchPins:
    """Validate and make the pins of a table's switches.

    ``taken`` are the pins of lights and buttons (``GpioPinMap.uses``). Raises PinError, which lists *every* problem:
    invalid pins, pins used twice (with both uses), rows without columns, and no pin at all.
    """
    pins = PinAllocator({pin: use for use, pin in taken})
    if bool(rows) != bool(columns):
        pins.problems.append(Phrase("a sensor matrix needs pins for rows and for columns; only one of the two has any"))
    if not (rows or columns or singles):
        pins.problems.append(
            Phrase("there is no pin with a sensor; give pins for rows and columns, or for single sensors")
        )

    def numbered(what: str, names: Sequence[PinName]) -> tuple[int, ...]:
        return tuple(pins.allocate(f"{what} {position}", name) for position, name in enumerate(names, start=1))

    made = SwitchPins(
        numbered(Phrase("sensor row"), rows),
        numbered(Phrase("sensor column"), columns),
        numbered("sensor", singles),
        diodes=diodes,
    )
    pins.check()
    return made


class SwitchScanner:
    """Reads all switches on request; raises HardwareError for pins that can't be opened or read.

    ``wait`` waits for some seconds (``time.sleep``), so that a column's wire charges before it is read. 50 kΩ of
    pull-up and 200 pF of wire take 10 µs; 50 µs are allowed.
    """

    def __init__(self, pins: SwitchPins, wait: Callable[[float], None], pin_factory: Factory | None = None) -> None:
        self._pins = pins
        self._wait = wait
        factory = open_pin_factory() if pin_factory is None else pin_factory
        self._opened = ExitStack()
        try:
            self._rows = [self._open(pin, factory) for pin in pins.rows]
            self._columns = [self._open(pin, factory) for pin in pins.columns]
            self._singles = [self._open(pin, factory) for pin in pins.singles]
            for row in self._rows:
                _float(row)
            for line in (*self._columns, *self._singles):
                line.input_with_pull("up")
        except pin_errors() as error:
            self.close()
            raise hardware_error(_NAME, error) from error

    def scan(self) -> tuple[SwitchState, ...]:
        """Read every switch now, numbered as in ``SwitchPins``."""
        try:
            reading = [self._read_row(row) for row in self._rows]
            singles = [SwitchState.OPEN if line.state else SwitchState.CLOSED for line in self._singles]
        except pin_errors() as error:
            raise hardware_error(_NAME, error) from error
        return (*switch_states(reading, diodes=self._pins.diodes), *singles)

    def close(self) -> None:
        """Release every pin, after which it is an input; one that has failed may fail again."""
        with suppress(*pin_errors()):
            self._opened.close()

    def _open(self, pin: int, factory: Factory) -> Any:
        device = GPIODevice(pin, pin_factory=factory)
        self._opened.callback(device.close)
        return device.pin

    def _read_row(self, row: Any) -> list[bool]:
        row.output_with_state(0)
        try:
            self._wait(_CHARGE_S)
            return [not column.state for column in self._columns]
        finally:
            _float(row)
            self._wait(_CHARGE_S)


class GpioSwitches:
    """The switches of a table on the Pi's own pins, read on request, without a thread.

    ``on_fault`` is called with a sentence when they fail for the first time. ``wait`` is as in ``SwitchScanner``: 2 ms
    in all for a scan of 8 rows. ``pin_factory`` is gpiozero's, by default its own.
    """

    def __init__(
        self,
        pins: SwitchPins,
        on_fault: Callable[[str], None],
        wait: Callable[[float], None],
        *,
        pin_factory: Factory | None = None,
    ) -> None:
        self.pins = pins
        self._on_fault = on_fault
        self._factory = pin_factory
        self._wait = wait
        self._scanner: SwitchScanner | None = None
        self._debouncer = SwitchDebouncer(pins.switches)
        self._scanned_s: float | None = None
        self._backoff = Backoff()
        self._said: set[str] = set()

    def latest(self, now_s: float) -> SwitchSnapshot | None:
        """Scan if it is due, and return the accepted state; ``None`` while it is unknown or the pins fail.

        Each change is returned once. ``time_s`` of the snapshot is when the switches were last scanned.
        """
        if self._scanned_s is None or now_s >= self._scanned_s + _SCAN_S:
            self._scan(now_s)
        if self._scanner is None or self._scanned_s is None:
            return None
        return self._debouncer.snapshot(self._scanned_s)

    def next_scan_s(self, now_s: float) -> float:
        """Return when ``latest`` makes the next scan, or tries the pins again."""
        if self._scanner is None:
            return max(now_s, self._backoff.retry_at_s or now_s)
        return now_s if self._scanned_s is None else max(now_s, self._scanned_s + _SCAN_S)

    def close(self) -> None:
        """Release every pin."""
        scanner, self._scanner = self._scanner, None
        if scanner is not None:
            scanner.close()

    def _scan(self, now_s: float) -> None:
        if self._scanner is None and not self._backoff.is_due(now_s):
            return
        try:
            if self._scanner is None:
                # the state before the fault is no longer valid
                self._debouncer = SwitchDebouncer(self.pins.switches)
                self._scanner = SwitchScanner(self.pins, self._wait, self._factory)
            self._debouncer.add_scan(self._scanner.scan(), now_s)
        except HardwareError as error:
            self._failed(now_s, error)
            return
        self._scanned_s = now_s
        self._backoff = self._backoff.worked(now_s)

    def _failed(self, now_s: float, error: HardwareError) -> None:
        self.close()
        _, message = part_and_reason(_NAME, str(error))
        self._backoff = self._backoff.failed(now_s)
        if message not in self._said:
            self._said.add(message)
            self._on_fault(
                Phrase(
                    "The sensors do not work: {message}. The game goes on without them, and the referee keeps trying.",
                    message,
                )
            )


def _float(row: Any) -> None:
    """Let a row's pin float; GPIO2 and 3 have pull-ups on the board, which do no harm."""
    row.input_with_pull(row.info.pull or "floating")
