"""``./run pieces``: reading pictures of tables, sheets, tiles and digits, and learning how the pieces look."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from common.phrases import capitalized, counted, listed
from common.places import EMPTY
from engine import registry
from engine.api import Game
from engine.errors import EngineError, UnreadableError
from engine.values import OptionValue
from referee.cli.context import CommandContext, output, print_table, say
from referee.cli.dice import read_dice, teach_faces
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand, exit_code_of
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
from referee.cli.picture_files import SURE, camera_of, draw_reading, load_checked_image, named_in_errors, show_reading
from referee.judge.starts import set_up_states, usual_appearance
from referee.settings.conversions import table_options
from referee.settings.settings import Settings
from referee.settings.table_layout import game_of_layout, layout_for, layout_for_camera, with_rules
from vision.errors import EnrolmentError, LayoutError, NotLocatedError, VisionError
from vision.frame import Frame
from vision.images import load_image, write_image
from vision.layout.pieces import GridSurface, Ink
from vision.layout.table import TableLayout, default_layout, games_with_layouts, load_layout
from vision.locating.location import locate
from vision.locating.photographed import photographed_sheet
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.ink.appearance import learn_handwriting, load_appearance, read_copied, save_appearance
from vision.readers.learning_reader import likeliest_orientation
from vision.readers.protocols import Appearance, EnrolmentPicture
from vision.readers.registry import missing_traits, reader_kind, table_reader
from vision.readers.tiles.cells import TileGrid
from vision.readers.tiles.symbols import BARE, UNKNOWN, ReadCell, TileSet, draw_cells, learn_tiles, read_handwriting
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


_MOST_UNCLEAR = 0.5
"""The largest share of unclear cells among the written ones with which a sheet still gets a score."""


def read_sheets(
    pictures: Sequence[Path],
    settings: Settings,
    layout: Path | None,
    looks: Path | None,
    debug_image: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print the sheet in each photo and return the exit code. An unreadable photo is reported and skipped.

    Without a layout, the sheet of any game is recognized, that of the game in the settings as the settings have it.
    Raises LayoutError and EnrolmentError for faults in the files of the layout and the looks.
    """
    layouts = _layouts(settings, layout)
    looks = looks or handwriting_of(settings)
    taught = None if looks is None else load_appearance(looks)
    ended = OK
    for path in pictures:
        try:
            with named_in_errors(path):
                image = load_checked_image(path)
                sheet = photographed_sheet(image, layouts)
                reader = table_reader(sheet.camera, sheet.layout, _fitting(taught, sheet.layout))
                frame = Frame(image, 0.0, 0, str(path))
                reading = reader.read(frame)
        except VisionError as error:
            say(f"referee: error: {error}", as_error=True)
            ended = max(ended, exit_code_of(error))
            continue
        if debug_image is not None:
            write_image(debug_image, draw_reading(frame, reader, sheet.pose, reading))
        ended = max(ended, OK if reading.places else CHECK_FAILED)
        _print_sheet(registry.load(sheet.layout.game), sheet.layout.board.name, reading, path, as_json=as_json)
    return ended


def teach_digits(
    pictures: Sequence[Path], positions: Sequence[str], settings: Settings, layout: Path | None, out: Path
) -> None:
    """Learn handwritten digits from photos of filled sheets and save them; raises VisionError."""
    images, layouts = [load_image(path) for path in pictures], _layouts(settings, layout)
    sheets = []
    for path, image in zip(pictures, images, strict=True):
        with named_in_errors(path):
            sheets.append(photographed_sheet(image, layouts))
    board = sheets[0].layout.board
    filled = [
        EnrolmentPicture(image, sheet.camera, sheet.pose, read_copied(text, board), str(path))
        for image, sheet, text, path in zip(images, sheets, positions, pictures, strict=True)
    ]
    looks = learn_handwriting(filled, board)
    save_appearance(looks, out)
    click.echo(f"{', '.join(looks.traits[0])} in {out}")


