"""Gathers the files of a bug report, removes private data, and zips those that the owner wants to send.

Only settings known to be harmless are included: numbers, choices, and a few forms such as a pin's name. So host names,
addresses, serial numbers and file names are left out, and so is any new setting. People's names become ``person 1``.
In sentences, anything that looks like a path, an address, a code or a token is removed.
"""

import io
import json
import platform
import re
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from app.settings.configuration import Configuration
from common.findings import Finding
from common.program import program_version
from common.toml_text import as_toml
from engine import registry
from engine.errors import EngineError
from frontends.table_port import ReportFile
from journal.reader import read_journal
from referee.errors import JournalError, JournalMissingError
from referee.record.events import PICTURE_SUFFIXES, Event, EventKind, JsonValue

LEFT_OUT = "(left out)"
_HARMLESS = re.compile(
    r"auto|none|phone|pi(:\d)?|usb:\d{1,3}|GPIO\d{1,2}|BOARD\d{1,2}|\d{1,2}|/dev/(video|ttyACM|ttyUSB|ttyAMA|ttyS)\d{1,3}"
    r"|(fischer|delay) [\d.]{1,6}\+[\d.]{1,6}|game [\d.]{1,6}|\d\d:\d\d-\d\d:\d\d"
)
_PRIVATE = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://\S+"  # an address of the web
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?"  # IPv4
    r"|(?<![\w:])(?:[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){3,7}|[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4})*::[0-9a-fA-F:]*)"
    r"|\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:local|lan|internal|home\.arpa|fritz\.box)\b"
    r"|(?<![\w/])(?:~|\.{1,2})?/(?!dev/(?:video|tty(?:ACM|USB|AMA|S))\d)[^\s,;:()'\"]+"  # a path
    r"|(?<!\d)\d{4} ?\d{4}(?!\d)"  # a pairing code
    r"|[A-Za-z0-9_.=-]{24,}",  # a token
)
_LAST_WORD = re.compile(
    r"(?:(?<=\.)|^) ?[^.\n]{1,200} (?:says so|asked for it|stops the (?:clock|game))\.", re.MULTILINE
)
_NOT_PEOPLE = frozenset({"", "button", "page", "owner", "somebody", "the program", "the clock", "camera"})
_PLAIN_KEYS = frozenset(
    {
        "announcement", "candidates", "change", "clock", "complete_s", "expected", "game", "hints", "margin", "places",
        "player", "reason", "remaining_s", "remedy", "roll", "seed", "seen", "shared_by", "source", "stage",
        "state", "strength", "turn", "winner",
    }
)  # fmt: skip
"""The keys of event data that people don't write themselves."""


def settings_text(configuration: Configuration) -> str:
    """Write every setting with its source; a value that may be private is replaced."""
    names = _names(configuration)
    sources = {name: source for name, _, source in configuration.rows()}
    sections: dict[str, list[str]] = {}
    for section, key, value, choices in _values(configuration):
        line = f"{key} = {_setting(value, choices, names)}  # {sources[f'{section}.{key}'].kind}"
        sections.setdefault(f"[{section}]", []).append(line)
    return "\n".join("\n".join((heading, *lines, "")) for heading, lines in sections.items())


def secrets_of(configuration: Configuration) -> set[str]:
    """Return the private texts in the settings, so that they can be removed from sentences too."""
    names = _names(configuration)
    return {text for _, _, value, choices in _values(configuration) for text in _private_texts(value, choices, names)}


def _values(configuration: Configuration) -> Iterator[tuple[str, str, Any, frozenset[str]]]:
    """Yield each setting's section, key, value, and the texts that its type allows."""
    for section in type(configuration.settings).model_fields:
        values = getattr(configuration.settings, section)
        for key, field in type(values).model_fields.items():
            yield section, key, getattr(values, key), _choices(field.annotation)


