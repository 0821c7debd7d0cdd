"""``./run hardware firmware``: the microcontroller's firmware and its pin map."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from common.phrases import counted
from firmware_bridge.pin_maps.file import read_pin_map
from firmware_bridge.pin_maps.pin_map import BOARDS, PinMap, example_pin_map
from firmware_bridge.ports.selection import WantedBoard
from hardware.pin_map import BUTTON_ROLES, USUAL_BUTTONS
from referee.cli.context import READABLE_FILE, CommandContext, output, print_findings, progress_output, say
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand, ExampleGroup
from referee.settings.conversions import wanted_board

if TYPE_CHECKING:
    from firmware_bridge.install.access import InstallEnvironment
    from firmware_bridge.install.manifest import Firmware

_PORT = click.option("--port", help="The board's serial port.  [default: as in the settings; the only board there is]")
_PINS = click.option("--pins", type=READABLE_FILE, help="The pin map.  [default: as in the settings, board.pin_map]")


@click.group(name="firmware", cls=ExampleGroup)
def firmware_command() -> None:
    """Put the firmware on a microcontroller, and check it.

    A pin map says what is wired to the microcontroller's pins; it is installed too.

    Examples:
      ./run hardware firmware pins --example > pins.toml
      ./run hardware firmware install --pins pins.toml
      ./run hardware firmware check
    """


@firmware_command.command(cls=ExampleCommand)
@_PORT
@_PINS
@click.pass_obj
def install(context: CommandContext, port: str | None, pins: Path | None) -> None:
    """Put the firmware and the pin map on the board.

    Only files that differ are sent; every file is checked on the board. Without a pin map the board
    keeps the one it has.

    Examples:
      ./run hardware firmware install --pins pins.toml
      ./run hardware firmware install --port /dev/ttyACM0
    """
    from firmware_bridge.install.check import equipment
    from firmware_bridge.install.installation import install as install_on_board
    from firmware_bridge.install.manifest import version_text

    wanted, pin_map = _select_board(context, port, pins)
    with _progress() as progress:
        done = install_on_board(wanted, _firmware(), pin_map, _install_environment(), progress)
    version = version_text(done.version)
    if not done.written:
        click.echo(f"Firmware {version} was already on the board on {done.port.device}; every file is as it should be.")
    else:
        files = counted(len(done.written), "file")
        before = f" (before: {version_text(done.before)})" if done.before not in (None, done.version) else ""
        click.echo(f"Firmware {version}{before} is on the board on {done.port.device}: {files} written and checked.")
    if done.kept_main is not None:
        click.echo(f"The board's own main.py is kept there as {done.kept_main}.")
    if done.welcome is None:
        say(
            "Its pin map makes the board talk over its UART. Check it there: "
            "`./run hardware firmware check --quick --port PORT`."
        )
    else:
        click.echo(f"{done.welcome.board} answers: {equipment(done.welcome)}.")
    if not done.has_pin_map:
        click.echo("There is no pin map on the board, so it uses none of its pins: give one with --pins.", err=True)


@firmware_command.command(cls=ExampleCommand)
@_PORT
@_PINS
@click.option("--quick", is_flag=True, help="Only ask the running firmware; its files are not compared.")
@click.pass_obj
def check(context: CommandContext, port: str | None, pins: Path | None, quick: bool) -> int:
    """Compare what is on the board with what should be there.

    The board stops for a few seconds while its files are compared. Exits with 1 when there is something to do.

    Examples:
      ./run hardware firmware check
      ./run hardware firmware check --pins pins.toml
      ./run hardware firmware check --quick
    """
    from firmware_bridge.install.check import check as check_board

    wanted, pin_map = _select_board(context, port, pins)
    with _progress() as progress:
        checked = check_board(wanted, _firmware(), pin_map, _install_environment(), progress, quick=quick)
    console = output()
    console.print(Text(str(checked.port)))
    print_findings(console, checked.findings, "wrong")
    return OK if checked.is_good else CHECK_FAILED


@firmware_command.command(cls=ExampleCommand)
@click.argument("file", type=READABLE_FILE, required=False)
@click.option("--example", is_flag=True, help="Print a whole pin map with every key explained.")
@click.option(
    "--board", type=click.Choice(list(BOARDS)), default="pico", show_default=True, help="The example's board."
)
def pins(file: Path | None, example: bool, board: str) -> None:
    """Check a pin map, or print one to begin with.

    Examples:
      ./run hardware firmware pins --example > pins.toml
      ./run hardware firmware pins --example --board esp32-s3 > pins.toml
      ./run hardware firmware pins pins.toml
    """
    if example == (file is not None):
        raise click.UsageError("give a FILE to check, or --example")
    if file is None:
        click.echo(example_pin_map(board, USUAL_BUTTONS), nl=False)
        return
    made = read_pin_map(file, button_roles=BUTTON_ROLES)
    _warn(made)
    buttons = ", ".join(made.button_roles) or "none"
    click.echo(
        f"{file} is a good pin map ({made.board.title}): {counted(made.light_count, 'light')}, "
        f"{counted(made.switch_count, 'switch', 'switches')}, buttons: {buttons}."
    )


def _select_board(context: CommandContext, port: str | None, pins: Path | None) -> tuple[WantedBoard, PinMap | None]:
    """Return the board and the pin map given by the options and the settings."""
    board = context.configuration().settings.board
    file = pins or board.pin_map
    pin_map = None if file is None else read_pin_map(file, button_roles=BUTTON_ROLES)
    if pin_map is not None:
        _warn(pin_map)
    return wanted_board(board) if port is None else WantedBoard(port, baud=board.baud), pin_map


def _firmware() -> Firmware:
    from firmware_bridge.install.manifest import our_firmware

    return our_firmware(files("firmware_bridge") / "firmware")


def _install_environment() -> InstallEnvironment:
    from firmware_bridge.install.access import InstallEnvironment

    return InstallEnvironment(say=lambda sentence: click.echo(sentence, err=True))


def _warn(pin_map: PinMap) -> None:
    for warning in pin_map.warnings:
        click.echo(f"note: {warning}", err=True)


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show the current operation and its progress on standard error."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn())
    console = progress_output()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield show
