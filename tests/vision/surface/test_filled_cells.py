"""Coloured regions of a sheet: filled cells, or objects in the colour of ink."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest

from vision.frame import BoolImage
from vision.geometry import Rectangle
from vision.layout.pieces import GridSurface
from vision.sampling import PlaneWindow
from vision.surface.sheet_occlusion import FilledCells, SheetLines

SHEET = GridSurface("sheet", 6, 5, 10.0)
WINDOW = PlaneWindow.over(Rectangle(-50.0, 50.0, -45.0, 45.0), 0.0, 4.0)
"""Two cells of paper on all sides of the grid; 40 pixels a cell."""
ARMS_MM = SheetLines(SHEET, WINDOW).arms_mm
CELLS = FilledCells(SHEET, WINDOW, ARMS_MM)
CORNERS = [(column, row) for row in range(1, 5) for column in range(1, 6)]
Area = tuple[float, float, float, float]
"""Left, right, near and far side in cells from the grid's near left corner."""

_rows, _columns = np.indices(WINDOW.shape)
ACROSS = (_columns + 0.5) / 40 - 2
UP = (WINDOW.shape[0] - _rows - 0.5) / 40 - 2


def area(left: float, right: float, near: float, far: float) -> BoolImage:
    return np.asarray((left < ACROSS) & (right > ACROSS) & (near < UP) & (far > UP))


def painted(areas: Iterable[Area]) -> BoolImage:
    return np.asarray(np.any([area(*one) for one in areas], axis=0))


def lines(hidden: Iterable[tuple[int, int]] = (), arm: int | None = None) -> npt.NDArray[np.bool_]:
    """The arms whose line is hidden: all arms of these corners, or one of each."""
    even = np.zeros((len(CORNERS), 4), dtype=np.bool_)
    for corner in hidden:
        even[CORNERS.index(corner), slice(None) if arm is None else arm] = True
    return even


def foreign(areas: Iterable[Area], even: npt.NDArray[np.bool_] | None = None) -> BoolImage:
    ink = painted(areas)
    return CELLS.mark_objects(ink, ink, lines() if even is None else even)


def marked(pixels: BoolImage) -> set[tuple[int, int]]:
    """The cells, by column and row, in which something is marked."""
    return {(int(column), int(row)) for column, row in zip(np.floor(ACROSS[pixels]), np.floor(UP[pixels]), strict=True)}


def inside(share: float) -> float:
    """Distance from a cell's side that covers this share of the cell inside its border."""
    return 0.25 + share / 2


def test_the_corners_are_in_this_order() -> None:
    middles = (ARMS_MM.mean(axis=1) + np.array([30.0, 25.0])) / 10.0
    assert [tuple(np.round(one).astype(int).tolist()) for one in middles] == CORNERS
    steps = np.sign(np.round(ARMS_MM[0] - ARMS_MM[0].mean(axis=0), 3)).tolist()
    assert steps == [[0, 1], [0, -1], [1, 0], [-1, 0]]


def test_the_areas_of_the_grid_and_beyond_spilt_ink() -> None:
    assert (CELLS.on_grid == area(0, 6, 0, 5)).all()
    assert (CELLS.beyond == ~area(-0.45, 6.45, -0.45, 5.45)).all()


@pytest.mark.parametrize("share", [0.2, 0.3, 0.4, 0.45])
def test_a_region_that_covers_a_cell_in_part_is_an_object_there(share: float) -> None:
    found = foreign([(1, 2 + inside(share), 1, 2)])
    assert (2, 1) in marked(found)
    assert (found == area(1, 2 + inside(share), 1, 2)).all(), "the object extends a cell and a half around it"


def disc(column: float, row: float, radius: float) -> BoolImage:
    return np.asarray(np.hypot(ACROSS - column, UP - row) < radius)


@pytest.mark.parametrize("middle", [(2.5, 2.5), (0.5, 2.5), (3.5, 4.5), (2.9, 3.2), (4.0, 3.0)])
@pytest.mark.parametrize(("radius", "is_coin"), [(0.5, False), (0.6, False), (0.65, True), (0.74, True), (1.2, True)])
def test_what_is_round_and_larger_than_a_cell_is_a_coin(
    middle: tuple[float, float], radius: float, is_coin: bool
) -> None:
    coin = disc(*middle, radius)
    assert (CELLS.mark_coins(coin, coin) == (coin if is_coin else False)).all()


