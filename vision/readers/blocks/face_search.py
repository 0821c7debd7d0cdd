"""Searching a whole picture for faces: a coarse search near every place, then a fine fit of what was found.

The coarse search works on patches around each place, sampled at a pixel per millimetre and then halved. The fine fit
samples them again, rotated upright, so that one bank of upright masks serves all rotations. The square's edges give the
rotation of a block; each symbol is judged at those rotations. ``faces.fit_face`` does the same for a single face.

The numbers were set by hand on the virtual table's and the ray-traced pictures; ``benchmarks/stress.py`` shows the
effect of a change. Correlations range from -1 to 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, FloatImage, Image, IndexArray
from vision.layout.pieces import Surface
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.blocks.faces import (
    EDGE_WEIGHT,
    LARGEST_TURN_DEG,
    TURNS_DEG,
    UPRIGHT_WEIGHT,
    FaceFit,
    edge_clarity,
    face_and_ink,
    relative_clarity,
    view_weights,
)
from vision.readers.blocks.symbols import TemplateBank, correlations, peak_between, windows_of
from vision.sampling import PlaneGrid, linear_light, sample

COARSE_PX_PER_MM, FINE_PX_PER_MM = 0.75, 1.5
"""Scales of the fine fit's two passes, in pixels per millimetre. Higher: more exact centres, but slower."""
COARSE_REACH_PX, FINE_REACH_PX = 2, 1
"""Largest shift tried in each pass, across and down, in pixels of its scale. Larger: slower."""
COARSE_BLURS_PX, FINE_BLURS_PX = (0.6,), (0.75, 2.0)
"""Standard deviations of the masks' blur in each pass, in pixels of its scale. Larger: for pictures out of focus. More:
slower.
"""
TURNS_TRIED, TURNS_KEPT = 4, 2
"""Maximum number of a block's rotations in the first pass, upright included, and in the second. Higher: slower."""
CLEARLY_WORSE = 0.08
"""How far below the best rotation's score, in units of correlation, a rotation may be to get the second pass. Higher:
slower.
"""
LEAST_COARSE_FIT = 0.64
"""Minimum correlation in the first pass. Higher: faster, but dim blocks are missed."""
EDGES_REACH = 0.65
"""Distance from a face's centre, in sides, of the farthest point at which its edges are measured."""
EDGES_RIM_MM = 4
"""Width of the rim around these points that their blur and gradients need."""
HALVED_PX_PER_MM = 0.5
"""Scale of the coarse search, in pixels per millimetre: half that of the patches."""
REACH_PX = 4
"""Distance from its place's centre, across and down, up to which a face is searched for, in pixels of that scale.
Larger: slower.
"""
BLUR_PX = 0.5
"""Standard deviation of the masks' blur, in pixels of that scale. Larger: for pictures out of focus."""


@dataclass(frozen=True, eq=False)
class Patches:
    """Square patches of linear light, (patches, side, side, 3), one pixel per millimetre, +x to the right and +y up.

    ``middles_mm`` are their centres, (patches, 2).
    """

    middles_mm: FloatArray
    light: FloatImage


@dataclass(frozen=True, eq=False)
class RoughFace:
    """A coarse detection of a face near a place: its centre in the world, its correlation (-1 to 1), and the linear
    light of face and ink, blue-green-red.
    """

    place: str
    x_mm: float
    y_mm: float
    fit: float
    face: FloatArray
    ink: FloatArray


def patches_around(image: Image, grid: PlaneGrid, wanted_mm: FloatArray, half_mm: int) -> Patches:
    """Sample the plane of a grid in a picture around some points, (n, 2), to the nearest millimetre; at least one."""
    # patches lie on the grid's own points, so nothing is interpolated twice
    corners = np.round((wanted_mm - [grid.left_mm, grid.far_mm]) * [1, -1] + 0.5).astype(int)
    maps = [grid.around(row, column, half_mm) for column, row in corners.tolist()]
    middles = (corners - 0.5) * [1, -1] + [grid.left_mm, grid.far_mm]
    light = linear_light(sample(image, np.concatenate(maps)))
    return Patches(middles, light.reshape(len(maps), 2 * half_mm, 2 * half_mm, -1))


