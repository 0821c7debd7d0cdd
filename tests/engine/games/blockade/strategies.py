"""Shared by the tests of Blockade: the oracle's positions as states, and Hypothesis strategies."""

import random

from hypothesis import strategies as st

from engine.registry import load
from engine.values import Roll
from tests.engine.games.blockade import oracle
from tests.games.known import known_of
from tests.present import present

GAME = load("blockade")
HELPED = (
    "warm roll=4,4 a1:CL+RMS b1:GLMS+KL c1:GLS d1:GL e1:CL+YM a2:RLM b2:GLMS+KL c2:YLS d2:YLMS+KL e2:YLMS+KL a3:RL "
    "b3:GL c3:CL+RS d3:BLS e3:YLMS+KL a4:RLMS+KM b4:RLMS+KM c4:RLMS+KM d4:BLS e4:YLMS+KM a5:CL+GMMMSS b5:BLS c5:BLS "
    "d5:BLS e5:CL+BMMMMM"
)
DICE = present(GAME.dice)

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "starts": st.sampled_from(["roll", "warm", "cool"]),
        "strict": st.booleans(),
        "draw_after_passes": st.integers(0, 5),
        "tower": st.sampled_from(["exact", "contains"]),
    },
)
"""Any options of a new game."""


COUNTED = [count["state"] for count in known_of("blockade")["count"] if "state" in count and count["turns"][0] < 100]
"""Positions with few, counted turns; in most of them the moves of the two colours are entangled."""


def state_of(board, player, dice=None, **options):
    """The engine's state for an oracle's board, after the roll."""
    state = GAME.notation.parse_state(oracle.text(board, player, options))
    return state if dice is None else DICE.rolled(state, Roll(tuple(str(die) for die in dice)))


def frozen(state):
    """The oracle's frozen board of a state."""
    words = GAME.notation.format_state(state).split()
    stacks = dict(word.split(":") for word in words if word[2:3] == ":")
    return tuple(
        tuple(f"{oracle.COLOUR[group[0]]} {size}" for group in stacks[place].split("+") for size in group[1:])
        for place in oracle.PLACES
    )


def boards(how="exact"):
    """Random boards of the oracle without a piece in the hand."""
    return st.integers(0, 2**32).map(lambda seed: oracle.random_board(random.Random(seed), how))
