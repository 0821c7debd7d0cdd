"""What both ways to a WLED controller share: refresh interval, colour conversion, and errors.

Facts are from WLED's documentation (kno.wled.ge) and its source, version 0.15. After 2.5 s without a frame it returns
to its own effect (``realtimeTimeoutMs``). It takes realtime values as they are, without gamma correction
(``arlsDisableGammaCorrection`` is set by default).
"""

from __future__ import annotations

from common.srgb import linear_from_srgb
from firmware_bridge.errors import BridgeError

REFRESH_S = 1.0
"""How often a frame is repeated: two frames may be lost before WLED's 2.5 s are over."""

MAX_LIGHTS = 1500
"""The most lights that are sent; WLED itself advises fewer."""

CHANNELS = 3


class WledError(BridgeError, OSError):
    """A WLED controller that can't be reached; the message says why and what to do."""


class WledSettingError(BridgeError, ValueError):
    """A setting that no WLED controller can have; the message says what is allowed."""


def check_lights(lights: int) -> int:
    """Give ``lights`` back; raises WledSettingError for a number of lights that no strip has."""
    if not 1 <= lights <= MAX_LIGHTS:
        raise WledSettingError(f"a WLED strip of {lights} lights; expected 1 to {MAX_LIGHTS}")
    return lights


def checked_frame(colours: bytes, lights: int) -> bytes:
    """Give a frame back; raises ValueError unless it has 3 bytes for each light."""
    if len(colours) != CHANNELS * lights:
        raise ValueError(f"a frame of {len(colours)} bytes for {lights} lights; expected {CHANNELS * lights}")
    return bytes(colours)


_LINEARIZED = bytes(round(255 * linear_from_srgb(encoded / 255)) for encoded in range(256))


def linearized(colours: bytes) -> bytes:
    """Turn an sRGB-encoded frame into light, byte by byte; encoded values below 7 are too dark for 8 bits."""
    return colours.translate(_LINEARIZED)
