"""A lower bound on the steps between two layouts of a colour, and the moves that may lead from one to the other.

On each square, the lowest wrong piece and everything above it must be lifted, and each lifted piece must go where one
is missing. The cheapest assignment of lifted to missing pieces, with distances as costs, is a lower bound on the steps.
It is therefore an admissible heuristic for an A* search.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from engine.games.blockade.board import UNREACHABLE
from engine.games.blockade.enumeration.terrain import BLACK_MARKS, TO_LIFT_AND_RETURN, Layout, Terrain
from engine.support.lazy import OnDemand


class _ToDo(NamedTuple):
    """For mediums and smalls: the squares from which pieces must be lifted, and those where pieces are missing.

    ``steps`` is the lower bound that follows, and ``moves`` that on the number of moves.
    """

    steps: int
    moves: int
    lifted: dict[str, list[int]]
    missing: dict[str, list[int]]


class Guide:
    """Guides a search to one layout: lower bounds, and the moves that stay within the points."""

    def __init__(self, terrain: Terrain, end: Layout) -> None:
        self._terrain = terrain
        self._end = end
        self._to_do: OnDemand[Layout, _ToDo] = OnDemand(lambda layout: _to_do(terrain, layout, end))

    def steps_from(self, layout: Layout) -> int:
        """Return a lower bound on the steps from a layout to the end."""
        return self._to_do[layout].steps

    def steps_and_moves_from(self, layout: Layout) -> tuple[int, int]:
        """Return lower bounds on the steps and on the number of moves from a layout to the end."""
        to_do = self._to_do[layout]
        return to_do.steps, to_do.moves

    def squares_for(self, layout: Layout, start: int, most: int) -> int:
        """Return the set of squares to which the top piece of ``start`` may go with ``most`` steps left to the end.

        Some piece must continue from the new square to one where a piece is missing. If the moved piece lay right,
        another one must replace it. By the triangle inequality, pairing the two ends directly costs no more.
        """
        to_do, distance, between = self._to_do[layout], self._terrain.distance, self._terrain.between
        pile = layout[start]
        mark = "M" if pile[-1] == "M" else "S"
        spare = most - to_do.steps
        pairs = [
            (first, last, distance[first][last] if first != last else TO_LIFT_AND_RETURN)
            for first in set(to_do.lifted[mark])
            for last in set(to_do.missing[mark])
        ]
        if not self._end[start].startswith(pile):
            ahead = [(last, straight + spare) for first, last, straight in pairs if first == start]
        else:
            ahead = [(last, straight + spare - distance[first][start]) for first, last, straight in pairs]
            ahead.append((start, spare))
        squares = 0
        for last, limit in ahead:
            squares |= between[start, last, limit]
        return squares


def least_steps(terrain: Terrain, before: Layout, after: Layout) -> int:
    """Return a lower bound on the steps from one layout to another; ``UNREACHABLE`` or more if there is no way."""
    return _to_do(terrain, before, after).steps


def _to_do(terrain: Terrain, before: Layout, after: Layout) -> _ToDo:
    lifted: dict[str, list[int]] = {"M": [], "S": []}
    missing: dict[str, list[int]] = {"M": [], "S": []}
    steps = 0
    for square, pile in enumerate(before):
        wanted = after[square]
        if pile == wanted:
            continue
        off, on = _differing(pile, wanted)
        for mark in off:
            if mark in BLACK_MARKS:
                steps = UNREACHABLE
            else:
                lifted["M" if mark == "M" else "S"].append(square)
        for mark in on:
            missing[mark].append(square)
    pairings = terrain.pairings
    steps += sum(pairings[tuple(lifted[mark]), tuple(missing[mark])] for mark in "MS")
    return _ToDo(steps, len(lifted["M"]) + len(lifted["S"]), lifted, missing)


# A search compares the same few piles thousands of times, so results are cached.
@lru_cache(maxsize=4096)
def _differing(before: str, after: str) -> tuple[str, str]:
    """Return the pieces to lift from one pile and to add to make it another, without new caps, which cost no move."""
    kept = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        kept += 1
    return before[kept:], "".join(mark for mark in after[kept:] if mark not in BLACK_MARKS)
