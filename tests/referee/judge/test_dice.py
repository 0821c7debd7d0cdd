"""Rolls that the judge takes from the table, and those that it leaves alone."""

from dataclasses import replace
from typing import Any

import pytest

from common.phrases import listed
from engine.registry import load
from engine.support.chance import format_roll
from engine.values import Roll
from referee.hints.opponent import refusal_reason
from referee.judge.sentences import begun
from referee.judge.settings import Trigger
from referee.judge.stability import StabilityFilter
from referee.judge.verdict import VerdictKind
from tests.present import present
from tests.referee.judge.blockade_turns import moved_alike, moving_turn
from tests.referee.judge.drawn import drawn, roll_drawn
from tests.referee.judge.judged_game import JudgedGame
from vision.reading import DieReading, RollReading

BLOKUS = load("blokus-dice")
BLOCKADE = load("blockade")
FAR_MM = 200.0
WHAT_TO_DO = "Please roll all the dice, or say what was rolled (./run table roll)."


def waiting_for_a_roll(game: Any, dice_before: str = "", options: Any = None) -> JudgedGame:
    """A game that was looked at once, with these dice lying there."""
    judged = JudgedGame(game, belief=(game.rules.new(options),))
    ruling = judged.consider(drawn(game, judged.belief[0], dice=dice_before), Trigger.RESTED)
    assert ruling.verdict.kind is VerdictKind.UNCHANGED
    assert not ruling.rolls
    return judged


@pytest.fixture
def blokus() -> JudgedGame:
    return waiting_for_a_roll(BLOKUS)


def look(judged: JudgedGame, dice: str, trigger: Trigger = Trigger.RESTED, **how: Any) -> Any:
    return judged.consider(drawn(judged.context.game, judged.belief[0], dice=dice, **how), trigger)


def scattered(judged: JudgedGame, dice: str) -> Any:
    """Readings of dice that lie where they say, in millimetres."""
    lying = [roll_drawn(face, float(at_mm)) for face, at_mm in (_split(one) for one in dice.split())]
    roll = RollReading("tray", tuple(die for each in lying for die in each.dice))
    return [replace(one, rolls=(roll,)) for one in drawn(judged.context.game, judged.belief[0])]


def _split(die: str) -> tuple[str, str]:
    face, _, at = die.partition("@")
    at_mm = at.rstrip("|")
    return face + at[len(at_mm) :], at_mm


@pytest.mark.parametrize("trigger", list(Trigger))
def test_dice_that_came_to_rest_are_the_roll(blokus: JudgedGame, trigger: Trigger) -> None:
    ruling = look(blokus, "6 2 4 1", trigger)
    assert [(verdict.kind, verdict.roll, verdict.sentence) for verdict in ruling.verdicts] == [
        (VerdictKind.ACCEPTED, "1,2,4,6", "1,2,4,6 was rolled.")
    ]
    assert present(BLOKUS.dice).roll_of(blokus.belief[0]) == Roll(("1", "2", "4", "6"))
    assert [format_roll(roll.roll) for roll in ruling.rolls] == ["1,2,4,6"]
    assert ruling.rolls[0].states == tuple(blokus.belief)
    assert ruling.verdict.margin >= 3


def test_dice_on_the_table_are_left_alone_while_tiles_are_to_be_drawn() -> None:
    game = load("number-drop")
    judged = JudgedGame(game, belief=(game.rules.new(),))
    for trigger in Trigger:
        ruling = judged.consider(drawn(game, judged.belief[0], dice="1 2 3 4 5"), trigger)
        assert (ruling.verdict.kind, ruling.rolls) == (VerdictKind.UNCHANGED, ())
    assert (
        refusal_reason(game, judged.belief) == "first, draw the tiles to slots A to E, and tell the referee their faces"
    )
    assert begun(["p1"], game.notation.standing(judged.belief[0])[0]).startswith("The board is set up. Draw the tiles")
    after = present(game.dice).rolled(judged.belief[0], Roll(("I4", "L4", "O4", "T4", "S4")))
    assert game.to_draw(after) == ""


