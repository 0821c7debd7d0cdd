"""The finder of feet and tips: what its values mean, and how well it finds drawn stacks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.readers.stacks.drawn import BOARD, CAMERA, FOUR_STACKS, Drawn, L, M, picture_of, seen_from
from vision.readers.stacks.network import (
    ASTRAY_PX,
    CELL_PX,
    COLUMNS,
    FINDER_SHAPE,
    FINDER_VALUES,
    FOOT_COLUMNS,
    FOOT_PX,
    FOOT_ROWS,
    HEIGHT_PX,
    ROWS,
    SAME_PX,
    SPOTS,
    WIDTH_PX,
    StackCrops,
    cell_centres_px,
    finder_input,
    shipped_finder,
    spots_of,
    tip_heights_mm,
)

STACKS = (
    *FOUR_STACKS,
    Drawn("c3", [L, M, M], (2.0, 1.5), 0.15),
)
PLACES = [one.place for one in STACKS]


@pytest.mark.parametrize("azimuth_deg", [-70.0, 110.0])
@pytest.mark.parametrize("lamp", [1.0, 0.5])
def test_feet_tips_and_angles_of_drawn_stacks_are_found(azimuth_deg: float, lamp: float) -> None:
    pose = seen_from(azimuth_deg)
    crops = StackCrops(CAMERA, pose, BOARD)
    pictures = crops.of(picture_of(STACKS, pose, lamp), PLACES)
    found = shipped_finder().find(crops, pictures, PLACES, tip_heights_mm(BOARD))
    for number, one in enumerate(STACKS):
        true_px = crops.pixels(one.place, one.tip_mm[None])[0]
        assert np.linalg.norm(found.tips_px[number] - true_px, axis=1).min() < 3.5, one.place
        assert found.feet_mm[number] == pytest.approx(one.foot_mm, abs=1.8), one.place
        turned = found.angles_rad[number] + crops.bearing(one.place) - one.turned
        assert abs((turned + np.pi / 4) % (np.pi / 2) - np.pi / 4) < 0.15, one.place


def test_values_say_where_spots_are() -> None:
    centres = cell_centres_px().reshape(ROWS, COLUMNS, 2)
    axes = np.array([[centres[12, 4], centres[4, 4]]] * 2)
    values = np.zeros((2, FINDER_VALUES, ROWS, COLUMNS))
    values[0, :3, 5, 4] = 9.0, 0.25, -0.5
    values[0, :3, 5, 5] = 9.0, -0.7, -0.5
    values[0, 0, 11, 4] = 7.0
    tips_px, logs = spots_of(values, axes)
    one, other = 0.25 * CELL_PX, 0.3 * CELL_PX
    share = 1 / (1 + np.exp((one**2 - other**2) / (2 * ASTRAY_PX**2)))
    between = one * share + other * (1 - share)
    assert tips_px[0, 0] == pytest.approx(centres[5, 4] + (between, -0.5 * CELL_PX), abs=1e-3)
    assert tips_px[0, 1] == pytest.approx(centres[11, 4]), "the second best is at the same spot as the best"
    assert tips_px.shape == (2, SPOTS, 2)
    assert (np.diff(logs, axis=1) <= 0).all()
    assert (logs < 0).all()
    apart = np.linalg.norm(tips_px[1][:, None] - tips_px[1], axis=2) + 99 * np.eye(SPOTS)
    assert apart.min() >= SAME_PX


@pytest.mark.parametrize("cell", [(8, 5), (2, 4), (14, 4)])
def test_a_tip_beside_or_beyond_its_stack_is_less_likely(cell: tuple[int, int]) -> None:
    centres = cell_centres_px().reshape(ROWS, COLUMNS, 2)
    axis = np.array([[centres[12, 4], centres[4, 4]]])
    values = np.zeros((1, FINDER_VALUES, ROWS, COLUMNS))
    values[0, 0, 8, 4] = 20.0
    values[0, 0, *cell] = 20.0
    (first, second, *_), (log, other, *_) = (one[0] for one in spots_of(values, axis))
    assert first == pytest.approx(centres[8, 4])
    assert second == pytest.approx(centres[cell])
    away = CELL_PX if cell[1] == 5 else 2 * CELL_PX
    assert log - other == pytest.approx(away**2 / (2 * ASTRAY_PX**2))


def test_the_centre_of_a_place_is_among_the_cells_that_say_where_its_foot_is() -> None:
    around = cell_centres_px().reshape(ROWS, COLUMNS, 2)[FOOT_ROWS, FOOT_COLUMNS].reshape(-1, 2)
    assert around.mean(axis=0) == pytest.approx(FOOT_PX, abs=CELL_PX / 2)


def test_the_input_does_not_depend_on_the_light() -> None:
    crops = np.random.default_rng(1).integers(0, 110, (3, HEIGHT_PX, WIDTH_PX, 3), dtype=np.uint8)
    given = finder_input(crops)
    assert given.shape == (3, *FINDER_SHAPE)
    assert np.abs(finder_input(crops * 2) - given).max() < 0.6
    assert given.mean(axis=(1, 2, 3)) == pytest.approx(np.zeros(3), abs=1e-4)
