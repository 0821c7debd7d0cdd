"""How far it is from one layout of a colour to another, and which moves may lead there.

From the lowest piece that is wrong on a square everything has to be lifted, and all that is lifted has to be put where
something is missing. Pairing the two, each pair as far apart as its squares, gives the fewest steps there could be: the
bound of a search that goes straight on (A*), where an assignment of least cost is a bound that never is too high.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from engine.games.blockade.board import UNREACHABLE
from engine.games.blockade.enumeration.terrain import BLACK_MARKS, TO_LIFT_AND_RETURN, Layout, Terrain


class _ToDo(NamedTuple):
    """For mediums and smalls the squares from which some must be lifted, and those where some are missing."""

    steps: int
    lifted: dict[str, list[int]]
    missing: dict[str, list[int]]


class Guide:
    """What may lead to one layout within so many points."""

    def __init__(self, terrain: Terrain, end: Layout) -> None:
        self._terrain = terrain
        self._end = end
        self._known: dict[Layout, _ToDo] = {}

    def _to_do(self, layout: Layout) -> _ToDo:
        known = self._known.get(layout)
        if known is None:
            known = self._known[layout] = _to_do(self._terrain, layout, self._end)
        return known

    def steps_from(self, layout: Layout) -> int:
        """How many steps it takes at least from a layout."""
        return self._to_do(layout).steps

    def squares_for(self, layout: Layout, start: int, most: int) -> int:
        """The set of squares to which the top piece of a square may go, with ``most`` steps at most left to the end.

        Wherever it goes, some piece has to go on from there to where one is missing, and if it lay right another one
        has to take its place. By the triangle inequality a pairing in which that is one way is no longer.
        """
        to_do, way, between = self._to_do(layout), self._terrain.way, self._terrain.between
        pile = layout[start]
        mark = "M" if pile[-1] == "M" else "S"
        spare = most - to_do.steps
        pairs = [
            (first, last, way[first][last] if first != last else TO_LIFT_AND_RETURN)
            for first in set(to_do.lifted[mark])
            for last in set(to_do.missing[mark])
        ]
        if not self._end[start].startswith(pile):
            ahead = [(last, straight + spare) for first, last, straight in pairs if first == start]
        else:
            ahead = [(last, straight + spare - way[first][start]) for first, last, straight in pairs]
            ahead.append((start, spare))
        squares = 0
        for last, limit in ahead:
            squares |= between[start, last, limit]
        return squares


def least_steps(terrain: Terrain, before: Layout, after: Layout) -> int:
    """How many steps it takes at least from one layout to another; ``UNREACHABLE`` or more when it can't be."""
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
    return _ToDo(steps, lifted, missing)


# A search compares the same few piles thousands of times.
@lru_cache(maxsize=4096)
def _differing(before: str, after: str) -> tuple[str, str]:
    """What has to be lifted from a pile to make it another one, and what to be put on it; caps come by themselves."""
    kept = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        kept += 1
    return before[kept:], "".join(mark for mark in after[kept:] if mark not in BLACK_MARKS)
