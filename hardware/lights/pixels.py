"""A driver for any strip of coloured lights: it sends complete frames of red, green and blue."""

from typing import Protocol

from common.moments import earliest
from hardware.errors import SettingError
from hardware.lights.animation import Animation
from hardware.lights.light_map import LightMap
from hardware.lights.signals import Signal

CHANNELS = 3
"""Bytes a light: red, green, blue."""


class PixelOutput(Protocol):
    """An output that shows frames on a strip of ``lights`` lights.

    ``refresh_s`` is the number of seconds after which an unchanged frame must be sent again; ``None`` if the output
    keeps it.
    """

    @property
    def lights(self) -> int:
        """Number of lights."""

    @property
    def refresh_s(self) -> float | None:
        """Seconds after which an unchanged frame must be sent again; ``None`` for never."""

    def show(self, colours: bytes) -> None:
        """Show a complete frame without blocking: red, green, blue of each light, sRGB encoded (IEC 61966-2-1).

        ``colours`` has 3 bytes a light, ``3 * lights`` in all. May raise a subclass of OSError.
        """

    def close(self) -> None:
        """Release ports and sockets; the lights were turned off before."""


class PixelDriver:
    """Shows signals on a strip of lights.

    ``brightness``, 0 to 1, scales the encoded values, so that 0.5 looks about half as bright. All lights of a place
    show the same. The driver owns the output. Raises SettingError, with the output closed, for a strip that is shorter
    than the map and a brightness out of range.
    """

    def __init__(self, name: str, output: PixelOutput, light_map: LightMap, *, brightness: float = 1.0) -> None:
        wrong = light_map.problems(strip_lights=output.lights)
        if not 0 <= brightness <= 1:
            wrong = (f"a brightness of {brightness}; expected 0 to 1",)
        if wrong:
            output.close()
            raise SettingError("; ".join(wrong))
        self.name = name
        self._output = output
        self._map = light_map
        self._brightness = brightness
        self._animation = Animation()
        self._sent: bytes | None = None
        self._sent_s = 0.0

    def show(self, signal: Signal, time_s: float) -> None:
        """Show the signal from ``time_s`` (monotonic seconds) on; raises the output's errors."""
        self._animation = self._animation.followed_by(signal, time_s)
        self.tick(time_s)

    def tick(self, time_s: float) -> None:
        """Send the frame for ``time_s`` if it differs from the last one or that must be refreshed."""
        frame = self.frame(time_s)
        if frame == self._sent and not self._is_stale(time_s):
            return
        # only remembered once it is sent: after a failure the next frame is sent even if it is unchanged
        self._sent = None
        self._output.show(frame)
        self._sent, self._sent_s = frame, time_s

    def next_change_s(self, time_s: float) -> float | None:
        """Return when a light changes next, or the frame must be refreshed; ``None`` if never."""
        moments = [self._animation.next_light_s(place, time_s, smooth=True) for place in self._lit_places()]
        if self._map.status:
            moments.append(self._animation.next_status_s(time_s, smooth=True))
        if self._output.refresh_s is not None and self._sent is not None:
            moments.append(self._sent_s + self._output.refresh_s)
        return earliest(moments)

    def frame(self, time_s: float) -> bytes:
        """Return the complete frame of a moment: 3 bytes a light of the output, sRGB encoded."""
        colours = bytearray(CHANNELS * self._output.lights)
        for place in self._lit_places():
            level = self._animation.brightness_of(place, time_s, smooth=True) * self._brightness
            encoded = bytes(round(channel * level) for channel in self._animation.lights[place].colour.value)
            for light in self._map.places[place]:
                colours[CHANNELS * light : CHANNELS * (light + 1)] = encoded
        mood = bytes(round(255 * level * self._brightness) for level in self._animation.status(time_s, smooth=True))
        for light in self._map.status:
            colours[CHANNELS * light : CHANNELS * (light + 1)] = mood
        return bytes(colours)

    def close(self) -> None:
        """Turn every light off and release the output, even if turning off fails."""
        try:
            self._output.show(bytes(CHANNELS * self._output.lights))
        finally:
            self._output.close()

    def _lit_places(self) -> list[str]:
        return [place for place in self._animation.lights if place in self._map.places]

    def _is_stale(self, time_s: float) -> bool:
        refresh_s = self._output.refresh_s
        return refresh_s is not None and time_s >= self._sent_s + refresh_s
