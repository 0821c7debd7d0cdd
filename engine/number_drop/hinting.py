"""Hints."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from engine.api import Clock, Hint, Strength
from engine.errors import IllegalTurnError
from engine.number_drop import flow
from engine.number_drop.state import PLAYERS, NumberDropState, NumberDropTurn
from engine.number_drop.turns import played, turns_of


def best_turn(
    state: NumberDropState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength,
    better: Callable[[Hint[NumberDropTurn]], None] | None,
) -> Hint[NumberDropTurn]:
    """Give the turn that scores most at once; raises IllegalTurnError when there is none to play."""
    busy = state.busy()
    if not busy:
        raise IllegalTurnError("there is no turn to play now; the game is over, or a roll is awaited")
    end = clock() + deadline_s
    turns = turns_of(state, busy[0])
    best: Hint[NumberDropTurn] | None = None
    for turn in rng.sample(turns, min(len(turns), 200)):
        points = flow.scores_of(played(state, turn))[PLAYERS[busy[0]]]
        if best is None or points > best.expected:
            best = Hint(turn, "scores most at once", float(points), "points", 0.5)
            if better is not None:
                better(best)
        if clock() > end or strength is Strength.GENTLE:
            break
    if best is None:
        raise IllegalTurnError("there is no turn to play now")
    return best
