"""Refining the table's pose by the board's grid lines when few markers are visible.

One marker fixes the pose near itself, but a small error in its corners moves the far side of the board by millimetres.
The grid lines cover the whole board. Lines found slightly off their expected position correct the pose (Gauss-Newton on
point-to-line distances, weighted as in Huber 1964).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.surfaces import GridSurface
from vision.layout.table import TableLayout
from vision.locating.markers import Marker
from vision.locating.pose import corner_pairs, refine_pose
from vision.sampling import sample
from vision.surface.grid_lines import grid_segments
from vision.surface.view import SurfaceSampler


@dataclass(frozen=True)
class RefinementSettings:
    """How grid lines are searched for, and when they confirm a pose. Set by hand on virtual and ray-traced pictures."""

    search_mm: float = 9.0
    """Search distance around a line's expected position, in mm. Higher: tolerates worse poses, may find the next line.
    """
    step_mm: float = 0.5
    """Step of that search, in mm."""
    on_line_mm: float = 0.9
    """Distance, in mm, from a line's expected position within which its brightness is measured."""
    beside_mm: tuple[float, float] = (3.0, 6.0)
    """Minimum and maximum distance, in mm, at which the brightness beside a line is measured."""
    agreeing_mm: float = 1.5
    """Distance, in mm, within which a line is at its expected position."""
    agreeing_share: float = 0.5
    """Share of the clear lines that must be. Higher: fewer poses are confirmed."""
    fewest_lines: int = 20
    """Minimum number of clear lines."""
    line_contrast: float = 0.05
    """Minimum step in log brightness of a clear line. Higher: ignores wood grain, and faint lines."""
    rounds: int = 3
    """Number of times that lines are searched for again from the improved pose."""
    steps_a_round: int = 4
    """Gauss-Newton steps each time."""
    huber_px: float = 1.0
    """Distance, in pixels, above which a line gets less weight (Huber 1964)."""
    marker_weight: float = 2.0
    """Weight of the markers relative to all lines together. Higher: the pose stays closer to the markers."""


_SETTINGS = RefinementSettings()
OFFSETS_MM = np.arange(-_SETTINGS.search_mm, _SETTINGS.search_mm + _SETTINGS.step_mm / 2, _SETTINGS.step_mm)
"""Offsets across a line, in mm, at which it is searched for."""
GRID_ALONG = np.linspace(0.1, 0.9, 17)
"""Positions along a line segment, as shares of its length, without its crossings. More: less noise, slower."""


