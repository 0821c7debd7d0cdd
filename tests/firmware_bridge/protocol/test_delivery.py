import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.protocol.delivery import (
    HANDLING_S_PER_BYTE,
    INITIAL_TIMEOUT_S,
    MAX_TIMEOUT_S,
    MIN_TIMEOUT_S,
    Arrival,
    Receiver,
    RetransmissionTimer,
    SendWindow,
    SerialLine,
)
from firmware_bridge.protocol.packets import Kind
from firmware_bridge.protocol.session import DuplicatePressFilter, Heartbeat


def window(size: int = 4) -> SendWindow:
    return SendWindow(size, RetransmissionTimer())


def test_no_more_goes_out_than_the_window_holds() -> None:
    sender = window(2)
    assert [sender.send(Kind.SOUND, b"", 0.0).sequence for _ in range(2)] == [0, 1]
    assert not sender.has_room
    with pytest.raises(ValueError, match="2 packets are outstanding; 2 is the most"):
        sender.send(Kind.SOUND, b"", 0.0)
    sender.acknowledge(1, 0.1)
    assert sender.send(Kind.SOUND, b"", 0.1).sequence == 2


@pytest.mark.parametrize("number", [0, 4, 5, 32_768, 65_535])
def test_a_number_that_cannot_be_acknowledges_nothing(number: int) -> None:
    sender = window()
    for _ in range(3):
        sender.send(Kind.SOUND, b"", 0.0)
    sender.acknowledge(number, 0.1)
    assert (len(sender), sender.acknowledged) == (3, 0)
    sender.acknowledge(3, 0.1)
    assert (len(sender), sender.acknowledged, sender.due_s, sender.stuck_since_s) == (0, 3, None, None)
    sender.acknowledge(4, 0.1)
    assert sender.acknowledged == 3


def test_numbers_go_round() -> None:
    sender, receiver = window(), Receiver()
    rounds = 70_000
    for number in range(rounds):
        sent = sender.send(Kind.SOUND, b"", 0.0)
        assert sent.sequence == number % 65_536
        assert receiver.take(sent.sequence, 0.0) is Arrival.NEXT
        assert receiver.take(sent.sequence, 0.0) is Arrival.REPEATED
        sender.acknowledge((number - 1) % 65_536, 0.0)
        if number % 3 == 2:
            sender.acknowledge(receiver.expected, 0.0)
    assert sender.acknowledged == rounds - rounds % 3


def test_all_is_sent_again_when_the_timer_runs_out_and_later_each_time() -> None:
    sender = window()
    for _ in range(3):
        sender.send(Kind.SOUND, b"", 0.0)
    assert not sender.time_out(INITIAL_TIMEOUT_S - 0.001)
    assert sender.resend(0.2) == ()
    waits, now_s = [], 0.0
    for _ in range(4):
        due_s = sender.due_s
        assert due_s is not None
        waits.append(due_s - now_s)
        now_s = due_s
        assert sender.time_out(now_s)
        assert [sent.sequence for sent in sender.resend(now_s)] == [0, 1, 2]
    assert waits == [INITIAL_TIMEOUT_S, 1.5 * INITIAL_TIMEOUT_S, 2.25 * INITIAL_TIMEOUT_S, 3 * INITIAL_TIMEOUT_S]


def test_all_is_sent_again_once_when_something_is_missing() -> None:
    sender = window()
    for _ in range(4):
        sender.send(Kind.SOUND, b"", 0.0)
    sender.missing(1, 0.01)
    assert [sent.sequence for sent in sender.resend(0.01)] == [1, 2, 3]
    sender.missing(1, 0.02)
    sender.missing(0, 0.02)
    sender.missing(9, 0.02)
    assert sender.resend(0.02) == ()
    sender.missing(2, 0.03)
    assert [sent.sequence for sent in sender.resend(0.03)] == [2, 3]
    assert sender.time_out(0.03 + INITIAL_TIMEOUT_S)
    sender.resend(0.03 + INITIAL_TIMEOUT_S)
    sender.missing(2, 1.0)
    assert [sent.sequence for sent in sender.resend(1.0)] == [2, 3]
    sender.missing(4, 1.1)
    assert sender.resend(1.1) == ()
    assert len(sender) == 0


@pytest.mark.parametrize("number", [0, 3, 9, 65_535])
def test_a_gap_that_cannot_be_brings_nothing_again(number: int) -> None:
    sender = window()
    for _ in range(3):
        sender.send(Kind.SOUND, b"", 0.0)
    sender.acknowledge(1, 0.01)
    sender.missing(number, 0.02)
    assert not sender.must_resend
    assert sender.resend(0.02) == ()


def test_what_arrives_before_it_is_sent_again_is_not_sent_again() -> None:
    sender = window()
    for _ in range(3):
        sender.send(Kind.SOUND, b"", 0.0)
    sender.missing(0, 0.01)
    assert sender.must_resend
    sender.acknowledge(3, 0.02)
    assert not sender.must_resend


