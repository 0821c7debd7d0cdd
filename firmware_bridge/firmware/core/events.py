"""Bounded queues of what the device will send: presses, faults, log lines. Pure."""

from .ticks import elapsed_ms

MOST_PRESSES = 16  # queued; set by hand for the RAM of an RP2040
MOST_FAULTS = 8  # queued; there are six kinds
MOST_LINES = 4  # queued log lines; set by hand
LONGEST_TEXT_BYTES = 200  # fits LARGEST_SENT with its fields

BAD_MESSAGE = 1  # kinds of faults, as in the protocol
LIGHT_BEYOND_STRIP = 2
CURRENT_LIMITED = 3
PIN_MAP = 4
WATCHDOG_RESET = 5
OVERFLOW = 6

_REPEAT_AFTER_MS = 10_000  # the same fault is sent again at most so often; set by hand
_STALE_AFTER_MS = 2000  # older presses are not sent again; set by hand


def truncated_utf8(text: str, longest: int = LONGEST_TEXT_BYTES) -> bytes:
    """Encode a text as UTF-8, cut between characters so that it fits."""
    data = text.encode()
    if len(data) <= longest:
        return data
    end = longest
    while end and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]


class Press:
    """A button event. ``number`` counts since the start; ``at`` is in ticks, ``time_ms`` in the protocol's time."""

    def __init__(self, number: int, button: int, what: int, at: int, time_ms: int, held_ms: int) -> None:
        self.number = number
        self.button = button
        self.what = what
        self.at = at
        self.time_ms = time_ms
        self.held_ms = held_ms
        self.is_sent = False


class PressQueue:
    """Presses that the host hasn't acknowledged, oldest first."""

    def __init__(self) -> None:
        self._presses: list[Press] = []
        self._next_number = 0

    def add(self, button: int, what: int, at: int, time_ms: int, held_ms: int) -> bool:
        """Add a press; returns ``False`` if another was dropped for it: the oldest unsent one, or else the oldest."""
        fits = len(self._presses) < MOST_PRESSES
        if not fits:
            oldest = self.next_unsent() or self._presses[0]
            self._presses.remove(oldest)
        self._presses.append(Press(self._next_number, button, what, at, time_ms, held_ms))
        self._next_number = (self._next_number + 1) & 0xFFFF
        return fits

    def next_unsent(self) -> Press | None:
        """Return the oldest press that wasn't sent in this session."""
        for press in self._presses:
            if not press.is_sent:
                return press
        return None

    def arrived(self, number: int) -> None:
        """Remove a press that the host has received."""
        for i in range(len(self._presses)):
            if self._presses[i].number == number:
                self._presses.pop(i)
                return

    def begin_session(self, now: int) -> None:
        """Send unacknowledged presses again, unless they are older than two seconds."""
        self._presses = [press for press in self._presses if elapsed_ms(now, press.at) <= _STALE_AFTER_MS]
        for press in self._presses:
            press.is_sent = False


class FaultQueue:
    """Faults to send: each code once a session; bad messages and overflows again after ten seconds."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, bytes]] = []
        self._added_at: dict[int, int] = {}

    def begin_session(self) -> None:
        """Drop earlier faults."""
        self._waiting = []
        self._added_at = {}

    def add(self, code: int, number: int, text: str, now: int) -> None:
        """Add a fault, unless its code was added already."""
        added_at = self._added_at.get(code)
        if added_at is not None and (
            code not in (BAD_MESSAGE, OVERFLOW) or elapsed_ms(now, added_at) < _REPEAT_AFTER_MS
        ):
            return
        if len(self._waiting) < MOST_FAULTS:
            self._added_at[code] = now
            self._waiting.append((code, min(number, 0xFFFF), truncated_utf8(text)))

    def first(self) -> tuple[int, int, bytes] | None:
        """Return the oldest fault; ``None`` if there is none."""
        return self._waiting[0] if self._waiting else None

    def sent(self) -> None:
        """Remove the oldest."""
        self._waiting.pop(0)


class LogQueue:
    """Log lines for the host; if there are too many, the oldest are dropped, which the counter shows."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, int, int, bytes]] = []
        self._counter = 0

    def add(self, level: int, time_ms: int, text: str) -> None:
        """Add a line."""
        if len(self._lines) == MOST_LINES:
            self._lines.pop(0)
        self._lines.append((level, self._counter, time_ms, truncated_utf8(text)))
        self._counter = (self._counter + 1) & 0xFFFF

    def first(self) -> tuple[int, int, int, bytes] | None:
        """Return level, counter, time and text of the oldest line; ``None`` if there is none."""
        return self._lines[0] if self._lines else None

    def sent(self) -> None:
        """Remove the oldest."""
        self._lines.pop(0)
