"""Draws what stands on a square, seen from above: blocks, discs, stacks of pyramids, and ink; and dice. All as SVG.

Presentation goes into attributes, because the page's content security policy blocks ``style`` attributes.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from types import MappingProxyType
from xml.etree import ElementTree as ET

from common.phrases import Phrase, joined
from engine.support.looks import Look
from frontends.board_text import COLOURS, GREY
from frontends.page.drawing.scenes import BALL, is_pyramid

RGB = tuple[int, int, int]
Point = tuple[float, float]
Element = ET.Element

DARK_INK, LIGHT_INK = "#1d1710", "#fffdf6"
RED = "#c22222"
BALL_RIM = "#e8b23c"
_MIDDLE_GREY = 128.0
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML forbids; with one of them in a player's name, a browser would show no drawing at all."""


def number(value: float) -> str:
    """Format a length with at most one decimal."""
    return f"{round(value, 1):g}"


def element(tag: str, **attributes: str | float) -> Element:
    """Create an element; the keyword ``stroke_width`` becomes ``stroke-width``, and ``class_`` becomes ``class``."""
    return Element(tag, {_name(name): _value(value) for name, value in attributes.items()})


def add(parent: Element, tag: str, **attributes: str | float) -> Element:
    """Create an element as ``element`` does and append it to ``parent``."""
    child = element(tag, **attributes)
    parent.append(child)
    return child


def words(parent: Element, x: float, y: float, said: str, **attributes: str | float) -> Element:
    """Add a text centred on x with its baseline at y."""
    text = add(parent, "text", x=x, y=y, **attributes)
    text.text = said
    return text


def points(corners: Iterable[Point]) -> str:
    """Format corners for the attribute ``points``."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in corners)


def path(corners: Iterable[Point]) -> str:
    """Format a line through these points for the attribute ``d``."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in corners)


def shade(colour: RGB, lighter: float = 0.0) -> str:
    """Format a colour, mixed with white by ``lighter`` (0 to 1), or with black (0 to -1)."""
    goal = 255 if lighter > 0 else 0
    red, green, blue = (round(part + (goal - part) * abs(lighter)) for part in colour)
    return f"#{red:02x}{green:02x}{blue:02x}"


def ink_on(colour: RGB) -> str:
    """Return the text colour with the better contrast on a colour."""
    red, green, blue = colour
    return DARK_INK if 0.299 * red + 0.587 * green + 0.114 * blue > _MIDDLE_GREY else LIGHT_INK


def picture(kind: str, title: str, description: str, left: float, top: float, width: float, height: float) -> Element:
    """Create an SVG root of this class, with a title and description for screen readers.

    The size in pixels is only a default. It sets the aspect ratio, so a page can limit width and height.
    """
    drawn = element(
        "svg",
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=" ".join(number(part) for part in (left, top, width, height)),
        class_=kind,
        role="img",
        text_anchor="middle",
        font_family="system-ui,sans-serif",
    )
    add(drawn, "title").text = title
    add(drawn, "desc").text = description
    return drawn


def written(drawn: Element) -> str:
    """Serialize an element."""
    return _NOT_XML.sub("\ufffd", ET.tostring(drawn, encoding="unicode")).replace(" />", "/>")


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else number(value)


