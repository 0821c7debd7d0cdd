"""Plays a sequence of tones. Pure; time is passed in."""

import struct

from .ticks import TICKS_MASK, elapsed_ms

MOST_TONES = 255  # the count has 8 bits
_TONE_BYTES = 4  # frequency and length, 16 bits each


class TonePlayer:
    """Keeps track of the tone that sounds now."""

    def __init__(self) -> None:
        self._tones = bytearray(_TONE_BYTES * MOST_TONES)
        self._count = 0
        self._at = 0
        self._began = 0

    def play(self, tones: memoryview, count: int, now: int) -> None:
        """Replace the present tones: each has two bytes of frequency in Hz and two bytes of milliseconds."""
        self._tones[: _TONE_BYTES * count] = tones[: _TONE_BYTES * count]
        self._count, self._at, self._began = count, 0, now

    def stop(self) -> None:
        """Stop playing."""
        self._count = 0

    def frequency_hz(self, now: int) -> int:
        """Return the present frequency, 0 for silence; to be called often."""
        while self._at < self._count:
            frequency, lasts_ms = struct.unpack_from("<HH", self._tones, _TONE_BYTES * self._at)
            if elapsed_ms(now, self._began) < lasts_ms:
                return int(frequency)
            self._began = (self._began + lasts_ms) & TICKS_MASK
            self._at += 1
        return 0
