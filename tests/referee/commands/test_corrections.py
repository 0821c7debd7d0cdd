"""Corrections as text."""

from __future__ import annotations

from typing import Any

import pytest

from engine.registry import load
from referee.commands.entries import apply_correction, read_looks
from referee.commands.values import Correct
from referee.errors import CorrectionError


@pytest.mark.parametrize(
    ("words", "looks"),
    [
        (["c3", "teal block, x up"], {"c3": "teal block, x up"}),
        (["C3=empty", "c4=gold star"], {"c3": "empty", "c4": "gold block, star up"}),
        (["c3", "Teal X", "c4", "empty"], {"c3": "teal block, x up", "c4": "empty"}),
        (["c3 = x up, teal"], {"c3": "teal block, x up"}),
        ([], {}),
    ],
)
def test_looks_are_read_leniently(deblockle: Any, words: list[str], looks: dict[str, str]) -> None:
    assert read_looks(deblockle, words) == looks


@pytest.mark.parametrize(
    ("said", "look"),
    [("black", "black piece"), ("black ball", "black piece with ball"), ("white piece", "white piece")],
)
def test_parts_that_a_look_does_not_mention_are_absent(said: str, look: str) -> None:
    assert read_looks(load("diaballik"), ["c3", said]) == {"c3": look}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["h9=empty"], "no place 'h9'; places run from a1 to g7"),
        (["c3"], "say what stands on c3"),
        (["c3=x"], "could be gold block, x up or teal block, x up; write more"),
        (["c3=red block"], "'red block' on c3 does not occur in Deblockle"),
        (["c3="], "'' on c3 does not occur"),
        (["c3=empty", "c3=teal x"], "c3 is given twice"),
    ],
)
def test_an_unreadable_correction_is_refused_with_the_reason(deblockle: Any, words: list[str], message: str) -> None:
    with pytest.raises(CorrectionError, match=message):
        read_looks(deblockle, words)


def test_a_refused_look_brings_one_example_of_each_sort() -> None:
    with pytest.raises(CorrectionError, match='expected something like "digit 0", "cross", or empty'):
        read_looks(load("number-drop"), ["p1.a1=X"])


def test_a_correction_has_exactly_one_content(deblockle: Any) -> None:
    states = (deblockle.rules.new({}),)
    with pytest.raises(CorrectionError, match="give one of them"):
        apply_correction(deblockle, states, Correct("Ann", {"c3": "empty"}, "gold c1:G.star?"), {})
    with pytest.raises(CorrectionError, match="nothing was corrected"):
        apply_correction(deblockle, states, Correct("Ann"), {})


def test_a_correction_applies_to_every_possible_state(deblockle: Any) -> None:
    belief = tuple(deblockle.rules.new({"starts": player}) for player in deblockle.players)
    done = apply_correction(deblockle, belief, Correct("Ann", {"c1": "gold block, x up"}, why="it was turned"), {})
    assert [state.to_move for state in done.states] == ["gold", "teal"]
    assert done.sentence == "Ann says: c1 is gold block, x up (it was turned)."
    settled = apply_correction(deblockle, belief, Correct("Ann", to_move="teal"), {})
    assert [state.to_move for state in settled.states] == ["teal"]
    assert settled.sentence == "Ann says: teal plays next."
    both = apply_correction(deblockle, belief, Correct("Ann", {"c1": "gold block, x up"}, to_move="teal"), {})
    assert both.sentence == "Ann says: c1 is gold block, x up, teal plays next."


def test_a_correction_to_a_whole_position_names_the_changed_places(deblockle: Any) -> None:
    state = deblockle.rules.new({})
    text = deblockle.notation.format_state(deblockle.table.amend(state, {"c1": "empty", "d1": "gold block, x up"}))
    done = apply_correction(deblockle, (state,), Correct("Ann", position=text, to_move="teal"), {})
    assert done.places == ("c1", "d1")
    assert done.states[0].to_move == "teal"
    same = apply_correction(deblockle, (state,), Correct("Ann", position=deblockle.notation.format_state(state)), {})
    assert same.sentence == "Ann says: the position stands."


@pytest.mark.parametrize(
    "correction",
    [
        Correct("Ann", {"d2": "gold block, x up"}),
        Correct("Ann", position="gold c3:what"),
        Correct("Ann", to_move="red"),
    ],
)
def test_an_impossible_correction_is_refused(deblockle: Any, correction: Correct) -> None:
    with pytest.raises(CorrectionError):
        apply_correction(deblockle, (deblockle.rules.new({}),), correction, {})


def test_a_correction_before_the_set_up_is_the_set_up(deblockle: Any) -> None:
    looks = {"c1": "gold block, x up", "e7": "teal block, star up"}
    done = apply_correction(deblockle, (), Correct("Ann", looks, to_move="teal"), {"side_by_side": False})
    assert done.states[0].to_move == "teal"
    assert "side_by_side=false" in deblockle.notation.format_state(done.states[0])
    with pytest.raises(CorrectionError, match=r"has to name every piece on it.*There is no teal block on the board"):
        apply_correction(deblockle, (), Correct("Ann", {"c1": "gold block, x up"}), {})


def test_a_correction_is_accepted_on_the_sheets_in_play() -> None:
    game = load("number-drop")
    believed = game.rules.new({"players": 2})
    said = apply_correction(game, [believed], Correct("Ann", {"p2.c1": "digit 2"}), {"players": 2})
    assert said.places == ("p2.c1",)
    assert "p2.c1 is digit 2" in said.sentence
    with pytest.raises(CorrectionError, match="p3"):
        apply_correction(game, [believed], Correct("Ann", {"p3.c1": "digit 2"}), {"players": 2})
