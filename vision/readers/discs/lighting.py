"""The light of white paper at the markers, and assigning discs to players by colour in that light.

Brightness relative to the paper is uncertain: overexposed paper, a lamp on one side, a shadow. One correction must fit
all pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.markers import MarkerLayout
from vision.opencv import aruco_dictionary
from vision.readers.discs.appearance import DARK_FLOOR, colour_of_shares, shares_of
from vision.sampling import PixelMap, linear_light, median, sample


@dataclass(frozen=True)
class LightingSettings:
    """When a colour matches a learned one; set by hand, like those of ``DiscSettings``."""

    hue_spread: float = 0.16
    """Standard deviation of a hue, in log units. Larger: tolerates other lamps, distinguishes hues less reliably."""
    saturation_spread: float = 0.15
    """Further standard deviation of a hue, as a share of it, since tone curves and shadows change saturation. Larger:
    tolerates other cameras, distinguishes strong hues from stronger ones less reliably.
    """
    brightness_spread: float = 0.28
    """Standard deviation of brightness, in log units, after the correction of the light. Larger: tolerates uneven
    light, distinguishes dark and pale discs less reliably.
    """
    light_spread: float = 0.45
    """Standard deviation of the light relative to paper, in log units. Larger: a strong correction is tried more
    readily, which may take one player's discs for the other's.
    """
    light_most: float = 1.3
    """Largest correction tried, up or down, in log units. Larger: copes with stronger shade on the markers alone."""
    light_step: float = 0.1
    """Step between corrections, in log units. Larger: faster, less exact."""
    far: float = 3.5
    """Distance, in standard deviations, beyond which a disc does not influence the correction. Larger: objects that are
    no discs influence it more.
    """
    freedom: float = 6.0
    """Degrees of freedom of Student's distribution, which turns distances from colours into likelihoods. Lower: a
    colour far from both players' is weaker evidence.
    """
    glossy: float = 0.04
    """Share of discs whose top reflects a lamp. Higher: pale discs are assigned to the paler player less reliably."""
    glossy_weight: float = 10.0
    """Number of discs that ``glossy`` counts as beside those of a picture. Higher: a lamp that whitens several discs
    at once is noticed less.
    """
    gloss: float = 0.3
    """Mean light added by such a reflection, relative to paper. Higher: expects stronger reflections."""


_SETTINGS = LightingSettings()


class ColourClassifier:
    """Measures the distance of colours from each player's, in standard deviations."""

    def __init__(self, colours: Mapping[str, FloatArray]) -> None:
        self._players = tuple(colours)
        count = round(_SETTINGS.light_most / _SETTINGS.light_step)
        self._lights = np.arange(-count, count + 1) * _SETTINGS.light_step
        # linear light of each player's colour under each correction, relative to paper: (lights, players, 3)
        self._shares = np.array(
            [
                [(shares_of(colour) - DARK_FLOOR) * np.exp(light) for colour in colours.values()]
                for light in self._lights
            ]
        ).reshape(len(self._lights), len(self._players), 3)
        # evenly spaced in the logarithm, so that the density of each step is proportional to its value
        self._gloss = np.geomspace(0.02, 1.2, 16)
        density = self._gloss * np.exp(-self._gloss / _SETTINGS.gloss)
        self._gloss_weights = density / density.sum()

    def distances(
        self, colours: Sequence[FloatArray], paper: FloatArray, light: float, glare: npt.ArrayLike = 0.0
    ) -> list[dict[str, float]]:
        """Return the distance of each colour from each player's, with a light returned by ``fit_light``.

        ``glare`` is the light that a lamp's reflection adds to each, (n,) or one for all, relative to paper.
        """
        if not self._players or not colours:
            return [{} for _ in colours]
        apart = _distances(colours, paper, self._shares_in(light), np.atleast_1d(glare))
        return [dict(zip(self._players, map(float, row), strict=True)) for row in apart]

    def log_likelihoods(
        self,
        colours: Sequence[FloatArray],
        paper: FloatArray,
        light: float,
        glossy: float = _SETTINGS.glossy,
        glare: npt.ArrayLike = 0.0,
    ) -> list[dict[str, float]]:
        """Return log-likelihood of each colour for each player, allowing for the white reflection of a lamp.

        ``glossy`` is the share of discs that reflect one, in addition to the ``glare`` of ``distances``.
        """
        if not self._players or not colours:
            return [{} for _ in colours]
        matt, shiny = self._densities(colours, paper, light, glare)
        logs = np.log((1 - glossy) * matt + glossy * shiny)
        return [dict(zip(self._players, map(float, row), strict=True)) for row in logs]

    def glossy_share(
        self, colours: Sequence[FloatArray], paper: FloatArray, light: float, glare: npt.ArrayLike = 0.0
    ) -> float:
        """Return the share of discs that reflect a lamp, by these discs of one picture: at least the usual share.

        Reflections that ``glare`` explains don't count.
        """
        usual, weight = _SETTINGS.glossy, _SETTINGS.glossy_weight
        if not self._players or not colours:
            return usual
        matt, shiny = (one.sum(axis=1) for one in self._densities(colours, paper, light, glare))
        reflecting = usual * shiny / ((1 - usual) * matt + usual * shiny)
        return max(usual, float((usual * weight + reflecting.sum()) / (weight + len(colours))))

    def _densities(
        self, colours: Sequence[FloatArray], paper: FloatArray, light: float, glare: npt.ArrayLike
    ) -> tuple[FloatArray, FloatArray]:
        """Return likelihoods of colours for each player, (colours, players), relative to that of the player's own
        colour: without a lamp's reflection, and with one of unknown strength.
        """
        levels = np.concatenate([[0.0], self._gloss])[:, None] + np.atleast_1d(glare)
        off = _deviations(np.asarray(colours), _expected(self._shares_in(light), paper, levels))
        freedom = _SETTINGS.freedom
        student = (1 + (off**2).sum(axis=-1) / freedom) ** (-(freedom + 1) / 2)
        return student[0], np.tensordot(self._gloss_weights, student[1:], axes=1)

    def fit_light(self, colours: Sequence[FloatArray], paper: FloatArray) -> tuple[float, float]:
        """Return the log of the light relative to paper in which these discs best match the players' colours, and the
        sum of the squared distances of the discs and of the light from what is usual.
        """
        if not self._players or not colours:
            return 0.0, 0.0
        costs = self.misfits(colours, paper, self._lights.tolist(), np.zeros((1, 1)))[:, 0]
        return float(self._lights[int(costs.argmin())]), float(costs.min())

    def misfits(
        self, colours: Sequence[FloatArray], paper: FloatArray, lights: Sequence[float], glares: FloatArray
    ) -> FloatArray:
        """Return the sum of the squared distances of the discs from the players' colours and of the light from what is
        usual, for each of these lights and glares, (lights, glares).

        ``glares`` (glares, n) is the light that each adds to each disc, relative to paper.
        """
        shares = np.stack([self._shares_in(light) for light in lights])[:, None]
        nearest = np.minimum(_distances(colours, paper, shares, glares).min(axis=-1), _SETTINGS.far)
        unlike = (nearest**2).sum(axis=-1)
        return np.asarray(unlike + (np.asarray(lights)[:, None] / _SETTINGS.light_spread) ** 2)

    def _shares_in(self, light: float) -> FloatArray:
        """Return linear light of each player's colour under the nearest correction, relative to paper, (players, 3)."""
        return np.asarray(self._shares[int(np.argmin(np.abs(self._lights - light)))], dtype=np.float64)


