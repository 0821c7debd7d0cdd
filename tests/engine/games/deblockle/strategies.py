"""Hypothesis strategies for Deblockle."""

import random

from hypothesis import strategies as st

from engine.registry import load
from tests.engine.games.deblockle import oracle
from tests.present import present

GAME = load("deblockle")
SIDE_FACES = present(GAME.side_faces)
SYMBOLS = ("star", "stop", "cross", "x", "slider", "hoops")
PLAYERS = ("gold", "teal")

NETS = st.permutations(SYMBOLS).map("/".join)
HANDICAPS = {"blocks_gold": st.integers(1, 4), "blocks_teal": st.integers(1, 4), "starts": st.sampled_from(PLAYERS)}
RULE_OPTIONS = {
    "side_by_side": st.booleans(),
    "slider_stops_before_star": st.booleans(),
    "hop_forfeited_when_stuck": st.booleans(),
}
OPTIONS = st.fixed_dictionaries(
    {}, optional={**HANDICAPS, **RULE_OPTIONS, "repetition_draw": st.booleans(), "net": NETS}
)
"""Any options of a new game, most of them at their defaults."""


def positions(*, most_blocks=4):
    """Positions of the oracle: any squares, any orientations, any of the rules' options."""
    return st.integers(0, 2**32).map(lambda seed: oracle.random_position(random.Random(seed), most_blocks=most_blocks))
