"""Reading the options a person or a file gives for a game, whatever the game."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from common.phrases import Phrase, either, nearest
from engine.errors import OptionError
from engine.values import Option, OptionValue

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")
OptionsT = TypeVar("OptionsT")
_WHOLE_NUMBER = re.compile("-?[0-9]{1,9}")


def read_options(options: Sequence[Option], given: Mapping[str, OptionValue] | None) -> dict[str, OptionValue]:
    """Return every option its given value (texts such as ``"true"`` or ``"3"`` are parsed) or its default.

    Raises OptionError for an unknown name, a value of another type or one that is not among the choices.
    """
    by_name = {option.name: option for option in options}
    values: dict[str, OptionValue] = {option.name: option.default for option in options}
    for name, value in (given or {}).items():
        if name not in by_name:
            near = nearest(name, by_name)
            raise OptionError(
                either(
                    near,
                    "there is no option {name!r}; did you mean {near!r}?",
                    "there is no option {name!r}; there are {names}",
                    name=name,
                    near=near,
                    names=", ".join(by_name),
                )
            )
        values[name] = _read_value(by_name[name], value)
    return values


def read_into(
    kind: Callable[..., OptionsT],
    options: Sequence[Option],
    given: Mapping[str, OptionValue] | None,
    **readers: Callable[[str], object],
) -> OptionsT:
    """Read options into the dataclass ``kind``, which has a field for each; ``readers`` parse single values further.

    Raises OptionError as ``read_options`` and the readers do.
    """
    values: dict[str, object] = dict(read_options(options, given))
    values |= {name: read(str(values[name])) for name, read in readers.items()}
    return kind(**values)


def differing_options(options: Sequence[Option], values: object) -> list[str]:
    """Write the options whose values (fields of ``values``) differ from their defaults, as ``name=value``."""
    differing = [option for option in options if getattr(values, option.name) != option.default]
    return [f"{option.name}={_written(getattr(values, option.name))}" for option in differing]


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def options_in_force(options: Sequence[Option], state: object) -> dict[str, OptionValue]:
    """Return the options of a state, whose values are fields of the state or of its ``options``."""
    values = getattr(state, "options", state)
    return {option.name: _written(getattr(values, option.name)) for option in options}


def _read_value(option: Option, value: OptionValue) -> OptionValue:
    read = _convert(option, value)
    if not option.choices:
        return read
    for choice in option.choices:
        if str(choice).lower() == str(read).lower():
            return choice
    choices = ", ".join(str(choice) for choice in option.choices)
    raise OptionError(Phrase("option {name} is {value!r}; it takes one of {choices}", option.name, value, choices))


def _convert(option: Option, value: OptionValue) -> OptionValue:
    text = str(value).strip().lower()
    if isinstance(option.default, bool):
        if text in _TRUE:
            return True
        if text in _FALSE:
            return False
        raise OptionError(Phrase("option {name} is {value!r}; it takes true or false", option.name, value))
    if isinstance(option.default, int):
        if not isinstance(value, bool) and _WHOLE_NUMBER.fullmatch(text):
            return int(text)
        raise OptionError(Phrase("option {name} is {value!r}; it takes a whole number", option.name, value))
    return str(value).strip()
