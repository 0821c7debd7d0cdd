"""Blocks turned secretly: during a turn, or while a fault is put right."""

from dataclasses import replace
from typing import Any

import pytest

from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.judged_game import JudgedGame
from tests.referee.service_table import known_turn
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


@pytest.fixture
def played(deblockle: Any, judge: JudgedGame) -> Any:
    """The state after a turn of the block on e3, whose facing is known."""
    return deblockle.rules.apply(judge.belief[0], known_turn(deblockle, judge.belief[0], start="e3"))


def turned(deblockle: Any, state: Any) -> tuple[str, dict[str, str], dict[str, str]]:
    """Where gold's block of known facing stands, its sides towards the camera, and those after half a turn by hand."""
    at, (facing,) = next((at, each) for at, each in deblockle.side_faces.facings(state).items() if len(each) == 1)
    return (
        at,
        {"south": facing["south"], "east": facing["east"]},
        {"south": facing["north"], "east": facing["west"]},
    )


def test_a_played_block_whose_legible_sides_contradict_the_turn_is_named(
    judge: JudgedGame, deblockle: Any, make_reading: Any, played: Any
) -> None:
    at, _, wrong = turned(deblockle, played)
    reading = make_reading(deblockle.table.appearance(played), sides={at: wrong})
    verdict = judge.consider([reading], Trigger.DECLARED).verdict
    assert (verdict.kind, verdict.places[0]) == (VerdictKind.ILLEGAL, at)


def test_a_played_block_whose_sides_were_not_legible_is_asked_about_once_they_contradict_the_turn(
    judge: JudgedGame, deblockle: Any, make_reading: Any, played: Any
) -> None:
    at, _, wrong = turned(deblockle, played)
    looks = deblockle.table.appearance(played)
    assert judge.consider([make_reading(looks)], Trigger.DECLARED).verdict.kind is VerdictKind.ACCEPTED
    assert judge.belief == (played,), "what the roll tells of its sides is kept"
    assert judge.consider([make_reading(looks)], Trigger.DECLARED).verdict.kind is VerdictKind.UNCHANGED
    legible = make_reading(looks, sides={at: wrong})
    asked = judge.consider([legible], Trigger.DECLARED).verdict
    assert (asked.kind, asked.places) == (VerdictKind.AMBIGUOUS, (at,))
    assert asked.sentence.startswith(f"I can't tell how the gold block on {at} is turned.")
    assert judge.fault is None
    settled = judge.consider([legible], Trigger.DECLARED)
    assert settled.verdict.kind is VerdictKind.UNCHANGED
    assert settled.withdrawn == judge.belief
    assert [facing["south"] for facing in deblockle.side_faces.facings(judge.belief[0])[at]] == [wrong["south"]]
    assert judge.belief[0].to_move == played.to_move
    assert judge.consider([legible], Trigger.DECLARED).verdict.kind is VerdictKind.UNCHANGED


def test_a_played_block_whose_sides_were_read_later_counts_as_turned_after_that(
    judge: JudgedGame, deblockle: Any, make_reading: Any, played: Any
) -> None:
    at, right, wrong = turned(deblockle, played)
    looks = deblockle.table.appearance(played)
    judge.consider([make_reading(looks)], Trigger.DECLARED)
    assert (
        judge.consider([make_reading(looks, sides={at: right})], Trigger.GLANCE).verdict.kind is VerdictKind.UNCHANGED
    )
    verdict = judge.consider([make_reading(looks, sides={at: wrong})], Trigger.RESTED).verdict
    assert [breach.rule for breach in verdict.breaches] == ["block-turned-in-place"]


def test_the_next_turn_counts_as_seen_if_a_block_that_was_not_legible_before_faces_another_way(
    judge: JudgedGame, deblockle: Any, make_reading: Any, played: Any
) -> None:
    at, _, wrong = turned(deblockle, played)
    judge.consider([make_reading(deblockle.table.appearance(played))], Trigger.DECLARED)
    after = deblockle.rules.apply(played, known_turn(deblockle, played, start="c5", top="stop"))
    legible = make_reading(deblockle.table.appearance(after), sides={at: wrong})
    asked = judge.consider([legible], Trigger.DECLARED).verdict
    assert (asked.kind, asked.places) == (VerdictKind.AMBIGUOUS, (at,))
    ruling = judge.consider([legible], Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert ruling.withdrawn
    assert [facing["south"] for facing in deblockle.side_faces.facings(judge.belief[0])[at]] == [wrong["south"]]


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
