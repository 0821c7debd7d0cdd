"""Parses TOML, and formats values as TOML."""

import json
import tomllib
from collections.abc import Mapping
from typing import Any

from common.phrases import Phrase

MOST_LEVELS = 50
"""Most tables or lists inside each other, far more than any of our files has."""

MOST_INTEGER_BITS = 63
"""Size of the largest integer, as TOML asks of a parser. Python can't print one of thousands of hexadecimal digits."""


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raises TOMLDecodeError for invalid TOML, also if it is too deep, too long or an integer too large."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from error
    except ValueError as error:
        raise tomllib.TOMLDecodeError(Phrase("it has a value that can't be read ({error})", error)) from error
    _refuse_extremes(data)
    return data


def _refuse_extremes(data: dict[str, Any]) -> None:
    """Refuse what tomllib accepts but ``as_toml`` can't format: many levels, from keys with many dots, and integers
    with thousands of hexadecimal digits.
    """
    level: list[dict[str, Any] | list[Any]] = [data]
    for _ in range(MOST_LEVELS):
        items = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
        if any(isinstance(item, int) and item.bit_length() > MOST_INTEGER_BITS for item in items):
            raise tomllib.TOMLDecodeError(
                Phrase("it has an integer of more than {most_integer_bits} bits", MOST_INTEGER_BITS)
            )
        level = [item for item in items if isinstance(item, dict | list)]
        if not level:
            return
    raise tomllib.TOMLDecodeError("it is nested too deeply")


def as_toml(value: object) -> str:
    """Format a value as in a TOML file; ``None`` becomes ``(none)``."""
    if value is None:
        return "(none)"
    if isinstance(value, Mapping):
        return "{" + ", ".join(as_toml_line(str(key), item) for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(as_toml(item) for item in value) + "]"
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float):
        # Unlike JSON, TOML has inf and nan.
        return repr(float(value))
    return _quoted(str(value))


def as_toml_line(key: str, value: object) -> str:
    """Format a key and its value as a line of a TOML file.

    >>> as_toml_line("a1", (0, 1)), as_toml_line("a 1", "x")
    ('a1 = [0, 1]', '"a 1" = "x"')
    """
    return f"{_key(key)} = {as_toml(value)}"


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else _quoted(name)


def _quoted(text: str) -> str:
    # JSON strings are valid TOML, except for one control character that JSON doesn't escape.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
