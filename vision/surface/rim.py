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


@dataclass(frozen=True)
class RimSettings:
    """Where the rim is looked at, and what is gone or new there.

    All were set by hand on the virtual table's stress pictures and the ray-traced ones; ``benchmarks/stress.py`` shows
    what a change does.
    """

    inside_mm: tuple[float, ...] = (5.0, 8.0, 11.0)
    """How far inside the rim, in mm, colours are taken. Farther: a pose that is off matters less, small things are
    missed.
    """
    outside_mm: tuple[float, ...] = (14.0, 19.0, 24.0, 29.0)
    """How far outside it, in mm; the board's own edge and shadow lie between."""
    part_mm: float = 10.0
    """Length of rim, in mm, that is judged as one. Longer: less noise, wider fingers only."""
    points: int = 4
    """Points along each part. More: slower."""
    least_step: float = 0.3
    """Usual step of colour from board to table, in log units, from which it can be missed. Higher: only on tables
    unlike the board.
    """
    step_gone: float = 0.35
    """Share of the usual step below which it is gone. Higher: more of the rim counts as covered."""
    crossed_parts: int = 2
    """Parts of the rim over which something must reach. More: thin fingers are missed."""
    longest_run: int = 11
    """Most parts side by side that an arm covers. More: shadows and other boards count as arms."""
    continues: float = 0.6
    """Share of what a thing beside the board differs from the table by, below which the step onto the board must be for
    it to go on there. Higher: more things reach in.
    """
    abrupt: float = 0.45
    """Share of an arm's difference that may be left beside it. Higher: soft lights count as arms."""
    unlike_table: float = 0.25
    """Difference from the table, in log units, from which something else is there. Higher: pale things and weak lights
    are let pass.
    """
    shadow_easily: float = 0.6
    """Log brightness below the table's that a shadow explains. Higher: dark sleeves are let pass."""
    brighter_easily: float = 0.15
    """Log brightness above it that a light explains."""


@dataclass(frozen=True, eq=False)
class RimEvidence:
    """What a view shows of each part of the rim, (parts,).

    ``gone``: the step from board to table is not to be seen; ``beyond``: the table beside it does not look like itself;
    ``apart``: what lies inside can be told from the table; ``entered``: something narrow goes on from the table over
    the rim, as an arm or a finger does; ``continuing``: what lies inside looks like what is beside it and unlike the
    table.
    ``inside`` are pixels just inside the rim, as (row, column) at the coarse scale, (parts, points, 2); where
    ``crossed_parts`` of the parts are so, the rim is.
    """

    gone: npt.NDArray[np.bool_]
    beyond: npt.NDArray[np.bool_]
    apart: npt.NDArray[np.bool_]
    entered: npt.NDArray[np.bool_]
    continuing: npt.NDArray[np.bool_]
    inside: npt.NDArray[np.intp]
    crossed_parts: int

    def _touched(self, pixels: BoolImage) -> npt.NDArray[np.bool_]:
        hit = pixels[self.inside[..., 0], self.inside[..., 1]]
        return np.asarray(hit.mean(axis=1) >= 0.5)

    def gone_at(self, pixels: BoolImage) -> int:
        """How many parts of the rim are gone where a region of coarse pixels touches it, counted as line parts are."""
        return int((self._touched(pixels) & self.gone).sum()) // 2

    def entered_by(self, pixels: BoolImage) -> bool:
        """Whether something narrow comes in over the rim where a region touches it."""
        return int((self._touched(pixels) & self.entered).sum()) >= self.crossed_parts

    def continues_at(self, pixels: BoolImage) -> bool:
        """Whether a region looks the same on both sides of the rim."""
        return int((self._touched(pixels) & self.continuing).sum()) >= self.crossed_parts

    def crossed_by(self, pixels: BoolImage) -> bool | None:
        """Whether a region reaches over the rim; ``None`` when that can't be told, false too when it is not near."""
        touched = self._touched(pixels)
        if not touched.any():
            return False
        if max(int((touched & self.beyond).sum()), int((touched & self.continuing).sum())) >= self.crossed_parts:
            return True
        return False if float(self.apart[touched].mean()) > 0.5 else None


class SurfaceRim:
    """Looks at the rim of one surface in views through one window."""

    def __init__(self, surface: GridSurface, window: PlaneWindow, settings: RimSettings = RimSettings()) -> None:
        self._settings = settings
        half_x, half_y = surface.bounds_mm.right_mm, surface.bounds_mm.far_mm
        inside: list[npt.NDArray[np.intp]] = []
        outside: list[npt.NDArray[np.intp]] = []
        sides = []
        for side, (out_x, out_y) in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
            half = half_y if out_x else half_x
            count = round(2 * half / settings.part_mm)
            along = (np.arange(count * settings.points) + 0.5) / (count * settings.points) * 2 * half - half
            for depths, found in ((-np.array(settings.inside_mm), inside), (np.array(settings.outside_mm), outside)):
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
            apart |= own & (self._unlike(inner - table) > self._settings.unlike_table)
            changed = self._unlike(off)
            from_table = np.linalg.norm(inner - table, axis=1)
            continuing |= (
                own & (from_table > self._settings.unlike_table) & (step < self._settings.step_gone * from_table)
            )
            new = own & (changed > self._settings.unlike_table)
            beyond |= new
            size = np.linalg.norm(off, axis=1)
            entered |= self._arms(new, np.where(decidable, size, 0.0)) & (step < self._settings.continues * size)
            usual = float(np.median(step[own]))
            if usual > self._settings.least_step:
                gone |= beyond & own & (step < self._settings.step_gone * usual)
        return RimEvidence(gone, beyond, apart, entered, continuing, self._inside, self._settings.crossed_parts)

    def _unlike(self, off: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """How unlike the table colours so far off it are, (parts, 3) to (parts,); a shadow alone is like it."""
        shade = np.maximum(off[:, 2] - self._settings.brighter_easily, 0.0) + np.maximum(
            -off[:, 2] - self._settings.shadow_easily, 0.0
        )
        return np.asarray(np.hypot(off[:, 0], off[:, 1]) + shade, dtype=np.float32)

    def _arms(self, marked: npt.NDArray[np.bool_], off: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
        """The runs of marked parts, (parts,), that are no longer than an arm is wide and begin and end abruptly.

        ``off`` is how far each part is from the table's look; a lamp's mirror image fades in and out.
        """
        edges = np.diff(np.concatenate([[0], marked.astype(np.int8), [0]]))
        arms = np.zeros_like(marked)
        for start, end in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
            most = float(off[start:end].max())
            before = float(off[start - 2]) if start >= 2 else 0.0
            after = float(off[end + 1]) if end + 1 < len(off) else 0.0
            arms[start:end] = (
                end - start <= self._settings.longest_run and max(before, after) < self._settings.abrupt * most
            )
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
