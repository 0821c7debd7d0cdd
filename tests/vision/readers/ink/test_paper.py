"""Rectifying a sheet: finer detail is averaged, and ink is separated from light."""

import ast
import importlib
import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.parts.picture_sets import loops_seen
from tests.effort import cases
from tests.vision.readers.ink.sheets import camera, layout, picture, pose
from vision.errors import LayoutError
from vision.frame import Image
from vision.geometry import CameraModel, Side
from vision.readers.ink.network import (
    CELL_PX,
    CellRange,
    flat_map,
    flat_picture,
    flat_window,
    ink_on,
    paper_light,
    range_around,
)
from vision.readers.ink.reader import (
    LOOP,
    NO_LOOP,
    LoopSettings,
    PenSettings,
    decode_loops,
    densities,
    lines_between,
    read_pens,
)
from vision.sampling import linear_light
from vision.surface.paper import hues, usual_hues


def magnified(times: int) -> CameraModel:
    """The camera with this many times its pixels in each direction."""
    matrix = camera().matrix.copy()
    matrix[:2] *= times
    matrix[:2, 2] += (times - 1) / 2
    width, height = camera().size
    return replace(camera(), matrix=matrix, size=(times * width, times * height))


def enlarged(times: int) -> Image:
    """The picture that such a camera takes."""
    one = cv2.resize(picture("number-drop"), None, fx=times, fy=times, interpolation=cv2.INTER_LINEAR)
    return np.asarray(one, dtype=np.uint8)


@pytest.mark.parametrize("times", [1, 3])
def test_the_flat_picture_has_the_same_size_however_much_the_camera_sees(times: int) -> None:
    board = layout("number-drop").board
    one = enlarged(times)
    near = magnified(times)
    flat = flat_picture(one, flat_map(near, pose("number-drop"), board), board)
    usual = flat_picture(picture("number-drop"), flat_map(camera(), pose("number-drop"), board), board)
    assert flat.shape == (*flat_window(board).shape, 3)
    assert np.abs(flat.astype(int) - usual).mean() < 4


def test_lines_finer_than_a_pixel_of_the_flat_picture_are_averaged() -> None:
    board = layout("number-drop").board
    near = magnified(8)
    width, height = near.size
    striped = np.zeros((height, width, 3), dtype=np.uint8)
    striped[:, ::2] = 200
    flat = flat_picture(striped, flat_map(near, pose("number-drop"), board), board)
    assert flat.mean() == pytest.approx(100, abs=5)
    assert flat.std() < 25


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([(5, 3)], CellRange(3, 1, 5, 5)),
        ([(0, 0)], CellRange(0, 0, 3, 3)),
        ([(13, 6)], CellRange(11, 4, 3, 3)),
        ([(2, 1), (9, 5)], CellRange(0, 0, 12, 7)),
        ([(3, 2), (4, 3)], CellRange(1, 0, 6, 6)),
    ],
)
def test_the_paper_of_cells_is_measured_with_two_more_on_each_side(
    cells: list[tuple[int, int]], expected: CellRange
) -> None:
    board = layout("number-drop").board
    assert (board.rows, board.columns) == (14, 7)
    assert range_around(np.array(cells), board) == expected


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("part", [CellRange(0, 0, 2, 3), CellRange(4, 2, 3, 5), CellRange(13, 6, 1, 1)])
def test_a_part_of_the_flat_picture_is_that_part_of_the_whole(times: int, part: CellRange) -> None:
    board = layout("number-drop").board
    one = enlarged(times)
    pixel_map = flat_map(magnified(times), pose("number-drop"), board)
    whole, some = flat_picture(one, pixel_map, board), flat_picture(one, pixel_map, board, part)
    assert some.shape == ((part.rows + 1) * CELL_PX, (part.columns + 1) * CELL_PX, 3)
    top, left = part.row * CELL_PX, part.column * CELL_PX
    assert (some == whole[top : top + some.shape[0], left : left + some.shape[1]]).all()