@pytest.mark.parametrize(("dice", "lean"), [("6 2 4/ 1", "a die is"), ("6/ 2 4/ 1", "2 dice are")])
def test_a_new_roll_is_asked_for_if_a_die_leans(blokus: JudgedGame, dice: str, lean: str) -> None:
    for trigger in Trigger:
        ruling = look(blokus, dice, trigger)
        assert (ruling.verdict.kind, ruling.rolls) == (VerdictKind.NOT_FINISHED, ())
        assert ruling.verdict.sentence == f"That roll doesn't count: {lean} leaning on something. Please roll again."
    assert format_roll(look(blokus, "6 2 4 1", at_mm=FAR_MM).rolls[0].roll) == "1,2,4,6"


@pytest.mark.parametrize("dice", ["6 2 4~ 1", "6 2 4| 1", "6 2 4", "6 2 4 1 1"])
def test_dice_that_move_hide_or_are_too_few_or_many_are_no_roll_yet(blokus: JudgedGame, dice: str) -> None:
    for trigger in Trigger:
        ruling = look(blokus, dice, trigger)
        assert (ruling.verdict.kind, ruling.rolls) == (VerdictKind.NOT_FINISHED, ())
        assert ruling.verdict.sentence.startswith("That is not a roll yet: ")
        says_too_many = ruling.verdict.sentence.endswith(
            "of the 5 dice there, only 4 should be rolled. Take the others away."
        )
        assert says_too_many == (dice == "6 2 4 1 1")
        assert ("I see only 3 of 4 dice" in ruling.verdict.sentence) == (dice == "6 2 4")
    assert present(BLOKUS.dice).roll_of(blokus.belief[0]) is None


def test_an_empty_tray_is_no_roll(blokus: JudgedGame) -> None:
    assert look(blokus, "").verdict.kind is VerdictKind.UNCHANGED


def test_dice_at_rest_in_a_single_reading_are_no_roll_yet(blokus: JudgedGame) -> None:
    moving, resting = roll_drawn("6 2 4 1~"), roll_drawn("6 2 4 1")
    readings = drawn(BLOKUS, blokus.belief[0], readings=4)

    def after(*rolls: Any) -> VerdictKind:
        given = [replace(reading, rolls=(roll,)) for reading, roll in zip(readings, rolls, strict=True)]
        return blokus.consider(given, Trigger.RESTED).verdict.kind

    assert after(resting, resting, moving, resting) is VerdictKind.NOT_FINISHED
    assert after(moving, moving, resting, resting) is VerdictKind.ACCEPTED


def test_one_bad_frame_does_not_change_a_face(blokus: JudgedGame) -> None:
    readings = drawn(BLOKUS, blokus.belief[0], dice="6 2 4 1", readings=3)
    readings[-1] = replace(readings[-1], rolls=(roll_drawn("5 2 4 1"),))
    assert format_roll(blokus.consider(readings, Trigger.RESTED).rolls[0].roll) == "1,2,4,6"


def test_an_unclear_die_is_asked_about_once_somebody_waits_for_an_answer(blokus: JudgedGame) -> None:
    assert look(blokus, "6 2 4 1?", Trigger.GLANCE).verdict.kind is VerdictKind.NOT_FINISHED
    asked = look(blokus, "6 2 4 1?").verdict
    assert (asked.kind, asked.candidates) == (VerdictKind.AMBIGUOUS, ("1,2,4,6", "2,2,4,6"))
    assert asked.margin == 0.0
    assert asked.sentence == (
        "I can't read the dice for certain. They could show 1,2,4,6 or 2,2,4,6. "
        "Please say what was rolled (./run table roll)."
    )
    assert present(BLOKUS.dice).roll_of(blokus.belief[0]) is None


def test_dice_that_more_probably_show_no_roll_are_asked_about(blokus: JudgedGame) -> None:
    odd = DieReading(FAR_MM, 0.0, {"star": 0.6, "1": 0.39, **dict.fromkeys("23456", 0.002)})
    dice = RollReading("tray", (*roll_drawn("6 2 4").dice, odd))
    ruling = blokus.consider([replace(one, rolls=(dice,)) for one in drawn(BLOKUS, blokus.belief[0])], Trigger.RESTED)
    assert (ruling.verdict.kind, ruling.rolls) == (VerdictKind.AMBIGUOUS, ())