class RoughFinder:
    """Finds coarse detections of one piece set's faces."""

    def __init__(self, looks: BlockAppearance, face_mm: float) -> None:
        self._bank = TemplateBank.of(looks.masks, face_mm, HALVED_PX_PER_MM, (BLUR_PX,))
        self._weights = view_weights(looks)

    def find(
        self, image: Image, grid: PlaneGrid, surface: Surface, places: Sequence[str], least_fit: float
    ) -> list[RoughFace]:
        """Return the best face at most 8 mm away from each place across and down, if its correlation suffices.

        ``grid`` is the plane of the tops in the picture.
        """
        count, inner = len(places), self._bank.side_px
        if count == 0:
            return []
        # the face's centre may be REACH_PX away from the patch's
        side = inner + 2 * REACH_PX
        half_mm = side + side % 2
        patches = patches_around(image, grid, np.array([surface.centre_mm(place) for place in places]), half_mm)
        halved: FloatImage = np.asarray(
            cv2.resize(stack_vertically(patches.light), (half_mm, count * half_mm), interpolation=cv2.INTER_AREA),
            dtype=np.float32,
        )
        light = halved.reshape(count, half_mm, half_mm, 3)
        views = len(self._weights)
        shown = cv2.transform(halved, self._weights).reshape(count, half_mm, half_mm, views)[:, :side, :side]
        rows = np.ascontiguousarray(shown.transpose(0, 3, 1, 2), dtype=np.float32).reshape(-1, side, side)
        scores = correlations(windows_of(rows, inner), self._bank.rows)
        scores = scores.reshape(count, views, *scores.shape[1:])
        best = scores.reshape(count, -1).argmax(axis=1)
        fits = scores.reshape(count, -1)[np.arange(count), best]
        wheres = np.stack(np.unravel_index(best, scores.shape[1:]), axis=1).tolist()
        found = []
        first_mm = inner / 2 / HALVED_PX_PER_MM - half_mm
        for index, (fit, (view, down, across, template)) in enumerate(zip(fits.tolist(), wheres, strict=True)):
            if fit < least_fit:
                continue
            window = light[index, down : down + inner, across : across + inner]
            face, ink = face_and_ink(window, self._bank.masks[template])
            off_down, off_across = peak_between(scores[index, view, :, :, template], down, across)
            x_mm = float(patches.middles_mm[index, 0] + first_mm + (across + off_across) / HALVED_PX_PER_MM)
            y_mm = float(patches.middles_mm[index, 1] - first_mm - (down + off_down) / HALVED_PX_PER_MM)
            found.append(RoughFace(places[index], x_mm, y_mm, fit, face, ink))
        return found


@dataclass(frozen=True, eq=False)
class _Upright:
    """Detections sampled upright: by row its detection, rotation and view; ``light`` is (rows, side, side, 3)."""

    sight: IndexArray
    degrees: FloatArray
    middles_mm: FloatArray
    light: FloatImage


