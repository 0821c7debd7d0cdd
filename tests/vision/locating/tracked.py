"""What is tracked in pictures, and how well."""

import numpy as np

from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout

NOTHING = np.full((480, 640, 3), 90, dtype=np.uint8)
"""A picture in which no marker is seen."""


def off_px(camera: CameraModel, layout: TableLayout, found: Pose, true: Pose) -> float:
    """Return the largest distance between the board's corners at two poses, in pixels of the picture."""
    half = layout.board.columns * layout.board.cell_mm / 2
    corners = np.array([[x, y, 40.0] for x in (-half, half) for y in (-half, half)])
    return float(np.linalg.norm(project(camera, found, corners) - project(camera, true, corners), axis=1).max())
