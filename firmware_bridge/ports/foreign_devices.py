"""Identifies a device that doesn't speak the referee's protocol by its output. Pure.

Recognised are Marlin's and Grbl's host protocols, the NMEA 0183 sentences of positioning receivers, WLED's answer to
``v``, the prompts of MicroPython and CircuitPython, the start-up lines of Espressif's ROM boot loader, and the login
prompt of a Linux console.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from firmware_bridge.errors import NoFirmwareError, SilentDeviceError, WrongDeviceError

# MicroPython's prompt only accepts a carriage return; a line left there would corrupt the next greeting
PROBE = b"v\r\n"
"""Sent to a device that does not answer the greeting: WLED replies with its version, a 3D printer with an error."""

WLED = "WLED"
"""The name that ``certain_foreign_device`` returns for a WLED controller."""

_INSTALL = "`./run hardware firmware install` puts it there"
_ELSEWHERE = "is the right port named in the settings?"


@dataclass(frozen=True)
class _Signature:
    """A device's output as a regular expression of ASCII bytes, its name, and advice."""

    pattern: bytes
    what: str
    advice: str = _ELSEWHERE
    could_be_ours: bool = False

    def is_in(self, text: bytes) -> bool:
        return re.search(self.pattern, text, re.MULTILINE) is not None


# in this order: a 3D printer's board may print anything, and CircuitPython mentions MicroPython's prompt
_SIGNATURES = (
    _Signature(rb"\bMarlin\b|^echo:|^ok T:|^ok\b.*\bB:|^Error:.*(checksum|Line Number)", "a 3D printer (Marlin)"),
    _Signature(rb"^Grbl \d|^\[MSG:", "a milling machine (Grbl)"),
    _Signature(rb"\bWLED\b|\"vid\":\d|^\{\"state\":", WLED, 'choose `drivers = ["wled-serial"]` for lights on WLED'),
    _Signature(rb"^\$(G[ABLNPQ]|P[A-Z]{2})[A-Z]{2,3},", "a GPS receiver (NMEA)"),
    _Signature(
        rb"CircuitPython",
        "CircuitPython, which the referee's firmware doesn't run on",
        f"put MicroPython on the board; then {_INSTALL}",
        could_be_ours=True,
    ),
    _Signature(
        rb"MicroPython v\d|MPY: soft reboot|raw REPL; CTRL-B|^>>> ",
        "MicroPython at its prompt, without the referee's firmware running",
        _INSTALL,
        could_be_ours=True,
    ),
    _Signature(
        rb"waiting for download|DOWNLOAD\(",
        "an Espressif chip that waits for its firmware",
        "press its reset button; if that doesn't help, put MicroPython on it",
        could_be_ours=True,
    ),
    _Signature(
        rb"^ESP-ROM:|^rst:0x|^ets [A-Z]",
        "an Espressif chip with other firmware, or one that starts again and again",
        "put MicroPython on it, then the referee's firmware with `./run hardware firmware install`",
        could_be_ours=True,
    ),
    _Signature(rb"\blogin: ?$", "a computer's console (it asks to log in)"),
)

_PRINTABLE = frozenset(range(0x20, 0x7F)) | {0x09, 0x0A, 0x0D}


def is_known_device(heard: bytes) -> bool:
    """Return whether the output identifies the device."""
    text = _lines(heard)
    return any(signature.is_in(text) for signature in _SIGNATURES)


def certain_foreign_device(heard: bytes) -> str | None:
    """Return the name of the device if the output proves that it can't be the referee's board; else ``None``."""
    text = _lines(heard)
    certain = (one.what for one in _SIGNATURES if not one.could_be_ours and one.is_in(text))
    return next(certain, None)


def foreign_device_error(port: str, heard: bytes, baud: int) -> WrongDeviceError:
    """Make the error that names the device on ``port`` by its output ``heard``, which contained no valid packet."""
    text = _lines(heard)
    for signature in _SIGNATURES:
        if signature.is_in(text):
            kind = NoFirmwareError if signature.could_be_ours else WrongDeviceError
            return kind(f"{port} is {signature.what}; {signature.advice}")
    if not heard:
        return SilentDeviceError(
            f"nothing answers on {port}; if the referee's board is there, press its reset button or plug it in again; "
            f"if the board lacks the referee's firmware, {_INSTALL}"
        )
    first = _first_line(text)
    if first is not None:
        return WrongDeviceError(f"{port} does not speak the referee's protocol ({first!r}); {_ELSEWHERE}")
    shown = heard[:8].hex(" ")
    return WrongDeviceError(
        f"{port} sends what is neither the referee's protocol nor text ({shown} …); is it the right port, and are "
        f"{baud} bits a second right for it?"
    )


def _lines(heard: bytes) -> bytes:
    return heard.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _first_line(text: bytes) -> str | None:
    """Return the first complete line of text, shortened; ``None`` if it is not text."""
    if sum(byte in _PRINTABLE for byte in text) < 0.9 * len(text):
        return None
    lines = [line.strip() for line in text.decode("ascii", errors="replace").split("\n")]
    return next((line[:60] for line in lines if line), None)
