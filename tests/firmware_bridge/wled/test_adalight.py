import os
import re
import select
import termios
from collections.abc import Iterator

import pytest
import serial
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import PortGoneError, PortMissingError
from firmware_bridge.ports.port import Port
from firmware_bridge.wled import WledError, WledSerial, adalight_frame, linearize, replace_commands
from tests.guard import GUARD_S
from tests.present import present

COMMANDS = set(b"AIvXlLoO^{") | {0xC9} | set(range(0xB0, 0xB8))


class AdalightReader:
    """A strip that reads Adalight byte by byte, as its description says; what stands outside frames is kept."""

    def __init__(self) -> None:
        self.shown: list[bytes] = []
        self.stray = bytearray()
        self._header = bytearray()
        self._colours = bytearray()
        self._left = 0

    def feed(self, data: bytes) -> None:
        for byte in data:
            if self._left:
                self._colours.append(byte)
                self._left -= 1
                if not self._left:
                    self.shown.append(bytes(self._colours))
                continue
            self._header.append(byte)
            if not b"Ada".startswith(self._header[:3]):
                self.stray += self._header
                self._header.clear()
            elif len(self._header) == 6:
                _, _, _, high, low, check = self._header
                self._header.clear()
                if high ^ low ^ 0x55 == check:
                    self._left = 3 * (high * 256 + low + 1)
                    self._colours.clear()


class Clock:
    def __init__(self) -> None:
        self.now_s = 50.0

    def __call__(self) -> float:
        return self.now_s


class Line:
    """The other end of a real pseudo-terminal."""

    def __init__(self) -> None:
        self.end, self._kept = os.openpty()
        self.name = os.ttyname(self._kept)
        self.strip = AdalightReader()

    def receive(self, frames: int) -> AdalightReader:
        while len(self.strip.shown) < frames:
            ready, _, _ = select.select([self.end], [], [], GUARD_S)
            assert ready, "nothing came"
            self.strip.feed(os.read(self.end, 65536))
        return self.strip

    def is_quiet(self) -> bool:
        return not select.select([self.end], [], [], 0)[0]

    def unplug(self) -> None:
        for end in (self.end, self._kept):
            if end >= 0:
                os.close(end)
        self.end = self._kept = -1


@pytest.fixture
def line() -> Iterator[Line]:
    made = Line()
    yield made
    made.unplug()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@given(st.binary(min_size=1, max_size=1500), st.binary(max_size=5))
def test_a_frame_is_read_as_it_was_written_after_anything_that_starts_no_header(colours: bytes, noise: bytes) -> None:
    colours = (colours * 3)[: len(colours) * 3]
    strip = AdalightReader()
    strip.feed(bytes(byte for byte in noise if byte not in b"Ad") + adalight_frame(colours))
    assert strip.shown == [colours]


@pytest.mark.parametrize(("lights", "header"), [(1, "4164610000 55"), (256, "41646100ffaa"), (300, "416461012b7f")])
def test_headers_are_those_of_the_format(lights: int, header: str) -> None:
    assert adalight_frame(bytes(3 * lights))[:6] == bytes.fromhex(header)


@given(st.binary(max_size=300))
def test_no_colour_can_be_taken_for_a_command_and_none_is_changed_visibly(colours: bytes) -> None:
    sent = replace_commands(colours)
    assert not COMMANDS & set(sent)
    assert all(abs(one - other) <= 4 for one, other in zip(colours, sent, strict=True))
    assert all(one == other for one, other in zip(colours, sent, strict=True) if one not in COMMANDS)


def test_a_frame_arrives_as_light_over_a_real_pseudo_terminal(line: Line, clock: Clock) -> None:
    output = WledSerial(line.name, 3, clock)
    frame = bytes([255, 255, 255, 0, 158, 115, 213, 94, 0])
    output.show(frame)
    # sRGB's 158 is 87 of 255 in light; 213 is 170, 94 is 29.
    assert line.receive(1).shown == [linearize(frame)] == [bytes([255, 255, 255, 0, 87, 44, 170, 29, 0])]
    assert output.refresh_s == 1.0
    output.close()
    assert line.strip.stray == b""


def test_frames_go_out_as_fast_as_the_line_takes_them_and_the_newest_wins(line: Line, clock: Clock) -> None:
    output = WledSerial(line.name, 100, clock)
    frames = [bytes([value]) * 300 for value in (50, 100, 150, 200)]
    sent = [linearize(frame) for frame in frames]
    output.show(frames[0])
    clock.now_s += 0.01
    output.show(frames[1])
    output.show(frames[2])
    # 306 bytes of 10 bits take 26.6 ms at 115200 bits a second, 100 lights 3 ms, the rest 5 ms; 10 of them are over.
    assert output.refresh_s == pytest.approx(0.0266 + 0.003 + 0.005 - 0.01, abs=1e-4)
    assert line.receive(1).shown == sent[:1]
    assert line.is_quiet()
    clock.now_s += present(output.refresh_s) + 0.001
    output.show(frames[2])
    assert line.receive(2).shown == [sent[0], sent[2]]
    assert output.refresh_s == 1.0
    output.show(frames[3])
    output.close()
    # Without a pause after the frame before, some versions of WLED restart.
    assert line.is_quiet()
    assert line.strip.stray == b""


