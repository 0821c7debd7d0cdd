from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.lights.animation import RHYTHMS, Animation, brightness, next_change_s
from hardware.lights.signals import ROLE_STYLES, Light, LightRole, Mood, Pattern, Signal, Sound

PLACES = ["a1", "b2", "c3", "d4"]
lights = st.lists(st.builds(Light.for_role, st.sampled_from(PLACES), st.sampled_from(sorted(ROLE_STYLES))), max_size=5)
signals = st.builds(Signal, st.sampled_from(Mood), lights.map(tuple), st.sampled_from(Sound))


def test_a_new_animation_shows_nothing() -> None:
    dark = Animation()
    assert dark.brightness_of("a1", 5.0, smooth=True) == 0.0
    assert dark.status(5.0, smooth=True) == (0.0, 0.0, 0.0)
    assert dark.frequency_hz(5.0) == 0.0
    assert dark.alternating_place(5.0) == (None, 0.0)
    changes = (dark.next_status_s(5.0, smooth=True), dark.next_tone_s(5.0), dark.next_alternation_s(5.0))
    assert changes == (None, None, None)


def test_a_light_that_stays_keeps_its_rhythm_and_a_new_one_begins_lit() -> None:
    first = Animation().followed_by(Signal(Mood.FAULT, (Light.for_role("a1", LightRole.FAULT),)), 10.0)
    both = first.followed_by(
        Signal(Mood.FAULT, (Light.for_role("a1", LightRole.FAULT), Light.for_role("b2", LightRole.FAULT))), 10.3
    )
    assert first.brightness_of("a1", 10.3, smooth=False) == 0.0
    assert both.brightness_of("a1", 10.3, smooth=False) == 0.0
    assert both.brightness_of("b2", 10.3, smooth=False) == 1.0
    changed = both.followed_by(Signal(Mood.FAULT, (Light.for_role("a1", LightRole.PUT_RIGHT),)), 10.3)
    assert changed.brightness_of("a1", 10.3, smooth=False) == 1.0
    assert changed.brightness_of("b2", 10.3, smooth=False) == 0.0


def test_an_unchanged_mood_or_set_of_lights_keeps_its_phase() -> None:
    lights = (Light.for_role("a1", LightRole.TURN), Light.for_role("b2", LightRole.TURN))
    first = Animation().followed_by(Signal(Mood.FAULT, lights), 10.0)
    again = first.followed_by(Signal(Mood.FAULT, lights, words="Still."), 11.3)
    assert again.alternating_place(11.3) == ("b2", 1.0)
    assert again.status(11.3, smooth=False) == first.status(11.3, smooth=False) == (0.0, 0.0, 0.0)
    other = first.followed_by(Signal(Mood.TROUBLE, lights[::-1]), 11.3)
    assert other.alternating_place(11.3) == ("b2", 1.0)
    assert other.alternating_place(12.2) == ("b2", 1.0)
    assert other.status(11.3, smooth=False)[0] > 0.5


def test_a_moment_before_a_signal_shows_its_beginning() -> None:
    lights = (Light.for_role("a1", LightRole.FAULT), Light.for_role("b2", LightRole.TURN))
    shown = Animation().followed_by(Signal(Mood.FAULT, lights), 10.0)
    for time_s in (9.2, 10.0):
        assert shown.brightness_of("a1", time_s, smooth=False) == 1.0
        assert shown.status(time_s, smooth=False)[0] > 0.5
        assert shown.alternating_place(time_s) == ("a1", 1.0)
        assert shown.next_light_s("a1", time_s, smooth=False) == 10.25
        assert shown.next_status_s(time_s, smooth=False) == 10.25
        assert shown.next_alternation_s(time_s) == 10.25


def test_a_quiet_signal_lets_the_sound_end_and_a_new_sound_replaces_it() -> None:
    sounding = Animation().followed_by(Signal(Mood.FAULT, sound=Sound.FAULT), 1.0)
    quiet = sounding.followed_by(Signal(Mood.WAITING), 1.1)
    assert quiet.frequency_hz(1.2) == sounding.frequency_hz(1.2) > 0
    replaced = sounding.followed_by(Signal(Mood.FINISHED, sound=Sound.FINISHED), 1.1)
    assert replaced.sound_since_s == 1.1
    assert quiet.next_tone_s(9.0) is None


@pytest.mark.parametrize(("role", "change_s"), [(LightRole.TURN, None), (LightRole.QUESTION, 50.5)])
def test_a_single_light_on_shared_leds_only_changes_with_its_pattern(role: LightRole, change_s: float | None) -> None:
    shown = Animation().followed_by(Signal(Mood.ACCEPTED, (Light.for_role("c1", role),)), 50.0)
    assert shown.next_alternation_s(50.1) == change_s


def test_lights_that_share_leds_are_shown_one_after_the_other_in_order() -> None:
    shown = Animation().followed_by(
        Signal(
            Mood.ACCEPTED,
            (
                Light.for_role("c1", LightRole.TURN),
                Light.for_role("c2", LightRole.TURN),
                Light.for_role("d5", LightRole.FAULT),
            ),
        ),
        50.0,
    )
    order = [shown.alternating_place(50.0 + tenth / 10)[0] for tenth in range(0, 31, 5)]
    assert order == ["c1", "c1", "c2", "c2", "d5", "d5", "c1"]
    assert shown.alternating_place(52.0) == ("d5", 1.0)
    assert shown.alternating_place(52.3) == ("d5", 0.0)


