"""Which coloured regions of a sheet are not cells that somebody filled, but an object with the colour of ink.

Whoever fills a cell keeps to its lines, more or less: inside its border it is coloured nearly everywhere, and little is
spilt into the next one. An object lies across lines, hides them, and covers some cells only in part; a coin is round.
Otherwise its hue tells, if the pens' hues are known from other cells: a pen lays down the same hue everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, BoolImage, FloatArray, FloatImage
from vision.layout.surfaces import GridSurface
from vision.sampling import PlaneWindow
from vision.surface.paper import nearest_turn

Cells = npt.NDArray[np.int64]

_ACROSS = np.array([[[-1.0, 0.0], [1.0, 0.0]]] * 2 + [[[0.0, -1.0], [0.0, 1.0]]] * 2)
"""Steps from each arm of a corner to the cells on both sides."""
_DIAGONALS = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
"""Steps from a corner to the four cells around it."""


@dataclass(frozen=True)
class FilledCellSettings:
    """When colour counts as spilt over a line by an object. Set by hand on virtual and ray-traced pictures."""

    border_cells: float = 0.25
    """Width, in cells, of the border of a cell that may be left bare, or coloured from the next cell."""
    outer_border_cells: float = 0.45
    """The same around the grid."""
    begun: float = 0.15
    """Coloured share of a cell, inside its border, above which something is in it."""
    filled: float = 0.8
    """The same share above which somebody filled it."""
    half: float = 0.5
    """The same if the lines beside it show, as they do through most ink."""
    round: float = 0.6
    """Coloured share of the far quarters of the four cells around a hidden corner, below which nobody filled them."""
    coin_cells: float = 1.2
    """Area, in cells, above which a coloured round region is a coin and not a dot drawn into a cell."""
    round_share: float = 0.8
    """Share of the smallest circle around it that a round region fills; a square fills 0.64."""
    own_hue_deg: float = 15.0
    """Maximum distance of ink's hue, in degrees, from the median of the sheet's cells filled with that pen."""
    known_cells: int = 3
    """Minimum number of such cells for knowing that median."""
    reach_cells: float = 1.5
    """Distance from such a cell, in cells, within which the same coloured region counts as the object."""


_SETTINGS = FilledCellSettings()


class FilledCells:
    """Examines the coloured regions of one sheet in views through one window.

    ``on_grid`` marks the pixels of the grid, ``beyond`` those so far beside it that no ink is spilt there.
    ``arms_mm`` are the middles of the arms of the grid's corners, (corners, 4, 2); see ``SheetLines``.
    """

    def __init__(self, surface: GridSurface, window: PlaneWindow, arms_mm: FloatArray) -> None:
        rows, columns = window.shape
        bounds, cell_px = surface.bounds_mm, surface.cell_mm * window.px_per_mm
        left, near = window.to_pixels(bounds.left_mm, bounds.near_mm)
        across, up = (np.arange(columns) - left) / cell_px, (near - np.arange(rows)) / cell_px
        column, row = np.floor(across), np.floor(up)
        on_grid = ((column >= 0) & (column < surface.columns))[None, :] & ((row >= 0) & (row < surface.rows))[:, None]
        number = column[None, :] + surface.columns * row[:, None] + 1
        self._cells = np.where(on_grid, number, 0).astype(np.int64)
        self.on_grid: BoolImage = np.asarray(on_grid)
        self._count = surface.columns * surface.rows + 1
        off = np.maximum(np.abs(across - column - 0.5)[None, :], np.abs(up - row - 0.5)[:, None])
        self._inner = np.asarray((off < 0.5 - _SETTINGS.border_cells) & on_grid)
        outside = [np.maximum(-at, at - count) for at, count in ((across, surface.columns), (up, surface.rows))]
        self.beyond: BoolImage = np.asarray(
            np.maximum(outside[0][None, :], outside[1][:, None]) > _SETTINGS.outer_border_cells
        )
        self._inner |= self.beyond
        self._area = np.maximum(np.bincount(self._cells[self._inner], minlength=self._count), 1)
        self._area[0] = self._area[1]
        self._cell_px = cell_px
        self._reach_px = round(_SETTINGS.reach_cells * cell_px)
        quarters = np.floor(2 * across)[None, :] + 2 * surface.columns * np.floor(2 * up)[:, None] + 1
        self._quarters = np.where(on_grid, quarters, 0).astype(np.int64)
        self._arms, self._beside_arms = _indices_and_labels(arms_mm, _ACROSS * surface.cell_mm / 2, window, self._cells)
        corners_mm = arms_mm.mean(axis=1)
        self._corners, self._far = _indices_and_labels(
            corners_mm, _DIAGONALS * surface.cell_mm * 0.75, window, self._quarters
        )

    def mark_objects(self, ink: BoolImage, solid: BoolImage, even: BoolArray) -> BoolImage:
        """Mark objects with the colour of ink.

        ``ink`` are all pixels of such a colour, ``solid`` those of regions wider than strokes; ``even`` says for each
        corner's arms whether nothing shows there, (corners, 4).
        """
        share = self._shares(ink)
        round_corner = even.all(axis=1) & (_shares(ink, self._quarters)[self._far].mean(axis=1) < _SETTINGS.round)
        count, regions = cv2.connectedComponents(solid.astype(np.uint8), connectivity=8)
        pairs = regions[self._inner].astype(np.int64) * self._count + self._cells[self._inner]
        covered = np.bincount(pairs, minlength=count * self._count).reshape(count, self._count) / self._area
        reached = covered > _SETTINGS.begun
        line_hidden = np.zeros_like(reached)
        line_hidden[np.where(even, regions[self._arms], 0)[..., None], self._beside_arms] = True
        line_hidden[:, 0] = True
        partly = reached & (share < np.where(line_hidden, _SETTINGS.filled, _SETTINGS.half))
        at_corners = np.where(round_corner, regions[self._corners], 0)
        partly[at_corners, self._cells[self._corners]] = True
        found = np.zeros_like(solid)
        reach = np.ones((2 * self._reach_px + 1,) * 2, np.uint8)
        for number in np.flatnonzero((reached.sum(axis=1) > 1) & partly.any(axis=1)):
            if number:
                region = regions == number
                spilt = region & partly[number][self._cells]
                found |= region & (cv2.dilate(spilt.astype(np.uint8), reach) > 0)
        return np.asarray(found)

    def mark_coins(self, ink: BoolImage, solid: BoolImage) -> BoolImage:
        """Mark round regions larger than a cell: nobody fills cells in that shape, so they are coins.

        ``ink`` are the pixels in one pen's colour, ``solid`` those of its regions wider than strokes, and of what is
        beside the grid.
        """
        found = np.zeros_like(solid)
        _, regions, measures, _ = cv2.connectedComponentsWithStats(solid.astype(np.uint8), connectivity=8)
        areas = measures[:, cv2.CC_STAT_AREA]
        for number in np.unique(regions[ink & solid]):
            if areas[number] > _SETTINGS.coin_cells * self._cell_px**2:
                region = regions == number
                _, radius_px = cv2.minEnclosingCircle(cv2.convexHull(np.argwhere(region).astype(np.float32)))
                if areas[number] > _SETTINGS.round_share * np.pi * (radius_px + 0.5) ** 2:
                    found |= region
        return found

    def mark_foreign_hues(
        self, hue: FloatImage, ink: BoolImage, usual_deg: FloatArray, usual_within_deg: float
    ) -> BoolImage:
        """Mark pixels of ink whose hue is far from those of all pens, which are fitted to the sheet's filled cells
        where there are enough; ``usual_deg`` are the hues of the other pens.
        """
        off = nearest_turn(hue[ink] - usual_deg.astype(np.float32)[:, None])
        inner = self._inner[ink]
        off_inside = off[:, inner]
        nearest, cells = np.abs(off_inside).argmin(axis=0), self._cells[ink][inner]
        total = np.bincount(cells, minlength=self._count)
        filled = self._shares(ink) > _SETTINGS.filled
        filled[0] = False
        far = np.ones(off.shape[1], dtype=np.bool_)
        for number in range(len(usual_deg)):
            own = nearest == number
            pixels = np.bincount(cells[own], minlength=self._count)
            distance = np.bincount(cells[own], off_inside[number, own], minlength=self._count)
            known = filled & (2 * pixels > total)
            if known.sum() >= _SETTINGS.known_cells:
                middle, within = float(np.median(distance[known] / pixels[known])), _SETTINGS.own_hue_deg
            else:
                middle, within = 0.0, usual_within_deg
            far &= np.abs(nearest_turn(off[number] - np.float32(middle))) > within
        found = np.zeros_like(ink)
        found[ink] = far
        return found

    def _shares(self, pixels: BoolImage) -> FloatArray:
        """Return the marked share of each cell inside its border; the first is what is beside the grid, in cells."""
        return np.asarray(np.bincount(self._cells[pixels & self._inner], minlength=self._count) / self._area)


def _indices_and_labels(
    points_mm: FloatArray, steps_mm: FloatArray, window: PlaneWindow, labels: Cells
) -> tuple[tuple[Cells, Cells], Cells]:
    """Return rows and columns of points in the view, and the labels at steps from them."""
    at = np.round(window.pixels_of(points_mm)).astype(np.intp)
    beside = np.round(window.pixels_of(points_mm[..., None, :] + steps_mm)).astype(np.intp)
    return (at[..., 1], at[..., 0]), np.asarray(labels[beside[..., 1], beside[..., 0]])


def _shares(pixels: BoolImage, labels: Cells) -> FloatArray:
    """Return the marked share of the pixels with each label."""
    total = np.bincount(labels.ravel())
    return np.asarray(np.bincount(labels[pixels], minlength=len(total)) / np.maximum(total, 1))
