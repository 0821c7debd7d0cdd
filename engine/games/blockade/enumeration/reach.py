"""Everything that one colour alone can reach with its points: each end position, its fewest points, and the moves.

This is Dijkstra's algorithm over layouts (see ``terrain``). An edge is one move, a piece's whole run, and costs its
distance. The search keeps a lower bound on the steps that each layout still needs, and drops the layout as soon as the
points left can't bring every piece to a square where it may rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from engine.games.blockade.enumeration.guide import Guide
from engine.games.blockade.enumeration.terrain import BLACK_MARKS, COVERED, Layout, Terrain, caps_in, clears_of
from engine.search.budget import TimeCheck

LayoutMove = tuple[int, int]

COST_OF_A_POINT = 16
"""The cost of a point, in moves: fewer points always win, and no turn has this many moves."""

UNREACHED_COST = 1 << 30
_TO_LAND_ON_IT = 3
"""The steps of landing on a waiting piece: one to land, one to leave again, and one by the piece it waits for."""


class _Waiting(NamedTuple):
    """A piece on a square where it can't rest, still waiting for an event.

    The event is another piece that leaves or reaches the square it came from, or lands on top of it. Any other move
    could also be made before the piece is lifted. So every sequence has a twin in which the event directly follows the
    wait, with only other pieces that start waiting for the same event in between. The search follows only such
    sequences. ``need`` is a lower bound on the steps that the piece still has to take.
    """

    square: int
    came_from: int
    need: int
    mark: str

    def touched_by(self, start: int, end: int, mark: str, change: int, *, tower: bool) -> bool:
        """Return whether a move is the event that the piece waits for.

        A piece of the same kind that comes to rest elsewhere or takes its place doesn't count, as the two could swap
        roles.
        """
        if self.square == end:
            return True
        same = mark == self.mark
        if self.came_from == start:
            return not same or change > 0
        return self.came_from == end and (not same or tower)


class Move(NamedTuple):
    """A move under consideration.

    ``rest`` is the pile it leaves behind, ``placed`` the pile it makes at ``end``, and ``tower`` says whether that is a
    tower.
    """

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
    """One end position of a colour: its points, whether it wins, the number of new caps, and its clear squares."""

    layout: Layout
    points: int
    wins: bool
    built: int
    clears: int


@dataclass(frozen=True, slots=True)
class Way:
    """The cheapest way for a colour to reach one layout: its points and moves."""

    points: int
    moves: tuple[LayoutMove, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything that a colour can reach, cheapest first, starting with the layout at the start of the turn.

    ``most_built`` is the most caps that any sequence used. ``edges`` holds all moves found, if the search was asked to
    keep them.
    """

    ends: tuple[Reached, ...]
    came_from: CameFrom
    most_built: int
    edges: tuple[Edge, ...]

    def moves_to(self, layout: Layout) -> tuple[LayoutMove, ...]:
        """Return the moves that lead to a layout, as start and end squares."""
        return moves_to_node((layout, ()), self.came_from)


def moves_to_node(node: Node, came_from: CameFrom) -> tuple[LayoutMove, ...]:
    """Return the moves that lead to a node, as start and end squares."""
    moves: list[LayoutMove] = []
    step = came_from[node]
    while step is not None:
        before, start, end = step
        moves.append((start, end))
        step = came_from[before]
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
    """Find everything that the colour can reach with these points, putting ``caps`` on its new towers in order.

    When ``caps`` run out, towers stay open. With ``covered``, a small may also wait where it would make a tower, as if
    a piece of another colour lay below it (written ``C``; it must leave again). This includes everything that the other
    colour's help makes possible. ``edges`` keeps all moves, including those that are useless to this colour alone.
    ``check_time`` is called regularly, and what it raises ends the search. ``worth`` says whether to follow a layout
    that takes the given points; the others are skipped.
    """
    return Search(terrain, points, caps, covered=covered, edges=edges, worth=worth).run(check_time)


