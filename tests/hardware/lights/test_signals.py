"""Colour is never the only difference, and colour-blind people can tell the colours apart.

The simulation is that of G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A Physiologically-based Model for
Simulation of Color Vision Deficiency", IEEE TVCG 15 (6), 2009: the matrices for severity 1.0, applied to linear
sRGB. Distances are CIE 1976 (L*, a*, b*) under D65; about 2.3 is a just noticeable difference.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardware.lights.animation import brightness
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import (
    MOOD_STYLES,
    ROLE_STYLES,
    AnimatedDriver,
    Colour,
    Light,
    LightRole,
    Mood,
    Pattern,
    Signal,
    Sound,
    most_urgent_lights,
)
from hardware.lights.sounds import TONES, ToneDriver, frequency_hz, next_change_s

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
LEAST_DISTANCE = 15.0


def lab(colour: tuple[int, int, int], vision: str) -> np.ndarray:
    encoded = np.array(colour) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    seen = np.clip(VISIONS[vision] @ linear, 0, 1)
    srgb_to_xyz = np.array(
        [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    )
    ratio = srgb_to_xyz @ seen / np.array([0.95047, 1.0, 1.08883])
    f = np.where(ratio > 216 / 24389, np.cbrt(ratio), (24389 / 27 * ratio + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(ROLE_STYLES, 2)])
def test_any_two_roles_differ_in_pattern_in_mark_and_in_colour(one: LightRole, other: LightRole) -> None:
    assert ROLE_STYLES[one].pattern is not ROLE_STYLES[other].pattern
    assert ROLE_STYLES[one].mark != ROLE_STYLES[other].mark
    assert ROLE_STYLES[one].colour is not ROLE_STYLES[other].colour


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(Mood, 2)])
def test_any_two_moods_differ_in_pattern_and_in_mark(one: Mood, other: Mood) -> None:
    assert MOOD_STYLES[one].pattern is not MOOD_STYLES[other].pattern
    assert MOOD_STYLES[one].mark != MOOD_STYLES[other].mark


@pytest.mark.parametrize(("one", "other"), [*itertools.combinations(Pattern, 2)])
def test_two_rhythms_differ_for_a_tenth_of_the_time_however_they_are_shifted(one: Pattern, other: Pattern) -> None:
    # Every 50 ms for 14 s: whole periods of every pattern there is.
    first, second = (
        [brightness(pattern, step / 20, smooth=False) > 0 for step in range(280)] for pattern in (one, other)
    )
    for shift in range(280):
        assert sum(a != b for a, b in zip(first, second[shift:] + second[:shift], strict=True)) >= 28


def test_the_status_light_shows_a_mood_as_squares_show_the_matching_role() -> None:
    pairs = {
        LightRole.TURN: Mood.ACCEPTED,
        LightRole.FAULT: Mood.FAULT,
        LightRole.QUESTION: Mood.QUESTION,
        LightRole.UNFINISHED: Mood.NOT_FINISHED,
    }
    for role, mood in pairs.items():
        assert (ROLE_STYLES[role].colour, ROLE_STYLES[role].pattern) == (
            MOOD_STYLES[mood].colour,
            MOOD_STYLES[mood].pattern,
        )


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("one", "other"), [*itertools.combinations([c for c in Colour if c is not Colour.OFF], 2)])
def test_any_two_colours_differ_also_to_colour_blind_people(vision: str, one: Colour, other: Colour) -> None:
    assert np.linalg.norm(lab(one.value, vision) - lab(other.value, vision)) >= LEAST_DISTANCE


def test_the_colour_distance_shows_what_colour_blind_people_confuse() -> None:
    assert lab(Colour.WHITE.value, "normal") == pytest.approx([100, 0, 0], abs=0.01)
    brick, olive = (190, 70, 50), (110, 105, 40)
    distances = {vision: np.linalg.norm(lab(brick, vision) - lab(olive, vision)) for vision in VISIONS}
    assert distances["normal"] > 3 * LEAST_DISTANCE
    assert distances["deuteranopia"] < LEAST_DISTANCE


def test_five_colours_are_those_that_okabe_and_ito_published() -> None:
    published = {
        Colour.ORANGE: (230, 159, 0),
        Colour.GREEN: (0, 158, 115),
        Colour.BLUE: (0, 114, 178),
        Colour.VERMILLION: (213, 94, 0),
        Colour.PURPLE: (204, 121, 167),
    }
    assert {colour: colour.value for colour in published} == published


def test_a_light_takes_colour_and_pattern_from_its_role() -> None:
    assert Light.for_role("c3", LightRole.FAULT) == Light("c3", Colour.VERMILLION, Pattern.BLINK, LightRole.FAULT)


@given(st.lists(st.builds(Light.for_role, st.sampled_from(["a1", "b2", "c3"]), st.sampled_from(sorted(ROLE_STYLES)))))
def test_the_most_urgent_light_of_a_place_is_shown(lights: list[Light]) -> None:
    chosen = most_urgent_lights(lights)
    urgency = list(ROLE_STYLES)
    assert list(chosen) == list(dict.fromkeys(each.place for each in lights))
    for place, shown in chosen.items():
        assert shown.place == place
        assert urgency.index(shown.role) == min(urgency.index(each.role) for each in lights if each.place == place)


# Tones, and the sounds they are made of.


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
