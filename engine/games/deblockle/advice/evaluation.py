"""Deblockle for the shared search: move ordering and evaluation.

The game is a race. The number of turns that a block needs to its goal on an empty board, computed once for each square
and orientation, is the main term of the evaluation. A block with several shortest ways is slightly better off than one
with a single way, which may be blocked. Each further block on the board counts as one more turn.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from engine.games.deblockle.board import PLAYERS, SQUARES
from engine.games.deblockle.fast_rules import (
    AFTER_MASK,
    BEFORE_SHIFT,
    OFF,
    ORIENTATIONS,
    OVER,
    FastRules,
    Move,
    Position,
    codes_of,
    fast_rules_of,
)
from engine.games.deblockle.state import DeblockleOptions
from engine.search.budget import TimeCheck
from engine.search.two_player import Rules

TURN = 100
"""Points for one turn of the race."""
_TO_MOVE = TURN // 2
_FEWER_WAYS = 0.6
_FAR = 20


class SearchRules(Rules[Position, Move]):
    """Deblockle with every face known, for the shared search; call `prepare` before the first one."""

    def __init__(self, core: FastRules) -> None:
        self.core = core
        self.to_go: tuple[tuple[int, ...], ...] = ()
        """``to_go[player][code]``: the number of turns a block needs on an empty board; 0 once it has left."""
        self._points: tuple[tuple[int, ...], ...] = ()
        self._ways_on: tuple[list[tuple[int, ...]], ...] = tuple([] for _ in PLAYERS)

    def prepare(self, check_time: TimeCheck) -> None:
        """Compute the tables if they are missing; calls ``check_time`` regularly, which may raise.

        The next call continues from there, so even hints with little time complete the tables after a few calls.
        """
        if not self.to_go:
            for player, ways in enumerate(self._ways_on):
                _extend_following(self.core, player, ways, check_time)
            to_go = tuple(_turns_to_go(ways) for ways in self._ways_on)
            self._points = tuple(_points(ways, turns) for ways, turns in zip(self._ways_on, to_go, strict=True))
            self.to_go = to_go

    def key(self, position: Position) -> Position:
        """Return the position itself, which is small and complete."""
        return position

    def mover(self, position: Position) -> int:
        """Return the player to move, ``OVER`` if neither can."""
        return position[0]

    def ended(self, position: Position) -> int | None:
        """Return 1 if the mover has removed every block, -1 if the opponent has, 0 if neither can move."""
        mover, golds, teals = position
        if golds and teals:
            return 0 if mover == OVER else None
        return 1 if bool(golds) == bool(mover) else -1

    def moves(self, position: Position) -> Sequence[Move]:
        """Return every move, those that gain the most in the race first."""
        points = self._points[position[0]]
        # This is codes_of without the call, which counts at every node of a search.
        return sorted(
            self.core.moves(position), key=lambda move: points[move & AFTER_MASK] - points[move >> BEFORE_SHIFT]
        )

    def play(self, position: Position, move: Move) -> Position:
        """Return the position after a move; a player who can't move is skipped."""
        return self.core.play(position, move)

    def evaluate(self, position: Position) -> int:
        """Return the mover's lead in the race, in hundredths of a turn."""
        mover, golds, teals = position
        of_gold, of_teal = self._points
        ahead = 0
        for code in teals:
            ahead += of_teal[code]
        for code in golds:
            ahead -= of_gold[code]
        return (-ahead if mover else ahead) + _TO_MOVE

    def winning_move(self, position: Position) -> Move | None:
        """Return the move by which the mover's last block leaves the board, or ``None``."""
        mover, golds, teals = position
        codes = teals if mover else golds
        return self.core.leaving(mover, codes[0]) if len(codes) == 1 and mover != OVER else None


def search_rules_of(options: DeblockleOptions) -> SearchRules:
    """Return the search rules for these options, cached with their tables."""
    return _search_rules(fast_rules_of(options))


_search_rules = functools.lru_cache(maxsize=16)(SearchRules)


_Following = Sequence[tuple[int, ...]]
"""The codes that a block may have after a turn on an empty board, by the code before."""


def _extend_following(core: FastRules, player: int, following: list[tuple[int, ...]], check_time: TimeCheck) -> None:
    """Add the codes that follow each code which has none yet."""
    for code in range(len(following), SQUARES * ORIENTATIONS):
        alone: Position = (player, (), (code,)) if player else (player, (code,), ())
        following.append(tuple(codes_of(move)[1] for move in core.moves(alone)))
        if code % ORIENTATIONS == 0:
            check_time()


def _turns_to_go(following: _Following) -> tuple[int, ...]:
    """Return the number of turns each code needs to leave the board, by backward search; `_FAR` if it never can."""
    leading: dict[int, list[int]] = {}
    for code, after in enumerate(following):
        for each in after:
            leading.setdefault(each, []).append(code)
    turns = [_FAR] * ((OFF + 1) * ORIENTATIONS)
    reached = list(range(OFF * ORIENTATIONS, (OFF + 1) * ORIENTATIONS))
    for code in reached:
        turns[code] = 0
    while reached:
        before = {code for after in reached for code in leading.get(after, ()) if turns[code] == _FAR}
        count = turns[reached[0]] + 1
        for code in before:
            turns[code] = count
        reached = sorted(before)
    return tuple(turns)


def _points(following: _Following, turns: tuple[int, ...]) -> tuple[int, ...]:
    """Return the remaining cost of a block with each code, in hundredths of a turn; 0 once it has left."""
    points = []
    for code, after in enumerate(following):
        ways = sum(turns[each] < turns[code] for each in after)
        points.append(round(TURN * (1 + turns[code] + _FEWER_WAYS**ways)))
    return (*points, *[0] * ORIENTATIONS)
