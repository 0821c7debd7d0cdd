"""Counting turns to a depth, the yardstick for a game's rules: one number that any slip changes."""

from __future__ import annotations

from engine.api import Game, StateT, TurnT


def perft(game: Game[StateT, TurnT], state: StateT, depth: int) -> int:
    """Count the ways to play ``depth`` whole turns from ``state``, paths not merged; 1 at depth 0.

    Where faces are hidden, turns that are not known yet count too. Raises ValueError for a negative depth.
    """
    if depth < 0:
        raise ValueError(f"the depth is {depth}; expected 0 or more")
    if depth == 0:
        return 1
    turns = game.legal_turns(state)
    if depth == 1:
        return len(turns)
    return sum(perft(game, game.apply(state, turn), depth - 1) for turn in turns)


def split(game: Game[StateT, TurnT], state: StateT, depth: int) -> list[tuple[str, int]]:
    """Give each first turn, in strict text and in the game's order, with its share of ``perft(game, state, depth)``.

    Raises ValueError for a depth below 1: there is no first turn then.
    """
    if depth < 1:
        raise ValueError(f"the depth is {depth}; expected 1 or more to split by the first turn")
    return [
        (game.format_turn(turn), perft(game, game.apply(state, turn), depth - 1)) for turn in game.legal_turns(state)
    ]