class Anonymizer:
    """Removes names and secrets from texts; a person has the same number everywhere."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = set(secrets)
        self._not_people = set(_NOT_PEOPLE)
        self._people: dict[str, str] = {}

    def person(self, name: str) -> str:
        """Return a person's name in the report."""
        if name.lower() in self._not_people:
            return name
        return self._people.setdefault(name, f"person {len(self._people) + 1}")

    def text(self, text: str) -> str:
        """Return a text without names and secrets."""
        for secret in sorted((each for each in self._secrets if len(each) > 2), key=len, reverse=True):
            text = text.replace(secret, LEFT_OUT)
        for name in sorted(self._people, key=len, reverse=True):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", self._people[name], text)
        return _PRIVATE.sub(LEFT_OUT, _LAST_WORD.sub(f" {LEFT_OUT}", text))

    def learn(self, events: Iterable[Event]) -> None:
        """Learn the names of players and of people who entered something, and why they corrected."""
        for event in events:
            by = event.text("by")
            if event.kind == EventKind.NEW_GAME:
                self._not_people |= _sides(str(event.data["game"]))
                # The name that people gave their house rules.
                self._secrets.add(event.text("rules") or "")
            for name in (*event.names.values(), by):
                if name is not None:
                    self.person(name)
            if event.kind == EventKind.CORRECTION and by not in _NOT_PEOPLE:
                self._secrets.add(event.text("why") or "")

    def event(self, event: Event) -> dict[str, JsonValue]:
        """Return an event's data without texts that a person wrote."""
        return {key: self._value(event.kind, key, value) for key, value in event.data.items()}

    def _value(self, kind: EventKind, key: str, value: JsonValue) -> JsonValue:
        if key == "by":
            return self.person(str(value))
        if key == "players" and isinstance(value, dict):
            return {side: self.person(str(name)) for side, name in value.items()}
        if key == "sentence" and kind != EventKind.CLOCK:
            return self.text(str(value))
        if key == "options" and isinstance(value, dict):
            return {
                name: option if isinstance(option, bool | int | float) else LEFT_OUT for name, option in value.items()
            }
        if key == "rules" and kind == EventKind.ILLEGAL:
            # The names of the rules that were broken.
            return value
        return value if key in _PLAIN_KEYS else LEFT_OUT


def _sides(game: str) -> frozenset[str]:
    try:
        return frozenset(side.lower() for side in registry.load(game).players)
    except EngineError:
        return frozenset()


def _names(configuration: Configuration) -> frozenset[str]:
    """Return the game's own names: of itself, its places, its players, its options and their choices."""
    try:
        game = registry.load(configuration.settings.game.name)
    except EngineError:
        return frozenset()
    choices = (str(choice) for option in game.options for choice in option.choices)
    lines = (part for place in game.places for part in (place[0], place[1:]))
    return frozenset((game.name, *game.places, *game.players, *(each.name for each in game.options), *choices, *lines))


def _choices(annotation: Any) -> frozenset[str]:
    """Return the texts that an annotation allows."""
    if isinstance(annotation, str):
        return frozenset((annotation,))
    return frozenset(choice for part in get_args(annotation) for choice in _choices(part))


def _is_harmless(text: str, choices: frozenset[str], names: frozenset[str]) -> bool:
    return text in choices or text in names or _HARMLESS.fullmatch(text) is not None


def _setting(value: Any, choices: frozenset[str], names: frozenset[str]) -> str:
    if value is None or isinstance(value, bool | int | float):
        return as_toml(value) if value is not None else "(not set)"
    if isinstance(value, Mapping):
        inside = (f"{_setting(key, choices, names)} = {_setting(each, choices, names)}" for key, each in value.items())
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_setting(each, choices, names) for each in value)}]"
    return as_toml(str(value)) if _is_harmless(str(value), choices, names) else LEFT_OUT


def _private_texts(value: Any, choices: frozenset[str], names: frozenset[str]) -> Iterable[str]:
    if isinstance(value, Mapping):
        for each in (*value, *value.values()):
            yield from _private_texts(each, choices, names)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _private_texts(each, choices, names)
    elif not (value is None or isinstance(value, bool | int | float) or _is_harmless(str(value), choices, names)):
        yield str(value)