def test_a_coin_that_lies_mostly_beside_the_grid_is_found_by_all_of_it() -> None:
    coin = disc(-0.4, 2.5, 0.7)
    assert (CELLS.mark_coins(coin & CELLS.on_grid, coin) == coin).all()
    assert not CELLS.mark_coins(coin & CELLS.on_grid, coin & CELLS.on_grid).any()
    assert not CELLS.mark_coins(area(4, 5, 4, 5), coin).any(), "it has none of this pen's colour"


@pytest.mark.parametrize("spilt", [-0.1, 0.0, 0.1, 0.2])
@pytest.mark.parametrize(
    "cells",
    [
        [(2, 2)],
        [(2, 2), (3, 2)],
        [(2, 2), (3, 2), (2, 3), (3, 3)],
        [(2, 2), (3, 2), (2, 3)],
        [(2, 1), (1, 2), (2, 2), (3, 2), (2, 3)],
        [(2, 2), (3, 2), (2, 3), (3, 3), (2, 4)],
    ],
)
def test_filled_cells_are_no_coin_however_carelessly_filled(cells: list[tuple[int, int]], spilt: float) -> None:
    ink = painted([(column - spilt, column + 1 + spilt, row - spilt, row + 1 + spilt) for column, row in cells])
    assert not CELLS.mark_coins(ink, ink).any()


def test_cells_filled_beyond_their_sides_are_ink_beside_filled_ones_and_in_the_grids_corner() -> None:
    assert not foreign([(1.85, 3.15, 1, 4), (1, 4, 1.85, 3.15)]).any()
    assert not foreign([(0, 1.2, 0, 1.2)]).any()
    assert not foreign([(1.8, 3.2, 1.8, 3.2)]).any(), "over the corners too"
    assert not foreign([(2.0, 3.2, 1.8, 3.2)]).any(), "not over the left side"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.55, 0.7, 1.0])
def test_a_cell_hardly_or_mostly_covered_is_ink_while_its_lines_show(share: float) -> None:
    assert not foreign([(1, 2 + inside(share), 1, 2)]).any()


@pytest.mark.parametrize(
    ("arm", "corner"), [(0, (2, 1)), (1, (2, 2))], ids=["the arm above a corner", "the arm below a corner"]
)
@pytest.mark.parametrize(("share", "is_object"), [(0.55, True), (0.75, True), (0.85, False), (0.1, False)])
def test_if_a_line_is_hidden_more_of_a_cell_must_be_covered(
    arm: int, corner: tuple[int, int], share: float, is_object: bool
) -> None:
    assert foreign([(1, 2 + inside(share), 1, 2)], lines([corner], arm)).any() == is_object
    assert foreign([(2 - inside(share), 3, 1, 2)], lines([corner], arm)).any() == is_object


@pytest.mark.parametrize(("arm", "corner"), [(2, (1, 2)), (3, (2, 2))])
@pytest.mark.parametrize(("share", "is_object"), [(0.7, True), (0.85, False)])
def test_horizontal_lines_count_like_vertical_ones(
    arm: int, corner: tuple[int, int], share: float, is_object: bool
) -> None:
    assert foreign([(1, 2, 1, 2 + inside(share))], lines([corner], arm)).any() == is_object
    assert foreign([(1, 2, 2 - inside(share), 3)], lines([corner], arm)).any() == is_object


def test_a_hidden_line_elsewhere_does_not_affect_a_cell() -> None:
    assert not foreign([(1, 2 + inside(0.7), 1, 2)], lines([(4, 3)])).any()
    assert not foreign([(1, 2 + inside(0.7), 1, 2)], lines([(2, 1)], 1)).any()


def test_a_cell_that_is_filled_in_part_and_touches_no_other_is_ink() -> None:
    assert not foreign([(1.1, 1 + inside(0.4), 1.1, 1.9)]).any()


def test_separate_regions_are_judged_independently() -> None:
    found = foreign([(1, 2 + inside(0.4), 1, 2), (4, 6, 3, 4)])
    assert marked(found) == {(1, 1), (2, 1)}


def test_an_object_extends_a_cell_and_a_half_around_the_partial_cell() -> None:
    """Three filled cells are to the left of a partly covered one."""
    found = foreign([(0, 3 + inside(0.4), 1, 2)])
    assert (found == area(1.5, 3 + inside(0.4), 1, 2)).all()


@pytest.mark.parametrize(("beside", "is_object"), [(0.4, False), (0.5, True), (0.62, True), (0.7, False)])
def test_a_region_reaching_far_beyond_the_grid_is_an_object_unless_it_is_wide(beside: float, is_object: bool) -> None:
    """Beside the grid there are no cells: the share is of the area inside a cell's border."""
    assert foreign([(-beside, 1, 1, 2)]).any() == is_object
    assert foreign([(5, 6 + beside, 1, 2)]).any() == is_object
    assert foreign([(1, 2, -beside, 1)]).any() == is_object
    assert foreign([(1, 2, 4, 5 + beside)]).any() == is_object