def test_no_more_than_four_rolls_are_named(blokus: JudgedGame) -> None:
    asked = look(blokus, "1? 3? 5? 5").verdict
    assert asked.kind is VerdictKind.AMBIGUOUS
    assert len(asked.candidates) == 4


def test_a_roll_that_a_person_entered_stays_whatever_the_dice_show(blokus: JudgedGame) -> None:
    look(blokus, "6 2 4 1?")
    said = present(BLOKUS.dice).rolled(blokus.belief[0], Roll(("2", "2", "4", "6")))
    blokus.correct((said,))
    for dice in ("6 2 4 1?", "6 2 4 1"):
        assert look(blokus, dice).verdict.kind is VerdictKind.UNCHANGED
        assert blokus.belief == (said,)


def test_dice_that_come_in_sight_after_their_roll_was_told_are_known(blokus: JudgedGame) -> None:
    look(blokus, "")
    said = present(BLOKUS.dice).rolled(blokus.belief[0], Roll(("1", "2", "4", "6")))
    blokus.correct((said,))
    for dice in ("", "6 2", "6 2 4 1"):
        assert not look(blokus, dice).rolls
        assert blokus.belief == (said,)
    known = present(blokus.all_believed.dice)
    assert (len(known.in_sight.dice), known.out_of_sight.dice) == (4, ())


def test_other_dice_than_those_told_are_not_taken_for_them(blokus: JudgedGame) -> None:
    look(blokus, "")
    told = ("2", "2", "4", "6")
    blokus.correct((present(BLOKUS.dice).rolled(blokus.belief[0], Roll(told)),))
    assert not look(blokus, "6 2 4 1").rolls
    known = present(blokus.all_believed.dice)
    assert (known.in_sight.dice, known.faces) == ((), told)


def test_a_roll_that_was_taken_back_is_not_taken_again_from_the_same_dice(blokus: JudgedGame) -> None:
    before = blokus.belief
    look(blokus, "6 2 4 1")
    blokus.correct(before, undone=blokus.belief)
    assert look(blokus, "6 2 4 1").verdict.kind is VerdictKind.UNCHANGED
    pressed = look(blokus, "6 2 4 1", Trigger.DECLARED)
    assert (pressed.verdict.kind, pressed.rolls) == (VerdictKind.NOT_FINISHED, ())
    assert pressed.verdict.sentence.startswith("The dice lie as before.")
    assert format_roll(look(blokus, "6 2 4 2", at_mm=FAR_MM).rolls[0].roll) == "2,2,4,6"


def test_a_die_that_is_put_back_when_a_turn_is_taken_back_is_no_new_die() -> None:
    judged = waiting_for_a_roll(BLOKUS, options={"players": 2})
    look(judged, "4 4")
    before = judged.belief
    after = BLOKUS.rules.apply(before[0], BLOKUS.rules.legal_turns(before[0])[0])
    assert judged.consider(drawn(BLOKUS, after, dice="4"), Trigger.DECLARED).verdict.kind is VerdictKind.ACCEPTED
    judged.correct(before, undone=judged.belief)
    look(judged, "4 4")
    assert len(present(judged.all_believed.dice).dice) == 2


def test_a_die_that_is_nudged_or_turned_does_not_change_the_roll_and_is_noticed_once(blokus: JudgedGame) -> None:
    look(blokus, "6 2 4 1")
    believed = blokus.belief
    assert look(blokus, "6 2 4 1", at_mm=3.0).notes == ()
    turned = look(blokus, "6 2 4 3", at_mm=3.0)
    assert turned.notes == ("The dice were touched. The roll that counts is 1,2,4,6.",)
    assert (turned.verdict.kind, turned.rolls) == (VerdictKind.UNCHANGED, ())
    assert look(blokus, "6 2 4 3", at_mm=3.0).notes == ()
    assert look(blokus, "6 2 4 1?", at_mm=3.0).notes == ()
    assert blokus.belief == believed


