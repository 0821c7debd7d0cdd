"""Number Drop's options, read once into a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from engine.api import Option, OptionValue
from engine.errors import OptionError, UnreadableError
from engine.games.number_drop.components import Components, printed_components, read_dice
from engine.options import read_into

MOST_PLAYERS = 6
PRINTED = "printed"
"""The dice or tiles as the game's data file has them."""

BOTH_SIDES, SOLO_SIDE, OTHER_SIDE = "both_sides", "solo_side", "other_side"

OPTIONS: tuple[Option, ...] = (
    Option("players", 2, "How many play; 1 is the solo game.", tuple(range(1, MOST_PLAYERS + 1))),
    Option("tiles", BOTH_SIDES, "Which side of the tiles may be up with several.", (BOTH_SIDES, SOLO_SIDE, OTHER_SIDE)),
    Option("tile_backs", PRINTED, "What is on the back of I4, L4, O4, T4 and S4, such as V3,I3,U5,X5,T5."),
    Option("x_counts_above_line", True, "Whether an X above the Game Over line costs five points and ends the game."),
    Option("dice", PRINTED, "The faces of the dice, the shape die last, such as 1*3457/12*456/234*67/123567/IOTLS*."),
)


@dataclass(frozen=True)
class NumberDropOptions:
    """The options in force; each field is explained in OPTIONS. ``dice`` and ``tile_backs`` are in strict text."""

    players: int
    tiles: str
    tile_backs: str
    x_counts_above_line: bool
    dice: str

    @property
    def solo(self) -> bool:
        """Whether one person plays alone."""
        return self.players == 1

    @property
    def components(self) -> Components:
        """The dice and tiles these settings play with."""
        return _components(self.dice, self.tile_backs)


@cache
def _components(dice: str, backs: str) -> Components:
    printed = printed_components()
    faces = printed.dice if dice == PRINTED else read_dice(dice)
    tiles = printed.tiles
    if backs != PRINTED:
        tiles = tuple((solo, back) for (solo, _), back in zip(tiles, backs.split(","), strict=True))
    return Components(faces, tiles, printed.shapes)


def options_from(given: Mapping[str, OptionValue] | None) -> NumberDropOptions:
    """Read options into settings; raises OptionError for an unknown name or a bad value."""
    return read_into(NumberDropOptions, OPTIONS, given, tile_backs=_read_backs, dice=_read_dice)


def _read_backs(text: str) -> str:
    if text.lower() == PRINTED:
        return PRINTED
    backs = [back.strip().upper() for back in text.split(",")]
    printed = [other for _, other in printed_components().tiles]
    if sorted(backs) != sorted(printed):
        raise OptionError(f"option tile_backs is {text!r}; it takes {','.join(printed)} in any order")
    return PRINTED if backs == printed else ",".join(backs)


def _read_dice(text: str) -> str:
    if text.lower() == PRINTED:
        return PRINTED
    try:
        dice = read_dice(text)
    except UnreadableError as error:
        raise OptionError(f"option dice: {error}") from None
    return PRINTED if dice == printed_components().dice else "/".join(dice)
