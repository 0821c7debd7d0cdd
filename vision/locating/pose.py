"""Estimating a pose from markers.

Poses are proposed by each marker alone (both planar solutions) and by pairs of different ids. Markers agree when one
pose explains their corners within a few millimetres. The pose that most ids agree with wins, so a marker that was
duplicated, misread or moved is ignored and reported.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median

import cv2
import numpy as np

from vision.frame import FloatArray
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import MarkerLayout
from vision.locating.markers import Marker
from vision.locating.quads import grow_quad, quad_area
from vision.opencv import planar_poses, project_with_jacobian, undistort_points


@dataclass(frozen=True)
class PoseSettings:
    """When markers agree with a pose, and when two poses explain a picture equally well. Set by hand on virtual and
    ray-traced pictures.
    """

    agrees_within_px: float = 2.0
    """Maximum root mean square error, in pixels, of a marker that agrees with a pose. Higher: accepts blurred markers,
    and moved ones.
    """
    agrees_within_mm: float = 5.0
    """The same in mm on the table, for markers seen large: tolerance for how precisely markers are glued down."""
    nearest_camera_mm: float = 30.0
    """Minimum height of a camera above the table, and depth of a marker in front of it, in mm."""
    shape_within_px: float = 0.25
    """Maximum deviation, in pixels, of a marker's corners from the shape that the pose gives them."""
    shape_within: float = 0.02
    """Further deviation, as a share of the marker's side. Higher: moved markers are noticed less."""
    smear_forgiven_px: float = 2.5
    """Maximum motion blur common to all markers, in pixels. Higher: tolerates stronger shaking."""
    largest_growth_px: float = 0.5
    """Maximum shrinking of black squares by glare, in pixels."""
    clearly_together: int = 4
    """Number of markers that make a pose certain if its error is below ``clearly_together_px``."""
    clearly_together_px: float = 1.0
    """Error, in pixels, of so many markers below which their pose is certain. Higher: fewer other poses are tried."""
    same_within: tuple[float, float] = (1.0, 0.1)
    """Distance in mm and angle in degrees within which two starts have come to the same pose. Larger: faster, and of
    two poses so close the worse may be taken.
    """
    rival_ratio: float = 3.0
    """Ratio of errors up to which two poses explain the corners equally well. Higher: more poses are uncertain."""
    rival_floor_px: float = 0.15
    """Noise of corners, in pixels: errors below this are not compared."""


_SETTINGS = PoseSettings()

_LEAST_GAIN = 1e-9
"""Share of the squared error that a step must gain, or promise to gain, for the fit of a pose to go on."""


@dataclass(frozen=True, eq=False)
class PoseFit:
    """A pose, the markers that agree with it, those that do not, and its root mean square error in pixels.

    ``rivals`` are other poses that explain the same markers nearly as well (the planar ambiguity). ``by_lines``: the
    board's lines confirm the pose.
    """

    pose: Pose
    used: tuple[Marker, ...]
    unused: tuple[Marker, ...]
    error_px: float
    rivals: tuple[Pose, ...] = ()
    by_lines: bool = False

    @property
    def ids(self) -> frozenset[int]:
        """The ids that agree with the pose."""
        return frozenset(marker.marker_id for marker in self.used)


def marker_error_px(camera: CameraModel, pose: Pose, layout: MarkerLayout, marker: Marker) -> float:
    """Return the root mean square distance in pixels between a marker's corners and their projections."""
    return marker_errors_px(camera, pose, layout, [marker])[0]


def marker_errors_px(camera: CameraModel, pose: Pose, layout: MarkerLayout, markers: Sequence[Marker]) -> list[float]:
    """Return the same of each of several markers."""
    if not markers:
        return []
    points, pixels = corner_pairs(layout, markers)
    squares = ((project(camera, pose, points) - pixels) ** 2).reshape(-1, 8)
    return [float(error) for error in np.sqrt(squares.sum(axis=1) / 4)]


def agreement_px(layout: MarkerLayout, marker: Marker) -> float:
    """Return the maximum root mean square error, in pixels, of a marker that agrees with a pose."""
    return max(_SETTINGS.agrees_within_px, _SETTINGS.agrees_within_mm * marker.side_px / layout.side_mm)


