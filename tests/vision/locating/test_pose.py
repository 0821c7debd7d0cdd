"""Estimating a pose from the markers that agree, and reporting doubts about it."""

from dataclasses import replace

import numpy as np
import pytest

from simulator.table import standard_setting
from vision.frame import FloatArray
from vision.geometry import Pose, back_project, project
from vision.locating.markers import Marker
from vision.locating.pose import (
    PoseFit,
    agreement_px,
    are_poses_close,
    corner_pairs,
    faces_camera,
    fit_from,
    fit_poses,
    marker_error_px,
    merge_fits,
    poses_from,
    refine_pose,
    shapes_agree,
)
from vision.locating.quads import grow_quad

SETTING = standard_setting()
MARKERS = SETTING.layout.markers


def seen(marker_id: int, smear_px: FloatArray) -> Marker:
    """A marker whose corners are moved outwards along (x, y), as by motion blur."""
    corners = project(SETTING.camera, SETTING.pose, MARKERS.corners_mm(marker_id))
    return Marker(marker_id, corners + np.sign(corners - corners.mean(axis=0)) * smear_px)


def fitted(smears_px: list[tuple[float, float]]) -> PoseFit:
    used = [seen(marker_id, np.array(smear)) for marker_id, smear in enumerate(smears_px)]
    fit = fit_from(SETTING.camera, MARKERS, SETTING.pose, used)
    return replace(fit, used=tuple(used))


@pytest.mark.parametrize("smear_px", [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (1.6, 1.6)])
def test_three_markers_smeared_alike_agree(smear_px: tuple[float, float]) -> None:
    assert shapes_agree(SETTING.camera, MARKERS, fitted([smear_px] * 3))


def test_the_only_smeared_marker_of_three_does_not_agree() -> None:
    assert not shapes_agree(SETTING.camera, MARKERS, fitted([(0.0, 0.0), (4.0, 0.0), (0.0, 0.0)]))


def test_smeared_markers_do_not_agree_if_there_are_only_two() -> None:
    assert shapes_agree(SETTING.camera, MARKERS, fitted([(0.0, 0.0), (0.0, 0.0)]))
    assert not shapes_agree(SETTING.camera, MARKERS, fitted([(4.0, 0.0), (4.0, 0.0)]))


HEIGHT = np.array([0.0, 0.0, 1.0])
EXACT = tuple(Marker(one, project(SETTING.camera, SETTING.pose, MARKERS.corners_mm(one))) for one in range(4))


def pose_from_above(height_mm: float) -> Pose:
    """The pose of a camera straight above the middle of the table."""
    return Pose(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, height_mm]))


def nudged(pose: Pose, turn_deg: float, shift_mm: float) -> Pose:
    """The pose of a camera rotated about its centre, then shifted sideways."""
    turn = Pose.from_vectors(np.radians(turn_deg) * HEIGHT, np.zeros(3)).rotation
    rotation = turn @ pose.rotation
    return Pose(rotation, -rotation @ (pose.camera_position_mm + np.array([shift_mm, 0.0, 0.0])))


def off_mm(found: Pose, true: Pose) -> float:
    """Largest distance in the table plane between the table's corners in two poses."""
    corners = np.array([[x, y, 0.0] for x in (-180.0, 180.0) for y in (-180.0, 180.0)])
    seen_at = back_project(SETTING.camera, found, project(SETTING.camera, true, corners), 0.0)
    return float(np.linalg.norm(seen_at - corners, axis=1).max())


@pytest.mark.parametrize(("share", "agree"), [(0.9, True), (1.1, False)])
def test_shapes_may_be_off_by_a_quarter_pixel_and_a_fiftieth_of_the_side(share: float, agree: bool) -> None:
    def fit(smears_px: list[float]) -> PoseFit:
        used = tuple(seen(number, np.array([smear, 0.0])) for number, smear in enumerate(smears_px))
        return PoseFit(SETTING.pose, used, (), 0.0)

    allowed_px = 0.25 + 0.02 * EXACT[0].side_px
    assert shapes_agree(SETTING.camera, MARKERS, fit([share * allowed_px, 0.0])) == agree
    assert shapes_agree(SETTING.camera, MARKERS, fit([2.5 + share * allowed_px * np.sqrt(2 / 3)] * 3)) == agree
    alone = share * allowed_px * np.sqrt(3 / 2)
    assert shapes_agree(SETTING.camera, MARKERS, fit([0.0, alone, 0.0])) == agree
    assert shapes_agree(SETTING.camera, MARKERS, fit([9.0]))
    assert shapes_agree(SETTING.camera, MARKERS, fit([9.0, 0.0, 0.0, 0.0]))