class CloseFitter:
    """Fits the faces of one piece set at fine scale."""

    def __init__(self, looks: BlockAppearance, face_mm: float) -> None:
        self._looks = looks
        self._face_mm = face_mm
        self._coarse = TemplateBank.of(looks.masks, face_mm, COARSE_PX_PER_MM, COARSE_BLURS_PX)
        self._fine = TemplateBank.of(looks.masks, face_mm, FINE_PX_PER_MM, FINE_BLURS_PX)
        self._columns = {
            blur: {symbol: self._fine.columns_of(symbol, blur) for symbol in looks.masks} for blur in FINE_BLURS_PX
        }
        self._weights = view_weights(looks)
        self._colours = {name: index for index, name in enumerate(looks.colours)}

    def fit(
        self,
        image: Image,
        grid: PlaneGrid,
        sights: Sequence[RoughFace],
        colours: Sequence[str | None],
    ) -> list[FaceFit | None]:
        """Refine each coarse detection; ``None`` where the fine fit finds no face.

        ``grid`` is the plane of the tops in the picture. ``colours`` gives for each detection the known colour in whose
        view ink is searched for.
        """
        if not sights:
            return []
        every = range(len(self._weights))
        views = [every if colour is None else (self._colours[colour],) for colour in colours]
        clarity = self._clarity(image, grid, sights)
        turns = self._rotations_to_try(clarity)
        tried = self._sample_upright(
            image,
            grid,
            [
                (index, degrees, (sight.x_mm, sight.y_mm))
                for index, (sight, allowed) in enumerate(zip(sights, turns, strict=True))
                for degrees in allowed
            ],
            self._coarse,
            COARSE_REACH_PX,
        )
        coarse = self._best_correlations(tried, views, self._coarse).max(axis=-1)
        kept = self._best_rotations(tried, coarse, self._rotation_bonuses(tried, clarity))
        fits: list[FaceFit | None] = [None] * len(sights)
        if kept:
            close = self._sample_upright(image, grid, kept, self._fine, FINE_REACH_PX)
            fine = self._best_correlations(close, views, self._fine)
            bonus = self._rotation_bonuses(close, clarity)
            for index in dict.fromkeys(index for index, _, _ in kept):
                fits[index] = self._best_fit(index, close, fine, bonus, clarity[index])
        return fits

    def _clarity(self, image: Image, grid: PlaneGrid, sights: Sequence[RoughFace]) -> FloatArray:
        """Return the strength of a square's edges at each rotation, relative to the median; shape (sights, turns)."""
        wanted = np.array([(sight.x_mm, sight.y_mm) for sight in sights])
        half_mm = math.ceil(self._face_mm * EDGES_REACH) + EDGES_RIM_MM
        patches = patches_around(image, grid, wanted, half_mm)
        # brightness as seen, not linear light: edges in the shade count as much as edges in the sun
        seen = cv2.sqrt(stack_vertically(patches.light))
        smooth = cv2.GaussianBlur(seen, (0, 0), 0.6)
        all_channels = np.ones((1, 3), dtype=np.float32)
        across = np.asarray(cv2.transform(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 1, 0)), all_channels), dtype=np.float32)
        down = np.asarray(cv2.transform(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 0, 1)), all_channels), dtype=np.float32)
        middles = (wanted - patches.middles_mm) * [1, -1] + half_mm - 0.5
        middles[:, 1] += 2 * half_mm * np.arange(len(sights))
        clarity = edge_clarity(across, down, middles, self._face_mm)
        return relative_clarity(clarity)

    @staticmethod
    def _rotations_to_try(clarity: FloatArray) -> list[list[float]]:
        """Return the rotations of each detection to try: upright, and those with the strongest edges."""
        allowed = np.where(np.abs(TURNS_DEG) <= LARGEST_TURN_DEG, clarity, -np.inf)
        strongest = np.argsort(-allowed, axis=1, kind="stable")[:, : TURNS_TRIED - 1]
        return [sorted({0.0, *(TURNS_DEG[index] for index in row)}) for row in strongest.tolist()]

    @staticmethod
    def _rotation_bonuses(turned: _Upright, clarity: FloatArray) -> FloatArray:
        """Return the score added to each row for the edges at its rotation, less a penalty for not being upright."""
        columns = [TURNS_DEG.index(degrees) for degrees in turned.degrees]
        seen = np.log(clarity[turned.sight, columns])
        return np.asarray(EDGE_WEIGHT * seen - UPRIGHT_WEIGHT * np.abs(turned.degrees), dtype=np.float64)

    def _sample_upright(
        self,
        image: Image,
        grid: PlaneGrid,
        wanted: Sequence[tuple[int, float, tuple[float, float]]],
        bank: TemplateBank,
        reach_px: int,
    ) -> _Upright:
        """Sample patches of (detection, rotation, centre) so that a face with that rotation is upright."""
        sight = np.array([index for index, _, _ in wanted], dtype=np.intp)
        degrees = np.array([turn for _, turn, _ in wanted], dtype=np.float64)
        middles = np.array([middle for _, _, middle in wanted], dtype=np.float64).reshape(-1, 2)
        side = bank.side_px + 2 * reach_px
        steps = (np.arange(side, dtype=np.float32) - np.float32((side - 1) / 2)) / np.float32(bank.px_per_mm)
        cosine, sine = (
            np.asarray(part(np.deg2rad(degrees)), dtype=np.float32)[:, None, None] for part in (np.cos, np.sin)
        )
        right, up = steps[None, None, :], -steps[None, :, None]
        x = middles[:, 0].astype(np.float32)[:, None, None] + right * cosine - up * sine
        y = middles[:, 1].astype(np.float32)[:, None, None] + right * sine + up * cosine
        seen = sample(image, grid.pixel_map(x.reshape(-1, side), y.reshape(-1, side)))
        light = linear_light(seen)
        return _Upright(sight, degrees, middles, light.reshape(len(wanted), side, side, 3))

    def _best_correlations(self, turned: _Upright, views: Sequence[Sequence[int]], bank: TemplateBank) -> FloatImage:
        """Return the best correlation over each detection's views: shape (rows, down, across, templates)."""
        rows, side = turned.light.shape[:2]
        shown = cv2.transform(stack_vertically(turned.light), self._weights).reshape(
            rows, side, side, len(self._weights)
        )
        found: list[FloatImage] = []
        for number in range(max(len(views[index]) for index in turned.sight)):
            chosen = [views[index][min(number, len(views[index]) - 1)] for index in turned.sight]
            seen = np.asarray(shown[np.arange(rows), :, :, chosen], dtype=np.float32)
            found.append(correlations(windows_of(seen, bank.side_px), bank.rows))
        return functools.reduce(np.maximum, found)

    @staticmethod
    def _best_rotations(
        tried: _Upright, coarse: FloatImage, bonus: FloatArray
    ) -> list[tuple[int, float, tuple[float, float]]]:
        """Return the best rotations of each detection, each with its best centre."""
        rows, _, columns = coarse.shape
        flat = coarse.reshape(rows, -1)
        best = flat.argmax(axis=1)
        judged = flat[np.arange(rows), best] + bonus
        kept = []
        for index in range(int(tried.sight.max()) + 1):
            own = np.nonzero(tried.sight == index)[0]
            if flat[own, best[own]].max() < LEAST_COARSE_FIT:
                continue
            ranked = own[np.argsort(-judged[own])]
            for row in ranked[:TURNS_KEPT]:
                if judged[row] < judged[ranked[0]] - CLEARLY_WORSE:
                    break
                down, across = divmod(int(best[row]), columns)
                kept.append(
                    (
                        index,
                        float(tried.degrees[row]),
                        _window_centre_mm(tried, int(row), down, across, COARSE_REACH_PX, COARSE_PX_PER_MM),
                    )
                )
        return kept

    def _best_fit(
        self, index: int, close: _Upright, fine: FloatImage, bonus: FloatArray, clarity: FloatArray
    ) -> FaceFit:
        own = np.nonzero(close.sight == index)[0]
        judged = fine[own] + bonus[own, None, None, None].astype(np.float32)
        at, down, across, template = np.unravel_index(int(judged.argmax()), judged.shape)
        # all symbols in one picture are equally out of focus
        by_template = judged.reshape(-1, judged.shape[-1]).max(axis=0).tolist()
        columns_of = self._columns[self._fine.blurs_px[template]]
        scores = {symbol: max(by_template[column] for column in columns) for symbol, columns in columns_of.items()}
        row = int(own[at])
        side = self._fine.side_px
        window = close.light[row, down : down + side, across : across + side]
        face, ink = face_and_ink(window, self._fine.masks[template])
        x_mm, y_mm = _window_centre_mm(close, row, int(down), int(across), FINE_REACH_PX, FINE_PX_PER_MM)
        degrees = float(close.degrees[row])
        return FaceFit(
            self._fine.symbols[template],
            self._fine.quarters[template],
            x_mm,
            y_mm,
            degrees,
            float(fine[row, down, across, template]),
            face,
            ink,
            scores,
            float(clarity[TURNS_DEG.index(degrees)]),
        )


def _window_centre_mm(
    turned: _Upright, row: int, down: int, across: int, reach_px: int, px_per_mm: float
) -> tuple[float, float]:
    """Return the world position of the centre of a window at an offset in pixels from its patch's centre."""
    right, up = (across - reach_px) / px_per_mm, (reach_px - down) / px_per_mm
    angle = math.radians(turned.degrees[row])
    cosine, sine = math.cos(angle), math.sin(angle)
    x, y = turned.middles_mm[row].tolist()
    return x + right * cosine - up * sine, y + right * sine + up * cosine


def stack_vertically(patches: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Stack patches (n, rows, columns, ...) vertically into one picture."""
    return patches.reshape(patches.shape[0] * patches.shape[1], *patches.shape[2:])
