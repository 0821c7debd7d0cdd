"""What one colour alone can reach with so many points: every end position, the fewest points, and how.

The search is Dijkstra's over layouts (see ``terrain``), a step being one move: a piece's whole run, as long as its
distance. A layout is dropped as soon as the points left can't bring every piece to a place where it may rest: a lower
bound on the steps that still have to be taken is kept with each one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from engine.games.blockade.board import CLEARS
from engine.games.blockade.enumeration.terrain import BLACK_MARKS, COVERED, Layout, Terrain, caps_in
from engine.search.budget import TimeCheck

LayoutMove = tuple[int, int]

_BY_COST = 16
"""Points count before moves, and no turn has as many moves as this."""

_DEAR = 1 << 30
_TO_LAND_ON_IT = 3
"""A piece that lands on one that waits takes a step, another to leave again, and what it waits for itself a third."""


class _Waiting(NamedTuple):
    """A piece that waits on a square where it can't rest, and nothing has happened yet that it waits for.

    That is another piece leaving or reaching the square it came from, or landing on top of it. Moves that do neither
    could as well be made before the piece is lifted, so each way has a twin in which they are: after a piece was put
    down to wait comes the move it waits for, with nothing between but other pieces put down to wait for the same.
    Only such ways are followed. ``need`` are the steps the piece still has to take at least.
    """

    square: int
    came_from: int
    need: int
    mark: str

    def touched_by(self, start: int, end: int, mark: str, change: int, *, tower: bool) -> bool:
        """Whether a move is what the piece waits for.

        It never is a piece of its own kind that comes to rest elsewhere or takes its place: the two could change parts.
        """
        if self.square == end:
            return True
        same = mark == self.mark
        if self.came_from == start:
            return not same or change > 0
        return self.came_from == end and (not same or tower)


class _Move(NamedTuple):
    """A move being tried: from where to where, the piles it leaves, its steps, whether it makes a tower."""

    start: int
    end: int
    rest: str
    placed: str
    steps: int
    tower: bool


Node = tuple[Layout, tuple[_Waiting, ...]]
CameFrom = dict[Node, tuple[Node, int, int] | None]
Edge = tuple[Layout, Layout, int]
"""A move from one layout to another, and its steps."""


@dataclass(frozen=True, slots=True)
class Reached:
    """One end position of a colour: the points it takes, whether it wins, how many new caps, its clear squares."""

    layout: Layout
    points: int
    wins: bool
    built: int
    clears: int


@dataclass(frozen=True, slots=True)
class Reach:
    """All that a colour can reach, the cheapest first and so the start first, and how.

    ``towers`` says whether any way led to a new tower, ``most_built`` how many caps were used at most on any way;
    ``edges`` are all moves that were found, kept when asked for.
    """

    ends: tuple[Reached, ...]
    came_from: CameFrom
    towers: bool
    most_built: int
    edges: tuple[Edge, ...]

    def moves_to(self, layout: Layout) -> tuple[LayoutMove, ...]:
        """The moves that lead to a layout, as start and end squares."""
        moves: list[LayoutMove] = []
        step = self.came_from[layout, ()]
        while step is not None:
            node, start, end = step
            moves.append((start, end))
            step = self.came_from[node]
        return tuple(reversed(moves))


def explore(
    terrain: Terrain,
    points: int,
    caps: tuple[int, ...],
    *,
    covered: bool = False,
    edges: bool = False,
    check_time: TimeCheck | None = None,
    worth: Callable[[Layout, int], bool] | None = None,
) -> Reach:
    """Find everything the colour can reach with so many points, its new towers capped with ``caps`` in turn.

    When ``caps`` run out, towers stay open. With ``covered`` a small may also wait where it would make a tower, as if
    a piece of another colour lay below it (written ``C``; it must leave again): never less than the other colour's help
    makes possible. ``edges`` keeps all moves, also those that this colour alone has no use for. ``check_time`` is
    called now and then, and what it raises ends the search. ``worth`` says whether a layout is worth following after
    so many points; the others are left out.
    """
    return _Search(terrain, points, caps, covered=covered, edges=edges, worth=worth).run(check_time)


class _Search:
    def __init__(
        self,
        terrain: Terrain,
        points: int,
        caps: tuple[int, ...],
        *,
        covered: bool,
        edges: bool,
        worth: Callable[[Layout, int], bool] | None,
    ) -> None:
        self.terrain = terrain
        self.points = points
        self.caps = "".join(str(size) for size in caps)
        self.covered = covered
        self.worth = worth
        start: Node = (terrain.start, ())
        self.cost: dict[Node, int] = {start: 0}
        self.came_from: CameFrom = {start: None}
        self.need: dict[Node, int] = {start: 0}
        self.won: set[Layout] = set()
        self.edges: list[Edge] | None = [] if edges else None
        self.towers = False
        self.most_built = 0
        self.buckets: list[list[Node]] = [[] for _ in range((points + 1) * _BY_COST)]
        self.buckets[0].append(start)

    def run(self, check_time: TimeCheck | None) -> Reach:
        visited: list[Node] = []
        cost, won = self.cost, self.won
        for bucket, nodes in enumerate(self.buckets):
            for node in nodes:
                if cost[node] == bucket:
                    visited.append(node)
                    if check_time is not None:
                        check_time()
                    if node[0] not in won:
                        self._expand(node, bucket)
        ends = tuple(self._reached(node) for node in visited if not self.need[node])
        return Reach(ends, self.came_from, self.towers, self.most_built, tuple(self.edges or ()))

    def _reached(self, node: Node) -> Reached:
        layout = node[0]
        clears = sum(1 << square for square in CLEARS if layout[square])
        return Reached(layout, self.cost[node] // _BY_COST, layout in self.won, caps_in(layout), clears)

    def _expand(self, node: Node, bucket: int) -> None:
        layout, waiting = node
        terrain, needs = self.terrain, self.terrain.needs
        strict, builds = terrain.options.strict, terrain.builds
        left = self.points - bucket // _BY_COST
        need = self.need[node]
        held = {each.square for each in waiting}
        for start, pile in enumerate(layout):
            if not pile or pile[-1] in BLACK_MARKS or start in held:
                continue
            mark, rest = "M" if pile[-1] == "M" else "S", pile[:-1]
            lifted_need = need - needs[start][pile] + needs[start][rest]
            budget = left - lifted_need
            worth_waiting = 0
            for least, steps, end in terrain.targets[mark][start]:
                if least > budget:
                    break
                before = layout[end]
                after = before + mark
                placements: tuple[str, ...] = (after,)
                tower = mark == "S" and end in builds and terrain.tower(end, after)
                if tower:
                    self.towers = True
                    built = caps_in(layout)
                    capped = after + self.caps[built : built + 1]
                    placements = (capped, before + COVERED) if self.covered else (capped,)
                for placed in placements:
                    change = needs[end][placed] - needs[end][before]
                    slack = budget - steps - change
                    if slack < 0 or (strict and needs[end][placed]):
                        continue
                    ahead = waiting
                    if self.edges is None:
                        if waiting:
                            touching = [each.touched_by(start, end, mark, change, tower=tower) for each in waiting]
                            if all(touching):
                                ahead = ()
                            elif any(touching) or change <= 0:
                                continue
                        if change > 0:
                            worth_waiting = worth_waiting or self._until_event(layout, start, mark, rest)
                            counted = lifted_need - sum(each.need for each in ahead)
                            if slack < worth_waiting and not counted:
                                continue
                            ahead = tuple(sorted((*ahead, _Waiting(end, start, change, pile[-1]))))
                    move = _Move(start, end, rest, placed, steps, tower)
                    self._reach(node, move, bucket, lifted_need + change, ahead)

    def _until_event(self, layout: Layout, start: int, mark: str, rest: str) -> int:
        """The fewest steps more until something happens that a piece lifted from ``start`` may wait for."""
        if rest and rest[-1] not in BLACK_MARKS and rest[-1] != mark:
            return 1
        row = self.terrain.way[start]
        fewest = _TO_LAND_ON_IT
        for square, pile in enumerate(layout):
            if pile and pile[-1] not in BLACK_MARKS and pile[-1] != mark and square != start:
                fewest = min(fewest, row[square])
        return fewest

    def _reach(self, node: Node, move: _Move, bucket: int, need: int, waiting: tuple[_Waiting, ...]) -> None:
        layout = node[0]
        cost = bucket + move.steps * _BY_COST + 1
        piles = list(layout)
        piles[move.start] = move.rest
        piles[move.end] = move.placed
        following = tuple(piles)
        if self.edges is None:
            if waiting and self.cost.get((following, ()), _DEAR) <= cost:
                return
        else:
            self.edges.append((layout, following, move.steps))
        reached = (following, waiting)
        if self.cost.get(reached, _DEAR) <= cost:
            return
        if self.worth is not None and not self.worth(following, cost // _BY_COST):
            return
        self.cost[reached] = cost
        self.came_from[reached] = (node, move.start, move.end)
        self.need[reached] = need
        self.buckets[cost].append(reached)
        if move.tower:
            self.most_built = max(self.most_built, caps_in(following))
            if self.terrain.wins(following):
                self.won.add(following)
