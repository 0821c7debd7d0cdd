from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.lights.patterns import RHYTHMS, brightness, next_change_s
from hardware.lights.signals import Pattern

HORIZON_MS = 14_000  # a multiple of every period
any_pattern = st.sampled_from(Pattern)
any_time_s = st.floats(0, 1e6, allow_nan=False).map(lambda time_s: round(time_s, 6))


def onsets_ms(pattern: Pattern) -> list[int]:
    lit = [brightness(pattern, ms / 1000, smooth=False) for ms in range(0, HORIZON_MS, 10)]
    return [index * 10 for index, now in enumerate(lit) if now and not lit[index - 1]]


def test_every_pattern_has_a_rhythm() -> None:
    assert set(RHYTHMS) == set(Pattern)


@pytest.mark.parametrize(
    ("pattern", "time_s", "expected"),
    [
        (Pattern.STEADY, 0.0, 1.0),
        (Pattern.STEADY, 12.3, 1.0),
        (Pattern.BLINK, 0.0, 1.0),
        (Pattern.BLINK, 0.249999, 1.0),
        (Pattern.BLINK, 0.25, 0.0),
        (Pattern.BLINK, 0.5, 1.0),
        (Pattern.DOUBLE_BLINK, 0.2, 0.0),
        (Pattern.DOUBLE_BLINK, 0.4, 1.0),
        (Pattern.GLINT, 0.05, 1.0),
        (Pattern.GLINT, 1.0, 0.0),
        (Pattern.WINK, 1.0, 1.0),
        (Pattern.WINK, 1.8, 0.0),
        (Pattern.PULSE, 0.0, 1.0),
        (Pattern.PULSE, 0.5, 0.5),
        (Pattern.PULSE, 1.0, 0.0),
    ],
)
def test_brightness_at_known_moments(pattern: Pattern, time_s: float, expected: float) -> None:
    assert brightness(pattern, time_s) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("pattern", Pattern)
@pytest.mark.parametrize("smooth", [True, False])
def test_every_pattern_starts_bright(pattern: Pattern, smooth: bool) -> None:
    assert brightness(pattern, 0.0, smooth=smooth) == 1.0


@given(any_pattern, any_time_s, st.booleans())
def test_brightness_is_a_brightness_and_repeats(pattern: Pattern, time_s: float, smooth: bool) -> None:
    value = brightness(pattern, time_s, smooth=smooth)
    assert 0.0 <= value <= 1.0
    assert smooth or value in (0.0, 1.0)
    period_s = RHYTHMS[pattern].period_ms / 1000
    assert brightness(pattern, time_s + period_s, smooth=smooth) == pytest.approx(value)


@given(any_pattern, any_time_s, st.floats(0, 1, exclude_max=True))
def test_nothing_changes_before_the_next_change_and_something_does_then(
    pattern: Pattern, time_s: float, share: float
) -> None:
    now = brightness(pattern, time_s, smooth=False)
    change_s = next_change_s(pattern, time_s, smooth=False)
    if change_s is None:
        assert pattern is Pattern.STEADY
        return
    assert change_s > time_s
    between_s = min(time_s + share * (change_s - time_s), change_s - 1e-6)
    assert brightness(pattern, max(time_s, between_s), smooth=False) == now
    assert brightness(pattern, change_s, smooth=False) != now


def test_a_smooth_pattern_is_stepped_twenty_times_a_second() -> None:
    moments = [0.0]
    while moments[-1] < 1.0:
        change_s = next_change_s(Pattern.PULSE, moments[-1])
        assert change_s is not None
        moments.append(change_s)
    assert len(moments) == 21
    levels = [brightness(Pattern.PULSE, moment) for moment in moments]
    assert levels == sorted(levels, reverse=True)


@pytest.mark.parametrize("pattern", Pattern)
def test_no_pattern_flashes_more_than_three_times_in_a_second(pattern: Pattern) -> None:
    onsets = onsets_ms(pattern)
    for start in onsets:
        assert sum(start <= onset < start + 1000 for onset in onsets) <= 3


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(Pattern, 2)])
def test_any_two_patterns_can_be_told_apart_on_a_light_that_is_only_on_or_off(one: Pattern, other: Pattern) -> None:
    def duty(pattern: Pattern) -> float:
        return sum(end - start for start, end in RHYTHMS[pattern].lit_ms) / RHYTHMS[pattern].period_ms

    def flashes_a_period(pattern: Pattern) -> int:
        return len(onsets_ms(pattern)) * RHYTHMS[pattern].period_ms // HORIZON_MS

    counted = flashes_a_period(one) != flashes_a_period(other)
    often = abs(len(onsets_ms(one)) - len(onsets_ms(other))) >= HORIZON_MS // 2000
    assert counted or often or abs(duty(one) - duty(other)) >= 0.15


@pytest.mark.parametrize("time_s", [-0.001, float("nan")])
def test_a_time_before_the_beginning_is_refused(time_s: float) -> None:
    with pytest.raises(ValueError, match="expected seconds since it began"):
        brightness(Pattern.BLINK, time_s)
    with pytest.raises(ValueError, match="expected seconds since it began"):
        next_change_s(Pattern.BLINK, time_s)
