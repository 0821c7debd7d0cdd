"""``referee sheet``: what is printed on your sheets, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from referee.cli.group import ExampleCommand
from referee.cli.options import READABLE_FILE, WRITABLE_FILE

if TYPE_CHECKING:
    from engine.api import SheetFile

_GAME = click.option(
    "--game", "game_name", default="blokus-dice", show_default=True, metavar="GAME", help="The game it belongs to."
)


@click.group(name="sheet")
def command() -> None:
    """Copy, check and show sheets, dice and tiles.

    What is printed on a game's sheets, dice or tiles may differ on yours from what comes with the referee.
    """


@command.command(cls=ExampleCommand)
@_GAME
@click.option("--output", type=WRITABLE_FILE, help="The file to write. Default: print it.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def new(game_name: str, output: Path | None, force: bool) -> None:
    """Write a copy of the sheet that ships, to make your own of.

    Examples:
      referee sheet new --output ours.toml
    """
    text = _sheet_file(game_name).text()
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        with output.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise click.UsageError(f"{output} is there already; give another name, or --force to write over it.") from error
    click.echo(f"The sheet is in {output}. Change it, then: referee sheet check {output}")


@command.command(cls=ExampleCommand)
@click.argument("file", type=READABLE_FILE)
@_GAME
def check(file: Path, game_name: str) -> None:
    """Check a sheet file; every fault is named with its line.

    Examples:
      referee sheet check ours.toml
    """
    from referee.settings.game_options import read_text

    sheet = _sheet_file(game_name)
    values = sheet.read(read_text(file))
    written = " ".join(f"--option {name}={value}" for name, value in values.items())
    click.echo(f"{file} is good for {game_name}: {written}")
    if sheet.option is not None:
        click.echo(f"In short: --option {sheet.option}={file}")


@command.command(cls=ExampleCommand)
@click.argument("file", type=READABLE_FILE, required=False)
@_GAME
def show(file: Path | None, game_name: str) -> None:
    """Draw a sheet file, or the sheet that ships.

    Examples:
      referee sheet show
      referee sheet show ours.toml
    """
    from referee.settings.game_options import read_text

    sheet = _sheet_file(game_name)
    click.echo(sheet.draw(sheet.text() if file is None else read_text(file)))


def _sheet_file(name: str) -> SheetFile:
    from engine import registry

    game = registry.load(name)
    if game.sheet_file is None:
        with_one = [each for each in registry.games() if registry.load(each).sheet_file is not None]
        raise click.UsageError(f"{game.title} has no sheet file; these have: {', '.join(with_one)}.")
    return game.sheet_file
