"""The pieces on a surface as an owner measures them: their size, and so what they hide.

``vision.readers`` reads them; its registry is keyed by ``kind``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from common.phrases import listed
from vision.errors import LayoutError
from vision.geometry import CubeSolid, FrustumSolid, Side
from vision.layout.measures import naming, positive_mm

if TYPE_CHECKING:
    from vision.layout.surfaces import Surface

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
            raise LayoutError(f"the layout has no {cls.kind} on the {surface.name}; {cls.needs}")
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
            raise LayoutError(f"block.net has {sorted(net)}; expected {', '.join(NET_SIDES)}")
        unknown = next((symbol for symbol in net.values() if symbol not in BLOCK_SYMBOLS), None)
        if unknown is not None:
            raise LayoutError(f"block.net has the symbol {unknown!r}; expected {listed(BLOCK_SYMBOLS, 'or')}")
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
            raise LayoutError(f"ball.diameter is {ball_mm:g}; expected piece.diameter, {diameter_mm:g}, or less")
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
            raise LayoutError(f"dice.side is {given}; expected the smallest length first")
        if not isinstance(colours, list):
            raise LayoutError(f'dice.colours is {colours!r}; expected a list, such as ["red", "white"]')
        if not isinstance(faces, list | str | None):
            raise LayoutError(f"dice.faces is {faces!r}; expected a file, or a list with the faces of each die")
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
            raise LayoutError(f'colours is {colours!r}; expected a list of the pens\' names, such as ["red", "blue"]')
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
        raise LayoutError(f"pieces is {kind!r}; expected a kind of pieces such as {BlockPieces.kind!r}")
    measured = next((one for one in MEASURED_PIECES if one.kind == kind), None)
    return NamedPieces(kind) if measured is None else measured.from_json(data)