def test_dice_that_lay_there_before_the_game_are_no_roll() -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2 4 1")
    assert look(judged, "6 2 4 1").verdict.kind is VerdictKind.UNCHANGED
    assert look(judged, "6 2 4 1", at_mm=5.0).verdict.kind is VerdictKind.UNCHANGED


def test_dice_put_aside_with_the_same_faces_up_count_after_a_press() -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2 4 1")
    aside = look(judged, "6 2 4 1", at_mm=FAR_MM)
    assert (aside.verdict.kind, aside.rolls) == (VerdictKind.NOT_FINISHED, ())
    assert aside.verdict.sentence == "The dice show 1,2,4,6, as before. Press the button if they were rolled again."
    assert format_roll(look(judged, "6 2 4 1", Trigger.DECLARED, at_mm=FAR_MM).rolls[0].roll) == "1,2,4,6"


@pytest.mark.parametrize(
    ("dice", "is_roll"),
    [
        ("6@140 2@310 4@230 1@270", True),
        ("1@200 4@230 2@260 6@290", True),
        ("6@206 2@230 4@262 1@286", False),  # pushed aside
        ("6@200 2@218 4@236 1@254", False),  # gathered
        ("6@40 2@310 4@90 1@95", False),  # one lies where it lay
        ("6@200 2@310 4@400 1@260|", False),
    ],
)
def test_the_same_faces_count_if_the_dice_lie_as_no_push_leaves_them(dice: str, is_roll: bool) -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2 4 1")
    assert bool(judged.consider(scattered(judged, dice), Trigger.RESTED).rolls) == is_roll


def test_a_single_die_with_the_same_face_elsewhere_counts_after_a_press() -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2", {"players": 2})
    assert look(judged, "3 5", at_mm=FAR_MM).rolls
    one = waiting_for_a_roll(BLOKUS, "6 2", {"players": 2})
    assert not one.consider(scattered(one, "6@0 2@200"), Trigger.RESTED).rolls


@pytest.mark.parametrize(("lying", "elsewhere", "said"), [("6", "2 4 3", "One die lies"), ("6 2", "5 5", "2 dice lie")])
def test_dice_of_which_some_lie_as_before_are_no_roll(lying: str, elsewhere: str, said: str) -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2 4 1")

    def consider(trigger: Trigger, how: str = "") -> Any:
        dice = RollReading("tray", roll_drawn(lying).dice + roll_drawn(elsewhere + how, FAR_MM).dice)
        return judged.consider([replace(each, rolls=(dice,)) for each in drawn(BLOKUS, judged.belief[0])], trigger)

    assert consider(Trigger.RESTED, "~").verdict.sentence.startswith("That is not a roll yet")
    for trigger in Trigger:
        ruling = consider(trigger)
        assert (ruling.verdict.kind, ruling.rolls) == (VerdictKind.NOT_FINISHED, ())
        assert ruling.verdict.sentence == f"{said} as before. {WHAT_TO_DO}"


@pytest.mark.parametrize("trigger", list(Trigger))
@pytest.mark.parametrize("left", ["6", "6 2", "5"])
def test_a_die_that_nobody_took_may_stay_beside_a_roll_of_fewer(left: str, trigger: Trigger) -> None:
    judged = waiting_for_a_roll(BLOKUS, left, options={"players": 2})
    stays = roll_drawn(left).dice

    def consider(thrown: str) -> Any:
        dice = RollReading("tray", stays + roll_drawn(thrown, FAR_MM).dice)
        return judged.consider([replace(each, rolls=(dice,)) for each in drawn(BLOKUS, judged.belief[0])], trigger)

    assert not consider("5").rolls
    assert not consider("5 3~").rolls
    assert format_roll(consider("5 3").rolls[0].roll) == "3,5"
    assert len(present(judged.all_believed.dice).dice) == len(stays) + 2
    again = consider("5 3")
    assert (again.rolls, again.notes) == ((), ())


