"""``referee enrol``: learn a piece set's looks from pictures of known positions."""

from __future__ import annotations

from pathlib import Path

import click

from referee.cli.context import CommandContext
from referee.cli.group import ExampleCommand
from referee.cli.options import READABLE_FILE, WRITABLE_FILE


@click.command(cls=ExampleCommand)
@click.argument("images", nargs=-1, required=True, type=READABLE_FILE)
@click.option("--calibration", type=READABLE_FILE, help="What `referee calibrate` wrote for this camera.")
@click.option("--layout", type=READABLE_FILE, help="The measured table. Default: the layout that comes with the game.")
@click.option(
    "--positions",
    required=True,
    multiple=True,
    metavar='FILE|"a4=gold star, …"',
    help="What each picture shows: a JSON file, or squares with colour and symbol up. Once, or once a picture.",
)
@click.option("--out", type=WRITABLE_FILE, required=True, help="The looks to write.")
@click.pass_obj
def command(
    context: CommandContext,
    images: tuple[Path, ...],
    calibration: Path | None,
    layout: Path | None,
    positions: tuple[str, ...],
    out: Path,
) -> None:
    """Learn what a piece set looks like.

    Show every symbol of every colour at least once, in the light you play in.

    Examples:
      referee enrol set.jpg --positions "a4=gold star, b4=gold stop, c4=teal x" --out looks.json
      referee enrol gold.jpg teal.jpg --positions gold.json --positions teal.json --out looks.json
    """
    from referee.cli.camera.pictures import camera_of
    from referee.settings.table_layout import layout_for_camera
    from vision.images import load_image
    from vision.locating.location import locate
    from vision.readers.blocks.enrolment import EnrolmentPicture
    from vision.readers.registry import reader_kind

    if len(positions) not in {1, len(images)}:
        raise click.UsageError(f"{len(positions)} --positions for {len(images)} pictures; give one, or one a picture.")
    settings = context.configuration({"camera.calibration": calibration, "table.layout": layout}).settings
    camera = camera_of(settings.camera.calibration)
    table = layout_for_camera(settings.game.name, settings.table.layout)
    kind = reader_kind(table)
    known = [kind.positions(text, table.board) for text in positions]
    pictures = []
    for index, path in enumerate(images):
        image = load_image(path)
        pose = locate(image, camera, table).pose
        pictures.append(EnrolmentPicture(image, camera, pose, known[index if len(known) > 1 else 0], str(path)))
    looks = kind.enrol(pictures, table.board)
    kind.save(looks, out)
    click.echo(f"{' with '.join(', '.join(names) for names in looks.traits)} in {out}")
