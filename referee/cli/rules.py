"""``./run tools rules`` and ``./run tools sheet``: information about games without a table."""

import shlex
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from common.durable import write_durably
from engine import registry
from engine.api import Game, SheetFile
from engine.errors import EngineError
from engine.options import read_options
from engine.values import OptionValue
from referee.cli import context as cli
from referee.cli.group import ExampleCommand, ExampleGroup
from referee.settings.conversions import read_text

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


_GAME = click.option(
    "--game",
    "game_name",
    type=cli.GAME,
    default="blokus-dice",
    show_default=True,
    metavar="GAME",
    help="The game it belongs to.",
)


@click.group(name="sheet", cls=ExampleGroup)
def sheet_command() -> None:
    """Copy, check and show sheets, dice and tiles.

    Your sheets, dice or tiles may differ from those that come with the referee.

    Examples:
      ./run tools sheet new --out ours.toml
    """


@sheet_command.command(cls=ExampleCommand)
@_GAME
@click.option("--out", "--output", "out", type=cli.OUTPUT_FILE, help="The file to write.  [default: print it]")
def new(game_name: str, out: Path | None) -> None:
    """Write a copy of the built-in sheet, to change it.

    Examples:
      ./run tools sheet new --out ours.toml
    """
    text = _sheet_file(game_name).text()
    if out is None:
        click.echo(text, nl=False)
        return
    write_durably(out, text)
    checking = f"./run tools sheet check {shlex.quote(str(out))} --game {game_name}"
    cli.say(f"The description is in {out}. Change it, then: {checking}")


@sheet_command.command(cls=ExampleCommand)
@click.argument("file", type=cli.READABLE_FILE)
@_GAME
def check(file: Path, game_name: str) -> None:
    """Check a sheet file; every fault is named with its line.

    Examples:
      ./run tools sheet check ours.toml
    """
    sheet, text = _sheet_file(game_name), read_text(file)
    with _naming_another_game(file, text):
        values = sheet.read(text)
    written = " ".join(f"--option {shlex.quote(f'{name}={value}')}" for name, value in values.items())
    click.echo(f"{file} is good for {game_name}: {written}")
    if sheet.option is not None:
        click.echo(f"In short: --option {shlex.quote(f'{sheet.option}={file}')}")


@sheet_command.command(cls=ExampleCommand)
@click.argument("file", type=cli.READABLE_FILE, required=False)
@_GAME
def show(file: Path | None, game_name: str) -> None:
    """Draw a sheet file, or the built-in sheet.

    Examples:
      ./run tools sheet show
      ./run tools sheet show ours.toml
    """
    sheet = _sheet_file(game_name)
    text = sheet.text() if file is None else read_text(file)
    with _naming_another_game(file, text):
        click.echo(sheet.draw(text))


@contextmanager
def _naming_another_game(file: Path | None, text: str) -> Iterator[None]:
    """If reading a file fails inside the context, name the other game to which it belongs, if any."""
    try:
        yield
    except EngineError:
        for name in registry.games():
            other = registry.load(name).sheet_file
            with suppress(EngineError):
                if other is not None and other.read(text):
                    raise click.UsageError(f"{file} is a file of {name}; add --game {name}.") from None
        raise


def _sheet_file(name: str) -> SheetFile:
    game = registry.load(name)
    if game.sheet_file is None:
        with_one = [each for each in registry.games() if registry.load(each).sheet_file is not None]
        raise click.UsageError(f"{game.title} has no sheet file; these have: {', '.join(with_one)}.")
    return game.sheet_file
