"""Known positions of pieces, as an owner writes them for enrolment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from common.json_files import read_json
from common.phrases import listed
from vision.errors import EnrolmentError, LayoutError
from vision.layout.surfaces import Surface

PieceT = TypeVar("PieceT")

_BETWEEN = re.compile(r"[;\n]|,(?=\s*\w+\s*[=:])")
_ENTRY = re.compile(r"\s*(\w+)\s*[=:](.*)", re.DOTALL)


@dataclass(frozen=True)
class PositionText(Generic[PieceT]):
    """How positions of one kind of piece are written.

    ``piece`` reads what stands on one square of a surface; None, or EnrolmentError with the reason, for other text.
    """

    noun: str
    example: str
    piece: Callable[[str, Surface], PieceT | None]
    record: tuple[str, ...] = ()
    """The keys that say what a piece is, where a file lists the pieces with their ``cell``."""

    def read(self, text: str, surface: Surface) -> dict[str, PieceT]:
        """Read ``a4=gold star, b4=gold stop`` (commas, semicolons or lines between), or a JSON file of that name.

        The file holds ``{"a4": "gold star", …}``, or has that below the noun's plural: ``"blocks"``, ``"pieces"``,
        ``"stacks"``. The parts of a piece may be a list.
        Raises EnrolmentError that says which part can't be read, or names a square the board does not have.
        """
        is_file = text.endswith(".json") or ("=" not in text and _is_file(text))
        position: dict[str, PieceT] = {}
        for name, piece_text in self._of_file(Path(text)) if is_file else self._of_text(text):
            place, what = name.strip().lower(), piece_text.strip()
            try:
                surface.centre_mm(place)
            except LayoutError as error:
                raise EnrolmentError(f"the positions name {place!r}: {error}") from error
            if place in position:
                raise EnrolmentError(f"the square {place} is given twice in the positions")
            try:
                piece = self.piece(what, surface)
            except EnrolmentError as error:
                raise EnrolmentError(f"the positions put {what!r} on {place}: {error}") from error
            if piece is None:
                raise self._unreadable(f"{place}={what}")
            position[place] = piece
        if not position:
            raise EnrolmentError(f"the positions {text!r} name no {self.noun}; expected such as {self.example}")
        return position

    def _of_text(self, text: str) -> Iterable[tuple[str, str]]:
        for part in _BETWEEN.split(text):
            match = _ENTRY.fullmatch(part)
            if match:
                yield match[1], match[2]
            elif part.strip():
                raise self._unreadable(part.strip())

    def _of_file(self, path: Path) -> Iterable[tuple[str, str]]:
        data = read_json(path, "the positions", EnrolmentError, plural=True)
        pieces = data.get(f"{self.noun}s", data) if isinstance(data, Mapping) else data
        if isinstance(pieces, list) and isinstance(data, Mapping) and self.record:
            keys = ("cell", *self.record)
            try:
                return [(str(one["cell"]), " ".join(str(one[key]) for key in self.record)) for one in pieces]
            except (KeyError, TypeError) as error:
                raise EnrolmentError(f"the {self.noun}s in {path} each need {listed(keys)} ({error})") from error
        if not isinstance(pieces, Mapping):
            raise EnrolmentError(f"the positions {path} hold a {type(pieces).__name__}; expected an object of squares")
        return [
            (place, " ".join(map(str, what)) if isinstance(what, list) else str(what)) for place, what in pieces.items()
        ]

    def _unreadable(self, part: str) -> EnrolmentError:
        return EnrolmentError(f"cannot read the position {part!r}; expected such as {self.example}")


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # longer than a name can be
        return False
