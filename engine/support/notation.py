"""Parsing of texts word by word, with errors that name the column, and the common parts of states' texts."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from common.phrases import Phrase
from engine.errors import EngineError, OptionError, UnreadableError
from engine.support import repetition
from engine.support.players import parse_announcement
from engine.values import Announcement, OptionValue, Player

OVER = "over"
"""Stands for the player to move in the text of a finished game."""

ANNOUNCED = "announced"
"""The key of the announcement that ended the game."""

OptionsT = TypeVar("OptionsT")


class Word(NamedTuple):
    """One word of a text in lower case, and its column, counted from 1."""

    text: str
    column: int


def words(text: str) -> tuple[Word, ...]:
    """Split a text into words at white space."""
    return tuple(Word(match.group().lower(), match.start() + 1) for match in re.finditer(r"\S+", text))


def unreadable(text: str, part: str, column: int, expected: str) -> UnreadableError:
    """Return the error for an unreadable part of a text: what it is, where it is, what was expected.

    ``part`` may be in lower case; it is quoted as the text has it. Where nothing is left to read, the error says that
    the text ends too early.
    """
    written = text[column - 1 : column - 1 + len(part)]
    # Letters beyond ASCII may become longer in lower case.
    part = written if written.lower() == part.lower() else part
    if column > len(text) and not part:
        return UnreadableError(Phrase("{text!r} ends too early; expected {expected}", text, expected), column)
    return UnreadableError(
        Phrase(
            "cannot read {part!r} at column {column} of {text!r}; expected {expected}", part, column, text, expected
        ),
        column,
    )


def lowered(text: str) -> str:
    """Return the text in lower case, except for letters beyond ASCII: they may become longer, shifting the columns."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def tokens(pattern: re.Pattern[str], text: str, expected: str) -> Iterator[re.Match[str]]:
    """Split a text, in lower case, into matches of a pattern; raises UnreadableError where it doesn't match."""
    lower = lowered(text)
    position = 0
    while position < len(text):
        match = pattern.match(lower, position)
        if match is None:
            # str.split() also splits at some control characters that the patterns don't treat as spaces.
            part = (text[position:].split(maxsplit=1) or [text[position]])[0]
            raise unreadable(text, part, position + 1, expected)
        yield match
        position = match.end()


class StateText:
    """The common words of a state's text: the player to move, and ``name=value`` pairs.

    A game parses its own kinds of words first and passes the others to ``read``. ``named`` has the values with their
    columns. ``expected`` describes valid words in error messages.
    """

    def __init__(self, text: str, players: Sequence[Player], expected: str) -> None:
        self.text = text
        self.to_move: Word | None = None
        self.named: dict[str, Word] = {}
        self._players = players
        self._expected = expected

    def read(self, word: Word) -> None:
        """Parse a word; raises UnreadableError for one that is unknown or contradicts an earlier one."""
        name, _, value = word.text.partition("=")
        if word.text in (*self._players, OVER):
            if self.to_move is not None:
                raise self.bad(word, Phrase("only one of {names}, {over}", ", ".join(self._players), OVER))
            self.to_move = word
        elif not (name and value) or ":" in name:
            raise self.bad(word, self._expected)
        elif name in self.named and self.named[name].text != value:
            raise self.bad(word, Phrase("{name} with one value", name))
        else:
            self.named[name] = Word(value, word.column + len(name) + 1)

    @property
    def is_over(self) -> bool:
        """Whether the text says that the game is over."""
        return self.to_move is not None and self.to_move.text == OVER

    def whole(self, name: str) -> Word:
        """Return a named value with its name: ``roll=4,1``."""
        value, column = self.named[name]
        return Word(f"{name}={value}", column - len(name) - 1)

    def bad(self, word: Word, expected: str) -> UnreadableError:
        """Return the error for a word that can't be read."""
        return unreadable(self.text, *word, expected)

    def options(self, read: Callable[[Mapping[str, OptionValue]], OptionsT], *others: str) -> OptionsT:
        """Read named values as options, except ``others`` and those common to all games; raises UnreadableError."""
        names = [name for name in self.named if name not in (*others, repetition.SEEN, ANNOUNCED)]
        for name in names:
            try:
                read({name: self.named[name].text})
            except OptionError as error:
                raise self._bad_value(name, error) from error
        return read({name: self.named[name].text for name in names})

    def counts(self) -> repetition.Counts:
        """Read how often positions occurred; raises UnreadableError."""
        if repetition.SEEN not in self.named:
            return ()
        counts = repetition.read_counts(self.named[repetition.SEEN].text)
        if counts is None:
            raise self.bad(self.whole(repetition.SEEN), repetition.COUNTS_EXPECTED)
        return counts

    def announced(self) -> Announcement | None:
        """Read the announcement that ended the game; raises UnreadableError."""
        if ANNOUNCED not in self.named:
            return None
        try:
            return parse_announcement(self.named[ANNOUNCED].text, self._players)
        except UnreadableError as error:
            raise self._bad_value(ANNOUNCED, error) from error

    def _bad_value(self, name: str, error: EngineError) -> UnreadableError:
        column = self.whole(name).column
        return UnreadableError(
            Phrase("the state {text!r} can't be read at column {column}: {error}", self.text, column, error), column
        )
