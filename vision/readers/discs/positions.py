"""Known positions of discs, as an owner writes them for enrolment."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from common.json_files import read_json
from vision.errors import EnrolmentError, LayoutError
from vision.layout.surfaces import Surface

Carrier = tuple[str, bool]
"""Whose piece it is, and whether it has a ball."""

_EXAMPLE = '"a1=black, d1=black ball, a7=white, d7=white ball"'
_ENTRY = re.compile(r"\s*(\w+)\s*[=:]\s*(\w+)(?:\s+piece)?(?:\s+(?:with\s+)?(ball))?\s*")


def read_positions(text: str, surface: Surface) -> dict[str, Carrier]:
    """Read ``a1=black, d1=black ball`` (commas, semicolons or lines between), or a JSON file of that name.

    The file holds ``{"a1": "black", "d1": "black piece with ball", …}``. Raises EnrolmentError that says which part
    cannot be read, or names a square the board does not have.
    """
    is_file = text.endswith(".json") or ("=" not in text and Path(text).is_file())
    position: dict[str, Carrier] = {}
    for place, player, ball in _of_text(_of_file(Path(text)) if is_file else text):
        try:
            surface.centre_mm(place)
        except LayoutError as error:
            raise EnrolmentError(f"the positions name {place!r}: {error}") from error
        if place in position:
            raise EnrolmentError(f"the square {place} is given twice in the positions")
        position[place] = (player, ball)
    if not position:
        raise EnrolmentError(f"the positions {text!r} name no piece; expected such as {_EXAMPLE}")
    return position


def _of_text(text: str) -> Iterable[tuple[str, str, bool]]:
    for part in re.split(r"[;,\n]", text):
        if not part.strip():
            continue
        match = _ENTRY.fullmatch(part)
        if match is None:
            raise EnrolmentError(f"cannot read the position {part.strip()!r}; expected such as {_EXAMPLE}")
        yield match[1].lower(), match[2].lower(), match[3] is not None


def _of_file(path: Path) -> str:
    data = read_json(path, "the positions", EnrolmentError, plural=True)
    if not isinstance(data, Mapping):
        raise EnrolmentError(f"the positions {path} hold a {type(data).__name__}; expected an object of squares")
    return ";".join(f"{place}={what}" for place, what in data.items())
