"""The wiring plan: the wired devices that settings and files describe, validated before anything is opened."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from common.phrases import Phrase, either, joined, listed
from firmware_bridge.pin_maps.file import read_pin_map
from firmware_bridge.pin_maps.pin_map import PinMap, PinMapError, SerialWires
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import Configure
from firmware_bridge.wled import BAUDS, WledSettingError, check_host
from hardware.errors import HardwareError
from hardware.lights.light_map import LightMap, read_light_map
from hardware.pin_map import BUTTON_ROLES, USUAL_BUTTONS, ButtonRole
from hardware.switches import SwitchPins
from referee.errors import ConfigError
from referee.sensing.values import SensorSettings
from referee.settings.conversions import sensor_pins, wanted_board
from referee.settings.settings import Settings
from referee.settings.sources import Source, source_of
from referee.wiring.sensor_map import SensorMap, load_sensor_map

STRIP_DRIVERS = ("board", "wled-serial", "wled-network")
"""The drivers that show frames on a strip, which requires a light map."""


class Inputs(enum.StrEnum):
    """The referee's inputs; the setting ``sensors.eyes``."""

    CAMERA = "camera"
    SENSORS = "sensors"
    BOTH = "both"


class SwitchSource(enum.StrEnum):
    """Where the switches under the squares are connected; the setting ``sensors.source``."""

    NONE = "none"
    CONTROLLER = "board"
    PINS = "pins"


Loaded = TypeVar("Loaded")

_MILLISECONDS = 1000
_FULL_BRIGHTNESS = 255


@dataclass(frozen=True)
class WiringPlan:
    """The microcontroller, WLED and switches to use.

    ``drivers`` are the requested ones of STRIP_DRIVERS. ``has_board_buttons``: the pin map has buttons. Maps are
    ``None`` where they are not needed, or about to be made.
    """

    drivers: tuple[str, ...] = ()
    wanted: WantedBoard = field(default_factory=WantedBoard)
    configure: Configure = field(default_factory=Configure)
    has_board_buttons: bool = False
    roles: tuple[ButtonRole, ...] = USUAL_BUTTONS
    pin_map: PinMap | None = None
    light_map: LightMap | None = None
    strip_lights: int | None = None
    brightness: float = 1.0
    wled_host: str = ""
    wled_port: int = 0
    wled_serial_port: str = ""
    wled_baud: int = 0
    switch_source: SwitchSource = SwitchSource.NONE
    switch_pins: SwitchPins | None = None
    sensor_map: SensorMap | None = None
    sensor_settings: SensorSettings = field(default_factory=SensorSettings)
    inputs: Inputs = Inputs.CAMERA

    @property
    def needs_controller(self) -> bool:
        """Whether a microcontroller is to be connected."""
        has_switches = self.switch_source is SwitchSource.CONTROLLER and self.has_sensors
        return "board" in self.drivers or self.has_board_buttons or has_switches

    @property
    def has_board_lights(self) -> bool:
        """Whether the board's strip is used; without a pin map, a board is expected to have one."""
        return "board" in _strips(self.drivers, self.pin_map)

    @property
    def has_sensors(self) -> bool:
        """Whether switches are used as input."""
        return self.inputs is not Inputs.CAMERA


Making = Literal["", "light map", "sensor map"]


def wiring_plan(
    settings: Settings, sources: Mapping[str, Source], places: Collection[str], *, making: Making = ""
) -> WiringPlan:
    """Read the required maps and validate everything together.

    ``places`` are the game's. With ``making`` a map is about to be made: only its requirements are checked, and the map
    itself may be missing. Raises ConfigError listing all faults, one per line.
    """
    plan, found = plan_and_problems(settings, sources, places, making=making)
    if found:
        raise ConfigError("\n".join(found))
    return plan


def playable_plan(
    settings: Settings, sources: Mapping[str, Source], places: Collection[str]
) -> tuple[WiringPlan, tuple[str, ...]]:
    """Return the plan for resuming a game, and its problems, one per line.

    With maps that don't fit, the wrong squares would be lit and sensed, so nothing wired is used then. Raises
    ConfigError if sensors are the only input.
    """
    plan, found = plan_and_problems(settings, sources, places)
    if not found:
        return plan, ()
    if plan.inputs is Inputs.SENSORS:
        raise ConfigError("\n".join(found))
    return WiringPlan(), tuple(found)


