"""``./run hardware``: which light and switch is which square, tests of them, and the firmware of a microcontroller."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from app.cli import context as cli
from app.cli.group import CHECK_FAILED, OK, ExampleCommand, ExampleGroup
from app.settings.conversions import wanted_board
from common.phrases import counted
from common.user import user_name
from firmware_bridge.pin_maps.file import read_pin_map
from firmware_bridge.pin_maps.pin_map import BOARDS, PinMap, example_pin_map
from firmware_bridge.ports.selection import WantedBoard
from hardware.pin_map import BUTTON_ROLES, USUAL_BUTTONS

if TYPE_CHECKING:
    from firmware_bridge.install.access import InstallEnvironment
    from firmware_bridge.install.manifest import Firmware


@click.group(name="lights", cls=ExampleGroup)
def lights_command() -> None:
    """Learn which light is which square, and try the lights.

    The settings say what shows them: drivers under [lights].

    Examples:
      ./run hardware lights map --out lights.toml
      ./run hardware lights test
    """


@lights_command.command(name="map", cls=ExampleCommand)
@click.option(
    "--out", type=cli.OUTPUT_FILE, help="The light map to write.  [default: as in the settings, or lights.toml]"
)
@click.option("--lights", "count", type=cli.WholeNumber(1, 300), help="How many lights there are; a board reports it.")
@cli.which_game_option
@click.option("--camera", help="Let this camera find each light; the board must be empty. It asks where it is unsure.")
@cli.calibration_option
@cli.layout_option
@click.pass_obj
def learn_lights(
    context: cli.CommandContext,
    out: Path | None,
    count: int | None,
    game_name: str | None,
    camera: str | None,
    calibration: Path | None,
    layout: Path | None,
) -> int:
    """Learn which light of the strip is under which square.

    One light after the other is lit; type the square where you see it, or let the camera find it. Enter alone: no
    square. status: the status light. b: back. f: finish.

    Examples:
      ./run hardware lights map --out lights.toml
      ./run hardware lights map --camera 0
    """
    from app.mapping.lights import map_lights

    configuration = context.configuration(
        {
            "game.name": game_name,
            "camera.source": camera,
            "camera.calibration": calibration,
            "table.layout": layout,
            "lights.strip_lights": count,
        }
    )
    file = out or configuration.settings.lights.light_map or Path("lights.toml")
    return map_lights(configuration, file, cli.output(), cli.ask, by_camera=camera is not None)


@lights_command.command(name="test", cls=ExampleCommand)
@click.option("--seconds", type=cli.Number(0.05, 60), default=2.0, show_default=True, help="How long each is shown.")
@click.pass_obj
def test_lights(context: cli.CommandContext, seconds: float) -> int:
    """Show every signal of the lights, one after the other, with words.

    Examples:
      ./run hardware lights test
      ./run hardware lights test --seconds 5
    """
    from app.mapping.lights import show_every_light

    return show_every_light(context.configuration(), seconds, cli.output())


@click.group(name="sensors", cls=ExampleGroup, invoke_without_command=True)
@click.pass_context
def sensors_command(ctx: click.Context) -> int | None:
    """Show the switches under the squares, and learn which is where.

    Without a subcommand it shows them once. The settings say where they are wired: source under [sensors].

    Examples:
      ./run hardware sensors
      ./run hardware sensors map --out sensors.toml
    """
    return ctx.invoke(show, once=True) if ctx.invoked_subcommand is None else None


@sensors_command.command(cls=ExampleCommand)
@click.option("--once", is_flag=True, help="Show them once instead of following them.")
@click.pass_obj
def show(context: cli.CommandContext, once: bool) -> int:
    """Show which squares are occupied and which sensors are left out.

    Exits with 1 when a sensor is unclear or switched off. Stop with Ctrl-C.

    Examples:
      ./run hardware sensors show
      ./run hardware sensors show --once
    """
    from app.mapping.sensors import show_sensors

    console = cli.output()
    return show_sensors(context.configuration(), console, once=once or not console.is_terminal)


@sensors_command.command(name="map", cls=ExampleCommand)
@click.option("--out", type=cli.OUTPUT_FILE, help="The map to write.  [default: as in the settings, or sensors.toml]")
@click.option("--by-switch", is_flag=True, help="Put pieces where you like, and type which square it was.")
@cli.which_game_option
@click.pass_obj
def map_switches(context: cli.CommandContext, out: Path | None, by_switch: bool, game_name: str | None) -> int:
    """Learn which switch is under which square.

    Begin with an empty board and put a piece on each square that is named; the switch that closes belongs to it. Enter
    alone: skip. b: back. f: finish.

    Examples:
      ./run hardware sensors map --out sensors.toml
      ./run hardware sensors map --by-switch
    """
    from app.mapping.sensors import map_sensors

    configuration = context.configuration({"game.name": game_name})
    file = out or configuration.settings.sensors.map or Path("sensors.toml")
    return map_sensors(configuration, file, cli.output(), sys.stdin, by_switch=by_switch)


@sensors_command.command(name="put-back", cls=ExampleCommand)
@click.argument("squares", metavar="SQUARE...", nargs=-1, required=True)
@cli.by_option
@cli.journal_option
@click.pass_obj
def put_sensors_back(
    context: cli.CommandContext, squares: tuple[str, ...], by: str | None, journal: Path | None
) -> None:
    """Use sensors again that the referee has switched off.

    A referee that is running does so at once; otherwise the next `./run watch` does.

    Examples:
      ./run hardware sensors put-back c3
      ./run hardware sensors put-back c3 d3 --by Ann
    """
    from app.cli.entries import tell_referee
    from app.sensing.health import put_back
    from referee.commands.values import RestoreSensor, said_plainly

    path = context.configuration({"journal.path": journal}).settings.journal.path
    for square in (text.strip().lower() for text in squares):
        # The sensors' record may outlive its journal.
        if path.exists():
            with said_plainly():
                command = RestoreSensor(square, by or user_name())
            click.echo(tell_referee(context, path, command))
        else:
            click.echo(f"{put_back(path, square)} No referee is running; the next one uses it.")


_PORT = click.option("--port", help="The board's serial port.  [default: as in the settings; the only board there is]")
_PINS = click.option(
    "--pins", type=cli.READABLE_FILE, help="The pin map.  [default: as in the settings, board.pin_map]"
)


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
def install(context: cli.CommandContext, port: str | None, pins: Path | None) -> None:
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
        cli.say(
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
def check(context: cli.CommandContext, port: str | None, pins: Path | None, quick: bool) -> int:
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
    console = cli.output()
    console.print(Text(str(checked.port)))
    cli.print_findings(console, checked.findings, "wrong")
    return OK if checked.is_good else CHECK_FAILED


@firmware_command.command(cls=ExampleCommand)
@click.argument("file", type=cli.READABLE_FILE, required=False)
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


def _select_board(
    context: cli.CommandContext, port: str | None, pins: Path | None
) -> tuple[WantedBoard, PinMap | None]:
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
    console = cli.progress_output()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def show(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield show
