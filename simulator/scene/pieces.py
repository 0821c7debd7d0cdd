"""Pieces of every kind: their poses, and the appearance of a set.

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
    return cast("_PieceT", replace(cast("Any", piece), **fields))


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
    """The appearance of blocks: colours by name, the symbols' ink, and the contrast of the grain (0 to 1).

    ``inks`` holds the ink of blocks, by colour, that differs from ``ink``. ``paper`` (0 to 1) is how clearly a block is
    folded from paper: white edges, bulged faces, a seam and creases.
    """

    colours: Mapping[str, Colour] = field(
        default_factory=lambda: {"gold": (0.16, 0.58, 0.82), "teal": (0.53, 0.49, 0.1)}
    )
    ink: Colour = (0.95, 0.97, 0.97)
    inks: Mapping[str, Colour] = field(default_factory=dict)
    grain: float = 0.25
    symbol_scale: float = 1.0
    paper: float = 0.0


@dataclass(frozen=True)
class _Placed:
    """The fields that every pose has.

    ``turned_deg`` is anticlockwise, seen from above. ``base_mm`` is the height of the underside, ``None`` for the
    board's top. ``streak_mm`` is the movement during the exposure. Each pose also has a ``look``, as the engine names
    it, and ``grip_mm``, the height above its underside at which fingers hold it.
    """

    x_mm: float
    y_mm: float
    turned_deg: float = field(default=0.0, kw_only=True)
    base_mm: float | None = field(default=None, kw_only=True)
    streak_mm: tuple[float, float] = field(default=(0.0, 0.0), kw_only=True)


@dataclass(frozen=True)
class BlockPose(_Placed):
    """One block.

    ``up`` and ``north`` are the symbols there before the rotations by ``tipped_deg`` towards ``tipped_towards``, a
    compass side, and by ``turned_deg``. Only a block in a hand is tipped.
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
    """The appearance of discs and balls: colours by name, gloss relative to the board, and rounding of the edges.

    A ball whose name is not among ``balls`` has its owner's colour. ``crumpled`` is the depth of its dents, as a share
    of its radius.
    """

    colours: Mapping[str, Colour] = field(
        default_factory=lambda: {"black": (0.16, 0.15, 0.15), "white": (0.86, 0.9, 0.92)}
    )
    balls: Mapping[str, Colour] = field(default_factory=dict)
    gloss: float = 1.5
    rounding_mm: float = 1.2
    crumpled: float = 0.0


@dataclass(frozen=True)
class Ball:
    """A ball on a disc: its owner's colour, and its offset from the disc's centre."""

    colour: str
    offset_mm: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class DiscPose(_Placed):
    """A disc, with or without a ball on it."""

    colour: str
    ball: Ball | None = None

    grip_mm: ClassVar[float] = 8.0

    @property
    def look(self) -> str:
        """Its colour, and whether a ball lies on it."""
        return f"{self.colour} piece{'' if self.ball is None else ' with ball'}"


@dataclass(frozen=True)
class BallPose(_Placed):
    """A single ball, in a hand or beside the board."""

    colour: str

    grip_mm: ClassVar[float] = 9.0

    @property
    def look(self) -> str:
        """Its owner's colour."""
        return f"{self.colour} ball"


PLASTIC: Mapping[str, Colour] = {
    "red": (0.13, 0.1, 0.72),
    "yellow": (0.1, 0.76, 0.93),
    "green": (0.25, 0.5, 0.1),
    "blue": (0.66, 0.22, 0.12),
}
"""The colours of pyramids and dice that are neither clear, white nor black."""


@dataclass(frozen=True)
class PyramidLook:
    """The appearance of pyramids: colours and opacities (0 to 1) by name.

    ``edge`` is the extra brightness of the rounded edges, ``tip_share`` the width of the tip over that of the base, and
    ``rise_share`` how far stacks rise, over what the layout says.
    """

    colours: Mapping[str, Colour] = field(
        default_factory=lambda: {**PLASTIC, "clear": (0.66, 0.66, 0.65), "black": (0.1, 0.1, 0.1)}
    )
    opacity: Mapping[str, float] = field(default_factory=lambda: {"clear": 0.5, "black": 1.0})
    usual_opacity: float = 0.94
    gloss: float = 2.0
    edge: float = 0.16
    tip_share: float = 0.16
    rise_share: float = 1.0


SIZE_WORDS: Mapping[str, str] = {"S": "small", "M": "medium", "L": "large"}
"""Names of the sizes of pyramids."""


@dataclass(frozen=True)
class Pyramid:
    """One pyramid of a stack: its size (S, M, L) and colour, and how it sits on the one below.

    ``offset_mm`` and ``turned_deg`` are relative to the stack; ``lean_deg`` tips it towards +x and +y.
    """

    size: str
    colour: str
    offset_mm: tuple[float, float] = (0.0, 0.0)
    turned_deg: float = 0.0
    lean_deg: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class StackPose(_Placed):
    """Pyramids stacked on each other, lowest first; a single one is a stack too."""

    pyramids: tuple[Pyramid, ...]

    grip_mm: ClassVar[float] = 24.0

    @property
    def look(self) -> str:
        """The colour and size of the top one."""
        top = self.pyramids[-1]
        return f"{top.colour} {SIZE_WORDS[top.size]}"


@dataclass(frozen=True)
class DiceLook:
    """The appearance of dice: the colours of bodies by name, and of pips.

    ``rounding``, ``ball`` and ``gloss`` are those of ``simulator.rendering.dice.DieLook``.
    """

    colours: Mapping[str, Colour] = field(default_factory=lambda: {**PLASTIC, "white": (0.9, 0.93, 0.94)})
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
    """A die: its colour, and the number of the face that is up, from 1.

    ``printed`` holds the six faces of a die without pips, in order of number. ``leaning_deg`` is the angle of a leaning
    die, towards its own +x.
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
    """Ink in one cell, or a loop around several, whose ``place`` is empty.

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
    """A pen: the position of its tip, and the direction of its other end."""

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
