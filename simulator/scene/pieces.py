"""Pieces of every kind: positions, orientations, and the appearance of a set.

Lengths are in millimetres in the table's frame (see ``vision.geometry``); colours are blue, green, red from 0 to 1 as
on a screen (sRGB). The sizes of pieces are in the layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar, cast

from vision.layout.table import TableLayout

Colour = tuple[float, float, float]

SYMBOLS = ("star", "stop", "cross", "x", "slider", "hoops")


_PieceT = TypeVar("_PieceT", bound="PiecePose")


def changed(piece: _PieceT, **fields: Any) -> _PieceT:
    """Return the piece with other values of some of its fields."""
    return cast(_PieceT, replace(cast(Any, piece), **fields))


def stands(piece: PiecePose) -> bool:
    """Whether a piece is at rest on the board or on the table beside it."""
    lies_flat = not (isinstance(piece, BlockPose) and piece.tipped_deg)
    return lies_flat and piece.streak_mm == (0.0, 0.0) and (piece.base_mm is None or piece.base_mm == 0)


def standing_on(layout: TableLayout, piece: PiecePose) -> str | None:
    """Return the square a piece stands on, ``None`` for one in a hand or beside the board."""
    if isinstance(piece, InkPose):
        return piece.place or None
    return layout.board.place_at(piece.x_mm, piece.y_mm) if piece.base_mm is None else None


@dataclass(frozen=True)
class BlockLook:
    """What the blocks look like: a colour by name, the ink of the symbols, and how much grain shows (0 to 1).

    ``inks`` names the colours of blocks that are painted with another ink than ``ink``.
    """

    colours: Mapping[str, Colour] = field(
        default_factory=lambda: {"gold": (0.16, 0.58, 0.82), "teal": (0.53, 0.49, 0.1)}
    )
    ink: Colour = (0.95, 0.97, 0.97)
    inks: Mapping[str, Colour] = field(default_factory=dict)
    grain: float = 0.25
    symbol_scale: float = 1.0


@dataclass(frozen=True)
class _Placed:
    """The fields that every pose has.

    ``turned_deg`` is anticlockwise, seen from above. ``base_mm`` is the height of the underside, ``None`` for the
    board's top. ``streak_mm`` is the movement while the shutter is open. Each pose also has a ``look``, as the engine
    names it, and ``grip_mm``, the height above its underside at which fingers hold it.
    """

    x_mm: float
    y_mm: float
    turned_deg: float = field(default=0.0, kw_only=True)
    base_mm: float | None = field(default=None, kw_only=True)
    streak_mm: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True)


@dataclass(frozen=True)
class BlockPose(_Placed):
    """One block: the position of its centre seen from above, its height, and its orientation.

    ``up`` and ``north`` are the symbols there before the rotation by ``turned_deg`` (anticlockwise from above) and by
    ``tipped_deg`` towards ``tipped_towards`` (a compass side), which only happen in a hand. ``base_mm`` is the height
    of the block's underside when it stands, ``None`` for the board's top. ``streak_mm`` is its movement while the
    shutter is open.
    """

    colour: str
    up: str
    north: str
    tipped_towards: str | None = None
    tipped_deg: float = 0.0

    grip_mm: ClassVar[float] = 20.0

    @property
    def look(self) -> str:
        """Its colour, and the symbol on top."""
        return f"{self.colour} block, {self.up} up"

    def at(self, x_mm: float, y_mm: float) -> BlockPose:
        """Return the same block elsewhere."""
        return replace(self, x_mm=x_mm, y_mm=y_mm)


def as_block(piece: PiecePose) -> BlockPose:
    """Return the piece as a block; raises ValueError for one of another kind."""
    if not isinstance(piece, BlockPose):
        raise ValueError(f"a {piece.look} is not a block")
    return piece


def block_on(
    layout: TableLayout,
    place: str,
    colour: str,
    up: str,
    north: str,
    *,
    offset_mm: tuple[float, float] = (0.0, 0.0),
    turned_deg: float = 0.0,
) -> BlockPose:
    """Return a block standing on a square; raises LayoutError for a place that is not on the board."""
    x, y = layout.centre_mm(place)
    return BlockPose(x + offset_mm[0], y + offset_mm[1], colour, up, north, turned_deg=turned_deg)


@dataclass(frozen=True)
class DiscLook:
    """What discs and balls look like: a colour by name for each, and how much light they mirror beside the board's.

    A ball whose name is not among ``balls`` has its owner's colour. ``grain`` is how uneven the colour is (0 to 1).
    """

    colours: Mapping[str, Colour] = field(
        default_factory=lambda: {"black": (0.16, 0.15, 0.15), "white": (0.86, 0.9, 0.92)}
    )
    balls: Mapping[str, Colour] = field(default_factory=dict)
    gloss: float = 1.5
    rounding_mm: float = 1.2


@dataclass(frozen=True)
class Ball:
    """A ball on a disc: whose it is, and how far off the disc's middle it lies."""

    colour: str
    offset_mm: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class DiscPose(_Placed):
    """A disc, with a ball on it or without."""

    colour: str
    ball: Ball | None = None

    grip_mm: ClassVar[float] = 8.0

    @property
    def look(self) -> str:
        """Its colour, and whether a ball lies on it."""
        return f"{self.colour} piece{'' if self.ball is None else ' with ball'}"


