"""The pages on boards, WLED and sensors say what the code does; their sums and drawings are right."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path
from xml.etree import ElementTree

import pytest

from firmware_bridge.pin_maps.pin_map import BOARDS, example_pin_map
from hardware.lights.light_map import light_map_from_toml
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES
from hardware.pin_map import GpioPinMap
from hardware.switches import switch_pins
from simulator.play.players import Habits
from simulator.scene.scene import Setting

ROOT = Path(__file__).parents[2]
BOARD, WLED, PI, VIRTUAL_TABLE = (
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("microcontroller", "wled", "hardware", "virtual-table")
)
PICTURES = sorted((ROOT / "docs" / "pictures").glob("wiring-*.svg"))
FULL_MA, DARK_MA = 60, 1


def rows(text: str, *columns: str) -> list[tuple[str, ...]]:
    """The rows of a table whose cells are such."""
    return re.findall(rf"^\| {' [|] '.join(columns)} \|$", text, re.M)


def test_the_currents_of_strips_are_right() -> None:
    assert f"{FULL_MA + DARK_MA} mA at full white, and {49 * (FULL_MA + DARK_MA)} mA for 49 lights" in BOARD


def test_fuses_follow_from_the_rule() -> None:
    table = rows(BOARD, r"(\d+) mA", r"(\d\.\d\d) A", r"(\d) A", r"(0\.\d+) mm²")
    bears_a = {0.5: 3, 0.75: 6, 1.0: 10}
    assert len(table) == 3
    for limit_ma, least_a, common_a, wire_mm2 in table:
        assert float(least_a) == pytest.approx(1.25 * int(limit_ma) / 1000)
        assert float(least_a) <= int(common_a) <= bears_a[float(wire_mm2)]
        smaller = [size for size in bears_a if size < float(wire_mm2)]
        assert all(bears_a[size] < int(common_a) for size in smaller)


def test_the_light_map_that_is_shown_can_be_read() -> None:
    block = re.search(r"```toml\n(# Which light.*?)```", BOARD, re.S)
    assert block is not None
    assert light_map_from_toml(block[1]).places == {"a1": (0,), "b1": (1,), "b2": (2, 3)}


def test_the_pi_has_the_pins_of_its_sensors_beside_status_light_buzzer_and_buttons() -> None:
    blocks = [tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", PI, re.S)]
    lights, sensors = blocks[0]["lights"], next(block["sensors"] for block in blocks if "sensors" in block)
    others = GpioPinMap.from_names(
        status_red=lights["status_red_pin"],
        status_green=lights["status_green_pin"],
        status_blue=lights["status_blue_pin"],
        buzzer=lights["buzzer_pin"],
        buttons=lights["button_pins"],
    )
    made = switch_pins(
        rows=sensors["row_pins"], columns=sensors["column_pins"], diodes=sensors["diodes"], taken=others.uses
    )
    assert made.switches == 49
    drawn = [words for words, _ in texts(ROOT / "docs" / "pictures" / "wiring-sensors-pi.svg")]
    for lines, pins in (("row", made.rows), ("column", made.columns)):
        assert {f"{lines} {number}: GPIO{pins[index]}" for number, index in ((1, 0), (7, -1))} <= set(drawn)


def texts(picture: Path) -> list[tuple[str, float]]:
    """The words of a drawing, each with its distance from the top in pixels."""
    nodes = ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")
    return [(node.text or "", float(node.get("y", "0"))) for node in nodes]


def test_the_drawing_of_the_pis_lights_has_the_pins_that_are_proposed() -> None:
    lights = tomllib.loads(PI[PI.index("```toml") + 7 :].split("```")[0])["lights"]
    proposed = {
        "column a": lights["column_pins"]["a"],
        "row 1": lights["row_pins"]["1"],
        **{f"status, {colour}": lights[f"status_{colour}_pin"] for colour in ("red", "green", "blue")},
        "+  active buzzer": lights["buzzer_pin"],
        **lights["button_pins"],
    }
    drawn = texts(ROOT / "docs" / "pictures" / "wiring-lights-pi.svg")
    pins = {words: y for words, y in drawn if words.startswith("GPIO")}
    # A light's words stand a little above its wire.
    on_its_wire = {
        words: min((pin for pin in pins if pins[pin] >= y), key=lambda pin: pins[pin])
        for words, y in drawn
        if words in proposed
    }
    assert on_its_wire == {words: f"GPIO{pin}" for words, pin in proposed.items()}


def test_every_drawing_is_shown() -> None:
    assert PICTURES
    assert [picture.name for picture in PICTURES if f"pictures/{picture.name}" not in BOARD + PI] == []


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.stem)
def test_a_drawing_is_sound_and_says_what_it_shows(picture: Path) -> None:
    tree = ElementTree.parse(picture)
    width, height = (float(tree.getroot().get(name, "0")) for name in ("width", "height"))
    spots = [
        (float(node.get(across, "0")), float(node.get(down, "0")))
        for tag, across, down in (("text", "x", "y"), ("circle", "cx", "cy"), ("rect", "x", "y"))
        for node in tree.iter(f"{{http://www.w3.org/2000/svg}}{tag}")
    ]
    assert len(spots) > 10
    assert all(0 <= x <= width and 0 <= y <= height for x, y in spots)
    assert tree.find("{http://www.w3.org/2000/svg}title") is not None
    assert tree.find("{http://www.w3.org/2000/svg}desc") is not None


@pytest.mark.parametrize("board", ["pico", "esp32-s3"])
def test_a_boards_drawings_name_its_pins(board: str) -> None:
    pins, kind = tomllib.loads(example_pin_map(board)), BOARDS[board]
    drawn = {
        part: (ROOT / "docs" / "pictures" / f"wiring-{part}-{board}.svg").read_text(encoding="utf-8")
        for part in ("strip", "sensors", "buttons")
    }
    assert f">{kind.pin_name(pins['lights']['pin'])}<" in drawn["strip"]
    for index in (0, 1, -1):
        assert f"row {len(pins['matrix']['rows']) if index < 0 else index + 1}: " in drawn["sensors"]
        for lines in ("rows", "columns"):
            assert f">{kind.pin_name(pins['matrix'][lines][index])}<" in drawn["sensors"]
    for pin in (*pins["buttons"].values(), pins["buzzer"]["pin"]):
        assert f">{kind.pin_name(pin)}<" in drawn["buttons"]


def test_the_knobs_of_the_virtual_table_are_fields() -> None:
    habits = VIRTUAL_TABLE[VIRTUAL_TABLE.index("| habit |") : VIRTUAL_TABLE.index("## What the camera sees")]
    setting = VIRTUAL_TABLE[VIRTUAL_TABLE.index("| part |") : VIRTUAL_TABLE.index("## A microcontroller")]
    told_habits = re.findall(r"^\| `(\w+)` \|", habits, re.M)
    told_parts = re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[^|]+) \|", setting, re.M)))
    assert set(told_habits) <= {field.name for field in fields(Habits)}
    assert set(told_parts) <= {field.name for field in fields(Setting)}
    assert len(told_habits) == 4
    assert len(told_parts) == 9


SQUARES = tuple(f"{column}{row}" for row in range(1, 8) for column in "abcdefg")
RESISTORS = re.findall(r"(\d+) Ω for ([\w\s]+) \(([\d.]+) V\)", PI)


def test_the_wiring_that_fits_is_a_sound_pin_map() -> None:
    block = re.search(r"```toml\n(.*?)```", PI, re.S)
    assert block is not None
    lights = tomllib.loads(block[1])["lights"]
    pins = GpioPinMap.from_names(
        columns=lights["column_pins"],
        rows=lights["row_pins"],
        status_red=lights["status_red_pin"],
        status_green=lights["status_green_pin"],
        status_blue=lights["status_blue_pin"],
        buzzer=lights["buzzer_pin"],
        buttons=lights["button_pins"],
        known_places=SQUARES,
    )
    assert (len(pins.columns), len(pins.rows)) == (7, 7)


@pytest.mark.parametrize(("ohm", "led", "forward_v"), RESISTORS)
def test_resistor_values_follow_from_the_formula(ohm: str, led: str, forward_v: str) -> None:
    """About 3 mA, and never more than a pin gives while sixteen LEDs are lit."""
    current_ma = 1000 * (3.3 - float(forward_v)) / int(ohm)
    assert 2.5 < current_ma < 3.05, led


def test_the_resistors_were_found() -> None:
    assert len(RESISTORS) == 4


@pytest.mark.parametrize("style", [*ROLE_STYLES.values(), *MOOD_STYLES.values()], ids=lambda style: style.meaning)
def test_every_colour_is_in_the_tables(style) -> None:
    colours = re.findall(r"^\| [^|]+ \| (\w+) \| [^|]+ \|$", PI[: PI.index("## Which lights")], re.M)
    assert style.colour.name.lower() in colours
    assert len(colours) - colours.count("colour") == len(ROLE_STYLES) + len(MOOD_STYLES)


@pytest.mark.parametrize("style", MOOD_STYLES.values(), ids=lambda style: style.meaning)
def test_the_status_lights_table_has_every_mood_with_its_colour(style) -> None:
    status = PI[PI.index("| the status light |") : PI.index("## Which lights")]
    assert re.search(rf"^\| {re.escape(style.meaning)} \| {style.colour.name.lower()} \|", status, re.M)
