"""Values in a layout file, and errors that name them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vision.errors import LayoutError

MOST_MM = 1e6
"""Upper limit of any length: a kilometre, to detect typing errors."""


def positive_mm(value: object, what: str) -> float:
    """Return a length above zero as a number; raises LayoutError for anything else, naming it ``what``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < MOST_MM:
        raise LayoutError("{what} is {value!r}; expected a length in millimetres above zero", what, value)
    return float(value)


def height_mm(value: object, what: str) -> float:
    """Return a height as a number; raises LayoutError for anything else, naming it ``what``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MOST_MM:
        raise LayoutError("{what} is {value!r}; expected a height in millimetres", what, value)
    return float(value)


def whole_number(value: object, what: str) -> int:
    """Return a whole number; raises LayoutError for anything else, naming it ``what``."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise LayoutError("{what} is {value!r}; expected a whole number", what, value)
    return value


@contextmanager
def naming(section: str, *, add_section: bool = False) -> Iterator[None]:
    """Raise a LayoutError that names a section of the layout for values in it that can't be parsed.

    A LayoutError names its key already, and passes; ``add_section``: that key doesn't say in which section it is.
    """
    try:
        yield
    except LayoutError as wrong:
        if add_section:
            raise LayoutError(f"{section}: {wrong}") from None
        raise
    except KeyError as missing:
        raise LayoutError(
            "{section} has no key {missing}; see docs/set-up.md for a complete example", section, missing
        ) from None
    except (TypeError, ValueError, OverflowError, AttributeError) as wrong:
        raise LayoutError("{section} is invalid: {wrong}", section, wrong) from None
