"""Opens a serial port with pyserial, exclusively, or explains why it can't.

Both control lines are asserted, as Linux does at opening, and never changed separately. On boards with Espressif's
automatic download circuit, DTR and RTS reset the chip only while they differ ("Boot Mode Selection", esptool's
documentation), and MicroPython's USB serial port sends nothing while DTR is off. An Arduino with a capacitor at DTR is
reset by any opening, so the connection waits longer with each attempt.
"""

import errno
import grp
import os
import pwd
import select
import stat
import termios
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import serial
from serial.tools import list_ports

from common.phrases import Phrase, either, joined
from firmware_bridge.errors import (
    PortDeniedError,
    PortError,
    PortGoneError,
    PortMissingError,
    PortTakenError,
    PortUnusableError,
)
from firmware_bridge.ports.serial_ports import PortHolder, SerialPort, port_holders, serial_ports

DEFAULT_BAUD = 115_200
"""Baud rate of a UART; a port that is USB all the way ignores it."""

_READ_BYTES = 4096  # read at once: the kernel's buffer


class Port:
    """An open serial port, configured by pyserial, that never blocks; ``fileno`` is for waiting with ``poll``.

    Bytes are read and written through the file descriptor itself: with a write timeout of 0 pyserial 3.5 busy-waits
    while the buffer is full, and with any other it blocks.
    """

    def __init__(self, device: serial.Serial) -> None:
        self._serial = device
        self.name = str(device.port)
        """Name of the port, such as ``/dev/ttyACM0``."""
        self._readable = select.poll()
        self._readable.register(device.fileno(), select.POLLIN)

    def fileno(self) -> int:
        """Return the file descriptor to wait on."""
        return int(self._serial.fileno())

    def read(self) -> bytes:
        """Return the bytes that have arrived, without waiting; ``b""`` if there are none. Raises ``PortGoneError``."""
        # no data and a hang-up both read as b"", so the first is detected beforehand
        if not self._readable.poll(0):
            return b""
        try:
            data = os.read(self.fileno(), _READ_BYTES)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise self._gone(error) from error
        if not data:
            raise self._gone(None)
        return data

    def write(self, data: bytes) -> int:
        """Write as many bytes as there is room for, without waiting; returns the number. Raises ``PortGoneError``."""
        try:
            return os.write(self.fileno(), data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._gone(error) from error

    def discard(self) -> None:
        """Drop bytes that were written and aren't sent yet, so that closing need not wait (on Linux up to 30 s)."""
        # a port that was unplugged has nothing to drop
        with suppress(OSError, termios.error):
            self._serial.reset_output_buffer()

    def close(self) -> None:
        """Release the port; harmless when it is closed already."""
        self._serial.close()

    def _gone(self, error: OSError | None) -> PortGoneError:
        return PortGoneError(
            Phrase("{name} was unplugged, or its device switched off; check the cable", self.name)
            if error is None
            else Phrase(
                "{name} was unplugged, or its device switched off ({strerror}); check the cable",
                self.name,
                error.strerror,
            )
        )


def open_port(
    name: str,
    baud: int = DEFAULT_BAUD,
    *,
    open_device: Callable[[serial.Serial], None] = serial.Serial.open,
    list_records: Callable[[], Iterable[Any]] = list_ports.comports,
    find_holders: Callable[[str], Sequence[PortHolder]] = port_holders,
) -> Port:
    """Open a serial port, 8N1 and raw, exclusively among programs that lock ports as pyserial does.

    ``name`` is such as ``/dev/ttyACM0``, or a link to it. Raises PortMissingError, PortDeniedError, PortTakenError or
    PortUnusableError: each says what to do.
    """
    device = serial.Serial(baudrate=baud, timeout=0, write_timeout=0, exclusive=True)
    device.port = name
    device.dtr = device.rts = True
    try:
        open_device(device)
    except (OSError, termios.error, ValueError) as error:
        raise _port_error(error, name, baud, list_records, find_holders) from error
    return Port(device)


def _port_error(
    error: Exception,
    name: str,
    baud: int,
    list_records: Callable[[], Iterable[Any]],
    find_holders: Callable[[str], Sequence[PortHolder]],
) -> PortError:
    number = _error_number(error)
    if number == errno.ENOENT:
        return PortMissingError("there is no port {name}; {ports_named}", name, ports_named(serial_ports(list_records)))
    if number in (errno.EACCES, errno.EPERM):
        return PortDeniedError("this user may not open {name}; {permission_advice}", name, _permission_advice(name))
    if number in (errno.EAGAIN, errno.EWOULDBLOCK, errno.EBUSY):
        return PortTakenError("{name} is in use {describe_holders}", name, _describe_holders(name, find_holders(name)))
    if number in (errno.ENOTTY, errno.EISDIR, errno.EINVAL) and not _is_character_device(name):
        return PortUnusableError(
            "{name} is not a serial port; expected one such as /dev/ttyACM0; {ports_named}",
            name,
            ports_named(serial_ports(list_records)),
        )
    if number in (errno.ENXIO, errno.ENODEV, errno.EIO):
        return PortUnusableError(
            "{name} has no device behind it ({reason}); unplug it and plug it in", name, _reason(error, number)
        )
    if isinstance(error, ValueError) and not isinstance(error, OSError):
        return PortUnusableError(
            "{name} does not support {baud} bits a second ({error}); 115200 and 9600 are common", name, baud, error
        )
    return PortUnusableError(
        "{name} can't be opened ({reason}); unplug it and plug it in again", name, _reason(error, number)
    )


def ports_named(ports: Sequence[SerialPort]) -> str:
    """List the ports for a message about a missing one; only USB ports, if there are any."""
    shown = [port for port in ports if port.vendor_id is not None] or ports
    if not shown:
        return Phrase("there are no serial ports at all: is the board plugged in, with a cable that carries data?")
    return either(len(shown) == 1, "there is {names}", "there are {names}", joined((str(port) for port in shown), "; "))


def _error_number(error: BaseException) -> int | None:
    """Return the system's error number, which pyserial drops when a port can't be configured."""
    if isinstance(error, termios.error):
        return error.args[0] if error.args and isinstance(error.args[0], int) else None
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    return None if error.__context__ is None else _error_number(error.__context__)


def _reason(error: Exception, number: int | None) -> str:
    return str(error) if number is None else os.strerror(number)


def _is_character_device(name: str) -> bool:
    try:
        return stat.S_ISCHR(Path(name).stat().st_mode)
    except OSError:
        return False


def _describe_holders(name: str, who: Sequence[PortHolder]) -> str:
    own = [holder for holder in who if holder.pid == os.getpid()]
    others = [holder for holder in who if holder.pid != os.getpid()]
    if others:
        return Phrase("by {names}; end whatever has it open, then try again", joined(map(str, others), " and "))
    if own:
        return Phrase("by this very program; it is named twice in the settings, or asked for twice")
    return Phrase("by another program, which this user can't see; `sudo fuser -v {name}` names it", name)


def _permission_advice(name: str) -> str:
    try:
        node = Path(name).stat()
    except OSError:
        return Phrase("ask whoever looks after this computer")
    group = _group_name(node.st_gid)
    if not node.st_mode & stat.S_IWGRP or node.st_gid == 0:
        return Phrase(
            "it belongs to {user_name} alone; a udev rule can give it to the group dialout", _user_name(node.st_uid)
        )
    if node.st_gid in (os.getegid(), *os.getgroups()):
        return Phrase("it is in the port's group {group}, so a container or a security rule must forbid it", group)
    return Phrase(
        "only the group {group} may: join it with `sudo usermod -aG {group} $USER`, then log out and in again", group
    )


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
