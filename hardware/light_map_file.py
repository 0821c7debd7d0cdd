"""A light map as a TOML file that an owner can read and mend."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from hardware.errors import MapFileError, SettingError
from hardware.light_map import LightMap

_KEYS = ("lights", "status", "pin_map_crc", "places")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def read_light_map(path: Path, *, known_places: Collection[str] = (), strip_lights: int | None = None) -> LightMap:
    """Read a light map and check it against a game's places and the strip that is there, where these are given.

    Raises MapFileError where the file can't be read, and SettingError, which names the file and *every* problem,
    where it is no TOML, lacks something, has something unknown, or does not fit.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SettingError(f"{path} is no text ({error}); map the lights again") from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise MapFileError(
            f"the light map {path} can't be read ({reason}); map the lights, or name another file"
        ) from (error)
    try:
        light_map = light_map_from_toml(text)
        light_map.check(known_places=known_places, strip_lights=strip_lights)
    except SettingError as error:
        raise SettingError(f"{path}: {error}") from error
    return light_map


def write_light_map(light_map: LightMap, path: Path) -> None:
    """Write a light map, whole or not at all: what was there before stays until the new file is complete.

    Raises MapFileError where the folder can't be written to.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with unfinished.open("w", encoding="utf-8") as file:
            file.write(light_map_as_toml(light_map))
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        reason = error.strerror or type(error).__name__
        raise MapFileError(f"the light map can't be written to {path} ({reason}); choose another file") from error


def light_map_as_toml(light_map: LightMap) -> str:
    """Write a light map as TOML, the places in the order the strip reaches them."""
    lines = [
        "# Which light of the strip is under which square. Lights are numbered from 0, in the order of the strip.",
        f"lights = {light_map.lights}",
        f"status = {list(light_map.status)}",
    ]
    if light_map.pin_map_crc is not None:
        lines.append(f"pin_map_crc = {light_map.pin_map_crc}")
    lines += ["", "[places]"]
    for place, numbers in sorted(light_map.places.items(), key=lambda item: (item[1] or (light_map.lights,), item[0])):
        key = place if _BARE_KEY.fullmatch(place) else json.dumps(place, ensure_ascii=False)
        lines.append(f"{key} = {list(numbers)}")
    return "\n".join(lines) + "\n"


def light_map_from_toml(text: str) -> LightMap:
    """Read a light map from TOML; a place's lights are a list of numbers, or one number.

    Raises SettingError, which lists every problem, for text that is no light map.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"this is no TOML: {error}") from error
    problems = list(_problems(data))
    if problems:
        raise SettingError("; ".join(problems))
    return LightMap(
        {place: _numbers(given) for place, given in data["places"].items()},
        _numbers(data.get("status", [])),
        lights=data["lights"],
        pin_map_crc=data.get("pin_map_crc"),
    )


def _problems(data: dict[str, Any]) -> Iterator[str]:
    for key in data:
        if key not in _KEYS:
            yield f"{key!r} is unknown; a light map has {', '.join(_KEYS)}"
    if "lights" not in data:
        yield "it does not say how many lights the strip has; add a line such as lights = 64"
    elif not _is_whole(data["lights"]):
        yield f"lights is {data['lights']!r}; expected a whole number"
    if not _is_whole(data.get("pin_map_crc", 0)):
        yield f"pin_map_crc is {data['pin_map_crc']!r}; expected a whole number, or no such line"
    places = data.get("places")
    if not isinstance(places, dict):
        yield "it has no places; expected a section [places] with lines such as a1 = [0]"
        places = {}
    for name, given in (("status", data.get("status", [])), *places.items()):
        if not all(_is_whole(number) for number in (given if isinstance(given, list) else [given])):
            yield f"{name} is {given!r}; expected a list of lights, such as [0, 1]"


def _numbers(given: int | list[int]) -> tuple[int, ...]:
    return tuple(given) if isinstance(given, list) else (given,)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
