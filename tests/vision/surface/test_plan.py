"""Masks and indices computed from the layout alone, checked by hand counts."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from tests.vision.surface.drawn import BOARD, WINDOW
from vision.surface.plan import SurfacePlan, disc_mm
from vision.surface.view import COARSER


@cache
def plan() -> SurfacePlan:
    """A plan made here, so that only these tests fail if it is wrong."""
    return SurfacePlan.of(BOARD)


def at_mm(x: float, y: float) -> tuple[int, int]:
    column, row = WINDOW.to_pixels(x, y)
    return round(row), round(column)


def coarse_at_mm(x: float, y: float) -> tuple[int, int]:
    row, column = at_mm(x, y)
    return row // COARSER, column // COARSER


def test_discs_have_their_width_on_the_coarse_scale() -> None:
    for width_mm in (7.0, 12.0, 40.0):
        disc = disc_mm(width_mm)
        assert disc.shape[0] == disc.shape[1]
        assert disc.shape[0] % 2 == 1
        assert abs(disc.shape[0] * COARSER - width_mm) < 2 * COARSER
        assert disc[:, disc.shape[1] // 2].all()
        assert disc.sum() < disc.size
    assert disc_mm(0.5).shape == (3, 3)


@pytest.mark.parametrize("sign", [-1, 1])
def test_table_board_edge_and_print_are_excluded(sign: int) -> None:
    never_bare = plan().never_bare
    for across in (0.0, 60.0, -90.0):
        for x, y in ((sign * 145.0, across), (across, sign * 145.0), (sign * 139.5, across), (across, sign * 139.5)):
            assert never_bare[at_mm(x, y)]
        assert not never_bare[at_mm(sign * 135.0, across)]
        assert not never_bare[at_mm(across, sign * 136.0)]
    x, y = BOARD.centre_mm("d2" if sign < 0 else "d6")
    for turn in np.linspace(0, 2 * np.pi, 8):
        assert never_bare[at_mm(x + 13 * np.cos(turn), y + 13 * np.sin(turn))]
        assert not never_bare[at_mm(x + 18 * np.cos(turn), y + 18 * np.sin(turn))]
    assert not never_bare[at_mm(*BOARD.centre_mm("d4"))]


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_masks_beside_the_board_and_deep_inside_the_rim(sign: int) -> None:
    beside, deep = plan().beside, plan().deep
    for across in (0.0, 70.0):
        assert beside[coarse_at_mm(sign * 143.0, across)]
        assert beside[coarse_at_mm(across, sign * 143.0)]
        for inside in (120.0, 100.0, 0.0):
            assert deep[coarse_at_mm(sign * inside, across)]
            assert deep[coarse_at_mm(across, sign * inside)]
        for outside in (130.0, 150.0):
            assert not deep[coarse_at_mm(sign * outside, across)]
            assert not deep[coarse_at_mm(across, sign * outside)]
    assert not beside[deep].any()
    assert beside.sum() * COARSER**2 == pytest.approx(WINDOW.shape[0] * WINDOW.shape[1] - 276**2, rel=0.03)


def test_places_have_their_centres_and_the_lines_around_them() -> None:
    rows, columns = plan().middles
    for index, place in enumerate(BOARD.places):
        row, column = coarse_at_mm(*BOARD.centre_mm(place))
        assert abs(rows[index] - row) <= 1
        assert abs(columns[index] - column) <= 1
    around = plan().around
    assert around.shape == (49, 2 * 2 * 7 * 6)
    assert (around.sum(axis=0) == 2).all(), "each inner line borders two squares"


@pytest.mark.parametrize("cell_mm", [39.4, 40.0, 41.3])
def test_the_centre_of_a_place_lies_in_its_coarse_pixel(cell_mm: float) -> None:
    board = replace(BOARD, cell_mm=cell_mm)
    made = SurfacePlan.of(board)
    columns, rows = made.window.to_pixels(*board.centres_mm.T)
    for fine, coarse in ((rows, made.middles[0]), (columns, made.middles[1])):
        assert np.abs(fine - (COARSER * coarse + (COARSER - 1) / 2)).max() <= COARSER / 2


def test_the_nearest_line_part_is_the_nearest() -> None:
    ends = plan().lines.parts.ends / COARSER
    random = np.random.default_rng(1)
    for row, column in random.integers(0, np.array(WINDOW.shape) // COARSER, (60, 2)).tolist():
        point = np.array([column, row], dtype=np.float64)
        ways = ends[:, 1] - ends[:, 0]
        share = np.clip(((point - ends[:, 0]) * ways).sum(axis=1) / (ways**2).sum(axis=1), 0, 1)
        away = np.linalg.norm(ends[:, 0] + share[:, None] * ways - point, axis=1)
        assert away[plan().nearest[row, column]] < away.min() + 2.5
