"""Measuring a camera from the table: on projections of random cameras, and on ray-traced pictures."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scene.random_lenses import SIZE, focal_off, measured, random_camera, random_pose, sighting_of
from tests.effort import cases
from tests.vision import photoreal
from vision.errors import CalibrationError, MirroredError
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import default_layout, games_with_layouts
from vision.opencv import planar_poses, undistort_points
from vision.self_calibration import (
    PRIORS,
    LensPriors,
    calibration_from_json,
    calibration_to_json,
    camera_of_board,
    camera_with_share,
    cameras_from_markers,
    estimate_camera,
    fit_camera_to,
    joined_calibration,
)

LAYOUT = default_layout("deblockle")
SURE_TILT_DEG = 15.0


@pytest.mark.parametrize("game", games_with_layouts())
def test_the_focal_length_of_any_tilted_camera_is_known_to_some_permille(game: str) -> None:
    rng, layout = np.random.default_rng(1), default_layout(game)
    off = []
    for _ in range(cases(60, 3)):
        camera = random_camera(rng)
        found = measured(rng, camera, layout, [rng.uniform(SURE_TILT_DEG, 55)])
        assert found.agrees, found.reasons
        off.append(abs(focal_off(found, camera)))
    assert np.median(off) < 0.006
    assert max(off) < 0.03


def test_the_error_is_about_as_large_as_it_says_itself_at_any_tilt() -> None:
    rng = np.random.default_rng(2)
    scores = []
    for _ in range(cases(100, 8)):
        camera = random_camera(rng)
        found = measured(rng, camera, LAYOUT, [rng.uniform(0, 55)])
        scores.append(focal_off(found, camera) / found.focal_sd)
    assert np.sqrt(np.mean(np.square(scores))) < 1.5
    assert np.quantile(np.abs(scores), 0.95) < 2.5


def test_from_straight_above_it_says_that_the_lens_is_not_known() -> None:
    rng = np.random.default_rng(3)
    for _ in range(cases(20, 2)):
        found = measured(rng, random_camera(rng), LAYOUT, [rng.uniform(0, 2)])
        assert found.focal_sd > 0.05
        assert not found.is_sure
        assert "it looks straight down" in found.reasons[0]


def test_more_views_tell_more() -> None:
    rng = np.random.default_rng(4)
    one, four = [], []
    for _ in range(cases(20, 2)):
        camera = random_camera(rng)
        tilts = [8, 20, 30, 40]
        first, all_four = measured(rng, camera, LAYOUT, tilts[:1]), measured(rng, camera, LAYOUT, tilts)
        assert all_four.focal_sd < first.focal_sd
        assert len(all_four.sightings) == 4
        one.append(abs(focal_off(first, camera)))
        four.append(abs(focal_off(all_four, camera)))
    assert np.median(four) < np.median(one)
    assert max(four) < 0.02


def test_a_view_that_disagrees_is_thrown_out() -> None:
    rng = np.random.default_rng(5)
    for _ in range(cases(20, 2)):
        camera = random_camera(rng)
        good = measured(rng, camera, LAYOUT, [20, 35])
        zoomed = measured(rng, replace(camera, matrix=camera.matrix * [[1.2], [1.2], [1]]), LAYOUT, [30])
        found = joined_calibration([good, zoomed])
        assert found.thrown_out == 1
        assert found.agrees
        assert abs(focal_off(found, camera)) < 0.03


def test_a_marker_out_of_place_is_noticed() -> None:
    rng = np.random.default_rng(6)
    camera = random_camera(rng)
    _, sighting = sighting_of(rng, camera, random_pose(rng, camera, LAYOUT, 30), LAYOUT)
    pixels = sighting.pixels.copy()
    pixels[:4] += (6.0, -4.0)
    found = fit_camera_to([replace(sighting, pixels=pixels)], camera, PRIORS)
    assert not found.agrees
    assert "pixels off on average" in found.reasons[0]


def test_a_photo_from_straight_above_that_tells_its_focal_length_is_measured_better() -> None:
    rng = np.random.default_rng(9)
    off: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(cases(40, 4)):
        camera = random_camera(rng)
        told = LensPriors(float(camera.matrix[0, 0] / np.hypot(*SIZE) * np.exp(rng.normal(0, 0.04))), 0.06)
        pose = random_pose(rng, camera, LAYOUT, 3.0)
        markers, sighting = sighting_of(rng, camera, pose, LAYOUT)
        for is_told, priors in ((False, PRIORS), (True, told)):
            starts = cameras_from_markers(LAYOUT, markers, SIZE, priors)
            found = fit_camera_to([replace(sighting, pose=starts[0][1])], starts[0][0], priors)
            off[is_told].append(abs(focal_off(found, camera)))
            assert found.priors == priors
            again = calibration_from_json(calibration_to_json(found))
            assert joined_calibration([again]).priors == priors
    assert np.median(off[True]) < 0.06
    assert np.median(off[True]) < np.median(off[False]) / 2


def test_what_was_measured_can_be_kept_and_read_again() -> None:
    rng = np.random.default_rng(7)
    found = measured(rng, random_camera(rng), LAYOUT, [20, 35])
    again = calibration_from_json(calibration_to_json(found))
    assert np.allclose(again.camera.matrix, found.camera.matrix)
    assert (again.focal_sd, again.camera.size) == (found.focal_sd, SIZE)
    assert joined_calibration([again]).camera.matrix[0, 0] == pytest.approx(found.camera.matrix[0, 0], rel=1e-4)


@pytest.mark.parametrize(
    "wrong", [{"sightings": []}, {"sightings": [{}]}, {"focal_sd": None}, {"focal_sd": float("nan")}, {"matrix": [[1]]}]
)
def test_a_file_that_was_damaged_is_refused(wrong: dict[str, object]) -> None:
    rng = np.random.default_rng(8)
    kept = calibration_to_json(measured(rng, random_camera(rng), LAYOUT, [30]))
    with pytest.raises(CalibrationError):
        calibration_from_json(kept | wrong)


TWO_MARKERS = "012.jpg"


@pytest.mark.parametrize("name", [name for name in photoreal.BOARDS if name != TWO_MARKERS])
def test_a_ray_traced_picture_gives_its_camera(name: str) -> None:
    true = photoreal.camera(name)
    found = estimate_camera([photoreal.picture(name)], photoreal.LAYOUT)
    assert found.agrees
    off = abs(focal_off(found, true))
    assert off < 3 * found.focal_sd
    if found.is_sure:
        assert off < 0.016


def test_pictures_of_one_camera_give_it_together() -> None:
    names = [name for name in photoreal.BOARDS if photoreal.EXPECTED[name]["camera"] == "pi3" and name != TWO_MARKERS]
    found = estimate_camera([photoreal.picture(name) for name in names], photoreal.LAYOUT)
    assert found.is_sure
    assert abs(focal_off(found, photoreal.camera(names[0]))) < 0.01


def test_a_board_without_markers_gives_its_camera_by_its_lines() -> None:
    name = "034.jpg"
    found = estimate_camera([photoreal.picture(name)], photoreal.LAYOUT.without_markers())
    assert found.agrees
    assert abs(focal_off(found, photoreal.camera(name))) < 0.05


def test_a_board_whose_corners_were_shown_gives_its_camera() -> None:
    name = "010.jpg"
    pose = photoreal.pose(name)

    board = photoreal.LAYOUT.board
    corners = board.bounds_mm.corners_mm(board.height_mm)
    shown = project(photoreal.camera(name), pose, corners)

    def roughly(camera: CameraModel) -> Pose:
        flat = Pose.from_vectors(
            *planar_poses(corners[:, :2], undistort_points(shown, camera.matrix, camera.distortion))[0]
        )
        return Pose(flat.rotation, flat.translation - flat.rotation[:, 2] * board.height_mm)

    grey = photoreal.picture(name)[..., 1].copy()
    found = camera_of_board(grey, photoreal.LAYOUT, roughly)
    assert abs(np.log(found.matrix[0, 0] / photoreal.camera(name).matrix[0, 0])) < 0.05
    blank = camera_of_board(np.full_like(grey, 120), photoreal.LAYOUT, roughly)
    assert blank.matrix[0, 0] == camera_with_share(PRIORS.focal, SIZE).matrix[0, 0]


def test_pictures_that_show_too_little_are_refused_with_what_lacks() -> None:
    picture = photoreal.picture("034.jpg")
    with pytest.raises(CalibrationError, match="none of markers 0 to 3 was seen; 3 are needed"):
        estimate_camera([np.full_like(picture, 120)], photoreal.LAYOUT)
    with pytest.raises(CalibrationError, match="only markers 1 and 2 of 0-3 were seen"):
        estimate_camera([photoreal.picture(TWO_MARKERS)], photoreal.LAYOUT)
    with pytest.raises(CalibrationError, match="its lines are not seen clearly"):
        estimate_camera([np.full_like(picture, 120)], photoreal.LAYOUT.without_markers())
    with pytest.raises(CalibrationError, match="2 sizes"):
        estimate_camera([picture, picture[:-2]], photoreal.LAYOUT)
    with pytest.raises(MirroredError):
        estimate_camera([picture[:, ::-1].copy()], photoreal.LAYOUT)
