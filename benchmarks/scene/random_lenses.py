"""Random lenses and views of a table, and what is measured of them from noisy corners and crossings."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.frame import FloatArray
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout
from vision.locating.markers import Marker
from vision.self_calibration import (
    PRIORS,
    SelfCalibration,
    Sighting,
    camera_with_share,
    cameras_from_markers,
    fit_camera_to,
    joined_calibration,
)

SIZE = (1280, 720)


def random_camera(rng: np.random.Generator) -> CameraModel:
    """A lens as the priors have them, from a wide webcam to a portrait lens, with distortion and a shifted axis."""
    share = float(np.clip(np.exp(rng.normal(np.log(PRIORS.focal), PRIORS.log_focal_sd)), 0.4, 1.4))
    k1 = float(rng.uniform(-0.2, 0.05))
    camera = camera_with_share(share, SIZE)
    matrix = camera.matrix.copy()
    matrix[:2, 2] += rng.normal(0, 1.0, 2)
    return replace(camera, matrix=matrix, distortion=np.array([k1, rng.uniform(0.8, 1.5) * k1**2, 0, 0, 0]))


def random_pose(rng: np.random.Generator, camera: CameraModel, layout: TableLayout, tilt_deg: float) -> Pose:
    """The table from any side at a tilt, filling most of the picture."""
    turn, tilt = rng.uniform(0, 2 * np.pi), np.radians(tilt_deg)
    widest = 2 * max(np.hypot(*centre) for centre in layout.markers.centres_mm.values()) + 2 * layout.markers.side_mm
    away = widest * camera.matrix[0, 0] / SIZE[1] * rng.uniform(1.05, 1.3)
    forward = -np.array([np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt)])
    up = np.array([np.cos(turn + 1.0), np.sin(turn + 1.0), 0.1])
    right = np.cross(forward, up)
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward])
    return Pose(rotation, -rotation @ (-away * forward))


def crossings_mm(layout: TableLayout) -> FloatArray:
    """The inner crossings of a board's lines, (n, 3) in mm."""
    board = layout.board
    x, y = ((np.arange(1, count) - count / 2) * board.cell_mm for count in (board.columns, board.rows))
    return np.array([[a, b, board.height_mm] for a in x for b in y])


def sighting_of(
    rng: np.random.Generator, camera: CameraModel, pose: Pose, layout: TableLayout, noise_px: float = 0.2
) -> tuple[list[Marker], Sighting]:
    """The markers and some of the crossings that a camera sees, and those as one sighting; some are false."""

    def seen(points: FloatArray) -> FloatArray:
        return project(camera, pose, points) + rng.normal(0, noise_px, (len(points), 2))

    ids = sorted(layout.markers.centres_mm)
    markers = [Marker(marker_id, seen(layout.markers.corners_mm(marker_id))) for marker_id in ids]
    points = rng.permutation(crossings_mm(layout))[: rng.integers(4, 30)]
    pixels = seen(points)
    false = rng.random(len(points)) < 0.05
    pixels[false] += rng.uniform(-1.5, 1.5, (int(false.sum()), 2))
    corners = np.vstack([layout.markers.corners_mm(marker_id) for marker_id in ids])
    all_pixels = np.vstack([*(marker.corners_px for marker in markers), pixels])
    return markers, Sighting(np.vstack([corners, points]), all_pixels, pose)


def measured(
    rng: np.random.Generator, camera: CameraModel, layout: TableLayout, tilts_deg: Sequence[float]
) -> SelfCalibration:
    """A camera measured from views of a table at these tilts."""
    views = []
    for tilt_deg in tilts_deg:
        markers, sighting = sighting_of(rng, camera, random_pose(rng, camera, layout, tilt_deg), layout)
        starts = cameras_from_markers(layout, markers, SIZE, PRIORS)
        fits = [fit_camera_to([replace(sighting, pose=pose)], start, PRIORS) for start, pose in starts]
        views.append(min(fits, key=lambda fit: fit.error_px))
    return joined_calibration(views)


def focal_off(found: SelfCalibration, camera: CameraModel) -> float:
    """How much too long the focal length was measured, as a share of it (its logarithm)."""
    return float(np.log(found.camera.matrix[0, 0] / camera.matrix[0, 0]))
