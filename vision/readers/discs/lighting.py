"""Assigning discs to players by colour, with the overall brightness estimated from the pieces.

Brightness relative to the paper is uncertain: overexposed paper, a lamp on one side, a shadow. One correction must fit
all pieces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray
from vision.readers.discs.appearance import DARK_FLOOR, colour_of_shares, shares_of


@dataclass(frozen=True)
class ColourSettings:
    """When a colour matches a learned one; set by hand, like those of ``DiscSettings``."""

    hue_spread: float = 0.16
    """Standard deviation of a hue, in log units. Larger: tolerates other lamps, distinguishes hues less reliably."""
    brightness_spread: float = 0.28
    """Standard deviation of brightness, after the correction of the light."""
    light_spread: float = 0.45
    """Standard deviation of the light relative to paper, in log units."""
    light_most: float = 1.3
    """Largest correction tried, up or down, as a logarithm."""
    light_step: float = 0.1
    """Step between corrections."""
    far: float = 3.5
    """Distance, in standard deviations, beyond which a disc does not influence the correction."""
    freedom: float = 6.0
    """Degrees of freedom of Student's distribution, which turns distances from colours into likelihoods. Lower: a
    colour far from both players' is weaker evidence.
    """
    glossy: float = 0.04
    """Share of discs whose top reflects a lamp. Higher: pale discs are assigned to the paler player less reliably."""
    gloss: float = 0.3
    """Mean light added by such a reflection, relative to paper."""


class ColourJudge:
    """Measures the distance of colours from each player's, in standard deviations."""

    def __init__(self, colours: Mapping[str, FloatArray], settings: ColourSettings = ColourSettings()) -> None:
        self._settings = settings
        self._players = tuple(colours)
        count = round(settings.light_most / settings.light_step)
        self._lights = np.arange(-count, count + 1) * settings.light_step
        # linear light of each player's colour under each correction, relative to paper: (lights, players, 3)
        self._shares = np.array(
            [
                [(shares_of(colour) - DARK_FLOOR) * np.exp(light) for colour in colours.values()]
                for light in self._lights
            ]
        ).reshape(len(self._lights), len(self._players), 3)
        # evenly spaced in the logarithm, so that the density of each step is proportional to its value
        self._gloss = np.geomspace(0.02, 1.2, 16)
        density = self._gloss * np.exp(-self._gloss / settings.gloss)
        self._gloss_weights = settings.glossy * density / density.sum()
        self._spreads = np.array([settings.hue_spread, settings.hue_spread, settings.brightness_spread])

    def distances(self, colours: Sequence[FloatArray], paper: FloatArray, light: float) -> list[dict[str, float]]:
        """Distance of each colour from each player's, with a light returned by ``light``."""
        if not self._players or not colours:
            return [{} for _ in colours]
        index = int(np.argmin(np.abs(self._lights - light)))
        apart = self._apart(colours, paper)[index]
        return [dict(zip(self._players, map(float, row), strict=True)) for row in apart]

    def log_likelihoods(self, colours: Sequence[FloatArray], paper: FloatArray, light: float) -> list[dict[str, float]]:
        """Log-likelihood of each colour for each player, allowing for the white reflection of a lamp."""
        if not self._players or not colours:
            return [{} for _ in colours]
        own = np.maximum(self._shares[int(np.argmin(np.abs(self._lights - light)))], 0.0)
        levels = np.concatenate([[0.0], self._gloss])
        expected = np.minimum(own + levels[:, None, None], 1 / np.maximum(paper, 1e-3)) + DARK_FLOOR
        off = (np.asarray(colours)[None, :, None] - colour_of_shares(expected)[:, None]) / self._spreads
        freedom = self._settings.freedom
        student = (1 + (off**2).sum(axis=-1) / freedom) ** (-(freedom + 1) / 2)
        weights = np.concatenate([[1 - self._settings.glossy], self._gloss_weights])
        logs = np.log(np.tensordot(weights, student, axes=1))
        return [dict(zip(self._players, map(float, row), strict=True)) for row in logs]

    def light(self, colours: Sequence[FloatArray], paper: FloatArray) -> float:
        """The light relative to paper, as a logarithm, under which these discs best match the players' colours."""
        if not self._players or not colours:
            return 0.0
        nearest = np.minimum(self._apart(colours, paper).min(axis=2), self._settings.far)
        costs = (nearest**2).sum(axis=1) + (self._lights / self._settings.light_spread) ** 2
        return float(self._lights[int(costs.argmin())])

    def _apart(self, colours: Sequence[FloatArray], paper: FloatArray) -> FloatArray:
        """Distances, (lights, colours, players); saturated channels are clamped."""
        full = 1 / np.maximum(paper, 1e-3)
        expected = np.minimum(np.maximum(self._shares, 0.0), full) + DARK_FLOOR
        off = (np.asarray(colours)[None, :, None] - colour_of_shares(expected)[:, None]) / self._spreads
        return np.asarray(np.sqrt((off**2).sum(axis=-1)))
