"""Blockade's set-up: squares read doubtfully, a turned board, missing pieces, another game."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.registry import load
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import PlacePicture, PlaceReading, Reading

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


MIDDLE = BLOCKADE.notation.parse_state(
    "cool roll=1,1 a1:CL+YMMMMM b1:GLSS c1:GLS d1:GLS e1:CL+BMMMMM a2:RLSS b2:GL c2:YL d2:YLSS e2:YLS a3:RL b3:GLS "
    "c3:CL d3:BLS e3:YLS a4:RLS b4:RLS c4:RLS d4:BL e4:YLS a5:CL+GMMMMM b5:BLS c5:BL d5:BLSSS e5:CL+RMMMMM"
)
"""A state in which d5-d3 changes no top."""
HEIGHTS = {"d5": 4, "d3": 2}
"""The heights of these stacks in that state."""


def with_pictures(touched: Collection[str]) -> list[Reading]:
    """The middle of a game, with a picture of each stack; those of touched ones differ from the others'."""
    noise, other = (np.random.default_rng(seed).normal(0.0, 1.0, (30, 30)).astype(np.float32) for seed in (1, 2))

    def seen(place: str, one: PlaceReading, number: int) -> PlaceReading:
        usual = noise + np.float32(0.03) * np.roll(other, number + BLOCKADE.places.index(place))
        picture = other if place in touched else usual
        height = HEIGHTS.get(place, 1)
        heights = {} if height == 1 else {count: 0.9998 if count == height else 0.0001 for count in range(2, 5)}
        return replace(one, picture=PlacePicture(picture, (15.0, 15.0)), heights=heights)

    readings = drawn(BLOCKADE, MIDDLE)
    return [
        replace(reading, places={place: seen(place, one, reading.sequence) for place, one in reading.places.items()})
        for reading in readings
    ]


@pytest.mark.parametrize(
    ("trigger", "kind"), [(Trigger.RESTED, VerdictKind.NOT_FINISHED), (Trigger.DECLARED, VerdictKind.ACCEPTED)]
)
def test_stacks_that_were_only_touched_are_no_turn_until_a_player_says_so(trigger: Trigger, kind: VerdictKind) -> None:
    judged = JudgedGame(BLOCKADE, belief=(MIDDLE,))
    judged.consider(with_pictures(()), Trigger.RESTED)
    ruling = judged.consider(with_pictures(HEIGHTS), trigger)
    assert ruling.verdict.kind is kind
    assert ruling.verdict.sentence.startswith("Cool moves nothing")