def plan_and_problems(
    settings: Settings, sources: Mapping[str, Source], places: Collection[str], *, making: Making = ""
) -> tuple[WiringPlan, list[str]]:
    """Return the plan as far as it can be made, and its problems, one per line: where it is set, and what to do."""
    lights, sensors = settings.lights, settings.sensors
    drivers = tuple(name for name in lights.drivers if name in STRIP_DRIVERS and making != "sensor map")
    inputs = Inputs.CAMERA if making else Inputs(sensors.eyes)
    faults = _Faults(sources)
    pin_map = faults.read("board.pin_map", settings.board.pin_map, partial(read_pin_map, button_roles=BUTTON_ROLES))
    light_map = _light_map(settings, drivers, pin_map, places, faults) if drivers and not making else None
    wled_host = _wled_host(settings, faults) if "wled-network" in drivers else None
    _check_wled_serial(settings, drivers, faults)
    switch_source, switch_pins = SwitchSource(sensors.source), None
    if switch_source is SwitchSource.PINS and (inputs is not Inputs.CAMERA or making == "sensor map"):
        switch_pins = faults.attempt("sensors", lambda: sensor_pins(settings))
    sensor_map = _sensor_map(settings, pin_map, places, faults) if inputs is not Inputs.CAMERA else None
    serial_wled = lights.wled_serial_port if "wled-serial" in lights.drivers else None
    plan = WiringPlan(
        drivers=drivers,
        wanted=replace(wanted_board(settings.board), left_out=serial_wled),
        configure=_configure(settings),
        has_board_buttons=pin_map is not None and bool(pin_map.buttons) and not making,
        roles=_button_roles(settings, pin_map, faults),
        pin_map=pin_map,
        light_map=light_map,
        strip_lights=lights.strip_lights,
        brightness=lights.brightness,
        wled_host=wled_host or "",
        wled_port=lights.wled_port,
        wled_serial_port=lights.wled_serial_port or "",
        wled_baud=lights.wled_baud,
        switch_source=switch_source,
        switch_pins=switch_pins,
        sensor_map=sensor_map,
        sensor_settings=SensorSettings(false_closed=sensors.false_closed, false_open=sensors.false_open),
        inputs=inputs,
    )
    if plan.needs_controller and pin_map is not None and pin_map.link is not None:
        _check_uart(plan.wanted, pin_map.link, faults)
    return plan, faults.found


