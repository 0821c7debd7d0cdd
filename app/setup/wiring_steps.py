"""The set-up steps for wired devices: lights and switches, and the maps that assign them to squares."""

import re
import tomllib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from app.settings.configuration import device_problems, explain_faults
from app.settings.settings import Settings
from app.setup.table_setup import AnswerForm, Field, FieldKind, MakeMap, SetupStep, StepResult, TableSetup
from app.wiring.plan import STRIP_DRIVERS, Making, SwitchSource, plan_and_problems
from common.findings import Finding
from common.phrases import Phrase, joined
from common.toml_text import parse_toml
from referee.errors import ConfigError

LIGHT_MAP_FILE = "lights.toml"
SENSOR_MAP_FILE = "sensors.toml"
_EMPTY_BOARD = Phrase("Take everything off the board.")


def settings_with(values: Mapping[str, Any]) -> Settings:
    """Return settings with these values by ``section.key``, ``None`` for an absent one.

    Raises ConfigError for an invalid one.
    """
    sections: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        section, _, key = name.partition(".")
        if value is not None:
            sections.setdefault(section, {})[key] = value
    try:
        return Settings.model_validate(sections)
    except ValidationError as error:
        raise ConfigError(joined(explain_faults(error), "; ")) from error


def _check_lights(table: TableSetup, answer: str) -> StepResult:
    words, given = _split_answer(answer, "lights")
    drivers = [word for word in " ".join(words).replace(",", " ").split() if word]
    given = {**_without_wiring(table, "lights"), **given, "lights.drivers": drivers}
    return _check_wiring(table, given, ", ".join(drivers), making="light map")


def _check_switches(table: TableSetup, answer: str) -> StepResult:
    words, given = _split_answer(answer, "sensors")
    given = {
        **_without_wiring(table, "sensors"),
        **given,
        "sensors.source": " ".join(words),
        "sensors.eyes": "camera",
    }
    return _check_wiring(table, given, " ".join(words), making="sensor map")


_WIRED = re.compile(r"(place|column|row|switch)_pins|wled_\w+")


def _without_wiring(table: TableSetup, section: str) -> dict[str, Any]:
    """Return the section's pins of lights or switches and its WLED as absent: an answer names those that it needs."""
    given = (name for name in table.values if name.startswith(f"{section}."))
    return {name: None for name in given if _WIRED.fullmatch(name.removeprefix(f"{section}."))}


_WORD = re.compile(r"""(?:\[[^\]]*\]|\{[^}]*\}|"[^"]*"|'[^']*'|\S)+""")


def _split_answer(answer: str, section: str) -> tuple[list[str], dict[str, Any]]:
    """Split ``gpio buzzer_pin=4`` into words and settings of a section, at spaces outside brackets and quotes.

    Settings of the microcontroller are named whole, such as ``board.port=/dev/ttyACM0``.
    """
    words: list[str] = []
    given: dict[str, Any] = {}
    for word in _WORD.findall(answer):
        name, equals, text = word.partition("=")
        if equals:
            given[name if name.startswith("board.") else f"{section}.{name}"] = _value(text)
        else:
            words.append(word)
    return words, given


def _value(text: str) -> Any:
    """Parse a TOML value; anything else is a text."""
    try:
        return parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _check_wiring(
    table: TableSetup,
    given: Mapping[str, object],
    message: str,
    making: Making = "",
    others: Mapping[str, object] = MappingProxyType({}),
) -> StepResult:
    """Check the devices and the pins that the settings name, with ``others`` in place of some of them."""
    settings, places = _settings(table, {**given, **others}), tuple(table.game.places)
    # No file and no flag has set these values.
    problems = [*device_problems(settings, places, None), *plan_and_problems(settings, None, places, making=making)[1]]
    if not problems:
        return StepResult((Finding.ok(_WIRING, message),), given)
    drivers = given.get("lights.drivers")
    example = Phrase("gpio buzzer_pin=18") if isinstance(drivers, list) and "gpio" in drivers else "strip_lights=49"
    remedy = Phrase("add what is missing to the answer, such as {example}, or give another answer", example=example)
    return StepResult(tuple(Finding.fault(_WIRING, problem, remedy) for problem in problems))


_WIRING = Phrase("wiring")


def _settings(table: TableSetup, given: Mapping[str, object]) -> Settings:
    values = {**table.values, "camera.source": table.source, **given}
    return settings_with(values).with_absolute_paths({}, table.folder, {})


def _unneeded_light_map(table: TableSetup) -> str:
    drivers = table.values.get("lights.drivers", ())
    return "" if set(drivers) & set(STRIP_DRIVERS) else Phrase("There is no strip of lights.")


def _unneeded_switch_map(table: TableSetup) -> str:
    source = table.values.get("sensors.source", SwitchSource.NONE)
    return Phrase("There are no switches.") if source == SwitchSource.NONE else ""


_BEFORE_LIGHT_MAP = (
    _EMPTY_BOARD,
    Phrase("One light after the other is lit, and the camera finds its square."),
    Phrase("If it isn't sure, it asks you."),
)


