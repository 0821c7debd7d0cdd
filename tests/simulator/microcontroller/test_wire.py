import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.microcontroller.wire import FRAME_FAULTS, FaultSchedule, FaultyWire, Outage, WireFaults, frames_of
from tests.simulator.microcontroller.wires import faulty

EVERYTHING = faulty(**{**dict.fromkeys(FRAME_FAULTS, 0.3), "bytes_per_s": 5000.0, "latency_s": 0.002})
FRAMES = st.lists(st.binary(min_size=1, max_size=30).map(lambda body: b"\0" + body.replace(b"\0", b"\1") + b"\0"))
FOREVER_S = 1e9


def carried(faults: WireFaults, seed: int, frames: list[bytes], apart_s: float = 0.01) -> list[tuple[float, bytes]]:
    """The data that arrives, and when, if frames are written at that interval."""
    wire = FaultyWire(faults, seed)
    arrived: list[tuple[float, bytes]] = []

    def read_until(until_s: float) -> None:
        while (due_s := wire.next_due_s) is not None and due_s <= until_s:
            arrived.extend((due_s, piece) for piece in wire.read(due_s))

    for number, frame in enumerate(frames):
        read_until(number * apart_s)
        wire.write(frame, number * apart_s)
    read_until(FOREVER_S)
    assert wire.next_due_s is None
    return arrived


def numbered(count: int) -> list[bytes]:
    return [b"\0" + f"frame {number}".encode() + b"\0" for number in range(count)]


def joined(arrived: list[tuple[float, bytes]]) -> bytes:
    return b"".join(piece for _, piece in arrived)


@given(st.binary(max_size=60))
def test_frames_of_bytes_are_those_bytes(data: bytes) -> None:
    pieces = frames_of(data)
    assert b"".join(pieces) == data
    for piece in pieces[:-1]:
        assert piece.strip(b"\0") == piece.lstrip(b"\0")[:-1]


@given(FRAMES)
def test_a_good_wire_carries_everything_at_once_and_in_order(frames: list[bytes]) -> None:
    arrived = carried(WireFaults(), 1, frames)
    assert [piece for _, piece in arrived] == frames
    assert [time_s for time_s, _ in arrived] == pytest.approx([number * 0.01 for number in range(len(frames))])


@given(FRAMES, st.integers(0, 1000))
def test_the_same_seed_gives_the_same_bytes_at_the_same_times(frames: list[bytes], seed: int) -> None:
    assert carried(EVERYTHING, seed, frames) == carried(EVERYTHING, seed, frames)


def test_another_seed_gives_other_bytes() -> None:
    assert carried(EVERYTHING, 1, numbered(50)) != carried(EVERYTHING, 2, numbered(50))


@pytest.mark.parametrize("fault", FRAME_FAULTS)
def test_which_frames_a_fault_hits_does_not_depend_on_other_faults(fault: str) -> None:
    def struck(**knobs: float) -> list[int]:
        wire = FaultyWire(faulty(**knobs), 7)
        counts = []
        for number, frame in enumerate(numbered(300)):
            before = wire.fault_counts[fault]
            wire.write(frame, number * 1.0)
            if wire.fault_counts[fault] > before:
                counts.append(number)
        return counts

    alone = struck(**{fault: 0.2})
    assert 30 <= len(alone) <= 90
    # A frame that is lost can't be struck again, and one that is delayed isn't split as well.
    among_others = struck(**{fault: 0.2, "flip" if fault != "flip" else "repeat": 0.5})
    assert among_others == alone


@pytest.mark.parametrize("fault", FRAME_FAULTS)
def test_a_share_is_the_share_of_frames_hit(fault: str) -> None:
    wire = FaultyWire(faulty(**{fault: 0.05}), 3)
    for number in range(20_000):
        wire.write(b"\0some frame\0", number * 1.0)
    # Five standard deviations of a binomial count: sqrt(20,000 * 0.05 * 0.95) is 31.
    assert abs(wire.fault_counts[fault] - 1000) < 155
    assert wire.fault_counts["frames"] == 20_000


