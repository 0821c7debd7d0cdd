"""Rectifying a sheet: finer detail is averaged, and ink is separated from light."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.readers.ink.sheets import camera, layout, picture, pose
from vision.frame import Image
from vision.geometry import CameraModel
from vision.readers.ink.paper import (
    CELL_PX,
    CellRange,
    flat_map,
    flat_picture,
    flat_window,
    ink_on,
    paper_light,
    range_around,
)
from vision.sampling import linear_light


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
