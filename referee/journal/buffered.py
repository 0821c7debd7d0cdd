"""A journal that continues in memory while its file cannot be written, and writes the events later."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from common.closeable import Closeable
from common.phrases import counted
from referee.errors import EventError, JournalError
from referee.journal.events import Event, EventKind, Evidence, encode
from referee.journal.journal import Journal


class BufferedJournal(Closeable):
    """Wraps a Journal so that no accepted event is lost while the process runs.

    An event that the file cannot take (full disk, read-only, failing card) is kept in memory. ``append`` still returns
    its number, which is final because no other process writes. ``say`` is called once when the trouble begins and once
    when it ends. Kept events are written first and in order, at every ``append`` and ``retry``.
    """

    def __init__(self, journal: Journal, say: Callable[[str], None]) -> None:
        """Wrap an open, writable journal; ``say`` is called with sentences for a person."""
        self.journal = journal
        self._say = say
        self._pending: deque[tuple[Event, tuple[Evidence, ...]]] = deque()
        self._written = journal.last_number
        self._caught_up = 0
        self._game = journal.latest_game() or 0
        if journal.remark:
            say(journal.remark)
        self.trouble: JournalError | None = None
        """Why the file cannot be written; ``None`` if it can."""

    @property
    def pending(self) -> tuple[Event, ...]:
        """The accepted events that are only in memory, oldest first."""
        return tuple(event for event, _ in self._pending)

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Accept an event and return its number; it is durable on return unless ``trouble`` is set.

        Raises EventError for an invalid event.
        """
        event = self.journal.stamped(event)
        encode(event)
        if self._game == 0 and event.kind != EventKind.NEW_GAME:
            raise EventError("a '{kind}' event came before any 'new game'; start a game first", event.kind)
        self._game += event.kind == EventKind.NEW_GAME
        self._pending.append((event, tuple(evidence)))
        number = self._written + len(self._pending)
        self.retry()
        return number

    def retry(self) -> bool:
        """Try to write the events that are only in memory; returns whether everything is on the disk now."""
        path = self.journal.path
        try:
            self.journal.keep_in_place()
            while self._pending:
                event, evidence = self._pending[0]
                self._written = self.journal.append(event, evidence)
                self._pending.popleft()
                self._caught_up += 1
        except JournalError as error:
            if self.trouble is None:
                self._caught_up = 0
                self._say(f"The game goes on, but only in memory: {error}")
            self.trouble = error
            return False
        if self.trouble is not None:
            self.trouble = None
            events = counted(self._caught_up, "event")
            self._say(f"The journal can be written again. What was only in memory is now in it: {events}.")
            if self.journal.path != path:
                self._say(
                    f"The game goes on in {self.journal.path}. The file that took the journal's name is unchanged."
                )
        return True

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) in order, including those only in memory."""
        events = self.journal.events(game)
        current = self.journal.latest_game() or 0
        for number, (event, _) in enumerate(self._pending, start=self._written + 1):
            current += event.kind == EventKind.NEW_GAME
            if game in {None, current}:
                events.append((number, event))
        return events

    def latest_game(self) -> int | None:
        """Return the number of the latest game, ``None`` if there is none."""
        return self._game or None

    def close(self) -> None:
        """Try once more to write everything, report what is lost if that fails, and close the file."""
        # The first attempt only says that the file is no longer in its place.
        if not self.retry() and not self.retry():
            self._say(
                f"{counted(len(self._pending), 'event')} could not be saved, since the journal can't be written: "
                f"{self.trouble}"
            )
        self.journal.close()
