"""What a layout alone determines about views of its surface: lines, rim, prints and places.

The lengths were set by hand on the virtual table's and the ray-traced pictures; ``benchmarks/stress.py`` shows the
effect.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, FloatArray, IndexArray
from vision.layout.pieces import GridSurface
from vision.sampling import PlaneWindow
from vision.surface.colours import COARSER, coarse_px
from vision.surface.grid_lines import GridLines
from vision.surface.rim import SurfaceRim
from vision.surface.view import view_window

BESIDE_MM = 36.0
"""Width, in mm, of the table around the surface that a view shows too; the rim is compared with it. Larger: slower."""
PRINTED_RADIUS_MM = 15.0
"""Radius, in mm, around the centre of a place with a print that is not compared with the bare surface. Larger:
tolerates larger prints, but small objects on them are missed.
"""
RIM_MM = 2.0
"""Width, in mm, of the band inside the rim that counts as outside. Larger: tolerates a worse pose, examines less."""
DEEP_MM = 14.0
"""Minimum distance, in mm, of what lies well inside the surface from that band. Larger: fewer hands at the rim are
recognised.
"""


@dataclass(frozen=True, eq=False)
class SurfacePlan:
    """Masks and indices for views of a surface that depend only on its layout, precomputed.

    ``around`` marks for each place the line parts around it. ``never_bare`` marks the view's pixels, at its full scale,
    that never show the bare surface: those beside it, close to its rim, and of prints. At the coarse scale, ``middles``
    are the rows and columns of the places' centres, (2, places), ``beside`` and ``deep`` mark the area outside the
    board and well inside it, and ``nearest`` is the line part nearest to each pixel.
    """

    surface: GridSurface
    margin_mm: float
    window: PlaneWindow
    lines: GridLines
    rim: SurfaceRim
    around: FloatArray
    middles: IndexArray
    never_bare: BoolImage
    beside: BoolImage
    deep: BoolImage
    nearest: IndexArray

    @classmethod
    def of(cls, surface: GridSurface) -> SurfacePlan:
        """Make the plan of one surface."""
        window = view_window(surface, BESIDE_MM)
        lines = GridLines(surface, window)
        column, row = window.to_pixels(*surface.centres_mm.T)
        beside = _outside_or_near_rim(surface, window)
        coarse = beside[COARSER // 2 :: COARSER, COARSER // 2 :: COARSER]
        return cls(
            surface,
            BESIDE_MM,
            window,
            lines,
            SurfaceRim(surface, window),
            lines.parts_around(surface.centres_mm),
            coarse_px(np.array([row, column])),
            np.asarray(beside | _printed_centres(surface, window)),
            coarse,
            np.asarray(cv2.erode((~coarse).astype(np.uint8), disc_mm(2 * DEEP_MM)) > 0),
            _nearest_part(lines, (window.shape[0] // COARSER, window.shape[1] // COARSER)),
        )


@cache
def disc_mm(width_mm: float) -> npt.NDArray[np.uint8]:
    """Return a disc of that diameter, for dilating and eroding masks at the coarse scale, (rows, columns), uint8."""
    side = max(3, 2 * round(width_mm / COARSER / 2) + 1)
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)), dtype=np.uint8)


def _outside_or_near_rim(surface: GridSurface, window: PlaneWindow) -> BoolImage:
    """Return pixels outside the surface, or so near its rim that small errors of the pose matter."""
    beside = np.ones(window.shape, dtype=np.bool_)
    inside = surface.bounds_mm.grown(-RIM_MM)
    left, top = window.to_pixels(inside.left_mm, inside.far_mm)
    right, bottom = window.to_pixels(inside.right_mm, inside.near_mm)
    beside[round(top) : round(bottom) + 1, round(left) : round(right) + 1] = False
    return beside


def _printed_centres(surface: GridSurface, window: PlaneWindow) -> BoolImage:
    """Return pixels in the centre of places with a print."""
    printed = np.zeros(window.shape, dtype=np.uint8)
    for place in surface.printed:
        column, row = window.to_pixels(*surface.centre_mm(place))
        cv2.circle(printed, (round(column), round(row)), round(PRINTED_RADIUS_MM), 1, -1)
    return np.asarray(printed > 0)


def _nearest_part(lines: GridLines, shape: tuple[int, int]) -> IndexArray:
    """Return the index of the line part nearest to each coarse pixel."""
    away = np.full(shape, 255, dtype=np.uint8)
    for ends in lines.parts.ends // COARSER:
        cv2.line(away, ends[0].tolist(), ends[1].tolist(), 0, 1)
    _, labels = cv2.distanceTransformWithLabels(away, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    owner = np.zeros(int(labels.max()) + 1, dtype=np.intp)
    for index, ends in enumerate(lines.parts.ends // COARSER):
        own = np.zeros(shape, dtype=np.uint8)
        cv2.line(own, ends[0].tolist(), ends[1].tolist(), 1, 1)
        owner[labels[own > 0]] = index
    return np.asarray(owner[labels])