@dataclass(frozen=True)
class BallPose(_Placed):
    """A ball by itself: in a hand, or lying about."""

    colour: str

    grip_mm: ClassVar[float] = 9.0

    @property
    def look(self) -> str:
        """Its owner's colour."""
        return f"{self.colour} ball"


@dataclass(frozen=True)
class PyramidLook:
    """What pyramids look like: each colour, and how much of what is behind it each one hides (0 to 1).

    ``edge`` is how much lighter the rounded edges are, ``tip_share`` the width of the flat tip beside that of the base.
    """

    colours: Mapping[str, Colour] = field(
        default_factory=lambda: {
            "red": (0.13, 0.1, 0.72),
            "yellow": (0.1, 0.76, 0.93),
            "green": (0.25, 0.5, 0.1),
            "blue": (0.66, 0.22, 0.12),
            "clear": (0.66, 0.66, 0.65),
            "black": (0.1, 0.1, 0.1),
        }
    )
    opacity: Mapping[str, float] = field(default_factory=lambda: {"clear": 0.5, "black": 1.0})
    usual_opacity: float = 0.94
    gloss: float = 2.0
    edge: float = 0.16
    tip_share: float = 0.16


SIZE_WORDS: Mapping[str, str] = {"S": "small", "M": "medium", "L": "large"}
"""Names of the sizes of pyramids."""


@dataclass(frozen=True)
class Pyramid:
    """One pyramid of a stack: its size (S, M, L) and colour, and how it sits on the one below.

    ``offset_mm`` and ``turned_deg`` are beside the stack's own; ``lean_deg`` tips it towards +x and +y.
    """

    size: str
    colour: str
    offset_mm: tuple[float, float] = (0.0, 0.0)
    turned_deg: float = 0.0
    lean_deg: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class StackPose(_Placed):
    """Pyramids stacked on each other, from below; one by itself is a stack of one."""

    pyramids: tuple[Pyramid, ...]

    grip_mm: ClassVar[float] = 24.0

    @property
    def look(self) -> str:
        """The colour and size of the top one."""
        top = self.pyramids[-1]
        return f"{top.colour} {SIZE_WORDS[top.size]}"


@dataclass(frozen=True)
class DiceLook:
    """What dice look like: the colour of each one's body by its name, of the pips, and how round and glossy they are.

    ``rounding`` and ``ball`` round the edges off and cut the corners, both as shares of half an edge; ``gloss`` is the
    light mirrored by a lamp's reflection.
    """

    colours: Mapping[str, Colour] = field(
        default_factory=lambda: {
            "red": (0.13, 0.1, 0.72),
            "yellow": (0.1, 0.76, 0.93),
            "green": (0.25, 0.5, 0.1),
            "blue": (0.66, 0.22, 0.12),
            "white": (0.9, 0.93, 0.94),
        }
    )
    ink: Colour = (0.95, 0.96, 0.96)
    dark_ink: Colour = (0.08, 0.08, 0.08)
    rounding: float = 0.2
    ball: float = 1.5
    gloss: float = 0.2

    def ink_on(self, colour: str) -> Colour:
        """Return the colour of the pips on a body: dark on a light body, and white otherwise."""
        blue, green, red = self.colours[colour]
        return self.dark_ink if 0.11 * blue + 0.59 * green + 0.3 * red > _LIGHT_BODY else self.ink


_LIGHT_BODY = 0.6
"""Brightness of a body, from 0 to 1, above which white pips would be hardly visible."""


@dataclass(frozen=True)
class DiePose(_Placed):
    """A die: the colour that names it and the number that is up.

    ``printed`` holds the six faces of a die without pips, of which the number says which is up. ``leaning_deg`` is how
    far it is tipped towards +x of its own, where something keeps it from lying flat.
    """

    colour: str
    value: int
    base_mm: float | None = field(default=0.0, kw_only=True)
    leaning_deg: float = 0.0
    printed: str = ""

    grip_mm: ClassVar[float] = 10.0

    @property
    def look(self) -> str:
        """Its colour, and the face that is up."""
        return f"{self.colour} die, {self.printed[self.value - 1] if self.printed else self.value} up"


@dataclass(frozen=True)
class InkPose(_Placed):
    """What a pen left in one cell, or a loop around several, which has no ``place`` of its own.

    ``strokes`` are lines through points in millimetres from (x, y) on the table; ``colour`` names the pen.
    """

    place: str
    look: str
    colour: str
    strokes: tuple[tuple[tuple[float, float], ...], ...]
    width_mm: float

    grip_mm: ClassVar[float] = 0.0


@dataclass(frozen=True)
class PenPose(_Placed):
    """A pen: where its tip is, and towards where its other end points."""

    colour: str
    turned_deg: float = field(default=60.0, kw_only=True)
    base_mm: float | None = field(default=0.0, kw_only=True)

    grip_mm: ClassVar[float] = 28.0

    @property
    def look(self) -> str:
        """Its colour."""
        return f"{self.colour} pen"


PiecePose = BlockPose | DiscPose | BallPose | StackPose | DiePose | InkPose | PenPose
"""One piece, or a stack of pieces."""
