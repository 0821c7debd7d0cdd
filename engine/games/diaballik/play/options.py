"""Diaballik's options, read once into a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.api import Option, OptionValue
from engine.options import read_options

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

    start: str = STANDARD
    pass_over_own: bool = True
    antiplay: str = ANNOUNCED
    antiplay_contacts: str = BOTH_SIDES
    null_turn: bool = True
    repetition_draw: bool = False

    @property
    def automatic(self) -> bool:
        """Whether anti-play ends the game by itself."""
        return self.antiplay == AUTOMATIC

    @property
    def front_only(self) -> bool:
        """Whether only pieces before a wall count as touching it."""
        return self.antiplay_contacts == FRONT


DEFAULTS = DiaballikOptions()


def options_from(given: Mapping[str, OptionValue] | None) -> DiaballikOptions:
    """Read options into settings; raises OptionError for an unknown name or a bad value."""
    values = read_options(OPTIONS, given)
    return DiaballikOptions(
        start=str(values["start"]),
        pass_over_own=bool(values["pass_over_own"]),
        antiplay=str(values["antiplay"]),
        antiplay_contacts=str(values["antiplay_contacts"]),
        null_turn=bool(values["null_turn"]),
        repetition_draw=bool(values["repetition_draw"]),
    )
