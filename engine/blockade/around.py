"""Turns in which one colour begins, waits out of the way while the other one plays, and goes on.

So clear squares change hands in both directions in one turn, or a piece leaves a clear square to the other colour and
then wins. Of the colour that waits, the ends are searched for with the fewest points on ways that pass a layout which
leaves the right squares free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.blockade.board import BASES
from engine.blockade.explore import Edge, LayoutMove
from engine.blockade.terrain import Layout, Terrain

_MOST_POINTS = 6

Passing = Callable[[Layout], bool]
Around = tuple[tuple[LayoutMove, ...], tuple[LayoutMove, ...]]
"""The moves before the other colour plays, and those after it."""


def leaves_free(terrain: Terrain, clears: int, *, friend: int | None = None) -> Passing:
    """Whether a layout that has not won has nothing on these clear squares.

    With ``friend`` also nothing on what is that colour's, so that it may play all it likes: enough, where the clear
    squares alone are what must be.
    """
    kept = [square for square, base in enumerate(BASES) if clears >> square & 1 or base == friend]

    def passing(layout: Layout) -> bool:
        return not any(layout[square] for square in kept) and not terrain.wins(layout)

    return passing


@dataclass(frozen=True)
class Detours:
    """The ends of a colour by ways past a passing layout: the fewest points each takes, and the moves."""

    points: dict[Layout, int]
    _came_from: dict[tuple[Layout, bool], tuple[Layout, bool]]

    def around(self, end: Layout) -> Around:
        """The moves to an end, in the two parts."""
        parts: tuple[list[LayoutMove], list[LayoutMove]] = ([], [])
        stage = (end, True)
        while stage in self._came_from:
            before = self._came_from[stage]
            if before[0] != stage[0]:
                parts[before[1]].append(_move_between(before[0], stage[0]))
            stage = before
        return tuple(reversed(parts[0])), tuple(reversed(parts[1]))


def detours(start: Layout, edges: Iterable[Edge], passing: Passing) -> Detours:
    """Find the ways from a start past a passing layout to wherever they lead, within the points of a turn."""
    onward: dict[Layout, dict[Layout, int]] = {}
    for before, after, steps in edges:
        found = onward.setdefault(before, {})
        found[after] = min(steps, found.get(after, steps))
    points: dict[tuple[Layout, bool], int] = {}
    came_from: dict[tuple[Layout, bool], tuple[Layout, bool]] = {}
    buckets: list[list[tuple[tuple[Layout, bool], tuple[Layout, bool] | None]]] = [[] for _ in range(_MOST_POINTS + 1)]
    buckets[0].append(((start, False), None))
    for used, bucket in enumerate(buckets):
        for stage, origin in bucket:
            if stage in points:
                continue
            points[stage] = used
            if origin is not None:
                came_from[stage] = origin
            layout, passed = stage
            if not passed and passing(layout):
                bucket.append(((layout, True), stage))
            for after, steps in onward.get(layout, {}).items():
                if used + steps <= _MOST_POINTS:
                    buckets[used + steps].append(((after, passed), stage))
    return Detours({layout: used for (layout, passed), used in points.items() if passed}, came_from)


def _move_between(before: Layout, after: Layout) -> LayoutMove:
    changed = [square for square, pile in enumerate(before) if pile != after[square]]
    start = next(square for square in changed if len(after[square]) < len(before[square]))
    return start, next(square for square in changed if square != start)
