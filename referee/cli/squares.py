"""``hardware lights`` and ``hardware sensors``: assign lights and switches to squares, and test them."""

import sys
from pathlib import Path

import click

from common.user import user_name
from referee.cli import context as cli
from referee.cli.client import tell_referee
from referee.cli.group import ExampleCommand, ExampleGroup


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
      ./run hardware lights map --camera 0 --calibration camera.json
    """
    from referee.mapping.lights import map_lights

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
    return map_lights(configuration, file, cli.output(), input, by_camera=camera is not None)


@lights_command.command(name="test", cls=ExampleCommand)
@click.option("--seconds", type=cli.Number(0.05, 60), default=2.0, show_default=True, help="How long each is shown.")
@click.pass_obj
def test_lights(context: cli.CommandContext, seconds: float) -> int:
    """Show every signal of the lights, one after the other, with words.

    Examples:
      ./run hardware lights test
      ./run hardware lights test --seconds 5
    """
    from referee.mapping.lights import show_every_light

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
    from referee.mapping.sensors import show_sensors

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
    from referee.mapping.sensors import map_sensors

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
    from referee.commands.values import RestoreSensor, said_plainly
    from referee.sensing.health import put_back

    path = context.configuration({"journal.path": journal}).settings.journal.path
    for square in (text.strip().lower() for text in squares):
        # The sensors' record may outlive its journal.
        if path.exists():
            with said_plainly():
                command = RestoreSensor(square, by or user_name())
            click.echo(tell_referee(context, path, command))
        else:
            click.echo(f"{put_back(path, square)} No referee is running; the next one uses it.")
