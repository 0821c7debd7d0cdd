"""Foreign devices at the other end, each on its own pseudo-terminal, all at once since most take seconds."""

import re
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import ConnectionState
from firmware_bridge.errors import (
    BridgeError,
    NoFirmwareError,
    PortMissingError,
    SilentDeviceError,
    VersionError,
    WrongDeviceError,
)
from firmware_bridge.ports.selection import WantedBoard
from tests.guard import GUARD_S
from tests.present import present


@dataclass
class Speaker:
    """A foreign device's answers to the first input, to whole lines, and to each chunk."""

    first: bytes = b""
    to_lines: Callable[[bytes], bytes] = lambda _: b""
    to_pieces: Callable[[bytes], bytes] = lambda _: b""
    _line: bytearray = field(default_factory=bytearray)
    _is_begun: bool = False

    def __call__(self, data: bytes) -> bytes:
        answer = self.to_pieces(data) + (b"" if self._is_begun else self.first)
        self._is_begun = True
        self._line += data
        while b"\n" in self._line:
            line, _, rest = bytes(self._line).partition(b"\n")
            self._line[:] = rest
            answer += self.to_lines(line)
        return answer


def wled(line: bytes) -> bytes:
    return b"WLED 2410150\r\n" if line.rstrip().endswith(b"v") else b""


def marlin(line: bytes) -> bytes:
    return b'echo:Unknown command: "' + line.rstrip()[-8:].replace(b"\0", b"") + b'"\nok\n'


INSTALL = r"`./run hardware firmware install` puts it there$"
STRANGERS: dict[str, tuple[Speaker, type[BridgeError], str]] = {
    "a 3D printer at its start": (
        Speaker(b"start\necho:Marlin 2.1.2.5\necho: Last Updated: 2024-12-16\n"),
        WrongDeviceError,
        r"is a 3D printer \(Marlin\); is the right port named",
    ),
    "a 3D printer that reports": (Speaker(b"ok T:21.3 /0.0 B:20.9 /0.0\n"), WrongDeviceError, r"3D printer"),
    "a 3D printer asked": (Speaker(to_lines=marlin), WrongDeviceError, r"is a 3D printer \(Marlin\)"),
    "a milling machine": (Speaker(b"\r\nGrbl 1.1h ['$' for help]\r\n"), WrongDeviceError, r"milling machine \(Grbl\)"),
    "WLED asked": (Speaker(to_lines=wled), WrongDeviceError, r'is WLED; choose `drivers = \["wled-network"\]`'),
    "WLED that tells": (Speaker(b'{"state":{"on":true,"bri":128}}\n'), WrongDeviceError, r"is WLED"),
    "a GPS": (
        Speaker(b"4.1,M,,*47\r\n$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n"),
        WrongDeviceError,
        r"is a GPS receiver \(NMEA\)",
    ),
    "a GPS of several systems": (Speaker(b"$GNRMC,,V,,,,,,,,,,N*4D\r\n"), WrongDeviceError, r"GPS receiver"),
    "MicroPython's prompt": (
        Speaker(to_pieces=lambda data: b"raw REPL; CTRL-B to exit\r\n>" if b"\x01" in data else b""),
        NoFirmwareError,
        rf"is MicroPython at its prompt, without the referee's firmware running; {INSTALL}",
    ),
    "MicroPython starting": (
        Speaker(b'MicroPython v1.24.1 on 2024-11-29; Raspberry Pi Pico with RP2040\r\nType "help()"\r\n>>> '),
        NoFirmwareError,
        rf"is MicroPython at its prompt.*{INSTALL}",
    ),
    "CircuitPython": (
        Speaker(b"\r\nAdafruit CircuitPython 9.2.1 on 2024-11-20; Raspberry Pi Pico with rp2040\r\n>>> "),
        NoFirmwareError,
        rf"is CircuitPython.*put MicroPython on the board; then {INSTALL}",
    ),
    "an Espressif boot loader": (
        Speaker(b"ESP-ROM:esp32s3-20210327\r\nrst:0x15 (USB_UART_CHIP_RESET),boot:0x0\r\nwaiting for download\r\n"),
        NoFirmwareError,
        r"is an Espressif chip that waits for its firmware; press its reset button",
    ),
    "another program on Espressif": (
        Speaker(b"ESP-ROM:esp32s3-20210327\r\nrst:0x1 (POWERON),boot:0x8 (SPI_FAST_FLASH_BOOT)\r\n"),
        NoFirmwareError,
        r"is an Espressif chip with other firmware",
    ),
    "a computer": (Speaker(b"\r\nraspberrypi login: "), WrongDeviceError, r"is a computer's console"),
    "a thermometer": (
        Speaker(b"23.5 C\r\n23.6 C\r\n"),
        WrongDeviceError,
        r"does not speak the referee's protocol \('23.5 C'\); is the right port named",
    ),
    "another protocol": (
        Speaker(bytes.fromhex("7eff060c00fe9c80")),
        WrongDeviceError,
        r"neither the referee's protocol nor text \(7e ff 06 0c 00 fe 9c 80 …\).*are 57600 bits a second right",
    ),
    "nobody": (Speaker(), SilentDeviceError, rf"nothing answers on .*press its reset button.*{INSTALL}"),
}


