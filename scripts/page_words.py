"""Collects the page's words and the referee's sentences, and compiles their translations, in referee/web/catalogues.

Run: python scripts/page_words.py [--check]

Words of the page's templates and of its Python come into each language's ``page.po``; the sentences of games, judge and
session come into ``rules.po``. Fill in what is empty there, and run this again. ``--check`` changes nothing and says
what is missing or no longer used.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from common.phrases import PLACEHOLDER  # noqa: E402
from engine.registry import games, load  # noqa: E402
from engine.support.looks import Look  # noqa: E402
from hardware.lights.signals import ROLE_STYLES, Mood  # noqa: E402
from referee.judge.verdict import VerdictKind  # noqa: E402
from referee.languages import CATALOGUES, LANGUAGES, sentences_path  # noqa: E402
from scripts.sentence_templates import templates_in  # noqa: E402

_WEB = ROOT / "referee" / "web"
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
_SPEAKING = (
    "referee/clocks.py",
    "referee/commands/entries.py",
    "referee/commands/entries.py",
    "hall/tournament/*.py",
    "hall/web/t*.py",
    "referee/hints/*.py",
    "referee/journal/fold.py",
    "referee/journal/results.py",
    "referee/journal/recovery.py",
    "referee/journal/results.py",
    "referee/judge/*.py",
    "referee/sensing/*.py",
    "referee/session/*.py",
    "referee/web/*.py",
    "referee/web/drawing/*.py",
    "referee/doctor.py",
    "referee/runtime/exposure.py",
    "referee/runtime/sources.py",
    "referee/wiring/*.py",
    "hardware/*.py",
    "hardware/lights/light_map.py",
    "hardware/lights/panel.py",
    "firmware_bridge/connection/*.py",
    "firmware_bridge/ports/*.py",
    "vision/calibration.py",
    "vision/cameras/live.py",
    "vision/locating/*.py",
    "vision/motion/*.py",
    "vision/readers/*_reader.py",
)
"""Modules with sentences that the page shows."""
_ROOMS = ("common", "hardware", "firmware_bridge", "vision", "referee", "hall")
"""Rooms whose other modules give the page only errors and findings."""
_WITHOUT_A_PAGE = (
    *("firmware_bridge/firmware/", "firmware_bridge/install/", "firmware_bridge/pin_maps/"),
    *("firmware_bridge/protocol/", "referee/cli/", "referee/commands/command_socket.py", "referee/demo/"),
    *(
        f"hall/{name}.py"
        for name in ("announcement", "broker", "command", "copies", "database", "floor", "hall", "rulings", "running")
    ),
    *("referee/journal/backups.py", "referee/journal/events.py", "referee/journal/fold.py"),
    *("referee/mqtt/", "referee/rendering/overlay.py", "referee/runtime/inputs.py", "referee/runtime/watch.py"),
    *(
        "referee/settings/",
        "vision/__main__.py",
        "vision/locating/photographed.py",
        "vision/readers/dice/photographs.py",
    ),
    *("vision/readers/ink/", "vision/readers/enrolment.py"),
    "vision/readers/tiles.py",
)
"""Paths whose errors are only shown by a terminal or a log."""
_TO_PLAYERS = (
    *(f"referee/cli/{name}" for name in ("client.py", "entries.py", "games.py", "group.py", "play/")),
    *("referee/commands/command_socket.py", "referee/demo/", "referee/mqtt/options.py"),
    *("referee/runtime/inputs.py", "referee/runtime/watch.py"),
)
"""Those of them that speak to players at a terminal."""
_SILENT = frozenset(
    {
        "hall/tournament/standings.py",
        "referee/judge/explanations.py",
        "referee/judge/settings.py",
        "referee/judge/verdict.py",
        "referee/web/drawing/table.py",
        "referee/web/guard.py",
        "referee/web/languages.py",
        "referee/languages.py",
        "referee/web/server.py",
        "referee/web/views.py",
    }
)
"""Modules without sentences for people, or whose sentences are among the page's own words."""
_NOT_SAID = frozenset(
    {
        *("__init__", "__str__", "summary", "_stuck", "_describe_dice", "_describe_penalties", "combine", "_seconds"),
        *("draw_sheet", "load_health", "dumps", "_commands", "_headings", "_statuses", "_systems"),
    }
)
"""Functions with texts for a terminal, a log, an engineer or the API's description, or from the page's words."""
_FOR_MACHINES = re.compile(
    r"^(went on|flag fell|remove the file.*|round robin|new game)$"
    r"|translate\(|default-src|camera=|attachment;|to= and|slots=|star_slid=|got an array of"
    r"|^(edge )?light \{(place|line|replace)\}$|inline;"
    r"|^(PRAGMA|SELECT|INSERT|UPDATE|DELETE|BEGIN) |^# |^\w+ = |^tabletop-referee |^light_map = "
    # A reader's prefix to another message; the surface's name is translated by itself.
    r"|^the \{name\}(: \{message\})?$"
    # Text on printed sheets, and questions at a terminal.
    r"|^marker \{marker_id\}: |^Table markers|^Cut along|^Glue |^Calibration board|Enter alone|Enter to |^Enter "
)
_PIECES = ("piece", "block")
"""The pieces of ``PieceBreaches``."""
_WORDS = (
    *("{some} and {last}", "{some} or {last}", "{some} Or: {last}"),
    *("and", "or", ", and", "Or:", ", then", "nothing", "nobody", "is", "are", "stays"),
    *("{describe} That {reason}. {expectation}", "{describe} Take {die}. That {reason}. {expectation}"),
    *("{place} ({look}?)", "{part}'s {squares}", "{turn}  {described}", "{turn} or 1 3 4 5 on a", "{turn} or none"),
    *("out", "resigned", "anti-play", "identical", "consecutive", "gentle", "fair", "strong", "look", "play", "own"),
    *("one square", "no squares", "{number} squares", "one strike", "no strikes", "{number} strikes"),
    *("one {colour} corner", "no {colour} corners", "{number} {colour} corners"),
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *(f"{{part}}'s {{squares}} {colour}" for colour in ("red", "blue", "yellow", "green")),
    *("Strikes", "Either", "Letters", "Score"),
    *("small", "medium", "large", "circled", "no table", "cross", "a side face had been misread"),
    *(
        "the layout",
        "the looks",
        "the board",
        "the dice tray",
        "the sheet of {player}",
        "dice tray",
        "sheet",
        "sheet of {player}",
    ),
    *map(
        ", ".join,
        product(("1 light", "{lights} lights"), ("1 switch", "{switches} switches"), ("1 button", "{buttons} buttons")),
    ),
    ", a buzzer",
    # A setting that was typed during set-up.
    *("there is no setting {name}{near}; known: {names}", "{name} is {got}; expected {expected}"),
    *("{name} is {got}; expected {low} to {high}", "{name} is {got}; expected {kind}, {low} to {high}"),
    "{name} is {got}; expected {choices} or {choice}",
    "{name} is {got}; expected {choices} or {choice} (did you mean {near}?)",
    # Who or what entered something.
    *("owner", "page", "button", "the clock"),
    *("two dice from 1 to 6, such as 4,1", "two dice, such as 4,1"),
    *("a whole number", "a number", "text in quotes", "the name of a file, in quotes"),
    *("(did you mean {near!r}?)", "(did you mean {near}?)", "unnamed", "none", "some"),
)
"""Parts of sentences that are not found in the code as sentences, such as a list's conjunctions and kinds of things."""


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
    speaking = {path for pattern in _SPEAKING for path in ROOT.glob(pattern)}
    for path in sorted(speaking | {path for room in _ROOMS for path in ROOT.glob(f"{room}/**/*.py")}):
        file = path.relative_to(ROOT).as_posix()
        if file not in _SILENT and not file.startswith(_WITHOUT_A_PAGE):
            source = path.read_text(encoding="utf-8")
            silent = _NOT_SAID - {"__init__"} if file.startswith("vision/cameras/") else _NOT_SAID
            for template in templates_in(source, {}, silent, only_faults=path not in speaking):
                if not _FOR_MACHINES.search(template):
                    yield file, template
    for room in (*_ROOMS, "engine"):
        for path in sorted(ROOT.glob(f"{room}/**/*.py")):
            file = path.relative_to(ROOT).as_posix()
            is_shown = file.startswith(_TO_PLAYERS) or not file.startswith(_WITHOUT_A_PAGE)
            for message in phrases_in(path.read_text(encoding="utf-8"), with_faults=is_shown):
                if _WORD.search(PLACEHOLDER.sub("", message)):
                    yield file, message.strip()
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
        choices = [choice for option in game.options for choice in option.choices]
        yield from ((file, choice) for choice in choices if isinstance(choice, str))
        yield from ((file, player) for player in game.players if player.isalpha())
        for look in game.looks:
            if not _DIGIT.search(look):
                parts = Look.parse(look)
                piece = look.partition(",")[0]
                words = [look] if parts is None else [look, piece, parts.colour, parts.shape, parts.mark]
                yield from ((file, word) for word in words if word)


