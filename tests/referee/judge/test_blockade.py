"""Blockade's set-up as the judge takes it: what is read doubtfully, turned, short of pieces, or of another game."""

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


def test_places_that_are_read_doubtfully_are_taken_for_the_only_start_there_is_and_named() -> None:
    judged, ruling = begun(DOUBTFUL)
    assert ruling.verdict.kind is VerdictKind.SET_UP
    assert ruling.notes == (
        "I think a2 shows: red small. Please tell me if that is wrong.",
        "I think d4 shows: blue small. Please tell me if that is wrong.",
    )
    assert judged.belief == (START,)


def test_what_was_misread_in_the_set_up_is_no_news_until_it_looks_another_way() -> None:
    judged, _ = begun(DOUBTFUL)
    again = judged.consider(drawn(BLOCKADE, START, DOUBTFUL), Trigger.RESTED)
    assert again.verdict.kind is VerdictKind.UNCHANGED
    lifted = judged.consider(drawn(BLOCKADE, START, {**DOUBTFUL, "d4": "blue large"}), Trigger.RESTED)
    assert lifted.verdict.kind is VerdictKind.ILLEGAL
    assert lifted.verdict.places == ("d4",)


def test_what_looks_otherwise_than_a_whole_position_that_a_person_gave_is_no_news_until_it_looks_another_way() -> None:
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


def test_a_place_that_surely_shows_something_else_is_a_fault() -> None:
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


def test_a_board_of_which_too_much_is_doubtful_is_not_taken_for_the_start() -> None:
    _, ruling = begun(dict.fromkeys(list(LOOKS)[:8], "blue medium 60%"), Trigger.DECLARED)
    assert ruling.verdict.kind is not VerdictKind.SET_UP


@pytest.mark.parametrize(("quarters", "by"), [(1, "a quarter turn"), (2, "half a turn"), (3, "a quarter turn")])
@pytest.mark.parametrize("doubtful", [{}, {"b3": "green large 70%"}])
def test_a_board_that_is_turned_is_said_to_be(quarters: int, by: str, doubtful: dict[str, str]) -> None:
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
def test_a_table_of_another_game_or_set_is_said_to_be_none_of_this_one(looks: dict[str, str]) -> None:
    _, ruling = begun(looks, Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert ruling.verdict.sentence.startswith("This does not look like the start of Blockade: most of its 25 squares")
    assert "./run pieces enrol" in ruling.verdict.sentence


def test_more_tops_that_look_otherwise_than_anybody_exchanges_at_once_are_asked_about() -> None:
    judged, _ = begun({})
    darker = {"d4": "blue medium", "a2": "red large"}
    assert judged.consider(drawn(BLOCKADE, START, darker), Trigger.RESTED).verdict.kind is VerdictKind.ILLEGAL
    asked = judged.consider(drawn(BLOCKADE, START, {**darker, "c2": "yellow medium"}), Trigger.RESTED)
    assert asked.verdict.kind is VerdictKind.AMBIGUOUS
    assert set(asked.verdict.places) == {"d4", "a2", "c2"}
    again = judged.consider(drawn(BLOCKADE, START, {}), Trigger.RESTED)
    assert again.verdict.kind in {VerdictKind.UNCHANGED, VerdictKind.PUT_RIGHT}


def test_what_a_person_says_stands_on_squares_that_were_asked_about_holds_until_they_look_another_way() -> None:
    judged, _ = begun({})
    darker = {"d4": "blue medium", "a2": "red large", "c2": "yellow medium"}
    asked = judged.consider(drawn(BLOCKADE, START, darker), Trigger.RESTED)
    judged.correct((START,), asked.verdict.places)
    for _ in range(2):
        assert judged.consider(drawn(BLOCKADE, START, darker), Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    lifted = judged.consider(drawn(BLOCKADE, START, {**darker, "c2": "empty"}), Trigger.RESTED)
    assert (lifted.verdict.kind, lifted.verdict.places) == (VerdictKind.ILLEGAL, ("c2",))
