"""Finding discs by their outlines: circles with a uniform inside and another colour all around.

Nothing is assumed about the board. Wood grain or a line crosses a circle in a few places, but a disc differs from its
surroundings nearly everywhere. So the score is the contrast exceeded along most of the outline.

Contrast is a distance of colours, in standard deviations of the colour inside the circle. The numbers were set by hand
on the ray-traced pictures; ``benchmarks/stress.py --of diaballik`` shows the effect of a change.

A table half as large, half as far away, gives the same picture. So views are scaled until a disc is as wide as those
the reader's lengths were set for, and lengths in mm fit discs of any size.

Seen from a point, a circle in one horizontal plane covers a circle in another. So a disc covers the hull of the circles
of its top and foot, and a ball the union of the circles of its slices. Points and centres are arrays (..., 2) that
broadcast against each other.

A disc's top is uniform. A ball on it is lit from one side, has an outline, and extends beyond the disc when seen at an
angle.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, FloatArray, FloatImage, Image, IndexArray
from vision.geometry import FrustumSolid, Pose, unit_circle
from vision.layout.pieces import DiscPieces, GridSurface, MarkerLayout, Surface
from vision.opencv import as_colour
from vision.readers.discs.lighting import DARK_FLOOR, PaperLight, colours_of, shares_of
from vision.readers.protocols import SurfaceView
from vision.reading import PlacePicture
from vision.sampling import PixelMap, PlaneWindow, linear_light, median, median_where, plane_map, remapped, sample

_SLICES = np.array([-0.75, -0.4, 0.0, 0.4, 0.75])
"""Heights of a ball's slices above its centre, as shares of its radius. More: a more exact outline, but slower."""
Circles = tuple[FloatArray, FloatArray]
"""Centres (..., k, 2) and radii (k,), in mm of the plane."""


