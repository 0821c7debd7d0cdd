"""The command ``referee`` itself: what holds for every subcommand, and the list of them."""

from __future__ import annotations

import os
from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import USAGE, Root

COMMANDS = {
    "demo": "referee.cli.watch:demo_command",
    "new": "referee.cli.entries:new_command",
    "watch": "referee.cli.watch:watch_command",
    "games": "referee.cli.kept_games:games_command",
    "status": "referee.cli.kept_games:status_command",
    "correct": "referee.cli.entries:correct_command",
    "take-back": "referee.cli.entries:take_back_command",
    "turn": "referee.cli.entries:turn_command",
    "roll": "referee.cli.entries:roll_command",
    "announce": "referee.cli.entries:announce_command",
    "hint": "referee.cli.entries:hint_command",
    "read": "referee.cli.pictures:read_command",
    "calibrate": "referee.cli.calibration:calibrate_command",
    "enrol": "referee.cli.pictures:enrol_command",
    "replay": "referee.cli.records:replay_command",
    "export": "referee.cli.records:export_command",
    "play": "referee.cli.play.command:play_command",
    "rules": "referee.cli.games:rules_command",
    "sheet": "referee.cli.games:sheet_command",
    "perft": "referee.cli.games:perft_command",
    "print": "referee.cli.calibration:print_command",
    "lights": "referee.cli.squares:lights_command",
    "sensors": "referee.cli.squares:sensors_command",
    "firmware": "referee.cli.firmware:firmware_command",
    "doctor": "referee.cli.installation:doctor_command",
    "config": "referee.cli.installation:config_command",
    "completion": "referee.cli.installation:completion_command",
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
    targets=COMMANDS,
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

    A camera sees the board; lights and words say what happened.

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
