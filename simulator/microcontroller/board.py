"""The virtual board on which the firmware's core runs, in place of real pins.

Contacts bounce, a switch matrix without diodes has ghosts, and shown frames are recorded. Times are seconds on any
clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random

from firmware_bridge.firmware.core.board import Board
from firmware_bridge.firmware.core.lights import LightFrame
from firmware_bridge.firmware.core.pin_map import PinMap
from firmware_bridge.firmware.core.ticks import TICKS_MASK
from firmware_bridge.protocol.messages import ResetCause

_MOST_READ = 1024  # bytes a step
_MOST_INBOX = 4096  # bytes; more are lost, as in a UART
_REMEMBERED_FRAMES = 1024  # for tests
_REMEMBERED_TONES = 256  # for tests

MOST_BOUNCE_S = 0.006
"""Maximum bounce time of a contact; J. G. Ganssle, *A Guide to Debouncing* (2004), measured at most 6.2 ms."""


@dataclass(frozen=True)
class ShownFrame:
    """The lights from ``time_s`` on: red, green and blue of each light, one byte each.

    ``colours`` is what was requested, sRGB encoded, as the host sends it; ``duty`` what the strip received, after
    gamma, brightness and current limit. ``is_waiting``: the firmware's own waiting animation, not a frame from the
    host.
    """

    time_s: float
    colours: bytes
    duty: bytes
    is_waiting: bool


@dataclass(frozen=True)
class SoundedTone:
    """The buzzer's tone from ``time_s`` on; 0 Hz is silence."""

    time_s: float
    frequency_hz: int


class BoardRestartedError(Exception):
    """Raised when the firmware resets the board. ``into_interpreter``: the firmware doesn't start again."""

    def __init__(self, into_interpreter: bool) -> None:
        super().__init__("the firmware reset the board")
        self.into_interpreter = into_interpreter


class VirtualBoard(Board):
    """A board without hardware, wired as in a pin map, as the firmware has parsed it.

    A contact bounces for up to ``bounce_s``. Like real lights, these keep what they show when the board resets, and go
    out without power. ``wanted_lights`` is the firmware's own frame buffer, recorded together with what is shown.
    """

    def __init__(self, pins: PinMap, clock: Callable[[], float], rng: Random, bounce_s: float = MOST_BOUNCE_S) -> None:
        self._pins = pins
        self._clock = clock
        self._rng = rng
        self._inbox: deque[bytes] = deque()
        self._inbox_bytes = 0
        self._outbox = bytearray()
        self._ticks_offset_ms = 0
        self._switches = [Contact(rng, bounce_s) for _ in range(pins.switches)]
        self._buttons = [Contact(rng, bounce_s) for _ in pins.buttons]
        self.shown: deque[ShownFrame] = deque(maxlen=_REMEMBERED_FRAMES)
        """The last thousand frames shown, newest last."""
        self.tones: deque[SoundedTone] = deque(maxlen=_REMEMBERED_TONES)
        """The last tones sounded, newest last."""
        self._masks: list[int] = []
        self._moving_until_s: float | None = clock()
        self.moved_s = clock()
        self.wanted_lights: LightFrame | None = None
        self.watchdog_fed_s = clock()
        self.lose_power()
        self.start(ResetCause.POWER)

    def start(self, cause: ResetCause) -> None:
        """Start again: new boot id, clock near 0, empty buffers."""
        self.boot_id = self._rng.getrandbits(32)
        self.reset_cause = cause
        now_s = self._clock()
        self._ticks_offset_ms = round(now_s * 1000) - self._rng.randrange(1000)
        self.watchdog_fed_s = now_s
        self._inbox.clear()
        self._inbox_bytes = 0
        self._outbox.clear()
        self.tones.append(SoundedTone(now_s, 0))

    def lose_power(self) -> None:
        """Turn lights and buzzer off."""
        dark = bytes(3 * self._pins.lights)
        self.shown.append(ShownFrame(self._clock(), dark, dark, is_waiting=False))
        self.tones.append(SoundedTone(self._clock(), 0))

    # the firmware's side

    def ticks_ms(self) -> int:
        """Return milliseconds of the board's clock, modulo 2**30."""
        return (round(self._clock() * 1000) - self._ticks_offset_ms) & TICKS_MASK

    def read(self) -> bytes:
        """Return bytes from the host, at most 1 kB at a time."""
        if not self._inbox:
            return b""
        piece = self._inbox.popleft()
        if len(piece) > _MOST_READ:
            self._inbox.appendleft(piece[_MOST_READ:])
            piece = piece[:_MOST_READ]
        self._inbox_bytes -= len(piece)
        return piece

    def write(self, data: memoryview) -> int:
        """Send bytes to the host; all are accepted."""
        self._outbox += data
        return len(data)

    def show_lights(self, colours: bytearray) -> None:
        """Show and record a frame."""
        wanted = self.wanted_lights
        frame = (bytes(colours), False) if wanted is None else (bytes(wanted.wanted), wanted.is_waiting)
        self.shown.append(ShownFrame(self._clock(), frame[0], bytes(colours), frame[1]))

    def scan(self, masks: list[int]) -> None:
        """Read the switches' present levels, including ghosts and bounce."""
        if self._moving_until_s is not None:
            self._read_switches()
        masks[:] = self._masks

    def buttons(self) -> int:
        """Read which buttons' contacts are closed now."""
        now_s = self._clock()
        return _bits([contact.is_closed(now_s) for contact in self._buttons])

    def _read_switches(self) -> None:
        now_s, pins = self._clock(), self._pins
        levels = [contact.is_closed(now_s) for contact in self._switches]
        in_matrix = len(pins.rows) * len(pins.columns)
        closed = [divmod(number, len(pins.columns)) for number in range(in_matrix) if levels[number]]
        rows = [columns_read(row, closed, diodes=pins.diodes) for row in range(len(pins.rows))]
        self._masks = [sum(1 << column for column in columns) for columns in rows]
        if pins.singles:
            self._masks.append(_bits(levels[in_matrix:]))
        # while nothing moves, the last levels are valid, which is the case for most scans
        if self._moving_until_s is not None and now_s >= self._moving_until_s:
            self._moving_until_s = None

    def tone(self, frequency_hz: int) -> None:
        """Sound a frequency until the next call."""
        self.tones.append(SoundedTone(self._clock(), frequency_hz))

    def feed_watchdog(self) -> None:
        """Feed the watchdog."""
        self.watchdog_fed_s = self._clock()

    def restart(self, into_interpreter: bool) -> None:
        """Reset the board: raises BoardRestartedError, since the call does not return on a real board."""
        raise BoardRestartedError(into_interpreter)

    # the outside world's side

    @property
    def has_input(self) -> bool:
        """Whether there are bytes that the firmware has not read."""
        return bool(self._inbox)

    def receive(self, data: bytes) -> None:
        """Receive bytes from the host; those beyond the buffer's size are lost."""
        if self._inbox_bytes + len(data) > _MOST_INBOX:
            return
        self._inbox.append(data)
        self._inbox_bytes += len(data)

    def sent(self) -> bytes:
        """Take the bytes that the firmware has written since the last call."""
        data = bytes(self._outbox)
        self._outbox.clear()
        return data

    def move_switch(self, switch: int, closed: bool, time_s: float) -> None:
        """Close or open a switch. Raises IndexError with the number of switches."""
        contact = _pick(self._switches, switch, "switch")
        contact.move(closed, time_s)
        self.moved_s = time_s
        self._moving_until_s = max(self._moving_until_s or 0.0, contact.settles_s or time_s)

    def move_button(self, button: int, closed: bool, time_s: float) -> None:
        """Press or release a button. Raises IndexError with the number of buttons."""
        _pick(self._buttons, button, "button").move(closed, time_s)
        self.moved_s = time_s


