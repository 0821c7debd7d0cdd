"""Random games by a game's rules alone: slow and plain, the yardstick for every faster way; and counting endings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random
from typing import NamedTuple

from engine.api import Dice, Outcome, Player, Rules, StateT, Tally, TurnT
from engine.support.dice import drawn


class Ending(NamedTuple):
    """How one game ended: the turns played, and who won it alone, ``None`` for a draw or where it was cut off."""

    plies: int
    winner: Player | None
    is_over: bool = True

    @classmethod
    def by(cls, outcome: Outcome | None, plies: int) -> Ending:
        """The ending by an outcome, ``None`` where the game was cut off."""
        return cls(plies, None if outcome is None else outcome.winner, outcome is not None)


def tally(endings: Iterable[Ending]) -> Tally:
    """Count how games ended."""
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
    """Play games at random: every turn drawn evenly among the legal ones of whoever may play, rolls by probability.

    A game that hasn't ended after ``most_plies`` turns is cut off.
    """
    return tally(_played_out(rules, state, rng, dice, most_plies) for _ in range(count))


def _played_out(
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
