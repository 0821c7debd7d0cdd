"""The surfaces of a table, a board, a sheet or a tray, with their markers and pieces, as an owner measures them.

The size of pieces tells what they hide. ``vision.readers`` reads them; its registry is keyed by ``kind``.

Each surface is read by itself. It is a rectangle at a height in the frame (``vision.geometry``) of the markers it is
located by: the table's markers, or its own if it can move by itself.

Values in a layout file are read with errors that name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from common.phrases import Phrase, joined, listed, shortened
from vision.errors import LayoutError
from vision.frame import FloatArray
from vision.geometry import CubeSolid, FrustumSolid, Rectangle, Side, Solid
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
            raise LayoutError(joined((section, wrong), ": ")) from None
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
            raise LayoutError('markers is {got!r}; expected where they lie, or "{no_markers}"', data, NO_MARKERS)
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


PAPER_EDGE_MM = 2.5
"""Strip at a sheet's edge that does not count as paper: with a slightly wrong pose it shows the table."""
NET_SIDES = ("up", "down", *Side)
BLOCK_SYMBOLS = ("star", "stop", "slider", "x", "hoops", "cross")
"""The symbols that a block may have."""


class Measured:
    """Pieces with measurements.

    ``kind`` is their name in a layout file, ``key`` the key there that shows their kind if it is not named, and
    ``needs`` says what a file without them lacks.

    ``solid_at`` returns the largest piece that may stand at a point with its base at a height; ``None`` if none can.
    """

    kind: ClassVar[str]
    key: ClassVar[str]
    needs: ClassVar[str]

    @property
    def width_mm(self) -> float:
        """The width of the widest piece that stands on a square; 0 for pieces that stand on none."""
        return 0.0

    @classmethod
    def on(cls, surface: Surface) -> Self:
        """Return the pieces of a surface; raises LayoutError if it has others."""
        pieces: object = surface.pieces
        if not isinstance(pieces, cls):
            raise LayoutError("the layout has no {kind} on the {name}; {needs}", cls.kind, surface.name, cls.needs)
        return pieces


@dataclass(frozen=True)
class BlockPieces(Measured):
    """Cubes with a symbol on each face. ``net`` maps NET_SIDES to symbols and may be empty."""

    side_mm: float
    net: Mapping[str, str]

    kind: ClassVar[str] = "blocks"
    key: ClassVar[str] = "block"
    needs: ClassVar[str] = "it needs side and net of one"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BlockPieces:
        """Parse ``block`` of a layout file; raises LayoutError, and KeyError without it."""
        block = data["block"]
        with naming("block"):
            net = {side: str(symbol).lower() for side, symbol in block.get("net", {}).items()}
            side_mm = positive_mm(block["side"], "block.side")
        if net and set(net) != set(NET_SIDES):
            raise LayoutError("block.net has {sorted}; expected {names}", sorted(net), joined(NET_SIDES, ", "))
        unknown = next((symbol for symbol in net.values() if symbol not in BLOCK_SYMBOLS), None)
        if unknown is not None:
            raise LayoutError(
                "block.net has the symbol {unknown!r}; expected {block_symbols}", unknown, listed(BLOCK_SYMBOLS, "or")
            )
        return cls(side_mm, net)

    @property
    def height_mm(self) -> float:
        """The length of an edge."""
        return self.side_mm

    @property
    def width_mm(self) -> float:
        """The length of an edge."""
        return self.side_mm

    @property
    def symbols(self) -> tuple[str, ...]:
        """The net's symbols in its order, without repetition."""
        return tuple(dict.fromkeys(self.net.values()))

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> CubeSolid:
        """Return an unrotated block standing there."""
        return CubeSolid(x_mm, y_mm, base_mm, self.side_mm)