@dataclass(frozen=True, eq=False)
class DiscShape:
    """A disc seen from ``camera_mm``; heights are above the surface's frame, ``top_mm`` is the disc's top."""

    pieces: DiscPieces
    camera_mm: FloatArray
    top_mm: float

    @classmethod
    def of(cls, pieces: DiscPieces, pose: Pose, base_mm: float) -> DiscShape:
        """Return the shape on a surface at a height, as seen by the camera."""
        return cls(pieces, pose.camera_position_mm, base_mm + pieces.disc_mm)

    @property
    def radius_mm(self) -> float:
        """The disc's radius."""
        return self.pieces.diameter_mm / 2

    def seen(self, centre_mm: FloatArray, heights_mm: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Project points (..., 2) at heights (k,) to the plane, and give the scale at each height.

        Shapes (..., k, 2) and (k,).
        """
        scales = (self.camera_mm[2] - self.top_mm) / (self.camera_mm[2] - heights_mm)
        camera = self.camera_mm[:2]
        return camera + (centre_mm[..., None, :] - camera) * scales[:, None], scales

    def reach(self, centre_mm: FloatArray, directions: FloatArray) -> FloatArray:
        """Return extent of a disc from its top's centre (..., 2) in the given directions (..., 2): its support
        function.
        """
        feet, scales = self.seen(centre_mm, np.array([self.top_mm - self.pieces.disc_mm]))
        supported = ((feet[..., 0, :] - centre_mm) * directions).sum(axis=-1) + self.radius_mm * scales[0]
        return np.asarray(np.maximum(self.radius_mm, supported))

    def disc_circles(self, centre_mm: FloatArray) -> Circles:
        """Return centres (..., 3, 2) and radii (3,) covered in the plane by the top, middle and foot of a disc."""
        middles, scales = self.seen(centre_mm, self.top_mm - self.pieces.disc_mm * np.array([0.0, 0.5, 1.0]))
        return middles, self.radius_mm * scales

    def ball_circles(self, centre_mm: FloatArray) -> Circles:
        """Return centres (..., k, 2) and radii (k,) covered in the plane by the slices of a ball on a disc."""
        half = self.pieces.ball_mm / 2
        up = half * _SLICES
        middles, scales = self.seen(centre_mm, self.top_mm + half + up)
        return middles, scales * np.sqrt(half**2 - up**2)

    def ball_outline(self, centre_mm: FloatArray, directions: FloatArray) -> FloatArray:
        """Return points of a ball's outline in the plane, (..., n, 2): the farthest in each direction (n, 2)."""
        middles, radii = self.ball_circles(centre_mm)
        chosen = (directions @ middles.swapaxes(-1, -2) + radii).argmax(axis=-1)
        farthest = np.take_along_axis(middles, chosen[..., None], axis=-2)
        return np.asarray(farthest + radii[chosen][..., None] * directions)


def beyond_mm(points_mm: FloatArray, circles: Circles) -> FloatArray:
    """Return the distance of points (..., 2) outside the nearest of some circles; negative inside one."""
    middles, radii = circles
    x, y = points_mm[..., 0], points_mm[..., 1]
    # circle by circle, since NumPy is slow along a short axis
    each = (
        np.sqrt((x - middles[..., index, 0]) ** 2 + (y - middles[..., index, 1]) ** 2) - radius
        for index, radius in enumerate(radii.tolist())
    )
    return np.asarray(reduce(np.minimum, each))


MARGIN_MM = 24.0
"""Margin of the plane around the surface, for discs that reach beyond it. Smaller: their samples repeat its border."""
SMOOTHING_MM = 0.8
"""Standard deviation of the blur of the plane. Larger: less noise, and softer outlines."""
DIRECTIONS = 20
"""Number of directions in which a circle is sampled. Higher: slower."""
INSIDE_SHARES = (0.5, 0.72, 0.9)
"""Radii of the rings of samples inside a circle, as shares of the disc's radius. Nearer 1: closer to the outline."""
OUTSIDE_MM = (1.4, 3.0)
"""Distances of the two samples in each direction beyond the area that a disc covers. Only the one that differs more
counts. Larger: farther from the disc's shadow, and closer to its neighbours.
"""
GAP_SHARE = 0.6
"""Where close-fitting discs leave less room than that to the next square, the share of the room up to which samples are
taken. Higher: the lines between squares pass for the outline of a disc.
"""
CLEAR_OF_BALL_MM = 0.8
"""Distance from the area that a ball would cover within which samples don't count. Larger: fewer samples count."""
REACH_MM = 8
"""Distance of a disc from its place's centre up to which it is searched for. Larger: slower."""
COARSE_MM = 2
"""Step of that search; the second search has steps of a pixel. Larger: faster, but the best circle may be missed."""
LEAST_CONTRAST = 1.2
"""Contrast in the first search above which there is a second one. Higher: faster, but faint discs are missed."""
FLOORS = (0.02, 0.02, 0.02)
"""Added to the standard deviation of each of a colour's three terms, in log units. Higher: uniform discs have less
contrast.
"""
OUTLINE_SHARE = 0.15
"""Share of the visible outline that may have less contrast than the score. Higher: more of a disc's outline may blend
into the board, and bare board scores higher too.
"""
FEWEST_SHARE = 0.4
"""Minimum share of the directions with a visible sample outside. Higher: fewer partly hidden discs are found."""
FEWEST_INSIDE = 4
"""Minimum number of visible samples inside. Higher: fewer partly hidden discs are found."""
AROUND_MM = 40.0
"""Half the side of the square that is sampled around a place. It must contain a disc wherever it is searched for.
Larger: slower.
"""
RIM_PX = 4
"""Rim that is sampled around it, and cut off after the blur. It must be at least as wide as the blur reaches."""
FITTING_MOST = 8.0
"""Contrast of one direction above which there is no further gain when the centre is chosen. Higher: a few directions
have more influence.
"""
SAME_SHARE = 0.9
"""Share of the highest contrast from which a circle may be chosen as the best. Higher: fewer circles are compared over
their whole outline.
"""
HIDING_MM = 0.7
"""Margin around nearer pieces that counts as hidden by them. Larger: less of the discs behind them is used."""
PICTURE_MM = 20
"""Half the side of the picture kept of a place for later comparison. It must contain what is compared."""
SHADING_MM = 5.5
"""Standard deviation of the shading taken away from it. Larger: more of shadows and lamps is left."""
COMPARED_MM = 7.0
"""Half the side of the square that is compared. Larger: the disc's outline hides how little a ball in the dark changes.
"""
_WAYS = unit_circle(DIRECTIONS)


def _steps(most: int, step: int) -> IndexArray:
    """Return offsets in both directions, in multiples of a step up to a maximum, shape (n, 2)."""
    steps = np.arange(-most, most + 1, step)
    offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    return np.asarray(offsets[np.hypot(*offsets.T) <= most + step / 4])


_COARSE, _CLOSE, _CLOSEST = _steps(REACH_MM, COARSE_MM), _steps(2, 1), _steps(1, 1)
"""Offsets of the first search, of the second, and of the comparison without a ball, in pixels."""

Floats = npt.NDArray[np.float32]


def _flat_indices(window: PlaneWindow, points_mm: FloatArray) -> IndexArray:
    """Return flat indices of the pixels at points (..., 2) of a plane; beyond its border those of the border."""
    rows, columns = window.shape
    column, row = window.to_pixels(points_mm[..., 0], points_mm[..., 1])
    return np.asarray(
        np.clip(np.round(row), 0, rows - 1).astype(np.intp) * columns
        + np.clip(np.round(column), 0, columns - 1).astype(np.intp)
    )


def _outside_mm(surface: Surface) -> tuple[float, ...]:
    """Return the distances of the samples outside; closer where the next squares are close, and the lines between."""
    gap_mm = (
        surface.cell_mm / 2 - DiscPieces.on(surface).diameter_mm / 2 if isinstance(surface, GridSurface) else np.inf
    )
    if gap_mm >= OUTSIDE_MM[-1]:
        return OUTSIDE_MM
    return tuple(beyond * GAP_SHARE * gap_mm / OUTSIDE_MM[-1] for beyond in OUTSIDE_MM)


LEAST_HUE = 1e-3
"""Distance from grey, in log units, below which a colour is none."""


@dataclass(frozen=True, eq=False)
class TopPlane:
    """The plane of the discs' tops as colours relative to paper, (rows, columns, 3), float32, one pixel per millimetre.
    ``paper`` is the linear light used for white paper, blue-green-red.
    """

    colours: FloatImage
    window: PlaneWindow
    paper: FloatArray

    @cached_property
    def channels(self) -> FloatImage:
        """The same by channel, (3, pixels)."""
        return np.ascontiguousarray(self.colours.reshape(-1, 3).T)

    @cached_property
    def is_colourless(self) -> bool:
        """Whether the picture is black and white, as of a camera at night."""
        return float(np.abs(self.colours[..., :2]).max(initial=0.0)) < LEAST_HUE

    def at(self, points_mm: FloatArray) -> FloatImage:
        """Return the interpolated colours, (..., 3), at points of the plane, (..., 2)."""
        at = np.atleast_2d(self.window.pixels_of(points_mm).astype(np.float32))
        found = remapped(self.colours, at.reshape(-1, at.shape[-2], 2), None)
        return np.asarray(found, dtype=np.float32).reshape(*points_mm.shape[:-1], 3)

    def mask_at(self, mask: BoolImage, points_mm: FloatArray) -> BoolImage:
        """Return whether a mask of the plane is set at points, (..., 2)."""
        return np.asarray(mask.reshape(-1)[_flat_indices(self.window, points_mm)])

    def light_of(self, colour: FloatArray) -> float:
        """Return the linear light, 0 to 1, of the middle channel of a colour (3,) in the picture."""
        return float(median((shares_of(colour) - DARK_FLOOR) * self.paper))


@dataclass(frozen=True, eq=False)
class DiscFit:
    """The best circle near a place: its centre, its outline's contrast relative to the spread inside, and its colour.

    ``contrast`` leaves out what a ball would cover; ``contrast_if_bare`` does not. ``light`` is the linear light,
    0 to 1, of its middle channel in the picture, ``spread`` how much the colour varies inside, (3,). ``ground`` is the
    log brightness of what is around it, relative to paper.
    """

    x_mm: float
    y_mm: float
    contrast: float
    contrast_if_bare: float
    colour: FloatArray
    light: float
    spread: FloatArray
    ground: float = 0.0

    @property
    def centre_mm(self) -> FloatArray:
        """The centre, (x, y)."""
        return np.array([self.x_mm, self.y_mm])


class DiscFinder:
    """Finds discs near the places of a surface, from one camera position."""

    def __init__(self, view: SurfaceView) -> None:
        camera, pose, surface = view.camera, view.pose, view.surface
        self._paper = PaperLight(camera, pose, view.markers)
        self.shape = DiscShape.of(DiscPieces.on(surface), pose, surface.height_mm)
        self._window = PlaneWindow.over(surface.bounds_mm.grown(MARGIN_MM), self.shape.top_mm, px_per_mm=1.0)
        self._map: PixelMap = plane_map(camera, pose, self._window)
        self._numbers = {place: number for number, place in enumerate(surface.places)}
        self._centres = np.array([surface.centre_mm(place) for place in surface.places])
        self._within = np.concatenate([share * self.shape.radius_mm * _WAYS for share in INSIDE_SHARES])
        self._outside_mm = _outside_mm(surface)
        self._inside, self._outside = self._samples()

    def covered(self, centre_mm: FloatArray, ball: bool) -> list[Circles]:
        """Return what a disc with that centre covers in the plane, with or without a ball."""
        return [self.shape.disc_circles(centre_mm), *([self.shape.ball_circles(centre_mm)] if ball else [])]

    def hidden_share(self, middle_mm: FloatArray, nearer: Iterable[Circles]) -> float:
        """Return the share of a disc's top hidden by what nearer discs cover."""
        points = middle_mm + self._within
        hidden = np.zeros(len(points), dtype=np.bool_)
        for circles in nearer:
            hidden |= beyond_mm(points, circles) < HIDING_MM
        return float(hidden.mean())

    def hidden_by(self, nearer: Iterable[Circles]) -> BoolImage:
        """Return the mask of the plane hidden by what nearer discs cover, with a small margin."""
        hidden = np.zeros(self._window.shape, dtype=np.uint8)
        for middles, radii in nearer:
            columns, rows = self._window.to_pixels(middles[:, 0], middles[:, 1])
            for column, row, radius in zip(columns, rows, radii, strict=True):
                cv2.circle(hidden, (round(column), round(row)), round(radius + HIDING_MM), 1, -1)
        return np.asarray(hidden > 0)

    def plane(self, image: Image, places: Collection[str]) -> TopPlane:
        """Sample the plane of the tops around some places; the rest is zero."""
        paper = self._paper.of(image)
        colours = np.zeros((*self._window.shape, 3), dtype=np.float32)
        for part in self._parts([self._numbers[place] for place in places]):
            # smooth a slightly larger part, because values beyond its rim are unknown
            wider = tuple(slice(max(0, side.start - RIM_PX), side.stop + RIM_PX) for side in part)
            sampled = sample(image, np.ascontiguousarray(self._map[wider]))
            light = cv2.GaussianBlur(linear_light(as_colour(sampled)), (0, 0), SMOOTHING_MM)
            inner = tuple(
                slice(own.start - wide.start, own.stop - wide.start) for own, wide in zip(part, wider, strict=True)
            )
            colours[part] = colours_of(np.ascontiguousarray(light[inner], dtype=np.float32), paper)
        return TopPlane(colours, self._window, paper)

    def picture(self, plane: TopPlane, place: str) -> PlacePicture:
        """Return the picture of a place's disc, for comparing it with later ones."""
        column, row = self._window.to_pixels(*self._centres[self._numbers[place]])
        left, top = max(0, round(column) - PICTURE_MM), max(0, round(row) - PICTURE_MM)
        light = plane.colours[top : top + 2 * PICTURE_MM + 1, left : left + 2 * PICTURE_MM + 1, 2]
        levels = light - cv2.GaussianBlur(light, (0, 0), SHADING_MM)
        return PlacePicture(levels, (column - left, row - top), COMPARED_MM)

    def _parts(self, numbers: Sequence[int]) -> list[tuple[slice, slice]]:
        """Return parts of the plane around some places: one part for all, or one for each if that is less area."""
        if not numbers:
            return []
        column, row = self._window.to_pixels(*self._centres[list(numbers)].T)
        side = 2 * AROUND_MM
        if (side + np.ptp(row)) * (side + np.ptp(column)) < len(numbers) * side**2:
            corners = [(row.min(), row.max(), column.min(), column.max())]
        else:
            corners = [(y, y, x, x) for x, y in zip(column, row, strict=True)]
        return [
            (
                slice(max(0, int(top - AROUND_MM)), int(bottom + AROUND_MM) + 1),
                slice(max(0, int(left - AROUND_MM)), int(right + AROUND_MM) + 1),
            )
            for top, bottom, left, right in corners
        ]

    def find(self, plane: TopPlane, places: list[str], nearer: BoolImage | None = None) -> dict[str, DiscFit]:
        """Return the best circle near each place that has one; ``nearer`` marks pixels hidden by nearer pieces."""
        if not places:
            return {}
        chosen = np.array([self._numbers[place] for place in places])
        first, contrast, *_ = self._best(plane, chosen, np.broadcast_to(_COARSE, (len(chosen), *_COARSE.shape)), nearer)
        standing_out = np.flatnonzero(contrast > LEAST_CONTRAST)
        chosen = chosen[standing_out]
        found, contrast, colour, spread = self._best(
            plane, chosen, first[standing_out][:, None] + _CLOSE, nearer, last=True
        )
        _, if_bare, *_ = self._best(plane, chosen, found[:, None] + _CLOSEST, nearer, whole=True)
        outside, _ = self._colours_at_offsets(plane, self._outside, chosen, found[:, None], nearer, True)
        grounds = median(outside[2, :, 0], axis=1)
        middles = self._centres[chosen] + found
        return {
            places[number]: DiscFit(
                float(middles[index, 0]),
                float(middles[index, 1]),
                float(contrast[index]),
                float(min(contrast[index], if_bare[index])),
                colour[index].astype(np.float64),
                plane.light_of(colour[index].astype(np.float64)),
                spread[index].astype(np.float64),
                float(grounds[index]),
            )
            for index, number in enumerate(standing_out)
        }

    def contrasts(
        self, plane: TopPlane, places: Sequence[str], colours: FloatArray, off: FloatArray, spread: FloatArray
    ) -> FloatArray:
        """Return the contrast, (places,), that discs of some colours, (places, 3), would have in the middle of each
        place if their colours may be ``off`` by so much and vary by ``spread`` inside, (3,) each.
        """
        chosen = np.array([self._numbers[place] for place in places])
        outside, _ = self._colours_at_offsets(
            plane, self._outside, chosen, np.zeros((len(chosen), 1, 2), np.intp), None, True
        )
        apart = np.maximum(np.abs(outside[:, :, 0] - colours.T[..., None]) - off[:, None, None], 0.0)
        apart = np.linalg.norm(apart / (np.array(FLOORS) + spread)[:, None, None], axis=0)
        around = np.sort(apart.reshape(len(chosen), len(OUTSIDE_MM), DIRECTIONS).max(axis=1), axis=-1)
        return np.asarray(around[:, int(OUTLINE_SHARE * DIRECTIONS)], dtype=np.float64)

    def _best(
        self,
        plane: TopPlane,
        chosen: IndexArray,
        offsets: IndexArray,
        nearer: BoolImage | None,
        *,
        whole: bool = False,
        last: bool = False,
    ) -> tuple[IndexArray, Floats, Floats, Floats]:
        """Choose the offset with the most contrast for each place, from offsets in pixels (places, n, 2).

        Leaves out what a ball would cover, unless ``whole``. ``last`` returns the circle's centre rather than the
        offset of most contrast.
        """
        inside, inside_kept = self._colours_at_offsets(plane, self._inside, chosen, offsets, nearer, whole)
        outside, outside_kept = self._colours_at_offsets(plane, self._outside, chosen, offsets, nearer, whole)
        count = np.maximum(inside_kept.sum(axis=-1), np.float32(1))
        weights = inside_kept / count[..., None]
        colour = np.einsum("cpos,pos->cpo", inside, weights)
        squares = np.einsum("cpos,pos->cpo", np.multiply(inside, inside, out=inside), weights)
        spread = np.sqrt(np.maximum(squares - colour * colour, np.float32(0)))
        scale = np.float32(1) / (np.asarray(FLOORS, dtype=np.float32)[:, None, None] + spread)
        outside -= colour[..., None]
        outside *= scale[..., None]
        apart = np.sqrt(np.einsum("cpos,cpos->pos", outside, outside))
        # for each direction use the larger difference: close to the outline, in its shadow, or beyond it
        shape = (*apart.shape[:-1], len(OUTSIDE_MM), DIRECTIONS)
        kept = np.broadcast_to(outside_kept, apart.shape).reshape(shape)
        near, far = np.moveaxis(np.where(kept > 0, apart.reshape(shape), np.float32(-1)), -2, 0)
        around = np.maximum(near, far)
        seen = (around >= 0).sum(axis=-1)
        ordered = np.sort(around, axis=-1)
        at = DIRECTIONS - seen + (OUTLINE_SHARE * seen).astype(np.intp)
        contrast = np.take_along_axis(ordered, np.minimum(at, DIRECTIONS - 1)[..., None], axis=-1)[..., 0]
        contrast = np.where((seen >= FEWEST_SHARE * DIRECTIONS) & (count >= FEWEST_INSIDE), contrast, np.float32(0))
        index = contrast.argmax(axis=1)
        if last:
            # the centre is estimated from the whole outline, so that no part has much influence
            fitting = np.minimum(around, np.float32(FITTING_MOST)).sum(axis=-1)
            near_best = contrast >= SAME_SHARE * contrast.max(axis=1, keepdims=True)
            index = np.where(near_best, fitting, np.float32(-1)).argmax(axis=1)
        rows = np.arange(len(chosen))
        return offsets[rows, index], contrast.max(axis=1), colour[:, rows, index].T, spread[:, rows, index].T

    def _colours_at_offsets(
        self,
        plane: TopPlane,
        samples: tuple[IndexArray, Floats],
        chosen: IndexArray,
        offsets: IndexArray,
        nearer: BoolImage | None,
        whole: bool,
    ) -> tuple[FloatImage, FloatImage]:
        """Return colours of samples at offsets, (3, places, offsets, samples), and weights, without the 3."""
        rows, columns = plane.colours.shape[:2]
        pixels, kept = samples[0][chosen], samples[1][chosen]
        moved = pixels[:, None] + (offsets[..., 0] - columns * offsets[..., 1])[..., None]
        np.clip(moved, 0, rows * columns - 1, out=moved)
        weights = (np.ones_like(kept) if whole else kept)[:, None]
        if nearer is not None:
            weights = np.where(nearer.reshape(-1)[moved], np.float32(0), weights)
        return np.take(plane.channels, moved, axis=1), weights

    def _samples(self) -> tuple[tuple[IndexArray, Floats], tuple[IndexArray, Floats]]:
        """Return flat indices of pixels inside and outside each place's circle, (places, n), and which count."""
        middles = self._centres[:, None]
        inside = middles + self._within
        reach = self.shape.reach(middles, _WAYS)[..., None]
        outside = np.concatenate([middles + (reach + beyond) * _WAYS for beyond in self._outside_mm], axis=1)
        # with or without a ball, what it would cover is not evidence of the disc
        balls = self.shape.ball_circles(middles)
        inside_kept, outside_kept = (beyond_mm(points, balls) > CLEAR_OF_BALL_MM for points in (inside, outside))
        return (
            (_flat_indices(self._window, inside), inside_kept.astype(np.float32)),
            (_flat_indices(self._window, outside), outside_kept.astype(np.float32)),
        )


USUAL_DIAMETER_MM = 25.0
"""Diameter of the discs for which lengths were set."""
LEAST_CELL_SHARE = 0.25
"""Diameter of a disc, as a share of a cell, below which a board is not scaled up further, since that costs time."""


def usual_scale(surface: Surface) -> float:
    """Return the factor by which a surface's lengths are multiplied."""
    least_mm = LEAST_CELL_SHARE * surface.cell_mm if isinstance(surface, GridSurface) else 0.0
    return USUAL_DIAMETER_MM / max(DiscPieces.on(surface).diameter_mm, least_mm)


def scaled_surface(surface: Surface) -> Surface:
    """Return the surface with discs of the usual size; raises LayoutError for one without discs."""
    pieces, by = DiscPieces.on(surface), usual_scale(surface)
    scaled = DiscPieces(pieces.diameter_mm * by, pieces.disc_mm * by, pieces.ball_mm * by)
    surface = replace(surface, height_mm=surface.height_mm * by, pieces=scaled)
    return replace(surface, cell_mm=surface.cell_mm * by) if isinstance(surface, GridSurface) else surface


def scaled_view(view: SurfaceView) -> SurfaceView:
    """Return the view of the surface with discs of the usual size, with markers and pose to match."""
    by = usual_scale(view.surface)
    pose = Pose(view.pose.rotation, view.pose.translation * by)
    markers = None if view.markers is None else _scaled_markers(view.markers, by)
    return replace(view, surface=scaled_surface(view.surface), pose=pose, markers=markers)


def _scaled_markers(markers: MarkerLayout, by: float) -> MarkerLayout:
    centres = {marker_id: (x * by, y * by) for marker_id, (x, y) in markers.centres_mm.items()}
    return replace(markers, side_mm=markers.side_mm * by, z_mm=markers.z_mm * by, centres_mm=centres)


def unscaled_solid(solid: FrustumSolid, surface: Surface) -> FrustumSolid:
    """Return a body found in a scaled view as it stands on the surface itself."""
    by = usual_scale(surface)
    return FrustumSolid(
        solid.x_mm / by,
        solid.y_mm / by,
        solid.base_mm / by,
        solid.height_mm / by,
        solid.foot_radius_mm / by,
        solid.top_radius_mm / by,
    )


INSIDE_TOP_MM = 2.6
"""Rim of the top that is left out. Larger: an inexact centre matters less, and fewer points are left."""
CLEAR_MM = 0.8
"""Distance outside a ball's outline from which a point shows the bare top. From half this distance inside, it shows the
ball. Larger: fewer points count as either.
"""
BALL_DIRECTIONS = 24
"""Number of points of a ball's outline. Higher: slower."""
EDGE_MM = 1.4
"""Distance inside and outside a ball's outline at which colours are compared. Larger: more is left out close to the
disc's outline.
"""
OFF_OUTLINE_MM = 1.2
"""Distance from the disc's outline within which colours are not compared. Larger: more is left out."""
NOISE_FLOOR = 0.02
"""Added to the noise of brightness, in log units, before shading is divided by it. Higher: shading counts less."""
EDGE_FLOORS = np.array([0.06, 0.06, 0.05])
"""Added to the noise of a colour's three terms, in log units, before contrast is divided by it. Higher: the outline
counts less.
"""
MIDDLE_SHARE = 0.6
"""Radius of the disc's middle in which shading is measured, as a share of the ball's. Larger: less noise, but a coin's
rim counts as shading sooner.
"""
FEWEST_POINTS = 12
"""Minimum number of visible points on the ball, and on the bare top. Higher: more discs without evidence of a ball."""
FEWEST_DIRECTIONS = 6
"""Minimum number of points of the outline that count. Higher: more discs without evidence of a ball."""

_BALL_WAYS = unit_circle(BALL_DIRECTIONS)


@dataclass(frozen=True, eq=False)
class BallEvidence:
    """Evidence of a ball on a disc.

    ``shaded`` is the standard deviation of brightness explained by a sphere's smooth shading, over that of noise.
    ``edge`` is the median contrast of its outline, ``colour`` the median colour inside it. ``top`` are the colours of
    the whole disc's top and of what lies on it, (n, 3). ``rounded`` is the standard deviation of brightness, in log
    units, that smooth shading explains in the disc's middle: nearly 0 on anything flat, infinite where that is hidden.
    If too little of the ball or of the bare top is seen, ``shaded`` and ``edge`` are 0, ``colour`` is the disc's, and
    ``top`` is empty.
    """

    shaded: float
    edge: float
    colour: FloatArray
    top: FloatArray
    rounded: float = math.inf

    @property
    def is_seen(self) -> bool:
        """Whether enough of the ball and of the bare top is seen to tell one from the other."""
        return len(self.top) > 0

    @property
    def unevenness(self) -> float:
        """Combined evidence of a ball: the product of shading and edge, at least 0.001."""
        return max(self.shaded * self.edge, 1e-3)


def ball_evidence(
    plane: TopPlane, shape: DiscShape, fits: Sequence[DiscFit], nearer: BoolImage | None
) -> list[BallEvidence]:
    """Measure the evidence of a ball on each disc; ``nearer`` marks pixels of the plane hidden by nearer pieces."""
    if not fits:
        return []
    centres = np.array([fit.centre_mm for fit in fits])
    within = _points_on_top(shape)
    points = centres[:, None] + within
    seen = np.ones(points.shape[:2], dtype=np.bool_) if nearer is None else ~plane.mask_at(nearer, points)
    beyond = beyond_mm(points, _broadcast_circles(shape.ball_circles(centres)))
    on_top, bare = seen & (beyond < -CLEAR_MM / 2), seen & (beyond > CLEAR_MM)
    tops, bares = on_top.sum(axis=1), bare.sum(axis=1)
    is_seen = (tops >= FEWEST_POINTS) & (bares >= FEWEST_POINTS)
    colours = plane.at(points).astype(np.float64)
    terms = _terms(within / shape.radius_mm)
    whole = _residuals(colours[..., 2:], seen, terms[:, :3])[:, 0]
    apart = _residuals(colours, bare, terms[:, :3])
    of_ball = _residuals(colours[..., 2:], on_top, terms)[:, 0]
    smooth = (apart[:, 2] * bares + of_ball * tops) / np.maximum(tops + bares, 1)
    noise = np.sqrt(apart)
    shaded = np.sqrt(np.maximum(0.0, whole - smooth)) / (NOISE_FLOOR + noise[:, 2])
    edges = _edges(plane, shape, centres, noise, nearer)
    middle = seen & ((within**2).sum(axis=-1) < (MIDDLE_SHARE * shape.pieces.ball_mm / 2) ** 2)
    flat, curved = (_residuals(colours[..., 2:], middle, terms[:, :count])[:, 0] for count in (1, 6))
    rounded = np.where(middle.sum(axis=1) < FEWEST_POINTS, np.inf, np.sqrt(np.maximum(0.0, flat - curved)))
    return [
        BallEvidence(
            float(shaded[index]),
            float(edges[index]),
            median(colours[index, on_top[index]]),
            colours[index, seen[index]],
            float(rounded[index]),
        )
        if is_seen[index]
        else BallEvidence(0.0, 0.0, fit.colour, np.empty((0, 3)))
        for index, fit in enumerate(fits)
    ]


def _points_on_top(shape: DiscShape) -> FloatArray:
    """Return the points, 1 mm apart, at which a top is sampled, relative to its centre, (n, 2)."""
    half = math.ceil(shape.radius_mm)
    along = np.arange(-half, half + 1, dtype=np.float64)
    grid = np.stack(np.meshgrid(along, along), axis=-1).reshape(-1, 2)
    return np.asarray(grid[(grid**2).sum(axis=-1) < (shape.radius_mm - INSIDE_TOP_MM) ** 2])


def _broadcast_circles(circles: Circles) -> Circles:
    """Return circles of each disc, shaped to broadcast with several points of each."""
    middles, radii = circles
    return middles[:, None], radii


def _terms(places: FloatArray) -> FloatArray:
    """Return terms up to second order, linear ones first, (n, 6), at places (n, 2)."""
    x, y = places.T
    return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])


