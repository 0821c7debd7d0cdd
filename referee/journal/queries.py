"""What an open journal is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.errors import JournalUnreadableError
from referee.journal.database import COLUMNS, check_row, journal_faults
from referee.journal.events import REQUEST, STATE_CHANGING, STOPPED, Event, EventKind, Evidence, KeptEvidence, decode

_REQUESTS_AMONG = 5000
"""How many of the newest events are searched for the request id of a repeated command: many evenings."""


@dataclass(frozen=True)
class GameSummary:
    """One game of a journal: its number, the name of its rules, when it began, and how many events it has.

    A ``stopped`` game was stopped before its end and may be resumed, so it has not ``ended``.
    """

    number: int
    name: str
    wall_time: str
    events: int
    ended: bool
    stopped: bool = False


class Queries(ABC):
    """The questions to a journal at ``path``. Each raises JournalError if it can't be read."""

    path: Path

    @abstractmethod
    def _rows(self, query: str, *arguments: object) -> list[Any]:
        """Run a query and return its rows; raises JournalError."""

    def _value(self, query: str, *arguments: object) -> Any:
        """Return the result of a query with one row and one column."""
        ((value,),) = self._rows(query, *arguments)
        return value

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) pairs in order, of one game or of all."""
        where, arguments = ("", ()) if game is None else ("WHERE game = ?", (game,))
        with journal_faults(self.path):
            rows = self._rows(f"SELECT {COLUMNS} FROM event {where} ORDER BY number", *arguments)
            return [(check_row(row), _event_of(row)) for row in rows]

    def games(self) -> list[GameSummary]:
        """List the journal's games, in the order in which they began.

        Raises JournalUnreadableError if a game lacks its first event.
        """
        summaries = []
        for game, count in self._rows("SELECT game, count(*) FROM event GROUP BY game ORDER BY game"):
            events = [event for _, event in self.events(game)]
            if not events or events[0].kind is not EventKind.NEW_GAME:
                raise JournalUnreadableError("game {game} has no beginning; the journal is damaged", game)
            begun = events[0]
            end: Event | None = None
            for event in events[1:]:
                if event.kind == EventKind.END:
                    end = event
                elif event.kind in STATE_CHANGING:
                    end = None
            stopped = end is not None and end.data.get("reason") == STOPPED
            ended = end is not None and not stopped
            summaries.append(GameSummary(game, str(begun.data["game"]), begun.wall_time, count, ended, stopped))
        return summaries

    def latest_game(self) -> int | None:
        """Return the number of the latest game, ``None`` in an empty journal."""
        latest: int | None = self._value("SELECT max(game) FROM event")
        return latest

    @property
    def last_number(self) -> int:
        """The number of the last event, 0 in an empty journal."""
        return int(self._value("SELECT coalesce(max(number), 0) FROM event"))

    def newest_of(self, game: int) -> int:
        """Return the number of a game's newest event, 0 if there is no such game."""
        return int(self._value("SELECT coalesce(max(number), 0) FROM event WHERE game = ?", game))

    def newest_by_game(self) -> dict[int, int]:
        """Return the number of each game's newest event, by the games' numbers in order."""
        return dict(self._rows("SELECT game, max(number) FROM event GROUP BY game ORDER BY game"))

    def evidence(self, event_number: int) -> list[KeptEvidence]:
        """List an event's pictures in their original order, including dropped ones."""
        columns = "name, media_type, content, left_out"
        rows = self._rows(f"SELECT {columns} FROM evidence WHERE event = ? ORDER BY number", event_number)
        return [
            KeptEvidence(Evidence(name, media_type, content or b""), left_out)
            for name, media_type, content, left_out in rows
        ]

    def game_of(self, event_number: int) -> int | None:
        """Return the number of the game that an event belongs to, ``None`` if there is no such event."""
        game: int | None = self._value("SELECT max(game) FROM event WHERE number = ?", event_number)
        return game

    def wall_time_of(self, event_number: int) -> str:
        """Return when an event was recorded, empty if there is no such event."""
        return str(self._value("SELECT coalesce(max(wall_time), '') FROM event WHERE number = ?", event_number))

    def event_of_request(self, request_id: str) -> int | None:
        """Return the number of the newest event caused by a command with this id, among the last few thousand."""
        number: int | None = self._value(
            "SELECT max(number) FROM event WHERE number > (SELECT max(number) FROM event) - ? "
            f"AND json_extract(data, '$.{REQUEST}') = ?",
            *(_REQUESTS_AMONG, request_id),
        )
        return number

    def events_after(self, number: int, most: int) -> list[tuple[int, int, Event]]:
        """List (number, game, event) of at most ``most`` events after a number, in order."""
        with journal_faults(self.path):
            rows = self._rows(f"SELECT {COLUMNS} FROM event WHERE number > ? ORDER BY number LIMIT ?", number, most)
            return [(check_row(row), row[1], _event_of(row)) for row in rows]

    def pictures(self, game: int) -> dict[int, tuple[str, ...]]:
        """List the names of a game's pictures by event, in their original order."""
        rows = self._rows(
            "SELECT evidence.event, evidence.name FROM evidence JOIN event ON event.number = evidence.event "
            "WHERE event.game = ? AND evidence.content IS NOT NULL ORDER BY evidence.number",
            game,
        )
        names: dict[int, tuple[str, ...]] = {}
        for event, name in rows:
            names[event] = (*names.get(event, ()), name)
        return names

    def check(self) -> None:
        """Check the whole file; raises JournalUnreadableError for damage and for events that were changed."""
        with journal_faults(self.path):
            self.events()
            finding = self._value("PRAGMA quick_check(1)")
            if finding != "ok":
                raise JournalUnreadableError(
                    "it is damaged ({finding}): keep a copy, and give another --journal", finding
                )


def _event_of(row: Sequence[Any]) -> Event:
    number, _, kind, data, time_s, wall_time, _ = row
    return decode(number, kind, data, time_s, wall_time)
