"""Random games."""

from __future__ import annotations

from random import Random
from typing import Any

from engine.api import Game, Tally
from engine.diaballik.state import DiaballikState
from engine.playing import play_out


def played_out(game: Game[Any, Any], state: DiaballikState, count: int, rng: Random, most_plies: int) -> Tally:
    """Play games at random."""
    return play_out(game, state, count, rng, most_plies)
