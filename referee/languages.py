"""The languages that people read: which one is chosen, and the translation of the referee's sentences into it.

A sentence is a ``Phrase`` inside the program, and becomes text only where it is shown: at a terminal, on a page, by a
voice, in Home Assistant. ``rules.po`` has each template, such as ``Put the {owner} block back on {place}.``, with its
translation. A sentence that is no phrase is matched against the templates. Then the text in each placeholder is
translated in turn and inserted into the translated template. There, ``{owner:en}`` asks for the form ``en`` of that
part (gettext's context) if it has one, and ``{text:as it is}`` copies the part.
"""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Self

from common.phrases import NAME, PLACEHOLDER, UNCHANGED, Phrase

LANGUAGES: Mapping[str, str] = MappingProxyType({"en": "English", "de": "Deutsch"})
"""Each language code with the language's own name for itself. The program is written in English."""
CATALOGUES = Path(__file__).parent / "web" / "catalogues"
Say = Callable[[str], str]
"""Translates one of the referee's English sentences into the reader's language."""
FILE = "as a file"
"""The form of a file, device or port name. It is copied if it has characters other than letters, unlike a word."""
WHERE_KNOWN = "where known"
"""The form of messages from other programs and libraries: translated if possible, else copied."""
_MOST_KEPT = 20_000
"""The most translations kept, so that what people type can't fill the memory."""
_WORD = re.compile(r"[A-Za-z]{2,}")
_MOST_ATTEMPTS = 5_000
"""The most attempts to match one text: about 200 ms. The referee's own sentences take up to 2,806."""
_SEARCH = 4
"""A search for templates takes as long as so many attempts."""
_LONGEST_MESSAGE = 160
"""A longer message, in characters, of another program or a person is copied."""
_MOST_WORDS = 150
"""The referee has no longer sentences, so a longer text isn't translated."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"", re.DOTALL)
_OF_NO_LANGUAGE = re.compile(
    r"(?!.*'s )[^A-Za-zÀ-ž]*((?:[A-Z]{2}|[A-Za-zÀ-ž])(?![A-Za-zÀ-ž])[^A-Za-zÀ-ž]*)*|[a-z_]+=[^\s;]+|/\S+[^\s.,:;]"
)
"""Text without language: numbers, squares, sheets, tile letters, shape names, signs, ``option=value``, full paths."""
_JOINTS = (". ", "? ", "! ", " Or: ", "; ", ": ", ", and ", ", then ", " and ", " or ", ", ", " ")
"""Separators at which a text may be split into two parts that are translated separately."""
_JOINT_WORDS = frozenset(joint.strip() for joint in _JOINTS if joint.strip())
_GOES_ON = re.compile(r"[,.;:)']| [a-z]")
_BEGINS = re.compile(r"(^|[.:?] )$")
"""What follows a placeholder inside a sentence, and what precedes a placeholder that may hold whole sentences."""
_SPELLINGS: tuple[tuple[Callable[[str], str], Callable[[str], str]], ...] = (
    (str, str),
    (lambda text: text.removesuffix("."), lambda said: f"{said}."),
    (lambda text: text[:1].lower() + text[1:], lambda said: said[:1].upper() + said[1:]),
)
"""How a text may be spelt in the catalogue, and how its translation then becomes that of the text."""
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?)]) (?=[A-Z(`']|p\d)")


class TooHardError(Exception):
    """A text that takes too many attempts to match; it stays in English."""


class Effort(threading.local):
    """Counts the attempts to match one text, so that what somebody typed can't hold up the server."""

    left = _MOST_ATTEMPTS

    def spend(self, attempts: int = 1) -> None:
        """Count attempts; raises TooHardError if they are too many."""
        self.left -= attempts
        if self.left < 0:
            raise TooHardError


@dataclass(frozen=True)
class Entry:
    """A template, the form it belongs to (empty: any), and its translation."""

    form: str
    template: str
    said: str


