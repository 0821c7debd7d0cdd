"""Sheet files: what a person copies from the printed sheet, in TOML, and the one that ships."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from types import MappingProxyType

from engine.blokus_dice.sheet import FACES, Sheet, build, read_sheet_text
from engine.errors import UnreadableError

HOUSE = "house"
"""The name of the sheet that ships."""

_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "title": 'title = "ours"',
        "size": 'size = "10x10"',
        "blocked": "blocked = []",
        "strikes": "strikes = 3",
        "rows": "[rows]",
    }
)
"""The keys of a sheet file, each as it may be written."""


@cache
def house_file() -> str:
    """The text of the sheet file that ships."""
    return resources.files(__package__).joinpath("house.toml").read_text(encoding="utf-8")


@cache
def house_sheet() -> Sheet:
    """The sheet that ships."""
    return read_sheet_file(house_file())[1]


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in a sheet file: the line (0 where nothing stands), the key, and what was expected."""

    line: int
    key: str
    message: str

    def __str__(self) -> str:
        return f"{f'line {self.line}, ' if self.line else ''}{self.key}: {self.message}"


def read_sheet_file(text: str) -> tuple[str, Sheet]:
    """Read a sheet file, TOML as in ``house.toml``: its title and the sheet.

    Raises UnreadableError with a line of text for every fault: its line, key, what was got and what was expected.
    """
    faults: list[Fault] = []
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        faults.append(Fault(int(line[1]) if line else text.count("\n") + 1, "the file", f"is not TOML: {error}"))
        raise UnreadableError(_all_of(faults)) from error

    def report(key: str, message: str) -> None:
        faults.append(Fault(_line_of(text, key), key, message))

    rows = data.get("rows", {})
    if not isinstance(rows, dict):
        report("rows", f"got {rows!r}; expected a table [rows] with the keys 1 to {FACES}")
        rows = {}
    for key in data:
        if key not in _KEYS:
            report(key, f"is no key of a sheet; expected only {', '.join(_KEYS)}")
    by_face = {str(face): face for face in range(1, FACES + 1)}
    for key in rows:
        if key not in by_face:
            report(f"rows.{key}", f"is no number of a die; expected 1 to {FACES}")
    title = data.get("title", "")
    if not isinstance(title, str) or not title.isprintable():
        report("title", f"got {title!r}; expected one line of text in quotes")
    missing = [key for key in ("size", "blocked", "strikes") if key not in data]
    for key in missing:
        report(key, f"is missing; expected a line such as {_KEYS[key]}")
    sheet = build(
        data.get("size", "10x10"),
        data.get("strikes", 0),
        data.get("blocked", ()),
        {face: rows.get(key) for key, face in by_face.items()},
        report,
    )
    if sheet is None or faults:
        raise UnreadableError(_all_of(faults))
    return title, sheet


def _all_of(faults: Sequence[Fault]) -> str:
    return "\n".join(map(str, sorted(faults, key=lambda fault: fault.line)))


def _line_of(text: str, key: str) -> int:
    """The line where a key's value begins, 0 when the key isn't there."""
    name = re.escape(key.rpartition(".")[2])
    found = re.search(rf"^[ \t]*(\[[ \t]*)?[\"']?{name}[\"']?[ \t]*[]=]", text, re.MULTILINE)
    return 0 if found is None else text.count("\n", 0, found.start()) + 1


@lru_cache(maxsize=64)
def read_sheet(text: str) -> Sheet:
    """Read a sheet's text leniently, or the name of the one that ships; raises UnreadableError with every fault."""
    return house_sheet() if text.strip().lower() == HOUSE else read_sheet_text(text)


def format_sheet(sheet: Sheet) -> str:
    """A sheet as an option carries it: its strict text, or the name of the one that ships."""
    return HOUSE if sheet == house_sheet() else sheet.text
