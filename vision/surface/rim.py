"""The surface's rim: where the step to the table is seen, and where something reaches over it.

A hand comes in over the rim, and its arm goes on outside. A cup, a card or a coin that stands on the board ends on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage
from vision.layout.surfaces import GridSurface
from vision.sampling import PlaneWindow
from vision.surface.colours import COARSER, SurfaceColours

INSIDE_MM = (5.0, 8.0, 11.0)
OUTSIDE_MM = (14.0, 19.0, 24.0, 29.0)
PART_MM = 10.0
POINTS = 4
LEAST_STEP = 0.3
STEP_GONE = 0.35
CROSSED_PARTS, LONGEST_RUN = 2, 11
CONTINUES = 0.6
ABRUPT = 0.45
UNLIKE_TABLE = 0.25
SHADOW_EASILY, BRIGHTER_EASILY = 0.6, 0.15


@dataclass(frozen=True, eq=False)
class RimEvidence:
    """What a view shows of each part of the rim, (parts,).

    ``gone``: the step from board to table is not to be seen; ``beyond``: the table beside it does not look like itself;
    ``apart``: what lies inside can be told from the table; ``entered``: something narrow goes on from the table over
    the rim, as an arm or a finger does; ``continuing``: what lies inside looks like what is beside it and unlike the
    table.
    ``inside`` are pixels just inside the rim, as (row, column) at the coarse scale, (parts, points, 2).
    """

    gone: npt.NDArray[np.bool_]
    beyond: npt.NDArray[np.bool_]
    apart: npt.NDArray[np.bool_]
    entered: npt.NDArray[np.bool_]
    continuing: npt.NDArray[np.bool_]
    inside: npt.NDArray[np.intp]

    def _touched(self, pixels: BoolImage) -> npt.NDArray[np.bool_]:
        hit = pixels[self.inside[..., 0], self.inside[..., 1]]
        return np.asarray(hit.mean(axis=1) >= 0.5)

    def gone_at(self, pixels: BoolImage) -> int:
        """How many parts of the rim are gone where a region of coarse pixels touches it, counted as line parts are."""
        return int((self._touched(pixels) & self.gone).sum()) // 2

    def entered_by(self, pixels: BoolImage) -> bool:
        """Whether something narrow comes in over the rim where a region touches it."""
        return int((self._touched(pixels) & self.entered).sum()) >= CROSSED_PARTS

    def continues_at(self, pixels: BoolImage) -> bool:
        """Whether a region looks the same on both sides of the rim."""
        return int((self._touched(pixels) & self.continuing).sum()) >= CROSSED_PARTS

    def crossed_by(self, pixels: BoolImage) -> bool | None:
        """Whether a region reaches over the rim; ``None`` when that can't be told, false too when it is not near."""
        touched = self._touched(pixels)
        if not touched.any():
            return False
        if max(int((touched & self.beyond).sum()), int((touched & self.continuing).sum())) >= CROSSED_PARTS:
            return True
        return False if float(self.apart[touched].mean()) > 0.5 else None


