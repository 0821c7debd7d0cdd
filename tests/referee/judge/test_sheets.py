"""Sheets: passing on a loop, and dice that distinguish turns with the same marks."""

from dataclasses import replace
from typing import Any

import pytest

from engine.registry import load
from engine.showing import silent_turns
from engine.support.chance import format_roll
from engine.values import Roll
from referee.judge.belief import Belief
from referee.judge.pooled_reading import PooledPlace
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from referee.session.ports import ServiceSettings
from referee.session.view import TableView
from tests.referee.judge.drawn import drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import DieReading, PlaceReading, RollReading

NUMBER_DROP: Any = load("number-drop")
BLOKUS: Any = load("blokus-dice")


def rolled(*faces: str) -> Any:
    """A two-player position of Number Drop: one digit each, and this roll."""
    state = NUMBER_DROP.rules.new()
    state = NUMBER_DROP.dice.rolled(state, NUMBER_DROP.dice.possible_rolls(state)[0].roll)
    for player in ("p1", "p2"):
        state = NUMBER_DROP.rules.apply(state, NUMBER_DROP.notation.parse_turn(state, f"g1={player[1]}", player))
    return NUMBER_DROP.dice.rolled(state, Roll(faces))


def may_loop(dropped: int = 2) -> Any:
    """A two-player position in which this many have dropped three equal digits side by side and may draw a loop."""
    state = rolled("1", "1", "1", "*", "I")
    for player in ("p1", "p2")[:dropped]:
        turn = NUMBER_DROP.notation.parse_turn(state, "a1=1,b1=1,c1=1,d1=1", player)
        state = NUMBER_DROP.rules.apply(state, turn)
    return state


def test_a_press_without_anything_new_means_that_nobody_draws_a_loop() -> None:
    state = may_loop()
    assert [turn.player for turn in silent_turns(NUMBER_DROP, state)] == ["p1", "p2"]
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    ruling = judged.consider(drawn(NUMBER_DROP, state), Trigger.DECLARED)
    assert ruling.verdict.kind is VerdictKind.ACCEPTED
    assert [step.turn.player for step in ruling.steps] == ["p1", "p2"]
    assert NUMBER_DROP.awaits_roll(judged.belief[0])


