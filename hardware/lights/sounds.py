"""The tones of each sound, and a driver for a buzzer that accepts whole tunes.

Sounds differ in rhythm as well as in pitch, since an active buzzer has only one pitch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from common.moments import to_microseconds
from hardware.lights.signals import Signal, Sound


@dataclass(frozen=True)
class Tone:
    """A tone of ``frequency_hz``, or a rest where that is 0, for ``duration_s``."""

    frequency_hz: float
    duration_s: float


# Equal temperament, A4 = 440 Hz; small piezo discs are loudest above 1 kHz, hence the sixth octave.
_C6, _E6, _G6, _C7 = 1046.5, 1318.5, 1568.0, 2093.0

TONES: Mapping[Sound, tuple[Tone, ...]] = MappingProxyType(
    {
        Sound.SILENCE: (),
        Sound.ACCEPTED: (Tone(_G6, 0.08),),
        Sound.READY: (Tone(_C6, 0.05), Tone(0, 0.05), Tone(_G6, 0.05)),
        Sound.FAULT: (Tone(_C6, 0.4), Tone(0, 0.12), Tone(_C6, 0.4)),
        Sound.QUESTION: (Tone(_E6, 0.12), Tone(0, 0.08), Tone(_C7, 0.25)),
        Sound.FINISHED: (
            Tone(_C6, 0.12),
            Tone(0, 0.04),
            Tone(_E6, 0.12),
            Tone(0, 0.04),
            Tone(_G6, 0.12),
            Tone(0, 0.04),
            Tone(_C7, 0.5),
        ),
    }
)


def frequency_hz(sound: Sound, time_s: float) -> float:
    """Return the frequency ``time_s`` seconds after the sound began; 0 in rests, before and after it."""
    time_us = to_microseconds(time_s)
    return next((tone.frequency_hz for start, end, tone in _timeline(sound) if start <= time_us < end), 0.0)


def next_change_s(sound: Sound, time_s: float) -> float | None:
    """Return when, after ``time_s`` seconds into the sound, the next tone or rest begins; ``None`` after its end."""
    edges = [edge for start, end, _ in _timeline(sound) for edge in (start, end)]
    following = min((edge for edge in edges if edge > to_microseconds(time_s)), default=None)
    return None if following is None else following / 1e6


def _timeline(sound: Sound) -> list[tuple[int, int, Tone]]:
    """Return start and end of every tone in whole microseconds, so that edges compare exactly."""
    timeline: list[tuple[int, int, Tone]] = []
    start = 0
    for tone in TONES[sound]:
        end = start + to_microseconds(tone.duration_s)
        timeline.append((start, end, tone))
        start = end
    return timeline


class SoundOutput(Protocol):
    """An output that plays sequences of tones."""

    def play(self, tones: Sequence[tuple[float, float]]) -> None:
        """Play tones as (hertz, 0 for a rest; seconds) in place of the present ones; may raise a kind of OSError."""


class ToneDriver:
    """Plays the sound of each signal that has one; a quiet signal does not cut off the sound before it."""

    def __init__(self, name: str, output: SoundOutput) -> None:
        self.name = name
        self._output = output

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - the buzzer keeps the time by itself
        """Play the signal's sound, if it has one; raises the output's errors."""
        if signal.sound is not Sound.SILENCE:
            self._output.play([(tone.frequency_hz, tone.duration_s) for tone in TONES[signal.sound]])

    def close(self) -> None:
        """Stop the sound. The output is not closed, because it may be shared with lights and buttons."""
        self._output.play(())
