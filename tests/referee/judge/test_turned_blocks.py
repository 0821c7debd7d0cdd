"""Blocks turned secretly: during a turn, or while a fault is put right."""

from dataclasses import replace
from typing import Any

import pytest

from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import Reading

START = {
    "c1": "gold block, slider up",
    "e1": "gold block, cross up",
    "c3": "gold block, stop up",
    "e3": "gold block, x up",
    "c5": "teal block, slider up",
    "e5": "teal block, cross up",
    "c7": "teal block, star up",
    "e7": "teal block, hoops up",
}
SEEN = {"e3": {"south": "star"}}
TURNED = {"e3": {"south": "slider", "east": "star"}}


@pytest.fixture
def start(deblockle: Any) -> dict[str, str]:
    return {place: START.get(place, "empty") for place in deblockle.places}


@pytest.fixture
def judge(deblockle: Any, make_reading: Any, start: dict[str, str]) -> JudgedGame:
    judge = JudgedGame(deblockle)
    judge.begin([make_reading(start, sides=SEEN)])
    return judge


@pytest.fixture
def after_turn(deblockle: Any, judge: JudgedGame) -> dict[str, str]:
    state = judge.belief[0]
    turn = next(one for one in deblockle.rules.legal_turns(state) if one.start == "c1" and one.top == "stop")
    return dict(deblockle.table.appearance(deblockle.rules.apply(state, turn)))


def test_a_turn_is_asked_about_if_another_block_was_turned_too(
    judge: JudgedGame, make_reading: Any, after_turn: dict[str, str]
) -> None:
    before = judge.belief
    verdict = judge.consider([make_reading(after_turn, sides=TURNED)], Trigger.DECLARED).verdict
    assert verdict.kind is VerdictKind.AMBIGUOUS
    assert verdict.places == ("e3",)
    assert "e3" in verdict.sentence
    assert "press the button again" in verdict.sentence
    assert judge.belief == before


def test_the_turn_counts_once_the_other_block_is_turned_back(
    judge: JudgedGame, make_reading: Any, after_turn: dict[str, str]
) -> None:
    judge.consider([make_reading(after_turn, sides=TURNED)], Trigger.DECLARED)
    verdict = judge.consider([make_reading(after_turn, sides=SEEN)], Trigger.DECLARED).verdict
    assert verdict.kind is VerdictKind.ACCEPTED


