"""SVG elements made short, and shades of a colour.

Looks are written as attributes and never as a style, which a page with a strict content policy would not apply.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree as ET

RGB = tuple[int, int, int]
Point = tuple[float, float]
Element = ET.Element

DARK_INK, LIGHT_INK = "#1d1710", "#fffdf6"
_MIDDLE_GREY = 128.0


def number(value: float) -> str:
    """Write a length with one decimal at most."""
    return f"{round(value, 1):g}"


def element(tag: str, **attributes: str | float) -> Element:
    """Make an element; ``stroke_width`` is written ``stroke-width``, and ``class_`` ``class``."""
    return Element(tag, {_name(name): _value(value) for name, value in attributes.items()})


def add(parent: Element, tag: str, **attributes: str | float) -> Element:
    """Make an element as ``element`` does, the last one in ``parent``."""
    child = element(tag, **attributes)
    parent.append(child)
    return child


def words(parent: Element, x: float, y: float, said: str, **attributes: str | float) -> Element:
    """Write words with the middle of their line at x and their baseline at y."""
    text = add(parent, "text", x=x, y=y, **attributes)
    text.text = said
    return text


def points(corners: Iterable[Point]) -> str:
    """Write corners as ``points`` takes them."""
    return " ".join(f"{number(x)},{number(y)}" for x, y in corners)


def path(corners: Iterable[Point]) -> str:
    """Write a line through these points as ``d`` takes it."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in corners)


def shade(colour: RGB, lighter: float = 0.0) -> str:
    """Write a colour, ``lighter`` of the way to white (1), or to black (-1)."""
    goal = 255 if lighter > 0 else 0
    red, green, blue = (round(part + (goal - part) * abs(lighter)) for part in colour)
    return f"#{red:02x}{green:02x}{blue:02x}"


def ink_on(colour: RGB) -> str:
    """Give the ink that reads best on a colour."""
    red, green, blue = colour
    return DARK_INK if 0.299 * red + 0.587 * green + 0.114 * blue > _MIDDLE_GREY else LIGHT_INK


def picture(kind: str, title: str, description: str, left: float, top: float, width: float, height: float) -> Element:
    """Begin a picture of this class that a screen reader reads as its title and description.

    Its size in pixels is only a start: with it, a page can bound width and height and the proportions stay.
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
    """Write an element as text."""
    return ET.tostring(drawn, encoding="unicode")


def _name(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else number(value)
