"""The connection's pure pieces: its queue, what it says when, its sleep, and who strangers are."""

import os
import random
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.connection.conversation import ClockSync
from firmware_bridge.connection.events import BoardEvent, ButtonPressed, Linked, Lost, PressesDropped, SensorsReported
from firmware_bridge.connection.mailbox import MOST_EVENTS, ConnectionStatus, Mailbox, OutageTracker
from firmware_bridge.connection.thread import WakeablePoll
from firmware_bridge.errors import (
    BridgeError,
    ConnectionLostError,
    NoFirmwareError,
    PortDeniedError,
    PortGoneError,
    PortMissingError,
    PortTakenError,
    VersionError,
    WrongDeviceError,
)
from firmware_bridge.ports.serial_ports import (
    SerialPort,
    certain_foreign_device,
    foreign_device_error,
    is_known_device,
)
from firmware_bridge.protocol.messages import Welcome
from tests.present import present


def press(number: int) -> ButtonPressed:
    return ButtonPressed(number, float(number))


def report(number: int) -> SensorsReported:
    return SensorsReported(float(number), (number % 2 == 1,), (False,), ())


def mailbox_of(events: list[BoardEvent]) -> Mailbox:
    mailbox = Mailbox()
    mailbox.publish(events, ConnectionStatus())
    return mailbox


def test_events_are_taken_once_in_order() -> None:
    events: list[BoardEvent] = [press(1), report(2), press(3), report(4)]
    mailbox = mailbox_of(events)
    assert mailbox.has_events
    assert mailbox.take_events() == tuple(events)
    assert mailbox.take_events() == ()


def test_of_too_many_events_the_newest_are_kept_and_lost_presses_are_told() -> None:
    events: list[BoardEvent] = [
        report(0),
        press(1),
        press(2),
        *(report(number) for number in range(3, 3 + MOST_EVENTS)),
    ]
    mailbox = mailbox_of(events)
    assert mailbox.take_events() == (PressesDropped(3.0, 2), *events[3:])
    assert mailbox.take_events() == ()


def test_what_a_person_must_be_told_stays_among_too_many_events() -> None:
    linked = Linked(1.0, SerialPort("a port"), Welcome((2, 0, 0), 7, 0, 0, 0, 0, 0, 0, "a board"), restarted=False)
    told: list[BoardEvent] = [Lost(0.0, "unplugged"), linked]
    events = [*told, PressesDropped(2.0, 5), press(3), *(report(number) for number in range(4, 4 + MOST_EVENTS))]
    taken = mailbox_of(events).take_events()
    assert taken[:3] == (PressesDropped(0.0, 6), *told)
    assert taken[3:] == tuple(events[6:])
    assert len(taken) == MOST_EVENTS + 1
    lost: list[BoardEvent] = [Lost(float(number), "unplugged") for number in range(2 * MOST_EVENTS)]
    assert mailbox_of(lost).take_events() == tuple(lost[MOST_EVENTS:])


def test_what_holds_is_said_once() -> None:
    outages = OutageTracker()
    assert outages.failed(PortMissingError("no board"), 0.0) == "no board"
    for attempt in range(1, 100):
        assert outages.failed(PortMissingError("no board"), float(attempt)) is None
    current = present(outages.current)
    assert (str(current), current.since_s, current.attempts) == ("no board", 0.0, 100)
    assert outages.failed(VersionError("too old"), 100.0) == "too old"
    assert outages.failed(PortMissingError("no board"), 101.0) is None
    assert outages.worked(102.0, "/dev/ttyACM1") == "the board answers now, on /dev/ttyACM1"
    assert outages.current is None
    assert outages.worked(103.0, "/dev/ttyACM1") is None


def test_a_taken_port_may_become_free_for_a_few_attempts() -> None:
    outages = OutageTracker()

    def may_pass_after(error: BridgeError, now_s: float) -> bool:
        outages.failed(error, now_s)
        return outages.current is not None and outages.current.may_pass

    taken = PortTakenError("by ModemManager")
    assert [may_pass_after(taken, float(second)) for second in range(4)] == [True, True, True, False]
    assert not may_pass_after(PortMissingError("no board"), 4.0)


