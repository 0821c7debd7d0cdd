"""Hints for the Blokus Dice Game: legal, in time, repeatable, exact near the end, and better with more time."""

import random
from dataclasses import replace
from functools import cache, partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import IllegalTurnError
from engine.games.blokus_dice.hints import (
    Endgame,
    SearchLimitError,
    mean_of_best,
    prospect_of,
    reason_for,
    rounds_ahead_of,
)
from engine.games.blokus_dice.turns import PlacementFinder
from engine.search.budget import CountingClock
from engine.support.chance import drawn
from engine.values import Roll, Strength
from tests.effort import cases
from tests.engine.games.blokus_dice.strategies import DICE, GAME, OPTIONS, played
from tests.engine.whole_games import scores_of
from tests.present import present

SMALL = "5x5/1/-/1,2/I3/V3/I4/L4/O4"


def hint(state, *, seconds=0.2, step_s=0.001, seed=1, **more):
    return GAME.advice.hint(state, seconds, random.Random(seed), clock=CountingClock(step_s), earlier=(), **more)


def to_draw(options, seed, most_turns=60):
    """A state in which a player is to draw."""
    state = played(options, seed, most_turns)
    if state.to_move is None:
        state = GAME.rules.new(options)
    return (
        DICE.rolled(state, drawn(DICE.possible_rolls(state), random.Random(seed))) if GAME.awaits_roll(state) else state
    )


@settings(max_examples=cases(20, 5))
@given(OPTIONS, st.integers(0, 2**32), st.sampled_from(Strength))
def test_hints_are_legal_turns_of_the_die_they_name(options, seed, strength):
    state = to_draw(options, seed)
    if state.to_move is None:
        return
    found = hint(state, seconds=0.05, strength=strength)
    assert found.turn in list(GAME.rules.legal_turns(state))
    assert present(DICE.roll_of(state)).faces[present(found.die)] == str(found.turn.die)
    assert found.reason
    assert found.unit == "squares"
    assert 0 <= found.sure <= 1


def test_a_hint_ends_by_its_deadline():
    clock = CountingClock(0.002)
    began = clock.now_s
    GAME.advice.hint(to_draw({}, 5), 0.3, random.Random(1), clock=clock, earlier=())
    assert clock.now_s - began <= 0.3 + 0.01


def test_there_is_no_hint_without_a_turn():
    with pytest.raises(IllegalTurnError, match="p1 has to roll first"):
        hint(GAME.rules.new())
    with pytest.raises(IllegalTurnError, match="over"):
        hint(GAME.notation.parse_state("over p1=-:0:out p2=-:0:out"))


def test_the_only_turn_is_given_at_once():
    state = GAME.notation.parse_state("p1 dice=1,1 p1=-:0 p2=-:0 sheet=5x5/0/a1,e1,a5/1/I5/L5/V5/W5/Z5")
    clock = CountingClock(0.001)
    found = GAME.advice.hint(state, 60.0, random.Random(1), clock=clock, earlier=())
    assert GAME.notation.format_turn(found.turn) == "1:1:e5"
    assert found.reason == "is the only turn there is: it fills one square"
    assert clock.now_s < 0.02
    # The turn is certain, but what the game will bring is the mean of a few playouts.
    assert 0.9 < found.sure < 1


def test_the_only_shape_is_no_only_turn_while_the_die_is_to_be_chosen():
    state = GAME.notation.parse_state("p1 dice=2,3 p1=-:0 p2=-:0 sheet=5x5/1/a1,e1,a5,d5,e4/1/I5/L5/V5/W5/Z5")
    assert [GAME.notation.format_turn(turn) for turn in GAME.rules.legal_turns(state)] == [
        "2:1:e5:strike",
        "3:1:e5:strike",
    ]
    found = hint(state)
    cost = "at the cost of a strike (no strikes left)"
    assert found.reason == f"is the only shape you can draw: it fills one square {cost}"
    assert 0.9 < found.sure < 1


# p2 is out with four squares; p1 has three of green and one die shows 1, one could be struck for.
AHEAD = f"p1 dice=1 starter=p1 markers=red,blue,yellow,green p1=ggg2/5/5/5/5:0 p2=5/5/5/5/bbbb1:0:out sheet={SMALL}"


def test_a_winning_turn_is_taken():
    found = hint(GAME.notation.parse_state(AHEAD))
    assert found.reason.startswith("wins: it fills two squares")
    still_there = hint(GAME.notation.parse_state(AHEAD.replace("bbbb1:0:out", "bbbb1:0").replace("dice=1", "dice=1,1")))
    assert not still_there.reason.startswith("wins")


def test_the_reason_describes_the_gains_of_the_turn():
    state = DICE.rolled(GAME.rules.new(), Roll(("1", "3", "4", "6")))
    assert hint(state).reason == "fills five squares, keeps four red corners open, and every colour can go on"
    strike = DICE.rolled(GAME.rules.new({"sheet": "5x5/2/-/1,2/I3/V3/I4/L4/X5", "players": 2}), Roll(("6", "6")))
    assert " at the cost of a strike (one strike left)" in hint(strike).reason


