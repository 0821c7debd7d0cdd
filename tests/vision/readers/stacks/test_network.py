"""The network of stacks: its input, output and checksum."""

import json
import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from simulator.scene.scene import lens, looking_at
from tests.vision.readers.stacks import pictures
from vision.errors import WeightsError
from vision.geometry import project
from vision.layout.pieces import PyramidPieces
from vision.layout.table import default_layout
from vision.readers.stacks.appearance import MOST_PIECES
from vision.readers.stacks.enrolment import stack_of
from vision.readers.stacks.network import (
    ACROSS,
    DOWN_MM,
    EXTRAS,
    FOOT_PX,
    HEIGHT_PX,
    KINDS,
    LARGE_PX,
    SHAPE,
    SIDES,
    WEIGHTS,
    WIDTH_PX,
    StackCrops,
    StackNetwork,
    flatten_sides,
    kind_of,
    mirror_sides,
    network_input,
    shipped,
    tip_log_odds,
)


def noise(count: int = 2) -> npt.NDArray[np.uint8]:
    shape = (count, SIDES, len(DOWN_MM), len(ACROSS), 3)
    return np.random.default_rng(1).integers(0, 120, shape, dtype=np.uint8)


def test_every_top_has_a_number_of_its_own() -> None:
    numbers = {kind_of(size, pieces) for size in "SML" for pieces in range(MOST_PIECES + 1)}
    assert numbers == set(range(KINDS))


def test_the_network_input_hardly_depends_on_the_light() -> None:
    sides, views, turned = noise(), np.zeros((2, 2)), np.zeros(2)
    dim, bright = network_input(sides, views, turned), network_input(sides * 2, views, turned)
    assert dim == pytest.approx(bright, abs=0.3)
    assert abs(float(dim[:, :-EXTRAS].mean())) < 1e-3


def test_channels_come_before_rows_and_views_and_turn_at_the_end() -> None:
    sides = noise()
    given = network_input(sides, np.array([[0.1, 0.5], [0.3, 0.7]]), np.array([0.0, np.pi / 8]))
    assert given[1, -EXTRAS:] == pytest.approx([0.3, 0.7, 0.0, 1.0], abs=1e-6)
    arranged = given[0, :-EXTRAS].reshape(SHAPE)
    flat = (sides[0].astype(float) - sides[0].mean()) / (sides[0].std() + 8)
    assert arranged[2, 1, 5, 3] == pytest.approx(flat[2, 5, 3, 1], abs=1e-4)


def test_the_output_is_log_probabilities() -> None:
    logs = shipped().log_probabilities(noise(), np.full((2, 2), 0.4), np.zeros(2))
    assert logs.shape == (2, KINDS + 1)
    assert np.exp(logs).sum(axis=1) == pytest.approx(1.0)


