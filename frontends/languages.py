"""The languages that people read: which one is chosen, and the translation of the referee's sentences into it.

A sentence is a ``Phrase`` inside the program, and becomes text only where it is shown: at a terminal, on a page, by a
voice, in Home Assistant. A phrase is translated by its template, each of its parts in turn, and a word as a whole.
``rules.po`` has each template, such as ``Put the {owner} block back on {place}.``, with its translation. There,
``{owner:en}`` asks for the form ``en`` of that part (gettext's context) if it has one, and ``{text:as it is}`` copies
the part. What somebody typed is a part and no template, so it costs as much as any other word.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from common.phrases import Phrase

LANGUAGES: Mapping[str, str] = MappingProxyType({"en": "English", "de": "Deutsch"})
"""Each language code with the language's own name for itself. The program is written in English."""
CATALOGUES = Path(__file__).parent / "page" / "catalogues"
_FIELD = re.compile(r'^(msg\w+(?:\[\d\])?) ((?:".*"\n?)+)', re.MULTILINE)
Say = Callable[[str], str]
"""Translates one of the referee's English sentences into the reader's language."""
_SPELLINGS: tuple[tuple[Callable[[str], str], Callable[[str], str]], ...] = (
    (str, str),
    (lambda text: text.removesuffix("."), lambda said: f"{said}."),
    (lambda text: text[:1].lower() + text[1:], lambda said: said[:1].upper() + said[1:]),
)
"""How a text may be spelt in the catalogue, and how its translation then becomes that of the text."""


class Translation(NamedTuple):
    """A text in a form (empty: any), and its translations: one, or those for one and for several."""

    form: str
    text: str
    said: tuple[str, ...]


def translations_in(catalogue: Path) -> Iterator[Translation]:
    """Read what is translated in a ``.po`` file as Babel writes it: an empty line between entries."""
    for entry in catalogue.read_text(encoding="utf-8").split("\n\n"):
        fields = {
            name: json.loads(f'"{lines.strip()[1:-1]}"'.replace('"\n"', "")) for name, lines in _FIELD.findall(entry)
        }
        said = tuple(text for name, text in fields.items() if name.startswith("msgstr"))
        if fields.get("msgid") and all(said):
            yield Translation(fields.get("msgctxt", ""), fields["msgid"], said)


class Sentences:
    """Translates sentences into the language of these translations."""

    def __init__(self, translations: Iterable[Translation]) -> None:
        self._said = {(form, text): said[0] for form, text, said in translations}

    def __call__(self, text: str) -> str:
        """Translate a sentence or a word; one that is unknown stays in English."""
        return text.translated(self.find) if isinstance(text, Phrase) else self.find(text, "") or text

    def find(self, text: str, form: str) -> str | None:
        """Find the translation of a template or a word in a form, else in any; ``None`` if there is none."""
        bare = text.strip()
        for wanted in dict.fromkeys((form, "")):
            for known, change in _SPELLINGS:
                said = self._said.get((wanted, known(bare)))
                if said is not None:
                    return text.replace(bare, change(said), 1)
        return None


def catalogue_path(language: str, domain: str) -> Path:
    """Return the path of a language's translations: those of ``rules``, or of the ``page``."""
    return CATALOGUES / language / "LC_MESSAGES" / f"{domain}.po"


_STACKED = re.compile(r"([a-z]+) (large|medium|small)")


def _in_english(text: str, form: str = "") -> str:
    """Say a piece that is stacked as English does, not colour first as its look: ``small red pyramid``."""
    del form
    look = _STACKED.fullmatch(text)
    return text if look is None else f"{look[2]} {look[1]} pyramid"


@cache
def sentences(language: str) -> Say:
    """Return a function that says the referee's sentences in a language; a catalogue is only loaded if it is needed."""
    if language == "en":
        return lambda text: text.translated(_in_english) if isinstance(text, Phrase) else _in_english(text)
    return Sentences(translations_in(catalogue_path(language, "rules")))


_SHELL_COMMAND = re.compile(r" \(`?\./run [^()]*\)")


def screen_sentences(language: str) -> Say:
    """Return ``sentences`` without the commands in brackets, which only somebody at a terminal can type."""
    say = sentences(language)
    return lambda text: _SHELL_COMMAND.sub("", say(text))


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