def phrases_in(source: str, *, with_faults: bool) -> Iterator[str]:
    """Yield the templates of a module's phrases and, if they are shown on the page, of its errors and findings."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in {"Phrase", "either"} or called.endswith(".said"):
                yield from _literals(node.args)
            elif called == "self._said":
                # PieceBreaches speaks of a game's pieces, whose gender affects the words around them.
                yield from (text.replace(" piece", f" {piece}") for text in _literals(node.args) for piece in _PIECES)
            elif with_faults and called == "counted" and isinstance(node.args[1], ast.Constant):
                one, *several = _literals(node.args)
                yield from (f"1 {one}", f"{{number}} {several[0] if several else f'{one}s'}")
            elif with_faults and called.startswith("Finding"):
                yield from _literals(node.args)
            elif with_faults and called.endswith("Error") and called not in _FOR_PROGRAMMERS:
                yield from (text for text in _literals(node.args) if " " in text)


def _literals(nodes: Iterable[ast.expr]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.IfExp):
            yield from _literals((node.body, node.orelse))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def kept(language: str, domain: str) -> Catalog:
    """Give a language's translations from its file; none if there is no file yet."""
    path = po_path(language, domain)
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


def compiled(catalogue: Catalog, domain: str) -> bytes:
    """Give the run-time file: for gettext, or a list of sentence templates, which are matched by pattern."""
    if domain == "page":
        written = io.BytesIO()
        write_mo(written, catalogue)
        return written.getvalue()
    translated = [message for message in catalogue if message.id and message.string]
    entries = sorted([message.context or "", message.id, message.string] for message in translated)
    return (json.dumps(entries, ensure_ascii=False, separators=(",", ":"), indent=0) + "\n").encode()


