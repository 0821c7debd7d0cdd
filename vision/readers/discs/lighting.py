"""The learned colours of discs and balls, the light of white paper at the markers, and whose a disc is in that light.

A colour is the log of linear light over that of the markers' white paper in the same light: blue against green, red
against green, and brightness. So it hardly depends on lamp, exposure or white balance.

Brightness relative to the paper is uncertain: overexposed paper, a lamp on one side, a shadow. One correction must fit
all pieces.

A camera may show learned colours more or less saturated than the one they were learned with. One factor must fit all
pieces. It acts on grey levels, so a strong colour becomes much stronger in linear light.

A lamp's reflection on the discs is white light that is strongest somewhere and fades around it. Under it a black disc
is as bright as a white one in the shade. Only together the discs show which it is, since the reflection changes
smoothly across the board.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from vision.errors import EnrolmentError
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import MarkerLayout
from vision.opencv import aruco_dictionary
from vision.readers.enrolment import finite_vector, read_looks, write_looks
from vision.sampling import TONE_CURVE, PixelMap, linear_light, median, sample

APPEARANCE_FORMAT = "tabletop-referee discs 1"
DARK_FLOOR = 0.012
"""Linear light, relative to white paper, added before logarithms are taken: below it a camera only records noise."""


def look_name(player: str, ball: bool) -> str:
    """Return the look of a piece, as written everywhere: ``black piece with ball``."""
    return f"{player} piece{' with ball' if ball else ''}"


_MIX = np.array([[1.0, -1.0, 0.0], [0.0, -1.0, 1.0], [1 / 3, 1 / 3, 1 / 3]], dtype=np.float32)
"""Weights of the logarithms of blue, green and red in the three terms of a colour."""
_UNMIX = np.linalg.inv(_MIX.astype(np.float64))


def colours_of(light: FloatImage, paper: FloatArray) -> FloatImage:
    """Return colours, (rows, columns, 3), float32, of linear light of that shape, blue-green-red, relative to paper's
    (3,).
    """
    shares = cv2.transform(light, np.column_stack([np.diag(1 / paper), np.full(3, DARK_FLOOR)]))
    return np.asarray(cv2.transform(cv2.log(shares, shares), _MIX), dtype=np.float32)


def shares_of(colour: FloatArray) -> FloatArray:
    """Return linear light relative to paper, blue-green-red, of a colour (3,), including ``DARK_FLOOR``."""
    return np.asarray(np.exp(_UNMIX @ colour), dtype=np.float64)


def colour_of_shares(shares: FloatArray) -> FloatArray:
    """Return colours, shape (..., 3), of linear light relative to paper, including ``DARK_FLOOR``."""
    return np.asarray(np.log(shares) @ _MIX.T.astype(np.float64), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class DiscColours:
    """The colours of one player's discs and ball, shape (3,) each."""

    disc: FloatArray
    ball: FloatArray


@dataclass(frozen=True, eq=False)
class DiscAppearance:
    """A piece set: each player's colours, first player first. Empty for a set that was not enrolled."""

    players: Mapping[str, DiscColours]

    @property
    def looks(self) -> tuple[str, ...]:
        """Each player's piece without and with a ball."""
        return tuple(look_name(player, ball) for player in self.players for ball in (False, True))

    @property
    def traits(self) -> tuple[tuple[str, ...], ...]:
        """The traits that distinguish its pieces: the player, and the ball."""
        return tuple(self.players), ("no ball", "ball")


def printed_appearance(colours: Mapping[str, FloatArray], ball: FloatArray) -> DiscAppearance:
    """Return the appearance of discs and balls as printed, from their linear light over paper's, (3,) each."""
    balls = colour_of_shares(ball + DARK_FLOOR)
    return DiscAppearance(
        {name: DiscColours(colour_of_shares(disc + DARK_FLOOR), balls) for name, disc in colours.items()}
    )