@given(signals, st.floats(0, 20), st.floats(0, 20))
def test_the_place_pointed_at_stays_until_the_announced_change(signal: Signal, later_s: float, share: float) -> None:
    shown = Animation().followed_by(signal, 3.0)
    now_s = round(3.0 + later_s, 4)
    change_s = shown.next_alternation_s(now_s)
    if change_s is None:
        assert len(shown.lights) <= 1
        return
    assert change_s > now_s
    between_s = now_s + (share / 20) * (change_s - now_s - 2e-6)
    assert shown.alternating_place(max(now_s, between_s)) == shown.alternating_place(now_s)


@given(st.lists(signals, min_size=1, max_size=6))
def test_an_animation_shows_only_the_last_signal(sequence: list[Signal]) -> None:
    shown, now_s = Animation(), 0.0
    for signal in sequence:
        now_s += 0.7
        shown = shown.followed_by(signal, now_s)
    last = sequence[-1]
    assert set(shown.lights) == {each.place for each in last.lights}
    assert shown.mood is last.mood
    for place in shown.lights:
        assert shown.lit_since_s[place] <= now_s


HORIZON_MS = 14_000  # a multiple of every period
any_pattern = st.sampled_from(Pattern)
any_time_s = st.floats(0, 1e6, allow_nan=False).map(lambda time_s: round(time_s, 6))


def onsets_ms(pattern: Pattern) -> list[int]:
    lit = [brightness(pattern, ms / 1000, smooth=False) for ms in range(0, HORIZON_MS, 10)]
    return [index * 10 for index, now in enumerate(lit) if now and not lit[index - 1]]


def test_a_rhythm_is_defined_for_each_pattern() -> None:
    assert set(RHYTHMS) == set(Pattern)


@pytest.mark.parametrize(
    ("pattern", "changes_ms"),
    [
        (Pattern.STEADY, []),
        (Pattern.PULSE, [500, 1500, 2500]),
        (Pattern.BLINK, [250, 500, 750]),
        (Pattern.DOUBLE_BLINK, [150, 350, 500, 1400, 1550]),
        (Pattern.TRIPLE_BLINK, [150, 350, 500, 700, 850, 2000, 2150]),
        (Pattern.GLINT, [100, 2000, 2100]),
        (Pattern.WINK, [1700, 2000, 3700]),
        (Pattern.DOUBLE_WINK, [1300, 1500, 1800, 2000, 3300]),
        (Pattern.LONG_SHORT, [800, 1100, 1250, 2000, 2800]),
    ],
)
def test_a_light_without_dimming_changes_at_these_moments(pattern: Pattern, changes_ms: list[int]) -> None:
    change_s = next_change_s(pattern, 0.0, smooth=False)
    for number, expected_ms in enumerate(changes_ms):
        assert change_s == expected_ms / 1000
        assert brightness(pattern, change_s - 1e-6, smooth=False) == 1 - number % 2
        assert brightness(pattern, change_s, smooth=False) == number % 2
        change_s = next_change_s(pattern, change_s, smooth=False)
    assert (change_s is None) == (not changes_ms)


def test_a_pulse_fades_out_within_a_second() -> None:
    assert [brightness(Pattern.PULSE, time_s) for time_s in (0.0, 0.5, 1.0)] == pytest.approx([1.0, 0.5, 0.0])


@pytest.mark.parametrize("pattern", Pattern)
@pytest.mark.parametrize("smooth", [True, False])
def test_every_pattern_starts_bright(pattern: Pattern, smooth: bool) -> None:
    assert brightness(pattern, 0.0, smooth=smooth) == 1.0


@given(any_pattern, any_time_s, st.booleans())
def test_brightness_is_within_0_and_1_and_repeats_each_period(pattern: Pattern, time_s: float, smooth: bool) -> None:
    value = brightness(pattern, time_s, smooth=smooth)
    assert 0.0 <= value <= 1.0
    assert smooth or value in (0.0, 1.0)
    period_s = RHYTHMS[pattern].period_ms / 1000
    assert brightness(pattern, time_s + period_s, smooth=smooth) == pytest.approx(value)


@given(any_pattern, any_time_s, st.floats(0, 1, exclude_max=True))
def test_brightness_changes_exactly_at_the_announced_change(pattern: Pattern, time_s: float, share: float) -> None:
    now = brightness(pattern, time_s, smooth=False)
    change_s = next_change_s(pattern, time_s, smooth=False)
    if change_s is None:
        assert pattern is Pattern.STEADY
        return
    assert change_s > time_s
    between_s = min(time_s + share * (change_s - time_s), change_s - 1e-6)
    assert brightness(pattern, max(time_s, between_s), smooth=False) == now
    assert brightness(pattern, change_s, smooth=False) != now


def test_a_smooth_pattern_changes_twenty_times_a_second() -> None:
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
def test_any_two_patterns_differ_on_a_light_without_dimming(one: Pattern, other: Pattern) -> None:
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
