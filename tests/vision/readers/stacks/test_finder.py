"""The finder of feet and tips: what its values mean, and how well it finds drawn stacks."""

import math

import numpy as np
import pytest

from simulator.scene.scene import lens, looking_at
from tests.vision.readers.stacks.drawn import BOARD, CAMERA, FOUR_STACKS, Drawn, L, M, picture_of, seen_from
from vision.frame import Image
from vision.layout.table import default_layout
from vision.readers.stacks.network import (
    ACROSS,
    ASTRAY_PX,
    CELL_PX,
    COLUMNS,
    DOWN_MM,
    FINDER_SHAPE,
    FINDER_VALUES,
    FOOT_COLUMNS,
    FOOT_PX,
    FOOT_ROWS,
    HEIGHT_PX,
    OUT_MM,
    ROWS,
    SAME_PX,
    SIDES,
    SPOTS,
    WIDTH_PX,
    StackCrops,
    cell_centres_px,
    finder_input,
    flatten_sides,
    levels_beside_tips,
    mirror_sides,
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


# Rectified sides of a stack: each point is sampled at its projection.

BOARD_FACES = default_layout("blockade").board
PLACES_FACES = ("c3", "a5", "e1")
TIP_MM = BOARD_FACES.height_mm + 50.0


@pytest.fixture(scope="module", params=[-90.0, 30.0])
def crops(request: pytest.FixtureRequest) -> StackCrops:
    return StackCrops(lens(), looking_at(620.0, 25.0, request.param), BOARD_FACES)


def ramps() -> Image:
    """Crops whose pixels encode their own column, row and number."""
    rows, columns = np.indices((HEIGHT_PX, WIDTH_PX))
    return np.stack(
        [np.stack([columns, rows, np.full_like(rows, 10 * number)], axis=-1) for number in range(len(PLACES_FACES))]
    ).astype(np.uint8)


def tips() -> np.ndarray:
    return np.add([[*BOARD_FACES.centre_mm(place), TIP_MM] for place in PLACES_FACES], [1.0, -0.5, 0.0])


def test_each_point_is_sampled_at_its_projection(crops: StackCrops) -> None:
    turned = np.array([0.0, 0.2, -0.3])
    found = flatten_sides(crops, ramps(), PLACES_FACES, tips(), turned)
    assert found.shape == (len(PLACES_FACES), SIDES, len(DOWN_MM), len(ACROSS), 3)
    scale = crops.large_mm / 25.4
    for number, place in enumerate(PLACES_FACES):
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
    assert (found[..., 2] == 10 * np.arange(len(PLACES_FACES))[:, None, None, None]).all()


def test_the_first_side_is_turned_towards_the_camera(crops: StackCrops) -> None:
    found = flatten_sides(crops, ramps(), PLACES_FACES, tips(), np.zeros(3)).astype(int)
    nearest, farthest = found[:, 0, 3:20, 3, 1], found[:, 2, 3:20, 3, 1]
    assert (nearest.mean(axis=1) > farthest.mean(axis=1) + 5).all()
    assert (np.diff(nearest, axis=1) >= 0).all()
    assert (found[:, 0, 10, -1, 0] > found[:, 0, 10, 0, 0]).all()


def test_mirroring_twice_gives_the_original(crops: StackCrops) -> None:
    found = flatten_sides(crops, ramps(), PLACES_FACES, tips(), np.zeros(3))
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
