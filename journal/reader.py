"""A journal that is open for reading, and what it is asked for."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from common.closeable import Closeable
from common.phrases import either
from engine import registry
from engine.api import Game
from engine.values import Player
from journal import database
from journal.backups import copy_with_log
from journal.database import COLUMNS, Connect, check_row, connect, journal_faults, log_path
from journal.lock import check_kind
from referee.errors import JournalError, JournalMissingError, JournalUnreadableError
from referee.record.events import REQUEST, STATE_CHANGING, STOPPED, Event, EventKind, Evidence, KeptEvidence, decode
from referee.record.results import GameSpan

_REQUESTS_AMONG = 5000
"""How many of the newest events are searched for the request id of a repeated command: many evenings."""


@dataclass(frozen=True)
class GameSummary:
    """One game of a journal: its number, the name of its rules, when it began, and how many events it has.

    A ``stopped`` game was stopped before its end and may be resumed, so it has not ``ended``. ``names`` are those that
    players gave, by side, and ``winners`` the sides that won.
    """

    number: int
    name: str
    wall_time: str
    events: int
    ended: bool
    stopped: bool = False
    names: Mapping[Player, str] = field(default_factory=dict)
    winners: tuple[Player, ...] = ()


_MEMORY_DISK = "/dev/shm"
"""Where a journal is copied whose disk has no room for the index of a log, or may not be written."""
MOST_GAMES = 300
"""How many of the newest games are searched for names and house rules: a year of evenings."""


class JournalReader(Closeable):
    """A journal at ``path`` that is open for reading; each question raises JournalError if it can't be read."""

    trouble: JournalError | None = None
    """Never any: nothing waits to be written."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Wrap an open connection; callers use ``read_journal``."""
        self.path = path
        self._connection = connection

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def retry(self) -> bool:
        """Return true: nothing waits to be written."""
        return True

    def _rows(self, query: str, *arguments: object) -> list[Any]:
        """Run a query and return its rows; raises JournalError."""
        with journal_faults(self.path):
            return self._connection.execute(query, arguments).fetchall()

    def _value(self, query: str, *arguments: object) -> Any:
        """Return the result of a query with one row and one column."""
        ((value,),) = self._rows(query, *arguments)
        return value

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) pairs in order, of one game or of all."""
        where, arguments = ("", ()) if game is None else ("WHERE game = ?", (game,))
        with journal_faults(self.path):
            rows = self._rows(f"SELECT {COLUMNS} FROM event {where} ORDER BY number", *arguments)
            events = [(check_row(row), _event_of(row)) for row in rows]
            # The games' events follow each other, so the numbers have no gap within a game either.
            for (before, _), (number, _) in pairwise(events):
                if number != before + 1:
                    raise JournalUnreadableError(
                        "event {missing} is missing; the journal is damaged", missing=before + 1
                    )
            return events

    def games(self) -> list[GameSummary]:
        """List the journal's games, in the order in which they began.

        Raises JournalUnreadableError if a game lacks its first event.
        """
        first = self._events_of("SELECT min(number) FROM event GROUP BY game")
        last_end = self._events_of("SELECT max(number) FROM event WHERE kind = ? GROUP BY game", EventKind.END)
        kinds = sorted(STATE_CHANGING)
        changed = f"max(CASE WHEN kind IN ({', '.join('?' * len(kinds))}) THEN number END)"
        rows = self._rows(f"SELECT game, count(*), {changed} FROM event GROUP BY game ORDER BY game", *kinds)
        return [_summary(game, count, first[game][1], newest, last_end.get(game)) for game, count, newest in rows]

    def _events_of(self, numbers: str, *arguments: object) -> dict[int, tuple[int, Event]]:
        """Return events by their games, of which the query finds at most one number each."""
        with journal_faults(self.path):
            rows = self._connection.execute(f"SELECT {COLUMNS} FROM event WHERE number IN ({numbers})", arguments)
            return {row[1]: (check_row(row), _event_of(row)) for row in rows}

    def spans(self) -> list[GameSpan]:
        """List when each game was played, in order."""
        rows = self._rows("SELECT game, min(wall_time), max(wall_time) FROM event GROUP BY game ORDER BY game")
        return [GameSpan(*row) for row in rows]

    def beginnings(self, most: int = MOST_GAMES) -> list[Event]:
        """List how the newest games began, at most ``most`` of them, the newest first.

        Games without names, named rules and turns are left out: the referee begins them by itself.
        """
        rows = self._rows(
            f"SELECT {COLUMNS} FROM event AS first WHERE kind = 'new game' "
            "AND (coalesce(json_extract(data, '$.players'), json_extract(data, '$.rules')) IS NOT NULL OR EXISTS "
            "(SELECT 1 FROM event WHERE game = first.game AND kind IN ('turn', 'end'))) ORDER BY number DESC LIMIT ?",
            most,
        )
        return [_event_of(row) for row in rows]

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
                    "it is damaged ({finding}): move it elsewhere, or give another --journal", finding
                )


def _summary(
    game: int, count: int, begun: Event, last_change: int | None, last_end: tuple[int, Event] | None
) -> GameSummary:
    """Summarise a game by its first event, the number of its last change and its last end."""
    if begun.kind is not EventKind.NEW_GAME:
        raise JournalUnreadableError("game {game} has no beginning; the journal is damaged", game)
    end = last_end[1] if last_end is not None and last_end[0] > (last_change or 0) else None
    stopped = end is not None and end.data.get("reason") == STOPPED
    ended = end is not None and not stopped
    winner = end.text("winner") if end is not None and ended else None
    winners = () if end is None or not ended else (winner,) if winner else end.texts("shared_by")
    name = str(begun.data["game"])
    return GameSummary(game, name, begun.wall_time, count, ended, stopped, begun.names, winners)


def read_journal(path: Path, connect: Connect = connect) -> JournalReader:
    """Open a journal for reading, whoever writes it.

    Raises JournalMissingError, JournalUnreadableError, JournalNewerError or JournalError.
    """
    check_present(path)
    # Without a log, the file is complete and can be read without locking or leaving files behind.
    # With a log, a writer may be active, so SQLite must take part in its locking.
    has_log = log_path(path).exists()
    with journal_faults(path), ExitStack() as on_failure:
        connection = connect(f"{path.absolute().as_uri()}?mode=ro" + ("" if has_log else "&immutable=1"))
        on_failure.callback(connection.close)
        try:
            version = database.version_of(connection)
        except sqlite3.OperationalError as error:
            if not (has_log and database.is_without_index(error)):
                raise
            connection.close()
            connection = _in_memory(connect, on_failure)
            with TemporaryDirectory(dir=_MEMORY_DISK) as folder:
                copy_with_log(path, Path(folder, path.name))
                with closing(connect(Path(folder, path.name).as_uri())) as copied:
                    copied.backup(connection)
            version = database.version_of(connection)
        database.check_version(version)
        check_beginning(path, version)
        if version < len(database.MIGRATIONS):
            older, connection = connection, _in_memory(connect, on_failure)
            older.backup(connection)
            database.upgrade(connection)
            older.close()
        on_failure.pop_all()
    return JournalReader(path, connection)


def _in_memory(connect: Connect, on_failure: ExitStack) -> sqlite3.Connection:
    connection = connect(":memory:")
    on_failure.callback(connection.close)
    return connection


def check_present(path: Path) -> None:
    """Raise JournalMissingError if there is no journal, and JournalReadOnlyError for what can't be one."""
    check_kind(path)
    if not path.is_file():
        raise JournalMissingError("there is no journal {path}; `./run games new` or `./run watch` starts one", path)


