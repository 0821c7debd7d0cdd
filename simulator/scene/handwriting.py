"""Random handwriting of many people: strokes of digits, crosses, blots and loops.

A stroke is an array of points (n, 2), x to the right and y down, in cells of the grid.
"""

import math
from collections.abc import Mapping
from types import MappingProxyType

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, FloatArray

Form = tuple[tuple[tuple[float, float], ...], ...]
"""A sign's strokes, each through its points (x, y), in the unit square."""


def _form(text: str) -> Form:
    """Parse strokes separated by ``|``, each of points ``x,y`` in hundredths."""
    return tuple(
        tuple((int(x) / 100, int(y) / 100) for x, y in (point.split(",") for point in stroke.split()))
        for stroke in text.split("|")
    )


_WRITTEN = {
    "1": (
        "60,0 45,50 40,100",
        "50,0 50,50 50,100",
        "50,0 50,50 50,100",
        "10,28 40,12 60,0 60,0 58,50 55,100",
        "25,20 60,0 60,0 60,100 | 20,100 100,100",
        "50,0 50,100 | 10,100 90,100",
        "0,50 35,22 80,0 80,0 78,50 75,100",
    ),
    "2": (
        "20,15 50,0 78,20 65,60 30,97 5,87 15,66 45,66 80,88",
        "10,30 35,2 72,12 70,45 40,85 12,98 10,80 35,74 65,92 90,80",
        "25,20 50,5 70,20 55,55 20,92 20,92 60,90 100,100",
        "10,25 30,2 70,2 88,25 70,55 10,100 10,100 95,97",
        "12,22 35,0 75,3 85,30 60,65 25,93 8,93 12,78 35,82 60,97 95,92",
        "15,10 60,0 85,20 55,60 5,100 5,100 90,100",
        "5,35 20,10 55,0 75,20 55,60 12,95 2,85 20,72 50,85 98,98",
        "20,5 75,0 90,12 75,40 10,95 10,95 90,88",
    ),
    "3": (
        "20,5 60,0 75,18 45,45 45,45 70,60 60,90 30,100 0,95",
        "30,10 65,2 80,20 60,45 50,50 75,65 70,90 35,100 5,88 10,80",
        "12,12 50,0 85,20 65,42 40,47 40,47 75,52 92,75 60,98 10,90",
        "10,3 85,3 85,3 42,40 42,40 85,52 88,80 50,100 8,88",
        "10,10 55,0 80,20 50,45 85,62 80,90 40,100 8,90",
        "15,10 60,0 82,20 60,42 38,50 42,40 70,50 88,72 60,100 10,92",
    ),
    "4": (
        "30,15 12,55 12,55 92,50 | 60,0 50,100",
        "10,8 15,42 45,50 80,30 90,0 90,0 75,50 50,100",
        "40,20 10,60 10,60 90,58 | 55,30 55,100",
        "25,0 20,35 35,48 70,42 | 75,5 62,50 55,100",
        "20,0 12,50 12,55 90,52 | 75,5 70,100",
        "15,0 12,50 12,50 95,50 | 80,0 80,100",
        "65,0 5,65 5,65 95,65 | 65,0 65,100",
        "75,100 70,0 70,0 5,62 5,62 95,60",
        "12,2 10,38 35,52 75,42 85,30 | 88,0 80,100",
        "30,5 8,42 20,55 80,46 | 85,0 70,100",
        "35,0 5,55 5,55 95,50 | 62,28 52,100",
        "10,5 10,50 50,56 85,40 90,0 90,0 82,50 78,100",
    ),
    "5": (
        "75,0 40,5 25,30 30,45 70,60 72,85 40,100 10,95",
        "100,0 45,5 45,5 30,42 30,42 65,50 70,80 35,100 0,92",
        "90,2 25,2 25,2 18,45 18,45 60,38 90,65 65,97 8,93",
        "25,5 18,45 18,45 60,40 88,68 55,100 8,90 | 25,5 92,2",
        "88,5 40,6 18,25 40,45 80,62 75,90 45,100 8,92",
        "20,12 22,42 60,42 82,70 55,98 10,98 | 30,4 100,0",
    ),
    "6": (
        "25,0 15,50 15,88 50,100 85,80 62,60 20,76",
        "60,0 30,30 15,70 40,100 75,85 60,62 25,75",
        "70,0 30,25 8,65 30,98 75,95 88,70 60,52 20,65",
        "55,0 25,40 12,75 35,100 70,90 65,65 35,60 15,80",
        "85,10 55,0 20,30 8,70 35,100 80,88 80,62 45,52 12,72",
        "35,0 10,50 10,85 45,100 90,85 80,65 40,68 12,85",
    ),
    "7": (
        "0,10 50,12 95,5 95,5 70,45 55,80 50,100",
        "5,20 35,12 80,15 85,30 75,65 72,100",
        "5,5 90,5 90,5 60,50 30,100 | 15,55 85,45",
        "5,5 92,3 92,3 40,100",
        "5,5 92,3 92,3 40,100 | 30,50 85,48",
        "8,20 8,4 8,4 92,4 92,4 55,50 40,100",
        "5,12 30,2 88,4 75,45 50,100",
        "2,25 15,2 55,10 95,0 95,0 60,50 45,100",
        "2,15 40,5 90,10 90,10 80,50 75,100 | 50,55 100,50",
    ),
    "X": (
        "5,0 50,50 95,100 | 95,0 50,50 5,100",
        "0,10 55,50 100,95 | 90,0 45,45 10,100",
    ),
    "0": (
        "50,0 10,40 20,90 60,100 90,60 80,15 45,0",
        "50,0 15,20 8,60 40,100 85,80 92,35 60,2",
        "65,5 30,2 5,50 35,100 80,85 90,35 55,0 40,10",
        "35,10 5,55 45,100 95,55 60,2 30,15",
        "50,0 10,40 30,95 75,90 90,40 50,0 | 80,10 20,90",
    ),
    "8": (
        "75,10 30,5 25,30 75,65 60,100 20,90 30,60 75,30 72,8",
        "50,47 20,25 50,0 80,22 50,47 10,75 50,100 90,75 50,47",
        "50,0 20,22 50,46 80,22 50,0 | 50,46 10,75 50,100 90,75 50,46",
        "90,5 45,0 20,20 50,45 70,75 40,100 15,80 45,50 95,10",
    ),
    "9": (
        "85,25 50,0 15,25 45,50 85,28 85,28 80,100",
        "85,20 45,0 15,28 50,50 85,25 75,75 35,100",
        "90,12 50,0 12,20 30,45 75,40 90,10 90,10 70,55 60,100",
        "80,15 40,0 12,25 40,48 80,30 | 85,2 80,50 75,100",
        "80,10 35,2 15,30 50,48 85,20 88,60 65,97 20,90",
        "60,2 20,12 20,40 65,40 80,10 60,2 85,15 60,60 20,100",
    ),
}

