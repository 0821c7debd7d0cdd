"""Games played at random on the fast rules."""

from __future__ import annotations

from collections import Counter
from random import Random

from engine.api import Tally
from engine.deblockle.board import PLAYERS
from engine.deblockle.fast import OVER, core_of, known_position, moved, world_of
from engine.deblockle.lots import lots_of
from engine.deblockle.state import DeblockleState
from engine.deblockle.turns import outcome_of


def played_out(state: DeblockleState, count: int, rng: Random, most_plies: int) -> Tally:
    """Play ``count`` games, each turn drawn evenly; one that hasn't ended after ``most_plies`` turns is cut off.

    Where faces are hidden, each game is played in a world of its own, every world as likely as any other.
    """
    wins: Counter[str] = Counter()
    plies = draws = unfinished = 0
    outcome = outcome_of(state)
    if outcome is not None:
        return Tally(count, 0, {outcome.winner: count} if outcome.winner else {}, 0 if outcome.winner else count, 0)
    core = core_of(state.settings)
    lots = lots_of(core)
    known = known_position(state)
    for _ in range(count):
        position = known or world_of(state, rng)
        left = most_plies
        while left and position[1] and position[2]:
            move = lots.drawn(position, rng)
            if move is None:
                position = core.settled(position)
                if position[0] == OVER:
                    break
            else:
                position = moved(position, move)
                left -= 1
        plies += most_plies - left
        mover, golds, teals = core.settled(position)
        if golds and teals:
            draws += mover == OVER
            unfinished += mover != OVER
        else:
            wins[PLAYERS[bool(golds)]] += 1
    return Tally(count, plies, dict(wins), draws, unfinished)
