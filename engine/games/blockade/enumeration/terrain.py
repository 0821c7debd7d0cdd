"""One colour's terrain in one position: where its pieces may rest, distances, and the steps that piles still need.

A *layout* is the part of the position that one colour can change: for every square, the pieces above those that can't
move, from bottom to top. ``M`` and ``S`` are mediums and smalls; a digit is the size of the black piece on a new tower.
So ``MS3M`` is a tower made in this turn, its large black cap, and a medium on top.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

from engine.games.blockade.board import (
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
