"""Draw the wiring of docs/hardware.md and docs/microcontroller.md into docs/pictures/wiring-*.svg.

Run: python scripts/drawing/wiring.py [FOLDER]

The pins of the microcontrollers are those of the example pin maps, so that drawing and example agree.
"""

import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from firmware_bridge.pin_maps.pin_map import BOARDS, example_pin_map

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


PI_ROWS = (4, 5, 6, 7, 8, 9, 10)
PI_COLUMNS = (11, 12, 16, 17, 20, 21, 22)
"""Pins of a matrix of 7 × 7 squares on a Pi without edge lights; see docs/hardware.md."""

PI_LIGHTS = {"column a": 4, "row 1": 11, "status, red": 13, "status, green": 19, "status, blue": 26}
PI_BUTTONS = {"end turn": 23, "hint": 24, "take back": 25}
PI_BUZZER = 18
"""Lights, buttons and buzzer on a Pi as in docs/hardware.md, with one column and one row."""

_SUPPLY = {"pico": "VBUS (5 V)", "esp32-s3": "5V"}
_LEGEND = ((FIVE_VOLTS, "5 V"), (GROUND, "ground"), (DATA, "light data"), (PLAIN, "USB"))


def drawings() -> dict[str, str]:
    """Give every drawing's file name and its SVG."""
    made = {}
    for board in ("pico", "esp32-s3"):
        pins = tomllib.loads(example_pin_map(board))
        made[f"wiring-strip-{board}.svg"] = _strip(board, pins)
        made[f"wiring-sensors-{board}.svg"] = _matrix(
            BOARDS[board].title,
            [BOARDS[board].pin_name(pin) for pin in pins["matrix"]["rows"]],
            [BOARDS[board].pin_name(pin) for pin in pins["matrix"]["columns"]],
        )
        made[f"wiring-buttons-{board}.svg"] = _buttons(board, pins)
    made["wiring-sensors-pi.svg"] = _matrix(
        "Raspberry Pi", [f"GPIO{pin}" for pin in PI_ROWS], [f"GPIO{pin}" for pin in PI_COLUMNS]
    )
    made["wiring-lights-pi.svg"] = _pi_lights()
    made["wiring-hall.svg"] = _hall()
    return made


