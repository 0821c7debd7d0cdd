"""Draws what stands on a square, seen from above: blocks, discs, stacks of pyramids, and ink.

Each drawing fills a square of side 100 units centred on (0, 0). The y axis points down.
"""

import math
import re
from collections.abc import Mapping, Sequence

from common.phrases import Phrase
from engine.support.looks import Look
from referee.rendering.board_picture import symbol_corners
from referee.rendering.board_text import COLOURS, GREY, letter_of
from referee.web.drawing.svg import DARK_INK, LIGHT_INK, RGB, Element, Point, add, ink_on, path, points, shade, words

SQUARE = 100.0
"""The side of a square in drawing units."""
_BLOCK, _TOP = 43.0, 24.0
"""Half the side of a block, and half the side of its top face."""
_SYMBOL, _SIDE_SYMBOL = 20.0, 8.0
_PYRAMIDS: Mapping[str, float] = {"large": 41.0, "medium": 31.0, "small": 22.0}
"""Half the side of a pyramid's base, by size."""
_SIZES = {"S": "small", "M": "medium", "L": "large"}
_LEVEL = 4.5
"""How far above the previous pyramid each one in a stack is drawn."""
_RUN = re.compile(r"([A-Z])([SML]+)")
_INK = "#1c3f94"
_BALL = Phrase("with ball")
_SIDES: Mapping[str, Point] = {"north": (0, -1), "east": (1, 0), "south": (0, 1), "west": (-1, 0)}


def colour_of(look: Look) -> RGB:
    """Return the colour in which to draw a piece."""
    return COLOURS.get(look.colour, GREY)


def draw_piece(into: Element, look: Look, sides: Mapping[str, str], below: Sequence[Look]) -> None:
    """Draw what stands on a square.

    ``sides`` maps compass directions to the known symbols on a block's sides. ``below`` is the whole stack, lowest
    piece first, if it is known.
    """
    if look.shape in _PYRAMIDS:
        _stack(into, below or (look,))
    elif look.colour in {"digit", "cross"}:
        write_ink(into, look)
    elif look.shape.startswith("block"):
        _block(into, look, sides)
    else:
        _disc(into, look)


def stack_in(text: str, looks: Sequence[str]) -> tuple[Look, ...]:
    """Parse a stack such as ``RLSS+KM``, lowest piece first; empty if the text isn't a stack.

    >>> [look.name for look in stack_in("RLS", ("red large", "red small"))]
    ['red large', 'red small']
    """
    pieces = [piece for look in looks if (piece := Look.parse(look)) is not None and piece.shape in _PYRAMIDS]
    colours = {letter_of(piece): piece.colour for piece in pieces}
    runs = _RUN.findall(text)
    return tuple(Look(colours[letter], _SIZES[size]) for letter, sizes in runs if letter in colours for size in sizes)


def write_ink(into: Element, look: Look) -> None:
    """Draw a handwritten digit or cross."""
    if look.colour == "cross":
        strokes = "M-26 -26L26 26M26 -26L-26 26"
        add(into, "path", d=strokes, stroke=_INK, stroke_width=9, stroke_linecap="round", fill="none")
        return
    words(into, 0, 24, look.shape.partition(" ")[0], font_size=70, fill=_INK, font_weight=600)


def draw_symbol(into: Element, symbol: str, centre: Point, radius: float, ink: str) -> None:
    """Draw a block's symbol, or the first letter of its name if there is no drawing for it."""
    x, y = centre
    if symbol == "hoops":
        for step in range(3):
            angle = 2 * math.pi * step / 3
            at = (x + 0.55 * radius * math.sin(angle), y - 0.55 * radius * math.cos(angle))
            add(into, "circle", cx=at[0], cy=at[1], r=0.4 * radius, fill="none", stroke=ink, stroke_width=radius / 6)
        return
    corners = symbol_corners(symbol)
    if corners is None:
        words(into, x, y + 0.6 * radius, symbol[:1], font_size=1.8 * radius, fill=ink)
        return
    add(into, "polygon", points=points((x + radius * right, y - radius * up) for right, up in corners), fill=ink)


