"""What one colour alone can reach with its points, and the terrain that it reaches it in.

One colour's terrain in one position: where its pieces may rest, distances, and the steps that piles still need. A
*layout* is the part of the position that one colour can change: for every square, the pieces above those that can't
move, from bottom to top. ``M`` and ``S`` are mediums and smalls; a digit is the size of the black piece on a new tower.
So ``MS3M`` is a tower made in this turn, its large black cap, and a medium on top.

A lower bound on the steps between two layouts of a colour, and the moves that may lead from one to the other. On each
square, the lowest wrong piece and everything above it must be lifted, and each lifted piece must go where one is
missing. The cheapest assignment of lifted to missing pieces, with distances as costs, is a lower bound on the steps. It
is therefore an admissible heuristic for an A* search.

Everything that one colour alone can reach with its points: each end position, its fewest points, and the moves. This is
Dijkstra's algorithm over layouts. An edge is one move, a piece's whole run, and costs its distance.
The search keeps a lower bound on the steps that each layout still needs, and drops the layout as soon as the points
left can't bring every piece to a square where it may rest.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from engine.games.blockade.state import (
    BLACK,
    CLEAR,
    CLEARS,
    EXACT,
    LARGE,
    MEDIUM,
    OWNED,
    SMALL,
    SQUARES,
    TOWERS_TO_WIN,
    UNREACHABLE,
    BlockadeOptions,
    Stack,
    Stacks,
    colour_of,
    distances,
    is_blockade,
    owner_of,
    size_of,
    walls_against,
)
from engine.search.budget import TimeCheck
from engine.support.grid import set_of
from engine.support.lazy import OnDemand
from engine.values import Player

Layout = tuple[str, ...]

BLACK_MARKS = frozenset("123")
COVERED = "C"
"""A small that waits where it would make a tower if no piece of another colour lay below it."""

TO_LIFT_AND_RETURN = 2
"""The fewest steps of a piece that leaves its square and comes back to it."""

SIZE_OF_MARK = {"M": MEDIUM, "S": SMALL}
_LETTER = {MEDIUM: "M", SMALL: "S"}


def movable_from(stack: Stack) -> int:
    """Return the height from which a resting stack's pieces can move: above its black piece or its large."""
    heights = [height for height, piece in enumerate(stack) if colour_of(piece) == BLACK]
    return heights[-1] + 1 if heights else 1


def without_movable(stack: Stack, player: Player) -> Stack:
    """Return a stack without the pieces that the player could move."""
    height = movable_from(stack)
    return stack[:height] if height < len(stack) and colour_of(stack[height]) in OWNED[player] else stack


class _Pairings(dict[tuple[tuple[int, ...], tuple[int, ...]], int]):
    """The fewest steps from some squares to as many others, in the cheapest assignment; computed on demand."""

    def __init__(self, distance: tuple[bytes, ...]) -> None:
        super().__init__({((), ()): 0})
        self._distance = distance

    def __missing__(self, pairing: tuple[tuple[int, ...], tuple[int, ...]]) -> int:
        starts, ends = pairing
        if len(starts) != len(ends):
            return UNREACHABLE
        row, others = self._distance[starts[0]], starts[1:]
        least = self[pairing] = min(
            (TO_LIFT_AND_RETURN if end == starts[0] else row[end]) + self[others, ends[:number] + ends[number + 1 :]]
            for number, end in enumerate(ends)
            if end not in ends[:number]
        )
        return least