@dataclass(frozen=True)
class Template:
    """A parsed entry: ``texts`` are the English texts around its placeholders, ``names`` the placeholders' names.

    ``quoted`` are the placeholders written with ``!r``. ``said`` has the translation's texts, each with the name and
    form of the placeholder that follows it; both are empty at the end.
    """

    said: tuple[tuple[str, str, str], ...]
    texts: tuple[str, ...]
    names: tuple[str, ...]
    quoted: frozenset[str]
    longest: str
    weight: int

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """Parse an entry."""
        parts = PLACEHOLDER.split(entry.template)
        texts, names = tuple(parts[::4]), tuple(parts[1::4])
        quoted = frozenset(name for name, mark in zip(names, parts[2::4], strict=True) if "r" in (mark or ""))
        others = PLACEHOLDER.split(entry.said)
        forms = [form or "" for form in others[3::4]]
        said = tuple(zip(others[::4], [*others[1::4], ""], [*forms, ""], strict=True))
        return cls(said, texts, names, quoted, max(texts, key=len), sum(map(len, texts)))

    def fillings(self, text: str, effort: Effort) -> Iterator[dict[str, str]]:
        """Yield every way to fill the template that produces ``text``. A repeated name has the same value each time.

        Raises TooHardError when the effort is used up.
        """
        if text.startswith(self.texts[0]) and text.endswith(self.texts[-1]):
            yield from self._from(text, len(self.texts[0]), 0, {}, effort)

    def _from(
        self, text: str, start: int, index: int, filled: dict[str, str], effort: Effort
    ) -> Iterator[dict[str, str]]:
        effort.spend()
        if index == len(self.names):
            if start == len(text):
                yield filled
            return
        name, following = self.names[index], self.texts[index + 1]
        is_last = index == len(self.names) - 1
        is_inside = bool(_GOES_ON.match(following)) or not _BEGINS.search(self.texts[index])
        # The last value extends to the end of the text; any other one ends where the following text is found.
        end = len(text) - len(following) if is_last else text.find(following, start)
        while start <= end:
            part = text[start:end]
            if is_inside and _BETWEEN_SENTENCES.search(part):
                return
            fits = filled.get(name, part) == part and (name not in self.quoted or _QUOTED.fullmatch(part))
            # What stands before a colon belongs to another sentence.
            if fits and (part or start) and not (name == "player" and ": " in part):
                yield from self._from(text, end + len(following), index + 1, {**filled, name: part}, effort)
            if is_last:
                return
            end = text.find(following, end + 1)


