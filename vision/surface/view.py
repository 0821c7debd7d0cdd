"""The rectified view of a surface, and which of its pixels are hidden by pieces or lie outside the picture."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, CubeSolid, Pose
from vision.layout.table import TableLayout
from vision.sampling import FloatImage, PixelMap, PlaneWindow, linear_light_table, plane_map, sample

BoolImage = npt.NDArray[np.bool_]

PX_PER_MM = 1.0
BLOCK_MARGIN_MM = 3.5


@dataclass(frozen=True, eq=False)
class RectifiedView:
    """The board's surface as sampled from above, with what is known to cover it.

    ``colours`` are pixels as the picture has them (rows, columns, 3), uint8; ``blocks`` and ``outside`` mark pixels
    hidden by known blocks and pixels outside the picture; ``pixel_map`` leads back to the picture.
    """

    window: PlaneWindow
    pixel_map: PixelMap
    colours: Image
    blocks: BoolImage
    outside: BoolImage

    @functools.cached_property
    def light(self) -> FloatImage:
        """Linear light (rows, columns, 3), float32, 1 is the brightest a picture can hold."""
        return np.asarray(cv2.LUT(self.colours, linear_light_table()), dtype=np.float32)


def view_window(layout: TableLayout, margin_mm: float = 0.0) -> PlaneWindow:
    """The window of the board's surface that is sampled, with ``margin_mm`` of what is beside the board."""
    width = layout.columns * layout.cell_mm + 2 * margin_mm
    depth = layout.rows * layout.cell_mm + 2 * margin_mm
    return PlaneWindow(-width / 2, depth / 2, width, depth, layout.board_top_mm, PX_PER_MM)


class SurfaceSampler:
    """Samples one board from one place of the camera; what does not change from frame to frame is made ready once.

    ``margin_mm`` is how much of the table beside the board is seen, too.
    """

    def __init__(self, camera: CameraModel, pose: Pose, layout: TableLayout, margin_mm: float = 0.0) -> None:
        self.window = view_window(layout, margin_mm)
        self._camera_mm = pose.camera_position_mm
        self._map = plane_map(camera, pose, self.window)
        x, y = self._map[..., 0], self._map[..., 1]
        outside = (x < 0) | (y < 0) | (x > camera.size[0] - 1) | (y > camera.size[1] - 1)
        self._outside: BoolImage = np.asarray(outside)

    def view(self, image: Image, solids: Sequence[CubeSolid]) -> RectifiedView:
        """Sample the board's surface and mark what the given blocks hide of it, with a small margin."""
        return RectifiedView(self.window, self._map, sample(image, self._map), self._blocks(solids), self._outside)

    def hidden_outline(self, solid: CubeSolid) -> npt.NDArray[np.int32]:
        """The convex outline, shape (n, 2), in whole pixels of the view, of what a block hides of the surface."""
        column, row = self.seen_at(solid.corners_mm())
        pixels = np.round(np.column_stack([column, row])).astype(np.int32)
        return np.asarray(cv2.convexHull(pixels), dtype=np.int32).reshape(-1, 2)

    def hidden_by(self, solid: CubeSolid) -> BoolImage:
        """The pixels of the view that a block standing there hides."""
        mask = np.zeros(self.window.shape, dtype=np.uint8)
        cv2.fillConvexPoly(mask, self.hidden_outline(solid), 1)
        return np.asarray(mask > 0)

    def _blocks(self, solids: Sequence[CubeSolid]) -> BoolImage:
        covered = np.zeros(self.window.shape, dtype=np.uint8)
        for solid in solids:
            side = solid.side_mm + 2 * BLOCK_MARGIN_MM
            grown = CubeSolid(solid.x_mm, solid.y_mm, solid.base_mm, side, solid.turned_deg)
            cv2.fillConvexPoly(covered, self.hidden_outline(grown), 1)
        return np.asarray(covered > 0)

    def seen_at(self, points_mm: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Columns and rows of the view, (n,) each, that points above the board, (n, 3), hide."""
        surface = self._seen_on_surface(points_mm)
        return self.window.to_pixels(surface[:, 0], surface[:, 1])

    def _seen_on_surface(self, points_mm: FloatArray) -> FloatArray:
        """Where the rays from the camera through points (n, 3) meet the board's surface, shape (n, 3)."""
        above = self._camera_mm[2] - points_mm[:, 2]
        way = (self._camera_mm[2] - self.window.height_mm) / np.maximum(above, 1.0)
        return np.asarray(self._camera_mm + (points_mm - self._camera_mm) * way[:, None], dtype=np.float64)


def rectified_view(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, solids: Sequence[CubeSolid]
) -> RectifiedView:
    """Sample one picture's board, without anything beside it."""
    return SurfaceSampler(camera, pose, layout).view(image, solids)
