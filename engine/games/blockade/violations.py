"""What holds in every position: larges in place, no piece lost, all at rest, black only where it may be."""

from __future__ import annotations

from collections import Counter

from engine.api import Place
from engine.games.blockade.board import (
    BASES,
    BLACK,
    CLEAR,
    COLOURS,
    LARGE,
    MEDIUM,
    OWNED,
    PIECES_OF_A_SIZE,
    PLACES,
    SIZES,
    SMALL,
    TOWERS_TO_WIN,
    Stacks,
    colour_of,
    name_of,
    piece_of,
)
from engine.games.blockade.play.options import BlockadeOptions
from engine.games.blockade.play.stacks import first_fault, makes_tower, supply, towers_of, uncapped
from engine.games.blockade.play.violations import rested


def impossibility(stacks: Stacks, settings: BlockadeOptions) -> tuple[Place, str] | None:
    """Which invariant the stacks break, and a place it shows at; ``None`` when they make a position."""
    return (
        _wrong_large(stacks) or _wrong_count(stacks) or _wrong_stack(stacks, settings) or _wrong_whole(stacks, settings)
    )


def _wrong_large(stacks: Stacks) -> tuple[Place, str] | None:
    for place, stack, base in zip(PLACES, stacks, BASES, strict=True):
        if stack[0] != piece_of(base, LARGE):
            return place, f"the {COLOURS[base]} large must be the lowest piece on {place}"
        for piece in stack[1:]:
            if colour_of(piece) == CLEAR or (colour_of(piece) != BLACK and piece & 3 == LARGE):
                return place, f"a {name_of(piece)} lies on another piece on {place}, and those are never moved"
    return None


def _wrong_count(stacks: Stacks) -> tuple[Place, str] | None:
    counts = Counter(piece for stack in stacks for piece in stack[1:])
    for colour in range(CLEAR):
        for size in (SMALL, MEDIUM):
            found = counts[piece_of(colour, size)]
            if found != PIECES_OF_A_SIZE:
                return PLACES[
                    0
                ], f"there are {found} {COLOURS[colour]} {SIZES[size]} pieces, and must be {PIECES_OF_A_SIZE}"
    order = (LARGE, MEDIUM, SMALL)
    for size, larger in zip(order, (None, *order), strict=False):
        used = counts[piece_of(BLACK, size)]
        if used > PIECES_OF_A_SIZE:
            return PLACES[0], f"there are {used} black {SIZES[size]} pieces, and only {PIECES_OF_A_SIZE} in the game"
        if used and larger is not None and counts[piece_of(BLACK, larger)] < PIECES_OF_A_SIZE:
            return PLACES[
                0
            ], f"a black {SIZES[size]} is used while a black {SIZES[larger]} is left; the largest comes first"
    return None


def _wrong_stack(stacks: Stacks, settings: BlockadeOptions) -> tuple[Place, str] | None:
    left = supply(stacks)
    for square, (place, stack) in enumerate(zip(PLACES, stacks, strict=True)):
        blacks = sum(colour_of(piece) == BLACK for piece in stack)
        below = uncapped(stack)
        if blacks > 1:
            return place, f"{blacks} black pieces lie on {place}, and a tower gets only one"
        if blacks and not makes_tower(below, settings.tower):
            return place, f"black lies on {place} where no tower is below it"
        if left and not blacks and makes_tower(stack, settings.tower):
            return place, f"the tower on {place} has no black piece, and black is left"
        fault = first_fault(stack)
        if fault is not None:
            return place, rested(fault[1], stack, fault[0], square).sentence
    return None


def _wrong_whole(stacks: Stacks, settings: BlockadeOptions) -> tuple[Place, str] | None:
    winners = [
        colour
        for colours in OWNED.values()
        for colour in colours
        if len(towers_of(stacks, colour, settings.tower)) >= TOWERS_TO_WIN
    ]
    if len(winners) > 1:
        names = " and ".join(COLOURS[colour] for colour in winners)
        return PLACES[0], f"{names} have five towers each, and the first to have them ends the game"
    return None
