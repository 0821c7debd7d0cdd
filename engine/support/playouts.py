"""Random games played by a game's rules alone: slow and plain, the yardstick for every faster way."""

from __future__ import annotations

from collections import Counter
from random import Random

from engine.api import Game, Player, StateT, Tally, TurnT
from engine.support.dice import drawn


def play_random_games(
    game: Game[StateT, TurnT], state: StateT, count: int, rng: Random, *, most_plies: int = 10_000
) -> Tally:
    """Play games at random: every turn drawn evenly among the legal ones of whoever may play, rolls by probability.

    A game that hasn't ended after ``most_plies`` turns is cut off.
    """
    wins: Counter[Player] = Counter()
    plies = draws = unfinished = 0
    for _ in range(count):
        now, played = state, 0
        while now.to_move is not None and played < most_plies:
            if game.dice is not None and game.dice.awaits_roll(now):
                now = game.dice.rolled(now, drawn(game.dice.possible_rolls(now), rng))
                continue
            turns = game.rules.legal_turns(now)
            now = game.rules.apply(now, turns[rng.randrange(len(turns))])
            played += 1
        plies += played
        outcome = game.rules.outcome(now)
        if outcome is None:
            unfinished += 1
        elif outcome.winner is None:
            draws += 1
        else:
            wins[outcome.winner] += 1
    return Tally(count, plies, dict(wins), draws, unfinished)