def test_what_passes_right_after_plugging_in_is_not_said() -> None:
    outages = OutageTracker()
    outages.worked(0.0, "/dev/ttyACM0")
    outages.failed(PortGoneError("unplugged"), 0.5)
    assert outages.failed(PortDeniedError("may not"), 1.0) is None
    assert outages.failed(PortTakenError("by ModemManager"), 1.3) is None
    assert outages.worked(2.0, "/dev/ttyACM0", 1) == (
        "the board answers again, on /dev/ttyACM0 (it had hung, and restarted itself); lights and settings are as "
        "before"
    )
    assert outages.failed(PortDeniedError("may not"), 100.0) is None
    assert outages.current is not None
    assert outages.failed(PortDeniedError("may not"), 100.3) == "may not"


def test_a_board_that_is_back_is_told_once() -> None:
    outages = OutageTracker()
    outages.worked(0.0, "/dev/ttyACM0")
    outages.failed(PortGoneError("unplugged"), 1.0)
    assert outages.worked(2.0, "/dev/ttyACM1") == (
        "the board answers again, on /dev/ttyACM1; lights and settings are as before"
    )
    assert outages.worked(3.0, "/dev/ttyACM1") is None


def test_a_board_that_was_there_from_the_start_is_not_announced() -> None:
    assert OutageTracker().worked(0.0, "/dev/ttyACM0") is None


def test_a_loose_contact_is_not_announced_at_every_jolt() -> None:
    outages = OutageTracker()
    words = []
    for jolt in range(20):
        words.append(outages.failed(PortGoneError("unplugged"), 2.0 * jolt))
        words.append(outages.worked(2.0 * jolt + 1, "/dev/ttyACM0"))
    assert len([word for word in words if word]) == 2
    # Staying away is news all the same, and so is the next loss after a good minute.
    assert outages.failed(PortGoneError("unplugged"), 40.0) is None
    assert outages.failed(PortMissingError("still gone"), 44.9) is None
    assert outages.failed(PortMissingError("still gone"), 45.1) == "still gone"
    assert outages.worked(46.0, "/dev/ttyACM0") is not None
    assert outages.failed(PortGoneError("unplugged"), 107.0) == "unplugged"


def test_attempts_become_rarer() -> None:
    def waits(error: BridgeError, attempts: int = 12) -> list[float]:
        outages = OutageTracker()
        found = []
        for _ in range(attempts):
            outages.failed(error, 100.0)
            found.append(outages.retry_at_s - 100.0)
        return found

    assert waits(PortMissingError("gone"))[:5] == [0.25, 0.5, 1.0, 2.0, 2.0]
    assert waits(PortTakenError("taken"))[-1] == 10.0
    assert waits(VersionError("older")) == [10.0] * 12
    assert waits(WrongDeviceError("a printer")) == [60.0] * 12
    assert waits(NoFirmwareError("a prompt"))[0] == 0.25
    assert waits(ConnectionLostError("silent"), 5000)[-1] == 2.0


def test_a_board_that_worked_is_tried_again_soon() -> None:
    outages = OutageTracker()
    for _ in range(20):
        outages.failed(PortMissingError("gone"), 0.0)
    outages.worked(1.0, "")
    outages.failed(PortGoneError("gone"), 100.0)
    assert outages.retry_at_s == 100.25


def test_a_restart_is_said_at_most_once_a_minute() -> None:
    outages = OutageTracker()
    assert outages.restarted(0.0, "/dev/ttyACM0", 2) == (
        "the board on /dev/ttyACM0 restarted by itself; lights and settings are as before"
    )
    assert outages.restarted(59.0, "/dev/ttyACM0", 1) is None
    assert outages.restarted(60.0, "/dev/ttyACM0", 1) == (
        "the board on /dev/ttyACM0 restarted by itself, because it had hung; lights and settings are as before"
    )


def test_sleep_ends_by_waking_by_bytes_and_by_time() -> None:
    poll = WakeablePoll(time.monotonic)
    read, write = os.pipe()
    try:
        poll.wake()
        poll.wait(None)
        os.write(write, b"x")
        poll.wait(None, read)
        os.read(read, 1)
        poll.wait(None, write, for_room=True)
        poll.wait(time.monotonic() - 1)
        before_s = time.monotonic()
        poll.wait(before_s + 0.001, read)
        assert time.monotonic() >= before_s + 0.001
        thread = threading.Timer(0.0, poll.wake)
        thread.start()
        poll.wait(None, read)
        thread.join()
        assert poll.wakeups == 6
        # However often it is woken, the pipe never blocks who wakes.
        for _ in range(70_000):
            poll.wake()
        poll.wait(None)
    finally:
        poll.close()
        os.close(read)
        os.close(write)
    poll.wake()
    poll.close()


