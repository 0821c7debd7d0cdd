"""Sentences that can be translated (``Phrase``), and their parts: lists, counts, suggestions for misspelt names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import Self

PLACEHOLDER = re.compile(r"\{(\w+)(?:!([rcblv]+))?(?::([^{}]+))?\}")
"""A placeholder: its part's name, how it is written (``Phrase``), and in translations the form that is asked for."""
UNCHANGED = "as it is"
"""The form of parts that are copied: what somebody typed, a name, a turn's notation."""
NAME = "as a name"
"""The form of a person's name. It is copied unless it starts with a lower-case letter, as other words do."""
Find = Callable[[str, str], str | None]
"""Finds the translation of a template or a word in a form (empty: any); ``None`` if there is none."""
_LETTER = re.compile(r"[^\W\d_]")
_MOST_CHARACTERS = 20_000
_DEEPEST = 40


class Phrase(str):
    """An English text that keeps its template and its parts, so that it can be translated.

    Parts fill ``{name}`` in the template, by name or in its order; a template without parts is used as it is.
    ``{name!r}`` quotes a part, which isn't translated then, ``{name!v}`` only keeps it untranslated, ``{name!c}``
    capitalizes it, ``{name!l}`` begins it with a small letter, ``{name!b}`` takes its full stop away.
    In a translation, ``{name:en}`` asks for the form ``en`` of a part (gettext's context), ``{name:as it is}`` copies
    it. A part without a form is said in the form of the whole.

    >>> said = Phrase("{marker} is missing", Phrase("marker {number}", 2))
    >>> german = {"{marker} is missing": "{marker} fehlt", "marker {number}": "Marke {number}"}
    >>> said, said.translated(lambda text, form: german.get(text))
    ('marker 2 is missing', 'Marke 2 fehlt')
    """

    __slots__ = ("parts", "template")
    template: str
    parts: Mapping[str, str]

    def __new__(cls, template: str, /, *values: object, **parts: object) -> Self:
        """Fill the parts into the template; raises KeyError or ValueError if one is missing."""
        if values:
            parts |= zip(dict.fromkeys(name for name, _, _ in _placeholders(template)), values, strict=True)
        written = {name: f"{part}" for name, part in parts.items()}
        for name, how, _ in _placeholders(template) if parts else ():
            if "r" in how:
                written[name] = repr(parts[name])
        return cls._of(template, written)

    @classmethod
    def _of(cls, template: str, parts: Mapping[str, str]) -> Self:
        phrase = super().__new__(cls, _filled(template, parts) if parts else template)
        phrase.template = template
        phrase.parts = parts
        return phrase

    def __str__(self) -> str:
        """Return the phrase itself: an error's message stays a phrase."""
        return self

    def __format__(self, spec: str) -> str:
        """Return the phrase itself unless a width or the like is asked for."""
        return super().__format__(spec) if spec else self

    def __reduce__(self) -> tuple[Callable[..., Phrase], tuple[str, dict[str, str]]]:
        """Copy and pickle the template and the parts."""
        return _phrase, (self.template, dict(self.parts))

    def __add__(self, other: str) -> str:
        """Append a text; both stay translatable."""
        return joined((self, other), "")

    def __radd__(self, other: str) -> str:
        """Prepend a text; both stay translatable."""
        return joined((other, self), "")

    def translated(self, find: Find, form: str = "") -> str:
        """Translate the text. A phrase stays English if its template has no translation, and so do other parts."""
        template = find(self.template, form) if _LETTER.search(_bare(self.template)) else self.template
        if template is None or not self.parts:
            return template or str.__str__(self)
        copied = {name for name, how, _ in _placeholders(self.template) if "r" in how or "v" in how}
        said = []
        for text, name, how, wanted in _split(template):
            said.append(text)
            part = self.parts.get(name) if name else None
            if part is not None:
                spoken = part if name in copied else _translated_part(part, find, wanted or form)
                said.append(_written(spoken, how))
        return "".join(said)

    def to_json(self) -> list[object]:
        """Give the template and the parts as a value for JSON, to store it beside the English text."""
        parts = {name: part.to_json() if isinstance(part, Phrase) else part for name, part in self.parts.items()}
        return [self.template, parts] if parts else [self.template]

    def with_parts(self, change: Callable[[str, str, str], str]) -> Phrase:
        """Change the parts: ``change`` gets the template's text before a part, the part, and the text after it."""
        parts = dict(self.parts)
        for (before, name, _, _), (after, _, _, _) in pairwise(_split(self.template)):
            parts[name] = change(before, self.parts.get(name, ""), after)
        return Phrase._of(self.template, parts)


