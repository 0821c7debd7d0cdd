"""Adapting learned colours to a camera that shows them more or less saturated than the one they were learned with.

One factor must fit all pieces. It acts on grey levels, so a strong colour becomes much stronger in linear light.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray
from vision.readers.discs.appearance import DARK_FLOOR, DiscAppearance, DiscColours, colour_of_shares, shares_of
from vision.readers.discs.lighting import ColourClassifier
from vision.sampling import TONE_CURVE


@dataclass(frozen=True)
class SaturationSettings:
    """Which saturations are tried; those of cameras' own settings, from pale to vivid."""

    factors: tuple[float, ...] = (0.6, 0.75, 1.25, 1.5, 1.75)
    """Factors that are tried besides 1. More: slower, more exact."""
    spread: float = 0.3
    """Standard deviation of such a factor, in log units. Larger: discs of other colours pass for these more easily."""
    misfit: float = 1.5
    """Mean squared distance of discs from the colours learned, in standard deviations, above which other saturations
    are tried. Higher: faster, and weak changes go unnoticed.
    """


_SETTINGS = SaturationSettings()


@dataclass(frozen=True, eq=False)
class PictureLight:
    """The piece set as a picture shows it: its colours, what tells them apart, the log of the light on the discs
    relative to paper, and the share of discs that reflect a lamp.
    """

    looks: DiscAppearance
    classifier: ColourClassifier
    level: float
    glossy: float


def light_of(
    looks: DiscAppearance, classifier: ColourClassifier, colours: Sequence[FloatArray], paper: FloatArray
) -> PictureLight:
    """Return the light, and the learned colours at the saturation, that explain the colours (3,) of some discs best.

    ``looks`` and ``classifier`` are the piece set as it was learned, ``paper`` (3,) is the linear light of white paper.
    """
    level, cost = classifier.fit_light(colours, paper)
    best = looks, classifier, level
    for factor in _SETTINGS.factors if cost > _SETTINGS.misfit * len(colours) else ():
        seen = with_saturation(looks, paper, factor)
        classifier = ColourClassifier({player: own.disc for player, own in seen.players.items()})
        level, unlike = classifier.fit_light(colours, paper)
        unlike += (np.log(factor) / _SETTINGS.spread) ** 2
        if unlike < cost:
            best, cost = (seen, classifier, level), unlike
    looks, classifier, level = best
    return PictureLight(looks, classifier, level, classifier.glossy_share(colours, paper, level))


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
