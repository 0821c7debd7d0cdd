"""``./run pieces read`` and ``./run pieces enrol``: reading pictures of the table, and learning the pieces' looks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from common.phrases import capitalized, listed
from engine import registry
from engine.api import Game
from engine.errors import EngineError
from engine.values import OptionValue
from referee.cli.context import CommandContext, say
from referee.cli.dice import read_dice, teach_faces
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand
from referee.cli.options import (
    GAME,
    OUTPUT_FILE,
    READABLE_FILE,
    Corners,
    calibration_option,
    grid_options,
    input_options,
    layout_option,
    markers_option,
    setting_option,
)
from referee.cli.picture_files import camera_of, draw_reading, load_checked_image, named_in_errors, show_reading
from referee.cli.sheets import handwriting_of, read_sheets, teach_digits
from referee.cli.tiles import read_digits, read_tiles
from referee.judge.starts import set_up_states, usual_appearance
from referee.settings.conversions import table_options
from referee.settings.settings import Settings
from referee.settings.table_layout import game_of_layout, layout_for_camera, with_rules
from vision.errors import EnrolmentError, NotLocatedError
from vision.frame import Frame
from vision.images import load_image, write_image
from vision.layout.pieces import GridSurface
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.learning_reader import likeliest_orientation
from vision.readers.protocols import EnrolmentPicture
from vision.readers.registry import missing_traits, reader_kind, table_reader
from vision.reading import Reading, reading_to_json

_SEEN_BY = {
    "--dice": (),
    "--tiles": (),
    "--digits": ("table.looks",),
    "--sheet": ("table.layout", "table.looks", "game.name"),
}
"""The settings of the camera, the table and the game that count for pictures of something else than a table."""


@click.command(cls=ExampleCommand)
@click.argument("images", nargs=-1, required=True, type=READABLE_FILE, metavar="IMAGE...")
@input_options
@setting_option("--game", setting="game.name", type=GAME, help="The game on the table.  [default: as in the settings]")
@click.option(
    "--dice", is_flag=True, help="Read the dice of plain photographs; neither calibration nor layout is needed."
)
@click.option(
    "--faces",
    type=READABLE_FILE,
    help="With --dice: what `./run pieces enrol --dice` learned of faces without pips.",
)
@click.option(
    "--tiles",
    type=READABLE_FILE,
    help="Read printed tiles of any game: what `./run pieces teach` learned of them.",
)
@click.option("--digits", is_flag=True, help="Read handwritten digits and crosses in any printed grid.")
@click.option(
    "--sheet", is_flag=True, help="Read a sheet in a phone's photo, with its score; no calibration is needed."
)
@grid_options(required=False)
@click.option("--any-way-up", is_flag=True, help="With --tiles: they may lie turned by quarter turns.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, for programs: every probability; of dice, the largest."
)
@click.option("--debug-image", type=OUTPUT_FILE, help="Write a copy of the picture with what was found drawn on it.")
@click.pass_obj
def read_command(
    context: CommandContext,
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
    corners: Corners | None,
    any_way_up: bool,
    as_json: bool,
    debug_image: Path | None,
) -> int:
    """Read a picture of a table, dice, sheets, tiles or handwritten digits.

    Without looks, the colours are learned from the picture itself, which must then show a set-up.
    Prints the board, what is doubtful and what hinders the view. Exits with 1 when the table could not be read.

    Examples:
      ./run pieces read table.jpg --calibration camera.json --looks looks.json
      ./run pieces read table.jpg --calibration camera.json --json | jq '.places.c3'
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
    return _read_table(context, images[0], seen_by, debug_image, as_json=as_json)


