from __future__ import annotations

import errno
import select
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import BridgeError
from firmware_bridge.wled import DDP_PORT, WledError, WledNetwork, WledSettingError, ddp_packets, linearize
from tests.firmware_bridge.wled.looking_up import wait_until_looked_up
from tests.firmware_bridge.wled.nobody import port_of_nobody
from tests.guard import GUARD_S


def still() -> float:
    """A clock that stands still."""
    return 50.0


@dataclass(frozen=True)
class DdpPacket:
    """A packet as the specification reads it, bit by bit: no code of ours is used to take it apart."""

    version: int
    timecode: bool
    storage: bool
    reply: bool
    query: bool
    push: bool
    sequence: int
    data_type: int
    destination: int
    offset: int
    data: bytes

    @classmethod
    def read(cls, packet: bytes) -> DdpPacket:
        assert len(packet) >= 10
        flags = packet[0]
        assert not flags & 0b0010_0000, "the reserved bit is 0"
        length = packet[8] << 8 | packet[9]
        data = packet[10:]
        assert len(data) == length, "the length is that of the data"
        return cls(
            version=flags >> 6,
            timecode=bool(flags & 16),
            storage=bool(flags & 8),
            reply=bool(flags & 4),
            query=bool(flags & 2),
            push=bool(flags & 1),
            sequence=packet[1],
            data_type=packet[2],
            destination=packet[3],
            offset=packet[4] << 24 | packet[5] << 16 | packet[6] << 8 | packet[7],
            data=data,
        )


class Display:
    """What a display makes of packets: data goes to its offset, and PUSH shows it."""

    def __init__(self, lights: int) -> None:
        self._next = bytearray(3 * lights)
        self.shown: bytes | None = None
        self.sequences: list[int] = []

    def take(self, packet: bytes) -> None:
        read = DdpPacket.read(packet)
        assert (read.version, read.timecode, read.storage, read.reply, read.query) == (1, False, False, False, False)
        assert read.destination == 1
        # Bits 5 to 3: 1 for RGB; bits 2 to 0: 3 for 8 bits each.
        assert (read.data_type >> 3 & 7, read.data_type & 7) == (1, 3)
        assert len(read.data) <= 1440
        self._next[read.offset : read.offset + len(read.data)] = read.data
        self.sequences.append(read.sequence)
        if read.push:
            self.shown = bytes(self._next)


