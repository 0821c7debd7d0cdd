"""Collect the page's words and compile their translations: referee/web/catalogues.

Run: python scripts/page_words.py [--check]

Words of the templates and of Python come into each language's ``page.po``; fill in what is empty there, and run this
again. ``--check`` changes nothing and says what is missing.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hardware.lights.signals import ROLE_STYLES  # noqa: E402
from referee.web.languages import CATALOGUES, LANGUAGES  # noqa: E402

_WEB = ROOT / "referee" / "web"
_SET_UP = ROOT / "referee" / "setup"
_METHODS = [("templates/**.html", "jinja2"), ("**.py", "python")]
_OPTIONS = {"templates/**.html": {"trim_blocks": "true", "lstrip_blocks": "true"}}
_KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "told": None}
_LIGHTS = "hardware/lights/signals.py"


def collected() -> Catalog:
    """Give every word that the page says, with where it says it."""
    catalogue = Catalog(project="Tabletop Referee", charset="utf-8")
    found = extract_from_dir(str(_WEB), _METHODS, options_map=_OPTIONS, keywords=_KEYWORDS)
    for file, _, message, _, _ in found:
        catalogue.add(message, locations=[(f"referee/web/{file}", 0)])
    for file, _, message, _, _ in extract_from_dir(str(_SET_UP), [("*.py", "python")], keywords={"Phrase": None}):
        catalogue.add(message, locations=[(f"referee/setup/{file}", 0)])
    for style in ROLE_STYLES.values():
        catalogue.add(style.meaning, locations=[(_LIGHTS, 0)])
    return catalogue


def kept(language: str) -> Catalog:
    """Give a language's translations as they are in its file; none where there is no file yet."""
    path = po_path(language)
    if not path.is_file():
        return Catalog(locale=language, project="Tabletop Referee", charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def updated(language: str) -> Catalog:
    """Give a language's translations with today's words, nothing guessed."""
    catalogue = kept(language)
    catalogue.update(collected(), no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    catalogue.fuzzy = False
    catalogue.header_comment = f"# The page's words in {LANGUAGES[language]}."
    return catalogue


def missing(language: str) -> list[str]:
    """List the words that have no translation."""
    untranslated = [message for message in updated(language) if message.id and not all(_strings(message.string))]
    return [str(message.id) for message in untranslated]


def compiled(catalogue: Catalog) -> bytes:
    """Give what gettext reads at run time."""
    written = io.BytesIO()
    write_mo(written, catalogue)
    return written.getvalue()


def po_path(language: str) -> Path:
    """Where a language's words are translated."""
    return CATALOGUES / language / "LC_MESSAGES" / "page.po"


def _strings(string: object) -> tuple[str, ...]:
    return tuple(string) if isinstance(string, (tuple, list)) else (str(string),)


def main() -> int:
    """Write the catalogues, or only say what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Change nothing.")
    arguments = parser.parse_args()
    lacking = 0
    for language in LANGUAGES:
        if language == "en":
            continue
        if not arguments.check:
            path = po_path(language)
            path.parent.mkdir(parents=True, exist_ok=True)
            catalogue = updated(language)
            with path.open("wb") as file:
                write_po(file, catalogue, width=0, sort_output=True, include_lineno=False)
            path.with_suffix(".mo").write_bytes(compiled(catalogue))
        for words in missing(language):
            lacking += 1
            print(f"{language}: no translation of {words!r}")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
