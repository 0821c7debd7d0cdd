"""How clear a picture is as a whole: whether it is too dark, too bright, hazy or blurred to show what differs little.

Every picture of a table shows something nearly black and something nearly white: markers are both. Fog, breath or a
smudge on the lens adds light everywhere, and black becomes grey. That light is taken away (He, Sun and Tang 2009),
which makes noise stronger. In too little light, white is dark, or a camera that makes up for it adds noise. An
edge's width is its contrast divided by its steepest slope. A camera that codes a picture too coarsely takes away what
differs little, and the noise with it: no sensor is without.

Where only some places show little, they are compared with the others: a lamp's reflection makes what is dark there
brighter, and shade what is bright there darker.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import cv2
import numpy as np

from common.phrases import Phrase
from vision.frame import FloatArray, Image
from vision.opencv import as_grey
from vision.reading import HindranceKind
from vision.sampling import MAD_TO_SIGMA, linear_light, linear_light_table


@dataclass(frozen=True)
class ClarityLimits:
    """Limits for a good picture, as in docs/set-up.md. Set by hand on ray-traced pictures under 30 hardships."""

    darkest: float = 30.0
    brightest: float = 230.0
    """Mean grey levels, 0 to 255, below and above which a picture is too dark or too bright."""
    least_white: float = 80.0
    """Grey level of the brightest things below which a picture is too dark. Higher: names dimmer light."""
    extreme_share: float = 0.002
    """Share of the pixels that are brighter, or darker, than what counts as the brightest or darkest things. It must be
    less than markers cover.
    """
    most_noise: float = 0.08
    """Noise, as a share of the difference between the brightest and the darkest things, above which there is too little
    light. Lower: names weaker noise.
    """
    most_black: float = 0.3
    """Linear light of the darkest things, as a share of the brightest, above which a picture is hazy. Lower: thinner
    haze is named, and taken away.
    """
    least_levels: float = 5.0
    """Difference between the brightest and the darkest things, in grey levels, below which nothing is seen at all."""
    black: float = 0.03
    """Linear light of the darkest things, as a share of the brightest, without haze. Higher: less light is taken away.
    """
    other_light: float = 2.0
    """Ratio of the light of doubtful places to that of others, of what is dark or bright on both, from which light is
    the reason. Higher: names it less often.
    """
    end_share: float = 0.05
    """Share of a place's pixels that count as its dark or its bright end."""
    widest_edge_px: float = 4.0
    """Width of the sharpest edges, in pixels, above which a picture is out of focus. Higher: allows more blur."""
    edge_share: float = 0.2
    """Contrast of an edge, as a share of the difference between the brightest and the darkest things, from which it
    counts. Lower: faint edges, which noise makes sharp, count too.
    """
    over_noise: float = 8.0
    """The same as a multiple of the noise."""
    fewest_edges: int = 50
    """Pixels on such edges that are needed to judge the sharpness."""
    sharpest_share: float = 0.1
    """Share of the edges that may be sharper than the one that counts: a picture may be blurred beside the board."""


_LIMITS = ClarityLimits()
_EDGE_WINDOW = np.ones((13, 13), np.uint8)
"""Within it, in pixels, an edge's contrast is reached."""
_STEPS_A_LEVEL = np.float32(128)
"""Steps into which a grey level is divided when slopes are compared."""
_BAND_PX = 48
"""Height of the bands in which edges are looked for, and of the gaps between them."""
_APART_PX = 3
"""Spacing of the pixels whose levels are counted."""
_SECOND_DIFFERENCE, _DIFFERENCES = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32), 6
"""Of noise, a filter with so many times the deviation; of a plane or a straight edge, nothing (Immerkaer 1996)."""

REMEDIES: Mapping[HindranceKind, tuple[Phrase, Phrase]] = MappingProxyType(
    {
        HindranceKind.DARK: (
            Phrase("the picture is too dark"),
            Phrase("switch on a lamp, or take the cap off the lens"),
        ),
        HindranceKind.GLARE: (
            Phrase("the picture is too bright"),
            Phrase("turn a lamp away, or lower the camera's exposure"),
        ),
        HindranceKind.HAZE: (Phrase("the picture is hazy"), Phrase("wipe the lens")),
        HindranceKind.BLUR: (Phrase("the picture is blurred"), Phrase("turn the lens, and hold the camera still")),
        HindranceKind.COARSE: (
            Phrase("the picture is too coarse"),
            Phrase("bring the camera nearer, give more light, or raise the size and quality of its pictures"),
        ),
        HindranceKind.UNCLEAR: (
            Phrase("much of the table shows unclearly"),
            Phrase("look for odd light, dirt and wear"),
        ),
    }
)
"""What is wrong with a picture that isn't clear, and what to do."""


