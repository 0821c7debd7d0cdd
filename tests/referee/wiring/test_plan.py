"""The plan of all wired devices, checked completely before anything is opened."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ConfigError
from referee.settings.configuration import load
from referee.wiring.plan import WiringPlan, plan_and_problems, playable_plan, wiring_plan

PLACES = ("a1", "b1", "c1")
LIGHTS = "lights = 4\nstatus = 3\n[places]\na1 = 0\nb1 = [1, 2]\n"
SENSORS = "switches = 3\n[places]\na1 = 2\nb1 = 0\n"
PINS = (
    'board = "pico"\n[lights]\npin = 28\ncount = 4\n[matrix]\nrows = [2]\ncolumns = [3, 4, 5]\n[buttons]\nhint = 10\n'
)


def planned(folder: Path, text: str) -> tuple[WiringPlan, list[str]]:
    (folder / "referee.toml").write_text(text)
    configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
    return plan_and_problems(configuration.settings, configuration.sources, PLACES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lights.toml").write_text(LIGHTS)
    (tmp_path / "sensors.toml").write_text(SENSORS)
    (tmp_path / "pins.toml").write_text(PINS)
    return tmp_path


def test_without_settings_nothing_is_wired(folder: Path) -> None:
    plan, found = planned(folder, "")
    assert found == []
    assert not plan.needs_controller
    assert not plan.has_sensors
    assert plan.roles == ("end turn", "hint", "take back")


WHOLE = """
[lights]
drivers = ["terminal", "board"]
light_map = "lights.toml"
brightness = 0.5
current_limit_ma = 800
[board]
port = "/dev/ttyACM7"
serial_number = "ABC"
pin_map = "pins.toml"
silence_s = 4
[sensors]
source = "board"
eyes = "both"
map = "sensors.toml"
false_closed = 0.02
"""


def test_a_complete_table_is_planned(folder: Path) -> None:
    plan, found = planned(folder, WHOLE)
    assert found == []
    assert plan.needs_controller
    assert (plan.drivers, plan.brightness, plan.roles) == (("board",), 0.5, ("hint",))
    assert (plan.wanted.port, plan.wanted.serial_number) == ("/dev/ttyACM7", "ABC")
    assert (plan.configure.silence_ms, plan.configure.current_limit_ma) == (4000, 800)
    assert plan.sensor_settings.false_closed == 0.02
    assert plan.light_map is not None
    assert plan.sensor_map is not None


def test_the_settings_of_the_guide_give_a_complete_table(folder: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "microcontroller.md").read_text(encoding="utf-8")
    settings = textwrap.dedent(guide.split("```toml\n", 1)[1].split("```", 1)[0])
    plan, found = planned(folder, settings)
    assert found == []
    assert (plan.drivers, plan.switch_source, plan.inputs) == (("board",), "board", "both")
    assert plan.pin_map is not None
    assert None not in (plan.light_map, plan.sensor_map)


def test_by_default_any_board_that_answers_is_used(folder: Path) -> None:
    plan, _ = planned(folder, "")
    assert plan.wanted.is_any


def test_all_missing_settings_are_named_at_once(folder: Path) -> None:
    text = '[lights]\ndrivers = ["board", "wled-network", "wled-serial"]\n[sensors]\neyes = "both"\n'
    _, found = planned(folder, text)
    listed = "\n".join(found)
    assert "lights.light_map: it is not set, and board and wled-network and wled-serial need one" in listed
    assert "lights.wled_host: it is not set" in listed
    assert "lights.wled_serial_port: it is not set" in listed
    assert "sensors.eyes: it is 'both', but sensors.source is none" in listed
    assert "sensors.eyes: it is 'both', but sensors.map is not set; `./run hardware sensors map` makes one" in listed
    assert len(found) == 5
    (folder / "referee.toml").write_text(text)
    configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
    with pytest.raises(ConfigError) as caught:
        wiring_plan(configuration.settings, configuration.sources, PLACES)
    assert str(caught.value) == listed


def test_all_invalid_files_are_named(folder: Path) -> None:
    (folder / "lights.toml").write_text(LIGHTS + "z9 = 0\n")
    (folder / "sensors.toml").write_text("switches = 1\n")
    (folder / "pins.toml").write_text(PINS.replace("hint = 10", "hint = 28"))
    _, found = planned(folder, WHOLE)
    listed = "\n".join(found)
    assert "light 0 is used for place a1 and for place z9" in listed
    assert "it has no places" in listed
    assert "GP28 is used twice" in listed
    assert all("referee.toml:" in line for line in found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("count = 4", "count = 3"), "the strip has 3 lights and the light map needs 4"),
        (("columns = [3, 4, 5]", "columns = [3, 4]"), "there are 2 switches and the sensor map was made for 3"),
    ],
)
def test_a_pin_map_with_too_few_lights_or_switches_is_reported(
    folder: Path, change: tuple[str, str], message: str
) -> None:
    (folder / "pins.toml").write_text(PINS.replace(*change))
    _, found = planned(folder, WHOLE)
    assert len(found) == 1
    assert message in found[0]


BUTTONS_ONLY = 'board = "pico"\n[buttons]\n"end turn" = 18\n[buzzer]\npin = 22\n'


@pytest.mark.parametrize("drivers", ["", '[lights]\ndrivers = ["terminal", "board"]\n'])
def test_a_board_with_only_buttons_and_a_buzzer_needs_no_light_map(folder: Path, drivers: str) -> None:
    (folder / "pins.toml").write_text(BUTTONS_ONLY)
    plan, found = planned(folder, drivers + '[board]\npin_map = "pins.toml"\n')
    assert found == []
    assert plan.needs_controller
    assert not plan.has_board_lights
    assert plan.roles == ("end turn",)


def test_a_light_map_for_a_board_without_lights_is_reported(folder: Path) -> None:
    (folder / "pins.toml").write_text(BUTTONS_ONLY)
    text = '[lights]\ndrivers = ["board"]\nlight_map = "lights.toml"\n[board]\npin_map = "pins.toml"\n'
    _, found = planned(folder, text)
    assert len(found) == 1
    assert "the strip has 0 lights and the light map needs 4" in found[0]
    wled = text.replace('["board"]', '["board", "wled-network"]\nwled_host = "wled.local"')
    plan, found = planned(folder, wled)
    assert found == []
    assert plan.light_map is not None


@pytest.mark.parametrize(
    ("board", "messages"),
    [
        ("", ['board.port: it is "auto", but the pin map links the board by a UART', "board.baud: it is 115200"]),
        ('port = "/dev/serial0"\n', ["board.baud: it is 115200, but the pin map has 57600; set the same in both"]),
        ('port = "/dev/serial0"\nbaud = 57600\n', []),
        ('serial_number = "ABC"\nbaud = 57600\n', []),
    ],
)
def test_a_board_on_a_uart_needs_its_port_and_rate(folder: Path, board: str, messages: list[str]) -> None:
    uart = 'board = "pico"\nlink = "uart"\n[uart]\nnumber = 0\ntx = 0\nrx = 1\nbaud = 57600\n[buttons]\nhint = 10\n'
    (folder / "pins.toml").write_text(uart)
    _, found = planned(folder, f'[board]\npin_map = "pins.toml"\n{board}')
    assert len(found) == len(messages)
    assert all(message in line for message, line in zip(messages, found, strict=True))


def test_a_wled_strip_shorter_than_its_map_is_reported(folder: Path) -> None:
    text = (
        '[lights]\ndrivers = ["wled-network"]\nlight_map = "lights.toml"\nwled_host = "wled.local"\nstrip_lights = 3\n'
    )
    _, found = planned(folder, text)
    assert len(found) == 1
    assert "lights.light_map: the strip has 3 lights and the light map needs 4" in found[0]


def test_squares_that_the_game_lacks_are_named(folder: Path) -> None:
    (folder / "sensors.toml").write_text(SENSORS + "q8 = 1\n")
    _, found = planned(folder, WHOLE)
    assert "the sensor map has squares that this game does not have: q8" in found[0]


def test_a_button_role_or_a_port_used_twice_is_refused(folder: Path) -> None:
    text = '[lights]\ndrivers = ["wled-serial"]\nlight_map = "lights.toml"\nwled_serial_port = "/dev/ttyUSB0"\n'
    text += '[board]\nport = "/dev/ttyUSB0"\nbuttons = ["hint", "hint"]\n'
    _, found = planned(folder, text)
    assert "/dev/ttyUSB0 is the port of the board under [board], too" in found[0]
    assert "more than one button is set for hint; give each" in found[1]


def test_an_unsupported_rate_for_wled_is_refused(folder: Path) -> None:
    text = '[lights]\ndrivers = ["wled-serial"]\nlight_map = "lights.toml"\nwled_serial_port = "/dev/ttyUSB0"\n'
    _, found = planned(folder, text + "wled_baud = 9600\n")
    assert "lights.wled_baud: WLED does not know 9600 baud; it knows 115200" in found[0]


@pytest.mark.parametrize("making", ["light map", "sensor map"])
def test_a_map_about_to_be_made_may_be_missing(folder: Path, making: Any) -> None:
    text = '[lights]\ndrivers = ["board"]\nlight_map = "new.toml"\n'
    text += '[sensors]\nsource = "board"\neyes = "both"\nmap = "new.toml"\n'
    (folder / "referee.toml").write_text(text)
    configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
    plan = wiring_plan(configuration.settings, configuration.sources, PLACES, making=making)
    assert plan.drivers == (("board",) if making == "light map" else ())
    assert plan.switch_source == "board"
    assert not plan.has_sensors


def test_a_game_is_played_without_its_wired_devices_if_their_settings_are_wrong(folder: Path) -> None:
    def playing(text: str) -> tuple[WiringPlan, tuple[str, ...]]:
        (folder / "referee.toml").write_text(text)
        configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
        return playable_plan(configuration.settings, configuration.sources, PLACES)

    plan, wrong = playing(WHOLE)
    assert plan.needs_controller
    assert wrong == ()
    (folder / "pins.toml").write_text(PINS.replace("[3, 4, 5]", "[3, 3, 5]"))
    plan, wrong = playing(WHOLE)
    assert plan == WiringPlan()
    assert len(wrong) == 1
    assert "GP3 is used twice: for matrix column 1 and for matrix column 2" in wrong[0]
    with pytest.raises(ConfigError, match="GP3 is used twice"):
        playing(WHOLE.replace('"both"', '"sensors"'))


def test_the_port_of_the_wled_is_left_out_of_the_search_for_the_board(folder: Path) -> None:
    text = '[lights]\ndrivers = ["board", "wled-serial"]\nlight_map = "lights.toml"\n'
    text += 'wled_serial_port = "/dev/ttyACM2"\n'
    plan, found = planned(folder, text)
    assert found == []
    assert (plan.wanted.left_out, plan.wanted.is_any) == ("/dev/ttyACM2", True)
    unused, _ = planned(folder, text.replace(', "wled-serial"', ""))
    assert unused.wanted.left_out is None
