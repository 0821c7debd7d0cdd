"""Turns that look alike from above, told apart by how many pieces are stacked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from engine.registry import load
from engine.values import Roll
from referee.judge import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import PlaceReading, Reading

BLOCKADE: Any = load("blockade")
BEFORE = BLOCKADE.dice.rolled(
    BLOCKADE.notation.parse_state(
        "warm a1:CL+YM b1:GLS c1:GLS d1:GLS e1:CL+BMMMMM a2:RLS b2:GLS c2:YLMM d2:YL e2:YLSS a3:RLS b3:GLS c3:CL+YMM "
        "d3:BLS e3:YLSS a4:RLS b4:RLS c4:RLS d4:BLS e4:YLS a5:CL+GMMMMM b5:BLS c5:BLS d5:BLS e5:CL+RMMMMM starts=warm"
    ),
    Roll(("4", "1")),
)
"""A medium from c2 or from c3 may come to d2; both squares show a medium before and after."""
TWO, THREE = {2: 0.9, 3: 0.1}, {2: 0.1, 3: 0.9}


def ruled(heights: Mapping[str, Mapping[int, float]], top: str = "yellow medium") -> Any:
    readings = [
        replace(
            reading,
            places={place: replace(one, heights=heights.get(place, {})) for place, one in reading.places.items()},
        )
        for reading in drawn(BLOCKADE, BEFORE, {"d2": top})
    ]
    return JudgedGame(BLOCKADE, belief=(BEFORE,)).consider(readings, Trigger.DECLARED).verdict


def test_without_heights_turns_that_look_alike_are_asked_about() -> None:
    verdict = ruled({})
    assert verdict.kind is VerdictKind.AMBIGUOUS
    assert set(verdict.candidates) == {"c2-d2", "c3-d2"}


@pytest.mark.parametrize(("c2", "c3", "turn"), [(TWO, THREE, "c2-d2"), (THREE, TWO, "c3-d2")])
def test_the_stack_that_became_lower_tells_where_a_piece_came_from(
    c2: Mapping[int, float], c3: Mapping[int, float], turn: str
) -> None:
    verdict = ruled({"c2": c2, "c3": c3})
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, (turn,))


@pytest.mark.parametrize("c3", [{}, {2: 0.5, 3: 0.5}, {2: 0.4, 3: 0.6}])
def test_heights_that_hardly_tell_leave_the_question(c3: Mapping[int, float]) -> None:
    assert ruled({"c2": {2: 0.6, 3: 0.4}, "c3": c3}).kind is VerdictKind.AMBIGUOUS


def test_heights_that_cannot_be_are_no_news_where_the_tops_are_as_believed() -> None:
    heights = {place: {1: 0.01, 7: 0.99} for place in BLOCKADE.places}
    assert ruled(heights, "yellow large").kind is VerdictKind.UNCHANGED


def test_a_table_says_how_many_pieces_are_stacked() -> None:
    heights = BLOCKADE.table.heights(BEFORE)
    assert (heights["a1"], heights["e1"], heights["c2"], heights["d2"]) == (2, 6, 3, 1)


RISE_MM = 0.9
FLAT = {2: 0.5, 3: 0.5}
TOUCHED = (0.2, 0.4)


def standing(
    state: Any,
    moved_mm: Mapping[str, tuple[float, float]] | None = None,
    *,
    nudged_mm: tuple[float, float] = (0.0, 0.0),
    without: Collection[str] = (),
) -> list[Reading]:
    """Readings of a state whose stacks are seen where they stood, but for those that came to stand elsewhere."""
    readings = drawn(BLOCKADE, state)
    heights = BLOCKADE.table.heights(state)

    def tops(place: str) -> dict[int, tuple[float, float]]:
        x, y = (moved_mm or {}).get(place, (0.0, 0.0))
        true = heights[place]
        return {count: (x + (true - count) * RISE_MM + nudged_mm[0], y + nudged_mm[1]) for count in range(2, 8)}

    def stacked(place: str, one: PlaceReading) -> PlaceReading:
        if one.best[0].endswith("large") or place in without:
            return one
        return replace(one, heights=FLAT, tops_mm=tops(place))

    return [
        replace(each, places={place: stacked(place, one) for place, one in each.places.items()}) for each in readings
    ]


def after(turn: str) -> Any:
    return BLOCKADE.rules.apply(BEFORE, BLOCKADE.notation.parse_turn(BEFORE, turn))


def looked_at_before() -> JudgedGame:
    game = JudgedGame(BLOCKADE, belief=(BEFORE,))
    assert game.consider(standing(BEFORE), Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    return game


@pytest.mark.parametrize("turn", ["c2-d2", "c3-d2"])
@pytest.mark.parametrize("nudged_mm", [(0.0, 0.0), (1.5, -1.0)])
def test_a_stack_that_is_seen_where_it_stood_was_not_touched(turn: str, nudged_mm: tuple[float, float]) -> None:
    table = standing(after(turn), {turn[:2]: TOUCHED}, nudged_mm=nudged_mm)
    assert JudgedGame(BLOCKADE, belief=(BEFORE,)).consider(table, Trigger.DECLARED).verdict.kind is (
        VerdictKind.AMBIGUOUS
    )
    verdict = looked_at_before().consider(table, Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.turns) == (VerdictKind.ACCEPTED, (turn,))


@pytest.mark.parametrize("unknown", ["c2", "c3"])
def test_one_stack_never_tells_alone(unknown: str) -> None:
    table = standing(after("c2-d2"), {"c2": TOUCHED}, without=[unknown])
    assert looked_at_before().consider(table, Trigger.DECLARED).verdict.kind is VerdictKind.AMBIGUOUS


def test_where_both_stacks_were_pushed_aside_the_judge_asks() -> None:
    table = standing(after("c2-d2"), {"c2": (6.0, 3.0), "c3": (-4.0, 7.0)})
    assert looked_at_before().consider(table, Trigger.DECLARED).verdict.kind is VerdictKind.AMBIGUOUS


def test_stacks_are_known_from_the_turn_that_left_them() -> None:
    game = looked_at_before()
    game.consider(standing(after("c2-d2"), {"c2": TOUCHED, "b1": (0.1, 0.0)}), Trigger.DECLARED)
    stacks = game.all_believed.senses.stacks
    assert [stacks[place].pieces for place in ("c2", "c3", "d2")] == [2, 3, 2]
    assert stacks["c2"].top_mm == pytest.approx(TOUCHED)
    assert stacks["b1"].top_mm == pytest.approx((0.0, 0.0)), "what was known first stays"


def test_stacks_that_a_person_corrects_are_learnt_anew() -> None:
    game = looked_at_before()
    corrected = after("c3-d2")
    game.correct((corrected,), ["d2"])
    game.consider(standing(corrected, {"c3": TOUCHED}), Trigger.RESTED)
    stacks = game.all_believed.senses.stacks
    assert (stacks["c3"].pieces, stacks["c3"].top_mm) == (2, pytest.approx(TOUCHED))
    assert (stacks["c2"].pieces, stacks["c2"].top_mm) == (3, (0.0, 0.0))
