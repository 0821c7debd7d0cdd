"""From an explanation to one turn: look-alike turns told apart by their sides, or kept together. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from engine.api import EMPTY, Game, Place, StateT, TurnT
from referee.judge.belief import Explorer, applied, narrowed
from referee.judge.hypotheses import Explanation, against_sides, best_by_sides, sure_sides
from referee.judge.pooling import PooledReading
from referee.judge.rulings import Step
from referee.judge.settings import JudgeSettings


@dataclass(frozen=True)
class Resolved(Generic[TurnT]):
    """What an explanation comes down to: the turns in order, or the candidates that can't be told apart.

    ``against`` is by how many log-odds the side faces seen speak against the turns.
    """

    turns: tuple[TurnT, ...]
    candidates: tuple[TurnT, ...] = ()
    against: float = 0.0


def resolve(
    game: Game[StateT, TurnT],
    explorer: Explorer[StateT, TurnT],
    explanations: Sequence[Explanation[StateT, TurnT]],
    seen: PooledReading,
    settings: JudgeSettings,
) -> Resolved[TurnT]:
    """Make one turn (or two in a row) of explanations that leave the same appearance.

    Look-alikes are told apart by the side faces seen, else combined into one turn that stands for all. Where that
    can't be done the result has no turns but candidates.
    """
    weighed: dict[tuple[TurnT, ...], float] = {}
    for one in explanations:
        last = one.second or one.first
        start = game.apply(one.state, one.first[0]) if one.second else one.state
        kept = best_by_sides(game, start, last, seen, settings.side)
        combined = explorer.combined(kept)
        if combined is None:
            return Resolved((), tuple(kept))
        sequence = (one.first[0], combined) if one.second else (combined,)
        against = against_sides(game, one.state, sequence, seen)
        weighed[sequence] = min(against, weighed.get(sequence, against))
    least = min(weighed.values())
    sequences = [sequence for sequence, against in weighed.items() if against < least + settings.side]
    if len(sequences) == 1:
        return Resolved(sequences[0], against=least)
    if all(len(sequence) == 1 for sequence in sequences):
        combined = explorer.combined([sequence[0] for sequence in sequences])
        if combined is not None:
            return Resolved((combined,), against=least)
    return Resolved((), tuple(dict.fromkeys(turn for sequence in sequences for turn in sequence)))


def resolve_first(
    game: Game[StateT, TurnT], explanations: Sequence[Explanation[StateT, TurnT]], seen: PooledReading
) -> Resolved[TurnT]:
    """Make one turn of explanations by a turn and part of the next, which is not weighed."""
    firsts = tuple(dict.fromkeys(one.first[0] for one in explanations))
    if len(firsts) > 1:
        return Resolved((), firsts)
    # A piece that has gone on from where the turn left it says nothing of that turn.
    costs = [against_sides(game, one.state, one.first[:1], seen.without(one.touched)) for one in explanations]
    return Resolved(firsts, against=min(costs))


@dataclass(frozen=True)
class Advance(Generic[StateT]):
    """The belief after accepted turns: the states, the steps that led there, and sightings that were dropped."""

    states: tuple[StateT, ...]
    steps: tuple[Step, ...]
    dropped: tuple[Place, ...]


def advance(
    game: Game[StateT, TurnT],
    explorer: Explorer[StateT, TurnT],
    states: Sequence[StateT],
    turns: Sequence[TurnT],
    seen: PooledReading | None,
    settings: JudgeSettings,
) -> Advance[StateT]:
    """Apply accepted turns, and narrow the last state by the side faces seen (none without ``seen``)."""
    current = tuple(states)
    reached: list[tuple[TurnT, tuple[StateT, ...], int]] = []
    for turn in turns:
        count = max(explorer.expand(state).turns for state in current)
        current = applied(game, current, turn)
        reached.append((turn, current, count))
    dropped: tuple[Place, ...] = ()
    if seen is not None:
        current, dropped = narrow_by_sides(game, current, seen, settings)
        reached[-1] = (reached[-1][0], current, reached[-1][2])
    steps = tuple(
        Step(
            game.format_turn(turn),
            turn.player,
            tuple(game.format_state(state) for state in after),
            count,
            tuple(turn.places),
        )
        for turn, after, count in reached
    )
    return Advance(current, steps, dropped)


def end_the_game(game: Game[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT]) -> bool:
    """Say whether turns, if there are any, end the game from all of these states."""
    for turn in turns:
        states = applied(game, states, turn)
    return bool(turns) and bool(states) and all(game.outcome(state) is not None for state in states)


def narrow_by_sides(
    game: Game[StateT, TurnT], states: Sequence[StateT], seen: PooledReading, settings: JudgeSettings
) -> tuple[tuple[StateT, ...], tuple[Place, ...]]:
    """Keep what agrees with the side faces that were surely seen; also give the places whose sighting was dropped.

    A sighting counts only where the top looks as believed: the sides of another piece say nothing.
    """
    appearance = game.appearance(states[0])
    places = [
        place
        for place in game.places
        if appearance[place] != EMPTY and place in seen.places and seen.places[place].best == appearance[place]
    ]
    return narrowed(game, states, sure_sides(seen, places, settings.side))
