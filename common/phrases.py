"""Helpers for building sentences: lists, counts, capital letters, and suggestions for misspelt names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import Self


class Phrase(str):
    """An English text that keeps its template and its parts, so that it can be translated.

    Parts fill ``%(name)s`` in the template; a template without parts is used as it is.

    >>> said = Phrase("%(marker)s is missing", marker=Phrase("marker %(number)d", number=2))
    >>> german = {"%(marker)s is missing": "%(marker)s fehlt", "marker %(number)d": "Marke %(number)d"}
    >>> said, said.translated(german.__getitem__)
    ('marker 2 is missing', 'Marke 2 fehlt')
    """

    __slots__ = ("parts", "template")
    template: str
    parts: Mapping[str, object]

    def __new__(cls, template: str, /, **parts: object) -> Self:
        """Fill the parts into the template."""
        phrase = super().__new__(cls, template % parts if parts else template)
        phrase.template = template
        phrase.parts = MappingProxyType(parts)
        return phrase

    def translated(self, translate: Callable[[str], str]) -> str:
        """Translate the text; ``translate`` translates templates. Parts that are phrases are translated too."""
        template = translate(self.template)
        parts = {
            name: part.translated(translate) if isinstance(part, Phrase) else part for name, part in self.parts.items()
        }
        return template % parts if parts else template


_MOST_FAULTS = 20
"""The most faults that are named at once."""


def listed(names: Iterable[object], joint: str = "and") -> str:
    """Join names as in a sentence.

    >>> listed(["c3"]), listed(["c3", "c4"]), listed(["c3", "c4", "d1"], "or")
    ('c3', 'c3 and c4', 'c3, c4 or d1')
    """
    words = [str(name) for name in names]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joint} {words[-1]}"


def shortened(names: Sequence[str], most: int = 6) -> str:
    """List names; if there are more than ``most``, only the first ones and the number of the others.

    >>> shortened(["a1", "a2"]), shortened(["a1", "a2", "a3", "a4"], most=3)
    ('a1, a2', 'a1, a2 and 2 more')
    """
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


def first_faults(faults: Iterable[str], joint: str = "; ") -> str:
    """Join the faults of a file; of many, only the first ones, and that there are more.

    >>> first_faults(["a is missing", "b is missing"])
    'a is missing; b is missing'
    """
    *first, last = islice(chain(faults, [""]), _MOST_FAULTS + 1)
    return joint.join([*first, "and more"] if last else first)


def first_and_last(names: Sequence[str], most: int) -> str:
    """List names in their order; if there are more than ``most``, only the first ones and the last.

    >>> first_and_last(["a1", "a2"], most=3), first_and_last(["a1", "a2", "a3", "a4"], most=3)
    ('a1, a2', 'a1, a2, …, a4')
    """
    return ", ".join(names if len(names) <= most else [*names[: most - 1], "…", names[-1]])


def counted(number: int, thing: str, several: str | None = None) -> str:
    """Format a count with its noun; ``several`` is the plural if it isn't formed with an ``s``.

    >>> counted(1, "light"), counted(2, "light"), counted(0, "switch", "switches")
    ('1 light', '2 lights', '0 switches')
    """
    return f"{number} {thing if number == 1 else several or f'{thing}s'}"


def with_minus(text: object) -> str:
    r"""Write negative numbers with a minus sign, as a sentence has them, instead of a hyphen.

    >>> with_minus("game over: -5 points") == "game over: \N{MINUS SIGN}5 points", with_minus("a1-b2")
    (True, 'a1-b2')
    """
    return _NEGATIVE.sub("\N{MINUS SIGN}", str(text))


_NEGATIVE = re.compile(r"(?<!\S)-(?=\d)")


def capitalized(text: str) -> str:
    """Capitalize a text's first letter and leave the rest unchanged.

    >>> capitalized("the USB cable")
    'The USB cable'
    """
    return f"{text[:1].upper()}{text[1:]}"


def as_sentence(message: str) -> str:
    """Turn an error's message into a sentence: a capital letter, and a full stop unless it ends with a mark.

    >>> as_sentence("no game is called 'chess'"), as_sentence("did you mean 'gpio'?")
    ("No game is called 'chess'.", "Did you mean 'gpio'?")
    """
    return f"{capitalized(message)}{'' if message.endswith(('.', '?', '!')) else '.'}"


def plain_reason(error: BaseException) -> str:
    """Return an error's message without the system's error number and without a full stop.

    >>> plain_reason(OSError(111, "Connection refused"))
    'Connection refused'
    """
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)).removesuffix(".")


def nearest(got: str, known: Iterable[str]) -> str | None:
    """Return the known name with the spelling closest to ``got``, ignoring case; ``None`` if none is similar.

    >>> nearest("GIPO", ["terminal", "gpio"])
    'gpio'
    """
    folded = {str(name).casefold(): str(name) for name in known}
    return next((folded[near] for near in difflib.get_close_matches(got.casefold(), folded, n=1)), None)


def did_you_mean(got: str, known: Iterable[str], *, quoted: bool = False) -> str:
    """Return a suggestion to append to a message: ``" (did you mean gpio?)"``, or nothing if no name is similar.

    >>> did_you_mean("gipo", ["terminal", "gpio"], quoted=True)
    " (did you mean 'gpio'?)"
    """
    near = nearest(got, known)
    if near is None:
        return ""
    return f" (did you mean {near!r}?)" if quoted else f" (did you mean {near}?)"