def linear(levels: Iterable[float]) -> tuple[int, ...]:
    """The picture levels of this linear light."""
    return tuple(round(255 * (12.92 * one if one < 0.0031 else 1.055 * one ** (1 / 2.4) - 0.055)) for one in levels)


def drawn(wide_px: int, ink: tuple[float, float, float], paper: tuple[float, float, float] = (0.8, 0.8, 0.8)):
    """A vertical stroke in the middle of a sheet; ``ink`` is its light relative to the paper, by channel."""
    flat = np.full((6 * CELL_PX, 6 * CELL_PX, 3), linear(paper), dtype=np.uint8)
    left = 3 * CELL_PX - wide_px // 2
    flat[:, left : left + wide_px] = linear(one * own for one, own in zip(ink, paper, strict=True))
    return ink_on(flat)[3 * CELL_PX]


@pytest.mark.parametrize("paper", [(0.8, 0.8, 0.8), (0.2, 0.15, 0.1), (0.3, 0.5, 0.9)])
@pytest.mark.parametrize("ink", [(0.5, 0.5, 0.5), (0.9, 0.3, 0.6), (0.1, 0.8, 1.0)])
def test_ink_is_the_largest_share_of_the_papers_light_lost_in_a_channel_if_it_is_coloured(
    paper: tuple[float, float, float], ink: tuple[float, float, float]
) -> None:
    seen = drawn(10, ink, paper)
    assert seen[3 * CELL_PX] == pytest.approx(1 - min(ink), abs=0.04)
    assert seen[: 2 * CELL_PX].max() < 0.02


def test_noise_of_single_channels_is_hardly_ink() -> None:
    noise = np.random.default_rng(5).normal(0, 6, (6 * CELL_PX, 6 * CELL_PX, 3))
    flat = np.clip(np.round(100 + noise), 0, 255).astype(np.uint8)
    lost = 1 - linear_light(flat) / linear_light(np.full_like(flat, 100))
    assert np.median(ink_on(flat)) < np.median(lost.max(axis=2)) - 0.05


@pytest.mark.parametrize(("wide_px", "is_ink"), [(4, True), (CELL_PX - 4, True), (CELL_PX + 8, False)])
def test_a_dark_area_wider_than_a_cell_is_shadow(wide_px: int, is_ink: bool) -> None:
    assert bool(drawn(wide_px, (0.4, 0.4, 0.4))[3 * CELL_PX] > 0.3) is is_ink


def test_ink_is_the_same_along_and_across_the_sheet_and_from_either_end() -> None:
    flat = np.random.default_rng(6).integers(90, 256, (5 * CELL_PX, 6 * CELL_PX, 3)).astype(np.uint8)
    flat[40:44], flat[:, 70:73] = 20, (90, 20, 10)
    along, across = ink_on(flat), ink_on(np.ascontiguousarray(flat.swapaxes(0, 1)))
    assert across.transpose() == pytest.approx(along, abs=1e-4)
    assert ink_on(np.ascontiguousarray(flat[::-1, ::-1]))[::-1, ::-1] == pytest.approx(along, abs=1e-4)


