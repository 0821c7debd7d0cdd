"""Covered areas of a drawn sheet, found by its grid lines alone."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.effort import some
from vision.frame import BoolImage, FloatImage
from vision.layout.pieces import GridSurface
from vision.layout.table import default_layout
from vision.surface.sheet_occlusion import SheetLines
from vision.surface.view import view_window

SHEETS = (default_layout("number-drop").board, default_layout("blokus-dice").board)
LIGHT, DARK = 0.6, 0.2
Cells = tuple[float, float, float, float]
"""Left, right, near and far end in cells from the grid's near left corner."""


def part(sheet: GridSurface, cells: Cells) -> tuple[slice, slice]:
    window, bounds = view_window(sheet, 10.0), sheet.bounds_mm
    left, right, near, far = cells
    first, top = window.to_pixels(bounds.left_mm + left * sheet.cell_mm, bounds.near_mm + far * sheet.cell_mm)
    last, bottom = window.to_pixels(bounds.left_mm + right * sheet.cell_mm, bounds.near_mm + near * sheet.cell_mm)
    return slice(round(top + 0.5), round(bottom + 0.5)), slice(round(first + 0.5), round(last + 0.5))


def printed(sheet: GridSurface, blur_px: float = 0.6) -> FloatImage:
    """The light of a sheet with its grid."""
    window, bounds = view_window(sheet, 10.0), sheet.bounds_mm
    light = np.full((*window.shape, 3), LIGHT, dtype=np.float32)
    for number in range(sheet.columns + 1):
        column = round(window.to_pixels(bounds.left_mm + number * sheet.cell_mm, 0.0)[0])
        light[10:-10, column] = DARK
    for number in range(sheet.rows + 1):
        row = round(window.to_pixels(0.0, bounds.near_mm + number * sheet.cell_mm)[1])
        light[row, 10:-10] = DARK
    noisy = cv2.GaussianBlur(light, (0, 0), blur_px) + np.random.default_rng(1).normal(0, 0.004, light.shape)
    return np.asarray(noisy, dtype=np.float32)


def covered(sheet: GridSurface, light: FloatImage, without: BoolImage | None = None) -> BoolImage:
    window = view_window(sheet, 10.0)
    nothing = np.zeros(window.shape, dtype=np.bool_)
    lines = SheetLines(sheet, window)
    return lines.mark_covered(lines.examine(light), light, nothing if without is None else without)


def with_card(sheet: GridSurface, cells: Cells, light: float = LIGHT) -> FloatImage:
    image = printed(sheet)
    shape = image[part(sheet, cells)].shape
    image[part(sheet, cells)] = light + np.random.default_rng(2).normal(0, 0.004, shape)
    return image


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
def test_a_bare_sheet_is_not_covered_in_any_light(sheet: GridSurface) -> None:
    light = printed(sheet)
    for factor in (1.0, 0.3, 0.1):
        assert not covered(sheet, light * np.float32(factor)).any()
    lamp = np.linspace(0.4, 1.3, light.shape[1], dtype=np.float32)[None, :, None]
    assert not covered(sheet, light * lamp).any()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize("brightness", [LIGHT, 0.4, 0.8])
def test_a_card_over_one_corner_covers_the_four_squares_around_it(sheet: GridSurface, brightness: float) -> None:
    found = covered(sheet, with_card(sheet, (1.4, 2.6, 2.4, 3.6), brightness))
    assert found[part(sheet, (1.05, 2.95, 2.05, 3.95))].all()
    assert found.sum() == pytest.approx(4 * sheet.cell_mm**2, rel=0.2)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize("share", [0.5, 0.6, 0.7, 0.8])
def test_paper_over_most_of_the_grid_covers_it(sheet: GridSurface, share: float) -> None:
    far = share * sheet.rows
    found = covered(sheet, with_card(sheet, (0.0, sheet.columns, 0.0, far)))
    assert found[part(sheet, (0.05, sheet.columns - 0.05, 0.5, far - 1.0))].all()
    assert not found[part(sheet, (0.05, sheet.columns - 0.05, far + 1.5, sheet.rows))].any()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