def save_appearance(looks: DiscAppearance, path: Path) -> None:
    """Write an appearance to a file, atomically; raises OSError."""
    players = {
        player: {name: [round(float(value), 4) for value in getattr(colours, name)] for name in ("disc", "ball")}
        for player, colours in looks.players.items()
    }
    write_looks(path, APPEARANCE_FORMAT, {"players": players})


def load_appearance(path: Path) -> DiscAppearance:
    """Read an appearance from a file; raises EnrolmentError with what is wrong."""
    data = read_looks(path, APPEARANCE_FORMAT)
    try:
        return DiscAppearance(
            {
                str(player): DiscColours(finite_vector(colours["disc"], 3), finite_vector(colours["ball"], 3))
                for player, colours in data["players"].items()
            }
        )
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as wrong:
        raise EnrolmentError("these looks cannot be read ({wrong}): enrol the piece set again", wrong) from wrong


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
    bleached: float = 0.93
    """Linear light (0 to 1) of paper above which it may be brighter than it seems. Lower: darker paper may too."""
    bleached_most: float = 0.7
    """By how much more it may be, in log units. Larger: slower, and copes with more of it."""
    light_step: float = 0.1
    """Step between corrections, in log units. Larger: faster, less exact."""
    same_light: float = 0.25
    """Difference, in log units, below which two lights are one. Larger: faster, and other lights go unnoticed."""
    ground_spread: float = 0.35
    """Standard deviation, in log units, of the ground's own brightness. Larger: in a shadow with sharp edges, players
    are less certain.
    """
    least_likely: float = 0.002
    """Likelihood of another light, relative to that of the likeliest, below which it is left out. Higher: faster, and
    players are surer where the light is not.
    """
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
        count, more = (round(most / _SETTINGS.light_step) for most in (_SETTINGS.light_most, _SETTINGS.bleached_most))
        self._lights = np.arange(-count, count + more + 1) * _SETTINGS.light_step
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

    def other_lights(
        self, colours: Sequence[FloatArray], paper: FloatArray, light: float, glare: FloatArray
    ) -> tuple[tuple[float, float], ...]:
        """Return the other lights that explain these discs better than lights close by do, each with its likelihood
        relative to that of ``light``, without those that hardly matter.
        """
        if not self._players or not colours:
            return ()
        costs = np.pad(
            self.misfits(colours, paper, self._lights.tolist(), glare[None])[:, 0], 1, constant_values=np.inf
        )
        best = costs[1:-1][int(np.argmin(np.abs(self._lights - light)))]
        weights = np.exp(-np.maximum(costs[1:-1] - best, 0.0) / 2)
        is_best = (costs[1:-1] < costs[:-2]) & (costs[1:-1] <= costs[2:]) & (weights > _SETTINGS.least_likely)
        apart = is_best & (np.abs(self._lights - light) > _SETTINGS.same_light)
        return tuple(zip(self._lights[apart].tolist(), weights[apart].tolist(), strict=True))

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
        off = np.asarray(lights)[:, None]
        # bleached paper is brighter than it seems, by nobody knows how much
        is_bleached = paper.min() > _SETTINGS.bleached
        off = np.minimum(off, 0.0) if is_bleached else np.where(off > _SETTINGS.light_most + 1e-9, np.inf, off)
        return np.asarray(unlike + (off / _SETTINGS.light_spread) ** 2)

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
    return np.asarray((colours[:, None] - expected) / _spreads(expected))


def _spreads(expected: FloatArray) -> FloatArray:
    """Return the standard deviations of colours (..., 3) from expected ones."""
    spreads = np.full_like(expected, _SETTINGS.brightness_spread)
    spreads[..., :2] = np.hypot(_SETTINGS.hue_spread, _SETTINGS.saturation_spread * expected[..., :2])
    return spreads


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


