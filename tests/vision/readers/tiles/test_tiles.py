"""Printed tiles taught from one photo and read from others, in other light and perspective."""

import base64
import functools
import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.effort import some
from tests.vision.readers.tiles.drawn import OTHER_SHOTS, STRAIGHT, Shot, photo
from vision.errors import EnrolmentError, FrameError, LayoutError
from vision.frame import Image
from vision.readers import tiles
from vision.readers.tiles import (
    CELL_PX,
    MOST_CELLS,
    UNKNOWN,
    ReadCell,
    TileGrid,
    TileSet,
    TileSettings,
    flat_cells,
    flat_grid,
    learn_tiles,
)

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
@pytest.mark.parametrize("rows", some(SETS.values()), ids=some(SETS))
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


# Differences of two tiles in print and colour, and the probabilities of symbols.

SIDE = 64
"""Pixels of a cell in a picture taken from straight above."""


def square_grid(rows: int, columns: int, side: float = SIDE, left: float = 0.0, top: float = 0.0) -> TileGrid:
    right, bottom = left + columns * side, top + rows * side
    return TileGrid(rows, columns, ((left, top), (right, top), (right, bottom), (left, bottom)))


def row_of(*cells: np.ndarray) -> tuple[Image, TileGrid]:
    """A picture of cells beside each other, each (SIDE, SIDE, 3) in linear light, and their grid."""
    light = np.clip(np.hstack(cells), 0.0, 1.0)
    levels = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(255 * levels).astype(np.uint8), square_grid(1, len(cells))


def plain(*light: float) -> np.ndarray:
    return np.broadcast_to(np.array(light, dtype=np.float64), (SIDE, SIDE, 3)).copy()


def with_print(light: np.ndarray, share: float, shift: int = 0, *, upright: bool = True) -> np.ndarray:
    """A cell with stripes of this share of its light, shifted by some pixels."""
    stripes = np.zeros((SIDE, SIDE), dtype=bool)
    stripes[:, 16:28] = stripes[:, 40:48] = True
    stripes = np.roll(stripes, shift, axis=1)
    return np.where((stripes if upright else stripes.T)[..., None], share * light, light)


def unlikeness(first: np.ndarray, second: np.ndarray) -> float:
    """Unlikeness of two cells of one photo, found by bisecting the threshold at which they count as the same."""
    image, grid = row_of(first, second)
    low, high = 0.0, 4.0
    for _ in range(11):
        middle = (low + high) / 2
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tiles, "_SETTINGS", TileSettings(same=middle))
            try:
                learn_tiles(image, grid, ["a", "b"], "it")
                low = middle
            except EnrolmentError:
                high = middle
    return (low + high) / 2


