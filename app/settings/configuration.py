"""The effective settings: found, read and validated, each with its source; and settings files as text.

Precedence, weakest first: default, file, environment (``REFEREE_CAMERA_SOURCE`` for ``camera.source``), flag. Files
that settings name are not opened here, so that a command that creates one can run; ``app.wiring.plan`` opens them.
"""

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from app.settings.conversions import is_address, pins, sensor_pins, sheet_path, table_options, time_control
from app.settings.settings import SECTIONS, Settings
from app.settings.sources import (
    DEFAULT,
    Source,
    absolute_source,
    expanded,
    fault_of,
    find_file,
    password_trouble,
    read_environment,
    read_file,
    source_of,
)
from common.phrases import Phrase, chained, did_you_mean, first_faults, joined, listed
from common.toml_text import as_toml, as_toml_line
from engine import registry
from engine.api import Game
from engine.errors import EngineError, OptionError
from engine.values import OptionValue
from frontends.mqtt.settings import MqttSection
from hardware.errors import HardwareError
from hardware.pin_map import NO_OUTPUT
from referee.errors import ClockError, ConfigError

_WIDTH = 100


def example() -> str:
    """Return the example file. Reading it back yields the defaults; settings without a default are commented out."""
    definitions = Settings.model_json_schema()["$defs"]
    blocks = [
        "\n".join(
            _comment(
                "Settings of the tabletop referee. Relative paths are relative to this file. Each setting that is no "
                "table can also be given as a variable, such as REFEREE_TURN_REST_S for rest_s under [turn]."
            )
        )
    ]
    for section, kind in SECTIONS.items():
        properties = definitions[kind.__name__]["properties"]
        lines = [*_comment(str(kind.__doc__)), f"[{section}]"]
        for key, field in kind.model_fields.items():
            allowed = allowed_text(properties[key])
            lines += ["", *_comment(str(field.description) + (f" Takes {allowed}." if allowed else ""))]
            value = field.default
            sample = f"# {key} = {as_toml(field.examples[0])}" if field.examples else None
            if value is None or sample is None:
                lines.append(sample or f"{key} = {as_toml(value)}")
            elif value in ({}, ()):
                lines += [sample, f"{key} = {as_toml(value)}"]
            else:
                lines.append(sample)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def written(values: Mapping[str, Any]) -> str:
    """Return a file with these values, by ``section.key``, each below a comment that describes it."""
    blocks = ["\n".join(_comment("Written by `./run start`. `./run tools config --example` has every setting."))]
    for section, kind in SECTIONS.items():
        given = [key for key in kind.model_fields if f"{section}.{key}" in values]
        lines = [*_comment(str(kind.__doc__)), f"[{section}]"]
        for key in given:
            description = str(kind.model_fields[key].description)
            lines += ["", *_comment(description), as_toml_line(key, values[f"{section}.{key}"])]
        if given:
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def allowed_text(schema: dict[str, Any]) -> str:
    """Describe the allowed values in a JSON schema: ``"button" or "rest"``, ``50 or 60``, ``0.2 to 60``, or nothing."""
    kinds = [part for part in schema.get("anyOf", (schema,)) if part.get("type") != "null"]
    if len(kinds) > 1:
        return ""
    inner = kinds[0]
    kind = inner.get("type")
    if "pattern" in inner:
        return Phrase("text such as {example}", as_toml(schema["examples"][0]))
    if kind == "array":
        choices = inner["items"].get("enum", ())
        return Phrase("any of {choices}", ", ".join(map(as_toml, choices))) if choices else ""
    if kind == "object":
        keys, values = inner.get("propertyNames", {}).get("enum"), allowed_text(inner.get("additionalProperties", {}))
        names = Phrase("any of {choices}", ", ".join(map(as_toml, keys))) if keys else Phrase("names")
        return Phrase("{names}, each with {values}", names, values) if values else ""
    if "enum" in inner:
        return listed(map(as_toml, inner["enum"]), "or")
    if kind == "boolean":
        return Phrase("true or false")
    low, high = inner.get("minimum"), inner.get("maximum")
    above = inner.get("exclusiveMinimum")
    if above is not None and high is not None:
        return Phrase("a number above {low}, up to {high}", f"{above:.10g}", f"{high:.10g}")
    if "multipleOf" in inner:
        return listed(map(str, range(low, high + 1, inner["multipleOf"])), "or")
    if low is not None:
        least = f"{low:.10g}"
        return Phrase("{low} or more", least) if high is None else Phrase("{low} to {high}", least, f"{high:.10g}")
    return ""


