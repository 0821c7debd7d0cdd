"""What learning pieces shares: known positions as an owner writes them, colours told apart, and files of looks.

A file is a JSON object whose ``format`` names the kind of pieces.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from common.durable import write_durably
from common.json_files import read_json, read_json_object
from common.phrases import listed
from vision.errors import EnrolmentError, LayoutError
from vision.frame import FloatArray
from vision.layout.pieces import Surface


def check_distinct(colours: Mapping[str, FloatArray], size: Callable[[FloatArray], float], least: float) -> None:
    """Raise EnrolmentError naming two colours, (3,) each, whose difference has a ``size`` below ``least``."""
    for first, second in combinations(colours, 2):
        apart = size(colours[first] - colours[second])
        if apart < least:
            raise EnrolmentError(
                f"{first} and {second} look nearly the same to the camera (they differ by {apart:.2f}; {least} is "
                "needed): check what stands where, improve the light, or use pieces whose colours differ more"
            )


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


def write_looks(path: Path, file_format: str, looks: Mapping[str, Any]) -> None:
    """Write looks, as JSON values, to a file, completely or not at all; raises OSError."""
    write_durably(path, json.dumps({"format": file_format, **looks}, indent=1) + "\n")


def read_looks(path: Path, *formats: str) -> dict[str, Any]:
    """Read a file that has one of these formats; raises EnrolmentError with what is wrong."""
    data = read_json_object(path, "the looks", EnrolmentError, plural=True)
    given = data.get("format")
    if given not in formats:
        expected = listed([repr(one) for one in formats], "or")
        raise EnrolmentError(f"the looks {path} have format {given!r}; expected {expected}: learn them again")
    return data


def finite_vector(values: object, length: int) -> FloatArray:
    """Convert values from a file to (length,); raises TypeError, ValueError or OverflowError for anything else."""
    vector = np.asarray(values, dtype=np.float64).reshape(length)
    if not np.isfinite(vector).all():
        raise ValueError(f"got {values} where {length} finite numbers are expected")
    return vector
