"""Collects the page's words and the referee's sentences in frontends/page/catalogues, for translation.

Run: python scripts/page_words.py [--check]

Words of the page's templates and of its Python come into each language's ``page.po``; the sentences of games, judge and
session come into ``rules.po``. Fill in what is empty there, and run this again. ``--check`` changes nothing and says
what is missing or no longer used.
"""

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from common.phrases import PLACEHOLDER  # noqa: E402
from engine.registry import games, load  # noqa: E402
from engine.support.looks import Look  # noqa: E402
from engine.values import Strength  # noqa: E402
from frontends.languages import LANGUAGES, catalogue_path  # noqa: E402
from hardware.lights.signals import ROLE_STYLES, Mood  # noqa: E402
from referee.judge.verdict import VerdictKind  # noqa: E402

_WEB = ROOT / "frontends" / "page"
_HALL = ROOT / "hall" / "web"
_METHODS = [("templates/**.html", "jinja2"), ("**.py", "python")]
_OPTIONS = {"templates/**.html": {"trim_blocks": "true", "lstrip_blocks": "true"}}
_KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2)}
_HEADERS = {"page": "The page's words", "rules": "The referee's sentences"}
_DIGIT = re.compile(r"\d")
_FOR_PROGRAMMERS = frozenset(
    {"ValueError", "TypeError", "KeyError", "AssertionError", "RuntimeError", "click.UsageError"}
)
"""Errors that nobody reads, or in English as the help of a command is."""
_WORD = re.compile(r"[^\W\d_]")
_THIS = "scripts/page_words.py"
_LIGHTS = "hardware/lights/signals.py"
_ROOMS = ("common", "engine", "hardware", "firmware_bridge", "vision", "referee", "journal", "frontends", "app", "hall")
_PIECES = ("piece", "block")
"""The pieces of ``PieceBreaches``."""
_WORDS = (
    *("{some} and {last}", "{some} or {last}", "{some} Or: {last}"),
    *("out", "resigned", "anti-play", "identical", "consecutive", "gentle", "fair", "strong", "look", "play", "own"),
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("Strikes", "Either", "Letters", "Score", "small", "medium", "large", "circled", "cross"),
    *("board", "dice tray", "sheet", "the looks", "stuck closed", "stuck open", "end turn", "take back"),
    *(f"program ({strength.value})" for strength in Strength),
    *("owner", "page", "button", "the clock", "a person", "a question"),
)
"""Lists, and the values of enumerations and the like, which are no phrases in the code."""


@cache
def collected(domain: str = "page") -> Catalog:
    """Give every text of the page, or every sentence of the rules, with its location."""
    catalogue = Catalog(project="Tabletop Referee", charset="utf-8")
    for file, message in _page_words() if domain == "page" else _sentences():
        catalogue.add(message, locations=[(file, 0)])
    return catalogue


def _page_words() -> Iterator[tuple[str, str | tuple[str, ...]]]:
    for folder in (_WEB, _HALL):
        words = extract_from_dir(str(folder), _METHODS, options_map=_OPTIONS, keywords=_KEYWORDS)
        yield from ((f"{folder.relative_to(ROOT).as_posix()}/{file}", message) for file, _, message, _, _ in words)
    for style in ROLE_STYLES.values():
        yield _LIGHTS, style.meaning


def _sentences() -> Iterator[tuple[str, str]]:
    for path in sorted(path for room in _ROOMS for path in ROOT.glob(f"{room}/**/*.py")):
        for message in templates_in(path.read_text(encoding="utf-8")):
            if _WORD.search(PLACEHOLDER.sub("", message)):
                yield path.relative_to(ROOT).as_posix(), message.strip()
    yield from ((_THIS, word) for word in _WORDS)
    yield from (("referee/judge/verdict.py", kind.value) for kind in VerdictKind)
    yield from ((_LIGHTS, mood.value) for mood in Mood)
    yield from ((_LIGHTS, style.meaning) for style in ROLE_STYLES.values())
    for name in games():
        game = load(name)
        file = f"engine/games/{name.replace('-', '_')}/game.py"
        yield file, game.title
        yield from ((file, rule.sentence) for rule in game.rules.catalogue.values())
        yield from ((file, option.help) for option in game.options)
        choices = [option.words_for(choice) for option in game.options for choice in option.choices]
        yield from ((file, choice) for choice in choices if not choice.isdigit())
        yield from ((file, player) for player in game.players if player.isalpha())
        for look in game.looks:
            if not _DIGIT.search(look):
                parts = Look.parse(look)
                piece = look.partition(",")[0]
                words = [look] if parts is None else [look, piece, parts.colour, parts.shape, parts.mark]
                yield from ((file, word) for word in words if word)