class Search:
    """The search; ``explore`` explains the parameters. With a ``guide``, it follows only moves that may lead there."""

    def __init__(
        self,
        terrain: Terrain,
        points: int,
        caps: tuple[int, ...],
        *,
        covered: bool,
        edges: bool,
        worth: Callable[[Layout, int], bool] | None = None,
        guide: Guide | None = None,
    ) -> None:
        self.guide = guide
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
        self.most_built = 0
        self.buckets: list[list[Node]] = [[] for _ in range((points + 1) * COST_OF_A_POINT)]
        self.buckets[self._cost_ahead(terrain.start)].append(start)

    def run(self, check_time: TimeCheck | None) -> Reach:
        """Search everything."""
        visited: list[Node] = []
        for node in self._nodes():
            visited.append(node)
            if check_time is not None:
                check_time()
        ends = tuple(self._reached(node) for node in visited if not self.need[node])
        return Reach(ends, self.came_from, self.most_built, tuple(self.edges or ()))

    def way_to(self, end: Layout) -> Way | None:
        """Search until the cheapest way to a layout is found; ``None`` if there is none."""
        for node in self._nodes():
            if node == (end, ()):
                return Way(self.cost[node] // COST_OF_A_POINT, moves_to_node(node, self.came_from))
        return None

    def _nodes(self) -> Iterator[Node]:
        """Yield the nodes, cheapest first; a node is expanded only after it was yielded.

        With a guide, the cost that lies ahead counts too (A*, Hart, Nilsson and Raphael 1968), and of nodes that are
        equal by that, the latest comes first, since it is nearest to the end.
        """
        for least, nodes in enumerate(self.buckets):
            for node in nodes if self.guide is None else _last_first(nodes):
                cost = least - self._cost_ahead(node[0])
                if self.cost[node] == cost:
                    yield node
                    if node[0] not in self.won:
                        self._expand(node, cost)

    def _cost_ahead(self, layout: Layout) -> int:
        """Return a lower bound on the cost from a layout to the guide's end; 0 without a guide."""
        if self.guide is None:
            return 0
        steps, moves = self.guide.steps_and_moves_from(layout)
        return steps * COST_OF_A_POINT + moves

    def _reached(self, node: Node) -> Reached:
        layout = node[0]
        points = self.cost[node] // COST_OF_A_POINT
        return Reached(layout, points, layout in self.won, caps_in(layout), clears_of(layout))

    def _expand(self, node: Node, bucket: int) -> None:
        layout, waiting = node
        held = {each.square for each in waiting}
        for start, pile in enumerate(layout):
            if pile and pile[-1] not in BLACK_MARKS and start not in held:
                self._lift(node, bucket, start)

    def _lift(self, node: Node, bucket: int, start: int) -> None:
        """Try every destination for the top piece of a square."""
        layout, waiting = node
        terrain, needs = self.terrain, self.terrain.needs
        pile = layout[start]
        mark, rest = "M" if pile[-1] == "M" else "S", pile[:-1]
        need = self.need[node] - needs[start][pile] + needs[start][rest]
        left = self.points - bucket // COST_OF_A_POINT
        budget = left - need
        leading = None if self.guide is None else self.guide.squares_for(layout, start, left)
        for least, steps, end in terrain.targets[mark][start]:
            if least > budget:
                break
            if leading is not None and not leading >> end & 1:
                continue
            before = layout[end]
            tower = mark == "S" and terrain.tower(end, before + mark)
            for placed in self._placements(layout, before + mark) if tower else (before + mark,):
                change = needs[end][placed] - needs[end][before]
                slack = budget - steps - change
                if slack < 0 or (terrain.options.strict and needs[end][placed]):
                    continue
                move = Move(start, end, rest, placed, steps, tower)
                ahead: tuple[_Waiting, ...] | None = waiting
                if self.edges is None and (waiting or change > 0):
                    ahead = self._waiting_after(node, move, mark, change, slack, need)
                if ahead is not None:
                    self._reach(node, move, bucket, need + change, ahead)

    def _placements(self, layout: Layout, tower: str) -> Iterator[str]:
        """Yield a new tower's possible piles: with its cap, or covered while a piece of another colour lies in it."""
        built = caps_in(layout)
        yield tower + self.caps[built : built + 1]
        if self.covered:
            yield tower[:-1] + COVERED

    def _waiting_after(
        self, node: Node, move: Move, mark: str, change: int, slack: int, need: int
    ) -> tuple[_Waiting, ...] | None:
        """Return the pieces that wait after a move; ``None`` if the move can be skipped because it has a twin.

        ``change`` is what the move adds to the steps needed, and ``slack`` the points left beyond them. ``need`` is the
        number of steps needed once the piece was lifted.
        """
        layout, waiting = node
        if waiting:
            touching = [each.touched_by(move.start, move.end, mark, change, tower=move.tower) for each in waiting]
            if all(touching):
                waiting = ()
            elif any(touching) or change <= 0:
                return None
        if change <= 0:
            return waiting
        counted = need - sum(each.need for each in waiting)
        if not counted and slack < _TO_LAND_ON_IT and slack < self._until_event(layout, move.start, mark, move.rest):
            return None
        return tuple(sorted((*waiting, _Waiting(move.end, move.start, change, layout[move.start][-1]))))

    def _until_event(self, layout: Layout, start: int, mark: str, rest: str) -> int:
        """Return the fewest further steps until an event that a piece lifted from ``start`` may wait for."""
        if rest and rest[-1] not in BLACK_MARKS and rest[-1] != mark:
            return 1
        row = self.terrain.distance[start]
        fewest = _TO_LAND_ON_IT
        for square, pile in enumerate(layout):
            if pile and pile[-1] not in BLACK_MARKS and pile[-1] != mark and square != start:
                fewest = min(fewest, row[square])
        return fewest

    def _reach(self, node: Node, move: Move, bucket: int, need: int, waiting: tuple[_Waiting, ...]) -> None:
        layout = node[0]
        cost = bucket + move.steps * COST_OF_A_POINT + 1
        piles = list(layout)
        piles[move.start] = move.rest
        piles[move.end] = move.placed
        following = tuple(piles)
        if self.edges is None:
            if waiting and self.cost.get((following, ()), UNREACHED_COST) <= cost:
                return
        else:
            self.edges.append((layout, following, move.steps))
        reached = (following, waiting)
        if self.cost.get(reached, UNREACHED_COST) <= cost:
            return
        if self.worth is not None and not self.worth(following, cost // COST_OF_A_POINT):
            return
        least = cost + self._cost_ahead(following)
        if least >= len(self.buckets):
            return
        self.cost[reached] = cost
        self.came_from[reached] = (node, move.start, move.end)
        self.need[reached] = need
        self.buckets[least].append(reached)
        if move.tower:
            self.most_built = max(self.most_built, caps_in(following))
            if self.terrain.wins(following):
                self.won.add(following)


def way_to(terrain: Terrain, end: Layout, points: int, caps: tuple[int, ...], *, covered: bool = False) -> Way | None:
    """Find a cheapest way to one layout, as short as that of ``explore``, without the other ends; ``None`` if it takes
    more points.
    """
    if any(terrain.needs[square][pile] for square, pile in enumerate(end)):
        return None
    guide = Guide(terrain, end)
    for most in range(guide.steps_from(terrain.start), points + 1):
        found = Search(terrain, most, caps, covered=covered, edges=False, guide=guide).way_to(end)
        if found is not None:
            return found
    return None


def _last_first(nodes: list[Node]) -> Iterator[Node]:
    while nodes:
        yield nodes.pop()