@dataclass(frozen=True, eq=False)
class Terrain:
    """One colour's terrain in one position.

    ``room[square]`` is the largest size that may rest on the fixed part of the stack. ``builds`` holds the squares
    where the colour can still build a tower on its own large, and ``standing`` counts its capped towers.
    """

    colour: int
    options: BlockadeOptions
    stacks: Stacks
    walls: int
    room: tuple[int, ...]
    builds: frozenset[int]
    standing: int
    start: Layout

    @cached_property
    def needs(self) -> tuple[OnDemand[str, int], ...]:
        """``needs[square][pile]``: the steps that a pile still needs, as in ``need``."""
        return tuple(OnDemand(partial(self.need, square)) for square in range(SQUARES))

    @cached_property
    def distance(self) -> tuple[bytes, ...]:
        """The distances between squares around the opponent's blockades."""
        return distances(self.walls)

    @cached_property
    def between(self) -> OnDemand[tuple[int, int, int], int]:
        """``between[start, last, most]``: the squares on paths from ``start`` to ``last`` of at most ``most`` steps."""

        def squares_between(ends: tuple[int, int, int]) -> int:
            start, last, most = ends
            both = zip(self.distance[start], self.distance[last], strict=True)
            return sum(1 << square for square, (one, other) in enumerate(both) if one + other <= most)

        return OnDemand(squares_between)

    @cached_property
    def pairings(self) -> _Pairings:
        """``pairings[starts, ends]``: the fewest steps that take a piece from each start to one of the ends."""
        return _Pairings(self.distance)

    @cached_property
    def rings(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """``rings[start][steps]``: the squares exactly that many steps away."""
        most = max(steps for row in self.distance for steps in row if steps < UNREACHABLE)
        return tuple(
            tuple(tuple(end for end in range(SQUARES) if row[end] == steps) for steps in range(most + 1))
            for row in self.distance
        )

    @cached_property
    def targets(self) -> dict[str, tuple[tuple[tuple[int, int, int], ...], ...]]:
        """``targets[kind][start]``: each move's steps with those still needed after it, its own steps, and its end."""
        return {
            kind: tuple(
                tuple(
                    sorted(
                        (steps + (0 if self.room[end] >= size else self.nearest[kind][end]), steps, end)
                        for end, steps in enumerate(row)
                        if 0 < steps < UNREACHABLE
                    )
                )
                for row in self.distance
            )
            for kind, size in SIZE_OF_MARK.items()
        }

    @cached_property
    def nearest(self) -> dict[str, tuple[int, ...]]:
        """For each kind of piece: the steps from each square to the nearest other one where it can rest this turn."""
        return {
            kind: tuple(
                min(
                    (self.distance[square][end] for end in range(SQUARES) if end != square and self.room[end] >= size),
                    default=UNREACHABLE,
                )
                for square in range(SQUARES)
            )
            for kind, size in SIZE_OF_MARK.items()
        }

    def tower(self, square: int, pile: str) -> bool:
        """Return whether a pile without a cap makes a tower on the square's large."""
        if square not in self.builds:
            return False
        if self.options.tower == EXACT:
            return pile == "MS"
        smalls = len(pile) - len(pile.rstrip("S"))
        return 0 < smalls < len(pile) and "S" not in pile[:-smalls]

    def wins(self, layout: Layout) -> bool:
        """Return whether a layout has the fifth tower."""
        towers = self.standing + sum(
            any(mark in BLACK_MARKS for mark in layout[square]) or self.tower(square, layout[square])
            for square in self.builds
        )
        return towers >= TOWERS_TO_WIN

    def need(self, square: int, pile: str) -> int:
        """Return the fewest steps that pieces of this pile must take before the turn may end; 0 if all rest legally.

        The lowest piece that may not rest there and everything above it must be lifted. Pieces that may rest there can
        come back, which takes two steps.
        """
        room = self.room[square]
        lowest = LARGE
        total = 0
        lifting = False
        for mark in pile:
            if mark in BLACK_MARKS:
                room, lowest = int(mark) - 1, LARGE
                continue
            kind = "M" if mark == "M" else "S"
            size = SIZE_OF_MARK[kind]
            lifting = lifting or size > room or size > lowest or mark == COVERED
            if lifting:
                nearest = self.nearest[kind][square]
                total += nearest if size > room else min(2, nearest)
            lowest = min(size, lowest)
        return total


def terrain_of(stacks: Stacks, options: BlockadeOptions, colour: int, taken: int = 0) -> Terrain:
    """Return one colour's terrain when its owner plays; its pieces may not rest on the clear squares in ``taken``.

    The pieces of the owner's other colour are otherwise ignored.
    """
    player = owner_of(colour)
    assert player is not None
    rooms, builds, start = [], [], []
    for square, stack in enumerate(stacks):
        base = colour_of(stack[0])
        height = movable_from(stack)
        mine = height < len(stack) and colour_of(stack[height]) == colour
        start.append("".join(_LETTER[size_of(piece)] for piece in stack[height:]) if mine else "")
        if base == CLEAR:
            foreign = height < len(stack) and owner_of(colour_of(stack[height])) != player
            rooms.append(0 if foreign or taken >> square & 1 else MEDIUM)
        elif base != colour:
            rooms.append(0)
        elif is_blockade(stack):
            rooms.append(size_of(stack[height - 1]) - 1)
        else:
            rooms.append(MEDIUM)
            builds.append(square)
    return Terrain(
        colour,
        options,
        stacks,
        walls_against(stacks, player),
        tuple(rooms),
        frozenset(builds),
        sum(is_blockade(stack) and colour_of(stack[0]) == colour for stack in stacks),
        tuple(start),
    )


def clears_of(layout: Layout) -> int:
    """Return the set of clear squares with pieces of a layout."""
    return set_of(square for square in CLEARS if layout[square])


def caps_in(layout: Layout) -> int:
    """Return the number of new caps in a layout."""
    return sum(mark in BLACK_MARKS for pile in layout for mark in pile)


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


@dataclass(frozen=True, slots=True)
class Reached:
    """One end position of a colour: its points, whether it wins, and its clear squares."""

    layout: Layout
    points: int
    wins: bool
    clears: int


@dataclass(frozen=True, slots=True)
class Way:
    """The cheapest way for a colour to reach one layout: its points and moves."""

    points: int
    moves: tuple[LayoutMove, ...]


@dataclass(frozen=True, slots=True)
class Reach:
    """Everything that a colour can reach, cheapest first, starting with the layout at the start of the turn."""

    ends: tuple[Reached, ...]
    came_from: CameFrom

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
    check_time: TimeCheck | None = None,
    worth: Callable[[Layout, int], bool] | None = None,
) -> Reach:
    """Find everything that the colour can reach with these points, putting ``caps`` on its new towers in order.

    When ``caps`` run out, towers stay open. ``check_time`` is called regularly, and what it raises ends the search.
    ``worth`` says whether to follow a layout that takes the given points; the others are skipped.
    """
    return Search(terrain, points, caps, worth=worth).run(check_time)


