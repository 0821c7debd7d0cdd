"""Random games."""

from __future__ import annotations

from random import Random

from engine.api import Tally
from engine.number_drop.state import NumberDropState


def play_out_fast(state: NumberDropState, count: int, rng: Random, most_plies: int) -> Tally:
    """Play games at random by the interface."""
    from engine.number_drop.game import NumberDrop
    from engine.playing import play_out

    return play_out(NumberDrop(), state, count, rng, most_plies)
