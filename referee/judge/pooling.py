"""Pools several readings of one resting table, so that a single bad frame has no effect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TypeVar

import numpy as np

from engine.values import EMPTY
from referee.judge.dice import pool_dice
from referee.judge.pooled_reading import Dispute, PooledPlace, PooledReading
from vision.reading import PlaceReading, Reading

KeyT = TypeVar("KeyT")
NameT = TypeVar("NameT", str, int)

_SURE_LOG_ODDS = 2.0
"""Camera and sensor contradict each other where both are surer than this, in log-odds: 7 to 1."""


def _pool_distributions(
    given: Mapping[KeyT, Sequence[Mapping[NameT, float]]], floor: float, names: Iterable[NameT] = ()
) -> dict[KeyT, dict[NameT, float]]:
    """Pool several distributions for each key into one of log-probabilities, over ``names`` if given."""
    every = tuple(names)
    alike: dict[tuple[int, tuple[NameT, ...]], list[KeyT]] = {}
    for key, distributions in given.items():
        named = every or tuple(sorted({name for one in distributions for name in one}))
        alike.setdefault((len(distributions), named), []).append(key)
    pooled = {}
    for (_, named), keys in alike.items():
        table = np.array([[[one.get(name, 0.0) for name in named] for one in given[key]] for key in keys])
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
    tops = {place: _pool_tops(every) for place, every in seen.items()}
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


def _pool_sides(seen: Mapping[str, Sequence[PlaceReading]], floor: float) -> dict[str, dict[str, dict[str, float]]]:
    """Return for each place the symbols of every side that most of its readings saw."""
    symbols: dict[tuple[str, str], list[Mapping[str, float]]] = {}
    for place, every in seen.items():
        for one in every:
            for side, shown in one.sides.items():
                symbols.setdefault((place, side), []).append(shown)
    often = {at: given for at, given in sorted(symbols.items()) if 2 * len(given) > len(seen[at[0]]) and any(given)}
    sides: dict[str, dict[str, dict[str, float]]] = {}
    pooled = _pool_distributions(often, floor)
    for place, side in often:
        sides.setdefault(place, {})[side] = pooled[place, side]
    return sides


def _pool_tops(every: Sequence[PlaceReading]) -> dict[int, tuple[float, float]]:
    """Return the median position of a stack's top, for each number of pieces that most readings report."""
    reported: dict[int, list[tuple[float, float]]] = {}
    for one in every:
        for pieces, top_mm in one.tops_mm.items():
            reported.setdefault(pieces, []).append(top_mm)
    often = {pieces: given for pieces, given in reported.items() if 2 * len(given) > len(every)}
    return {pieces: (median(x for x, _ in given), median(y for _, y in given)) for pieces, given in often.items()}


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
