"""Pictures are sampled at the projections of points and shrunk to means, and light is linear."""

import math
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.frame import FloatImage, Image
from vision.geometry import CameraModel, Pose, Rectangle, project
from vision.reading import KEPT_PX, REACH_PX, USUAL_DIFFERENCE, PlacePicture
from vision.sampling import (
    PlaneGrid,
    PlaneWindow,
    linear_light,
    max_channel,
    mean_channel,
    median,
    median_where,
    min_channel,
    plane_map,
    quantile,
    remapped,
    rounded,
    sample,
    shrink,
    square_sums,
)

BOUNDS = Rectangle(-60.0, 40.0, -30.0, 50.0)


def test_the_least_mean_and_largest_channel_of_each_pixel() -> None:
    pixels = np.random.default_rng(1).random((4, 5, 3)).astype(np.float32)
    for one, expected in ((min_channel, np.min), (mean_channel, np.mean), (max_channel, np.max)):
        assert one(pixels).dtype == np.float32
        assert one(pixels) == pytest.approx(expected(pixels, axis=2))


def test_a_window_begins_at_its_far_left_corner() -> None:
    window = PlaneWindow.over(BOUNDS, 10.0, 2.0)
    assert window.shape == (160, 200)
    assert window.to_pixels(-60.0, 50.0) == (-0.5, -0.5)
    assert window.to_pixels(40.0, -30.0) == (199.5, 159.5)
    assert window.to_pixels(-59.75, 49.75) == (0.0, 0.0)


def test_millimetres_of_a_window_are_the_inverse_of_its_pixels() -> None:
    window = PlaneWindow(-12.0, 30.0, 50.0, 40.0, 5.0, 1.6)
    assert window.to_mm(0.0, 0.0) == pytest.approx((-12 + 0.5 / 1.6, 30 - 0.5 / 1.6))
    assert window.to_pixels(*window.to_mm(7.25, 3.5)) == pytest.approx((7.25, 3.5))


def test_each_pixel_of_a_window_maps_to_its_point_in_the_picture(camera: CameraModel, pose: Pose) -> None:
    window = PlaneWindow.over(BOUNDS, 10.0, 2.0)
    found = plane_map(camera, pose, window)
    assert found.shape == (160, 200, 2)
    for x, y in ((-59.75, 49.75), (39.75, -29.75), (0.25, 0.25), (-7.25, 31.75)):
        column, row = window.to_pixels(x, y)
        assert found[round(row), round(column)] == pytest.approx(project(camera, pose, [[x, y, 10.0]])[0], abs=1e-3)


def test_points_off_the_plane_are_projected_where_they_are_seen_on_it(camera: CameraModel, pose: Pose) -> None:
    window = PlaneWindow.over(BOUNDS, 10.0, 2.0)
    found = plane_map(camera, pose, window, lambda points: points + np.array([3.0, -2.0]))
    for x, y in ((-59.75, 49.75), (39.75, -29.75), (0.25, 0.25), (-7.25, 31.75)):
        column, row = window.to_pixels(x, y)
        seen = project(camera, pose, [[x + 3.0, y - 2.0, 10.0]])[0]
        assert found[round(row), round(column)] == pytest.approx(seen, abs=0.06)


def test_a_plane_grid_maps_millimetres_to_pixels(camera: CameraModel, pose: Pose) -> None:
    grid = PlaneGrid.of(camera, pose, BOUNDS, 10.0)
    assert grid.nodes[20, 45] == pytest.approx(project(camera, pose, [[-15.0, 30.0, 10.0]])[0], abs=1e-3)
    x, y = np.array([[-12.5, 3.25]]), np.array([[20.75, -9.5]])
    expected = project(camera, pose, [[-12.5, 20.75, 10.0], [3.25, -9.5, 10.0]])
    assert np.allclose(grid.pixel_map(x, y)[0], expected, atol=0.11)
    beyond = grid.pixel_map(np.array([[-500.0]]), np.array([[500.0]]))
    assert np.array_equal(beyond[0, 0], grid.nodes[0, 0])