def _read_table(
    context: CommandContext,
    image: Path,
    seen_by: Mapping[str, Path | str | None],
    debug_image: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print a reading of one picture of the table and return the exit code."""
    settings = context.configuration(seen_by).settings
    camera = camera_of(settings.camera.calibration)
    game, options, table = _game_and_table(settings)
    frame = Frame(load_checked_image(image, camera.size), 0.0, 0, str(image))
    pose, known, is_learned = None, None, False
    if any(isinstance(surface, GridSurface) for surface in table.surfaces):
        kind = reader_kind(table)
        plain = kind.plain(table.board)
        start = usual_appearance(game, options)
        taught = None if settings.table.looks is None else kind.load(settings.table.looks)
        known = plain if taught is None else taught
        if taught is None or not table.markers.centres_mm:
            # If the table is not located, the reading says why.
            try:
                with suppress(NotLocatedError):
                    pose, known = likeliest_orientation(
                        frame,
                        camera,
                        table,
                        lambda view: kind.learn(view, plain, start) if taught is None else taught,
                        start,
                    )
                    is_learned = taught is None
            except EnrolmentError as error:
                raise EnrolmentError(f"{error}; without --looks the picture must show a set-up") from None
    reader = table_reader(camera, table, known, pose)
    reading = reader.read(frame)
    if is_learned and known is not None and set(known.traits[0]) == set(game.players):
        _check_set_up(game, options, reading, anywhere=settings.table.anywhere)
    if debug_image is not None:
        write_image(debug_image, draw_reading(frame, reader, pose, reading))
    if as_json:
        click.echo(json.dumps(reading_to_json(reading, str(image)), indent=2, ensure_ascii=False))
    else:
        show_reading(game, reading)
    return OK if reading.places or reading.rolls else CHECK_FAILED


def _game_and_table(settings: Settings) -> tuple[Game[Any, Any], Mapping[str, OptionValue], TableLayout]:
    """Return the game that the layout names, or else the one in the settings, its options, and its table; raises
    LayoutError.

    Another game than that in the settings has its usual options.
    """
    name = game_of_layout(settings.table.layout) or settings.game.name
    game, table = registry.load(name), layout_for_camera(name, settings.table.layout, settings.table.markers)
    if name != settings.game.name:
        return game, {}, table
    options = table_options(game, settings.game.options)
    return game, options, with_rules(table, game, options)


def _check_set_up(
    game: Game[Any, Any], options: Mapping[str, OptionValue], reading: Reading, *, anywhere: bool
) -> None:
    """Say that the colours, learned by the players' sides, may be swapped if the picture shows no set-up."""
    shown = {place: seen.best[0] for place, seen in reading.places.items()}
    try:
        set_up_states(game, shown, options, anywhere=anywhere)
    except EngineError as error:
        say(
            f"The colours of {listed(game.players)} are a guess and may be swapped: without --looks the picture must "
            f"show a set-up. {capitalized(str(error))}",
            as_error=True,
        )


@click.command(cls=ExampleCommand)
@click.argument("images", nargs=-1, required=True, type=READABLE_FILE)
@calibration_option
@layout_option
@markers_option
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
@click.option("--out", type=OUTPUT_FILE, required=True, help="The looks to write.")
@click.pass_obj
def enrol_command(
    context: CommandContext,
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
    camera = camera_of(settings.camera.calibration)
    game, _, table = _game_and_table(settings)
    kind = reader_kind(table)
    known = [kind.positions(text, table.board) for text in positions]
    pictures = []
    for index, path in enumerate(images):
        image = load_image(path)
        with named_in_errors(path):
            pose = locate(image, camera, table).pose
        position = known[index if len(known) > 1 else 0]
        pictures.append(EnrolmentPicture(image, camera, pose, position, str(path), table.markers))
    looks = kind.enrol(pictures, table.board)
    kind.save(looks, out)
    kinds, *details = looks.traits
    if isinstance(looks, BlockAppearance):
        shown = {symbol for position in known for _, symbol in position.values()}
        details = [tuple(symbol for symbol in looks.symbols if symbol in shown)]
    click.echo(f"{' with '.join(', '.join(names) for names in (kinds, *details))} in {out}")
    if isinstance(looks, BlockAppearance) and len(shown) < len(looks.symbols):
        unseen = [symbol for symbol in looks.symbols if symbol not in shown]
        click.echo(f"No picture shows {listed(unseen)}; taken as usually drawn.")
    if lacking := missing_traits(looks, game.looks):
        say(f"Missing: {listed(lacking)}. `./run watch` needs them too; add a picture of them.")
