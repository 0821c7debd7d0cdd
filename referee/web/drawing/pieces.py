"""Draws what stands on a square, seen from above: blocks, discs, stacks of pyramids, and ink; and dice. All as SVG.

Presentation goes into attributes, because the page's content security policy blocks ``style`` attributes.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from xml.etree import ElementTree as ET

from common.phrases import Phrase, joined
from engine.support.looks import Look
from referee.rendering.board_picture import symbol_corners
from referee.rendering.board_text import COLOURS, GREY, letter_of

RGB = tuple[int, int, int]
Point = tuple[float, float]
Element = ET.Element

DARK_INK, LIGHT_INK = "#1d1710", "#fffdf6"
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
    return _NOT_XML.sub("\ufffd", ET.tostring(drawn, encoding="unicode"))


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else number(value)


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


_SIDE, _GAP = 100.0, 26.0
_IVORY = (250, 246, 234)
_PIPS: Mapping[str, str] = MappingProxyType({"1": "c", "2": "ai", "3": "aci", "4": "agbi", "5": "agcbi", "6": "adgbfi"})
"""The positions of each face's pips: a, d, g down the left, c in the middle, b, f, i down the right."""
_SPOTS = MappingProxyType(
    {"a": (-1, -1), "d": (-1, 0), "g": (-1, 1), "c": (0, 0), "b": (1, -1), "f": (1, 0), "i": (1, 1)}
)


def draw_dice(faces: Sequence[str], names: Sequence[str] = ()) -> Element:
    """Draw a roll. ``names`` are the dice's colours if they differ. Faces other than 1 to 6 are drawn as text."""
    wide = len(faces) * (_SIDE + _GAP) + _GAP
    listed = map(joined, zip(names, faces, strict=True)) if names else faces
    drawn = picture("dice", "Dice", joined(listed, ", "), 0, 0, wide, _SIDE + 2 * _GAP)
    edges = {"x": 2.0, "y": 2.0, "width": wide - 4, "height": _SIDE + 2 * _GAP - 4}
    add(drawn, "rect", **edges, rx=22, fill="#2f5a44", stroke="#5a3a20", stroke_width=4)
    has_dots = set(faces) <= set(_PIPS)
    for place, face in enumerate(faces):
        colour = COLOURS.get(names[place], _IVORY) if names else _IVORY
        left = _GAP + place * (_SIDE + _GAP)
        middle = (left + _SIDE / 2, _GAP + _SIDE / 2)
        add(drawn, "rect", x=left + 3, y=_GAP + 6, width=_SIDE, height=_SIDE, rx=20, fill="#000", opacity=0.35)
        side = {"x": left, "y": _GAP, "width": _SIDE, "height": _SIDE, "rx": 20.0}
        add(drawn, "rect", **side, fill=shade(colour), stroke=shade(colour, -0.45), stroke_width=3)
        if has_dots:
            for spot in _PIPS[face]:
                right, down = _SPOTS[spot]
                at = {"cx": middle[0] + 27 * right, "cy": middle[1] + 27 * down}
                add(drawn, "circle", **at, r=9.5, fill=ink_on(colour))
        else:
            ink = ink_on(colour) if names else DARK_INK
            sign = "★" if face == "*" else face
            words(drawn, middle[0], middle[1] + 24, sign, font_size=66, font_weight=700, fill=ink)
    return drawn
