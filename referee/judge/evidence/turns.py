"""Evidence beyond the tops of the pieces that tells turns apart: side faces, and how the stacks look.

Every function that takes turns raises IllegalTurnError when the state doesn't allow them, in a game with such evidence.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from engine.api import Game, StateT, TurnT
from engine.values import LookName, Place
from referee.judge.pooled_reading import PooledPlace, PooledReading
from referee.judge.verdict import places_named


def _after(game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT]) -> StateT:
    for turn in turns:
        state = game.rules.apply(state, turn)
    return state


def contradiction(game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading) -> float:
    """Return the log-odds of side faces and stacks against turns that leave the tops seen; 0 without evidence."""
    return side_contradiction(game, state, turns, seen) + height_contradiction(game, state, turns, seen)


def keep_consistent_turns(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading, least_lead: float
) -> tuple[TurnT, ...]:
    """Of turns that leave the same appearance, keep those that fall behind the best one by less than ``least_lead``."""
    if len(turns) < 2:
        return tuple(turns)
    costs = [contradiction(game, state, (turn,), seen) for turn in turns]
    return tuple(turn for turn, cost in zip(turns, costs, strict=True) if cost < min(costs) + least_lead)


def side_contradiction(game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading) -> float:
    """Return the log-odds of the side faces seen on the turns' places against these turns; 0 if none were seen."""
    if game.side_faces is None:
        return 0.0
    facings = game.side_faces.facings(_after(game, state, turns))
    return sum(
        (
            facing_contradiction(facings.get(place, ()), seen.places[place].sides)
            for place in places_named(turns)
            if place in seen.places
        ),
        0.0,
    )


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


def certain_sides(
    seen: Mapping[Place, PooledPlace], places: Iterable[Place], side_lead: float
) -> dict[Place, dict[str, str]]:
    """Return the side faces read with certainty: those whose best symbol leads the next by ``side_lead``."""
    found: dict[Place, dict[str, str]] = {}
    for place in places:
        for side, symbols in seen[place].sides.items() if place in seen else ():
            ranked = sorted(symbols, key=lambda name: -symbols[name])
            if len(ranked) > 1 and symbols[ranked[0]] - symbols[ranked[1]] >= side_lead:
                found.setdefault(place, {})[side] = ranked[0]
    return found


def facing_as_believed(
    game: Game[StateT, TurnT],
    states: Sequence[StateT],
    seen: Mapping[Place, PooledPlace],
    earlier: Mapping[Place, LookName],
    side_lead: float,
) -> dict[Place, LookName]:
    """Return the looks of the pieces whose sides were read as believed, now or ``earlier`` and not played since."""
    if game.side_faces is None:
        return {}
    looks, facings = game.table.appearance(states[0]), [game.side_faces.facings(state) for state in states]
    return {place: look for place, look in earlier.items() if look == looks[place]} | {
        place: looks[place]
        for place, sides in certain_sides(seen, seen, side_lead).items()
        if seen[place].best == looks[place]
        and any(sides.items() <= facing.items() for each in facings for facing in each.get(place, ()))
    }


def height_contradiction(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading
) -> float:
    """Return the log-odds of the stacks seen against a sequence of turns; 0 in a game without stacks.

    It compares turns that leave the same appearance: heights tell nothing where the best look is another.
    """
    leads, on = _height_leads(game, state, turns, seen), set(places_named(turns))
    looks, heights = game.table.appearance(state), {} if game.heights is None else game.heights(state)
    # A piece that only passed through leaves a stack as it was.
    passed = {
        place
        for place, one, pieces in _stacks_after(game, state, turns, seen)
        if place in on and (looks[place], heights[place]) == (one.best, pieces)
    }
    touches = ((place, seen.places[place].touched or 0.0) for place in leads.keys() - passed)
    return math.fsum([*leads.values(), *(max(0.0, -one if place in on else one) for place, one in touches)])


def count_contradiction(game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading) -> float:
    """Return what ``height_contradiction`` does by the numbers of pieces alone, whichever stacks look touched."""
    return math.fsum(_height_leads(game, state, turns, seen).values())


def _height_leads(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading
) -> dict[Place, float]:
    """Return by how much the likeliest number of pieces leads the number after the turns."""
    on = places_named(turns)
    # That a stack which nobody seems to have touched has as many pieces as before is in the log-odds of a touch.
    return {
        place: max(0.0, _height_lead(one, pieces)) if place in on or one.touched is None else 0.0
        for place, one, pieces in _stacks_after(game, state, turns, seen)
    }


def _stacks_after(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading
) -> Iterator[tuple[Place, PooledPlace, int]]:
    """Yield the stacks that look as after the turns, how they are seen, and their numbers of pieces then."""
    if game.heights is not None:
        state = _after(game, state, turns)
        looks, heights = game.table.appearance(state), game.heights(state)
        yield from ((place, one, heights[place]) for place, one in seen.places.items() if one.best == looks[place])


def _height_lead(one: PooledPlace, pieces: int) -> float:
    """Return the log-odds by which the likeliest number of pieces leads this one."""
    return max(one.heights.values()) - one.heights.get(pieces, min(one.heights.values())) if one.heights else 0.0


_MOST_DOUBT = 4.0
"""The most that one stack which looks touched may say against a turn that plays nothing there. Higher: the tip of one
that is misread is asked about."""


def stack_doubts(
    game: Game[StateT, TurnT], state: StateT, turns: Sequence[TurnT], seen: PooledReading
) -> dict[Place, float]:
    """Return the log-odds of each stack seen against a sequence of turns, whatever else may have been played.

    A stack that looks touched although nothing is played there is no evidence if it clearly has as many pieces as
    before: a hand brushed against it.
    """
    doubts: dict[Place, float] = {}
    if game.heights is None:
        return doubts
    looks_before, heights_before = game.table.appearance(state), game.heights(state)
    on = places_named(turns)
    for place, one, pieces in _stacks_after(game, state, turns, seen):
        touched = min(one.touched or 0.0, _MOST_DOUBT)
        # A piece that only passed through leaves a stack as it was.
        is_as_before = (looks_before[place], heights_before[place]) == (one.best, pieces)
        doubt = touched if place not in on else 0.0 if is_as_before else max(0.0, -touched)
        if one.heights and (touched >= 0 or place in on):
            others = [share for count, share in one.heights.items() if count != pieces]
            own = one.heights.get(pieces, min(one.heights.values()))
            doubt += max(others, default=own) - own
        doubts[place] = max(0.0, doubt)
    return doubts