def test_lines_under_paper_or_ink_are_told_apart(sheet: GridSurface) -> None:
    lines = SheetLines(sheet, view_window(sheet, 10.0))
    assert lines.examine(printed(sheet)).are_seen
    assert not lines.examine(with_card(sheet, (-0.5, sheet.columns + 0.5, -0.5, sheet.rows + 0.5))).are_seen


@pytest.mark.parametrize(("columns", "rows"), [(1, 14), (7, 1), (2, 1)])
def test_a_single_column_or_row_has_no_lines_to_judge(columns: int, rows: int) -> None:
    sheet = replace(SHEETS[0], columns=columns, rows=rows)
    assert not covered(sheet, printed(sheet)).any()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
def test_a_card_beside_a_corner_covers_none(sheet: GridSurface) -> None:
    for cells in ((1.1, 1.9, 1.1, 1.9), (1.1, 1.9, 1.4, 2.6), (1.4, 2.6, 1.1, 1.9)):
        assert not covered(sheet, with_card(sheet, cells)).any()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
def test_a_card_over_three_of_the_four_lines_of_a_corner_covers_none(sheet: GridSurface) -> None:
    for cells in ((1.4, 2.6, 1.9, 2.6), (1.4, 2.6, 1.4, 2.1), (1.9, 2.6, 1.4, 2.6), (1.4, 2.1, 1.4, 2.6)):
        assert not covered(sheet, with_card(sheet, cells)).any(), cells


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize(
    ("card", "is_found"),
    [
        ((1.9, 3.1, 3.9, 5.1), True),
        ((1.9, 3.1, 3.9, 4.85), True),
        ((1.9, 3.1, 3.9, 4.55), False),
        ((-0.3, 1.1, 3.9, 5.1), True),
        ((-0.3, 1.1, 3.9, 4.85), True),
        ((-0.3, 1.1, 3.9, 4.45), False),
        ((-0.3, 1.1, -0.3, 1.1), False),
    ],
    ids=["all 8 arms", "6", "4", "4 of 4 at the edge", "3", "1", "2 of 2 in a corner"],
)
def test_a_card_over_most_lines_around_a_cell_covers_it_and_half_of_its_neighbours(
    sheet: GridSurface, card: Cells, is_found: bool
) -> None:
    found = covered(sheet, with_card(sheet, card))
    left, near = max(0, math.ceil(card[0])), math.ceil(card[2])
    assert found.any() == is_found
    assert found[part(sheet, (left, left + 1.45, near - 0.45, near + 1.45))].all() == is_found


def test_larger_cards_cover_more_and_up_to_the_border_of_the_grid() -> None:
    sheet = SHEETS[0]
    found = covered(sheet, with_card(sheet, (0.0, 2.6, 0.0, 3.6)))
    assert found[part(sheet, (0.05, 2.95, 0.05, 3.95))].all()
    assert not found[part(sheet, (3.2, 6.0, 0.0, 12.0))].any()


def test_a_card_is_found_where_most_lines_have_a_filled_cell_on_one_side() -> None:
    sheet = SHEETS[1]
    card = (0.4, 1.6, 0.4, 1.6)
    light = with_card(sheet, card)
    for column in range(sheet.columns):
        for row in range(4 + column % 2, sheet.rows, 2):
            light[part(sheet, (column + 0.05, column + 0.95, row + 0.05, row + 0.95))] *= np.float32(0.3)
    found = covered(sheet, light)
    assert found[part(sheet, (0.05, 1.95, 0.05, 1.95))].all()
    assert not found[part(sheet, (0.0, sheet.columns, 3.0, sheet.rows))].any()


def test_strokes_over_a_corner_are_no_card() -> None:
    sheet = SHEETS[0]
    light = printed(sheet)
    rows, columns = part(sheet, (2.0, 3.0, 3.0, 4.0))
    for offset in (-4, 0, 4):
        cv2.line(
            light,
            (columns.start - 15, rows.stop + offset - 9),
            (columns.start + 15, rows.stop + offset + 9),
            (0.05,) * 3,
            2,
        )
    assert not covered(sheet, light).any()


