"""Copies of the tables' journals: each event once, in order, and how each game ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from common.phrases import read_phrase
from frontends.mqtt.topics import TableEvent
from hall.database import Database, Transaction, stored_text, text_to_store
from referee.record.events import PHRASES, STATE_CHANGING, STOPPED, EventKind

Copy = tuple[str, str]
"""A table and its journal: each pair is copied by itself."""
MOST_TABLE_BYTES = 256 * 1024 * 1024
"""The most bytes that the events of one table may take: about 3,000 games."""
MOST_JOURNALS = 1000
"""The most journals of one table."""
_ROW_BYTES = 256
"""The bytes that an event takes beside its content, rounded up."""
_MOST_SWEPT = 500
"""The most events that one step of a sweep removes, so that what arrives meanwhile waits for milliseconds only."""
_TAKEN_BYTES = f"coalesce(sum(length(content) + {_ROW_BYTES}), 0)"
_DECIDING = tuple(sorted({*STATE_CHANGING, EventKind.END} - {EventKind.NEW_GAME, EventKind.SET_UP}))
"""The newest event of these kinds decides whether a game is over."""
_KEEP_RESULT = """
    INSERT INTO result (seat, journal, game_number, number, game, players, winners, reason, wall_time)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (seat, journal, game_number) DO UPDATE SET
    number = excluded.number, players = excluded.players, winners = excluded.winners, reason = excluded.reason,
    wall_time = excluded.wall_time"""

_KEEP_SWEPT = """
    INSERT INTO swept (seat, journal, number, before) VALUES (?, ?, ?, ?)
    ON CONFLICT (seat, journal) DO UPDATE SET number = excluded.number, before = excluded.before"""


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
    begun_anew: set[Copy] = field(default_factory=set)
    dropped: dict[Copy, int] = field(default_factory=dict)
    games: set[tuple[str, str, int]] = field(default_factory=set)


@dataclass(frozen=True)
class _Swept:
    """What a sweep removed from a copy: events up to ``number`` of games whose last event was before ``before``."""

    number: int
    before: str


class Copies:
    """Keeps copies of journals. A copy has no gaps: it ends before the first event that is missing.

    Swept games are gone, but count as kept, so they aren't asked for again.

    ``full`` are the tables whose last events weren't kept, because they already have ``most_bytes`` or MOST_JOURNALS.
    ``dropped`` are the copies of tables that had gone back, each with the first event that no longer holds.
    """

    def __init__(self, database: Database, most_bytes: int = MOST_TABLE_BYTES) -> None:
        self._database = database
        self._most_bytes = most_bytes
        with database.transaction() as work:
            newest = work.rows("SELECT seat, journal, max(number) FROM event GROUP BY seat, journal")
            shares = work.rows("SELECT seat, bytes FROM share")
            swept = work.rows("SELECT seat, journal, number, before FROM swept")
        self._held: dict[Copy, int] = {(seat, journal): number for seat, journal, number in newest}
        self._bytes: dict[str, int] = dict(shares)
        self._swept = {(seat, journal): _Swept(number, before) for seat, journal, number, before in swept}
        for copy, each in self._swept.items():
            self._held[copy] = max(each.number, self._held.get(copy, 0))
        self._journals = Counter(seat for seat, _ in self._held)
        self.full: frozenset[str] = frozenset()
        self.dropped: dict[Copy, int] = {}

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
        for copy in batch.begun_anew:
            del self._swept[copy]
        self._bytes.update(batch.bytes)
        self.full = (self.full - batch.bytes.keys()) | batch.full
        self.dropped = batch.dropped
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
            if self._is_kept(work, batch, event):
                return
            if not arrival.asked_for:
                # The table may have restored an older journal, or this message may be old. So the table is asked.
                batch.conflicts[copy] = min(event.number - 1, batch.conflicts.get(copy, event.number))
                return
            held = self._drop(work, batch, event)
        if event.number > held + 1:
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

    def _is_kept(self, work: Transaction, batch: _Batch, event: TableEvent) -> bool:
        """Whether this very event is kept under its number, or was swept."""
        key = (event.table, event.journal, event.number)
        pending = batch.rows.get(key)
        if pending is not None:
            return pending[0].wall_time == event.wall_time
        found = work.rows("SELECT wall_time FROM event WHERE seat = ? AND journal = ? AND number = ?", *key)
        if found:
            return bool(found[0][0] == event.wall_time)
        swept = self._swept.get((event.table, event.journal))
        return swept is not None and event.wall_time < swept.before

    def _drop(self, work: Transaction, batch: _Batch, event: TableEvent) -> int:
        """Delete the events that the table itself no longer has, from ``event`` on; returns the newest that is left.

        If the table went back beyond what was swept, nothing is left, so that its whole journal is asked for.
        """
        self._write(work, batch)
        copy = (event.table, event.journal)
        swept = None if copy in batch.begun_anew else self._swept.get(copy)
        first = event.number
        batch.dropped[copy] = min(first, batch.dropped.get(copy, first))
        if swept is not None and first <= swept.number:
            first = 1
            batch.begun_anew.add(copy)
            work.run("DELETE FROM swept WHERE seat = ? AND journal = ?", *copy)
        where = "FROM event WHERE seat = ? AND journal = ? AND number >= ?"
        for (game,) in work.rows(f"SELECT DISTINCT game_number {where}", *copy, first):
            batch.games.add((*copy, game))
        ((freed,),) = work.rows(f"SELECT {_TAKEN_BYTES} {where}", *copy, first)
        work.run(f"DELETE {where}", *copy, first)
        batch.bytes[event.table] = self._used_bytes(batch, event.table) - int(freed)
        batch.held[copy] = first - 1
        return first - 1

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
        batch.rows.clear()

    def journals(self) -> list[Copy]:
        """Return the journals of which there are copies."""
        return list(self._held)

    def sweep(self, copy: Copy, before: str, *, in_use: bool) -> bool:
        """Remove some events of a copy's oldest game, if its last is from before a time.

        Returns whether there may be more to remove. ``before`` is ISO 8601 UTC. The last game of a journal ``in_use``
        stays; another journal is forgotten with its last game. Results stay. Raises HallStoreError, and then has
        removed nothing.
        """
        of_copy, of_game = "FROM event WHERE seat = ? AND journal = ?", "AND game_number = ?"
        with self._database.transaction() as work:
            oldest = work.rows(f"SELECT game_number {of_copy} ORDER BY number LIMIT 1", *copy)
            if not oldest:
                return False
            key = (*copy, oldest[0][0])
            ((last, wall_time),) = work.rows(
                f"SELECT number, wall_time {of_copy} {of_game} ORDER BY number DESC LIMIT 1", *key
            )
            if wall_time >= before or (in_use and last == self.held(*copy)):
                return False
            numbers = work.rows(f"SELECT number {of_copy} {of_game} ORDER BY number LIMIT {_MOST_SWEPT}", *key)
            up_to = f"{of_copy} {of_game} AND number <= ?"
            ((freed,),) = work.rows(f"SELECT {_TAKEN_BYTES} {up_to}", *key, numbers[-1][0])
            work.run(f"DELETE {up_to}", *key, numbers[-1][0])
            left = self._bytes[copy[0]] - int(freed)
            work.run("UPDATE share SET bytes = ? WHERE seat = ?", left, copy[0])
            is_gone = not work.rows(f"SELECT number {of_copy} LIMIT 1", *copy)
            known = self._swept.get(copy)
            swept = _Swept(max(numbers[-1][0], known.number if known else 0), before)
            if is_gone:
                work.run("DELETE FROM swept WHERE seat = ? AND journal = ?", *copy)
            else:
                work.run(_KEEP_SWEPT, *copy, swept.number, before)
        self._bytes[copy[0]] = left
        self.full -= {copy[0]}
        self._swept[copy] = swept
        if is_gone:
            del self._swept[copy], self._held[copy]
            self._journals[copy[0]] -= 1
        return not is_gone

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
            GameResult(seat, game, json.loads(players), tuple(json.loads(winners)), stored_text(reason), wall_time)
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
        work.run("DELETE FROM result WHERE seat = ? AND journal = ? AND game_number = ?", *key)
        return
    _, number, wall_time, content = found[0]
    players = _players(work, *key)
    winner, shared = data.get("winner"), data.get("shared_by")
    sides = shared if shared and isinstance(shared, list) else [winner] if winner else []
    winners = tuple(map(str, sides))
    phrases = data.get(PHRASES)
    reason = read_phrase(str(data.get("reason", "")), phrases.get("reason") if isinstance(phrases, dict) else None)
    result = (json.loads(content)["game"], json.dumps(players), json.dumps(winners), text_to_store(reason))
    work.run(_KEEP_RESULT, *key, number, *result, wall_time)


def _players(work: Transaction, seat: str, journal: str, game: int) -> dict[str, str]:
    begun = "SELECT content FROM event WHERE seat = ? AND journal = ? AND game_number = ? AND kind = ?"
    found = work.rows(begun, seat, journal, game, str(EventKind.NEW_GAME))
    given = json.loads(found[0][0])["data"].get("players") if found else None
    return {str(side): str(name) for side, name in given.items()} if isinstance(given, dict) else {}
