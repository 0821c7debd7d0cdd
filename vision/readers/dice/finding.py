"""Finding dice in a picture: one network locates their centres, another reads the upper side.

Whether a die leans is told by what a network sees in squares around it, and by cubes fitted to its outline. The
silhouette of a convex body has a farthest point in each direction of the picture. For a rounded cube in any
orientation, seen from a known position, this distance (its support function) has a closed form, so all orientations are
compared with the outline at once. Side faces that a flat die would hide, and a foreshortened upper side, both show.

``benchmarks/training/dice.py`` trains and writes the networks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np

from vision.frame import FloatArray, Image, IndexArray
from vision.opencv import as_lab, points_2d
from vision.readers.networks import Floats, Network, checksums
from vision.sampling import median, quantile

WEIGHTS = Path(__file__).parent / "weights"
COCKED, OTHER, NOTHING = "cocked", "other", "nothing"
CLASSES = ("1", "2", "3", "4", "5", "6", COCKED, OTHER, NOTHING)
"""Classes of the second network: values, a leaning die, a face without pips, no die."""

CELL_PX = 4
"""Pixels per cell of the finder's grid of centres."""

CROP_PX = 32
"""Side, in pixels, of the square given to the second network."""
DIE_IN_CROP_PX = 20.0
"""Length of a die's edge in that square, in pixels."""
_LOWER = 0.2
"""Offset of the square's centre below the upper side's, in edges per unit of slant, to include side faces."""


def normalised(image: Image) -> Floats:
    """Convert a picture (height, width, 3) to the finder's input, (3, height, width)."""
    return np.asarray(cv2.dnn.blobFromImage(image, 1 / 128, mean=(128, 128, 128))[0], dtype=np.float32)


@dataclass(frozen=True)
class SquareView:
    """How a square is cut out: its rotation in degrees, and its slant.

    ``slant`` is the tangent of the angle between the line of sight and the vertical; the camera is then towards the
    square's lower side. ``None`` if the camera's position is unknown.
    """

    turned_deg: float = 0.0
    slant: float | None = None

    @classmethod
    def of(cls, slant: tuple[float, float]) -> SquareView:
        """Return the view at a position where a point one unit lower appears shifted by ``slant`` (across, down)."""
        return cls(90.0 - math.degrees(math.atan2(slant[1], slant[0])), math.hypot(*slant))


def square_input(squares: Sequence[Image], views: Sequence[SquareView]) -> Floats:
    """Convert squares to the input of the networks after the finder, (n, 4, height, width).

    Three channels are the picture normalised by its own mean and spread, so that the light does not matter; the fourth
    is the slant.
    """
    colours = np.asarray(cv2.dnn.blobFromImages(squares), dtype=np.float32)
    values = colours.reshape(len(squares), -1)
    values -= values.mean(axis=1, keepdims=True)
    values /= np.sqrt(np.square(values).mean(axis=1, keepdims=True)) + 8
    given = np.empty((len(squares), 4, *colours.shape[2:]), dtype=np.float32)
    given[:, :3] = colours
    given[:, 3] = np.array([-1.0 if view.slant is None else view.slant for view in views])[:, None, None]
    return given


_UNTURNED = SquareView()


def crop(image: Image, x_px: float, y_px: float, side_px: float, view: SquareView = _UNTURNED) -> Image:
    """Cut out a die, CROP_PX x CROP_PX, with its edge of ``side_px`` scaled to DIE_IN_CROP_PX; the border is repeated.

    With a slant, the upper side's centre (x, y) lies slightly above the square's centre.
    """
    scale = DIE_IN_CROP_PX / side_px
    reach = math.ceil(CROP_PX / scale) + 2
    if scale < 0.6:
        left, top = max(0, int(x_px) - reach), max(0, int(y_px) - reach)
        part = image[top : int(y_px) + reach, left : int(x_px) + reach]
        if part.size:
            half = max(1, round(part.shape[1] / 2)), max(1, round(part.shape[0] / 2))
            smaller = np.asarray(cv2.resize(part, half, interpolation=cv2.INTER_AREA), dtype=np.uint8)
            across, down = half[0] / part.shape[1], half[1] / part.shape[0]
            x, y = (x_px - left + 0.5) * across - 0.5, (y_px - top + 0.5) * down - 0.5
            return crop(smaller, x, y, side_px * (across + down) / 2, view)
    turn = math.radians(view.turned_deg)
    cosine, sine = (scale * part for part in (math.cos(turn), math.sin(turn)))
    middle = (CROP_PX - 1) / 2
    upper = middle - DIE_IN_CROP_PX * _LOWER * min(view.slant or 0.0, 1.0)
    matrix = np.array(
        [
            [cosine, -sine, middle - cosine * x_px + sine * y_px],
            [sine, cosine, upper - sine * x_px - cosine * y_px],
        ]
    )
    return np.asarray(
        cv2.warpAffine(image, matrix, (CROP_PX, CROP_PX), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE),
        dtype=np.uint8,
    )