class SpokenError(Exception):
    """Root of the errors that people read: the message is a phrase, given by its template and its parts.

    >>> SpokenError("no game is called {name!r}", "chess")
    SpokenError("no game is called 'chess'")
    """

    def __init__(self, message: str, /, *values: object, **parts: object) -> None:
        """Fill the parts into the template; without parts, the message is used as it is."""
        super().__init__(Phrase(message, *values, **parts) if values or parts else message)


def read_phrase(english: str, value: object) -> str:
    """Return the phrase that ``Phrase.to_json`` stored beside an English text; the text alone if they differ.

    >>> read_phrase("marker 2", ["marker {number}", {"number": "2"}]).template
    'marker {number}'
    """
    try:
        phrase, _ = _read(value, _DEEPEST)
    except (TypeError, ValueError, KeyError):
        return english
    return phrase if phrase == english else english


def phrase_json(text: str) -> list[object] | None:
    """Give a text's ``Phrase.to_json``; ``None`` for a text that is no phrase."""
    return text.to_json() if isinstance(text, Phrase) else None


def _read(value: object, depth: int) -> tuple[str, int]:
    """Read a phrase with its cost: the characters of its templates, each as often as it is filled in.

    Raises TypeError, ValueError or KeyError if the value is no phrase, or one that grows beyond measure. Texts alone
    wouldn't show that: empty ones can be filled in, and translated, any number of times.
    """
    if isinstance(value, str):
        return value, len(value)
    if not isinstance(value, list) or not 1 <= len(value) <= 2 or not isinstance(value[0], str) or depth < 1:
        raise TypeError("expected a template with its parts")
    template, given = value[0], value[1] if len(value) == 2 else {}
    if not isinstance(given, dict):
        raise TypeError("expected parts by name")
    if len(template) > _MOST_CHARACTERS:
        raise ValueError("expected a shorter phrase")
    parts = {str(name): _read(part, depth - 1) for name, part in given.items()}
    cost = len(template) + (sum(parts[name][1] for name, _, _ in _placeholders(template)) if parts else 0)
    if cost > _MOST_CHARACTERS:
        raise ValueError("expected a shorter phrase")
    return Phrase._of(template, {name: part for name, (part, _) in parts.items()}), cost


def _phrase(template: str, parts: Mapping[str, str]) -> Phrase:
    return Phrase._of(template, parts)


def _translated_part(part: str, find: Find, form: str) -> str:
    if form == UNCHANGED or (form == NAME and not part[:1].islower()):
        return part
    if isinstance(part, Phrase):
        return part.translated(find, form)
    found = find(part, form)
    return part if found is None else found


@lru_cache(8192)
def _split(template: str) -> tuple[tuple[str, str, str, str], ...]:
    """Split a template into its texts, each with the name, manner and form of the placeholder that follows it."""
    pieces = [piece or "" for piece in PLACEHOLDER.split(template)] + [""] * 3
    return tuple(zip(pieces[::4], pieces[1::4], pieces[2::4], pieces[3::4], strict=True))


def _placeholders(template: str) -> list[tuple[str, str, str]]:
    return [(name, how, form) for _, name, how, form in _split(template)[:-1]]


@lru_cache(8192)
def _bare(template: str) -> str:
    return PLACEHOLDER.sub("", template)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    filled = []
    for text, name, how, _ in _split(template):
        filled.append(text)
        if name:
            filled.append(_written(parts[name], how))
    return "".join(filled)


def _written(part: str, how: str) -> str:
    if "b" in how:
        part = str.removesuffix(part, ".")
    if "l" in how:
        part = f"{part[:1].lower()}{part[1:]}"
    return f"{part[:1].upper()}{part[1:]}" if "c" in how else part


def either(condition: object, this: str, that: str, /, *values: object, **parts: object) -> Phrase:
    """Fill one of two templates, as for one thing and for several.

    >>> either(1 == 1, "the light {places} is off", "the lights {places} are off", "3")
    'the light 3 is off'
    """
    return Phrase(this if condition else that, *values, **parts)


_MOST_FAULTS = 20
"""The most faults that are named at once."""


def joined(texts: Iterable[object], joint: str = " ") -> Phrase:
    """Join texts, each of which stays translatable. The joint isn't translated: a space or a mark.

    >>> joined(["c3", "c4"], ", ")
    'c3, c4'
    """
    parts = {f"text_{number}": f"{text}" for number, text in enumerate(texts, 1)}
    return Phrase._of(joint.join(f"{{{name}}}" for name in parts), parts)


def listed(names: Iterable[object], joint: str = "and") -> Phrase:
    """Join names as in a sentence.

    >>> listed(["c3"]), listed(["c3", "c4"]), listed(["c3", "c4", "d1"], "or")
    ('c3', 'c3 and c4', 'c3, c4 or d1')
    """
    words = list(names)
    if len(words) < 2:
        return joined(words)
    return Phrase(f"{{some}} {joint} {{last}}", some=joined(words[:-1], ", "), last=words[-1])