def _layouts(settings: Settings, layout: Path | None) -> list[TableLayout]:
    """Return the layouts that a sheet may belong to: the given one, or that in the settings and those of other games.

    Raises LayoutError for a given layout that names no game, unless sheets of the game in the settings are read.
    """
    own = _own_sheet(settings)
    if layout is None:
        others = [default_layout(game) for game in games_with_layouts() if own is None or game != own.game]
        return others if own is None else [own, *others]
    given = load_layout(layout)
    if given.game not in registry.games():
        if own is None:
            raise LayoutError(f'{layout} names no game; add, for example, "game": "number-drop"')
        given = replace(given, game=own.game)
    return [given]


def _own_sheet(settings: Settings) -> TableLayout | None:
    """Return the layout of the game in the settings if it is written on sheets, as its options divide these."""
    game = registry.load(settings.game.name)
    if not game.has_sheets:
        return None
    layout = layout_for(game.name, settings.table.layout)
    return with_rules(replace(layout, game=game.name), game, table_options(game, settings.game.options))


def handwriting_of(settings: Settings) -> Path | None:
    """Return the looks in the settings if they are a handwriting: if digits are written in the settings' game."""
    sheet = None if settings.table.looks is None else _own_sheet(settings)
    return None if sheet is None or Ink.on(sheet.board).colours else settings.table.looks


def _fitting(taught: Appearance | None, layout: TableLayout) -> Appearance | None:
    """Return the learned handwriting if the layout's sheets have digits; others need none."""
    return None if Ink.on(layout.board).colours else taught


def _print_sheet(game: Game[Any, Any], sheet: str, reading: Reading, path: Path, *, as_json: bool) -> None:
    points, why = _points(game, reading)
    if as_json:
        score = {"points": points, "score": None if points is None else sum(points.values())}
        said = {"game": game.name, "sheet": sheet, **score, **reading_to_json(reading, str(path))}
        click.echo(json.dumps(said, ensure_ascii=False))
        return
    click.echo(f"{path}: {game.title}, {sheet}")
    show_reading(game, reading)
    if points is None:
        click.echo(f"No score: {why}.")
    else:
        parts = ", ".join(f"{name} {value}" for name, value in points.items())
        click.echo(f"Score: {sum(points.values())} ({parts})")


def _points(game: Game[Any, Any], reading: Reading) -> tuple[Mapping[str, int] | None, str]:
    """Return the points of the likeliest reading, or the reason there are none."""
    hidden = [place for place, one in reading.places.items() if one.hidden_by is not None]
    if hidden or not reading.places:
        return None, f"{counted(len(hidden), 'cell') if hidden else 'the cells'} can't be seen"
    written = [one.best for one in reading.places.values() if one.best[0] != EMPTY]
    unclear = sum(probability < SURE for _, probability in written)
    if unclear > _MOST_UNCLEAR * len(written):
        return None, (
            f"{unclear} of {len(written)} written cells are unclear, as if scribbled over; take a sharper photo, or "
            "copy what counts to a fresh sheet"
        )
    if game.points_of_sheet is None:
        return None, f"sheets of {game.title} are not counted"
    try:
        return game.points_of_sheet({place: one.best[0] for place, one in reading.places.items()}), ""
    except UnreadableError as error:
        return None, str(error)


_DIGITS = 4


@click.command(cls=ExampleCommand)
@click.argument("image", type=READABLE_FILE)
@grid_options(required=True)
@click.option(
    "--symbols",
    required=True,
    metavar='"NAME NAME …"',
    help="What the tiles show, row by row, separated by spaces. A name may come several times.",
)
@click.option("--out", type=OUTPUT_FILE, required=True, help="The taught tiles to write.")
def teach_command(image: Path, grid: tuple[int, int], corners: Corners, symbols: str, out: Path) -> None:
    """Learn the printed tiles of any game from one photo.

    They lie in a grid without gaps. An empty place is taught as any tile, for example as a dot.

    Examples:
      ./run pieces teach set.jpg --grid 2x2 --corners "90,80 550,85 560,400 80,395" --symbols "a b c ." --out set.json
      ./run pieces teach row.jpg --grid 1x3 --corners "20,30 620,30 620,230 20,230" --symbols "sun sun ." --out row.json
      ./run pieces read now.jpg --tiles set.json --grid 4x6 --corners "90,80 550,85 560,400 80,395"
    """
    place = TileGrid(*grid, corners)
    picture = load_checked_image(image)
    taught = learn_tiles(picture, place, symbols.split(), str(image))
    taught.save(out)
    click.echo(f"{', '.join(f'{name} ({count})' for name, count in taught.counts.items())} in {out}")