class Networks:
    """The networks of a folder, and the temperature that calibrates the second one's probabilities."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = checksums(folder)
        self.finder = Network(folder / "finder.onnx", sums["finder"])
        self.faces = Network(folder / "faces.onnx", sums["faces"])
        self.leaning = Network(folder / "leaning.onnx", sums["leaning"])
        self.temperature = float(sums["temperature"])


@cache
def shipped() -> Networks:
    """Load the networks that come with the project."""
    return Networks()


Place = tuple[float, float, float]
"""The centre of a die's upper side, across and down, and the length of an edge, in pixels of a flattened picture."""
Slant = tuple[float, float]
"""The value of ``finding.SlantAt`` at a die: (across, down)."""

_OFFSETS = ((0.05, 0.05), (-0.05, -0.05), (0.05, -0.05), (-0.05, 0.05))
"""Offsets, in edges, of the squares given to the network; the last two are mirrored. On rendered trays the mean of the
four is wrong far less often than a single square.
"""

SQUARE_PX = 64
"""Side of the square in which the outline is searched for."""

_EDGE_PX = 24.0
"""Edge of the die in that square, in pixels."""
_DIRECTIONS = 36
"""Number of directions in which outlines are compared, an even one. More: finer, slower."""
_ROUNDING = 0.22
"""Radius of a die's rounded edges, as a share of half its edge: common plastic dice."""
_NOISE = 0.1
"""Standard deviation of an outline's point, in edges, when size and position are fitted."""
_TOLERANCE_COST = 2e-4
"""Squared error, in edges, that counts as much as being off by a tolerance."""


@dataclass(frozen=True)
class DieOutlineSettings:
    """How the outline is extracted and compared; lengths are in edges of the die. Set by hand."""

    of_body: float = 0.35
    """Minimum colour distance from the table, as a share of the die's own. Higher: less of shadows and of pale dice."""
    of_noise: float = 6.0
    """The same as a multiple of the table's own variation. Higher: fewer outlines on patterned tables."""
    darker: float = 0.5
    """Weight of differences of lightness where it is darker, as in shadows. Higher: more of shadows and dark dice."""
    size: float = 0.08
    """Tolerated error of the die's size, as a share of it. Larger: all cubes fit more easily."""
    shift: float = 0.1
    """Tolerated error of its position. Larger: the same."""
    outlier: float = 0.15
    """Maximum error that counts at any part of the outline. Larger: a single wrong part weighs more."""
    least: float = 0.03
    """Errors below this are noise, and count as this. Larger: clear outlines prove less."""
    most: float = 0.12
    """Error of a flat cube above which this is not a single die, and is not judged. Larger: more outlines are judged.
    """


@dataclass(frozen=True)
class LeaningOdds:
    """Log-odds that a die leans, for equal prior odds.

    ``benchmarks/training/leaning.py`` fitted the weights to dice that an earlier network was not sure to lie flat.
    Fitted to the present one (0.75, 5.81, -1.9, 2.77), they notice more leaning dice, but also take flat ones
    in blurred and noisy pictures for leaning.
    """

    network: float = 0.63
    gain: float = 7.82
    slant: float = -2.21
    constant: float = 1.66

    def of(self, network_odds: float, gain: float, slant: float) -> float:
        """Combine the network's log-odds with the value of ``leaning_gain``, given ``networks.SquareView.slant``."""
        return self.network * network_odds + self.gain * gain + self.slant * slant + self.constant


_OUTLINE = DieOutlineSettings()
_ODDS = LeaningOdds()


