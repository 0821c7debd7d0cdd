"""The wiring plan: the wired devices that settings and files describe, validated before anything is opened.

A file, the sensor map, says which switch is under which square.
"""

import enum
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from app.sensing.health import SensorSettings, SensorSnapshot
from app.settings.conversions import sensor_pins, wanted_board
from app.settings.settings import Settings
from app.settings.sources import Source, fault_of
from common.durable import write_durably
from common.phrases import Phrase, either, first_faults, joined, listed, shortened
from common.toml_text import as_toml, as_toml_line, parse_toml
from common.whole_files import MOST_SETTINGS_BYTES, read_text
from firmware_bridge.connection.events import SensorsReported
from firmware_bridge.pin_maps.file import read_pin_map
from firmware_bridge.pin_maps.pin_map import PinMap, PinMapError, SerialWires
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import MOST_SWITCHES, BoardSettings
from firmware_bridge.wled import WledSettingError, check_host
from hardware.errors import HardwareError
from hardware.lights.light_map import LightMap, read_light_map
from hardware.pin_map import BUTTON_ROLES, USUAL_BUTTONS, ButtonRole
from hardware.switches import GpioSwitches, SwitchPins, SwitchSnapshot
from referee.errors import ConfigError
from vision.reading import PlaceChange

_KEYS = ("switches", "pin_map_crc", "places")


@dataclass(frozen=True)
class SensorMap:
    """The switch under each place, of ``switches`` in all, numbered from 0.

    ``pin_map_crc`` is the CRC-32 of the board's pin map when the map was made, because another pin map may number the
    switches differently; ``None`` for switches on the Pi's own pins. Raises ConfigError, which lists *every* problem.
    """

    places: Mapping[str, int]
    switches: int
    pin_map_crc: int | None = None

    def __post_init__(self) -> None:
        found = list(_faults(self))
        if found:
            raise ConfigError("the sensor map is wrong: {names}", joined(found, "; "))

    def problems(
        self, *, known_places: Collection[str] = (), switches: int | None = None, pin_map_crc: int | None = None
    ) -> tuple[str, ...]:
        """Describe how this map does not fit a game's places and the actual switches."""
        found = []
        unknown = [place for place in self.places if known_places and place not in known_places]
        if unknown:
            found.append(
                Phrase("the sensor map has squares that this game does not have: {unknown}", shortened(unknown))
            )
        beyond = [place for place, number in self.places.items() if switches is not None and number >= switches]
        if beyond:
            found.append(
                Phrase(
                    "there are {switches} switches and the sensor map was made for {switches_2}: {beyond} "
                    "would have none; correct the pins, or map again with `./run hardware sensors map`",
                    switches,
                    self.switches,
                    shortened(beyond),
                )
            )
        if None not in (self.pin_map_crc, pin_map_crc) and pin_map_crc != self.pin_map_crc:
            found.append(
                Phrase(
                    "the board's pin map has changed since the sensors were mapped, so switches may be "
                    "numbered differently; check with `./run hardware sensors`; if the squares are right, "
                    "delete the line pin_map_crc from the sensor map, otherwise map again with `./run hardware "
                    "sensors map`"
                )
            )
        return tuple(found)


def save_sensor_map(sensor_map: SensorMap, path: Path) -> None:
    """Write the file atomically; raises ConfigError if that fails."""
    lines = [
        "# Which switch is under which square. Switches are numbered from 0: the matrix row by row, then single ones.",
        f"switches = {sensor_map.switches}",
    ]
    if sensor_map.pin_map_crc is not None:
        lines.append(f"pin_map_crc = {sensor_map.pin_map_crc}")
    lines += ["", "[places]"]
    lines += [as_toml_line(place, number) for place, number in sensor_map.places.items()]
    try:
        write_durably(path, "\n".join(lines) + "\n")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(
            "the sensor map can't be written to {path} ({reason}); choose another file", path, reason
        ) from error


def load_sensor_map(path: Path) -> SensorMap:
    """Read a sensor map; raises ConfigError that names the file, what was got and what to do."""
    try:
        data = parse_toml(read_text(path, most_bytes=MOST_SETTINGS_BYTES))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigError(
            "the sensor map {path} can't be read ({reason}); map the sensors with `./run hardware "
            "sensors map`, or name another file",
            path,
            reason,
        ) from error
    except ValueError as error:
        raise ConfigError(
            "the sensor map {path} is not valid TOML ({error}); map the sensors with `./run hardware sensors map`",
            path,
            error,
        ) from error
    found = list(_form_faults(data))
    if found:
        raise ConfigError(joined((path, first_faults(found)), ": "))
    try:
        return SensorMap(data["places"], data["switches"], data.get("pin_map_crc"))
    except ConfigError as error:
        raise ConfigError("{path}: {error}; map the sensors with `./run hardware sensors map`", path, error) from error


def _form_faults(data: Mapping[str, Any]) -> Iterator[str]:
    for key in data:
        if key not in _KEYS:
            yield Phrase("{key!r} is unknown; a sensor map has {names}", key, joined(_KEYS, ", "))
    if type(data.get("switches")) is not int:
        yield Phrase("switches is {as_toml}; expected how many switches there are", as_toml(data.get("switches")))
    if type(data.get("pin_map_crc", 0)) is not int:
        yield Phrase("pin_map_crc is {as_toml}; expected a number, or no such line", as_toml(data["pin_map_crc"]))
    places = data.get("places")
    if not isinstance(places, dict):
        yield Phrase("it has no places; expected a section [places] with lines such as a1 = 0")
        return
    for place, number in places.items():
        if type(number) is not int:
            yield Phrase("{place} is {as_toml}; expected the number of its switch", place, as_toml(number))