class Search:
    """The search; ``explore`` explains the parameters. With a ``guide``, it follows only moves that may lead there.

    With ``covered``, a small may also wait where it would make a tower, as if a piece of another colour lay below it
    (written ``C``; it must leave again). This includes everything that the other colour's help makes possible.
    """

    def __init__(
        self,
        terrain: Terrain,
        points: int,
        caps: tuple[int, ...],
        *,
        covered: bool = False,
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
        self.buckets: list[list[Node]] = [[] for _ in range((points + 1) * COST_OF_A_POINT)]
        self.buckets[self._cost_ahead(terrain.start)].append(start)

    def run(self, check_time: TimeCheck | None = None) -> Reach:
        """Search everything."""
        visited: list[Node] = []
        for node in self._nodes():
            visited.append(node)
            if check_time is not None:
                check_time()
        ends = tuple(self._reached(node) for node in visited if not self.need[node])
        return Reach(ends, self.came_from)

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
        return Reached(layout, points, layout in self.won, clears_of(layout))

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
                if waiting or change > 0:
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
        if waiting and self.cost.get((following, ()), UNREACHED_COST) <= cost:
            return
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
        if move.tower and self.terrain.wins(following):
            self.won.add(following)


def way_to(terrain: Terrain, end: Layout, points: int, caps: tuple[int, ...], *, covered: bool = False) -> Way | None:
    """Find a cheapest way to one layout, as short as that of ``explore``, without the other ends; ``None`` if it takes
    more points.
    """
    if any(terrain.needs[square][pile] for square, pile in enumerate(end)):
        return None
    guide = Guide(terrain, end)
    for most in range(guide.steps_from(terrain.start), points + 1):
        found = Search(terrain, most, caps, covered=covered, guide=guide).way_to(end)
        if found is not None:
            return found
    return None


def _last_first(nodes: list[Node]) -> Iterator[Node]:
    while nodes:
        yield nodes.pop()
