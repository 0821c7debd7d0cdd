"""The fiducial markers by which a surface is located.

Also here: reading values in a layout file, with errors that name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from vision.errors import LayoutError
from vision.frame import FloatArray
from vision.geometry import Rectangle
from vision.opencv import aruco_dictionary

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


@dataclass(frozen=True)
class MarkerLayout:
    """Fiducial markers: dictionary, side of the black square, height, and centre (x, y) by id; lengths in mm."""

    dictionary: str
    side_mm: float
    z_mm: float
    centres_mm: Mapping[int, tuple[float, float]]

    def without_markers(self) -> MarkerLayout:
        """Return the same layout without markers: the surface is located by its own lines."""
        return replace(self, centres_mm={})

    def with_ids_increased(self, by: int) -> MarkerLayout:
        """Return the same positions with ids higher by that much, for another sheet."""
        return replace(self, centres_mm={key + by: centre for key, centre in self.centres_mm.items()})

    def corners_mm(self, marker_id: int) -> FloatArray:
        """Return a marker's corners, shape (4, 3), read-only, in ArUco's order: far left, far right, near right, near
        left.
        """
        return self._corners_mm[marker_id]

    @cached_property
    def _corners_mm(self) -> Mapping[int, FloatArray]:
        half = self.side_mm / 2
        found = {}
        for marker_id, (x, y) in self.centres_mm.items():
            corners = Rectangle(x - half, x + half, y - half, y + half).corners_mm(self.z_mm)[::-1].copy()
            corners.setflags(write=False)  # all callers share them
            found[marker_id] = corners
        return found


NO_MARKERS = "none"
"""Value of ``markers`` in a layout file for a table without any."""


def markers_from_json(data: Mapping[str, Any] | str) -> MarkerLayout:
    """Parse ``markers`` of a layout file; raises LayoutError."""
    if isinstance(data, str):
        if data != NO_MARKERS:
            raise LayoutError('markers is {data!r}; expected where they lie, or "{no_markers}"', data, NO_MARKERS)
        return MarkerLayout("DICT_4X4_50", 36.0, 0.0, {})
    with naming("markers"):
        if not data["centres"]:
            raise LayoutError(
                'markers.centres names no marker; four are best, and "markers": "{no_markers}" is for a '
                "table without any",
                NO_MARKERS,
            )
        if len({int(key) for key in data["centres"]}) < len(data["centres"]):
            raise LayoutError("markers.centres names an id twice")
        centres = {int(key): (float(x), float(y)) for key, (x, y) in data["centres"].items()}
        return MarkerLayout(
            dictionary=str(data["dictionary"]),
            side_mm=positive_mm(data["side"], "markers.side"),
            z_mm=height_mm(data.get("z", 0.0), "markers.z"),
            centres_mm=centres,
        )


def check_markers(markers: MarkerLayout) -> None:
    """Raise LayoutError where two markers overlap, and for an unknown dictionary or an id that it lacks."""
    try:
        last = len(aruco_dictionary(markers.dictionary).bytesList) - 1
    except ValueError as unknown:
        raise LayoutError(str(unknown)) from unknown
    placed = sorted(markers.centres_mm.items())
    for marker_id, (x, y) in placed:
        if not 0 <= marker_id <= last:
            raise LayoutError(
                "marker {marker_id} is not in {dictionary}; its ids are 0 to {last}",
                marker_id,
                markers.dictionary,
                last,
            )
        if not (abs(x) < MOST_MM and abs(y) < MOST_MM):
            raise LayoutError(
                "marker {marker_id} stands at ({x}, {y}); expected millimetres from the middle of the table",
                marker_id,
                f"{x:g}",
                f"{y:g}",
            )
    for number, (marker_id, (x, y)) in enumerate(placed):
        for other_id, (other_x, other_y) in placed[number + 1 :]:
            if max(abs(x - other_x), abs(y - other_y)) < markers.side_mm:
                raise LayoutError(
                    "markers {marker_id} and {other_id} overlap: their centres are less than a marker's side "
                    "({side_mm} mm) apart",
                    marker_id,
                    other_id,
                    f"{markers.side_mm:g}",
                )