def _faults(sensor_map: SensorMap) -> Iterator[str]:
    if not 1 <= sensor_map.switches <= MOST_SWITCHES:
        yield Phrase("{switches} switches; expected 1 to {most_switches}", sensor_map.switches, MOST_SWITCHES)
    taken: dict[int, str] = {}
    for place, number in sensor_map.places.items():
        if not 0 <= number < sensor_map.switches:
            yield Phrase(
                "{place} has switch {number}; there are switches 0 to {last}", place, number, sensor_map.switches - 1
            )
        if number in taken:
            yield Phrase(
                "switch {number} is under {taken} and under {place}; a switch lies under one square",
                number,
                taken[number],
                place,
            )
        taken.setdefault(number, place)


SwitchReport = SwitchSnapshot | SensorsReported
"""The state of all switches by number, from the Pi's own pins or from a board."""


def by_place(report: SwitchReport, sensor_map: SensorMap) -> SensorSnapshot:
    """Convert a report to squares; a square without its switch is left out."""
    there = {place: switch for place, switch in sensor_map.places.items() if switch < len(report.closed)}
    above = {switch: place for place, switch in there.items()}
    return SensorSnapshot(
        time_s=report.time_s,
        occupied={place: bool(report.closed[switch]) for place, switch in there.items()},
        doubtful=frozenset(place for place, switch in there.items() if report.doubtful[switch]),
        changes=tuple(
            PlaceChange(above[change.switch], change.closed, change.time_s)
            for change in report.changes
            if change.switch in above
        ),
    )


class PinSensors:
    """Switches on the Pi's own pins by square: a ``SensorSource`` that scans when it is read."""

    def __init__(self, switches: GpioSwitches, sensor_map: SensorMap) -> None:
        self._switches = switches
        self._map = sensor_map

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Return the state of the switches, ``None`` while they can't be read."""
        del now_s
        # pins are read in real time, even while a recording is replayed
        snapshot = self._switches.latest(time.monotonic())
        return None if snapshot is None else by_place(snapshot, self._map)


STRIP_DRIVERS = ("board", "wled-network")
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

_FULL_BRIGHTNESS = 255
"""The board's own factor for all lights, of 255; the frames are dimmed already."""


@dataclass(frozen=True)
class WiringPlan:
    """The microcontroller, WLED and switches to use.

    ``drivers`` are the requested ones of STRIP_DRIVERS. ``has_board_buttons``: the pin map has buttons. Maps are
    ``None`` where they are not needed, or about to be made.
    """

    drivers: tuple[str, ...] = ()
    wanted: WantedBoard = field(default_factory=WantedBoard)
    configure: BoardSettings = field(default_factory=BoardSettings)
    has_board_buttons: bool = False
    roles: tuple[ButtonRole, ...] = USUAL_BUTTONS
    pin_map: PinMap | None = None
    light_map: LightMap | None = None
    strip_lights: int | None = None
    brightness: float = 1.0
    wled_host: str = ""
    wled_port: int = 0
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
        raise ConfigError(joined(found, "\n"))
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
        raise ConfigError(joined(found, "\n"))
    return WiringPlan(), tuple(found)


def plan_and_problems(
    settings: Settings, sources: Mapping[str, Source] | None, places: Collection[str], *, making: Making = ""
) -> tuple[WiringPlan, list[str]]:
    """Return the plan as far as it can be made, and its problems, one per line: where it is set, and what to do."""
    lights, sensors = settings.lights, settings.sensors
    drivers = tuple(name for name in lights.drivers if name in STRIP_DRIVERS and making != "sensor map")
    inputs = Inputs.CAMERA if making else Inputs(sensors.eyes)
    faults = _Faults(sources)
    pin_map = faults.read("board.pin_map", settings.board.pin_map, partial(read_pin_map, button_roles=BUTTON_ROLES))
    light_map = _light_map(settings, drivers, pin_map, places, faults) if drivers and not making else None
    wled_host = _wled_host(settings, faults) if "wled-network" in drivers else None
    switch_source, switch_pins = SwitchSource(sensors.source), None
    if switch_source is SwitchSource.PINS and (inputs is not Inputs.CAMERA or making == "sensor map"):
        switch_pins = faults.attempt("sensors", lambda: sensor_pins(settings))
    sensor_map = _sensor_map(settings, pin_map, places, faults) if inputs is not Inputs.CAMERA else None
    plan = WiringPlan(
        drivers=drivers,
        wanted=wanted_board(settings.board),
        configure=_configure(settings),
        has_board_buttons=pin_map is not None and bool(pin_map.buttons) and not making,
        roles=_button_roles(settings, pin_map, faults),
        pin_map=pin_map,
        light_map=light_map,
        strip_lights=lights.strip_lights,
        brightness=lights.brightness,
        wled_host=wled_host or "",
        wled_port=lights.wled_port,
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

    def __init__(self, sources: Mapping[str, Source] | None) -> None:
        self._sources = sources
        self.found: list[str] = []

    def add(self, name: str, sentences: Iterable[str]) -> None:
        self.found += [fault_of(name, sentence, self._sources) for sentence in sentences]

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
            self.add(name, [str(error)])
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


def _configure(settings: Settings) -> BoardSettings:
    return BoardSettings(
        silence_ms=round(1000 * settings.board.silence_s),
        debounce_ms=round(settings.board.debounce_ms),
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