@dataclass(frozen=True, eq=False)
class Clarity:
    """What is measured in one picture, (rows, columns) or (rows, columns, 3), uint8."""

    image: Image

    @cached_property
    def grey(self) -> Image:
        """The picture in grey levels, (rows, columns), uint8."""
        return as_grey(self.image)

    @cached_property
    def is_colourless(self) -> bool:
        """Whether the picture is black and white, as of a camera at night."""
        part = self.image[::8, ::8]
        return part.ndim == 2 or bool((part == part[..., :1]).all())

    @cached_property
    def mean_level(self) -> float:
        """The mean grey level."""
        return float(cv2.mean(self.grey)[0])

    @cached_property
    def extremes(self) -> tuple[float, float]:
        """The grey levels of the darkest and the brightest things."""
        darkest, brightest = _extremes(self.grey)
        return float(darkest), float(brightest)

    @cached_property
    def is_hazy(self) -> bool:
        """Whether there is light even on the darkest things."""
        darkest, brightest = self.extremes
        black, white = linear_light(np.array([[darkest, brightest]], dtype=np.uint8))[0]
        return brightest - darkest >= _LIMITS.least_levels and bool(black > _LIMITS.most_black * white)

    def without_haze(self, image: Image) -> Image:
        """Return a colour picture taken at about the same time without the light that haze adds."""
        if not self.is_hazy:
            return image
        darkest, brightest = linear_light(
            np.array([_extremes(image[..., channel]) for channel in range(3)], dtype=np.uint8)
        ).T
        added = np.maximum((darkest - _LIMITS.black * brightest) / (1 - _LIMITS.black), 0.0)
        table = linear_light_table()
        cleared = (table[:, None] - added) * brightest / (brightest - added)
        levels = np.interp(cleared, table, np.arange(table.size))
        return np.asarray(cv2.LUT(image, np.round(levels)[None].astype(np.uint8)))

    @cached_property
    def noise(self) -> float:
        """The standard deviation of the noise, in grey levels."""
        rough = np.abs(cv2.filter2D(self.grey[::2], cv2.CV_16S, _SECOND_DIFFERENCE)).ravel()[:: 2 * _APART_PX + 1]
        return MAD_TO_SIGMA * float(np.median(rough)) / _DIFFERENCES

    @cached_property
    def edge_px(self) -> float | None:
        """The width of the sharpest edges, in pixels: 2 to 3 if in focus, ``None`` for a picture without edges."""
        darkest, brightest = self.extremes
        least = max(_LIMITS.edge_share * (brightest - darkest), _LIMITS.over_noise * self.noise, 1.0)
        # bands are enough, and small arrays stay in the processor's cache
        starts = range(0, self.grey.shape[0], 2 * _BAND_PX)
        widths = np.concatenate(
            [_edge_widths(self.grey[start : start + _BAND_PX], math.ceil(least)) for start in starts]
        )
        if len(widths) < _LIMITS.fewest_edges:
            return None
        return float(np.quantile(widths, _LIMITS.sharpest_share))

    @cached_property
    def trouble(self) -> HindranceKind | None:
        """What makes it hard to see anything in this picture, if anything does."""
        darkest, brightest = self.extremes
        if self.mean_level < _LIMITS.darkest or brightest < _LIMITS.least_white:
            return HindranceKind.DARK
        if self.mean_level > _LIMITS.brightest:
            return HindranceKind.GLARE
        if self.is_hazy:
            return HindranceKind.HAZE
        if self.edge_px is not None and self.edge_px > _LIMITS.widest_edge_px:
            return HindranceKind.BLUR
        if self.noise > _LIMITS.most_noise * max(brightest - darkest, 1.0):
            return HindranceKind.DARK
        is_even = brightest - darkest < _LIMITS.least_levels
        return None if self.noise or is_even else HindranceKind.COARSE


def trouble_on(doubtful: Sequence[Image], others: Sequence[Image]) -> HindranceKind:
    """Return what makes it hard to see some places of a clear picture, given their pixels and those of the others."""
    if not doubtful or not others:
        return HindranceKind.UNCLEAR
    (dark, bright), (other_dark, other_bright) = (
        np.median(_light_ends(places), axis=1).tolist() for places in (doubtful, others)
    )
    if dark > _LIMITS.other_light * other_dark:
        return HindranceKind.GLARE
    return HindranceKind.DARK if _LIMITS.other_light * bright < other_bright else HindranceKind.UNCLEAR


def _edge_widths(grey: Image, least: int) -> FloatArray:
    """Return the widths of the edges, in pixels, of at least that contrast in grey levels."""
    # whole numbers: OpenCV finds extremes of floats several times slower
    smooth = cv2.GaussianBlur(grey, (3, 3), 0)
    across, down = (cv2.Sobel(smooth, cv2.CV_32F, *way, scale=1 / 8) for way in ((1, 0), (0, 1)))
    slope = (_STEPS_A_LEVEL * cv2.magnitude(across, down)).astype(np.uint16)
    contrast = cv2.dilate(smooth, _EDGE_WINDOW) - cv2.erode(smooth, _EDGE_WINDOW)
    strong = (contrast >= least) & (slope >= cv2.dilate(slope, _EDGE_WINDOW)) & (slope > 0)
    return np.asarray(_STEPS_A_LEVEL * contrast[strong] / slope[strong], dtype=np.float64)


def _light_ends(places: Sequence[Image]) -> FloatArray:
    """Return the linear light of what is dark, and of what is bright, on each of some places, (2, places)."""
    shares = [_LIMITS.end_share, 1 - _LIMITS.end_share]
    levels = np.array([np.quantile(as_grey(place), shares) for place in places]).T
    return np.asarray(linear_light_table()[np.round(levels).astype(np.intp)], dtype=np.float64)


def _extremes(levels: Image) -> tuple[int, int]:
    """Return the levels of the darkest and of the brightest things in one channel."""
    counts = np.bincount(levels[::_APART_PX, ::_APART_PX].ravel(), minlength=256).cumsum()
    shares = np.array([_LIMITS.extreme_share, 1 - _LIMITS.extreme_share])
    darkest, brightest = np.searchsorted(counts, shares * counts[-1]).tolist()
    return darkest, brightest
