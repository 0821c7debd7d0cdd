"""The judge at the start of a game with sensors alone."""

from typing import Any

import pytest

from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.judge.sensor_readings import felt


def test_a_set_up_that_fits_the_usual_start_is_assumed_to_be_it_and_announced(deblockle: Any) -> None:
    looks = deblockle.table.appearance(deblockle.rules.new())
    judge = JudgedGame(deblockle)
    ruling = judge.begin(felt(deblockle, looks), {"starts": "either"})
    assert ruling.verdict.kind is VerdictKind.SET_UP
    assert deblockle.table.appearance(judge.belief[0]) == looks
    assert len(judge.belief) == 2
    assert any("./run table correct" in note and "star up" in note for note in ruling.notes)
    # Sensors don't show how the blocks are turned, so all four ways stay possible.
    assert {len(facings) for facings in deblockle.side_faces.facings(judge.belief[0]).values()} == {4}


def test_a_few_squares_without_a_sensor_are_assumed_as_in_the_usual_start(deblockle: Any) -> None:
    looks = deblockle.table.appearance(deblockle.rules.new())
    judge = JudgedGame(deblockle)
    ruling = judge.begin(felt(deblockle, looks, mute=["c3", "g4"]))
    assert ruling.verdict.kind is VerdictKind.SET_UP
    assert deblockle.table.appearance(judge.belief[0]) == looks
    assert any("can't sense c3 and g4" in note for note in ruling.notes)
    half = [place for place in deblockle.places if place[1] in "123"]
    judge = JudgedGame(deblockle)
    assert judge.begin(felt(deblockle, looks, mute=half)).verdict.kind is VerdictKind.CANNOT_SEE
    assert not judge.belief


def test_a_turned_set_up_is_recognized_although_a_square_has_no_sensor(diaballik: Any) -> None:
    looks = diaballik.table.appearance(diaballik.rules.new())
    columns, rows = "abcdefg", "1234567"
    turned = {
        f"{column}{row}": looks[f"{columns[int(row) - 1]}{rows[6 - columns.index(column)]}"]
        for column in columns
        for row in rows
    }
    judge = JudgedGame(diaballik)
    ruling = judge.begin(felt(diaballik, turned, mute=["d1"]), trigger=Trigger.DECLARED)
    assert "turned by a quarter turn" in ruling.verdict.sentence


@pytest.mark.parametrize(
    ("place", "look", "said"),
    [("c3", "empty", "I sense nothing on c3. Put one there"), ("g2", "gold block, x up", "a piece on g2. Take it off")],
)
def test_a_set_up_that_one_sensor_contradicts_is_asked_about(deblockle: Any, place: str, look: str, said: str) -> None:
    looks = {**deblockle.table.appearance(deblockle.rules.new()), place: look}
    judge = JudgedGame(deblockle)
    ruling = judge.begin(felt(deblockle, looks))
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert ruling.verdict.places == (place,)
    assert said in ruling.verdict.sentence
    assert not judge.belief


def test_two_pieces_missing_from_the_set_up_are_named(deblockle: Any) -> None:
    looks = {**deblockle.table.appearance(deblockle.rules.new()), "c3": "empty", "e7": "empty"}
    judge = JudgedGame(deblockle)
    ruling = judge.begin(felt(deblockle, looks))
    assert ruling.verdict.kind is VerdictKind.ILLEGAL
    assert {"c3", "e7"} & set(ruling.verdict.places)
    assert not judge.belief


def test_pieces_off_their_usual_start_squares_are_asked_about(deblockle: Any) -> None:
    looks = dict(deblockle.table.appearance(deblockle.rules.new()))
    looks["a4"], looks["c3"] = looks["c3"], "empty"
    judge = JudgedGame(deblockle)
    ruling = judge.begin(felt(deblockle, looks), anywhere=True)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert ruling.verdict.places == ("a4",)
    assert not judge.belief
    assert judge.begin(felt(deblockle, looks)).verdict.kind is VerdictKind.ILLEGAL