def half_in_shadow(stroke: bool) -> Image:
    """Paper with a diagonal hard shadow, and optionally a stroke across its edge."""
    side = 8 * CELL_PX
    row, column = np.mgrid[:side, :side]
    lit = np.full((side, side, 3), linear((0.8, 0.8, 0.8)), dtype=np.uint8)
    if stroke:
        lit[side // 2 - 2 : side // 2 + 2, side // 4 : -side // 4] = linear((0.2, 0.2, 0.2))
    shaded = np.array(
        [linear((one, one, one))[0] for one in 0.5 * linear_light(np.arange(256, dtype=np.uint8)).ravel()]
    )
    return np.where((row + 2 * column < 3 * side // 2)[..., None], shaded[lit], lit).astype(np.uint8)


def test_the_edge_of_a_hard_shadow_is_no_stroke() -> None:
    assert ink_on(half_in_shadow(stroke=False))[CELL_PX:-CELL_PX, CELL_PX:-CELL_PX].max() < 0.05


def test_a_stroke_across_the_edge_of_a_hard_shadow_is_seen_all_along() -> None:
    ink = ink_on(half_in_shadow(stroke=True))[4 * CELL_PX]
    assert ink[2 * CELL_PX + 2 : 6 * CELL_PX - 2].min() > 0.45
    assert ink[: 2 * CELL_PX - 2].max() < 0.05


def test_the_paper_is_as_bright_as_when_it_is_measured_at_full_scale() -> None:
    board = layout("number-drop").board
    flat = flat_picture(picture("number-drop"), flat_map(camera(), pose("number-drop"), board), board)
    side = CELL_PX | 1
    blurred = cv2.GaussianBlur(linear_light(flat), (0, 0), 1.0)
    closed = cv2.morphologyEx(blurred, cv2.MORPH_CLOSE, np.ones((side, side)), borderType=cv2.BORDER_REPLICATE)
    off = paper_light(flat, linear_light(flat)) / cv2.GaussianBlur(closed, (0, 0), side / 6) - 1
    assert np.abs(off.mean()) < 0.02
    assert np.abs(off).max() < 0.1


# Squares filled with pens: in any shade, hatched or ticked, in any light.

PENS = ("red", "blue", "yellow", "green")
INKS = {"red": (40, 35, 200), "blue": (170, 90, 40), "yellow": (40, 200, 240), "green": (70, 130, 40)}
SIDE = 6
Picture = npt.NDArray[np.uint8]


def bare() -> Picture:
    sheet = np.full(((SIDE + 1) * CELL_PX, (SIDE + 1) * CELL_PX, 3), 245, dtype=np.uint8)
    for line in range(SIDE + 1):
        at = CELL_PX // 2 + line * CELL_PX
        last = CELL_PX // 2 + SIDE * CELL_PX
        cv2.line(sheet, (CELL_PX // 2, at), (last, at), (150, 150, 150), 1)
        cv2.line(sheet, (at, CELL_PX // 2), (at, last), (150, 150, 150), 1)
    return sheet


def corner(row: int, column: int) -> tuple[int, int]:
    return CELL_PX // 2 + column * CELL_PX, CELL_PX // 2 + row * CELL_PX


def fill(sheet: Picture, row: int, column: int, ink: tuple[int, int, int]) -> None:
    x, y = corner(row, column)
    cv2.rectangle(sheet, (x + 2, y + 2), (x + CELL_PX - 2, y + CELL_PX - 2), ink, -1)


def hatch(sheet: Picture, row: int, column: int, ink: tuple[int, int, int]) -> None:
    x, y = corner(row, column)
    for step in range(4, CELL_PX, 6):
        cv2.line(sheet, (x + 2, y + step), (x + step, y + 2), ink, 1, cv2.LINE_AA)
        cv2.line(sheet, (x + step, y + CELL_PX - 2), (x + CELL_PX - 2, y + step), ink, 1, cv2.LINE_AA)


def tick(sheet: Picture, row: int, column: int, ink: tuple[int, int, int]) -> None:
    x, y = corner(row, column)
    points = np.array([[x + 6, y + 11], [x + 10, y + 18], [x + 19, y + 5]], dtype=np.int32)
    cv2.polylines(sheet, [points], False, ink, 2, cv2.LINE_AA)


def lit(sheet: Picture, colour: tuple[float, float, float], fall: float = 0.0) -> Picture:
    along = np.linspace(1, 1 - fall, sheet.shape[1])[None, :, None]
    return np.asarray(np.clip(sheet * np.array(colour) * along, 0, 255), dtype=np.uint8)


def test_a_squares_ink_is_the_same_however_the_sheet_is_turned() -> None:
    sheet = bare()
    fill(sheet, 1, 0, INKS["red"])
    hatch(sheet, 2, 4, INKS["blue"])
    tick(sheet, 5, 1, INKS["green"])
    along = densities(sheet, SIDE, SIDE)
    across = densities(np.ascontiguousarray(sheet.swapaxes(0, 1)), SIDE, SIDE)
    assert across.swapaxes(0, 1) == pytest.approx(along, abs=3e-3)
    most = along.max(axis=2)
    assert np.argwhere(most >= np.sort(most, axis=None)[-3]).tolist() == [[1, 0], [2, 4], [5, 1]]


def names(sheet: Picture) -> dict[tuple[int, int], str]:
    seen = read_pens(sheet, SIDE, SIDE, usual_hues(PENS))
    found = np.argwhere(seen.filled > 0)
    return {(int(row), int(column)): PENS[int(seen.pens[row, column].argmax())] for row, column in found}


@pytest.mark.parametrize("how", [fill, hatch, tick])
@pytest.mark.parametrize("light", [(1.0, 1.0, 1.0), (0.55, 0.8, 1.0), (0.3, 0.25, 0.2)])
def test_every_pen_is_recognised_in_any_kind_of_filling(how, light) -> None:
    sheet = bare()
    expected = {(index, index + 1): pen for index, pen in enumerate(PENS)}
    for (row, column), pen in expected.items():
        how(sheet, row, column, INKS[pen])
    assert names(lit(sheet, light, 0.4)) == expected


def test_probabilities_of_pens_sum_to_one_and_none_is_certain() -> None:
    sheet = bare()
    fill(sheet, 1, 2, INKS["blue"])
    settings = PenSettings()
    seen = read_pens(sheet, SIDE, SIDE, usual_hues(PENS))
    assert np.allclose(seen.pens.sum(axis=2), 1)
    assert seen.pens[1, 2].min() >= settings.odd_one_out / len(PENS)
    assert seen.pens[1, 2].max() > 0.9
    assert 0 < seen.filled[1, 2] <= settings.most
    assert seen.filled.min() == settings.bare_log_odds


def test_a_bare_sheet_is_bare_under_a_shadow_too() -> None:
    sheet = lit(bare(), (0.9, 0.9, 0.9)).astype(np.float64)
    sheet[:, 60:110] *= 0.6
    assert names(sheet.astype(np.uint8)) == {}


def test_pens_are_fitted_to_each_picture() -> None:
    sheet = bare()
    for column in range(4):
        fill(sheet, 1, column, (60, 90, 215))
        fill(sheet, 3, column, (60, 165, 245))
    found = names(sheet)
    assert {found[1, column] for column in range(4)} == {"red"}
    assert {found[3, column] for column in range(4)} == {"yellow"}


def test_most_of_a_sheet_may_be_filled() -> None:
    sheet = bare()
    expected = {(row, column): PENS[(row + column) % 4] for row in range(SIDE) for column in range(SIDE) if row != 2}
    for (row, column), pen in expected.items():
        fill(sheet, row, column, INKS[pen])
    assert names(lit(sheet, (0.8, 0.9, 1.0), 0.3)) == expected


def test_a_pen_of_unknown_colour_is_named() -> None:
    with pytest.raises(LayoutError, match="no pen is known as 'mauve'"):
        usual_hues(["red", "mauve"])


def of_many_strengths() -> Picture:
    """A sheet whose cells are tinted with more and more ink of each pen, each somewhat off its usual hue."""
    sheet = bare()
    for column, strength in enumerate((0.01, 0.04, 0.1, 0.3, 0.7, 1.0)):
        for row, ink in enumerate(INKS.values()):
            other = np.roll(ink, 1)
            paint = 245 * (1 - strength) + strength * (0.85 * np.array(ink) + 0.15 * other)
            blue, green, red = (int(level) for level in paint)
            fill(sheet, row, column, (blue, green, red))
    return sheet


def by_turns(hue_deg: float, pen_deg: float) -> float:
    """Signed difference of a hue from a pen's, from -180 to 180 degrees."""
    return (hue_deg - pen_deg + 180) % 360 - 180


def test_pens_are_fitted_to_the_hues_of_their_cells() -> None:
    """A cell-by-cell reference: odds grow with the logarithm of the ink, and a pen's hue follows its cells."""
    sheet, usual = of_many_strengths(), usual_hues(PENS)
    seen = read_pens(sheet, SIDE, SIDE, usual)
    found, strength = hues(densities(sheet, SIDE, SIDE))
    hue = dict(np.ndenumerate(found))
    filled = {
        cell: min(12.0, max(-9.0, 5.0 * math.log(max(value, 1e-3) / 0.1))) for cell, value in np.ndenumerate(strength)
    }
    assert dict(np.ndenumerate(seen.filled)) == pytest.approx(filled)
    assert len({round(value) for value in filled.values()}) > 6
    pens = usual.tolist()
    for _ in range(8):
        off, counted = [0.0] * len(PENS), [(11 / 16) ** 2] * len(PENS)
        for cell, odds in filled.items():
            own = min(range(len(PENS)), key=lambda pen: abs(by_turns(hue[cell], pens[pen])))
            there = 1 / (1 + math.exp(-odds))
            off[own] += there * by_turns(hue[cell], usual[own])
            counted[own] += there
        pens = [usual[pen] + off[pen] / counted[pen] for pen in range(len(PENS))]
    assert max(abs(pen - was) for pen, was in zip(pens, usual, strict=True)) > 3
    for cell in filled:
        weights = [(1 + (by_turns(hue[cell], pen) / 11) ** 2 / 4) ** -2.5 for pen in pens]
        shares = [0.998 * weight / sum(weights) + 0.002 / len(PENS) for weight in weights]
        assert seen.pens[cell].tolist() == pytest.approx(shares)


def test_ink_in_the_middle_of_a_cell_counts_more_than_at_its_border() -> None:
    """The weights are Gaussian with a standard deviation of a fifth of a cell."""
    found = []
    for off_px in (0, 4, 8):
        sheet = np.full_like(bare(), 245)
        x, y = corner(2, 2)
        middle = CELL_PX // 2
        sheet[y + middle - 1 : y + middle + 1, x + middle + off_px - 1 : x + middle + off_px + 1] = INKS["green"]
        found.append(densities(sheet, SIDE, SIDE)[2, 2].max())
    shares = [value / found[0] for value in found[1:]]
    # Smoothing widens the dot, and so the distribution, a little.
    wide = math.sqrt(0.2**2 + (1.2 / CELL_PX) ** 2)
    assert shares == pytest.approx([math.exp(-0.5 * (off / CELL_PX / wide) ** 2) for off in (4, 8)], rel=0.1)


# Loops are found from cells and their sides, with a gap or touching another.

Cells = dict[tuple[int, int], int]


def scores(cells: Cells, rows: int = 5, columns: int = 6, sure: float = 4.0):
    """A network's scores of a sheet with numbered loops around these cells."""
    numbers = np.zeros((rows + 2, columns + 2), dtype=int)
    for (row, column), number in cells.items():
        numbers[row + 1, column + 1] = number
    own = numbers[1:-1, 1:-1]
    beside = (numbers[:-2, 1:-1], numbers[1:-1, 2:], numbers[2:, 1:-1], numbers[1:-1, :-2])
    lines = np.stack([np.where(own != other, sure, -sure) for other in beside], axis=-1)
    return np.where(own > 0, sure, -sure).astype(float), lines.astype(float)


def loops(looped, lines):
    odds, both = decode_loops(looped, lines_between(lines))
    cells = {(int(row), int(column)): bool(odds[row, column] > 0) for row, column in np.ndindex(odds.shape)}
    sides = {
        cell: {
            side.value: {LOOP: float(both[cell][number] > 0), NO_LOOP: float(both[cell][number] <= 0)}
            for number, side in enumerate(Side)
        }
        for cell in cells
    }
    return sorted(sorted(loop) for loop in loops_seen(cells, sides))


ROW = {(1, 1): 1, (1, 2): 1, (1, 3): 1}


def test_an_empty_sheet_has_no_loops() -> None:
    assert loops(*scores({})) == []


def test_two_touching_loops_are_two() -> None:
    below = {(2, 2): 2, (2, 3): 2, (3, 3): 2}
    assert loops(*scores(ROW | below)) == [sorted(ROW), sorted(below)]


def test_a_loop_may_be_concave_on_any_side() -> None:
    bowl = [(1, 1), (2, 1), (2, 2), (2, 3), (1, 3)]
    for turned in (bowl, [(3 - row, column) for row, column in bowl], [(column, row) for row, column in bowl]):
        assert loops(*scores(dict.fromkeys(turned, 1))) == [sorted(turned)]


def test_a_gap_in_the_line_adds_no_cells() -> None:
    looped, lines = scores(ROW)
    lines[0, 2, 2] = lines[1, 2, 0] = -4.0
    assert loops(looped, lines) == [sorted(ROW)]


def test_a_doubtful_cell_follows_neighbours_without_a_line_between() -> None:
    looped, lines = scores(ROW)
    looped[1, 2] = -1.0
    looped[3, 4] = 1.0
    assert loops(looped, lines) == [sorted(ROW)]


def test_a_loop_whose_line_lies_on_a_printed_one_is_closed() -> None:
    row = {(2, column): 1 for column in range(1, 5)}
    looped, lines = scores(row)
    for column in (2, 3):  # the upper line passes for the grid's
        looped[2, column] = -3.0
        lines[2, column, 0] = lines[1, column, 2] = -2.5
    assert loops(looped, lines) == [sorted(row)]


BESIDE = ((-1, 0), (0, 1), (1, 0), (0, -1))


def test_the_score_of_a_line_is_the_mean_of_the_cells_on_both_sides() -> None:
    lines = np.random.default_rng(1).normal(0.0, 3.0, (3, 4, 4))
    both = lines_between(lines)
    for (row, column, side), value in np.ndenumerate(both):
        down, right = BESIDE[side]
        there = row + down, column + right
        is_cell = 0 <= there[0] < 3 and 0 <= there[1] < 4
        other = lines[(*there, (side + 2) % 4)] if is_cell else lines[row, column, side]
        assert value == pytest.approx((lines[row, column, side] + other) / 2)


def by_enumeration(looped, lines, settings):
    """The same log-odds from every way to enclose cells, with the probability of what is seen along each side."""
    rows, columns = looped.shape
    shares = {0: settings.stray, 1: 1 - settings.gap, 2: settings.touching}
    sides = {
        frozenset({(row, column), (row + down, column + right)}): lines[row, column, side]
        for row, column in np.ndindex(rows, columns)
        for side, (down, right) in enumerate(BESIDE)
    }
    inside, line_there = np.zeros((2, rows, columns)), {side: [0.0, 0.0] for side in sides}
    for chosen in itertools.product((0, 1), repeat=rows * columns):
        enclosed = dict(zip(np.ndindex(rows, columns), chosen, strict=True))
        weight = math.exp(sum(settings.cell * looped[cell] + settings.enclosed for cell in enclosed if enclosed[cell]))
        parts = {}
        for side, odds in sides.items():
            share = shares[sum(enclosed.get(cell, 0) for cell in side)]
            parts[side] = (1 - share, share * math.exp(settings.line * odds))
            weight *= sum(parts[side])
        for cell, value in enclosed.items():
            inside[(value, *cell)] += weight
        for side, (without, with_line) in parts.items():
            line_there[side][0] += weight * without / (without + with_line)
            line_there[side][1] += weight * with_line / (without + with_line)
    of_lines = np.empty_like(lines)
    for (row, column, side), _ in np.ndenumerate(lines):
        down, right = BESIDE[side]
        without, with_line = line_there[frozenset({(row, column), (row + down, column + right)})]
        of_lines[row, column, side] = math.log(with_line / without)
    return np.log(inside[1] / inside[0]), of_lines


SHARES = st.floats(0.02, 0.98)
SETTINGS = st.builds(
    LoopSettings,
    cell=st.floats(0.2, 1.0),
    enclosed=st.floats(-1.0, 1.0),
    line=st.floats(0.2, 1.0),
    stray=SHARES,
    gap=SHARES,
    touching=SHARES,
    rounds=st.just(80),
)


@given(settings=SETTINGS, seed=st.integers(0, 10_000), shape=st.sampled_from([(1, 1), (1, 7), (6, 1)]))
@settings(max_examples=cases(60, 10))
def test_cells_in_a_row_are_read_exactly_as_by_enumeration(
    settings: LoopSettings, seed: int, shape: tuple[int, int]
) -> None:
    random = np.random.default_rng(seed)
    looped, lines = random.normal(0.0, 4.0, shape), lines_between(random.normal(0.0, 4.0, (*shape, 4)))
    expected_cells, expected_lines = by_enumeration(looped, lines, settings)
    cells, along = decode_loops(looped, lines, settings)
    assert cells == pytest.approx(expected_cells, abs=1e-5)
    assert along == pytest.approx(expected_lines, abs=1e-5)


@pytest.mark.parametrize("seed", range(cases(8, 2)))
def test_cells_of_a_grid_are_decided_as_by_enumeration(seed: int) -> None:
    random = np.random.default_rng(seed)
    numbers = dict.fromkeys([(0, 1), (0, 2), (1, 1), (2, 1)], 1) | {(2, 2): 2, (1, 2): 2}
    looped, lines = scores(numbers if seed % 2 else dict.fromkeys([(1, 0), (1, 1), (1, 2)], 1), 3, 4)
    noisy = looped + random.normal(0.0, 3.0, looped.shape), lines_between(lines + random.normal(0.0, 3.0, lines.shape))
    expected, _ = by_enumeration(*noisy, LoopSettings())
    found, _ = decode_loops(*noisy)
    clear = np.abs(expected) > 1.0
    assert clear.sum() > 8
    assert ((found > 0) == (expected > 0))[clear].all()


def test_several_sheets_are_read_as_each_alone() -> None:
    random = np.random.default_rng(5)
    looped, lines = random.normal(0.0, 3.0, (4, 3, 5)), lines_between(random.normal(0.0, 3.0, (4, 3, 5, 4)))
    together = decode_loops(looped, lines)
    for number in range(4):
        for whole, alone in zip(together, decode_loops(looped[number], lines[number]), strict=True):
            assert whole[number] == pytest.approx(alone)


def test_the_weights_can_be_fitted_again() -> None:
    training = importlib.import_module("benchmarks.training.loops")
    done = CliRunner().invoke(training.main, ["--sheets", "20"], catch_exceptions=False)
    assert done.exit_code == 0
    (line,) = re.findall(r"^{.*}$", done.output, re.MULTILINE)
    fitted = ast.literal_eval(line)
    assert set(fitted) == {"cell", "enclosed", "line", "stray", "touching"}
    assert 0 < fitted["stray"] < 1
    quality = re.search(r"^shipped: ([\d.]+)% of cells, .* of 10 sheets", done.output, re.MULTILINE)
    assert quality is not None
    assert float(quality[1]) > 97
