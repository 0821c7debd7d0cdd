"""Adapting learned colours to a camera that shows them more or less saturated than the one they were learned with, and
to the light of the picture.

One factor must fit all pieces. It acts on grey levels, so a strong colour becomes much stronger in linear light.

A lamp's reflection on the discs is white light that is strongest somewhere and fades around it. Under it a black disc
is as bright as a white one in the shade. Only together the discs show which it is, since the reflection changes
smoothly across the board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vision.frame import FloatArray
from vision.readers.discs.appearance import DARK_FLOOR, DiscAppearance, DiscColours, colour_of_shares, shares_of
from vision.readers.discs.lighting import ColourClassifier
from vision.sampling import TONE_CURVE


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
