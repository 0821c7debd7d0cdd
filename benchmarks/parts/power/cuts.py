"""Power cuts under the journal: one game is cut at every sync point, and each restart is checked.

A game is played in *lives*. In each, the real service referees a virtual game with a journal whose file operations are
recorded. Within a life the service may be killed and restarted, which leaves complete files that are partly unsynced.
At the end of a life the power is cut: the surviving content is drawn at random, and the next life begins with it.
Afterwards each point of each life is cut again, several times, and each time a plain SQLite opens what is left.
"""

import json
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.runtime.builder import open_session
from benchmarks.parts.power.disk import CutOutcome, Disk
from benchmarks.parts.power.vfs import RecordingFiles, write_files
from benchmarks.parts.power.world import GAME, SETTINGS, GlimpseReader, World, show
from common.durable import sync_folder
from engine.registry import load
from journal.database import LAST_RECORDED, Connect, connect
from journal.journal import Journal, SyncFolder
from journal.last_recorded import last_recorded_text
from referee.errors import JournalError, RefereeError
from referee.record.events import Event, EventKind, Evidence, EvidenceLimits
from referee.record.fold import fold

JOURNAL = "journal.sqlite"
LIMITS = EvidenceLimits(picture_bytes=16 * 1024, total_bytes=192 * 1024)
"""Small, so that pictures are evicted within one game."""

_LIFE_FRAMES = (60, 200)
_MOST_PARTS = 3
_SHARE_WITH_NOISE = 0.2
_SHARE_WITH_LAST = 0.5
_DAY = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)

Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Contents:
    """Every row of a journal, in order."""

    events: Rows
    evidence: Rows


@dataclass(frozen=True)
class Mark:
    """The journal had confirmed ``contents`` after so many requests to the disk."""

    requests: int
    contents: Contents


@dataclass
class Life:
    """From a start to the next cut: the disk's recorded requests, and what the journal had confirmed when."""

    disk: Disk
    before: Contents
    marks: list[Mark] = field(default_factory=list)

    def confirmed(self, requests: int) -> Contents:
        """The contents that the journal had confirmed after so many requests."""
        return next((mark.contents for mark in reversed(self.marks) if mark.requests <= requests), self.before)

    def pending(self, requests: int) -> Contents | None:
        """The contents it was writing: also valid, if the cut came before ``append`` returned."""
        return next((mark.contents for mark in self.marks if mark.requests > requests), None)


@dataclass(frozen=True)
class Cut:
    """A cut of a game: the life, the number of requests before it, the outcome, and the seed of its draw."""

    life: int
    requests: int
    outcome: CutOutcome
    draw: int

    def __str__(self) -> str:
        return f"{self.life}:{self.requests}:{self.outcome.name}:{self.draw}"


class CutError(Exception):
    """A restart after a cut found other contents than the journal had confirmed."""


class MarkedJournal:
    """A journal that adds a mark to its life whenever ``append`` returns."""

    trouble: JournalError | None = None

    def __init__(self, journal: Journal, read: Callable[[], Contents], life: Life) -> None:
        """Wrap an open journal; ``read`` gives its rows."""
        self._journal = journal
        self._read = read
        self._life = life

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Record one event, and mark it."""
        number = self._journal.append(event, evidence)
        self._life.marks.append(Mark(len(self._life.disk), self._read()))
        return number

    def retry(self) -> bool:
        """Return true: nothing waits to be written."""
        return True

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) in order."""
        return self._journal.events(game)

    def beginnings(self) -> list[Event]:
        """List how the newest games began."""
        return self._journal.beginnings()

    def latest_game(self) -> int | None:
        """Give the number of the game begun last."""
        return self._journal.latest_game()


class _Opened:
    """A journal with its connection, so that its rows can be read without a second one."""

    def __init__(self, path: Path, connect: Connect = connect, sync_folder: SyncFolder = sync_folder) -> None:
        def connect_once(target: str) -> sqlite3.Connection:
            self.connection = connect(target)
            return self.connection

        self.journal = Journal.open(
            path, wall_clock=lambda: _DAY, limits=LIMITS, connect=connect_once, sync_folder=sync_folder
        )

    def contents(self) -> Contents:
        """Read every row."""
        events = self.connection.execute(
            "SELECT number, game, kind, data, frame_time_s, wall_time FROM event ORDER BY number"
        )
        evidence = self.connection.execute(
            "SELECT number, event, name, media_type, size_bytes, left_out, content FROM evidence ORDER BY number"
        )
        return Contents(tuple(events.fetchall()), tuple(evidence.fetchall()))


