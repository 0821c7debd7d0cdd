"""Helpers that build SVG elements, and shades of a colour.

Presentation goes into attributes, because the page's content security policy blocks ``style`` attributes.
"""

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

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
