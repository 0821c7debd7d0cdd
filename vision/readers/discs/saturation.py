"""Adapting learned colours to a camera that shows them more or less saturated than the one they were learned with, and
to the light of the picture.

One factor must fit all pieces. It acts on grey levels, so a strong colour becomes much stronger in linear light.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray
from vision.readers.discs.appearance import DARK_FLOOR, DiscAppearance, DiscColours, colour_of_shares, shares_of
from vision.readers.discs.glare import NO_GLARE, Glare, fit_glare
from vision.readers.discs.lighting import ColourClassifier
from vision.sampling import TONE_CURVE


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


_SETTINGS = SaturationSettings()


@dataclass(frozen=True, eq=False)
class PictureLight:
    """The piece set as a picture shows it: its colours, what tells them apart, the log of the light on the discs
    relative to paper, a lamp's reflection on all of them, the share of discs that reflect one by themselves, and the
    linear light of white paper, (3,).
    """

    looks: DiscAppearance
    classifier: ColourClassifier
    level: float
    glare: Glare
    glossy: float
    paper: FloatArray

    def distances(self, colours: Sequence[FloatArray], centres_mm: FloatArray) -> list[dict[str, float]]:
        """Return the distance of each disc's colour from each player's, as ``ColourClassifier.distances`` does."""
        return self.classifier.distances(colours, self.paper, self.level, self.glare.at(centres_mm))

    def log_likelihoods(self, colours: Sequence[FloatArray], centres_mm: FloatArray) -> list[dict[str, float]]:
        """Return the log-likelihood of each disc's colour for each player."""
        glare = self.glare.at(centres_mm)
        return self.classifier.log_likelihoods(colours, self.paper, self.level, self.glossy, glare)

    def colours_at(self, centre_mm: FloatArray, player: str) -> FloatArray:
        """Return the colours of a player's disc at a point, and of the ball without and with the lamp's reflection,
        which may miss it, (2 or 3, 3).
        """
        own = self.looks.players[player]
        disc, ball = np.stack([own.disc, own.ball]) + np.array([0.0, 0.0, self.level])
        if self.glare is NO_GLARE:
            return np.stack([disc, ball])
        return np.stack([self.glare.on(disc, centre_mm, self.paper), ball, self.glare.on(ball, centre_mm, self.paper)])


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
    for factor in _SETTINGS.factors if cost > _SETTINGS.misfit * len(colours) else ():
        seen = with_saturation(looks, paper, factor)
        classifier = ColourClassifier({player: own.disc for player, own in seen.players.items()})
        level, unlike = classifier.fit_light(colours, paper)
        unlike += (np.log(factor) / _SETTINGS.spread) ** 2
        if unlike < cost:
            best, cost = (seen, classifier, level, NO_GLARE), unlike
    if cost > _SETTINGS.glare_misfit * len(colours):
        looks, classifier, *_ = best
        reflected = fit_glare(classifier, colours, centres_mm, paper, cost)
        if reflected is not None:
            best = looks, classifier, *reflected
    looks, classifier, level, glare = best
    glossy = classifier.glossy_share(colours, paper, level, glare.at(centres_mm))
    return PictureLight(looks, classifier, level, glare, glossy, paper)


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
