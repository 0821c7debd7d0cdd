"""The page's languages: choosing one for a request, loading its templates, and translating the referee's sentences.

The engine, the judge and the journal produce English only. ``rules.po`` has each of their templates, such as
``Put the {owner} block back on {place}.``, with its translation. A sentence is matched against the templates. Then
the text in each placeholder is translated in turn and inserted into the translated template. There, ``{owner:en}``
asks for the form ``en`` of that part (gettext's context) if it has one, and ``{text:as it is}`` copies the part.
"""

from __future__ import annotations

import gettext
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Self

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request

from common.moments import local_time
from common.phrases import NAME, PLACEHOLDER, UNCHANGED, Phrase
from common.shown_text import shown
from referee.commands.values import Role
from referee.settings.settings import PageOptions

FILE = "as a file"
"""The form of a file, device or port name. It is copied if it has characters other than letters, unlike a word."""
WHERE_KNOWN = "where known"
"""The form of messages from other programs and libraries: translated if possible, else copied."""
_MOST_KEPT = 20_000
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


LANGUAGES: Mapping[str, str] = MappingProxyType({"en": "English", "de": "Deutsch"})
"""Each language code with the language's own name for itself. The templates are written in English."""
_TIME_FORMS: Mapping[str, str] = MappingProxyType({"en": "%Y-%m-%d %H:%M", "de": "%d.%m.%Y, %H:%M"})
"""How each language writes a date with its time, for ``strftime``."""
COOKIE = "language"
_HERE = Path(__file__).parent
CATALOGUES = _HERE / "catalogues"
TEMPLATES = _HERE / "templates"


def page_options(request: Request) -> PageOptions:
    """Return the owner's options for the page that received the request."""
    house = getattr(request.app.state, "house", None)
    return house if isinstance(house, PageOptions) else PageOptions()


def language_of(request: Request) -> str:
    """Return the language chosen on this device, else the owner's, else the first one the browser accepts."""
    for chosen in (request.cookies.get(COOKIE), page_options(request).language):
        if chosen is not None and chosen in LANGUAGES:
            return chosen
    wished = request.headers.get("accept-language", "").split(",")
    codes = (wish.partition(";")[0].strip()[:2].lower() for wish in wished)
    return next((code for code in codes if code in LANGUAGES), "en")


@cache
def translations(language: str) -> gettext.NullTranslations:
    """Return a language's catalogue of page texts. For English, the message ids are the texts."""
    return gettext.translation("page", CATALOGUES, [language], fallback=language == "en")


def sentences_path(language: str) -> Path:
    """Return the path of a language's compiled rule sentences."""
    return CATALOGUES / language / "LC_MESSAGES" / "rules.json"


@cache
def sentences(language: str) -> Callable[[str], str]:
    """Return a function that translates the referee's finished English sentences."""
    return str if language == "en" else Sentences.of(sentences_path(language))


def say_name(name: str, say: Callable[[str], str]) -> str:
    """Translate a name that the referee gave, such as ``the clock``. Others, which begin with a capital, are copied."""
    return say(name) if name[:1].islower() else name


@cache
def templates(language: str) -> Environment:
    """Return a language's template environment. Values are escaped; ``| said`` translates a referee's sentence,
    ``| said_name`` a name as ``say_name`` does, ``| said_choice`` an option's value. ``| local_time`` shows a journal's
    time in this machine's time zone.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=lambda value: shown(value) if isinstance(value, str) else value,
        extensions=["jinja2.ext.i18n"],
    )
    say = sentences(language)
    environment.filters["said"] = say
    environment.filters["said_choice"] = lambda choice: say(str(choice)).replace("_", " ")
    environment.filters["said_name"] = partial(say_name, say=say)
    environment.filters["local_time"] = partial(local_time, form=_TIME_FORMS[language])
    environment.install_gettext_translations(translations(language), newstyle=True)  # type: ignore[attr-defined]
    return environment


@dataclass(frozen=True)
class Site:
    """What the pages of one application share: the template around each, each language's templates, and its words.

    A device may ask for one of the roles ``lesser`` than the one its code allows.
    """

    frame: str = "base.html"
    templates: Callable[[str], Environment] = templates
    lesser: tuple[Role, ...] = (Role.PLAY, Role.LOOK)
    telling: Callable[[str], Callable[[str], str]] = sentences
    """Returns the function that translates a sentence into a language; a table's also puts the players' names in."""
