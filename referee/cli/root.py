"""The command ``referee`` itself: global options, and the list of subcommands."""

from __future__ import annotations

import os
from pathlib import Path

import click

from common.program import program_version
from referee.cli.context import CommandContext
from referee.cli.group import USAGE, LazyGroup, Root

EVERY_DAY = {
    "demo": "referee.cli.watch:demo_command",
    "play": "referee.cli.play.command:play_command",
    "watch": "referee.cli.watch:watch_command",
    "setup": "referee.cli.setup:setup_command",
    "games": "referee.cli.games:games_command",
    "status": "referee.cli.games:status_command",
    "hint": "referee.cli.entries:hint_command",
    "doctor": "referee.cli.installation:doctor_command",
}

GAMES = {
    "new": "referee.cli.entries:new_command",
    "replay": "referee.cli.records:replay_command",
    "export": "referee.cli.records:export_command",
}
_TABLE = {
    "turn": "referee.cli.entries:turn_command",
    "roll": "referee.cli.entries:roll_command",
    "announce": "referee.cli.entries:announce_command",
    "correct": "referee.cli.entries:correct_command",
    "take-back": "referee.cli.entries:take_back_command",
    "clock": "referee.cli.entries:clock_command",
}
_PIECES = {
    "enrol": "referee.cli.pictures:enrol_command",
    "read": "referee.cli.pictures:read_command",
    "teach": "referee.cli.tiles:teach_command",
}
_HARDWARE = {
    "calibrate": "referee.cli.calibration:calibrate_command",
    "lights": "referee.cli.squares:lights_command",
    "sensors": "referee.cli.squares:sensors_command",
    "firmware": "referee.cli.firmware:firmware_command",
}
_TOOLS = {
    "print": "referee.cli.calibration:print_command",
    "sheet": "referee.cli.rules:sheet_command",
    "rules": "referee.cli.rules:rules_command",
    "perft": "referee.cli.rules:perft_command",
    "config": "referee.cli.installation:config_command",
    "devices": "referee.cli.page:devices_command",
    "bug-report": "referee.cli.page:bug_report_command",
    "link": "referee.cli.machine.link:link_command",
    "completion": "referee.cli.machine.link:completion_command",
    "hall": "referee.cli.machine.hall:hall_command",
    "install": "referee.cli.machine.service:install_command",
    "uninstall": "referee.cli.machine.service:uninstall_command",
}


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    click.echo(f"referee {program_version()}")
    ctx.exit()


@click.group(
    cls=Root,
    targets=EVERY_DAY,
    aliases={**GAMES, **_TABLE, **_PIECES, **_HARDWARE, **_TOOLS},
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    options_metavar="[--config FILE] [--debug] [--version]",
    subcommand_metavar="COMMAND ...",
    epilog="`./run COMMAND --help` says more. --config names a settings file, --debug shows tracebacks of errors. "
    "Exit codes are in docs/command-line.md.",
)
@click.option(
    "--config",
    "config_path",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Settings file.  [default: $REFEREE_CONFIG, ./referee.toml, then your configuration folder]",
)
@click.option("--debug", is_flag=True, envvar="REFEREE_DEBUG", help="Show tracebacks of errors.")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show the version."
)
@click.pass_context
def root(ctx: click.Context, config_path: Path | None, debug: bool) -> None:
    """Referee a game on a real table. A camera sees the board; lights and words say what happened."""
    context = ctx.ensure_object(CommandContext)
    context.config_path = config_path
    context.debug = debug
    context.environment = dict(os.environ)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(USAGE)


@root.group(cls=LazyGroup, targets=_TABLE)
def table() -> None:
    """Say what happened: turn, roll, announce, correct, take-back, clock.

    Examples:
      ./run table turn c1-c2=hoops-a1
      ./run table correct c3 "teal block, x up"
    """


@root.group(cls=LazyGroup, targets=_PIECES)
def pieces() -> None:
    """Teach the pieces, read a picture: enrol, read, teach.

    Examples:
      ./run pieces enrol set.jpg --positions "a4=gold star, c4=teal x" --out looks.json
      ./run pieces read table.jpg
    """


@root.group(cls=LazyGroup, targets=_HARDWARE)
def hardware() -> None:
    """Camera, lights and switches: calibrate, lights, sensors, firmware.

    Examples:
      ./run hardware calibrate 0 --out camera.json
      ./run hardware lights test
    """


@root.group(cls=LazyGroup, targets=_TOOLS)
def tools() -> None:
    """Printing, rules, halls: print, sheet, rules, config, hall, install.

    Examples:
      ./run tools print markers --out markers.pdf
      ./run tools rules deblockle
    """
