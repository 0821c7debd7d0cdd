"""Possible explanations of a table and their scores."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from engine.games.diaballik.state import DiaballikTurn
from referee.judge.explanations import (
    Explanation,
    ExplanationKind,
    beyond_one_turn,
    rank_by_stopovers,
    score_changes,
    score_touches,
    shown_changes,
    within_one_turn,
)
from referee.judge.explorer import Case, JudgeContext
from referee.judge.pooled_reading import PIECE, PooledPlace, PooledReading
from tests.referee.judge.drawn import seen_as
from vision.reading import PlaceChange

CLEAR = math.log(0.98 / 0.005)
"""Log-odds lead, over each of the five others, of a look drawn without a percentage."""
UNCLEAR = math.log(0.9 / 0.025)
"""The same of a look drawn with 90 %."""


def reading(**places: PooledPlace) -> PooledReading:
    return PooledReading(places, frozenset(), 0.0, 0)


@pytest.mark.parametrize(
    ("touched", "played_on", "score"),
    [
        ({}, [{"a1"}], 0.0),
        ({"a1": 2.0, "b1": -3.0}, [{"a1"}], 0.0),
        ({"a1": 2.0, "b1": -3.0}, [()], -2.0),
        ({"a1": 2.0, "b1": -3.0}, [], -2.0),
        ({"a1": 2.0, "b1": -3.0}, [{"b1"}], -5.0),
        ({"a1": 2.0, "b1": -3.0}, [{"a1", "b1"}], -3.0),
        ({"a1": 2.0, "b1": -3.0}, [{"b1"}, {"a1", "c1"}, ()], 0.0),
        ({"a1": 2.0, "b1": 1.5}, [{"a1"}], -1.5),
    ],
)
def test_turns_score_higher_if_the_stacks_they_touch_look_touched(
    touched: Mapping[str, float], played_on: list[set[str]], score: float
) -> None:
    seen = reading(**{place: PooledPlace({"empty": 0.0}, touched=value) for place, value in touched.items()})
    assert score_touches(seen, played_on) == pytest.approx(score)


@pytest.mark.parametrize(
    ("logs", "shown"),
    [
        ({"empty": -3.0, "red": -0.1, "blue": -5.0}, frozenset()),
        ({"empty": -0.5, "red": -2.5, "blue": -5.0}, {("a1", "empty")}),
        ({"empty": -0.5, "red": -2.49, "blue": -5.0}, frozenset()),
        ({"empty": -4.0, "red": -2.5, "blue": -0.1}, {("a1", "blue")}),
    ],
)
def test_a_place_shows_a_change_if_another_look_leads_the_believed_one_by_enough(
    logs: Mapping[str, float], shown: Any
) -> None:
    assert shown_changes({"a1": "red", "b1": "empty"}, reading(a1=PooledPlace(logs)), 2.0) == shown


def test_a_piece_that_only_a_sensor_reports_is_a_change_on_an_empty_place() -> None:
    sensed = PooledPlace({"empty": -4.0, "red": -0.02, "blue": -0.02}, sensed_only=True)
    assert shown_changes({"a1": "red", "b1": "empty"}, reading(a1=sensed, b1=sensed), 2.0) == {("b1", PIECE)}


def test_changes_score_by_their_lead_and_hidden_ones_score_nothing() -> None:
    seen = reading(a1=PooledPlace({"empty": -0.5, "red": -2.5}), b1=PooledPlace({"empty": -3.0, "red": -0.1}))
    changes = frozenset({("a1", "empty"), ("b1", "red"), ("c1", "red")})
    assert score_changes({"a1": "red"}, changes, seen) == pytest.approx(2.0 + 2.9)


@pytest.fixture(scope="module")
def context(diaballik: Any) -> JudgeContext[Any, Any]:
    return JudgeContext(diaballik)


def best(found: list[Explanation[Any, Any]], kind: ExplanationKind, changes: dict[str, str]) -> float:
    """The score of the best explanation of a kind that leaves exactly these changes."""
    return max(one.score for one in found if one.kind is kind and one.changes == frozenset(changes.items()))


def test_partial_turns_and_second_turns_have_a_lower_prior(
    context: JudgeContext[Any, Any],
) -> None:
    game = context.game
    state = game.rules.new()
    moved = {"a1": "empty", "a2": "black piece"}
    seen = seen_as(game, state, {**moved, "b7": "empty 90%", "b6": "empty 90%"})
    found = within_one_turn(Case(context, (state,), seen))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert best(found, ExplanationKind.NOTHING, {}) == 0.0
    assert best(found, ExplanationKind.TURN, moved) == pytest.approx(2 * CLEAR)
    lifted = within_one_turn(Case(context, (state,), seen_as(game, state, {"a1": "empty"})))
    assert best(lifted, ExplanationKind.PART, {"a1": "empty"}) == pytest.approx(CLEAR - 1.0)
    beyond = beyond_one_turn(Case(context, (state,), seen))
    assert [one.score for one in beyond] == sorted((one.score for one in beyond), reverse=True)
    half = best(beyond, ExplanationKind.TURN_AND_PART, {**moved, "b7": "empty"})
    assert half == pytest.approx(2 * CLEAR + UNCLEAR - 2.0 - 1.0)
    both = best(beyond, ExplanationKind.TWO_TURNS, {**moved, "b7": "empty", "b6": "white piece"})
    assert both == pytest.approx(2 * CLEAR - 2.0)


@pytest.mark.parametrize("wall", ["a1:G.star/north=slider", "d4:G.star/north=slider"])
def test_two_turns_of_one_block_are_followed_only_where_its_player_plays_again(deblockle: Any, wall: str) -> None:
    """With the star on a1 gold cannot move, so teal plays twice with one block; g6, its stop, is empty again."""
    rules, context = deblockle.rules, JudgeContext(deblockle)
    blocks = f"{wall} a2:T.star/north=slider b1:T.star/north=slider f7:T.star/north=slider removed=3,1"
    state = deblockle.notation.parse_state(f"teal {blocks}")
    base = deblockle.table.appearance(state)
    first = next(turn for turn in rules.legal_turns(state) if turn.start == "f7" and turn.end == "g6")
    between = replace(rules.apply(state, first), to_move="teal")
    second = next(turn for turn in rules.legal_turns(between) if turn.start == "g6" and turn.end == "d7")
    after = deblockle.table.appearance(rules.apply(between, second))
    seen = seen_as(deblockle, state, {place: look for place, look in after.items() if look != base[place]})
    found = beyond_one_turn(Case(context, (state,), seen))
    assert (first in [turn for one in found for turn in one.first]) == (wall[:2] == "a1")


def test_touched_places_count_for_every_kind_of_explanation(context: JudgeContext[Any, Any]) -> None:
    """a1, b7 and f1 look touched and g1 does not; each mismatch between looking touched and being played on costs."""
    game = context.game
    state = game.rules.new()
    moved = {"a1": "empty", "a2": "black piece"}
    drawn = seen_as(game, state, {**moved, "b7": "empty 90%", "b6": "empty 90%"})
    touched = {"a1": 2.0, "b7": 1.5, "f1": 1.0, "g1": -3.0}
    seen = replace(drawn, places={name: replace(one, touched=touched.get(name)) for name, one in drawn.places.items()})
    found = within_one_turn(Case(context, (state,), seen))
    assert best(found, ExplanationKind.NOTHING, {}) == pytest.approx(-4.5)
    assert best(found, ExplanationKind.TURN, moved) == pytest.approx(2 * CLEAR - 2.5)
    beyond = beyond_one_turn(Case(context, (state,), seen))
    half = best(beyond, ExplanationKind.TURN_AND_PART, {**moved, "b7": "empty"})
    assert half == pytest.approx(2 * CLEAR + UNCLEAR - 3.0 - 1.0)
    both = best(beyond, ExplanationKind.TWO_TURNS, {**moved, "b7": "empty", "b6": "white piece"})
    assert both == pytest.approx(2 * CLEAR - 2.0 - 1.0)


def test_of_turns_that_look_alike_those_that_miss_a_stopover_score_two_less(context: JudgeContext[Any, Any]) -> None:
    game = context.game
    state = game.rules.new()

    def played(score: float, *texts: str) -> Explanation[Any, Any]:
        turns: tuple[DiaballikTurn, ...] = tuple(game.notation.parse_turn(state, text) for text in texts)
        changes = frozenset({("a1", "empty")}) if score > -1 else frozenset({("b1", "empty")})
        return Explanation(ExplanationKind.TURN, state, changes, score, turns)

    passing, other, elsewhere = played(0.0, "a1-a2 a2-a3"), played(0.5, "b1-b2"), played(-5.0, "c1-c2")
    stopped = (PlaceChange("a2", True, 1.0), PlaceChange("a2", False, 2.0))
    case = Case(context, (state,), PooledReading({}, frozenset(), 0.0, 0, changes=stopped))
    ranked = rank_by_stopovers(case, [other, passing, elsewhere])
    assert [(one.first, one.score) for one in ranked] == [
        (passing.first, 0.0),
        (other.first, -1.5),
        (elsewhere.first, -5.0),
    ]
    both = played(0.5, "b1-b2", "a1-a2 a2-a3")
    assert rank_by_stopovers(case, [both, passing]) == [both, passing], "one of its turns passes there"
    unstopped = case.but_seen(PooledReading({}, frozenset(), 0.0, 0))
    assert rank_by_stopovers(unstopped, [other, passing]) == [other, passing]