def test_nodes_around_a_corner_repeat_those_at_the_rim(camera: CameraModel, pose: Pose) -> None:
    nodes = PlaneGrid.of(camera, pose, BOUNDS, 10.0)
    height, width = nodes.nodes.shape[:2]
    assert np.array_equal(nodes.around(20, 30, 3), nodes.nodes[17:23, 27:33])
    assert np.array_equal(nodes.around(3, 3, 3), nodes.nodes[:6, :6])
    assert np.array_equal(nodes.around(height - 3, width - 3, 3), nodes.nodes[-6:, -6:])
    rim = nodes.around(0, width, 2)
    assert rim.shape == (4, 4, 2)
    assert np.array_equal(rim[0], rim[2])
    assert np.array_equal(rim[:, 2], rim[:, 3])
    assert np.array_equal(rim[3, 0], nodes.nodes[1, width - 2])


def test_sampling_beyond_the_picture_repeats_its_border() -> None:
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    where = np.array([[[0, 0], [3, 2], [-5, 1], [9, 9]]], dtype=np.float32)
    assert sample(image, where).tolist() == [[0, 11, 4, 11]]


def test_maps_of_any_number_of_rows_are_sampled() -> None:
    image = np.random.default_rng(1).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    where = np.random.default_rng(2).uniform(0, 19, (70_000, 1, 2)).astype(np.float32)
    found = sample(image, where)
    assert found.shape == (70_000, 1, 3)
    assert np.array_equal(found[:, 0], sample(image, where.reshape(1000, 70, 2)).reshape(-1, 3))


def test_linear_light_follows_the_srgb_standard() -> None:
    light = linear_light(np.array([[0, 10, 11, 128, 255]], dtype=np.uint8))[0]
    assert light == pytest.approx([0.0, 0.003035, 0.003347, 0.215861, 1.0], abs=2e-6)


@pytest.mark.parametrize("count", [1, 2, 7, 8])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_median_equals_numpys(count: int, axis: int) -> None:
    values = np.random.default_rng(count).normal(size=(count, count, 3))
    assert np.array_equal(median(values, axis), np.median(values, axis=axis))
    assert median(values.astype(np.float32), axis).dtype == np.float32


def test_the_median_of_chosen_values_equals_numpys() -> None:
    values = np.random.default_rng(4).normal(size=(40, 9))
    chosen = np.random.default_rng(5).random(values.shape) < np.linspace(0.1, 1, 40)[:, None]
    chosen[0], chosen[-1] = False, True
    expected = [np.median(row[own]) if own.any() else np.inf for row, own in zip(values, chosen, strict=True)]
    assert median_where(values, chosen) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.65, 1.0])
@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_quantiles_equal_those_of_numpy(share: float, count: int) -> None:
    values = np.random.default_rng(count).normal(size=(3, count))
    assert quantile(values, share) == pytest.approx(np.quantile(values, share, axis=-1))


@pytest.mark.parametrize("side", [4, 5])
def test_sums_around_centres_leave_out_what_is_beyond_the_border(side: int) -> None:
    levels = np.random.default_rng(3).integers(0, 255, (20, 30), dtype=np.uint8)
    pictures: list[npt.NDArray[Any]] = [levels, levels.astype(np.float32) / 7]
    centres = np.array([[10, 0, 19], [12, 1, 29]])
    for picture, sums in zip(pictures, square_sums(pictures, centres, side), strict=True):
        for row, column, found in zip(*centres, sums, strict=True):
            top, left = row - side // 2, column - side // 2
            part = picture[max(0, top) : top + side, max(0, left) : left + side]
            assert found == pytest.approx(part.sum(dtype=np.float64), rel=1e-6)


def test_a_rounded_map_samples_the_same_colours(camera: CameraModel, pose: Pose) -> None:
    image = np.random.default_rng(5).integers(0, 255, (camera.size[1], camera.size[0], 3), dtype=np.uint8)
    pixel_map = plane_map(camera, pose, PlaneWindow.over(BOUNDS, 0.0, 1.0))
    assert np.array_equal(sample(image, rounded(pixel_map)), sample(image, pixel_map))


