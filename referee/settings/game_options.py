"""Rule options as settings and flags give them, with a sheet's file read where one is named."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.api import Game, OptionValue
from engine.errors import OptionError, UnreadableError
from engine.options import read_options
from referee.judge.explorer import EITHER, STARTS_OPTION

SUFFIX = ".toml"


def with_sheet_file(game: Game[Any, Any], given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Give the options with a sheet's content in place of the name of a file that holds it.

    A value is a file's name when it ends with ``.toml`` or such a file is there. Raises OptionError for a file with
    faults, OSError for one that cannot be read.
    """
    options = dict(given)
    sheet = game.sheet_file
    if sheet is None or sheet.option is None or sheet.option not in options:
        return options
    value = str(options[sheet.option]).strip()
    if value.lower().endswith(SUFFIX) or _is_file(value):
        try:
            options.update(sheet.read(read_text(Path(value))))
        except UnreadableError as error:
            raise OptionError(f"option {sheet.option} is the file {value}, which has faults:\n{error}") from error
    return options


def _is_file(value: str) -> bool:
    try:
        return Path(value).is_file()
    except (OSError, ValueError):
        # A sheet's text may be longer than any file's name.
        return False


def read_text(path: Path) -> str:
    """Read a file's text; raises OSError, and UnreadableError when it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"{path} is not text in UTF-8 ({error.reason} at byte {error.start})") from error


def table_options(game: Game[Any, Any], given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Read the options given for a game at a table: the game's own, and ``starts=either`` where there is a choice.

    With ``either`` the first turn tells who starts. Only what was given is returned. Raises OptionError.
    """
    rules = with_sheet_file(game, given)
    is_open = STARTS_OPTION in rules and str(rules[STARTS_OPTION]).strip().lower() == EITHER
    if is_open and any(option.name == STARTS_OPTION for option in game.options):
        del rules[STARTS_OPTION]
    values = read_options(game.options, rules)
    read = {name: values[name] for name in rules}
    try:
        game.rules.new(read)
    except ValueError as error:
        raise OptionError(str(error)) from error
    return {name: read.get(name, EITHER) for name in given}
