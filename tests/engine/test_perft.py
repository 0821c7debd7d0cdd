"""Perft in games with dice, from a roll and a colour."""

from dataclasses import replace

import pytest

from engine.errors import IllegalTurnError, UnreadableError
from engine.perft import counts_of_first_turns, perft, read_faces, start_of_count
from engine.registry import load
from engine.values import Roll
from tests.engine.toy_harvest import DICE, GAME, Choice, HarvestDice, HarvestRules
from tests.present import present


class Coloured(HarvestRules):
    """Counts from the second round, for red only."""

    def count_from(self, state, roll, colour):
        if colour != "red":
            raise IllegalTurnError(f"got the colour {colour!r}; expected red")
        if roll is None:
            raise IllegalTurnError("no roll was given; expected one such as 4")
        state = present(DICE).rolled(state, Roll(("1",)))
        for player in ("p1", "p2"):
            state = self.apply(state, Choice(player, True))
        return present(DICE).rolled(state, roll)


class Counting(HarvestRules):
    """Gives the number of results without listing them."""

    asked = 0

    def count_results(self, state):
        type(self).asked += 1
        return 1000 if state.to_move else 0


def test_the_given_roll_is_used_whenever_one_is_awaited():
    start, roll = start_of_count(GAME, GAME.rules.new(), "4")
    assert start.die == "4"
    assert [perft(GAME, start, depth, roll) for depth in range(6)] == [1, 2, 4, 8, 16, 0]
    turns, counts = counts_of_first_turns(GAME, start, 3, roll)
    assert list(zip(map(GAME.notation.format_turn, turns), counts, strict=True)) == [("keep", 4), ("leave", 4)]


def test_a_roll_already_on_the_table_counts():
    state = present(DICE).rolled(GAME.rules.new(), Roll(("4",)))
    start, roll = start_of_count(GAME, state)
    assert (start, roll) == (state, Roll(("4",)))
    assert perft(GAME, start, 4, roll) == 16


def test_leaves_may_be_counted_without_listing():
    game = replace(GAME, count_results=Counting().count_results)
    start, roll = start_of_count(game, game.rules.new(), "4")
    assert perft(game, start, 2, roll) == 2000
    assert Counting.asked == 2


def test_a_game_can_define_where_counting_begins():
    game = replace(GAME, count_from=Coloured().count_from)
    start, roll = start_of_count(game, game.rules.new(), " 4 ", "red")
    assert (start.rounds, start.die, roll) == (1, "4", Roll(("4",)))
    assert perft(game, start, 2, roll) == 4
    for text, colour, message in [(None, "red", "no roll was given"), ("4", "blue", "got the colour 'blue'")]:
        with pytest.raises(IllegalTurnError, match=message):
            start_of_count(game, game.rules.new(), text, colour)


@pytest.mark.parametrize(
    ("game", "roll", "colour", "error", "message"),
    [
        (load("deblockle"), "4,1", None, UnreadableError, "Deblockle has no dice; leave it out"),
        (load("deblockle"), None, "red", IllegalTurnError, "in Deblockle nobody holds one; leave it out"),
        (GAME, "7", None, UnreadableError, "expected 1 to 6"),
        (GAME, "4", "red", IllegalTurnError, "in Harvest nobody holds one"),
    ],
)
def test_an_unusable_roll_or_colour_is_refused(game, roll, colour, error, message):
    with pytest.raises(error, match=message):
        start_of_count(game, game.rules.new(), roll, colour)


def test_a_missing_roll_is_asked_for():
    start, roll = start_of_count(GAME, GAME.rules.new())
    assert roll is None
    for depth in (1, 2):
        with pytest.raises(IllegalTurnError, match="Harvest waits for a roll, and none is given"):
            perft(GAME, start, depth)


def test_rolls_that_never_lead_to_a_turn_are_an_error():
    class AgainAndAgain(HarvestDice):
        def rolled(self, state, roll):
            return state

    game = replace(GAME, dice=AgainAndAgain())
    with pytest.raises(IllegalTurnError, match="rolling 4 again and again leads to no turn"):
        perft(game, game.rules.new(), 1, Roll(("4",)))


@pytest.mark.parametrize("text", ["4,1,t", " 4 , 1 T", "4 1 T"])
def test_faces_are_read_leniently(text):
    assert read_faces(text) == Roll(("4", "1", "T"))


@pytest.mark.parametrize("text", ["", " , ,"])
def test_a_roll_without_faces_is_unreadable(text):
    with pytest.raises(UnreadableError, match="expected its faces"):
        read_faces(text)
