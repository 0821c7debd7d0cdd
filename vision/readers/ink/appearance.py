"""What ink looks like: the looks of a sheet's cells, and the file of them. Nothing has to be taught."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from common.durable import write_durably
from common.json_files import read_json_object
from vision.errors import EnrolmentError
from vision.layout.pieces import Ink
from vision.layout.surfaces import Surface
from vision.readers.ink.network import DIGITS
from vision.readers.protocols import EnrolmentPicture, SurfaceView

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
    """The pens of a sheet; none where it is written in."""

    pens: tuple[str, ...] = ()

    @property
    def looks(self) -> tuple[str, ...]:
        """The looks of a cell that is not empty."""
        return looks_of(self.pens)

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """What tells them apart: the looks themselves."""
        return (self.looks,)


def plain_appearance(surface: Surface) -> InkAppearance:
    """The appearance of a surface's ink."""
    return InkAppearance(Ink.on(surface).colours)


def unchanged(view: SurfaceView, appearance: InkAppearance, names: tuple[str, ...]) -> InkAppearance:  # noqa: ARG001
    """The same appearance: the pens are told from each picture, and the writing from any."""
    return appearance


def no_positions(text: str, surface: Surface) -> NoReturn:  # noqa: ARG001
    """Raise EnrolmentError: nothing is learned of ink."""
    raise EnrolmentError(f"ink on the {surface.name} is read without being taught; leave out enrolment and looks")


def no_enrolment(pictures: Sequence[EnrolmentPicture], surface: Surface) -> NoReturn:  # noqa: ARG001
    """Raise EnrolmentError: nothing is learned of ink."""
    no_positions("", surface)


def save_appearance(looks: InkAppearance, path: Path) -> None:
    """Write the looks to a file, whole or not at all; raises OSError."""
    write_durably(path, json.dumps({"format": APPEARANCE_FORMAT, "pens": list(looks.pens)}) + "\n")


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
    return InkAppearance(tuple(pens))
