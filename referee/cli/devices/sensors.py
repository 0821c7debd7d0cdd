"""``referee sensors``: which switch is under which square, and what they feel now."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from referee.cli.context import CommandContext, output
from referee.cli.group import ExampleCommand, ExampleGroup
from referee.cli.options import WRITABLE_FILE, by_option, journal_option


@click.group(name="sensors", cls=ExampleGroup, invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> int | None:
    """Look at the switches under the squares; learn which is where.

    Without a subcommand it shows them once. Where they hang stands in the settings: source below [sensors].

    Examples:
      referee sensors
      referee sensors map --out sensors.toml
    """
    return ctx.invoke(show, once=True) if ctx.invoked_subcommand is None else None


@command.command(cls=ExampleCommand)
@click.option("--once", is_flag=True, help="Show them once instead of following them.")
@click.pass_obj
def show(context: CommandContext, once: bool) -> int:
    """Show which squares are occupied, which sensors are taken out, and why.

    Exits with 1 when a sensor can't be told or is taken out. Stop with Ctrl-C.

    Examples:
      referee sensors show
      referee sensors show --once
    """
    from referee.mapping.sensors import show_sensors

    console = output()
    return show_sensors(context.configuration(), console, once=once or not console.is_terminal)


@command.command(name="map", cls=ExampleCommand)
@click.option("--out", type=WRITABLE_FILE, help="The map to write.  [default: as in the settings, or sensors.toml]")
@click.option("--by-switch", is_flag=True, help="Put pieces where you like, and type which square it was.")
@click.option("--game", "game_name", help="Whose squares they are.  [default: as in the settings]")
@click.pass_obj
def map_switches(context: CommandContext, out: Path | None, by_switch: bool, game_name: str | None) -> int:
    """Learn which switch is under which square.

    Begin with an empty board and put a piece on each square that is asked for: the switch that closes is it. Enter
    alone: skip. b: back. f: finish.

    Examples:
      referee sensors map --out sensors.toml
      referee sensors map --by-switch
    """
    from referee.mapping.sensors import SensorMapOptions, map_sensors

    configuration = context.configuration({"game.name": game_name})
    options = SensorMapOptions(out or configuration.settings.sensors.map or Path("sensors.toml"), by_switch)
    return map_sensors(configuration, options, output(), sys.stdin)


@command.command(name="put-back", cls=ExampleCommand)
@click.argument("place", metavar="SQUARE")
@by_option
@journal_option
@click.pass_obj
def put_sensor_back(context: CommandContext, place: str, by: str | None, journal: Path | None) -> None:
    """Go by a sensor again that the referee has taken out.

    A referee that is running does so at once; otherwise the next `referee watch` does.

    Examples:
      referee sensors put-back c3
      referee sensors put-back c3 --by Ann
    """
    from referee.cli.table.client import IDLE, tell_referee, user_name
    from referee.commands.values import RestoreSensor
    from referee.sensing.health_file import put_back

    square, name = place.strip().lower(), by or user_name()
    path = context.configuration({"journal.path": journal}).settings.journal.path
    if not path.exists():
        # What is known of the sensors outlives the journal beside it.
        click.echo(f"{put_back(path, square)} {IDLE}")
        return
    click.echo(tell_referee(context, path, RestoreSensor(square, name)))