_WRITTEN_IN_EUROPE = {
    "1": (
        "0,45 62,0 62,0 60,100",
        "10,38 45,18 70,0 70,0 50,100",
        "0,62 70,0 70,0 68,100",
        "15,30 60,0 60,0 60,100 | 15,98 100,100",
        "0,28 30,30 62,0 62,0 58,50 60,100",
        "5,35 55,0 80,8 72,50 60,100",
    ),
    "2": (
        "10,22 45,0 85,18 65,55 25,92 2,90 15,72 45,80 98,98",
        "10,18 50,0 80,22 45,65 10,95 0,82 25,70 60,95 95,85",
        "15,15 50,0 82,18 50,62 5,98 5,98 95,95",
    ),
    "4": (
        "45,0 5,62 5,62 95,58 | 68,30 58,100",
        "30,0 8,52 8,52 92,42 | 75,12 50,100",
        "55,0 0,70 0,70 100,68 | 70,40 68,100",
        "25,0 10,45 30,58 75,40 | 85,5 55,55 45,100",
    ),
    "7": (
        "5,14 8,4 8,4 95,2 95,2 58,52 40,100 | 15,54 92,47",
        "2,20 22,2 50,10 92,2 92,2 60,50 45,100 | 12,56 88,48",
        "5,5 90,3 90,3 62,50 50,100 | 25,48 95,52",
        "5,18 5,3 5,3 95,3 95,3 50,60 40,100",
    ),
    "9": (
        "82,22 48,0 12,22 42,50 80,25 80,25 78,78 45,100 5,88",
        "78,10 35,2 15,28 45,48 80,15 82,60 55,100 10,95",
        "70,5 25,5 15,40 60,48 85,8 85,8 80,70 35,100",
    ),
}
_NO_SIGN = {
    "-": ("0,50 100,50", "0,55 100,48"),
    "+": ("50,0 50,100 | 0,50 100,50",),
    "=": ("0,30 100,30 | 0,70 100,70",),
    "A": ("0,100 50,0 100,100 | 20,65 80,65",),
    "E": ("90,0 10,0 10,0 10,100 10,100 90,100 | 10,50 75,50",),
    "F": ("90,0 10,0 10,0 10,100 | 10,48 75,48",),
    "H": ("5,0 5,100 | 95,0 95,100 | 5,50 95,50",),
    "K": ("10,0 10,100 | 90,0 10,55 10,55 95,100",),
    "M": ("0,100 10,0 10,0 50,60 50,60 90,0 90,0 100,100",),
    "N": ("5,100 5,0 5,0 95,100 95,100 95,0",),
    "R": ("10,100 10,0 70,5 80,30 15,50 15,50 95,100",),
    "W": ("0,0 25,100 25,100 50,30 50,30 75,100 75,100 100,0",),
    "a": ("85,30 40,20 10,60 35,98 85,40 85,30 85,30 85,85 100,98",),
    "e": ("10,60 90,50 60,15 15,40 20,85 60,100 95,85",),
    "k": ("15,0 15,100 | 75,40 20,68 20,68 85,100",),
    "n": ("10,30 15,100 15,100 30,45 70,35 80,60 85,100",),
}


