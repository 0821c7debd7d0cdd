"""What several readings of one resting table say together, so that a single bad frame has no effect."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from statistics import median
from typing import TypeVar

import numpy as np

from common.phrases import Phrase
from engine.values import EMPTY, Appearance
from referee.judge.dice import SeenDice, pool_dice
from vision.reading import HindranceKind, PlaceChange, PlacePicture, PlaceReading, Reading

PIECE = Phrase("a piece")
"""The look of a place where only a sensor reports a piece: any look but empty."""

_IMPOSSIBLE = -30.0
"""The log-probability of what is taken to be impossible."""


@dataclass(frozen=True)
class PooledPlace:
    """What several readings say about one place.

    ``log_probabilities`` maps every look of the game to the natural log of its probability; ``sides`` maps the
    compass sides that were seen to the log-probabilities of the symbols there. With ``sensed_only`` the place
    is known by a sensor alone: every look but empty has the probability that something stands there. ``heights`` maps
    numbers of stacked pieces to their log-probabilities, given the best look; ``tops_mm`` maps them to where on its
    place the top piece would then be. ``picture`` is the newest. ``touched`` is the log-odds that a stack was
    touched since it was last known, by all that is seen of it, ``None`` if it never was; if given, ``heights`` assume
    that it was touched.
    ``rarer`` maps some looks to how much rarer the probabilities take them to be than the others, in log units.
    """

    log_probabilities: Mapping[str, float]
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sensed_only: bool = False
    heights: Mapping[int, float] = field(default_factory=dict)
    tops_mm: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    picture: PlacePicture | None = field(default=None, repr=False)
    touched: float | None = None
    rarer: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def best(self) -> str:
        """The most probable look; ``PIECE`` where only a sensor reports a piece."""
        best = max(self.log_probabilities, key=lambda look: self.log_probabilities[look])
        return PIECE if self.sensed_only and best != EMPTY else best

    def could_be(self, within: float, handwriting: float) -> tuple[str, ...]:
        """Return the looks that ``PooledReading.could_be`` gives this place."""
        if (within, handwriting) not in self._could_be:
            best = max(self.log_probabilities.values())
            more = 0.0 if self.log_probabilities.get(EMPTY) == best else handwriting
            self._could_be[within, handwriting] = tuple(
                look
                for look, value in self.log_probabilities.items()
                if value + self.rarer.get(look, 0.0) >= best - within - (0.0 if look == EMPTY else more)
            )
        return self._could_be[within, handwriting]

    @cached_property
    def _could_be(self) -> dict[tuple[float, float], tuple[str, ...]]:
        """The answers of ``could_be`` so far: a sheet has hundreds of places, and each is asked about many times."""
        return {}

    def agrees(self, look: str) -> bool:
        """Return whether what was observed here is consistent with ``look``."""
        return self.best == self.observable_look(look)

    def observable_look(self, look: str) -> str:
        """Return ``look`` as it can be observed here: unchanged, or ``PIECE`` where only a sensor reports."""
        return PIECE if self.sensed_only and look != EMPTY else look

    def lead(self, look: str, other: str) -> float:
        """Return the log-odds by which ``look`` leads ``other`` here."""
        return self._log_probability(look) - self._log_probability(other)

    def lead_if_allowed(self, look: str, other: str) -> float:
        """Return the log-odds by which ``look`` leads ``other`` if the rules allow both: then neither is rarer."""
        return self.lead(look, other) + self.rarer.get(look, 0.0) - self.rarer.get(other, 0.0)

    def _log_probability(self, look: str) -> float:
        if look == PIECE:
            return max(value for name, value in self.log_probabilities.items() if name != EMPTY)
        return self.log_probabilities[look]

    @property
    def certainty(self) -> float:
        """The log-odds by which the best look leads the second best; with only a sensor, all pieces are one look."""
        if self.sensed_only:
            return abs(self.lead(PIECE, EMPTY))
        ranked = sorted(self.log_probabilities.values(), reverse=True)
        return ranked[0] - ranked[1] if len(ranked) > 1 else math.inf


@lru_cache(maxsize=256)
def _certain(look: str, looks: tuple[str, ...]) -> PooledPlace:
    """Return a place that certainly has one of these looks."""
    return PooledPlace({one: 0.0 if one == look else _IMPOSSIBLE for one in looks})


@dataclass(frozen=True)
class Dispute:
    """A place about which camera and sensor contradict each other, both with certainty."""

    camera: PooledPlace
    sensor: PooledPlace


@dataclass(frozen=True)
class PooledReading:
    """Several readings pooled: the places known, and the hidden ones.

    ``disputed`` holds both views where camera and sensor contradict each other; ``places`` then has the camera's.
    ``sensed`` is what each sensor says, used or not; ``changes`` are those that sensors noticed, oldest first.
    ``dice`` are those on the table, ``None`` if dice are not read. ``covered`` are the hidden places that the camera
    looks at, with what hides each. ``settled`` are those that the camera misreads, but whose look is known: a person
    said it, or they were misread before. ``hindrances`` are the kinds that the newest picture has.
    """

    places: Mapping[str, PooledPlace]
    hidden: frozenset[str]
    time_s: float
    sequence: int
    disputed: Mapping[str, Dispute] = field(default_factory=dict)
    sensed: Mapping[str, bool] = field(default_factory=dict)
    changes: tuple[PlaceChange, ...] = ()
    dice: SeenDice | None = None
    covered: Mapping[str, HindranceKind | None] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()
    hindrances: frozenset[HindranceKind] = frozenset()

    @cached_property
    def touched(self) -> Mapping[str, float]:
        """The log-odds that each stack was touched, for the stacks known before."""
        return {place: one.touched for place, one in self.places.items() if one.touched is not None}

    def could_be(self, within: float, handwriting: float = 0.0) -> Mapping[str, tuple[str, ...]]:
        """Return for each visible place the looks within ``within`` log-odds of its best one.

        Where that is not empty, looks other than empty may be further away by ``handwriting``.
        """
        return {place: one.could_be(within, handwriting) for place, one in self.places.items()}

    def assuming(self, believed: Appearance, places: Iterable[str], looks: Sequence[str]) -> PooledReading:
        """Return a copy in which ``places`` certainly look as believed; ``looks`` are all of the game's looks."""
        sure = {place: _certain(believed[place], tuple(looks)) for place in places}
        known, hidden = {**self.places, **sure}, self.hidden - sure.keys()
        covered = {place: why for place, why in self.covered.items() if place not in sure}
        disputed = {place: one for place, one in self.disputed.items() if place not in sure}
        return replace(self, places=known, hidden=hidden, covered=covered, disputed=disputed)

    @cached_property
    def _only_sensed(self) -> frozenset[str]:
        """The places that a sensor alone knows; without any, thousands of changes are compared much faster."""
        return frozenset(place for place, one in self.places.items() if one.sensed_only)

    def only_sensed(self, place: str) -> bool:
        """Return whether a sensor alone knows this place."""
        return place in self._only_sensed

    def without(self, places: Iterable[str]) -> PooledReading:
        """Return a copy with ``places`` hidden."""
        dropped = frozenset(places)
        kept = {place: seen for place, seen in self.places.items() if place not in dropped}
        return replace(self, places=kept, hidden=self.hidden | dropped)

    def visible_changes(self, base: Appearance, changes: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Return ``observable_changes`` without those on hidden places."""
        return frozenset(
            (place, look) for place, look in self.observable_changes(base, changes) if place not in self.hidden
        )

    def observable_changes(self, base: Appearance, changes: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Return ``changes`` from ``base`` as they can be observed; changes on hidden places are kept.

        On a place with only a sensor, every piece is ``PIECE``.
        """
        if not self._only_sensed:
            return self.noticeable_changes(base, changes)
        return frozenset(
            (place, self.places[place].observable_look(look) if place in self.places else look)
            for place, look in self.noticeable_changes(base, changes)
        )

    def noticeable_changes(self, base: Appearance, changes: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Return ``changes`` from ``base`` without those a sensor can't notice: a piece replaced by another."""
        if not self._only_sensed:
            return frozenset(
                (place, look) for place, look in changes if place not in self.places or look != base.get(place, EMPTY)
            )
        return frozenset(
            (place, look)
            for place, look in changes
            if place not in self.places
            or self.places[place].observable_look(look) != self.places[place].observable_look(base.get(place, EMPTY))
        )

    def with_changes_since(self, time_s: float) -> PooledReading:
        """Return a copy with only the sensor changes after ``time_s``."""
        return replace(self, changes=tuple(change for change in self.changes if change.time_s > time_s))

    def without_new_disputes(self, believed: Appearance) -> PooledReading:
        """Return a copy without the places where camera and sensor disagree about something new.

        Where the camera sees what is believed, a sensor alone changes nothing. Where it sees something else and the
        sensor contradicts it, neither is trusted.
        """
        return self.without(
            place
            for place in self.disputed
            if place in self.places and not self.places[place].agrees(believed.get(place, EMPTY))
        )

    def with_earlier_disputes(self, earlier: Mapping[str, Dispute]) -> PooledReading:
        """Return a copy that keeps ``earlier`` disputes where the camera is covered and the sensor says the same.

        Such a place counts as hidden: a sensor that the camera contradicted is no better once the camera is covered.
        """
        going_on = {
            place: dispute
            for place, dispute in earlier.items()
            if self.only_sensed(place) and self.places[place].best == dispute.sensor.best
        }
        return replace(self.without(going_on), disputed={**self.disputed, **going_on}) if going_on else self

    def trusting_camera(self) -> PooledReading:
        """Return a copy that trusts the camera where sensors contradict it."""
        return replace(self, disputed={})

    def trusting_sensors(self) -> PooledReading:
        """Return a copy that trusts the sensors where they contradict the camera."""
        sensed = {place: dispute.sensor for place, dispute in self.disputed.items()}
        return replace(self, places={**self.places, **sensed}, hidden=self.hidden - set(sensed))


KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")
NameT = TypeVar("NameT", str, int)

_SURE_LOG_ODDS = 2.0
"""Camera and sensor contradict each other where both are surer than this, in log-odds: 7 to 1."""


def _pool_distributions(
    given: Mapping[KeyT, Sequence[Mapping[NameT, float]]], floor: float, names: Iterable[NameT] = ()
) -> dict[KeyT, dict[NameT, float]]:
    """Pool several distributions for each key into one of log-probabilities, over ``names`` if given."""
    every = tuple(names)
    same_names: dict[tuple[int, tuple[NameT, ...]], list[KeyT]] = {}
    for key, distributions in given.items():
        named = every or tuple(sorted({name for one in distributions for name in one}))
        same_names.setdefault((len(distributions), named), []).append(key)
    pooled = {}
    for (_, named), keys in same_names.items():
        # A place that did not change has the same distribution in each reading.
        distinct = {id(one): one for key in keys for one in given[key]}
        rows = {number: [one.get(name, 0.0) for name in named] for number, one in distinct.items()}
        table = np.array([[rows[id(one)] for one in given[key]] for key in keys])
        # The median of the logs ignores a minority of bad frames. Errors in frames of one resting table are
        # correlated, so many frames must not be more certain than one.
        logs = np.median(np.log(np.clip(np.nan_to_num(table), floor, 1.0)), axis=1)
        logs = np.maximum(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True), math.log(floor))
        for key, values in zip(keys, logs.tolist(), strict=True):
            pooled[key] = dict(zip(named, values, strict=True))
    return pooled


def pool(
    readings: Sequence[Reading],
    places: Sequence[str],
    looks: Sequence[str],
    floor: float,
    doubted: Mapping[str, bool] | None = None,
) -> PooledReading:
    """Pool readings of one resting table, in the order they were taken.

    For each place the median over the readings of each look's log-probability is taken and normalised; a place
    hidden in at least half of the readings counts as hidden. Looks that a reading does not name count as ``floor``.
    A sensor's probabilities (their median too) multiply the camera's, and count alone where the camera sees nothing.
    Where the two contradict each other the place is ``disputed`` and the camera counts alone. A sensor with the value
    that ``doubted`` holds for its place is ignored. Raises ValueError without readings.
    """
    if not readings:
        raise ValueError("no readings to pool; expected at least one")
    pooled: dict[str, PooledPlace] = {}
    hidden: set[str] = set()
    disputed: dict[str, Dispute] = {}
    says: dict[str, bool] = {}
    given = {place: [reading.places[place] for reading in readings if place in reading.places] for place in places}
    seen_by_camera = _pool_camera(given, len(readings), looks, floor)
    for place in places:
        seen = seen_by_camera.get(place)
        sensed = _pool_sensor(given[place], len(readings), floor)
        if sensed is not None:
            says[place] = sensed > 0
            if (doubted or {}).get(place) == says[place]:
                sensed = None
        if seen is None:
            if sensed is None:
                hidden.add(place)
            else:
                pooled[place] = _sensor_only(sensed, looks)
        elif sensed is None:
            pooled[place] = seen
        elif _contradict(seen, sensed):
            disputed[place] = Dispute(seen, _sensor_only(sensed, looks))
            pooled[place] = seen
        else:
            pooled[place] = _with_sensor(seen, sensed, floor)
    last = readings[-1]
    return PooledReading(
        pooled,
        frozenset(hidden),
        last.time_s,
        last.sequence,
        disputed,
        says,
        tuple(last.changes),
        pool_dice(readings, floor),
        {place: given[place][-1].hidden_by for place in hidden if given[place]},
        hindrances=frozenset(hindrance.kind for hindrance in last.hindrances),
    )


def _pool_camera(
    given: Mapping[str, Sequence[PlaceReading]], readings: int, looks: Sequence[str], floor: float
) -> dict[str, PooledPlace]:
    """Return the camera's view of each place that was in sight in most readings."""
    seen = {place: [one for one in every if one.hidden_by is None] for place, every in given.items()}
    seen = {place: in_sight for place, in_sight in seen.items() if 2 * len(in_sight) > readings}
    shown = _pool_distributions(
        {place: [one.probabilities for one in every] for place, every in seen.items()}, floor, looks
    )
    counted = {place: [one.heights for one in every if one.heights] for place, every in seen.items()}
    often = {place: given for place, given in counted.items() if 2 * len(given) > len(seen[place])}
    sides, heights = _pool_sides(seen, floor), _pool_distributions(often, floor)
    tops: dict[str, dict[int, tuple[float, float]]] = {place: {} for place in seen}
    for (place, pieces), said in _said_by_most(seen, lambda one: one.tops_mm).items():
        tops[place][pieces] = (median(x for x, _ in said), median(y for _, y in said))
    return {
        place: PooledPlace(
            shown[place],
            sides.get(place, {}),
            False,
            heights.get(place, {}),
            tops[place],
            seen[place][-1].picture,
            rarer=seen[place][-1].rarer,
        )
        for place in seen
    }


def _said_by_most(
    seen: Mapping[str, Sequence[PlaceReading]], say: Callable[[PlaceReading], Mapping[KeyT, ValueT]]
) -> dict[tuple[str, KeyT], list[ValueT]]:
    """Return what most of each place's readings say, by place and what it is about."""
    said: dict[tuple[str, KeyT], list[ValueT]] = {}
    for place, every in seen.items():
        for one in every:
            for about, value in say(one).items():
                said.setdefault((place, about), []).append(value)
    return {about: values for about, values in said.items() if 2 * len(values) > len(seen[about[0]])}


def _pool_sides(seen: Mapping[str, Sequence[PlaceReading]], floor: float) -> dict[str, dict[str, dict[str, float]]]:
    """Return for each place the symbols of every side that most of its readings saw."""
    often = {about: given for about, given in _said_by_most(seen, lambda one: one.sides).items() if any(given)}
    pooled = _pool_distributions(often, floor)
    sides: dict[str, dict[str, dict[str, float]]] = {}
    for place, side in sorted(often):
        sides.setdefault(place, {})[side] = pooled[place, side]
    return sides


def _pool_sensor(given: Sequence[PlaceReading], readings: int, floor: float) -> float | None:
    """Return a sensor's log-odds that something stands there, ``None`` when it mostly said nothing."""
    said = [min(max(one.sensed, floor), 1 - floor) for one in given if one.sensed is not None]
    if 2 * len(said) <= readings:
        return None
    return float(np.median([math.log(one) - math.log1p(-one) for one in said]))


def _sensor_only(sensed: float, looks: Sequence[str]) -> PooledPlace:
    """Return a place that only a sensor knows: any piece, or none."""
    occupied, empty = -math.log1p(math.exp(-sensed)), -math.log1p(math.exp(sensed))
    return PooledPlace({look: empty if look == EMPTY else occupied for look in looks}, sensed_only=True)


def _with_sensor(seen: PooledPlace, sensed: float, floor: float) -> PooledPlace:
    """Multiply the camera's probabilities by the sensor's."""
    logs = {look: value + (0.0 if look == EMPTY else sensed) for look, value in seen.log_probabilities.items()}
    total = float(np.logaddexp.reduce(list(logs.values())))
    return replace(seen, log_probabilities={look: max(value - total, math.log(floor)) for look, value in logs.items()})


def _contradict(seen: PooledPlace, sensed: float) -> bool:
    """Return whether camera and sensor contradict each other, both with certainty."""
    camera_log_odds = _occupied_log_odds(seen)
    return sensed * camera_log_odds < 0 and min(abs(sensed), abs(camera_log_odds)) > _SURE_LOG_ODDS


def _occupied_log_odds(seen: PooledPlace) -> float:
    """Return the camera's log-odds that something stands on a place."""
    pieces = [value for look, value in seen.log_probabilities.items() if look != EMPTY]
    if EMPTY not in seen.log_probabilities or not pieces:
        return 0.0
    return float(np.logaddexp.reduce(pieces)) - seen.log_probabilities[EMPTY]