@pytest.fixture
def wled() -> Iterator[socket.socket]:
    """A socket that listens where a WLED controller would."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(GUARD_S)
        yield listener


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


@given(st.binary(min_size=3, max_size=4500), st.integers(1, 15))
def test_a_display_shows_what_was_sent_however_many_packets_it_takes(data: bytes, sequence: int) -> None:
    display = Display(1500)
    packets = list(ddp_packets(data, sequence))
    for packet in packets[:-1]:
        display.take(packet)
        assert display.shown is None, "nothing is shown before all of it is there"
    display.take(packets[-1])
    assert display.shown is not None
    assert display.shown[: len(data)] == data
    assert len(packets) == -(-len(data) // 1440)
    assert display.sequences == [(sequence - 1 + number) % 15 + 1 for number in range(len(packets))]


def test_a_frame_arrives_as_light(wled: socket.socket) -> None:
    output = WledNetwork("127.0.0.1", 4, still, port=port_of(wled))
    frame = bytes([255, 255, 255, 0, 158, 115, 230, 159, 0, 0, 0, 0])
    output.show(frame)
    read = DdpPacket.read(wled.recv(2000))
    # sRGB's 158 is 0.342 of full light, 115 is 0.171, 230 is 0.791, 159 is 0.347.
    assert read.data == bytes([255, 255, 255, 0, 87, 44, 202, 88, 0, 0, 0, 0]) == linearize(frame)
    assert read.push
    assert read.sequence == 1
    output.close()


def test_a_frame_goes_out_whole_in_numbered_packets(wled: socket.socket) -> None:
    output = WledNetwork("127.0.0.1", 500, still, port=port_of(wled))
    display = Display(500)
    for number in range(20):
        frame = bytes([number + 100]) * 1500
        output.show(frame)
        display.take(wled.recv(2000))
        display.take(wled.recv(2000))
        assert display.shown == linearize(frame)
    assert display.sequences == [number % 15 + 1 for number in range(40)]
    output.close()
    output.close()


def test_as_light_is_monotonic_and_keeps_the_ends() -> None:
    curve = linearize(bytes(range(256)))
    assert (curve[0], curve[255]) == (0, 255)
    assert list(curve) == sorted(curve)
    assert curve[6] == 0 < curve[7]


def test_a_name_is_looked_up_without_waiting_and_frames_go_out_once_it_is_known(wled: socket.socket) -> None:
    known = threading.Event()

    def slow(host: str, port: int) -> str:
        assert (host, port) == ("wled-board.local", port_of(wled))
        assert known.wait(GUARD_S)
        return "127.0.0.1"

    output = WledNetwork("wled-board.local", 1, still, port=port_of(wled), resolve=slow)
    output.show(b"\xff\x00\x00")
    known.set()
    wait_until_looked_up(output.host, GUARD_S)
    output.show(b"\x00\xff\x00")
    assert DdpPacket.read(wled.recv(100)).data == b"\x00\xff\x00"
    output.close()


def test_a_name_that_is_not_answered_for_is_told_in_the_end() -> None:
    answered, times = threading.Event(), [50.0]

    def silent(host: str, port: int) -> str:
        assert answered.wait(GUARD_S)
        return "127.0.0.1"

    output = WledNetwork("wled-board.local", 1, lambda: times[-1], resolve=silent)
    times.append(53.9)
    output.show(b"\x00\x00\x00")
    times.append(54.0)
    with pytest.raises(WledError, match=r"the name 'wled-board\.local' has not been resolved yet"):
        output.show(b"\x00\x00\x00")
    answered.set()
    wait_until_looked_up(output.host, GUARD_S)
    output.close()


@pytest.mark.parametrize(
    "error", [socket.gaierror(socket.EAI_NONAME, "Name or service not known"), UnicodeError("label too long")]
)
def test_a_name_nobody_knows_is_one_clear_sentence(error: Exception) -> None:
    def unknown(host: str, port: int) -> str:
        raise error

    output = WledNetwork("wled-borad.local", 1, still, resolve=unknown)
    wait_until_looked_up(output.host, GUARD_S)
    with pytest.raises(WledError, match=r"no computer in this network is called 'wled-borad\.local'") as told:
        output.show(b"\x00\x00\x00")
    assert isinstance(told.value, OSError)
    assert isinstance(told.value, BridgeError)
    output.close()


def test_localhost_is_found_by_the_systems_own_resolver(wled: socket.socket) -> None:
    output = WledNetwork("localhost", 1, still, port=port_of(wled))
    wait_until_looked_up(output.host, GUARD_S)
    output.show(b"\xff\xff\xff")
    assert DdpPacket.read(wled.recv(100)).data == b"\xff\xff\xff"
    output.close()


def test_a_port_where_nobody_listens_is_told_with_a_later_frame() -> None:
    port = port_of_nobody()
    output = WledNetwork("127.0.0.1", 1, still, port=port)
    output.show(b"\x00\x00\x00")
    # The answer "nobody listens" comes back through the loopback in the kernel's own time.
    assert output._socket is not None
    refusal = select.poll()
    refusal.register(output._socket, 0)
    assert refusal.poll(1000 * GUARD_S) == [(output._socket.fileno(), select.POLLERR)]
    with pytest.raises(WledError, match=rf"127\.0\.0\.1 is there, but nothing takes lights on UDP port {port}"):
        output.show(b"\x00\x00\x00")
    output.close()


class FailingSocket:
    """A socket whose network is not there, or is full."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    def setblocking(self, flag: bool) -> None:
        assert flag is False

    def connect(self, address: tuple[str, int]) -> None:
        assert address == ("192.0.2.1", DDP_PORT)

    def send(self, packet: bytes) -> int:
        raise self._error

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(errno.EHOSTUNREACH, "No route to host"), r"192\.0\.2\.1 can't be reached \(No route to host\)"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), r"can't be reached \(Network is unreachable\)"),
        (OSError(errno.EPERM, "Operation not permitted"), "does not take lights: Operation not permitted"),
    ],
)
def test_a_controller_that_cannot_be_reached_is_one_clear_sentence(
    monkeypatch: pytest.MonkeyPatch, error: OSError, told: str
) -> None:
    monkeypatch.setattr("firmware_bridge.wled.socket.socket", lambda *_: FailingSocket(error))
    output = WledNetwork("192.0.2.1", 1, still)
    with pytest.raises(WledError, match=told):
        output.show(b"\x00\x00\x00")
    output.close()


def test_a_full_network_loses_a_frame_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware_bridge.wled.socket.socket", lambda *_: FailingSocket(BlockingIOError()))
    output = WledNetwork("192.0.2.1", 1, still)
    output.show(b"\x00\x00\x00")
    output.close()


@pytest.mark.parametrize("host", ["", "http://wled.local", "wled.local:4048", "my wled", "user@wled"])
def test_what_is_no_name_is_refused_at_once(host: str) -> None:
    with pytest.raises(WledSettingError, match="without http://"):
        WledNetwork(host, 10, still)


def test_a_frame_for_another_strip_is_a_mistake_in_the_code(wled: socket.socket) -> None:
    output = WledNetwork("127.0.0.1", 2, still, port=port_of(wled))
    with pytest.raises(ValueError, match="a frame of 3 bytes for 2 lights; expected 6"):
        output.show(b"\x00\x00\x00")
    output.close()
