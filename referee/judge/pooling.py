"""Several readings of one resting table, made into one that a single bad frame cannot spoil."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vision.reading import Reading


@dataclass(frozen=True)
class PooledPlace:
    """What several readings say of one place.

    ``log_probabilities`` maps every look of the game to the natural log of its probability; ``sides`` maps the
    compass sides that were seen to the log-probabilities of the symbols there.
    """

    log_probabilities: Mapping[str, float]
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The most probable look."""
        return max(self.log_probabilities, key=lambda look: self.log_probabilities[look])

    def lead(self, look: str, other: str) -> float:
        """By how many log-odds ``look`` leads ``other`` here."""
        return self.log_probabilities[look] - self.log_probabilities[other]

    @property
    def certainty(self) -> float:
        """By how many log-odds the best look leads the second best."""
        ranked = sorted(self.log_probabilities.values(), reverse=True)
        return ranked[0] - ranked[1] if len(ranked) > 1 else math.inf


@dataclass(frozen=True)
class PooledReading:
    """Several readings as one: the places that could be seen, and those that could not."""

    places: Mapping[str, PooledPlace]
    hidden: frozenset[str]
    time_s: float
    sequence: int

    def log_probability(self, place: str, look: str) -> float:
        """The log-probability of a look at a place; 0 where the place is hidden, since that says nothing."""
        seen = self.places.get(place)
        return 0.0 if seen is None else seen.log_probabilities[look]

    def without(self, places: Iterable[str]) -> PooledReading:
        """The same with ``places`` treated as hidden."""
        dropped = frozenset(places)
        kept = {place: seen for place, seen in self.places.items() if place not in dropped}
        return PooledReading(kept, self.hidden | dropped, self.time_s, self.sequence)


def _pool_distributions(
    distributions: Sequence[Mapping[str, float]], names: Sequence[str], floor: float
) -> dict[str, float]:
    table = np.array([[distribution.get(name, 0.0) for name in names] for distribution in distributions])
    # The median of the logs ignores a minority of bad frames; frames of one resting table err together, so a long
    # look may not make the sum any surer than one frame.
    logs = np.median(np.log(np.clip(np.nan_to_num(table), floor, 1.0)), axis=0)
    logs = logs - np.logaddexp.reduce(logs)
    return {name: float(value) for name, value in zip(names, np.maximum(logs, math.log(floor)), strict=True)}


def pool(readings: Sequence[Reading], places: Sequence[str], looks: Sequence[str], floor: float) -> PooledReading:
    """Pool readings of one resting table, in the order they were taken.

    For each place the median over the readings of each look's log-probability is taken and normalised; a place
    hidden in at least half of the readings counts as hidden. Looks a reading does not name count as ``floor``.
    Raises ValueError without readings.
    """
    if not readings:
        raise ValueError("no readings to pool; expected at least one")
    pooled: dict[str, PooledPlace] = {}
    hidden: set[str] = set()
    for place in places:
        seen = [
            reading.places[place]
            for reading in readings
            if place in reading.places and reading.places[place].hidden_by is None
        ]
        if 2 * len(seen) <= len(readings):
            hidden.add(place)
            continue
        symbols_by_side: dict[str, list[Mapping[str, float]]] = {}
        for one in seen:
            for side, symbols in one.sides.items():
                symbols_by_side.setdefault(side, []).append(symbols)
        sides = {
            side: _pool_distributions(given, sorted({name for one in given for name in one}), floor)
            for side, given in sorted(symbols_by_side.items())
            if 2 * len(given) > len(seen) and any(given)
        }
        pooled[place] = PooledPlace(_pool_distributions([one.probabilities for one in seen], looks, floor), sides)
    last = readings[-1]
    return PooledReading(pooled, frozenset(hidden), last.time_s, last.sequence)
