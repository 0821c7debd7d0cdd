"""Rule options as settings and flags give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api import Game, OptionValue
from engine.errors import OptionError
from engine.options import read_options
from referee.judge.belief import EITHER, STARTS_OPTION
from referee.sheet_files import with_sheet_file


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
        game.new(read)
    except ValueError as error:
        raise OptionError(str(error)) from error
    return {name: read.get(name, EITHER) for name in given}
