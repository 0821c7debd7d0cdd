"""``referee read``: one picture of the table as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand
from referee.cli.options import READABLE_FILE, WRITABLE_FILE, seeing_options


@click.command(cls=ExampleCommand)
@click.argument("image", type=READABLE_FILE)
@seeing_options
@click.option(
    "--debug-image", type=WRITABLE_FILE, help="Write the picture with what was located, read and found over the board."
)
@click.pass_obj
def command(
    context: CommandContext,
    image: Path,
    calibration: Path | None,
    layout: Path | None,
    looks: Path | None,
    debug_image: Path | None,
) -> int:
    """Read one picture of the table as JSON.

    Without looks, the colours are learned from the picture itself, which must then show a set-up.
    Exits with 1 when the table could not be read; `hindrances` says why.

    Examples:
      referee read table.jpg --calibration camera.json --looks looks.json
      referee read table.jpg --calibration camera.json --debug-image seen.png | jq '.places.c3'
    """
    from engine import registry
    from referee.cli.camera.pictures import camera_of, reading_to_json, save_image
    from referee.settings.table_layout import layout_for_camera
    from vision.drawing import draw, draw_occlusions
    from vision.frame import Frame
    from vision.images import load_image
    from vision.locating.location import locate
    from vision.readers.protocols import SurfaceView
    from vision.readers.registry import reader_kind, table_reader

    settings = context.configuration(
        {"camera.calibration": calibration, "table.layout": layout, "table.looks": looks}
    ).settings
    camera = camera_of(settings.camera.calibration)
    table = layout_for_camera(settings.game.name, settings.table.layout)
    kind = reader_kind(table)
    picture = load_image(image)
    if settings.table.looks is not None:
        known = kind.load(settings.table.looks)
    else:
        view = SurfaceView(picture, camera, locate(picture, camera, table).pose, table.board)
        known = kind.learn(view, kind.plain(table.board), registry.load(settings.game.name).players)
    reader = table_reader(camera, table, known)
    if debug_image is not None:
        located = locate(picture, camera, table)
        stages = reader.stages(picture, located.pose)
        drawn = reader.draw(draw(picture, located, table, camera), stages)
        for seen in stages.values():
            drawn = draw_occlusions(drawn, seen.rectified, seen.occlusions)
        save_image(debug_image, drawn)
    reading = reader.read(Frame(picture, 0.0, 0, str(image)))
    click.echo(json.dumps(reading_to_json(reading, str(image)), indent=2, ensure_ascii=False))
    return OK if reading.places else CHECK_FAILED
