"""Printed tiles taught from one photo and read from others, in other light and perspective."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.vision.readers.tiles.drawn import OTHER_SHOTS, STRAIGHT, Shot, photo
from vision.errors import EnrolmentError, FrameError, LayoutError
from vision.readers.tiles import CELL_PX, UNKNOWN, ReadCell, TileGrid, TileSet, flat_cells, learn_tiles

SETS = {
    "letters": ("A K S T", "X M . .", "H Z V L"),
    "shapes and colours": ("disc coin ring bar", ". . square disc"),
    "no print": ("red blue black .", ". . red blue", "black blue red ."),
}
CORNERS = STRAIGHT.corners


@functools.cache
def taught(rows: tuple[str, ...]) -> TileSet:
    image, grid = photo(rows)
    return learn_tiles(image, grid, " ".join(rows).split(), "a photo")


def shuffled(rows: tuple[str, ...], seed: int) -> tuple[str, ...]:
    names = np.random.default_rng(seed).permutation(" ".join(rows).split())
    return tuple(" ".join(row) for row in names.reshape(len(rows), -1))


def symbols(read: tuple[tuple[ReadCell, ...], ...]) -> tuple[str, ...]:
    return tuple(" ".join(cell.symbol for cell in row) for row in read)


@pytest.mark.parametrize("shot", OTHER_SHOTS, ids=["warm", "cold", "far"])
@pytest.mark.parametrize("rows", SETS.values(), ids=SETS)
def test_taught_tiles_are_read_in_other_light_and_perspective(rows: tuple[str, ...], shot: Shot) -> None:
    now = shuffled(rows, seed=4)
    image, grid = photo(now, shot, seed=5)
    read = taught(rows).read(image, grid, "another photo")
    assert symbols(read) == now
    assert min(cell.probability for row in read for cell in row) > 0.9
    assert all(sum(cell.probabilities.values()) == pytest.approx(1) for row in read for cell in row)


def test_corners_may_be_a_little_off() -> None:
    rows = SETS["letters"]
    image, grid = photo(rows, OTHER_SHOTS[0])
    off = ((3, -3), (-4, 3), (3, 4), (4, -3))
    moved = tuple((x + right, y + down) for (x, y), (right, down) in zip(grid.corners, off, strict=True))
    assert symbols(taught(rows).read(image, replace(grid, corners=moved), "another photo")) == rows


def test_a_grid_of_another_size_is_read() -> None:
    now = ("S . A", "T . K", "X M X", ". . A")
    assert symbols(taught(SETS["letters"]).read(*photo(now, OTHER_SHOTS[1]), "another photo")) == now


def test_tiles_may_lie_any_way_up() -> None:
    rows = ("A K T", "L V .")
    image, grid = photo(rows, OTHER_SHOTS[2], turns=(1, 2, 3))
    any_way, upright = (taught(rows).read(image, grid, "another photo", any_way_up=up) for up in (True, False))
    assert symbols(any_way) == rows
    assert " ".join(symbols(upright)).count(UNKNOWN) >= 3


def test_a_tile_that_was_not_taught_is_unknown() -> None:
    image, grid = photo(("A disc .", "K black W"), OTHER_SHOTS[0])
    assert symbols(taught(SETS["letters"]).read(image, grid, "another photo")) == ("A ? .", "K ? ?")


def test_two_symbols_that_look_alike_when_turned_are_doubtful() -> None:
    image, grid = photo(("6 6 A", ". . K"), OTHER_SHOTS[2])
    read = taught(("6 9 A", ". . K")).read(image, grid, "another photo", any_way_up=True)
    chances = read[0][0].probabilities
    assert chances["6"] + chances["9"] > 0.9
    assert read[0][2].symbol == "A"
    assert read[0][2].probability > 0.9


def test_names_whose_cells_look_the_same_are_refused() -> None:
    image, grid = photo(("A K A", ". T S"))
    with pytest.raises(EnrolmentError, match=r"A \(row 1, column 1\) and B \(row 1, column 3\) look the same in it"):
        learn_tiles(image, grid, list("AKB.TS"), "it")


@pytest.mark.parametrize(
    ("names", "message"),
    [("A K", "got 2 symbols for 1 x 3 = 3 cells; expected one name a cell"), ("A ? K", "choose another name")],
)
def test_names_that_do_not_fit_are_refused(names: str, message: str) -> None:
    image, grid = photo(("A K T",))
    with pytest.raises(EnrolmentError, match=message):
        learn_tiles(image, grid, names.split(), "it")


@pytest.mark.parametrize(
    ("rows", "corners", "message"),
    [
        (2, CORNERS[:3], "3 corners were given; expected four"),
        (2, (CORNERS[0], CORNERS[2], CORNERS[1], CORNERS[3]), "do not go once around a grid"),
        (2, CORNERS[::-1], "in this order: top left, top right, bottom right, bottom left"),
        (2, (CORNERS[0],) * 4, "do not go once around"),
        (0, CORNERS, "expected 1 to 40 rows and columns"),
    ],
)
def test_corners_that_make_no_grid_are_refused(
    rows: int, corners: tuple[tuple[float, float], ...], message: str
) -> None:
    with pytest.raises(LayoutError, match=message):
        TileGrid(rows, 3, corners)


def test_corners_outside_the_picture_and_small_cells_are_refused() -> None:
    image, grid = photo(("A K T",))
    with pytest.raises(LayoutError, match="the corner 700,85 is outside it, which has 640 x 480 pixels"):
        flat_cells(image, replace(grid, corners=(CORNERS[0], (700, 85), *CORNERS[2:])), "it")
    with pytest.raises(FrameError, match=r"a cell of it is \d+ pixels wide or high; expected 12 or more"):
        flat_cells(image, TileGrid(40, 40, CORNERS), "it")


def test_cells_hardly_change_with_exposure() -> None:
    image, grid = photo(("A . disc",), replace(STRAIGHT, noise=0.0))
    dim, _ = photo(("A . disc",), replace(STRAIGHT, noise=0.0, lamp=(0.5, 0.5, 0.5)))
    cells = flat_cells(image, grid, "it")
    assert cells.shape == (3, CELL_PX, CELL_PX, 3)
    assert np.abs(cells - flat_cells(dim, grid, "it")).mean() < 0.05


def test_taught_tiles_are_kept_in_a_file(tmp_path: Path) -> None:
    tiles = taught(SETS["letters"])
    tiles.save(tmp_path / "tiles.json")
    kept = TileSet.load(tmp_path / "tiles.json")
    assert kept.names == tiles.names
    assert dict(kept.counts) == {**dict.fromkeys("AKSTXMHZVL", 1), ".": 2}
    assert np.abs(kept.cells - tiles.cells).max() < 0.01


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("no json", "are not valid JSON: .*; expected what `./run pieces teach` wrote"),
        (json.dumps({"format": "camera"}), "its format is 'camera', not '.*'; expected what"),
        (json.dumps({"format": "tabletop-referee tiles 1"}), "hold no list of tiles"),
        (json.dumps({"format": "tabletop-referee tiles 1", "tiles": [{"symbol": "A", "cell": "AAAA"}]}), "tile 1 of"),
        (json.dumps({"format": "tabletop-referee tiles 1", "tiles": [{"symbol": "A", "cell": "?"}]}), "is damaged"),
        (json.dumps({"format": "tabletop-referee tiles 1", "tiles": ["A"]}), "is damaged"),
    ],
)
def test_a_file_without_taught_tiles_is_refused(data: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "tiles.json").write_text(data, encoding="utf-8")
    with pytest.raises(EnrolmentError, match=message):
        TileSet.load(tmp_path / "tiles.json")
