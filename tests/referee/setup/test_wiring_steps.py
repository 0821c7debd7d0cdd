"""The set-up's steps for lights and switches: wiring and maps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from engine.registry import load
from hardware.lights.light_map import LightMap, write_light_map
from referee.settings.settings import Settings
from referee.setup.steps import check_step, steps_of
from referee.setup.table_setup import TableSetup
from referee.wiring.plan import SensorMap, save_sensor_map
from vision.frame import Frame

GAME = load("deblockle")
STEPS = {step.name: step for step in steps_of(GAME)}


def nothing_seen(source: str, count: int, apart_s: float) -> Sequence[Frame]:
    raise AssertionError("no picture is needed")


@pytest.fixture
def table(tmp_path: Path) -> TableSetup:
    return TableSetup(GAME, tmp_path, nothing_seen, date(2026, 5, 1))


@pytest.fixture
def asked(table: TableSetup) -> list[Settings]:
    """The settings with which maps are made; each map is whole."""
    given: list[Settings] = []

    def map_lights(settings: Settings, path: Path) -> bool:
        given.append(settings)
        write_light_map(LightMap({place: (number,) for number, place in enumerate(GAME.places)}, lights=49), path)
        return True

    def map_switches(settings: Settings, path: Path) -> bool:
        given.append(settings)
        save_sensor_map(SensorMap({place: number for number, place in enumerate(GAME.places)}, 49, None), path)
        return True

    table.make_light_map, table.make_sensor_map = map_lights, map_switches
    return given


def test_lights_and_switches_are_mapped_if_wired(table: TableSetup, asked: list[Settings]) -> None:
    lights = ("lights", "board, gpio buzzer_pin=4")
    for name, answer in (lights, ("light-map", ""), ("switches", "board"), ("switch-map", "")):
        assert STEPS[name].unneeded(table) == ""
        outcome = check_step(STEPS[name], table, answer)
        assert outcome.is_done, outcome
    assert table.values == {
        "game.name": "deblockle",
        "lights.drivers": ["board", "gpio"],
        "lights.buzzer_pin": 4,
        "lights.light_map": "lights.toml",
        "sensors.source": "board",
        "sensors.eyes": "both",
        "sensors.map": "sensors.toml",
    }
    assert [settings.lights.drivers for settings in asked] == [("board", "gpio")] * 2


@pytest.mark.parametrize(("first", "second"), [("switch-map", "light-map"), ("light-map", "switch-map")])
def test_one_map_can_be_made_without_the_other(
    table: TableSetup, asked: list[Settings], first: str, second: str
) -> None:
    for name, answer in (("lights", "board"), ("switches", "board"), (first, ""), (second, "")):
        outcome = check_step(STEPS[name], table, answer)
        assert outcome.is_done, outcome
    named = {settings.lights.light_map or settings.sensors.map for settings in asked[:1]}
    assert named == {table.folder / ("lights.toml" if first == "light-map" else "sensors.toml")}, "as in the settings"
    assert (table.values["lights.drivers"], table.values["sensors.eyes"]) == (["board"], "both")


def test_no_map_is_made_without_wired_devices(table: TableSetup) -> None:
    assert check_step(STEPS["lights"], table, "terminal, gpio buzzer_pin=4").is_done
    assert check_step(STEPS["switches"], table, "none").is_done
    assert STEPS["light-map"].unneeded(table) == "There is no strip of lights."
    assert STEPS["switch-map"].unneeded(table) == "There are no switches."
    assert table.values["sensors.eyes"] == "camera"


def test_an_empty_map_is_asked_for_again(table: TableSetup) -> None:
    table.make_light_map = lambda settings, path: False
    assert check_step(STEPS["lights"], table, "wled-serial wled_serial_port=/dev/ttyUSB0 strip_lights=49").is_done
    outcome = check_step(STEPS["light-map"], table, "")
    assert not outcome.is_done
    assert [finding.message for finding in outcome.findings] == ["nothing was found"]
    assert "lights.light_map" not in table.values


def test_pins_are_answered_with_their_settings(table: TableSetup) -> None:
    assert not check_step(STEPS["switches"], table, "pins").is_done
    assert check_step(STEPS["switches"], table, "pins row_pins=[5,6,13] column_pins=[16,20,21]").is_done
    assert table.values["sensors.row_pins"] == [5, 6, 13]
    assert not check_step(STEPS["switches"], table, "pins rows=3").is_done


def test_values_may_contain_spaces(table: TableSetup) -> None:
    lights = 'terminal, gpio button_pins={"end turn" = 17, hint = 27} row_pins={ 1 = 5 } column_pins={a=6}'
    assert check_step(STEPS["lights"], table, lights).is_done
    assert table.values["lights.button_pins"] == {"end turn": 17, "hint": 27}
    assert table.values["lights.row_pins"] == {"1": 5}
    assert check_step(STEPS["switches"], table, "pins row_pins=[16, 20] column_pins=[ 21 ]").is_done
    assert table.values["sensors.row_pins"] == [16, 20]


@pytest.mark.parametrize(
    ("step", "answer", "message"),
    [
        ("lights", "gpio", "the driver gpio has no pin to drive"),
        ("lights", "gpio buzzer_pin=99", "99 does not exist on the 40-pin header"),
        ("lights", "gpio place_pins={a1=4, b1=4}", "GPIO4 is used twice"),
        ("lights", "gpio place_pins={z9=4}", "there is no place 'z9'"),
        ("lights", "terminal, terminal", "terminal is named twice"),
        ("switches", "pins row_pins=[5, 5] column_pins=[16]", "GPIO5 is used twice"),
    ],
)
def test_pins_that_no_command_would_accept_are_refused(table: TableSetup, step: str, answer: str, message: str) -> None:
    findings = check_step(STEPS[step], table, answer).findings
    assert any(message in finding.message for finding in findings), findings
    assert table.values == {"game.name": "deblockle"}


@pytest.mark.parametrize(
    ("step", "answer", "message"),
    [
        ("switches", "bord", "sensors.source is \"bord\"; expected 'none', 'board' or 'pins' (did you mean board?)"),
        (
            "lights",
            "gpio strip_lihgts=49",
            "there is no setting lights.strip_lihgts (did you mean strip_lights?); ",
        ),
        ("lights", "gpio bell=3", "lights.bell is 3; expected true or false"),
    ],
)
def test_a_misspelt_answer_is_explained(table: TableSetup, step: str, answer: str, message: str) -> None:
    (finding,) = check_step(STEPS[step], table, answer).findings
    assert finding.message.startswith(message)


def test_a_corrected_answer_replaces_pins_and_keeps_the_rest(table: TableSetup) -> None:
    table.values |= {"lights.bell": True, "lights.button_pins": {"end turn": 23}, "sensors.false_open": 0.05}
    answers = (
        ("lights", "wled-network wled_host=wled.local strip_lights=49"),
        ("lights", "gpio place_pins={d2=5,d6=6}"),
        ("lights", "gpio column_pins={a=5,b=6} row_pins={1=12,2=13}"),
        ("switches", "pins row_pins=[16,20] column_pins=[21]"),
        ("switches", "pins switch_pins=[16,20]"),
        ("lights", "terminal"),
    )
    for name, answer in answers:
        outcome = check_step(STEPS[name], table, answer)
        assert outcome.is_done, outcome
    assert table.values == {
        "game.name": "deblockle",
        "lights.bell": True,
        "lights.button_pins": {"end turn": 23},
        "lights.drivers": ["terminal"],
        "lights.strip_lights": 49,
        "sensors.false_open": 0.05,
        "sensors.source": "pins",
        "sensors.eyes": "camera",
        "sensors.switch_pins": [16, 20],
    }


def test_the_microcontroller_s_port_can_be_answered(table: TableSetup) -> None:
    assert check_step(STEPS["switches"], table, "board board.port=/dev/ttyACM0").is_done
    assert table.values["board.port"] == "/dev/ttyACM0"
