"""Finding dice in a picture: one network locates their centres, another reads the upper side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.opencv import as_lab
from vision.readers.dice.leaning import leaning_odds
from vision.readers.dice.networks import (
    CELL_PX,
    CLASSES,
    COCKED,
    DIE_IN_CROP_PX,
    NOTHING,
    Networks,
    SquareView,
    crop,
    normalised,
    square_input,
)
from vision.readers.networks import Floats, Network
from vision.sampling import median

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
    """

    x_px: float
    y_px: float
    side_px: float
    heat: float


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
    return _without_duplicates([(one.heat, one) for one in sized], _SAME_DIE)


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


def _without_duplicates(weighted: Sequence[tuple[float, CandidateT]], apart: float) -> list[CandidateT]:
    """Return the strongest of each group of candidates that are the same die."""
    kept: list[CandidateT] = []
    for _, one in sorted(weighted, key=lambda pair: -pair[0]):
        if all(_distance(one, other) > apart * (one.side_px + other.side_px) / 2 for other in kept):
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
    for one, chance in zip(placed, chances, strict=True):
        if 1 - chance[CLASSES.index(NOTHING)] >= settings.least_die:
            square = crop(image, one.x_px, one.y_px, one.side_px)
            die = FoundDie(one.x_px, one.y_px, one.side_px, one.heat, chance, square)
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
        second, better = _run_classifier(image, [placed[index] for index in again], networks, slant_at, turned_deg=45.0)
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
    turned_deg: float = 0.0,
) -> tuple[Floats, list[Candidate]]:
    """Return the second network's log-probabilities (n, classes) of candidates, and their corrected positions.

    Where the camera's position is unknown, squares are cut out rotated by ``turned_deg``.
    """
    views = [
        SquareView(turned_deg) if slant_at is None else SquareView.of(slant_at(one.x_px, one.y_px))
        for one in candidates
    ]
    given = networks.faces.run(square_input(_crops(image, candidates, views), views))
    placed = []
    for one, view, shape in zip(candidates, views, given[:, len(CLASSES) :].tolist(), strict=True):
        across, down, longer = (min(max(value, -_MAX_SHIFT), _MAX_SHIFT) for value in shape)
        turn = math.radians(view.turned_deg)
        x = one.x_px + one.side_px * (across * math.cos(turn) + down * math.sin(turn))
        y = one.y_px + one.side_px * (down * math.cos(turn) - across * math.sin(turn))
        placed.append(Candidate(x, y, one.side_px * math.exp(longer), one.heat))
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


def _class_probabilities(given: Floats, networks: Networks, settings: FindingSettings) -> Floats:
    """Convert the network's output to probabilities (n, classes), without modifying it."""
    odds = given / networks.temperature
    odds[:, CLASSES.index(COCKED)] += math.log(settings.leaning)
    chances = np.exp(odds - odds.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), dtype=np.float32)
