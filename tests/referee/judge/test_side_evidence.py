"""How many pieces a stack has, by where its top was seen earlier."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from referee.judge.pooled_reading import PooledPlace, PooledReading
from referee.judge.side_evidence import StandingStack, beside_stacks

RISE_MM = 0.9
STOOD_MM = (2.0, -1.0)
TOP = "red medium"
FOUR, EVEN = {3: 0.1, 4: 0.9}, {3: 0.5, 4: 0.5}


def judged(
    now: Mapping[int, float], before: Mapping[int, float], *, moved_mm: float = 0.0, look: str = TOP
) -> dict[int, float]:
    """The probabilities of the numbers of pieces of a stack that had three: alone, earlier, and how far it moved."""
    logs = [{count: math.log(value) for count, value in told.items()} for told in (now, before)]
    tops_mm = {count: (STOOD_MM[0] + moved_mm + (3 - count) * RISE_MM, STOOD_MM[1]) for count in now}
    one = PooledPlace({look: 0.0}, heights=logs[0], heights_alone=logs[0], tops_mm=tops_mm)
    stood = StandingStack(TOP, 3, STOOD_MM, logs[1])
    seen = beside_stacks(PooledReading({"c3": one}, frozenset(), 0.0, 0), {"c3": stood})
    return {count: math.exp(value) for count, value in seen.places["c3"].heights.items()}


def density(off_mm: float, spread_mm2: float) -> float:
    """Of a normal distribution in two directions, but for a factor."""
    return math.exp(-(off_mm**2) / (2 * spread_mm2)) / spread_mm2


@pytest.mark.parametrize("moved_mm", [0.0, 0.4, 1.3, 6.0])
@pytest.mark.parametrize("look", [TOP, "red small"])
def test_heights_are_weighed_as_for_tops_that_rest_or_were_pushed(moved_mm: float, look: str) -> None:
    """One top in ten was pushed, 5 mm or so; the others are seen to 0.2 mm, and a piece comes to rest to 0.6 mm.

    If another piece is on top, as many pieces as before mean that one left and one came. Three heights in ten are any.
    """
    now, before = {2: 0.2, 3: 0.5, 4: 0.3}, {2: 0.1, 3: 0.3, 4: 0.6}
    weights = {}
    for count, alone in now.items():
        off_mm = moved_mm + (3 - count) * RISE_MM
        pieces = 2 if count == 3 and look != TOP else abs(count - 3)
        rested = 0.9 * density(off_mm, 0.2**2 + pieces * 0.6**2) / (before[count] if look == TOP else 1) / len(now)
        weights[count] = alone * (rested + 0.1 * density(off_mm, 5.0**2))
    expected = {count: 0.7 * weight / sum(weights.values()) + 0.3 / len(now) for count, weight in weights.items()}
    assert judged(now, before, moved_mm=moved_mm, look=look) == pytest.approx(expected)


def test_what_misled_about_a_stack_before_misleads_no_more_while_it_looks_the_same() -> None:
    assert judged(FOUR, FOUR) == pytest.approx(judged(EVEN, EVEN), abs=0.05)
    assert judged(FOUR, EVEN)[3] < judged(EVEN, EVEN)[3]
    other = judged(FOUR, FOUR, look="red small")
    assert other == pytest.approx(judged(FOUR, EVEN, look="red small")), "another piece is on top"


@pytest.mark.parametrize(("now", "likelier"), [(FOUR, 4), ({3: 0.9, 4: 0.1}, 3)])
def test_of_a_stack_pushed_aside_the_picture_alone_tells(now: Mapping[int, float], likelier: int) -> None:
    found = judged(now, EVEN, moved_mm=12.0)
    assert max(found, key=lambda count: found[count]) == likelier
    assert found[likelier] > 0.6
