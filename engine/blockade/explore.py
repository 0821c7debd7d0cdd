"""What one colour alone can reach with so many points: every end position, the fewest points, and how.

The search is Dijkstra's over *layouts*, a step being one move (a piece's whole run, as long as its distance). A layout
is what one colour can change: for every square the pieces above the part that can't move, written as ``M`` and ``S``
from below, with a digit (its size) for the black piece that a new tower got. So ``MS3M`` is a tower made
in this turn, its large black cap, and a medium on top.

A layout is dropped as soon as the points left can't bring every piece to a place where it may rest: a lower bound on
the steps that still have to be taken is kept with each layout (``Terrain.need``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from engine.blockade.board import (
    BLACK,
    CLEAR,
    CLEARS,
    LARGE,
    MEDIUM,
    SMALL,
    SQUARES,
    TOWERS_TO_WIN,
    UNREACHABLE,
    Stack,
    Stacks,
    colour_of,
    distances,
    owner_of,
    piece_of,
    size_of,
)
from engine.blockade.settings import EXACT, Settings
from engine.blockade.stacks import is_blockade, walls_against

Layout = tuple[str, ...]
_Pile = tuple[int, str]
LayoutMove = tuple[int, int]
Edge = tuple[Layout, Layout, int]
"""A move from one layout to another, and its steps."""


_SIZE = {"M": MEDIUM, "S": SMALL}
_COVERED = "C"
_BLACK_MARKS = frozenset("123")
_LETTER = {MEDIUM: "M", SMALL: "S"}
_BY_COST = 16
"""Points count before moves, and no turn has as many moves as this."""

_DEAR = 1 << 30


def movable_from(stack: Stack) -> int:
    """From what height on the pieces of a resting stack can be moved: above the large, or above the black."""
    heights = [height for height, piece in enumerate(stack) if colour_of(piece) == BLACK]
    return heights[-1] + 1 if heights else 1


class _Needs(dict[str, int]):
    """Steps still needed on one square, worked out once for each pile there."""

    def __init__(self, terrain: Terrain, square: int) -> None:
        super().__init__({"": 0})
        self._terrain = terrain
        self._square = square

    def __missing__(self, pile: str) -> int:
        need = self._terrain.need(self._square, pile)
        self[pile] = need
        return need


@dataclass(frozen=True, eq=False)
class Terrain:
    """One colour's ground in one position: ``room[square]`` is the largest size that may rest on what can't move there.

    ``builds`` are the squares where the colour's own large lies open to towers, ``standing`` how many capped towers it
    has.
    """

    colour: int
    settings: Settings
    stacks: Stacks
    walls: int
    room: tuple[int, ...]
    builds: frozenset[int]
    standing: int
    start: Layout
    needs: tuple[_Needs, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "needs", tuple(_Needs(self, square) for square in range(SQUARES)))

    @cached_property
    def way(self) -> tuple[tuple[int, ...], ...]:
        """The distances between squares with the other player's blockades in the way."""
        return distances(self.walls)

    @cached_property
    def rings(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """``rings[start][steps]``: the squares so many steps away."""
        most = max((steps for row in self.way for steps in row if steps < UNREACHABLE), default=0)
        return tuple(
            tuple(tuple(end for end in range(SQUARES) if row[end] == steps) for steps in range(most + 1))
            for row in self.way
        )

    @cached_property
    def nearest(self) -> dict[str, tuple[int, ...]]:
        """For each kind the steps from each square to the nearest other one where it may ever rest in this turn."""
        return {
            kind: tuple(
                min(
                    (self.way[square][end] for end in range(SQUARES) if end != square and self.room[end] >= size),
                    default=UNREACHABLE,
                )
                for square in range(SQUARES)
            )
            for kind, size in _SIZE.items()
        }

    def tower(self, square: int, pile: str) -> bool:
        """Whether a pile on the large of a square, without a cap, is a tower."""
        if square not in self.builds:
            return False
        if self.settings.tower == EXACT:
            return pile == "MS"
        smalls = len(pile) - len(pile.rstrip("S"))
        return 0 < smalls < len(pile) and "S" not in pile[:-smalls]

    def wins(self, layout: Layout) -> bool:
        """Whether a layout has the fifth tower."""
        towers = self.standing + sum(
            any(mark in _BLACK_MARKS for mark in layout[square]) or self.tower(square, layout[square])
            for square in self.builds
        )
        return towers >= TOWERS_TO_WIN

    def need(self, square: int, pile: str) -> int:
        """The fewest steps that must be taken from this square before the turn may end; 0 when all rest legally.

        From the lowest piece that may not rest there on, everything has to be lifted; what has its place there may come
        back, which takes two steps.
        """
        room = self.room[square]
        lowest = LARGE
        total = 0
        lifting = False
        for mark in pile:
            if mark in _BLACK_MARKS:
                room, lowest = int(mark) - 1, LARGE
                continue
            kind = "M" if mark == "M" else "S"
            size = _SIZE[kind]
            lifting = lifting or size > room or size > lowest or mark == _COVERED
            if lifting:
                nearest = self.nearest[kind][square]
                total += nearest if size > room else min(2, nearest)
            lowest = min(size, lowest)
        return total


def terrain_of(stacks: Stacks, settings: Settings, colour: int, taken: int = 0) -> Terrain:
    """One colour's ground, its owner to play. On the clear squares of ``taken`` no piece of it may rest.

    Pieces of the other own colour are left out of account but for that.
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
        settings,
        stacks,
        walls_against(stacks, player),
        tuple(rooms),
        frozenset(builds),
        sum(is_blockade(stack) and colour_of(stack[0]) == colour for stack in stacks),
        tuple(start),
    )


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
    came_from: dict[Layout, tuple[Layout, int, int] | None]
    towers: bool
    most_built: int
    edges: tuple[Edge, ...]

    def moves_to(self, layout: Layout) -> tuple[LayoutMove, ...]:
        """The moves that lead to a layout, as start and end squares."""
        moves: list[LayoutMove] = []
        step = self.came_from[layout]
        while step is not None:
            layout, start, end = step
            moves.append((start, end))
            step = self.came_from[layout]
        return tuple(reversed(moves))


def explore(
    terrain: Terrain, points: int, caps: tuple[int, ...], *, covered: bool = False, edges: bool = False
) -> Reach:
    """Find everything the colour can reach with so many points, its new towers capped with ``caps`` in turn.

    When ``caps`` run out, towers stay open. With ``covered`` a small may also wait where it would make a tower, as if
    a piece of another colour lay below it (written ``C``; it must leave again): never less than the other colour's help
    makes possible.
    """
    return _Search(terrain, points, caps, covered=covered, edges=edges).run()


class _Search:
    def __init__(self, terrain: Terrain, points: int, caps: tuple[int, ...], *, covered: bool, edges: bool) -> None:
        self.terrain = terrain
        self.points = points
        self.caps = "".join(str(size) for size in caps)
        self.covered = covered
        start = terrain.start
        self.cost: dict[Layout, int] = {start: 0}
        self.came_from: dict[Layout, tuple[Layout, int, int] | None] = {start: None}
        self.need: dict[Layout, int] = {start: 0}
        self.won: set[Layout] = set()
        self.edges: list[Edge] | None = [] if edges else None
        self.towers = False
        self.most_built = 0
        self.buckets: list[list[Layout]] = [[] for _ in range((points + 1) * _BY_COST)]
        self.buckets[0].append(start)

    def run(self) -> Reach:
        visited: list[Layout] = []
        cost, won = self.cost, self.won
        for bucket, layouts in enumerate(self.buckets):
            for layout in layouts:
                if cost[layout] == bucket:
                    visited.append(layout)
                    if layout not in won:
                        self._expand(layout, bucket)
        ends = tuple(self._reached(layout) for layout in visited if not self.need[layout])
        return Reach(ends, self.came_from, self.towers, self.most_built, tuple(self.edges or ()))

    def _reached(self, layout: Layout) -> Reached:
        clears = sum(1 << square for square in CLEARS if layout[square])
        return Reached(layout, self.cost[layout] // _BY_COST, layout in self.won, caps_in(layout), clears)

    def _expand(self, layout: Layout, bucket: int) -> None:
        terrain, needs = self.terrain, self.terrain.needs
        strict, builds = terrain.settings.strict, terrain.builds
        left = self.points - bucket // _BY_COST
        need = self.need[layout]
        for start, pile in enumerate(layout):
            if not pile or pile[-1] in _BLACK_MARKS:
                continue
            mark, rest = "M" if pile[-1] == "M" else "S", pile[:-1]
            lifted_need = need - needs[start][pile] + needs[start][rest]
            rings = terrain.rings[start]
            for steps in range(1, min(left - lifted_need, len(rings) - 1) + 1):
                room = left - steps - lifted_need
                cost = bucket + steps * _BY_COST + 1
                for end in rings[steps]:
                    before = layout[end]
                    after = before + mark
                    if mark == "S" and end in builds and terrain.tower(end, after):
                        self.towers = True
                        built = caps_in(layout)
                        capped = after + self.caps[built : built + 1]
                        for placed in (capped, before + _COVERED) if self.covered else (capped,):
                            change = needs[end][placed] - needs[end][before]
                            if change <= room and not (strict and needs[end][placed]):
                                self._reach(
                                    layout, (start, rest), (end, placed), cost, lifted_need + change, tower=True
                                )
                        continue
                    change = needs[end][after] - needs[end][before]
                    if change <= room and not (strict and needs[end][after]):
                        self._reach(layout, (start, rest), (end, after), cost, lifted_need + change)

    def _reach(self, layout: Layout, left: _Pile, joined: _Pile, cost: int, need: int, *, tower: bool = False) -> None:
        piles = list(layout)
        piles[left[0]] = left[1]
        piles[joined[0]] = joined[1]
        following = tuple(piles)
        if self.edges is not None:
            self.edges.append((layout, following, cost // _BY_COST - self.cost[layout] // _BY_COST))
        if self.cost.get(following, _DEAR) <= cost:
            return
        self.cost[following] = cost
        self.came_from[following] = (layout, left[0], joined[0])
        self.need[following] = need
        self.buckets[cost].append(following)
        if tower:
            self.most_built = max(self.most_built, caps_in(following))
            if self.terrain.wins(following):
                self.won.add(following)


def caps_in(layout: Layout) -> int:
    """How many new caps stand in a layout."""
    return sum(mark.isdigit() for pile in layout for mark in pile)


def merged_stack(stack: Stack, colour: int, pile: str) -> Stack:
    """A stack with a colour's pile in place of what could move."""
    height = movable_from(stack)
    pieces = [piece_of(BLACK, int(mark)) if mark.isdigit() else piece_of(colour, _SIZE[mark]) for mark in pile]
    return (*stack[:height], *pieces)