def read_tiles(
    image: Path,
    tiles: Path,
    grid: tuple[int, int],
    corners: Corners,
    debug_image: Path | None,
    *,
    any_way_up: bool,
    as_json: bool,
) -> int:
    """Print the tiles in a photo and return the exit code; raises VisionError."""
    place, taught = TileGrid(*grid, corners), TileSet.load(tiles)
    picture = load_checked_image(image)
    cells = taught.read(picture, place, str(image), any_way_up=any_way_up)
    if debug_image is not None:
        write_image(debug_image, draw_cells(picture, place, cells, SURE))
    _show_cells(cells, "none that was taught", as_json=as_json)
    return OK if any(cell.symbol != UNKNOWN for row in cells for cell in row) else CHECK_FAILED


def read_digits(
    image: Path,
    looks: Path | None,
    grid: tuple[int, int],
    corners: Corners,
    debug_image: Path | None,
    *,
    as_json: bool,
) -> int:
    """Print the handwritten digits in a photo of a printed grid and return the exit code; raises VisionError."""
    place = TileGrid(*grid, corners)
    taught = None if looks is None else load_appearance(looks).handwriting
    picture = load_checked_image(image)
    cells = read_handwriting(picture, place, str(image), taught)
    if debug_image is not None:
        write_image(debug_image, draw_cells(picture, place, cells, SURE))
    _show_cells(cells, "no digit or cross", as_json=as_json)
    return OK if any(cell.symbol not in {UNKNOWN, BARE} for row in cells for cell in row) else CHECK_FAILED


def _show_cells(cells: tuple[tuple[ReadCell, ...], ...], unknown_words: str, *, as_json: bool) -> None:
    """Print what was read; ``unknown_words`` describe a cell of which nothing is known."""
    if as_json:
        shown = [[_cell_as_json(cell) for cell in row] for row in cells]
        click.echo(json.dumps({"cells": shown}, ensure_ascii=False))
    else:
        _print_cells(cells, unknown_words)


def _cell_as_json(cell: ReadCell) -> dict[str, object]:
    symbol = None if cell.symbol == UNKNOWN else cell.symbol
    probabilities = {name: round(chance, _DIGITS) for name, chance in cell.probabilities.items()}
    return {"symbol": symbol, "probability": round(cell.probability, _DIGITS), "probabilities": probabilities}


def _print_cells(cells: tuple[tuple[ReadCell, ...], ...], unknown_words: str) -> None:
    console = output()
    table = Table(box=None, show_header=False, pad_edge=False)
    for row in cells:
        table.add_row(*(Text(cell.symbol) for cell in row))
    print_table(console, table)
    for down, row in enumerate(cells, 1):
        for across, cell in enumerate(row, 1):
            if cell.symbol != UNKNOWN and cell.probability >= SURE:
                continue
            likely = sorted(cell.probabilities.items(), key=lambda one: -one[1])
            others = {name: chance for name, chance in likely if name != cell.symbol and chance >= 1 - SURE}
            what = f"like {unknown_words}" if cell.symbol == UNKNOWN else cell.symbol
            maybe = "".join(
                f", or {unknown_words if name == UNKNOWN else name} ({chance:.0%})" for name, chance in others.items()
            )
            console.print(f"row {down}, column {across}: {what}, {cell.probability:.0%} sure{maybe}", markup=False)