SQUARE = 100.0
"""The side of a square in drawing units."""
_BASES: Mapping[str, float] = {"large": 44.0, "medium": 31.0, "small": 21.0}
"""Half the side of a pyramid's base, by size."""
_RIM = 10.0
"""How much of a pyramid shows around one of the same size on top of it."""
_LEVEL = 3.0
"""How far above the previous pyramid each one in a stack is drawn."""
_INK = "#1c3f94"
_GLASS = "#5b6770"
_SIDES: Mapping[str, Point] = {"north": (0, -36), "east": (30, -6), "south": (0, 24), "west": (-30, -6)}
"""Where a block's top shows the symbol of each side, from the block's middle."""
_TOP_FACE = (0.0, -6.0)
"""The middle of a block's top face."""
_WRITTEN = frozenset({"digit", "cross"})
"""The looks that are written with a pen."""
_NOTHING: Mapping[str, str] = MappingProxyType({})
_DIGITS = (
    "M1 -30C-22 -32 -25 28 -1 30C24 30 25 -30 1 -30z",
    "M-13 -15Q-2 -22 4 -31L1 30",
    "M-17 -17C-14 -35 18 -34 16 -12C14 4 -8 16 -18 29Q0 24 19 28",
    "M-15 -26C2 -36 20 -26 13 -12C10 -5 2 -3 -4 -3C8 -3 19 4 16 17C12 33 -10 32 -17 23",
    "M6 -30Q-6 -6 -19 10Q0 8 19 8M11 -9L6 31",
    "M16 -29Q2 -27 -11 -29L-14 -4C0 -13 18 -4 16 12C14 30 -6 34 -17 24",
    "M12 -30C-6 -22 -18 0 -16 14C-14 32 16 34 17 14C18 -4 -10 -4 -16 12",
    "M-17 -28Q2 -25 18 -29Q2 -8 -5 31M-11 2Q2 -1 13 0",
    "M14 -22C4 -34 -18 -28 -14 -14C-10 -2 18 2 16 17C14 32 -16 33 -16 16C-16 2 10 -6 14 -22z",
    "M15 -12C12 -32 -15 -33 -16 -13C-17 4 10 5 15 -12Q16 10 6 31",
)
"""Each digit as a line of a pen, about its middle."""
_CROSS = "M-27 -25Q2 -3 27 26M25 -28Q-2 2 -26 26"
_OVAL = "M10 -42C-22 -50 -45 -24 -42 4C-38 36 2 48 28 34C54 16 46 -28 6 -43"
_STROKES: Mapping[str, str] = {
    "red": "M-42 -28L-28 -42L-42 -4L-4 -43L-43 20L20 -43L-42 41L41 -41L-18 43L43 -16L6 43L43 8L30 42L42 30",
    "blue": "M42 -28L28 -42L42 -4L4 -43L43 20L-20 -43L42 41L-41 -41L18 43L-43 -16L-6 43L-43 8L-30 42L-42 30",
    "yellow": "M-42 -38L42 -35L-41 -20L43 -16L-43 -2L41 3L-42 17L43 21L-41 35L42 40",
    "green": "M-38 -42L-35 42L-20 -41L-16 43L-2 -43L3 41L17 -42L21 43L35 -41L40 42",
}
"""The marker's line that fills a square. Each colour has a direction, for people who can't tell colours apart."""
_WASH = "M-47 -44Q0 -50 46 -47Q50 0 47 45Q0 49 -46 47Q-50 0 -47 -44z"
_ANY_STROKE = _STROKES["red"]


class Stamps:
    """Drawings that a picture holds once in ``defs`` and shows in many places.

    ``name`` begins their ids, and has to differ between the pictures of a page.
    """

    def __init__(self, drawn: Element, name: str) -> None:
        self._defs, self._name = add(drawn, "defs"), name
        self._known: set[str] = set()

    def put(
        self, into: Element, what: str, draw: Callable[[Element], object], at: Point, **attributes: str | float
    ) -> None:
        """Show a drawing with its middle here; ``draw`` makes it when it is needed for the first time."""
        ident = f"{self._name}-{what.replace(' ', '-')}"
        if what not in self._known:
            self._known.add(what)
            draw(add(self._defs, "g", id=ident))
        add(into, "use", href=f"#{ident}", x=at[0], y=at[1], **attributes)


def colour_of(look: Look) -> RGB:
    """Return the colour in which to draw a piece."""
    return COLOURS.get(look.colour, GREY)


