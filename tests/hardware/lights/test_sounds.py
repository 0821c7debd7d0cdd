"""Tones, and the sounds they are made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import AnimatedDriver, Mood, Signal, Sound
from hardware.lights.sounds import TONES, ToneDriver, frequency_hz, next_change_s


class Buzzer:
    def __init__(self) -> None:
        self.played: list[Sequence[tuple[float, float]]] = []
        self.broken = False

    def play(self, tones: Sequence[tuple[float, float]]) -> None:
        if self.broken:
            raise OSError("unplugged")
        self.played.append(tones)


def seconds_of(sound: Sound) -> float:
    return sum(tone.duration_s for tone in TONES[sound])


@pytest.mark.parametrize("sound", [sound for sound in Sound if sound is not Sound.SILENCE])
def test_all_tones_of_a_sound_are_played(sound: Sound) -> None:
    buzzer = Buzzer()
    ToneDriver("buzzer", buzzer).show(Signal(Mood.FAULT, sound=sound), 5.0)
    (tones,) = buzzer.played
    assert [frequency_hz for frequency_hz, _ in tones] == [tone.frequency_hz for tone in TONES[sound]]
    assert sum(seconds for _, seconds in tones) == pytest.approx(seconds_of(sound))


def test_a_quiet_signal_does_not_cut_a_sound_off_and_closing_does() -> None:
    buzzer = Buzzer()
    driver = ToneDriver("buzzer", buzzer)
    driver.show(Signal(Mood.FAULT, sound=Sound.FAULT), 5.0)
    driver.show(Signal(Mood.WAITING), 5.1)
    assert len(buzzer.played) == 1
    driver.close()
    assert buzzer.played[-1] == ()


def test_a_tone_driver_needs_no_ticks_and_plays_no_missed_sound_later(clock) -> None:
    buzzer, said = Buzzer(), list[str]()
    assert not isinstance(ToneDriver("buzzer", buzzer), AnimatedDriver)
    with Panel([DriverSource("buzzer", lambda: ToneDriver("buzzer", buzzer))], clock, said.append) as panel:
        panel.show(Signal(Mood.WAITING))
        buzzer.broken = True
        panel.show(Signal(Mood.FAULT, sound=Sound.FAULT))
        buzzer.broken = False
        clock.now_s += 2.0
        panel.tick()
        assert buzzer.played == []
        panel.show(Signal(Mood.ACCEPTED, sound=Sound.ACCEPTED))
        assert len(buzzer.played) == 1
    assert said == ["Buzzer does not work: unplugged. The game goes on, and the referee keeps trying."]


def test_every_sound_has_tones_and_only_silence_has_none() -> None:
    assert set(TONES) == set(Sound)
    assert [sound for sound in Sound if not TONES[sound]] == [Sound.SILENCE]


@pytest.mark.parametrize("sound", [sound for sound in Sound if sound is not Sound.SILENCE])
def test_a_sound_is_short_audible_and_ends_with_a_tone(sound: Sound) -> None:
    assert all(tone.duration_s > 0 for tone in TONES[sound])
    assert seconds_of(sound) <= 1.0
    assert TONES[sound][0].frequency_hz > 0
    assert TONES[sound][-1].frequency_hz > 0
    tones_hz = [tone.frequency_hz for tone in TONES[sound] if tone.frequency_hz]
    assert all(500 <= tone_hz <= 5000 for tone_hz in tones_hz)
    semitones = [12 * math.log2(tone_hz / 440) for tone_hz in tones_hz]
    assert semitones == pytest.approx([round(each) for each in semitones], abs=0.002), "notes of equal temperament"


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(Sound, 2)])
def test_any_two_sounds_differ_even_in_rhythm_alone(one: Sound, other: Sound) -> None:
    def rhythm(sound: Sound) -> list[tuple[bool, float]]:
        return [(tone.frequency_hz > 0, tone.duration_s) for tone in TONES[sound]]

    assert rhythm(one) != rhythm(other)
    if len(rhythm(one)) == len(rhythm(other)):
        pairs = zip(rhythm(one), rhythm(other), strict=True)
        assert max(abs(left[1] - right[1]) for left, right in pairs) >= 0.1


@given(st.sampled_from(Sound))
def test_following_the_announced_changes_plays_every_tone_once(sound: Sound) -> None:
    heard, now_s = [], 0.0
    while (change_s := next_change_s(sound, now_s)) is not None:
        heard.append((frequency_hz(sound, now_s), change_s - now_s))
        now_s = change_s
    assert [frequency for frequency, _ in heard] == [tone.frequency_hz for tone in TONES[sound]]
    assert [length for _, length in heard] == pytest.approx([tone.duration_s for tone in TONES[sound]])
    assert now_s == pytest.approx(seconds_of(sound))
    assert frequency_hz(sound, now_s) == 0.0


def test_a_sound_is_silent_before_it_begins() -> None:
    assert frequency_hz(Sound.FAULT, -0.1) == 0.0
    assert next_change_s(Sound.FAULT, -0.1) == 0.0