def _block(into: Element, look: Look, sides: Mapping[str, str]) -> None:
    colour, ink = colour_of(look), ink_on(colour_of(look))
    low, high = _BLOCK, _TOP
    add(into, "rect", x=-low + 3, y=-low + 5, width=2 * low, height=2 * low, rx=9, fill="#000", opacity=0.3)
    add(into, "rect", x=-low, y=-low, width=2 * low, height=2 * low, rx=9, fill=shade(colour, -0.25))
    slopes: tuple[tuple[tuple[Point, ...], float], ...] = (
        (((-low + 4, -low + 2), (low - 4, -low + 2), (high, -high), (-high, -high)), 0.1),
        (((-low + 2, low - 4), (-low + 2, -low + 4), (-high, -high), (-high, high)), -0.08),
        (((low - 4, low - 2), (-low + 4, low - 2), (-high, high), (high, high)), -0.35),
    )
    for corners, lighter in slopes:
        add(into, "polygon", points=points(corners), fill=shade(colour, lighter))
    add(into, "rect", x=-high, y=-high, width=2 * high, height=2 * high, rx=4, fill=shade(colour, 0.16))
    middle = (low + high) / 2
    for side, symbol in sides.items():
        right, down = _SIDES[side]
        draw_symbol(into, symbol, (right * middle, down * middle), _SIDE_SYMBOL, ink)
    draw_symbol(into, look.mark, (0, 0), _SYMBOL, ink_on(colour))


def _disc(into: Element, look: Look) -> None:
    colour = colour_of(look)
    rim = "#000000" if ink_on(colour) == DARK_INK else "#8a8a8a"
    add(into, "circle", cx=3, cy=5, r=39, fill="#000", opacity=0.3)
    add(into, "circle", cx=0, cy=0, r=39, fill=shade(colour, -0.12), stroke=rim, stroke_width=2)
    add(into, "circle", cx=0, cy=-1, r=31, fill=shade(colour, 0.12), stroke=shade(colour, -0.3), stroke_width=3)
    if _BALL in look.shape:
        add(into, "circle", cx=2, cy=4, r=20, fill="#000", opacity=0.4)
        add(into, "circle", cx=0, cy=0, r=20, fill="#f2762e", stroke=LIGHT_INK, stroke_width=4)
        add(into, "circle", cx=-6, cy=-7, r=6, fill="#fff", opacity=0.75)
    elif look.shape != "piece":
        words(into, 0, 10, look.shape[:6], font_size=26, fill=ink_on(colour))


def _stack(into: Element, pieces: Sequence[Look]) -> None:
    lowest = _LEVEL * (len(pieces) - 1) / 2
    for level, piece in enumerate(pieces):
        _pyramid(into, piece, lowest - level * _LEVEL, is_top=level == len(pieces) - 1)
    if len(pieces) > 1:
        add(into, "circle", cx=25, cy=25, r=14, fill=DARK_INK, stroke=LIGHT_INK, stroke_width=2)
        words(into, 25, 32, str(len(pieces)), font_size=20, fill=LIGHT_INK, font_weight=700)


def _pyramid(into: Element, piece: Look, y: float, *, is_top: bool) -> None:
    half = _PYRAMIDS[piece.shape]
    corners = ((-half, y - half), (half, y - half), (half, y + half), (-half, y + half))
    if piece.colour == "clear":
        add(into, "polygon", points=points(corners), fill="#fff", fill_opacity=0.45, stroke="#5b6770", stroke_width=3)
        add(into, "path", d=path(corners[::2]) + path(corners[1::2]), stroke="#5b6770", stroke_width=2, opacity=0.7)
        return
    colour = colour_of(piece)
    add(into, "polygon", points=points((x + 2, down + 4) for x, down in corners), fill="#000", opacity=0.3)
    facets = zip(corners, (*corners[1:], corners[0]), (0.25, -0.1, -0.35, 0.05), strict=True)
    for start, end, lighter in facets:
        add(into, "polygon", points=points((start, end, (0, y))), fill=shade(colour, lighter))
    outline = "#8a8a8a" if piece.colour == "black" else shade(colour, -0.55)
    add(into, "polygon", points=points(corners), fill="none", stroke=outline, stroke_width=2)
    if is_top:
        words(into, 0, y + 9, letter_of(piece), font_size=26, fill=ink_on(colour), font_weight=700)
