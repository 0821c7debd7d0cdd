"""The points of a roll: how the colours can share them, and what it costs to help the other colour."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.games.blockade.board import UNREACHABLE
from engine.games.blockade.enumeration.terrain import Terrain

_TO_COVER_AND_LEAVE = 2
"""The fewest points for stepping between two pieces of the other colour and out again."""
_TO_LEAVE = 1
_TO_WAIT_FOR_ANOTHER = 3


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
