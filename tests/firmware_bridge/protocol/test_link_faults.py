"""The link over a wire that loses, flips, repeats, delays, splits and adds: in virtual time, from a seed."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.protocol.delivery import SerialLine
from firmware_bridge.protocol.messages import ButtonReport, Configure, LightFrame, SensorReport, Sound, Tone, Welcome
from firmware_bridge.protocol.status import LinkState
from tests.firmware_bridge.protocol.peer import Faults, Table

EVERYTHING = Faults(lose=0.05, flip=0.05, repeat=0.05, split=0.05, garbage=0.05, delay_s=0.02)
ONE_EACH = {
    "lose": Faults(lose=0.3),
    "flip": Faults(flip=0.3),
    "repeat": Faults(repeat=0.5, delay_s=0.01),
    "split": Faults(split=0.7, delay_s=0.01),
    "garbage": Faults(garbage=0.5),
    "delay": Faults(delay_s=0.3),
    "everything": EVERYTHING,
}


def lights(number: int) -> LightFrame:
    return LightFrame(number.to_bytes(3, "big") * 20)


def check_the_end(table: Table, presses: int, last: LightFrame) -> None:
    """After the wire has been good for a while: all presses told once, in order; the newest lights shown."""
    calm(table)
    assert table.host.state is LinkState.LINKED
    assert table.peer.shown == last
    assert table.host.is_settled
    events = [message.event for _, message in table.received if isinstance(message, ButtonReport)]
    assert events == list(range(presses))


def calm(table: Table) -> None:
    table.to_host.faults = table.to_device.faults = Faults()
    table.to_host.mend()
    table.to_device.mend()
    table.run(12.0)


@pytest.mark.parametrize("fault", ONE_EACH)
@pytest.mark.parametrize("seed", range(3))
def test_everything_arrives_once_and_in_order_under(fault: str, seed: int) -> None:
    table = Table(ONE_EACH[fault], seed)
    table.begin()
    for number in range(60):
        table.host.send(lights(number))
        table.host.send(Sound((Tone(number, 1),)))
        table.peer.tell(ButtonReport(number, 0, 1, number))
        table.run(0.05)
    check_the_end(table, 60, lights(59))
    statistics = table.host.statistics
    if fault in ("lose", "flip", "everything"):
        assert statistics.counts.resent > 0
    if fault in ("flip", "garbage", "everything"):
        assert statistics.dropped.total > 0


@given(
    st.builds(
        Faults,
        lose=st.floats(0, 0.4),
        flip=st.floats(0, 0.3),
        repeat=st.floats(0, 0.4),
        split=st.floats(0, 0.5),
        garbage=st.floats(0, 0.3),
        delay_s=st.floats(0, 0.2),
    ),
    st.integers(0, 1 << 32),
    st.lists(
        st.sampled_from(["lights", "press", "sensors", "configure", "sound", "reset", "cut", "mend", "silent", "wait"]),
        max_size=40,
    ),
)
def test_whatever_happens_nothing_is_wrong_and_all_is_well_in_the_end(
    faults: Faults, seed: int, happenings: list[str]
) -> None:
    table = Table(faults, seed)
    table.begin()
    shown = LightFrame(b"")
    table.host.send(shown)
    event = 0
    for number, happening in enumerate(happenings):
        match happening:
            case "lights":
                shown = lights(number + 1)
                table.host.send(shown)
            case "press":
                table.peer.tell(ButtonReport(event, 0, 1, number))
                event += 1
            case "sensors":
                table.peer.tell(SensorReport(number, (True,), (False,)))
            case "configure":
                table.host.send(Configure(silence_ms=number + 1))
            case "sound":
                table.host.send(Sound((Tone(number, 1),)))
            case "reset":
                table.to_host.no_late_repeats()
                table.to_device.drop_all()
                table.peer.reset(table.now_s)
                event = 0
            case "cut":
                table.to_host.cut()
                table.to_device.cut()
            case "mend":
                table.to_host.mend()
                table.to_device.mend()
            case "silent":
                table.peer.is_silent = not table.peer.is_silent
            case _:
                table.run(0.5)
        table.run(0.03)
    table.peer.is_silent = False
    calm(table)
    assert table.host.state is LinkState.LINKED
    assert (table.peer.shown or LightFrame(b"")).trimmed() == shown.trimmed()
    assert table.host.is_settled
    assert not table.peer.outstanding
    told = Counter((boot, message.event) for boot, message in by_boot(table) if isinstance(message, ButtonReport))
    assert all(count == 1 for count in told.values())
    assert [e for boot, e in told if boot == table.peer.boot_id] == list(range(event))


def by_boot(table: Table) -> list[tuple[int, object]]:
    """What the host was told, with the device's start that it is from."""
    boot, told = 0, []
    for _, message in table.received:
        if isinstance(message, Welcome):
            boot = message.boot_id
        told.append((boot, message))
    return told