class Sentences:
    """Translates the referee's sentences into the language of these entries. It is thread-safe and caches results."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._plain: dict[tuple[str, str], str] = {}
        self._all: dict[tuple[str, str], str] = {}
        self._templates: dict[str, list[Template]] = {}
        for entry in entries:
            self._all[entry.form, entry.template] = entry.said
            if entry.template.startswith("{some} "):
                continue
            if "{" in entry.template:
                self._templates.setdefault(entry.form, []).append(Template.of(entry))
            else:
                self._plain[entry.form, entry.template] = entry.said
        for templates in self._templates.values():
            templates.sort(key=lambda one: -one.weight)
        self._effort = Effort()
        self._matched: Callable[[str], str] = lru_cache(_MOST_KEPT)(self._match)
        self._cached: Callable[[str, str], str | None] = lru_cache(_MOST_KEPT)(self._translate)
        self._known: Callable[[str, str], str | None] = lru_cache(_MOST_KEPT)(self._translate_entry)

    @classmethod
    def of(cls, catalogue: Path) -> Self:
        """Read a compiled catalogue."""
        return cls(Entry(*each) for each in json.loads(catalogue.read_text(encoding="utf-8")))

    def __call__(self, text: str) -> str:
        """Translate a text. Each sentence of it that is unknown stays in English."""
        if not isinstance(text, Phrase):
            return self._matched(text)
        self._effort.left = _MOST_ATTEMPTS
        said, _ = self._phrase(text, "")
        return self._matched(str.__str__(text)) if said is None else said

    def translated(self, text: str, form: str = "") -> str | None:
        """Translate a text in a form, ``None`` if it contains an unknown word."""
        self._effort.left = _MOST_ATTEMPTS
        if isinstance(text, Phrase):
            said, is_whole = self._phrase(text, form)
            return said if is_whole else self.translated(str.__str__(text), form)
        try:
            return self._translated(text, form)
        except TooHardError:
            return None

    def _translated(self, text: str, form: str = "") -> str | None:
        bare = text.strip()
        said = self._cached(bare, form)
        return None if said is None else text.replace(bare, said, 1) if bare else text

    def find(self, text: str, form: str) -> str | None:
        """Find the translation of a template or a word in a form; of a sentence that is no phrase, by matching."""
        bare = text.strip()
        for wanted in dict.fromkeys((form, "")):
            for known, change in _SPELLINGS:
                said = self._all.get((wanted, known(bare)))
                if said is not None:
                    return text.replace(bare, change(said), 1)
        try:
            return None if "{" in text else self._translated(text, form)
        except TooHardError:
            return None

    def _phrase(self, phrase: Phrase, form: str) -> tuple[str | None, bool]:
        """Translate a phrase, and tell whether all its words are known."""
        unknown = []

        def find(text: str, form: str) -> str | None:
            said = self.find(text, form)
            if said is None:
                unknown.append(text)
            return said

        return phrase.translated(find, form), not unknown

    def _match(self, text: str) -> str:
        self._effort.left = _MOST_ATTEMPTS
        try:
            return self._by_sentence(text) if len(_WORD.findall(text)) <= _MOST_WORDS else text
        except TooHardError:
            return text

    def _by_sentence(self, text: str) -> str:
        said = self._translated(text)
        if said is not None:
            return said
        pieces = _BETWEEN_SENTENCES.split(text)
        for end in range(len(pieces) - 1, 0, -1):
            begun = self._translated(" ".join(pieces[:end]))
            if begun is not None:
                return f"{begun} {self._by_sentence(' '.join(pieces[end:]))}"
        return text if len(pieces) == 1 else f"{pieces[0]} {self._by_sentence(' '.join(pieces[1:]))}"

    def _translate(self, text: str, form: str) -> str | None:
        if form == UNCHANGED:
            # Copied text must not swallow the sentence that follows it.
            return None if _BETWEEN_SENTENCES.search(text) else text
        if form == FILE:
            return None if " " in text or text.rstrip(".").isalpha() else text
        if form == WHERE_KNOWN and len(text) > _LONGEST_MESSAGE:
            return text
        if form == WHERE_KNOWN:
            return self._translate(text, "") or self._translate(text, UNCHANGED)
        if form == NAME:
            return None if text[:1].islower() or "," in text or _BETWEEN_SENTENCES.search(text) else text
        if text in _JOINT_WORDS:
            return None
        if _OF_NO_LANGUAGE.fullmatch(text):
            return self._word(text)
        said = self._known(text, form)
        if said is None:
            said = self._translate_parts(text, form)
        if said is None and text.endswith("."):
            said = self._translate(text[:-1], form)
            return None if said is None else f"{said}."
        return said

    def _translate_entry(self, text: str, form: str) -> str | None:
        """Translate a text that matches one entry, ignoring the case of its first letter and its full stop."""
        for wanted in dict.fromkeys((form, "")):
            said = self._exact_entry(text, wanted)
            if said is not None:
                return said
        lower, upper = text[:1].lower() + text[1:], text[:1].upper() + text[1:]
        for other, first in ((lower, str.upper), (upper, str)):
            said = None if other == text else self._exact_entry(other, form) or self._exact_entry(other, "")
            if said is not None:
                return first(said[:1]) + said[1:]
        if not text.endswith((".", "?", "!")):
            said = self._translate_entry(f"{text}.", form)
            return None if said is None else said.removesuffix(".")
        return None

    def _exact_entry(self, text: str, form: str) -> str | None:
        if (form, text) in self._plain:
            return self._plain[form, text]
        if (form, text.removesuffix(".")) in self._plain:
            return f"{self._plain[form, text.removesuffix('.')]}."
        self._effort.spend(_SEARCH)
        # Nearly all of a thousand templates are ruled out by their longest text, so that is looked for first.
        for template in [each for each in self._templates.get(form, ()) if each.longest in text]:
            for filled in template.fillings(text, self._effort):
                said = self._fill_template(template, filled)
                if said is not None:
                    return said
        return None

    def _fill_template(self, template: Template, filled: dict[str, str]) -> str | None:
        said = []
        for text, name, form in template.said:
            value: str | None = filled.get(name, "")
            if name and name not in template.quoted:
                value = self._translated(filled[name], form)
            if value is None:
                return None
            said += [text, value]
        return "".join(said)

    def _translate_parts(self, text: str, form: str) -> str | None:
        """Translate a list, or several sentences, part by part."""
        for joint in _JOINTS:
            end = text.find(joint)
            while end >= 0:
                # A sentence's final punctuation belongs to the sentence, not to the separator.
                mark = joint[0] if joint[0] in ".?!" else ""
                begun, rest = text[:end] + mark, text[end + len(joint) :]
                said = None if begun in _JOINT_WORDS else self._word(begun)
                if said is None and joint != " ":
                    said = self._known(begun, form)
                following = None if said is None or not rest else self._translated(rest, form)
                if following is not None:
                    return f"{said}{self._joint(joint.removeprefix(mark) if mark else joint)}{following}"
                end = text.find(joint, end + 1)
        return None

    def _word(self, text: str) -> str | None:
        """Translate one word; text without language is copied, and what somebody typed, in quotes."""
        if _OF_NO_LANGUAGE.fullmatch(text) or _QUOTED.fullmatch(text):
            return self._plain.get(("", text), text)
        return self._plain.get(("", text)) or self._plain.get(("", text[:1].lower() + text[1:]))

    def _joint(self, joint: str) -> str:
        bare = joint.strip()
        return joint.replace(bare, self._plain.get(("", bare), bare)) if bare else joint


def sentences_path(language: str) -> Path:
    """Return the path of a language's compiled sentences."""
    return CATALOGUES / language / "LC_MESSAGES" / "rules.json"


@cache
def sentences(language: str) -> Say:
    """Return a function that translates the referee's English sentences; a catalogue is only loaded if it is needed."""
    return str if language == "en" else Sentences.of(sentences_path(language))


def system_language(environment: Mapping[str, str]) -> str:
    """Return the language that a system's environment asks for, as gettext reads it; English if we don't know it.

    >>> system_language({"LANG": "de_AT.UTF-8"}), system_language({"LANG": "fr_FR", "LANGUAGE": "fr:de"})
    ('de', 'de')
    """
    place = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    if place.partition(".")[0] in ("C", "POSIX"):
        return "en"
    wished = (environment.get("LANGUAGE") or place).split(":")
    return next((wish[:2].lower() for wish in wished if wish[:2].lower() in LANGUAGES), "en")
