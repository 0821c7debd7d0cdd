"""``./run tools rules``: a game's rules and options, without a table."""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import click

from app.cli import context as cli
from app.cli.group import ExampleCommand
from engine import registry
from engine.api import Game
from engine.options import read_options
from engine.values import OptionValue

_MOST_COLUMNS = 100


@click.command(cls=ExampleCommand)
@click.argument("game_name", metavar="GAME", type=cli.GAME)
@cli.rule_option
@click.option("--by-id", is_flag=True, help="List every rule that the referee may name, by its id.")
def rules_command(game_name: str, options: tuple[str, ...], by_id: bool) -> None:
    """Summarise a game's rules.

    Then the options, as given or at their defaults, and what each one may be.

    Examples:
      ./run tools rules deblockle
      ./run tools rules deblockle --option side_by_side=false
      ./run tools rules deblockle --by-id
    """
    game = registry.load(game_name)
    given = cli.parse_options(game, options)
    named = (f"{rule.id}: {rule.sentence}" for rule in game.rules.catalogue.values())
    width = _width()
    wrapped = (textwrap.fill(line, width, subsequent_indent="    ", break_on_hyphens=False) for line in named)
    # All lines first: an invalid option leaves nothing on standard output.
    click.echo("\n".join(wrapped if by_id else rule_lines(game, given)))


def rule_lines(game: Game[Any, Any], given: Mapping[str, OptionValue]) -> Iterator[str]:
    """Yield the lines of a game's short rules; raises OptionError for an invalid option."""
    width = _width()
    yield f"{game.title}\n"
    for paragraph in game.notation.summary(given).split("\n\n"):
        yield textwrap.fill(paragraph, width) + "\n"
    yield "Options, as given or at their defaults:"
    values = read_options(game.options, given)
    for option in game.options:
        choices = f" ({', '.join(map(_format_value, option.choices))})" if option.choices else ""
        line = f"{option.name}={_format_value(values[option.name])}  {option.help}{choices}"
        yield textwrap.fill(line, width, initial_indent="  ", subsequent_indent="    ")


def _width() -> int:
    """Return how many columns a line of text may have."""
    return min(_MOST_COLUMNS, cli.output().width)


def _format_value(value: OptionValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
