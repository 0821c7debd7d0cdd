"""What lines and colours tell about each place of a surface: measures of doubt that it is empty."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from vision.frame import BoolImage, FloatArray, IndexArray
from vision.sampling import square_sums
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
    faintest: float = 0.05
    """Line strength, relative to the median, below which lines count as equally faint."""


_SETTINGS = PlaceSettings()


class PlaceExaminer:
    """Measures each place of one surface, seen from one camera position."""

    def __init__(self, sampler: SurfaceSampler, plan: SurfacePlan) -> None:
        self._plan = plan
        self._hidden = self._hidden_by_pieces(sampler)

    def _hidden_by_pieces(self, sampler: SurfaceSampler) -> IndexArray:
        """Return the indices of the coarse pixels hidden by points of a piece on each place, (places, points)."""
        surface = self._plan.surface
        solid, count = surface.solid_at(surface.places[0]), len(surface.places)
        if solid is None:
            return np.zeros((count, 0), dtype=np.intp)
        shifts = np.pad(surface.centres_mm - surface.centres_mm[0], ((0, 0), (0, 1)))
        points = shifts[:, None] + solid.inner_points_mm(_SETTINGS.piece_points)
        column, row = (coarse_px(values) for values in sampler.seen_at(points.reshape(-1, 3)))
        shape = self._plan.nearest.shape
        return np.asarray(np.ravel_multi_index((row, column), shape, mode="clip").reshape(count, -1))

    def measures(
        self,
        lines: LineEvidence,
        colours: SurfaceColours,
        not_bare: BoolImage,
        strange: BoolImage,
        by_light: BoolImage,
        glare: BoolImage,
    ) -> dict[str, FloatArray]:
        """Return measures of doubt for each place, (places,), by name; 0 is the value on a clear board.

        ``lines not seen``: share of the line parts around it; ``lines faint``: strength relative to the median, as log
        ratio; ``brighter`` and ``darker``: than the board there, as log ratio; ``strange``: share that does not look
        like the board; ``off hue``: share with another hue within the area a piece would hide; ``near glare``: 1 if
        glare begins near it; ``board not clear``: share of all line parts that are not visible.

        All masks are (rows, columns) at the coarse scale: ``not_bare`` marks pixels under pieces or print, ``strange``
        those that do not look like bare surface, ``by_light`` those for which light may be the reason, ``glare``
        overexposure.
        """
        around = self._plan.around * lines.judged
        count = around.sum(axis=1)
        some = np.maximum(count, 1.0)
        seen = around @ lines.seen
        clearness = np.where(count > 0, around @ lines.clearness / some, 1.0)
        not_clear = 1.0 - float(seen.sum()) / max(1.0, float(count.sum()))
        near_glare = np.zeros(strange.shape, dtype=np.uint8)
        if glare.any():
            near_glare = np.asarray(cv2.dilate(glare.astype(np.uint8), disc_mm(2 * _SETTINGS.near_glare_mm)))
        side = round(_SETTINGS.middle_mm / COARSER)
        examined = (strange.view(np.uint8), colours.brighter, near_glare)
        strange_share, brighter, nearby = np.array(square_sums(examined, self._plan.middles, side)) / side**2
        off_hue = (colours.off_hue > colours.hue_limit) & ~(not_bare | by_light)
        is_open = (~not_bare).ravel().take(self._hidden).sum(axis=1)
        least_open = _SETTINGS.least_open * _SETTINGS.piece_points**3
        return {
            "lines not seen": np.where(count > 0, 1.0 - seen / some, not_clear),
            "lines faint": -np.log(np.minimum(np.maximum(clearness, _SETTINGS.faintest), 1.0)),
            "brighter": np.maximum(brighter, 0.0),
            "darker": np.maximum(-brighter, 0.0),
            "strange": strange_share,
            "off hue": off_hue.ravel().take(self._hidden).sum(axis=1) / np.maximum(is_open, least_open),
            "near glare": (nearby > 0).astype(np.float64),
            "board not clear": np.full(len(count), not_clear),
        }
