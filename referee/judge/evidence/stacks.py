"""How strongly the stacks that are seen contradict turns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine.api import Game, StateT, TurnT
from engine.values import Place
from referee.judge.pooled_reading import PooledPlace, PooledReading


def height_contradiction(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading
) -> float:
    """Return the log-odds of the stacks seen against a sequence of turns; 0 in a game without stacks.

    It compares turns that leave the same appearance: heights tell nothing where the best look is another.
    Raises IllegalTurnError when the state doesn't allow the turns.
    """
    played_on = {place for turn in turns for place in turn.places}
    leads = _height_leads(game, state, turns, seen)
    touches = ((place, seen.places[place].touched or 0.0) for place in leads)
    return math.fsum([*leads.values(), *(max(0.0, -one if place in played_on else one) for place, one in touches)])


def count_contradiction(game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading) -> float:
    """Return what ``height_contradiction`` does by the numbers of pieces alone, whichever stacks look touched.

    Raises IllegalTurnError when the state doesn't allow the turns.
    """
    return math.fsum(_height_leads(game, state, turns, seen).values())


def stack_doubts(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading
) -> dict[Place, float]:
    """Return the log-odds of each stack seen against a sequence of turns, whatever else may have been played.

    A stack that looks touched although nothing is played there is no evidence if it clearly has as many pieces as
    before: a hand brushed against it. The arguments and errors are those of ``height_contradiction``.
    """
    if game.heights is None:
        return {}
    looks_before, heights_before = game.table.appearance(state), game.heights(state)
    for turn in turns:
        state = game.rules.apply(state, turn)
    looks, heights = game.table.appearance(state), game.heights(state)
    played_on = {place for turn in turns for place in turn.places}
    doubts: dict[Place, float] = {}
    for place, one in seen.places.items():
        if one.best != looks[place]:
            continue
        touched = one.touched or 0.0
        if place not in played_on:
            doubt = touched
        else:
            # A piece that only passed through leaves a stack as it was.
            is_as_before = (looks_before[place], heights_before[place]) == (looks[place], heights[place])
            doubt = 0.0 if is_as_before else max(0.0, -touched)
        if one.heights and (touched >= 0 or place in played_on):
            others = [share for pieces, share in one.heights.items() if pieces != heights[place]]
            own = one.heights.get(heights[place], min(one.heights.values()))
            doubt += max(others, default=own) - own
        doubts[place] = max(0.0, doubt)
    return doubts


def _height_leads(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading
) -> dict[Place, float]:
    """Return by how much the likeliest number of pieces leads the number after the turns.

    Only places that look as they do after the turns are compared.
    """
    if game.heights is None:
        return {}
    for turn in turns:
        state = game.rules.apply(state, turn)
    looks, heights = game.table.appearance(state), game.heights(state)
    played_on = {place for turn in turns for place in turn.places}
    return {
        place: _height_lead(one, heights[place], touched=place in played_on)
        for place, one in seen.places.items()
        if one.best == looks[place]
    }


def _height_lead(one: PooledPlace, pieces: int, *, touched: bool) -> float:
    # A stack that was only brushed against still has as many pieces as before.
    if not one.heights or ((one.touched or 0.0) < 0 and not touched):
        return 0.0
    return max(one.heights.values()) - one.heights.get(pieces, min(one.heights.values()))
