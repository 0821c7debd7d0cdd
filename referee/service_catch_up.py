"""When a journal that fell behind (its disk was full) tries again, though nothing new has to be recorded."""

from __future__ import annotations

from referee.journal import BufferedJournal

EVERY_S = 5.0


class CatchUp:
    """Lets a journal that keeps events in memory try to write them, every few seconds of frame time."""

    def __init__(self, journal: object, every_s: float = EVERY_S) -> None:
        """Take the service's journal; only a BufferedJournal ever falls behind."""
        self._journal = journal if isinstance(journal, BufferedJournal) else None
        self._every_s = every_s
        self._behind_since_s: float | None = None

    def caught_up(self, time_s: float) -> bool:
        """Try if it is time to; tells whether the trouble is over just now."""
        if self._journal is None or self._journal.trouble is None:
            self._behind_since_s = None
            return False
        # Frame time begins anew when the machine does, so an earlier time is no reason to wait.
        if self._behind_since_s is None or time_s < self._behind_since_s:
            self._behind_since_s = time_s
        if time_s - self._behind_since_s < self._every_s:
            return False
        self._behind_since_s = time_s
        return self._journal.retry()
