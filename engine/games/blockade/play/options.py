"""Blockade's options, read once into a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.api import Option, OptionValue
from engine.errors import OptionError
from engine.games.blockade.board import PLAYERS
from engine.options import read_into

BY_ROLL = "roll"
EXACT, CONTAINS = "exact", "contains"

OPTIONS: tuple[Option, ...] = (
    Option("starts", BY_ROLL, "Who plays first: by rolling for it, or as agreed.", (BY_ROLL, *PLAYERS)),
    Option("strict", False, "Whether a piece must rest legally whenever its move ends, not just when the turn does."),
    Option("draw_after_passes", 0, "After how many turns in a row with nothing moved the game is a draw; 0: never."),
    Option("tower", EXACT, "A tower is a large, one medium, one small; or any mediums between.", (EXACT, CONTAINS)),
)


@dataclass(frozen=True)
class BlockadeOptions:
    """The options in force; each field is explained in OPTIONS."""

    starts: str
    strict: bool
    draw_after_passes: int
    tower: str


def options_from(given: Mapping[str, OptionValue] | None) -> BlockadeOptions:
    """Read options into settings; raises OptionError for an unknown name or a bad value."""
    options = read_into(BlockadeOptions, OPTIONS, given)
    if options.draw_after_passes < 0:
        raise OptionError(f"option draw_after_passes is {options.draw_after_passes}; it takes 0 (never) or more")
    return options
