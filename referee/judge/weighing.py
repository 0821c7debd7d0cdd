"""What the side faces seen say of turns that the tops fit. Pure."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.api import Breach, Game, Place, StateT, TurnT
from engine.errors import IllegalTurnError
from referee.judge.accepting import Resolved
from referee.judge.faults import breaches_of, turned_in_place
from referee.judge.hypotheses import Explanation, Happening, against_sides
from referee.judge.pooling import PooledReading
from referee.judge.settings import JudgeSettings


class Leaning(enum.Enum):
    """Which way the side faces speak."""

    FOR = "for"
    """For the turns, or not at all."""

    TURNED_BESIDES = "turned besides"
    """For the turns, but a piece elsewhere was turned where it stands."""

    DOUBTFUL = "doubtful"
    """Against the turns, but not beyond doubt."""

    BREAKS_A_RULE = "breaks a rule"
    """Against a single turn, beyond doubt, and the engine knows what was done instead."""

    RULED_OUT = "ruled out"
    """Against turns in a row, beyond doubt."""


@dataclass(frozen=True)
class Weighing:
    """Which way the side faces speak, and what they say was done besides or instead."""

    leaning: Leaning
    breaches: tuple[Breach, ...] = ()


def weigh(
    game: Game[StateT, TurnT],
    belief: Sequence[StateT],
    resolved: Resolved[TurnT],
    explanation: Explanation[StateT, TurnT],
    seen: PooledReading,
    set_aside: frozenset[Place],
    settings: JudgeSettings,
) -> Weighing:
    """Weigh turns that explain a table by the side faces seen on their places, and on all the others."""
    if resolved.against >= settings.turned:
        if explanation.happening is not Happening.TURN:
            return Weighing(Leaning.RULED_OUT)
        breaches = breaches_of(game, belief, explanation.changes, seen, settings)
        if breaches:
            return Weighing(Leaning.BREAKS_A_RULE, breaches)
    of_turns = {place for turn in resolved.turns for place in turn.places}
    elsewhere = seen.without(set_aside | of_turns | set(explanation.touched))
    turned = turned_in_place(game, belief, elsewhere, settings, settings.side)
    if turned:
        return Weighing(Leaning.TURNED_BESIDES, turned)
    return Weighing(Leaning.FOR if resolved.against < settings.side else Leaning.DOUBTFUL)


def least_against(
    game: Game[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT], seen: PooledReading
) -> float:
    """By how many log-odds the side faces seen speak against turns from the state that suits them best.

    Infinite when no state allows the turns.
    """
    least = math.inf
    for state in states:
        try:
            least = min(least, against_sides(game, state, turns, seen))
        except IllegalTurnError:
            continue
    return least