def agrees(camera: CameraModel, pose: Pose, layout: MarkerLayout, marker: Marker) -> bool:
    """Return whether a marker is about where a pose puts it."""
    return marker_error_px(camera, pose, layout, marker) <= agreement_px(layout, marker)


def shapes_agree(camera: CameraModel, layout: MarkerLayout, fit: PoseFit) -> bool:
    """Return whether the markers have the size and slant that their pose predicts.

    The centres of up to three markers fit some pose wherever they lie, so only their shapes show that one was moved.
    Four or more markers contradict a pose by their positions alone. A shaken camera smears all markers in the same way:
    with three, the common part is tolerated, up to a few pixels; with two it is not informative.
    """
    count = len(fit.used)
    if not 2 <= count <= 3:
        return True
    errors = np.stack(
        [project(camera, fit.pose, layout.corners_mm(marker.marker_id)) - marker.corners_px for marker in fit.used]
    )
    shapes = errors - errors.mean(axis=1, keepdims=True)
    if count > 2:
        common = shapes.mean(axis=0)
        size_px = float(np.sqrt(np.mean(np.sum(common**2, axis=1))))
        forgiven = common * min(1.0, _SETTINGS.smear_forgiven_px / max(size_px, 1e-9))
        # the mean of a few contains a share of each of them
        shapes = (shapes - forgiven) * np.sqrt(count / (count - 1))
    shapes_px = np.sqrt(np.mean(np.sum(shapes**2, axis=2), axis=1))
    allowed_px = [_SETTINGS.shape_within_px + _SETTINGS.shape_within * marker.side_px for marker in fit.used]
    return bool(np.all(shapes_px <= allowed_px))


def faces_camera(pose: Pose, layout: MarkerLayout) -> bool:
    """Return whether the camera is above the table and every marker in front of it."""
    if pose.camera_position_mm[2] <= _SETTINGS.nearest_camera_mm:
        return False
    centres = np.array([[*centre, layout.z_mm] for centre in layout.centres_mm.values()])
    depths = centres @ pose.rotation[2] + pose.translation[2]
    return bool(depths.min() > _SETTINGS.nearest_camera_mm)


