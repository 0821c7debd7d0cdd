"""The command ``referee`` itself: global options, and the list of subcommands."""

import os
import shlex
import signal
import sys
from functools import partial
from pathlib import Path

import click

from app.cli.context import CommandContext
from app.cli.group import USAGE, LazyCommand, LazyGroup, Root, report_fault
from common.program import VARIABLE, program_version
from common.shown_text import guard_output

COMPLETE_VARIABLE = "_REFEREE_COMPLETE"
"""The environment variable by which a shell asks for completions."""


def _commands(*commands: tuple[str, str, str]) -> dict[str, click.Command]:
    """Return commands by name, each given by its name, its module in ``app.cli`` and the sentence that lists it."""
    return {name: LazyCommand(name, module, words) for name, module, words in commands}


_EVERY_DAY = _commands(
    ("demo", ".watch", "Watch the referee at work on a virtual table."),
    ("play", ".play.command", "Play a game at the terminal."),
    ("start", ".start", "Set up a real table and play, with a phone or a webcam."),
    ("watch", ".watch", "Referee a real table, a video or pictures."),
    ("games", ".games", "List the games; begin, show, resume, check, end or copy them."),
    ("status", ".games", "Show the board, whose turn it is and what comes next."),
    ("hint", ".entries", "Give a hint: a good turn, and why."),
    ("doctor", ".machine", "Check what works, what is missing and what to do."),
)
GAMES = _commands(
    ("new", ".entries", "Begin a new game in the journal."),
    ("replay", ".games", "Check a game or journal and tell what happened."),
    ("export", ".games", "Write a game of the journal as a game record."),
)
_TABLE = _commands(
    ("turn", ".entries", "Play a turn by text."),
    ("roll", ".entries", "Enter what the dice show."),
    ("announce", ".entries", "Announce a resignation, a draw or a claim."),
    ("correct", ".entries", "Say what really stands on the board."),
    ("take-back", ".entries", "Take the last turn back."),
    ("clock", ".entries", "Stop the clock of the running game, or let it go on."),
)
_PIECES = _commands(
    ("enrol", ".pictures", "Learn what a piece set, faces of dice or your own digits look like."),
    ("read", ".pictures", "Read a picture of a table, dice, sheets, tiles or handwritten digits."),
    ("teach", ".pictures", "Learn the printed tiles of any game from one photo."),
)
_HARDWARE = _commands(
    ("calibrate", ".calibration", "Measure a camera's lens from pictures of a printed board."),
    ("lights", ".hardware", "Learn which light is which square, and try the lights."),
    ("sensors", ".hardware", "Show the switches under the squares, and learn which is where."),
    ("firmware", ".hardware", "Put the firmware on a microcontroller, and check it."),
)
_TOOLS = _commands(
    ("print", ".calibration", "Make sheets to print, true to scale."),
    ("rules", ".rules", "Summarise a game's rules."),
    ("config", ".machine", "Show the settings and where each comes from."),
    ("devices", ".page", "List the devices that are paired with the page, or change one."),
    ("bug-report", ".page", "Gather what helps to find a fault, in one file."),
    ("hall", "hall.command", "Show every table of a club on one page."),
    ("install", ".machine", "Start the referee at boot, and restart it whenever it ends."),
    ("uninstall", ".machine", "Undo `./run tools install`."),
)


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    click.echo(f"referee {program_version()}")
    ctx.exit()


@click.group(
    cls=Root,
    commands=_EVERY_DAY,
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
    """Referee a game on a real table, with a camera, lights and words."""
    context = ctx.ensure_object(CommandContext)
    context.config_path = config_path
    context.debug = debug
    context.environment = dict(os.environ)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(USAGE)


@root.group(cls=LazyGroup, commands=_TABLE)
def table() -> None:
    """Say what happened: turn, roll, announce, correct, take-back, clock.

    Examples:
      ./run table turn c1-c2=hoops-a1
      ./run table correct c3 "teal block, x up"
    """


@root.group(cls=LazyGroup, commands=_PIECES)
def pieces() -> None:
    """Teach the pieces, read a picture: enrol, read, teach.

    Examples:
      ./run pieces enrol set.jpg --positions "a4=gold star, c4=teal x" --out looks.json
      ./run pieces read table.jpg
    """


@root.group(cls=LazyGroup, commands=_HARDWARE)
def hardware() -> None:
    """Camera, lights and switches: calibrate, lights, sensors, firmware.

    Examples:
      ./run hardware calibrate 0 --out camera.json
      ./run hardware lights test
    """


@root.group(cls=LazyGroup, commands=_TOOLS)
def tools() -> None:
    """Printing, rules, halls: print, rules, config, hall, install.

    Examples:
      ./run tools print markers --out markers.pdf
      ./run tools rules deblockle
    """


def run() -> None:
    """Run the program with this process's arguments and exit with its code."""
    # The matrices are small, so the threads of OpenBLAS would wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # OpenCV and FFmpeg would write their own words to descriptor 1, among ours.
    os.environ["OPENCV_LOG_LEVEL"] = "SILENT"
    for name in ("OPENCV_FFMPEG_DEBUG", "OPENCV_FFMPEG_LOGLEVEL"):
        os.environ.pop(name, None)
    if COMPLETE_VARIABLE not in os.environ:
        # The shell gets its completions, which are names of ours, as bytes.
        guard_output()
    context = CommandContext(program=shlex.quote(os.environ.get(VARIABLE) or "referee"))
    sys.excepthook = partial(report_fault, context)
    # `run` starts Python with Ctrl-C blocked; unblock it now.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    root.main(prog_name=context.program, complete_var=COMPLETE_VARIABLE, obj=context)