def by_colour(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    """The unlikeness of two colours, by their brightness and, the less in the dark, by their chromaticity."""
    mean = float(np.mean([first, second]))
    lights = [np.array(one) / mean for one in (first, second)]
    off = np.log(lights[0]) - np.log(lights[1])
    sureness = float(np.prod([(light / (light + 0.05)).min() for light in lights]))
    strange = (off.mean() / 0.7) ** 2 + sureness * ((off - off.mean()) ** 2).sum() / 0.35**2
    return float(strange / (1 + strange))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)),
        ((0.5, 0.5, 0.5), (0.3, 0.3, 0.3)),
        ((0.5, 0.5, 0.5), (0.5, 0.4, 0.6)),
        ((0.2, 0.3, 0.6), (0.25, 0.3, 0.5)),
        ((0.5, 0.5, 0.5), (0.02, 0.03, 0.04)),
        ((0.6, 0.6, 0.6), (0.1, 0.15, 0.1)),
    ],
)
def test_colours_differ_by_brightness_and_chromaticity(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    # The cells blur into each other at their common edge, which is ignored.
    assert unlikeness(plain(*first), plain(*second)) == pytest.approx(by_colour(first, second), abs=0.02)


def test_a_cells_print_is_like_its_own_unlike_a_blank_and_more_unlike_another() -> None:
    grey = plain(0.5, 0.5, 0.5)
    assert unlikeness(with_print(grey, 0.2), with_print(grey, 0.2)) < 0.01
    assert unlikeness(with_print(grey, 0.2), with_print(grey, 0.2, 6)) < 0.1, (
        "shifts of up to three cell pixels are allowed"
    )
    assert unlikeness(with_print(grey, 0.2), with_print(grey, 0.2, 12)) > 0.4
    half = 0.5 * (1.0 + 0.2) / 2
    blank = unlikeness(with_print(grey, 0.2), plain(half, half, half))
    assert blank == pytest.approx(1.0, abs=0.15)
    assert unlikeness(with_print(grey, 0.2), with_print(grey, 0.2, upright=False)) > 1.3
    faint = unlikeness(with_print(grey, 0.93), grey)
    assert 0.02 < faint < 0.4


def test_a_probability_follows_from_the_differences_of_unlikeness(monkeypatch: pytest.MonkeyPatch) -> None:
    grey = plain(0.4, 0.4, 0.4)
    taught = learn_tiles(*row_of(with_print(grey, 0.2), with_print(grey, 0.3, upright=False), grey), list("abc"), "it")
    image, grid = row_of(with_print(grey, 0.25), with_print(grey, 0.4, upright=False), with_print(grey, 0.95))
    odds = []
    for sharpness in (5.0, 10.0):
        with monkeypatch.context() as patch:
            patch.setattr(tiles, "_SETTINGS", TileSettings(sharpness=sharpness))
            (read,) = taught.read(image, grid, "it")
        assert [cell.symbol for cell in read] == list("abc")
        for cell in read:
            assert cell.probability == max(cell.probabilities.values()) == cell.probabilities[cell.symbol]
            assert set(cell.probabilities) == {"a", "b", "c", UNKNOWN}
        odds.append(np.log([cell.probability / cell.probabilities[UNKNOWN] for cell in read]))
    assert odds[1] == pytest.approx(2 * odds[0], rel=1e-6)
    (usual,) = taught.read(image, grid, "it")
    assert np.log(usual[0].probability / usual[0].probabilities[UNKNOWN]) == pytest.approx(10 * odds[0][0], rel=1e-6)
    (same,) = taught.read(*row_of(with_print(grey, 0.2), with_print(grey, 0.3, upright=False), grey), "it")
    assert np.log(same[0].probability / same[0].probabilities[UNKNOWN]) == pytest.approx(50 * 0.24, abs=0.7)
    monkeypatch.setattr(tiles, "_SETTINGS", TileSettings(unknown=-1.0))
    (strict,) = taught.read(image, grid, "it")
    assert [cell.symbol for cell in strict] == [UNKNOWN] * 3


@pytest.mark.parametrize("lamp", some([(0.4, 0.7, 1.0), (1.0, 0.8, 0.5), (0.5, 0.5, 0.5)], 1))
@pytest.mark.parametrize("fades", [0.0, 0.4])
def test_plain_colours_are_distinguished_under_one_light_for_all_cells(
    lamp: tuple[float, float, float], fades: float
) -> None:
    names = ("red", "blue", "black", ".")
    rows = ("red blue black .", ". black blue red", "blue . red black")
    image, grid = photo(rows)
    tiles = learn_tiles(image, grid, " ".join(rows).split(), "it")
    now = ("black red . blue", "red . black blue", ". . . .", "blue black red .")
    read = tiles.read(*photo(now, replace(STRAIGHT, lamp=lamp, fades=fades), seed=3), "another")
    assert tuple(" ".join(cell.symbol for cell in row) for row in read) == now
    assert set(tiles.counts) == set(names)


@pytest.mark.parametrize(
    ("rows", "columns", "fits"),
    [(1, 1, True), (MOST_CELLS, MOST_CELLS, True), (41, 1, False), (1, 41, False), (1, 0, False)],
)
def test_a_grid_has_one_to_forty_rows_and_columns(rows: int, columns: int, fits: bool) -> None:
    corners = ((0.0, 0.0), (100.0, 0.0), (100.0, 100.0), (0.0, 100.0))
    if fits:
        assert TileGrid(rows, columns, corners).rows == rows
    else:
        with pytest.raises(LayoutError, match=f"the grid has {rows} x {columns} cells; expected 1 to 40"):
            TileGrid(rows, columns, corners)


@pytest.mark.parametrize("at", range(4))
def test_no_corner_of_a_grid_may_lie_on_the_line_between_others(at: int) -> None:
    corners = [(0.0, 0.0), (90.0, 0.0), (90.0, 60.0), (0.0, 60.0)]
    corners[at] = tuple(np.mean([corners[at - 1], corners[(at + 1) % 4]], axis=0))
    with pytest.raises(LayoutError, match="do not go once around a grid"):
        TileGrid(2, 3, tuple(corners))


def test_the_edges_of_cells_are_measured_in_the_photo() -> None:
    assert TileGrid(2, 3, ((10, 10), (100, 10), (100, 50), (10, 50))).edges_px() == pytest.approx((20.0, 30.0))
    slanted = TileGrid(2, 2, ((40, 10), (80, 10), (120, 110), (0, 110)))
    shortest, longest = slanted.edges_px()
    assert shortest == pytest.approx(20.0)
    assert 60.0 <= longest < 90.0
    centre = slanted.to_pixels() @ np.array([1.0, 1.0, 1.0])
    # the diagonals of the cells cross where those of the grid do
    assert centre[:2] / centre[2] == pytest.approx((60.0, 35.0))


@pytest.mark.parametrize(("side", "fits"), [(12.0, True), (11.4, False)])
def test_cells_of_twelve_pixels_are_the_smallest(side: float, fits: bool) -> None:
    image = np.full((40, 60, 3), 120, dtype=np.uint8)
    if fits:
        assert flat_cells(image, square_grid(2, 3, side), "it").shape == (6, CELL_PX, CELL_PX, 3)
    else:
        with pytest.raises(FrameError, match="a cell of it is 11 pixels wide or high; expected 12 or more"):
            flat_cells(image, square_grid(2, 3, side), "it")


@pytest.mark.parametrize(
    ("left", "top", "fits"),
    [(-1.0, 0.0, True), (0.0, -1.0, True), (-1.5, 0.0, False), (0.0, -1.5, False), (1.0, 1.0, True), (1.5, 0.0, False)],
)
def test_corners_may_lie_a_pixel_outside_the_picture(left: float, top: float, fits: bool) -> None:
    image = np.full((41, 61, 3), 120, dtype=np.uint8)
    grid = square_grid(2, 3, 20.0, left, top)
    if fits:
        flat_grid(image, grid, "it", 10)
    else:
        with pytest.raises(LayoutError, match="is outside it, which has 61 x 41 pixels"):
            flat_grid(image, grid, "it", 10)


@pytest.mark.parametrize(("cell_px", "finer"), [(64, 1), (32, 2), (25, 3), (8, 6)])
def test_a_grid_is_rectified_with_a_margin_at_a_finer_scale(cell_px: int, finer: int) -> None:
    random = np.random.default_rng(1)
    marks = random.integers(40, 220, (4, 5, 3)).astype(np.uint8)
    image = np.asarray(cv2.resize(marks, None, fx=64, fy=64, interpolation=cv2.INTER_NEAREST), dtype=np.uint8)
    # Pixel centres are at integers, so the first cell's edge is half a pixel outside.
    grid = square_grid(2, 3, 64.0, 63.5, 63.5)
    flat, by = flat_grid(image, grid, "it", cell_px, margin_cells=0.5)
    assert by == finer
    assert flat.shape == (3 * cell_px * finer, 4 * cell_px * finer, 3)
    step = cell_px * finer
    for row in range(2):
        for column in range(3):
            middle = flat[step // 2 + step * row + step // 2, step // 2 + step * column + step // 2]
            assert np.abs(middle.astype(int) - marks[row + 1, column + 1]).max() <= 2
    cells = flat_cells(image, grid, "it")
    light = ((marks[1:3, 1:4] / 255 + 0.055) / 1.055) ** 2.4
    expected = np.log(light.reshape(6, 3) / light.mean() + 0.05)
    assert cells[:, 14:18, 14:18].mean(axis=(1, 2)) == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize(("value", "damaged"), [(19.0, False), (-19.0, False), (21.0, True), (-21.0, True)])
def test_a_taught_tile_with_impossible_light_is_damaged(value: float, damaged: bool, tmp_path: Path) -> None:
    path = tmp_path / "tiles.json"
    good = np.zeros(CELL_PX * CELL_PX * 3, dtype="<f2")
    bad = good.copy()
    bad[5] = value
    tiles = [
        {"symbol": name, "cell": base64.b64encode(cell.tobytes()).decode()} for name, cell in (("A", good), ("B", bad))
    ]
    path.write_text(json.dumps({"format": "tabletop-referee tiles 1", "tiles": tiles}), encoding="utf-8")
    if damaged:
        with pytest.raises(EnrolmentError, match="tile 2 of the taught tiles"):
            TileSet.load(path)
    else:
        kept = TileSet.load(path)
        assert kept.names == ("A", "B")
        assert kept.cells[1].ravel()[5] == pytest.approx(value)
        assert not kept.cells[0].any()