def _strip(board: str, pins: Mapping[str, Any]) -> str:
    kind = BOARDS[board]
    data_pin, supply_pin = kind.pin_name(pins["lights"]["pin"]), _SUPPLY[board]
    draw = Drawing(
        f"A strip of WS2812 lights on a {kind.title}",
        f"{data_pin} goes through a 74AHCT125 and a resistor to the strip's data input; the strip has a 5 V supply of "
        "its own with a fuse, a capacitor, and wires to both of its ends; all grounds are joined.",
        980,
        560,
    )
    pi = draw.board((20, 60), (130, 86), "Raspberry Pi", right=["USB"])
    micro = draw.board((230, 60), (190, 150), kind.title, left=["USB"], right=[data_pin, supply_pin, "GND"])
    draw.wire([pi["USB"], micro["USB"]], PLAIN)
    draw.text((190, 74), "carries\ndata", size=11)
    shifter = draw.board(
        (510, 60), (150, 130), "74AHCT125", left=["1A (2)", "1OE (1)", "GND (7)"], right=["1Y (3)", "VCC (14)"]
    )
    strip_y = 330.0
    draw.wire([micro[data_pin], shifter["1A (2)"]], DATA)
    draw.text((465, micro[data_pin][1] - 8), "3.3 V", size=11)
    draw.text((585, 206), "100 nF from VCC to GND;\nother inputs to GND", size=11)
    ground_x = 480.0
    draw.wire([micro["GND"], (ground_x, micro["GND"][1]), (ground_x, strip_y + 150)], GROUND)
    enable = shifter["1OE (1)"]
    draw.wire([enable, (ground_x, enable[1]), (ground_x, micro["GND"][1])], GROUND)
    draw.wire([shifter["GND (7)"], micro["GND"]], GROUND)
    draw.dot((ground_x, micro["GND"][1]))
    # The supply's two rails, with the strip between them.
    supply = draw.board((20, strip_y - 20), (150, 110), "5 V supply", right=["+5 V", "GND", ""])
    plus_y, minus_y = strip_y - 40, strip_y + 150
    fuse_left, fuse_right = draw.fuse((250, plus_y), "fuse, near the supply")
    draw.wire([supply["+5 V"], (190, supply["+5 V"][1]), (190, plus_y), fuse_left], FIVE_VOLTS)
    draw.wire([fuse_right, (930, plus_y), (930, strip_y + 62), (900, strip_y + 62)], FIVE_VOLTS)
    draw.wire([supply["GND"], (190, supply["GND"][1]), (190, minus_y), (950, minus_y)], GROUND)
    draw.wire([(950, minus_y), (950, strip_y + 102), (900, strip_y + 102)], GROUND)
    draw.dot((ground_x, minus_y))
    upper, lower = draw.capacitor((300, strip_y + 60), "1000 µF,\n6.3 V or more")
    for end, rail_y, colour in ((upper, plus_y, FIVE_VOLTS), (lower, minus_y, GROUND)):
        draw.wire([end, (end[0], rail_y)], colour)
        draw.dot((end[0], rail_y))
    strip = draw.board((640, strip_y), (260, 120), "", left=["DIN", "+5 V", "GND"])
    draw.text((775, strip_y + 20), "WS2812 strip", bold=True)
    for number, name in enumerate(("light 0", "1", "2", "…")):
        draw.box((705 + 46 * number, strip_y + 42), (40, 40), fill="#fff8dc")
        draw.text((725 + 46 * number, strip_y + 66), name, size=10)
    draw.text((890, strip_y + 66), "+", size=13)
    draw.text((890, strip_y + 106), "−", size=13)
    draw.wire([strip["+5 V"], (590, strip["+5 V"][1]), (590, plus_y)], FIVE_VOLTS)
    draw.dot((590, plus_y))
    draw.wire([strip["GND"], (610, strip["GND"][1]), (610, minus_y)], GROUND)
    draw.dot((610, minus_y))
    draw.wire([shifter["VCC (14)"], (700, shifter["VCC (14)"][1]), (700, plus_y)], FIVE_VOLTS)
    draw.dot((700, plus_y))
    resistor_left, resistor_right = draw.resistor((760, shifter["1Y (3)"][1]), "330 to 470 Ω")
    draw.wire([shifter["1Y (3)"], resistor_left], DATA)
    draw.text((690, shifter["1Y (3)"][1] - 8), "5 V", size=11)
    around_y = strip_y - 20
    draw.wire(
        [
            resistor_right,
            (820, shifter["1Y (3)"][1]),
            (820, around_y),
            (625, around_y),
            (625, strip["DIN"][1]),
            strip["DIN"],
        ],
        DATA,
    )
    draw.text((760, shifter["1Y (3)"][1] + 22), "as near to the\nstrip as you can", size=11)
    draw.text(
        (20, 515), f"{supply_pin} stays free: the {kind.title} runs on USB, the strip on its supply.", anchor="start"
    )
    draw.text((700, 515), "Wires to both ends of a long strip.", size=12, anchor="start")
    draw.legend((20, 545), _LEGEND)
    return draw.svg()


def _matrix(board: str, rows: list[str], columns: list[str]) -> str:
    draw = Drawing(
        f"A matrix of reed switches on a {board}",
        f"{len(rows)} rows and {len(columns)} columns; at each crossing a reed switch from the column, then a diode "
        "whose ring points to the row.",
        900,
        570,
    )
    left_x, top_y, step_x, step_y = 330.0, 120.0, 150.0, 115.0
    shown = (0, 1, -1)
    names = [*(f"column {number + 1}: {columns[number]}" for number in (0, 1)), f"column {len(columns)}: {columns[-1]}"]
    micro_height = 60 + PIN_STEP * 8
    pins = draw.board(
        (20, 150),
        (180, micro_height),
        board,
        right=[columns[0], columns[1], columns[-1], "", rows[0], rows[1], rows[-1]],
    )
    for number, index in enumerate(shown):
        x = left_x + step_x * number
        lane = 215.0 + 14 * number
        start = pins[columns[index]]
        above = 50.0 + 14 * number
        draw.wire([start, (lane, start[1]), (lane, above), (x, above), (x, top_y + step_y * 3 - 30)], SENSE)
        draw.text((x + 6, top_y - 22), names[number], size=12, anchor="start")
    for number, index in enumerate(shown):
        y = top_y + 70 + step_y * number
        start = pins[rows[index]]
        lane = 300.0 - 14 * number
        draw.wire([start, (lane, start[1]), (lane, y), (left_x + step_x * 2 + 130, y)], DATA)
        row_number = index + 1 if index >= 0 else len(rows)
        draw.text((left_x + step_x * 2 + 136, y + 4), f"row {row_number}: {rows[index]}", size=12, anchor="start")
        for column in range(3):
            _crossing(draw, (left_x + step_x * column, y))
    draw.text((left_x + step_x * 1.5 + 20, top_y - 2), "…", size=20)
    draw.text((left_x - 12, top_y + 70 + step_y * 1.52), "⋮", size=20)
    draw.text(
        (20, 485),
        "Each crossing: column → reed switch → diode 1N4148 → row, the diode's ring towards the row.\n"
        f"{len(rows)} × {len(columns)} = {len(rows) * len(columns)} switches; switch 0 is row 1, column 1, then along "
        "the row.\nNothing goes to ground or to a supply. Wires that cross are joined only where there is a dot.",
        anchor="start",
    )
    draw.legend((20, 550), ((SENSE, "column, read, with pull-up"), (DATA, "row, driven low in its turn")))
    return draw.svg()