@dataclass(frozen=True)
class DiscPieces(Measured):
    """Round flat pieces, any of which may carry a ball on top."""

    diameter_mm: float
    disc_mm: float
    """The height of a disc without a ball."""
    ball_mm: float
    """The diameter of a ball."""

    kind: ClassVar[str] = "discs"
    key: ClassVar[str] = "ball"
    needs: ClassVar[str] = "it needs piece and ball"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DiscPieces:
        """Parse ``piece`` and ``ball`` of a layout file; raises LayoutError, and KeyError without one of them."""
        piece, ball = data["piece"], data["ball"]
        with naming("piece"):
            diameter_mm = positive_mm(piece["diameter"], "piece.diameter")
            disc_mm = positive_mm(piece["height"], "piece.height")
        with naming("ball"):
            ball_mm = positive_mm(ball["diameter"], "ball.diameter")
        if ball_mm > diameter_mm:
            raise LayoutError(
                "ball.diameter is {ball_mm}; expected piece.diameter, {diameter_mm}, or less",
                f"{ball_mm:g}",
                f"{diameter_mm:g}",
            )
        return cls(diameter_mm, disc_mm, ball_mm)

    @property
    def height_mm(self) -> float:
        """The height of a disc with a ball on it."""
        return self.disc_mm + self.ball_mm

    @property
    def width_mm(self) -> float:
        """The diameter of a disc."""
        return self.diameter_mm

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> FrustumSolid:
        """Return a disc with a ball, approximated by a frustum whose top is as wide as the ball."""
        return self.solid_with(x_mm, y_mm, base_mm, ball=True)

    def solid_with(self, x_mm: float, y_mm: float, base_mm: float, *, ball: bool) -> FrustumSolid:
        """Return a disc standing there, with or without a ball."""
        if ball:
            return FrustumSolid(x_mm, y_mm, base_mm, self.height_mm, self.diameter_mm / 2, self.ball_mm / 2)
        return FrustumSolid(x_mm, y_mm, base_mm, self.disc_mm, self.diameter_mm / 2, self.diameter_mm / 2)


@dataclass(frozen=True)
class PyramidSize:
    """One size of pyramid: the edge of its square base, and its height."""

    base_mm: float
    height_mm: float

    @property
    def apex_mm(self) -> float:
        """Height above the base at which the sides would meet without the flat tip."""
        return self.height_mm / (1 - TIP_SHARE)


@dataclass(frozen=True)
class PyramidPieces(Measured):
    """Hollow square pyramids that stack by slipping over each other; ``sizes`` by S, M and L.

    ``rise_mm`` is how much higher the apex of a stack gets with each piece that is put on: the thickness of the walls,
    as seen along the axis. All sizes are about equally steep, so it is the same for every pair. The flat tip of a small
    one is nearer to its apex than that of a large one, so a small one's tip is higher at the same apex.
    """

    sizes: Mapping[str, PyramidSize]
    rise_mm: float

    kind: ClassVar[str] = "pyramids"
    key: ClassVar[str] = "pyramids"
    needs: ClassVar[str] = "it needs their sizes"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PyramidPieces:
        """Parse ``pyramids`` of a layout file; raises LayoutError, and KeyError without it."""
        pyramids = data["pyramids"]
        with naming("pyramids"):
            sizes = {
                name: PyramidSize(
                    positive_mm(pyramids[name]["base"], f"pyramids.{name}.base"),
                    positive_mm(pyramids[name]["height"], f"pyramids.{name}.height"),
                )
                for name in PYRAMID_SIZES
            }
            return cls(sizes, positive_mm(pyramids.get("rise", USUAL_RISE_MM), "pyramids.rise"))

    @property
    def height_mm(self) -> float:
        """Height of a large pyramid with ``HIGH_STACK`` pieces on it, whichever is on top."""
        return max(self.tip_mm(size, HIGH_STACK) for size in self.sizes)

    @property
    def width_mm(self) -> float:
        """The edge of the largest base."""
        return max(size.base_mm for size in self.sizes.values())

    def tip_mm(self, size: str, pieces: int) -> float:
        """Return the height above the board of this size's tip, as the topmost of that many pieces on a large one."""
        top = self.sizes[size]
        return self.sizes["L"].apex_mm + pieces * self.rise_mm - top.apex_mm + top.height_mm

    def elevations_mm(self, sizes: Sequence[str]) -> tuple[float, ...]:
        """Return the height of each piece's base above the lowest one's, for a stack of these sizes, bottom first."""
        found = [0.0]
        for below, size in pairwise(sizes):
            apex = found[-1] + self.sizes[below].apex_mm + self.rise_mm
            found.append(max(apex - self.sizes[size].apex_mm, 0.0))
        return tuple(found[: len(sizes)])

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> FrustumSolid:
        """Return the largest stack, approximated by a round body."""
        return FrustumSolid(x_mm, y_mm, base_mm, self.height_mm, self.sizes["L"].base_mm / 2, 0.0)