class _Faults:
    """Collects faults, each with the place where it is set."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self.found: list[str] = []

    def add(self, name: str, sentences: Iterable[str]) -> None:
        source = source_of(name, self._sources)
        self.found += [f"{source}: {name}: {sentence}" for sentence in sentences]

    def require(self, name: str, value: object, why: str) -> None:
        if value is None:
            self.add(name, [Phrase("it is not set, and {why}", why)])

    def read(self, name: str, path: Path | None, load: Callable[[Path], Loaded]) -> Loaded | None:
        """Load a file if one is named; ``None`` if none is, or if it is invalid."""
        return None if path is None else self.attempt(name, lambda: load(path))

    def attempt(self, name: str, make: Callable[[], Loaded]) -> Loaded | None:
        """Construct a value from settings or files; ``None`` if they are invalid."""
        try:
            return make()
        except (HardwareError, PinMapError, WledSettingError, ConfigError) as error:
            self.add(name, str(error).splitlines())
            return None


def _light_map(
    settings: Settings, drivers: Sequence[str], pin_map: PinMap | None, places: Collection[str], faults: _Faults
) -> LightMap | None:
    """Read the light map and validate it against the game, the strip and the pin map."""
    lights, strips = settings.lights, _strips(drivers, pin_map)
    if strips:
        why = either(
            len(strips) == 1,
            "{names} needs one; `./run hardware lights map` makes it",
            "{names} need one; `./run hardware lights map` makes it",
            joined(strips, " and "),
        )
        faults.require("lights.light_map", lights.light_map, why)
    light_map = faults.read("lights.light_map", lights.light_map, read_light_map)
    if light_map is None:
        return None
    strip = lights.strip_lights if set(drivers) - {"board"} else None
    faults.add("lights.light_map", light_map.problems(known_places=places, strip_lights=strip))
    if pin_map is not None and ("board" in strips or set(drivers) == {"board"}):
        faults.add("board.pin_map", light_map.problems(strip_lights=pin_map.light_count))
    return light_map


def _strips(drivers: Sequence[str], pin_map: PinMap | None) -> tuple[str, ...]:
    """Return the drivers that show frames: a board may have only buttons and a buzzer."""
    return tuple(name for name in drivers if name != "board" or pin_map is None or pin_map.lights is not None)


def _check_uart(wanted: WantedBoard, link: SerialWires, faults: _Faults) -> None:
    if wanted.is_any:
        faults.add(
            "board.port", [Phrase('it is "auto", but the pin map links the board by a UART; name the UART\'s port')]
        )
    if wanted.baud != link.baud:
        faults.add(
            "board.baud",
            [Phrase("it is {baud}, but the pin map has {baud_2}; set the same in both", wanted.baud, link.baud)],
        )


def _wled_host(settings: Settings, faults: _Faults) -> str | None:
    host = settings.lights.wled_host
    faults.require("lights.wled_host", host, Phrase("wled-network needs the name or address of the WLED"))
    return None if host is None else faults.attempt("lights.wled_host", lambda: check_host(host))


def _check_wled_serial(settings: Settings, drivers: Sequence[str], faults: _Faults) -> None:
    lights, board = settings.lights, settings.board
    if "wled-serial" in drivers:
        faults.require(
            "lights.wled_serial_port", lights.wled_serial_port, Phrase("wled-serial needs the port of the WLED")
        )
        if lights.wled_baud not in BAUDS:
            faults.add(
                "lights.wled_baud",
                [
                    Phrase(
                        "WLED does not know {wled_baud} baud; it knows {names}",
                        lights.wled_baud,
                        joined(map(str, BAUDS), ", "),
                    )
                ],
            )
        if lights.wled_serial_port is not None and lights.wled_serial_port == board.port:
            faults.add(
                "lights.wled_serial_port", [Phrase("{port} is the port of the board under [board], too", board.port)]
            )


def _sensor_map(
    settings: Settings, pin_map: PinMap | None, places: Collection[str], faults: _Faults
) -> SensorMap | None:
    """Read the sensor map and validate it against the game and the switches."""
    sensor_map = faults.read("sensors.map", settings.sensors.map, load_sensor_map)
    faults.add("sensors.eyes", _sensor_problems(settings))
    if sensor_map is not None:
        faults.add("sensors.map", sensor_map.problems(known_places=places, switches=_switches(settings, pin_map)))
    return sensor_map


def _button_roles(settings: Settings, pin_map: PinMap | None, faults: _Faults) -> tuple[ButtonRole, ...]:
    roles = settings.board.buttons if pin_map is None else pin_map.button_roles
    twice = sorted({role for role in roles if roles.count(role) > 1})
    if twice:
        faults.add(
            "board.buttons",
            [Phrase("more than one button is set for {twice}; give each button a use of its own", listed(twice))],
        )
    return tuple(ButtonRole(role) for role in roles)


def _configure(settings: Settings) -> Configure:
    return Configure(
        silence_ms=round(settings.board.silence_s * _MILLISECONDS),
        debounce_ms=round(settings.board.debounce_ms),
        long_press_ms=0,
        brightness=_FULL_BRIGHTNESS,
        current_limit_ma=settings.lights.current_limit_ma,
    )


def _sensor_problems(settings: Settings) -> Iterator[str]:
    sensors = settings.sensors
    if SwitchSource(sensors.source) is SwitchSource.NONE:
        yield Phrase(
            "it is {eyes!r}, but sensors.source is none; expected board or pins there, or camera here", sensors.eyes
        )
    if sensors.map is None:
        yield Phrase("it is {eyes!r}, but sensors.map is not set; `./run hardware sensors map` makes one", sensors.eyes)


def _switches(settings: Settings, pin_map: PinMap | None) -> int | None:
    """Return the number of switches, ``None`` if it is unknown."""
    sensors = settings.sensors
    source = SwitchSource(sensors.source)
    if source is SwitchSource.PINS:
        return len(sensors.row_pins) * len(sensors.column_pins) + len(sensors.switch_pins)
    return None if pin_map is None or source is SwitchSource.NONE else pin_map.switch_count