def refine_pose(
    camera: CameraModel,
    pose: Pose,
    points_mm: FloatArray,
    pixels: FloatArray,
    *,
    directions: FloatArray | None = None,
    weights: FloatArray | None = None,
    steps: int = 12,
) -> Pose:
    """Fit a pose to points (n, 3) seen at distorted pixels (n, 2) by damped Gauss-Newton on the reprojection error.

    ``directions`` (n, 2) are unit vectors along which an error counts (for points on a line: its normal); rows of zeros
    count in both directions. ``weights`` (n,) multiply each point's error.
    """

    def terms(vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        return _residuals(camera, vector[:3], vector[3:], points_mm, pixels, directions, weights)

    found, _ = fit_least_squares(terms, np.concatenate([pose.rotation_vector, pose.translation]), steps=steps)
    return Pose.from_vectors(found[:3], found[3:])


def fit_least_squares(
    terms: Callable[[FloatArray], tuple[FloatArray, FloatArray]], start: FloatArray, *, steps: int
) -> tuple[FloatArray, FloatArray]:
    """Return the parameters (p,) near a start with the least sum of squared residuals, by damped Gauss-Newton
    (Levenberg-Marquardt), and the normal matrix (p, p) there.

    ``terms`` gives the residuals (n,) at some parameters and their derivatives (n, p).
    """
    found, damping, diagonal = start, 1e-4, np.eye(len(start))
    residual, jacobian = terms(found)
    normal, cost = jacobian.T @ jacobian, float(residual @ residual)
    for _ in range(steps):
        damped = normal * (1 + damping * diagonal) + 1e-12 * diagonal
        downhill = -jacobian.T @ residual
        step = np.ravel(cv2.solve(damped, downhill[:, None])[1])
        if step @ (2 * downhill - normal @ step) <= _LEAST_GAIN * cost:
            break
        new_residual, new_jacobian = terms(found + step)
        new_cost = float(new_residual @ new_residual)
        if not new_cost < cost:
            damping *= 10
            if damping > 1e4:
                break
            continue
        gain = cost - new_cost
        found, residual, jacobian, cost = found + step, new_residual, new_jacobian, new_cost
        normal = jacobian.T @ jacobian
        damping = max(damping / 10, 1e-9)
        if gain <= _LEAST_GAIN * cost:
            break
    return found, normal


def _residuals(
    camera: CameraModel,
    rotation: FloatArray,
    translation: FloatArray,
    points_mm: FloatArray,
    pixels: FloatArray,
    directions: FloatArray | None,
    weights: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    seen, by_all = project_with_jacobian(points_mm, rotation, translation, camera.matrix, camera.distortion)
    error, derivatives = seen - pixels, by_all[..., :6]
    if weights is not None:
        error, derivatives = error * weights[:, None], derivatives * weights[:, None, None]
    if directions is None:
        return error.reshape(-1), derivatives.reshape(-1, 6)
    lines = np.any(directions != 0, axis=1)
    along = np.einsum("ni,ni->n", error[lines], directions[lines])
    slope = np.einsum("ni,nij->nj", directions[lines], derivatives[lines])
    return (
        np.concatenate([error[~lines].reshape(-1), along]),
        np.concatenate([derivatives[~lines].reshape(-1, 6), slope]),
    )


def poses_from(camera: CameraModel, layout: MarkerLayout, markers: Sequence[Marker]) -> list[Pose]:
    """Return both planar poses of some markers (different ids) together, refined, better one first, invalid ones left
    out.
    """
    points, pixels = corner_pairs(layout, markers)
    normalised = undistort_points(pixels, camera.matrix, camera.distortion)
    poses = []
    for rotation_vector, translation in planar_poses(points[:, :2], normalised):
        flat = Pose.from_vectors(rotation_vector, translation)
        raised = Pose(flat.rotation, flat.translation - flat.rotation[:, 2] * layout.z_mm)
        pose = refine_pose(camera, raised, points, pixels)
        if faces_camera(pose, layout):
            poses.append(pose)
    return sorted(poses, key=lambda pose: _error_px(camera, pose, points, pixels))


def corner_pairs(layout: MarkerLayout, markers: Iterable[Marker]) -> tuple[FloatArray, FloatArray]:
    """Return corners of the markers on the table, (4n, 3) in millimetres, and in the picture, (4n, 2)."""
    chosen = list(markers)
    points = np.concatenate([layout.corners_mm(marker.marker_id) for marker in chosen])
    return points, np.concatenate([marker.corners_px for marker in chosen])


def _error_px(camera: CameraModel, pose: Pose, points: FloatArray, pixels: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.sum((project(camera, pose, points) - pixels) ** 2, axis=1))))


def _agreeing_markers(camera: CameraModel, layout: MarkerLayout, pose: Pose, markers: Sequence[Marker]) -> list[Marker]:
    """Return the marker of each id that agrees best with a pose, if any does."""
    best: dict[int, tuple[float, Marker]] = {}
    for error, marker in zip(marker_errors_px(camera, pose, layout, markers), markers, strict=True):
        if error <= agreement_px(layout, marker) and error < best.get(marker.marker_id, (np.inf, marker))[0]:
            best[marker.marker_id] = (error, marker)
    return [marker for _, (_, marker) in sorted(best.items())]


def fit_poses(camera: CameraModel, layout: MarkerLayout, markers: Sequence[Marker]) -> list[PoseFit]:
    """Return all poses that the layout's markers allow, with the markers that agree; most ids first, then smallest
    error.

    Fits with the same markers are merged into one; the others become its ``rivals`` if they explain the corners within
    three times the error. Empty when there is no marker of the layout.
    """
    known = [marker for marker in markers if marker.marker_id in layout.centres_mm]
    if not known:
        return []
    starts: list[Pose] = []
    fits: list[PoseFit] = []
    if len({marker.marker_id for marker in known}) == len(known) > 2:
        starts += poses_from(camera, layout, known)
        pairs = corner_pairs(layout, known)
        errors = [_error_px(camera, start, *pairs) for start in starts]
        likely = sum(error <= _equivalent_error_px(errors[0]) for error in errors)
        for start in starts[:likely]:
            fits += _fit_agreeing_markers(camera, layout, start, known, fits)
        # where more markers agree than any three points must, no smaller group can explain the picture better
        agreeing = [fit for fit in fits if not fit.unused and fit.error_px < _SETTINGS.clearly_together_px]
        if agreeing and len(known) >= _SETTINGS.clearly_together:
            return [merge_fits(agreeing)]
        starts = starts[likely:]
    for pair in combinations(known, 2):
        if pair[0].marker_id != pair[1].marker_id:
            starts += poses_from(camera, layout, pair)
    for marker in known:
        starts += poses_from(camera, layout, [marker])
    for start in starts:
        fits += _fit_agreeing_markers(camera, layout, start, known, fits)
    groups: dict[tuple[Marker, ...], list[PoseFit]] = {}
    for fit in fits:
        groups.setdefault(fit.unused, []).append(fit)
    merged = [merge_fits(group) for group in groups.values()]
    return sorted(merged, key=lambda fit: (-len(fit.used), fit.error_px))


