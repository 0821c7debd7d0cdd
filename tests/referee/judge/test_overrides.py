"""A person's corrections against the camera."""

import math
from typing import Any

import pytest

from referee.judge.belief import Override
from referee.judge.pooled_reading import PooledPlace, PooledReading
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.judge.sensor_readings import after, felt, known_start
from vision.reading import Reading

BELIEVED = {"c3": "gold block, x up", "c4": "empty"}


def seen(hidden: frozenset[str] = frozenset(), **looks: str) -> PooledReading:
    places = {
        place: PooledPlace({look: math.log(0.99), "something else": math.log(0.01)}) for place, look in looks.items()
    }
    return PooledReading(places, hidden, 0.0, 0)


def test_a_place_that_looks_as_the_person_said_is_judged_normally() -> None:
    word = Override(frozenset({"c3"})).after_look(BELIEVED, seen(c3="gold block, x up", c4="empty"))
    assert word == Override()


def test_a_place_that_contradicts_the_person_is_ignored_until_it_shows_a_third_look() -> None:
    misread = seen(c3="gold block, cross up", c4="empty")
    word = Override(frozenset({"c3"})).after_look(BELIEVED, misread)
    assert word.ignored == {"c3"}
    for look in (misread, seen(c3="gold block, x up", c4="empty"), misread):
        word = word.after_look(BELIEVED, look)
        assert word.ignored == {"c3"}
    assert word.after_look(BELIEVED, seen(c3="empty", c4="empty")).ignored == frozenset()


def test_a_corrected_place_that_is_hidden_is_checked_once_it_is_visible() -> None:
    hidden = seen(frozenset({"c3"}), c4="empty")
    word = Override(frozenset({"c3"})).after_look(BELIEVED, hidden)
    assert word == Override(frozenset({"c3"}))
    word = word.after_look(BELIEVED, seen(c3="empty", c4="empty"))
    assert word.ignored == {"c3"}
    assert word.after_look(BELIEVED, hidden).ignored == {"c3"}


def test_a_place_that_the_person_did_not_mention_is_judged_normally() -> None:
    word = Override(frozenset({"c3"})).after_look(BELIEVED, seen(c3="gold block, x up", c4="teal block, x up"))
    assert word.ignored == frozenset()


def test_a_turn_on_a_place_ends_the_override_there() -> None:
    word = Override(frozenset({"c4"}), {"c3": "empty", "d1": "empty"})
    assert word.without(["c3", "c4"]) == Override(frozenset(), {"d1": "empty"})


@pytest.fixture
def told(deblockle: Any, make_reading: Any) -> JudgedGame:
    """A judge that could not see c1 when a person said which piece is there."""
    state = known_start(deblockle)
    judge = JudgedGame(deblockle, belief=(state,))
    looks = deblockle.table.appearance(state)
    under_a_coin = [make_reading(looks, hidden=("c1",))]
    assert judge.consider(under_a_coin, Trigger.RESTED).verdict.kind is VerdictKind.CANNOT_SEE
    judge.correct((state,), ("c1",))
    assert judge.consider(under_a_coin, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    return judge


@pytest.fixture
def comes_back(deblockle: Any, told: JudgedGame) -> str:
    """A turn of c1's block that ends on c1 with another symbol up."""
    turns: list[str] = [deblockle.notation.format_turn(turn) for turn in deblockle.rules.legal_turns(told.belief[0])]
    return next(text for text in turns if text.startswith("c1-") and text.endswith("-c1"))


def test_a_turn_ending_on_a_place_corrected_while_hidden_is_asked_about_and_a_press_accepts_it(
    deblockle: Any, make_reading: Any, told: JudgedGame, comes_back: str
) -> None:
    _, looks = after(deblockle, told.belief[0], comes_back)
    asked = told.consider([make_reading(looks)], Trigger.RESTED)
    assert asked.verdict.kind is VerdictKind.AMBIGUOUS
    assert asked.verdict.places == ("c1",)
    assert asked.verdict.seen == {"c1": looks["c1"]}
    assert "from what I was told while I could not see it" in asked.verdict.sentence
    assert told.consider([make_reading(looks)], Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    accepted = told.consider([make_reading(looks)], Trigger.DECLARED)
    assert [text.endswith("-c1") for text in accepted.verdict.turns] == [True]
    assert deblockle.table.appearance(told.belief[0]) == looks


def test_an_override_holds_while_a_turn_is_played_elsewhere(
    deblockle: Any, make_reading: Any, told: JudgedGame, comes_back: str
) -> None:
    """A press after another turn doesn't answer the question about c1: the camera may be wrong there."""
    _, misread = after(deblockle, told.belief[0], comes_back)
    assert told.consider([make_reading(misread)], Trigger.RESTED).verdict.kind is VerdictKind.AMBIGUOUS
    _, looks = after(deblockle, told.belief[0], "e1-d1=x-c2")
    accepted = told.consider([make_reading({**looks, "c1": misread["c1"]})], Trigger.DECLARED)
    assert accepted.verdict.turns == ("e1-d1=x-c2",)
    assert deblockle.table.appearance(told.belief[0])["c1"] == looks["c1"]


def test_a_glance_asks_nothing_and_a_place_corrected_in_sight_is_never_asked_about(
    deblockle: Any, make_reading: Any, told: JudgedGame, comes_back: str
) -> None:
    _, misread = after(deblockle, told.belief[0], comes_back)
    assert told.consider([make_reading(misread)], Trigger.GLANCE).verdict.kind is VerdictKind.UNCHANGED
    told.correct(told.belief, ("c1",))
    for trigger in (Trigger.RESTED, Trigger.DECLARED, Trigger.DECLARED):
        assert told.consider([make_reading(misread)], trigger).verdict.kind is VerdictKind.UNCHANGED


@pytest.mark.parametrize("by_sensors", [False, True])
def test_confirming_the_set_up_does_not_hide_a_change_before_the_next_look(
    deblockle: Any, make_reading: Any, by_sensors: bool
) -> None:
    """A person confirms the blocks, and one is taken away before the table has rested again."""

    def look(looks: dict[str, str]) -> list[Reading]:
        return felt(deblockle, looks) if by_sensors else [make_reading(looks)]

    start = dict(deblockle.table.appearance(deblockle.rules.new()))
    judge = JudgedGame(deblockle)
    assert judge.begin(look(start)).verdicts[0].kind is VerdictKind.SET_UP
    judge.correct(judge.belief, ("e1",))
    ruling = judge.consider(look({**start, "e1": "empty"}), Trigger.DECLARED)
    assert ruling.verdict.kind is (VerdictKind.AMBIGUOUS if by_sensors else VerdictKind.ILLEGAL)
    if by_sensors:
        # The changed square comes first, and only some of the squares a rule depends on are listed.
        assert ruling.verdict.sentence.startswith("I am not sure about 20 squares: e1, ")
        assert " more. " in ruling.verdict.sentence
    assert "e1" in ruling.verdict.places
    assert judge.against_camera == ()


def test_an_override_of_one_place_leaves_those_of_others(deblockle: Any, make_reading: Any) -> None:
    state = known_start(deblockle)
    looks = deblockle.table.appearance(state)
    judge = JudgedGame(deblockle, belief=(state,))
    misread = [make_reading({**looks, "c1": "empty"})]
    judge.consider(misread, Trigger.GLANCE)
    judge.correct((state,), ("c1",))
    assert judge.consider(misread, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    assert judge.against_camera == ("c1",)
    judge.correct((state,), ("d1",))
    assert judge.consider(misread, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    assert judge.against_camera == ("c1",)
