"""The surface's rim: where the step to the table is visible, and where something reaches over it.

A hand enters over the rim, and its arm continues outside. A cup, a card or a coin on the board ends at the rim.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolArray, BoolImage, IndexArray
from vision.layout.pieces import GridSurface
from vision.sampling import PlaneWindow, median
from vision.surface.colours import COARSER, SurfaceColours, coarse_px


@dataclass(frozen=True)
class RimSettings:
    """Where the rim is examined, and when something is missing or new there.

    All were set by hand on the virtual table's stress pictures and the ray-traced ones; ``benchmarks/stress.py`` shows
    the effect of a change.
    """

    inside_mm: tuple[float, ...] = (5.0, 8.0, 11.0)
    """Distances inside the rim, in mm, at which colours are sampled. Larger: tolerates a worse pose, misses small
    objects.
    """
    outside_mm: tuple[float, ...] = (14.0, 19.0, 24.0, 29.0)
    """Distances outside it, in mm, beyond the board's own edge and shadow."""
    part_mm: float = 10.0
    """Length of rim, in mm, that is judged as one part. Longer: less noise, misses narrow fingers."""
    points: int = 4
    """Points along each part. More: slower."""
    fewest_parts: int = 6
    """Minimum number of visible parts of a side for it to be judged."""
    least_step: float = 0.3
    """Minimum typical step of colour from board to table, in log units, for a missing step to count. Higher: only on
    tables unlike the board.
    """
    step_gone: float = 0.35
    """Share of the typical step below which it is missing. Higher: more of the rim counts as covered."""
    crossed_parts: int = 2
    """Minimum number of parts of the rim that something reaches over. More: thin fingers are missed."""
    longest_run: int = 11
    """Maximum number of adjacent parts covered by an arm. More: shadows and other boards count as arms."""
    continues: float = 0.6
    """An object continues onto the board if the step there is below this share of the object's difference from the
    table. Higher: more objects reach in.
    """
    abrupt: float = 0.45
    """Maximum remaining difference beside an arm, as a share of the arm's. Higher: soft lights count as arms."""
    unlike_table: float = 0.25
    """Difference from the table, in log units, that indicates an object. Higher: tolerates weak lights, misses pale
    objects.
    """
    shadow_easily: float = 0.6
    """Log brightness below the table's that a shadow explains. Higher: misses dark sleeves."""
    brighter_easily: float = 0.15
    """Log brightness above it that light explains."""


_SETTINGS = RimSettings()


@dataclass(frozen=True, eq=False)
class RimEvidence:
    """The evidence of each part of the rim, (parts,).

    ``missing``: the step from board to table is not visible. ``table_differs``: the table beside it is unlike the rest.
    ``inside_differs``: the inside differs from the table. ``entered``: something narrow continues from the table over
    the rim, such as an arm or a finger. ``continues``: the inside looks like what is beside it and unlike the table.
    ``inside`` are pixels just inside the rim, as (row, column) at the coarse scale, (parts, points, 2). A condition
    holds for a region's rim if it holds for ``RimSettings.crossed_parts`` of its parts.
    """

    missing: BoolArray
    table_differs: BoolArray
    inside_differs: BoolArray
    entered: BoolArray
    continues: BoolArray
    inside: IndexArray

    def _parts_touched_by(self, pixels: BoolImage) -> BoolArray:
        hit = pixels[self.inside[..., 0], self.inside[..., 1]]
        return np.asarray(hit.mean(axis=1) >= 0.5)

    def count_missing_at(self, pixels: BoolImage) -> int:
        """Return how much missing rim a region of coarse pixels touches, in units of line parts.

        A line part is about as long as two parts of the rim.
        """
        return int((self._parts_touched_by(pixels) & self.missing).sum()) // 2

    def is_entered_by(self, pixels: BoolImage) -> bool:
        """Return whether something narrow enters over the rim where a region touches it."""
        return int((self._parts_touched_by(pixels) & self.entered).sum()) >= _SETTINGS.crossed_parts

    def continues_at(self, pixels: BoolImage) -> bool:
        """Return whether a region looks the same on both sides of the rim."""
        return int((self._parts_touched_by(pixels) & self.continues).sum()) >= _SETTINGS.crossed_parts

    def is_crossed_by(self, pixels: BoolImage) -> bool | None:
        """Return whether a region reaches over the rim; ``None`` if undecided; ``False`` if it is not near the rim."""
        touched = self._parts_touched_by(pixels)
        if not touched.any():
            return False
        if max((touched & self.table_differs).sum(), (touched & self.continues).sum()) >= _SETTINGS.crossed_parts:
            return True
        return False if float(self.inside_differs[touched].mean()) > 0.5 else None