def _fit_agreeing_markers(
    camera: CameraModel, layout: MarkerLayout, start: Pose, known: Sequence[Marker], fits: Sequence[PoseFit]
) -> list[PoseFit]:
    """Fit a pose to the markers that agree with it; none if there are none, or if it comes to one of ``fits``, as most
    starts do.
    """
    pose = start
    before: tuple[Marker, ...] | None = None
    for _ in range(5):
        used = _agreeing_markers(camera, layout, pose, known)
        unused = tuple(marker for marker in known if marker not in used)
        if not used or any(
            fit.unused == unused and are_poses_close(fit.pose, pose, *_SETTINGS.same_within) for fit in fits
        ):
            return []
        if unused == before:
            break
        pose, before = refine_pose(camera, pose, *corner_pairs(layout, used)), unused
    return [fit_from(camera, layout, pose, used, unused=unused)] if faces_camera(pose, layout) else []


def fit_from(
    camera: CameraModel,
    layout: MarkerLayout,
    start: Pose,
    used: Sequence[Marker],
    *,
    unused: tuple[Marker, ...] = (),
) -> PoseFit:
    """Fit a pose to markers from a nearby start, and with two markers or more correct for glare.

    Bright white spreads into every marker's black by the same fraction of a pixel. The known size of the markers gives
    the amount, and the corners are moved back by it.
    """
    points, pixels = corner_pairs(layout, used)
    pose = refine_pose(camera, start, points, pixels)
    if len(used) == 1:
        return PoseFit(pose, tuple(used), unused, _error_px(camera, pose, points, pixels))
    quads, sides_px = pixels.reshape(-1, 4, 2), [marker.side_px for marker in used]
    for _ in range(2):
        expected = project(camera, pose, points).reshape(-1, 4, 2)
        lacking = [(np.sqrt(quad_area(quad)) - side_px) / 2 for quad, side_px in zip(expected, sides_px, strict=True)]
        growth_px = min(max(median(lacking), -_SETTINGS.largest_growth_px), _SETTINGS.largest_growth_px)
        grown = grow_quad(quads, growth_px)
        pixels = grown.reshape(-1, 2)
        pose = refine_pose(camera, pose, points, pixels)
    sized = tuple(replace(marker, corners_px=quad) for marker, quad in zip(used, grown, strict=True))
    return PoseFit(pose, sized, unused, _error_px(camera, pose, points, pixels))


def merge_fits(group: Sequence[PoseFit]) -> PoseFit:
    """Merge fits with the same markers into the best one, with the others as its rivals."""
    ordered = sorted(group, key=lambda fit: fit.error_px)
    best = ordered[0]
    rivals: list[Pose] = []
    for fit in ordered[1:]:
        near = any(are_poses_close(fit.pose, pose) for pose in [best.pose, *rivals])
        if not near and fit.error_px <= _equivalent_error_px(best.error_px):
            rivals.append(fit.pose)
    return PoseFit(best.pose, best.used, best.unused, best.error_px, tuple(rivals))


def _equivalent_error_px(error_px: float) -> float:
    """Return the error up to which a pose explains the corners nearly as well as one with ``error_px``."""
    return _SETTINGS.rival_ratio * max(error_px, _SETTINGS.rival_floor_px)


def are_poses_close(first: Pose, second: Pose, apart_mm: float = 8.0, turned_deg: float = 1.0) -> bool:
    """Return whether two camera poses have nearly the same position and direction."""
    turn = np.linalg.norm(Pose(first.rotation @ second.rotation.T, first.translation).rotation_vector)
    apart = np.linalg.norm(first.camera_position_mm - second.camera_position_mm)
    return bool(np.degrees(turn) <= turned_deg and apart <= apart_mm)
