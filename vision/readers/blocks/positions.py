"""Known positions of blocks, as an owner writes them for enrolment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from common.json_files import read_json
from vision.errors import EnrolmentError, LayoutError
from vision.layout.pieces import BlockPieces
from vision.layout.surfaces import Surface

Position = dict[str, tuple[str, str]]
"""Colour and symbol up by square."""

_EXAMPLE = '"a4=gold star, b4=gold stop"'
_ENTRY = re.compile(r"\s*(\w+)\s*[=:]\s*(\w+)[\s,]+(?:block\s*,?\s*)?(\w+)(?:\s+up)?\s*")


def read_positions(text: str, surface: Surface) -> Position:
    """Read ``a4=gold star, b4=gold stop`` (commas, semicolons or lines between), or a JSON file of that name.

    The file holds ``{"blocks": [{"cell": "a4", "colour": "gold", "top": "star"}, …]}`` or ``{"a4": "gold star", …}``.
    Raises EnrolmentError that says which part cannot be read, or names a square the board does not have.
    """
    is_file = text.endswith(".json") or ("=" not in text and Path(text).is_file())
    entries = _of_file(Path(text)) if is_file else _of_text(text)
    position: Position = {}
    for place, colour, symbol in entries:
        _check(place, symbol, surface)
        if place in position:
            raise EnrolmentError(f"the square {place} is given twice in the positions")
        position[place] = (colour, symbol)
    if not position:
        raise EnrolmentError(f"the positions {text!r} name no block; expected such as {_EXAMPLE}")
    return position


def _of_text(text: str) -> Iterable[tuple[str, str, str]]:
    for part in re.split(r"[;\n]|,(?=\s*\w+\s*[=:])", text):
        if not part.strip():
            continue
        match = _ENTRY.fullmatch(part)
        if match is None:
            raise EnrolmentError(f"cannot read the position {part.strip()!r}; expected such as {_EXAMPLE}")
        yield match[1].lower(), match[2].lower(), match[3].lower()


def _of_file(path: Path) -> Iterable[tuple[str, str, str]]:
    data = read_json(path, "the positions", EnrolmentError, plural=True)
    if isinstance(data, Mapping) and "blocks" in data:
        try:
            return [(str(block["cell"]), str(block["colour"]), str(block["top"])) for block in data["blocks"]]
        except (KeyError, TypeError) as error:
            raise EnrolmentError(f"the blocks in {path} each need cell, colour and top ({error})") from error
    if isinstance(data, Mapping):
        return list(_of_text(";".join(f"{place}={what}" for place, what in data.items())))
    raise EnrolmentError(f"the positions {path} hold a {type(data).__name__}; expected an object with blocks")


def _check(place: str, symbol: str, surface: Surface) -> None:
    try:
        surface.centre_mm(place)
    except LayoutError as error:
        raise EnrolmentError(f"the positions name {place!r}: {error}") from error
    symbols = sorted(BlockPieces.on(surface).symbols)
    if symbols and symbol not in symbols:
        raise EnrolmentError(f"the positions put {symbol!r} on {place}; a block shows one of {', '.join(symbols)}")
