from __future__ import annotations

from collections.abc import Sequence

import pytest

from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import AnimatedDriver, Mood, Signal, Sound
from hardware.lights.sounds import TONES, ToneDriver, duration_s


class Buzzer:
    def __init__(self) -> None:
        self.played: list[Sequence[tuple[float, float]]] = []
        self.broken = False

    def play(self, tones: Sequence[tuple[float, float]]) -> None:
        if self.broken:
            raise OSError("unplugged")
        self.played.append(tones)


@pytest.mark.parametrize("sound", [sound for sound in Sound if sound is not Sound.SILENCE])
def test_a_sound_is_played_whole(sound: Sound) -> None:
    buzzer = Buzzer()
    ToneDriver("buzzer", buzzer).show(Signal(Mood.FAULT, sound=sound), 5.0)
    (tones,) = buzzer.played
    assert [frequency_hz for frequency_hz, _ in tones] == [tone.frequency_hz for tone in TONES[sound]]
    assert sum(seconds for _, seconds in tones) == pytest.approx(duration_s(sound))


def test_a_quiet_signal_does_not_cut_a_sound_off_and_closing_does() -> None:
    buzzer = Buzzer()
    driver = ToneDriver("buzzer", buzzer)
    driver.show(Signal(Mood.FAULT, sound=Sound.FAULT), 5.0)
    driver.show(Signal(Mood.WAITING), 5.1)
    assert len(buzzer.played) == 1
    driver.close()
    assert buzzer.played[-1] == ()


def test_it_keeps_no_time_and_a_sound_that_was_missed_is_not_played_late(clock) -> None:
    buzzer, said = Buzzer(), []
    assert not isinstance(ToneDriver("buzzer", buzzer), AnimatedDriver)
    with Panel([DriverSource("buzzer", lambda: ToneDriver("buzzer", buzzer))], clock, said.append) as panel:
        panel.show(Signal(Mood.WAITING))
        buzzer.broken = True
        panel.show(Signal(Mood.FAULT, sound=Sound.FAULT))
        buzzer.broken = False
        clock.now_s += 2.0
        panel.tick()
        assert panel.faults == ()
        assert buzzer.played == []
        panel.show(Signal(Mood.ACCEPTED, sound=Sound.ACCEPTED))
        assert len(buzzer.played) == 1
    assert said == ["buzzer does not work: unplugged. The game goes on; it is tried again."]
