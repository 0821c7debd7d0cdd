"""In the last turns of games, a hint never lets the opponent win next if another turn does not: searched exhaustively.

Only games without dice have such turns; a game with dice is lost by force only if every roll loses it.
"""

from itertools import count
from random import Random
from typing import Any

import pytest

from engine.games.diaballik.results import claimed_results, results_of
from engine.games.diaballik.state import GOAL
from engine.games.diaballik.turns import BALL_SHIFT, begin_turn
from engine.registry import load
from engine.search.budget import CountingClock
from engine.values import Strength
from tests.effort import cases

DEBLOCKLE, DIABALLIK = load("deblockle"), load("diaballik")
LAST = 7
"""How many of a game's last positions are looked at."""


def hint(game, state, earlier, strength, reads):
    clock = CountingClock(1e-3)
    return game.advice.hint(state, reads * 1e-3, Random(0), clock=clock, strength=strength, earlier=earlier)


def last_positions(game, options_of, seed):
    """Yield the last positions of games by gentle hints, in which every third turn is random, and those before each."""
    for number in count():
        rng = Random(f"{game.name} {seed} {number}")
        state = game.rules.new(options_of(number))
        played: list[Any] = []
        while state.to_move is not None and len(played) < 120:
            turns = game.rules.perft_turns(state)
            turn = turns[rng.randrange(len(turns))]
            if rng.random() < 2 / 3:
                turn = hint(game, state, played, Strength.GENTLE, 30).turn
            played.append(state)
            state = game.rules.apply(state, turn)
        for at in range(max(0, len(played) - LAST), len(played)):
            yield played[at], played[:at]


def wins_next(game, state):
    """Whether the player to move has a turn that wins."""
    if game is DIABALLIK:
        reply = begin_turn(state, state.to_move)
        results = results_of(reply)
        goal = GOAL[reply.player]
        return any(goal >> (each >> BALL_SHIFT) & 1 for each in results) or bool(claimed_results(reply, results))
    outcomes = (game.rules.outcome(game.rules.apply(state, turn)) for turn in game.rules.legal_turns(state))
    return any(outcome is not None and outcome.winner == state.to_move for outcome in outcomes)


def loses(game, state, turn):
    """Whether a turn ends the game with the opponent's win, or lets the opponent win next."""
    after = game.rules.apply(state, turn)
    outcome = game.rules.outcome(after)
    if outcome is not None:
        return outcome.winner not in (None, state.to_move)
    return after.to_move != state.to_move and wins_next(game, after)


def look_at(game, options_of, positions, seed):
    """Check that no hint loses where another turn does not; return how often every turn lost."""
    lost = 0
    for _, (state, earlier) in zip(range(positions), last_positions(game, options_of, seed), strict=False):
        given = [
            hint(game, state, earlier, strength, reads).turn
            for strength, reads in [(each, 300) for each in Strength] + [(Strength.STRONG, 60)]
        ]
        if any(loses(game, state, turn) for turn in given):
            lost += 1
            assert all(loses(game, state, turn) for turn in game.rules.perft_turns(state)), given
    return lost


def few_blocks(number):
    return {"blocks_gold": 1 + number % 3, "blocks_teal": 1 + number // 3 % 3}


@pytest.mark.parametrize("seed", range(5))
def test_no_hint_of_deblockle_loses_needlessly(seed):
    look_at(DEBLOCKLE, few_blocks, cases(40, 4), seed)


@pytest.mark.parametrize("seed", range(2))
def test_no_hint_of_diaballik_loses_needlessly(seed):
    look_at(DIABALLIK, lambda _: {}, cases(10, 2), seed)


@pytest.mark.long
def test_no_hint_of_diaballik_loses_needlessly_in_many_positions():
    look_at(DIABALLIK, lambda _: {}, 200, "many")