def po_path(language: str, domain: str) -> Path:
    """Path of a language's translations."""
    return CATALOGUES / language / "LC_MESSAGES" / f"{domain}.po"


def compiled_path(language: str, domain: str) -> Path:
    """Path of the run-time file."""
    return sentences_path(language) if domain == "rules" else po_path(language, domain).with_suffix(".mo")


def _strings(string: object) -> tuple[str, ...]:
    return tuple(string) if isinstance(string, (tuple, list)) else (str(string or ""),)


def _same_parts(message: Message) -> bool:
    asked, said = ({found[1] for found in PLACEHOLDER.finditer(str(text))} for text in (message.id, message.string))
    return said <= asked


def main() -> int:
    """Write the catalogues, or only print what is missing or no longer used."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Change nothing.")
    arguments = parser.parse_args()
    lacking = 0
    for language, domain in [(language, domain) for language in LANGUAGES if language != "en" for domain in _HEADERS]:
        if not arguments.check:
            path = po_path(language, domain)
            path.parent.mkdir(parents=True, exist_ok=True)
            catalogue = updated(language, domain)
            with path.open("wb") as file:
                write_po(file, catalogue, width=120, sort_output=True, include_lineno=False)
            compiled_path(language, domain).write_bytes(compiled(catalogue, domain))
        for words in missing(language, domain):
            lacking += 1
            print(f"{language}: no translation of {words!r}")
        for words in stale(language, domain):
            lacking += 1
            print(f"{language}: {words!r} is not used any more")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
