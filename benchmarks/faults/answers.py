"""A game whose players react to a referee that asks, stays silent or is mistaken.

First they remove foreign objects and press again. Then they straighten the piece. Finally they correct the referee:
some squares or the whole position.
"""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.faults.deblockle import FaultyBlockPlayers
from benchmarks.faults.disturbances import Disturbances
from benchmarks.faults.players import FaultyPlayers, FaultySheetPlayers, Start
from engine.api import Game
from simulator.play.actions import Action, ActionKind
from simulator.play.choreography import MotionSegment
from simulator.play.game import ANSWERS, POLL_S, GameOptions, Mood, Press, TruthLog, VirtualGame
from vision.layout.table import TableLayout

_HELPABLE = frozenset({Mood.QUESTION, Mood.CANNOT_SEE, Mood.TROUBLE})
_NOTED = ANSWERS | {Mood.NOT_FINISHED}
"""In rules where a touch ends a turn, a complete turn only gets a quiet light."""

_ONLY_SQUARES_SHARE = 0.5
"""Share of answers that correct only the squares of the turn, where that is enough."""


def faulty_players(game: Game[Any, Any]) -> type[FaultyPlayers]:
    """Return the class of a game's players."""
    if game.side_faces is not None:
        return FaultyBlockPlayers
    return FaultySheetPlayers if game.has_sheets else FaultyPlayers


Wait = Generator[MotionSegment, None, Mood | None]


@dataclass(frozen=True)
class Override:
    """A correction by a person: when, why, and the text of the position or of some squares with the next player."""

    time_s: float
    state: str
    why: str
    looks: Mapping[str, str] = field(default_factory=dict)
    to_move: str = ""


@dataclass(frozen=True)
class FaultyOptions(GameOptions):
    """A game with faults; ``kinds`` limits which ones happen, if any are given."""

    turns: int = 40
    kinds: tuple[str, ...] = ()
    start: Start = "usual"


class AnsweringGame(VirtualGame):
    """One game from one seed; subclasses define what happens in it."""

    press_after_s = 0.2

    def __init__(self, seed: int, layout: TableLayout, options: FaultyOptions, truth: TruthLog | None) -> None:
        super().__init__(seed, layout, options, truth)
        self._by_occupancy = options.habits.by_occupancy
        self._people = faulty_players(self._game)(
            self._game, layout, self._habits, self._rng, options.rules, options.start
        )
        self._players = self._people
        if truth is not None:
            # the usual players, whom these replace, write with other hands
            truth.start = self._game.notation.format_state(self._people.state)
            truth.handwritings = self._people.handwritings
        self._event_rng = np.random.default_rng([seed, 47])
        self._in_step = True
        self.disturbances = Disturbances()
        self.overrides: list[Override] = []

    def _resolve(self, action: Action, since_s: float) -> Wait:
        """Wait for the referee's verdict on a legal turn and make sure that the game continues; returns the verdict."""
        answer = yield from self._answer_to(action, since_s)
        if answer is Mood.FAULT:
            yield from self._correct("that turn was legal")
        elif answer is Mood.QUESTION:
            yield from self._answer_question(action)
        elif answer not in _NOTED:
            yield from self._correct("nobody said anything")
        self._in_step = answer is not Mood.NOT_FINISHED
        yield self._still(self._habits.pause_s)
        return answer

    def _answer_to(self, action: Action, since_s: float) -> Wait:
        """Wait for an answer, helping a referee that asks; returns the question if nothing helped, ``None`` for
        silence.
        """
        is_violation = action.kind is ActionKind.VIOLATION
        by_touch = self._options.turn_end == "touch"
        # a turn that is accepted once the next player touches a block may be the one before
        awaited = frozenset({Mood.FAULT}) if by_touch and is_violation else _NOTED if by_touch else ANSWERS
        heard_from_s = since_s
        deadline_s = self._deadline_s()
        helped = 0
        last_asked = None
        yield self._still(self._habits.settle_s)
        while True:
            mood = self._mood_since(heard_from_s, awaited | _HELPABLE)
            if mood is not None and mood in awaited:
                return mood
            if mood is Mood.QUESTION:
                # an acceptance at the same moment may be of the turn before, as it always is where a touch ends a turn
                own = awaited - {Mood.ACCEPTED} if by_touch else awaited
                answered = None if self._by_occupancy else self._mood_since(since_s, own)
                if answered:
                    self.disturbances.remove_things(self._planned_s)
                    return answered
                if is_violation or self._by_occupancy:
                    # there is nothing to remove or straighten: only a correction gives what no switch senses
                    return mood
            if mood is Mood.QUESTION or self._planned_s > deadline_s:
                last_asked = mood or last_asked
                if helped == 2 or (by_touch and is_violation):
                    return last_asked
                helped += 1
                yield from self._help(action, helped)
                heard_from_s, deadline_s = self._planned_s, self._deadline_s()
            yield self._still(POLL_S)

    def _deadline_s(self) -> float:
        return self._planned_s + self._habits.patience_s

    def _help(self, action: Action, attempt: int) -> Iterator[MotionSegment]:
        yield self._still(self._habits.pause_s)
        self.disturbances.remove_things(self._planned_s)
        if attempt == 2 and action.kind is not ActionKind.VIOLATION:
            yield from self._carry_out(self._people.straighten_after(action))
        yield self._still(self.press_after_s)
        # a press is accepted in every mode, so a player who is asked twice presses
        if self._options.turn_end == "button" or (attempt == 2 and action.kind is not ActionKind.VIOLATION):
            self._presses.append(Press(self._planned_s))

    def _answer_question(self, action: Action) -> Iterator[MotionSegment]:
        """Correct some squares, or the whole position if more than this turn may be undecided.

        If the referee only has switches, the player also says how the block lies, which no switch shows. In games with
        stacks only the top is visible as a look, so the whole position is given.
        """
        people = self._people
        if (
            self._in_step
            and not self._by_occupancy
            and self._game.dice is None
            and not people.is_over
            and self._event_rng.random() < _ONLY_SQUARES_SHARE
        ):
            squares = people.squares_of(action)
            yield from self._correct("answered a question", {place: people.looks[place] for place in sorted(squares)})
        else:
            yield from self._correct("answered a question")

    def _read_out(self, rolled: Action) -> Iterator[MotionSegment]:
        """Enter the roll; if the referee asked about the turn before, correct that first."""
        by_touch = self._options.turn_end == "touch"
        if not (by_touch and self._is_asked):
            yield from super()._read_out(rolled)
            yield self._still(self._habits.settle_s if by_touch else 0.0)
        if by_touch and self._is_asked:
            yield from self._correct("answered a question")

    @property
    def _is_asked(self) -> bool:
        """Whether the table shows a question."""
        return bool(self._moods) and self._moods[-1][1] is Mood.QUESTION

    def _correct(self, why: str, looks: Mapping[str, str] | None = None) -> Iterator[MotionSegment]:
        """Enter a person's correction, which overrides the camera: of some squares, or of the whole position."""
        if looks:
            self.overrides.append(Override(self._planned_s, "", why, looks, self._people.to_move))
        else:
            self.overrides.append(Override(self._planned_s, self._game.notation.format_state(self._people.state), why))
        yield self._still(self._habits.settle_s)
