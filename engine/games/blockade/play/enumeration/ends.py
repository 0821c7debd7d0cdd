"""What each of a player's two colours can reach by itself, in all the circumstances the other one may bring about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from engine.blockade.around import Detours, detours, leaves_free
from engine.blockade.board import BASES, CLEARS, UNREACHABLE, colour_of
from engine.blockade.explore import Edge, Reach, explore
from engine.blockade.state import BlockadeState
from engine.blockade.terrain import Terrain, terrain_of

Caps = tuple[int, ...]

_TO_LEAVE = 1
_TO_WAIT_FOR_ANOTHER = 3


class ColourEnds:
    """What one of the two colours can reach, in every variant that the other one's play may call for.

    A *variant* is what the colour finds: the clear squares that the other holds, and the caps that are left.
    """

    def __init__(self, state: BlockadeState, colour: int, points: int) -> None:
        self.colour = colour
        self.points = points
        self._state = state
        self._supply = state.supply
        self._variants: dict[tuple[int, int], int] = {}
        self._explored: list[tuple[int, Caps]] = []
        self.reaches: list[Reach] = []
        self._detours: dict[tuple[int, int | None], Detours] = {}
        self.squares = tuple(square for square, base in enumerate(BASES) if base == colour)
        self.starts_on = sum(
            1 << square
            for square in CLEARS
            if len(state.stacks[square]) > 1 and colour_of(state.stacks[square][1]) == colour
        )

    def variant(self, taken: int, used: int) -> int:
        """The number of the variant with these clears taken, after the other colour used so many caps."""
        if (taken, used) not in self._variants:
            self._variants[taken, used] = self._explore(taken, self._supply[used : used + self.points])
        return self._variants[taken, used]

    def _explore(self, taken: int, caps: Caps) -> int:
        for number, ((known_taken, known_caps), reach) in enumerate(zip(self._explored, self.reaches, strict=True)):
            tried = reach.most_built + 1
            if known_taken == taken and known_caps[:tried] == caps[:tried]:
                return number
        self._explored.append((taken, caps))
        self.reaches.append(explore(self.terrain(taken), self.points, caps))
        return len(self.reaches) - 1

    def terrain(self, taken: int = 0) -> Terrain:
        """The colour's ground with these clear squares taken."""
        return terrain_of(self._state.stacks, self._state.settings, self.colour, taken)

    @property
    def most_built(self) -> int:
        """The most caps the colour may use, in what was explored so far."""
        return max(reach.most_built for reach in self.reaches)

    @cached_property
    def helped_edges(self) -> tuple[Edge, ...]:
        """All moves the colour may make on the way to whatever it can reach, with the other's help."""
        return tuple(edge for reach in self.with_help(self.points, edges=True) for edge in reach.edges)

    @cached_property
    def own_edges(self) -> tuple[Edge, ...]:
        """All moves the colour may make by itself on the way to whatever it can reach."""
        terrain = self.terrain()
        return tuple(edge for caps in self._sequences for edge in explore(terrain, self.points, caps, edges=True).edges)

    @property
    def _sequences(self) -> tuple[Caps, ...]:
        """The caps that its towers may get in turn, as far as that makes a difference."""
        return tuple(dict.fromkeys(caps[: self.most_built + 1] for _, caps in self._explored))

    def detours(self, clears: int, friend: int | None) -> Detours:
        """The colour's ends by ways that leave these clear squares free in between; see ``leaves_free``."""
        if (clears, friend) not in self._detours:
            terrain = self.terrain()
            passing = leaves_free(terrain, clears, friend=friend)
            self._detours[clears, friend] = detours(terrain.start, self.own_edges, passing)
        return self._detours[clears, friend]

    def with_help(self, points: int, *, edges: bool = False) -> list[Reach]:
        """What the colour could reach with so many points if the other one helped; more than it really can."""
        terrain = self.terrain()
        if not points:
            return []
        return [explore(terrain, points, caps, covered=True, edges=edges) for caps in self._sequences]


@dataclass(frozen=True)
class Group:
    """Ends of one colour that no condition tells apart.

    ``points`` are those they take by variant, ``None`` where they can't be reached; ``least`` are the fewest they
    could take with whatever help of the other colour. ``caps`` are those of new towers, the largest first.
    """

    clears: int
    wins: bool
    caps: Caps
    points: tuple[int | None, ...]
    least: int

    @property
    def alone(self) -> int:
        """The fewest points they take without help."""
        return min((points for points in self.points if points is not None), default=UNREACHABLE)


def costs_of_help(terrain: Terrain, theirs: Terrain) -> Iterator[tuple[int, int]]:
    """For each square where the other colour might keep a tower from being made: the least it takes of either.

    A small must step onto the medium there and off again, for the sake of another piece's step; the medium must be
    there; and the other colour's piece must come between them and go again.
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
            laid = min((terrain.way[medium][square] for medium in mediums), default=UNREACHABLE) + bool(pile)
        cover = min((terrain.way[other][square] for other in others), default=UNREACHABLE)
        yield laid + _TO_WAIT_FOR_ANOTHER, cover + _TO_LEAVE
