"""A signal over time: the rhythm of each pattern, and when each part began. Pure.

A light that stays from one signal to the next keeps its rhythm. A new light starts its pattern from the beginning, so
it is lit at once. A sound begins with each signal that has one. All times are monotonic seconds.

No pattern flashes more than three times a second, the limit of WCAG 2.2, success criterion 2.3.1. Slower flashes are
considered safe for people with photosensitive epilepsy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from common.moments import earliest, to_microseconds
from hardware.lights import sounds
from hardware.lights.signals import MOOD_STYLES, Light, Mood, Pattern, Signal, Sound, most_urgent_lights

_PULSE_STEP_MS = 50  # 20 levels a second look smooth


@dataclass(frozen=True)
class Rhythm:
    """One period of a pattern: its length and when it is lit, as (start, end) spans, all in milliseconds.

    A ``smooth`` rhythm fades in and out (a raised cosine, brightest at 0); its spans apply to a light that is only on
    or off.
    """

    period_ms: int
    lit_ms: tuple[tuple[int, int], ...]
    smooth: bool = False


RHYTHMS: Mapping[Pattern, Rhythm] = MappingProxyType(
    {
        Pattern.STEADY: Rhythm(1000, ((0, 1000),)),
        Pattern.PULSE: Rhythm(2000, ((0, 500), (1500, 2000)), smooth=True),
        Pattern.BLINK: Rhythm(500, ((0, 250),)),
        Pattern.DOUBLE_BLINK: Rhythm(1400, ((0, 150), (350, 500))),
        Pattern.TRIPLE_BLINK: Rhythm(2000, ((0, 150), (350, 500), (700, 850))),
        Pattern.GLINT: Rhythm(2000, ((0, 100),)),
        Pattern.WINK: Rhythm(2000, ((0, 1700),)),
        Pattern.DOUBLE_WINK: Rhythm(2000, ((0, 1300), (1500, 1800))),
        Pattern.LONG_SHORT: Rhythm(2000, ((0, 800), (1100, 1250))),
    }
)


def brightness(pattern: Pattern, time_s: float, *, smooth: bool = True) -> float:
    """Return the brightness, 0 to 1, of a light ``time_s`` seconds after its pattern began.

    With ``smooth`` false it is 0 or 1, for a pin that is only on or off. Time is rounded to microseconds, so that a
    change is exactly at the moment returned by ``next_change_s``. Raises ValueError for a time before the beginning.
    """
    rhythm = RHYTHMS[pattern]
    phase_us = _since_start_us(time_s) % (rhythm.period_ms * 1000)
    if rhythm.smooth and smooth:
        return 0.5 + 0.5 * math.cos(2 * math.pi * phase_us / (rhythm.period_ms * 1000))
    return float(any(start * 1000 <= phase_us < end * 1000 for start, end in rhythm.lit_ms))


def next_change_s(pattern: Pattern, time_s: float, *, smooth: bool = True) -> float | None:
    """Return the first moment after ``time_s`` at which the brightness should be set again.

    ``None`` for a pattern that never changes. A smooth pattern changes every 50 ms. Both times are seconds since the
    pattern began; raises ValueError for a time before that.
    """
    rhythm = RHYTHMS[pattern]
    now_us = _since_start_us(time_s)
    if rhythm.smooth and smooth:
        step_us = _PULSE_STEP_MS * 1000
        return (now_us // step_us + 1) * step_us / 1e6
    period_us = rhythm.period_ms * 1000
    edges_us = sorted(edge * 1000 for edge in _edges_ms(rhythm))
    if not edges_us:
        return None
    phase_us = now_us % period_us
    following = next((edge for edge in edges_us if edge > phase_us), edges_us[0] + period_us)
    return (now_us - phase_us + following) / 1e6


def _edges_ms(rhythm: Rhythm) -> set[int]:
    """Return when the light changes within the period; where one span begins as another ends, nothing changes."""
    starts = {start for start, _ in rhythm.lit_ms}
    ends = {end % rhythm.period_ms for _, end in rhythm.lit_ms}
    return starts ^ ends


def _since_start_us(time_s: float) -> int:
    if not time_s >= 0:
        raise ValueError(f"a pattern has no brightness at {time_s} s; expected seconds since it began, 0 or more")
    return to_microseconds(time_s)


_SHORTEST_SLOT_MS = 1000  # shortest time that one of several lights at a place is shown; set by hand


@dataclass(frozen=True)
class Animation:
    """A signal over time."""

    lights: Mapping[str, Light] = field(default_factory=dict)
    lit_since_s: Mapping[str, float] = field(default_factory=dict)
    alternating_since_s: float = 0.0
    mood: Mood | None = None
    mood_since_s: float = 0.0
    sound: Sound = Sound.SILENCE
    sound_since_s: float = 0.0

    def followed_by(self, signal: Signal, time_s: float) -> Animation:
        """Return the animation of ``signal`` when it replaces this one at ``time_s``."""
        lights = most_urgent_lights(signal.lights)
        # a quiet signal that follows immediately does not cut off the sound of the one before
        heard_anew = signal.sound is not Sound.SILENCE
        return Animation(
            lights=lights,
            lit_since_s={
                place: self.lit_since_s[place] if self.lights.get(place) == light else time_s
                for place, light in lights.items()
            },
            alternating_since_s=self.alternating_since_s
            if list(lights.items()) == list(self.lights.items())
            else time_s,
            mood=signal.mood,
            mood_since_s=self.mood_since_s if signal.mood is self.mood else time_s,
            sound=signal.sound if heard_anew else self.sound,
            sound_since_s=time_s if heard_anew else self.sound_since_s,
        )

    def brightness_of(self, place: str, time_s: float, *, smooth: bool) -> float:
        """Return the brightness, 0 to 1, of a place's light; 0 if it is not lit."""
        light = self.lights.get(place)
        if light is None:
            return 0.0
        return brightness(light.pattern, max(0.0, time_s - self.lit_since_s[place]), smooth=smooth)

    def status(self, time_s: float, *, smooth: bool) -> tuple[float, float, float]:
        """Return the status light's (red, green, blue), each 0 to 1, sRGB encoded, dimmed by its pattern."""
        if self.mood is None:
            return (0.0, 0.0, 0.0)
        style = MOOD_STYLES[self.mood]
        level = brightness(style.pattern, max(0.0, time_s - self.mood_since_s), smooth=smooth)
        red, green, blue = style.colour.value
        return (red / 255 * level, green / 255 * level, blue / 255 * level)

    def frequency_hz(self, time_s: float) -> float:
        """Return the tone that sounds now, in hertz; 0 for none."""
        return sounds.frequency_hz(self.sound, time_s - self.sound_since_s)

    def alternating_place(self, time_s: float) -> tuple[str | None, float]:
        """Return the place shown now on shared LEDs, and its brightness, 0 or 1.

        The places alternate in the signal's order, so that a turn is shown from its start to its end; each gets whole
        periods of its pattern, at least a second.
        """
        if not self.lights:
            return None, 0.0
        place, since_s = self._alternation(time_s)
        elapsed_s = max(0.0, time_s - since_s)
        return place, brightness(self.lights[place].pattern, elapsed_s, smooth=False)

    def next_alternation_s(self, time_s: float) -> float | None:
        """Return when ``alternating_place`` changes next, after ``time_s``; ``None`` if it won't."""
        if not self.lights:
            return None
        place, since_s = self._alternation(time_s)
        pattern = self.lights[place].pattern
        blinks = _next_change_since(since_s, pattern, time_s, smooth=False)
        moves = since_s + _slot_ms(self.lights[place]) / 1000 if len(self.lights) > 1 else None
        return earliest((blinks, moves))

    def next_tone_s(self, time_s: float) -> float | None:
        """Return when ``frequency_hz`` changes next, after ``time_s``; ``None`` if it won't."""
        change_s = sounds.next_change_s(self.sound, time_s - self.sound_since_s)
        return None if change_s is None else self.sound_since_s + change_s

    def next_light_s(self, place: str, time_s: float, *, smooth: bool) -> float | None:
        """Return when the place's ``brightness_of`` changes next, after ``time_s``; ``None`` if it won't."""
        light = self.lights.get(place)
        return (
            None if light is None else _next_change_since(self.lit_since_s[place], light.pattern, time_s, smooth=smooth)
        )

    def next_status_s(self, time_s: float, *, smooth: bool) -> float | None:
        """Return when ``status`` changes next, after ``time_s``; ``None`` if it won't."""
        if self.mood is None:
            return None
        return _next_change_since(self.mood_since_s, MOOD_STYLES[self.mood].pattern, time_s, smooth=smooth)

    def _alternation(self, time_s: float) -> tuple[str, float]:
        """Return the place shown now, and since when."""
        round_us = sum(_slot_ms(light) for light in self.lights.values()) * 1000
        elapsed_us = max(0, to_microseconds(time_s - self.alternating_since_s))
        start_us = elapsed_us - elapsed_us % round_us
        for place, light in self.lights.items():
            end_us = start_us + _slot_ms(light) * 1000
            if elapsed_us < end_us:
                return place, self.alternating_since_s + start_us / 1e6
            start_us = end_us
        raise AssertionError("a moment within the round lies in one of its turns")


def _slot_ms(light: Light) -> int:
    period_ms = RHYTHMS[light.pattern].period_ms
    return period_ms * math.ceil(_SHORTEST_SLOT_MS / period_ms)


def _next_change_since(since_s: float, pattern: Pattern, time_s: float, *, smooth: bool) -> float | None:
    """Return when a pattern that began at ``since_s`` changes next, after ``time_s``; ``None`` if it won't."""
    change_s = next_change_s(pattern, max(0.0, time_s - since_s), smooth=smooth)
    return None if change_s is None else since_s + change_s
