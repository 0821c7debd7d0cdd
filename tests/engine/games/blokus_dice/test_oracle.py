"""The engine against the slow, plain oracle: turns, next states, players who are out, winners."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.games.blokus_dice.rules import count_results
from engine.values import Announcement, Roll
from tests.effort import cases
from tests.engine.games.blokus_dice import oracle
from tests.engine.games.blokus_dice.strategies import DICE, GAME, as_oracle, positions, written
from tests.engine.whole_games import scores_of
from tests.present import present


def compare(table, state):
    assert (state.to_move is None) == table.over()
    assert GAME.awaits_roll(state) == table.awaits_roll()
    turns, expected = [as_oracle(turn) for turn in GAME.rules.legal_turns(state)], table.turns()
    assert len(turns) == len(set(turns))
    assert set(turns) == expected
    assert {(turn.shape, turn.squares) for turn in GAME.rules.perft_turns(state)} == {
        (name, tuple(oracle.name_of(cell) for cell in sorted(cells, key=lambda cell: (cell[1], cell[0]))))
        for _, name, cells, strike in expected
        if not strike
    }
    assert count_results(state) == len(GAME.rules.perft_turns(state))
    assert list(scores_of(GAME, state).values()) == [table.filled(seat) for seat in range(len(table.players))]
    if table.over():
        winners = tuple(f"p{seat + 1}" for seat in table.winners())
        outcome = present(GAME.rules.outcome(state))
        assert (outcome.shared_by or (outcome.winner,)) == winners
    else:
        assert GAME.rules.outcome(state) is None


@settings(max_examples=cases(5, 2))
@given(positions())
def test_turns_of_random_positions_agree_with_the_oracle(table):
    state = GAME.notation.parse_state(written(table))
    assert GAME.notation.format_state(state) == written(table)
    compare(table, state)


def follow(seed):
    """Play a whole game on the oracle's table and in the engine, and compare them after every turn and roll."""
    rng = random.Random(seed)
    table = oracle.random_game(seed, most_turns=0)
    options = {"players": len(table.players), "sheet": table.paper.text(), "standby": table.standby}
    state = GAME.rules.new(options)
    while not table.over():
        if table.awaits_roll():
            dice = oracle.random_dice(table, rng)
            table.roll(dice)
            state = DICE.rolled(state, Roll(tuple(map(str, dice))))
        elif rng.random() < 0.03:
            seat = rng.choice([seat for seat, player in enumerate(table.players) if player.in_the_game()])
            table.resign(seat)
            state = GAME.rules.announce(state, Announcement("resign", f"p{seat + 1}"))
        else:
            turns = GAME.rules.legal_turns(state)
            turn = turns[rng.randrange(len(turns))]
            table.play(*as_oracle(turn))
            state = GAME.rules.apply(state, turn)
        compare(table, state)
        if not table.over():
            assert GAME.notation.format_state(state) == written(table)


@settings(max_examples=cases(4))
@given(st.integers(0, 2**32))
def test_whole_games_agree_with_the_oracle(seed):
    follow(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_thousands_of_positions_agree_with_the_oracle(first):
    for seed in range(first, first + 10):
        follow(seed)


def test_the_count_of_first_turns_agrees_with_the_oracle():
    table = oracle.Table()
    table.roll([1, 2, 3, 4])
    without_strikes = {cells for _, _, cells, strike in table.turns() if not strike}
    assert len(without_strikes) == count_results(DICE.rolled(GAME.rules.new(), Roll(("1", "2", "3", "4")))) == 184
