"""Turns tapped on the board, compared with trying every move by the rules."""

import random

import pytest

from engine.games.blockade.explanation import play
from engine.games.blockade.state import LARGE, OWNED, PLACES, colour_of, size_of
from engine.games.blockade.turns import turn_of
from engine.tapping import tapped
from engine.values import Certainty
from tests.effort import cases
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import GAME, state_of

SQUARES = range(len(PLACES))
ROLLS = [(1, 1), (1, 2), (2, 2), (3, 1)]


def is_legal(state, made):
    return GAME.rules.certainty(state, turn_of(state, made)) is Certainty.CERTAIN


def may_begin(state, made):
    """Whether a turn may begin like this: it is legal, or a moved piece that may not rest there moves on."""
    onward = [(square, end) for square in {end for _, end in made} for end in SQUARES]
    goes_on = not state.options.strict and any(is_legal(state, (*made, move)) for move in onward)
    return is_legal(state, made) or goes_on


def movable(state, made):
    """The squares with a small or medium piece of the player on top, after new towers got their caps."""
    tops = [stack[-1] for stack in play(state, state.to_move, None, made).stacks]
    return [
        square for square, top in enumerate(tops) if size_of(top) < LARGE and colour_of(top) in OWNED[state.to_move]
    ]


@pytest.mark.parametrize("strict", [False, True])
def test_the_offered_taps_are_those_the_rules_allow(strict):
    rng = random.Random(f"taps {strict}")
    offered = 0
    for _ in range(cases(6, least=3)):
        board = oracle.random_board(rng, "exact", oracle.CROWDED)
        if oracle.winner(board, "exact"):
            continue
        state = state_of(board, "warm", rng.choice(ROLLS), strict=strict)
        made: tuple[tuple[int, int], ...] = ()
        for before in range(3):
            taps = [PLACES[square] for move in made for square in move]
            now = tapped(GAME, state, taps)
            assert (now.turn is not None) == (before > 0 and is_legal(state, made))
            assert list(now.choices) == ([] if made else ["stay"])
            onward = {
                start: [end for end in SQUARES if end != start and may_begin(state, (*made, (start, end)))]
                for start in movable(state, made)
            }
            assert list(now.squares) == [PLACES[start] for start, ends in onward.items() if ends]
            if not now.squares:
                break
            start = rng.choice([start for start, ends in onward.items() if ends])
            ends = tapped(GAME, state, [*taps, PLACES[start]])
            assert list(ends.squares) == [PLACES[end] for end in onward[start]]
            made = (*made, (start, rng.choice(onward[start])))
            offered += 1
    assert offered > 2, "hardly any piece could move"