PYRAMID_SIZES = ("S", "M", "L")
TIP_SHARE = 0.16
"""Edge of the flat tip as a share of the base's, as measured on pyramids as they are sold."""
USUAL_RISE_MM = 5.5
"""Rise of one pyramid on another where the layout gives none."""
HIGH_STACK = 5
"""Number of pieces on a large one in the highest stacks of a set-up."""


@dataclass(frozen=True)
class DicePieces(Measured):
    """Dice whose edges are between two lengths. ``colours`` of their bodies name them in games that distinguish dice.

    ``faces`` is a file of learned faces without pips; in a layout file its path is relative to that file's folder.
    ``printed`` lists the faces of each die, one character each: digits, stars (``*``) or tetromino shapes (I, O, T, L,
    S).
    """

    smallest_mm: float = 12.0
    largest_mm: float = 20.0
    colours: tuple[str, ...] = ()
    faces: Path | None = None
    printed: tuple[str, ...] = ()

    kind: ClassVar[str] = "dice"
    key: ClassVar[str] = "tray"
    needs: ClassVar[str] = "set pieces to dice there"

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DicePieces:
        """Parse ``dice`` of a layout file: ``side`` (one length, or the smallest and largest), ``colours`` and
        ``faces`` (a file, or a list with each die's printed faces). All are optional. Raises LayoutError.
        """
        dice = data.get("dice", {})
        with naming("dice"):
            given = dice.get("side", [cls.smallest_mm, cls.largest_mm])
            smallest, largest = given if isinstance(given, list) else (given, given)
            colours, faces = dice.get("colours", []), dice.get("faces")
        smallest_mm, largest_mm = positive_mm(smallest, "dice.side"), positive_mm(largest, "dice.side")
        if smallest_mm > largest_mm:
            raise LayoutError("dice.side is {given}; expected the smallest length first", given)
        if not isinstance(colours, list):
            raise LayoutError('dice.colours is {colours!r}; expected a list, such as ["red", "white"]', colours)
        if not isinstance(faces, list | str | None):
            raise LayoutError("dice.faces is {faces!r}; expected a file, or a list with the faces of each die", faces)
        printed = tuple(str(each) for each in faces) if isinstance(faces, list) else ()
        if "" in printed:
            raise LayoutError("a die in dice.faces has no face; expected a text with all its faces, such as 1*3457")
        learned = Path(faces) if isinstance(faces, str) else None
        return cls(smallest_mm, largest_mm, tuple(str(colour) for colour in colours), learned, printed)

    def resolved_in(self, folder: Path) -> DicePieces:
        """Return the same dice with the path of ``faces`` resolved against the folder of the layout file."""
        return self if self.faces is None else replace(self, faces=folder / self.faces)

    @property
    def height_mm(self) -> float:
        """Edge of the largest die."""
        return self.largest_mm

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> CubeSolid:
        """Return the largest die, lying there."""
        return CubeSolid(x_mm, y_mm, base_mm, self.largest_mm)