def test_a_die_pushed_aside_beside_one_left_over_counts_after_a_press() -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2 4", options={"players": 2})
    dice = RollReading("tray", roll_drawn("6").dice + roll_drawn("2 4", FAR_MM).dice)
    readings = [replace(each, rolls=(dice,)) for each in drawn(BLOKUS, judged.belief[0])]
    aside = judged.consider(readings, Trigger.RESTED)
    assert aside.verdict.sentence == "The dice show 2,4, as before. Press the button if they were rolled again."
    assert format_roll(judged.consider(readings, Trigger.DECLARED).rolls[0].roll) == "2,4"


@pytest.mark.parametrize("uncovered", [[""], ["6 2"], ["", "6 2", ""]])
def test_dice_that_a_hand_covered_for_a_while_are_no_roll(uncovered: list[str]) -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2 4 1")
    for dice in [*uncovered, "6 2 4 1"]:
        ruling = look(judged, dice)
        assert (ruling.verdict.kind, ruling.rolls) == (VerdictKind.UNCHANGED, ())


@pytest.mark.parametrize(
    ("dice", "at_mm", "is_roll"),
    [("6 2 4 1", 4.0, False), ("6 2 4 3", 0.0, False), ("6 2 5 5", 4.0, True), ("6 2 4 3", FAR_MM, True)],
)
def test_dice_picked_up_are_a_roll_unless_they_lie_nearly_as_before(dice: str, at_mm: float, is_roll: bool) -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2 4 1")
    look(judged, "")
    assert bool(look(judged, dice, at_mm=at_mm).rolls) == is_roll


@pytest.mark.parametrize(("dice", "is_roll"), [("6 2 4 1", False), ("6 2 4 5", False), ("6 2 5 5", True)])
def test_dice_that_land_beside_all_earlier_ones_are_a_roll_if_two_faces_differ(dice: str, is_roll: bool) -> None:
    judged = waiting_for_a_roll(BLOKUS, "6 2 4 1")
    ruling = look(judged, dice, at_mm=5.0)
    assert bool(ruling.rolls) == is_roll, "a bump moves all dice, and a face may be misread"


def test_dice_with_names_are_told_apart_by_them() -> None:
    judged = waiting_for_a_roll(BLOCKADE, options={"starts": "warm"})
    assert format_roll(look(judged, "yellow:1 red:4").rolls[0].roll) == "4,1"


def test_a_named_die_that_shows_the_same_face_a_few_millimetres_away_was_rolled() -> None:
    judged = waiting_for_a_roll(BLOCKADE, "red:1 yellow:4", {"starts": "warm"})
    assert not look(judged, "yellow:3 red:1", at_mm=-28.0).rolls, "red lies 2 mm away, as it did"
    assert format_roll(look(judged, "yellow:3 red:1", at_mm=-25.0).rolls[0].roll) == "1,3", "red lies 5 mm away"


def test_named_dice_nudged_by_a_few_millimetres_are_asked_about() -> None:
    judged = waiting_for_a_roll(BLOCKADE, "red:1 yellow:4", {"starts": "warm"})
    nudged = look(judged, "red:1 yellow:4", at_mm=5.0)
    assert (nudged.verdict.kind, nudged.rolls) == (VerdictKind.NOT_FINISHED, ())
    assert nudged.verdict.sentence == "The dice show 1,4, as before. Press the button if they were rolled again."


def test_dice_without_readable_names_are_asked_about() -> None:
    judged = waiting_for_a_roll(BLOCKADE, options={"starts": "warm"})
    ruling = look(judged, "1 4")
    assert (ruling.verdict.kind, ruling.rolls) == (VerdictKind.NOT_FINISHED, ())


def test_a_turn_after_the_roll_is_found_in_the_same_look() -> None:
    judged = waiting_for_a_roll(BLOCKADE, options={"starts": "warm"})
    rolled = present(BLOCKADE.dice).rolled(judged.belief[0], Roll(("1", "1")))
    turn, after = moving_turn(rolled)
    ruling = judged.consider(drawn(BLOCKADE, after, dice="red:1 yellow:1"), Trigger.DECLARED)
    assert [verdict.kind for verdict in ruling.verdicts] == [VerdictKind.ACCEPTED, VerdictKind.ACCEPTED]
    assert format_roll(ruling.rolls[0].roll) == "1,1"
    assert ruling.steps[0].turn == turn
    assert judged.belief == (after,)


