"""What a game may offer beyond ``engine.api.Game``: optional protocols, each asked for by ``isinstance``.

A file of what is printed with a game (sheets, dice), which a person may copy and change: the engine opens no file of a
person's, the caller hands over its text. And dice that are told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeGuard, runtime_checkable

from engine.api import OptionValue


@runtime_checkable
class HasSheet(Protocol):
    """A game of whose sheets or parts there is a file."""

    sheet_option: str
    """The option that may be given as a file's name, empty where none may."""

    def sheet_file(self) -> str:
        """Give the text of the file that ships."""

    def read_sheet_file(self, text: str) -> Mapping[str, OptionValue]:
        """Read a file and give the options that it comes to.

        Raises UnreadableError with a line for each fault: where it is, what was got, what was expected.
        """

    def draw_sheet(self, text: str) -> str:
        """Draw what a sheet file says, several lines of plain text; raises UnreadableError as above."""


@runtime_checkable
class NamesDice(Protocol):
    """A game whose dice are told apart, by their colours for example."""

    def dice_names(self, state: Any) -> tuple[str, ...]:
        """Name the dice to be rolled now, in the order in which a roll gives their faces; empty when none are."""


def has_sheet(game: Any) -> TypeGuard[HasSheet]:
    """Say whether a game has a sheet file."""
    return isinstance(game, HasSheet)
