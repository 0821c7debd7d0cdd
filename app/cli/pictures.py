"""``./run pieces``: reading pictures of tables, sheets, tiles and digits, and learning how the pieces look."""

from pathlib import Path

import click

from app.cli import context as cli
from app.cli.group import ExampleCommand

_SEEN_BY = {
    "--dice": (),
    "--tiles": (),
    "--digits": ("table.looks",),
    "--sheet": ("table.layout", "table.looks", "game.name"),
}
"""The settings of the camera, the table and the game that count for pictures of something else than a table."""


@click.command(cls=ExampleCommand)
@click.argument("images", nargs=-1, required=True, type=cli.READABLE_FILE, metavar="IMAGE...")
@cli.input_options
@cli.setting_option(
    "--game", setting="game.name", type=cli.GAME, help="The game on the table.  [default: as in the settings]"
)
@click.option(
    "--dice", is_flag=True, help="Read the dice of plain photographs; neither calibration nor layout is needed."
)
@click.option(
    "--faces",
    type=cli.READABLE_FILE,
    help="With --dice: what `./run pieces enrol --dice` learned of faces without pips.",
)
@click.option(
    "--tiles",
    type=cli.READABLE_FILE,
    help="Read printed tiles of any game: what `./run pieces teach` learned of them.",
)
@click.option("--digits", is_flag=True, help="Read handwritten numbers and crosses in any printed grid.")
@click.option(
    "--sheet", is_flag=True, help="Read a sheet in a phone's photo, with its score; no calibration is needed."
)
@cli.grid_options(required=False)
@click.option("--any-way-up", is_flag=True, help="With --tiles: they may lie turned by quarter turns.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for programs: every probability; of dice, the largest."
)
@click.option(
    "--debug-image", type=cli.OUTPUT_FILE, help="Write a copy of the picture with what was found drawn on it."
)
@click.pass_obj
def read_command(
    context: cli.CommandContext,
    images: tuple[Path, ...],
    calibration: Path | None,
    layout: Path | None,
    markers: str | None,
    looks: Path | None,
    game: str | None,
    dice: bool,
    faces: Path | None,
    tiles: Path | None,
    digits: bool,
    sheet: bool,
    grid: tuple[int, int] | None,
    corners: cli.Corners | None,
    any_way_up: bool,
    as_json: bool,
    debug_image: Path | None,
) -> int:
    """Read a picture of a table, dice, sheets, tiles or handwritten digits.

    The camera is measured from the picture itself, unless a calibration is set. Without looks, so are the colours; it
    must then show a set-up.
    Prints the board, what is doubtful and what hinders the view. Exits with 1 when the table could not be read.

    Examples:
      ./run pieces read table.jpg --looks looks.json
      ./run pieces read table.jpg --json | jq '.places.c3'
      ./run pieces read --dice rolls/*.jpg --json
      ./run pieces read --sheet ours.jpg
      ./run pieces read now.jpg --tiles tiles.json --grid 4x6 --corners "90,80 550,85 560,400 80,395"
      ./run pieces read page.jpg --digits --grid 9x9 --corners "90,80 550,85 560,400 80,395"
    """
    if tiles is None and not digits and (grid or corners):
        raise click.UsageError("--grid and --corners need --tiles FILE or --digits.")
    if tiles is None and any_way_up:
        raise click.UsageError("--any-way-up needs --tiles FILE.")
    if faces is not None and not dice:
        raise click.UsageError("--faces needs --dice.")
    if debug_image is not None and len(images) > 1:
        raise click.UsageError("--debug-image takes one picture.")
    given = {"--dice": dice, "--tiles": tiles is not None, "--digits": digits, "--sheet": sheet}
    kinds = [kind for kind, is_given in given.items() if is_given]
    if len(kinds) > 1:
        raise click.UsageError(f"{kinds[0]} and {kinds[1]} don't go together: they read different things.")
    seen_by = {
        "camera.calibration": calibration,
        "table.layout": layout,
        "table.markers": markers,
        "table.looks": looks,
        "game.name": game,
    }
    for kind in kinds:
        for key, value in seen_by.items():
            if value is not None and key not in _SEEN_BY[kind]:
                option = "game" if key == "game.name" else key.partition(".")[2]
                raise click.UsageError(f"--{option} has no use with {kind}; leave it out.")
    # Here, because help and usage errors are shown faster without the readers of pieces.
    from app.cli.picture_files import handwriting_of, read_dice, read_digits, read_sheets, read_table, read_tiles

    if sheet:
        settings = context.configuration({"game.name": game}).settings
        return read_sheets(images, settings, layout, looks, debug_image, as_json=as_json)
    if dice:
        return read_dice(images, as_json, debug_image, faces)
    if len(images) > 1:
        raise click.UsageError("one picture of the table is read at a time; several need --dice or --sheet.")
    if tiles is not None or digits:
        if grid is None or corners is None:
            raise click.UsageError(f"{'--digits' if digits else '--tiles'} needs --grid and --corners.")
        if tiles is None:
            known = looks or handwriting_of(context.configuration().settings)
            return read_digits(images[0], known, grid, corners, debug_image, as_json=as_json)
        return read_tiles(images[0], tiles, grid, corners, debug_image, any_way_up=any_way_up, as_json=as_json)
    return read_table(images[0], context.configuration(seen_by).settings, debug_image, as_json=as_json)


