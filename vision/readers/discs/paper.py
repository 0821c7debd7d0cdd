"""The light of white paper, measured on the white cells of the markers."""

from __future__ import annotations

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.markers import MarkerLayout
from vision.opencv import aruco_dictionary
from vision.sampling import PixelMap, linear_light, sample

USUAL_PAPER = 0.6
"""Linear light assumed for white paper when no marker is visible."""
LEAST_WHITE_OVER_BLACK = 2.5
LEAST_WHITE = 1e-4
_SPREAD = 0.2


class PaperLight:
    """Measures white paper at the markers' cells, from one camera position."""

    def __init__(self, camera: CameraModel, pose: Pose, markers: MarkerLayout | None) -> None:
        self._cells: list[tuple[PixelMap, int]] = []
        if markers is None:
            return
        for marker_id in markers.centres_mm:
            white, black = _cells_mm(markers, marker_id)
            pixels = project(camera, pose, np.concatenate([white, black])).astype(np.float32)
            if ((pixels > 1) & (pixels < (camera.size[0] - 2, camera.size[1] - 2))).all():
                self._cells.append((pixels.reshape(-1, 1, 2), len(white)))

    def of(self, image: Image) -> FloatArray:
        """Linear light of white paper, blue-green-red, (3,): the geometric mean over the visible markers.

        A marker whose white cells are not clearly brighter than its black ones counts as covered.
        """
        lights = []
        for pixels, whites in self._cells:
            sampled = sample(image, pixels).reshape(len(pixels), -1)
            light = linear_light(np.ascontiguousarray(np.broadcast_to(sampled, (len(pixels), 3))))
            own, other = np.median(light[:whites], axis=0), np.median(light[whites:], axis=0)
            if own.mean() > LEAST_WHITE_OVER_BLACK * other.mean() + LEAST_WHITE:
                lights.append(np.log(own + LEAST_WHITE))
        if not lights:
            return np.full(3, USUAL_PAPER)
        return np.asarray(np.exp(np.mean(lights, axis=0)), dtype=np.float64)


def _cells_mm(markers: MarkerLayout, marker_id: int) -> tuple[FloatArray, FloatArray]:
    """Points in the centres of a marker's white cells, and of its black ones, shape (n, 3) each."""
    dictionary = aruco_dictionary(markers.dictionary)
    side = dictionary.markerSize
    bits = cv2.aruco.Dictionary.getBitsFromByteList(dictionary.bytesList[marker_id : marker_id + 1], side)
    cell = markers.side_mm / (side + 2)
    steps = (np.arange(side) - (side - 1) / 2) * cell
    within = _SPREAD * cell * np.array([(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)])
    right, down = np.meshgrid(steps, steps)
    cells = np.stack([right, -down], axis=-1)[:, :, None] + within + markers.centres_mm[marker_id]
    points = np.concatenate([cells, np.full((*cells.shape[:-1], 1), markers.z_mm)], axis=-1)
    return points[bits > 0].reshape(-1, 3), points[bits == 0].reshape(-1, 3)