class PlayedOnDisk:
    """A game on a disk that loses power at times, and that can be cut again at any point."""

    def __init__(self, seed: int, turns: int, scratch: Path) -> None:
        """Play the game in lives; ``scratch`` is an empty folder, preferably in memory."""
        self.seed = seed
        self.lives: list[Life] = []
        self.said: list[str] = []
        self._scratch = scratch
        self._game = load(GAME)
        self._folded: set[int] = set()
        self._world = World(seed, turns)
        self._rng = random.Random(f"{seed} lives")
        files: dict[str, bytes] = {}
        while self._live(files, self._rng.randint(*_LIFE_FRAMES)):
            disk = self.lives[-1].disk
            files = disk.after_cut(len(disk), self._rng.choice(list(CutOutcome)), self._rng)

    @property
    def turns_played(self) -> tuple[str, ...]:
        """The true turns."""
        return self._world.truth.turns

    @property
    def turns_kept(self) -> tuple[str, ...]:
        """The turns in the final journal."""
        events = self.lives[-1].confirmed(len(self.lives[-1].disk)).events
        return tuple(str(json.loads(row[3])["turn"]) for row in events if row[2] == "turn")

    def _live(self, files: Mapping[str, bytes], frames: int) -> bool:
        """Referee so many frames, starting with the files left by a cut; give whether the game goes on."""
        write_files(self._scratch, files)
        before = self._found() if files else Contents((), ())
        if self.lives:
            self._compare(before, self.lives[-1], len(self.lives[-1].disk))
        write_files(self._scratch, files)
        life = Life(Disk(files), before)
        self.lives.append(life)
        numbers: dict[str, int] = {}
        parts = self._rng.randint(1, _MOST_PARTS)
        return not any(self._referee(life, numbers, frames // parts) for _ in range(parts))

    def _referee(self, life: Life, numbers: dict[str, int], frames: int) -> bool:
        """Referee so many frames and be killed (gives False), or finish the game and close properly (True)."""
        layer = RecordingFiles(life.disk, numbers)
        opened = _Opened(self._scratch / JOURNAL, layer.connect, layer.sync_folder)
        reader = GlimpseReader()
        with open_session(
            self._game,
            reader,
            MarkedJournal(opened.journal, opened.contents, life),
            SETTINGS,
            subscribers=(lambda snapshot: self._world.show_mood(snapshot.signal.mood.value),),
            say=self.said.append,
        ) as service:
            for _ in range(frames):
                glimpse = self._world.look()
                if glimpse is None:
                    opened.journal.close()
                    return True
                show(service, reader, glimpse)
        killed_at, names = len(life.disk), dict(layer.numbers)
        opened.journal.close()
        # A killed process doesn't close its journal, but the system keeps its writes.
        del life.disk.requests[killed_at:]
        numbers.clear()
        numbers.update(names)
        write_files(self._scratch, life.disk.after_cut(killed_at, CutOutcome.ALL_KEPT, self._rng))
        return False

    def cases(self, draws: int, elsewhere: int) -> Iterator[Cut]:
        """Every sync point of every life with every outcome, ``draws`` times if it is random.

        In each life, ``elsewhere`` more points lie between random requests.
        """
        for number, life in enumerate(self.lives):
            rng = random.Random(f"{self.seed} {number} cuts")
            inside = {rng.randint(0, len(life.disk)) for _ in range(elsewhere)}
            for requests in sorted({*life.disk.sync_points, *inside}):
                for outcome in CutOutcome:
                    is_random = outcome not in {CutOutcome.ALL_KEPT, CutOutcome.NONE_KEPT}
                    for _ in range(draws if is_random else 1):
                        yield Cut(number, requests, outcome, rng.getrandbits(32))

    def check(self, case: Cut) -> None:
        """Cut, restart and compare; raises CutError for anything lost, added or changed."""
        rng = random.Random(case.draw)
        life = self.lives[case.life]
        files = life.disk.after_cut(case.requests, case.outcome, rng)
        if rng.random() < _SHARE_WITH_NOISE:
            # SQLite never syncs its shared memory; any content of it must be harmless.
            files[f"{JOURNAL}-shm"] = rng.randbytes(32 * 1024)
        confirmed = len(life.confirmed(case.requests).events)
        if JOURNAL in files and confirmed and rng.random() < _SHARE_WITH_LAST:
            # It is never synced; at most it names the last confirmed event.
            files[f"{JOURNAL}{LAST_RECORDED}"] = last_recorded_text(confirmed)
        write_files(self._scratch, files)
        self._compare(self._found(), life, case.requests)

    def _found(self) -> Contents:
        """Open the folder's journal as the referee does, with a plain SQLite; give its contents."""
        try:
            opened = _Opened(self._scratch / JOURNAL)
            with opened.journal as journal:
                if journal.remark:
                    raise CutError(f"the referee says without a reason: {journal.remark}")
                (finding,) = opened.connection.execute("PRAGMA integrity_check").fetchone()
                if finding != "ok":
                    raise CutError(f"SQLite finds damage: {finding}")
                found = opened.contents()
                self._fold(journal, found)
                kind: EventKind = EventKind.NOTE if found.events else EventKind.NEW_GAME
                number = journal.append(Event(kind, {"game": GAME}))
                if number != len(found.events) + 1:
                    raise CutError(f"the next event is number {number} after {len(found.events)} events")
        except RefereeError as error:
            raise CutError(f"the referee cannot go on: {error}") from error
        return found

    def _fold(self, journal: Journal, found: Contents) -> None:
        """Fold each game and check its states; skip events that were folded before."""
        key = hash(found.events)
        if key in self._folded:
            return
        for summary in journal.games():
            events = journal.events(summary.number)
            folded = fold(self._game, events)
            recorded = [event.data["state"] for _, event in events if "state" in event.data]
            states = [self._game.notation.format_state(state) for state in folded.states]
            if recorded and states != (recorded[-1] if isinstance(recorded[-1], list) else [recorded[-1]]):
                raise CutError(f"the events give {states}, the last recorded state is {recorded[-1]}")
        self._folded.add(key)

    @staticmethod
    def _compare(found: Contents, life: Life, requests: int) -> None:
        confirmed, pending = life.confirmed(requests), life.pending(requests)
        if found in (confirmed, pending):
            return
        lost = len(confirmed.events) - len(found.events)
        if lost > 0 and found.events == confirmed.events[: len(found.events)]:
            raise CutError(f"the last {lost} of {len(confirmed.events)} events are lost")
        raise CutError(
            f"{len(found.events)} events and {len(found.evidence)} pictures were found that are not "
            f"the {len(confirmed.events)} and {len(confirmed.evidence)} confirmed"
        )
