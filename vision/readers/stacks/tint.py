"""The hues of a set of pyramids in one picture: each lamp tints them, and each camera shows them stronger or weaker."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray

_ROUNDS = 4
"""Number of times that hues are assigned to the nearest colours and the tint is computed from these."""


@dataclass(frozen=True)
class HueSettings:
    """How far hues may be from those learned. Set by hand on ray-traced pictures and the same under other lights."""

    spread: float = 0.35
    """Standard deviation of a hue, in log units. Larger: distinguishes colours less reliably."""
    usual_cost: float = 10.0
    """Cost of a hue, as negative log-likelihood, from which it grows ever more slowly. Higher: outvotes more shapes."""
    tint_spread: float = 0.3
    """Standard deviation of a picture's tint, in log units. Larger: other colours pass for tinted ones more easily."""
    strengths: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.12, 1.25, 1.4, 1.6, 1.8)
    """Strengths of colours that are tried. More: slower, more exact."""
    strength_spread: float = 0.3
    """Standard deviation of the strength, in log units. Larger: other colours pass for strong ones more easily."""


_SETTINGS = HueSettings()


def hue_costs(hues: FloatArray, known: FloatArray) -> FloatArray:
    """Return the cost of each hue (..., n, 2) being each known one (k, 2), as negative log-likelihood, (..., n, k).

    It is Gaussian near a known hue; farther off it has a heavy tail, so that odd hues count little.
    """
    squares = ((hues[..., None, :] - known) ** 2).sum(axis=-1) / (2 * _SETTINGS.spread**2)
    return np.asarray(_SETTINGS.usual_cost * np.log1p(squares / _SETTINGS.usual_cost), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Tint:
    """How a picture changes hues: it multiplies them by ``strength`` and adds ``shift`` (2,)."""

    strength: float
    shift: FloatArray

    def without(self, hues: FloatArray) -> FloatArray:
        """Return hues (n, 2) as they were learned."""
        return np.asarray((hues - self.shift) / self.strength, dtype=np.float64)


def tint_of(hues: FloatArray, known: FloatArray) -> Tint:
    """Return the tint with which all hues of a picture (n, 2) are most like known ones (k, 2)."""
    strengths = np.array(_SETTINGS.strengths)[:, None, None]
    shifts = np.zeros((len(strengths), 1, 2))
    for _ in range(_ROUNDS):
        costs = hue_costs((hues - shifts) / strengths, known)
        nearest = known[costs.argmin(axis=-1)]
        weights = np.exp(-costs.min(axis=-1, keepdims=True) / _SETTINGS.usual_cost)
        prior = (strengths * _SETTINGS.spread / _SETTINGS.tint_spread) ** 2
        shifts = (weights * (hues - strengths * nearest)).sum(axis=1, keepdims=True)
        shifts /= weights.sum(axis=1, keepdims=True) + prior
    total = hue_costs((hues - shifts) / strengths, known).min(axis=-1).sum(axis=1)
    total += (np.log(strengths[:, 0, 0]) / _SETTINGS.strength_spread) ** 2 / 2
    total += (shifts[:, 0] ** 2).sum(axis=1) / (2 * _SETTINGS.tint_spread**2)
    best = int(total.argmin())
    return Tint(_SETTINGS.strengths[best], shifts[best, 0])