class SurfaceRim:
    """Looks at the rim of one surface in views through one window."""

    def __init__(self, surface: GridSurface, window: PlaneWindow) -> None:
        half_x, half_y = surface.bounds_mm.right_mm, surface.bounds_mm.far_mm
        inside: list[npt.NDArray[np.intp]] = []
        outside: list[npt.NDArray[np.intp]] = []
        sides = []
        for side, (out_x, out_y) in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
            half = half_y if out_x else half_x
            count = round(2 * half / PART_MM)
            along = (np.arange(count * POINTS) + 0.5) / (count * POINTS) * 2 * half - half
            for depths, found in ((-np.array(INSIDE_MM), inside), (np.array(OUTSIDE_MM), outside)):
                x = out_x * (half_x + depths[None, :]) + (1 - abs(out_x)) * along[:, None]
                y = out_y * (half_y + depths[None, :]) + (1 - abs(out_y)) * along[:, None]
                column, row = window.to_pixels(x, y)
                pixels = np.stack([row, column], axis=-1).reshape(count, -1, 2) / COARSER
                found.append(np.round(pixels).astype(np.intp))
            sides.append(np.full(count, side))
        limits = np.array(window.shape) // COARSER - 1
        self._inside = np.clip(np.concatenate(inside), 0, limits)
        self._outside = np.clip(np.concatenate(outside), 0, limits)
        self._sides = np.concatenate(sides)

    def look(self, colours: SurfaceColours, hidden: BoolImage) -> RimEvidence:
        """Compare the colours on both sides of the rim; ``hidden`` marks pieces and what the picture does not hold."""
        rows, columns = colours.off_hue.shape
        small = cv2.resize(hidden.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) > 0
        inner, inner_open = _means(colours.logs, small, self._inside)
        outer, outer_open = _means(colours.logs, small, self._outside)
        decidable = inner_open & outer_open
        step = np.linalg.norm(inner - outer, axis=1)
        gone = np.zeros(len(step), dtype=np.bool_)
        beyond = np.zeros(len(step), dtype=np.bool_)
        apart = np.zeros(len(step), dtype=np.bool_)
        entered = np.zeros(len(step), dtype=np.bool_)
        continuing = np.zeros(len(step), dtype=np.bool_)
        for side in range(4):
            own = decidable & (self._sides == side)
            if own.sum() < 6:
                continue
            table = np.median(outer[own], axis=0)
            off = outer - table
            apart |= own & (_unlike(inner - table) > UNLIKE_TABLE)
            changed = _unlike(off)
            from_table = np.linalg.norm(inner - table, axis=1)
            continuing |= own & (from_table > UNLIKE_TABLE) & (step < STEP_GONE * from_table)
            new = own & (changed > UNLIKE_TABLE)
            beyond |= new
            size = np.linalg.norm(off, axis=1)
            entered |= _arms(new, np.where(decidable, size, 0.0)) & (step < CONTINUES * size)
            usual = float(np.median(step[own]))
            if usual > LEAST_STEP:
                gone |= beyond & own & (step < STEP_GONE * usual)
        return RimEvidence(gone, beyond, apart, entered, continuing, self._inside)


def _unlike(off: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """How unlike the table colours are that are so far off it, (parts, 3) to (parts,); a shadow alone is like it."""
    shade = np.maximum(off[:, 2] - BRIGHTER_EASILY, 0.0) + np.maximum(-off[:, 2] - SHADOW_EASILY, 0.0)
    return np.asarray(np.hypot(off[:, 0], off[:, 1]) + shade, dtype=np.float32)


def _arms(marked: npt.NDArray[np.bool_], off: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
    """The runs of marked parts, (parts,), that are no longer than an arm is wide and begin and end abruptly.

    ``off`` is how far each part is from the table's look; a lamp's mirror image fades in and out.
    """
    edges = np.diff(np.concatenate([[0], marked.astype(np.int8), [0]]))
    arms = np.zeros_like(marked)
    for start, end in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        most = float(off[start:end].max())
        before = float(off[start - 2]) if start >= 2 else 0.0
        after = float(off[end + 1]) if end + 1 < len(off) else 0.0
        arms[start:end] = end - start <= LONGEST_RUN and max(before, after) < ABRUPT * most
    return arms


def _means(
    logs: npt.NDArray[np.float32], hidden: BoolImage, points: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """The mean colour of each part's points, (parts, 3), and whether most of them are open to sight, (parts,)."""
    values = logs[points[..., 0], points[..., 1]]
    is_open = ~hidden[points[..., 0], points[..., 1]]
    weight = is_open / np.maximum(is_open.sum(axis=1, keepdims=True), 1)
    means = np.einsum("kpc,kp->kc", values, weight.astype(np.float32))
    return np.asarray(means, dtype=np.float32), np.asarray(is_open.mean(axis=1) > 0.5)