def test_colours_are_interpolated_like_each_channel_alone() -> None:
    random = np.random.default_rng(4)
    image = random.integers(0, 256, (40, 60, 3)).astype(np.uint8)
    positions = random.uniform(-5, 65, (20, 30, 2)).astype(np.float32)
    alone = np.stack([sample(np.ascontiguousarray(image[..., channel]), positions) for channel in range(3)], axis=-1)
    # positions are rounded to 1/32 pixel, and neighbours differ by up to 255 levels each way
    assert np.abs(sample(image, positions).astype(int) - alone).max() <= 255 / 32 + 1


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 5, 6, 7, 12])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_a_shrunk_picture_has_the_means_of_squares(factor: int, channels: tuple[int, ...]) -> None:
    image = np.random.default_rng(factor).integers(0, 256, (5 * factor, 4 * factor, *channels)).astype(np.uint8)
    means = image.reshape(5, factor, 4, factor, *channels).mean(axis=(1, 3))
    # it may be rounded at each of several steps
    assert np.abs(shrink(image, factor) - means).max() < 1.1


def test_a_picture_is_shrunk_to_the_means_of_four_by_four_pixels() -> None:
    noisy = np.random.default_rng(2).integers(0, 255, (48, 80, 3)).astype(np.uint8)
    means = noisy.reshape(12, 4, 20, 4, 3).mean(axis=(1, 3))
    assert np.abs(shrink(noisy) - means).max() <= 1.01
    assert shrink(noisy[..., 0]).shape == (12, 20)
    assert shrink(noisy[:3, :2]).shape == (1, 1, 3)


def test_a_map_may_have_more_rows_than_opencv_takes() -> None:
    rows = np.linspace(0, 9, 40_000, dtype=np.float32)[:, None]
    with pytest.raises(cv2.error):
        cv2.remap(np.zeros((10, 1), np.uint8), np.zeros_like(rows), rows, cv2.INTER_LINEAR)
    seen = remapped(np.arange(0, 200, 20, dtype=np.float32)[:, None], np.zeros_like(rows), rows)
    assert seen == pytest.approx(20 * rows, abs=1.0)


# Pictures of a place: which changes make them differ, and which do not.

ROWS, COLUMNS = 120, 80
TIP_PX = (40.0, 50.0)