def templates_in(source: str) -> Iterator[str]:
    """Yield the templates of a module's phrases, errors, findings and counts."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in {"Phrase", "either"} or called.startswith("Finding") or called.endswith(".said"):
                yield from _literals(node.args)
            elif called == "self._said":
                # PieceBreaches speaks of a game's pieces, whose gender affects the words around them.
                yield from (text.replace(" piece", f" {piece}") for text in _literals(node.args) for piece in _PIECES)
            elif called == "counted":
                for one, *several in product(*(list(_literals([each])) for each in node.args[1:])):
                    yield from (f"1 {one}", f"{{number}} {several[0] if several else f'{one}s'}")
            elif called.endswith("Error") and called not in _FOR_PROGRAMMERS:
                yield from (text for text in _literals(node.args) if " " in text)


def _literals(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.IfExp):
            yield from _literals((node.body, node.orelse))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def kept(language: str, domain: str) -> Catalog:
    """Give a language's translations from its file; none if there is no file yet."""
    path = catalogue_path(language, domain)
    if not path.is_file():
        return Catalog(locale=language, project="Tabletop Referee", charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=language)


def updated(language: str, domain: str) -> Catalog:
    """Update a language's translations to the current texts, without guesses; keep the forms of remaining words."""
    catalogue = kept(language, domain)
    forms = [message for message in catalogue if message.context]
    words, created = collected(domain), catalogue.creation_date
    catalogue.update(words, no_fuzzy_matching=True)
    # A new date in every run would cause merge conflicts.
    catalogue.creation_date = created
    for form in forms:
        if form.id in words:
            catalogue.add(form.id, form.string, locations=words[form.id].locations, context=form.context)
    catalogue.obsolete.clear()
    catalogue.fuzzy = False
    catalogue.header_comment = f"# {_HEADERS[domain]} in {LANGUAGES[language]}."
    return catalogue


def missing(language: str, domain: str) -> list[str]:
    """List texts without a translation, and those whose translation has other placeholders."""
    return [
        str(message.id)
        for message in updated(language, domain)
        if message.id and not (all(_strings(message.string)) and (domain == "page" or _same_parts(message)))
    ]


def stale(language: str, domain: str) -> list[str]:
    """List unused texts in a language's file."""
    words = collected(domain)
    return [str(message.id) for message in kept(language, domain) if message.id and message.id not in words]


def _strings(string: object) -> tuple[str, ...]:
    return tuple(string) if isinstance(string, (tuple, list)) else (str(string or ""),)


def _same_parts(message: Message) -> bool:
    # A part that is said more often than in English, nested in itself, would grow beyond what read_phrase bounds.
    texts = (message.id, message.string)
    asked, said = (Counter(found[1] for found in PLACEHOLDER.finditer(str(text))) for text in texts)
    return said <= asked


def main() -> int:
    """Write the catalogues, or only print what is missing or no longer used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Change nothing.")
    arguments = parser.parse_args()
    lacking = 0
    for language, domain in [(language, domain) for language in LANGUAGES if language != "en" for domain in _HEADERS]:
        if not arguments.check:
            path = catalogue_path(language, domain)
            path.parent.mkdir(parents=True, exist_ok=True)
            catalogue = updated(language, domain)
            with path.open("wb") as file:
                write_po(file, catalogue, width=120, sort_output=True, include_lineno=False)
        for words in missing(language, domain):
            lacking += 1
            print(f"{language}: no translation of {words!r}")
        for words in stale(language, domain):
            lacking += 1
            print(f"{language}: {words!r} is not used any more")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