def _comment(text: str) -> Iterator[str]:
    return (f"# {line}" for line in textwrap.wrap(text, _WIDTH - 2))


@dataclass(frozen=True)
class Configuration:
    """The effective settings: the values, the file they were read from, and each value's source."""

    settings: Settings
    file: Path | None
    sources: Mapping[str, Source]

    def rows(self) -> Iterator[tuple[str, str, Source]]:
        """Yield (``section.key``, value as TOML, source) for every setting, in the order of the sections.

        No password in a camera's address is shown.
        """
        from vision.cameras import shown_source

        for section in SECTIONS:
            for key, value in getattr(self.settings, section):
                name = f"{section}.{key}"
                yield name, as_toml(shown_source(value) if name == "camera.source" else value), self._source(name)

    def _source(self, name: str) -> Source:
        inside = (source for path, source in self.sources.items() if path.startswith(f"{name}."))
        return self.sources.get(name) or next(inside, DEFAULT)


def load(
    path: Path | None,
    *,
    environment: Mapping[str, str],
    folder: Path,
    flags: Mapping[str, Any] | None = None,
) -> Configuration:
    """Find, read and validate the settings.

    ``path`` is the file named by a flag; without one it is searched for using ``environment`` and the working
    ``folder``. Paths in the file are relative to the file, paths elsewhere to ``folder``. Raises ConfigError with one
    line per fault: file and line, what was got, what is allowed, and the nearest name for a misspelt one.
    """
    file = find_file(path, environment, folder)
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    if file is not None:
        values, lines = read_file(file)
        sources = {name: Source("file", str(file), line) for name, line in lines.items()}
    keys = {section: tuple(kind.model_fields) for section, kind in SECTIONS.items()}
    overrides = [
        (name, text, Source("environment", variable)) for name, text, variable in read_environment(environment, keys)
    ]
    overrides += [(name, value, Source("flag", _flag_of(name))) for name, value in (flags or {}).items()]
    for name, value, source in overrides:
        section, _, key = name.partition(".")
        values.setdefault(section, {})
        replaced = f"{name}."
        if isinstance(values[section], dict):
            before = values[section].get(key, Settings().game.name)
            if name == "game.name" and str(value).strip().lower() != str(before).strip().lower():
                # The options belong to the game that was named with them.
                values[section].pop("options", None)
                replaced = "game.options"
            values[section][key] = _split_list(section, key, value) if source.kind == "environment" else value
        sources = {known: kept for known, kept in sources.items() if not known.startswith(replaced)}
        sources[name] = source
    bases = {name: file.parent if source.kind == "file" and file else folder for name, source in sources.items()}
    try:
        settings = _with_absolute_sheet(Settings.model_validate(values), bases, folder)
    except ValidationError as error:
        raise ConfigError(first_faults(explain_faults(error, sources, file), "\n")) from error
    found = list(problems(settings, sources))
    if found:
        raise ConfigError(joined(found, "\n"))
    named = sources.get("camera.source")
    if named is not None and named.kind == "file":
        try:
            camera = absolute_source(settings.camera.source, bases["camera.source"])
        except ConfigError as error:
            raise ConfigError(joined((named, "camera.source", error), ": ")) from error
        settings = settings.changed({"camera.source": camera})
    return Configuration(settings.with_absolute_paths(bases, folder, environment), file, sources)


def _with_absolute_sheet(settings: Settings, bases: Mapping[str, Path], folder: Path) -> Settings:
    """Return the settings with an absolute path where an option of the game names a sheet's file."""
    try:
        game = registry.load(settings.game.name)
    except EngineError:
        return settings
    option = game.sheet_file and game.sheet_file.option
    path = sheet_path(game, settings.game.options, bases.get(f"game.options.{option}", folder))
    if option is None or path is None:
        return settings
    return settings.changed({"game.options": {**settings.game.options, option: str(path)}})


_FLAGS = {
    "game.name": "--game",
    "camera.source": "--camera",
    "lights.strip_lights": "--lights",
    "clock.time": "--clock",
    "opponent.player": "--opponent",
    "opponent.strength": "--opponent-strength",
}
"""Flags whose name differs from the setting they override."""


