"""Each player's chance of winning through a finished game, found by the search for hints in a process of its own."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.api import Game
from engine.values import OutcomeKind, Player
from referee.hints.advice import Question
from referee.hints.opponent import HintSource
from referee.record.events import EventKind
from referee.record.fold import Folded

_WHOLE_S, _MOST_S = 30.0, 0.5
"""The time in seconds for a whole game, and the most for one position; more changes the graph little."""
_GIVE_UP_S = 1.0
"""How often, in seconds, a worker looks whether its process has ended; an answer wakes it at once."""
_LEAST_SWING = 0.05
"""A change of the chances, 0 to 1, that is worth telling; a search repeated differs by about as much."""
_KEPT = 8
"""Games whose chances are kept; more than an evening has."""

SourceMaker = Callable[[Callable[[], object]], HintSource]
"""Makes a source of hints that calls the given function when an answer can be polled."""


def has_chances(game: Game[Any, Any]) -> bool:
    """Whether the game's hints tell a chance of winning: those of games with points expect a final score instead."""
    return game.scores is None and len(game.players) == 2


@dataclass(frozen=True)
class PlayedTurn:
    """A turn of a game, its index among the steps of the fold, and the state before it in notation."""

    step: int
    player: Player
    before: str
    to_move: Player


def played_turns(game: Game[Any, Any], folded: Folded[Any]) -> tuple[PlayedTurn, ...]:
    """List the turns that count."""
    before = (folded.start, *(step.states for step in folded.steps))
    return tuple(
        PlayedTurn(
            number, step.player, game.notation.format_state(before[number][0]), before[number][0].to_move or step.player
        )
        for number, step in enumerate(folded.steps)
        if step.kind == EventKind.TURN and step.player is not None
    )


@dataclass(frozen=True)
class Chances:
    """The first player's chances of winning, 0 to 1: before each turn and at the end, as far as they are known.

    ``seconds`` is the time for each position, ``wanted`` the number of chances when they are complete. While they
    are looked for, ``is_open`` is true.
    """

    wanted: int
    seconds: float
    values: tuple[float, ...] = ()
    is_open: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether all are known."""
        return len(self.values) == self.wanted


@dataclass(frozen=True)
class Swing:
    """A turn that changed the chances much: its index among the turns, and its player's chances before and after."""

    turn: int
    player: Player
    before: float
    after: float


def largest_swings(
    game: Game[Any, Any], turns: Sequence[PlayedTurn], chances: Chances, most: int = 3
) -> tuple[Swing, ...]:
    """Return the turns that changed the chances most, in the order they were played; none that changed them little."""
    swings = []
    for number, turn in enumerate(turns[: len(chances.values) - 1]):
        before, after = chances.values[number : number + 2]
        if turn.player != game.players[0]:
            before, after = 1 - before, 1 - after
        if abs(after - before) >= _LEAST_SWING:
            swings.append(Swing(number, turn.player, before, after))
    largest = sorted(swings, key=lambda each: -abs(each.after - each.before))[:most]
    return tuple(sorted(largest, key=lambda each: each.turn))


@dataclass
class _Work:
    """The chances of one game so far, by its newest event."""

    newest: int
    chances: Chances
    is_running: bool = field(default=False)


class ChanceFinder:
    """Finds the chances in finished games, one game at a time, and keeps them. It is thread-safe.

    ``make_source`` makes what answers the questions; it is closed after each game.
    """

    def __init__(self, make_source: SourceMaker) -> None:
        self._make_source = make_source
        self._lock = threading.Lock()
        self._known: dict[int, _Work] = {}

    def known(self, number: int, folded: Folded[Any]) -> Chances | None:
        """Return what is known of a finished game's chances, ``None`` if nobody has had them found."""
        with self._lock:
            work = self._known.get(number)
            return None if work is None or work.newest != folded.last_event else work.chances

    def of(self, game: Game[Any, Any], number: int, folded: Folded[Any]) -> Chances:
        """Return what is known of a finished game's chances, and begin to find them unless another game is searched."""
        if (known := self.known(number, folded)) is not None:
            return known
        with self._lock:
            turns = played_turns(game, folded)
            work = _Work(folded.last_event, Chances(len(turns) + 1, min(_MOST_S, _WHOLE_S / max(1, len(turns)))))
            if any(each.is_running for each in self._known.values()):
                return work.chances
            work.is_running = True
            self._known[number] = work
            while len(self._known) > _KEPT:
                del self._known[next(iter(self._known))]
        # A daemon, so that the referee need not wait for it when it stops.
        threading.Thread(target=self._find, args=(work, game, folded, turns), name="chances", daemon=True).start()
        return work.chances

    def _find(self, work: _Work, game: Game[Any, Any], folded: Folded[Any], turns: Sequence[PlayedTurn]) -> None:
        answered = threading.Event()
        source = self._make_source(answered.set)
        try:
            for number, turn in enumerate(turns):
                question = Question(number, game.name, turn.before, "strong", work.chances.seconds, ())
                self._tell(work, self._ask(source, answered, question, turn.to_move == game.players[0], work))
            self._tell(work, _final(game, folded))
        finally:
            with self._lock:
                work.is_running = False
                work.chances = replace(work.chances, is_open=False)
            source.close()

    def _ask(
        self, source: HintSource, answered: threading.Event, question: Question, is_first: bool, work: _Work
    ) -> float:
        """Return the first player's chance in a position; where there is no hint, it is that before."""
        answered.clear()
        source.ask(question)
        while not (answers := source.poll()):
            answered.wait(_GIVE_UP_S)
            answered.clear()
        advice = answers[-1].advice
        if advice is None:
            return work.chances.values[-1] if work.chances.values else 0.5
        return advice.expected if is_first else 1 - advice.expected

    def _tell(self, work: _Work, value: float) -> None:
        with self._lock:
            work.chances = replace(work.chances, values=(*work.chances.values, value))


def _final(game: Game[Any, Any], folded: Folded[Any]) -> float:
    """Return the first player's chance once the game is over."""
    outcome = folded.outcome
    if outcome is None or outcome.kind is not OutcomeKind.RESULT or outcome.winner is None:
        return 0.5
    return 1.0 if outcome.winner == game.players[0] else 0.0
