"""The link over a wire that loses, flips, repeats, delays, splits and joins: in virtual time, from a seed."""

from __future__ import annotations

import math
import random
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.protocol.delivery import SerialLine
from firmware_bridge.protocol.link import HostLink, LinkState
from firmware_bridge.protocol.messages import (
    ButtonReport,
    Configure,
    LightFrame,
    Message,
    Snapshot,
    Sound,
    Tone,
    Welcome,
)
from firmware_bridge.protocol.packets import is_sequenced
from simulator.microcontroller.wire import FaultyWire, WireFaults
from tests.effort import cases, some
from tests.firmware_bridge.protocol.page_peer import PageDevice, Parser, frame

EVERYTHING = WireFaults(0.05, 0.05, 0.05, 0.05, 0.05, 0.05, delay_s=0.02, overtakes=True)
ONE_EACH = {
    "lose": WireFaults(lose=0.3),
    "flip": WireFaults(flip=0.3),
    "repeat": WireFaults(repeat=0.5, delay_s=0.05, overtakes=True),
    "split": WireFaults(split=0.7, split_s=0.01),
    "join": WireFaults(join=0.5),
    "delay": WireFaults(delay=0.3, delay_s=0.1),
    "everything": EVERYTHING,
}


class Line:
    """A host, a device and the wire between them; whoever is due acts, and nothing else takes time."""

    def __init__(self, faults: WireFaults, seed: int = 0, back: WireFaults | None = None) -> None:
        self.now_s = 100.0
        self.host = HostLink()
        self.to_device = FaultyWire(faults, f"{seed} to the device")
        self.to_host = FaultyWire(faults if back is None else back, f"{seed} to the host")
        self.received: list[Message] = []
        self._boots = 0
        self._sent: dict[int, list[tuple[int, bytes]]] = {}
        self._checked = (0, 0)
        self._chance = random.Random(seed)
        self._watch = Parser()
        self.start_device()
        self.begin()

    def start_device(self) -> None:
        """Switch the device on, or off and on again."""
        self._boots += 1
        self._started_s = self.now_s
        self.device = PageDevice(self._boots, lights=300, switches=1, buttons=1)
        self.to_device.drop()

    def press(self) -> None:
        """Let the button be pressed now."""
        self._wake_device()
        self.device.press(0)

    def begin(self) -> None:
        """Begin a session, as whoever owns the port does."""
        session = self._chance.randrange(1, 65_536)
        self.host.begin(self.now_s, session + (session == self.host.session))

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        until_s = self.now_s + seconds
        for _ in range(20_000):
            device_ms = self.device.due_ms
            due = [
                None if device_ms is None else self._started_s + device_ms / 1000,
                self.host.next_due_s(self.now_s),
                self.to_host.next_due_s,
                self.to_device.next_due_s,
            ]
            next_s = min((moment for moment in due if moment is not None), default=until_s)
            if next_s >= until_s:
                self.now_s = until_s
                return
            self.now_s = max(self.now_s, next_s)
            self._act()
        raise AssertionError("the time does not pass: somebody is always due")

    def _wake_device(self) -> None:
        self.device.at_ms = round((self.now_s - self._started_s) * 1000)

    def _act(self) -> None:
        self._wake_device()
        for piece in self.to_device.read(self.now_s):
            self.device.receive(piece)
        for body in self.device.step():
            self.to_host.write(frame(body), self.now_s)
        for piece in self.to_host.read(self.now_s):
            self.received += self.host.receive(piece, self.now_s)
        data = self.host.outgoing(self.now_s)
        for body in self._watch.feed(data):
            kind, session, sequence, _ = struct.unpack_from("<BHHH", body)
            told = self._sent.setdefault(session, [])
            if is_sequenced(kind) and sequence == len(told) % 65_536:
                told.append((kind, body[7:-4]))
        self.to_device.write(data, self.now_s)
        if self.host.state is LinkState.LOST:
            self.begin()
        self._check()

    def _check(self) -> None:
        """What must hold at every moment, whatever the wire does."""
        session, arrived = self.device.session, self.device.told
        if session == self.host.session:
            before = self._checked[1] if self._checked[0] == session else 0
            assert arrived[before:] == self._sent.get(session, [])[before : len(arrived)], "wrong, or out of order"
            assert self.host.acknowledged <= len(arrived), "acknowledged, but not delivered"
            self._checked = session, len(arrived)

    def calm(self) -> None:
        """Let the wire be good for a while: whatever happened, the link is there, and nothing waits."""
        for wire in (self.to_host, self.to_device):
            wire.mend()
        self.run(12.0)
        assert self.host.state is LinkState.LINKED
        assert self.host.is_settled

    @property
    def shown(self) -> LightFrame:
        return LightFrame(self.device.shown or b"")

    def presses(self) -> list[tuple[int, int]]:
        """The presses that the host was told: the device's start, and the number of the press since."""
        boot, told = 0, []
        for message in self.received:
            if isinstance(message, Welcome):
                boot = message.boot_id
            elif isinstance(message, ButtonReport):
                told.append((boot, message.event))
        return told


def lights(number: int) -> LightFrame:
    return LightFrame((1 + number).to_bytes(3, "big") * 20)


def check_the_end(line: Line, presses: int, last: LightFrame) -> None:
    """After the wire has been good for a while: all presses told once, in order; the newest lights shown."""
    line.calm()
    assert line.shown == last
    check_presses(line, presses)


