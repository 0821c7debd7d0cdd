"""Rectified sides of a stack: each point is sampled at its projection."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simulator.scene.scene import lens, looking_at
from vision.frame import Image
from vision.layout.table import default_layout
from vision.readers.stacks.network import (
    ACROSS,
    DOWN_MM,
    HEIGHT_PX,
    OUT_MM,
    SIDES,
    WIDTH_PX,
    StackCrops,
    flatten_sides,
    levels_beside_tips,
    mirror_sides,
)

BOARD = default_layout("blockade").board
PLACES = ("c3", "a5", "e1")
TIP_MM = BOARD.height_mm + 50.0


@pytest.fixture(scope="module", params=[-90.0, 30.0])
def crops(request: pytest.FixtureRequest) -> StackCrops:
    return StackCrops(lens(), looking_at(620.0, 25.0, request.param), BOARD)


def ramps() -> Image:
    """Crops whose pixels encode their own column, row and number."""
    rows, columns = np.indices((HEIGHT_PX, WIDTH_PX))
    return np.stack(
        [np.stack([columns, rows, np.full_like(rows, 10 * number)], axis=-1) for number in range(len(PLACES))]
    ).astype(np.uint8)


def tips() -> np.ndarray:
    return np.add([[*BOARD.centre_mm(place), TIP_MM] for place in PLACES], [1.0, -0.5, 0.0])


def test_each_point_is_sampled_at_its_projection(crops: StackCrops) -> None:
    turned = np.array([0.0, 0.2, -0.3])
    found = flatten_sides(crops, ramps(), PLACES, tips(), turned)
    assert found.shape == (len(PLACES), SIDES, len(DOWN_MM), len(ACROSS), 3)
    scale = crops.large_mm / 25.4
    for number, place in enumerate(PLACES):
        for side in range(SIDES):
            angle = crops.bearing(place) + turned[number] + (side - 1) * math.pi / 2
            outwards = np.array([math.cos(angle), math.sin(angle), 0.0])
            along = np.array([-math.sin(angle), math.cos(angle), 0.0])
            for row in (0, 2, 10, 25):
                for column in (0, 3, 6):
                    out, down = OUT_MM[row] * scale, DOWN_MM[row] * scale
                    point = tips()[number] + out * (outwards + ACROSS[column] * along) - [0.0, 0.0, down]
                    seen = np.clip(crops.pixels(place, point[None])[0], 0, (WIDTH_PX - 1, HEIGHT_PX - 1))
                    assert found[number, side, row, column, :2] == pytest.approx(seen, abs=1.1)
    assert (found[..., 2] == 10 * np.arange(len(PLACES))[:, None, None, None]).all()


def test_the_first_side_is_turned_towards_the_camera(crops: StackCrops) -> None:
    found = flatten_sides(crops, ramps(), PLACES, tips(), np.zeros(3)).astype(int)
    nearest, farthest = found[:, 0, 3:20, 3, 1], found[:, 2, 3:20, 3, 1]
    assert (nearest.mean(axis=1) > farthest.mean(axis=1) + 5).all()
    assert (np.diff(nearest, axis=1) >= 0).all()
    assert (found[:, 0, 10, -1, 0] > found[:, 0, 10, 0, 0]).all()


def test_mirroring_twice_gives_the_original(crops: StackCrops) -> None:
    found = flatten_sides(crops, ramps(), PLACES, tips(), np.zeros(3))
    mirrored = mirror_sides(found)
    assert (mirror_sides(mirrored) == found).all()
    assert (mirrored[:, 1, :, 0] == found[:, 3, :, -1]).all()
    assert (mirrored[:, 0, :, 0] == found[:, 0, :, -1]).all()
    assert (mirrored[:, 2, :, 1] == found[:, 2, :, -2]).all()


def test_rows_go_down_as_a_pyramid_gets_wider() -> None:
    assert (np.diff(DOWN_MM[3:]) > 0).all()
    assert (DOWN_MM[:3] == 0).all()
    assert (np.diff(OUT_MM) > 0).all()
    assert OUT_MM[0] == 0
    slopes = np.diff(OUT_MM[3:]) / np.diff(DOWN_MM[3:])
    base, high = 25.4, 44.5
    assert slopes == pytest.approx((base - 0.16 * base) / 2 / high, rel=0.03)
    assert pytest.approx(-ACROSS[::-1]) == ACROSS
    assert np.abs(ACROSS[[0, -1]]).min() > 1 > np.abs(ACROSS[1:-1]).max()


def test_levels_are_those_of_the_visible_faces_just_below_the_tip() -> None:
    sides = np.zeros((3, SIDES, len(DOWN_MM), len(ACROSS), 3), dtype=np.uint8)
    sides[..., :4, :, :] = sides[..., 10:, :, :] = 255
    sides[:, :, 4:10] = np.array([[40], [80], [120], [160]])[:, None, None]
    from_above, from_aside = (0.0, 0.5), (0.6, 0.5)
    found = levels_beside_tips(sides, np.array([from_above, from_aside, from_aside]), np.array([0.0, 0.0, np.pi / 4]))
    assert found[:, 0] == pytest.approx([100, (40 + 80 + 160) / 3, (40 + 160) / 2])