def refine_by_grid(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> Pose:
    """Refine a pose so that its grid lies on the visible lines. The pose is returned unchanged when too few lines are
    found or their contrast does not improve.

    ``markers`` are the detections the pose is based on; the new pose is fitted to them as well, with ``marker_weight``.
    """
    best = pose
    for _ in range(_SETTINGS.rounds):
        points, targets, normals = _seen_lines(image, camera, best, layout)
        if len(points) < _SETTINGS.fewest_lines * len(GRID_ALONG) // 2:
            return pose
        best = _adjust_pose(camera, best, layout, markers, points, targets, normals)
    gained = grid_contrast(image, camera, best, layout) > grid_contrast(image, camera, pose, layout)
    return best if gained else pose


def _segments(surface: GridSurface) -> tuple[FloatArray, FloatArray]:
    """Return points along each grid line segment, (segments, points, 2), and the direction across it, (segments, 2)."""
    ends = grid_segments(surface).reshape(-1, 2, 2)
    ways = ends[:, 1] - ends[:, 0]
    across = np.column_stack([-ways[:, 1], ways[:, 0]]) / np.hypot(ways[:, 0], ways[:, 1])[:, None]
    return ends[:, :1] + GRID_ALONG[:, None] * ways[:, None], across


def _profiles(image: Image, camera: CameraModel, pose: Pose, layout: TableLayout) -> FloatArray:
    """Return log brightness across each grid line segment, averaged along it; shape (segments, offsets)."""
    view = SurfaceSampler(camera, pose, layout.board).view(image, ())
    shade = np.asarray(np.log(view.light.mean(axis=2) + 0.004), dtype=np.float32)
    along, across = _segments(layout.board)
    pixels = view.window.pixels_of(along[:, None] + across[:, None, None] * OFFSETS_MM[:, None, None])
    levels = sample(shade, pixels.reshape(len(along), -1, 2).astype(np.float32)).reshape(pixels.shape[:-1])
    return np.asarray(levels.mean(axis=2), dtype=np.float64)


def _polarity(profiles: FloatArray) -> float:
    """Return -1 for a board with dark lines, 1 for one with bright lines."""
    middle = np.median(profiles, axis=1)
    dark = float(np.median(middle - profiles.min(axis=1)))
    bright = float(np.median(profiles.max(axis=1) - middle))
    return 1.0 if bright > dark else -1.0


def grid_contrast(image: Image, camera: CameraModel, pose: Pose, layout: TableLayout) -> float:
    """Return the contrast of the lines at a pose: the median step in log brightness from beside a line onto it."""
    profiles = _profiles(image, camera, pose, layout)
    off_mm, (near_mm, far_mm) = np.abs(OFFSETS_MM), _SETTINGS.beside_mm
    on, beside = off_mm < _SETTINGS.on_line_mm, (off_mm > near_mm) & (off_mm < far_mm)
    return float(np.median(_polarity(profiles) * (profiles[:, on].mean(axis=1) - profiles[:, beside].mean(axis=1))))


def grid_agrees(image: Image, camera: CameraModel, pose: Pose, layout: TableLayout) -> bool:
    """Return whether most of the clear grid lines are within 1.5 mm of their expected position."""
    profiles = _profiles(image, camera, pose, layout)
    profiles = _polarity(profiles) * profiles
    peaks = profiles.max(axis=1) - np.median(profiles, axis=1)
    clear = peaks > _SETTINGS.line_contrast
    near = np.abs(OFFSETS_MM[profiles.argmax(axis=1)]) <= _SETTINGS.agreeing_mm
    return bool(clear.sum() >= _SETTINGS.fewest_lines and near[clear].mean() > _SETTINGS.agreeing_share)


def _seen_lines(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return world points on grid lines (n, 3), the pixels where the lines are seen (n, 2), and normals in pixels (n,
    2).
    """
    profiles = _profiles(image, camera, pose, layout)
    profiles = _polarity(profiles) * profiles
    along, across = _segments(layout.board)
    at = profiles.argmax(axis=1)
    shifts = OFFSETS_MM[at]
    clear = profiles.max(axis=1) - np.median(profiles, axis=1) > _SETTINGS.line_contrast
    clear &= (at > 0) & (at < len(OFFSETS_MM) - 1)
    is_level = np.abs(across[:, 1]) > 0.5
    for way in (is_level, ~is_level):
        own = clear & way
        # a block's edge or wood grain can be darker than the line: shifts far from the usual one are rejected
        if own.any():
            clear &= ~way | (np.abs(shifts - np.median(shifts[own])) <= _SETTINGS.search_mm / 2)
    along, steps = along[clear], np.pad(across[clear], ((0, 0), (0, 1)))[:, None]
    world = np.dstack([along, np.full(along.shape[:2], layout.board.height_mm)])
    seen = project(camera, pose, world + steps * shifts[clear, None, None])
    beside = project(camera, pose, world + steps) - project(camera, pose, world)
    normals = beside / np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), 1e-9)
    return world.reshape(-1, 3), seen, normals


def _adjust_pose(
    camera: CameraModel,
    pose: Pose,
    layout: TableLayout,
    markers: Sequence[Marker],
    points: FloatArray,
    targets: FloatArray,
    normals: FloatArray,
) -> Pose:
    count = len(points)
    directions = normals
    weights = np.full(count, 1.0 / np.sqrt(max(1, count)))
    if markers:
        corners_mm, corners_px = corner_pairs(layout.markers, markers)
        points, targets = np.concatenate([points, corners_mm]), np.concatenate([targets, corners_px])
        directions = np.concatenate([normals, np.zeros_like(corners_px)])
        marker_weight = _SETTINGS.marker_weight / np.sqrt(2 * len(corners_mm))
        weights = np.concatenate([weights, np.full(len(corners_mm), marker_weight)])
    for _ in range(_SETTINGS.steps_a_round):
        off = np.abs(((project(camera, pose, points[:count]) - targets[:count]) * normals).sum(axis=1))
        huber = np.sqrt(np.minimum(1.0, _SETTINGS.huber_px / np.maximum(off, 1e-9)))
        weighted = weights * np.concatenate([huber, np.ones(len(points) - count)])
        pose = refine_pose(camera, pose, points, targets, directions=directions, weights=weighted, steps=1)
    return pose
