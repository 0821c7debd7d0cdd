"""Lights of a WLED controller by USB: frames in the Adalight format.

A frame is ``Ada``, the number of lights less one (2 bytes, the higher first), a check byte (both XORed with 0x55),
then red, green and blue of each light. Between frames WLED takes single bytes as commands (its wled_serial.cpp):
``v`` asks for its version, 0xB0 to 0xB7 change the baud rate for good. Should it start in the middle of a frame, as
after a reset, it would take colours for commands; so those bytes are never sent as colours.
"""

from __future__ import annotations

from collections.abc import Callable

from firmware_bridge.ports.foreign_devices import WLED, certain_foreign_device
from firmware_bridge.ports.port import DEFAULT_BAUD, Port, open_port
from firmware_bridge.wled import frames
from firmware_bridge.wled.frames import WledError, WledSettingError

BAUDS = (115_200, 230_400, 460_800, 500_000, 576_000, 921_600, 1_000_000, 1_500_000)
"""The rates WLED knows; 115200 unless its owner changed it in *Sync settings*."""

_COMMANDS = frozenset(b"AIvXlLoO^{\xc9") | frozenset(range(0xB0, 0xB8))
_BITS_A_BYTE = 10
_STUCK_S = 5.0
_HEARD_BYTES = 512
STEADY_S = _STUCK_S + 1.0
"""How long frames must go out without complaint until a WLED can be taken to be there: a full buffer shows late."""

_SOONEST_S = 0.005
_PAUSE_S = 0.005
_LIGHT_S = 30e-6
"""A WS2812 takes 24 bits of 1.25 µs."""


def _nearest_colour(value: int) -> int:
    return min((other for other in range(256) if other not in _COMMANDS), key=lambda other: abs(other - value))


_NO_COMMANDS = bytes(_nearest_colour(value) for value in range(256))


def without_commands(colours: bytes) -> bytes:
    """Move each byte that WLED could take for a command to the nearest one that it can't: by 4 of 255 at most."""
    return colours.translate(_NO_COMMANDS)


def adalight_frame(colours: bytes) -> bytes:
    """Give the bytes of a frame: header and colours, as they go over the line."""
    high, low = divmod(len(colours) // frames.CHANNELS - 1, 256)
    return b"Ada" + bytes((high, low, high ^ low ^ 0x55)) + colours


def frame_s(lights: int, bytes_a_second: float) -> float:
    """Give how long a frame of so many lights takes in all: on the line, on the strip, and the rest after it."""
    line_s = len(adalight_frame(bytes(frames.CHANNELS * lights))) / bytes_a_second
    return line_s + lights * _LIGHT_S + _PAUSE_S


class WledSerial:
    """A pixel output on a serial port: writes what there is room for, never waits.

    A frame that comes while the line is busy with the one before waits; a newer one replaces it. ``refresh_s`` then
    asks to be called again as soon as the line is free, so frames go out as fast as the line takes them and no faster.
    After each frame the line rests for as long as the strip takes to show it and 5 ms more: WLED to 0.14 restarts when
    bytes come without a break (github.com/wled/WLED/issues/2618 and 3409).

    Args:
        port: such as ``/dev/ttyUSB0``.
        lights: how many the strip has.
        clock: monotonic seconds, the same clock as the driver's.
        baud: as set in WLED, one of ``BAUDS``.
        corrected: whether WLED corrects gamma by itself (not by default); if not, frames are sent as light.
        open_port: opens the port; see ``firmware_bridge.ports.port``.

    Raises WledSettingError for settings that can't be, and PortError, with what to do, for a port that can't be used.
    """

    def __init__(
        self,
        port: str,
        lights: int,
        clock: Callable[[], float],
        *,
        baud: int = DEFAULT_BAUD,
        corrected: bool = False,
        open_port: Callable[[str, int], Port] = open_port,
    ) -> None:
        self.lights = frames.check_lights(lights)
        if baud not in BAUDS:
            raise WledSettingError(f"WLED knows no {baud} bits a second; it knows {', '.join(map(str, BAUDS))}")
        self._corrected = corrected
        self._clock = clock
        self._bytes_a_second = baud / _BITS_A_BYTE
        self._heard = b""
        self._rest = b""
        self._waiting: bytes | None = None
        self._free_at_s = self._progress_s = self._shown_s = clock()
        self._port = open_port(port, baud)

    @property
    def refresh_s(self) -> float | None:
        """After how long the frame is wanted again: when the line is free, if one waits; a second otherwise."""
        if self._waiting is None and not self._rest:
            return frames.REFRESH_S
        return max(_SOONEST_S, self._free_at_s - self._shown_s)

    def show(self, colours: bytes) -> None:
        """Send a frame, or keep it until the line is free.

        Raises PortGoneError when the cable is out, WledError when the port has taken nothing for 5 seconds or when
        what is heard there is certainly no WLED.
        """
        frame = frames.checked_frame(colours, self.lights)
        self._waiting = adalight_frame(without_commands(frame if self._corrected else frames.linearized(frame)))
        self._shown_s = self._clock()
        self._listen()
        self._write(self._shown_s)

    def close(self) -> None:
        """Send what still waits, as far as there is room, and let go of the port; WLED goes its own way in 2.5 s."""
        try:
            self._port.write(self._rest + (self._waiting or b""))
        finally:
            if self._is_stuck(self._clock()):
                # Closing would wait for a device that takes nothing, on Linux up to 30 s.
                self._port.discard()
            self._port.close()

    def _listen(self) -> None:
        """Read what is said, which notices a cable that is out and another device; WLED's own words are of no use."""
        said = self._port.read()
        if not said:
            return
        self._heard = (self._heard + said)[-_HEARD_BYTES:]
        who = certain_foreign_device(self._heard)
        if who not in (None, WLED):
            raise WledError(f"{self._port.name} is {who} and not WLED; name the port of the WLED in the settings")

    def _is_stuck(self, now_s: float) -> bool:
        return bool(self._rest) and now_s >= self._progress_s + _STUCK_S

    def _write(self, now_s: float) -> None:
        if not self._rest and self._waiting is not None and now_s >= self._free_at_s:
            self._rest, self._waiting = self._waiting, None
            self._free_at_s = now_s + frame_s(self.lights, self._bytes_a_second)
            self._progress_s = now_s
        if not self._rest:
            return
        written = self._port.write(self._rest)
        self._rest = self._rest[written:]
        if written:
            self._progress_s = now_s
        elif self._is_stuck(now_s):
            raise WledError(
                f"{self._port.name} has taken no light for {_STUCK_S:.0f} seconds; is it the WLED controller's port? "
                "Unplug it and plug it in again"
            )
