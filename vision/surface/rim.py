"""The surface's rim: where the step to the table is visible, and where something reaches over it.

A hand enters over the rim, and its arm continues outside. A cup, a card or a coin on the board ends at the rim.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage
from vision.layout.surfaces import GridSurface
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

    missing: npt.NDArray[np.bool_]
    table_differs: npt.NDArray[np.bool_]
    inside_differs: npt.NDArray[np.bool_]
    entered: npt.NDArray[np.bool_]
    continues: npt.NDArray[np.bool_]
    inside: npt.NDArray[np.intp]

    def _parts_touched_by(self, pixels: BoolImage) -> npt.NDArray[np.bool_]:
        hit = pixels[self.inside[..., 0], self.inside[..., 1]]
        return np.asarray(hit.mean(axis=1) >= 0.5)

    def count_missing_at(self, pixels: BoolImage) -> int:
        """Return the number of missing parts of the rim where a region of coarse pixels touches it, in units of line
        parts.
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
        inside: list[npt.NDArray[np.intp]] = []
        outside: list[npt.NDArray[np.intp]] = []
        sides = []
        for side, (out_x, out_y) in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
            half = half_y if out_x else half_x
            count = round(2 * half / _SETTINGS.part_mm)
            along = (np.arange(count * _SETTINGS.points) + 0.5) / (count * _SETTINGS.points) * 2 * half - half
            for depths, found in ((-np.array(_SETTINGS.inside_mm), inside), (np.array(_SETTINGS.outside_mm), outside)):
                x = out_x * (half_x + depths[None, :]) + (1 - abs(out_x)) * along[:, None]
                y = out_y * (half_y + depths[None, :]) + (1 - abs(out_y)) * along[:, None]
                column, row = window.to_pixels(x, y)
                found.append(coarse_px(np.stack([row, column], axis=-1)).reshape(count, -1, 2))
            sides.append(np.full(count, side))
        limits = np.array(window.shape) // COARSER - 1
        self._inside = np.clip(np.concatenate(inside), 0, limits)
        self._outside = np.clip(np.concatenate(outside), 0, limits)
        self._sides = np.concatenate(sides)

    def detect(self, colours: SurfaceColours, hidden: BoolImage) -> RimEvidence:
        """Compare the colours on both sides of the rim; ``hidden`` marks pieces and pixels outside the picture."""
        rows, columns = colours.off_hue.shape
        small = cv2.resize(hidden.astype(np.uint8), (columns, rows), interpolation=cv2.INTER_NEAREST) > 0
        inner, inner_open = _means(colours.logs, small, self._inside)
        outer, outer_open = _means(colours.logs, small, self._outside)
        decidable = inner_open & outer_open
        step = np.linalg.norm(inner - outer, axis=1)
        missing, table_differs, inside_differs, entered, continues = np.zeros((5, len(step)), dtype=np.bool_)
        for side in range(4):
            own = decidable & (self._sides == side)
            if own.sum() < 6:
                continue
            table = median(outer[own])
            off = outer - table
            inside_differs |= own & (_difference_from_table(inner - table) > _SETTINGS.unlike_table)
            changed = _difference_from_table(off)
            from_table = np.linalg.norm(inner - table, axis=1)
            continues |= own & (from_table > _SETTINGS.unlike_table) & (step < _SETTINGS.step_gone * from_table)
            new = own & (changed > _SETTINGS.unlike_table)
            if not new.any():
                continue
            table_differs |= new
            size = np.linalg.norm(off, axis=1)
            entered |= _narrow_runs(new, np.where(own, size, 0.0)) & (step < _SETTINGS.continues * size)
            usual = float(median(step[own]))
            if usual > _SETTINGS.least_step:
                missing |= new & (step < _SETTINGS.step_gone * usual)
        return RimEvidence(missing, table_differs, inside_differs, entered, continues, self._inside)


def _difference_from_table(off: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return the difference from the table of colours with offsets (parts, 3), as (parts,); a shadow alone does not
    count.
    """
    shade = np.maximum(off[:, 2] - _SETTINGS.brighter_easily, 0.0) + np.maximum(
        -off[:, 2] - _SETTINGS.shadow_easily, 0.0
    )
    return np.asarray(np.hypot(off[:, 0], off[:, 1]) + shade, dtype=np.float32)


def _narrow_runs(marked: npt.NDArray[np.bool_], off: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
    """Return runs of marked parts, (parts,), that are at most as long as an arm is wide and begin and end abruptly.

    ``off`` is each part's difference from the table, 0 on the other sides; the reflection of a lamp fades in and out.
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
    logs: npt.NDArray[np.float32], hidden: BoolImage, points: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Return the mean colour of each part's points, (parts, 3), and whether most of them are visible, (parts,)."""
    values = logs[points[..., 0], points[..., 1]]
    is_open = ~hidden[points[..., 0], points[..., 1]]
    weight = is_open / np.maximum(is_open.sum(axis=1, keepdims=True), 1)
    means = np.einsum("kpc,kp->kc", values, weight.astype(np.float32))
    return np.asarray(means, dtype=np.float32), np.asarray(is_open.mean(axis=1) > 0.5)