def check_presses(line: Line, presses: int) -> None:
    """None is told twice or out of order; those that nobody heard of for two seconds may be forgotten."""
    told = line.presses()
    assert told == sorted(set(told))
    if line.host.statistics.counts.sessions == 1:
        assert told == [(1, event) for event in range(presses)]


@pytest.mark.parametrize("fault", ONE_EACH)
@pytest.mark.parametrize("seed", range(cases(3)))
def test_everything_arrives_once_and_in_order_under(fault: str, seed: int) -> None:
    line = Line(ONE_EACH[fault], seed)
    for number in range(60):
        line.host.send(lights(number))
        line.host.send(Sound((Tone(number, 1),)))
        line.press()
        line.run(0.05)
    check_the_end(line, 60, lights(59))
    statistics = line.host.statistics
    if fault in ("lose", "flip", "everything"):
        assert statistics.counts.resent > 0
    if fault in ("flip", "everything"):
        assert statistics.dropped.total > 0


@given(
    st.builds(
        WireFaults,
        lose=st.floats(0, 0.4),
        flip=st.floats(0, 0.3),
        repeat=st.floats(0, 0.4),
        delay=st.floats(0, 0.5),
        split=st.floats(0, 0.5),
        join=st.floats(0, 0.3),
        delay_s=st.floats(0, 0.2),
    ),
    st.integers(0, 1 << 32),
    st.lists(
        st.sampled_from(["lights", "press", "snapshot", "configure", "sound", "reset", "cut", "mend", "wait"]),
        max_size=40,
    ),
)
def test_whatever_happens_nothing_is_wrong_and_all_is_well_in_the_end(
    faults: WireFaults, seed: int, happenings: list[str]
) -> None:
    line = Line(faults, seed)
    shown = LightFrame(b"")
    line.host.send(shown)
    for number, happening in enumerate(happenings):
        match happening:
            case "lights":
                shown = lights(number)
                line.host.send(shown)
            case "press":
                line.press()
            case "snapshot":
                line.host.send(Snapshot())
            case "configure":
                line.host.send(Configure(silence_ms=3000 + number))
            case "sound":
                line.host.send(Sound((Tone(number, 1),)))
            case "reset":
                line.start_device()
            case "cut":
                for wire in (line.to_host, line.to_device):
                    wire.cut()
                    wire.be_silent(math.inf)
            case "mend":
                for wire in (line.to_host, line.to_device):
                    wire.cut()
            case _:
                line.run(0.5)
        line.run(0.03)
    line.calm()
    assert line.shown == shown
    if "reset" not in happenings:
        check_presses(line, happenings.count("press"))


@pytest.mark.parametrize(
    ("baud", "count"), some([(9600, 20), (9600, 64), (38_400, 64), (38_400, 300), (57_600, 64), (115_200, 300)])
)
def test_a_slow_wire_is_measured_and_not_flooded(baud: int, count: int) -> None:
    """Frames of lights as fast as they go, where the handshake was much quicker than a frame is."""
    line = Line(WireFaults(bytes_per_s=baud / 10))
    for number in range(100):
        line.host.send(LightFrame(bytes((1 + number, 7, 7)) * count))
        line.run(0.1)
    before = line.host.statistics.counts
    for number in range(100):
        line.host.send(LightFrame(bytes((1 + number, 9, 9)) * count))
        line.run(0.1)
    after = line.host.statistics.counts
    assert after.sessions == 1
    assert after.resent - before.resent <= 2
    line.run(5.0)
    assert line.shown == LightFrame(bytes((100, 9, 9)) * count)


@pytest.mark.parametrize("baud", some([9600, 19_200, 115_200, 38_400]))
@pytest.mark.parametrize("count", some([20, 300, 64]))
def test_on_a_line_of_a_known_rate_nothing_is_sent_again(baud: int, count: int) -> None:
    line = Line(WireFaults(bytes_per_s=baud / 10))
    line.host.use_line(SerialLine(baud / 10))
    for number in range(100):
        line.host.send(LightFrame(bytes((1 + number, 7, 7)) * count))
        line.run(0.1)
    # Two frames of 300 lights at 9600 bits a second, and what comes back.
    line.run(3.0)
    assert line.shown == LightFrame(bytes((100, 7, 7)) * count)
    counts = line.host.statistics.counts
    assert (counts.sessions, counts.resent) == (1, 0)


@pytest.mark.parametrize("count", [64, 300])
def test_a_device_that_is_slow_with_large_frames_gets_none_twice(count: int) -> None:
    """USB is fast; the microcontroller takes 50 ms over 300 lights, and a millisecond over what came before them."""
    line = Line(WireFaults(bytes_per_s=920 / 0.05), back=WireFaults())
    for number in range(50):
        for tone in range(3):
            line.host.send(Sound((Tone(440 + tone, 100),)))
            line.run(0.2)
        line.host.send(LightFrame(bytes((1 + number, 7, 7)) * count))
        line.run(0.5)
    counts = line.host.statistics.counts
    assert (counts.sessions, counts.resent) == (1, 0)


@pytest.mark.parametrize("baud", [9600, 115_200])
def test_a_slow_line_that_loses_brings_everything(baud: int) -> None:
    line = Line(WireFaults(lose=0.2, bytes_per_s=baud / 10))
    line.host.use_line(SerialLine(baud / 10))
    for number in range(200):
        line.host.send(lights(number))
        line.press()
        line.run(0.1)
    check_the_end(line, 200, lights(199))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_many_frames_under_every_fault(seed: int) -> None:
    line = Line(EVERYTHING, seed)
    for number in range(5000):
        line.host.send(lights(number))
        line.press()
        line.run(0.03)
    check_the_end(line, 5000, lights(4999))
