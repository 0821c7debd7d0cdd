"""The looks of a sheet's cells, and their file. Only a household's handwriting is learned."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from vision.errors import EnrolmentError
from vision.layout.pieces import GridSurface, Ink, Surface
from vision.opencv import as_colour
from vision.readers.enrolment import read_looks, write_looks
from vision.readers.ink.network import (
    CROSS,
    DIGITS,
    SIGNS,
    Handwriting,
    cell_of,
    flat_map,
    flat_picture,
    ink_on,
    shipped,
    taught_cells,
)
from vision.readers.protocols import EnrolmentPicture
from vision.surface.paper import paper_shape

APPEARANCE_FORMAT = "tabletop-referee ink 1"
CROSS_LOOK = "cross"
"""The look of a cell with a cross."""


def digit_look(digit: str) -> str:
    """Return the look of a cell with a digit, as written everywhere."""
    return f"digit {digit}"


def circled_look(digit: str) -> str:
    """Return the look of a cell with a digit inside a loop."""
    return f"digit {digit} circled"


def looks_of(pens: Sequence[str]) -> tuple[str, ...]:
    """Return the looks of a cell filled with one of these pens or, without pens, of a handwritten cell."""
    if pens:
        return tuple(pens)
    return (*map(digit_look, DIGITS), CROSS_LOOK, *map(circled_look, DIGITS))


@dataclass(frozen=True)
class InkAppearance:
    """The pens of a coloured sheet (none for a handwritten one), and the household's digits if they were learned."""

    pens: tuple[str, ...] = ()
    handwriting: Handwriting | None = None

    @property
    def looks(self) -> tuple[str, ...]:
        """The looks of a cell that is not empty."""
        return looks_of(self.pens)

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """The traits that distinguish them: the looks themselves, or the learned signs and their counts."""
        if self.handwriting is None:
            return (self.looks,)
        return (tuple(f"{sign} ({count})" for sign, count in self.handwriting.counts.items()),)


def plain_appearance(surface: Surface) -> InkAppearance:
    """Return the appearance of a surface's ink without learned handwriting."""
    return InkAppearance(Ink.on(surface).colours)


COPIED = "copied"
"""Contents of a sheet filled in to teach handwriting: the digits 1 to 7 repeated from the left on every line, 0, 8 and
9 on the second line from the bottom, and crosses on the lowest line.
"""
_LINES = ("X", "089", "1234567")


def read_copied(text: str, surface: Surface) -> dict[str, str]:
    """Parse the contents of a filled sheet, by place: COPIED, or its lowest lines from top to bottom.

    Lines are separated by ``/``; a dot stands for a cell that is not learned. Raises EnrolmentError.
    """
    if not isinstance(surface, GridSurface) or Ink.on(surface).colours:
        raise EnrolmentError(
            f"the pens on the {surface.name} are recognised without being taught; no enrolment and no looks are needed"
        )
    lines = text.strip().split("/")
    if text.strip() == COPIED:
        lines = [(_LINES[min(row, 2)] * surface.columns)[: surface.columns] for row in reversed(range(surface.rows))]
    if len(lines) > surface.rows or any(len(line) != surface.columns for line in lines):
        raise EnrolmentError(
            f"{text!r} is not a sheet of {surface.columns} columns and {surface.rows} lines or fewer; expected "
            f"the word {COPIED}, or the lowest lines of the sheet, written from top to bottom, such as "
            f"{('1234567X' * surface.columns)[: surface.columns]}/{'.' * surface.columns}"
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
        raise EnrolmentError(f"{unknown!r} is not a sign of a sheet; expected digits, X, and dots for the rest")
    return shown


_AS_LIKELY = float(np.log(0.5))
"""Log-probability of one half: a sign above it is more likely than all others together."""
_LEAST_AGREEING = 0.3
"""Minimum share of the written cells that are read as stated; even unusual handwriting is half right at first."""


def learn_handwriting(pictures: Sequence[EnrolmentPicture], surface: Surface) -> InkAppearance:
    """Learn a household's digits from pictures of filled sheets, skipping empty cells.

    Raises EnrolmentError where too little is written, or other signs than stated.
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
    """Write an appearance to a file, atomically; raises OSError."""
    taught = {} if looks.handwriting is None else {"handwriting": looks.handwriting.to_json()}
    write_looks(path, APPEARANCE_FORMAT, {"pens": list(looks.pens), **taught})


def load_appearance(path: Path) -> InkAppearance:
    """Read an appearance from a file; raises EnrolmentError with what is wrong."""
    data = read_looks(path, APPEARANCE_FORMAT)
    pens = data.get("pens")
    if not isinstance(pens, list) or not all(isinstance(pen, str) for pen in pens):
        raise EnrolmentError(f"these looks have pens {pens!r}; expected a list of colours")
    taught = data.get("handwriting")
    return InkAppearance(tuple(pens), None if taught is None else Handwriting.from_json(taught))