@dataclass(frozen=True)
class GlareSettings:
    """Which reflections are tried. Costs are squared standard deviations, as in ``ColourClassifier.misfits``."""

    spreads: tuple[float, ...] = (0.3, 0.8)
    """Distances within which it fades, as shares of the distance across all discs. More: slower, more exact."""
    strengths: tuple[float, ...] = (0.15, 0.4, 1.0)
    """Light at its centre, relative to white paper. More: slower, more exact."""
    lights: tuple[float, ...] = (-0.3, 0.0, 0.3)
    """Lights on the discs tried with it, in log units. Further from 0: pale discs in the shade beside bright ones pass
    for those of one player more often.
    """
    steps: int = 4
    """Number of centres tried along each side of the discs' area. More: slower, more exact."""
    cost: float = 12.5
    """Cost of there being one: more than that of a single thing that is no disc. Higher: weak ones go unnoticed."""
    cost_of_strength: float = 5.0
    """Further cost for a strength of 1. Higher: strong ones go unnoticed."""
    refined: int = 3
    """Rounds of searching around the best one, each with half the steps. More: slower, more exact."""
    gained: float = 4.0
    """By how much these rounds may lower the cost: they are left out where that is too little. Lower: faster, and faint
    ones go unnoticed.
    """


_GLARE_SETTINGS = GlareSettings()


@dataclass(frozen=True)
class Glare:
    """The reflection: its centre and the distance in which it fades, in mm, and its light relative to white paper."""

    x_mm: float = 0.0
    y_mm: float = 0.0
    spread_mm: float = 1.0
    strength: float = 0.0

    def at(self, points_mm: FloatArray) -> FloatArray:
        """Return the light that it adds at points (n, 2), relative to paper, (n,)."""
        squared = (points_mm[:, 0] - self.x_mm) ** 2 + (points_mm[:, 1] - self.y_mm) ** 2
        return np.asarray(self.strength * np.exp(-squared / (2 * self.spread_mm**2)))

    def on(self, colour: FloatArray, point_mm: FloatArray, paper: FloatArray) -> FloatArray:
        """Return what a colour (3,) looks like at a point (2,) under it; saturated channels are clamped."""
        added = float(self.at(point_mm[None])[0])
        if added == 0.0:
            return colour
        return colour_of_shares(np.minimum(shares_of(colour) + added, 1 / np.maximum(paper, 1e-3) + DARK_FLOOR))


NO_GLARE = Glare()


def fit_glare(
    classifier: ColourClassifier,
    colours: Sequence[FloatArray],
    centres_mm: FloatArray,
    paper: FloatArray,
    cost_without: float,
) -> tuple[float, Glare] | None:
    """Return the light of the discs and the reflection that explain their colours best; ``None`` if no reflection
    explains them better than none does.

    ``centres_mm`` (n, 2) are the discs' centres, ``paper`` (3,) is the linear light of white paper, and
    ``cost_without`` what ``ColourClassifier.fit_light`` says the colours cost without a reflection.
    """
    low, high = centres_mm.min(axis=0), centres_mm.max(axis=0)
    across_mm = max(float(np.linalg.norm(high - low)), 1.0)
    sides = (np.linspace(low[axis], high[axis], _GLARE_SETTINGS.steps).tolist() for axis in (0, 1))
    tried = [
        Glare(x, y, spread * across_mm, strength)
        for x, y, spread, strength in product(*sides, _GLARE_SETTINGS.spreads, _GLARE_SETTINGS.strengths)
    ]
    light, best, cost = _best(classifier, colours, centres_mm, paper, _GLARE_SETTINGS.lights, tried)
    for number in range(_GLARE_SETTINGS.refined if cost < cost_without + _GLARE_SETTINGS.gained else 0):
        step = 0.5 ** (number + 1)
        moved_mm = step * across_mm / _GLARE_SETTINGS.steps
        near = [
            Glare(
                best.x_mm + x * moved_mm,
                best.y_mm + y * moved_mm,
                best.spread_mm * 2 ** (wider * step),
                best.strength * 2 ** (stronger * step),
            )
            for x, y, wider, stronger in product((-1, 0, 1), repeat=4)
        ]
        lights = [light + brighter * step * _GLARE_SETTINGS.lights[-1] for brighter in (-1, 0, 1)]
        light, best, cost = _best(classifier, colours, centres_mm, paper, lights, near)
    return (light, best) if cost < cost_without else None


