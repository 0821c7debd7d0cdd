"""Texts read word by word, and errors that name the column of the fault."""

from __future__ import annotations

import re
from typing import NamedTuple

from engine.errors import UnreadableError


class Word(NamedTuple):
    """One word of a text in lower case, and its column, counted from 1."""

    text: str
    column: int


def words(text: str) -> tuple[Word, ...]:
    """The words of a text, parted by white space."""
    return tuple(Word(match.group().lower(), match.start() + 1) for match in re.finditer(r"\S+", text))


def unreadable(text: str, part: str, column: int, expected: str) -> UnreadableError:
    """The error for a part of a text that can't be read: what it is, where it stands, what was expected."""
    return UnreadableError(f"cannot read {part!r} at column {column} of {text!r}; expected {expected}", column)