def _crossing(draw: Drawing, at: Point) -> None:
    """Draw a switch and a diode between the column and the row that cross at ``at``."""
    x, y = at
    joint = (x, y - 48)
    draw.dot(joint, SENSE)
    left, right = draw.switch((x + 34, y - 48))
    draw.wire([joint, left], SENSE)
    upper, lower = draw.diode_down((x + 75, y - 24))
    draw.wire([right, (x + 75, y - 48), upper], PLAIN)
    draw.wire([lower, (x + 75, y)], PLAIN)
    draw.dot((x + 75, y), DATA)


def _buttons(board: str, pins: Mapping[str, Any]) -> str:
    kind = BOARDS[board]
    buttons = {role: kind.pin_name(pin) for role, pin in pins["buttons"].items()}
    buzzer = kind.pin_name(pins["buzzer"]["pin"])
    draw = Drawing(
        f"Buttons and a buzzer on a {kind.title}",
        "Each button goes from its pin to ground; the piezo buzzer goes from its pin to ground.",
        640,
        330,
    )
    micro = draw.board((30, 40), (170, 200), kind.title, right=[*buttons.values(), "", buzzer, "GND"])
    rail_x, bottom_y = 540.0, 290.0
    for role, pin in buttons.items():
        y = micro[pin][1]
        left, right = draw.switch((400, y))
        draw.wire([micro[pin], left], SENSE)
        draw.wire([right, (rail_x, y)], GROUND)
        draw.dot((rail_x, y))
        draw.text((300, y - 5), role, size=12)
    y = micro[buzzer][1]
    first, last = draw.resistor((290, y), "100 Ω")
    draw.wire([micro[buzzer], first], SENSE)
    draw.box((380, y - 16), (90, 32), fill="#eeeeee")
    draw.text((425, y + 4), "piezo", size=12)
    draw.wire([last, (380, y)], SENSE)
    draw.wire([(470, y), (rail_x, y)], GROUND)
    draw.dot((rail_x, y))
    draw.wire([micro["GND"], (220, micro["GND"][1]), (220, bottom_y - 30), (rail_x, bottom_y - 30)], GROUND)
    draw.wire([(rail_x, micro[next(iter(buttons.values()))][1]), (rail_x, bottom_y - 30)], GROUND)
    draw.ground((rail_x, bottom_y - 30))
    draw.dot((rail_x, bottom_y - 30))
    draw.text((30, 315), "The pull-ups are inside the chip.", size=12, anchor="start")
    return draw.svg()


