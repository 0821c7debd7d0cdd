"""Evidence beyond the tops of the pieces that tells turns apart: mainly side faces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.api import Game, StateT, TurnT
from engine.values import Place
from referee.judge.evidence.stacks import height_contradiction
from referee.judge.pooled_reading import PooledReading


def keep_consistent_turns(
    game: Game[StateT, TurnT],
    state: StateT,
    turns: Sequence[TurnT],
    seen: PooledReading,
    side_lead: float,
) -> tuple[TurnT, ...]:
    """Of turns that leave the same appearance, keep those that side faces and heights don't contradict.

    Each turn scores the best of the facings it leaves possible; turns that fall behind the best one by
    ``side_lead`` are dropped.
    """
    if len(turns) < 2:
        return tuple(turns)
    scores = [
        -side_contradiction(game, state, (turn,), seen) - height_contradiction(game, state, (turn,), seen)
        for turn in turns
    ]
    best = max(scores)
    return tuple(turn for turn, score in zip(turns, scores, strict=True) if score > best - side_lead)


def side_contradiction(game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading) -> float:
    """Return the log-odds of the side faces seen on the turns' places against these turns; 0 if none were seen.

    Raises IllegalTurnError when the state doesn't allow them, in a game with side faces.
    """
    if game.side_faces is None:
        return 0.0
    for turn in turns:
        state = game.rules.apply(state, turn)
    facings = game.side_faces.facings(state)
    cost = 0.0
    for place in dict.fromkeys(place for turn in turns for place in turn.places):
        if place in seen.places:
            cost += facing_contradiction(facings.get(place, ()), seen.places[place].sides)
    return cost


def facing_contradiction(facings: Sequence[Mapping[str, str]], sides: Mapping[str, Mapping[str, float]]) -> float:
    """Return the log-odds of the side faces seen against the facing that fits best; 0 if no facing is known."""
    return min(
        (
            sum(
                max(symbols.values()) - symbols.get(facing[side], min(symbols.values()))
                for side, symbols in sides.items()
                if side in facing and symbols
            )
            for facing in facings
        ),
        default=0.0,
    )


def certain_sides(seen: PooledReading, places: Sequence[Place], side_lead: float) -> dict[Place, dict[str, str]]:
    """Return the side faces read with certainty: those whose best symbol leads the next by ``side_lead``."""
    found: dict[Place, dict[str, str]] = {}
    for place in places:
        one = seen.places.get(place)
        if one is None:
            continue
        facing = {}
        for side, symbols in one.sides.items():
            ranked = sorted(symbols, key=lambda name: -symbols[name])
            if len(ranked) > 1 and symbols[ranked[0]] - symbols[ranked[1]] >= side_lead:
                facing[side] = ranked[0]
        if facing:
            found[place] = facing
    return found
