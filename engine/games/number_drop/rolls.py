"""Rolls of the five dice and the initial draw of tiles, with faces in a canonical order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations, product

from engine.errors import IllegalTurnError, UnreadableError
from engine.games.number_drop import flow
from engine.games.number_drop.components import NUMBER_DICE, SHAPES, STAR, TILES, Components
from engine.games.number_drop.state import OTHER_SIDE, SOLO_SIDE, NumberDropOptions, NumberDropState, Phase
from engine.support.chance import every_roll, format_roll
from engine.support.notation import words
from engine.values import PossibleRoll, Roll


def canonical(faces: tuple[str, ...]) -> tuple[str, ...]:
    """Sort the number faces, stars last, then the shape; raises IllegalTurnError unless there are four and one.

    A shape's letter may be anywhere. Without a letter, one of the stars counts as the shape die's.
    """
    shapes = [face for face in faces if face in SHAPES] or [STAR]
    if len(faces) != NUMBER_DICE + 1 or len(shapes) > 1:
        raise IllegalTurnError(
            f"got the roll {','.join(faces)}; expected {NUMBER_DICE} number dice and the shape die, such as 1,3,4,5,T"
        )
    (shape,) = shapes
    if shape not in faces:
        raise IllegalTurnError(f"got the roll {','.join(faces)} without a shape; expected one of {SHAPES} or {STAR}")
    numbers = list(faces)
    numbers.remove(shape)
    return (*_sorted(tuple(numbers)), shape)


def _sorted(numbers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(numbers, key=lambda face: (face == STAR, face)))


@cache
def dice_rolls(components: Components) -> tuple[PossibleRoll, ...]:
    """Return every roll of the five dice in canonical order, with its probability."""
    return every_roll(components.dice, lambda faces: (*_sorted(faces[:NUMBER_DICE]), faces[NUMBER_DICE]))


@cache
def _known_rolls(components: Components) -> frozenset[tuple[str, ...]]:
    return frozenset(possible.roll.faces for possible in dice_rolls(components))


def tile_draws(options: NumberDropOptions) -> tuple[PossibleRoll, ...]:
    """Return every way to draw the tiles to slots A to E, with its probability; in solo games the solo side is up."""
    return _draws(options.components.tiles, _sides_up(options))


def _sides_up(options: NumberDropOptions) -> tuple[int, ...]:
    if options.solo or options.tiles == SOLO_SIDE:
        return (0,)
    return (1,) if options.tiles == OTHER_SIDE else (0, 1)


# There are thousands of draws, so options with the same ones share them.
@cache
def _draws(tiles: tuple[tuple[str, str], ...], sides: tuple[int, ...]) -> tuple[PossibleRoll, ...]:
    faces = sorted(
        tuple(tile[side] for tile, side in zip(drawn, up, strict=True))
        for drawn in permutations(tiles)
        for up in product(sides, repeat=TILES)
    )
    each = Fraction(1, len(faces))
    return tuple(PossibleRoll(Roll(drawn), each) for drawn in faces)


@cache
def _known_draws(tiles: tuple[tuple[str, str], ...], sides: tuple[int, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(possible.roll.faces for possible in _draws(tiles, sides))


def read_dice_roll(components: Components, faces: Sequence[str]) -> tuple[str, ...]:
    """Return the faces of a roll in canonical order; raises IllegalTurnError if these dice can't show them."""
    ordered = canonical(tuple(faces))
    if ordered not in _known_rolls(components):
        raise IllegalTurnError(
            f"got the roll {','.join(ordered)}, which the dice {'/'.join(components.dice)} can't show; read them again"
        )
    return ordered


def read_tile_draw(options: NumberDropOptions, faces: Sequence[str]) -> tuple[str, ...]:
    """Return the faces of the tiles in slots A to E; raises IllegalTurnError if these tiles can't show them."""
    drawn = tuple(faces)
    if drawn not in _known_draws(options.components.tiles, _sides_up(options)):
        example = ",".join(tile_draws(options)[0].roll.faces)
        raise IllegalTurnError(
            f"got the tiles {','.join(drawn)}; expected one face of each of the {TILES} tiles that these rules use, "
            f"slot A first, such as {example}"
        )
    return drawn


def awaits_roll(state: NumberDropState) -> bool:
    """Return whether tiles must be drawn or dice rolled now."""
    return state.phase in (Phase.TILES, Phase.ROLL)


def to_draw(state: NumberDropState) -> str:
    """Return a request to draw the tiles while they are awaited, else nothing."""
    return "draw the tiles to slots A to E, and tell the referee their faces" if state.phase is Phase.TILES else ""


def possible_rolls(state: NumberDropState) -> Sequence[PossibleRoll]:
    """List every draw of the tiles, or later every roll of the five dice; empty if none is awaited."""
    if state.phase is Phase.TILES:
        return tile_draws(state.options)
    return dice_rolls(state.options.components) if state.phase is Phase.ROLL else ()


def rolled(state: NumberDropState, roll: Roll) -> NumberDropState:
    """Return the state after the tiles were drawn or the dice rolled; raises IllegalTurnError.

    Faces of dice may be in any order; those of tiles are in the order of their slots.
    """
    if state.phase is Phase.TILES:
        return flow.apply_tiles(state, read_tile_draw(state.options, roll.faces))
    if state.phase is not Phase.ROLL:
        waits = "the game is over" if state.to_move is None else f"{state.to_move} is still to play"
        raise IllegalTurnError(f"got a roll of {format_roll(roll)}, but {waits}")
    return flow.apply_roll(state, read_dice_roll(state.options.components, roll.faces))


def roll_of(state: NumberDropState) -> Roll | None:
    """Return the roll that is still to be dropped, or ``None``; a roll that triggers a penalty is used up."""
    return Roll(state.roll) if state.roll else None


def parse_roll(state: NumberDropState, text: str) -> Roll:
    """Read a roll's text leniently (commas, spaces, case, any order of dice).

    Raises UnreadableError, or IllegalTurnError if the roll is impossible or none is awaited.
    """
    named = words(text.replace(",", " "))
    faces = tuple(word.text.upper() for word in named)
    if not faces:
        raise UnreadableError(f"cannot read {text!r} as a roll; expected faces such as 1,3,4,*,T", 1)
    known = set("".join(state.options.components.dice)) | set(state.options.components.shapes) | {STAR}
    for word in named:
        if word.text.upper() not in known:
            raise UnreadableError(
                f"cannot read {word.text!r} at column {word.column} of the roll {text!r}; expected digits, * and a "
                "shape such as 1,3,4,*,T, or the faces of the tiles",
                word.column,
            )
    rolled(state, Roll(faces))
    if state.phase is Phase.TILES:
        return Roll(read_tile_draw(state.options, faces))
    return Roll(read_dice_roll(state.options.components, faces))