MOST_PICTURES = 12
"""The most pictures of verdicts to include; older ones are left out."""
MOST_KEPT_BYTES = 1024 * 1024
"""The largest text file; the beginning of a longer text is left out."""
_AT_ONCE = 1000
"""The most events to read at once, so that a long journal takes little memory."""


def gather(
    configuration: Configuration,
    findings: Iterable[Finding],
    said: Sequence[str],
    private: Collection[str] = (),
) -> tuple[ReportFile, ...]:
    """Gather versions, settings, the doctor's findings, the terminal's lines, and the latest game with its pictures.

    ``said`` are the lines of the terminal, ``private`` further texts to remove, such as this machine's name. If the
    journal can't be read, its file contains the reason.
    """
    anonymizer = Anonymizer({*private, *secrets_of(configuration)})
    events, pictures, trouble = _game(configuration.settings.journal.path, anonymizer)
    told = [f"{each.severity.value}: {each.subject}: {each.message}. {each.remedy}".rstrip() for each in findings]
    texts = [
        ("versions.txt", _versions()),
        ("settings.txt", settings_text(configuration)),
        ("doctor.txt", anonymizer.text("\n".join(told))),
        ("said.txt", anonymizer.text("\n".join(said))),
        ("game.jsonl", "\n".join(_line(number, event, anonymizer) for number, event in events) or trouble),
    ]
    files = [ReportFile(name, "text/plain", _last_part(text)) for name, text in texts if text]
    return (*files, *pictures)


def zipped(files: Iterable[ReportFile]) -> bytes:
    """Zip files; the same files give the same bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as bundle:
        for file in files:
            bundle.writestr(zipfile.ZipInfo(file.name), file.content, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def _versions() -> str:
    """Return the versions of Python, the system and this program; the doctor's findings have those of the libraries."""
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return f"Python {platform.python_version()}\n{system}\ntabletop-referee {program_version()}"


def _game(path: Path, anonymizer: Anonymizer) -> tuple[list[tuple[int, Event]], list[ReportFile], str]:
    """Return the latest game's events and newest pictures, and the reason if there is none.

    ``anonymizer`` learns the names in all games, because the terminal's lines may be about earlier ones.
    """
    try:
        with read_journal(path) as journal:
            number = journal.latest_game()
            if number is None:
                return [], [], "The journal has no game yet."
            last = 0
            while page := journal.events_after(last, _AT_ONCE):
                anonymizer.learn(event for _, _, event in page)
                last = page[-1][0]
            events = journal.events(number)
            numbers = sorted(journal.pictures(number), reverse=True)
            pictures: list[ReportFile] = []
            for event_number in numbers:
                for kept in journal.evidence(event_number):
                    suffix = PICTURE_SUFFIXES.get(kept.evidence.media_type)
                    if suffix is not None and not kept.left_out and len(pictures) < MOST_PICTURES:
                        name = f"pictures/{event_number:04d}-{len(pictures)}{suffix}"
                        pictures.append(ReportFile(name, kept.evidence.media_type, kept.evidence.content))
            return events, pictures, ""
    except JournalMissingError:
        return [], [], "There is no journal."
    except JournalError as error:
        return [], [], f"The journal can't be read: {type(error).__name__}."


def _line(number: int, event: Event, anonymizer: Anonymizer) -> str:
    row = {"number": number, "kind": event.kind.value, "time_s": event.frame_time_s, "wall_time": event.wall_time}
    return json.dumps({**row, "data": anonymizer.event(event)}, ensure_ascii=False)


def _last_part(text: str) -> bytes:
    whole = text.encode()
    if len(whole) <= MOST_KEPT_BYTES:
        return whole
    return b"(what came before is left out)\n" + whole[-MOST_KEPT_BYTES:].partition(b"\n")[2]