@dataclass(frozen=True)
class Pieces:
    """Draws pieces into one picture. ``letters`` has the letter of each colour in the reader's language."""

    stamps: Stamps
    letters: Mapping[str, str] = field(default_factory=dict)

    def piece(
        self, into: Element, look: Look, at: Point, sides: Mapping[str, str] = _NOTHING, *, is_looped: bool = False
    ) -> None:
        """Draw a single piece, or what is written.

        ``sides`` are the known symbols on a block's sides; ``is_looped``: a loop around several digits is drawn apart.
        """
        if is_pyramid(look):
            self.stack(into, (look,), at)
        elif look.colour in _WRITTEN:
            self._ink(into, look, at, is_looped=is_looped)
        elif look.shape.startswith("block"):
            self._block(into, look, at, sides)
        elif not look.shape:
            self._marker(into, look, at)
        else:
            self._disc(into, look, at)

    def _block(self, into: Element, look: Look, at: Point, sides: Mapping[str, str]) -> None:
        self.stamps.put(into, look.piece, lambda drawn: _draw_block(drawn, colour_of(look)), at)
        ink = ink_on(colour_of(look))
        self._symbol(into, look.mark, (at[0] + _TOP_FACE[0], at[1] + _TOP_FACE[1]), 20, ink)
        for side, symbol in sides.items():
            right, down = _SIDES[side]
            self._symbol(into, symbol, (at[0] + right, at[1] + down), 6, ink)

    def _symbol(self, into: Element, symbol: str, at: Point, radius: float, ink: str) -> None:
        self.stamps.put(into, f"{symbol} {radius:g}", lambda drawn: draw_symbol(drawn, symbol, radius), at, color=ink)

    def _disc(self, into: Element, look: Look, at: Point) -> None:
        colour = colour_of(look)
        self.stamps.put(into, f"{look.colour} disc", lambda drawn: _draw_disc(drawn, colour), at)
        if look.shape not in {"piece", f"piece {BALL}"}:
            words(into, at[0], at[1] + 10, look.shape[:6], font_size=26, fill=ink_on(colour))

    def ball(self, into: Element, look: Look, at: Point) -> None:
        """Draw the ball that lies on a piece."""
        self.stamps.put(into, f"{look.colour} ball", lambda drawn: _draw_ball(drawn, colour_of(look)), at)

    def stack(
        self, into: Element, pieces: Sequence[Look], at: Point, under: Sequence[Look] = (), *, is_signed: bool = True
    ) -> None:
        """Draw pyramids that stand on those ``under`` them, so that a rim of each colour shows.

        If it ``is_signed``, the letter of its colour and a number for hidden pieces are added.
        """
        halves = _halves((*under, *pieces))[len(under) :]
        for level, (piece, half) in enumerate(zip(pieces, halves, strict=True), len(under)):
            name = f"{piece.colour} {half:g}"
            draw = partial(_draw_pyramid, colour=colour_of(piece), half=half, is_clear=piece.colour == "clear")
            self.stamps.put(into, name, draw, (at[0], at[1] - level * _LEVEL))
        if is_signed:
            self._stack_signs(into, (*under, *pieces), at)

    def _stack_signs(self, into: Element, pieces: Sequence[Look], at: Point) -> None:
        top, height = pieces[-1], at[1] - (len(pieces) - 1) * _LEVEL
        owner = next((piece for piece in reversed(pieces) if piece.colour not in {"black", "clear"}), None)
        letter = self.letters.get((owner or top).colour, "")
        if top.colour == "black" and owner is not None:
            add(
                into,
                "circle",
                cx=at[0],
                cy=height,
                r=15,
                fill=shade(colour_of(owner)),
                stroke=LIGHT_INK,
                stroke_width=2,
            )
            words(into, at[0], height + 8, letter, font_size=22, fill=ink_on(colour_of(owner)), font_weight=700)
        elif top.colour != "clear":
            size = 24 if top.shape != "small" else 20
            ink = ink_on(colour_of(top))
            words(into, at[0], height + size / 3, letter, font_size=size, fill=ink, font_weight=700)
        if len(set(pieces)) < len(pieces) or len(pieces) > 4:
            add(into, "circle", cx=at[0] + 34, cy=at[1] + 34, r=13, fill=DARK_INK, stroke=LIGHT_INK, stroke_width=2)
            words(into, at[0] + 34, at[1] + 41, str(len(pieces)), font_size=20, fill=LIGHT_INK, font_weight=700)

    def _ink(self, into: Element, look: Look, at: Point, *, is_looped: bool) -> None:
        digit, _, loop = look.shape.partition(" ")
        strokes = _CROSS if look.colour == "cross" else _DIGITS[int(digit)]
        pen: dict[str, str | float] = {"fill": "none", "stroke_linecap": "round", "stroke_linejoin": "round"}
        name = f"{look.colour} {digit}"
        self.stamps.put(
            into, name, lambda drawn: add(drawn, "path", d=strokes, stroke=_INK, stroke_width=7.5, **pen), at
        )
        if loop and not is_looped:
            self.stamps.put(into, "loop", lambda drawn: add(drawn, "path", d=_OVAL, stroke=RED, **pen), at)

    def _marker(self, into: Element, look: Look, at: Point) -> None:
        self.stamps.put(into, f"{look.colour} marker", lambda drawn: _draw_marker(drawn, look), at)


