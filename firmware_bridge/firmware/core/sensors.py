"""All switches of a board: debounced, with ghosts marked. Pure.

In a matrix without diodes, current also flows through other closed switches: three closed corners of a rectangle make
the fourth read closed, too. Then any of the four could be the open one.
"""

from .debounce import SwitchDebouncer


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
    """The matrix, row by row, and then the single switches, with ``masks`` to be filled as in ``board.Board.scan``."""

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
        self.count = rows * columns + singles
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

    def write_states(self, target: bytearray, at: int) -> int:
        """Write one bit for each closed switch, and one for each doubtful one, from ``at``; return the end."""
        for doubtful in (False, True):
            self._fill_bits(doubtful)
            target[at : at + len(self._bits)] = self._bits
            at += len(self._bits)
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
        for group in range(len(self._sizes)):
            debouncer = self._debouncers[group]
            doubtful = self._ghosts[group] | debouncer.chattering | debouncer.unknown
            changed = (debouncer.level ^ self._known[group]) & ~doubtful
            if changed or doubtful != self._doubtful[group]:
                news = True
                self._doubtful[group] = doubtful
                self._known[group] ^= changed
        return news