def _pick(contacts: Sequence[Contact], number: int, name: str) -> Contact:
    if not 0 <= number < len(contacts):
        raise IndexError(f"there is no {name} {number}; the board has {len(contacts)}, counted from 0")
    return contacts[number]


def _bits(levels: Sequence[bool]) -> int:
    return sum(1 << bit for bit, level in enumerate(levels) if level)


_MOST_CHATTERS = 12  # flips of a bouncing contact


class Contact:
    """One contact, which bounces for up to ``bounce_s`` each time it closes or opens, at random."""

    def __init__(self, rng: Random, bounce_s: float = MOST_BOUNCE_S) -> None:
        self._rng = rng
        self._bounce_s = bounce_s
        self._closed = False
        self._edges: list[float] = []

    def move(self, closed: bool, time_s: float) -> None:
        """Close or open it."""
        level = self.is_closed(time_s)
        self._edges = []
        if self._bounce_s > 0:
            chatters = 2 * self._rng.randrange(_MOST_CHATTERS // 2 + 1)
            lasts_s = self._rng.uniform(0.0, self._bounce_s)
            self._edges = sorted(time_s + self._rng.uniform(0.0, lasts_s) for _ in range(chatters))
        if level != closed:
            self._edges.insert(0, time_s)
        self._closed = level
        self.is_closed(time_s)

    def is_closed(self, time_s: float) -> bool:
        """Whether it is closed at that time; times must not decrease."""
        while self._edges and self._edges[0] <= time_s:
            self._edges.pop(0)
            self._closed = not self._closed
        return self._closed

    @property
    def settles_s(self) -> float | None:
        """When the current bounce ends; ``None`` when it is stable."""
        return self._edges[-1] if self._edges else None


def columns_read(row: int, closed: Collection[tuple[int, int]], *, diodes: bool) -> set[int]:
    """Return the columns that read as closed while ``row`` is driven and these (row, column) contacts are closed.

    With a diode at each contact, current only flows from rows to columns, so these are the row's own. Without diodes it
    also flows back through any closed contact: every column connected with the row in any way reads as closed. So three
    closed corners of a rectangle make the fourth one read as closed.
    """
    columns = {column for at, column in closed if at == row}
    if diodes:
        return columns
    rows = {row}
    while True:
        further = {at for at, column in closed if column in columns} - rows
        if not further:
            return columns
        rows |= further
        columns |= {column for at, column in closed if at in rows}
