"""Whether a die leans: what a network sees in squares around it, and cubes fitted to its outline.

The silhouette of a convex body has a farthest point in each direction of the picture. For a rounded cube in any
orientation, seen from a known position, this distance (its support function) has a closed form, so all orientations are
compared with the outline at once. Side faces that a flat die would hide, and a foreshortened upper side, both show.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np

from vision.frame import FloatArray, Image, IndexArray
from vision.opencv import as_lab, points_2d
from vision.readers.dice.networks import Networks, SquareView, crop, square_input
from vision.sampling import median, quantile

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
class OutlineSettings:
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

    ``scripts/training/leaning.py`` fitted the weights to dice that an earlier network was not sure to lie flat. Fitted
    to the present one (0.75, 5.81, -1.9, 2.77), they notice more leaning dice, but also take flat ones in blurred and
    noisy pictures for leaning.
    """

    network: float = 0.63
    gain: float = 7.82
    slant: float = -2.21
    constant: float = 1.66

    def of(self, network_odds: float, gain: float, slant: float) -> float:
        """Combine the network's log-odds with the value of ``leaning_gain``, given ``networks.SquareView.slant``."""
        return self.network * network_odds + self.gain * gain + self.slant * slant + self.constant


_OUTLINE = OutlineSettings()
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
