"""Kill -9 at random moments of live games: the world goes on, the referee restarts, and nothing may be lost.

The world (players, blocks, button) lives in this process. The referee is a child process: it receives glimpses with
readings and presses, and reports what it records, and what a light shows as soon as it does. It is forked with
everything imported, so that a thousand starts take minutes; then it opens the journal, resumes and referees as usual.
"""

import enum
import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from app.runtime.builder import open_session
from benchmarks.parts.environment import ROOT
from benchmarks.parts.power.world import GAME, PATIENCE_S, SETTINGS, Glimpse, GlimpseReader, World, show
from engine.api import Game
from engine.registry import load
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import LightRole, Mood, Signal
from journal.journal import BufferedJournal, Journal
from referee.errors import RefereeError
from referee.record.events import Event, Evidence
from referee.record.fold import Folded, fold_each
from referee.session.feed import signal_subscriber

ANSWER_TIMEOUT_S = 60.0
_LIT_TURN = frozenset({Mood.ACCEPTED.value, Mood.FINISHED.value})
_ANSWERS = _LIT_TURN | {Mood.FAULT.value, Mood.QUESTION.value}


class KillError(Exception):
    """The journal differs from what was shown and played, or the referee did not go on."""


@dataclass(frozen=True)
class Recorded:
    """``append`` has returned: the event is in the journal."""

    number: int
    event: Event


@dataclass(frozen=True)
class Shown:
    """A light shows a signal: its mood, and the lit places of a turn."""

    mood: str
    turn: tuple[str, ...]


@dataclass(frozen=True)
class Remark:
    """A sentence from the service, such as trouble with the journal."""

    sentence: str


class Step(enum.Enum):
    """Other messages between parent and child."""

    DONE = "done"
    """The child has finished starting, or a frame."""

    CLOSE = "close"
    """The parent tells the child to finish judging and to close the journal."""


class _Lamp:
    """A driver that reports each signal when it shows it."""

    name = "lamp"

    def __init__(self, parent: Connection) -> None:
        self._parent = parent

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - the world has its own clock
        lit = tuple(light.place for light in signal.lights if light.role is LightRole.TURN)
        self._parent.send(Shown(signal.mood.value, lit))

    def close(self) -> None:
        """Nothing to close."""


class _ReportingJournal(BufferedJournal):
    """The service's journal, which reports each event after ``append``."""

    def __init__(self, journal: Journal, parent: Connection) -> None:
        super().__init__(journal, lambda sentence: parent.send(Remark(sentence)))
        self._parent = parent

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        number = super().append(event, evidence)
        self._parent.send(Recorded(number, event))
        return number


def referee(path: Path, parent: Connection) -> None:
    """The child: the real service on a journal file, fed by ``parent`` until it says ``CLOSE``."""
    reader = GlimpseReader()
    with Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as opened:
        journal = _ReportingJournal(opened, parent)
        panel = Panel([DriverSource("lamp", lambda: _Lamp(parent))], time.monotonic, lambda _: None)
        with open_session(load(GAME), reader, journal, SETTINGS, subscribers=(signal_subscriber(panel),)) as service:
            parent.send(Step.DONE)
            while isinstance(glimpse := parent.recv(), Glimpse):
                show(service, reader, glimpse)
                parent.send(Step.DONE)
            service.finish()
        journal.close()
    parent.send(Step.DONE)