def _flag_of(name: str) -> str:
    return _FLAGS.get(name) or "--" + name.partition(".")[2].replace("_", "-")


def _split_list(section: str, key: str, text: str) -> object:
    if get_origin(SECTIONS[section].model_fields[key].annotation) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


_LONGEST_FAULT = 1000
"""The most characters about one wrong setting, which may be of any length."""
_ALTERNATIVES = {"bool", "int", "str", "[key]"}
"""What pydantic appends to the name of a setting with several possible types, or to a wrong key."""

_KINDS = {
    "bool": Phrase("true or false"),
    "int": Phrase("a whole number"),
    "float": Phrase("a number"),
    "string": Phrase("text in quotes"),
    "path": Phrase("the name of a file, in quotes"),
}
"""A setting's type in words, by the first word of pydantic's error type."""


def _faults_by_setting(error: ValidationError) -> Iterator[tuple[list[str], list[ErrorDetails]]]:
    """Yield the location of each wrong setting, and its faults: one for each possible type."""

    def location_of(fault: ErrorDetails) -> list[str]:
        parts = [str(part) for part in fault["loc"]]
        return parts[:-1] if len(parts) > 2 and parts[-1] in _ALTERNATIVES else parts

    for location, faults in groupby(error.errors(), location_of):
        yield location, list(faults)


def explain_faults(
    error: ValidationError, sources: Mapping[str, Source] = MappingProxyType({}), file: Path | None = None
) -> Iterator[str]:
    """Yield one line per wrong setting: its source if it has one, what was got, what is allowed, the nearest name."""
    for location, faults in _faults_by_setting(error):
        found = source_of(".".join(location), sources)
        source = file if found == DEFAULT else found
        line = joined((*(() if source is None else (source,)), _explain_fault(location, faults)), ": ")
        yield line if len(line) <= _LONGEST_FAULT else f"{line[:_LONGEST_FAULT]}…"


def _explain_fault(location: list[str], faults: list[ErrorDetails]) -> str:
    fault = faults[0]
    name = ".".join(location)
    got = as_toml(fault["input"])
    if fault["type"] == "extra_forbidden":
        key = location[-1]
        if sections := [f"[{section}]" for section, kind in SECTIONS.items() if key in kind.model_fields]:
            there = listed(sections, "or")
            return Phrase("there is no setting {name}; {key} belongs under {there}", name, key, there)
        allowed = list(SECTIONS if len(location) == 1 else SECTIONS[location[0]].model_fields)
        near = did_you_mean(location[-1], allowed)
        return Phrase("there is no setting {name}{near}; known: {names}", name, near, ", ".join(allowed))
    expected = fault.get("ctx", {}).get("expected")
    if expected is not None:
        section, key = location[:2]
        near = did_you_mean(str(fault["input"]), map(str, _choices(SECTIONS[section].model_fields[key].annotation)))
        first, _, last = expected.rpartition(" or ")
        wanted: str = listed((first, last), "or") if first else last
        return Phrase("{name} is {got}; expected {wanted}{near}", name, got, wanted, near)
    wanted = chained([_describe_allowed(location, fault) for fault in faults], "or")
    return Phrase("{name} is {got}; expected {wanted}", name, got, wanted)


def _describe_allowed(location: list[str], fault: ErrorDetails) -> str:
    """Return a setting's allowed values, such as ``a whole number, 160 to 8192``."""
    kind = fault["type"].partition("_")[0]
    if kind == "model":
        return Phrase("settings under [{section}]", location[0])
    section, key = SECTIONS[location[0]], location[1]
    if kind == "tuple":
        return Phrase("a list, such as {example}", as_toml([fault["input"]]))
    if kind == "dict":
        example = as_toml((section.model_fields[key].examples or [{}])[0])
        return Phrase("a table in a settings file, such as {example}", example)
    allowed = allowed_text(section.model_json_schema()["properties"][key])
    words = _KINDS.get(kind, "")
    if allowed == words or not allowed or allowed.startswith("text such as "):
        return allowed or words
    return joined(filter(None, (words, allowed)), ", ")


