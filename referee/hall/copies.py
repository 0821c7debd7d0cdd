"""Copies of the tables' journals: each event once, in order, and how each game ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from referee.hall.database import Database, Transaction
from referee.hall.tournament.games import link_game, set_result
from referee.journal.events import STATE_CHANGING, STOPPED, EventKind
from referee.mqtt.topics import TableEvent

Copy = tuple[str, str]
"""A table and its journal: each pair is copied by itself."""
MOST_TABLE_BYTES = 256 * 1024 * 1024
"""The most bytes that the events of one table may take: about 3,000 games."""
MOST_JOURNALS = 1000
"""The most journals of one table."""
_ROW_BYTES = 256
"""The bytes that an event takes beside its content, rounded up."""
_DECIDING = tuple(sorted({*STATE_CHANGING, EventKind.END} - {EventKind.NEW_GAME, EventKind.SET_UP}))
"""The newest event of these kinds decides whether a game is over."""
_KEEP_RESULT = """
    INSERT INTO result (seat, journal, game_number, number, game, players, winners, reason, wall_time)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (seat, journal, game_number) DO UPDATE SET
    number = excluded.number, players = excluded.players, winners = excluded.winners, reason = excluded.reason,
    wall_time = excluded.wall_time"""


@dataclass(frozen=True)
class Arrival:
    """An event from a table; ``asked_for`` if it answers a replay request, so that the table's journal has it now."""

    event: TableEvent
    asked_for: bool = False


@dataclass
class _Batch:
    """The changes to write in one transaction."""

    held: dict[Copy, int] = field(default_factory=dict)
    rows: dict[tuple[str, str, int], tuple[TableEvent, str]] = field(default_factory=dict)
    bytes: dict[str, int] = field(default_factory=dict)
    full: set[str] = field(default_factory=set)
    gaps: dict[Copy, int] = field(default_factory=dict)
    conflicts: dict[Copy, int] = field(default_factory=dict)
    games: set[tuple[str, str, int]] = field(default_factory=set)


class Copies:
    """Keeps copies of journals. A copy has no gaps: it ends before the first event that is missing.

    ``full`` are the tables whose last events weren't kept, because they already have ``most_bytes`` or MOST_JOURNALS.
    """

    def __init__(self, database: Database, most_bytes: int = MOST_TABLE_BYTES) -> None:
        self._database = database
        self._most_bytes = most_bytes
        with database.transaction() as work:
            newest = work.rows("SELECT seat, journal, max(number) FROM event GROUP BY seat, journal")
            shares = work.rows("SELECT seat, bytes FROM share")
        self._held: dict[Copy, int] = {(seat, journal): number for seat, journal, number in newest}
        self._bytes: dict[str, int] = dict(shares)
        self._journals = Counter(seat for seat, _ in self._held)
        self.full: frozenset[str] = frozenset()

    def held(self, seat: str, journal: str) -> int:
        """Return the number of the newest event that is kept, 0 for none."""
        return self._held.get((seat, journal), 0)

    def take(self, arrivals: Iterable[Arrival]) -> dict[Copy, int]:
        """Store events, durably on return. Returns the copies with gaps, each with the event before its gap.

        Raises HallStoreError, and then has stored none of them.
        """
        batch = _Batch()
        with self._database.transaction() as work:
            for arrival in arrivals:
                self._take(work, batch, arrival)
            self._write(work, batch)
            for seat, journal, game in sorted(batch.games):
                _update_result(work, seat, journal, game)
        self._journals.update(seat for seat, journal in batch.held if (seat, journal) not in self._held)
        self._held.update(batch.held)
        self._bytes.update(batch.bytes)
        self.full = (self.full - batch.bytes.keys()) | batch.full
        missing = {copy: after for copy, after in batch.gaps.items() if after == self.held(*copy)}
        return {**missing, **batch.conflicts}

    def _take(self, work: Transaction, batch: _Batch, arrival: Arrival) -> None:
        event = arrival.event
        copy = (event.table, event.journal)
        held = batch.held.get(copy, self.held(*copy))
        if not self._has_room_for(batch, copy):
            batch.full.add(event.table)
            return
        if event.number <= held:
            if self._stored_wall_time(work, batch, event) == event.wall_time:
                return
            if not arrival.asked_for:
                # The table may have restored an older journal, or this message may be old. So the table is asked.
                batch.conflicts[copy] = min(event.number - 1, batch.conflicts.get(copy, event.number))
                return
            self._drop(work, batch, event)
        elif event.number > held + 1:
            batch.gaps.setdefault(copy, held)
            return
        content = json.dumps(event.model_dump(mode="json"))
        taken = self._used_bytes(batch, event.table) + len(content) + _ROW_BYTES
        if taken > self._most_bytes:
            batch.full.add(event.table)
            return
        batch.bytes[event.table] = taken
        batch.held[copy] = event.number
        batch.rows[(*copy, event.number)] = event, content
        batch.games.add((*copy, event.game_number))

    def _has_room_for(self, batch: _Batch, copy: Copy) -> bool:
        """Whether a journal is known, or its table may have one more."""
        if copy in self._held or copy in batch.held:
            return True
        begun = sum(each[0] == copy[0] and each not in self._held for each in batch.held)
        return self._journals[copy[0]] + begun < MOST_JOURNALS

    def _used_bytes(self, batch: _Batch, seat: str) -> int:
        """Return the bytes that a table's events take."""
        return batch.bytes.get(seat, self._bytes.get(seat, 0))

    def _stored_wall_time(self, work: Transaction, batch: _Batch, event: TableEvent) -> str | None:
        """Return the wall time of the event that is kept under this number."""
        key = (event.table, event.journal, event.number)
        pending = batch.rows.get(key)
        if pending is not None:
            return pending[0].wall_time
        found = work.rows("SELECT wall_time FROM event WHERE seat = ? AND journal = ? AND number = ?", *key)
        return str(found[0][0]) if found else None

    def _drop(self, work: Transaction, batch: _Batch, first: TableEvent) -> None:
        """Delete the events that the table itself no longer has, from ``first`` on."""
        self._write(work, batch)
        where = "FROM event WHERE seat = ? AND journal = ? AND number >= ?"
        key = (first.table, first.journal, first.number)
        for (game,) in work.rows(f"SELECT DISTINCT game_number {where}", *key):
            batch.games.add((first.table, first.journal, game))
        ((freed,),) = work.rows(f"SELECT sum(length(content) + {_ROW_BYTES}) {where}", *key)
        work.run(f"DELETE {where}", *key)
        batch.bytes[first.table] = self._used_bytes(batch, first.table) - int(freed)
        batch.held[first.table, first.journal] = first.number - 1

    def _write(self, work: Transaction, batch: _Batch) -> None:
        work.run_all(
            "INSERT INTO event (seat, journal, number, game_number, kind, wall_time, content) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (*key, event.game_number, event.event_type, event.wall_time, content)
                for key, (event, content) in batch.rows.items()
            ],
        )
        work.run_all(
            "INSERT INTO share (seat, bytes) VALUES (?, ?) ON CONFLICT (seat) DO UPDATE SET bytes = excluded.bytes",
            batch.bytes.items(),
        )
        for event, _ in batch.rows.values():
            if event.event_type == EventKind.NEW_GAME:
                link_game(work, event)
        batch.rows.clear()

    def newest(self, seat: str, journal: str, most: int) -> list[TableEvent]:
        """Return a table's newest events, the newest first."""
        newest = "SELECT content FROM event WHERE seat = ? AND journal = ? ORDER BY number DESC LIMIT ?"
        with self._database.transaction() as work:
            found = work.rows(newest, seat, journal, most)
        return [TableEvent.model_validate_json(content) for (content,) in found]

    def results(self, most: int) -> list[GameResult]:
        """Return the results of the latest games, the newest first."""
        columns = "seat, game, players, winners, reason, wall_time"
        with self._database.transaction() as work:
            found = work.rows(f"SELECT {columns} FROM result ORDER BY wall_time DESC, seat LIMIT ?", most)
        return [
            GameResult(seat, game, json.loads(players), tuple(json.loads(winners)), reason, wall_time)
            for seat, game, players, winners, reason, wall_time in found
        ]