def _best(
    classifier: ColourClassifier,
    colours: Sequence[FloatArray],
    centres_mm: FloatArray,
    paper: FloatArray,
    lights: Sequence[float],
    tried: Sequence[Glare],
) -> tuple[float, Glare, float]:
    """Return the best of these lights and reflections, and its cost."""
    costs = classifier.misfits(colours, paper, lights, np.stack([one.at(centres_mm) for one in tried]))
    costs = costs + [_GLARE_SETTINGS.cost + _GLARE_SETTINGS.cost_of_strength * one.strength for one in tried]
    light, glare = divmod(int(costs.argmin()), len(tried))
    return lights[light], tried[glare], float(costs.min())


@dataclass(frozen=True)
class SaturationSettings:
    """Which saturations are tried, those of cameras' own settings from pale to vivid, and when."""

    factors: tuple[float, ...] = (0.6, 0.75, 1.25, 1.5, 1.75)
    """Factors that are tried besides 1. More: slower, more exact."""
    spread: float = 0.3
    """Standard deviation of such a factor, in log units. Larger: discs of other colours pass for these more easily."""
    misfit: float = 1.5
    """Mean squared distance of discs from the colours learned, in standard deviations, above which other saturations
    are tried. Higher: faster, and weak changes go unnoticed.
    """
    glare_misfit: float = 1.0
    """The same for a lamp's reflection on all discs. Higher: faster, and faint ones go unnoticed."""


_SATURATION_SETTINGS = SaturationSettings()


