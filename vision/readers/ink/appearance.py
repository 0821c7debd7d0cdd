"""What ink looks like: the looks of a sheet's cells, and the file of them. Only a household's digits are taught."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from common.durable import write_durably
from common.json_files import read_json_object
from vision.errors import EnrolmentError
from vision.layout.pieces import Ink
from vision.layout.surfaces import GridSurface, Surface
from vision.opencv import as_colour
from vision.readers.ink.crops import CROSS, DIGITS, SIGNS, cell_of
from vision.readers.ink.handwriting import Handwriting, taught_cells
from vision.readers.ink.network import shipped
from vision.readers.ink.paper import flat_map, flat_picture, ink_on
from vision.readers.protocols import EnrolmentPicture, SurfaceView
from vision.surface.bent_paper import paper_shape

APPEARANCE_FORMAT = "tabletop-referee ink 1"


def digit_look(digit: str) -> str:
    """The look of a cell with a digit, as the whole project writes it."""
    return f"digit {digit}"


def circled_look(digit: str) -> str:
    """The look of a cell with a digit inside a loop."""
    return f"digit {digit} circled"


def looks_of(pens: Sequence[str]) -> tuple[str, ...]:
    """The looks of a cell that is filled with one of these pens; without any, that is written in."""
    if pens:
        return tuple(pens)
    return (*map(digit_look, DIGITS), "cross", *map(circled_look, DIGITS))


@dataclass(frozen=True)
class InkAppearance:
    """The pens of a sheet, none where it is written in; and the household's own digits, where they were taught."""

    pens: tuple[str, ...] = ()
    handwriting: Handwriting | None = None

    @property
    def looks(self) -> tuple[str, ...]:
        """The looks of a cell that is not empty."""
        return looks_of(self.pens)

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """What tells them apart: the looks themselves, or the signs that were taught and how often."""
        if self.handwriting is None:
            return (self.looks,)
        return (tuple(f"{sign} ({count})" for sign, count in self.handwriting.counts.items()),)


def plain_appearance(surface: Surface) -> InkAppearance:
    """The appearance of a surface's ink."""
    return InkAppearance(Ink.on(surface).colours)


def unchanged(view: SurfaceView, appearance: InkAppearance, names: tuple[str, ...]) -> InkAppearance:  # noqa: ARG001
    """The same appearance: the pens are told from each picture, and the writing from any."""
    return appearance


COPIED = "copied"
"""What a sheet shows that was filled to teach a hand: the digits 1 to 7 over and over, from the left on every line; on
the lowest line crosses, and on the one above it 0, 8 and 9.
"""
_LINES = ("X", "089", "1234567")


def read_copied(text: str, surface: Surface) -> dict[str, str]:
    """Read what a filled sheet shows, by place: COPIED, or its lines from the top, the last being the lowest.

    Lines are parted by ``/``; a dot stands for a cell that is not to be learned. Raises EnrolmentError.
    """
    if not isinstance(surface, GridSurface) or Ink.on(surface).colours:
        raise EnrolmentError(f"pens on the {surface.name} are told without being taught; leave out enrolment and looks")
    lines = text.strip().split("/")
    if text.strip() == COPIED:
        lines = [(_LINES[min(row, 2)] * surface.columns)[: surface.columns] for row in reversed(range(surface.rows))]
    if len(lines) > surface.rows or any(len(line) != surface.columns for line in lines):
        raise EnrolmentError(
            f"{text!r} is no sheet of {surface.columns} columns and {surface.rows} lines or fewer; expected {COPIED}, "
            f"or lines from the top such as {'1234567X'[: surface.columns]}/{'.' * surface.columns}"
        )
    rows = [surface.places[start : start + surface.columns] for start in range(0, len(surface.places), surface.columns)]
    shown = {
        place: sign.upper()
        for row, line in zip(rows, reversed(lines), strict=False)
        for place, sign in zip(row, line, strict=True)
        if sign != "."
    }
    unknown = next((sign for sign in shown.values() if sign not in {*DIGITS, CROSS}), None)
    if unknown is not None:
        raise EnrolmentError(f"{unknown!r} is no sign of a sheet; expected digits, X, and dots for the rest")
    return shown


_AS_LIKELY = float(np.log(0.5))
_LEAST_AGREEING = 0.3
"""Share of the written cells that must look like what they are said to show: odd hands are read by half at least."""


def learn_handwriting(pictures: Sequence[EnrolmentPicture], surface: Surface) -> InkAppearance:
    """Learn a household's own digits from pictures of filled sheets; what was left empty is passed over.

    Raises EnrolmentError where too little is written, or something else than was said.
    """
    if not isinstance(surface, GridSurface):
        raise EnrolmentError(f"the {surface.name} has no cells to be written in")
    signs: list[str] = []
    taught = []
    for picture in pictures:
        shape = paper_shape(picture.image, picture.camera, picture.pose, surface)
        pixel_map = flat_map(picture.camera, picture.pose, surface, shape)
        ink = ink_on(flat_picture(as_colour(picture.image), pixel_map, surface))
        cells = np.array([cell_of(place, surface) for place in picture.position], dtype=np.int64).reshape(-1, 2)
        said = np.array([SIGNS.index(sign) for sign in picture.position.values()], dtype=np.int64)
        read = shipped().read(ink, cells)[:, : len(SIGNS)]
        written = read[:, 0] < _AS_LIKELY
        agreeing = read[np.arange(len(said)), said][written] > _AS_LIKELY
        if written.any() and agreeing.mean() < _LEAST_AGREEING:
            raise EnrolmentError(
                f"{picture.name} does not show what was said: only {agreeing.sum()} of {written.sum()} written cells "
                "look like it; check --positions, and that the sheet is this one"
            )
        signs += [SIGNS[number] for number in said[written]]
        taught.append(taught_cells(ink, cells[written]))
    return InkAppearance((), Handwriting(tuple(signs), np.concatenate(taught)))


def save_appearance(looks: InkAppearance, path: Path) -> None:
    """Write the looks to a file, whole or not at all; raises OSError."""
    taught = {} if looks.handwriting is None else {"handwriting": looks.handwriting.to_json()}
    write_durably(path, json.dumps({"format": APPEARANCE_FORMAT, "pens": list(looks.pens), **taught}) + "\n")


def load_appearance(path: Path) -> InkAppearance:
    """Read looks from a file; raises EnrolmentError that says what is wrong with it."""
    return _from_json(read_json_object(path, "the looks", EnrolmentError, plural=True))


def _from_json(data: Mapping[str, Any]) -> InkAppearance:
    if data.get("format") != APPEARANCE_FORMAT:
        raise EnrolmentError(
            f"these looks have format {data.get('format')!r}; expected {APPEARANCE_FORMAT!r}: ink needs no looks at all"
        )
    pens = data.get("pens")
    if not isinstance(pens, list) or not all(isinstance(pen, str) for pen in pens):
        raise EnrolmentError(f"these looks have pens {pens!r}; expected a list of colours")
    taught = data.get("handwriting")
    return InkAppearance(tuple(pens), None if taught is None else Handwriting.from_json(taught))