def symbol_corners(symbol: str) -> list[tuple[float, float]] | None:
    """Return the corners of a symbol about its centre, in a circle of radius 1, x to the right and y up."""
    arm = 0.3
    plus = [(-arm, 1), (arm, 1), (arm, arm), (1, arm), (1, -arm), (arm, -arm)]
    plus += [(-x, -y) for x, y in plus]
    match symbol:
        case "star":
            radii = [1.0 if step % 2 == 0 else 0.42 for step in range(10)]
            return [
                (radius * math.sin(math.pi * step / 5), radius * math.cos(math.pi * step / 5))
                for step, radius in enumerate(radii)
            ]
        case "stop":
            return [(math.sin(math.pi * (step + 0.5) / 4), math.cos(math.pi * (step + 0.5) / 4)) for step in range(8)]
        case "slider":
            return [(0, 1), (1, 0), (0, -1), (-1, 0)]
        case "cross":
            return plus
        case "x":
            half = math.sqrt(0.5)
            return [(half * (x - y), half * (x + y)) for x, y in plus]
        case _:
            return None


def draw_symbol(into: Element, symbol: str, radius: float) -> None:
    """Draw a block's symbol in the current colour, or the first letter of its name if there is no drawing for it."""
    if symbol == "hoops":
        for step in range(3):
            angle = 2 * math.pi * step / 3
            at = {"cx": 0.55 * radius * math.sin(angle), "cy": -0.55 * radius * math.cos(angle)}
            add(into, "circle", **at, r=0.42 * radius, fill="none", stroke="currentColor", stroke_width=radius / 5)
        return
    corners = symbol_corners(symbol)
    if corners is None:
        words(into, 0, 0.6 * radius, symbol[:1], font_size=1.8 * radius, fill="currentColor")
        return
    outline = points((radius * right, -radius * up) for right, up in corners)
    add(into, "polygon", points=outline, fill="currentColor")


def _draw_block(into: Element, colour: RGB) -> None:
    """Draw a wooden cube from above and slightly in front: its top, its front below that, and a soft shadow."""
    for grows in (7, 3):
        side = {"x": -38 - grows + 4.0, "y": -38 - grows + 8.0, "width": 76 + 2.0 * grows, "height": 82 + 2.0 * grows}
        add(into, "rect", **side, rx=8 + grows, fill="#000", opacity=0.13)
    add(into, "rect", x=-39, y=-43, width=78, height=86, rx=7, fill=shade(colour, -0.42))
    add(into, "path", d="M-39 32h78M-39 37q40 3 78 0", stroke=shade(colour, -0.55), stroke_width=1.5, fill="none")
    add(into, "rect", x=-39, y=-44, width=78, height=76, rx=6, fill=shade(colour, 0.05))
    grain = "M-38 -31q30 -7 76 2M-38 -14q40 9 76 -2M-38 4q26 -9 76 3M-38 18q44 8 76 -1"
    add(into, "path", d=grain, stroke=shade(colour, -0.3), stroke_width=2, fill="none", opacity=0.35)
    add(into, "path", d="M-38 27V-38q0 -5 5 -5H33", stroke="#fff", stroke_width=2.5, fill="none", opacity=0.45)