@dataclass(frozen=True)
class Ink(Measured):
    """Ink on a sheet: cells filled with one of ``colours``, or digits and loops if there are no colours.

    ``size_mm`` is the paper's (width, depth).
    """

    colours: tuple[str, ...] = ()
    size_mm: tuple[float, float] | None = None

    kind: ClassVar[str] = "ink"
    key: ClassVar[str] = "sheet"
    needs: ClassVar[str] = "it needs a sheet"
    height_mm: ClassVar[float] = 0.0

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Ink:
        """Parse ``colours`` and the sheet's ``size``, both optional; raises LayoutError."""
        colours = data.get("colours", [])
        if not isinstance(colours, list) or not all(isinstance(colour, str) for colour in colours):
            raise LayoutError(
                'colours is {colours!r}; expected a list of the pens\' names, such as ["red", "blue"]', colours
            )
        with naming("sheet"):
            size = data.get("sheet", {}).get("size")
            if size is None:
                return cls(tuple(colours))
            across, up = (positive_mm(one, "sheet.size") for one in size)
        return cls(tuple(colours), (across, up))

    def margin_mm(self, surface: Surface) -> float:
        """Return the width of the paper beside the grid on every side, without its outermost edge."""
        if self.size_mm is None:
            return 0.0
        bounds = surface.bounds_mm
        margins = (self.size_mm[0] - bounds.width_mm, self.size_mm[1] - bounds.depth_mm)
        return max(0.0, min(margins) / 2 - PAPER_EDGE_MM)

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> None:  # noqa: ARG002
        """Return ``None``: ink is flat."""
        return


@dataclass(frozen=True)
class NamedPieces:
    """Pieces of which the layout file only gives the kind. They are taken to be flat."""

    kind: str
    height_mm: ClassVar[float] = 0.0

    def solid_at(self, x_mm: float, y_mm: float, base_mm: float) -> None:  # noqa: ARG002
        """Return ``None``: they are flat."""
        return


Pieces = BlockPieces | DiscPieces | PyramidPieces | DicePieces | Ink | NamedPieces
"""The pieces of one surface; ``height_mm`` is that of the highest piece."""

MEASURED_PIECES = (BlockPieces, DiscPieces, PyramidPieces, DicePieces, Ink)
"""The kinds of pieces that have measurements of their own."""


def pieces_from_json(data: Mapping[str, Any]) -> Pieces | None:
    """Parse the pieces of a surface: ``pieces`` names the kind, and is optional where measurements are given."""
    kind = data.get("pieces", next((one.kind for one in MEASURED_PIECES if data.get(one.key)), None))
    if kind is None:
        return None
    if not isinstance(kind, str) or not kind:
        raise LayoutError("pieces is {kind!r}; expected a kind of pieces such as {kind_2!r}", kind, BlockPieces.kind)
    measured = next((one for one in MEASURED_PIECES if one.kind == kind), None)
    return NamedPieces(kind) if measured is None else measured.from_json(data)


MOST_NAMED = 8
"""Number of places up to which a message names each."""


