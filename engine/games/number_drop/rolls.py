"""What the dice and the drawn tiles may show, with exact probabilities, in one order of faces."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations, product

from engine.api import PossibleRoll, Roll
from engine.errors import IllegalTurnError
from engine.games.number_drop.components import NUMBER_DICE, SHAPES, STAR, TILES, Components
from engine.games.number_drop.play.options import OTHER_SIDE, SOLO_SIDE, NumberDropOptions
from engine.support import dice


def canonical(faces: tuple[str, ...]) -> tuple[str, ...]:
    """The number faces sorted, stars last, then the shape; raises IllegalTurnError unless it is four and one shape.

    A lone shape letter may stand anywhere; where no letter was rolled the last star is the shape die's.
    """
    shapes = [face for face in faces if face in SHAPES]
    if len(faces) != NUMBER_DICE + 1 or len(shapes) > 1:
        raise IllegalTurnError(
            f"got the roll {','.join(faces)}; expected {NUMBER_DICE} number dice and the shape die, such as 1,3,4,5,T"
        )
    numbers = list(faces)
    if shapes:
        numbers.remove(shapes[0])
    elif STAR in numbers:
        numbers.remove(STAR)
        shapes = [STAR]
    else:
        raise IllegalTurnError(f"got the roll {','.join(faces)} without a shape; expected one of {SHAPES} or {STAR}")
    return (*_sorted(tuple(numbers)), shapes[0])


def _sorted(numbers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(numbers, key=lambda face: (face == STAR, face)))


@cache
def dice_rolls(components: Components) -> tuple[PossibleRoll, ...]:
    """Every roll of the five dice in canonical order, with its probability."""
    return dice.possible_rolls(components.dice, lambda faces: (*_sorted(faces[:NUMBER_DICE]), faces[NUMBER_DICE]))


@cache
def _known_rolls(components: Components) -> frozenset[tuple[str, ...]]:
    return frozenset(possible.roll.faces for possible in dice_rolls(components))


@cache
def tile_draws(settings: NumberDropOptions) -> tuple[PossibleRoll, ...]:
    """Every way the tiles may come to lie in slots A to E, with its probability. Solo, the solo side is always up."""
    sides = (0,) if settings.solo or settings.tiles == SOLO_SIDE else (1,) if settings.tiles == OTHER_SIDE else (0, 1)
    tiles = settings.components.tiles
    faces = sorted(
        tuple(tile[side] for tile, side in zip(drawn, up, strict=True))
        for drawn in permutations(tiles)
        for up in product(sides, repeat=TILES)
    )
    return tuple(PossibleRoll(Roll(drawn), Fraction(1, len(faces))) for drawn in faces)


@cache
def _known_draws(settings: NumberDropOptions) -> frozenset[tuple[str, ...]]:
    return frozenset(possible.roll.faces for possible in tile_draws(settings))


def read_dice_roll(components: Components, faces: Sequence[str]) -> tuple[str, ...]:
    """The faces of a roll of the dice in canonical order; raises IllegalTurnError for one these dice can't show."""
    ordered = canonical(tuple(faces))
    if ordered not in _known_rolls(components):
        raise IllegalTurnError(
            f"got the roll {','.join(ordered)}, which the dice {'/'.join(components.dice)} can't show; read them again"
        )
    return ordered


def read_tile_draw(settings: NumberDropOptions, faces: Sequence[str]) -> tuple[str, ...]:
    """The faces of the tiles in slots A to E; raises IllegalTurnError when these tiles can't lie so."""
    drawn = tuple(faces)
    if drawn not in _known_draws(settings):
        example = ",".join(tile_draws(settings)[0].roll.faces)
        raise IllegalTurnError(
            f"got the tiles {','.join(drawn)}; expected one face of each of the {TILES} tiles that these rules use, "
            f"slot A first, such as {example}"
        )
    return drawn
