"""Draws a wooden board: frame, labelled squares, stars and grain, plus rings for lights and arrows for moves."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from common.grid import PlaceGrid, column_and_row
from common.phrases import Phrase
from engine.values import EMPTY, Place
from hardware.lights.signals import Light, LightRole, most_urgent_lights
from referee.rendering.board_picture import symbol_corners
from referee.web.drawing.pieces import SQUARE
from referee.web.drawing.svg import LIGHT_INK, Element, Point, add, number, points, shade, words

FRAME = 44.0
"""The width of the frame around the squares, in drawing units."""
_LIGHT_WOOD, _DARK_WOOD = "#efdcb6", "#d3b180"
_FRAME_WOOD, _FRAME_EDGE = "#5a3a20", "#3a2412"
_NAME_INK = "#f6e9cf"
_GRAIN_EVERY = 17.0
_ARROW = "#12307a"


@dataclass(frozen=True)
class RingStyle:
    """How to draw a light's ring: lengths of dashes and gaps, line width, and the sign on its badge."""

    dashes: str
    width: float
    sign: str


RINGS: Mapping[LightRole, RingStyle] = MappingProxyType(
    {
        LightRole.FAULT: RingStyle("15 7", 13, "!"),
        LightRole.PUT_RIGHT: RingStyle("34 16", 10, "↩"),
        LightRole.QUESTION: RingStyle("1 16", 12, "?"),
        LightRole.TURN: RingStyle("none", 9, "✓"),
        LightRole.UNFINISHED: RingStyle("30 11 4 11", 9, "…"),
        LightRole.OPPONENT: RingStyle("22 5 5 5", 10, "▶"),
        LightRole.HINT: RingStyle("6 6", 7, "i"),
    }
)
"""Each role has its own dashes and sign, so that a person who can't tell the colours apart misses nothing."""


def middles(grid: PlaceGrid) -> dict[Place, Point]:
    """Return the centre of every square. The top left corner of the first row is at (0, 0)."""
    return {
        place: ((column + 0.5) * SQUARE, (row + 0.5) * SQUARE)
        for row, names in enumerate(grid.rows)
        for column, place in enumerate(names)
    }


def draw_wood(into: Element, grid: PlaceGrid, goals: Mapping[Place, str]) -> None:
    """Draw a board's frame, squares, names and stars. Each square's id is ``place-`` followed by its name."""
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    edges = {"x": -FRAME, "y": -FRAME, "width": wide + 2 * FRAME, "height": high + 2 * FRAME}
    add(into, "rect", **edges, rx=16, fill=_FRAME_WOOD, stroke=_FRAME_EDGE, stroke_width=4)
    names = add(into, "g", font_size=27, font_weight=600, fill=_NAME_INK)
    squares = add(into, "g", class_="places")
    for row, places in enumerate(grid.rows):
        words(names, -FRAME / 2, (row + 0.5) * SQUARE + 9, column_and_row(places[0])[1])
        for column, place in enumerate(places):
            wood = _LIGHT_WOOD if (row + column) % 2 else _DARK_WOOD
            at = {"x": column * SQUARE, "y": row * SQUARE, "width": SQUARE, "height": SQUARE}
            add(squares, "rect", id=f"place-{place}", **at, fill=wood)
    for column, place in enumerate(grid.rows[-1]):
        words(names, (column + 0.5) * SQUARE, high + FRAME / 2 + 9, column_and_row(place)[0])
    add(
        into, "path", d=_grain(wide, high), class_="quiet", fill="none", stroke="#7a5426", stroke_width=1.5, opacity=0.2
    )
    for place, (x, y) in middles(grid).items():
        if place in goals:
            corners = ((x + 34 * right, y - 34 * up) for right, up in symbol_corners("star") or ())
            add(into, "polygon", class_="quiet", points=points(corners), fill="#8f2f2a", opacity=0.85)


def _grain(wide: float, high: float) -> str:
    """Return the path of the wood grain: long, slightly wavy lines."""
    lines = []
    for line in range(1, int(high / _GRAIN_EVERY)):
        y = line * _GRAIN_EVERY + 5 * math.sin(line * 2.4)
        bend = 7 * math.sin(line * 1.7)
        lines.append(
            f"M0 {number(y)}C{number(wide / 3)} {number(y + bend)} {number(wide * 2 / 3)} {number(y - bend)} "
            f"{number(wide)} {number(y + bend / 2)}"
        )
    return "".join(lines)


def draw_lights(into: Element, lights: Sequence[Light], where: Mapping[Place, Point]) -> None:
    """Draw a ring around every lit square, in the light's colour and with its role's dashes and sign."""
    for place, light in most_urgent_lights(lights).items():
        if place not in where:
            continue
        style, colour = RINGS[light.role], shade(light.colour.value)
        x, y = where[place]
        lit = add(
            into,
            "g",
            class_=f"light {light.pattern.value.replace(',', '').replace(' ', '-')}",
            transform=f"translate({number(x)} {number(y)})",
        )
        ring: dict[str, str | float] = {
            "x": -45.0,
            "y": -45.0,
            "width": 90.0,
            "height": 90.0,
            "rx": 10.0,
            "fill": "none",
        }
        add(lit, "rect", **ring, stroke="#17120c", stroke_width=style.width + 5)
        caps = "round" if style.dashes.startswith("1 ") else "butt"
        add(
            lit, "rect", **ring, stroke=colour, stroke_width=style.width, stroke_dasharray=style.dashes,
            stroke_linecap=caps,
        )  # fmt: skip
        add(lit, "circle", cx=-34, cy=-34, r=16, fill="#17120c", stroke=colour, stroke_width=4)
        words(lit, -34, -26, style.sign, font_size=24, font_weight=700, fill=LIGHT_INK)


def draw_arrow(into: Element, route: Sequence[Place], where: Mapping[Place, Point]) -> None:
    """Draw a piece's route as an arrow through the centres of these squares."""
    stops = [where[place] for place in route if place in where]
    if len(stops) < 2:
        return
    (x0, y0), (x1, y1) = stops[-2:]
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    right, down = (x1 - x0) / length, (y1 - y0) / length
    # Stop short of the centre so that the arrow doesn't cover the piece.
    tip = (x1 - 36 * right, y1 - 36 * down)
    neck = (tip[0] - 24 * right, tip[1] - 24 * down)
    wings = [(neck[0] - side * 17 * down, neck[1] + side * 17 * right) for side in (1, -1)]
    line = points([*stops[:-1], neck])
    arrow = add(into, "g", class_="arrow", opacity=0.8)
    for colour, width in ((LIGHT_INK, 16), (_ARROW, 9)):
        round_ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
        add(arrow, "polyline", points=line, fill="none", stroke=colour, stroke_width=width, **round_ends)
    add(arrow, "circle", cx=stops[0][0], cy=stops[0][1], r=11, fill=_ARROW, stroke=LIGHT_INK, stroke_width=3)
    head = points((wings[0], tip, wings[1]))
    add(arrow, "polygon", points=head, fill=_ARROW, stroke=LIGHT_INK, stroke_width=3, stroke_linejoin="round")


def description_of(appearance: Mapping[Place, str]) -> str:
    """Describe what stands where, for people who can't see the drawing."""
    standing = [f"{place} {look}" for place, look in appearance.items() if look != EMPTY]
    return "; ".join(standing) + "." if standing else Phrase("Nothing stands on it.")
