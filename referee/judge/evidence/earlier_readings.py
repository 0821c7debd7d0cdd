"""How places were read when it became known what they show, and what that tells about later readings of them."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from engine.values import EMPTY, Appearance
from referee.judge.pooled_reading import PooledPlace

WRITTEN_ANEW, _WITH_NOISE = 25.0, 6.0
"""Difference of a cell's ink from an earlier picture, in usual ones, above which it was written anew, and what is added
to it for each usual difference of the sheet's untouched signs. Lower: signs that nobody touched are asked about. Set by
hand; ``benchmarks/touched/signs.py`` counts these, and signs written over that go unnoticed."""
_UNTOUCHED = 5.0
"""Difference, in usual ones, below which nobody touched the ink, however it is read now. By that benchmark, signs that
nobody touched differ by at most 3, but by up to 46 after a bump of the camera; those written over by at least 13.
Higher: an added stroke may go unnoticed."""
_UNTOUCHED_SHARE, _FEWEST_SIGNS = 0.25, 4
"""Share of a sheet's signs that differ less than its untouched ones usually do, if there are at least so many. These
differ by about 2 after a bump of the camera, and by much more if the sheet was bent."""
_ANOTHER_SIGN = 3.0
"""Log-odds by which a sign that was written anew is another one rather than the same one traced. Higher: more questions
about traced signs, fewer signs written over unnoticed. Set by hand."""

EarlierReadings = Mapping[str, tuple[str, PooledPlace]]
"""Places with the look that was known to be there, and what the camera read then."""


def given_earlier_readings(
    seen: Mapping[str, PooledPlace], earlier: EarlierReadings, believed: Appearance, *, handwritten: bool = False
) -> Mapping[str, PooledPlace]:
    """Return the places weighed with how they were read earlier, where the believed look is still the same.

    A sign that something was drawn around is still the same.
    """
    standing = {
        place: one
        for place, one in earlier.items()
        if place in seen
        and not seen[place].sensed_only
        and (believed.get(place) == one[0] or (handwritten and _adds_to(one[0], believed.get(place, EMPTY))))
    }
    differences = _differences(seen, standing) if handwritten else {}
    anew = _written_anew(seen, differences, believed)
    known = {}
    for place, (look, before) in standing.items():
        if not handwritten:
            known[place] = _without_misreading(seen[place], before, look)
        elif place in anew:
            known[place] = _as_another_sign(seen[place], look)
        else:
            untouched = differences.get(_sheet_of(place), {}).get(place, math.inf) < _UNTOUCHED
            known[place] = as_same_ink(seen[place], before, look, untouched=untouched)
    return {**seen, **known} if known else seen


def with_later_readings(
    earlier: EarlierReadings, later: EarlierReadings, *, handwritten: bool = False
) -> EarlierReadings:
    """Return ``earlier`` with ``later``.

    A sign that something was drawn around since keeps its earlier reading, with a new picture.
    """
    added = {
        place: (earlier[place][0], replace(earlier[place][1], picture=seen.picture))
        for place, (look, seen) in later.items()
        if handwritten and place in earlier and _adds_to(earlier[place][0], look)
    }
    return {**earlier, **later, **added}


def readings_to_keep(
    seen: Mapping[str, PooledPlace], places: Iterable[str], believed: Appearance, *, handwritten: bool = False
) -> EarlierReadings:
    """Return how the camera reads those of these places that it misreads.

    Of handwriting all are returned: what is read rightly now may be misread in another light.
    """
    return {
        place: (believed[place], seen[place])
        for place in places
        if place in seen
        and not seen[place].sensed_only
        and (not seen[place].agrees(believed[place]) or (handwritten and believed[place] != EMPTY))
    }


def _without_misreading(one: PooledPlace, misread: PooledPlace, look: str) -> PooledPlace:
    """Return a place at which the earlier misreading of ``look`` no longer counts against it."""
    logs = {
        name: value - max(0.0, misread.lead(name, look)) if name in misread.log_probabilities else value
        for name, value in one.log_probabilities.items()
    }
    return replace(one, log_probabilities=logs)


def as_same_ink(one: PooledPlace, before: PooledPlace, look: str, *, untouched: bool = False) -> PooledPlace:
    """Return a cell that was read as ``before`` when ``look`` was known to be written there.

    The look, alone or with a loop around it, is at least as probable as that the same ink is read so again; if it is
    ``untouched``, as that any sign is there: two readings of the same ink are not two signs.
    """
    logs = dict(one.log_probabilities)
    weights: Mapping[str, float] = before.log_probabilities
    if untouched:
        weights = {other: 0.0 for other in weights if _has_loop(other, one) == _has_loop(look, one)}
    again = 0.0 if untouched else _log_sum(2 * value for value in weights.values())
    for name in _with_loops(look, one):
        added = name.removeprefix(look)
        same = _log_sum(was + logs[f"{other}{added}"] for other, was in weights.items() if f"{other}{added}" in logs)
        logs[name] = max(logs[name], min(0.0, same - again))
    return replace(one, log_probabilities=logs)


def _as_another_sign(one: PooledPlace, look: str) -> PooledPlace:
    """Return a cell that was written anew since ``look`` was written there."""
    logs = {name: one.log_probabilities[name] - _ANOTHER_SIGN for name in _with_loops(look, one)}
    return replace(one, log_probabilities={**one.log_probabilities, **logs})


def _differences(seen: Mapping[str, PooledPlace], earlier: EarlierReadings) -> Mapping[str, Mapping[str, float]]:
    """Return for each sheet how much the ink of its cells differs from earlier, in usual differences."""
    differences: dict[str, dict[str, float]] = defaultdict(dict)
    for place, (_, before) in earlier.items():
        kept, now = before.picture, seen[place].picture
        if kept is not None and now is not None:
            differences[_sheet_of(place)][place] = 0.0 if now is kept else kept.difference(now)
    return differences


def _sheet_of(place: str) -> str:
    return place.partition(".")[0]


def _written_anew(
    seen: Mapping[str, PooledPlace], differences: Mapping[str, Mapping[str, float]], believed: Appearance
) -> frozenset[str]:
    """Return the cells whose ink looks otherwise than earlier, unless a loop may be the reason."""
    return frozenset(
        place
        for sheet in differences.values()
        for place in differing_signs(sheet)
        if _has_loop(believed[place], seen[place]) or not _has_loop(seen[place].best, seen[place])
    )


def differing_signs(sheet: Mapping[str, float]) -> set[str]:
    """Return the signs of one sheet that were written anew, given each sign's difference from its earlier picture."""
    noise = float(np.quantile(list(sheet.values()), _UNTOUCHED_SHARE)) if len(sheet) >= _FEWEST_SIGNS else 0.0
    return {place for place, difference in sheet.items() if difference > WRITTEN_ANEW + _WITH_NOISE * noise}


def _has_loop(look: str, one: PooledPlace) -> bool:
    return any(_adds_to(other, look) for other in one.log_probabilities)


def _with_loops(look: str, one: PooledPlace) -> list[str]:
    """Return the look, and those in which something is drawn around it."""
    return [name for name in one.log_probabilities if name == look or _adds_to(look, name)]


def _adds_to(look: str, other: str) -> bool:
    """Return whether ``other`` is ``look`` with something drawn around it: ``digit 1 circled`` for ``digit 1``."""
    return other.startswith(f"{look} ")


def _log_sum(logs: Iterable[float]) -> float:
    """Return the log of the sum of numbers given by their logs."""
    values = tuple(logs)
    highest = max(values)
    return highest + math.log(math.fsum(math.exp(value - highest) for value in values))
