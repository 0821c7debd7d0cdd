"""Two turns written on sheets between two looks: the searches agree with plain ones that try every turn."""

from itertools import islice
from random import Random
from typing import Any

import pytest

from engine.registry import load
from engine.showing import TableConstraint, turns_by_trying, turns_showing
from engine.values import EMPTY, Roll
from referee.judge.assessment import Assessment
from referee.judge.belief import Belief
from referee.judge.decision import Conclusion
from referee.judge.explanations import ExplanationKind, beyond_one_turn, looks_while_writing
from referee.judge.explorer import MOST_WEIGHED, Case, JudgeContext, changes_between
from referee.judge.pooled_reading import PooledPlace, PooledReading
from referee.judge.resolution import resolve
from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.turns import find_two_written_turns
from tests.effort import cases

GAME: Any = load("number-drop")
CONTEXT: JudgeContext[Any, Any] = JudgeContext(GAME)
FLOOR = JudgeSettings().probability_floor
ROLLS = ("2,3,3,3,I", "1,4,4,4,L", "1,1,2,2,O", "1,1,1,*,O", "2,3,3,3,O")
"""Rolls with few turns, often of digits that can be circled."""


def position(rng: Random) -> Any:
    """A random two-player position in which one player or both write a shape, or one or both may draw a loop."""
    state = GAME.rules.new()
    state = GAME.dice.rolled(state, GAME.dice.possible_rolls(state)[0].roll)
    rolls = rng.randrange(1, 4)
    while True:
        if GAME.dice.awaits_roll(state):
            if not rolls:
                return position(rng)
            state = GAME.dice.rolled(state, Roll(tuple(rng.choice(ROLLS).split(","))))
            rolls -= 1
        if not rolls and rng.random() < 0.4:
            return state
        turns = GAME.rules.legal_turns(state)
        state = GAME.rules.apply(state, turns[rng.randrange(len(turns))])


def written_on(rng: Random, state: Any) -> dict[str, str]:
    """The looks of a table on which up to two turns were written, perhaps by one player, and perhaps another sign."""
    after = state
    for _ in range(rng.choice([1, 2, 2])):
        turns = [] if GAME.dice.awaits_roll(after) else list(GAME.rules.legal_turns(after))
        turns = [turn for turn in turns if turn.places] or turns
        after = GAME.rules.apply(after, rng.choice(turns)) if turns else after
    looks = GAME.table.appearance(after)
    if rng.random() < 0.3:
        looks = {**looks, rng.choice(list(looks)): rng.choice(GAME.looks)}
    return dict(looks)


def seen_by_bad_eyes(rng: Random, before: dict[str, str], looks: dict[str, str]) -> PooledReading:
    """A reading of a table in which what is new is doubtful, often wrong, and sometimes hidden."""
    places, hidden = {}, set()
    for place, look in looks.items():
        is_new = look != before[place]
        if rng.random() < (0.05 if is_new else 0.003):
            hidden.add(place)
            continue
        logs = dict.fromkeys(GAME.looks, -11.0)
        for other in rng.sample(GAME.looks, 5 if is_new else 0):
            logs[other] = -rng.uniform(0.5, 11)
        logs[look] = -rng.uniform(0, 3) if is_new and rng.random() < 0.5 else 0.0
        places[place] = PooledPlace(logs)
    return PooledReading(places, frozenset(hidden), 1.0, 1)


def tables(count: int, seed: int) -> list[tuple[Any, PooledReading]]:
    """Random positions, and what is seen some time later."""
    found = []
    for number in range(count):
        rng = Random(1000 * seed + number)
        state = position(rng)
        before = dict(GAME.table.appearance(state))
        found.append((state, seen_by_bad_eyes(rng, before, written_on(rng, state))))
    return found


def plain_beyond_one_turn(state: Any, seen: PooledReading) -> set[tuple[Any, ...]]:
    """Every way to play a turn whose cells all look changed or are hidden, and then another turn, or part of one."""
    base, could_be, found = GAME.table.appearance(state), Case(CONTEXT, (state,), seen).could_be, set()
    suspects = seen.hidden | {place for place, one in seen.places.items() if one.best != base.get(place, EMPTY)}
    for first in GAME.rules.legal_turns(state):
        after = GAME.rules.apply(state, first)
        between = GAME.table.appearance(after)
        changed = {place for place, _ in changes_between(base, between)}
        if not changed or not changed <= suspects:
            continue
        for second in turns_by_trying(GAME, after, could_be):
            left = GAME.table.appearance(GAME.rules.apply(after, second))
            found.add((ExplanationKind.TWO_TURNS, first, second, changes_between(base, left)))
        for part in GAME.table.unfinished(after):
            shown = {**between, **part.change}
            whole = turns_by_trying(GAME, after, {place: (look,) for place, look in shown.items()})
            if TableConstraint(between, could_be).allows(part.change) and next(whole, None) is None:
                found.add((ExplanationKind.TURN_AND_PART, first, part.instruction, changes_between(base, shown)))
    return found


def test_the_search_for_two_turns_finds_what_trying_every_turn_finds() -> None:
    sizes = []
    for state, seen in tables(cases(30), 1):
        plain = plain_beyond_one_turn(state, seen)
        found = beyond_one_turn(Case(CONTEXT, (state,), seen))
        assert {
            (one.kind, first, then, one.changes)
            for one in found
            for first in one.first
            for then in (one.second or (one.instruction,))
        } == plain, GAME.notation.format_state(state)
        sizes.append(len(plain))
    assert max(sizes) > 0, "no table shows two turns"


def plain_two_written_turns(given: Assessment[Any, Any], player: str) -> tuple[Any, ...]:
    """The same search, with a decision about each first turn."""
    could_be, found = looks_while_writing(given.visible), []
    for first in islice(turns_showing(GAME, given.states[0], could_be), MOST_WEIGHED):
        after = GAME.rules.apply(given.states[0], first)
        if first.player == player and player in GAME.rules.players_to_move(after):
            second = Assessment.at(CONTEXT, given.belief.with_states((after,), (after,)), given.seen, given.trigger)
            best = second.decision.best
            if second.decision.conclusion is Conclusion.ALLOWED and best.kind is ExplanationKind.TURN:
                found.append((first, *resolve(given, (best,)).turns))
    return found[0] if len(found) == 1 else ()


@pytest.mark.parametrize("trigger", [Trigger.RESTED, Trigger.DECLARED])
def test_a_shape_and_its_loop_are_found_together_as_by_deciding_about_each_shape(trigger: Trigger) -> None:
    answers = []
    for state, seen in tables(cases(60), 2):
        given = Assessment.at(CONTEXT, Belief.of((state,)), seen, trigger)
        for player in GAME.rules.players_to_move(state):
            answers.append(find_two_written_turns(given, player))
            assert answers[-1] == plain_two_written_turns(given, player), GAME.notation.format_state(state)
    assert any(answers), "no table shows a shape and a loop"
