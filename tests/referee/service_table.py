"""A service on synthetic readings, with its ports, and a table that can be changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from hardware.lights.signals import Mood, Signal
from referee.commands.values import Command, Reply
from referee.judge.verdict import Verdict, VerdictKind
from referee.session.feed import TableSnapshot, signal_subscriber
from referee.session.ports import ServiceSettings
from referee.session.service import Service
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.reading import Hindrance, HindranceKind, Reading

START = {
    "c1": "gold block, cross up",
    "e1": "gold block, hoops up",
    "c3": "gold block, stop up",
    "e3": "gold block, x up",
    "c5": "teal block, slider up",
    "e5": "teal block, cross up",
    "c7": "teal block, star up",
    "e7": "teal block, hoops up",
}
FPS = 10.0


class ScriptedReader:
    """Gives the scripted reading for the next frame."""

    def __init__(self) -> None:
        self.following: Reading | Exception | None = None

    def read(self, frame: Frame) -> Reading:
        if isinstance(self.following, Exception):
            raise self.following
        assert self.following is not None
        return self.following

    def crop(self, frame: Frame, place: str) -> Image:
        if place == "a1":
            raise NotLocatedError("not located")
        return np.full((8, 8, 3), frame.sequence % 256, dtype=np.uint8)


class Lamp:
    """Remembers every signal and the number of events in the journal at that moment."""

    def __init__(self) -> None:
        self.signals: list[Signal] = []
        self.events_then: list[int] = []
        self.count_events: Callable[[], int] = lambda: 0

    def show(self, signal: Signal, time_s: float | None = None) -> None:
        self.signals.append(signal)
        self.events_then.append(self.count_events())

    @property
    def moods(self) -> list[Mood]:
        return [signal.mood for signal in self.signals]


@dataclass
class Table:
    """A service with its ports, and a table that can be changed."""

    game: Any
    make_reading: Any
    journal: Any
    settings: ServiceSettings
    hints: Any = None
    reader: ScriptedReader = field(default_factory=ScriptedReader)
    lamp: Lamp = field(default_factory=Lamp)
    said: list[str] = field(default_factory=list)
    sequence: int = 0
    snapshots: list[TableSnapshot] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lamp.count_events = lambda: len(self.journal.events())
        self.service: Service[Any, Any] = Service(
            self.game, self.reader, self.journal, self._take, self.settings, self.said.append, self.hints
        )

    def _take(self, snapshot: TableSnapshot) -> None:
        self.snapshots.append(snapshot)
        signal_subscriber(self.lamp)(snapshot)

    def tell(self, command: Command, seen: int | None = None) -> Reply:
        """Carry out a command that is answered at once, from somebody who saw the event ``seen``."""
        replies: list[Reply | None] = []
        self.service.carry_out(replace(command, seen=seen), replies.append)
        (reply,) = replies
        assert reply is not None
        return reply

    def frame(self) -> Frame:
        self.sequence += 1
        return Frame(np.zeros((4, 4, 3), np.uint8), self.sequence / FPS, self.sequence, "script")

    def show(self, appearance: Any, seconds: float, **extra: Any) -> list[Verdict]:
        verdicts: list[Verdict] = []
        reading = self.make_reading(appearance, **extra)
        for _ in range(round(seconds * FPS)):
            frame = self.frame()
            self.reader.following = replace(reading, sequence=frame.sequence, time_s=frame.time_s)
            verdicts += self.service.step(frame)
        return verdicts

    def hand(self, appearance: Any, seconds: float) -> list[Verdict]:
        return self.show(appearance, seconds, hindrances=(Hindrance(HindranceKind.HAND, "a hand is over c1", ("c1",)),))

    def kinds(self) -> list[str]:
        return [event.kind for _, event in self.journal.events()]

    def play(self, **wanted: Any) -> tuple[Any, Any]:
        """A legal turn and the appearance after it."""
        state = self.service.belief[0]
        turn = known_turn(self.game, state, **wanted)
        return turn, self.game.table.appearance(self.game.rules.apply(state, turn))


def wall_clock() -> datetime:
    return datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC)


def kinds_of(verdicts: Sequence[Verdict]) -> list[VerdictKind]:
    return [verdict.kind for verdict in verdicts]


def known_turn(game: Any, state: Any, **wanted: Any) -> Any:
    """A legal turn with the given fields."""
    return next(
        turn
        for turn in game.rules.legal_turns(state)
        if all(getattr(turn, key) == value for key, value in wanted.items())
    )
