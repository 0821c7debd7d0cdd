"""Refining the table's pose by the board's grid lines, for when few markers are in sight.

One marker fixes the pose near itself, but a small error in its corners swings the far side of the board by
millimetres. The grid lines lie all over the board; where a dark line is found a little beside its place, the pose is
moved so that it comes to lie on it (Gauss-Newton on point-to-line distances, weighted as Huber 1964).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vision.coverings import GRID_ALONG, board_view, grid_segments
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout import TableLayout
from vision.markers import Marker
from vision.sampling import sample

SEARCH_MM = 9.0
STEP_MM = 0.5
FEWEST_LINES = 20
LINE_CONTRAST = 0.05
ROUNDS = 3
STEPS_A_ROUND = 4
HUBER_PX = 1.0
MARKER_WEIGHT = 2.0


def refine_by_grid(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> Pose:
    """Give a pose whose grid lies on the dark lines seen; the same pose when too few lines are made out.

    ``markers`` are the sightings the pose rests on; the new pose still has to agree with them.
    """
    best = pose
    for _ in range(ROUNDS):
        points, targets, normals = _seen_lines(image, camera, best, layout)
        if len(points) < FEWEST_LINES * len(GRID_ALONG) // 2:
            return pose
        best = _adjusted(camera, best, layout, markers, points, targets, normals)
    return best


def _seen_lines(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """World points on grid lines (n, 3), the pixels where the lines are seen (n, 2), and normals in pixels (n, 2)."""
    view = board_view(image, camera, pose, layout, ())
    dark = np.asarray(np.log(view.light.mean(axis=2) + 0.004), dtype=np.float32)
    offsets = np.arange(-SEARCH_MM, SEARCH_MM + STEP_MM / 2, STEP_MM)
    points, targets, normals = [], [], []
    shifts = []
    segments = grid_segments(layout)
    for x1, y1, x2, y2 in segments:
        along = np.column_stack([x1 + GRID_ALONG * (x2 - x1), y1 + GRID_ALONG * (y2 - y1)])
        length = float(np.hypot(x2 - x1, y2 - y1))
        across = np.array([-(y2 - y1) / length, (x2 - x1) / length])
        shifted = along[None, :, :] + across * offsets[:, None, None]
        column, row = view.window.to_pixels(shifted[..., 0], shifted[..., 1])
        profile = sample(dark, np.stack([column, row], axis=-1).astype(np.float32)).mean(axis=1)
        at = int(profile.argmin())
        contrast = float(np.median(profile) - profile[at])
        clear = contrast > LINE_CONTRAST and 0 < at < len(offsets) - 1
        shifts.append((along, across, float(offsets[at]), clear))
    usual = {}
    for horizontal in (False, True):
        own = [shift for _, across, shift, clear in shifts if clear and (abs(across[1]) > 0.5) == horizontal]
        usual[horizontal] = float(np.median(own)) if own else 0.0
    for along, across, shift, clear in shifts:
        horizontal = bool(abs(across[1]) > 0.5)
        # a block's edge or the wood's grain can be darker than the line: shifts far from the usual one are not lines
        if not clear or abs(shift - usual[horizontal]) > SEARCH_MM / 2:
            continue
        height = np.full((len(along), 1), layout.board_top_mm)
        world = np.hstack([along, height])
        seen = project(camera, pose, np.hstack([along + across * shift, height]))
        beside = project(camera, pose, np.hstack([along + across, height])) - project(camera, pose, world)
        points.append(world)
        targets.append(seen)
        normals.append(beside / np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), 1e-9))
    if not points:
        return np.zeros((0, 3)), np.zeros((0, 2)), np.zeros((0, 2))
    return np.concatenate(points), np.concatenate(targets), np.concatenate(normals)


def _adjusted(
    camera: CameraModel,
    pose: Pose,
    layout: TableLayout,
    markers: Sequence[Marker],
    points: FloatArray,
    targets: FloatArray,
    normals: FloatArray,
) -> Pose:
    corners = [layout.markers.corners_mm(marker.marker_id) for marker in markers]
    seen = [np.asarray(marker.corners_px, dtype=np.float64) for marker in markers]
    corner_points = np.concatenate(corners) if corners else np.zeros((0, 3))
    corner_pixels = np.concatenate(seen) if seen else np.zeros((0, 2))

    def residuals(vector: FloatArray) -> tuple[FloatArray, FloatArray]:
        trial = Pose.from_vectors(vector[:3], vector[3:])
        lines = ((project(camera, trial, points) - targets) * normals).sum(axis=1)
        marks = (project(camera, trial, corner_points) - corner_pixels).ravel()
        return lines, marks

    vector = np.concatenate([pose.rotation_vector, pose.translation])
    steps = np.array([1e-5, 1e-5, 1e-5, 1e-2, 1e-2, 1e-2])
    line_share = 1.0 / np.sqrt(max(1, len(points)))
    mark_share = MARKER_WEIGHT / np.sqrt(max(1, 2 * len(corner_points)))
    for _ in range(STEPS_A_ROUND):
        lines, marks = residuals(vector)
        weight = line_share * np.sqrt(np.minimum(1.0, HUBER_PX / np.maximum(np.abs(lines), 1e-9)))
        columns = []
        for index, step in enumerate(steps):
            moved = vector.copy()
            moved[index] += step
            more_lines, more_marks = residuals(moved)
            columns.append(np.concatenate([weight * (more_lines - lines), mark_share * (more_marks - marks)]) / step)
        jacobian = np.column_stack(columns)
        errors = np.concatenate([weight * lines, mark_share * marks])
        scale = np.linalg.norm(jacobian, axis=0)
        scale[scale == 0] = 1.0
        change = np.linalg.lstsq(jacobian / scale, -errors, rcond=None)[0] / scale
        vector = vector + change
    return Pose.from_vectors(vector[:3], vector[3:])
