"""Random handwriting of many people: strokes of digits, crosses, blots and loops.

A stroke is an array of points (n, 2), x to the right and y down, in cells of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

import cv2
import numpy as np
import numpy.typing as npt

from simulator.scene.signs import FORMS
from vision.frame import BoolImage, FloatArray

Stroke = FloatArray

_USUAL_WIDTH: Mapping[str, tuple[float, float]] = MappingProxyType({"1": (0.05, 0.45), "X": (0.55, 1.2)})
"""Range of a sign's width, as a share of its height."""


def smooth(points: Stroke, steps: int = 10) -> Stroke:
    """Return a Catmull-Rom curve through points (n, 2); a point given twice is a corner."""
    if len(points) < 3:
        return np.linspace(points[0], points[-1], steps)
    ends = np.vstack([points[0], points, points[-1]])
    before, start, end, after = ends[:-3], ends[1:-2], ends[2:-1], ends[3:]
    first = np.where(_same(before, start), end - start, (end - before) / 2)
    last = np.where(_same(after, end), end - start, (after - start) / 2)
    at = np.linspace(0, 1, steps, endpoint=False)[:, None, None]
    curve = (
        (2 * at**3 - 3 * at**2 + 1) * start
        + (at**3 - 2 * at**2 + at) * first
        + (3 * at**2 - 2 * at**3) * end
        + (at**3 - at**2) * last
    )
    parts = np.swapaxes(curve[:, ~_same(start, end)[:, 0]], 0, 1)
    return np.vstack([parts.reshape(-1, 2), points[-1:]])


def _same(points: Stroke, others: Stroke) -> npt.NDArray[np.bool_]:
    """Return which points (n, 2) equal the others, shape (n, 1)."""
    return np.asarray((points == others).all(axis=1, keepdims=True))