def _draw_disc(into: Element, colour: RGB) -> None:
    """Draw a disc from above and slightly in front."""
    is_dark = ink_on(colour) == LIGHT_INK
    for grows in (5, 1):
        add(into, "circle", cx=4, cy=11, r=38 + grows, fill="#000", opacity=0.14)
    edge = shade(colour, -0.6 if is_dark else -0.38)
    add(into, "path", d="M-38 -3v9a38 38 0 0 0 76 0v-9z", fill=edge)
    face = {"fill": shade(colour, 0.08 if is_dark else -0.03), "stroke": shade(colour, 0.3 if is_dark else -0.3)}
    add(into, "circle", cx=0, cy=-4, r=38, **face, stroke_width=2)
    add(
        into, "circle", cx=0, cy=-4, r=27, fill="none", stroke=shade(colour, -0.5 if is_dark else -0.12), stroke_width=3
    )
    shine = "M-24 -20a29 29 0 0 1 21 -13"
    add(into, "path", d=shine, stroke="#fff", stroke_width=5, stroke_linecap="round", fill="none", opacity=0.5)


def _draw_ball(into: Element, colour: RGB) -> None:
    is_dark = ink_on(colour) == LIGHT_INK
    add(into, "circle", cx=4, cy=4, r=22, fill="#000", opacity=0.35)
    add(
        into,
        "circle",
        cx=0,
        cy=-6,
        r=21,
        fill=shade(colour, 0.05 if is_dark else -0.3),
        stroke=BALL_RIM,
        stroke_width=4,
    )
    for up, radius, lighter in ((-8, 16, 0.2 if is_dark else -0.12), (-10, 11, 0.34 if is_dark else 0.4)):
        add(into, "circle", cx=-2, cy=up, r=radius, fill=shade(colour, lighter))
    add(into, "circle", cx=-7, cy=-15, r=4.5, fill="#fff", opacity=0.95)


def _halves(pieces: Sequence[Look]) -> list[float]:
    """Return half the side of each pyramid in a stack: its own, or less, so that the colour it stands on shows."""
    halves: list[float] = []
    for number, piece in enumerate(pieces):
        half = _BASES[piece.shape]
        if halves:
            half = min(half, _BASES["large"] - _RIM)
            below = pieces[number - 1]
            if below.colour != piece.colour and abs(halves[-1] - half) < _RIM / 2:
                half = halves[-1] - _RIM * 0.7
        halves.append(half)
    return halves


def _draw_pyramid(into: Element, colour: RGB, half: float, *, is_clear: bool) -> None:
    corners = ((-half, -half), (half, -half), (half, half), (-half, half))
    if is_clear:
        add(into, "polygon", points=points(corners), fill="#fff", fill_opacity=0.5, stroke=_GLASS, stroke_width=3)
        lines = path(corners[::2]) + path(corners[1::2])
        add(into, "path", d=lines, stroke=_GLASS, stroke_width=2, opacity=0.5)
        return
    under = points((x + 2, y + 5) for x, y in corners)
    add(into, "polygon", points=under, fill="#000", opacity=0.28)
    facets = zip(corners, (*corners[1:], corners[0]), (0.28, -0.08, -0.32, 0.08), strict=True)
    for start, end, lighter in facets:
        add(into, "polygon", points=points((start, end, (0, 0))), fill=shade(colour, lighter))
    outline = "#9a9a9a" if max(colour) < 60 else shade(colour, -0.5)
    add(into, "polygon", points=points(corners), fill="none", stroke=outline, stroke_width=2, stroke_linejoin="round")


def _draw_marker(into: Element, look: Look) -> None:
    colour = colour_of(look)
    add(into, "path", d=_WASH, fill=shade(colour, 0.35))
    pen: dict[str, str | float] = {"fill": "none", "stroke_linecap": "round", "stroke_linejoin": "round"}
    strokes = _STROKES.get(look.colour, _ANY_STROKE)
    add(into, "path", d=strokes, **pen, stroke=shade(colour, -0.06), stroke_width=10, opacity=0.7)


_SIDE, _GAP = 100.0, 26.0
_IVORY, _TILE = (250, 246, 234), (222, 190, 140)
_SHAPE_INK: Mapping[str, str | float] = MappingProxyType({"fill": DARK_INK, "stroke": "#fdfaf0", "stroke_width": 3})
_PIPS: Mapping[str, str] = MappingProxyType({"1": "c", "2": "ai", "3": "aci", "4": "agbi", "5": "agcbi", "6": "adgbfi"})
"""The positions of each face's pips: a, d, g down the left, c in the middle, b, f, i down the right."""
_SPOTS = MappingProxyType(
    {"a": (-1, -1), "d": (-1, 0), "g": (-1, 1), "c": (0, 0), "b": (1, -1), "f": (1, 0), "i": (1, 1)}
)


