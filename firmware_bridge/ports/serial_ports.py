"""Lists serial ports, the devices connected to them, and the programs that have them open.

A device that doesn't speak the referee's protocol is identified by its output. Recognised are Marlin's and Grbl's host
protocols, the NMEA 0183 sentences of positioning receivers, WLED's answer to ``v``, the prompts of MicroPython and
CircuitPython, the start-up lines of Espressif's ROM boot loader, and the login prompt of a Linux console.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from serial.tools import list_ports

from common.phrases import Phrase
from firmware_bridge.errors import NoFirmwareError, PortMissingError, SilentDeviceError, WrongDeviceError

# USB vendor numbers, as assigned by the USB Implementers Forum.
_VENDORS: Mapping[int, str] = MappingProxyType(
    {
        0x0403: Phrase("FTDI serial converter"),
        0x10C4: Phrase("Silicon Labs serial converter (many ESP boards)"),
        0x1A86: Phrase("WCH serial converter (many Arduino and ESP boards)"),
        0x2341: Phrase("Arduino board"),
        0x239A: Phrase("Adafruit board"),
        0x2E8A: Phrase("Raspberry Pi microcontroller (Pico)"),
        0x303A: Phrase("Espressif board"),
    }
)


OWN_USB_VENDORS = frozenset({0x2E8A, 0x303A})
"""Raspberry Pi and Espressif, whose supported chips have USB themselves."""

_LISTING_ATTEMPTS = 3  # a device may vanish while it is listed


@dataclass(frozen=True)
class SerialPort:
    """A serial port: ``device`` is the name to open; the USB fields are ``None`` for a port that is not USB."""

    device: str
    description: str = ""
    vendor_id: int | None = None
    product_id: int | None = None
    serial_number: str | None = None

    @property
    def board(self) -> str | None:
        """The probable kind of board, by its USB vendor; ``None`` if unknown."""
        return None if self.vendor_id is None else _VENDORS.get(self.vendor_id)

    def __str__(self) -> str:
        """One line for a person: the device, its description, USB numbers and serial number."""
        parts = [self.device]
        what = self.board or self.description
        if what:
            parts.append(what)
        if self.vendor_id is not None and self.product_id is not None:
            parts.append(Phrase("USB {vendor_id}:{product_id}", f"{self.vendor_id:04x}", f"{self.product_id:04x}"))
        if self.serial_number:
            parts.append(Phrase("serial number {serial_number}", self.serial_number))
        return ", ".join(parts)


def serial_ports(listed: Callable[[], Iterable[Any]] = list_ports.comports) -> tuple[SerialPort, ...]:
    """List the serial ports, those on USB first, each in the natural order of their names.

    ``listed`` returns pyserial's port records. Nothing is opened, so ports held by other programs are listed too.
    Raises PortMissingError when the ports keep changing.
    """
    ports = [
        SerialPort(
            device=record.device,
            description="" if record.description in (None, "n/a") else record.description,
            vendor_id=record.vid,
            product_id=record.pid,
            serial_number=record.serial_number,
        )
        for record in _records(listed)
    ]
    return tuple(sorted(ports, key=lambda port: (port.vendor_id is None, _natural(port.device))))


def _records(listed: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    for _ in range(_LISTING_ATTEMPTS):
        try:
            return tuple(listed())
        except (OSError, TypeError):
            # pyserial 3.5 fails on a USB port that disappears while it is being listed
            continue
    raise PortMissingError("the serial ports change while they are listed; is a plug or a cable loose?")


def _natural(name: str) -> tuple[tuple[str, int], ...]:
    """Return a sort key that puts ttyUSB2 before ttyUSB10."""
    return tuple((text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name) if text or digits)


_PROC = Path("/proc")

# proc_locks(5): number, kind, advisory or mandatory, access, process, then device and inode of the locked file
_LOCK = re.compile(r"\d+: +\S+ +\S+ +\S+ +(?P<pid>\d+) +(?P<major>[0-9a-f]+):(?P<minor>[0-9a-f]+):(?P<inode>\d+) ")


@dataclass(frozen=True, order=True)
class PortHolder:
    """A running program: its process id, and its name as shown by ``ps``, with the module that Python runs."""

    pid: int
    name: str

    def __str__(self) -> str:
        """Name and process id, for a sentence."""
        return Phrase("{name} (process {pid})", self.name, self.pid)


def port_holders(device: str, proc: Path = _PROC) -> tuple[PortHolder, ...]:
    """List the programs that have ``device`` open or locked, by process id, including this process.

    An ordinary user can't see which files other users' programs have open, but can see their locks. So an empty result
    means that it is unknown. ``proc`` is the kernel's process file system.
    """
    path = os.path.realpath(device)
    pids = {*_pids_with_open_file(path, proc), *_pids_with_lock(path, proc)}
    return tuple(sorted(PortHolder(pid, name) for pid in pids if (name := _program_name(pid, proc)) is not None))


def _pids_with_open_file(path: str, proc: Path) -> Iterable[int]:
    with suppress(OSError):
        for process in proc.iterdir():
            if process.name.isdecimal() and _has_open(process, path):
                yield int(process.name)


def _has_open(process: Path, path: str) -> bool:
    # a process may end, or close a file, at any moment
    with suppress(OSError):
        for link in (process / "fd").iterdir():
            with suppress(OSError):
                if os.readlink(link) == path:  # noqa: PTH115 - Path.readlink would be slow over thousands of links
                    return True
    return False


def _pids_with_lock(path: str, proc: Path) -> Iterable[int]:
    try:
        node = os.stat(path)  # noqa: PTH116 - a plain string from realpath
        locks = (proc / "locks").read_text()
    except OSError:
        return
    for line in locks.splitlines():
        if (lock := _LOCK.match(line)) is None:
            continue
        where = (int(lock["major"], 16), int(lock["minor"], 16), int(lock["inode"]))
        if where == (os.major(node.st_dev), os.minor(node.st_dev), node.st_ino):
            yield int(lock["pid"])


def _program_name(pid: int, proc: Path) -> str | None:
    try:
        name = (proc / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return None
    module = _python_module(proc / str(pid)) if name.startswith("python") else None
    return (name if module is None else f"{name} -m {module}") or None


def _python_module(process: Path) -> str | None:
    """Return the module that a Python process runs, because "python" alone would tell an owner nothing."""
    with suppress(OSError):
        arguments = (process / "cmdline").read_text(errors="replace").split("\0")
        if "-m" in arguments[:-1]:
            return arguments[arguments.index("-m") + 1] or None
    return None


# MicroPython's prompt only accepts a carriage return; a line left there would corrupt the next greeting
PROBE = b"v\r\n"
"""Sent to a device that does not answer the greeting: WLED replies with its version, a 3D printer with an error."""


_INSTALL = Phrase("`./run hardware firmware install` puts it there")
_ELSEWHERE = Phrase("is the right port named in the settings?")


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
    _Signature(
        rb"\bMarlin\b|^echo:|^ok T:|^ok\b.*\bB:|^Error:.*(checksum|Line Number)", Phrase("a 3D printer (Marlin)")
    ),
    _Signature(rb"^Grbl \d|^\[MSG:", Phrase("a milling machine (Grbl)")),
    _Signature(
        rb"\bWLED\b|\"vid\":\d|^\{\"state\":", "WLED", Phrase('choose `drivers = ["wled-network"]` for lights on WLED')
    ),
    _Signature(rb"^\$(G[ABLNPQ]|P[A-Z]{2})[A-Z]{2,3},", Phrase("a GPS receiver (NMEA)")),
    _Signature(
        rb"CircuitPython",
        Phrase("CircuitPython, which the referee's firmware doesn't run on"),
        Phrase("put MicroPython on the board; then {install}", _INSTALL),
        could_be_ours=True,
    ),
    _Signature(
        rb"MicroPython v\d|MPY: soft reboot|raw REPL; CTRL-B|^>>> ",
        Phrase("MicroPython at its prompt, without the referee's firmware running"),
        _INSTALL,
        could_be_ours=True,
    ),
    _Signature(
        rb"waiting for download|DOWNLOAD\(",
        Phrase("an Espressif chip that waits for its firmware"),
        Phrase("press its reset button; if that doesn't help, put MicroPython on it"),
        could_be_ours=True,
    ),
    _Signature(
        rb"^ESP-ROM:|^rst:0x|^ets [A-Z]",
        Phrase("an Espressif chip with other firmware, or one that starts again and again"),
        Phrase("put MicroPython on it, then the referee's firmware with `./run hardware firmware install`"),
        could_be_ours=True,
    ),
    _Signature(rb"\blogin: ?$", Phrase("a computer's console (it asks to log in)")),
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
            return kind(Phrase("{port} is {what}; {advice}", port, signature.what, signature.advice))
    if not heard:
        return SilentDeviceError(
            "nothing answers on {port}; if the referee's board is there, press its reset button or "
            "plug it in again; if the board lacks the referee's firmware, {install}",
            port,
            _INSTALL,
        )
    first = _first_line(text)
    if first is not None:
        return WrongDeviceError(
            "{port} does not speak the referee's protocol ({first!r}); {elsewhere}", port, first, _ELSEWHERE
        )
    shown = heard[:8].hex(" ")
    return WrongDeviceError(
        "{port} sends what is neither the referee's protocol nor text ({shown} …); is it the right "
        "port, and are {baud} bits a second right for it?",
        port,
        shown,
        baud,
    )


def _lines(heard: bytes) -> bytes:
    return heard.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _first_line(text: bytes) -> str | None:
    """Return the first complete line of text, shortened; ``None`` if it is not text."""
    if sum(byte in _PRINTABLE for byte in text) < 0.9 * len(text):
        return None
    lines = [line.strip() for line in text.decode("ascii", errors="replace").split("\n")]
    return next((line[:60] for line in lines if line), None)
