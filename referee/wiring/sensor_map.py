"""The sensor map: which switch is under which square, its file, and switches read by square."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.durable import write_durably
from common.phrases import Phrase, first_faults, joined, shortened
from common.toml_text import as_toml, as_toml_line, parse_toml
from common.whole_files import MOST_SETTINGS_BYTES, read_text
from firmware_bridge.connection.events import SensorsReported
from hardware.switches import GpioSwitches, SwitchSnapshot
from referee.errors import ConfigError
from referee.sensing.values import SensorSnapshot
from vision.reading import PlaceChange

MOST_SWITCHES = 1024

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
        raise ConfigError(f"{path}: {first_faults(found)}")
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
                "{place} has switch {number}; there are switches 0 to {part}", place, number, sensor_map.switches - 1
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