def test_a_doubtful_stack_and_its_mirror_image_are_classified_alike() -> None:
    board, pieces = pictures.LAYOUT.board, PyramidPieces.on(pictures.LAYOUT.board)
    crops = StackCrops(pictures.camera("010.jpg"), pictures.pose("010.jpg"), board)
    stacks = {place: stack_of(stack) for place, stack in pictures.EXPECTED["010.jpg"]["stacks"].items()}
    heights = [pieces.tip_mm(stack[-1][0], len(stack) - 1) for stack in stacks.values()]
    tips = np.array(
        [[*board.centre_mm(place), board.height_mm + high] for place, high in zip(stacks, heights, strict=True)]
    )
    turned = np.linspace(-0.2, 0.2, len(tips))
    cut = crops.of(pictures.picture("010.jpg"), list(stacks))
    sides, views = flatten_sides(crops, cut, list(stacks), tips, turned), crops.views(list(stacks))
    logs, mirrored = (
        shipped().with_mirror_images(shipped().log_probabilities(one, views, angles), one, views, angles)
        for one, angles in ((sides, turned), (mirror_sides(sides), -turned))
    )
    doubtful = np.maximum(logs, mirrored).max(axis=1) < np.log(0.8)
    doubtful &= (tip_log_odds(logs) > 0) & (tip_log_odds(mirrored) > 0)
    assert doubtful.sum() > 1
    assert mirrored[doubtful] == pytest.approx(logs[doubtful], abs=1e-3)
    clear = np.minimum(logs, mirrored).max(axis=1) > np.log(0.95)
    assert (np.abs(mirrored - logs)[clear].max(axis=1) > 0.01).any(), "what is clear is looked at once"


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    shutil.copytree(WEIGHTS, tmp_path / "weights")
    with (tmp_path / "weights" / "stacks.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(WeightsError, match="not those that were tested"):
        StackNetwork(tmp_path / "weights")


def test_the_weights_are_small_and_name_their_temperature() -> None:
    assert (WEIGHTS / "stacks.onnx").stat().st_size < 1_000_000
    assert 0.3 < json.loads((WEIGHTS / "weights.json").read_text(encoding="utf-8"))["temperature"] < 3


# Crops of the stacks of a board: mapping between picture and crop.

BOARD = default_layout("blockade").board
CAMERA = lens()


def crops_from(tilt_deg: float = 25.0, distance_mm: float = 620.0, azimuth_deg: float = -60.0) -> StackCrops:
    return StackCrops(CAMERA, looking_at(distance_mm, tilt_deg, azimuth_deg), BOARD)


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0, 44.0])
def test_vertical_lines_are_vertical_and_the_place_is_at_its_fixed_position(tilt_deg: float) -> None:
    crops = crops_from(tilt_deg)
    foot = np.array([*BOARD.centre_mm("d2"), BOARD.height_mm])
    raised = foot + np.array([0, 0, 40])
    below, above = crops.pixels("d2", np.stack([foot, raised]))
    assert below == pytest.approx(FOOT_PX)
    assert above[0] == pytest.approx(FOOT_PX[0], abs=1e-3)
    assert above[1] < below[1]
    assert crops.at_height("d2", above, BOARD.height_mm + 40) == pytest.approx(raised)


def test_the_base_of_a_large_piece_has_its_fixed_length() -> None:
    crops = crops_from(0.0)
    foot = np.array([*BOARD.centre_mm("c3"), BOARD.height_mm])
    ends = crops.pixels("c3", foot + np.array([[-12.7, 0, 0], [12.7, 0, 0]]))
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(LARGE_PX, abs=0.1)
    assert abs(crops.bearing("c3")) < 1e-3 or abs(abs(crops.bearing("c3")) - np.pi) < 1e-3


@pytest.mark.parametrize("distance_mm", [250.0, 620.0])
def test_a_crop_shows_the_part_of_the_picture_around_its_place(distance_mm: float) -> None:
    pose = looking_at(distance_mm, 20.0, 30.0)
    crops = StackCrops(CAMERA, pose, BOARD)
    rows, columns = np.indices((720, 1280))
    image = np.stack([columns / 1280, rows / 720, np.zeros_like(rows)], axis=-1) * 255
    crop = crops.of(np.rint(image).astype(np.uint8), ["b4", "c3"])
    assert crop.shape == (2, HEIGHT_PX, WIDTH_PX, 3)
    point = np.array([[*BOARD.centre_mm("c3"), BOARD.height_mm + 20.0]])
    column, row = np.rint(crops.pixels("c3", point)[0]).astype(int)
    expected = project(CAMERA, pose, point)[0] / (1280, 720) * 255
    assert crop[1, row, column, :2] == pytest.approx(expected, abs=2.5)