def _residuals(values: FloatArray, chosen: BoolImage, terms: FloatArray) -> FloatArray:
    """Return the mean squared residual of a polynomial fitted to the chosen values of each disc, (discs, columns).

    ``values`` is (discs, n, columns), of which ``chosen`` (discs, n) count; ``terms`` (n, k) are those of the
    polynomial.
    """
    weights = chosen[:, None].astype(np.float64)
    # removing the mean first loses little to rounding
    values = values - values.mean(axis=1, keepdims=True)
    count = terms.shape[1]
    # a small ridge term keeps the normal equations solvable when few points are left
    normal = (weights * terms.T) @ terms
    right = (weights * terms.T) @ values
    solution = np.linalg.solve(normal + 1e-6 * np.eye(count), right)
    squares = (weights @ (values * values))[:, 0]
    left = squares + (solution * (normal @ solution - 2 * right)).sum(axis=1)
    return np.asarray(np.maximum(left, 0.0) / np.maximum(chosen.sum(axis=1), 1)[:, None])


def _edges(
    plane: TopPlane, shape: DiscShape, centres: FloatArray, noise: FloatArray, nearer: BoolImage | None
) -> FloatArray:
    """Return the median contrast across each ball's outline, where it is clear of the disc's own, (discs,)."""
    outline = shape.ball_outline(centres, _BALL_WAYS)
    inner, outer = outline - EDGE_MM * _BALL_WAYS, outline + EDGE_MM * _BALL_WAYS
    over_top = ((outer - centres[:, None]) ** 2).sum(axis=-1) < (shape.radius_mm - OFF_OUTLINE_MM) ** 2
    kept = over_top | (beyond_mm(inner, _broadcast_circles(shape.disc_circles(centres))) > OFF_OUTLINE_MM)
    if nearer is not None:
        kept &= ~plane.mask_at(nearer, outer)
    apart = (plane.at(inner) - plane.at(outer)) / (EDGE_FLOORS + noise)[:, None]
    contrast = median_where(np.sqrt((apart**2).sum(axis=-1)), kept)
    return np.where(kept.sum(axis=1) >= FEWEST_DIRECTIONS, contrast, 0.0)
