"""Whose a disc is by its colour, under a light that the paper tells only about.

How bright a picture is beside its paper is open by some amount: paper that is too bright for the camera, a lamp on one
side, a shadow. The pieces themselves tell: one amount must fit all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray
from vision.readers.discs.appearance import DARK_FLOOR, colour_of_shares, shares_of


@dataclass(frozen=True)
class ColourSettings:
    """When a colour is a taught one; set by hand, like those of ``DiscSettings``."""

    hue_spread: float = 0.16
    """Standard deviation of a taught hue, in log units. Larger: other lamps forgiven, hues told apart less surely."""
    brightness_spread: float = 0.28
    """The same of its brightness, after the light was made alike."""
    light_spread: float = 0.45
    """Standard deviation of the light beside the paper's, in log units."""
    light_most: float = 1.3
    """Most and least of it that is tried, as a logarithm."""
    light_step: float = 0.1
    """Step in which it is tried."""
    far: float = 3.5
    """Distance, in standard deviations, beyond which a disc says no more about the light."""
    freedom: float = 6.0
    """Degrees of freedom of Student's distribution, by which distances from colours become likelihoods. Lower: a
    colour that is far from both players' tells less.
    """
    glossy: float = 0.04
    """Share of discs in whose top a lamp is mirrored. Higher: pale discs are less surely the paler player's."""
    gloss: float = 0.3
    """Mean of the light that this adds, in shares of paper's."""


class ColourJudge:
    """Says how far colours are from each player's, in standard deviations."""

    def __init__(self, colours: Mapping[str, FloatArray], settings: ColourSettings = ColourSettings()) -> None:
        self._settings = settings
        self._players = tuple(colours)
        count = round(settings.light_most / settings.light_step)
        self._lights = np.arange(-count, count + 1) * settings.light_step
        # linear light of each player's colour under each light, of paper's: (lights, players, 3)
        self._shares = np.array(
            [
                [(shares_of(colour) - DARK_FLOOR) * np.exp(light) for colour in colours.values()]
                for light in self._lights
            ]
        ).reshape(len(self._lights), len(self._players), 3)
        # evenly spaced in the logarithm, so that the density of each step is its share times its place
        self._gloss = np.geomspace(0.02, 1.2, 16)
        density = self._gloss * np.exp(-self._gloss / settings.gloss)
        self._gloss_weights = settings.glossy * density / density.sum()
        self._spreads = np.array([settings.hue_spread, settings.hue_spread, settings.brightness_spread])

    def distances(self, colours: Sequence[FloatArray], paper: FloatArray, light: float) -> list[dict[str, float]]:
        """The distance of each colour from each player's under a light that ``light`` gave."""
        if not self._players or not colours:
            return [{} for _ in colours]
        index = int(np.argmin(np.abs(self._lights - light)))
        apart = self._apart(colours, paper)[index]
        return [dict(zip(self._players, map(float, row), strict=True)) for row in apart]

    def log_likelihoods(self, colours: Sequence[FloatArray], paper: FloatArray, light: float) -> list[dict[str, float]]:
        """The log-likelihood of each colour as each player's, to whose disc a mirrored lamp may add its white light."""
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
        """The light beside the paper's, as a logarithm, that makes discs of these colours most like the players'."""
        if not self._players or not colours:
            return 0.0
        nearest = np.minimum(self._apart(colours, paper).min(axis=2), self._settings.far)
        costs = (nearest**2).sum(axis=1) + (self._lights / self._settings.light_spread) ** 2
        return float(self._lights[int(costs.argmin())])

    def _apart(self, colours: Sequence[FloatArray], paper: FloatArray) -> FloatArray:
        """Distances, (lights, colours, players); a channel that is full holds no more."""
        full = 1 / np.maximum(paper, 1e-3)
        expected = np.minimum(np.maximum(self._shares, 0.0), full) + DARK_FLOOR
        off = (np.asarray(colours)[None, :, None] - colour_of_shares(expected)[:, None]) / self._spreads
        return np.asarray(np.sqrt((off**2).sum(axis=-1)))
