"""docs/hardware.md says what the code does, and its sums are right."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES
from hardware.pin_map import GpioPinMap

GUIDE = (Path(__file__).parents[2] / "docs" / "hardware.md").read_text(encoding="utf-8")
SQUARES = tuple(f"{column}{row}" for row in range(1, 8) for column in "abcdefg")
RESISTORS = re.findall(r"(\d+) Ω for ([\w\s]+) \(([\d.]+) V\)", GUIDE)


def test_the_wiring_that_fits_is_a_sound_pin_map() -> None:
    block = re.search(r"```toml\n(.*?)```", GUIDE, re.S)
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
    colours = re.findall(r"^\| [^|]+ \| (\w+) \| [^|]+ \|$", GUIDE[: GUIDE.index("## Which lights")], re.M)
    assert style.colour.name.lower() in colours
    assert len(colours) - colours.count("colour") == len(ROLE_STYLES) + len(MOOD_STYLES)


@pytest.mark.parametrize("style", MOOD_STYLES.values(), ids=lambda style: style.meaning)
def test_the_status_lights_table_has_every_mood_with_its_colour(style) -> None:
    status = GUIDE[GUIDE.index("| the status light |") : GUIDE.index("## Which lights")]
    assert re.search(rf"^\| {re.escape(style.meaning)} \| {style.colour.name.lower()} \|", status, re.M)
