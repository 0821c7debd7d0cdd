"""Which serial ports there are, and what is plugged into them: for choosing one and for ``referee doctor``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from serial.tools import list_ports

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


@dataclass(frozen=True)
class SerialPort:
    """A serial port: ``device`` is what to open; the USB facts are ``None`` for a port that is not USB."""

    device: str
    description: str = ""
    vendor_id: int | None = None
    product_id: int | None = None
    serial_number: str | None = None
    manufacturer: str | None = None

    @property
    def board(self) -> str | None:
        """What kind of board this probably is, by its USB vendor; ``None`` when that says nothing."""
        return None if self.vendor_id is None else _VENDORS.get(self.vendor_id)

    def __str__(self) -> str:
        """One line for a person: the device, what it is, its USB numbers and its serial number."""
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

    ``listed`` gives pyserial's port records. Nothing is opened, so a port that another program holds is listed too.
    """
    ports = [
        SerialPort(
            device=record.device,
            description="" if record.description in (None, "n/a") else record.description,
            vendor_id=record.vid,
            product_id=record.pid,
            serial_number=record.serial_number,
            manufacturer=record.manufacturer,
        )
        for record in listed()
    ]
    return tuple(sorted(ports, key=lambda port: (port.vendor_id is None, _natural(port.device))))


def _natural(name: str) -> tuple[tuple[str, int], ...]:
    """A key that puts ttyUSB2 before ttyUSB10."""
    return tuple((text, int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", name) if text or digits)