def _distances(colours: Sequence[FloatArray], paper: FloatArray, shares: FloatArray, glares: FloatArray) -> FloatArray:
    """Return distances of colours from the players' in some lights, (..., n, players); the rest as in ``_expected``."""
    return np.asarray(np.linalg.norm(_deviations(np.asarray(colours), _expected(shares, paper, glares)), axis=-1))


def _expected(shares: FloatArray, paper: FloatArray, glares: FloatArray) -> FloatArray:
    """Return the players' colours on each of n discs, (..., n, players, 3), saturated channels clamped.

    ``shares`` (..., players, 3) is their light, and ``glares`` (..., n) that added to each disc, relative to paper.
    """
    light = np.maximum(shares, 0.0)[..., None, :, :] + glares[..., None, None]
    return colour_of_shares(np.minimum(light, 1 / np.maximum(paper, 1e-3)) + DARK_FLOOR)


def _deviations(colours: FloatArray, expected: FloatArray) -> FloatArray:
    """Return deviations, in standard deviations, of colours (n, 3) from expected ones (..., n, players, 3)."""
    spreads = np.empty_like(expected)
    spreads[..., :2] = np.hypot(_SETTINGS.hue_spread, _SETTINGS.saturation_spread * expected[..., :2])
    spreads[..., 2] = _SETTINGS.brightness_spread
    return np.asarray((colours[:, None] - expected) / spreads)


