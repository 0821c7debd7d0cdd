"""What the German of the referee's sentences lacks."""

import re

from common.phrases import Phrase
from frontends.languages import Sentences, catalogue_path, translations_in

ENTRIES = tuple(translations_in(catalogue_path("de", "rules")))
GERMAN = Sentences(ENTRIES)
_OF_NO_LANGUAGE = re.compile(
    r"[^A-Za-z]*((?:[A-Z]{2}|[A-Za-z])(?![A-Za-z])[^A-Za-z]*)*|[a-z_]+[=:][^\s;]+|/\S+|'.*'|\".*\""
)
"""Numbers, squares, sheets, tile letters, shape names, signs, ``option=value``, ``slide:A``, full paths, and quotes."""


def untranslated(text: str, *copied: str) -> set[str]:
    """Return the templates and words of a text that have no German, beside those to be ``copied``, such as names."""
    unknown = set()

    def find(part: str, form: str) -> str | None:
        said = GERMAN.find(part, form)
        if said is None and not _OF_NO_LANGUAGE.fullmatch(part.strip()) and part not in copied:
            unknown.add(part)
        return said

    Phrase("{text}", text).translated(find)
    return unknown
