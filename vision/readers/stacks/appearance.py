"""The appearance of a set of pyramids: the hue of each colour, the stacks of the set-up, and their file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from vision.errors import EnrolmentError
from vision.frame import FloatArray
from vision.readers.enrolment import finite_vector, read_looks, write_looks
from vision.sampling import TONE_CURVE

Stack = tuple[tuple[str, str], ...]
"""Size (S, M or L) and colour of each pyramid, from below."""

APPEARANCE_FORMAT = "tabletop-referee pyramids 1"
SIZE_WORDS: Mapping[str, str] = MappingProxyType({"S": "small", "M": "medium", "L": "large"})
MOST_PIECES = 8
"""Maximum number of pieces on a large one that are told apart."""
CLEAR, BLACK = "clear", "black"
NEUTRALS = (CLEAR, BLACK)
_ON_CLEAR = MappingProxyType({"L": (0,), "M": tuple(range(1, 7)), "S": tuple(range(1, 9))})
"""Possible numbers of pieces on a clear large one, by the size of the top."""
_ON_COLOUR = MappingProxyType({"L": (0, 3, 4), "M": tuple(range(1, 5)), "S": tuple(range(1, 7))})
"""The same for a coloured large one."""
_ON_ANY = MappingProxyType({"L": (0, 3, 4), "M": tuple(range(1, 7)), "S": tuple(range(1, 9))})
"""The same if it may be either."""
LIGHT_FLOOR = 0.004
"""Linear light added before logarithms are taken: below it a camera records only noise."""


def look_name(colour: str, size: str) -> str:
    """Return the look of a pyramid of size S, M or L, as written everywhere: ``red small``."""
    return f"{colour} {SIZE_WORDS[size]}"


def possible_tops(lowest: str | None) -> Mapping[str, Sequence[int]]:
    """Return the possible numbers of pieces on a large pyramid of a colour, by the size of the top; ``None``: any."""
    if lowest is None:
        return _ON_ANY
    return _ON_CLEAR if lowest == CLEAR else _ON_COLOUR


def hues_of(levels: FloatArray) -> FloatArray:
    """Return hues, shape (..., 2), of sRGB levels from 0 to 255, blue-green-red, shape (..., 3).

    A hue is the log of blue over green and of red over green, in linear light; grey is (0, 0).
    """
    light = np.log(np.power(np.clip(levels, 0.0, 255.0) / 255.0, TONE_CURVE) + LIGHT_FLOOR)
    return np.asarray(light[..., [0, 2]] - light[..., 1:2], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class PyramidAppearance:
    """A piece set: ``colours`` maps names to hues, (2,) each.

    ``set_up`` has the stacks of the set-up, whose lowest pyramids never move, or is empty if it was not learned.
    """

    colours: Mapping[str, FloatArray]
    set_up: Mapping[str, Stack] = field(default_factory=dict)

    @property
    def looks(self) -> tuple[str, ...]:
        """Each colour in each size, then the large clear one, then black in each size."""
        coloured = [look_name(colour, size) for colour in self.colours for size in SIZE_WORDS]
        return (*coloured, look_name(CLEAR, "L"), *(look_name(BLACK, size) for size in SIZE_WORDS))

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """The traits that distinguish its pieces: colours, then sizes."""
        return (*self.colours, *NEUTRALS), tuple(SIZE_WORDS.values())


def plain_appearance() -> PyramidAppearance:
    """Return the colours in which pyramids are usually sold, for a set that has not been enrolled."""
    usual = {"red": (-0.1, 2.4), "yellow": (-2.0, 0.5), "green": (-1.0, -1.7), "blue": (2.0, -0.2)}
    return PyramidAppearance({name: np.array(hue) for name, hue in usual.items()})


def save_appearance(looks: PyramidAppearance, path: Path) -> None:
    """Write the appearance to a file, completely or not at all; raises OSError."""
    colours = {name: [round(float(value), 4) for value in hue] for name, hue in looks.colours.items()}
    write_looks(path, APPEARANCE_FORMAT, {"colours": colours, "set_up": dict(looks.set_up)})


def load_appearance(path: Path) -> PyramidAppearance:
    """Read an appearance from a file; raises EnrolmentError with the reason if it is invalid."""
    data = read_looks(path, APPEARANCE_FORMAT)
    try:
        colours = {str(name): finite_vector(hue, 2) for name, hue in data["colours"].items()}
        set_up = {
            str(place): tuple((str(size), str(colour)) for size, colour in stack)
            for place, stack in data["set_up"].items()
        }
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as wrong:
        raise EnrolmentError("these looks cannot be read ({wrong}): enrol the piece set again", wrong) from wrong
    return PyramidAppearance(colours, set_up)
