"""Hints, by the shared search for games of two, and random games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from engine.games.breakthrough import rules
from engine.games.breakthrough.rules import GRID, PLAYERS, BreakthroughState, BreakthroughTurn

from engine.api import Clock, Hint
from engine.errors import IllegalTurnError
from engine.search.alpha_beta import MOST_PLIES, best_move
from engine.search.budget import Deadline
from engine.search.two_player import Found, Rules
from engine.support.grid import members
from engine.values import Strength

Position = tuple[tuple[int, int], int]
"""Both players' discs, and the number of the player to move."""
Move = tuple[int, int]

_DEPTHS = {Strength.GENTLE: 1, Strength.FAIR: 2, Strength.STRONG: MOST_PLIES}
_DISC_WORTH, _SCALE = 10, 40.0


class _Search(Rules[Position, Move]):
    """What the search asks of the game."""

    def key(self, position: Position) -> Position:
        return position

    def mover(self, position: Position) -> int:
        return position[1]

    def ended(self, position: Position) -> int | None:
        won = rules.winner(position[0])
        return None if won is None else 1 if won[0] == PLAYERS[position[1]] else -1

    def moves(self, position: Position) -> Sequence[Move]:
        discs, mover = position
        player, foes = PLAYERS[mover], discs[1 - mover]
        steps = rules.steps(player, discs[mover], foes)
        return sorted(steps, key=lambda move: (-(foes >> move[1] & 1), -move[1] * rules.FORWARD[player]))

    def play(self, position: Position, move: Move) -> Position:
        return rules.played(*position, *move), 1 - position[1]

    def evaluate(self, position: Position) -> int:
        (red, blue), mover = position
        ahead = sum(_DISC_WORTH + GRID.row_of(at) ** 2 for at in members(red))
        ahead -= sum(_DISC_WORTH + (rules.SIZE - 1 - GRID.row_of(at)) ** 2 for at in members(blue))
        return -ahead if mover else ahead


def hint(
    state: BreakthroughState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength = Strength.STRONG,
    earlier: Sequence[BreakthroughState],
    better: Callable[[Hint[BreakthroughTurn]], None] | None = None,
) -> Hint[BreakthroughTurn]:
    """Find a good turn; see engine.api.Advice.hint. Raises IllegalTurnError when the game is over."""
    player = state.to_move
    if player is None:
        raise IllegalTurnError("there is no turn to hint at: the game is over")

    def told(found: Found[Move]) -> Hint[BreakthroughTurn]:
        turn = rules.turn_of(state, player, *found.move)
        reason = f"takes the disc on {turn.end}" if turn.takes else f"goes forward to {turn.end}"
        if found.win_in is not None:
            reason = f"wins in {(found.win_in + 1) // 2} of your turns"
        return Hint(turn, reason, found.chance(_SCALE), "win", float(found.proven))

    listener = None if better is None else lambda found: better(told(found))
    start, deadline = (state.discs, PLAYERS.index(player)), Deadline.after(deadline_s, clock)
    return told(best_move(_Search(), start, deadline, rng, most_depth=_DEPTHS[strength], better=listener))