def test_a_new_roll_means_that_nobody_draws_a_loop() -> None:
    state = may_loop()
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    names = {"1": "1", "2": "1", "3": "1", "4": "3", "5": "I"}
    lying = roll_of(names, 0.0)
    assert judged.consider(with_dice(state, lying), Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    ruling = judged.consider(with_dice(state, roll_of({**names, "2": "4", "3": "5"}, 300.0)), Trigger.RESTED)
    assert [step.turn.player for step in ruling.steps] == ["p1", "p2"]
    assert [format_roll(roll.roll) for roll in ruling.rolls] == ["1,3,4,5,I"]


def test_dice_that_are_no_roll_yet_leave_time_for_a_loop() -> None:
    state = may_loop()
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    judged.consider(with_dice(state, roll_of({"1": "1", "2": "1", "3": "1", "4": "3", "5": "I"}, 0.0)), Trigger.RESTED)
    ruling = judged.consider(with_dice(state, roll_of({"1": "1", "2": "4"}, 300.0)), Trigger.RESTED)
    assert (ruling.steps, ruling.rolls, judged.belief) == ((), (), (state,))


def roll_of(faces: dict[str, str], at_mm: float) -> RollReading:
    dice = (DieReading(at_mm + 30.0 * number, 0.0, {face: 0.99}) for number, face in enumerate(faces.values()))
    return RollReading("tray", tuple(dice))


def with_dice(state: Any, rolled: RollReading) -> list[Any]:
    return [replace(reading, rolls=(rolled,)) for reading in drawn(NUMBER_DROP, state)]


@pytest.mark.parametrize("trigger", [Trigger.RESTED, Trigger.GLANCE])
def test_without_a_press_everybody_may_still_draw_a_loop(trigger: Trigger) -> None:
    state = may_loop()
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    assert judged.consider(drawn(NUMBER_DROP, state), trigger).verdict.kind is VerdictKind.UNCHANGED
    assert judged.belief == (state,)


def test_a_press_does_not_end_a_turn_in_which_somebody_has_to_drop() -> None:
    state = may_loop(dropped=1)
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    ruling = judged.consider(drawn(NUMBER_DROP, state), Trigger.DECLARED)
    assert (ruling.verdict.kind, ruling.steps) == (VerdictKind.UNCHANGED, ())


def test_a_loop_is_accepted_and_the_other_player_passes() -> None:
    state = may_loop()
    loop = {f"p2.{column}1": "digit 1 circled" for column in "abc"}
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    ruling = judged.consider(drawn(NUMBER_DROP, state, loop), Trigger.DECLARED)
    assert [step.turn.player for step in ruling.steps] == ["p2"]
    ruling = judged.consider(drawn(NUMBER_DROP, judged.belief[0]), Trigger.DECLARED)
    assert [step.turn.player for step in ruling.steps] == ["p1"]
    assert NUMBER_DROP.scores(judged.belief[0])["p2"] == 3


@pytest.mark.parametrize(("seen", "is_accepted"), [("digit 7 circled", True), ("digit 4 circled", False)])
def test_a_loop_around_a_digit_that_a_person_named_is_accepted_if_the_digit_looks_as_before(
    seen: str, is_accepted: bool
) -> None:
    state = may_loop()
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    misread = drawn(NUMBER_DROP, state, {"p2.a1": "digit 7"})
    judged.consider(misread, Trigger.RESTED)
    judged.correct((state,), ("p2.a1",))
    assert judged.consider(misread, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    loop = drawn(NUMBER_DROP, state, {"p2.a1": seen, "p2.b1": "digit 1 circled", "p2.c1": "digit 1 circled"})
    judged.consider(loop, Trigger.GLANCE)
    ruling = judged.consider(loop, Trigger.DECLARED)
    assert [step.turn.player for step in ruling.steps] == ["p2"] * is_accepted
    if is_accepted:
        assert judged.consider(loop, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED


def read_as(state: Any, place: str, shares: dict[str, float], differing: dict[str, str] | None = None) -> list[Any]:
    """Readings of a table on which one place is read with these probabilities."""
    shown = PlaceReading(shares)
    return [
        replace(reading, places={**reading.places, place: shown}) for reading in drawn(NUMBER_DROP, state, differing)
    ]


def told_of_a_doubtful_digit() -> JudgedGame:
    """A game in which a person named the 1 on p2.a1, which looks more like a 7 or a 4."""
    state = may_loop()
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    doubtful = read_as(state, "p2.a1", {"digit 7": 0.5, "digit 4": 0.3, "digit 1": 0.2})
    judged.consider(doubtful, Trigger.RESTED)
    judged.correct((state,), ("p2.a1",))
    assert judged.consider(doubtful, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    return judged


def test_a_doubtful_digit_that_a_person_named_may_be_read_otherwise_later() -> None:
    judged = told_of_a_doubtful_digit()
    (state,) = judged.belief
    later = read_as(state, "p2.a1", {"digit 4": 0.7, "digit 7": 0.29, "digit 1": 0.005})
    assert judged.consider(later, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED
    shares = {"digit 4 circled": 0.7, "digit 7 circled": 0.29, "digit 1 circled": 0.005}
    loop = read_as(state, "p2.a1", shares, {"p2.b1": "digit 1 circled", "p2.c1": "digit 1 circled"})
    judged.consider(loop, Trigger.GLANCE)
    assert [step.turn.player for step in judged.consider(loop, Trigger.DECLARED).steps] == ["p2"]
    assert judged.consider(loop, Trigger.RESTED).verdict.kind is VerdictKind.UNCHANGED


@pytest.mark.parametrize("is_told", [True, False])
def test_a_doubtful_digit_is_not_asked_about_after_a_person_named_it(is_told: bool) -> None:
    judged = told_of_a_doubtful_digit()
    believed = judged.all_believed if is_told else Belief.of(judged.belief)
    (reading, _) = read_as(judged.belief[0], "p2.a1", {"digit 4": 0.6, "digit 7": 0.3, "digit 1": 0.1})
    view, asked = TableView(judged.context, ServiceSettings(stall_s=3.0)), []
    for time_s in range(6):
        view.add(replace(reading, time_s=float(time_s)))
        asked.append(view.stall_question(believed))
    assert [one.places for one in asked if one is not None] == [("p2.a1",)] * (not is_told)


def dropped_with_a_doubtful_digit() -> JudgedGame:
    """A game in which p1 has dropped 1, 1, 1, 2, whose first digit looks nearly as much like a 7."""
    state, written = rolled("1", "1", "1", "2", "I"), {"p1.b1": "digit 1", "p1.c1": "digit 1", "p1.d1": "digit 2"}
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    unclear = read_as(state, "p1.a1", {"digit 1": 0.6, "digit 7": 0.38}, written)
    assert judged.consider(unclear, Trigger.DECLARED).verdict.kind is VerdictKind.ACCEPTED
    return judged


@pytest.mark.parametrize(
    ("shares", "kind"),
    [
        ({"digit 7": 0.92, "digit 1": 0.06}, VerdictKind.UNCHANGED),
        ({"digit 7": 0.999, "digit 1": 0.0001}, VerdictKind.UNCHANGED),
        ({"digit 4": 0.92, "digit 1": 0.06}, VerdictKind.AMBIGUOUS),
        ({"digit 4": 0.999, "digit 1": 0.0001}, VerdictKind.ILLEGAL),
        ({"empty": 0.999, "digit 1": 0.0001}, VerdictKind.ILLEGAL),
    ],
)
def test_a_digit_that_was_doubtful_may_be_read_otherwise_later(shares: dict[str, float], kind: VerdictKind) -> None:
    judged = dropped_with_a_doubtful_digit()
    ruling = judged.consider(read_as(judged.belief[0], "p1.a1", shares), Trigger.RESTED)
    assert ruling.verdict.kind is kind


@pytest.mark.parametrize(("circled", "is_accepted"), [("digit 7 circled", True), ("digit 4 circled", False)])
def test_a_loop_around_a_digit_that_was_doubtful_is_accepted(circled: str, is_accepted: bool) -> None:
    judged = dropped_with_a_doubtful_digit()
    loop = {f"p1.{column}1": "digit 1 circled" for column in "bc"}
    shown = read_as(judged.belief[0], "p1.a1", {circled: 0.92, "digit 1 circled": 0.04}, loop)
    ruling = judged.consider(shown, Trigger.DECLARED)
    assert [step.turn.player for step in ruling.steps] == ["p1"] * is_accepted


@pytest.mark.parametrize("dropped", [0, 1])
def test_a_shape_and_the_loop_after_it_may_be_seen_together(dropped: int) -> None:
    state = may_loop(dropped)
    looks = {f"p2.{column}1": "digit 1 circled" for column in "abc"} | {"p2.d1": "digit 1"}
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    ruling = judged.consider(drawn(NUMBER_DROP, state, looks), Trigger.DECLARED)
    assert [(step.turn.player, step.turn.places) for step in ruling.steps] == [
        ("p2", ("p2.a1", "p2.b1", "p2.c1", "p2.d1")),
        ("p2", ("p2.a1", "p2.b1", "p2.c1")),
    ]
    assert NUMBER_DROP.scores(judged.belief[0])["p2"] == 3


def test_a_loop_that_no_rule_allows_after_a_shape_is_a_fault() -> None:
    state = may_loop(1)
    looks = {f"p2.{column}1": "digit 1 circled" for column in "ac"} | {"p2.b1": "digit 1", "p2.d1": "digit 1"}
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    ruling = judged.consider(drawn(NUMBER_DROP, state, looks), Trigger.DECLARED)
    assert (ruling.verdict.kind, ruling.steps) == (VerdictKind.ILLEGAL, ())


def drafted(dice: str, *, left: str | None, at_mm: float = 0.0) -> Any:
    """A player who may take either of two dice draws the one-square shape.

    ``left`` are the dice still there, in a row from ``at_mm`` on.
    """
    state = BLOKUS.dice.rolled(BLOKUS.rules.new({"players": 2}), Roll(tuple(dice.split())))
    judged = JudgedGame(BLOKUS, belief=(state,))
    judged.consider(drawn(BLOKUS, state, dice=dice), Trigger.RESTED)
    return judged.consider(drawn(BLOKUS, state, {"p1.a1": "red"}, dice=left, at_mm=at_mm), Trigger.DECLARED)


SECOND_MM = 30.0
"""Where the second die lies."""


@pytest.mark.parametrize(
    ("left", "at_mm", "turn"), [("5", SECOND_MM, "1:1:a1"), ("1", 0.0, "5:1:a1:strike"), ("5?", SECOND_MM, "1:1:a1")]
)
def test_the_missing_die_decides_between_turns_with_the_same_marks(left: str, at_mm: float, turn: str) -> None:
    ruling = drafted("1 5", left=left, at_mm=at_mm)
    assert ruling.verdict.turns == (turn,)


@pytest.mark.parametrize(("left", "at_mm"), [("5", 0.0), ("1", SECOND_MM)])
def test_a_die_that_was_turned_does_not_tell_which_one_was_taken(left: str, at_mm: float) -> None:
    ruling = drafted("1 5", left=left, at_mm=at_mm)
    assert (ruling.verdict.kind, len(ruling.verdict.candidates)) == (VerdictKind.AMBIGUOUS, 2)


@pytest.mark.parametrize("left", [None, "1 5", "5~", "4", ""])
def test_turns_with_the_same_marks_are_asked_about_if_the_dice_do_not_decide(left: str | None) -> None:
    ruling = drafted("1 5", left=left)
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert len(ruling.verdict.candidates) == 2


@pytest.mark.parametrize(("left", "first"), [("4 5", {"1:1:a1", "3:1:a1:strike"}), (None, None)])
def test_of_two_turns_that_appear_together_only_the_first_is_asked_about(left: str | None, first: Any) -> None:
    state = BLOKUS.dice.rolled(BLOKUS.rules.new({"players": 4}), Roll(("1", "3", "4", "5")))
    judged = JudgedGame(BLOKUS, belief=(state,))
    judged.consider(drawn(BLOKUS, state, dice="1 3 4 5"), Trigger.RESTED)
    both = {"p1.a1": "red", "p2.a1": "blue", "p2.b1": "blue"}
    asked = judged.consider(drawn(BLOKUS, state, both, dice=left), Trigger.RESTED).verdict
    assert asked.kind is VerdictKind.AMBIGUOUS
    assert "p2" not in asked.sentence
    assert all(text.split(":")[2] == "a1" for text in asked.candidates)
    assert first is None or first <= set(asked.candidates)
    for text in asked.candidates:
        BLOKUS.rules.apply(state, BLOKUS.notation.parse_turn(state, text, "p1"))


@pytest.mark.parametrize(
    ("trigger", "kind"),
    [
        (Trigger.RESTED, VerdictKind.AMBIGUOUS),
        (Trigger.DECLARED, VerdictKind.AMBIGUOUS),
        (Trigger.TOUCH, VerdictKind.NOT_FINISHED),
    ],
)
def test_of_two_turns_that_appear_together_a_clear_first_one_is_accepted(trigger: Trigger, kind: VerdictKind) -> None:
    """P1 has no strike left to cross out, and can have taken only one die; p2 can have taken either of the others."""
    state = BLOKUS.notation.parse_state(
        "p1 starter=p4 markers=blue,yellow,green,red dice=3,4,5 p1=y9/y9/10/10/10/10/10/10/10/rrrr5g:3 "
        "p2=g9/ggg7/g9/10/10/10/10/10/10/bbbbb4r:0 p3=r9/10/10/10/10/10/10/10/yy8/yyy2bbbbb:0 "
        "p4=b8r/b9/b9/b9/b9/10/10/g9/ggg4yy1/g6yyy:0"
    )
    judged = JudgedGame(BLOKUS, belief=(state,))
    middle = BLOKUS.rules.apply(state, BLOKUS.notation.parse_turn(state, "3:I5:j6,j7,j8,j9,j10"))
    second = next(iter(BLOKUS.rules.legal_turns(middle)))
    ruling = judged.consider(drawn(BLOKUS, BLOKUS.rules.apply(middle, second)), trigger)
    assert [BLOKUS.notation.format_turn(step.turn) for step in ruling.steps] == ["3:I5:j6,j7,j8,j9,j10"]
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED, kind]
    assert len(ruling.verdicts[-1].candidates) == 2
    assert judged.belief == (middle,)


def test_a_turn_waits_until_a_fault_on_another_sheet_is_put_right() -> None:
    state = BLOKUS.dice.rolled(BLOKUS.rules.new({"players": 2}), Roll(("1", "1")))
    judged = JudgedGame(BLOKUS, belief=(state,))
    ruling = judged.consider(drawn(BLOKUS, state, {"p1.a1": "red", "p2.e5": "blue"}), Trigger.DECLARED)
    assert (ruling.verdict.kind, ruling.steps) == (VerdictKind.ILLEGAL, ())
    assert ruling.verdict.breaches[0].places[0] == "p2.e5"


def test_a_taken_die_may_be_thrown_back_to_its_old_place() -> None:
    state = BLOKUS.dice.rolled(BLOKUS.rules.new({"players": 2}), Roll(("1", "1")))
    judged = JudgedGame(BLOKUS, belief=(state,))
    judged.consider(drawn(BLOKUS, state, dice="1 1"), Trigger.RESTED)
    for place, look, left in (("p1.a1", "red", "1"), ("p2.a1", "blue", "")):
        shown = drawn(BLOKUS, judged.belief[0], {place: look}, dice=left)
        assert judged.consider(shown, Trigger.DECLARED).verdict.kind is VerdictKind.ACCEPTED
    assert BLOKUS.awaits_roll(judged.belief[0])
    ruling = judged.consider(drawn(BLOKUS, judged.belief[0], dice="2 6"), Trigger.RESTED)
    assert [format_roll(roll.roll) for roll in ruling.rolls] == ["2,6"]


def test_a_turn_taken_back_does_not_count_again_while_its_marks_are_still_there() -> None:
    state = may_loop(1)
    judged = JudgedGame(NUMBER_DROP, belief=(state,))
    looks = {f"p2.{column}1": "digit 1" for column in "abcd"}
    assert judged.consider(drawn(NUMBER_DROP, state, looks), Trigger.RESTED).steps
    judged.correct((state,), undone=judged.belief)
    ruling = judged.consider(drawn(NUMBER_DROP, state, looks, time_s=20.0), Trigger.RESTED)
    assert (ruling.verdict.kind, ruling.steps) == (VerdictKind.NOT_FINISHED, ())
    assert judged.consider(drawn(NUMBER_DROP, state, looks, time_s=22.0), Trigger.DECLARED).steps


def judged_after(roll: tuple[str, ...], written: dict[str, str], rarer: dict[str, float] | None = None) -> Any:
    """The ruling, at rest, on p1's writing after a roll; ``rarer`` gives looks a lower prior."""
    state = rolled(*roll)
    readings = [
        replace(one, places={place: replace(seen, rarer=rarer or {}) for place, seen in one.places.items()})
        for one in drawn(NUMBER_DROP, state, written)
    ]
    return JudgedGame(NUMBER_DROP, belief=(state,)).consider(readings, Trigger.RESTED)


@pytest.mark.parametrize(
    ("seven", "kind"),
    [
        ("digit 7 95%", VerdictKind.AMBIGUOUS),
        ("digit 7 99.7%", VerdictKind.AMBIGUOUS),
        ("digit 7 99.9%", VerdictKind.ILLEGAL),
    ],
)
def test_a_digit_that_the_dice_forbid_is_a_fault_only_if_it_is_very_clear(seven: str, kind: VerdictKind) -> None:
    written = {"p1.a1": "digit 1", "p1.b1": "digit 2", "p1.c1": "digit 6", "p1.d1": seven}
    ruling = judged_after(("1", "2", "4", "6", "I"), written)
    assert ruling.verdict.kind is kind
    if kind is VerdictKind.AMBIGUOUS:
        assert ruling.verdict.places == ("p1.d1",)
        assert ruling.verdict.sentence == (
            "I am not sure what p1.d1 (digit 7?) shows. Please have a look. "
            "As I read it: p1 wrote 1, 2, 6, 7, but the dice show 1, 2, 4, 6."
        )
    else:
        assert "p1.d1" in ruling.verdict.places


def test_two_digits_that_the_dice_forbid_are_a_fault_although_neither_is_very_clear() -> None:
    written = {"p1.a1": "digit 1", "p1.b1": "digit 2", "p1.c1": "digit 7 99.5%", "p1.d1": "digit 7 99.5%"}
    ruling = judged_after(("1", "2", "4", "6", "I"), written)
    assert ruling.verdict.kind is VerdictKind.ILLEGAL


@pytest.mark.parametrize(
    ("nine", "kind"), [("digit 9 70%", VerdictKind.AMBIGUOUS), ("digit 9 99%", VerdictKind.ACCEPTED)]
)
def test_a_digit_in_place_of_a_star_is_accepted_only_if_it_is_clear(nine: str, kind: VerdictKind) -> None:
    written = {"p1.a1": "digit 1", "p1.b1": "digit 2", "p1.c1": "digit 4", "p1.d1": nine}
    verdict = judged_after(("1", "2", "4", "*", "I"), written).verdict
    assert verdict.kind is kind
    assert "As I read it" not in verdict.sentence, "no rule is broken"


@pytest.mark.parametrize(
    ("rarer", "kind"),
    [("digit 8", VerdictKind.AMBIGUOUS), ("digit 9", VerdictKind.ACCEPTED)],
)
def test_a_digit_that_a_star_allows_is_no_rarer_than_others(rarer: str, kind: VerdictKind) -> None:
    written = {"p1.a1": "digit 1", "p1.b1": "digit 2", "p1.c1": "digit 4", "p1.d1": "digit 9 70%"}
    assert judged_after(("1", "2", "4", "*", "I"), written, {rarer: 2.4}).verdict.kind is kind


def test_a_rarer_digit_keeps_a_star_from_being_read_as_another() -> None:
    written = {"p1.a1": "digit 1", "p1.b1": "digit 2", "p1.c1": "digit 4", "p1.d1": "digit 5 99%"}
    assert judged_after(("1", "2", "4", "*", "I"), written).verdict.kind is VerdictKind.ACCEPTED
    ruling = judged_after(("1", "2", "4", "*", "I"), written, {"digit 9": 4.0})
    assert ruling.verdict.kind is VerdictKind.AMBIGUOUS
    assert ruling.verdict.places == ("p1.d1",)


def test_a_digit_that_no_die_allows_stays_rarer() -> None:
    written = {"p1.a1": "digit 1", "p1.b1": "digit 2", "p1.c1": "digit 4", "p1.d1": "digit 9 95%"}
    plain, rarer = (judged_after(("1", "2", "4", "6", "I"), written, one).verdict for one in ({}, {"digit 9": 2.4}))
    assert (rarer.kind, rarer.margin) == (plain.kind, plain.margin)


def test_a_loop_around_a_rarer_digit_is_no_likelier() -> None:
    rarer = {"digit 9": 2.4, "digit 9 circled": 2.4}
    seen = PooledPlace({"digit 9": -0.7, "digit 9 circled": -0.9, "digit 4": -3.0}, rarer=rarer)
    assert seen.lead_if_allowed("digit 9 circled", "digit 9") == pytest.approx(-0.2)
    assert seen.lead_if_allowed("digit 9", "digit 4") == pytest.approx(2.3 + 2.4)


def test_unclear_writing_in_an_empty_cell_needs_no_extra_certainty() -> None:
    written = {"p1.a1": "digit 1", "p1.b1": "digit 2", "p1.c1": "digit 4", "p1.d1": "digit 6", "p1.e3": "digit 5 95%"}
    assert judged_after(("1", "2", "4", "6", "I"), written).verdict.kind is VerdictKind.ILLEGAL


@pytest.mark.parametrize(("clear", "kind"), [(0.8, VerdictKind.AMBIGUOUS), (0.98, VerdictKind.ILLEGAL)])
def test_a_mark_that_cannot_be_read_is_no_fault(clear: float, kind: VerdictKind) -> None:
    state = rolled("1", "2", "4", "6", "I")
    mark = {**dict.fromkeys(NUMBER_DROP.looks, 1e-4), "digit 5": clear, "digit 6": 0.99 - clear}
    readings = drawn(NUMBER_DROP, state)
    shown = [replace(one, places={**one.places, "p2.e9": PlaceReading(mark)}) for one in readings]
    verdict = JudgedGame(NUMBER_DROP, belief=(state,)).consider(shown, Trigger.RESTED).verdict
    assert verdict.kind is kind
    assert "p2.e9" in verdict.places
