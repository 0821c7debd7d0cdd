"""Occlusions of a sheet of paper: a hand that reaches in over its margin, or an object that lies on it.

Ink is thin, or has the colour of a pen; paper is white up to its edge, except for thin print. Anything else is an
occlusion, and so is whatever hides the printed grid, even if it is as pale as paper. Colours are log shares of the
paper's own light; a shadow takes the same share from all channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import cv2
import numpy as np

from vision.frame import BoolArray, BoolImage, FloatArray, FloatImage
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import Ink
from vision.layout.surfaces import GridSurface
from vision.reading import HindranceKind
from vision.sampling import max_channel, min_channel
from vision.surface.bent_paper import PaperShape
from vision.surface.filled_cells import FilledCells
from vision.surface.occlusion import Occlusion, SurfaceEvidence, regions
from vision.surface.paper import densities_on, fit_bare_paper, hues, nearest_turn, usual_hues
from vision.surface.sheet_lines import SheetLines
from vision.surface.view import RectifiedView, SurfaceSampler, view_window


@dataclass(frozen=True)
class SheetOcclusionSettings:
    """Thresholds for what covers a sheet. All were set by hand on ray-traced and virtual pictures."""

    coloured: float = 0.3
    """Minimum difference between the channels of a pixel, in log units, that a shadow does not explain."""
    dark: float = 1.5
    """Log units below the paper's light at which a pixel is too dark for a shadow."""
    floor: float = 0.03
    """Light, relative to paper, added before logarithms are taken."""
    stroke_mm: float = 5.0
    """Regions narrower than that many mm are strokes or print."""
    reaching_mm2: float = 60.0
    """Minimum area of the margin, in mm², hidden by something that reaches in over it."""
    beside_grid_mm2: float = 500.0
    """Maximum area, in mm², of a die, cap or pen that lies on the margin and no cell. Higher: more fingertips there
    count as such a thing, which does not keep the referee waiting."""
    lying_cells: float = 1.6
    """Minimum area within the grid, in cells, of an object on a handwritten sheet; less may be a blot."""
    grey_cells: float = 0.4
    """The same on a sheet that is filled with pens, where a blot has a pen's colour."""
    off_hue_cells: float = 0.5
    """Minimum area, in cells, of an object with a hue between those of the sheet's inks."""
    edge_cells: float = 0.3
    """Distance, in cells, from an object within which the sheet counts as hidden, so that its edge is not read."""
    pen_hue_deg: float = 32.0
    """Minimum distance from all pens' hues, in degrees, of an object that lies on a grid of filled cells."""
    reaching_hue_deg: float = 11.0
    """The same of one that reaches in over the margin: skin has a hue between those of red and yellow pens."""
    least_strength: float = 0.25
    """Minimum strength of a pen's ink, in log units."""
    least_saturation: float = 0.45
    """The same as a multiple of what all channels lose. Higher: dark ink in shadow counts as an object."""
    warm_saturation: float = 1.1
    """The same for red to yellow ink, which lets red light pass; brown wood and dark skin don't."""
    lit_saturation: float = 1.6
    """Multiple of these below which pixels beside an object belong to it."""
    warm_deg: float = 60.0
    """Maximum distance of such hues from 0 degrees."""


_SETTINGS = SheetOcclusionSettings()


@dataclass(frozen=True, eq=False)
class SheetPlan:
    """What a sheet's views have in common, wherever the camera is: its lines, its cells, its pens' usual hues in
    degrees, the paper beside the grid without the corners, where markers are, and how many pixels around an object
    count as hidden.
    """

    surface: GridSurface
    margin_mm: float
    margin: BoolImage
    lines: SheetLines
    cells: FilledCells
    pens_deg: FloatArray
    edge_px: int

    @classmethod
    def of(cls, surface: GridSurface) -> SheetPlan:
        """Prepare a sheet."""
        ink = Ink.on(surface)
        margin_mm = ink.margin_mm(surface)
        window = view_window(surface, margin_mm)
        lines = SheetLines(surface, window)
        width_px = round(margin_mm)
        rows, columns = window.shape
        y, x = np.ogrid[:rows, :columns]
        beside_x = (x < width_px) | (x >= columns - width_px)
        beside_y = (y < width_px) | (y >= rows - width_px)
        margin = np.asarray(beside_x ^ beside_y)
        cells = FilledCells(surface, window, lines.arms_mm)
        edge_px = round(_SETTINGS.edge_cells * surface.cell_mm)
        return cls(surface, margin_mm, margin, lines, cells, usual_hues(ink.colours), edge_px)