def draw_dice(faces: Sequence[str], names: Sequence[str] = (), shapes: Mapping[str, str] = _NOTHING) -> Element:
    """Draw a roll. ``names`` are the dice's colours if they differ.

    A face with one of the ``shapes`` shows that; those other than 1 to 6 are drawn as text.
    """
    listed = map(joined, zip(names, faces, strict=True)) if names else faces
    drawn = _tray(Phrase("Dice"), joined(listed, ", "), len(faces))
    has_dots = set(faces) <= set(_PIPS)
    for place, face in enumerate(faces):
        colour = COLOURS.get(names[place], _IVORY) if names else _IVORY
        middle = _on_tray(drawn, place, colour, round_by=20)
        if has_dots:
            for spot in _PIPS[face]:
                right, down = _SPOTS[spot]
                at = {"cx": middle[0] + 27 * right, "cy": middle[1] + 27 * down}
                add(drawn, "circle", **at, r=9.5, fill=ink_on(colour))
        elif face in shapes:
            add(
                drawn,
                "path",
                d=shape_path(shapes[face], middle, 21),
                fill=DARK_INK,
                stroke=shade(colour),
                stroke_width=3,
            )
        else:
            sign = "★" if face == "*" else face
            words(drawn, middle[0], middle[1] + 24, sign, font_size=66, font_weight=700, fill=ink_on(colour))
    return drawn


def draw_tiles(tiles: Mapping[str, str], shapes: Mapping[str, str]) -> Element:
    """Draw tiles that lie in slots: each with its slot's name and the shape of its face."""
    said = (joined((slot, face)) for slot, face in tiles.items())
    drawn = _tray(Phrase("Tiles"), joined(said, ", "), len(tiles))
    for place, (slot, face) in enumerate(tiles.items()):
        x, y = _on_tray(drawn, place, _TILE, round_by=10)
        words(drawn, x - 34, y - 22, slot, font_size=30, font_weight=700, fill=DARK_INK)
        at = (x + 6, y + 8)
        add(drawn, "path", d=shape_path(shapes[face], at, 20), **_SHAPE_INK)
    return drawn


def shape_path(shape: str, middle: Point, side: float) -> str:
    """Return the path of a shape's squares with this side, about its middle."""
    rows = shape.split("/")
    left, top = middle[0] - len(rows[0]) * side / 2, middle[1] - len(rows) * side / 2
    cells = [(column, row) for row, line in enumerate(rows) for column, mark in enumerate(line) if mark == "X"]
    first = square_path(left + cells[0][0] * side, top + cells[0][1] * side, side)
    steps = [(right - x, down - y) for (x, y), (right, down) in pairwise(cells)]
    square = first.partition("h")[2]
    return first + "".join(f"m{number(x * side)} {number(y * side)}h{square}" for x, y in steps)


def square_path(left: float, top: float, side: float) -> str:
    """Return the path of a square."""
    return f"M{number(left)} {number(top)}h{side:g}v{side:g}h-{side:g}z"


def _tray(title: str, description: str, count: int) -> Element:
    wide = count * (_SIDE + _GAP) + _GAP
    drawn = picture("dice", title, description, 0, 0, wide, _SIDE + 2 * _GAP)
    edges = {"x": 2.0, "y": 2.0, "width": wide - 4, "height": _SIDE + 2 * _GAP - 4}
    add(drawn, "rect", **edges, rx=22, fill="#2f5a44", stroke="#5a3a20", stroke_width=4)
    return drawn


def _on_tray(into: Element, place: int, colour: RGB, *, round_by: float) -> Point:
    """Draw an empty die or tile, and return its middle."""
    left = _GAP + place * (_SIDE + _GAP)
    side = {"width": _SIDE, "height": _SIDE, "rx": round_by}
    add(into, "rect", x=left + 3, y=_GAP + 6, **side, fill="#000", opacity=0.35)
    add(into, "rect", x=left, y=_GAP, **side, fill=shade(colour), stroke=shade(colour, -0.45), stroke_width=3)
    return left + _SIDE / 2, _GAP + _SIDE / 2
