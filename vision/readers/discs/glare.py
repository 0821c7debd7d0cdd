"""A lamp's reflection on the discs of a picture: white light that is strongest somewhere and fades around it.

Under it a black disc is as bright as a white one in the shade. Only together the discs show which it is, since the
reflection changes smoothly across the board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vision.frame import FloatArray
from vision.readers.discs.appearance import DARK_FLOOR, colour_of_shares, shares_of
from vision.readers.discs.lighting import ColourClassifier


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


_SETTINGS = GlareSettings()


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
    sides = (np.linspace(low[axis], high[axis], _SETTINGS.steps).tolist() for axis in (0, 1))
    tried = [
        Glare(x, y, spread * across_mm, strength)
        for x, y, spread, strength in product(*sides, _SETTINGS.spreads, _SETTINGS.strengths)
    ]
    light, best, cost = _best(classifier, colours, centres_mm, paper, _SETTINGS.lights, tried)
    for number in range(_SETTINGS.refined if cost < cost_without + _SETTINGS.gained else 0):
        step = 0.5 ** (number + 1)
        moved_mm = step * across_mm / _SETTINGS.steps
        near = [
            Glare(
                best.x_mm + x * moved_mm,
                best.y_mm + y * moved_mm,
                best.spread_mm * 2 ** (wider * step),
                best.strength * 2 ** (stronger * step),
            )
            for x, y, wider, stronger in product((-1, 0, 1), repeat=4)
        ]
        lights = [light + brighter * step * _SETTINGS.lights[-1] for brighter in (-1, 0, 1)]
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
    costs = costs + [_SETTINGS.cost + _SETTINGS.cost_of_strength * one.strength for one in tried]
    light, glare = divmod(int(costs.argmin()), len(tried))
    return lights[light], tried[glare], float(costs.min())
