"""A game whose players deal with a referee that asks, keeps silent or is mistaken.

First they take away what lies about and press again. Then they straighten the block. At last they tell the referee
what is so: a square or the whole position.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from engine.api import OptionValue
from simulator.faults.disturbances import Disturbances
from simulator.faults.players import FaultyPlayers, Start
from simulator.play.actions import Action, ActionKind
from simulator.play.choreography import Stretch
from simulator.play.game import Press, TurnEnd, VirtualGame
from simulator.play.ground_truth import TruthLog
from simulator.play.players import Habits
from simulator.scene.scene import Setting

ANSWERS = frozenset({"accepted", "finished", "fault"})
HELPABLE = frozenset({"question", "cannot see", "trouble"})
_NOTED = ANSWERS | {"not finished"}
"""Where a touch ends a turn, a quiet light is all that a whole turn gets."""

PRESS_AFTER_S = 0.2
POLL_S = 0.1
_IN_A_FEW_WORDS_SHARE = 0.5

Wait = Generator[Stretch, None, str]


@dataclass(frozen=True)
class Override:
    """What a person tells the referee: when, why, and the text of the position or some squares with who plays next."""

    time_s: float
    state: str
    why: str
    looks: Mapping[str, str] = field(default_factory=dict)
    to_move: str = ""


class AnsweringGame(VirtualGame):
    """One game from one seed; subclasses say what happens in it."""

    def __init__(
        self,
        seed: int,
        game_name: str,
        setting: Setting,
        *,
        options: Mapping[str, OptionValue] | None = None,
        turns: int = 40,
        habits: Habits | None = None,
        turn_end: TurnEnd = "button",
        truth: TruthLog | None = None,
        start: Start = "usual",
        by_occupancy: bool = False,
    ) -> None:
        super().__init__(
            seed,
            game_name,
            setting.layout,
            options=options,
            turns=turns,
            habits=habits,
            turn_end=turn_end,
            truth=truth,
        )
        self._by_occupancy = by_occupancy
        self._people = FaultyPlayers(
            self._game, setting.layout, self._habits, self._rng, options, start, by_occupancy=by_occupancy
        )
        self._players = self._people
        if truth is not None:
            truth.start = self._game.notation.format_state(self._people.state)
        self._fates = np.random.default_rng([seed, 47])
        self._in_step = True
        self.disturbances = Disturbances()
        self.overrides: list[Override] = []

    def _carry_out(self, action: Action) -> Iterator[Stretch]:
        """Do something with the hands, and press if that ends a turn."""
        began_s, standing = self._planned_s, self._people.standing
        rest_at = None if action.carries else self._people.resting_place(action.player)
        yield from self._choreography.stretches(standing, action, rest_at)
        self._people.perform(action)
        gone_s = self._planned_s
        # Somebody whose hand stays on the block presses with the other one.
        early_s = action.rest_s / 2 if action.carries and action.rest_s > 0 else 0.0
        ended_s = gone_s + (PRESS_AFTER_S if early_s == 0 else -early_s) if action.ends_turn else None
        self._note_event(action, standing, began_s, gone_s, ended_s)
        if ended_s is not None and self._turn_end == "button":
            self._presses.append(Press(ended_s))

    def _dealt_with(self, action: Action, since_s: float) -> Wait:
        """Wait for the referee's word on a legal turn and see to it that the game goes on; gives the answer."""
        answer = yield from self._answer_to(action, since_s)
        if answer == "fault":
            yield from self._tell("that turn was legal")
        elif answer == "question":
            yield from self._answer_in_words(action)
        elif answer not in _NOTED:
            yield from self._tell("nobody said anything")
        self._in_step = answer != "not finished"
        yield self._still(self._habits.pause_s)
        return answer

    def _answer_to(self, action: Action, since_s: float) -> Wait:
        """Wait for an answer, helping a referee that asks: give it, or ``silence``, or ``question`` if none helped."""
        is_violation = action.kind is ActionKind.VIOLATION
        by_touch = self._turn_end == "touch"
        # A turn that counts once the next player touches a block may be the one before.
        awaited = {"fault"} if by_touch and is_violation else _NOTED if by_touch else ANSWERS
        heard_from_s = since_s
        deadline_s = self._deadline_s()
        helped = 0
        said = "silence"
        yield self._still(self._habits.settle_s)
        while True:
            mood = self._mood_since(heard_from_s, awaited)
            if mood is not None and mood in awaited:
                return mood
            if mood == "question":
                # What was accepted in the same breath may be the turn before.
                answered = None if self._by_occupancy else self._mood_since(since_s, awaited, frozenset())
                if answered:
                    self.disturbances.remove_things(self._planned_s)
                    return answered
                if is_violation or self._by_occupancy:
                    # There is nothing to take away or straighten: only words can tell what no switch can.
                    return mood
            if mood == "question" or self._planned_s > deadline_s:
                said = mood or said
                if helped == 2 or (by_touch and is_violation):
                    return said
                helped += 1
                yield from self._help(action, helped)
                heard_from_s, deadline_s = self._planned_s, self._deadline_s()
            yield self._still(POLL_S)

    def _deadline_s(self) -> float:
        return self._planned_s + self._habits.patience_s

    def _help(self, action: Action, attempt: int) -> Iterator[Stretch]:
        yield self._still(self._habits.pause_s)
        self.disturbances.remove_things(self._planned_s)
        if attempt == 2 and action.kind is not ActionKind.VIOLATION:
            yield from self._carry_out(self._people.straighten_after(action))
        yield self._still(PRESS_AFTER_S)
        # A press counts in every mode, so somebody who is asked twice presses.
        if self._turn_end == "button" or (attempt == 2 and action.kind is not ActionKind.VIOLATION):
            self._presses.append(Press(self._planned_s))

    def _answer_in_words(self, action: Action) -> Iterator[Stretch]:
        """Say which block stands where, or give the whole position where more than this turn may be open.

        Whoever plays under a referee with switches alone says how the block lies as well: nobody else can know.
        """
        people = self._people
        if (
            self._in_step
            and not self._by_occupancy
            and not people.is_over
            and self._fates.random() < _IN_A_FEW_WORDS_SHARE
        ):
            squares = people.squares_of(action)
            yield from self._tell("answered a question", {place: people.looks[place] for place in sorted(squares)})
        else:
            yield from self._tell("answered a question")

    def _tell(self, why: str, looks: Mapping[str, str] | None = None) -> Iterator[Stretch]:
        """A person says what holds, which outranks the camera."""
        if looks:
            self.overrides.append(Override(self._planned_s, "", why, looks, self._people.to_move))
        else:
            self.overrides.append(Override(self._planned_s, self._game.notation.format_state(self._people.state), why))
        yield self._still(self._habits.settle_s)

    def _mood_since(
        self, since_s: float, answers: frozenset[str] | set[str], others: frozenset[str] = HELPABLE
    ) -> str | None:
        """The latest answer or question heard; what the table showed before ``since_s`` was about something else."""
        for time_s, mood in reversed(self._heard):
            if time_s < since_s:
                break
            if mood in answers or mood in others:
                return mood
        return None
