"""Lists serial ports, the devices connected to them, and the programs that have them open."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from serial.tools import list_ports

from firmware_bridge.errors import PortMissingError

# USB vendor numbers, as assigned by the USB Implementers Forum.
_VENDORS: Mapping[int, str] = MappingProxyType(
    {
        0x0403: "FTDI serial converter",
        0x10C4: "Silicon Labs serial converter (many ESP boards)",
        0x1A86: "WCH serial converter (many Arduino and ESP boards)",
        0x2341: "Arduino board",
        0x239A: "Adafruit board",
        0x2E8A: "Raspberry Pi microcontroller (Pico)",
        0x303A: "Espressif board",
    }
)


OWN_USB_VENDORS = frozenset({0x2E8A, 0x303A})
"""Raspberry Pi and Espressif, whose supported chips have USB themselves."""

_LISTING_ATTEMPTS = 3


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
            parts.append(f"USB {self.vendor_id:04x}:{self.product_id:04x}")
        if self.serial_number:
            parts.append(f"serial number {self.serial_number}")
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
        return f"{self.name} (process {self.pid})"


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
