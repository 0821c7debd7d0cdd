"""The light map: which light of a strip is under which square, and its TOML file.

Lights are numbered from 0 in the order of the strip. A map is written by hand, or recorded light by light.
"""

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common.durable import write_durably
from common.phrases import Phrase, did_you_mean, first_and_last, first_faults, joined
from common.toml_text import as_toml_line, parse_toml
from common.whole_files import MOST_SETTINGS_BYTES, read_text
from hardware.errors import MapFileError, SettingError

MAX_LIGHTS = 1500
"""Maximum number of lights in a map, to detect typing errors; controllers have limits of their own."""


@dataclass(frozen=True)
class LightMap:
    """The lights of each place, and of the status light, on a strip of ``lights`` lights.

    A place may have several lights, or none, in which case only the terminal shows it. ``pin_map_crc`` is the CRC-32 of
    the microcontroller's pin map when the map was made, because another pin map may mean another strip; ``None`` for a
    strip elsewhere. Raises SettingError, which lists *every* problem: numbers beyond the strip, lights named twice.
    """

    places: Mapping[str, tuple[int, ...]]
    status: tuple[int, ...] = ()
    lights: int = field(kw_only=True)
    pin_map_crc: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        problems = list(_map_problems(self))
        if problems:
            raise SettingError("the light map is wrong: {names}", joined(problems, "; "))

    @property
    def shortest_strip(self) -> int:
        """Minimum number of lights on a strip for this map."""
        return 1 + max((number for _, numbers in _uses(self) for number in numbers), default=-1)

    def problems(
        self,
        *,
        known_places: Collection[str] = (),
        strip_lights: int | None = None,
        pin_map_crc: int | None = None,
    ) -> tuple[str, ...]:
        """Describe how this map does not fit a game's places and the actual strip; empty if it fits.

        A place without a light is not a problem. With empty ``known_places``, places are not checked.
        """
        found = list(_unknown_places(self.places, known_places)) if known_places else []
        if strip_lights is not None and strip_lights < self.shortest_strip:
            last = self.shortest_strip - 1
            use = next(use for use, numbers in _uses(self) if last in numbers)
            found.append(
                Phrase(
                    "the strip has {strip_lights} lights and the light map needs {shortest_strip} (light "
                    "{last} is {use}); connect the missing {part}, correct the number of lights, or map the "
                    "lights again",
                    strip_lights,
                    self.shortest_strip,
                    last,
                    use,
                    self.shortest_strip - strip_lights,
                )
            )
        if None not in (self.pin_map_crc, pin_map_crc) and pin_map_crc != self.pin_map_crc:
            found.append(
                Phrase(
                    "the board's pin map has changed since the lights were mapped, so the strip may be a "
                    "different one; check with `./run hardware lights test`; if the lights are right, delete "
                    "the line pin_map_crc from the light map, otherwise map again with `./run hardware lights "
                    "map`"
                )
            )
        return tuple(found)


