"""What is wanted of one colour's ends, by what is seen from above, and how far from that a layout is at least."""

from __future__ import annotations

from engine.api import LookName
from engine.games.blockade.board import (
    BASES,
    BLACK,
    CLEAR,
    CLEARS,
    MEDIUM,
    OWNED,
    PLACES,
    SMALL,
    Stacks,
    name_of,
    owner_of,
    piece_of,
)
from engine.games.blockade.enumeration.terrain import COVERED, Layout, Terrain, without_movable
from engine.showing import Seen

Marks = frozenset[str]
"""What may be on top of a square: marks as in layouts, ``""`` for nothing that could move."""

_KINDS = {"S": "S" + COVERED, "M": "M", "1": "S" + COVERED, "2": "S" + COVERED, "3": "S" + COVERED}
"""The pieces by which a mark comes about: black comes with a small."""
_NOTHING: Marks = frozenset({""})
_FAR = 99


class Aim:
    """What may be on top of the squares where one colour can end."""

    def __init__(self, terrain: Terrain, seen: Seen) -> None:
        self._way = terrain.way
        self._marks = {
            square: marks
            for square, base in enumerate(BASES)
            if base in (terrain.colour, CLEAR)
            and len(marks := _marks_at(terrain, square, seen)) < len(_all_marks(base))
        }
        self._known: dict[Layout, int] = {}

    def fits(self, layout: Layout) -> bool:
        """Whether a layout that rests looks as it should."""
        return all(layout[square][-1:] in marks for square, marks in self._marks.items())

    def steps_to(self, layout: Layout) -> int:
        """How many steps it takes at least from a layout to one that looks as it should."""
        known = self._known.get(layout)
        if known is None:
            known = self._known[layout] = self._least_steps(layout)
        return known

    def _least_steps(self, layout: Layout) -> int:
        wanting: list[tuple[int, str]] = []
        leaving = changing = 0
        settled = set()
        for square, marks in self._marks.items():
            pile = layout[square]
            if pile[-1:] in marks:
                if len(marks) == 1:
                    settled.add(square)
            elif marks == _NOTHING:
                leaving += len(pile)
            elif marks & _NOTHING or not marks.isdisjoint(pile[:-1]):
                changing = 1
            else:
                wanting.append((square, "".join(_KINDS[mark] for mark in marks)))
        if not wanting:
            return max(leaving, changing)
        # Each of these takes a piece of its own, and none of those that are where they should be: by the triangle
        # inequality that would cost no less.
        loose = [(at, mark) for at, pile in enumerate(layout) for mark in (pile[:-1] if at in settled else pile)]
        coming = sum(
            min((self._way[at][square] for at, mark in loose if mark in kinds), default=_FAR)
            for square, kinds in wanting
        )
        return max(coming, leaving, changing)


def _all_marks(base: int) -> tuple[str, ...]:
    return ("", "S", "M") if base == CLEAR else ("", "S", "M", "1", "2", "3")


def _marks_at(terrain: Terrain, square: int, seen: Seen) -> Marks:
    return frozenset(
        mark
        for mark in _all_marks(BASES[square])
        if any(seen.could_show(PLACES[square], look) for look in _looks_of(terrain, square, mark))
    )


def _looks_of(terrain: Terrain, square: int, mark: str) -> list[LookName]:
    """The looks that a mark may have; where a colour has nothing on a clear square, its player's other one may."""
    if mark.isdigit():
        return [name_of(piece_of(BLACK, int(mark)))]
    if mark:
        return [name_of(piece_of(terrain.colour, MEDIUM if mark == "M" else SMALL))]
    player = owner_of(terrain.colour)
    assert player is not None
    looks = [bare_look(terrain.stacks, square, player)]
    if BASES[square] == CLEAR:
        looks += [
            name_of(piece_of(colour, size))
            for colour in OWNED[player]
            if colour != terrain.colour
            for size in (SMALL, MEDIUM)
        ]
    return looks


def bare_look(stacks: Stacks, square: int, player: str) -> LookName:
    """The look of a square without what the player could move there."""
    return name_of(without_movable(stacks[square], player)[-1])


def others_could_stay(stacks: Stacks, player: str, seen: Seen) -> bool:
    """Whether all squares on which nothing of the player's can end may look as they must."""
    return all(
        seen.could_show(PLACES[square], bare_look(stacks, square, player))
        for square, base in enumerate(BASES)
        if base not in (*OWNED[player], CLEAR)
    )


def clears_to_cover(stacks: Stacks, player: str, seen: Seen) -> int:
    """The clear squares on which a piece of the player's must end, as a set."""
    return sum(
        1 << square for square in CLEARS if not seen.could_show(PLACES[square], bare_look(stacks, square, player))
    )
