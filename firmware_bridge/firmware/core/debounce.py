"""Debounces contacts: buttons by integration, switches by equal scans. Pure.

A contact that closes or opens chatters for some milliseconds; docs/internals/firmware.md has the figures,
and the results of these two with recorded and random chatter.
"""

from array import array

from .ticks import elapsed_ms

MIN_SCANS = 3
"""Minimum number of equal scans in a row, however long they take."""

CHATTERING_MS = 250
"""A switch that is unsettled for this time, or for twice the settling time if that is longer, is doubtful."""

_LONGEST_CHANGE_MS = 4
"""Maximum time that is attributed to a scan whose level differs from the one before."""


class ButtonDebouncer:
    """One button. It is pressed once the contact was closed for ``settle_ms`` more than open.

    A scan's level counts for the time since the scan before, but for at most 4 ms if the level changed, so that a
    single wrong reading after a pause decides nothing. A contact that is closed at the start does not count as a press
    until it has been released. ``is_down``: it is pressed; ``touched`` are the ticks at which it first closed.
    """

    def __init__(self) -> None:
        self.touched = 0
        self._scanned = -1
        self._was_closed = False
        self._charge_ms = 0
        self._settle_ms = 0
        self.is_down = False

    def update(self, closed: bool, now: int, settle_ms: int) -> bool:
        """Process a scan; returns whether it confirms a press."""
        if settle_ms != self._settle_ms:
            # a contact that rests closed needs no time to settle again
            if self.is_down and self._charge_ms >= self._settle_ms:
                self._charge_ms = settle_ms
            self._settle_ms = settle_ms
        if self._scanned < 0:
            self._scanned = self.touched = now
            self.is_down = self._was_closed = closed
            self._charge_ms = settle_ms if closed else 0
            return False
        lasted_ms = elapsed_ms(now, self._scanned)
        if closed != self._was_closed:
            lasted_ms = min(_LONGEST_CHANGE_MS, lasted_ms)
            self._was_closed = closed
        self._scanned = now
        if not closed:
            self._charge_ms = max(0, min(settle_ms, self._charge_ms) - lasted_ms)
            self.is_down = self.is_down and self._charge_ms > 0
            return False
        if self._charge_ms == 0 and not self.is_down:
            self.touched = now
        self._charge_ms = min(settle_ms, self._charge_ms + lasted_ms)
        if self.is_down or self._charge_ms < settle_ms:
            return False
        self.is_down = True
        return True


class SwitchDebouncer:
    """A row of up to 24 switches. A level is accepted after ``settle_ms`` of equal scans, at least three.

    Masks have bit 0 for the first switch: ``level`` of those last accepted as closed, ``unsettled`` of those whose
    level is not accepted yet, ``chattering`` of those unsettled for long, ``unknown`` of those never accepted.
    ``moved_at`` has the ticks at which each last became unsettled.
    """

    def __init__(self, count: int) -> None:
        self._all = (1 << count) - 1
        self._count = count
        self._seen = 0
        self._equal_since = array("i", [0] * count)
        self._equal_scans = bytearray(count)
        self.moved_at = array("i", [0] * count)
        self.level = 0
        self.unsettled = 0
        self.chattering = 0
        self.unknown = self._all

    def update(self, closed: int, now: int, settle_ms: int) -> bool:
        """Process a scan; returns whether any attribute may have changed."""
        changed = (closed ^ self._seen) & self._all
        first = self.unknown & ~self.unsettled
        if not (changed or first or self.unsettled):
            return False
        self._seen = closed
        for switch in range(self._count):
            bit = 1 << switch
            if (changed | first) & bit:
                self._start_settling(switch, bit, now, settle_ms)
            elif self.unsettled & bit:
                self._continue_settling(switch, bit, now, settle_ms)
        return True

    def _start_settling(self, switch: int, bit: int, now: int, settle_ms: int) -> None:
        if not self.unsettled & bit:
            self.unsettled |= bit
            self.moved_at[switch] = now
        self._equal_since[switch] = now
        self._equal_scans[switch] = 1
        self._mark_if_chattering(switch, bit, now, settle_ms)

    def _continue_settling(self, switch: int, bit: int, now: int, settle_ms: int) -> None:
        self._equal_scans[switch] = min(MIN_SCANS, self._equal_scans[switch] + 1)
        if self._equal_scans[switch] < MIN_SCANS or elapsed_ms(now, self._equal_since[switch]) < settle_ms:
            self._mark_if_chattering(switch, bit, now, settle_ms)
            return
        self.unsettled &= ~bit
        self.chattering &= ~bit
        self.unknown &= ~bit
        self.level = (self.level & ~bit) | (self._seen & bit)

    def _mark_if_chattering(self, switch: int, bit: int, now: int, settle_ms: int) -> None:
        if elapsed_ms(now, self.moved_at[switch]) >= max(CHATTERING_MS, 2 * settle_ms):
            self.chattering |= bit
