"""A game with faults: what the players do, what happens around them, and how they deal with a referee that asks.

Which faults happen, and when, is drawn from the seed. Players who are asked answer as people do: first they take away
what lies about and press again, then they straighten the block, and at last they tell the referee what holds.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.api import OptionValue
from simulator.actions import Action
from simulator.faults import SURROUNDINGS, DisturbanceMaker, Disturbances
from simulator.faults_misdeeds import ALL_MISDEEDS
from simulator.faults_players import FaultyPlayers
from simulator.game import PlayedGame, Press, TurnEnd
from simulator.player import Habits
from simulator.scene import Setting
from simulator.timeline import Stretch
from simulator.truth import TruthLog

DOINGS = (
    "block straightened",
    "tried and taken back",
    "hand resting",
    "two quick turns",
    "illegal turn",
    "put back turned",
    "another block turned",
    "hand stays on the block",
)
"""What players do besides playing, by name. ``illegal turn`` is each kind of misdeed in turn."""

PLAIN = "nothing"
ANSWERS = frozenset({"accepted", "finished", "fault"})
HELPABLE = frozenset({"question", "cannot see", "trouble"})
_POLL_S = 0.1
_PRESS_AFTER_S = 0.2
_TOGETHER_SHARE = 0.25

Wait = Generator[Stretch, None, str]


@dataclass(frozen=True)
class Word:
    """What a person tells the referee: when, the text of the position that holds, and why."""

    time_s: float
    state: str
    why: str


@dataclass(frozen=True)
class Episode:
    """What was drawn to happen around one turn, and from when on."""

    kind: str
    around: str
    began_s: float


class FaultyGame(PlayedGame):
    """One game from one seed, with faults."""

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
        kinds: tuple[str, ...] = (),
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
        self._people = FaultyPlayers(self._game, setting.layout, self._habits, self._rng, options)
        self._players = self._people
        if truth is not None:
            truth.start = self._game.format_state(self._people.state)
        self._fates = np.random.default_rng([seed, 47])
        self._maker = DisturbanceMaker(setting, np.random.default_rng([seed, 48]))
        self._only = kinds
        self._bags: dict[str, list[str]] = {}
        self._played = 0
        self.disturbances = Disturbances()
        self.words: list[Word] = []
        self.episodes: list[Episode] = []

    def _play(self) -> Iterator[Stretch]:
        yield self._still(2 * self._habits.settle_s)
        while self._played < self._turns and not self._people.is_over:
            yield from self._episode()
        yield self._still(5 * self._habits.settle_s)

    def _drawn(self, bag: str, kinds: tuple[str, ...]) -> str:
        """Draw from a shuffled bag, so that every kind comes about equally often."""
        left = self._bags.setdefault(bag, [])
        if not left:
            left.extend(kinds[int(index)] for index in self._fates.permutation(len(kinds)))
        return left.pop()

    def _episode(self) -> Iterator[Stretch]:
        every = self._only or (PLAIN, PLAIN, *DOINGS, "illegal turn", *SURROUNDINGS)
        kind = self._drawn("episodes", every)
        around = kind if kind in SURROUNDINGS else ""
        if not around and kind != PLAIN and not self._only and self._fates.random() < _TOGETHER_SHARE:
            around = self._drawn("around", SURROUNDINGS)
        self.episodes.append(Episode(kind, around, self._planned_s))
        number = self._begin(around) if around else None
        match kind:
            case "block straightened":
                yield from self._carry_out(self._people.straighten())
                yield self._still(self._habits.settle_s)
                yield from self._turn()
            case "tried and taken back":
                yield from self._carry_out(self._people.try_out())
                yield self._still(self._habits.settle_s)
                yield from self._turn()
            case "hand resting":
                yield from self._carry_out(self._people.rest_hand())
                yield from self._turn()
            case "hand stays on the block":
                yield from self._turn(stays_s=float(self._fates.uniform(1.0, 2.5)))
            case "another block turned":
                yield from self._illegal_turn(self._people.turn_besides_turning())
                yield from self._turn()
            case "two quick turns":
                yield from self._two_quick_turns()
            case "illegal turn":
                yield from self._illegal_turn(self._drawn_misdeed())
                yield from self._turn()
            case "put back turned":
                yield from self._illegal_turn(self._drawn_misdeed(), put_back_turned=True)
                yield from self._turn()
            case _:
                yield from self._turn()
        if number is not None:
            self._end(number)

    def _begin(self, kind: str) -> int:
        free = tuple(place for place in self._people.open_squares() if place not in self._layout.star_places)
        if kind == "table bumped":
            self._people.slip()
        return self.disturbances.begin(self._maker.make(kind, self._planned_s, free))

    def _end(self, number: int) -> None:
        """What lies about is taken away after the turn; the rest ends by itself or lasts."""
        one = list(self.disturbances)[number]
        if one.removable:
            self.disturbances.end(number, self._planned_s)

    def _carry_out(self, action: Action) -> Iterator[Stretch]:
        """Do something with the hands, and press if that ends a turn."""
        began_s, standing = self._planned_s, self._people.standing
        rest_at = None if action.carries else self._people.resting_place(action.player)
        yield from self._choreography.stretches(standing, action, rest_at)
        self._people.perform(action)
        gone_s = self._planned_s
        # Somebody whose hand stays on the block presses with the other one.
        early_s = action.rest_s / 2 if action.carries and action.rest_s > 0 else 0.0
        ended_s = gone_s + (_PRESS_AFTER_S if early_s == 0 else -early_s) if action.ends_turn else None
        self._note_event(action, standing, began_s, gone_s, ended_s)
        if ended_s is not None and self._turn_end == "button":
            self._presses.append(Press(ended_s))

    def _turn(self, stays_s: float = 0.0) -> Iterator[Stretch]:
        if self._people.is_over or self._played >= self._turns:
            return
        action = replace(self._people.turn(), rest_s=stays_s)
        self._clear_the_way(action)
        self._played += 1
        yield from self._carry_out(action)
        yield from self._dealt_with(action, self._planned_s)

    def _two_quick_turns(self) -> Iterator[Stretch]:
        first = self._people.turn()
        self._played += 1
        yield from self._carry_out(first)
        if self._people.is_over or self._turn_end == "touch":
            yield from self._dealt_with(first, self._planned_s)
            return
        yield self._still(_PRESS_AFTER_S / 2)
        second = self._people.turn()
        self._played += 1
        yield from self._carry_out(second)
        yield from self._dealt_with(second, self._planned_s)

    def _clear_the_way(self, action: Action) -> None:
        """Nobody plays onto a coin: what lies on a square of the turn is taken away first."""
        squares = self._people.squares_of(action)
        for number, one in enumerate(self.disturbances):
            lies_on = {self._place_of(thing.x_mm, thing.y_mm) for thing in one.things}
            if one.holds_at(self._planned_s) and lies_on & squares:
                self.disturbances.end(number, self._planned_s)

    def _place_of(self, x_mm: float, y_mm: float) -> str:
        layout = self._layout
        column = round(x_mm / layout.cell_mm + (layout.columns - 1) / 2)
        return f"{chr(ord('a') + column)}{round(y_mm / layout.cell_mm + (layout.rows - 1) / 2) + 1}"

    def _drawn_misdeed(self) -> Action | None:
        for _ in range(len(ALL_MISDEEDS)):
            action = self._people.misdeed_of(self._drawn("misdeeds", tuple(ALL_MISDEEDS)))
            if action is not None:
                return action
        return None

    def _illegal_turn(self, action: Action | None, *, put_back_turned: bool = False) -> Iterator[Stretch]:
        if action is None:
            return
        people = self._people
        before = people.standing
        self._clear_the_way(action)
        yield from self._carry_out(action)
        answer = yield from self._answer_to(action, self._planned_s)
        yield self._still(self._habits.pause_s)
        wrongly = people.put_right_but_turned(before, action.player) if put_back_turned else None
        if wrongly is not None:
            yield from self._carry_out(wrongly)
            yield self._still(3 * self._habits.settle_s)
        yield from self._carry_out(people.put_right(before, action.player))
        yield self._still(2 * self._habits.settle_s)
        if answer == "accepted":
            yield from self._tell("that turn was illegal")

    def _dealt_with(self, action: Action, since_s: float) -> Iterator[Stretch]:
        """Wait for the referee's word on a legal turn and see to it that the game goes on."""
        if self._turn_end == "touch":
            yield self._still(2 * self._habits.settle_s)
            return
        answer = yield from self._answer_to(action, since_s)
        if answer == "fault":
            yield from self._tell("that turn was legal")
        elif answer not in ANSWERS:
            yield from self._tell("nobody said anything" if answer == "silence" else "answered a question")
        yield self._still(self._habits.pause_s)

    def _answer_to(self, action: Action, since_s: float) -> Wait:
        """Wait for an answer, helping a referee that asks: give it, or ``silence``, or ``question`` if none helped."""
        heard_from_s = since_s
        deadline_s = self._deadline_s()
        helped = 0
        said = "silence"
        yield self._still(self._habits.settle_s)
        while True:
            mood = self._mood_since(heard_from_s)
            if mood in ANSWERS:
                return mood
            if mood == "question" and action.kind == "misdeed":
                return mood
            if mood == "question" or self._planned_s > deadline_s:
                said = mood or said
                if helped == 2:
                    return said
                helped += 1
                yield from self._help(action, helped)
                heard_from_s, deadline_s = self._planned_s, self._deadline_s()
            yield self._still(_POLL_S)

    def _deadline_s(self) -> float:
        return self._planned_s + self._habits.patience_s

    def _help(self, action: Action, attempt: int) -> Iterator[Stretch]:
        yield self._still(self._habits.pause_s)
        self.disturbances.remove_things(self._planned_s)
        if attempt == 2 and action.kind != "misdeed":
            yield from self._carry_out(self._people.straighten_after(action))
        yield self._still(_PRESS_AFTER_S)
        if self._turn_end == "button":
            self._presses.append(Press(self._planned_s))

    def _tell(self, why: str) -> Iterator[Stretch]:
        """A person says what holds, which outranks the camera."""
        self.words.append(Word(self._planned_s, self._game.format_state(self._people.state), why))
        yield self._still(self._habits.settle_s)

    def _mood_since(self, since_s: float) -> str | None:
        """The latest answer or question heard; what the table showed before ``since_s`` was about something else."""
        for time_s, mood in reversed(self._heard):
            if time_s < since_s:
                break
            if mood in ANSWERS or mood in HELPABLE:
                return mood
        return None
