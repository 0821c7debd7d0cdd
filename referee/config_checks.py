"""What settings can be wrong in together: the game's options, pins used twice, times that exclude each other.

Files are not looked at here, so that a command that makes one can run; ``referee.config_board`` does that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from engine import registry
from engine.api import Game, OptionValue
from engine.errors import EngineError, OptionError
from hardware.errors import HardwareError
from referee.config_game import table_options
from referee.config_hardware import button_settings, pins, sensor_pins
from referee.config_sources import Source, nearest_source
from referee.config_toml import as_toml
from referee.config_values import Settings

_DEFAULT = Source("default")


def problems(settings: Settings, sources: Mapping[str, Source]) -> Iterator[str]:
    """Give one line a fault: where it is set, what was got, what is allowed."""
    try:
        game: Game[Any, Any] = registry.load(settings.game.name)
    except EngineError as error:
        source = sources.get("game.name", _DEFAULT)
        yield f"{source}: game.name is {as_toml(settings.game.name)}; {error}"
        places: tuple[str, ...] = ()
    else:
        yield from _rule_problems(game, settings.game.options, sources)
        places = tuple(game.places)
    yield from _pin_problems(settings, places, sources)
    yield from _button_problems(settings, sources)


def _rule_problems(
    game: Game[Any, Any], options: Mapping[str, OptionValue], sources: Mapping[str, Source]
) -> Iterator[str]:
    alone = [({name: value}, ["game", "options", name]) for name, value in options.items()]
    for given, location in [*alone, (options, ["game", "options"])]:
        try:
            table_options(game, given)
        except OptionError as error:
            yield f"{nearest_source(location, sources) or _DEFAULT}: game.options: {error}"
            return


def _pin_problems(settings: Settings, places: tuple[str, ...], sources: Mapping[str, Source]) -> Iterator[str]:
    try:
        pins(settings.lights, places)
    except HardwareError as error:
        yield f"{nearest_source(['lights'], sources) or _DEFAULT}: lights: {error}"
        return
    if settings.sensors.source == "pins":
        try:
            sensor_pins(settings)
        except HardwareError as error:
            yield f"{nearest_source(['sensors'], sources) or _DEFAULT}: sensors: {error}"


def _button_problems(settings: Settings, sources: Mapping[str, Source]) -> Iterator[str]:
    """A long press must not be over before a press is believed."""
    buttons = button_settings(settings.lights)
    if buttons.long_press_s <= buttons.settle_s:
        source = sources.get("lights.long_press_s") or nearest_source(["lights", "debounce_ms"], sources)
        yield (
            f"{source or _DEFAULT}: lights.long_press_s is {settings.lights.long_press_s:g}; expected more "
            f"seconds than lights.debounce_ms, which is {settings.lights.debounce_ms:g} ms"
        )