@given(st.binary(max_size=300))
def test_whatever_is_heard_makes_one_sentence(heard: bytes) -> None:
    error = foreign_device_error("/dev/ttyACM0", heard, 115200)
    assert "/dev/ttyACM0" in str(error)
    assert "\n" not in str(error)
    if certain_foreign_device(heard) is not None:
        assert is_known_device(heard)
        assert type(error) is WrongDeviceError


def test_ordinary_words_are_no_known_stranger() -> None:
    assert not is_known_device(b"\x00\x04\x01 ok then, hello world\n")


def test_only_what_can_never_be_ours_is_a_certain_stranger() -> None:
    assert certain_foreign_device(b"$GPGGA,1,2\r\n") == "a GPS receiver (NMEA)"
    assert certain_foreign_device(b"WLED 2410270\r\n") == "WLED"
    # What an Espressif chip says when it starts, with WLED as with our firmware; and a board at its prompt.
    for ours in (b"ESP-ROM:esp32s3-20210327\r\nrst:0x1 (POWERON)\r\n", b">>> ", b""):
        assert certain_foreign_device(ours) is None


WRAP_MS = 2**32


def test_before_any_answer_it_is_now() -> None:
    assert ClockSync().host_s(12345, 7.0) == 7.0


def test_the_quickest_answer_counts() -> None:
    clock = ClockSync()
    clock.answered(0.0, 1.0, 100_000)
    clock.answered(2.0, 2.01, 102_000)
    clock.answered(3.0, 3.4, 103_300)
    assert clock.host_s(102_500, 4.0) == pytest.approx(2.505)


def test_an_old_answer_gives_way_once_the_clocks_may_have_drifted() -> None:
    clock = ClockSync()
    clock.answered(0.0, 0.001, 0)
    clock.answered(1000.0, 1000.02, 1_000_060)
    assert clock.host_s(1_000_060, 1001.0) == pytest.approx(1000.01)


def test_nothing_is_told_before_it_happened() -> None:
    clock = ClockSync()
    clock.answered(0.0, 0.1, 1000)
    assert clock.host_s(9000, 2.0) == 2.0


def test_an_answer_before_its_question_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="come later"):
        ClockSync().answered(2.0, 1.0, 0)


@given(
    st.integers(0, WRAP_MS - 1),
    st.floats(-100e-6, 100e-6),
    st.integers(0, 2**32),
    st.lists(st.floats(0.0005, 0.3), min_size=1, max_size=30),
)
def test_times_are_as_certain_as_the_best_of_the_last_answers(
    start_ms: int, drift: float, seed: int, round_trips_s: list[float]
) -> None:
    """A device whose counter starts anywhere (and wraps) and runs too fast or slow, behind a wire with any delays."""
    rng = random.Random(seed)

    def device_ms(time_s: float) -> int:
        return (start_ms + int(time_s * (1 + drift) * 1000)) % WRAP_MS

    clock = ClockSync()
    received_s = list[float]()
    now_s = 0.0
    for round_trip_s in round_trips_s:
        sent_s = now_s + rng.uniform(0, 20)
        clock.answered(sent_s, sent_s + round_trip_s, device_ms(sent_s + rng.random() * round_trip_s))
        now_s = sent_s + round_trip_s
        received_s.append(now_s)
    happened_s = now_s + rng.uniform(0, 5)
    told_s = happened_s + rng.uniform(0, 1)
    # Half of a round trip, and what two clocks of 50 ppm drift apart after it; the last 16 answers are kept.
    answers = list(zip(round_trips_s, received_s, strict=True))[-16:]
    uncertainty_s = min(round_trip_s / 2 + 1e-4 * (told_s - at_s) for round_trip_s, at_s in answers)
    # Two clock readings are each cut to whole milliseconds.
    assert abs(clock.host_s(device_ms(happened_s), told_s) - happened_s) <= uncertainty_s + 0.0021
