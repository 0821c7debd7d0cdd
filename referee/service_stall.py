"""Squares that can't be read for long: named once each, while the game goes on without them."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Appearance, Place
from referee.judge.words import stalled
from referee.verdict import Verdict, VerdictKind
from vision.reading import Reading


def unreadable_places(reading: Reading, sure_probability: float) -> tuple[Place, ...]:
    """Give the places that are hidden or doubtful, and under which no sensor tells whether anything stands there."""
    return tuple(
        place
        for place, seen in reading.places.items()
        if seen.sensed is None
        and (seen.hidden_by is not None or not seen.probabilities or seen.best[1] < sure_probability)
    )


class StallWatch:
    """Follows since when each place could not be read; feed it the readings of tables at rest, in order.

    A place is unreadable while something hides it or its best look has less than ``sure_probability``, unless a sensor
    tells whether anything stands there. It is named once it has been so for ``after_s`` seconds, and again only after
    it could be read meanwhile.
    """

    def __init__(self, after_s: float, sure_probability: float) -> None:
        self._after_s = after_s
        self._sure_probability = sure_probability
        self._since_s: dict[str, float] = {}
        self._named: set[str] = set()

    def add(self, reading: Reading) -> tuple[str, ...]:
        """Take a reading; give the places to name now, all that are unreadable for long if any of them is new."""
        unreadable = unreadable_places(reading, self._sure_probability)
        self._since_s = {place: self._since_s.get(place, reading.time_s) for place in unreadable}
        self._named &= set(unreadable)
        stalled = {place for place, since_s in self._since_s.items() if reading.time_s - since_s >= self._after_s}
        if stalled <= self._named:
            return ()
        self._named |= stalled
        return tuple(place for place in unreadable if place in stalled)


def stall_verdict(believed: Appearance, places: Sequence[Place], reading: Reading, after_s: float) -> Verdict:
    """Ask about places that could not be read for ``after_s`` seconds."""
    return Verdict(
        VerdictKind.AMBIGUOUS,
        stalled(places, after_s),
        reading.time_s,
        reading.sequence,
        places=tuple(places),
        expected={place: believed[place] for place in places},
    )
