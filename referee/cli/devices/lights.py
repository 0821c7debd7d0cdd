"""``referee lights``: which light is which square, and whether all of them work."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext, output
from referee.cli.group import ExampleCommand, ExampleGroup
from referee.cli.options import READABLE_FILE, WRITABLE_FILE


@click.group(name="lights", cls=ExampleGroup)
def command() -> None:
    """Learn which light is which square, and try the lights.

    What shows them stands in the settings: drivers below [lights].

    Examples:
      referee lights map --out lights.toml
      referee lights test
    """


@command.command(name="map", cls=ExampleCommand)
@click.option(
    "--out", type=WRITABLE_FILE, help="The light map to write.  [default: as in the settings, or lights.toml]"
)
@click.option(
    "--lights", "count", type=click.IntRange(1, 300), help="How many lights there are. A board says it itself."
)
@click.option("--game", "game_name", help="Whose squares they are.  [default: as in the settings]")
@click.option("--camera", help="Let this camera find each light; the board must be empty. You are asked where unsure.")
@click.option("--calibration", type=READABLE_FILE, help="What `referee calibrate` wrote for this camera.")
@click.option("--layout", type=READABLE_FILE, help="The measured table. Default: the layout that comes with the game.")
@click.pass_obj
def map_lights(
    context: CommandContext,
    out: Path | None,
    count: int | None,
    game_name: str | None,
    camera: str | None,
    calibration: Path | None,
    layout: Path | None,
) -> int:
    """Learn which light of the strip is under which square.

    One light after the other shines; type the square where you see it, or let the camera find it. Enter alone: no
    square. status: the status light. b: back. f: finish.

    Examples:
      referee lights map --out lights.toml
      referee lights map --camera 0 --calibration camera.json
    """
    from referee.mapping.lights import LightMapOptions, map_lights

    configuration = context.configuration(
        {
            "game.name": game_name,
            "camera.source": camera,
            "camera.calibration": calibration,
            "table.layout": layout,
            "lights.strip_lights": count,
        }
    )
    options = LightMapOptions(out or configuration.settings.lights.light_map or Path("lights.toml"), camera is not None)
    return map_lights(configuration, options, output(), input)


@command.command(name="test", cls=ExampleCommand)
@click.option("--seconds", type=click.FloatRange(0.05, 60), default=2.0, show_default=True, help="How long each shows.")
@click.pass_obj
def test_lights(context: CommandContext, seconds: float) -> int:
    """Show everything that lights can say, one after the other, with words.

    Examples:
      referee lights test
      referee lights test --seconds 5
    """
    from referee.mapping.lights import show_every_light

    return show_every_light(context.configuration(), seconds, output())