def test_a_marker_agrees_within_two_pixels_or_five_millimetres() -> None:
    far, near = (Marker(0, side_px * np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])) for side_px in (5.0, 60.0))
    assert agreement_px(MARKERS, far) == 2.0
    assert agreement_px(MARKERS, near) == pytest.approx(5.0 * 60.0 / MARKERS.side_mm)
    pushed = Marker(2, EXACT[2].corners_px + np.array([3.0, 4.0]))
    assert marker_error_px(SETTING.camera, SETTING.pose, MARKERS, pushed) == pytest.approx(5.0)


def test_the_camera_must_be_above_the_table_with_all_markers_in_front() -> None:
    assert faces_camera(pose_from_above(32.0), MARKERS)
    assert not faces_camera(pose_from_above(28.0), MARKERS)
    nearest_mm = min(y for _, y in MARKERS.centres_mm.values())
    level = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for before_mm, faces in ((32.0, True), (28.0, False), (-500.0, False)):
        eye = np.array([0.0, nearest_mm - before_mm, 400.0])
        assert faces_camera(Pose(level, -level @ eye), MARKERS) == faces
    below = np.array([0.0, nearest_mm - 100.0, -400.0])
    assert not faces_camera(Pose(level, -level @ below), MARKERS)


@pytest.mark.parametrize("steps", [1, 12])
def test_a_pose_is_fitted_to_points_by_their_weights(steps: int) -> None:
    points, pixels = corner_pairs(MARKERS, EXACT)
    start = nudged(SETTING.pose, 1.0, 6.0)
    weights = np.ones(len(points))
    weights[5] = 0.0
    pixels[5] += 80.0
    found = refine_pose(SETTING.camera, start, points, pixels, weights=weights, steps=steps)
    assert off_mm(found, SETTING.pose) < (1e-3 if steps > 1 else 0.2)
    assert off_mm(refine_pose(SETTING.camera, start, points, pixels, steps=0), start) < 1e-6
    light = np.where(weights == 0, 0.1, 1.0)
    pulled = refine_pose(SETTING.camera, start, points, pixels, weights=light)
    unweighted = refine_pose(SETTING.camera, start, points, pixels)
    assert 0.01 < off_mm(pulled, SETTING.pose) < 0.2 * off_mm(unweighted, SETTING.pose)


def test_an_error_along_a_line_costs_nothing() -> None:
    points, pixels = corner_pairs(MARKERS, EXACT)
    turns = np.arange(len(points)) * 0.7
    normals = np.column_stack([np.cos(turns), np.sin(turns)])
    slid = pixels + 25.0 * np.column_stack([-normals[:, 1], normals[:, 0]])
    normals[[3, 10]] = 0.0
    slid[[3, 10]] = pixels[[3, 10]]
    found = refine_pose(SETTING.camera, nudged(SETTING.pose, 1.0, 6.0), points, slid, directions=normals)
    assert off_mm(found, SETTING.pose) < 1e-2
    slid[3] += (30.0, 0.0)
    assert off_mm(refine_pose(SETTING.camera, SETTING.pose, points, slid, directions=normals), SETTING.pose) > 1.0


def test_a_fit_from_a_distant_start_converges() -> None:
    points, pixels = corner_pairs(MARKERS, EXACT)
    far = Pose(pose_from_above(300.0).rotation, np.array([60.0, -40.0, 300.0]))
    assert off_mm(refine_pose(SETTING.camera, far, points, pixels, steps=40), SETTING.pose) < 1e-3


@pytest.mark.parametrize("raised_mm", [0.0, 35.0])
def test_both_poses_of_a_marker_are_found_whatever_its_height(raised_mm: float) -> None:
    raised = replace(MARKERS, z_mm=raised_mm)
    lone = Marker(1, project(SETTING.camera, SETTING.pose, raised.corners_mm(1)))
    poses = poses_from(SETTING.camera, raised, [lone])
    assert len(poses) == 2
    errors = [marker_error_px(SETTING.camera, pose, raised, lone) for pose in poses]
    assert errors == sorted(errors)
    assert off_mm(poses[0], SETTING.pose) < 0.5
    assert off_mm(poses[1], SETTING.pose) > 20
    upside_down = replace(lone, corners_px=lone.corners_px[::-1])
    assert poses_from(SETTING.camera, raised, [upside_down]) == []