@pytest.mark.parametrize("trigger", [Trigger.DECLARED, Trigger.TOUCH, Trigger.TOUCH_RESTED])
def test_the_next_player_may_roll_before_the_turn_counts(trigger: Trigger) -> None:
    judged = waiting_for_a_roll(BLOCKADE, options={"starts": "warm"})
    look(judged, "red:1 yellow:1")
    _, after = moving_turn(judged.belief[0])
    both = judged.consider(drawn(BLOCKADE, after, dice="green:2 blue:3", at_mm=FAR_MM), trigger)
    assert [(verdict.turns != (), verdict.roll) for verdict in both.verdicts] == [(True, ""), (False, "2,3")]
    assert both.notes == ()
    assert judged.belief == (present(BLOCKADE.dice).rolled(after, Roll(("2", "3"))),)


@pytest.mark.parametrize("trigger", [Trigger.TOUCH, Trigger.TOUCH_RESTED])
def test_the_next_roll_prompts_the_question_which_of_several_turns_was_played(trigger: Trigger) -> None:
    judged = waiting_for_a_roll(BLOCKADE, options={"starts": "warm"})
    look(judged, "red:1 yellow:1")
    rolled = judged.belief[0]
    after = moved_alike(rolled)
    waits = judged.consider(drawn(BLOCKADE, after, dice="red:1 yellow:1"), trigger)
    assert waits.verdict.kind is VerdictKind.NOT_FINISHED
    asked = judged.consider(drawn(BLOCKADE, after, dice="green:2 blue:3", at_mm=FAR_MM), trigger)
    assert asked.verdict.kind is VerdictKind.AMBIGUOUS
    assert asked.verdict.sentence.startswith("This could be more than one turn:")
    ends = [BLOCKADE.rules.apply(rolled, BLOCKADE.notation.parse_turn(rolled, one)) for one in asked.verdict.candidates]
    heights = [present(BLOCKADE.heights)(end) for end in ends]
    differing = [place for place in BLOCKADE.places if len({each[place] for each in heights}) > 1]
    assert asked.verdict.places[: len(differing)] == tuple(differing)
    assert f" They leave stacks of different heights on {listed(differing)}. " in asked.verdict.sentence
    said = present(BLOCKADE.dice).rolled(after, Roll(("2", "3")))
    judged.correct((said,), unchanged=BLOCKADE.places)
    assert look(judged, "green:2 blue:3", trigger, at_mm=FAR_MM).verdict.kind is VerdictKind.UNCHANGED
    assert judged.belief == (said,)


def test_the_old_dice_are_no_roll_of_the_next_player() -> None:
    judged = waiting_for_a_roll(BLOCKADE, options={"starts": "warm"})
    look(judged, "red:1 yellow:1")
    _, after = moving_turn(judged.belief[0])
    ruling = judged.consider(drawn(BLOCKADE, after, dice="red:1 yellow:1"), Trigger.DECLARED)
    assert (len(ruling.steps), ruling.rolls) == (1, ())
    assert look(judged, "red:1 yellow:1").verdict.kind is VerdictKind.UNCHANGED


def test_rolling_the_dice_begins_a_new_look() -> None:
    settling = StabilityFilter()

    def views(dice: str, from_s: float) -> list[Any]:
        readings = drawn(BLOKUS, BLOKUS.rules.new(), dice=dice, time_s=from_s, readings=6)
        return [view for view in map(settling.add, readings) if view is not None]

    first = views("6 2 4 1", 0.0)[-1]
    assert views("6~ 2~ 4~ 1~", 1.0)[-1].since_s > first.since_s
    again = views("6 2 4 1", 2.0)
    assert again[-1].since_s >= 2.0
    assert views("6 2 4 2?", 3.0)[-1].since_s == again[-1].since_s, "the last die is unclear"
    assert set(first.shown) <= set(BLOKUS.places)