def test_lost_frames_are_gone_and_the_others_whole() -> None:
    frames = numbered(200)
    arrived = [piece for _, piece in carried(WireFaults(lose=0.3), 1, frames)]
    assert set(arrived) < set(frames)
    assert arrived == [frame for frame in frames if frame in set(arrived)]
    assert carried(WireFaults(lose=1.0), 1, frames) == []


def test_flipped_frames_differ_in_one_to_eight_bits() -> None:
    frames = numbered(200)
    arrived = joined(carried(WireFaults(flip=1.0), 1, frames))
    sent = b"".join(frames)
    assert len(arrived) == len(sent)
    position = 0
    turned_over = set()
    for frame in frames:
        pair = zip(frame, arrived[position : position + len(frame)], strict=True)
        turned_over.add(sum((one ^ other).bit_count() for one, other in pair))
        position += len(frame)
    assert turned_over >= {1, 2, 3, 4, 5, 6, 7, 8}
    assert max(turned_over) == 8


def test_repeated_frames_come_twice_in_a_row() -> None:
    frames = numbered(50)
    arrived = [piece for _, piece in carried(WireFaults(repeat=1.0, delay_s=0.5), 1, frames)]
    assert arrived == [frame for frame in frames for _ in range(2)]


def test_with_overtaking_repeats_come_later() -> None:
    frames = numbered(50)
    arrived = carried(WireFaults(repeat=1.0, delay_s=0.5, overtakes=True), 1, frames)
    assert sorted(piece for _, piece in arrived) == sorted(frames * 2)
    firsts = {piece: time_s for time_s, piece in reversed(arrived)}
    assert all(time_s - firsts[piece] <= 0.5 for time_s, piece in arrived)


@pytest.mark.parametrize("overtakes", [False, True])
def test_delayed_frames_are_late_but_not_more_than_said(overtakes: bool) -> None:
    frames = numbered(300)
    arrived = carried(WireFaults(delay=0.5, delay_s=0.1, overtakes=overtakes), 1, frames, apart_s=0.1)
    assert sorted(piece for _, piece in arrived) == sorted(frames)
    late_s = [time_s - frames.index(piece) * 0.1 for time_s, piece in arrived]
    assert min(late_s) >= -1e-9
    assert 0.05 < max(late_s) <= 0.1


@given(FRAMES, st.integers(0, 100))
def test_a_serial_wire_keeps_the_order(frames: list[bytes], seed: int) -> None:
    knobs = WireFaults(delay=0.3, split=0.3, join=0.3, latency_s=0.003)
    assert joined(carried(knobs, seed, frames)) == b"".join(frames)


def test_with_overtaking_later_frames_come_first() -> None:
    frames = numbered(300)
    arrived = [piece for _, piece in carried(WireFaults(delay=0.5, delay_s=0.1, overtakes=True), 1, frames)]
    assert sorted(arrived) == sorted(frames)
    assert arrived != frames


def test_split_frames_arrive_in_pieces_that_nothing_comes_between() -> None:
    frames = numbered(100)
    arrived = carried(WireFaults(split=0.7, split_s=0.03), 1, frames)
    assert joined(arrived) == b"".join(frames)
    assert len(arrived) > 130


def test_joined_frames_arrive_together_or_after_a_while_alone() -> None:
    frames = numbered(100)
    arrived = carried(WireFaults(join=0.5, join_s=0.5), 1, frames)
    assert joined(arrived) == b"".join(frames)
    assert len(arrived) < 70
    ((time_s, piece),) = carried(WireFaults(join=1.0, join_s=0.5), 1, frames[:1])
    assert (time_s, piece) == (0.5, frames[0])


def test_a_slow_wire_takes_its_time() -> None:
    arrived = carried(WireFaults(bytes_per_s=100.0, latency_s=0.25), 1, [b"\0" + b"a" * 8 + b"\0"] * 5)
    assert [time_s for time_s, _ in arrived] == pytest.approx([0.35, 0.45, 0.55, 0.65, 0.75])


def test_repeated_and_joined_frames_arrive_together() -> None:
    ((_, piece),) = carried(WireFaults(repeat=1.0, join=1.0), 1, [b"\0abc\0"])
    assert piece == b"\0abc\0" * 2