@dataclass(frozen=True)
class GridSurface:
    """A board or sheet of square places with its centre at the origin; a1 is at the first player's left.

    ``prefix`` begins the name of each place, so that the places of several sheets differ: ``p2.`` for ``p2.a1``.
    """

    name: str
    columns: int
    rows: int
    cell_mm: float
    height_mm: float = 0.0
    pieces: Pieces | None = None
    printed: tuple[str, ...] = ()
    markers: MarkerLayout | None = None
    prefix: str = ""

    @property
    def bounds_mm(self) -> Rectangle:
        """The outer lines of the grid."""
        half_width, half_depth = self.columns * self.cell_mm / 2, self.rows * self.cell_mm / 2
        return Rectangle(-half_width, half_width, -half_depth, half_depth)

    @cached_property
    def places(self) -> tuple[str, ...]:
        """All squares, column by column within a row: a1 b1 ... g1 a2 ..."""
        return tuple(self._name(column, row) for row in range(self.rows) for column in range(self.columns))

    @cached_property
    def centres_mm(self) -> FloatArray:
        """The (x, y) of every square's centre, in the order of ``places``, shape (n, 2)."""
        column, row = np.meshgrid(np.arange(self.columns), np.arange(self.rows))
        steps = np.column_stack([column.ravel() - (self.columns - 1) / 2, row.ravel() - (self.rows - 1) / 2])
        return np.asarray(steps * self.cell_mm)

    @cached_property
    def _centre_of(self) -> dict[str, tuple[float, float]]:
        return {place: (float(x), float(y)) for place, (x, y) in zip(self.places, self.centres_mm, strict=True)}

    def centre_mm(self, place: str) -> tuple[float, float]:
        """Return the (x, y) of a square's centre; raises LayoutError for a place that is not on the board."""
        centre = self._centre_of.get(place)
        if centre is None:
            first, last = self.places[0], self.places[-1]
            raise LayoutError(
                "no square {place!r} on this {name}; squares run from {first} to {last}", place, self.name, first, last
            )
        return centre

    def divided(self, columns: int, rows: int) -> GridSurface:
        """Return the same surface divided into that many squares, as large as fit."""
        cell_mm = min(self.bounds_mm.width_mm / columns, self.bounds_mm.depth_mm / rows)
        return replace(self, columns=columns, rows=rows, cell_mm=cell_mm)

    def place_at(self, x_mm: float, y_mm: float) -> str | None:
        """Return the square at a point of the surface's plane, ``None`` beside the grid."""
        column = round(x_mm / self.cell_mm + (self.columns - 1) / 2)
        return self._place(column, round(y_mm / self.cell_mm + (self.rows - 1) / 2))

    def column_and_row(self, place: str) -> tuple[int, int]:
        """Return a square's column from the left and its row from the first player, both counted from 0."""
        name = place.removeprefix(self.prefix)
        return ord(name[0]) - ord("a"), int(name[1:]) - 1

    def neighbour(self, place: str, columns: int, rows: int) -> str | None:
        """Return the square that many columns to the right and rows farther away, ``None`` beside the grid."""
        column, row = self.column_and_row(place)
        return self._place(column + columns, row + rows)

    def _place(self, column: int, row: int) -> str | None:
        return self._name(column, row) if 0 <= column < self.columns and 0 <= row < self.rows else None

    def _name(self, column: int, row: int) -> str:
        return f"{self.prefix}{chr(ord('a') + column)}{row + 1}"

    def outline_mm(self, place: str) -> FloatArray:
        """Return a square's corners, shape (4, 2): near left, near right, far right, far left."""
        x, y = self.centre_mm(place)
        half = self.cell_mm / 2
        return np.array([[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]])

    def solid_at(self, place: str) -> Solid | None:
        """Return the largest piece that may stand in a square's centre; ``None`` where none can."""
        return None if self.pieces is None else self.pieces.solid_at(*self.centre_mm(place), self.height_mm)


@dataclass(frozen=True)
class Tray:
    """A surface without places, on which dice are thrown."""

    name: str
    bounds_mm: Rectangle
    height_mm: float = 0.0
    pieces: Pieces | None = None
    markers: MarkerLayout | None = None

    places: ClassVar[tuple[str, ...]] = ()
    printed: ClassVar[tuple[str, ...]] = ()

    def centre_mm(self, place: str) -> NoReturn:
        """Raise LayoutError: a tray has no places."""
        raise LayoutError("no place {place!r} in the {name}; dice may lie anywhere in it", place, self.name)

    outline_mm = solid_at = centre_mm


Surface = GridSurface | Tray


def named_places(surface: Surface, places: Sequence[str]) -> str:
    """Name places for a message: all of a surface by its name, many by the first ones and the number of the others."""
    return Phrase("the {name}", surface.name) if len(places) == len(surface.places) else shortened(places, MOST_NAMED)


def top_mm(surface: Surface) -> float:
    """Return the height of the top of the highest piece on a surface."""
    return surface.height_mm + (0.0 if surface.pieces is None else surface.pieces.height_mm)


