"""``./run pieces teach`` and ``./run pieces read --tiles`` or ``--digits``: a photo of any grid, its corners given."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.table import Table
from rich.text import Text

from referee.cli.context import output, print_table
from referee.cli.group import CHECK_FAILED, OK, ExampleCommand
from referee.cli.options import OUTPUT_FILE, READABLE_FILE, Corners, grid_options
from referee.cli.picture_files import SURE, load_checked_image
from vision.images import write_image
from vision.readers.ink.appearance import load_appearance
from vision.readers.tiles.cells import TileGrid
from vision.readers.tiles.symbols import BARE, UNKNOWN, ReadCell, TileSet, draw_cells, learn_tiles, read_handwriting

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
    _show(cells, "none that was taught", as_json=as_json)
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
    _show(cells, "no digit or cross", as_json=as_json)
    return OK if any(cell.symbol not in {UNKNOWN, BARE} for row in cells for cell in row) else CHECK_FAILED


def _show(cells: tuple[tuple[ReadCell, ...], ...], unknown_words: str, *, as_json: bool) -> None:
    """Print what was read; ``unknown_words`` describe a cell of which nothing is known."""
    if as_json:
        shown = [[_as_json(cell) for cell in row] for row in cells]
        click.echo(json.dumps({"cells": shown}, ensure_ascii=False))
    else:
        _print(cells, unknown_words)


def _as_json(cell: ReadCell) -> dict[str, object]:
    symbol = None if cell.symbol == UNKNOWN else cell.symbol
    probabilities = {name: round(chance, _DIGITS) for name, chance in cell.probabilities.items()}
    return {"symbol": symbol, "probability": round(cell.probability, _DIGITS), "probabilities": probabilities}


def _print(cells: tuple[tuple[ReadCell, ...], ...], unknown_words: str) -> None:
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