_LEAST_BYTES = 512
"""The smallest page of an SQLite database."""


def check_beginning(path: Path, version: int) -> None:
    """Refuse a file of a few bytes, which SQLite takes for an empty database; raises JournalUnreadableError."""
    size = path.stat().st_size
    if version == 0 and 0 < size < _LEAST_BYTES:
        raise JournalUnreadableError(
            either(
                size == 1,
                "it is a file of 1 byte, no journal. Move it elsewhere, or give another --journal",
                "it is a file of {size} bytes, no journal. Move it elsewhere, or give another --journal",
                size=size,
            )
        )


def _event_of(row: Sequence[Any]) -> Event:
    number, _, kind, data, time_s, wall_time, _ = row
    return decode(number, kind, data, time_s, wall_time)


def events_of_game(journal: JournalReader, number: int | None) -> tuple[Game[Any, Any], list[tuple[int, Event]]]:
    """Return the rules and the (number, event) pairs of a game; ``None`` means the last one.

    Raises JournalMissingError if there is no such game, and UnknownGameError if its rules aren't installed.
    """
    chosen = journal.latest_game() if number is None else number
    events = [] if chosen is None else journal.events(chosen)
    if not events:
        numbers = [game.number for game in journal.games()]
        if not numbers:
            raise JournalMissingError("{path} has no game yet; `./run games new` begins one", journal.path)
        raise JournalMissingError(
            "there is no game {number} in {path}; the last one is game {number_2}", number, journal.path, numbers[-1]
        )
    return registry.load(str(events[0][1].data["game"])), events
