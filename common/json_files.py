"""Reading JSON, with errors that name the file and what is wrong with it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common.phrases import Phrase, either
from common.whole_files import read_text


def parse_json(text: str | bytes | bytearray) -> Any:
    """Parse JSON; raises ValueError for invalid JSON, also if it is nested too deeply for the parser."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def read_json(path: Path, what: str, error: Callable[[str], Exception], *, plural: bool = False) -> Any:
    """Read a JSON file. ``what`` names it in messages, such as ``the layout``; set ``plural`` if the name is a plural.

    If the file can't be read or isn't valid JSON, raises the exception that ``error`` makes from the message.
    """
    try:
        return parse_json(read_text(path))
    except OSError as wrong:
        raise error(Phrase("cannot read {what} {path}: {strerror}", what, path, wrong.strerror)) from wrong
    except UnicodeDecodeError as wrong:
        raise error(
            either(plural, "{what} {path} are not UTF-8 text", "{what} {path} is not UTF-8 text", what, path)
        ) from wrong
    except ValueError as wrong:
        raise error(
            either(
                plural,
                "{what} {path} are not valid JSON: {wrong}",
                "{what} {path} is not valid JSON: {wrong}",
                what,
                path,
                wrong,
            )
        ) from wrong


def read_json_object(
    path: Path, what: str, error: Callable[[str], Exception], *, plural: bool = False
) -> dict[str, Any]:
    """Read a JSON file that must contain an object; errors as in ``read_json``."""
    data = read_json(path, what, error, plural=plural)
    if not isinstance(data, dict):
        raise error(
            either(
                plural,
                "{what} {path} are not a JSON object, which begins with a brace",
                "{what} {path} is not a JSON object, which begins with a brace",
                what,
                path,
            )
        )
    return data