def start_forkserver() -> None:
    """Prepare a single-threaded fork server with everything imported, so that each referee starts at once."""
    # The fork server finds this package by its environment only.
    paths = [str(ROOT), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    # A fork of a multi-threaded process may deadlock.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    multiprocessing.set_forkserver_preload([__name__])


class Aim(enum.Enum):
    """The intended moment of a kill."""

    STARTING = "while starting"
    JUDGING = "in a frame after a press"
    RECORDED = "once a turn is recorded"
    ANY_TIME = "at any time"


@dataclass(frozen=True)
class KillPlan:
    """The next kill: ``delay_s`` after sending the frame of this number, among those that count for the aim."""

    aim: Aim
    frames: int
    delay_s: float


@dataclass
class KillTally:
    """Counts of kills; ``recorded_unshown`` fell between journal and light."""

    kills: int = 0
    games: int = 0
    turns: int = 0
    recorded_unshown: int = 0
    by_aim: Counter[str] = field(default_factory=Counter)


class KilledGame:
    """A game with one journal, refereed by a succession of child processes."""

    def __init__(self, seed: int, turns: int, path: Path, tally: KillTally) -> None:
        """Set up the world; ``path`` is the journal's file."""
        self._game: Game[Any, Any] = load(GAME)
        self._world = World(seed, turns)
        self._rng = random.Random(f"{seed} kills")
        self._path = path
        self._tally = tally
        self._context = multiprocessing.get_context("forkserver")
        self._recorded: dict[int, Event] = {}
        self._reports: list[Recorded | Shown] = []
        self._unanswered: tuple[str, ...] = ()
        self._owed_presses: tuple[str, ...] = ()
        self._answered_s = 0.0
        self._typical_start_s = 0.05
        self._typical_judging_s = 0.02

    def play(self, most_kills: int, after_kill: Callable[[], None]) -> None:
        """Play the game to its end, with at most ``most_kills`` kills; raises KillError."""
        kills = 0
        while True:
            plan = self._plan() if kills < most_kills else None
            if self._life(plan):
                break
            kills += 1
            self._tally.kills += 1
            if plan is not None:
                self._tally.by_aim[plan.aim.value] += 1
            self._check()
            after_kill()
            self._go_on_alone(self._rng.randint(0, 8))
        folded = self._check()
        if folded.turns != self._world.truth.turns:
            raise KillError(f"at the end the journal has {folded.turns}, played were {self._world.truth.turns}")
        self._tally.games += 1
        self._tally.turns += len(folded.turns)

    def _plan(self) -> KillPlan:
        rng = self._rng
        aim = rng.choices(list(Aim), (1, 3, 2, 2))[0]
        if self._world.time_s - self._answered_s > PATIENCE_S / 2:
            # On a busy machine, referee after referee may be killed before it can answer.
            aim = Aim.RECORDED
        match aim:
            case Aim.STARTING:
                return KillPlan(aim, 0, rng.uniform(0.0, 1.2 * self._typical_start_s))
            case Aim.JUDGING:
                return KillPlan(aim, rng.randint(1, 4), rng.uniform(0.0, self._typical_judging_s))
            case Aim.RECORDED:
                return KillPlan(aim, 0, rng.uniform(0.0, 0.002))
            case Aim.ANY_TIME:
                return KillPlan(aim, rng.randint(1, 60), rng.uniform(0.0, 0.01))

    def _life(self, plan: KillPlan | None) -> bool:
        """Run the referee until the kill (gives False) or the end of the game (True)."""
        here, there = self._context.Pipe()
        child = self._context.Process(target=referee, args=(self._path, there))
        began_s = time.monotonic()
        child.start()
        there.close()
        try:
            if plan is not None and plan.aim is Aim.STARTING:
                self._receive_until(here, began_s + plan.delay_s)
                return False
            self._receive_until(here, None)
            self._typical_start_s += 0.2 * (time.monotonic() - began_s - self._typical_start_s)
            return self._referee(here, plan)
        finally:
            child.kill()
            child.join()
            self._receive_remaining(here)
            here.close()
            child.close()

    def _referee(self, here: Connection, plan: KillPlan | None) -> bool:
        """Send frames until the kill is due (gives False) or the game is over (True)."""
        aim = None if plan is None else plan.aim
        counting = aim is Aim.ANY_TIME
        counted = 0
        while (glimpse := self._look()) is not None:
            counting = counting or (aim is Aim.JUDGING and bool(glimpse.presses))
            counted += counting
            sent_s = time.monotonic()
            here.send(glimpse)
            if plan is not None and counting and counted == plan.frames:
                self._receive_until(here, sent_s + plan.delay_s)
                return False
            recorded = self._receive_until(here, None, stop_at_turn=aim is Aim.RECORDED)
            if plan is not None and recorded == "turn" and aim is Aim.RECORDED:
                self._receive_until(here, time.monotonic() + plan.delay_s)
                return False
            if recorded:
                self._typical_judging_s += 0.2 * (time.monotonic() - sent_s - self._typical_judging_s)
        here.send(Step.CLOSE)
        self._receive_until(here, None)
        return True

    def _look(self) -> Glimpse | None:
        """The next frame; presses unanswered before a kill are repeated."""
        glimpse = self._world.look()
        if glimpse is None:
            return None
        owed, self._owed_presses = self._owed_presses, ()
        presses = (*owed, *glimpse.presses)
        self._unanswered += presses
        return Glimpse(glimpse.reading, presses)

    def _go_on_alone(self, frames: int) -> None:
        """Let the world go on without a referee."""
        self._owed_presses = tuple(dict.fromkeys(self._unanswered))
        self._unanswered = ()
        for _ in range(frames):
            glimpse = self._world.look()
            if glimpse is not None:
                self._owed_presses = tuple(dict.fromkeys((*self._owed_presses, *glimpse.presses)))

    def _receive_until(self, here: Connection, moment_s: float | None, *, stop_at_turn: bool = False) -> str:
        """Receive messages until the child is done, or until ``moment_s``; give the kind of the last recorded event."""
        end_s = time.monotonic() + ANSWER_TIMEOUT_S if moment_s is None else moment_s
        recorded = ""
        while here.poll(max(0.0, end_s - time.monotonic())):
            try:
                message = here.recv()
            except EOFError:
                raise KillError("the referee ended by itself; what it said is above") from None
            if message is Step.DONE and moment_s is None:
                return recorded
            self._take(message)
            if isinstance(message, Recorded):
                recorded = message.event.kind
                if stop_at_turn and recorded == "turn":
                    return recorded
        if moment_s is None:
            raise KillError(f"the referee gave no answer for {ANSWER_TIMEOUT_S:.0f} s")
        return recorded

    def _receive_remaining(self, here: Connection) -> None:
        """Receive the messages sent before the kill; an incomplete one doesn't count."""
        try:
            while here.poll():
                self._take(here.recv())
        except (EOFError, OSError):
            return

    def _take(self, message: object) -> None:
        if isinstance(message, Remark):
            raise KillError(f"the referee said: {message.sentence}")
        if isinstance(message, Recorded):
            if message.number in self._recorded:
                raise KillError(f"event {message.number} was recorded twice")
            self._recorded[message.number] = message.event
            self._reports.append(message)
        elif isinstance(message, Shown):
            self._world.show_mood(message.mood)
            if message.mood in _ANSWERS:
                self._unanswered = ()
                self._answered_s = self._world.time_s
            self._reports.append(message)

    def _check(self) -> Folded[Any]:
        """Open the journal as a restart does, and compare it with the reports and the true game."""
        try:
            with Journal.open(self._path, wall_clock=lambda: datetime.now(UTC)) as journal:
                journal.check()
                events = journal.events()
            steps = list(fold_each(self._game, events))
        except RefereeError as error:
            raise KillError(f"the referee cannot go on: {error}") from error
        self._check_recorded(events)
        self._check_shown(events, steps)
        folded: Folded[Any] = steps[-1] if steps else Folded()
        played = self._world.truth.turns
        if folded.turns != played[: len(folded.turns)]:
            raise KillError(f"the journal has {folded.turns}, played were {played}")
        return folded

    def _check_recorded(self, events: Sequence[tuple[int, Event]]) -> None:
        """Check that all reported events are there, and at most one more, which the child had no time to report."""
        there = dict(events)
        for number, event in self._recorded.items():
            kept = there.get(number)
            if kept is None:
                raise KillError(f"event {number} ({event.kind}) was recorded and is lost")
            if (kept.kind, kept.data, kept.frame_time_s) != (event.kind, event.data, event.frame_time_s):
                raise KillError(f"event {number} was recorded as {event} and is now {kept}")
        unreported = [number for number in there if number not in self._recorded]
        if len(unreported) > 1 or unreported != list(there)[len(there) - len(unreported) :]:
            raise KillError(f"events {unreported} are in the journal and were never recorded")
        for number in unreported:
            self._recorded[number] = there[number]
            self._reports.append(Recorded(number, there[number]))

    def _check_shown(self, events: Sequence[tuple[int, Event]], steps: Sequence[Folded[Any]]) -> None:
        """Check that each lit turn was recorded before its light."""
        places = self._places_of_turns(events, steps)
        waiting: list[str] = []
        for report in self._reports:
            if isinstance(report, Recorded):
                waiting += places.get(report.number, ())
            elif report.mood in _LIT_TURN and report.turn:
                if report.turn != tuple(dict.fromkeys(waiting)):
                    raise KillError(f"{report.turn} was lit when the journal's new turns were on {waiting}")
                waiting.clear()
        if waiting:
            self._tally.recorded_unshown += 1
        # A recorded turn that was not lit is never lit: after a restart, the service shows the current position.
        self._reports = []

    def _places_of_turns(
        self, events: Sequence[tuple[int, Event]], steps: Sequence[Folded[Any]]
    ) -> dict[int, tuple[str, ...]]:
        places: dict[int, tuple[str, ...]] = {}
        before: Folded[Any] = Folded()
        for (number, event), after in zip(events, steps, strict=True):
            if event.kind == "turn":
                places[number] = self._game.notation.parse_turn(before.states[0], str(event.data["turn"])).places
            before = after
        return places
