"""A buzzer that is told a whole tune at once, such as a microcontroller's: it keeps the time by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hardware.signals import Signal, Sound
from hardware.sounds import TONES


class SoundOutput(Protocol):
    """Something that plays tones one after the other."""

    def play(self, tones: Sequence[tuple[float, float]]) -> None:
        """Play tones, each (frequency in hertz, 0 for a rest; seconds), in place of what sounds; no tones: silence.

        Returns at once. May raise OSError (each room's own kind of it).
        """


class ToneDriver:
    """Plays the sound of each signal that has one; a quiet signal does not cut off the sound before it."""

    def __init__(self, name: str, output: SoundOutput) -> None:
        self.name = name
        self._output = output

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - the buzzer keeps the time by itself
        """Play the signal's sound, if it has one; raises what the output raises."""
        if signal.sound is not Sound.SILENCE:
            self._output.play([(tone.frequency_hz, tone.duration_s) for tone in TONES[signal.sound]])

    def close(self) -> None:
        """Be silent. The output is not closed: it may be one with lights and buttons."""
        self._output.play(())
