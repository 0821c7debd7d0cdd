"""The ends that each of a player's two colours can reach: alone, around the other colour's moves, or with its help.

A *variant* is the situation that a colour faces after the other one has played. In a *detour*, one colour starts, waits
out of the way while the other one plays, and then continues. That lets clear squares change hands in both directions,
or lets a piece leave a clear square to the other colour and then win.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from engine.games.blockade.board import BASES, MOST_POINTS, UNREACHABLE, clears_held
from engine.games.blockade.enumeration.reach import Edge, LayoutMove, Reach, explore
from engine.games.blockade.enumeration.terrain import Layout, Terrain, terrain_of
from engine.games.blockade.state import BlockadeState
from engine.support.lazy import OnDemand

Caps = tuple[int, ...]


class ColourEnds:
    """What one of the two colours can reach, in every variant that the other one's play may create.

    A variant consists of the clear squares that the other colour holds and the caps that are left.
    """

    def __init__(self, state: BlockadeState, colour: int, points: int) -> None:
        self.colour = colour
        self.points = points
        self.terrain: OnDemand[int, Terrain] = OnDemand(
            lambda taken: terrain_of(state.stacks, state.options, colour, taken)
        )
        """``terrain[taken]``: the colour's terrain with these clear squares taken."""
        self._supply = state.supply
        self._variants: dict[tuple[int, int], int] = {}
        self._explored: list[tuple[int, Caps]] = []
        self.reaches: list[Reach] = []
        self._detours: dict[tuple[int, int | None], Detours] = {}
        self.starts_on = clears_held(state.stacks, colour)

    def variant(self, taken: int, used: int) -> int:
        """Return the number of the variant in which the other colour holds ``taken`` and has used ``used`` caps."""
        if (taken, used) not in self._variants:
            self._variants[taken, used] = self._explore(taken, self._supply[used : used + self.points])
        return self._variants[taken, used]

    def variants_after(self, most_used: int) -> set[int]:
        """Return the numbers of the variants so far in which the other colour has used no more caps than this."""
        return {number for (_, used), number in self._variants.items() if used <= most_used}

    def _explore(self, taken: int, caps: Caps) -> int:
        for number, ((known_taken, known_caps), reach) in enumerate(zip(self._explored, self.reaches, strict=True)):
            tried = reach.most_built + 1
            if known_taken == taken and known_caps[:tried] == caps[:tried]:
                return number
        self._explored.append((taken, caps))
        self.reaches.append(explore(self.terrain[taken], self.points, caps))
        return len(self.reaches) - 1

    @property
    def most_built(self) -> int:
        """The most caps that the colour uses in the variants explored so far."""
        return max(reach.most_built for reach in self.reaches)

    @cached_property
    def helped_edges(self) -> tuple[Edge, ...]:
        """All moves that the colour may make towards any end, with the other colour's help."""
        return tuple(edge for reach in self.with_help(self.points, edges=True) for edge in reach.edges)

    @cached_property
    def own_edges(self) -> tuple[Edge, ...]:
        """All moves that the colour may make towards any end on its own."""
        reaches = [explore(self.terrain[0], self.points, caps, edges=True) for caps in self._sequences]
        return tuple(edge for reach in reaches for edge in reach.edges)

    @property
    def _sequences(self) -> tuple[Caps, ...]:
        """The possible sequences of caps for the colour's towers, omitting those that make no difference."""
        return tuple(dict.fromkeys(caps[: self.most_built + 1] for _, caps in self._explored))

    def detours(self, clears: int, friend: int | None) -> Detours:
        """Return the colour's ends by moves that leave these clear squares free in between; see ``leaves_free``."""
        if (clears, friend) not in self._detours:
            terrain = self.terrain[0]
            passing = leaves_free(terrain, clears, friend=friend)
            self._detours[clears, friend] = detours(terrain.start, self.own_edges, passing)
        return self._detours[clears, friend]

    def with_help(self, points: int, *, edges: bool = False) -> list[Reach]:
        """Return a superset of what the colour can reach with ``points`` and the other colour's help."""
        if not points:
            return []
        return [explore(self.terrain[0], points, caps, covered=True, edges=edges) for caps in self._sequences]


@dataclass(frozen=True)
class Group:
    """What the ends of one group have in common: no condition on turns distinguishes between them.

    ``points`` holds the points they take in each variant, ``None`` if they can't be reached in it. ``least`` is a lower
    bound on the points with any help of the other colour. ``caps`` holds the new caps, the largest first.
    """

    clears: int
    wins: bool
    caps: Caps
    points: tuple[int | None, ...]
    least: int

    @property
    def alone(self) -> int:
        """The fewest points that the ends take without help."""
        return min((points for points in self.points if points is not None), default=UNREACHABLE)


LayoutTest = Callable[[Layout], bool]
DetourMoves = tuple[tuple[LayoutMove, ...], tuple[LayoutMove, ...]]
"""The moves before the other colour plays, and those after it."""


def leaves_free(terrain: Terrain, clears: int, *, friend: int | None) -> LayoutTest:
    """Return a test of whether a layout has not won yet and leaves these clear squares free.

    With ``friend``, the layout must also leave that colour's own squares free, so that it can't hinder its moves.
    Free clear squares are necessary for the other colour to play; free squares of its own make that sufficient.
    """
    kept = [square for square, base in enumerate(BASES) if clears >> square & 1 or base == friend]

    def passing(layout: Layout) -> bool:
        return not any(layout[square] for square in kept) and not terrain.wins(layout)

    return passing


@dataclass(frozen=True)
class Detours:
    """The ends of a colour that it can reach through a passing layout: their fewest points, and the moves."""

    points: dict[Layout, int]
    _came_from: dict[tuple[Layout, bool], tuple[Layout, bool]]

    def around(self, end: Layout) -> DetourMoves:
        """Return the moves to an end, before and after the passing layout."""
        parts: tuple[list[LayoutMove], list[LayoutMove]] = ([], [])
        stage = (end, True)
        while stage in self._came_from:
            before = self._came_from[stage]
            if before[0] != stage[0]:
                parts[before[1]].append(_move_between(before[0], stage[0]))
            stage = before
        return tuple(reversed(parts[0])), tuple(reversed(parts[1]))


def detours(start: Layout, edges: Iterable[Edge], passing: LayoutTest) -> Detours:
    """Find every end that can be reached from a start through a passing layout, within the points of a turn."""
    onward: dict[Layout, dict[Layout, int]] = {}
    for before, after, steps in edges:
        found = onward.setdefault(before, {})
        found[after] = min(steps, found.get(after, steps))
    points: dict[tuple[Layout, bool], int] = {}
    came_from: dict[tuple[Layout, bool], tuple[Layout, bool]] = {}
    buckets: list[list[tuple[tuple[Layout, bool], tuple[Layout, bool] | None]]] = [[] for _ in range(MOST_POINTS + 1)]
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
                if used + steps <= MOST_POINTS:
                    buckets[used + steps].append(((after, passed), stage))
    return Detours({layout: used for (layout, passed), used in points.items() if passed}, came_from)


def _move_between(before: Layout, after: Layout) -> LayoutMove:
    changed = [square for square, pile in enumerate(before) if pile != after[square]]
    start = next(square for square in changed if len(after[square]) < len(before[square]))
    return start, next(square for square in changed if square != start)
