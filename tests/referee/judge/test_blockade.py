"""Blockade's set-up: squares read doubtfully, a turned board, missing pieces, another game."""

from __future__ import annotations

from typing import Any

import pytest

from engine.registry import load
from referee.judge import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame

BLOCKADE = load("blockade")
START = BLOCKADE.rules.new({"starts": "warm"})
LOOKS = dict(BLOCKADE.table.appearance(START))
DOUBTFUL = {"d4": "blue medium 60%", "a2": "red large 80%"}


def begun(differing: dict[str, str], trigger: Trigger = Trigger.RESTED) -> Any:
    judged = JudgedGame(BLOCKADE)
    ruling = judged.begin(drawn(BLOCKADE, START, differing), {"starts": "warm"}, trigger=trigger)
    return judged, ruling


def quarter_turned(quarters: int) -> dict[str, str]:
    """The start after so many quarter turns clockwise."""
    looks = LOOKS
    for _ in range(quarters):
        looks = {f"{'abcde'[int(place[1]) - 1]}{5 - 'abcde'.index(place[0])}": look for place, look in looks.items()}
    return looks


def test_doubtful_squares_are_assumed_to_show_the_fixed_start_and_are_named() -> None:
    judged, ruling = begun(DOUBTFUL)
    assert ruling.verdict.kind is VerdictKind.SET_UP
    assert ruling.notes == (
        "I think a2 shows: red small. Please tell me if that is wrong.",
        "I think d4 shows: blue small. Please tell me if that is wrong.",
    )
    assert judged.belief == (START,)


def test_squares_misread_in_the_set_up_are_ignored_until_they_look_different() -> None:
    judged, _ = begun(DOUBTFUL)
    again = judged.consider(drawn(BLOCKADE, START, DOUBTFUL), Trigger.RESTED)
    assert again.verdict.kind is VerdictKind.UNCHANGED
    lifted = judged.consider(drawn(BLOCKADE, START, {**DOUBTFUL, "d4": "blue large"}), Trigger.RESTED)
    assert lifted.verdict.kind is VerdictKind.ILLEGAL
    assert lifted.verdict.places == ("d4",)


def test_squares_that_contradict_a_position_a_person_gave_are_ignored_until_they_look_different() -> None:
    judged, _ = begun({})
    darker = {"d4": "blue medium", "a2": "red large"}
    assert judged.consider(drawn(BLOCKADE, START, darker), Trigger.RESTED).verdict.kind is VerdictKind.ILLEGAL
    judged.correct((START,), unchanged=BLOCKADE.places)
    for _ in range(2):
        again = judged.consider(drawn(BLOCKADE, START, darker), Trigger.RESTED)
        assert again.verdict.kind is VerdictKind.UNCHANGED
        judged.correct((START,), unchanged=BLOCKADE.places)
    lifted = judged.consider(drawn(BLOCKADE, START, {**darker, "d4": "blue large"}), Trigger.RESTED)
    assert lifted.verdict.kind is VerdictKind.ILLEGAL
    assert lifted.verdict.places == ("d4",)


def test_a_square_that_clearly_shows_another_piece_is_a_fault() -> None:
    _, ruling = begun({**DOUBTFUL, "e3": "yellow large 99.9%"})
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert "e3 shows yellow large, and the game starts with a yellow small on top there." in ruling.verdict.sentence


@pytest.mark.parametrize(
    ("c3", "kind"),
    [("empty 80%", VerdictKind.AMBIGUOUS), ("empty 10%", VerdictKind.SET_UP), ("empty 99.99%", VerdictKind.ILLEGAL)],
)
def test_a_piece_is_not_assumed_where_the_place_clearly_shows_none(c3: str, kind: VerdictKind) -> None:
    _, ruling = begun({"c3": c3})
    assert ruling.verdict.kind is kind
    if kind is VerdictKind.ILLEGAL:
        assert ruling.verdict.places == ("c3",)


def test_a_board_with_too_many_doubtful_squares_is_not_taken_for_the_start() -> None:
    _, ruling = begun(dict.fromkeys(list(LOOKS)[:8], "blue medium 60%"), Trigger.DECLARED)
    assert ruling.verdict.kind is not VerdictKind.SET_UP


@pytest.mark.parametrize(("quarters", "by"), [(1, "a quarter turn"), (2, "half a turn"), (3, "a quarter turn")])
@pytest.mark.parametrize("doubtful", [{}, {"b3": "green large 70%"}])
def test_a_turned_board_is_reported_as_turned(quarters: int, by: str, doubtful: dict[str, str]) -> None:
    _, ruling = begun({**quarter_turned(quarters), **doubtful})
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert f"the start, but turned by {by}" in ruling.verdict.sentence


def test_a_missing_stack_and_a_missing_piece_are_named() -> None:
    _, bare = begun({"b4": "empty"})
    assert bare.verdict.sentence == (
        "b4 is empty, and the game starts with a red small on top there. Set b4 up with a red small on top."
    )
    _, lacking = begun({"b4": "red large"})
    assert lacking.verdict.sentence.startswith("b4 shows red large, and the game starts with a red small")


@pytest.mark.parametrize("looks", [dict.fromkeys(LOOKS, "black small"), dict.fromkeys(LOOKS, "empty")])
def test_a_table_set_up_for_another_game_is_reported(looks: dict[str, str]) -> None:
    _, ruling = begun(looks, Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert ruling.verdict.sentence.startswith("This does not look like the start of Blockade: most of its 25 squares")
    assert "./run pieces enrol" in ruling.verdict.sentence


def test_more_changed_tops_than_a_person_changes_at_once_are_asked_about() -> None:
    judged, _ = begun({})
    darker = {"d4": "blue medium", "a2": "red large"}
    assert judged.consider(drawn(BLOCKADE, START, darker), Trigger.RESTED).verdict.kind is VerdictKind.ILLEGAL
    asked = judged.consider(drawn(BLOCKADE, START, {**darker, "c2": "yellow medium"}), Trigger.RESTED)
    assert asked.verdict.kind is VerdictKind.AMBIGUOUS
    assert set(asked.verdict.places) == {"d4", "a2", "c2"}
    again = judged.consider(drawn(BLOCKADE, START, {}), Trigger.RESTED)
    assert again.verdict.kind in {VerdictKind.UNCHANGED, VerdictKind.PUT_RIGHT}


def test_an_answer_about_squares_holds_until_they_look_different() -> None:
    judged, _ = begun({})
    darker = {"d4": "blue medium", "a2": "red large", "c2": "yellow medium"}
    asked = judged.consider(drawn(BLOCKADE, START, darker), Trigger.RESTED)
    judged.correct((START,), asked.verdict.places)
    for _ in range(2):
        assert judged.consider(drawn(BLOCKADE, START, darker), Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    lifted = judged.consider(drawn(BLOCKADE, START, {**darker, "c2": "empty"}), Trigger.RESTED)
    assert (lifted.verdict.kind, lifted.verdict.places) == (VerdictKind.ILLEGAL, ("c2",))
