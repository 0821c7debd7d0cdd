"""What comes printed with a game and may differ from set to set: a text file that a person can copy and change.

An optional protocol beside `engine.api.Game`. The engine opens no file of a person's; whoever does hands over its text.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard, runtime_checkable


@runtime_checkable
class HasSheet(Protocol):
    """A game with a sheet file of its own form."""

    sheet_option: str
    """The option that takes what ``read_sheet_file`` gives."""

    def sheet_file(self) -> str:
        """Give the text of the sheet file that ships."""

    def read_sheet_file(self, text: str) -> str:
        """Read a sheet file and give the option's value.

        Raises UnreadableError with a line for each fault: where it is, what was got, what was expected.
        """

    def draw_sheet(self, text: str) -> str:
        """Draw what a sheet file says, several lines of plain text; raises UnreadableError as above."""


def has_sheet(game: Any) -> TypeGuard[HasSheet]:
    """Say whether a game has a sheet file."""
    return isinstance(game, HasSheet)
