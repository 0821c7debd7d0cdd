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
from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.link import HostLink
from firmware_bridge.protocol.packets import LARGEST_PAYLOAD, Kind, Packet, packet_frame
from simulator.microcontroller.board import BoardRestartedError, VirtualBoard

_SESSION = 4660
_MANIFEST = Manifest((1, 0, 0), {"main.py": "5e" * 32, "firmware/core/link.py": "00" * 32})
_ROLES = ("end turn", "hint", "take back")
_WELCOME = messages.Welcome(1, (1, 2, 3), 77, 500, 1024, 8, 64, 64, 3, 2, 12345, 0, "pico")
_CHANGE = messages.SwitchChange(5, True, 440)
_FROM_DEVICE: tuple[messages.Message, ...] = (
    _WELCOME,
    messages.Refused(1, 1, "no"),
    messages.Restarted(78),
    messages.Pong(9, 600),
    messages.Log(20, 1, 700, "näher"),
    messages.SensorReport(800, (True,) * 5 + (False,) * 59, (False,) * 64, (_CHANGE,)),
    messages.ButtonReport(1, 0, messages.ButtonAction.PRESSED, 900, 120),
    messages.FaultReport(3, 1, "watchdog"),
)
_FROM_HOST: tuple[messages.Message, ...] = (
    messages.Hello(1, 1),
    messages.LightFrame(bytes(range(192))),
    messages.LightFrame(bytes((0, 128, 0))),
    messages.Sound((messages.Tone(440, 200), messages.Tone(0, 50))),
    messages.Configure(2000, 20, 800, 128, 900, 500),
    messages.Ping(9),
    messages.Snapshot(),
    messages.Leave(),
)


def _packets(sent: Iterable[messages.Message]) -> Sequence[bytes]:
    """Encode each message as a kind and a payload."""
    return [bytes((kind,)) + payload for kind, payload in map(encode_message, sent)]


def _frames(data: bytes) -> bytes:
    """An input unchanged, then as the payload of a valid packet, which passes the checksum."""
    packet = Packet(data[0], _SESSION, 0, 1, data[1 : 1 + LARGEST_PAYLOAD]) if data else None
    return data + b"\0" + (packet_frame(packet) if packet is not None else b"")


def _decode(data: bytes) -> object:
    return decode_message(data[0], data[1 : 1 + LARGEST_PAYLOAD]) if data else None


def _host(data: bytes) -> None:
    link = HostLink()
    link.begin(0.0, _SESSION)
    link.outgoing(0.0)
    link.receive(packet_frame(Packet(Kind.WELCOME, _SESSION, 0, 0, encode_message(_WELCOME)[1])), 0.1)
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
    device = Device(board, _pins())
    board.receive(packet_frame(Packet(Kind.HELLO, _SESSION, 0, 0, encode_message(messages.Hello(1, 1))[1])))
    device.step()
    board.receive(_frames(data))
    while board.has_input:
        device.step()
    device.step()


def _surveys() -> Sequence[bytes]:
    facts = b'["micropython", [1, 27, 0], "Raspberry Pi Pico with RP2040", 868352]\r\n'
    return [facts, b'["main.py", "%s"]\r\n["firmware/core/link.py", "00ff"]\r\n%s' % (b"5e" * 32, facts)]


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
