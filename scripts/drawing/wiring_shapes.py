"""The shapes of a wiring drawing as SVG: boxes with pins, wires, and a few components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

Point = tuple[float, float]

FIVE_VOLTS, GROUND, DATA, SENSE, PLAIN = "#c0392b", "#222222", "#1e7d34", "#1f5fa8", "#555555"
PIN_STEP = 26
_FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"


@dataclass
class Drawing:
    """A drawing in the making; ``width`` and ``height`` in pixels, y grows downwards."""

    title: str
    described: str
    width: int
    height: int
    _parts: list[str] = field(default_factory=list)

    def svg(self) -> str:
        """Give the SVG text."""
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.width} {self.height}' "
            f"width='{self.width}' height='{self.height}' role='img' aria-labelledby='title about'>\n"
            f"<title id='title'>{escape(self.title)}</title>\n<desc id='about'>{escape(self.described)}</desc>\n"
            f"<rect width='{self.width}' height='{self.height}' fill='white'/>\n"
            + "".join(f"{part}\n" for part in self._parts)
            + "</svg>\n"
        )

    def text(self, at: Point, words: str, *, size: int = 13, anchor: str = "middle", bold: bool = False) -> None:
        """Draw lines of text, with the first baseline at ``at``."""
        weight = " font-weight='bold'" if bold else ""
        for number, line in enumerate(words.split("\n")):
            self._parts.append(
                f"<text x='{at[0]:g}' y='{at[1] + number * (size + 4):g}' {_FONT} font-size='{size}' "
                f"text-anchor='{anchor}' fill='#222222'{weight}>{escape(line)}</text>"
            )

    def box(self, at: Point, size: Point, words: str = "", fill: str = "#f3f3ee") -> None:
        """Draw a box with its corner at ``at`` and a title at its top."""
        self._parts.append(
            f"<rect x='{at[0]:g}' y='{at[1]:g}' width='{size[0]:g}' height='{size[1]:g}' rx='5' fill='{fill}' "
            "stroke='#222222' stroke-width='1.5'/>"
        )
        if words:
            self.text((at[0] + size[0] / 2, at[1] + 20), words, bold=True)

    def board(
        self, at: Point, size: Point, words: str, *, left: Sequence[str] = (), right: Sequence[str] = ()
    ) -> dict[str, Point]:
        """Draw a box with named pins on its sides; give each pin's point. A name ``""`` leaves a gap."""
        self.box(at, size, words)
        first_y = at[1] + 22 + 18 * (1 + words.count("\n"))
        pins: dict[str, Point] = {}
        for names, x, anchor, inwards in ((left, at[0], "start", 8), (right, at[0] + size[0], "end", -8)):
            for number, name in enumerate(names):
                if name:
                    y = first_y + PIN_STEP * number
                    self.dot((x, y))
                    self.text((x + inwards, y + 4), name, size=12, anchor=anchor)
                    pins[name] = (x, y)
        return pins

    def wire(self, points: Sequence[Point], colour: str = PLAIN) -> None:
        """Draw a wire along points; crossing wires are joined only by a dot."""
        way = " ".join(f"{x:g},{y:g}" for x, y in points)
        self._parts.append(f"<polyline points='{way}' fill='none' stroke='{colour}' stroke-width='2.2'/>")

    def dot(self, at: Point, colour: str = "#222222") -> None:
        """Draw a junction dot."""
        self._parts.append(f"<circle cx='{at[0]:g}' cy='{at[1]:g}' r='3.6' fill='{colour}'/>")

    def resistor(self, at: Point, words: str) -> tuple[Point, Point]:
        """Draw a horizontal resistor centred at ``at``; give its left and right ends."""
        x, y = at
        self._parts.append(
            f"<rect x='{x - 20:g}' y='{y - 7:g}' width='40' height='14' fill='#e8d9b5' stroke='#222222'/>"
        )
        self.text((x, y - 13), words, size=12)
        return (x - 20, y), (x + 20, y)

    def fuse(self, at: Point, words: str) -> tuple[Point, Point]:
        """Draw a horizontal fuse centred at ``at``; give its left and right ends."""
        x, y = at
        self._parts.append(
            f"<rect x='{x - 22:g}' y='{y - 8:g}' width='44' height='16' rx='8' fill='white' stroke='{FIVE_VOLTS}' "
            "stroke-width='1.6'/>"
        )
        self.wire([(x - 22, y), (x + 22, y)], FIVE_VOLTS)
        self.text((x, y - 14), words, size=12)
        return (x - 22, y), (x + 22, y)

    def capacitor(self, at: Point, words: str) -> tuple[Point, Point]:
        """Draw a vertical electrolytic capacitor centred at ``at``, plus above; give its upper and lower end."""
        x, y = at
        self.wire([(x - 16, y - 5), (x + 16, y - 5)], "#222222")
        self._parts.append(
            f"<path d='M {x - 16:g} {y + 9:g} Q {x:g} {y + 1:g} {x + 16:g} {y + 9:g}' fill='none' stroke='#222222' "
            "stroke-width='2.2'/>"
        )
        self.text((x - 22, y - 6), "+", size=13)
        self.text((x + 24, y + 6), words, size=12, anchor="start")
        return (x, y - 5), (x, y + 5)

    def switch(self, at: Point, words: str = "") -> tuple[Point, Point]:
        """Draw a horizontal open switch centred at ``at``; give its left and right ends."""
        x, y = at
        self.dot((x - 14, y))
        self.dot((x + 14, y))
        self.wire([(x - 14, y), (x + 11, y - 11)], "#222222")
        if words:
            self.text((x, y - 18), words, size=12)
        return (x - 14, y), (x + 14, y)

    def diode_down(self, at: Point) -> tuple[Point, Point]:
        """Draw a vertical diode centred at ``at``, its ring (cathode) below; give its upper and lower end."""
        x, y = at
        self._parts.append(
            f"<path d='M {x - 8:g} {y - 7:g} L {x + 8:g} {y - 7:g} L {x:g} {y + 7:g} Z' fill='#222222'/>"
        )
        self.wire([(x - 8, y + 7), (x + 8, y + 7)], "#222222")
        return (x, y - 7), (x, y + 7)

    def led_right(self, at: Point, words: str = "") -> tuple[Point, Point]:
        """Draw a horizontal LED centred at ``at``, its cathode to the right; give its left and right end."""
        x, y = at
        self._parts.append(
            f"<path d='M {x - 7:g} {y - 8:g} L {x - 7:g} {y + 8:g} L {x + 7:g} {y:g} Z' fill='#222222'/>"
        )
        self.wire([(x + 7, y - 8), (x + 7, y + 8)], "#222222")
        for shift in (0, 6):
            self.wire([(x - 2 + shift, y - 9), (x + 4 + shift, y - 16)], "#222222")
        if words:
            self.text((x + 16, y - 12), words, size=12, anchor="start")
        return (x - 7, y), (x + 7, y)

    def ground(self, at: Point) -> None:
        """Draw the ground symbol below ``at``."""
        x, y = at
        self.wire([at, (x, y + 10)], GROUND)
        for number, half in enumerate((12, 8, 4)):
            level = y + 10 + 4 * number
            self.wire([(x - half, level), (x + half, level)], GROUND)

    def legend(self, at: Point, entries: Sequence[tuple[str, str]]) -> None:
        """Draw the legend of the wires' colours in a row."""
        x, y = at
        for colour, words in entries:
            self.wire([(x, y), (x + 28, y)], colour)
            self.text((x + 35, y + 4), words, size=12, anchor="start")
            x += 55 + 7.4 * len(words)