@pytest.mark.parametrize(
    ("turn_deg", "shift_mm", "close"), [(0.9, 0, True), (1.1, 0, False), (0, 7.5, True), (0, 8.5, False)]
)
def test_poses_are_close_within_a_degree_and_eight_millimetres(turn_deg: float, shift_mm: float, close: bool) -> None:
    assert are_poses_close(SETTING.pose, nudged(SETTING.pose, turn_deg, shift_mm)) == close


def test_poses_that_explain_the_corners_nearly_as_well_are_rivals() -> None:
    places = {shift_mm: nudged(SETTING.pose, 0.0, shift_mm) for shift_mm in (0.0, 4.0, 20.0, 40.0, 45.0, 90.0)}

    def fit(shift_mm: float, error_px: float) -> PoseFit:
        return PoseFit(places[shift_mm], EXACT, (), error_px)

    group = [fit(20.0, 1.1), fit(0.0, 0.4), fit(4.0, 0.5), fit(90.0, 1.3), fit(40.0, 0.9), fit(45.0, 1.0)]
    merged = merge_fits(group)
    assert merged.pose is places[0.0]
    assert merged.error_px == 0.4
    assert [next(mm for mm, pose in places.items() if pose is rival) for rival in merged.rivals] == [40.0, 20.0]
    small = merge_fits([fit(0.0, 0.01), fit(20.0, 0.44), fit(40.0, 0.46)])
    assert [rival is places[20.0] for rival in small.rivals] == [True]


@pytest.mark.parametrize("growth_px", [-0.4, 0.3])
def test_glare_that_shrinks_every_marker_alike_is_undone(growth_px: float) -> None:
    shrunk = [replace(one, corners_px=grow_quad(one.corners_px, -growth_px)) for one in EXACT]
    fit = fit_from(SETTING.camera, MARKERS, SETTING.pose, shrunk)
    assert off_mm(fit.pose, SETTING.pose) < 0.01
    assert fit.error_px < 0.02
    for marker, exact in zip(fit.used, EXACT, strict=True):
        assert np.abs(marker.corners_px - exact.corners_px).max() < 0.03
    (alone,) = fit_from(SETTING.camera, MARKERS, SETTING.pose, shrunk[:1]).used
    assert alone is shrunk[0]
    worse = [replace(one, corners_px=grow_quad(one.corners_px, -1.5)) for one in EXACT]
    limited = fit_from(SETTING.camera, MARKERS, SETTING.pose, worse).used[0]
    assert np.abs(limited.corners_px - grow_quad(worse[0].corners_px, 0.5)).max() < 1e-6


def test_all_markers_that_agree_give_one_pose_and_strangers_are_ignored() -> None:
    stranger = Marker(33, EXACT[0].corners_px + 100.0)
    (fit,) = fit_poses(SETTING.camera, MARKERS, [*EXACT, stranger])
    assert fit.ids == {0, 1, 2, 3}
    assert not fit.unused
    assert not fit.rivals
    assert off_mm(fit.pose, SETTING.pose) < 1e-3
    assert fit_poses(SETTING.camera, MARKERS, [stranger]) == []
    assert fit_poses(SETTING.camera, MARKERS, []) == []


@pytest.mark.parametrize("kept", [(0, 1, 2, 3), (1, 2, 3)])
def test_a_pushed_marker_is_outvoted(kept: tuple[int, ...]) -> None:
    pushed = replace(EXACT[1], corners_px=EXACT[1].corners_px + np.array([40.0, 30.0]))
    best, *others = fit_poses(SETTING.camera, MARKERS, [pushed if one == 1 else EXACT[one] for one in kept])
    assert best.ids == set(kept) - {1}
    assert [one.marker_id for one in best.unused] == [1]
    assert off_mm(best.pose, SETTING.pose) < 0.01
    assert others
    counts = [len(fit.ids) for fit in (best, *others)]
    assert counts == sorted(counts, reverse=True)


def test_of_two_markers_with_one_id_the_better_fitting_is_used() -> None:
    double = replace(EXACT[2], corners_px=EXACT[2].corners_px + np.array([1.5, 0.0]))
    elsewhere = replace(EXACT[2], corners_px=EXACT[2].corners_px + np.array([60.0, 0.0]))
    best = fit_poses(SETTING.camera, MARKERS, [double, elsewhere, *EXACT])[0]
    assert sorted(one.marker_id for one in best.used) == [0, 1, 2, 3]
    assert {float(one.corners_px[0, 0]) for one in best.unused} == {
        float(one.corners_px[0, 0]) for one in (double, elsewhere)
    }