def test_being_stuck_counts_from_the_last_progress() -> None:
    assert window().stuck_since_s is None
    sender = window()
    sender.send(Kind.SOUND, b"", 5.0)
    sender.send(Kind.SOUND, b"", 6.0)
    assert sender.stuck_since_s == 5.0
    sender.acknowledge(1, 7.0)
    assert sender.stuck_since_s == 7.0


def test_the_timer_follows_rfc_6298() -> None:
    timer = RetransmissionTimer()
    assert (timer.timeout_s, timer.round_trip_s) == (INITIAL_TIMEOUT_S, None)
    timer.acknowledged(0.1, is_resent=False)
    assert timer.round_trip_s == 0.1
    assert timer.timeout_s == pytest.approx(0.1 + 4 * 0.05)
    timer.acknowledged(0.2, is_resent=False)
    assert timer.round_trip_s == pytest.approx(7 / 8 * 0.1 + 1 / 8 * 0.2)
    assert timer.timeout_s == pytest.approx(0.1125 + 4 * (3 / 4 * 0.05 + 1 / 4 * 0.1))
    timer.acknowledged(0.0125, is_resent=False)
    assert timer.round_trip_s == pytest.approx(7 / 8 * 0.1125 + 1 / 8 * 0.0125)
    assert timer.timeout_s == pytest.approx(0.1 + 4 * (3 / 4 * 0.0625 + 1 / 4 * 0.1))


@given(st.lists(st.tuples(st.sampled_from(["sent once", "resent", "late"]), st.floats(0, 10)), max_size=50))
def test_the_timer_stays_between_its_bounds(happenings: list[tuple[str, float]]) -> None:
    timer = RetransmissionTimer()
    for happening, round_trip_s in happenings:
        before_s, smoothed_s = timer.timeout_s, timer.round_trip_s
        if happening == "late":
            timer.back_off()
            assert before_s <= timer.timeout_s <= 1.5 * before_s
        else:
            timer.acknowledged(round_trip_s, is_resent=happening == "resent")
        if happening == "resent" and smoothed_s is None:
            assert timer.round_trip_s is None
        elif happening == "resent" and timer.round_trip_s is not None:
            assert timer.round_trip_s >= (smoothed_s or 0.0)
        assert MIN_TIMEOUT_S <= timer.timeout_s <= MAX_TIMEOUT_S


def test_a_long_wait_is_twice_the_measured_one_once_the_window_moves_on_and_then_that_one() -> None:
    timer = RetransmissionTimer()
    sender = SendWindow(4, timer)
    timer.acknowledged(0.03, is_resent=False)
    assert timer.timeout_s == pytest.approx(0.09)
    sender.send(Kind.SOUND, b"", 0.0)
    for at_s in (0.1, 0.3, 0.7):
        assert sender.time_out(at_s)
        sender.resend(at_s)
    assert timer.timeout_s == pytest.approx(0.09 * 3)
    sender.acknowledge(1, 0.71)
    assert timer.timeout_s == pytest.approx(0.18)
    sender.send(Kind.SOUND, b"", 1.0)
    sender.acknowledge(2, 1.03)
    assert timer.timeout_s == pytest.approx(0.03 + 4 * 3 / 4 * 0.015)


def test_a_line_carries_one_thing_after_the_other() -> None:
    line = SerialLine(100.0)
    assert [line.arrival_s(count, 5.0) for count in (10, 20)] == pytest.approx([5.1, 5.3])
    assert line.arrival_s(10, 6.0) == pytest.approx(6.1)
    assert SerialLine().arrival_s(10**9, 5.0) == 5.0
    for nonsense in (0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="expected more than 0, or None"):
            SerialLine(nonsense)


def test_on_a_slow_line_the_shortest_wait_allows_for_the_answer() -> None:
    assert (SerialLine(1000.0).transmission_s(100), SerialLine().transmission_s(100)) == (0.1, 0.0)
    timer = RetransmissionTimer()
    timer.acknowledged(0.001, is_resent=False)
    assert timer.timeout_s == MIN_TIMEOUT_S
    timer.allow_for_answer(0.1)
    assert timer.timeout_s == pytest.approx(MIN_TIMEOUT_S + 0.1)
    timer.acknowledged(0.001, is_resent=False)
    assert timer.timeout_s == pytest.approx(MIN_TIMEOUT_S + 0.1)
    timer.allow_for_answer(5.0)
    assert timer.timeout_s == MAX_TIMEOUT_S
    timer.allow_for_answer(0.0)
    timer.acknowledged(0.001, is_resent=False)
    assert timer.timeout_s == MIN_TIMEOUT_S