class CountedPort(Port):
    """A real port that remembers when it last took something, and how often what it had taken was dropped."""

    def __init__(self, device: serial.Serial, clock: Clock) -> None:
        super().__init__(device)
        self._clock = clock
        self.taken_at_s = clock()
        self.discards = 0

    def discard(self) -> None:
        self.discards += 1
        super().discard()

    def write(self, data: bytes) -> int:
        written = super().write(data)
        if written:
            self.taken_at_s = self._clock()
        return written


def test_a_port_that_takes_nothing_never_blocks_and_is_told_after_a_while(line: Line, clock: Clock) -> None:
    # A pseudo-terminal that took nothing can take some more once the kernel has carried bytes over to its other end.
    port = CountedPort(serial.Serial(line.name, timeout=0), clock)
    output = WledSerial(line.name, 1500, clock, open_port=lambda _name, _baud: port)

    def show_until_told() -> None:
        for _ in range(1000):
            clock.now_s += 0.5
            output.show(bytes(4500))

    with pytest.raises(WledError, match="has taken no light for 5 seconds"):
        show_until_told()
    # The frame that found no room at all may have been begun half a second after the last byte was taken.
    assert 5.0 <= clock.now_s - port.taken_at_s <= 5.5
    # Linux would wait up to 30 s for the device to take the rest.
    output.close()
    assert port.discards == 1


def test_closing_leaves_the_last_frame_on_its_way(line: Line, clock: Clock) -> None:
    port = CountedPort(serial.Serial(line.name, timeout=0), clock)
    output = WledSerial(line.name, 1500, clock, open_port=lambda _name, _baud: port)
    while output.refresh_s == 1.0:
        clock.now_s += 0.5
        output.show(bytes(4500))
    clock.now_s += 4.0
    output.close()
    assert port.discards == 0


def test_a_port_that_was_full_goes_on_where_it_was(line: Line, clock: Clock) -> None:
    output = WledSerial(line.name, 1500, clock)
    while output.refresh_s == 1.0:
        clock.now_s += 0.5
        output.show(bytes(4500))
    last = bytes([100]) * 4500
    sent = linearize(last)
    # However little the kernel carries over at a time, each round something comes, which makes room for something.
    while sent not in line.strip.shown:
        clock.now_s += 0.5
        output.show(last)
        assert select.select([line.end], [], [], GUARD_S)[0], "nothing came"
        line.strip.feed(os.read(line.end, 65536))
    assert set(line.strip.shown) == {bytes(4500), sent}
    assert line.strip.stray == b""
    output.close()


def test_a_cable_that_is_out_is_told(line: Line, clock: Clock) -> None:
    output = WledSerial(line.name, 3, clock)
    output.show(bytes(9))
    line.unplug()
    with pytest.raises(PortGoneError, match="was unplugged"):
        output.show(bytes(9))
    output.close()


def test_what_wled_says_does_not_fill_the_line(line: Line, clock: Clock) -> None:
    output = WledSerial(line.name, 1, clock)
    for _ in range(50):
        os.write(line.end, b'{"state":{"on":true}}\r\n' * 20)
        clock.now_s += 1.0
        output.show(b"\x00\x00\x00")
    assert len(line.receive(50).shown) == 50
    output.close()


@pytest.mark.parametrize(
    ("says", "who"),
    [(b"start\r\necho:Marlin 2.1.2\r\n", "a 3D printer (Marlin)"), (b"$GPGGA,1234,\r\n", "a GPS receiver (NMEA)")],
)
def test_a_device_that_is_no_wled_is_named_and_left_alone(line: Line, clock: Clock, says: bytes, who: str) -> None:
    output = WledSerial(line.name, 1, clock)
    os.write(line.end, says)

    def show_until_told() -> None:
        # What was written may come in pieces.
        while select.select([output._port.fileno()], [], [], GUARD_S)[0]:
            output.show(bytes(3))

    with pytest.raises(WledError, match=re.escape(f"{line.name} is {who} and not WLED; name the port of the WLED")):
        show_until_told()
    output.close()


def test_the_port_is_raw_so_that_no_byte_is_changed(line: Line, clock: Clock) -> None:
    output = WledSerial(line.name, 86, clock)
    frame = bytes(range(256)) + b"\r\n"
    output.show(frame)
    assert line.receive(1).shown == [replace_commands(linearize(frame))]
    mode = termios.tcgetattr(line.end)
    assert not mode[3] & (termios.ECHO | termios.ICANON)
    output.close()


def test_a_port_that_is_not_there_is_explained(clock: Clock) -> None:
    with pytest.raises(PortMissingError, match="there is no port /dev/ttyNONE"):
        WledSerial("/dev/ttyNONE", 3, clock)


def test_a_frame_for_another_strip_is_a_mistake_in_the_code(line: Line, clock: Clock) -> None:
    output = WledSerial(line.name, 2, clock)
    with pytest.raises(ValueError, match="a frame of 9 bytes for 2 lights"):
        output.show(bytes(9))
    output.close()