def leaning_odds(
    image: Image, places: Sequence[Place], slants: Sequence[Slant], networks: Networks, surely_flat: float
) -> list[float]:
    """Return the log-odds that each die leans, for equal prior odds.

    The outline is compared, which is slow, only where the network's log-odds are above ``surely_flat``.
    """
    odds = network_odds(image, places, slants, networks)
    for number, (place, slant) in enumerate(zip(places, slants, strict=True)):
        gain = leaning_gain(image, place, slant) if odds[number] > surely_flat else None
        if gain is not None:
            odds[number] = _ODDS.of(odds[number], gain, math.hypot(*slant))
    return odds


def network_odds(image: Image, places: Sequence[Place], slants: Sequence[Slant], networks: Networks) -> list[float]:
    """Return the log-odds that each die leans, for equal prior odds, by the network alone."""
    views = [SquareView.of(slant) for slant in slants]
    runs = []
    for across, down in _OFFSETS:
        squares = [
            crop(image, x + across * side, y + down * side, side, view)
            for (x, y, side), view in zip(places, views, strict=True)
        ]
        given = square_input(squares, views)
        runs.append(networks.leaning.run(given if across == down else given[..., ::-1])[:, 0])
    return [float(odds) for odds in np.mean(runs, axis=0)]


def leaning_gain(image: Image, place: Place, slant: Slant) -> float | None:
    """Return how much better a leaning cube fits a die's outline than a flat one: the log of the ratio of the errors.

    ``None`` where the outline of a single die can't be separated from the table.
    """
    outline = _outline(_square_around(image, place, slant))
    if outline is None:
        return None
    directions = _unit_directions()
    reach = ((outline - (SQUARE_PX - 1) / 2) @ directions.T).max(axis=0) / _EDGE_PX + 0.5 / _EDGE_PX
    flat, leaning = (_fit_error(reach, _support_distances(turns, slant)) for turns in _orientations())
    if flat > _OUTLINE.most:
        return None
    return math.log(max(flat, _OUTLINE.least) / max(leaning, _OUTLINE.least))


def _square_around(image: Image, place: Place, slant: Slant) -> Image:
    """Cut out the square around the centre of the whole die, half an edge below its upper side."""
    x, y, side = place
    scale, middle = _EDGE_PX / side, (SQUARE_PX - 1) / 2
    at = x + slant[0] * side / 2, y + slant[1] * side / 2
    matrix = np.array([[scale, 0, middle - scale * at[0]], [0, scale, middle - scale * at[1]]])
    size = (SQUARE_PX, SQUARE_PX)
    return np.asarray(
        cv2.warpAffine(image, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.uint8
    )


@cache
def _table_and_body() -> tuple[IndexArray, IndexArray]:
    """Return the pixels of a square around a die, and those in its middle, as indices of the flattened square."""
    away = np.hypot(*(np.indices((SQUARE_PX, SQUARE_PX)) - (SQUARE_PX - 1) / 2)).ravel()
    return np.flatnonzero((away > 23) & (away < 31)), np.flatnonzero(away < 8)


def _outline(square: Image) -> FloatArray | None:
    """Return the convex outline (n, 2), in pixels, of what differs from the table; ``None`` if it is unclear."""
    lab = as_lab(np.asarray(cv2.GaussianBlur(square, (0, 0), 0.7), dtype=np.uint8))
    around, inside = _table_and_body()
    channels = np.ascontiguousarray(lab.reshape(-1, 3).T)
    light, green_red, blue_yellow = channels - median(channels[:, around], axis=1)[:, None]
    light[light < 0] *= _OUTLINE.darker
    # hue separates a die from its shadow better than lightness
    differs = np.sqrt(0.5 * light**2 + 2 * green_red**2 + 2 * blue_yellow**2)
    least = _OUTLINE.of_body * float(quantile(differs[inside], 0.6))
    if least < _OUTLINE.of_noise * float(median(differs[around])):
        return None
    mask = (differs > least).astype(np.uint8).reshape(SQUARE_PX, SQUARE_PX)
    mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), dtype=np.uint8)
    mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((4, 4), np.uint8)), dtype=np.uint8)
    _, labels = cv2.connectedComponents(mask)
    middle = labels[24:40, 24:40]
    if not middle.any():
        return None
    die = labels == np.bincount(middle[middle > 0]).argmax()
    if die[0].any() or die[-1].any() or die[:, 0].any() or die[:, -1].any():
        return None
    return points_2d(cv2.convexHull(cv2.findNonZero(die.astype(np.uint8))))


@cache
def _unit_directions() -> FloatArray:
    angles = np.arange(_DIRECTIONS) * 2 * math.pi / _DIRECTIONS
    return np.column_stack([np.cos(angles), np.sin(angles)])