@dataclass(frozen=True, eq=False)
class PictureLight:
    """The piece set as a picture shows it: its colours, what tells them apart, the log of the light on the discs
    relative to paper, a lamp's reflection on all of them, the share of discs that reflect one by themselves, and the
    linear light of white paper, (3,). ``others`` are other levels that explain the colours nearly as well, each with
    its likelihood relative to that of ``level``.
    """

    looks: DiscAppearance
    classifier: ColourClassifier
    level: float
    glare: Glare
    glossy: float
    paper: FloatArray
    others: tuple[tuple[float, float], ...] = ()

    def distances(self, colours: Sequence[FloatArray], centres_mm: FloatArray) -> list[dict[str, float]]:
        """Return the distance of each disc's colour from each player's, as ``ColourClassifier.distances`` does."""
        return self.classifier.distances(colours, self.paper, self.level, self.glare.at(centres_mm))

    def log_likelihoods(
        self, colours: Sequence[FloatArray], centres_mm: FloatArray, shades: FloatArray
    ) -> list[dict[str, float]]:
        """Return the log-likelihood of each disc's colour for each player, over all levels of the light.

        A player is no more certain than the light: a dark disc in bright light is as bright as a pale one in the shade.
        ``shades`` (n,) is the log brightness of the ground around each, relative to what is usual: as far as it is that
        of the light there, and not of the ground.
        """
        glare = self.glare.at(centres_mm)
        levels = np.array([self.level, *(level for level, _ in self.others)])
        weights = np.array([1.0, *(weight for _, weight in self.others)])
        known = [
            self.classifier.log_likelihoods(colours, self.paper, level, self.glossy, glare) for level in levels.tolist()
        ]
        if not self.others and not (np.abs(shades) > _SETTINGS.same_light).any():
            return known[0]
        lit = np.array(colours) - shades[:, None] * [0.0, 0.0, 1.0]
        known += [
            self.classifier.log_likelihoods(list(lit), self.paper, level, self.glossy, glare)
            for level in levels.tolist()
        ]
        uneven = np.exp(-((shades / _SETTINGS.ground_spread) ** 2) / 2) / 2
        mixed = []
        for each, by_ground in zip(zip(*known, strict=True), uneven.tolist(), strict=True):
            likely = np.exp([list(one.values()) for one in each])
            own = np.concatenate([by_ground * weights, (1 - by_ground) * weights])
            shares = own / own.sum() @ (likely / likely.sum(axis=1, keepdims=True))
            mixed.append(dict(zip(each[0], np.log(shares).tolist(), strict=True)))
        return mixed

    def colours_at(self, centre_mm: FloatArray, player: str) -> FloatArray:
        """Return the colours of a player's disc at a point, and of the ball without and with the lamp's reflection,
        which may miss it, (2 or 3, 3).
        """
        own = self.looks.players[player]
        disc, ball = np.stack([own.disc, own.ball]) + np.array([0.0, 0.0, self.level])
        if self.glare is NO_GLARE:
            return np.stack([disc, ball])
        return np.stack([self.glare.on(disc, centre_mm, self.paper), ball, self.glare.on(ball, centre_mm, self.paper)])

    def discs_at(self, centres_mm: FloatArray, player: str, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the colours of a player's disc at points (n, 2), (n, 3), in another level of the light, and how much
        they vary, (3,).
        """
        shares = (shares_of(self.looks.players[player].disc) - DARK_FLOOR) * np.exp(level)
        expected = _expected(shares[None], self.paper, self.glare.at(centres_mm))[:, 0]
        return expected, _spreads(expected.mean(axis=0))


def light_of(
    looks: DiscAppearance,
    classifier: ColourClassifier,
    colours: Sequence[FloatArray],
    centres_mm: FloatArray,
    paper: FloatArray,
) -> PictureLight:
    """Return the light, the lamp's reflection, and the learned colours at the saturation that explain the colours (3,)
    of some discs best.

    ``looks`` and ``classifier`` are the piece set as it was learned, ``centres_mm`` (n, 2) are the discs' centres,
    ``paper`` (3,) is the linear light of white paper.
    """
    level, cost = classifier.fit_light(colours, paper)
    best = looks, classifier, level, NO_GLARE
    for factor in _SATURATION_SETTINGS.factors if cost > _SATURATION_SETTINGS.misfit * len(colours) else ():
        seen = with_saturation(looks, paper, factor)
        classifier = ColourClassifier({player: own.disc for player, own in seen.players.items()})
        level, unlike = classifier.fit_light(colours, paper)
        unlike += (np.log(factor) / _SATURATION_SETTINGS.spread) ** 2
        if unlike < cost:
            best, cost = (seen, classifier, level, NO_GLARE), unlike
    if cost > _SATURATION_SETTINGS.glare_misfit * len(colours):
        looks, classifier, *_ = best
        reflected = fit_glare(classifier, colours, centres_mm, paper, cost)
        if reflected is not None:
            best = looks, classifier, *reflected
    looks, classifier, level, glare = best
    added = glare.at(centres_mm)
    glossy = classifier.glossy_share(colours, paper, level, added)
    return PictureLight(
        looks, classifier, level, glare, glossy, paper, classifier.other_lights(colours, paper, level, added)
    )


def with_saturation(looks: DiscAppearance, paper: FloatArray, factor: float) -> DiscAppearance:
    """Return the colours in a camera that multiplies saturation by a factor and shows white paper as ``paper`` (3,)."""
    unchanged_paper = _saturated(paper, 1 / factor)

    def seen(colour: FloatArray) -> FloatArray:
        light = np.maximum(shares_of(colour) - DARK_FLOOR, 0.0) * unchanged_paper
        return colour_of_shares(_saturated(light, factor) / paper + DARK_FLOOR)

    return DiscAppearance(
        {player: DiscColours(seen(own.disc), seen(own.ball)) for player, own in looks.players.items()}
    )


_LUMA = np.array([0.114, 0.587, 0.299])
"""Weights of blue, green and red levels in grey (ITU-R BT.601)."""


def _saturated(light: FloatArray, factor: float) -> FloatArray:
    """Return linear light (3,), blue-green-red, with its levels' distance from grey multiplied."""
    levels = np.maximum(light, 0.0) ** (1 / TONE_CURVE)
    grey = levels @ _LUMA
    return np.asarray(np.clip(grey + factor * (levels - grey), 0.0, 1.0) ** TONE_CURVE)
