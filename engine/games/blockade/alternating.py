"""Turns in which the moves of a player's two colours must alternate, found move by move.

This search covers both colours at once. It is needed in the few positions where playing one colour after the other
misses some ends: a pile of one colour blocks the other, a piece between two others keeps a tower from being made, or
the colours take caps of two sizes in turn. Piles are written as in ``reach``, those of the second colour in lower case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.games.blockade.reach import BLACK_MARKS, SIZE_OF_MARK, Guide, Layout, LayoutMove, Terrain
from engine.games.blockade.state import TOWERS_TO_WIN, UNREACHABLE
from engine.support.lazy import OnDemand

_TO_COVER_AND_LEAVE = 2
"""The fewest points for stepping between two pieces of the other colour and out again."""
_TO_LEAVE = 1  # point
_TO_WAIT_FOR_ANOTHER = 3
"""The fewest points for a small that steps onto a medium and off again, and for the piece that passes meanwhile."""


@dataclass(frozen=True)
class PointBudget:
    """The ways to share out the points of a roll; each pair holds the most points for each colour."""

    allowed: tuple[tuple[int, int], ...]

    @property
    def most(self) -> tuple[int, int]:
        """The most points that each colour can get."""
        return max(first for first, _ in self.allowed), max(second for _, second in self.allowed)

    def covers(self, first: int, second: int) -> bool:
        """Return whether the two colours may use these points in one turn."""
        return any(first <= most and second <= other_most for most, other_most in self.allowed)

    def covers_with_help(self, alone: tuple[int, int], least: tuple[int, int]) -> bool:
        """Return whether the points may suffice, given what each colour takes alone, and at least takes with help."""
        helping = [max(points, _TO_COVER_AND_LEAVE) for points in (*alone, *least)]
        return (
            self.covers(*alone)
            or self.covers(helping[0], least[1])
            or self.covers(least[0], helping[1])
            or self.covers(helping[2], helping[3])
        )

    def with_help(self, which: int, terrains: tuple[Terrain, Terrain]) -> int:
        """Return the most points that one colour can have in a turn in which the other one helps it; 0 if it can't."""
        terrain = terrains[which]
        if terrain.options.strict:
            return self.most[which]
        costs = tuple(_costs_of_help(terrain, terrains[1 - which]))
        return max(
            (
                points[which]
                for points in self.allowed
                if any(points[which] >= own and points[1 - which] >= cover for own, cover in costs)
            ),
            default=0,
        )


def _costs_of_help(terrain: Terrain, theirs: Terrain) -> Iterator[tuple[int, int]]:
    """Yield, for each square where the other colour might prevent a tower, the fewest points this takes of each.

    The medium must be there, and a small must step onto it and off again so that another piece can pass. Meanwhile the
    other colour's piece must step between the two and leave again.
    """
    others = [square for square, pile in enumerate(theirs.start) if pile]
    mediums = [square for square, pile in enumerate(terrain.start) if "M" in pile]
    for square in sorted(terrain.builds):
        pile = terrain.start[square]
        if set(pile) == {"M"}:
            laid = 0
        elif "M" in pile:
            laid = 1
        else:
            laid = min((terrain.distance[medium][square] for medium in mediums), default=UNREACHABLE) + bool(pile)
        cover = min((terrain.distance[other][square] for other in others), default=UNREACHABLE)
        yield laid + _TO_WAIT_FOR_ANOTHER, cover + _TO_LEAVE


MOST_NODES = 5_000
"""The search gives up after this many positions; it then misses a few unusual ends in ten thousand."""


class WayToOneEnd:
    """A lower bound on the steps from each layout of one colour to one end, without exploring the moves."""

    def __init__(self, terrain: Terrain, end: Layout) -> None:
        self.terrain = terrain
        self._end = end
        self._guide = Guide(terrain, end)

    def steps_left(self, layout: Layout) -> int:
        """Return a lower bound on the steps from a layout to the end; 0 only at the end."""
        return 0 if layout == self._end else max(1, self._guide.steps_from(layout))


@dataclass(frozen=True, slots=True)
class _Node:
    piles: Layout
    layouts: tuple[Layout, Layout]
    used: tuple[int, int]
    wins: bool
    came_by: tuple[_Node, LayoutMove] | None
    """The node before, and the move from there; ``None`` at the start."""


def alternating_moves(
    ways: tuple[WayToOneEnd, WayToOneEnd], allowed: Sequence[tuple[int, int]], caps: tuple[int, ...]
) -> tuple[LayoutMove, ...] | None:
    """Return a cheapest turn to the two ends for one of the ``allowed`` pairs of points; ``None`` if none is found."""
    return _AlternatingSearch(ways, allowed, caps).run()


