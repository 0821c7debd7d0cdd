"""Which places and markers changed since they were last looked at, so that only those are looked at again.

The picture is kept at a quarter of its size, where sensor noise averages out. The reference of a place is renewed only
when the place is read, so a change that creeps in slowly is noticed too, once it has added up.
"""

from __future__ import annotations

from collections.abc import Collection

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import Image
from vision.geometry import CameraModel, Pose, project
from vision.layout import TableLayout
from vision.solids import BlockSolid, outline_px

SHRINK = 4
CHANGED_LEVELS = 9
CHANGED_PIXELS = 2
MARKER_GROWN = 1.25


def marker_region(marker_id: int) -> str:
    """The name under which a marker is watched; no place is called so."""
    return f"marker {marker_id}"


class ChangeWatcher:
    """Watches the places and markers of one table from one pose; markers go by ``marker_region`` names."""

    def __init__(self, layout: TableLayout, camera: CameraModel, pose: Pose) -> None:
        size = (max(1, camera.size[0] // SHRINK), max(1, camera.size[1] // SHRINK))
        self._size = size
        self._reference: npt.NDArray[np.uint8] | None = None
        self._pixels: dict[str, tuple[npt.NDArray[np.intp], ...]] = {}
        for place in layout.places:
            x, y = layout.centre_mm(place)
            solid = BlockSolid(x, y, layout.board_top_mm, layout.block_side_mm)
            ground = BlockSolid(x, y, layout.board_top_mm, layout.cell_mm)
            mask = np.zeros((size[1], size[0]), dtype=np.uint8)
            for shape in (solid, ground):
                outline = outline_px(shape, camera, pose) / SHRINK
                cv2.fillConvexPoly(mask, np.round(np.clip(outline, -1e4, 1e4)).astype(np.int32), 1)
            self._pixels[place] = np.nonzero(mask)
        for marker_id in layout.markers.centres_mm:
            corners = layout.markers.corners_mm(marker_id)
            middle = corners.mean(axis=0)
            outline = project(camera, pose, middle + MARKER_GROWN * (corners - middle)) / SHRINK
            mask = np.zeros((size[1], size[0]), dtype=np.uint8)
            cv2.fillConvexPoly(mask, np.round(np.clip(outline, -1e4, 1e4)).astype(np.int32), 1)
            self._pixels[marker_region(marker_id)] = np.nonzero(mask)

    def changed(self, image: Image) -> set[str]:
        """Give the places and markers that changed, and take the picture as their reference from now on."""
        small = np.asarray(cv2.resize(image, self._size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        if self._reference is None:
            self._reference = small
            return set(self._pixels)
        different = cv2.absdiff(small, self._reference)
        strong = different.max(axis=2) > CHANGED_LEVELS if different.ndim == 3 else different > CHANGED_LEVELS
        if not strong.any():
            return set()
        changed = {place for place, at in self._pixels.items() if int(strong[at].sum()) >= CHANGED_PIXELS}
        self._renew(small, changed)
        return changed

    def _renew(self, small: npt.NDArray[np.uint8], places: Collection[str]) -> None:
        if self._reference is not None:
            for place in places:
                self._reference[self._pixels[place]] = small[self._pixels[place]]
