"""Diaballik's options, read once into a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.api import Option, OptionValue
from engine.options import read_into

STANDARD, VARIANT = "standard", "variant"
ANNOUNCED, AUTOMATIC = "announced", "automatic"
BOTH_SIDES, FRONT = "both_sides", "front"

OPTIONS: tuple[Option, ...] = (
    Option(
        "start",
        STANDARD,
        "Where the pieces start; in the variant those of columns b and f change sides.",
        (STANDARD, VARIANT),
    ),
    Option("pass_over_own", True, "Whether a pass may go over pieces of one's own."),
    Option(
        "antiplay",
        ANNOUNCED,
        "Whether anti-play has to be announced or ends the game by itself.",
        (ANNOUNCED, AUTOMATIC),
    ),
    Option(
        "antiplay_contacts",
        BOTH_SIDES,
        "Which pieces touching a wall count: those on both sides, or only those before it.",
        (BOTH_SIDES, FRONT),
    ),
    Option("null_turn", True, "Whether a turn may end with everything where it began."),
    Option("repetition_draw", False, "Whether a draw may be claimed from the third time of a position on."),
)


@dataclass(frozen=True, slots=True)
class DiaballikOptions:
    """The options in force; each field is explained in OPTIONS."""

    start: str
    pass_over_own: bool
    antiplay: str
    antiplay_contacts: str
    null_turn: bool
    repetition_draw: bool

    @property
    def automatic(self) -> bool:
        """Whether anti-play ends the game by itself."""
        return self.antiplay == AUTOMATIC

    @property
    def front_only(self) -> bool:
        """Whether only pieces before a wall count as touching it."""
        return self.antiplay_contacts == FRONT


def options_from(given: Mapping[str, OptionValue] | None) -> DiaballikOptions:
    """Read options into settings; raises OptionError for an unknown name or a bad value."""
    return read_into(DiaballikOptions, OPTIONS, given)
