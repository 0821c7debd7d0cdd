"""The Blokus Dice Game's dice: rolled, taken, or left on the table."""

import pytest

from engine.errors import IllegalTurnError, UnreadableError
from engine.games.blokus_dice.rules import count_from, count_results
from engine.games.blokus_dice.state import COLOURS
from engine.support.chance import format_roll
from engine.values import Announcement
from tests.engine.games.blokus_dice.strategies import DICE, GAME, roll, rolled
from tests.engine.whole_games import scores_of


@pytest.mark.parametrize("colour", ["red", "blue", "yellow", "green", None])
def test_the_first_turns_of_a_colour_are_counted(colour):
    state = count_from(GAME.rules.new(), roll("4,2,1,3"), colour)
    assert count_results(state) == len(GAME.rules.perft_turns(state)) == 184
    assert {turn.colour for turn in GAME.rules.perft_turns(state)} == {colour or "red"}


def test_dice_are_taken_one_by_one():
    state = rolled("2,5,5,6")
    assert DICE.roll_of(state) == roll("2,5,5,6")
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, "5:T5:a1,a2,a3,b2,c2"))
    assert (after.to_move, DICE.roll_of(after)) == ("p2", roll("2,5,6"))
    assert after.sheets[0].strikes == 0
    assert GAME.table.appearance(after)["p1.c2"] == "red"
    assert scores_of(GAME, after) == {"p1": 5, "p2": 0, "p3": 0, "p4": 0}


def test_rolls_are_sorted_and_their_probabilities_add_up():
    rolls = DICE.possible_rolls(GAME.rules.new())
    assert len(rolls) == 126
    assert sum(each.probability for each in rolls) == 1
    assert all(list(each.roll.faces) == sorted(each.roll.faces) for each in rolls)
    assert DICE.possible_rolls(rolled("1,2,3,4")) == ()
    assert len(DICE.possible_rolls(GAME.rules.new({"players": 2}))) == 21
    assert DICE.parse_roll(GAME.rules.new(), " 4 1,3,1 ") == roll("1,1,3,4")
    assert DICE.parse_roll(GAME.rules.new(), "6543") == roll("3,4,5,6")
    assert format_roll(roll("1,1,3,4")) == "1,1,3,4"


@pytest.mark.parametrize("text", ["", " , ", "1,2,3,7", "1,2,3,x", "1,2,3,0", "1,2,3,-4"])
def test_unreadable_rolls_are_refused(text):
    with pytest.raises(UnreadableError) as raised:
        DICE.parse_roll(GAME.rules.new(), text)
    assert raised.value.column


@pytest.mark.parametrize("text", ["1,2,3", "1,2,3,4,5", "1"])
def test_rolls_of_the_wrong_number_of_dice_are_refused(text):
    with pytest.raises(IllegalTurnError, match="expected 4 dice"):
        DICE.parse_roll(GAME.rules.new(), text)
    with pytest.raises(IllegalTurnError, match="expected 4 dice"):
        DICE.rolled(GAME.rules.new(), roll(text))


def test_a_roll_is_accepted_only_when_awaited():
    with pytest.raises(IllegalTurnError, match=r"dice on the table \(1,2,3,4\) are still to be taken"):
        DICE.rolled(rolled("1,2,3,4"), roll("1,2,3,4"))
    over = GAME.notation.parse_state("over p1=-:0:out p2=-:0:out")
    with pytest.raises(IllegalTurnError, match="over"):
        DICE.rolled(over, roll("1,2"))
    with pytest.raises(IllegalTurnError, match="expected 4 dice from 1 to 6"):
        DICE.rolled(GAME.rules.new(), roll("1,2,3,9"))


def test_equal_dice_are_one_choice():
    once, twice = rolled("3,4", {"players": 2}), rolled("3,3", {"players": 2})
    assert {turn.die for turn in GAME.rules.legal_turns(twice)} == {3}
    assert len(GAME.rules.perft_turns(twice)) < len(GAME.rules.perft_turns(once))


def test_a_player_who_is_out_removes_one_die_from_the_next_roll():
    state = GAME.rules.announce(GAME.rules.new(), Announcement("resign", "p2"))
    assert len(DICE.possible_rolls(state)[0].roll.faces) == 3
    state = DICE.rolled(state, roll("1,2,3"))
    order = []
    while not GAME.awaits_roll(state):
        order.append((state.to_move, len(state.dice)))
        state = GAME.rules.apply(state, next(iter(GAME.rules.legal_turns(state))))
    assert order == [("p1", 3), ("p3", 2), ("p4", 1)]
    # p2 is skipped when it comes to rolling, and still passed a marker on.
    assert (state.to_move, state.markers) == ("p3", (3, 0, 1, 2))


def test_a_die_stays_on_the_table_if_a_player_resigns_during_a_round():
    state = GAME.rules.announce(rolled("1,2,3,4"), Announcement("resign", "p1"))
    assert (state.to_move, state.dice) == ("p2", (1, 2, 3, 4))
    assert GAME.notation.parse_state(GAME.notation.format_state(state)) == state


def test_legal_turns_after_a_roll():
    turns = GAME.rules.legal_turns(rolled("1,2,3,4"))
    assert turns[-1] == turns[len(turns) - 1]
    assert list(turns[3:5]) == [turns[3], turns[4]]
    with pytest.raises(IndexError, match="no item"):
        turns[len(turns)]


@pytest.mark.parametrize(
    ("colour", "roll_given"), [("pink", "1,2,3,4"), ("red", "1,2,3"), ("red", "1,2,3,7"), ("red", None)]
)
def test_counting_from_an_invalid_colour_or_roll_is_refused(colour, roll_given):
    with pytest.raises(IllegalTurnError):
        count_from(GAME.rules.new(), None if roll_given is None else roll(roll_given), colour)


def test_counting_starts_from_the_dice_on_the_table_or_a_given_roll():
    lying = rolled("1,2,3,4")
    assert count_from(lying, None, None) == lying
    assert count_from(lying, roll("6,6,6,6"), "green").dice == (6, 6, 6, 6)


@pytest.mark.parametrize("number", range(4))
def test_markers_rotate_until_the_player_to_move_holds_the_colour(number):
    state = rolled("1,2,3,4")
    state = GAME.rules.apply(state, GAME.notation.parse_turn(state, "1:1:a1"))
    counted = count_from(state, None, COLOURS[number])
    assert (counted.to_move, counted.dice) == ("p2", (2, 3, 4))
    assert counted.markers == tuple((number + place - 1) % 4 for place in range(4))
    assert {turn.colour for turn in GAME.rules.perft_turns(counted)} == {COLOURS[number]}


def test_a_single_die_is_called_a_die():
    state = GAME.notation.parse_state("p1 p1=-:0 p2=-:0:out")
    assert GAME.notation.standing(state)[0] == "p1 rolls 1 die."
    with pytest.raises(IllegalTurnError, match="expected 1 die from 1 to 6"):
        DICE.rolled(state, roll("1,2"))
    with pytest.raises(IllegalTurnError, match="give 1 die to count with"):
        count_from(state, None, None)