def test_each_foreign_device_is_named(make_terminal: Any) -> None:
    """One test for all, so that they wait at the same time."""
    with ExitStack() as stack:
        connections: dict[str, BoardConnection] = {}
        for who, (speaker, _, _) in STRANGERS.items():
            terminal = make_terminal(speaker)
            wanted = WantedBoard(port=terminal.name, baud=57600)
            connection = BoardConnection(wanted, time.monotonic, lambda _: None, list_ports=list)
            connections[who] = stack.enter_context(connection)
        for who, (_, kind, words) in STRANGERS.items():
            connection = connections[who]
            assert connection.wait_for(lambda: connection.outage is not None, GUARD_S), who  # noqa: B023
            outage = connection.outage
            assert outage is not None
            assert type(outage.error) is kind, f"{who}: {outage}"
            assert re.search(words, str(outage)), f"{who}: {outage}"
            assert str(outage).count(". ") == 0


def test_boards_that_cannot_be_greeted_are_named(make_board: Any, make_terminal: Any) -> None:
    """Versions that don't fit, and a port list of several of which one answers; all at once again."""
    older = make_board()
    older.version = 1
    newer = make_board()
    newer.version = 3
    printer = make_terminal(Speaker(b"echo:busy: processing\n"))
    board = make_board()
    pair = [record(printer.name, "one"), record(board.name, "two")]
    second_printer = make_terminal(Speaker(b"echo:busy: processing\n"))
    hopeless = [record(second_printer.name, "three"), record("/dev/ttyNONE", "four")]
    with ExitStack() as stack:

        def connect(wanted: WantedBoard, records: list[Any]) -> BoardConnection:
            connection = BoardConnection(wanted, time.monotonic, lambda _: None, list_ports=lambda: records)
            return stack.enter_context(connection)

        to_older = connect(WantedBoard(older.name), [])
        to_newer = connect(WantedBoard(newer.name), [])
        to_pair = connect(WantedBoard(), pair)
        to_none = connect(WantedBoard(), hopeless)
        for connection in (to_older, to_newer, to_none):
            assert connection.wait_for(lambda: connection.outage is not None, GUARD_S)  # noqa: B023
            assert connection.outage is not None
        assert isinstance(present(to_older.outage).error, VersionError)
        assert str(to_older.outage) == (
            f"the board on {older.name} speaks version 1 of the protocol, and this program version 2; its firmware is "
            "older than this program: `./run hardware firmware install` updates it"
        )
        assert isinstance(present(to_newer.outage).error, VersionError)
        assert re.search(r"version 3 of .* newer than this program: update the referee, or", str(to_newer.outage))
        assert isinstance(present(to_none.outage).error, PortMissingError)
        assert re.search(
            r"none of the 2 boards is the referee's: .* is a 3D printer .*; there is no port", str(to_none.outage)
        )
        assert to_pair.wait_for(lambda: to_pair.state is ConnectionState.LINKED, GUARD_S)
        assert to_pair.port is not None
        assert to_pair.port.serial_number == "two"


def record(device: str, serial_number: str) -> Any:
    return SimpleNamespace(
        device=device, description="n/a", vid=0x2E8A, pid=5, serial_number=serial_number, manufacturer=None
    )