class SurfaceRim:
    """Examines the rim of one surface in views through one window."""

    def __init__(self, surface: GridSurface, window: PlaneWindow) -> None:
        half_x, half_y = surface.bounds_mm.right_mm, surface.bounds_mm.far_mm
        inside: list[IndexArray] = []
        outside: list[IndexArray] = []
        for out_x, out_y in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            half = half_y if out_x else half_x
            count = round(2 * half / _SETTINGS.part_mm)
            along = (np.arange(count * _SETTINGS.points) + 0.5) / (count * _SETTINGS.points) * 2 * half - half
            for depths, found in ((-np.array(_SETTINGS.inside_mm), inside), (np.array(_SETTINGS.outside_mm), outside)):
                x = out_x * (half_x + depths[None, :]) + (1 - abs(out_x)) * along[:, None]
                y = out_y * (half_y + depths[None, :]) + (1 - abs(out_y)) * along[:, None]
                column, row = window.to_pixels(x, y)
                found.append(coarse_px(np.stack([row, column], axis=-1)).reshape(count, -1, 2))
        shape = window.shape[0] // COARSER, window.shape[1] // COARSER
        self._inside, outer = (np.clip(np.concatenate(points), 0, np.array(shape) - 1) for points in (inside, outside))
        self._inside_at, self._outside_at = (
            np.ravel_multi_index((points[..., 0], points[..., 1]), shape) for points in (self._inside, outer)
        )
        ends = np.cumsum([len(points) for points in inside]).tolist()
        self._sides = [slice(start, end) for start, end in itertools.pairwise([0, *ends])]

    def detect(self, colours: SurfaceColours, hidden: BoolImage) -> RimEvidence:
        """Compare the colours on both sides of the rim; ``hidden`` marks pieces and pixels outside the picture."""
        rows, columns = colours.off_hue.shape
        is_seen = cv2.resize(hidden.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) == 0
        inner, inner_open = _means(colours.logs, is_seen, self._inside_at)
        outer, outer_open = _means(colours.logs, is_seen, self._outside_at)
        judged = inner_open & outer_open
        step = np.linalg.norm(inner - outer, axis=1)
        tables, usual_steps = np.zeros_like(outer), np.zeros_like(step)
        for side in self._sides:
            own = judged[side]
            if np.count_nonzero(own) < _SETTINGS.fewest_parts:
                judged[side] = False
                continue
            tables[side] = median(outer[side][own])
            usual_steps[side] = median(step[side][own])
        beyond, within = outer - tables, inner - tables
        size, from_table = (np.linalg.norm(one, axis=1) for one in (beyond, within))
        inside_differs = judged & (_difference_from_table(within) > _SETTINGS.unlike_table)
        continues = judged & (from_table > _SETTINGS.unlike_table) & (step < _SETTINGS.step_gone * from_table)
        table_differs = judged & (_difference_from_table(beyond) > _SETTINGS.unlike_table)
        missing = table_differs & (usual_steps > _SETTINGS.least_step) & (step < _SETTINGS.step_gone * usual_steps)
        entered = table_differs & (step < _SETTINGS.continues * size)
        for side in self._sides if entered.any() else ():
            entered[side] &= _narrow_runs(table_differs[side], size[side] * judged[side])
        return RimEvidence(missing, table_differs, inside_differs, entered, continues, self._inside)


def _difference_from_table(off: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the difference from the table of colours with offsets (parts, 3), as (parts,); a shadow alone does not
    count.
    """
    shade = np.maximum(off[:, 2] - _SETTINGS.brighter_easily, 0.0) + np.maximum(
        -off[:, 2] - _SETTINGS.shadow_easily, 0.0
    )
    return np.asarray(np.hypot(off[:, 0], off[:, 1]) + shade, dtype=np.float32)


def _narrow_runs(marked: BoolArray, off: npt.NDArray[np.floating]) -> BoolArray:
    """Return runs of marked parts of a side, (parts,), that are at most as long as an arm is wide, with abrupt ends.

    ``off`` is each part's difference from the table, 0 if it isn't judged; the reflection of a lamp fades in and out.
    """
    edges = np.diff(np.concatenate([[0], marked.astype(np.int8), [0]]))
    arms = np.zeros_like(marked)
    for start, end in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
        most = float(off[start:end].max())
        before = float(off[start - 2]) if start >= 2 else 0.0
        after = float(off[end + 1]) if end + 1 < len(off) else 0.0
        arms[start:end] = end - start <= _SETTINGS.longest_run and max(before, after) < _SETTINGS.abrupt * most
    return arms


def _means(
    logs: npt.NDArray[np.float32], is_seen: BoolImage, pixels: IndexArray
) -> tuple[npt.NDArray[np.float32], BoolArray]:
    """Return the mean colour of each part's pixels, (parts, 3), and whether most of them are visible, (parts,)."""
    values = logs.reshape(-1, 3).take(pixels, axis=0)
    is_open = is_seen.ravel().take(pixels)
    count = is_open.sum(axis=1)
    weight = (is_open / np.maximum(count, 1)[:, None]).astype(np.float32)
    return np.einsum("kpc,kp->kc", values, weight), np.asarray(2 * count > pixels.shape[1])
