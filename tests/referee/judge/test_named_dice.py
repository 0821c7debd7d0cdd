"""Rolls where each player has dice of their own colours, and all lie on the table."""

from dataclasses import replace
from typing import Any

import pytest

from engine.registry import load
from engine.support.chance import format_roll
from engine.values import Roll
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.present import present
from tests.referee.judge.blockade_turns import moving_turn
from tests.referee.judge.drawn import drawn, roll_drawn
from tests.referee.judge.judged_game import JudgedGame

BLOCKADE = load("blockade")
FAR_MM = 200.0
ALL_FOUR = "red:4 yellow:1 green:2 blue:5"


def lying(at_mm: float, dice: str) -> Any:
    """Dice in a row from there on, the others of the four farther away where they always lie."""
    thrown = roll_drawn(dice, at_mm)
    names = {die.die for die in thrown.dice}
    others = [die for die in roll_drawn(ALL_FOUR, 2 * FAR_MM).dice if die.die not in names]
    return replace(thrown, dice=(*thrown.dice, *others))


def look_at_four(judged: JudgedGame, dice: str, at_mm: float = 0.0, trigger: Trigger = Trigger.RESTED) -> Any:
    readings = drawn(BLOCKADE, judged.belief[0])
    return judged.consider([replace(one, rolls=(lying(at_mm, dice),)) for one in readings], trigger)


@pytest.fixture
def four() -> JudgedGame:
    """Warm is to roll, and all four dice lie there."""
    judged = JudgedGame(BLOCKADE, belief=(BLOCKADE.rules.new({"starts": "warm"}),))
    assert look_at_four(judged, "").verdict.kind is VerdictKind.UNCHANGED
    return judged


def test_only_the_dice_of_the_player_who_rolls_count(four: JudgedGame) -> None:
    assert not look_at_four(four, "green:6 blue:1").rolls
    assert format_roll(look_at_four(four, "red:2 yellow:6").rolls[0].roll) == "2,6"


def test_dice_that_come_in_sight_after_their_roll_was_told_and_used_are_no_new_roll(four: JudgedGame) -> None:
    def consider(state: Any, dice: str, trigger: Trigger = Trigger.RESTED) -> Any:
        rolls = (roll_drawn(dice, FAR_MM),)
        return four.consider([replace(one, rolls=rolls) for one in drawn(BLOCKADE, state)], trigger)

    consider(four.belief[0], "green:2 blue:5")
    for told, dice in (("1", "2"), "green:2 blue:5"), (("4", "3"), "red:1 yellow:2 green:2 blue:5"):
        four.correct((present(BLOCKADE.dice).rolled(four.belief[0], Roll(told)),))
        _, after = moving_turn(four.belief[0])
        played = consider(after, dice, Trigger.DECLARED)
        assert played.steps
        assert not played.rolls
    uncovered = consider(four.belief[0], "red:1 yellow:2 green:2 blue:5")
    assert uncovered.rolls == ()
    assert uncovered.verdict.sentence == "The dice show 1,2, as before. Press the button if they were rolled again."
    assert format_roll(consider(four.belief[0], "red:2 yellow:2 green:2 blue:5").rolls[0].roll) == "2,2"


def test_dice_of_another_player_may_lean_or_move(four: JudgedGame) -> None:
    assert format_roll(look_at_four(four, "red:2 yellow:6 green:1/ blue:1~").rolls[0].roll) == "2,6"


def test_a_die_that_lands_at_its_old_place_counts_if_it_shows_another_face(four: JudgedGame) -> None:
    assert format_roll(look_at_four(four, "red:3 yellow:2", 2 * FAR_MM).rolls[0].roll) == "3,2"


def test_the_same_faces_of_dice_that_lie_apart_from_where_they_lay_are_a_roll(four: JudgedGame) -> None:
    thrown = roll_drawn("red:4 green:2 blue:5 yellow:1", FAR_MM)
    readings = [replace(one, rolls=(thrown,)) for one in drawn(BLOCKADE, four.belief[0])]
    assert format_roll(four.consider(readings, Trigger.RESTED).rolls[0].roll) == "4,1"


def test_a_die_may_land_where_one_of_another_name_lay_and_show_what_it_showed(four: JudgedGame) -> None:
    thrown = roll_drawn("yellow:1 green:2 blue:5 red:4", 2 * FAR_MM)
    readings = [replace(one, rolls=(thrown,)) for one in drawn(BLOCKADE, four.belief[0])]
    assert format_roll(four.consider(readings, Trigger.RESTED).rolls[0].roll) == "4,1"


@pytest.mark.parametrize("is_played", [True, False])
def test_dice_of_the_next_player_put_aside_before_the_turn_are_no_roll(four: JudgedGame, is_played: bool) -> None:
    look_at_four(four, "red:1 yellow:1")
    rolled = four.belief[0]
    aside = roll_drawn("red:1 green:2 yellow:1 blue:5", FAR_MM / 2)
    for state in (moving_turn(rolled)[1],) if is_played else (rolled, moving_turn(rolled)[1]):
        ruling = four.consider([replace(one, rolls=(aside,)) for one in drawn(BLOCKADE, state)], Trigger.DECLARED)
    assert ruling.steps
    assert bool(ruling.rolls) == is_played, "once the turn is on the table, they are the next player's"


def test_a_roll_waits_until_both_dice_were_thrown(four: JudgedGame) -> None:
    for trigger in Trigger:
        waiting = look_at_four(four, "red:2", trigger=trigger)
        assert not waiting.rolls
        assert waiting.verdict.sentence.startswith("One die lies as before. Please roll all the dice")


def test_the_same_faces_on_the_other_players_dice_are_a_new_roll(four: JudgedGame) -> None:
    assert format_roll(look_at_four(four, "red:1 yellow:4").rolls[0].roll) == "1,4"


def test_a_die_of_a_roll_that_is_thrown_again_is_noticed_once(four: JudgedGame) -> None:
    look_at_four(four, "red:2 yellow:6")
    again = look_at_four(four, "red:5 yellow:5", FAR_MM)
    assert again.notes == ("The dice were touched. The roll that counts is 2,6.",)
    assert look_at_four(four, "red:5 yellow:5", FAR_MM).notes == ()
    assert present(BLOCKADE.dice).roll_of(four.belief[0]) == Roll(("2", "6"))


def test_the_next_player_may_throw_their_own_dice_before_the_turn_counts(four: JudgedGame) -> None:
    look_at_four(four, "red:1 yellow:1")
    rolled = four.belief[0]
    early = look_at_four(four, "red:1 yellow:1 green:2 blue:3")
    assert (early.rolls, early.notes) == ((), ())
    _, after = moving_turn(rolled)
    readings = [replace(one, rolls=(lying(0.0, "red:1 yellow:1 green:2 blue:3"),)) for one in drawn(BLOCKADE, after)]
    both = four.consider(readings, Trigger.DECLARED)
    assert [(verdict.turns != (), verdict.roll) for verdict in both.verdicts] == [(True, ""), (False, "2,3")]