def test_excluded_and_overexposed_corners_are_not_judged() -> None:
    sheet = SHEETS[0]
    card = (1.4, 2.6, 2.4, 3.6)
    light = with_card(sheet, card)
    without = np.zeros(light.shape[:2], dtype=np.bool_)
    without[part(sheet, card)] = True
    assert not covered(sheet, light, without).any()
    assert covered(sheet, light, ~without).any()
    assert not covered(sheet, with_card(sheet, card, 0.95)).any()
    tinted = with_card(sheet, card, 0.8)
    tinted[part(sheet, card)] = (0.7, 0.85, 0.98)
    assert covered(sheet, tinted).any(), "one channel that is full hides no line"


def test_a_sheet_without_visible_lines_is_not_judged() -> None:
    sheet = SHEETS[0]
    blank = np.full((*view_window(sheet, 10.0).shape, 3), LIGHT)
    noisy = (blank + np.random.default_rng(3).normal(0, 0.02, blank.shape)).astype(np.float32)
    assert not covered(sheet, noisy).any()
    one_way = with_card(sheet, (1.4, 2.6, 2.4, 3.6))
    one_way = np.asarray(cv2.GaussianBlur(one_way, (0, 0), 0.1, sigmaY=25.0), dtype=np.float32)
    one_way += np.random.default_rng(4).normal(0, 0.01, one_way.shape).astype(np.float32)
    assert not covered(sheet, one_way).any()


def test_a_card_is_found_on_a_shaken_picture_too() -> None:
    sheet = SHEETS[0]
    shaken = np.asarray(cv2.blur(with_card(sheet, (1.4, 3.6, 2.4, 4.6)), (3, 1)), dtype=np.float32)
    found = covered(sheet, shaken)
    assert found[part(sheet, (1.05, 3.95, 2.05, 4.95))].all()
    assert found.sum() < 12 * sheet.cell_mm**2


ARMS = ((0, 1), (0, -1), (1, 0), (-1, 0))
ACROSS = (-0.23, -0.17, -0.06, -0.04, -0.02, 0.0, 0.02, 0.04, 0.06, 0.17, 0.23)


