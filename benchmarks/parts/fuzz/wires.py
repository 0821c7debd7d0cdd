"""Parsers of serial data: on both ends of the link, and of a board's output while firmware is installed."""

from collections.abc import Iterable, Sequence
from functools import cache
from random import Random

from benchmarks.parts.fuzz.run import Parser
from firmware_bridge.errors import MessageError
from firmware_bridge.firmware.core.device import Device
from firmware_bridge.firmware.core.pin_map import PinMap, read_pin_map
from firmware_bridge.install.console import InstallError, read_hexadecimal, read_survey
from firmware_bridge.install.installation import check_machine
from firmware_bridge.install.manifest import Manifest, ManifestError
from firmware_bridge.pin_maps.file import parse_pin_map
from firmware_bridge.pin_maps.pin_map import BOARDS, example_pin_map
from firmware_bridge.ports.serial_ports import SerialPort, certain_foreign_device, foreign_device_error, is_known_device
from firmware_bridge.protocol import messages
from firmware_bridge.protocol.link import HostLink, SerialLine
from firmware_bridge.protocol.messages import decode_packet, encode_packet
from firmware_bridge.protocol.packets import LARGEST_PACKET, SMALLEST_PACKET, encode_frame
from simulator.microcontroller.board import BoardRestartedError, VirtualBoard

_BOOT_ID = 77
_MANIFEST = Manifest((1, 0, 0), {"main.py": "5e" * 32, "firmware/core/device.py": "00" * 32})
_ROLES = ("end turn", "hint", "take back")
_WELCOME = messages.Welcome((1, 2, 3), _BOOT_ID, 64, 64, 1, 2, 12345, 0, "pico", "näher")
_FROM_DEVICE: tuple[messages.Message, ...] = (
    _WELCOME,
    messages.BoardState(_BOOT_ID + 1, 5),
    messages.BoardState(
        _BOOT_ID,
        800,
        1,
        2,
        850,
        is_dark=True,
        buttons=(messages.ButtonState(3, 2, 20),),
        closed=(True,) * 5 + (False,) * 59,
        doubtful=(False,) * 64,
    ),
)
_FROM_HOST: tuple[messages.Message, ...] = (
    messages.HostState(0, 1),
    messages.HostState(_BOOT_ID, 2, (1,), wanted=messages.Wanted(1, colours=bytes(range(192)))),
    messages.HostState(_BOOT_ID, 3, (1,), wanted=messages.Wanted(2, colours=bytes(90) + bytes((0, 128, 0)))),
    messages.HostState(
        _BOOT_ID,
        4,
        (1,),
        wanted=messages.Wanted(
            3,
            messages.BoardSettings(2000, 20, 128, 900),
            sound=2,
            tones=(messages.Tone(440, 200), messages.Tone(0, 50)),
        ),
    ),
    messages.HostState(_BOOT_ID, 5, (1,), leaves=True),
)


def _packets(sent: Iterable[messages.Message]) -> Sequence[bytes]:
    """Encode each message."""
    return list(map(encode_packet, sent))


def _frames(data: bytes) -> bytes:
    """An input unchanged, then as a packet, which passes the checksum."""
    return data + b"\0" + encode_frame(data[:LARGEST_PACKET])


def _decode(data: bytes) -> object:
    return decode_packet(data) if len(data) >= SMALLEST_PACKET else None


def _host(data: bytes) -> None:
    link = HostLink()
    link.open(SerialLine())
    link.outgoing(0.0)
    link.receive(encode_frame(encode_packet(_WELCOME)), 0.1)
    link.receive(_frames(data), 0.2)
    link.outgoing(0.3)
    link.next_due_s(0.4)


@cache
def _pins() -> PinMap:
    return read_pin_map(_device_pin_maps()[0])


def _device_pin_maps() -> Sequence[bytes]:
    return [
        parse_pin_map(example_pin_map(board, _ROLES), button_roles=_ROLES).device_json() for board in sorted(BOARDS)
    ]


def _device(data: bytes) -> None:
    board = VirtualBoard(_pins(), lambda: 1.0, Random(1))
    board.boot_id = _BOOT_ID
    device = Device(board, _pins())
    device.step()
    board.receive(_frames(data))
    while board.has_input:
        device.step()
    device.step()


def _surveys() -> Sequence[bytes]:
    facts = b'["micropython", [1, 27, 0], "Raspberry Pi Pico with RP2040", 868352]\r\n'
    return [facts, b'["main.py", "%s"]\r\n["firmware/core/device.py", "00ff"]\r\n%s' % (b"5e" * 32, facts)]


def _survey(data: bytes) -> None:
    check_machine(read_survey(data), SerialPort("/dev/ttyACM0"), None)


def _foreign_outputs() -> Sequence[bytes]:
    return [
        b"start\r\necho:Marlin 2.1\r\nok T:20.0 B:20.0\r\n",
        b"\r\nGrbl 1.1h ['$' for help]\r\n",
        b"$GPGGA,123519,4807.038,N\r\n",
        b'{"state":{"on":true},"info":{"ver":"0.15","vid":2405180}}',
        b"MicroPython v1.27.0 on 2026-01-01; Raspberry Pi Pico\r\n>>> ",
        b"ESP-ROM:esp32s3-20210327\r\nrst:0x1 (POWERON)\r\n",
        b"Debian GNU/Linux 12 raspberrypi ttyS0\r\nraspberrypi login: ",
    ]


def _foreign_output(data: bytes) -> None:
    is_known_device(data)
    certain_foreign_device(data)
    str(foreign_device_error("/dev/ttyACM0", data, 115200))


PARSERS = (
    Parser("serial message", lambda: _packets(_FROM_DEVICE + _FROM_HOST), _decode, (MessageError,)),
    Parser("serial line, host", lambda: _packets(_FROM_DEVICE), _host),
    # A board restarts on a Leave message.
    Parser("serial line, board", lambda: _packets(_FROM_HOST), _device, (BoardRestartedError,)),
    Parser("pin map on the board", _device_pin_maps, read_pin_map),
    Parser("stranger's output", _foreign_outputs, _foreign_output),
    Parser("board's survey", _surveys, _survey, (InstallError, ValueError)),
    Parser("board's file", lambda: [b"7b2266726d\r\n", b"\r\n"], read_hexadecimal, (ValueError,)),
    Parser("board's manifest", lambda: [_MANIFEST.to_json()], Manifest.from_json, (ManifestError,)),
)