@pytest.mark.parametrize(
    ("baud", "count"), [(9600, 20), (9600, 64), (38_400, 64), (57_600, 64), (38_400, 300), (115_200, 300)]
)
def test_a_slow_wire_is_measured_and_not_flooded(baud: int, count: int) -> None:
    """Frames of lights as fast as they go, where the handshake was much quicker than a frame is."""
    table = Table(Faults(bytes_per_s=baud / 10))
    table.begin()
    for number in range(100):
        table.host.send(LightFrame(bytes((1 + number, 7, 7)) * count))
        table.run(0.1)
    before = table.host.statistics.counts
    for number in range(100):
        table.host.send(LightFrame(bytes((1 + number, 9, 9)) * count))
        table.run(0.1)
    after = table.host.statistics.counts
    assert after.sessions == 1
    assert after.resent - before.resent <= 2
    table.run(5.0)
    assert table.peer.shown == LightFrame(bytes((100, 9, 9)) * count)


@pytest.mark.parametrize("baud", [9600, 19_200, 38_400, 115_200])
@pytest.mark.parametrize("count", [20, 64, 300])
def test_on_a_line_of_a_known_rate_nothing_is_sent_again(baud: int, count: int) -> None:
    table = Table(Faults(bytes_per_s=baud / 10))
    table.host.use_line(SerialLine(baud / 10))
    table.begin()
    for number in range(100):
        table.host.send(LightFrame(bytes((1 + number, 7, 7)) * count))
        table.run(0.1)
    # Two frames of 300 lights at 9600 bits a second, and what comes back.
    table.run(3.0)
    assert table.peer.shown == LightFrame(bytes((100, 7, 7)) * count)
    counts = table.host.statistics.counts
    assert (counts.sessions, counts.resent, counts.timeouts) == (1, 0, 0)


@pytest.mark.parametrize("count", [64, 300])
def test_a_device_that_is_slow_with_large_frames_gets_none_twice(count: int) -> None:
    """USB is fast; the microcontroller takes 50 ms over 300 lights, and a millisecond over what came before them."""
    table = Table()
    table.to_device.faults = Faults(bytes_per_s=920 / 0.05)
    table.begin()
    for number in range(50):
        for tone in range(3):
            table.host.send(Sound((Tone(440 + tone, 100),)))
            table.run(0.2)
        table.host.send(LightFrame(bytes((1 + number, 7, 7)) * count))
        table.run(0.5)
    counts = table.host.statistics.counts
    assert (counts.sessions, counts.resent) == (1, 0)


@pytest.mark.parametrize("baud", [9600, 115_200])
def test_a_slow_line_that_loses_brings_everything(baud: int) -> None:
    table = Table(Faults(lose=0.2, bytes_per_s=baud / 10))
    table.host.use_line(SerialLine(baud / 10))
    table.begin()
    for number in range(200):
        table.host.send(lights(number))
        table.peer.tell(ButtonReport(number, 0, 1, number))
        table.run(0.1)
    check_the_end(table, 200, lights(199))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_many_frames_under_every_fault(seed: int) -> None:
    table = Table(EVERYTHING, seed)
    table.begin()
    for number in range(5000):
        table.host.send(lights(number))
        table.peer.tell(ButtonReport(number, 0, 1, number))
        table.run(0.03)
    check_the_end(table, 5000, lights(4999))
