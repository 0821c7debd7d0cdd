"""The evidence of lines and colours for each place of a surface."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage
from vision.surface.colours import COARSER, SurfaceColours, coarse_px
from vision.surface.grid_lines import LineEvidence
from vision.surface.plan import SurfacePlan, disc_mm
from vision.surface.view import SurfaceSampler


@dataclass(frozen=True)
class PlaceSettings:
    """The area that is examined for each place. Set by hand on virtual and ray-traced pictures."""

    middle_mm: float = 26.0
    """Side of the square in a place's centre that is examined, in mm."""
    piece_points: int = 5
    """Points along each edge of a piece at which its hue would be visible. More: finer, slower."""
    least_open: float = 0.6
    """Share of those points that must be visible for their hue to count fully."""
    near_glare_mm: float = 40.0
    """Distance, in mm, within which a place counts as near glare."""


_SETTINGS = PlaceSettings()


@dataclass(frozen=True, eq=False)
class PlaceEvidence:
    """The evidence for one place.

    Of the grid lines around it: how many parts are visible, how many no piece hides, and their contrast relative to the
    expected one. Of the place: the share of its centre that is strange, its log brightness above the board's, whether
    glare begins near it, and the share with another hue within the area that a piece standing there would hide.
    """

    lines_seen: int
    lines: int
    clearness: float
    strange_share: float
    brighter: float
    near_glare: bool
    off_hue_share: float


class PlaceExaminer:
    """Collects the evidence for each place of one surface, seen from one camera position."""

    def __init__(self, sampler: SurfaceSampler, plan: SurfacePlan) -> None:
        self._plan = plan
        self._hidden = self._hidden_by_pieces(sampler)

    def _hidden_by_pieces(self, sampler: SurfaceSampler) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return rows and columns, (places, points), of the coarse pixels hidden by points of a piece on each place."""
        surface = self._plan.surface
        solid, count = surface.solid_at(surface.places[0]), len(surface.places)
        if solid is None:
            return np.zeros((count, 0), dtype=np.intp), np.zeros((count, 0), dtype=np.intp)
        shifts = np.pad(surface.centres_mm - surface.centres_mm[0], ((0, 0), (0, 1)))
        points = shifts[:, None] + solid.inner_points_mm(_SETTINGS.piece_points)
        column, row = sampler.seen_at(points.reshape(-1, 3))
        limits = np.array(self._plan.window.shape) // COARSER - 1
        rows, columns = (
            np.clip(coarse_px(values), 0, limit).reshape(count, -1)
            for values, limit in zip((row, column), limits, strict=True)
        )
        return rows, columns

    def evidence(
        self,
        lines: LineEvidence,
        colours: SurfaceColours,
        not_bare: BoolImage,
        strange: BoolImage,
        by_light: BoolImage,
        glare: BoolImage,
    ) -> dict[str, PlaceEvidence]:
        """Collect the evidence for each place.

        All masks are (rows, columns) at the coarse scale: ``not_bare`` marks pixels under pieces or print, ``strange``
        those that do not look like bare surface, ``by_light`` those for which light may be the reason, ``glare``
        overexposure.
        """
        around = self._plan.around * lines.judged
        count = around.sum(axis=1)
        seen = around @ lines.seen
        clearness = np.where(count > 0, around @ lines.clearness / np.maximum(count, 1.0), 1.0)
        near = (
            cv2.dilate(glare.astype(np.uint8), disc_mm(2 * _SETTINGS.near_glare_mm))
            if glare.any()
            else np.zeros_like(glare)
        )
        row, column = self._plan.middles
        wide = round(_SETTINGS.middle_mm / COARSER)
        strange_share, brighter, nearby = (
            np.asarray(cv2.blur(np.asarray(values, dtype=np.float32), (wide, wide)))[row, column]
            for values in (strange, colours.brighter, near)
        )
        off_hue = (colours.off_hue > colours.hue_limit) & ~(not_bare | by_light)
        is_open = (~not_bare[self._hidden]).sum(axis=1)
        off_hue_share = off_hue[self._hidden].sum(axis=1) / np.maximum(
            is_open, _SETTINGS.least_open * _SETTINGS.piece_points**3
        )
        return {
            place: PlaceEvidence(
                int(seen[index]),
                int(count[index]),
                float(clearness[index]),
                float(strange_share[index]),
                float(brighter[index]),
                bool(nearby[index] > 0),
                float(off_hue_share[index]),
            )
            for index, place in enumerate(self._plan.surface.places)
        }
