"""Crops of a board's stacks, each as seen by a camera that points at that place, with the upright direction up.

Crops of different places then differ only in viewing angle and distance.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import PyramidPieces, Surface
from vision.opencv import as_colour
from vision.sampling import RoundedMap, sample

WIDTH_PX, HEIGHT_PX = 96, 192
"""Size of a crop, in pixels."""
FOOT_PX = (47.5, 148.5)
"""Column and row of the place's centre."""
LARGE_PX = 60.0
"""Edge of a large pyramid's base, seen from straight above."""
_COARSE = 2.0
"""Pixels of the picture per pixel of a crop above which the picture is shrunk first."""

_STEEPEST = 0.1
"""Sideways movement of a ray per mm of height below which the view hardly tells the height of a point on it."""


class StackCrops:
    """Cuts the crops of one surface's places out of pictures taken from one pose."""

    def __init__(self, camera: CameraModel, pose: Pose, surface: Surface) -> None:
        self._camera = camera
        self._pose = pose
        self._level_mm = surface.height_mm
        self.large_mm = PyramidPieces.on(surface).sizes["L"].base_mm
        self._position = pose.camera_position_mm
        self._feet = {place: np.array([*surface.centre_mm(place), self._level_mm]) for place in surface.places}
        self._focal_px = {
            place: float(np.linalg.norm(foot - self._position)) * LARGE_PX / self.large_mm
            for place, foot in self._feet.items()
        }
        towards = _camera_rotations(np.array(list(self._feet.values())) - self._position)
        self._turns = dict(zip(self._feet, towards, strict=True))
        self._projections = {place: self._projection(place) for place in self._feet}
        self._maps: dict[str, RoundedMap] = {}
        self._halvings = 0
        middle = np.mean(list(self._feet.values()), axis=0)
        native = camera.matrix[0, 0] / float(np.linalg.norm(self._position - middle))
        while native * self.large_mm / LARGE_PX > _COARSE * 2**self._halvings:
            self._halvings += 1

    def of(self, image: Image, places: Sequence[str]) -> Image:
        """Return the crops of some places, shape (n, HEIGHT_PX, WIDTH_PX, 3), blue-green-red."""
        image = as_colour(image)
        for _ in range(self._halvings):
            image = np.asarray(cv2.pyrDown(image), dtype=np.uint8)
        return np.stack([sample(image, self._map(place)) for place in places])

    def views(self, places: Sequence[str]) -> FloatArray:
        """Return the sine of each place's viewing angle from straight above, and ten large pyramids' bases divided by
        its distance, (n, 2).
        """
        away = np.array([self._feet[place] - self._position for place in places])
        distance = np.linalg.norm(away, axis=1)
        return np.column_stack([np.hypot(away[:, 0], away[:, 1]) / distance, 10 * self.large_mm / distance])

    def bearing(self, place: str) -> float:
        """Return the angle from the board's right to the crop's, in radians, counter-clockwise."""
        right = self._turns[place][0]
        return float(np.arctan2(right[1], right[0]))

    def pixels(self, place: str, points_mm: FloatArray) -> FloatArray:
        """Project points (n, 3) into the crop of a place, (n, 2)."""
        return self.project([place] * len(points_mm), points_mm)

    def project(self, places: Sequence[str], points_mm: FloatArray) -> FloatArray:
        """Project a point for each place into its crop, (n, 3) to (n, 2)."""
        seen = np.einsum("nij,nj->ni", self.projections(places)[:, :, :3], points_mm - self._position)
        return np.asarray(seen[:, :2] / seen[:, 2:], dtype=np.float64)

    def projections(self, places: Sequence[str]) -> FloatArray:
        """Return matrices (n, 3, 4) that project points (x, y, z, 1) in mm into the crops of places."""
        return np.array([self._projections[place] for place in places])

    def _projection(self, place: str) -> FloatArray:
        matrix = self._matrix(place) @ self._turns[place]
        return np.column_stack([matrix, -matrix @ self._position])

    def _matrix(self, place: str) -> FloatArray:
        """Return the camera matrix of a place's crop."""
        focal_px = self._focal_px[place]
        return np.array([[focal_px, 0.0, FOOT_PX[0]], [0.0, focal_px, FOOT_PX[1]], [0.0, 0.0, 1.0]])

    def at_height(self, place: str, pixel: FloatArray, height_mm: float) -> FloatArray:
        """Return the point (3,) at a height that appears at a pixel (2,) of a place's crop."""
        return np.asarray(self.at_heights([place], pixel[None], np.array([[height_mm]]))[0, 0], dtype=np.float64)

    def at_heights(self, places: Sequence[str], pixels: FloatArray, heights_mm: FloatArray) -> FloatArray:
        """Return the points (n, m, 3) at heights (n, m) that appear at a pixel of each place's crop, (n, 2)."""
        return self._along(self.rays(places, pixels)[:, None], heights_mm)

    def near_axes(self, places: Sequence[str], pixels: FloatArray, axes_mm: FloatArray, height_mm: float) -> FloatArray:
        """Return for each place the points (n, m, 3) at pixels (n, m, 2) of its crop that are nearest to a vertical
        axis through x and y in mm, (n, 2). Seen from nearly straight above, they are near ``height_mm`` instead.
        """
        rays = self.rays(places, pixels)
        slopes = rays[..., :2] / rays[..., 2:]
        off = self._position[:2] + (height_mm - self._position[2]) * slopes - axes_mm[:, None]
        higher = -(off * slopes).sum(axis=-1) / ((slopes**2).sum(axis=-1) + _STEEPEST**2)
        return self._along(rays, height_mm + higher)

    def rays(self, places: Sequence[str], pixels: FloatArray) -> FloatArray:
        """Return the directions (n, ..., 3) in which the camera sees pixels (n, ..., 2) of the crops of n places."""
        focal = np.array([self._focal_px[place] for place in places]).reshape(-1, *[1] * (pixels.ndim - 1))
        seen = np.concatenate([pixels - FOOT_PX, np.broadcast_to(focal, (*pixels.shape[:-1], 1))], axis=-1)
        turns = np.array([self._turns[place] for place in places])
        return np.asarray(np.einsum("n...k,nkj->n...j", seen, turns))

    def on_board(self, places: Sequence[str], pixels: FloatArray) -> FloatArray:
        """Return the points of the board, x and y in mm, at a pixel of each place's crop, both (n, 2)."""
        return self._along(self.rays(places, pixels), np.full(len(places), self._level_mm))[:, :2]

    def _along(self, rays: FloatArray, heights_mm: FloatArray) -> FloatArray:
        """Return the points at heights (...) on rays from the camera (..., 3) or (3,)."""
        far = (heights_mm - self._position[2]) / rays[..., 2]
        return np.asarray(self._position + far[..., None] * rays, dtype=np.float64)

    def _map(self, place: str) -> RoundedMap:
        """Return the pixel map of a place's crop."""
        if place not in self._maps:
            # a crop is what another camera at the same place would see
            turn = self._turns[place] @ self._pose.rotation.T
            shrunk = self._camera.matrix / [[2**self._halvings], [2**self._halvings], [1]]
            size = WIDTH_PX, HEIGHT_PX
            self._maps[place] = cv2.initUndistortRectifyMap(
                shrunk, self._camera.distortion, turn, self._matrix(place), size, cv2.CV_16SC2
            )
        return self._maps[place]


def _camera_rotations(directions: FloatArray) -> FloatArray:
    """Return rotations (n, 3, 3) of cameras with given viewing directions (n, 3), with the board's upright direction up
    in the picture.

    From straight above, the board's far side is up.
    """
    forward = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    right = np.cross(forward, [0.0, 1e-6, 1.0])
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    return np.stack([right, np.cross(forward, right), forward], axis=1)