class Writer:
    """One writer: the forms they use for each sign, their slant, and their unsteadiness.

    ``oddness`` is the constant displacement of each sign's points from the usual ones, as a share of its size.
    """

    def __init__(self, rng: np.random.Generator, wildness: float = 1.0, oddness: float = 0.0) -> None:
        self._rng = rng
        self._wild = wildness * rng.uniform(0.5, 1.4)
        self._slant = rng.normal(-0.12, 0.22) * wildness
        self._form = {sign: int(rng.integers(len(forms))) for sign, forms in FORMS.items()}
        self._height = rng.uniform(0.36, 0.8)
        self._width = rng.uniform(0.85, 1.2)
        self._odd = {
            sign: [[rng.normal(0, oddness, (len(points), 2)) for points in form] for form in forms]
            for sign, forms in (FORMS.items() if oddness else ())
        }

    @property
    def steadiness(self) -> str:
        """How steadily they write; at a wildness of 1, about a third of writers each are steady, usual and wild."""
        return "steady" if self._wild < 0.8 else "usual" if self._wild < 1.1 else "wild"

    def sign(self, name: str, faithful: float = 0.6) -> list[Stroke]:
        """Return a sign about (0, 0), with probability ``faithful`` in the writer's usual form."""
        rng = self._rng
        forms = FORMS[name]
        number = self._form[name] if rng.random() < faithful else int(rng.integers(len(forms)))
        form = forms[number]
        odd = self._odd[name][number] if self._odd else [np.zeros((len(points), 2)) for points in form]
        height = np.clip(self._height * rng.normal(1, 0.1), 0.3, 0.95)
        narrow, wide = _USUAL_WIDTH.get(name, (0.45, 0.95))
        width = height * min(rng.uniform(narrow, wide) * self._width, 1.2)
        slant = self._slant + rng.normal(0, 0.1)
        turn = rng.normal(0, 0.1) * self._wild
        spread = 0.045 * self._wild
        bend = rng.normal(0, 0.06 * self._wild, (2, 2, 2))
        middle = np.array([rng.normal(0, 0.07), rng.normal(0, 0.06)])
        strokes = []
        for points, always in zip(form, odd, strict=True):
            given = np.array(points, dtype=np.float64)
            moved = given.copy()
            again = [False, *_same(given[1:], given[:-1])[:, 0]]
            for index, same in enumerate(again):
                moved[index] = moved[index - 1] if same else given[index] + always[index] + rng.normal(0, spread, 2)
            curve = smooth(moved)
            curve = curve[round(len(curve) * rng.uniform(0, 0.06)) : round(len(curve) * rng.uniform(0.93, 1.0))]
            # a smooth warp of the whole sign
            wave = np.sin(math.pi * curve)
            curve = curve + wave @ bend[0] + (wave * wave[:, ::-1]) @ bend[1]
            x = (curve[:, 0] - 0.5) * width
            y = (curve[:, 1] - 0.5) * height
            x = x - slant * y
            cosine, sine = math.cos(turn), math.sin(turn)
            strokes.append(np.column_stack([cosine * x - sine * y, sine * x + cosine * y]) + middle)
        limit = 0.62
        return [np.clip(stroke, -limit, limit) for stroke in strokes]

    def blot(self) -> list[Stroke]:
        """Return a mark that is not a sign: a scribble, signs written over each other, or one struck out."""
        rng = self._rng
        kind = rng.random()
        if kind < 0.45:
            count = int(rng.integers(7, 22))
            across = rng.uniform(0.15, 0.42)
            up = rng.uniform(0.15, 0.4)
            x = rng.uniform(-across, across, count)
            if rng.random() < 0.5:
                x = np.where(np.arange(count) % 2 == 0, -across, across) + rng.normal(0, 0.06, count)
                y = np.linspace(-up, up, count) + rng.normal(0, 0.03, count)
            else:
                y = rng.uniform(-up, up, count)
            turn = rng.uniform(0, math.pi)
            points = np.column_stack([x, y]) @ np.array(
                [[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]
            )
            return [smooth(points, 6)]
        if kind < 0.75:
            # a 1 can disappear in the sign that it is written over
            names = rng.choice(list("234567X"), 2, replace=False)
            strokes = self.sign(str(names[0])) + self.sign(str(names[1]))
            if rng.random() < 0.5:
                strokes += self.sign("X")
            return strokes
        # a single line may look like a 7's bar or a slash through a 0
        lines = self._lines_across(int(rng.integers(2, 5)))
        return self.sign(str(rng.choice(list("023456789")))) + lines

    def _lines_across(self, count: int) -> list[Stroke]:
        """Return nearly parallel lines that strike a sign out."""
        rng = self._rng
        angle = rng.uniform(-0.8, 0.8)
        lines = []
        for off in np.linspace(-1, 1, count) * rng.uniform(0.05, 0.2):
            half = rng.uniform(0.25, 0.45) * np.array([math.cos(angle), math.sin(angle)])
            middle = np.array([rng.normal(0, 0.05), off + rng.normal(0, 0.03)])
            lines.append(np.array([middle - half, middle + half + rng.normal(0, 0.04, 2)]))
        return lines


def loop_around(mask: BoolImage, rng: np.random.Generator) -> list[Stroke]:
    """Return a loop around the cells of a mask (rows, columns), in cells from the mask's upper left corner.

    It runs inside the cells' outer borders, on them or a little beyond, with rounder or sharper corners.
    """
    scale, pad = 16, 16  # pixels per cell, and around the mask
    inset = rng.uniform(-0.06, 0.2) if rng.random() < 0.8 else rng.uniform(0.05, 0.12)
    big = np.pad(np.repeat(np.repeat(mask.astype(np.uint8), scale, axis=0), scale, axis=1), pad)
    across = 2 * round(abs(inset) * scale) + 1
    kernel = np.ones((across, across), dtype=np.uint8)
    within = cv2.erode(big, kernel) if inset > 0 else cv2.dilate(big, kernel)
    outlines, _ = cv2.findContours(within, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not outlines:
        return []
    outline = max(outlines, key=len)[:, 0].astype(np.float64)
    if len(outline) < 12:
        return []
    outline = np.roll(outline, int(rng.integers(len(outline))), axis=0)
    rounding = rng.uniform(0.8, 5.0)
    closed = np.vstack([outline] * 3)
    reach = int(3 * rounding) + 1
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / rounding) ** 2)
    weights /= weights.sum()
    curve = np.column_stack([np.convolve(closed[:, axis], weights, "same") for axis in (0, 1)])
    curve = curve[len(outline) : 2 * len(outline)]
    wobble = rng.uniform(0, 0.035) * scale
    phase = np.linspace(0, 2 * math.pi, len(curve), endpoint=False)
    for axis in (0, 1):
        for wave in (2, 3, 5, 8, 13):
            curve[:, axis] += wobble * rng.normal(0, 0.5) * np.sin(wave * phase + rng.uniform(0, 6.3))
    ends = int(rng.integers(-2, 6))
    curve = np.vstack([curve, curve[: ends + 1]]) if ends >= 0 else curve[:ends]
    return [(curve - pad + 0.5) / scale]