class _AlternatingSearch:
    def __init__(
        self, ways: tuple[WayToOneEnd, WayToOneEnd], allowed: Sequence[tuple[int, int]], caps: tuple[int, ...]
    ) -> None:
        self.ways = ways
        self.terrains = terrains = (ways[0].terrain, ways[1].terrain)
        self.allowed = allowed
        self.caps = "".join(str(size) for size in caps)
        self.strict = self.terrains[0].options.strict
        self.rings = self.terrains[0].rings
        self._rests: OnDemand[tuple[int, str], bool] = OnDemand(lambda at: may_rest(terrains, *at))
        """``_rests[square, pile]``: whether all pieces of the pile may rest there."""
        self.fronts: dict[Layout, list[tuple[int, int]]] = {}
        most = max(first + second for first, second in allowed)
        self.buckets: list[list[_Node]] = [[] for _ in range(most + 1)]

    def run(self) -> tuple[LayoutMove, ...] | None:
        first, second = (terrain.start for terrain in self.terrains)
        start = tuple(mine or theirs.lower() for mine, theirs in zip(first, second, strict=True))
        self._push(_Node(start, (first, second), (0, 0), wins=False, came_by=None))
        followed = 0
        for bucket in self.buckets:
            for node in bucket:
                followed += 1
                if followed > MOST_NODES:
                    return None
                if self._is_end(node):
                    return _moves_to(node)
                if not node.wins:
                    self._expand(node)
        return None

    def _is_end(self, node: _Node) -> bool:
        return all(ways.steps_left(layout) == 0 for ways, layout in zip(self.ways, node.layouts, strict=True)) and all(
            self._rests[square, pile] for square, pile in enumerate(node.piles) if pile
        )

    def _push(self, node: _Node) -> None:
        needed = [
            used + ways.steps_left(layout)
            for used, ways, layout in zip(node.used, self.ways, node.layouts, strict=True)
        ]
        if not any(needed[0] <= first and needed[1] <= second for first, second in self.allowed):
            return
        front = self.fronts.setdefault(node.piles, [])
        if any(first <= node.used[0] and second <= node.used[1] for first, second in front):
            return
        front.append(node.used)
        self.buckets[sum(node.used)].append(node)

    def _expand(self, node: _Node) -> None:
        for start, pile in enumerate(node.piles):
            if not pile or not pile[-1].isalpha():
                continue
            which = int(pile[-1].islower())
            left = max(allowed[which] for allowed in self.allowed) - node.used[which]
            for steps, ring in enumerate(self.rings[start][1 : left + 1], 1):
                for end in ring:
                    self._move(node, start, end, which, steps)

    def _move(self, node: _Node, start: int, end: int, which: int, steps: int) -> None:
        piles = node.piles
        mark = piles[start][-1]
        after = piles[end] + mark
        tower = self._tower(which, end, after)
        black = ""
        if tower:
            built = sum(each in BLACK_MARKS for other in piles for each in other)
            black = self.caps[built : built + 1]
        if self.strict and not self._rests[end, after + black]:
            return
        following = list(piles)
        following[start] = piles[start][:-1]
        following[end] = after + black
        layout = list(node.layouts[which])
        layout[start] = layout[start][:-1]
        ways = self.ways[which]
        covered = not tower and mark in "Ss" and ways.terrain.tower(end, layout[end] + "S")
        layout[end] += "C" if covered else mark.upper() + black
        reached = tuple(layout)
        layouts = (reached, node.layouts[1]) if which == 0 else (node.layouts[0], reached)
        used = (node.used[0] + steps, node.used[1]) if which == 0 else (node.used[0], node.used[1] + steps)
        wins = tower and self._wins(which, following)
        self._push(_Node(tuple(following), layouts, used, wins, (node, (start, end))))

    def _tower(self, which: int, square: int, pile: str) -> bool:
        own = pile if which == 0 else pile.swapcase()
        return own.isalpha() and own.isupper() and self.terrains[which].tower(square, own)

    def _wins(self, which: int, piles: Sequence[str]) -> bool:
        terrain = self.terrains[which]
        towers = terrain.standing + sum(
            any(mark in BLACK_MARKS for mark in piles[square]) or self._tower(which, square, piles[square])
            for square in terrain.builds
        )
        return towers >= TOWERS_TO_WIN


def may_rest(terrains: tuple[Terrain, Terrain], square: int, pile: str) -> bool:
    """Return whether all pieces of a pile of both colours may rest where they lie on a square."""
    rooms = [terrain.room[square] for terrain in terrains]
    for mark in pile:
        if mark in BLACK_MARKS:
            rooms = [int(mark) - 1 if square in terrain.builds else 0 for terrain in terrains]
            continue
        which = int(mark.islower())
        size = SIZE_OF_MARK[mark.upper()]
        if size > rooms[which]:
            return False
        rooms[which], rooms[1 - which] = size, 0
    return True


def _moves_to(node: _Node) -> tuple[LayoutMove, ...]:
    moves: list[LayoutMove] = []
    while node.came_by is not None:
        node, move = node.came_by
        moves.append(move)
    return tuple(reversed(moves))
