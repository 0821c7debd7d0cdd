"""The referee's own sentences in another language: a finished English sentence is taken apart and said again.

The engine, the judge and the journal speak English alone. ``rules.po`` has every template of theirs, such as
``Put the {owner} block back on {place}.``, and how it is said. A sentence is matched with the templates, what stands
in place of each name is translated in turn, and the parts go into the other language's template. There,
``{owner:en}`` asks for the part's form of that name (gettext's context), where it has one, and ``{text:as it is}``
takes the part over unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Self

UNCHANGED = "as it is"
"""The form of parts that belong to no language: what somebody typed, a name, a turn's strict text."""
NAME = "as a name"
"""The form of a person's name, which is taken over as well, if it doesn't begin as a word of a sentence would."""
FILE = "as a file"
"""The form of the name of a file, device or port, which is taken over if it can't be a word: it has other signs."""
WHERE_KNOWN = "where known"
"""The form of what is translated if it can be, and taken over otherwise: what another program or a library said."""
_MOST_KEPT = 20_000
_WORD = re.compile(r"[A-Za-z]{2,}")
_MOST_WORDS = 150
"""A longer text is nothing that the referee says; it stays as it is."""
PLACEHOLDER = re.compile(r"\{(\w+)(!r)?(?::([^{}]+))?\}")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"", re.DOTALL)
_OF_NO_LANGUAGE = re.compile(
    r"(?!.*'s )[^A-Za-zÀ-ž]*((?:[A-Z]{2}|[A-Za-zÀ-ž])(?![A-Za-zÀ-ž])[^A-Za-zÀ-ž]*)*|[a-z_]+=[^\s;]+|/\S+[^\s.,:;]"
)
"""Numbers, squares, sheets, letters of tiles, names of shapes, signs; an option with its value; a whole path."""
_JOINTS = (". ", "? ", "! ", " Or: ", "; ", ": ", ", and ", ", then ", " and on ", " and ", " or ", ", ", " ")
"""Where a text may be cut in two that are translated each by itself."""
_JOINT_WORDS = frozenset(joint.strip() for joint in _JOINTS if joint.strip())
_GOES_ON = re.compile(r"[,.;:)']| [a-z]")
_BEGINS = re.compile(r"(^|[.:?] )$")
"""How a sentence goes on after a part of it, and what stands before a part that may be sentences by itself."""
_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?)]) (?=[A-Z(`']|p\d)")


@dataclass(frozen=True)
class Entry:
    """A template, the form in which it is asked for (empty: any), and how it is said in the other language."""

    form: str
    template: str
    said: str


@dataclass(frozen=True)
class Template:
    """An entry taken apart: the English texts around its placeholders, and their names; a quoted one is ``!r``.

    ``said`` has the other language's texts, each with the name and form of what follows it, empty at the end.
    """

    said: tuple[tuple[str, str, str], ...]
    texts: tuple[str, ...]
    names: tuple[str, ...]
    quoted: frozenset[str]
    longest: str
    weight: int

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """Take an entry apart."""
        parts = PLACEHOLDER.split(entry.template)
        texts, names = tuple(parts[::4]), tuple(parts[1::4])
        quoted = frozenset(name for name, mark in zip(names, parts[2::4], strict=True) if mark)
        others = PLACEHOLDER.split(entry.said)
        forms = [form or "" for form in others[3::4]]
        said = tuple(zip(others[::4], [*others[1::4], ""], [*forms, ""], strict=True))
        return cls(said, texts, names, quoted, max(texts, key=len), sum(map(len, texts)))

    def fillings(self, text: str) -> Iterator[dict[str, str]]:
        """Give every way in which a text is this template filled in; a name that stands twice is filled in alike."""
        if self.longest not in text or not text.startswith(self.texts[0]) or not text.endswith(self.texts[-1]):
            return
        yield from self._from(text, len(self.texts[0]), 0, {})

    def _from(self, text: str, start: int, index: int, filled: dict[str, str]) -> Iterator[dict[str, str]]:
        if index == len(self.names):
            if start == len(text):
                yield filled
            return
        name, following = self.names[index], self.texts[index + 1]
        is_last = index == len(self.names) - 1
        is_inside = bool(_GOES_ON.match(following)) or not _BEGINS.search(self.texts[index])
        # The last part reaches to the end; any other one to a place where what follows it is found.
        end = len(text) - len(following) if is_last else text.find(following, start)
        while start <= end:
            part = text[start:end]
            if is_inside and _BETWEEN_SENTENCES.search(part):
                return
            fits = filled.get(name, part) == part and (name not in self.quoted or _QUOTED.fullmatch(part))
            if fits and (part or start):
                yield from self._from(text, end + len(following), index + 1, {**filled, name: part})
            if is_last:
                return
            end = text.find(following, end + 1)


class Sentences:
    """Says the referee's sentences in the language of these entries. Any thread may ask; answers are remembered."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._plain: dict[tuple[str, str], str] = {}
        self._templates: dict[str, list[Template]] = {}
        for entry in entries:
            if "{" in entry.template:
                self._templates.setdefault(entry.form, []).append(Template.of(entry))
            else:
                self._plain[entry.form, entry.template] = entry.said
        for templates in self._templates.values():
            templates.sort(key=lambda one: -one.weight)
        self._found: Callable[[str, str], str | None] = lru_cache(_MOST_KEPT)(self._sought)
        self._known: Callable[[str, str], str | None] = lru_cache(_MOST_KEPT)(self._matched)

    @classmethod
    def of(cls, catalogue: Path) -> Self:
        """Read a compiled catalogue."""
        return cls(Entry(*each) for each in json.loads(catalogue.read_text(encoding="utf-8")))

    def __call__(self, text: str) -> str:
        """Say a text; what no template fits stays in English, each sentence by itself."""
        if len(_WORD.findall(text)) > _MOST_WORDS:
            return text
        said = self.translated(text)
        if said is not None:
            return said
        pieces = _BETWEEN_SENTENCES.split(text)
        for end in range(len(pieces) - 1, 0, -1):
            begun = self.translated(" ".join(pieces[:end]))
            if begun is not None:
                return f"{begun} {self(' '.join(pieces[end:]))}"
        return text if len(pieces) == 1 else f"{pieces[0]} {self(' '.join(pieces[1:]))}"

    def translated(self, text: str, form: str = "") -> str | None:
        """Say a text in a form, ``None`` where it has a word that is not known."""
        bare = text.strip()
        said = self._found(bare, form)
        return None if said is None else text.replace(bare, said, 1) if bare else text

    def _sought(self, text: str, form: str) -> str | None:
        if form == UNCHANGED:
            # What is no sentence of ours may not take the next one along.
            return None if _BETWEEN_SENTENCES.search(text) else text
        if form == FILE:
            return None if " " in text or text.rstrip(".").isalpha() else text
        if form == WHERE_KNOWN:
            return self._sought(text, "") or self._sought(text, UNCHANGED)
        if form == NAME:
            return None if text[:1].islower() or "," in text or _BETWEEN_SENTENCES.search(text) else text
        if text in _JOINT_WORDS:
            return None
        if _OF_NO_LANGUAGE.fullmatch(text):
            return self._word(text)
        said = self._known(text, form)
        if said is None:
            said = self._in_two(text, form)
        if said is None and text.endswith("."):
            said = self._sought(text[:-1], form)
            return None if said is None else f"{said}."
        return said

    def _matched(self, text: str, form: str) -> str | None:
        """Say a text that is a word or template as a whole, whatever its first letter and its full stop."""
        for wanted in dict.fromkeys((form, "")):
            said = self._as_it_stands(text, wanted)
            if said is not None:
                return said
        lower, upper = text[:1].lower() + text[1:], text[:1].upper() + text[1:]
        for other, first in ((lower, str.upper), (upper, str)):
            said = None if other == text else self._as_it_stands(other, form) or self._as_it_stands(other, "")
            if said is not None:
                return first(said[:1]) + said[1:]
        if not text.endswith((".", "?", "!")):
            said = self._matched(f"{text}.", form)
            return None if said is None else said.removesuffix(".")
        return None

    def _as_it_stands(self, text: str, form: str) -> str | None:
        if (form, text) in self._plain:
            return self._plain[form, text]
        for template in self._templates.get(form, ()):
            for filled in template.fillings(text):
                said = self._filled(template, filled)
                if said is not None:
                    return said
        return None

    def _filled(self, template: Template, filled: dict[str, str]) -> str | None:
        said = []
        for text, name, form in template.said:
            told: str | None = filled.get(name, "")
            if name and name not in template.quoted:
                told = self.translated(filled[name], form)
            if told is None:
                return None
            said += [text, told]
        return "".join(said)

    def _in_two(self, text: str, form: str) -> str | None:
        """Say a list, or sentences that follow each other, piece by piece."""
        for joint in _JOINTS:
            end = text.find(joint)
            while end >= 0:
                # The sign that ends a sentence belongs to it.
                mark = joint[0] if joint[0] in ".?!" else ""
                begun, rest = text[:end] + mark, text[end + len(joint) :]
                said = None if begun in _JOINT_WORDS else self._word(begun)
                if said is None and joint != " ":
                    said = self._known(begun, form)
                following = None if said is None or not rest else self.translated(rest, form)
                if following is not None:
                    return f"{said}{self._joint(joint.removeprefix(mark) if mark else joint)}{following}"
                end = text.find(joint, end + 1)
        return None

    def _word(self, text: str) -> str | None:
        """Say one word, or what belongs to no language."""
        if _OF_NO_LANGUAGE.fullmatch(text):
            return self._plain.get(("", text), text)
        return self._plain.get(("", text)) or self._plain.get(("", text[:1].lower() + text[1:]))

    def _joint(self, joint: str) -> str:
        bare = joint.strip()
        return joint.replace(bare, self._plain.get(("", bare), bare)) if bare else joint
