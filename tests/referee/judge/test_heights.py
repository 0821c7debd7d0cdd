"""Turns that look alike from above, told apart by how many pieces are stacked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from engine.registry import load
from engine.values import Roll
from referee.judge import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame

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