@pytest.mark.parametrize("pixel", [(2, 2), (93, 2), (2, 165), (93, 165), (48, 100)])
def test_every_corner_of_a_crop_shows_its_part_of_the_picture(pixel: tuple[int, int]) -> None:
    pose = looking_at(620.0, 20.0, 30.0)
    crops = StackCrops(CAMERA, pose, BOARD)
    rows, columns = np.indices((720, 1280))
    image = np.stack([columns / 1280, rows / 720, np.zeros_like(rows)], axis=-1) * 255
    column, row = pixel
    point = crops.at_height("c3", np.array(pixel, dtype=np.float64), BOARD.height_mm)
    expected = project(CAMERA, pose, point[None])[0] / (1280, 720) * 255
    assert crops.of(np.rint(image).astype(np.uint8), ["c3"])[0, row, column, :2] == pytest.approx(expected, abs=1.5)


@pytest.mark.parametrize("distance_mm", [100.0, 400.0])
def test_a_picture_finer_than_its_crop_is_downsampled_first(distance_mm: float) -> None:
    crops = StackCrops(lens((1280, 720), 20.0), looking_at(distance_mm, 0.0), BOARD)
    checks = (np.indices((720, 1280)).sum(axis=0) % 2 * 255).astype(np.uint8)
    crop = crops.of(np.repeat(checks[..., None], 3, axis=2), ["c3"])[0, 40:120, 10:80].astype(float)
    assert crop.mean() == pytest.approx(127, abs=12)
    assert crop.std() < 20


def test_a_grey_picture_is_cropped_too() -> None:
    assert crops_from().of(np.full((720, 1280), 80, dtype=np.uint8), ["a1"]).shape == (1, HEIGHT_PX, WIDTH_PX, 3)


def test_views_encode_steepness_and_distance() -> None:
    near, far = crops_from(0.0, 400.0).views(["c3"])[0], crops_from(40.0, 800.0).views(["c3"])[0]
    assert near[0] == pytest.approx(0.0, abs=0.01)
    assert far[0] == pytest.approx(np.sin(np.radians(40)), abs=0.02)
    assert near[1] > 1.8 * far[1]


def test_projection_matrices_map_points_to_the_crop() -> None:
    crops = StackCrops(CAMERA, looking_at(620.0, 25.0, -60.0), BOARD)
    points = np.array([[10.0, -40.0, 20.0], [0.0, 35.0, 61.0]])
    places = ["b2", "c4"]
    for place, matrix in zip(places, crops.projections(places), strict=True):
        one = crops.project([place], points[:1])
        assert one[0] == pytest.approx(crops.pixels(place, points)[0])
        column, row, depth = matrix @ np.column_stack([points, np.ones(2)]).T
        assert np.column_stack([column, row]) / depth[:, None] == pytest.approx(crops.pixels(place, points))


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0, 44.0])
def test_a_point_is_found_again_from_its_pixel_and_a_vertical_axis_near_it(tilt_deg: float) -> None:
    crops, places = crops_from(tilt_deg), ["b2", "d4"]
    axes = np.array([BOARD.centre_mm(place) for place in places]) + 1.5
    points = np.array([[[*axis, 61.0], [*axis, 75.0]] for axis in axes])
    pixels = np.array([crops.pixels(place, own) for place, own in zip(places, points, strict=True)])
    found = crops.near_axes(places, pixels, axes, 66.0)
    assert found.shape == points.shape
    for place, own, expected in zip(places, found, pixels, strict=True):
        assert crops.pixels(place, own) == pytest.approx(expected, abs=1e-6), "it is seen at that pixel"
    wrong = np.abs(found[..., 2] - points[..., 2]).max()
    assert wrong < (1.5 if tilt_deg > 40 else 10.0), "from above, the height is a guess"
    assert crops.near_axes(places, pixels, axes, points[0, 0, 2])[:, 0] == pytest.approx(points[:, 0])


def test_a_pixel_shows_a_point_of_the_board() -> None:
    crops, places = crops_from(), ["b2", "d4"]
    points = np.add([[*BOARD.centre_mm(place), BOARD.height_mm] for place in places], [3.0, -2.0, 0.0])
    pixels = np.array([crops.pixels(place, own[None])[0] for place, own in zip(places, points, strict=True)])
    assert crops.on_board(places, pixels) == pytest.approx(points[:, :2])