def test_a_device_has_time_to_handle_a_large_packet() -> None:
    sender = window()
    sender.send(Kind.LIGHTS_ALL, bytes(900), 1.0)
    sender.send(Kind.SOUND, b"", 1.0)
    assert sender.due_s == pytest.approx(1.0 + 900 * HANDLING_S_PER_BYTE + INITIAL_TIMEOUT_S)
    assert 0.05 < 900 * HANDLING_S_PER_BYTE < 0.06
    sender.acknowledge(1, 1.0)
    assert sender.due_s is not None
    assert sender.due_s < 1.0 + INITIAL_TIMEOUT_S
    sender.acknowledge(2, 1.0)
    assert sender.due_s is None


def test_the_wait_begins_when_the_line_has_carried_the_packet() -> None:
    timer = RetransmissionTimer()
    sender = SendWindow(4, timer)
    for sequence, arrival_s in ((0, 2.0), (1, 3.0)):
        sender.send(Kind.SOUND, b"", 0.0)
        sender.delivered_at(sequence, arrival_s)
    assert sender.due_s == 2.0 + INITIAL_TIMEOUT_S
    sender.acknowledge(1, 2.1)
    assert timer.round_trip_s == pytest.approx(0.1)
    assert sender.due_s == pytest.approx(3.0 + timer.timeout_s)
    assert sender.time_out(4.0)
    assert sender.resend(4.0)
    sender.delivered_at(1, 5.0)
    assert sender.due_s == pytest.approx(5.0 + timer.timeout_s)
    # Sooner than the line could carry it: an answer to what was sent before.
    sender.acknowledge(2, 4.5)
    assert timer.round_trip_s == pytest.approx(0.1)


def test_a_packet_that_was_sent_again_measures_only_upward() -> None:
    timer = RetransmissionTimer()
    sender = SendWindow(4, timer)
    timer.acknowledged(0.03, is_resent=False)
    for took_s, smoothed_s in ((0.001, 0.03), (0.07, 0.035)):
        sender.send(Kind.SOUND, b"", 0.0)
        sender.time_out(2.0)
        sender.resend(2.0)
        sender.acknowledge(sender.acknowledged + 1, 2.0 + took_s)
        assert timer.round_trip_s == pytest.approx(smoothed_s)


def test_a_gap_is_told_at_once_and_then_every_ten_milliseconds() -> None:
    receiver = Receiver()
    told = []
    for at_ms in (0, 1, 9, 11, 15, 22):
        assert receiver.take(3, at_ms / 1000) is Arrival.AFTER_GAP
        if receiver.must_report_gap:
            told.append(at_ms)
            receiver.gap_reported()
    assert (told, receiver.must_acknowledge) == ([0, 11, 22], False)
    assert (receiver.take(0, 0.023), receiver.must_acknowledge) == (Arrival.NEXT, True)
    receiver.acknowledged()
    assert receiver.take(3, 0.024) is Arrival.AFTER_GAP
    assert receiver.must_report_gap
    assert receiver.expected == 1


def test_a_gap_that_closes_before_it_was_told_is_not_told() -> None:
    receiver = Receiver()
    assert receiver.take(1, 0.0) is Arrival.AFTER_GAP
    assert receiver.take(0, 0.0) is Arrival.NEXT
    assert (receiver.must_report_gap, receiver.must_acknowledge) == (False, True)


@pytest.mark.parametrize("expected", [0, 1, 40_000, 65_535])
def test_half_of_all_numbers_are_behind(expected: int) -> None:
    receiver = Receiver()
    receiver.expected = expected
    assert receiver.take((expected + 32_767) % 65_536, 0.0) is Arrival.AFTER_GAP
    assert receiver.take((expected + 32_768) % 65_536, 0.0) is Arrival.REPEATED
    assert receiver.take((expected - 1) % 65_536, 0.0) is Arrival.REPEATED
    assert receiver.take((expected + 1) % 65_536, 0.0) is Arrival.AFTER_GAP


@given(st.lists(st.integers(0, 65_535), max_size=60))
def test_only_the_expected_number_is_taken(numbers: list[int]) -> None:
    receiver, expected = Receiver(), 0
    for number in [*numbers, 0, 1, 2]:
        arrival = receiver.take(number, 0.0)
        assert (arrival is Arrival.NEXT) == (number == expected)
        expected += number == expected
        assert receiver.expected == expected


def test_only_the_last_pings_are_remembered() -> None:
    heartbeat = Heartbeat()
    heartbeat.begin(0.0)
    tokens = [heartbeat.ping(number / 10) for number in range(20)]
    assert [token for token in tokens if heartbeat.pong(token, 0, 3.0) is not None] == tokens[-8:]


def test_a_press_is_handed_on_once_a_start() -> None:
    presses = DuplicatePressFilter()
    assert [presses.is_new(7, event) for event in (65_534, 65_534, 65_535, 0, 65_535, 3, 1)] == [
        *(True, False, True, True, False, True, False)
    ]
    assert presses.is_new(8, 0)
    assert not presses.is_new(8, 0)