@dataclass(frozen=True)
class GameResult:
    """How a game at a table ended: ``players`` maps sides to names, ``winners`` are sides, all or none in a draw."""

    seat: str
    game: str
    players: dict[str, str]
    winners: tuple[str, ...]
    reason: str
    wall_time: str


def _update_result(work: Transaction, seat: str, journal: str, game: int) -> None:
    """Store a game's result if its newest deciding event is its end; otherwise delete it, since the game goes on."""
    marks, key = ", ".join("?" for _ in _DECIDING), (seat, journal, game)
    deciding = (
        f"SELECT kind, number, wall_time, content FROM event WHERE seat = ? AND journal = ? AND game_number = ? "
        f"AND kind IN ({marks}) ORDER BY number DESC LIMIT 1"
    )
    found = work.rows(deciding, *key, *_DECIDING)
    data = json.loads(found[0][3])["data"] if found else {}
    if not found or found[0][0] != EventKind.END or data.get("reason") == STOPPED:
        if work.run("DELETE FROM result WHERE seat = ? AND journal = ? AND game_number = ?", *key):
            set_result(work, *key, None)
        return
    _, number, wall_time, content = found[0]
    players = _players(work, *key)
    winner = data.get("winner")
    winners = tuple(str(side) for side in data.get("shared_by") or ([winner] if winner else []))
    result = (json.loads(content)["game"], json.dumps(players), json.dumps(winners), str(data.get("reason", "")))
    work.run(_KEEP_RESULT, *key, number, *result, wall_time)
    set_result(work, *key, frozenset(players.get(side, side) for side in winners))


def _players(work: Transaction, seat: str, journal: str, game: int) -> dict[str, str]:
    begun = "SELECT content FROM event WHERE seat = ? AND journal = ? AND game_number = ? AND kind = ?"
    found = work.rows(begun, seat, journal, game, str(EventKind.NEW_GAME))
    given = json.loads(found[0][0])["data"].get("players") if found else None
    return {str(side): str(name) for side, name in given.items()} if isinstance(given, dict) else {}