def test_a_second_press_says_that_the_sides_were_misread(
    judge: JudgedGame, deblockle: Any, make_reading: Any, after_turn: dict[str, str]
) -> None:
    reading = make_reading(after_turn, sides=TURNED)
    judge.consider([reading], Trigger.DECLARED)
    ruling = judge.consider([reading], Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert ruling.withdrawn
    facings = deblockle.side_faces.facings(judge.belief[0])["e3"]
    assert [facing["south"] for facing in facings] == ["slider"]


def test_a_block_put_back_turned_is_a_new_fault(judge: JudgedGame, make_reading: Any, start: dict[str, str]) -> None:
    moved = {**start, "e3": "empty", "f5": START["e3"]}
    assert judge.consider([make_reading(moved)], Trigger.DECLARED).verdict.kind is VerdictKind.ILLEGAL
    verdict = judge.consider([make_reading(start, sides=TURNED)], Trigger.GLANCE).verdict
    assert verdict.kind is VerdictKind.ILLEGAL
    assert [breach.rule for breach in verdict.breaches] == ["block-turned-in-place"]
    assert judge.consider([make_reading(start, sides=SEEN)], Trigger.GLANCE).verdict.kind is VerdictKind.PUT_RIGHT


def doubtful_side(reading: Reading, place: str, side: str, symbol: str) -> Reading:
    """The reading with one side face whose symbol leads by slightly under four log-odds."""
    symbols = {name: 0.9 if name == symbol else 0.02 for name in ("star", "stop", "cross", "x", "slider", "hoops")}
    return replace(reading, places={**reading.places, place: replace(reading.places[place], sides={side: symbols})})


@pytest.mark.parametrize("played", [False, True])
def test_a_block_that_may_have_been_turned_is_asked_about_and_a_second_press_settles_it(
    played: bool,
    judge: JudgedGame,
    deblockle: Any,
    make_reading: Any,
    start: dict[str, str],
    after_turn: dict[str, str],
) -> None:
    reading = doubtful_side(make_reading(after_turn if played else start), "e3", "south", "slider")
    assert judge.consider([reading], Trigger.GLANCE).verdict.kind in {VerdictKind.UNCHANGED, VerdictKind.NOT_FINISHED}
    verdict = judge.consider([reading], Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.places) == (VerdictKind.AMBIGUOUS, ("e3",))
    ruling = judge.consider([reading], Trigger.DECLARED)
    assert ruling.verdict.kind is (VerdictKind.ACCEPTED if played else VerdictKind.UNCHANGED)
    assert ruling.withdrawn
    assert {facing["south"] for facing in deblockle.side_faces.facings(judge.belief[0])["e3"]} == {"slider"}
    assert judge.consider([reading], Trigger.DECLARED).verdict.kind is VerdictKind.UNCHANGED


def test_a_block_put_back_with_doubtful_sides_is_asked_about_and_settled(
    judge: JudgedGame, make_reading: Any, start: dict[str, str]
) -> None:
    moved = {**start, "e3": "empty", "f5": START["e3"]}
    judge.consider([make_reading(moved)], Trigger.DECLARED)
    reading = doubtful_side(make_reading(start), "e3", "south", "slider")
    assert judge.consider([reading], Trigger.GLANCE).verdict.kind is VerdictKind.AMBIGUOUS
    assert judge.consider([reading], Trigger.DECLARED).verdict.kind is VerdictKind.PUT_RIGHT
    assert judge.fault is None


def test_sides_seen_after_the_next_players_touch_do_not_count_for_the_turn_before(
    deblockle: Any, make_reading: Any, start: dict[str, str]
) -> None:
    judge = JudgedGame(deblockle)
    judge.begin([make_reading(start)])
    first = next(one for one in deblockle.rules.legal_turns(judge.belief[0]) if one.start == "c1" and one.top == "stop")
    middle = deblockle.rules.apply(judge.belief[0], first)
    known = {"c5": {"south": "star"}}
    judge.consider([make_reading(deblockle.table.appearance(middle), sides=known)], Trigger.TOUCH)
    second = next(one for one in deblockle.rules.legal_turns(middle) if one.start == "e5" and one.top == "stop")
    both = deblockle.table.appearance(deblockle.rules.apply(middle, second))
    turned = {**known, "e7": {"south": "x"}}
    ruling = judge.consider([make_reading(both, sides=turned)], Trigger.TOUCH)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    facings = deblockle.side_faces.facings(judge.belief[0])
    assert [facing["south"] for facing in facings["c5"]] == ["star"]
    assert len(facings["e7"]) == 4


def test_a_turn_that_was_taken_back_waits_no_longer(
    deblockle: Any, make_reading: Any, start: dict[str, str], judge: JudgedGame, after_turn: dict[str, str]
) -> None:
    judge.consider([make_reading(after_turn)], Trigger.TOUCH)
    judge.consider([make_reading(start)], Trigger.TOUCH)
    three = {**after_turn, "e5": "empty", "e7": "empty", "a5": START["e5"], "b6": START["e7"]}
    ruling = judge.consider([make_reading(three)], Trigger.TOUCH_RESTED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ILLEGAL]


def test_two_quick_turns_after_one_that_waits_may_bring_its_piece_back(deblockle: Any, make_reading: Any) -> None:
    state = deblockle.notation.parse_state(
        "teal c2:T.hoops/north=x a4:T.cross/north=hoops d5:G.cross/north=stop g7:G.stop/north=slider removed=0,0"
    )
    judge = JudgedGame(deblockle, belief=[state])
    states = [state]
    for text in ("c2-c3=cross-c2", "d5-e5=hoops-d5", "c2-c1=hoops-c2"):
        states.append(deblockle.rules.apply(states[-1], deblockle.notation.parse_turn(states[-1], text)))

    def seen(state: Any) -> Any:
        facings = {place: dict(ways[0]) for place, ways in deblockle.side_faces.facings(state).items()}
        south = {place: {"south": facing["south"]} for place, facing in facings.items()}
        return make_reading(deblockle.table.appearance(state), sides=south)

    waits = judge.consider([seen(states[1])], Trigger.TOUCH)
    assert waits.verdict.kind is VerdictKind.NOT_FINISHED
    ruling = judge.consider([seen(states[3])], Trigger.TOUCH)
    assert next(verdict.turns for verdict in ruling.verdicts if verdict.turns) == ("c2-c3=cross-c2",)


COVERED = "teal c2:T.hoops/north=x a4:T.cross/north=hoops d5:G.cross/north=stop g7:G.stop/north=slider removed=0,0"


def waiting_under_a_coin(deblockle: Any, make_reading: Any) -> tuple[JudgedGame, Any]:
    """Teal's block was seen returning to its square; give the judge and the state after that turn."""
    state = deblockle.notation.parse_state(COVERED)
    judge = JudgedGame(deblockle, belief=[state])
    played = deblockle.rules.apply(state, deblockle.notation.parse_turn(state, "c2-c3=cross-c2"))
    waits = judge.consider([make_reading(deblockle.table.appearance(played))], Trigger.TOUCH)
    assert waits.verdict.kind is VerdictKind.NOT_FINISHED
    return judge, played


def test_covering_the_piece_of_a_waiting_turn_does_not_undo_it(deblockle: Any, make_reading: Any) -> None:
    judge, played = waiting_under_a_coin(deblockle, make_reading)
    judge.consider([make_reading(deblockle.table.appearance(played), hidden={"c2"})], Trigger.TOUCH_RESTED)
    golds = deblockle.rules.apply(
        played, next(turn for turn in deblockle.rules.legal_turns(played) if turn.start == "d5")
    )
    ruling = judge.consider([make_reading(deblockle.table.appearance(golds), hidden={"c2"})], Trigger.TOUCH)
    assert next(verdict.turns for verdict in ruling.verdicts if verdict.turns) == ("c2-c3=cross-c2",)


def test_a_fault_during_a_covered_waiting_turn_is_the_next_players(deblockle: Any, make_reading: Any) -> None:
    judge, played = waiting_under_a_coin(deblockle, make_reading)
    looks = deblockle.table.appearance(played)
    wrong = {**looks, "d5": "empty", "a7": looks["d5"]}
    ruling = judge.consider([make_reading(wrong, hidden={"c2"}, sureness=0.999)], Trigger.TOUCH_RESTED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED, VerdictKind.ILLEGAL]
    assert ruling.verdicts[0].turns == ("c2-c3=cross-c2",)