@cache
def _orientations() -> tuple[FloatArray, FloatArray]:
    """Return the axes (n, 3, 3) of flat cubes, every third degree, and of cubes leaning by 12 to 33 degrees."""
    flat = [_rotation(turn, 0.0, 0.0) for turn in range(0, 90, 3)]
    leaning = [
        _rotation(turn, lean, towards)
        for lean in (12.0, 18.0, 25.0, 33.0)
        for towards in np.arange(0, 360, 22.5).tolist()
        for turn in np.arange(0, 90, 7.5).tolist()
    ]
    return np.stack(flat), np.stack(leaning)


def _rotation(turn_deg: float, lean_deg: float, towards_deg: float) -> FloatArray:
    towards = math.radians(towards_deg)
    about = np.array([math.cos(towards), math.sin(towards), 0.0]) * math.radians(lean_deg)
    upright = np.array([0.0, 0.0, math.radians(turn_deg)])
    return np.asarray(cv2.Rodrigues(about)[0] @ cv2.Rodrigues(upright)[0], dtype=np.float64)


def _support_distances(turns: FloatArray, slant: Slant) -> FloatArray:
    """Return the distance of rounded cubes' outlines from their centre, (n, directions / 2), in edges.

    Half of the directions suffice: the distance in the opposite one is the same.
    """
    half = _unit_directions()[: _DIRECTIONS // 2]
    in_space = np.column_stack([half, -half @ np.array(slant)])
    # one product of two matrices is far faster than one for each cube
    along_axes = np.abs(in_space @ turns.transpose(1, 2, 0).reshape(3, -1)).reshape(len(half), 3, -1)
    cube = along_axes.sum(axis=1).T
    return np.asarray(((1 - _ROUNDING) * cube + _ROUNDING * np.linalg.norm(in_space, axis=1)) / 2, dtype=np.float64)


def _fit_error(reach: FloatArray, cubes: FloatArray) -> float:
    """Return the error of the best cube, in edges, with size and position fitted by least squares.

    Size and position are independent: in opposite directions, they act alike and oppositely.
    """
    directions = _unit_directions()
    stiff_size, stiff_shift = (_NOISE / _OUTLINE.size) ** 2, (_NOISE / _OUTLINE.shift) ** 2
    shift = directions.T @ reach / (_DIRECTIONS / 2 + stiff_shift)
    both = np.hstack([cubes, cubes])
    size = (both @ reach + stiff_size) / (np.sum(both * both, axis=1) + stiff_size)
    off = np.abs(reach - directions @ shift - size[:, None] * both)
    np.minimum(off, _OUTLINE.outlier, out=off)
    wrong = np.einsum("nk,nk->n", off, off) / _DIRECTIONS
    moved = ((size - 1) / _OUTLINE.size) ** 2 + float(shift @ shift) / _OUTLINE.shift**2
    # being off by the full tolerance costs as much as being off by a seventieth of an edge all around
    return float(np.sqrt((wrong + _TOLERANCE_COST * moved).min()))


VALUES = ("1", "2", "3", "4", "5", "6")


@dataclass(frozen=True)
class FindingSettings:
    """Thresholds for detecting dice, set on rendered pictures and on the training photographs."""

    least_heat: float = 0.2
    """Minimum probability of a centre to be classified. Lower: finds more, slower."""
    smallest_px: float = 9.5
    """Edge, in pixels, of the smallest dice that the finder was trained on."""
    largest_px: float = 25.0
    """The same of the largest ones. Pictures are scaled so that their dice are in between."""
    least_die: float = 0.5
    """Minimum probability of a die."""
    no_doubt: float = 0.97
    """Candidates less certain than this are classified twice, unless they are less probable than ``never``."""
    far_off: float = 0.2
    """So are candidates whose square is off by more edges than this."""
    never: float = 0.02
    """Probability of a candidate below which it is not classified again."""
    apart: float = 0.7
    """Centres closer than this share of their mean edge are one die. Touching dice are one edge apart, less when seen
    at an angle.
    """
    beside: float = 1.3
    """Distance from a die, in edges, within which a candidate may be one of its side faces."""
    side_strength: float = 0.6
    """Strength of such a candidate, as a share of the die's, below which it is one."""
    leaning: float = 1.0
    """Prior odds of a leaning die relative to the training data."""
    surely_flat: float = -4.0
    """Log-odds of leaning below which the slow outline check is skipped: two in three flat dice of rendered trays."""


@dataclass(frozen=True)
class Candidate:
    """What may be a die: the centre of its upper side and the length of an edge, in pixels, and the first network's
    probability of that centre.

    ``box_edges`` are the width and height of its box in a photograph, in edges.
    """

    x_px: float
    y_px: float
    side_px: float
    heat: float
    box_edges: tuple[float, float] = field(default=(1.0, 1.0), kw_only=True)


@dataclass(frozen=True, eq=False)
class FoundDie(Candidate):
    """A die in a picture.

    ``probabilities`` by class of ``networks.CLASSES`` sum to 1. ``square`` is the picture around it, with an edge of
    ``DIE_IN_CROP_PX``. ``leans`` is the probability that it leans, if the camera's position is known.
    """

    probabilities: Floats
    square: Image
    leans: float | None = None

    @property
    def strength(self) -> float:
        """Combined score of both networks for a die with this face here."""
        best = max(float(chance) for name, chance in zip(CLASSES, self.probabilities, strict=True) if name != NOTHING)
        return self.heat * best

    @property
    def is_die(self) -> float:
        """Probability that it is a die."""
        return 1.0 - float(self.probabilities[CLASSES.index(NOTHING)])

    @property
    def cocked(self) -> float:
        """Probability that it leans, given that it is a die."""
        if self.leans is not None:
            return self.leans
        return float(self.probabilities[CLASSES.index(COCKED)]) / max(self.is_die, 1e-9)

    def values(self) -> dict[str, float]:
        """Return the probability of each value, given that pips are up; they sum to 1."""
        chances = self.probabilities[: len(VALUES)] + 1e-9
        return {name: float(chance) for name, chance in zip(VALUES, chances / chances.sum(), strict=True)}

    def colour_lab(self) -> FloatArray:
        """Return the colour of its body in CIE L*a*b*, (3,): the median of the upper side, most of which is not ink."""
        middle, reach = self.square.shape[0] // 2, round(DIE_IN_CROP_PX * 0.36)
        upper = self.square[middle - reach : middle + reach, middle - reach : middle + reach]
        return median(as_lab(upper).reshape(-1, 3)).astype(np.float64)


_SAME_DIE = 0.4
"""Centres closer than this share of an edge are the same die found at two scales."""

_SAME_SIZE = 1.5
"""Factor of their edges within which they are: a pip may look like a small die, until both are classified."""

_MAX_SIZE_ERROR = 1.4
"""Maximum factor by which the finder's edge length may be wrong; the second network corrects it."""

_MIN_DISTANCE = 0.95
"""Minimum distance, in edges, between two dice that lie flat: slightly below 1 to allow for errors."""

_MIN_SLANT = 0.35
"""Tangent of the viewing angle above which side faces are large enough to be mistaken for upper ones."""

_TOWARDS_SIDE = 0.66
"""How far a candidate in doubt is taken to lie from the middle of the upper side (0) to that of the nearest side (1).
Those that were missed on ray-traced trays lay from 0.6 to 0.8 of the way; the network corrects the rest.
"""

_IN_FRONT = 0.8
"""Cosine of the angle within which a side face lies on the line to the camera; its centre is off by half a corner."""

_TRAINED_SHARE = 0.6
"""Share of dice among the squares that the second network was trained on."""
_TRAINED_ON = 800
"""Number of such squares that count besides those of a picture. Higher: finds more on a patterned ground, true or not.
"""
_SHARE_STEPS = 10
"""Number of steps in which the share of dice is estimated."""

_MAX_SHIFT = 0.5
"""Maximum error of a square, in edges and in the logarithm of an edge, close to that of the training data."""

CandidateT = TypeVar("CandidateT", bound=Candidate)

SlantAt = Callable[[float, float], tuple[float, float]]
"""Maps (x, y) of a flattened picture to the shift (across, down), in pixels, of a point one unit lower."""


def find_dice(
    image: Image,
    networks: Networks,
    side_px: tuple[float, float],
    settings: FindingSettings = FindingSettings(),
    slant_at: SlantAt | None = None,
    is_possible: Callable[[Candidate], bool] | None = None,
) -> tuple[FoundDie, ...]:
    """Find the dice of a picture (height, width, 3) whose edges are between two lengths, in pixels.

    In a flattened picture with known camera position, ``slant_at`` gives the viewing angle at each die, by which its
    upper side is distinguished from its sides. ``is_possible`` excludes positions where no die can be.
    """
    candidates = find_candidates(image, networks.finder, side_px, settings)
    if is_possible is not None:
        candidates = [one for one in candidates if is_possible(one)]
    found = list(_classify(image, candidates, networks, settings, slant_at))
    if slant_at is not None:
        found = [
            (weight, die)
            for weight, die in found
            if not any(_is_side_in_front(die, other, slant_at) for _, other in found)
        ]
    dice = _without_duplicates(found, settings.apart)
    dice = [die for die in dice if not any(_is_weak_side(die, other, settings) for other in dice)]
    return tuple(dice if slant_at is None or not dice else _estimate_leaning(image, dice, networks, settings, slant_at))


def _is_side_in_front(die: FoundDie, other: FoundDie, slant_at: SlantAt) -> bool:
    """Return whether this is the other die's side face: in front of its upper side, too close to be another die."""
    distance = _distance(die, other)
    if not _SAME_DIE < 2 * distance / (die.side_px + other.side_px) < _MIN_DISTANCE:
        return False
    across, down = slant_at(other.x_px, other.y_px)
    steep = math.hypot(across, down)
    towards = (die.x_px - other.x_px) * across + (die.y_px - other.y_px) * down
    return steep >= _MIN_SLANT and towards > _IN_FRONT * distance * steep


def _is_weak_side(die: FoundDie, other: FoundDie, settings: FindingSettings) -> bool:
    """Return whether this is a side face of another die: beside its upper side, and much weaker."""
    beside = _distance(die, other) < settings.beside * max(die.side_px, other.side_px)
    return beside and die.strength < settings.side_strength * other.strength


def find_candidates(
    image: Image, finder: Network, side_px: tuple[float, float], settings: FindingSettings = FindingSettings()
) -> list[Candidate]:
    """Return the finder's candidates for dice with an edge between two lengths, in pixels."""
    candidates: list[Candidate] = []
    for smaller, scale in _levels(image, side_px, settings):
        candidates += _candidates(smaller, scale, finder, settings)
    least, most = side_px
    sized = [one for one in candidates if least / _MAX_SIZE_ERROR < one.side_px < most * _MAX_SIZE_ERROR]
    return _without_duplicates([(one.heat, one) for one in sized], _SAME_DIE, _SAME_SIZE)


def _levels(image: Image, side_px: tuple[float, float], settings: FindingSettings) -> Iterator[tuple[Image, float]]:
    """Yield the picture at the scales at which its dice have edges in the finder's range, with each scale."""
    least, most = side_px
    span = settings.largest_px / settings.smallest_px
    steps = max(1, math.ceil(math.log(most / least) / math.log(span)))
    for step in range(steps):
        # the edges are divided evenly on a logarithmic scale; each level has its range in the middle
        middle = least * (most / least) ** ((step + 0.5) / steps)
        scale = math.sqrt(settings.smallest_px * settings.largest_px) / middle
        size = round(image.shape[1] * scale), round(image.shape[0] * scale)
        way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
        yield np.asarray(cv2.resize(image, size, interpolation=way), dtype=np.uint8), scale


def _candidates(image: Image, scale: float, finder: Network, settings: FindingSettings) -> list[Candidate]:
    """Return every local maximum of the finder's heat map."""
    height, width = (math.ceil(length / CELL_PX) * CELL_PX for length in image.shape[:2])
    whole = cv2.copyMakeBorder(
        image, 0, height - image.shape[0], 0, width - image.shape[1], borderType=cv2.BORDER_REPLICATE
    )
    given = finder.run(normalised(np.asarray(whole, dtype=np.uint8))[None])[0]
    heat = 1 / (1 + np.exp(-given[0]))
    highest = cv2.dilate(heat, np.ones((3, 3), dtype=np.uint8))
    rows, columns = np.nonzero((heat >= highest) & (heat > settings.least_heat))
    found = []
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        edge, across, down = (float(value) for value in given[1:, row, column])
        x = (column + across) * CELL_PX + (CELL_PX - 1) / 2
        y = (row + down) * CELL_PX + (CELL_PX - 1) / 2
        side = 16 * math.exp(edge)
        found.append(
            Candidate((x + 0.5) / scale - 0.5, (y + 0.5) / scale - 0.5, side / scale, float(heat[row, column]))
        )
    return found


def _without_duplicates(
    weighted: Sequence[tuple[float, CandidateT]], apart: float, alike: float = math.inf
) -> list[CandidateT]:
    """Return the strongest of each group of candidates that are the same die, of edges within a factor ``alike``."""
    kept: list[CandidateT] = []
    for _, one in sorted(weighted, key=lambda pair: -pair[0]):
        if not any(
            _distance(one, other) <= apart * (one.side_px + other.side_px) / 2
            and max(one.side_px, other.side_px) < alike * min(one.side_px, other.side_px)
            for other in kept
        ):
            kept.append(one)
    return kept


def _distance(one: Candidate, other: Candidate) -> float:
    return math.hypot(one.x_px - other.x_px, one.y_px - other.y_px)


def _classify(
    image: Image,
    candidates: Sequence[Candidate],
    networks: Networks,
    settings: FindingSettings,
    slant_at: SlantAt | None,
) -> Iterator[tuple[float, FoundDie]]:
    """Classify each candidate; yield those that are dice, each with its strength.

    Where dice are seen from the side, a candidate that may be no die may be centred on the side that faces the camera,
    so the position above it is classified too.
    """
    placed, chances = _classify_twice(image, candidates, networks, settings, slant_at)
    if slant_at is not None:
        higher = [
            _move_to_upper_side(one, slant_at)
            for one, chance in zip(candidates, chances, strict=True)
            if 1 - chance[CLASSES.index(NOTHING)] < settings.no_doubt
            and math.hypot(*slant_at(one.x_px, one.y_px)) > _MIN_SLANT
        ]
        more_placed, more_chances = _classify_twice(image, higher, networks, settings, slant_at)
        placed, chances = [*placed, *more_placed], np.concatenate([chances, more_chances])
    chances = _given_the_others(chances)
    for one, chance in zip(placed, chances, strict=True):
        if 1 - chance[CLASSES.index(NOTHING)] >= settings.least_die:
            square = crop(image, one.x_px, one.y_px, one.side_px)
            die = FoundDie(one.x_px, one.y_px, one.side_px, one.heat, chance, square, box_edges=one.box_edges)
            yield die.strength, die


def _classify_twice(
    image: Image,
    candidates: Sequence[Candidate],
    networks: Networks,
    settings: FindingSettings,
    slant_at: SlantAt | None,
) -> tuple[list[Candidate], Floats]:
    """Return the corrected position of each candidate, and the probabilities of its classes, (n, classes).

    Candidates in doubt, or in a square far off, are classified again at the position from the first pass. Where the
    camera's position is known, those still in doubt are then classified together with their mirror images.
    """
    if not candidates:
        return [], np.empty((0, len(CLASSES)), dtype=np.float32)
    given, placed = _run_classifier(image, candidates, networks, slant_at)
    chances = _class_probabilities(given, networks, settings)
    off = np.array(
        [
            max(_distance(one, other) / one.side_px, abs(math.log(other.side_px / one.side_px)))
            for one, other in zip(candidates, placed, strict=True)
        ]
    )
    is_die = 1 - chances[:, CLASSES.index(NOTHING)] > settings.never
    again = np.flatnonzero(is_die & ((chances.max(axis=1) < settings.no_doubt) | (off > settings.far_off))).tolist()
    if again:
        second, better = _run_classifier(image, [placed[index] for index in again], networks, slant_at, turned=True)
        # a first position seen from the side was often off by more than a pip
        given[again] = (given[again] + second) / 2 if slant_at is None else second
        for index, one in zip(again, better, strict=True):
            placed[index] = one
        chances = _class_probabilities(given, networks, settings)
    doubtful = [index for index in again if chances[index].max() < settings.no_doubt]
    if doubtful and slant_at is not None:
        given[doubtful] = _run_on_mirror_images_too(image, [placed[index] for index in doubtful], networks, slant_at)
        chances = _class_probabilities(given, networks, settings)
    return placed, chances


def _move_to_upper_side(one: Candidate, slant_at: SlantAt) -> Candidate:
    """Return the candidate moved to the upper side of a die on whose visible side it may be centred."""
    across, down = slant_at(one.x_px, one.y_px)
    steep = math.hypot(across, down)
    # away from the camera by as much as the middle of the nearest side is nearer to it
    away = _TOWARDS_SIDE * one.side_px * (1 + steep) / 2 / steep
    return replace(one, x_px=one.x_px - away * across, y_px=one.y_px - away * down)


def _run_classifier(
    image: Image,
    candidates: Sequence[Candidate],
    networks: Networks,
    slant_at: SlantAt | None,
    turned: bool = False,
) -> tuple[Floats, list[Candidate]]:
    """Return the second network's log-probabilities (n, classes) of candidates, and their corrected positions.

    Where the camera's position is unknown, squares are cut out, if ``turned``, rotated by a right angle.
    """
    views = [
        SquareView(90.0 * turned) if slant_at is None else SquareView.of(slant_at(one.x_px, one.y_px))
        for one in candidates
    ]
    given = networks.faces.run(square_input(_crops(image, candidates, views), views))
    placed = []
    for one, view, shape in zip(candidates, views, given[:, len(CLASSES) :].tolist(), strict=True):
        across, down, longer = (min(max(value, -_MAX_SHIFT), _MAX_SHIFT) for value in shape[:3])
        turn = math.radians(view.turned_deg)
        x = one.x_px + one.side_px * (across * math.cos(turn) + down * math.sin(turn))
        y = one.y_px + one.side_px * (down * math.cos(turn) - across * math.sin(turn))
        width, height = (math.exp(value) for value in shape[3:])
        box = (height, width) if turned else (width, height)
        placed.append(Candidate(x, y, one.side_px * math.exp(longer), one.heat, box_edges=box))
    return np.array(given[:, : len(CLASSES)]), placed


def _crops(image: Image, candidates: Sequence[Candidate], views: Sequence[SquareView]) -> list[Image]:
    return [crop(image, one.x_px, one.y_px, one.side_px, view) for one, view in zip(candidates, views, strict=True)]


def _run_on_mirror_images_too(
    image: Image, candidates: Sequence[Candidate], networks: Networks, slant_at: SlantAt
) -> Floats:
    """Return the second network's log-probabilities (n, classes), the mean of a square and its mirror image."""
    views = [SquareView.of(slant_at(one.x_px, one.y_px)) for one in candidates]
    squares = _crops(image, candidates, views)
    given = networks.faces.run(square_input([*squares, *(square[:, ::-1] for square in squares)], [*views, *views]))
    return np.asarray(given[:, : len(CLASSES)].reshape(2, len(candidates), -1).mean(axis=0), dtype=np.float32)


def _estimate_leaning(
    image: Image, dice: Sequence[FoundDie], networks: Networks, settings: FindingSettings, slant_at: SlantAt
) -> list[FoundDie]:
    """Return the dice with the probability that each leans."""
    places = [(die.x_px, die.y_px, die.side_px) for die in dice]
    slants = [slant_at(die.x_px, die.y_px) for die in dice]
    odds = leaning_odds(image, places, slants, networks, settings.surely_flat)
    return [
        replace(die, leans=1 / (1 + math.exp(-one) / settings.leaning)) for die, one in zip(dice, odds, strict=True)
    ]


def _given_the_others(chances: Floats) -> Floats:
    """Return the probabilities (n, classes) of candidates, given how many of the picture's candidates look like dice.

    A textured ground has hundreds of candidates, each of which looks a little like a die. The share of dice among the
    candidates, which is the prior, is the most likely one (Saerens et al., 2002), with _TRAINED_ON squares of the
    training data added.
    """
    nothing = CLASSES.index(NOTHING)
    is_die = 1 - chances[:, nothing]
    odds = is_die / np.maximum(1 - is_die, 1e-9) * (1 - _TRAINED_SHARE) / _TRAINED_SHARE
    share = _TRAINED_SHARE
    for _ in range(_SHARE_STEPS):
        likely = share * odds / (share * odds + 1 - share)
        share = (float(likely.sum()) + _TRAINED_ON * _TRAINED_SHARE) / (len(chances) + _TRAINED_ON)
    weights = np.full(len(CLASSES), share / _TRAINED_SHARE, dtype=np.float32)
    weights[nothing] = (1 - share) / (1 - _TRAINED_SHARE)
    weighted = chances * weights
    return np.asarray(weighted / weighted.sum(axis=1, keepdims=True), dtype=np.float32)


def _class_probabilities(given: Floats, networks: Networks, settings: FindingSettings) -> Floats:
    """Convert the network's output to probabilities (n, classes), without modifying it."""
    odds = given / networks.temperature
    odds[:, CLASSES.index(COCKED)] += math.log(settings.leaning)
    chances = np.exp(odds - odds.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), dtype=np.float32)