def _check_light_map(table: TableSetup, answer: str) -> StepResult:
    given = {"lights.light_map": answer or LIGHT_MAP_FILE}
    return _check_map(table, answer or LIGHT_MAP_FILE, None if answer else table.make_light_map, given, _NO_SWITCHES)


_BEFORE_SWITCH_MAP = (_EMPTY_BOARD, Phrase("Then put a piece on each square that is named."))


def _check_switch_map(table: TableSetup, answer: str) -> StepResult:
    given = {"sensors.map": answer or SENSOR_MAP_FILE, "sensors.eyes": "both"}
    return _check_map(table, answer or SENSOR_MAP_FILE, None if answer else table.make_sensor_map, given, _NO_LIGHTS)


_NO_SWITCHES, _NO_LIGHTS = {"sensors.eyes": "camera"}, {"lights.drivers": ("terminal",)}
"""Settings without the other device, whose map may not be made yet."""


def _check_map(
    table: TableSetup, name: str, make: MakeMap | None, given: Mapping[str, object], others: Mapping[str, object]
) -> StepResult:
    """Use the named map, after making it if a function makes it. It must fit the game and the wired device."""
    path = table.file(name)
    if make is not None and not make(_settings(table, given), path):
        return StepResult(
            (Finding.fault(Phrase("map"), Phrase("nothing was found"), Phrase("check the wiring, or skip this step")),)
        )
    return _check_wiring(table, given, Phrase("{file} is used", file=path.name), others=others)


def _something_else(label: Phrase) -> AnswerForm:
    return AnswerForm(Phrase("Something else"), (Field(label),), is_rare=True)


_STRIP = Field(Phrase("How many lights has the strip?"), FieldKind.NUMBER, setting="strip_lights")
_HOST = Field(
    Phrase("What is its address in your network?"),
    setting="wled_host",
    hint=Phrase("WLED's own page shows it: a name such as wled.local, or numbers."),
)
_BUZZER = Field(Phrase("Which pin has the buzzer?"), FieldKind.NUMBER, "18", setting="buzzer_pin")
_LIGHT_FORMS = (
    AnswerForm(
        Phrase("No lights"), answer="terminal", words=Phrase("This page and the terminal's screen say everything.")
    ),
    AnswerForm(
        Phrase("A strip on a microcontroller"), answer="board", words=Phrase("A Pico or an ESP32 on a USB cable.")
    ),
    AnswerForm(
        Phrase("WLED in the network"), (_HOST, _STRIP), answer="wled-network", words=Phrase("A strip with WLED.")
    ),
    AnswerForm(
        Phrase("A buzzer on the Pi's pins"), (_BUZZER,), answer="gpio", words=Phrase("It says when a turn was right.")
    ),
    _something_else(Phrase("Drivers and their settings, such as board, gpio buzzer_pin=18 (docs/hardware.md)")),
)
_PINS_HINT = Phrase("Their numbers, from the first to the last, with commas.")
_ROWS = Field(Phrase("Which pins have the rows?"), FieldKind.PINS, setting="row_pins", hint=_PINS_HINT)
_COLUMNS = Field(Phrase("Which pins have the columns?"), FieldKind.PINS, setting="column_pins", hint=_PINS_HINT)
_SWITCH_FORMS = (
    AnswerForm(Phrase("No switches"), answer="none", words=Phrase("The camera alone sees the pieces.")),
    AnswerForm(Phrase("On a microcontroller"), answer="board", words=Phrase("A Pico or an ESP32 on a USB cable.")),
    AnswerForm(Phrase("On the Pi's own pins"), (_ROWS, _COLUMNS), answer="pins", words=Phrase("In rows and columns.")),
    _something_else(Phrase("A source and its settings, such as pins switch_pins=[5,6,13] (docs/sensors.md)")),
)
_MAP_FORMS = (
    AnswerForm(Phrase("Begin")),
    AnswerForm(Phrase("Use a map that I have"), (Field(Phrase("The map's file")),), is_rare=True),
)

WIRING_STEPS = (
    SetupStep(
        "lights", Phrase("Lights"), Phrase("What shows lights at the table?"), lambda _: _LIGHT_FORMS, _check_lights
    ),
    SetupStep(
        "light-map",
        Phrase("Which light is where"),
        Phrase("Is the board empty?"),
        lambda _: _MAP_FORMS,
        _check_light_map,
        told=lambda _: _BEFORE_LIGHT_MAP,
        unneeded=_unneeded_light_map,
        needs=("lights",),
    ),
    SetupStep(
        "switches",
        Phrase("Switches"),
        Phrase("Are there switches under the squares?"),
        lambda _: _SWITCH_FORMS,
        _check_switches,
    ),
    SetupStep(
        "switch-map",
        Phrase("Which switch is where"),
        Phrase("Is the board empty?"),
        lambda _: _MAP_FORMS,
        _check_switch_map,
        told=lambda _: _BEFORE_SWITCH_MAP,
        unneeded=_unneeded_switch_map,
        needs=("switches",),
    ),
)