def _uses(light_map: LightMap) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the purpose of lights in words, and their numbers."""
    yield from ((Phrase("place {place}", place), numbers) for place, numbers in light_map.places.items())
    yield Phrase("the status light"), light_map.status


def _map_problems(light_map: LightMap) -> Iterator[str]:
    if not 1 <= light_map.lights <= MAX_LIGHTS:
        yield Phrase("a strip of {lights} lights; expected 1 to {max_lights}", light_map.lights, MAX_LIGHTS)
    taken: dict[int, str] = {}
    for use, numbers in _uses(light_map):
        for number in numbers:
            if number < 0:
                yield Phrase("{use} has light {number}; lights are numbered from 0", use, number)
            elif number >= light_map.lights:
                yield (
                    Phrase(
                        "{use} has light {number}, and a strip of {lights} lights ends with light {last_light}",
                        use,
                        number,
                        light_map.lights,
                        light_map.lights - 1,
                    )
                )
            if number in taken:
                yield (
                    Phrase("light {number} is twice for {use}; a light belongs to one place", number, use)
                    if taken[number] == use
                    else Phrase(
                        "light {number} is used for {taken} and for {use}; a light belongs to one place",
                        number,
                        taken[number],
                        use,
                    )
                )
            taken.setdefault(number, use)


def _unknown_places(given: Iterable[str], known: Collection[str]) -> Iterator[str]:
    for place in given:
        if place not in known:
            guess = did_you_mean(place, known, quoted=True)
            names = first_and_last(tuple(known), most=8)
            yield Phrase(
                "the light map has a place {place!r} that this game does not have{guess}; it has {names}",
                place,
                guess,
                names,
            )


_KEYS = ("lights", "status", "pin_map_crc", "places")


def read_light_map(path: Path) -> LightMap:
    """Read a light map.

    Raises MapFileError where the file can't be read, and SettingError, which names the file and *every* problem, where
    it is not valid TOML or has missing or unknown entries.
    """
    try:
        text = read_text(path, most_bytes=MOST_SETTINGS_BYTES)
    except UnicodeDecodeError as error:
        raise SettingError("{path} is not text ({error}); map the lights again", path, error) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise MapFileError(
            "the light map {path} can't be read ({reason}); map the lights, or name another file", path, reason
        ) from error
    try:
        return light_map_from_toml(text)
    except SettingError as error:
        raise SettingError(joined((path, error), ": ")) from error


def write_light_map(light_map: LightMap, path: Path) -> None:
    """Write a light map atomically; raises MapFileError where the folder can't be written to."""
    try:
        write_durably(path, light_map_as_toml(light_map))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise MapFileError(
            "the light map can't be written to {path} ({reason}); choose another file", path, reason
        ) from error


def light_map_as_toml(light_map: LightMap) -> str:
    """Encode a light map as TOML, the places in the order of the strip."""
    lines = [
        "# Which light of the strip is under which square. Lights are numbered from 0, in the order of the strip.",
        f"lights = {light_map.lights}",
        f"status = {list(light_map.status)}",
    ]
    if light_map.pin_map_crc is not None:
        lines.append(f"pin_map_crc = {light_map.pin_map_crc}")
    lines += ["", "[places]"]
    for place, numbers in sorted(light_map.places.items(), key=lambda item: (item[1] or (light_map.lights,), item[0])):
        lines.append(as_toml_line(place, numbers))
    return "\n".join(lines) + "\n"


def light_map_from_toml(text: str) -> LightMap:
    """Parse a light map from TOML; a place's lights are a list of numbers, or one number.

    Raises SettingError, which lists every problem.
    """
    try:
        data = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError("this is not valid TOML: {error}", error) from error
    problems = list(_file_problems(data))
    if problems:
        raise SettingError(first_faults(problems))
    return LightMap(
        {place: _numbers(given) for place, given in data["places"].items()},
        _numbers(data.get("status", [])),
        lights=data["lights"],
        pin_map_crc=data.get("pin_map_crc"),
    )


def _file_problems(data: dict[str, Any]) -> Iterator[str]:
    for key in data:
        if key not in _KEYS:
            yield Phrase("{key!r} is unknown; a light map has {names}", key, joined(_KEYS, ", "))
    if "lights" not in data:
        yield Phrase("it does not say how many lights the strip has; add a line such as lights = 64")
    elif type(data["lights"]) is not int:
        yield Phrase("lights is {got!r}; expected a whole number", data["lights"])
    if type(data.get("pin_map_crc", 0)) is not int:
        yield Phrase("pin_map_crc is {got!r}; expected a whole number, or no such line", data["pin_map_crc"])
    places = data.get("places")
    if not isinstance(places, dict):
        yield Phrase("it has no places; expected a section [places] with lines such as a1 = [0]")
        places = {}
    for name, given in (("status", data.get("status", [])), *places.items()):
        if not all(type(number) is int for number in (given if isinstance(given, list) else [given])):
            yield Phrase("{name} is {given!r}; expected a list of lights, such as [0, 1]", name, given)


def _numbers(given: int | list[int]) -> tuple[int, ...]:
    return tuple(given) if isinstance(given, list) else (given,)
