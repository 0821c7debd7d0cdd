"""Finding discs by their outlines: where all around a circle the inside is even and the outside is another colour.

Nothing is assumed of the board. A grain or a line crosses a circle here and there; a disc differs from what is around
it nearly everywhere. So the contrast that most of the outline surpasses tells one from the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, FloatArray, FloatImage, Image
from vision.layout.pieces import DiscPieces
from vision.readers.discs.appearance import colours_of
from vision.readers.discs.paper import PaperLight
from vision.readers.discs.shape import DiscShape
from vision.readers.protocols import SurfaceView
from vision.sampling import PixelMap, PlaneWindow, linear_light, plane_map, sample

PX_PER_MM = 1.0
MARGIN_MM = 24.0
SMOOTHING_MM = 0.8
DIRECTIONS = 20
INSIDE_SHARES = (0.5, 0.72, 0.9)
OUTSIDE_MM = (1.4, 3.0)
CLEAR_OF_BALL_MM = 0.8
REACH_MM = 8
COARSE_MM = 2
FLOORS = (0.02, 0.02, 0.02)
OUTLINE_SHARE = 0.15
FEWEST_SHARE = 0.4

FITTING_MOST = 8.0
SAME_SHARE = 0.9
HIDING_MM = 0.7
_TURNS = np.arange(DIRECTIONS) * 2 * np.pi / DIRECTIONS
_WAYS = np.column_stack([np.cos(_TURNS), np.sin(_TURNS)])

Numbers = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TopPlane:
    """The plane of the discs' tops as colours beside paper's, (rows, columns, 3), float32, one pixel a millimetre;
    ``paper`` is the linear light that was taken for white paper's, blue-green-red.
    """

    colours: FloatImage
    window: PlaneWindow
    paper: FloatArray

    def at(self, points_mm: FloatArray) -> FloatImage:
        """The colours, (..., 3), at points of the plane, (..., 2), interpolated."""
        column, row = self.window.to_pixels(points_mm[..., 0], points_mm[..., 1])
        flat = np.stack([column.ravel(), row.ravel()], axis=-1).astype(np.float32)
        found = cv2.remap(self.colours, flat.reshape(-1, 1, 2), None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)  # type: ignore[call-overload]
        return np.asarray(found, dtype=np.float32).reshape(*points_mm.shape[:-1], 3)

    def marked(self, mask: BoolImage, points_mm: FloatArray) -> BoolImage:
        """Which points of the plane, (..., 2), lie where a mask of it is set."""
        column, row = self.window.to_pixels(points_mm[..., 0], points_mm[..., 1])
        rows, columns = mask.shape
        return np.asarray(
            mask[
                np.clip(np.round(row), 0, rows - 1).astype(np.intp),
                np.clip(np.round(column), 0, columns - 1).astype(np.intp),
            ]
        )


@dataclass(frozen=True, eq=False)
class DiscFit:
    """The best circle near a place: its middle, the contrast of its outline in spreads of its inside, its colour.

    ``contrast`` leaves out what a ball would cover; ``contrast_without_ball`` does not.
    """

    x_mm: float
    y_mm: float
    contrast: float
    contrast_without_ball: float
    colour: FloatArray
    spread: FloatArray

    @property
    def centre_mm(self) -> FloatArray:
        """The middle, (x, y)."""
        return np.array([self.x_mm, self.y_mm])


class DiscFinder:
    """Looks for discs near the places of a surface, from one place of the camera."""

    def __init__(self, view: SurfaceView) -> None:
        camera, pose, surface = view.camera, view.pose, view.surface
        self._paper = PaperLight(camera, pose, view.markers)
        self.shape = DiscShape.of(DiscPieces.on(surface), pose, surface.height_mm)
        self._window = PlaneWindow.over(surface.bounds_mm.grown(MARGIN_MM), self.shape.top_mm, PX_PER_MM)
        self._map: PixelMap = plane_map(camera, pose, self._window)
        self._numbers = {place: number for number, place in enumerate(surface.places)}
        self._centres = np.array([surface.centre_mm(place) for place in surface.places])
        self._within = np.concatenate([share * self.shape.radius_mm * _WAYS for share in INSIDE_SHARES])
        self._inside, self._inside_kept, self._outside, self._outside_kept = self._samples()

    def hidden_share(self, middle_mm: FloatArray, nearer: Sequence[tuple[FloatArray, bool]]) -> float:
        """The share of a disc's top that nearer discs hide, each given by its middle and whether it has a ball."""
        points = middle_mm + self._within
        hidden = np.zeros(len(points), dtype=np.bool_)
        for other, ball in nearer:
            hidden |= self.shape.in_disc(points, other, HIDING_MM)
            if ball:
                hidden |= self.shape.in_ball(points, other, HIDING_MM)
        return float(hidden.mean())

    def hidden_by(self, nearer: Sequence[tuple[FloatArray, bool]]) -> BoolImage:
        """What of the plane nearer discs hide, a little more than that."""
        rows, columns = self._window.shape
        x = self._window.left_mm + (np.arange(columns) + 0.5) / PX_PER_MM
        y = self._window.far_mm - (np.arange(rows) + 0.5) / PX_PER_MM
        points = np.stack(np.meshgrid(x, y), axis=-1)
        hidden = np.zeros((rows, columns), dtype=np.bool_)
        for other, ball in nearer:
            hidden |= self.shape.in_disc(points, other, HIDING_MM)
            if ball:
                hidden |= self.shape.in_ball(points, other, HIDING_MM)
        return hidden

    def plane(self, image: Image) -> TopPlane:
        """Sample the plane of the tops."""
        paper = self._paper.of(image)
        sampled = sample(image, self._map)
        if sampled.ndim == 2:
            sampled = np.asarray(cv2.cvtColor(sampled, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
        light = cv2.GaussianBlur(linear_light(sampled), (0, 0), SMOOTHING_MM * PX_PER_MM)
        return TopPlane(colours_of(np.asarray(light, dtype=np.float32), paper), self._window, paper)

    def find(self, plane: TopPlane, places: list[str], nearer: BoolImage | None = None) -> dict[str, DiscFit]:
        """The best circle near each place; ``nearer`` marks what of the plane nearer pieces hide."""
        if not places:
            return {}
        chosen = np.array([self._numbers[place] for place in places])
        steps = np.arange(-REACH_MM, REACH_MM + 1, COARSE_MM)
        offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        offsets = offsets[np.hypot(*offsets.T) <= REACH_MM + COARSE_MM / 2]
        best = self._best(plane, chosen, np.broadcast_to(offsets, (len(chosen), *offsets.shape)), nearer)
        close = np.stack(np.meshgrid((-1, 0, 1), (-1, 0, 1)), axis=-1).reshape(-1, 2)
        found, contrast, colour, spread = self._best(plane, chosen, best[0][:, None] + close, nearer, last=True)
        _, without_ball, _, _ = self._best(plane, chosen, found[:, None] + close, nearer, whole=True)
        middles = self._centres[chosen] + found / PX_PER_MM
        return {
            place: DiscFit(
                float(middles[index, 0]),
                float(middles[index, 1]),
                float(contrast[index]),
                float(min(contrast[index], without_ball[index])),
                colour[index].astype(np.float64),
                spread[index].astype(np.float64),
            )
            for index, place in enumerate(places)
        }

    def _best(
        self,
        plane: TopPlane,
        chosen: Numbers,
        offsets: Numbers,
        nearer: BoolImage | None,
        *,
        whole: bool = False,
        last: bool = False,
    ) -> tuple[Numbers, Floats, Floats, Floats]:
        """Of offsets in pixels, (places, n, 2), the one of most contrast for each place: it, and what it gives.

        What a ball would cover is left out, unless ``whole``.
        """
        inside, inside_kept = self._taken(plane, self._inside, self._inside_kept, chosen, offsets, nearer, whole)
        outside, outside_kept = self._taken(plane, self._outside, self._outside_kept, chosen, offsets, nearer, whole)
        count = np.maximum(inside_kept.sum(axis=-1, keepdims=True), np.float32(1))
        colour = (inside * inside_kept[..., None]).sum(axis=-2) / count
        squares = (inside * inside * inside_kept[..., None]).sum(axis=-2) / count
        spread = np.sqrt(np.maximum(squares - colour * colour, np.float32(0)))
        scale = np.asarray(FLOORS, dtype=np.float32) + spread
        apart = ((outside - colour[..., None, :]) / scale[..., None, :]) ** 2
        contrasts = np.sqrt(apart.sum(axis=-1))
        # at each direction the farther of what is close to the outline, in its shadow, and what is beyond
        shape = (*contrasts.shape[:-1], len(OUTSIDE_MM), DIRECTIONS)
        kept = outside_kept.reshape(shape)
        around = np.where(kept > 0, contrasts.reshape(shape), np.float32(-1)).max(axis=-2)
        seen = (around >= 0).sum(axis=-1)
        ordered = np.sort(around, axis=-1)
        at = DIRECTIONS - seen + (OUTLINE_SHARE * seen).astype(np.intp)
        contrast = np.take_along_axis(ordered, np.minimum(at, DIRECTIONS - 1)[..., None], axis=-1)[..., 0]
        enough = (seen >= FEWEST_SHARE * DIRECTIONS) & (inside_kept.sum(axis=-1) >= 4)
        contrast = np.where(enough, contrast, np.float32(0))
        # the middle is told by all of the outline, of which no part counts for very much
        fitting = np.minimum(around, np.float32(FITTING_MOST)).sum(axis=-1)
        near_best = contrast >= SAME_SHARE * contrast.max(axis=1, keepdims=True)
        index = np.where(near_best, fitting, np.float32(-1)).argmax(axis=1) if last else contrast.argmax(axis=1)
        rows = np.arange(len(chosen))
        return offsets[rows, index], contrast.max(axis=1), colour[rows, index], spread[rows, index]

    def _taken(
        self,
        plane: TopPlane,
        samples: Numbers,
        kept: Floats,
        chosen: Numbers,
        offsets: Numbers,
        nearer: BoolImage | None,
        whole: bool,
    ) -> tuple[FloatImage, FloatImage]:
        """Colours (places, offsets, samples, 3) and weights (places, offsets, samples) of samples moved by offsets."""
        rows, columns = plane.colours.shape[:2]
        moved = samples[chosen][:, None] + (offsets[..., 0] - columns * offsets[..., 1])[..., None]
        np.clip(moved, 0, rows * columns - 1, out=moved)
        weights = np.broadcast_to(np.float32(1) if whole else kept[chosen][:, None], moved.shape)
        if nearer is not None:
            weights = np.where(nearer.reshape(-1)[moved], np.float32(0), weights)
        return plane.colours.reshape(-1, 3)[moved], weights

    def _samples(self) -> tuple[Numbers, Floats, Numbers, Floats]:
        """Flat indices of pixels inside and outside each place's circle, (places, n), and which of them count."""
        middles = self._centres[:, None]
        inside = middles + self._within
        reach = self.shape.reach(middles, _WAYS)[..., None]
        outside = np.concatenate([middles + (reach + beyond) * _WAYS for beyond in OUTSIDE_MM], axis=1)
        # a ball may be there or not, so what it would cover tells nothing of the disc
        inside_kept = ~self.shape.in_ball(inside, middles, CLEAR_OF_BALL_MM)
        outside_kept = ~self.shape.in_ball(outside, middles, CLEAR_OF_BALL_MM)
        return (
            self._flat(inside),
            inside_kept.astype(np.float32),
            self._flat(outside),
            outside_kept.astype(np.float32),
        )

    def _flat(self, points_mm: FloatArray) -> Numbers:
        rows, columns = self._window.shape
        column, row = self._window.to_pixels(points_mm[..., 0], points_mm[..., 1])
        return np.asarray(
            np.clip(np.round(row), 0, rows - 1).astype(np.intp) * columns
            + np.clip(np.round(column), 0, columns - 1).astype(np.intp)
        )
