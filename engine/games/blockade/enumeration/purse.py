"""The points of a roll: what both colours can take of them, and what for the other one's help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.games.blockade.board import UNREACHABLE
from engine.games.blockade.enumeration.terrain import Terrain

_TO_COVER_AND_LEAVE = 2
"""The points it takes at least to step between two pieces of the other colour and out again."""
_TO_LEAVE = 1
_TO_WAIT_FOR_ANOTHER = 3


@dataclass(frozen=True)
class Purse:
    """The ways to share out the points of a roll: each gives the most that either colour may use."""

    allowed: tuple[tuple[int, int], ...]

    @property
    def most(self) -> tuple[int, int]:
        """The most points that each colour may ever use."""
        return max(first for first, _ in self.allowed), max(second for _, second in self.allowed)

    def covers(self, first: int, second: int) -> bool:
        """Whether the two colours may use so many points together."""
        return any(first <= most and second <= other_most for most, other_most in self.allowed)

    def covers_with_help(self, alone: tuple[int, int], least: tuple[int, int]) -> bool:
        """Whether it may be enough for what each colour takes alone, or at least with the other one's help."""
        helping = [max(points, _TO_COVER_AND_LEAVE) for points in (*alone, *least)]
        return (
            self.covers(*alone)
            or self.covers(helping[0], least[1])
            or self.covers(least[0], helping[1])
            or self.covers(helping[2], helping[3])
        )

    def with_help(self, which: int, terrains: tuple[Terrain, Terrain]) -> int:
        """With how many points at most the one colour may gain by the other's help; 0 when it can't."""
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
