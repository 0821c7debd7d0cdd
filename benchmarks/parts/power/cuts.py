"""The journal on a disk that loses power: one game, a cut at every sync point, and what a restart finds.

A game is played in *lives*. In each the real service referees a virtual game onto a journal whose file layer takes
notes. Within a life it may be killed and started again, so that there are files that are whole but not all synced.
Then the power goes, what is left of the files is drawn, and the next life begins with that. Afterwards every point of
every life is cut again, several times, and each time a plain SQLite opens what is left.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.parts.power.disk import CutOutcome, Disk
from benchmarks.parts.power.vfs import NotingFiles, write_files
from benchmarks.parts.power.world import GAME, SETTINGS, GlimpseReader, World, show
from common.durable import sync_folder
from engine.registry import load
from referee.errors import RefereeError
from referee.journal import EvidenceLimits, Journal, fold
from referee.journal.database import connect
from referee.journal.events import Event, EventKind, Evidence
from referee.journal.journal import Connect, SyncFolder
from referee.runtime.builder import open_session

JOURNAL = "journal.sqlite"
LIMITS = EvidenceLimits(picture_bytes=16 * 1024, total_bytes=192 * 1024)
"""Small, so that pictures make room for others within one game."""

_LIFE_FRAMES = (60, 200)
_MOST_PARTS = 3
_CHECKPOINT_PAGES = 60
_SHARE_WITH_NOISE = 0.2
_DAY = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)

Rows = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Contents:
    """Every row of a journal, in order."""

    events: Rows
    evidence: Rows


@dataclass(frozen=True)
class Mark:
    """A moment at which the journal had said that it holds ``contents``: after how many requests to the disk."""

    requests: int
    contents: Contents


@dataclass
class Life:
    """From one start to the next cut: the disk's notes, and when the journal said it held what."""

    disk: Disk
    before: Contents
    marks: list[Mark] = field(default_factory=list)

    def promised(self, requests: int) -> Contents:
        """What the journal had said it holds when so many requests had been carried out."""
        return next((mark.contents for mark in reversed(self.marks) if mark.requests <= requests), self.before)

    def under_way(self, requests: int) -> Contents | None:
        """What it was about to hold: also right, if the cut came before ``append`` returned."""
        return next((mark.contents for mark in self.marks if mark.requests > requests), None)


@dataclass(frozen=True)
class Cut:
    """One cut of a game: in which life, after how many requests, with what outcome, and the seed of its draw."""

    life: int
    requests: int
    outcome: CutOutcome
    draw: int

    def __str__(self) -> str:
        return f"{self.life}:{self.requests}:{self.outcome.name}:{self.draw}"


class CutError(Exception):
    """A restart after a cut found less, more or something else than the journal had promised."""


class MarkedJournal:
    """A journal that notes, whenever ``append`` has returned, how far the disk was and what it then held."""

    def __init__(self, journal: Journal, read: Callable[[], Contents], life: Life) -> None:
        """Take an open journal and what reads its rows."""
        self._journal = journal
        self._read = read
        self._life = life

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Record one event, and note that it was."""
        number = self._journal.append(event, evidence)
        self._life.marks.append(Mark(len(self._life.disk), self._read()))
        return number

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) in order."""
        return self._journal.events(game)

    def latest_game(self) -> int | None:
        """Give the number of the game begun last."""
        return self._journal.latest_game()


class _Opened:
    """A journal with the connection it was given, so that its rows can be read without a second one."""

    def __init__(self, path: Path, connect: Connect = connect, sync_folder: SyncFolder = sync_folder) -> None:
        def connect_once(target: str) -> sqlite3.Connection:
            self.connection = connect(target)
            # Often enough that there are several checkpoints in a game.
            self.connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
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
    """One game on a disk that loses power now and then, cut again wherever one likes."""

    def __init__(self, seed: int, turns: int, scratch: Path) -> None:
        """Play it, in lives; ``scratch`` is a folder of one's own, best in memory."""
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
        """The turns the players really played."""
        return self._world.truth.turns

    @property
    def turns_kept(self) -> tuple[str, ...]:
        """The turns in the journal when the game was over."""
        events = self.lives[-1].promised(len(self.lives[-1].disk)).events
        return tuple(str(json.loads(row[3])["turn"]) for row in events if row[2] == "turn")

    def _live(self, files: Mapping[str, bytes], frames: int) -> bool:
        """Referee so many frames, from what a cut left; gives whether the game goes on after the next cut."""
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
        """Referee so many frames and be killed, or the rest of the game and close in order; tells which."""
        layer = NotingFiles(life.disk, numbers)
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
        # It was killed before that: what closing asked for never happened, but the system still has the rest.
        del life.disk.requests[killed_at:]
        numbers.clear()
        numbers.update(names)
        write_files(self._scratch, life.disk.after_cut(killed_at, CutOutcome.ALL_KEPT, self._rng))
        return False

    def cases(self, draws: int, elsewhere: int) -> Iterator[Cut]:
        """Every sync point of every life with every outcome, ``draws`` times where chance has a say.

        ``elsewhere`` more cuts a life fall anywhere between two requests.
        """
        for number, life in enumerate(self.lives):
            rng = random.Random(f"{self.seed} {number} cuts")
            inside = {rng.randint(0, len(life.disk)) for _ in range(elsewhere)}
            for requests in sorted({*life.disk.sync_points, *inside}):
                for outcome in CutOutcome:
                    chancy = outcome not in {CutOutcome.ALL_KEPT, CutOutcome.NONE_KEPT}
                    for _ in range(draws if chancy else 1):
                        yield Cut(number, requests, outcome, rng.getrandbits(32))

    def check(self, case: Cut) -> None:
        """Cut there, start again, look; raises CutError for anything lost, added or changed."""
        rng = random.Random(case.draw)
        life = self.lives[case.life]
        files = life.disk.after_cut(case.requests, case.outcome, rng)
        if rng.random() < _SHARE_WITH_NOISE:
            # Shared memory is never synced; whatever is left of it must not matter.
            files[f"{JOURNAL}-shm"] = rng.randbytes(32 * 1024)
        write_files(self._scratch, files)
        self._compare(self._found(), life, case.requests)

    def _found(self) -> Contents:
        """Start on what is in the folder as the referee does, with a plain SQLite; gives what is there."""
        try:
            opened = _Opened(self._scratch / JOURNAL)
            with opened.journal as journal:
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
        """Fold each game, unless just these events were folded before."""
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
        promised, under_way = life.promised(requests), life.under_way(requests)
        if found in (promised, under_way):
            return
        lost = len(promised.events) - len(found.events)
        if lost > 0 and found.events == promised.events[: len(found.events)]:
            raise CutError(f"the last {lost} of {len(promised.events)} events are lost")
        raise CutError(
            f"{len(found.events)} events and {len(found.evidence)} pictures were found that are not "
            f"the {len(promised.events)} and {len(promised.evidence)} promised"
        )
