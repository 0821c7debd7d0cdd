"""From bouncing contacts to what they mean: buttons by integration, switches by agreement. Pure.

A contact that closes or opens chatters for some milliseconds; docs/internals/firmware.md has the figures,
and what these two do with published and random chatter.
"""

from array import array

from .ticks import elapsed_ms

PRESSED = 1
HELD = 2
RELEASED = 3

LEAST_SCANS = 3
"""How many scans in a row must agree, however long they take."""

CHATTERING_MS = 250
"""A switch that hasn't come to rest for so long is doubtful."""

_LONGEST_CHANGE_MS = 4
"""For how long a scan that finds another level than the one before speaks at most."""


class ButtonDebouncer:
    """Presses of one button. A press counts once the contact was closed ``settle_ms`` longer than open.

    A scan speaks for the time since the scan before; where the two differ for 4 ms at most, so that one odd reading
    after a pause decides nothing. A contact that is closed at the start is no press until it has been released.

    Attributes:
        touched: the ticks at which the contact first closed for the press.
        opened: the ticks at which it first opened for the release.
    """

    def __init__(self) -> None:
        self.touched = 0
        self.opened = 0
        self._scanned = -1
        self._was_closed = False
        self._charge_ms = 0
        self._is_down = False
        self._told_held = False
        self._ignored = False

    def update(self, closed: bool, now: int, settle_ms: int, long_press_ms: int) -> int:
        """Take in a scan and give what became certain by it: ``PRESSED``, ``HELD``, ``RELEASED`` or 0."""
        if self._scanned < 0:
            self._scanned = self.touched = now
            self._is_down = self._ignored = self._was_closed = closed
            self._charge_ms = settle_ms if closed else 0
            return 0
        lasted_ms = elapsed_ms(now, self._scanned)
        if closed != self._was_closed:
            lasted_ms = min(_LONGEST_CHANGE_MS, lasted_ms)
            self._was_closed = closed
        self._scanned = now
        if closed:
            return self._while_closed(lasted_ms, now, settle_ms, long_press_ms)
        return self._while_open(lasted_ms, now, settle_ms)

    def _while_closed(self, lasted_ms: int, now: int, settle_ms: int, long_press_ms: int) -> int:
        if self._charge_ms == 0 and not self._is_down:
            self.touched = now
        self._charge_ms = min(settle_ms, self._charge_ms + lasted_ms)
        if not self._is_down:
            if self._charge_ms < settle_ms:
                return 0
            self._is_down, self._told_held = True, False
            return PRESSED
        if self._told_held or self._ignored or elapsed_ms(now, self.touched) < long_press_ms:
            return 0
        self._told_held = True
        return HELD

    def _while_open(self, lasted_ms: int, now: int, settle_ms: int) -> int:
        if self._is_down and self._charge_ms >= settle_ms:
            self.opened = now
        self._charge_ms = max(0, min(settle_ms, self._charge_ms) - lasted_ms)
        if not self._is_down or self._charge_ms > 0:
            return 0
        self._is_down = False
        if self._ignored:
            self._ignored = False
            return 0
        return RELEASED


class SwitchDebouncer:
    """A row of up to 24 switches. A level counts once every scan for ``settle_ms``, three at least, agreed on it.

    All the numbers are bit masks: bit 0 is the first switch.

    Attributes:
        level: which are closed, as far as they have come to rest.
        restless: which haven't come to rest.
        chattering: which haven't for long.
        unknown: which never have since the start.
        moved_at: for each switch the ticks at which it last left its rest.
    """

    def __init__(self, count: int) -> None:
        self._all = (1 << count) - 1
        self._count = count
        self._seen = 0
        self._agreed_since = array("i", [0] * count)
        self._agreeing_scans = bytearray(count)
        self.moved_at = array("i", [0] * count)
        self.level = 0
        self.restless = 0
        self.chattering = 0
        self.unknown = self._all

    def update(self, closed: int, now: int, settle_ms: int) -> bool:
        """Take in a scan; ``True`` when any of the attributes may have changed."""
        changed = (closed ^ self._seen) & self._all
        first = self.unknown & ~self.restless
        if not (changed or first or self.restless):
            return False
        self._seen = closed
        for switch in range(self._count):
            bit = 1 << switch
            if (changed | first) & bit:
                self._start_counting(switch, bit, now)
            elif self.restless & bit:
                self._count_on(switch, bit, now, settle_ms)
        return True

    def _start_counting(self, switch: int, bit: int, now: int) -> None:
        if not self.restless & bit:
            self.restless |= bit
            self.moved_at[switch] = now
        self._agreed_since[switch] = now
        self._agreeing_scans[switch] = 1
        self._doubt_if_long(switch, bit, now)

    def _count_on(self, switch: int, bit: int, now: int, settle_ms: int) -> None:
        self._agreeing_scans[switch] = min(LEAST_SCANS, self._agreeing_scans[switch] + 1)
        if self._agreeing_scans[switch] < LEAST_SCANS or elapsed_ms(now, self._agreed_since[switch]) < settle_ms:
            self._doubt_if_long(switch, bit, now)
            return
        self.restless &= ~bit
        self.chattering &= ~bit
        self.unknown &= ~bit
        self.level = (self.level & ~bit) | (self._seen & bit)

    def _doubt_if_long(self, switch: int, bit: int, now: int) -> None:
        if elapsed_ms(now, self.moved_at[switch]) >= CHATTERING_MS:
            self.chattering |= bit
