"""Hints, by the shared search for games of two."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from engine.games.reversi import rules
from engine.games.reversi.rules import GRID, PLAYERS, ReversiState, ReversiTurn

from engine.api import Clock, Hint
from engine.errors import IllegalTurnError
from engine.search.alpha_beta import MOST_PLIES, Rules, best_move
from engine.search.budget import Deadline
from engine.values import Strength

Position = tuple[tuple[int, int], int]
"""Both players' discs, and the number of the player to move."""
Move = tuple[int, int]  # the square of the disc, and the set of those turned over; none are a pass

_DEPTHS = {Strength.GENTLE: 1, Strength.FAIR: 2, Strength.STRONG: MOST_PLIES}
_CORNERS = GRID.squares_named(("a1", "f1", "a6", "f6"))
_CORNER_WORTH, _MOVE_WORTH, _SCALE = 30, 5, 40.0


def _sides(position: Position) -> tuple[int, int]:
    """The discs of the player to move, and the other's."""
    return position[0][position[1]], position[0][1 - position[1]]


class _Search(Rules[Position, Move]):
    """What the search asks of the game."""

    def key(self, position: Position) -> Position:
        return position

    def mover(self, position: Position) -> int:
        return position[1]

    def ended(self, position: Position) -> int | None:
        own, foes = _sides(position)
        lead = own.bit_count() - foes.bit_count()
        return None if rules.moves(own, foes) or rules.moves(foes, own) else (lead > 0) - (lead < 0)

    def moves(self, position: Position) -> Sequence[Move]:
        found = rules.moves(*_sides(position))
        return sorted(found, key=lambda move: not _CORNERS >> move[0] & 1) or [(0, 0)]

    def play(self, position: Position, move: Move) -> Position:
        discs, mover = position
        return rules.played(discs, mover, 1 << move[0] if move[1] else 0, move[1]), 1 - mover

    def evaluate(self, position: Position) -> int:
        own, foes = _sides(position)
        corners = (own & _CORNERS).bit_count() - (foes & _CORNERS).bit_count()
        return _CORNER_WORTH * corners + _MOVE_WORTH * (len(rules.moves(own, foes)) - len(rules.moves(foes, own)))


def hint(
    state: ReversiState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength = Strength.STRONG,
    earlier: Sequence[ReversiState],
) -> Hint[ReversiTurn]:
    """Find a good turn; see engine.api.Advice.hint. Raises IllegalTurnError when the game is over."""
    player = state.to_move
    if player is None:
        raise IllegalTurnError("there is no turn to hint at: the game is over")

    start, deadline = (state.discs, PLAYERS.index(player)), Deadline.after(deadline_s, clock)
    found = best_move(_Search(), start, deadline, rng, most_depth=_DEPTHS[strength])
    at, turned = found.move
    turn = rules.turn_of(player, at, turned) if turned else ReversiTurn(player)
    reason = "takes a corner" if turned and _CORNERS >> at & 1 else "leaves the other player little choice"
    reason = reason if found.win_in is None else f"wins in {(found.win_in + 1) // 2} of your turns"
    return Hint(turn, reason, found.chance(_SCALE), "win", float(found.proven))