def test_every_strength_gives_the_expected_result():
    state = DICE.rolled(GAME.rules.new({"players": 2}), Roll(("2", "6")))
    gentle, fair, strong = (hint(state, strength=strength) for strength in Strength)
    assert min(gentle.expected, fair.expected, strong.expected) > 40
    assert strong.sure >= 0.5 > fair.sure == gentle.sure


def test_the_mean_of_the_best_of_several_dice_is_right():
    assert mean_of_best([1, 2, 3, 4, 5, 6], 1) == pytest.approx(3.5)
    assert mean_of_best([6, 5, 4, 3, 2, 1], 2) == pytest.approx(161 / 36)
    assert mean_of_best([7] * 6, 3) == pytest.approx(7)


@cache
def expectation(state):
    """The squares p1 fills by best play, computed through the game's interface alone."""
    if state.to_move is None:
        return float(scores_of(GAME, state)["p1"])
    if GAME.awaits_roll(state):
        return sum(
            float(each.probability) * expectation(DICE.rolled(state, each.roll)) for each in DICE.possible_rolls(state)
        )
    return max(expectation(GAME.rules.apply(state, turn)) for turn in GAME.rules.legal_turns(state))


# Only p1 is left, with little room.
CLOSED = "a3,b3,c3,d3,e3,a4,b4,c4,d4,a5,b5,c5,d5"
ALONE = f"p1 p1=-:0 p2=-:0:out p3=-:0:out sheet=5x5/1/{CLOSED}/1/2/I3/V3/L4/I4"


@pytest.mark.parametrize("strikes", [0, 1])
def test_the_end_of_a_game_is_calculated_exactly(strikes):
    rolling = GAME.notation.parse_state(ALONE.replace("5x5/1/", f"5x5/{strikes}/"))
    for face in "126":
        state = DICE.rolled(rolling, Roll((face,)))
        if state.to_move is None:
            continue
        found = hint(state, seconds=100.0)
        assert found.sure == 1.0
        assert found.expected == pytest.approx(expectation(state))
        assert expectation(GAME.rules.apply(state, found.turn)) == pytest.approx(expectation(state))


def test_an_end_too_far_away_is_estimated_by_sampling():
    state = to_draw({"players": 2}, 3, most_turns=1)
    sheet, seat = state.options.sheet, state.seat
    endgame = Endgame(PlacementFinder(sheet), rounds_ahead_of(state, seat), lambda: None, most_nodes=5)
    with pytest.raises(SearchLimitError):
        endgame.value(prospect_of(sheet, state.sheets[seat]))


def test_the_colours_and_dice_of_the_coming_rounds_are_known():
    state = DICE.rolled(GAME.rules.new({"players": 2}), Roll(("1", "2")))
    # p1 rolls first in every other round and then has two dice to choose from; red, then green, yellow, blue.
    assert rounds_ahead_of(state, 0).rounds[:4] == ((3, 1), (2, 2), (1, 1), (0, 2))
    assert rounds_ahead_of(state, 1).rounds[:4] == ((0, 2), (3, 1), (2, 2), (1, 1))
    assert len(rounds_ahead_of(state, 0).rounds) == 21
    alone = DICE.rolled(GAME.notation.parse_state("p1 p1=-:0 p2=-:0:out p3=-:0:out"), Roll(("1",)))
    assert rounds_ahead_of(alone, 0).alone
    assert {dice for _, dice in rounds_ahead_of(alone, 0).rounds} == {1}


@pytest.mark.long
def test_strong_hints_fill_more_than_gentle_ones():
    ahead = []
    for number in range(20):
        rng, state = random.Random(number // 2), GAME.rules.new({"players": 2})
        strong = f"p{number % 2 + 1}"
        while state.to_move is not None:
            if GAME.awaits_roll(state):
                state = DICE.rolled(state, drawn(DICE.possible_rolls(state), rng))
                continue
            strength = Strength.STRONG if state.to_move == strong else Strength.GENTLE
            state = GAME.rules.apply(state, hint(state, step_s=0.002, seed=number, strength=strength).turn)
        scores = scores_of(GAME, state)
        ahead.append(2 * scores[strong] - sum(scores.values()))
    assert sum(ahead) / len(ahead) > 2


def test_a_corner_that_no_unused_shape_reaches_is_not_open():
    sheet = GAME.rules.new({"sheet": SMALL}).options.sheet
    finder = PlacementFinder(sheet)
    before = prospect_of(sheet, GAME.rules.new({"sheet": SMALL}).sheets[0])
    after = before.after(sheet.grid, 0, 1 | 1 << (sheet.grid.squares + sheet.number_of["1"]), strike=False)
    reason = partial(reason_for, finder, before, colour=0, turns_of_only_shape=0, wins=False)
    assert reason(after) == "fills one square, keeps one red corner open, and every colour can go on"
    assert reason(replace(after, unused=0)) == "fills one square, though red can't go on from there"
    # The long shape still fits for red, but blue is hemmed in.
    walled = 1 << sheet.number_of["I4"]
    every = sheet.grid.every
    crowded = replace(after, unused=walled, filled=every & ~sheet.grid.squares_named(("b2", "b3", "b4", "b5", "e5")))
    assert reason(crowded).endswith(" and keeps one red corner open")
