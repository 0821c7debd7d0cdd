"""Which ends of a turn look as seen from above: each colour's ends by their looks, so that none has to be tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from engine.api import LookName, Player
from engine.blockade.board import (
    CLEAR,
    CLEARS,
    COLOURS,
    MEDIUM,
    OWNED,
    SMALL,
    Stack,
    Stacks,
    colour_of,
    name_of,
    piece_of,
)
from engine.blockade.ends import ColourEnds
from engine.blockade.terrain import Layout, merged_stack, movable_from

_Seen = tuple[LookName | None, ...]


def without_movable(stack: Stack, player: Player) -> Stack:
    """A stack without what the player could move of it."""
    height = movable_from(stack)
    return stack[:height] if height < len(stack) and colour_of(stack[height]) in OWNED[player] else stack


class Looks:
    """The ends of a player's two colours by what would be seen of them."""

    def __init__(self, stacks: Stacks, player: Player, colours: tuple[ColourEnds, ColourEnds]) -> None:
        self._stacks = stacks
        self._player = player
        self._colours = colours
        self._ends: tuple[dict[_Seen, list[Layout]], dict[_Seen, list[Layout]]] = ({}, {})
        for ours, ends in zip(colours, self._ends, strict=True):
            below = [(square, without_movable(stacks[square], player)) for square in ours.squares]
            marked = {
                "S": name_of(piece_of(ours.colour, SMALL)),
                "M": name_of(piece_of(ours.colour, MEDIUM)),
            }
            for layout in dict.fromkeys(end.layout for reach in ours.reaches for end in reach.ends):
                own = [name_of(merged_stack(stack, ours.colour, layout[square])[-1]) for square, stack in below]
                clears = (marked[layout[square][-1]] if layout[square] else None for square in CLEARS)
                ends.setdefault((*own, *clears), []).append(layout)

    def ends_like(self, seen: Sequence[LookName]) -> Iterator[tuple[Layout, Layout]]:
        """The pairs of ends after which the squares look so, a1 first; not every pair need be one that can be."""
        if self._leaves_the_rest(seen):
            ones, twos = (
                ends.get(self._seen_of(ours, seen), ()) for ours, ends in zip(self._colours, self._ends, strict=True)
            )
            yield from product(ones, twos)

    def _leaves_the_rest(self, seen: Sequence[LookName]) -> bool:
        """Whether all squares without a piece of the player's look as they must."""
        mine = tuple(COLOURS[ours.colour] for ours in self._colours)
        return all(
            colour_of(stack[0]) in OWNED[self._player]
            or (colour_of(stack[0]) == CLEAR and look.startswith(mine))
            or look == name_of(without_movable(stack, self._player)[-1])
            for look, stack in zip(seen, self._stacks, strict=True)
        )

    def _seen_of(self, ours: ColourEnds, seen: Sequence[LookName]) -> _Seen:
        """All looks of the colour's own squares, and on clear squares those of its pieces."""
        colour = COLOURS[ours.colour]
        clears = (seen[square] if seen[square].startswith(colour) else None for square in CLEARS)
        return (*(seen[square] for square in ours.squares), *clears)
