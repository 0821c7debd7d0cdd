"""Hypothesis strategies for Diaballik."""

import random

from hypothesis import strategies as st

from engine.registry import load
from tests.engine.games.diaballik import oracle

GAME = load("diaballik")
CHOICES = {option.name: option.choices or (True, False) for option in GAME.options}
OPTIONS = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in CHOICES.items()})
"""Any options of a new game."""


def positions(**options):
    """Positions of the oracle: pieces anywhere, walls among them, any options."""
    return st.integers(0, 2**32).map(lambda seed: oracle.random_position(random.Random(seed), **options))


def states(**options):
    """The same positions as the engine's states."""
    return positions(**options).map(lambda position: GAME.notation.parse_state(oracle.drawing(position)))