@pytest.mark.parametrize(
    ("reach", "hidden_arms", "is_object"), [(0.8, 4, True), (0.8, 3, False), (0.8, 0, False), (0.9, 4, False)]
)
def test_a_region_is_round_if_the_far_quarters_of_its_four_cells_are_bare(
    reach: float, hidden_arms: int, is_object: bool
) -> None:
    """The four cells are covered inside their borders, and 36 % or 64 % of their far quarters."""
    even = lines()
    even[CORNERS.index((2, 2)), :hidden_arms] = True
    found = foreign([(2 - reach, 2 + reach, 2 - reach, 2 + reach)], even)
    assert marked(found) == ({(1, 1), (2, 1), (1, 2), (2, 2)} if is_object else set())


@pytest.mark.parametrize("bare", list(combinations(((1, 1), (2, 1), (1, 2), (2, 2)), 2)))
def test_a_region_with_two_fully_covered_cells_is_not_round(bare: tuple[tuple[int, int], ...]) -> None:
    """36 % of the far quarters of the other two are covered."""
    filled = painted([(1, 3, 1, 3)])
    for column, row in bare:
        left, near = (at if at < 2 else at + 0.6 for at in (column, row))
        filled &= ~area(left, left + 0.4, near, near + 0.4)
    assert not CELLS.mark_objects(filled, filled, lines([(2, 2)])).any()


PENS_DEG = np.array([0.0, 120.0])
USUAL_WITHIN_DEG = 30.0


def mark_foreign_hues(areas: dict[Area, float]) -> set[tuple[int, int]]:
    """The cells whose hue is no pen's; ``areas`` gives hues in degrees."""
    ink, hue = painted(areas), np.zeros(WINDOW.shape, dtype=np.float32)
    for one, degrees in areas.items():
        hue[area(*one)] = degrees
    return marked(CELLS.mark_foreign_hues(hue, ink, PENS_DEG, USUAL_WITHIN_DEG))


@pytest.mark.parametrize(
    ("hue", "is_off"),
    [
        (0, False),
        (29, False),
        (31, True),
        (-29, False),
        (-31, True),
        (91, False),
        (149, False),
        (151, True),
        (350, False),
    ],
)
def test_a_hue_belongs_to_a_pen_within_the_usual_distance(hue: float, is_off: bool) -> None:
    assert mark_foreign_hues({(1, 2, 1, 2): hue}) == ({(1, 1)} if is_off else set())


@pytest.mark.parametrize(
    ("hue", "is_off"), [(20, False), (34, False), (36, True), (6, False), (4, True), (149, False), (151, True)]
)
def test_a_pen_of_which_three_cells_are_known_has_their_hue(hue: float, is_off: bool) -> None:
    cells: dict[Area, float] = {
        (column, column + 1, 0, 1): 20 + by for column, by in zip((0, 2, 4), (-6, 0, 9), strict=True)
    }
    assert mark_foreign_hues({**cells, (1, 2, 3, 3.6): hue}) == ({(1, 3)} if is_off else set())


def test_two_cells_or_cells_that_are_not_filled_tell_nothing_of_a_pen() -> None:
    two: dict[Area, float] = {(0, 1, 0, 1): 20, (2, 3, 0, 1): 20}
    assert mark_foreign_hues({**two, (1, 2, 3, 3.6): 0}) == set()
    part: dict[Area, float] = {(column, column + inside(0.75), 0, 1): 20 for column in (0, 2, 4)}
    assert mark_foreign_hues({**part, (1, 2, 3, 3.6): 0}) == set()
    known: dict[Area, float] = {(column, column + inside(0.85), 0, 1): 20 for column in (0, 2, 4)}
    assert mark_foreign_hues({**known, (1, 2, 3, 3.6): 0}) == {(1, 3)}


@pytest.mark.parametrize(("share", "is_known"), [(0.6, True), (0.4, False)])
def test_a_cell_of_two_hues_is_that_pens_which_most_of_it_has(share: float, is_known: bool) -> None:
    split: dict[Area, float] = {}
    for column in (0, 2, 4):
        split[column, column + inside(share), 0, 1] = 20
        split[column + inside(share), column + 1, 0, 1] = 120
    assert mark_foreign_hues({**split, (1, 2, 3, 3.6): 0}) == ({(1, 3)} if is_known else set())
