"""All switches of a board: debounced, with ghosts marked, and the changes since the last report. Pure.

In a matrix without diodes, current also flows through other closed switches: three closed corners of a rectangle make
the fourth read closed, too. Then any of the four could be the open one.
"""

import struct

from .debounce import SwitchDebouncer
from .ticks import elapsed_ms

MOST_CHANGES = 32  # that wait for the next report; more become one snapshot
_LONGEST_MS = 0xFFFF  # the field has 16 bits


def mark_ghosts(closed: list[int], rows: int, ghosts: list[int]) -> None:
    """Fill ``ghosts`` with the masks of the switches that read closed and could be open, as ``closed`` has those that
    may be.

    Readings are complete (switches connected by any path read closed), so another path from row to column exists
    exactly where four closed switches are the corners of a rectangle. The matrix's ``rows`` come first.
    """
    for row in range(rows):
        ghosts[row] = 0
    for row in range(rows - 1):
        mask = closed[row]
        if mask & (mask - 1):
            for other in range(row + 1, rows):
                common = mask & closed[other]
                if common & (common - 1):
                    ghosts[row] |= common
                    ghosts[other] |= common


class SwitchBank:
    """The matrix, row by row, and then the single switches, with ``masks`` to be filled as in ``board.Board.scan``.

    ``changes_lost``: there were more changes than a report has room for; its states are right nevertheless.
    """

    def __init__(self, rows: int, columns: int, diodes: bool, singles: int) -> None:
        self._sizes = [columns] * rows + ([singles] if singles else [])
        self._rows = rows
        self._diodes = diodes
        groups = len(self._sizes)
        self.masks = [0] * groups
        self._debouncers = [SwitchDebouncer(size) for size in self._sizes]
        self._settled_masks = [-1] * groups
        self._maybe_closed = [0] * groups
        self._ghosts = [0] * groups
        self._doubtful = [0] * groups
        self._known = [0] * groups
        self._ever_known = [0] * groups
        self.count = rows * columns + singles
        self._changed_switch = [0] * MOST_CHANGES
        self._changed_closed = bytearray(MOST_CHANGES)
        self._changed_at = [0] * MOST_CHANGES
        self._changes = 0
        self.changes_lost = False
        self._bits = bytearray((self.count + 7) // 8)
        for group in range(groups):
            self._doubtful[group] = self._debouncers[group].unknown

    def update(self, now: int, settle_ms: int) -> bool:
        """Process a scan; returns whether there is anything new to report."""
        if self.masks == self._settled_masks:
            return False
        moved = False
        for group in range(len(self._sizes)):
            debouncer = self._debouncers[group]
            if debouncer.update(self.masks[group], now, settle_ms):
                moved = True
            # Most scans equal the one before, and then take only one comparison.
            self._settled_masks[group] = -1 if debouncer.unsettled | debouncer.unknown else self.masks[group]
        return moved and self._update_states()

    def forget_changes(self) -> None:
        """Forget the changes since the last report."""
        self._changes = 0
        self.changes_lost = False

    def write_report(self, target: bytearray, time_ms: int, now: int) -> int:
        """Write the payload of SENSORS, forget the changes in it, and return its length."""
        struct.pack_into("<IH", target, 0, time_ms, self.count)
        at = 6
        for doubtful in (False, True):
            self._fill_bits(doubtful)
            target[at : at + len(self._bits)] = self._bits
            at += len(self._bits)
        target[at] = self._changes
        at += 1
        for i in range(self._changes):
            before_ms = min(_LONGEST_MS, elapsed_ms(now, self._changed_at[i]))
            struct.pack_into("<HBH", target, at, self._changed_switch[i], self._changed_closed[i], before_ms)
            at += 5
        self.forget_changes()
        return at

    def _fill_bits(self, doubtful: bool) -> None:
        for i in range(len(self._bits)):
            self._bits[i] = 0
        switch = 0
        for group in range(len(self._sizes)):
            mask = self._doubtful[group]
            if not doubtful:
                mask = self._known[group] & ~mask
            for column in range(self._sizes[group]):
                if mask >> column & 1:
                    self._bits[switch >> 3] |= 1 << (switch & 7)
                switch += 1

    def _update_states(self) -> bool:
        if self._rows and not self._diodes:
            for row in range(self._rows):
                debouncer = self._debouncers[row]
                self._maybe_closed[row] = debouncer.level | debouncer.unsettled & ~debouncer.unknown
            mark_ghosts(self._maybe_closed, self._rows, self._ghosts)
        news = False
        first = 0
        for group in range(len(self._sizes)):
            debouncer = self._debouncers[group]
            doubtful = self._ghosts[group] | debouncer.chattering | debouncer.unknown
            changed = (debouncer.level ^ self._known[group]) & ~doubtful
            if changed:
                self._record_changes(group, first, changed & self._ever_known[group])
            if changed or doubtful != self._doubtful[group]:
                news = True
                self._doubtful[group] = doubtful
                self._known[group] ^= changed
                self._ever_known[group] |= ~doubtful
            first += self._sizes[group]
        return news

    def _record_changes(self, group: int, first: int, changed: int) -> None:
        debouncer = self._debouncers[group]
        for column in range(self._sizes[group]):
            if changed >> column & 1:
                if self._changes == MOST_CHANGES:
                    self.changes_lost = True
                    return
                self._changed_switch[self._changes] = first + column
                self._changed_closed[self._changes] = debouncer.level >> column & 1
                self._changed_at[self._changes] = debouncer.moved_at[column]
                self._changes += 1