def drawn(
    tip_px: tuple[float, float] = TIP_PX,
    *,
    turned_deg: float = 0.0,
    light: float = 1.0,
    across: float = 0.0,
    noise: int = 0,
    moved_px: tuple[int, int] = (0, 0),
) -> Image:
    """A crop of a bright tip on a darker face, in light that grows ``across`` the picture by this share."""
    levels: FloatImage = np.full((ROWS, COLUMNS), 60.0, dtype=np.float32)
    for side_px, level in ((44.0, 90.0), (9.0, 200.0)):
        corners = cv2.boxPoints((tip_px, (side_px, side_px), turned_deg))
        cv2.fillConvexPoly(levels, np.round(corners * 16).astype(np.int32), level, cv2.LINE_AA, shift=4)
    levels *= light * np.linspace(1.0, 1.0 + across, COLUMNS, dtype=np.float32)
    levels += np.random.default_rng(noise).normal(0.0, 1.5 * (noise > 0), levels.shape)
    levels = np.roll(levels, moved_px, axis=(1, 0))
    return np.repeat(np.clip(levels, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def taken(crop: Image, tip_px: tuple[float, float] = TIP_PX) -> PlacePicture:
    return PlacePicture.of(crop, np.array(tip_px))


def apart(**later: object) -> float:
    return taken(drawn(noise=1)).difference(taken(drawn(**{"noise": 2, **later})))  # type: ignore[arg-type]


def test_a_picture_does_not_differ_from_itself() -> None:
    assert taken(drawn()).difference(taken(drawn())) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "later",
    [
        {},
        {"light": 0.6},
        {"light": 1.2},
        {"across": 0.3},
        {"moved_px": (KEPT_PX * REACH_PX, 0)},
        {"moved_px": (-KEPT_PX * REACH_PX, KEPT_PX * REACH_PX)},
    ],
)
def test_noise_light_and_small_pose_differences_hardly_count(later: dict[str, object]) -> None:
    assert apart(**later) < 10


@pytest.mark.parametrize(
    "later", [{"tip_px": (45.0, 50.0)}, {"tip_px": (40.0, 44.0)}, {"turned_deg": 40.0}, {"tip_px": (52.0, 61.0)}]
)
def test_a_piece_put_down_anew_differs_much_more(later: dict[str, object]) -> None:
    assert apart(**later) > 4 * max(apart(), apart(light=0.6), apart(across=0.3))


def test_changes_far_from_the_tip_do_not_count() -> None:
    crop = drawn()
    crop[90:110, 5:75] = 250
    assert taken(drawn()).difference(taken(crop)) < 0.5


def test_a_blank_place_hardly_differs_by_its_noise() -> None:
    blank = np.full((ROWS, COLUMNS, 3), 120, dtype=np.uint8)
    noisy = blank + np.random.default_rng(3).integers(0, 2, blank.shape).astype(np.uint8)
    assert taken(blank).difference(taken(noisy)) < 25


@pytest.mark.parametrize("tip_px", [(-60.0, 50.0), (40.0, 400.0)])
def test_pictures_that_do_not_show_the_tip_cannot_be_compared(tip_px: tuple[float, float]) -> None:
    assert math.isinf(taken(drawn(), tip_px).difference(taken(drawn())))


def test_pictures_of_two_sizes_cannot_be_compared() -> None:
    assert math.isinf(taken(drawn()).difference(taken(drawn()[:-20])))


@given(st.floats(-10, COLUMNS + 10), st.floats(-10, ROWS + 10), st.integers(1, 50))
def test_a_difference_is_within_its_bounds_wherever_the_tip_is(column: float, row: float, noise: int) -> None:
    found = taken(drawn(), (column, row)).difference(taken(drawn((55.0, 35.0), noise=noise)))
    assert math.isinf(found) or 0.0 <= found * USUAL_DIFFERENCE <= 2.0


def test_a_difference_is_the_share_of_contrast_that_changed_at_the_best_offset() -> None:
    random = np.random.default_rng(4)
    first, second = (random.normal(0, 0.2, (60, 40)).astype(np.float32) for _ in range(2))
    later = np.roll(first, (1, -1), axis=(0, 1)) + 0.1 * second
    tip = (20.3, 24.6)
    found = PlacePicture(first, tip).difference(PlacePicture(later, (0.0, 0.0)))
    before = first[19:31, 15:27]
    shares = []
    for down in (-1, 0, 1):
        for across in (-1, 0, 1):
            moved = later[19 + down : 31 + down, 15 + across : 27 + across]
            shares.append(((moved - before) ** 2).mean() / ((moved**2).mean() + (before**2).mean() + 1e-3))
    assert found == pytest.approx(min(shares) / USUAL_DIFFERENCE, rel=1e-4)
    assert shares.index(min(shares)) == 6


@pytest.mark.parametrize(("tip_px", "is_seen"), [((-5.0, 20.0), False), ((-3.0, 20.0), True), ((44.0, 20.0), True)])
def test_a_tip_at_the_rim_is_compared_as_far_as_it_is_visible(tip_px: tuple[float, float], is_seen: bool) -> None:
    levels = np.random.default_rng(4).normal(0, 0.2, (60, 40)).astype(np.float32)
    found = PlacePicture(levels, tip_px).difference(PlacePicture(levels, tip_px))
    assert math.isinf(found) != is_seen
    assert not is_seen or found == pytest.approx(0.0, abs=1e-6)


def test_the_tip_is_kept_at_the_scale_of_the_picture() -> None:
    kept = taken(drawn(), (40.5, 51.5))
    assert kept.levels.shape == (ROWS // KEPT_PX, COLUMNS // KEPT_PX)
    assert kept.tip_px == (20.0, 25.5)
    row, column = np.unravel_index(int(taken(drawn((40.0, 50.0))).levels.argmax()), kept.levels.shape)
    assert (column, row) == pytest.approx((20, 25), abs=2)
