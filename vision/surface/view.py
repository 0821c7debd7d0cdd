"""The rectified view of a surface, with the pixels hidden by pieces or outside the picture."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, Solid
from vision.layout.pieces import GridSurface
from vision.opencv import undistort_points
from vision.sampling import PixelMap, PlaneWindow, linear_light, plane_map, rounded, sample
from vision.surface.bent_paper import PaperShape

PIECE_MARGIN_MM = 3.5
"""Margin, in mm, by which pieces are grown before what they hide is marked. Larger: tolerates errors of their position,
but leaves less bare surface. Set by hand.
"""
_MARGIN_OF_LENS = 1.05
"""How many times farther off the axis than the picture's corners the lens model is still used, for a pixel beyond them.
"""


@dataclass(frozen=True, eq=False)
class RectifiedView:
    """A surface as seen from straight above, one pixel per millimetre.

    ``colours`` are the picture's pixels (rows, columns, 3), uint8. ``hidden_by_pieces`` and ``outside`` mark pixels
    hidden by known pieces and pixels outside the picture. ``pixel_map`` maps back to the picture.
    """

    window: PlaneWindow
    pixel_map: PixelMap
    colours: Image
    hidden_by_pieces: BoolImage
    outside: BoolImage

    @functools.cached_property
    def light(self) -> FloatImage:
        """Return linear light (rows, columns, 3), float32, from 0 to 1."""
        return linear_light(self.colours)


def view_window(surface: GridSurface, margin_mm: float = 0.0) -> PlaneWindow:
    """Return the window in which a surface is sampled, with a margin of ``margin_mm``."""
    return PlaneWindow.over(surface.bounds_mm.grown(margin_mm), surface.height_mm, px_per_mm=1.0)


class SurfaceSampler:
    """Samples one surface from one camera position, with everything precomputed that depends only on these.

    ``margin_mm`` is the width of the table around it that is sampled too; ``shape`` is the shape of a bent sheet.
    ``outside`` marks the view's pixels that lie outside the picture.
    """

    def __init__(
        self,
        camera: CameraModel,
        pose: Pose,
        surface: GridSurface,
        margin_mm: float = 0.0,
        shape: PaperShape | None = None,
    ) -> None:
        self.window = view_window(surface, margin_mm)
        self._camera_mm = pose.camera_position_mm
        self._map = plane_map(camera, pose, self.window, None if shape is None else shape.seen_at_mm)
        last = camera.size[0] - 1, camera.size[1] - 1
        # what the pieces of the last picture hide: most stand where they stood
        self._known_outlines: dict[Solid, npt.NDArray[np.int32]] = {}
        self._rounded_map = rounded(self._map)
        self.outside: BoolImage = np.asarray(cv2.inRange(self._map, (0, 0), last)) == 0
        x_mm, y_mm = self.window.pixels_mm()
        # what the lens sees is a cone, so a window whose corners are in it is in it
        if not _seen_by_lens(camera, pose, x_mm[[0, -1]], y_mm[[0, -1]], self.window.height_mm).all():
            self.outside |= ~_seen_by_lens(camera, pose, x_mm, y_mm, self.window.height_mm)

    def view(self, image: Image, solids: Sequence[Solid]) -> RectifiedView:
        """Sample the surface and mark what the given pieces hide, with a small margin."""
        hidden = self._hidden_by_pieces(solids)
        return RectifiedView(self.window, self._map, sample(image, self._rounded_map), hidden, self.outside)

    def hidden_outlines(self, solids: Sequence[Solid]) -> list[npt.NDArray[np.int32]]:
        """Return convex outlines, (n, 2), in whole pixels of the view, of what each piece hides of the surface."""
        if not solids:
            return []
        corners = [solid.corners_mm() for solid in solids]
        pixels = np.round(np.column_stack(self.seen_at(np.concatenate(corners)))).astype(np.int32)
        parts = np.split(pixels, np.cumsum([len(part) for part in corners])[:-1])
        return [np.asarray(cv2.convexHull(part), dtype=np.int32).reshape(-1, 2) for part in parts]

    def _hidden_by_pieces(self, solids: Sequence[Solid]) -> BoolImage:
        known = {solid: self._known_outlines[solid] for solid in solids if solid in self._known_outlines}
        new = [solid for solid in solids if solid not in known]
        known |= zip(new, self.hidden_outlines([solid.grown(PIECE_MARGIN_MM) for solid in new]), strict=True)
        self._known_outlines = known
        covered = np.zeros(self.window.shape, dtype=np.uint8)
        for outline in known.values():
            cv2.fillConvexPoly(covered, outline, 1)
        return np.asarray(covered > 0)

    def seen_at(self, points_mm: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the columns and rows of the view, (n,) each, hidden by points above the surface, (n, 3)."""
        # where the rays from the camera through the points meet the surface
        below_mm = np.maximum(self._camera_mm[2] - points_mm[:, 2], 1.0)
        lengths = (self._camera_mm[2] - self.window.height_mm) / below_mm
        surface = self._camera_mm + (points_mm - self._camera_mm) * lengths[:, None]
        return self.window.to_pixels(surface[:, 0], surface[:, 1])


def _seen_by_lens(camera: CameraModel, pose: Pose, x_mm: FloatArray, y_mm: FloatArray, z_mm: float) -> BoolImage:
    """Return whether points, from arrays that broadcast to (rows, columns), lie in front of the camera and at most a
    little farther off its axis than the picture's corners. Beyond these, a lens model may fold back into the picture.
    """
    width, height = camera.size
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float64)
    farthest = np.linalg.norm(undistort_points(corners, camera.matrix, camera.distortion), axis=1).max()
    right, down, ahead = (row[0] * x_mm + row[1] * y_mm + row[2] * z_mm for row in pose.rotation)
    off = np.hypot(right + pose.translation[0], down + pose.translation[1])
    return np.asarray(off <= _MARGIN_OF_LENS * farthest * (ahead + pose.translation[2]))
