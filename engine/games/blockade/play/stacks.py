"""What a stack is: where a piece may rest, what makes a tower, which stacks are blockades, what black is left."""

from __future__ import annotations

from collections.abc import Iterable

from engine.api import Player
from engine.games.blockade.board import (
    BLACK,
    CLEAR,
    LARGE,
    MEDIUM,
    PIECES_OF_A_SIZE,
    SMALL,
    Stack,
    Stacks,
    colour_of,
    owner_of,
    piece_of,
    size_of,
)
from engine.games.blockade.play.options import EXACT

ON_OTHER_COLOUR = "rested-on-other-colour"
ON_SMALLER = "rested-on-smaller"
ON_OTHER_BLOCKADE = "rested-on-other-blockade"
ON_SMALL_BLACK = "rested-on-black-not-larger"


def resting_fault(piece: int, stack: Stack) -> str | None:
    """The id of the rule that forbids a piece to rest on a stack, or ``None`` when it may."""
    below = stack[-1]
    colour = colour_of(below)
    if colour == CLEAR:
        return None
    if colour == BLACK:
        if colour_of(stack[0]) != colour_of(piece):
            return ON_OTHER_BLOCKADE
        return None if size_of(below) > size_of(piece) else ON_SMALL_BLACK
    if colour != colour_of(piece):
        return ON_OTHER_COLOUR
    return None if size_of(below) >= size_of(piece) else ON_SMALLER


def first_fault(stack: Stack) -> tuple[int, str] | None:
    """How high the lowest piece lies that may not rest where it does (1: on the large), and the rule's id."""
    for height in range(1, len(stack)):
        if colour_of(stack[height]) != BLACK:
            fault = resting_fault(stack[height], stack[:height])
            if fault is not None:
                return height, fault
    return None


def is_blockade(stack: Stack) -> bool:
    """Whether black stands in the stack."""
    return any(colour_of(piece) == BLACK for piece in stack)


def uncapped(stack: Stack) -> Stack:
    """The stack up to its black piece, which is left out."""
    for height, piece in enumerate(stack):
        if colour_of(piece) == BLACK:
            return stack[:height]
    return stack


def makes_tower(stack: Stack, tower: str) -> bool:
    """Whether a stack without black is a tower: a large, one medium (``contains``: any number) and a small on top."""
    colour = colour_of(stack[0])
    if colour == CLEAR or len(stack) < 3 or any(colour_of(piece) != colour for piece in stack):
        return False
    sizes = [size_of(piece) for piece in stack]
    if tower == EXACT:
        return sizes == [LARGE, MEDIUM, SMALL]
    return sizes[0] == LARGE and sizes[1] == MEDIUM and sizes[-1] == SMALL and sizes == sorted(sizes, reverse=True)


def towers_of(stacks: Stacks, colour: int, tower: str) -> tuple[int, ...]:
    """The squares where towers of this colour stand."""
    return tuple(
        square
        for square, stack in enumerate(stacks)
        if colour_of(stack[0]) == colour and makes_tower(uncapped(stack), tower)
    )


def supply(stacks: Iterable[Stack]) -> tuple[int, ...]:
    """The sizes of the black pieces that are left beside the board, in the order they will be used."""
    left = {LARGE: PIECES_OF_A_SIZE, MEDIUM: PIECES_OF_A_SIZE, SMALL: PIECES_OF_A_SIZE}
    for stack in stacks:
        for piece in stack:
            if colour_of(piece) == BLACK:
                left[size_of(piece)] -= 1
    return tuple(size for size in (LARGE, MEDIUM, SMALL) for _ in range(left[size]))


def walls_against(stacks: Stacks, player: Player) -> int:
    """The set of squares that the player may not pass: the other's blockades."""
    walls = 0
    for square, stack in enumerate(stacks):
        if is_blockade(stack) and owner_of(colour_of(stack[0])) != player:
            walls |= 1 << square
    return walls


def cap(size: int) -> int:
    """The black piece of this size."""
    return piece_of(BLACK, size)
