"""Converts the host's colours to the strip's levels: gamma, brightness, current limit. Pure.

A WS2812 draws about 20 mA for each of its three colours at full and 1 mA when dark (Worldsemi's data sheet gives 16 mA
as typical for the WS2812B-V5, others 20; the larger is used here).
"""

from .board import Levels
from .ticks import elapsed_ms

FULL_CHANNEL_MA = 20  # one colour of a light at its brightest, usual for a WS2812B
IDLE_MA = 1  # of a dark light, usual for a WS2812B

PAUSE_US = 300
"""How long a strip's line must be low before the lights show a frame: at least 50 us in the WS2812B's data sheet, 280
in that of the WS2812B-V5."""

PULSE_EVERY = 8
"""While waiting for a host, every eighth light pulses."""

_PULSE_STEPS = 32  # of one pulse, 2.6 s; set by hand
_PULSE_STEP_MS = 80  # as above
_PULSE_TOP = 110  # brightest level of 255; set by hand


def linear_levels() -> bytearray:
    """Return the linear level of each sRGB value, 0 to 255 (IEC 61966-2-1)."""
    return bytearray([int(_linear(value / 255.0) * 255.0 + 0.5) for value in range(256)])


def _linear(encoded: float) -> float:
    return encoded / 12.92 if encoded <= 0.04045 else ((encoded + 0.055) / 1.055) ** 2.4


def milliamperes(lights: int, total: int) -> int:
    """Return the current in mA, rounded up, of a strip with that many lights; ``total`` is the sum of their levels."""
    return lights * IDLE_MA + (total * FULL_CHANNEL_MA + 254) // 255


class LightFrame:
    """The frame that the lights show: ``wanted`` is sRGB encoded (red, green, blue), ``shown`` has the strip's levels.

    ``is_waiting``: no host has sent a frame, or it fell silent. ``limited_ma`` is the current that the last frame would
    have drawn if it exceeded the limit, otherwise 0.
    """

    def __init__(self, count: int, limit_ma: int, brightness: int, loops: Levels | None = None) -> None:
        self.count = count
        self._loops = loops or Levels()
        self._dark = memoryview(bytes(3 * count))
        self.wanted = bytearray(3 * count)
        self.shown = bytearray(3 * count)
        self.is_waiting = True
        self.limited_ma = 0
        self._linear = linear_levels()
        self._levels = bytearray(256)
        self._strip_brightness = brightness
        self._strip_limit_ma = limit_ma
        self._limit_ma = limit_ma
        self._pulse_step = -1
        self._waiting_since = 0
        self._dirty = True
        self.set_brightness(255)

    def set_brightness(self, brightness: int) -> None:
        """Set the brightness, 0 to 255; 255 is the strip's own. Only 0 turns a lit light off."""
        brightness = (self._strip_brightness * brightness + 254) // 255
        for value in range(256):
            level = (self._linear[value] * brightness + 127) // 255
            self._levels[value] = level
        self._faintest = 1 if brightness else 0
        self._dirty = True

    def set_limit_ma(self, limit_ma: int) -> None:
        """Set the current limit, at most the strip's own; 0 is the strip's own."""
        self._limit_ma = min(limit_ma, self._strip_limit_ma) if limit_ma else self._strip_limit_ma
        self._dirty = True

    def take_all(self, colours: memoryview, count: int) -> None:
        """Set all lights, three bytes each; lights beyond are off, and colours beyond the strip are ignored."""
        used = 3 * min(count, self.count)
        self.wanted[:used] = colours[:used]
        self.wanted[used:] = self._dark[used:]
        self._note_frame()

    def take_lit(self, lights: memoryview, count: int) -> None:
        """Set the lit lights, each two bytes of number and three of colour; all others are off."""
        self.clear()
        for at in range(0, 5 * count, 5):
            light = lights[at] | lights[at + 1] << 8
            if light < self.count:
                self.wanted[3 * light : 3 * light + 3] = lights[at + 2 : at + 5]
        self._note_frame()

    def clear(self) -> None:
        """Turn all lights off."""
        self.wanted[:] = self._dark
        self._dirty = True

    def wait(self, now: int) -> None:
        """Show the waiting state until the next frame."""
        self.is_waiting = True
        self._waiting_since = now
        self._pulse_step = -1

    @property
    def has_news(self) -> bool:
        """Whether ``refresh`` would change what is shown, apart from the waiting state's pulse."""
        return self._dirty and self.count > 0

    def refresh(self, now: int) -> bool:
        """Update ``shown``; returns whether it must be shown again."""
        if self.is_waiting:
            self._pulse(now)
        if not self._dirty:
            return False
        self._dirty = False
        self._compute_levels()
        return True

    def _note_frame(self) -> None:
        self.is_waiting = False
        self._dirty = True

    def _pulse(self, now: int) -> None:
        step = elapsed_ms(now, self._waiting_since) // _PULSE_STEP_MS % (2 * _PULSE_STEPS)
        if step == self._pulse_step:
            return
        self._pulse_step = step
        self.clear()
        height = min(step, 2 * _PULSE_STEPS - step)
        value = _PULSE_TOP * height // _PULSE_STEPS
        for at in range(0, len(self.wanted), 3 * PULSE_EVERY):
            self.wanted[at] = self.wanted[at + 1] = self.wanted[at + 2] = value

    def _compute_levels(self) -> None:
        shown, loops = self.shown, self._loops
        total = loops.write(self.wanted, shown, self._levels, self._faintest)
        drawn_ma = milliamperes(self.count, total)
        self.limited_ma = 0
        if drawn_ma <= self._limit_ma or not total:
            return
        self.limited_ma = drawn_ma
        # Whole levels, so that rounding down keeps the sum within the limit.
        allowed = max(0, self._limit_ma - self.count * IDLE_MA) * 255 // FULL_CHANNEL_MA
        loops.dim(shown, allowed, total)
