"""Exact probabilities of rolls, and random games by any game's rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random
from typing import NamedTuple

from engine.api import Dice, Rules, StateT, TurnT
from engine.values import Outcome, Player, PossibleRoll, Roll, Tally

ORDINARY_DIE: tuple[str, ...] = ("1", "2", "3", "4", "5", "6")
"""The faces of an ordinary die."""

Faces = tuple[str, ...]


def every_roll(
    dice: Sequence[Sequence[str]], canonical: Callable[[Faces], Faces] = lambda faces: faces
) -> tuple[PossibleRoll, ...]:
    """List every roll of these dice, sorted by faces; a die is the sequence of its equally likely faces.

    ``canonical`` maps rolls that are equivalent in the game to one order of faces; their probabilities are added up.
    """
    counted = Counter(canonical(faces) for faces in product(*dice))
    total = prod(len(die) for die in dice)
    return tuple(PossibleRoll(Roll(faces), Fraction(count, total)) for faces, count in sorted(counted.items()))


def format_roll(roll: Roll) -> str:
    """Write a roll in its strict text form, such as ``4,1``."""
    return ",".join(roll.faces)


def drawn(rolls: Sequence[PossibleRoll], rng: Random) -> Roll:
    """Draw one of the possible rolls by its probability, for search; raises ValueError if there are none."""
    if not rolls:
        raise ValueError("there is no roll to draw from; expected at least one possible roll")
    return rng.choices(rolls, [float(each.probability) for each in rolls])[0].roll


class Ending(NamedTuple):
    """The end of one game: the turns played and the sole winner, ``None`` for a draw or a game cut off."""

    plies: int
    winner: Player | None
    is_over: bool = True

    @classmethod
    def by(cls, outcome: Outcome | None, plies: int) -> Ending:
        """Return the ending for an outcome, ``None`` if the game was cut off."""
        return cls(plies, None if outcome is None else outcome.winner, outcome is not None)


def tally(endings: Iterable[Ending]) -> Tally:
    """Sum up the endings of games."""
    wins: Counter[Player] = Counter()
    games = plies = draws = unfinished = 0
    for ending in endings:
        games += 1
        plies += ending.plies
        if ending.winner is not None:
            wins[ending.winner] += 1
        elif ending.is_over:
            draws += 1
        else:
            unfinished += 1
    return Tally(games, plies, dict(wins), draws, unfinished)


def play_random_games(
    rules: Rules[StateT, TurnT],
    state: StateT,
    count: int,
    rng: Random,
    *,
    dice: Dice[StateT] | None = None,
    most_plies: int = 10_000,
) -> Tally:
    """Play random games: turns are uniform among the legal ones of all who may play, rolls by their probability.

    A game that hasn't ended after ``most_plies`` turns is cut off.
    """
    return tally(_play_out(rules, state, rng, dice, most_plies) for _ in range(count))


def _play_out(
    rules: Rules[StateT, TurnT], state: StateT, rng: Random, dice: Dice[StateT] | None, most_plies: int
) -> Ending:
    played = 0
    while state.to_move is not None and played < most_plies:
        if dice is not None and dice.awaits_roll(state):
            state = dice.rolled(state, drawn(dice.possible_rolls(state), rng))
            continue
        turns = rules.legal_turns(state)
        state = rules.apply(state, turns[rng.randrange(len(turns))])
        played += 1
    return Ending.by(rules.outcome(state), played)
