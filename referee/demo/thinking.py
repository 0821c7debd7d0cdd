"""How the demo's players choose their turns: by hints of little work, one of them thinking further than the others.

The work is counted, not timed, so that a seed gives the same game on every machine.
"""

from __future__ import annotations

from random import Random
from typing import Any

from engine.api import Game, Strength
from engine.search.budget import CountingClock
from simulator.play.players import Choose

_WORK_S = 0.05
_STEP_S = 0.0001
"""A hint looks at its clock at most ``_WORK_S / _STEP_S`` times: tenths of a second on a small computer."""


def thinking_players(game: Game[Any, Any], seed: int) -> Choose:
    """Give who chooses the turns; the seed says which player is the better one, which lets a game come to an end."""
    rng = Random(seed)
    better = game.players[seed % 2]

    def choose(state: Any) -> Any:
        strength = Strength.STRONG if state.to_move == better else Strength.GENTLE
        return game.advice.hint(state, _WORK_S, rng, clock=CountingClock(_STEP_S), strength=strength).turn

    return choose
