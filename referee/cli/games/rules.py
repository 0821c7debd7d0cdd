"""``referee rules``: a game's rules in short."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from referee.cli.group import ExampleCommand
from referee.cli.options import checked_options, rule_option

if TYPE_CHECKING:
    from engine.api import Game, OptionValue

_COLUMNS = 100


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="GAME")
@rule_option
def command(game_name: str, options: tuple[str, ...]) -> None:
    """Tell a game's rules in short.

    Then the options in force, and what each one may be.

    Examples:
      referee rules deblockle
      referee rules deblockle --option side_by_side=false
    """
    from engine import registry

    game = registry.load(game_name)
    for line in told(game, checked_options(game, options)):
        click.echo(line)


def told(game: Game[Any, Any], given: Mapping[str, OptionValue]) -> Iterator[str]:
    """Give the lines of a game's rules in short; raises OptionError for a bad option."""
    from engine.options import read_options

    yield f"{game.title}\n"
    for paragraph in game.notation.summary(given).split("\n\n"):
        yield textwrap.fill(paragraph, _COLUMNS) + "\n"
    yield "Options in force:"
    values = read_options(game.options, given)
    for option in game.options:
        choices = f" ({', '.join(map(_written, option.choices))})" if option.choices else ""
        line = f"{option.name}={_written(values[option.name])}  {option.help}{choices}"
        yield textwrap.fill(line, _COLUMNS, initial_indent="  ", subsequent_indent="    ")


def _written(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