class SheetOcclusionDetector:
    """Finds the occlusions of one sheet, seen from one camera position."""

    def __init__(self, camera: CameraModel, pose: Pose, plan: SheetPlan, shape: PaperShape | None = None) -> None:
        self.sampler = SurfaceSampler(camera, pose, plan.surface, plan.margin_mm, shape)
        self._plan = plan

    def detect(self, view: RectifiedView) -> SurfaceEvidence:
        """Find what covers the sheet."""
        plan = self._plan
        density, odd = _densities_and_marks(view)
        hue, off_pens_deg, saturation = self._hues(density)
        ink = saturation > 1.0
        filled = ink & (off_pens_deg < _SETTINGS.pen_hue_deg)
        found: list[Occlusion] = []
        reaching = [
            pixels
            for pixels in _wide_regions(odd & ~(ink & (off_pens_deg < _SETTINGS.reaching_hue_deg)))
            if (pixels & plan.margin & plan.cells.beyond).sum() > _SETTINGS.reaching_mm2
        ]
        least_cells = _SETTINGS.grey_cells if len(plan.pens_deg) else _SETTINGS.lying_cells
        lying = [
            pixels
            for pixels in _wide_regions(odd & ~filled)
            if float((pixels & plan.cells.on_grid).sum()) > least_cells * plan.surface.cell_mm**2
        ]
        coloured = filled & (saturation > _SETTINGS.lit_saturation)
        if lying:
            # its lit side may be nearly as colourful as ink
            whole = _wide_regions(odd & ~coloured)
            lying = [pixels for pixels in whole if any((pixels & one).any() for one in lying)]
        lines = plan.lines.examine(view.light)
        objects = plan.lines.mark_covered(lines, view.light, coloured | view.outside)
        objects |= self._objects_like_ink(odd, filled, hue, lines.even)
        for pixels in lying:
            objects |= pixels
        for pixels in regions(objects, 1):
            touching = [one for one in reaching if (pixels & one).any()]
            for one in touching:
                one |= pixels
            if not touching:
                found.append(_occlusion(HindranceKind.OBJECT, pixels, plan.edge_px))
        for pixels in reaching:
            beside = not (pixels & plan.cells.on_grid).any() and pixels.sum() < _SETTINGS.beside_grid_mm2
            found.append(_occlusion(HindranceKind.OBJECT if beside else HindranceKind.HAND, pixels))
        found.sort(key=lambda occlusion: -occlusion.area_mm2)
        return SurfaceEvidence(tuple(found), {}, are_lines_seen=lines.are_seen)

    def _objects_like_ink(self, odd: BoolImage, filled: BoolImage, hue: FloatImage, even: BoolArray) -> BoolImage:
        """Return objects with a pen's colour: they lie across lines, or their hue is not that of the sheet's other
        cells.
        """
        plan = self._plan
        if not len(plan.pens_deg):
            return np.zeros_like(odd)
        ink = np.asarray(odd & filled)
        found = plan.cells.mark_objects(ink, _wider_than_strokes(odd & (filled | plan.margin)), even)
        for own in _by_pen(hue, ink, plan.pens_deg):
            solid = _wider_than_strokes(own | (odd & plan.margin))
            found |= plan.cells.mark_coins(own, solid) | plan.cells.mark_objects(own, solid, even)
        foreign = plan.cells.mark_foreign_hues(hue, ink, plan.pens_deg, _SETTINGS.pen_hue_deg)
        for pixels in _wide_regions(foreign):
            if float(pixels.sum()) > _SETTINGS.off_hue_cells * plan.surface.cell_mm**2:
                found |= pixels
        return found

    def _hues(self, density: FloatImage) -> tuple[FloatImage, FloatImage, FloatImage]:
        """Return the hue of each pixel and its distance from the nearest pen's hue, in degrees, and its saturation as a
        multiple of the least one of ink; all are 0 where no pen can have been.
        """
        hue, off, saturation = (np.zeros(self._plan.margin.shape, dtype=np.float32) for _ in range(3))
        if not len(self._plan.pens_deg):
            return hue, off, saturation
        least = min_channel(density)
        # a colour is at most so many times as strong as its channels differ
        inked = (max_channel(density) - least > _SETTINGS.least_strength / np.sqrt(2.0)) & ~self._plan.margin
        own, strength = hues(density[inked])
        hue[inked] = own
        off[inked] = reduce(np.minimum, (np.abs(nearest_turn(own - np.float32(pen))) for pen in self._plan.pens_deg))
        lowest = np.where(np.abs(own) < _SETTINGS.warm_deg, _SETTINGS.warm_saturation, _SETTINGS.least_saturation)
        saturation[inked] = strength / np.maximum(_SETTINGS.least_strength, lowest * least[inked])
        return hue, off, saturation


def _densities_and_marks(view: RectifiedView) -> tuple[FloatImage, BoolImage]:
    """Return densities on the sheet, and a mask of pixels that are neither paper nor shadow."""
    light = np.asarray(cv2.GaussianBlur(view.light, (0, 0), 1.0), dtype=np.float32)
    density = densities_on(light, fit_bare_paper(light), _SETTINGS.floor)
    least = min_channel(density)
    odd = (max_channel(density) - least > _SETTINGS.coloured) | (least > _SETTINGS.dark)
    return density, np.asarray(odd & ~view.outside)


def _wide_regions(odd: BoolImage) -> list[BoolImage]:
    """Return the connected regions of a mask that are wider than strokes."""
    return regions(_wider_than_strokes(odd), 1)


def _wider_than_strokes(odd: BoolImage) -> BoolImage:
    side = 2 * round(_SETTINGS.stroke_mm / 2) + 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    return np.asarray(cv2.morphologyEx(odd.astype(np.uint8), cv2.MORPH_OPEN, disc) > 0)


def _by_pen(hue: FloatImage, ink: BoolImage, pens_deg: FloatArray) -> list[BoolImage]:
    """Return the pixels of ink whose hue is nearest to that of each pen, without the pens that have none."""
    nearest = np.abs(nearest_turn(hue[ink] - pens_deg.astype(np.float32)[:, None])).argmin(axis=0)
    inks = []
    for number in np.unique(nearest):
        own = np.zeros_like(ink)
        own[ink] = nearest == number
        inks.append(own)
    return inks


def _occlusion(kind: HindranceKind, pixels: BoolImage, edge_px: int = 0) -> Occlusion:
    """Return the occlusion by something on these pixels, which hides as many more around it."""
    hidden = cv2.dilate(pixels.astype(np.uint8), np.ones((2 * edge_px + 1, 2 * edge_px + 1), np.uint8)) > 0
    return Occlusion(kind, np.asarray(hidden), float(pixels.sum()))