@click.command(cls=ExampleCommand)
@click.argument("images", nargs=-1, required=True, type=cli.READABLE_FILE)
@cli.calibration_option
@cli.layout_option
@cli.markers_option
@click.option(
    "--positions",
    required=True,
    multiple=True,
    metavar='FILE|"a4=gold star, …"',
    help="What each picture shows: a JSON file, or squares with colour and symbol up. Once, or once per picture. "
    "With --dice, the face. With --sheet, `copied` (docs/command-line.md says what to write).",
)
@click.option(
    "--dice",
    is_flag=True,
    help="Learn faces of dice: each picture shows one die, --positions names the face as the game writes it.",
)
@click.option("--sheet", is_flag=True, help="Learn your digits from a phone's photos of filled-in Number Drop sheets.")
@click.option("--out", type=cli.OUTPUT_FILE, required=True, help="The looks to write.")
@click.pass_obj
def enrol_command(
    context: cli.CommandContext,
    images: tuple[Path, ...],
    calibration: Path | None,
    layout: Path | None,
    markers: str | None,
    positions: tuple[str, ...],
    dice: bool,
    sheet: bool,
    out: Path,
) -> None:
    """Learn what a piece set, faces of dice or your own digits look like.

    Show every symbol of every colour at least once, in the light you play in.

    Examples:
      ./run pieces enrol set.jpg --positions "a4=gold star, b4=gold stop, c4=teal x" --out looks.json
      ./run pieces enrol gold.jpg teal.jpg --positions gold.json --positions teal.json --out looks.json
      ./run pieces enrol --dice one.jpg star.jpg --positions 1 --positions "*" --out faces.npz
      ./run pieces enrol --sheet filled.jpg --positions copied --out digits.json
    """
    if dice and sheet:
        raise click.UsageError("--sheet and --dice don't go together.")
    from app.cli.picture_files import enrol_pieces, teach_digits, teach_faces

    if dice:
        if not len(set(positions)) == len(positions) == len(images):
            raise click.UsageError("give each picture one --positions, and each face one picture.")
        teach_faces(images, positions, out)
        return
    if len(positions) not in {1, len(images)}:
        raise click.UsageError(
            f"{len(positions)} --positions for {len(images)} pictures; give one, or one per picture."
        )
    if sheet:
        copied = positions if len(positions) > 1 else positions * len(images)
        teach_digits(images, copied, context.configuration().settings, layout, out)
        return
    settings = context.configuration(
        {"camera.calibration": calibration, "table.layout": layout, "table.markers": markers}
    ).settings
    enrol_pieces(images, positions, settings, out)


@click.command(cls=ExampleCommand)
@click.argument("image", type=cli.READABLE_FILE)
@cli.grid_options(required=True)
@click.option(
    "--symbols",
    required=True,
    metavar='"NAME NAME …"',
    help="What the tiles show, row by row, separated by spaces. A name may come several times.",
)
@click.option("--out", type=cli.OUTPUT_FILE, required=True, help="The taught tiles to write.")
def teach_command(image: Path, grid: tuple[int, int], corners: cli.Corners, symbols: str, out: Path) -> None:
    """Learn the printed tiles of any game from one photo.

    They lie in a grid without gaps. An empty place is taught as any tile, for example as a dot.

    Examples:
      ./run pieces teach set.jpg --grid 2x2 --corners "90,80 550,85 560,400 80,395" --symbols "a b c ." --out set.json
      ./run pieces teach row.jpg --grid 1x3 --corners "20,30 620,30 620,230 20,230" --symbols "sun sun ." --out row.json
      ./run pieces read now.jpg --tiles set.json --grid 4x6 --corners "90,80 550,85 560,400 80,395"
    """
    from app.cli.picture_files import teach_tiles

    teach_tiles(image, grid, corners, symbols.split(), out)