def _forms(written: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[Form, ...]]:
    return MappingProxyType({sign: tuple(_form(text) for text in forms) for sign, forms in written.items()})


FORMS = _forms(_WRITTEN)
"""The forms of each sign; a point given twice is a corner."""
EUROPEAN_FORMS = _forms(_WRITTEN_IN_EUROPE)
"""Those of hands that learned to write in Europe, where they differ: a 1 with a long flag, a barred 7, a hooked 9."""
OTHER_FORMS = _forms(_NO_SIGN)
"""Forms of marks that are no sign of a sheet: letters, a minus."""

Stroke = FloatArray

_USUAL_WIDTH: Mapping[str, tuple[float, float]] = MappingProxyType({"1": (0.05, 0.45), "X": (0.55, 1.2)})
"""Range of a sign's width, as a share of its height."""
_EUROPEAN_WIDTH: Mapping[str, tuple[float, float]] = MappingProxyType({**_USUAL_WIDTH, "1": (0.3, 0.75)})
_EUROPEANS = 0.35
"""Share of the writers who use the European forms."""


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
    """One writer: the forms they use for each sign, European ones or not, their slant, and their unsteadiness.

    ``oddness`` is the constant displacement of each sign's points from the usual ones, as a share of its size.
    """

    def __init__(self, rng: np.random.Generator, wildness: float = 1.0, oddness: float = 0.0) -> None:
        self._rng = rng
        self._wild = wildness * rng.uniform(0.5, 1.4)
        self._slant = rng.normal(-0.12, 0.22) * wildness
        is_european = rng.random() < _EUROPEANS
        self._forms = {**FORMS, **(EUROPEAN_FORMS if is_european else {}), **OTHER_FORMS}
        self._usual_width = _EUROPEAN_WIDTH if is_european else _USUAL_WIDTH
        self._form = {sign: int(rng.integers(len(forms))) for sign, forms in self._forms.items()}
        self._height = rng.uniform(0.36, 0.8)
        self._width = rng.uniform(0.85, 1.2)
        self._odd = {
            sign: [[rng.normal(0, oddness, (len(points), 2)) for points in form] for form in forms]
            for sign, forms in (self._forms.items() if oddness else ())
        }

    @property
    def steadiness(self) -> str:
        """How steadily they write; at a wildness of 1, about a third of writers each are steady, usual and wild."""
        return "steady" if self._wild < 0.8 else "usual" if self._wild < 1.1 else "wild"

    def sign(self, name: str, faithful: float = 0.6) -> list[Stroke]:
        """Return a sign about (0, 0), with probability ``faithful`` in the writer's usual form."""
        rng = self._rng
        forms = self._forms[name]
        number = self._form[name] if rng.random() < faithful else int(rng.integers(len(forms)))
        form = forms[number]
        odd = self._odd[name][number] if self._odd else [np.zeros((len(points), 2)) for points in form]
        height = np.clip(self._height * rng.normal(1, 0.1), 0.3, 0.95)
        narrow, wide = self._usual_width.get(name, (0.45, 0.95))
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
        """Return a mark that is not a sign: a scribble, a letter, signs written over each other, or one struck out."""
        rng = self._rng
        kind = rng.random()
        if kind < 0.35:
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
        if kind < 0.6:
            return self.sign(str(rng.choice(list(OTHER_FORMS))))
        if kind < 0.8:
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
