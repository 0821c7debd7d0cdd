"""The fast rules against the slow plain ones, on random positions and on those where both colours are entangled."""

import random

import pytest

from tests.engine import oracle_blockade as oracle
from tests.engine.strategies_blockade import GAME, frozen, state_of

DICE = [(first, second) for first in range(1, 7) for second in range(1, 7)]


def assert_same(board, player, dice, how="exact", strict=False):
    """The ends of all turns are those of the oracle, each once; gives the state and its turns."""
    state = state_of(board, player, dice, tower=how, strict=strict)
    turns = GAME.legal_turns(state)
    got = [frozen(GAME.apply(state, turn)) for turn in turns]
    assert len(set(got)) == len(got) == len(turns)
    assert set(got) == oracle.ends(board, player, dice, how, strict), GAME.format_state(state)
    return state, turns


def compare_random(rng, most_points):
    how, strict = rng.choice(["exact", "contains"]), rng.random() < 0.3
    board = oracle.random_board(rng, how)
    if oracle.winner(board, how):
        return
    dice = rng.choice([each for each in DICE if sum(each) <= most_points])
    state, turns = assert_same(board, rng.choice(["warm", "cool"]), dice, how, strict)
    for turn in rng.sample(list(turns), min(3, len(turns))):
        assert GAME.parse_turn(state, GAME.format_turn(turn)) == turn


@pytest.mark.parametrize("seed", range(6))
def test_same_ends_on_random_positions(seed):
    rng = random.Random(seed)
    for _ in range(2):
        compare_random(rng, 3)


@pytest.mark.long
def test_same_ends_on_many_random_positions():
    rng = random.Random("many")
    for _ in range(2000):
        compare_random(rng, 3)
    for _ in range(50):
        compare_random(rng, 4)