def test_a_slow_wire_says_when_it_is_free() -> None:
    wire = FaultyWire(WireFaults(bytes_per_s=100.0, latency_s=5.0), 1)
    assert wire.free_at_s == 0.0
    wire.write(b"\0" + b"a" * 48 + b"\0", 1.0)
    assert wire.free_at_s == pytest.approx(1.5)
    unlimited = FaultyWire(WireFaults(latency_s=5.0), 1)
    unlimited.write(b"\0abc\0", 1.0)
    assert unlimited.free_at_s == 0.0


def test_silence_discards_new_data_and_a_cut_loses_data_in_transit() -> None:
    wire = FaultyWire(WireFaults(latency_s=1.0), 1)
    wire.be_silent(2.0)
    wire.write(b"\0swallowed\0", 1.0)
    wire.write(b"\0heard\0", 2.0)
    assert wire.read(10.0) == [b"\0heard\0"]
    wire.write(b"\0cut off\0", 11.0)
    wire.cut()
    assert wire.read(20.0) == []
    wire.write(b"\0after\0", 21.0)
    assert wire.read(22.0) == [b"\0after\0"]


def test_garbage_is_as_long_as_asked_for_and_comes_first() -> None:
    wire = FaultyWire(WireFaults(), 1)
    wire.garbage(100, 0.0)
    wire.write(b"\0hello\0", 0.0)
    first, second = wire.read(0.0)
    assert len(first) == 100
    assert second == b"\0hello\0"


def test_outages_come_at_fixed_times_and_at_random_ones_from_the_seed() -> None:
    faults = WireFaults(resets_at_s=(3.0, 1.0), silence_every_s=2.0, unplugs_at_s=(2.0,))
    outages = FaultSchedule(faults, 5)
    came = []
    while (next_s := outages.next_s) is not None and next_s < 1000.0:
        came += [(next_s, outage) for outage in outages.due(next_s)]
    assert [time_s for time_s, outage in came if outage is Outage.RESET] == [1.0, 3.0]
    assert [time_s for time_s, outage in came if outage is Outage.UNPLUG] == [2.0]
    silences = [time_s for time_s, outage in came if outage is Outage.SILENCE]
    # Five standard deviations of a Poisson count around 500.
    assert abs(len(silences) - 500) < 112
    assert came == sorted(came, key=lambda one: one[0])
    at_once = FaultSchedule(faults, 5).due(1000.0)
    assert at_once == [outage for _, outage in came]
    assert FaultSchedule(WireFaults(), 5).next_s is None


@given(st.floats(0.0, 1e9), st.integers(0, 100))
def test_outages_count_from_the_start_on_any_clock(start_s: float, seed: int) -> None:
    outages = FaultSchedule(WireFaults(reset_every_s=0.3), seed, start_s)
    for _ in range(20):
        next_s = outages.next_s
        assert next_s is not None
        assert next_s >= start_s
        assert Outage.RESET in outages.due(next_s)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        *(({name: bad}, f"{name} is {bad}") for name in FRAME_FAULTS for bad in (-0.1, 1.5, math.nan)),
        *(({name: -1.0}, f"{name} is -1.0") for name in ("delay_s", "split_s", "join_s", "silence_s", "unplugged_s")),
        *(({name: 0.0}, f"{name} is 0.0") for name in ("silence_every_s", "reset_every_s", "unplug_every_s")),
        *(({name: (1.0, -2.0)}, f"{name} holds -2.0") for name in ("silences_at_s", "resets_at_s", "unplugs_at_s")),
        ({"bytes_per_s": 0.0}, "bytes_per_s is 0.0"),
        ({"garbage_bytes": -1}, "garbage_bytes is -1"),
        ({"latency_s": math.inf}, "latency_s is inf"),
    ],
)
def test_a_setting_out_of_range_is_named(knobs: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=f"^{words}; expected "):
        faulty(**knobs)


def test_frames_written_during_a_silence_are_counted_and_lost_but_those_on_their_way_arrive() -> None:
    wire = FaultyWire(WireFaults(latency_s=0.5), 1)
    wire.write(b"a\0", 0.0)
    wire.be_silent(2.0)
    wire.write(b"b\0c\0d\0", 0.1)
    assert b"".join(wire.read(1.0)) == b"a\0"
    assert {"frames": 4, "silence": 3}.items() <= wire.fault_counts.items()
