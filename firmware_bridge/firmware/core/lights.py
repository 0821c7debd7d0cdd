"""The lights: what the host wants, and what the strip is given: gamma, brightness, current limit. Pure.

A WS2812 takes about 20 mA for each of its three colours at full and 1 mA when dark (Worldsemi's data sheet gives 16 mA
as typical for the WS2812B-V5 and others say 20; we reckon with the larger).
"""

from .board import Levels
from .ticks import elapsed_ms

FULL_CHANNEL_MA = 20
IDLE_MA = 1

SWELL_EVERY = 8
"""While waiting for a host, one light in so many swells."""

_SWELL_STEPS = 32
_SWELL_STEP_MS = 80
_SWELL_TOP = 110


def linear_levels() -> bytearray:
    """Give for each sRGB value the share of full light, 0 to 255 (IEC 61966-2-1)."""
    return bytearray([int(_linear(value / 255.0) * 255.0 + 0.5) for value in range(256)])


def _linear(encoded: float) -> float:
    return encoded / 12.92 if encoded <= 0.04045 else ((encoded + 0.055) / 1.055) ** 2.4


def milliamperes(lights: int, total: int) -> int:
    """Give what a strip of so many lights draws, rounded up, in mA; ``total`` is the sum of all their levels."""
    return lights * IDLE_MA + (total * FULL_CHANNEL_MA + 254) // 255


class LightFrame:
    """What the lights show.

    Attributes:
        count: how many lights there are.
        wanted: red, green and blue of each, sRGB encoded.
        shown: levels for the strip.
        is_waiting: whether the calm waiting state is shown: no host has sent a frame, or it fell silent.
        limited_ma: what the last frame would have drawn where that was too much, otherwise 0.
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
        self._strip_limit_ma = limit_ma
        self._limit_ma = limit_ma
        self._swell_step = -1
        self._waiting_since = 0
        self._dirty = True
        self.set_brightness(brightness)

    def set_brightness(self, brightness: int) -> None:
        """Set the brightness, 0 to 255. What is wanted never vanishes by it unless it is 0."""
        for value in range(256):
            level = (self._linear[value] * brightness + 127) // 255
            self._levels[value] = level
        self._faintest = 1 if brightness else 0
        self._dirty = True

    def set_limit_ma(self, limit_ma: int) -> None:
        """Set the current limit: the strip's own if 0, and never more than that."""
        self._limit_ma = min(limit_ma, self._strip_limit_ma) if limit_ma else self._strip_limit_ma
        self._dirty = True

    def take_all(self, colours: memoryview, count: int) -> None:
        """Want these colours, three bytes a light; lights beyond them are off, colours beyond the strip left out."""
        used = 3 * min(count, self.count)
        self.wanted[:used] = colours[:used]
        self.wanted[used:] = self._dark[used:]
        self._got_frame()

    def take_lit(self, lights: memoryview, count: int) -> None:
        """Want these lights lit, each two bytes light and three of colour, and all others off."""
        self.clear()
        for at in range(0, 5 * count, 5):
            light = lights[at] | lights[at + 1] << 8
            if light < self.count:
                self.wanted[3 * light : 3 * light + 3] = lights[at + 2 : at + 5]
        self._got_frame()

    def clear(self) -> None:
        """Want all lights off."""
        self.wanted[:] = self._dark
        self._dirty = True

    def wait(self, now: int) -> None:
        """Show the waiting state until the next frame."""
        self.is_waiting = True
        self._waiting_since = now
        self._swell_step = -1

    @property
    def has_news(self) -> bool:
        """Whether ``refresh`` would change what is shown, the waiting state's swell left aside."""
        return self._dirty and self.count > 0

    def refresh(self, now: int) -> bool:
        """Bring ``shown`` up to date; ``True`` when it has to be shown anew."""
        if self.is_waiting:
            self._swell(now)
        if not self._dirty:
            return False
        self._dirty = False
        self._correct()
        return True

    def _got_frame(self) -> None:
        self.is_waiting = False
        self._dirty = True

    def _swell(self, now: int) -> None:
        step = elapsed_ms(now, self._waiting_since) // _SWELL_STEP_MS % (2 * _SWELL_STEPS)
        if step == self._swell_step:
            return
        self._swell_step = step
        self.clear()
        height = min(step, 2 * _SWELL_STEPS - step)
        value = _SWELL_TOP * height // _SWELL_STEPS
        for at in range(0, len(self.wanted), 3 * SWELL_EVERY):
            self.wanted[at] = self.wanted[at + 1] = self.wanted[at + 2] = value

    def _correct(self) -> None:
        shown, loops = self.shown, self._loops
        total = loops.write(self.wanted, shown, self._levels, self._faintest)
        drawn_ma = milliamperes(self.count, total)
        self.limited_ma = 0
        if drawn_ma <= self._limit_ma or not total:
            return
        self.limited_ma = drawn_ma
        # Whole units of level, so that rounding down keeps the sum below what may be drawn.
        allowed = max(0, self._limit_ma - self.count * IDLE_MA) * 255 // FULL_CHANNEL_MA
        loops.dim(shown, allowed, total)