FEWEST_SQUARES = 2
"""The fewest squares: a lone one has no lines inside."""
MOST_COLUMNS, MOST_ROWS = 26, 100
"""The most columns, which are named by a letter each, and the most rows."""


def surface_from_json(data: Mapping[str, Any], name: str, markers: MarkerLayout | None, prefix: str = "") -> Surface:
    """Parse a surface: a ``board`` (cols, rows, cell, top_z) with ``star_spaces``, a ``tray`` (x, y, top_z), or a
    ``sheet`` (size, grid) at the height of its markers; and its pieces. Raises LayoutError, and KeyError without one.
    """
    pieces = pieces_from_json(data)
    if "tray" in data:
        tray = data["tray"]
        with naming("tray"):
            (left, right), (near, far) = tray["x"], tray["y"]
            for key, low, high in (("x", left, right), ("y", near, far)):
                if not -MOST_MM < low < high < MOST_MM:
                    raise LayoutError(
                        "tray.{key} is [{low}, {high}]; expected two lengths in mm, the smaller one first",
                        key,
                        low,
                        high,
                    )
            bounds = Rectangle(float(left), float(right), float(near), float(far))
            return Tray(name, bounds, height_mm(tray.get("top_z", 0.0), "tray.top_z"), pieces, markers)
    key, where = ("sheet", "sheet.grid") if "sheet" in data else ("board", "board")
    given = data[key]
    with naming(key):
        board = _board_of_sheet(given, data.get("markers")) if "sheet" in data else given
        surface = GridSurface(
            name,
            columns=whole_number(board["cols"], f"{where}.cols"),
            rows=whole_number(board["rows"], f"{where}.rows"),
            cell_mm=positive_mm(board["cell"], f"{where}.cell"),
            height_mm=height_mm(board.get("top_z", 0.0), f"{where}.top_z"),
            pieces=pieces,
            markers=markers,
            prefix=prefix,
        )
    if surface.columns > MOST_COLUMNS:
        raise LayoutError(
            "the {name} has {columns} columns; expected at most {most_columns}, since letters name them",
            name,
            surface.columns,
            MOST_COLUMNS,
        )
    if not (surface.columns >= 1 and 1 <= surface.rows <= MOST_ROWS):
        raise LayoutError(
            "the {name} has {columns} x {rows} squares; expected 1 to {most_columns} columns and 1 to {most_rows} rows",
            name,
            surface.columns,
            surface.rows,
            MOST_COLUMNS,
            MOST_ROWS,
        )
    if surface.columns * surface.rows < FEWEST_SQUARES:
        raise LayoutError("the {name} has 1 x 1 squares; expected at least {fewest_squares}", name, FEWEST_SQUARES)
    with naming("star_spaces", add_section=True):
        for place in (printed := tuple(data.get("star_spaces", ()))):
            surface.centre_mm(place)
    return replace(surface, printed=printed)


def _board_of_sheet(sheet: Mapping[str, Any], markers: object) -> dict[str, Any]:
    """Return the board equivalent to a sheet's grid: ``lines`` are rows, and its height is that of its markers."""
    grid = sheet["grid"]
    rows = grid["rows"] if "rows" in grid else grid["lines"]
    for side, count in (("left", grid["cols"]), ("bottom", rows)):
        if side in grid and abs(grid[side] + count * grid["cell"] / 2) > GRID_OFF_MM:
            raise LayoutError(
                "sheet.grid.{side} is {grid}; expected {part}, since all is measured from the grid's middle",
                side,
                grid[side],
                f"{-count * grid['cell'] / 2:g}",
            )
    height = markers.get("z", 0.0) if isinstance(markers, Mapping) else 0.0
    return {"cols": grid["cols"], "rows": rows, "cell": grid["cell"], "top_z": height}


GRID_OFF_MM = 0.5
"""Tolerance of the stated position of a sheet's grid, in mm: less than a printer's error."""
