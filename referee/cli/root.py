"""The command ``referee`` itself: what holds for every subcommand, and the list of them."""

from __future__ import annotations

import os
from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import USAGE, Root

COMMANDS = {
    "demo": "referee.cli.demo",
    "new": "referee.cli.new",
    "watch": "referee.cli.watch",
    "correct": "referee.cli.correct",
    "take-back": "referee.cli.take_back",
    "turn": "referee.cli.turn",
    "roll": "referee.cli.roll",
    "announce": "referee.cli.announce",
    "hint": "referee.cli.hint",
    "read": "referee.cli.read",
    "calibrate": "referee.cli.calibrate",
    "enrol": "referee.cli.enrol",
    "replay": "referee.cli.replay",
    "export": "referee.cli.export",
    "play": "referee.cli.play",
    "rules": "referee.cli.rules",
    "sheet": "referee.cli.sheet",
    "perft": "referee.cli.perft",
    "print": "referee.cli.print_sheets",
    "lights": "referee.cli.lights",
    "sensors": "referee.cli.sensors",
    "firmware": "referee.cli.firmware",
    "doctor": "referee.cli.doctor",
    "config": "referee.cli.config",
    "completion": "referee.cli.completion",
}


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from importlib import metadata

    try:
        version = metadata.version("tabletop-referee")
    except metadata.PackageNotFoundError:
        version = "not installed, run from its folder"
    click.echo(f"referee {version}")
    ctx.exit()


@click.group(
    cls=Root,
    modules=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 all is well, 1 a check failed, 2 wrong usage, 3 to 8 errors (see docs/command-line.md).",
)
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Settings file. Default: $REFEREE_CONFIG, ./referee.toml, then your configuration folder.",
)
@click.option("--debug", is_flag=True, envvar="REFEREE_DEBUG", help="Show tracebacks of errors.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def root(ctx: click.Context, config_path: Path | None, debug: bool) -> None:
    """Referee a game on a real table.

    A camera sees the board, lights and words say what happened.

    Examples:
      referee demo                      a game on a virtual table, in the terminal
      referee doctor                    what is there, what is missing, what to do
      referee watch --camera 0          referee the table under the first camera
    """
    context = ctx.ensure_object(CommandContext)
    context.config_path = config_path
    context.debug = debug
    context.environment = dict(os.environ)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(USAGE)