def _pi_lights() -> str:
    draw = Drawing(
        "Lights, buttons and a buzzer on a Raspberry Pi",
        "Each LED goes from its pin through 470 ohms to ground, each button from its pin through 1 kiloohm to ground, "
        "and the buzzer from its pin straight to ground.",
        680,
        480,
    )
    names = [f"GPIO{pin}" for pin in (*PI_LIGHTS.values(), PI_BUZZER, *PI_BUTTONS.values())]
    pi = draw.board(
        (30, 30), (150, 400), "Raspberry Pi", right=[*names[:5], "", *names[5:6], "", *names[6:], "", "GND"]
    )
    rail_x = 620.0
    for name, (light, pin) in zip(names, PI_LIGHTS.items(), strict=False):
        y = pi[f"GPIO{pin}"][1]
        first, last = draw.resistor((260, y), "470 Ω each" if pin == PI_LIGHTS["column a"] else "")
        left, right = draw.led_right((380, y), light)
        for points, colour in (([pi[name], first], SENSE), ([last, left], SENSE), ([right, (rail_x, y)], GROUND)):
            draw.wire(points, colour)
        draw.dot((rail_x, y))
    y = pi[f"GPIO{PI_BUZZER}"][1]
    draw.box((350, y - 16), (130, 32), fill="#eeeeee")
    draw.text((415, y + 4), "+  active buzzer", size=12)
    draw.wire([pi[f"GPIO{PI_BUZZER}"], (350, y)], SENSE)
    draw.wire([(480, y), (rail_x, y)], GROUND)
    draw.dot((rail_x, y))
    for role, pin in PI_BUTTONS.items():
        y = pi[f"GPIO{pin}"][1]
        first, last = draw.resistor((260, y), "1 kΩ each" if role == "end turn" else "")
        left, right = draw.switch((400, y))
        for points, colour in (
            ([pi[f"GPIO{pin}"], first], SENSE),
            ([last, left], SENSE),
            ([right, (rail_x, y)], GROUND),
        ):
            draw.wire(points, colour)
        draw.dot((rail_x, y))
        draw.text((440, y - 5), role, size=12, anchor="start")
    y = pi["GND"][1]
    draw.wire([pi["GND"], (rail_x, y)], GROUND)
    draw.wire([(rail_x, pi[names[0]][1]), (rail_x, y)], GROUND)
    draw.ground((rail_x, y))
    draw.dot((rail_x, y))
    draw.text(
        (30, 462),
        "The other columns and rows are wired alike. The three of the status light are one RGB LED.",
        size=12,
        anchor="start",
    )
    return draw.svg()


def _hall() -> str:
    pins = tomllib.loads(example_pin_map("pico").replace("# [switches]", "[switches]").replace("# pins", "pins"))
    first, second = (BOARDS["pico"].pin_name(pin) for pin in pins["switches"]["pins"])
    draw = Drawing(
        "Hall sensors on a Raspberry Pi Pico",
        "Each sensor has 3.3 V, ground, a 100 nF capacitor between them, and its open-drain output on a pin.",
        700,
        360,
    )
    micro = draw.board((30, 40), (180, 190), "Raspberry Pi Pico", right=["3V3 (OUT)", first, second, "", "GND"])
    ground_y = 320.0
    power_x, ground_x = 270.0, 250.0
    draw.wire([micro["GND"], (ground_x, micro["GND"][1]), (ground_x, ground_y), (650, ground_y)], GROUND)
    draw.wire([micro["3V3 (OUT)"], (power_x, micro["3V3 (OUT)"][1]), (power_x, 30), (650, 30)], FIVE_VOLTS)
    for number, pin in enumerate((first, second)):
        x = 330.0 + 190 * number
        sensor = draw.board((x, 90), (110, 124), "hall\nsensor", left=["OUT"], right=["VCC", "GND"])
        lane = 300.0 - 12 * number
        out = sensor["OUT"]
        if number == 0:
            draw.wire([micro[pin], (lane, micro[pin][1]), (lane, out[1]), out], SENSE)
        else:
            draw.wire([micro[pin], (lane, micro[pin][1]), (lane, 245), (x - 20, 245), (x - 20, out[1]), out], SENSE)
        right_x = x + 130
        draw.wire([sensor["VCC"], (right_x, sensor["VCC"][1]), (right_x, 30)], FIVE_VOLTS)
        draw.dot((right_x, 30), FIVE_VOLTS)
        draw.wire([sensor["GND"], (right_x, sensor["GND"][1]), (right_x, ground_y)], GROUND)
        draw.dot((right_x, ground_y))
    draw.text((30, 265), "100 nF between VCC and\nGND at each sensor", size=12, anchor="start")
    draw.text((30, 345), "Pins by name: their order differs from maker to maker.", size=12, anchor="start")
    draw.legend((420, 345), ((FIVE_VOLTS, "3.3 V"), (GROUND, "ground"), (SENSE, "output")))
    return draw.svg()


def main() -> None:
    """Write every drawing into the given folder, by default docs/pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures"
    for name, svg in drawings().items():
        (folder / name).write_text(svg, encoding="utf-8")
        print(f"{folder / name}: {len(svg)} characters")


if __name__ == "__main__":
    main()