USUAL_PAPER = 0.6
"""Linear light assumed for white paper when no marker is visible. Higher: discs seem darker."""
LEAST_WHITE_OVER_BLACK = 2.5
"""Minimum ratio of the light of a marker's white cells to that of its black ones, or it counts as covered. Higher:
fewer markers are used under glare. Set by hand on the ray-traced pictures.
"""
LEAST_WHITE = 1e-4
"""Linear light added to that limit, and to white before its logarithm is taken, since a channel may be 0. Higher: fewer
markers are used in the dark.
"""
_SPREAD = 0.2
"""Distance of the four outer samples of a cell from its centre, as a share of the cell's side. Larger: closer to the
neighbouring cells.
"""


class PaperLight:
    """Measures white paper at the markers' cells, from one camera position."""

    def __init__(self, camera: CameraModel, pose: Pose, markers: MarkerLayout | None) -> None:
        self._cells: list[tuple[PixelMap, int]] = []
        if markers is None:
            return
        for marker_id in markers.centres_mm:
            white, black = _cells_mm(markers, marker_id)
            pixels = project(camera, pose, np.concatenate([white, black])).astype(np.float32)
            if ((pixels > 1) & (pixels < (camera.size[0] - 2, camera.size[1] - 2))).all():
                self._cells.append((pixels.reshape(-1, 1, 2), len(white)))

    def of(self, image: Image) -> FloatArray:
        """Return linear light of white paper, blue-green-red, (3,): the geometric mean over the visible markers.

        A marker whose white cells are not clearly brighter than its black ones counts as covered.
        """
        lights = []
        for pixels, whites in self._cells:
            sampled = sample(image, pixels).reshape(len(pixels), -1)
            light = linear_light(np.ascontiguousarray(np.broadcast_to(sampled, (len(pixels), 3))))
            own, other = median(light[:whites]), median(light[whites:])
            if own.mean() > LEAST_WHITE_OVER_BLACK * other.mean() + LEAST_WHITE:
                lights.append(np.log(own + LEAST_WHITE))
        if not lights:
            return np.full(3, USUAL_PAPER)
        return np.asarray(np.exp(np.mean(lights, axis=0)), dtype=np.float64)


def _cells_mm(markers: MarkerLayout, marker_id: int) -> tuple[FloatArray, FloatArray]:
    """Return points in the centres of a marker's white cells, and of its black ones, shape (n, 3) each."""
    dictionary = aruco_dictionary(markers.dictionary)
    side = dictionary.markerSize
    bits = cv2.aruco.Dictionary.getBitsFromByteList(dictionary.bytesList[marker_id : marker_id + 1], side)
    cell = markers.side_mm / (side + 2)
    steps = (np.arange(side) - (side - 1) / 2) * cell
    within = _SPREAD * cell * np.array([(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)])
    right, down = np.meshgrid(steps, steps)
    cells = np.stack([right, -down], axis=-1)[:, :, None] + within + markers.centres_mm[marker_id]
    points = np.concatenate([cells, np.full((*cells.shape[:-1], 1), markers.z_mm)], axis=-1)
    return points[bits > 0].reshape(-1, 3), points[bits == 0].reshape(-1, 3)