def _choices(annotation: Any) -> Iterator[object]:
    """Yield the choices of a setting's type, also those of a list's items, of a table's keys, and beside None."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _choices(part)


def problems(settings: Settings, sources: Mapping[str, Source]) -> Iterator[str]:
    """Yield one line per fault: where it is set, what was got, what is allowed."""
    try:
        game: Game[Any, Any] = registry.load(settings.game.name)
    except EngineError as error:
        source = source_of("game.name", sources)
        said = Phrase("game.name is {got}; {error}", as_toml(settings.game.name), error)
        yield joined((source, said), ": ")
        places: tuple[str, ...] = ()
    else:
        yield from _rule_problems(game, settings.game.options, sources)
        places = tuple(game.places)
    yield from device_problems(settings, places, sources)
    for name, path in settings.paths().items():
        try:
            expanded(path)
        except ConfigError as error:
            yield fault_of(name, error, sources)
    if settings.page.address is not None and not is_address(settings.page.address):
        source = source_of("page.address", sources)
        said = Phrase(
            'page.address is {got}; expected an address of this machine, or "0.0.0.0" for all its networks',
            as_toml(settings.page.address),
        )
        yield joined((source, said), ": ")
    camera = source_of("camera.source", sources)
    if camera.kind == "flag" and (trouble := password_trouble(settings.camera.source)):
        yield joined((camera, trouble), ": ")
    yield from _mqtt_problems(settings.mqtt, sources)
    try:
        time_control(settings.clock)
    except ClockError as error:
        yield fault_of("clock.time", error, sources)


def _mqtt_problems(mqtt: MqttSection, sources: Mapping[str, Source]) -> Iterator[str]:
    """Yield what would leave a connection unencrypted, or give a password to whoever says that it is a hall."""
    files = ("ca_file", "certificate_file", "key_file")
    for name in [] if mqtt.tls else [name for name in files if getattr(mqtt, name) is not None]:
        said = Phrase("{name} is set, but mqtt.tls is false; set tls = true", f"mqtt.{name}")
        yield joined((source_of(f"mqtt.{name}", sources), said), ": ")
    if mqtt.key_file is not None and mqtt.certificate_file is None:
        source = source_of("mqtt.key_file", sources)
        said = Phrase("mqtt.key_file is set without mqtt.certificate_file; a key alone proves nothing")
        yield joined((source, said), ": ")
    source = source_of("mqtt.hall", sources)
    for name in [] if mqtt.hall is None else ["address", "port"]:
        if getattr(mqtt, name) is not None:
            said = Phrase(
                "mqtt.hall is set, and {name} too; keep one, as a hall says where its broker is", f"mqtt.{name}"
            )
            yield joined((source, said), ": ")
    if mqtt.hall is not None and mqtt.user is not None and mqtt.ca_file is None:
        said = Phrase(
            "mqtt.hall is set with mqtt.user, but without mqtt.ca_file; anybody in the network could get the password, "
            "so set tls = true and ca_file, or address instead of hall"
        )
        yield joined((source, said), ": ")


def _rule_problems(
    game: Game[Any, Any], options: Mapping[str, OptionValue], sources: Mapping[str, Source]
) -> Iterator[str]:
    alone = [({name: value}, f"game.options.{name}") for name, value in options.items()]
    for given, setting in [*alone, (options, "game.options")]:
        try:
            table_options(game, given)
        except (OptionError, OSError) as error:
            why = (
                Phrase("cannot read {file}: {reason}", error.filename, error.strerror)
                if isinstance(error, OSError)
                else error
            )
            yield joined((source_of(setting, sources), "game.options", why), ": ")
            return


def device_problems(settings: Settings, places: tuple[str, ...], sources: Mapping[str, Source] | None) -> Iterator[str]:
    """Yield one line per fault of the drivers and pins, with its source if the sources are known.

    ``places`` are the game's, empty for an unknown game.
    """
    drivers = settings.lights.drivers
    for name in sorted({name for name in drivers if drivers.count(name) > 1}):
        yield fault_of("lights.drivers", Phrase("{name} is named twice; name each driver once", name), sources)
    try:
        wired = pins(settings.lights, places)
    except HardwareError as error:
        yield fault_of("lights", error, sources)
        return
    if "gpio" in drivers and not wired.has_outputs:
        yield fault_of("lights.drivers", NO_OUTPUT, sources)
    if settings.sensors.source == "pins":
        try:
            sensor_pins(settings)
        except HardwareError as error:
            yield fault_of("sensors", error, sources)