def chained(names: Sequence[str], joint: str = "and") -> str:
    """Join names with the same word each.

    >>> chained(["a1", "b1", "c1"], "or")
    'a1 or b1 or c1'
    """
    first, *rest = names
    return Phrase(f"{{some}} {joint} {{last}}", first, chained(rest, joint)) if rest else first


def in_turn(deeds: Sequence[str]) -> str:
    """Join what happens in this order.

    >>> in_turn(["a1", "a2", "a3"])
    'a1, then a2, then a3'
    """
    first, *rest = deeds
    return Phrase("{first}, then {rest}", first, in_turn(rest)) if rest else first


def shortened(names: Sequence[str], most: int = 6) -> Phrase:
    """List names; if there are more than ``most``, only the first ones and the number of the others.

    >>> shortened(["a1", "a2"]), shortened(["a1", "a2", "a3", "a4"], most=3)
    ('a1, a2', 'a1, a2 and 2 more')
    """
    if len(names) <= most:
        return joined(names, ", ")
    return Phrase("{some} and {number} more", some=joined(names[: most - 1], ", "), number=len(names) - most + 1)


def first_faults(faults: Iterable[str], joint: str = "; ") -> Phrase:
    """Join the faults of a file; of many, only the first ones, and that there are more.

    >>> first_faults(["a is missing", "b is missing"])
    'a is missing; b is missing'
    """
    *first, last = islice(chain(faults, [""]), _MOST_FAULTS + 1)
    return joined([*first, Phrase("and more")] if last else first, joint)


def first_and_last(names: Sequence[str], most: int) -> Phrase:
    """List names in their order; if there are more than ``most``, only the first ones and the last.

    >>> first_and_last(["a1", "a2"], most=3), first_and_last(["a1", "a2", "a3", "a4"], most=3)
    ('a1, a2', 'a1, a2, …, a4')
    """
    return joined(names if len(names) <= most else [*names[: most - 1], "…", names[-1]], ", ")


def counted(number: int, thing: str, several: str | None = None) -> Phrase:
    """Format a count with its noun; ``several`` is the plural if it isn't formed with an ``s``.

    >>> counted(1, "light"), counted(2, "light"), counted(0, "switch", "switches")
    ('1 light', '2 lights', '0 switches')
    """
    if number == 1:
        return Phrase(f"1 {thing}")
    return Phrase(f"{{number}} {several or f'{thing}s'}", number=number)


def with_minus(text: object) -> str:
    r"""Write negative numbers with a minus sign, as a sentence has them, instead of a hyphen.

    >>> with_minus("game over: -5 points") == "game over: \N{MINUS SIGN}5 points", with_minus("a1-b2")
    (True, 'a1-b2')
    """
    if isinstance(text, Phrase):
        return text.with_parts(lambda before, part, _: part if before[-1:].strip() else with_minus(part))
    return _NEGATIVE.sub("\N{MINUS SIGN}", f"{text}")


_NEGATIVE = re.compile(r"(?<!\S)-(?=\d)")


def capitalized(text: str) -> str:
    """Capitalize a text's first letter and leave the rest unchanged.

    >>> capitalized("the USB cable")
    'The USB cable'
    """
    return Phrase("{text!c}", text=text) if isinstance(text, Phrase) else f"{text[:1].upper()}{text[1:]}"


def without_stop(text: str) -> str:
    """Return a text without its full stop.

    >>> without_stop("The cable is out.")
    'The cable is out'
    """
    if not text.endswith("."):
        return text
    return Phrase("{text!b}", text=text) if isinstance(text, Phrase) else text.removesuffix(".")


def as_sentence(message: str) -> str:
    """Turn an error's message into a sentence: a capital letter, and a full stop unless it ends with a mark.

    >>> as_sentence("no game is called 'chess'"), as_sentence("did you mean 'gpio'?")
    ("No game is called 'chess'.", "Did you mean 'gpio'?")
    """
    text = capitalized(message)
    return text if message.endswith((".", "?", "!")) else joined((text, "."), "")


def plain_reason(error: BaseException) -> str:
    """Return an error's message without the system's error number and without a full stop.

    >>> plain_reason(OSError(111, "Connection refused"))
    'Connection refused'
    """
    message = str(error)
    return without_stop(message if isinstance(message, Phrase) else re.sub(r"^\[Errno -?\d+\] ", "", message))


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
    return Phrase(" (did you mean {near!r}?)", near=near) if quoted else Phrase(" (did you mean {near}?)", near=near)
