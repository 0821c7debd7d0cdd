"""The options of the Blokus Dice Game, read once into a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.api import Option, OptionValue
from engine.errors import OptionError, UnreadableError
from engine.games.blokus_dice.sheet import HOUSE, Sheet, read_sheet
from engine.options import read_into

PLAYERS: tuple[str, ...] = ("p1", "p2", "p3", "p4")
"""The players, clockwise; the first ones of them play."""

COLOURS: tuple[str, ...] = ("red", "blue", "yellow", "green")
"""The markers' colours, in the order in which the first players take them."""

FIXED_RING = "fixed_ring"
FOLLOWS_START_PLAYER = "follows_start_player"

OPTIONS: tuple[Option, ...] = (
    Option("players", 4, "How many play.", (2, 3, 4)),
    Option("sheet", HOUSE, "The printed sheet: house, or what `referee sheet` makes of a sheet file."),
    Option(
        "standby",
        FIXED_RING,
        "Where unused markers wait: at fixed places, or to the right of whoever starts the round.",
        (FIXED_RING, FOLLOWS_START_PLAYER),
    ),
)


@dataclass(frozen=True)
class BlokusOptions:
    """The options in force; each field is explained in OPTIONS."""

    players: int
    sheet: Sheet
    standby: str

    @property
    def names(self) -> tuple[str, ...]:
        """Who plays, clockwise."""
        return PLAYERS[: self.players]


def options_from(given: Mapping[str, OptionValue] | None) -> BlokusOptions:
    """Read options into settings; raises OptionError for an unknown name or a bad value."""
    return read_into(BlokusOptions, OPTIONS, given, sheet=_read_sheet)


def _read_sheet(text: str) -> Sheet:
    try:
        return read_sheet(text)
    except UnreadableError as error:
        raise OptionError(f"option sheet is {text!r}; {error}") from error
