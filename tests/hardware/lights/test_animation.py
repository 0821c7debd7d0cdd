from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardware.lights.animation import Animation
from hardware.lights.signals import ROLE_STYLES, Light, LightRole, Mood, Signal, Sound

PLACES = ["a1", "b2", "c3", "d4"]
lights = st.lists(st.builds(Light.for_role, st.sampled_from(PLACES), st.sampled_from(sorted(ROLE_STYLES))), max_size=5)
signals = st.builds(Signal, st.sampled_from(Mood), lights.map(tuple), st.sampled_from(Sound))


def test_nothing_is_shown_at_first() -> None:
    dark = Animation()
    assert dark.brightness_of("a1", 5.0, smooth=True) == 0.0
    assert dark.status(5.0, smooth=True) == (0.0, 0.0, 0.0)
    assert dark.frequency_hz(5.0) == 0.0
    assert dark.pointed_at(5.0) == (None, 0.0)
    changes = (dark.next_status_s(5.0, smooth=True), dark.next_tone_s(5.0), dark.next_pointing_change_s(5.0))
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


def test_the_same_mood_and_the_same_lights_go_on_where_they_were() -> None:
    lights = (Light.for_role("a1", LightRole.TURN), Light.for_role("b2", LightRole.TURN))
    first = Animation().followed_by(Signal(Mood.FAULT, lights), 10.0)
    again = first.followed_by(Signal(Mood.FAULT, lights, words="Still."), 11.3)
    assert again.pointed_at(11.3) == ("b2", 1.0)
    assert again.status(11.3, smooth=False) == first.status(11.3, smooth=False) == (0.0, 0.0, 0.0)
    other = first.followed_by(Signal(Mood.TROUBLE, lights[::-1]), 11.3)
    assert other.pointed_at(11.3) == ("b2", 1.0)
    assert other.pointed_at(12.2) == ("b2", 1.0)
    assert other.status(11.3, smooth=False)[0] > 0.5


def test_a_quiet_signal_lets_the_sound_end_and_a_new_sound_replaces_it() -> None:
    sounding = Animation().followed_by(Signal(Mood.FAULT, sound=Sound.FAULT), 1.0)
    quiet = sounding.followed_by(Signal(Mood.WAITING), 1.1)
    assert quiet.frequency_hz(1.2) == sounding.frequency_hz(1.2) > 0
    replaced = sounding.followed_by(Signal(Mood.FINISHED, sound=Sound.FINISHED), 1.1)
    assert replaced.sound_since_s == 1.1
    assert quiet.next_tone_s(9.0) is None


def test_lights_that_share_leds_take_turns_in_the_order_of_the_turn() -> None:
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
    order = [shown.pointed_at(50.0 + tenth / 10)[0] for tenth in range(0, 31, 5)]
    assert order == ["c1", "c1", "c2", "c2", "d5", "d5", "c1"]
    assert shown.pointed_at(52.0) == ("d5", 1.0)
    assert shown.pointed_at(52.3) == ("d5", 0.0)


@given(signals, st.floats(0, 20), st.floats(0, 20))
def test_what_is_pointed_at_holds_until_the_announced_change(signal: Signal, later_s: float, share: float) -> None:
    shown = Animation().followed_by(signal, 3.0)
    now_s = round(3.0 + later_s, 4)
    change_s = shown.next_pointing_change_s(now_s)
    if change_s is None:
        assert len(shown.lights) <= 1
        return
    assert change_s > now_s
    between_s = now_s + (share / 20) * (change_s - now_s - 2e-6)
    assert shown.pointed_at(max(now_s, between_s)) == shown.pointed_at(now_s)


@given(st.lists(signals, min_size=1, max_size=6))
def test_an_animation_shows_the_last_signal_only(sequence: list[Signal]) -> None:
    shown, now_s = Animation(), 0.0
    for signal in sequence:
        now_s += 0.7
        shown = shown.followed_by(signal, now_s)
    last = sequence[-1]
    assert set(shown.lights) == {each.place for each in last.lights}
    assert shown.mood is last.mood
    for place in shown.lights:
        assert shown.lit_since_s[place] <= now_s