def by_arms(sheet: GridSurface, light: FloatImage) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For each arm of each corner: whether its line is gone, and whether the light across it is even."""
    window, bounds, cell = view_window(sheet, 10.0), sheet.bounds_mm, sheet.cell_mm
    logs = np.log(light.mean(axis=2) + np.float32(0.02)).astype(np.float32)

    def profile(x: float, y: float, way: tuple[int, int]) -> tuple[float, float]:
        """Darkness of the middle of an arm against the paper on its darker side, and the spread across it."""
        levels = []
        for off in ACROSS:
            along = [0.08 + 0.39 * number / 7 for number in range(8)]
            points = [
                (x + cell * (at * way[0] - off * way[1]), y + cell * (at * way[1] + off * way[0])) for at in along
            ]
            pixels = np.array([window.to_pixels(*point) for point in points], dtype=np.float32)[None]
            levels.append(float(np.median(cv2.remap(logs, pixels[..., 0], pixels[..., 1], cv2.INTER_LINEAR))))
        paper = min((levels[0] + levels[1]) / 2, (levels[-1] + levels[-2]) / 2)
        return paper - min(levels[2:-2]), max(levels) - min(levels)

    corners = [
        (bounds.left_mm + cell * column, bounds.near_mm + cell * row)
        for row in range(1, sheet.rows)
        for column in range(1, sheet.columns)
    ]
    lined = np.array([[profile(x, y, way) for way in ARMS] for x, y in corners])
    blank = np.array([[profile(x + cell / 2, y + cell / 2, way)[0] for way in ARMS] for x, y in corners])
    gone, even = np.zeros(blank.shape, dtype=np.bool_), np.zeros(blank.shape, dtype=np.bool_)
    for way in (slice(0, 2), slice(2, 4)):
        none = float(np.median(blank[:, way.start]))
        noise = 1.4826 * float(np.median(np.abs(blank[:, way.start] - none)))
        least = none - 3.0 * noise if sheet is SHEETS[1] else -math.inf
        shown = [one for one in lined[:, way, 0].ravel().tolist() if one > least]
        contrast = float(np.median(shown)) - none if len(shown) > 0.2 * 2 * len(lined) else 0.0
        if contrast < 6.0 * noise:
            return np.zeros_like(gone), np.zeros_like(even)
        even[:, way] = lined[:, way, 1] < 0.5 * contrast
        gone[:, way] = even[:, way] & (lined[:, way, 0] - none < 0.3 * contrast)
    return gone, even


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize(("seed", "noise"), some([(4, 0.0), (1, 0.01), (3, 0.3), (2, 0.03)]))
def test_the_judgement_of_arms_equals_an_arm_by_arm_reference(sheet: GridSurface, seed: int, noise: float) -> None:
    """Pale and dark objects on the sheet; lines show through some, and strokes cross some."""
    random = np.random.default_rng(seed)
    light = printed(sheet)
    for _ in range(12):
        column, row = random.uniform(0, sheet.columns), random.uniform(0, sheet.rows)
        wide, deep = random.uniform(0.3, 2.0, 2)
        pixels = part(sheet, (column, column + wide, row, row + deep))
        share = random.choice([1.0, 0.9, 0.7, 0.4])
        light[pixels] = share * random.uniform(0.1, 0.8) + (1 - share) * light[pixels]
    for _ in range(8):
        start, end = random.integers(0, light.shape[0], (2, 2)).tolist()
        cv2.line(light, start, end, (0.1, 0.1, 0.15), 2)
    light *= np.float32(1) + random.normal(0, noise, light.shape).astype(np.float32)
    lines = SheetLines(sheet, view_window(sheet, 10.0))
    found = lines.examine(light)
    gone, even = by_arms(sheet, light)
    assert (found.missing == gone).all()
    assert (found.even == even).all()
    assert gone.any() == even.any() == (noise < 0.3)
    assert (gone != even).any() == (noise < 0.3)
    assert found.missing.shape == lines.arms_mm.shape[:2]
    nothing = np.zeros(light.shape[:2], dtype=np.bool_)
    expected = nothing.copy()
    cell_px = round(sheet.cell_mm * view_window(sheet, 10.0).px_per_mm)
    at_corners = {
        (up, across): gone[number] for number, (up, across) in enumerate(np.ndindex(sheet.rows - 1, sheet.columns - 1))
    }
    points_mm = [tuple(lines.arms_mm[number].mean(axis=0)) for number in np.flatnonzero(gone.all(axis=1))]
    for up, across in np.ndindex(sheet.rows, sheet.columns):
        # the cell's own arms of the corners at its near left, near right, far left and far right
        own = [
            at_corners[up + down, across + left][list(arms)]
            for down, left, arms in ((-1, -1, (0, 2)), (-1, 0, (0, 3)), (0, -1, (1, 2)), (0, 0, (1, 3)))
            if (up + down, across + left) in at_corners
        ]
        if len(own) > 1 and np.mean(own) >= 0.75:
            middle = np.array([across, up]) + 0.5
            points_mm.append(tuple(middle * sheet.cell_mm + (sheet.bounds_mm.left_mm, sheet.bounds_mm.near_mm)))
    for point_mm in points_mm:
        column, row = (round(float(at)) for at in view_window(sheet, 10.0).to_pixels(*point_mm))
        if light[row, column].min() <= 0.88:
            expected[max(0, row - cell_px) : row + cell_px + 1, max(0, column - cell_px) : column + cell_px + 1] = True
    assert (lines.mark_covered(found, light, nothing) == expected).all()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize(("light", "seen"), [(0.02, False), (0.5, False), (1.0, True)])
def test_even_light_without_noise_shows_no_lines_unless_overexposed(
    sheet: GridSurface, light: float, seen: bool
) -> None:
    """Compression leaves no noise on plain paper."""
    window = view_window(sheet, 10.0)
    assert SheetLines(sheet, window).examine(np.full((*window.shape, 3), light, np.float32)).are_seen is seen
