"""What a whole device on a board without pins tells its host: presses, switches, faults, log lines."""

from __future__ import annotations

from firmware_bridge.firmware.core.events import MOST_LINES, MOST_PRESSES
from firmware_bridge.protocol.messages import Configure, Ping, Snapshot
from tests.firmware_bridge.firmware.device_host import LIGHTS, Host, press


def test_presses_are_numbered_timed_and_told_in_order(host):
    host.shake_hands()
    began = host.bench.board.now
    press(host, 0, 1500)
    press(host, 1)
    told = host.told("BUTTON")
    assert [(one["event"], one["button"], one["what"]) for one in told] == [
        (0, 0, 1),
        (1, 0, 2),
        (2, 0, 3),
        (3, 1, 1),
        (4, 1, 3),
    ]
    touched = began + 1
    assert [one["time_ms"] for one in told[:3]] == [touched, touched + 1000, touched + 1500]
    assert [one["held_ms"] for one in told[:3]] == [0, 1000, 1500]


def test_a_press_that_was_not_acknowledged_is_told_again_in_the_next_session(host):
    host.shake_hands()
    press(host)
    host.acknowledges = False
    press(host)
    first = host.told("BUTTON")
    host.acknowledges = True
    host.shake_hands(78).run(50)
    again = host.told("BUTTON")
    assert [one["event"] for one in first] == [0, 1, 2, 3]
    assert again == first[2:]
    host.shake_hands(79).run(50)
    assert host.told("BUTTON") == []


def test_a_press_from_long_before_the_host_came_is_not_told(host):
    press(host)
    host.run(2200)
    press(host, 1)
    host.shake_hands().run(50)
    assert [(one["event"], one["button"]) for one in host.told("BUTTON")] == [(2, 1), (3, 1)]


def test_more_presses_than_are_kept_are_told_as_a_fault(host):
    host.shake_hands()
    host.acknowledges = False
    for _ in range(MOST_PRESSES // 2 + 4):
        press(host, ms=30)
        host.say(Ping(1))
    host.acknowledges = True
    host.run(3000, pings=True)
    faults = host.told("FAULT")
    assert [fault["code"] for fault in faults] == [6]


def test_sensors_come_first_then_when_something_changes_or_is_asked(host):
    host.shake_hands()
    (first,) = host.told("SENSORS")
    assert first["closed"] == first["doubtful"] == [False] * 3
    host.bench.board.masks = [0b101]
    moved = host.bench.board.now + 1
    host.run(100)
    (changed,) = host.told("SENSORS")
    assert changed["closed"] == [True, False, True]
    assert [(switch, closed) for switch, closed, _ in changed["changes"]] == [(0, True), (2, True)]
    assert {changed["time_ms"] - before for _, _, before in changed["changes"]} == {moved}
    host.run(500)
    assert host.told("SENSORS") == []
    host.say(Snapshot())
    (asked,) = host.told("SENSORS")
    assert (asked["closed"], asked["changes"]) == ([True, False, True], [])


def test_snapshots_come_as_often_as_configured(host):
    host.shake_hands().say(Configure(3000, 20, 1000, 255, 0, 200))
    host.told("SENSORS")
    host.run(2000, pings=True)
    assert 9 <= len(host.told("SENSORS")) <= 10


def test_switches_that_move_while_nothing_is_acknowledged_merge_into_the_newest(host):
    host.shake_hands()
    host.acknowledges = False
    for turn in range(30):
        host.bench.board.masks = [turn % 8]
        host.run(40)
        host.say(Ping(1))
    host.acknowledges = True
    host.run(3000, pings=True)
    reports = host.told("SENSORS")
    assert reports[-1]["closed"] == [True, False, True]
    assert len(reports) < 10


def test_a_port_that_takes_nothing_loses_nothing(host):
    host.shake_hands().run(20)
    host.bench.board.room = 0
    press(host)
    host.bench.board.masks = [0b010]
    host.run(500)
    assert host.heard[2:] == []
    host.bench.board.room = 3
    host.run(1500, pings=True)
    assert [one["what"] for one in host.told("BUTTON")] == [1, 3]
    host.run(100)
    host.say(Snapshot())
    host.run(200)
    assert host.told("SENSORS")[-1]["closed"] == [False, True, False]


def test_a_watchdog_reset_is_told_to_the_first_host(make_bench):
    bench = make_bench(LIGHTS, reset_cause=1)
    host = Host(bench).shake_hands().run(20)
    assert [fault["code"] for fault in host.told("FAULT")] == [5]
    host.shake_hands(78).run(20)
    assert host.told("FAULT") == []


def test_a_watchdog_reset_is_told_again_where_nobody_acknowledged_it(make_bench):
    """While the board starts its host greets it several times; it answers all of them, and only the last one counts."""
    bench = make_bench(LIGHTS, reset_cause=1)
    host = Host(bench)
    host.acknowledges = False
    host.shake_hands(5).run(20)
    assert [fault["code"] for fault in host.told("FAULT")] == [5]
    host.acknowledges = True
    host.shake_hands(6).run(20)
    assert [fault["code"] for fault in host.told("FAULT")] == [5]
    host.shake_hands(7).run(20)
    assert host.told("FAULT") == []


def test_a_bad_pin_map_is_told_to_every_host(make_bench):
    bench = make_bench({"buttons": [3, 3], **LIGHTS})
    host = Host(bench)
    for session in (5, 6):
        host.shake_hands(session).run(20)
        (fault,) = host.told("FAULT")
        assert fault["code"] == 4
        assert "pin 3 is used twice" in fault["text"]
    assert bench.device.lights.count == 0


def test_log_lines_wait_for_a_host_and_the_counter_shows_what_was_lost(host):
    for number in range(MOST_LINES + 2):
        host.bench.device.log(20, f"line {number}")
    host.shake_hands().run(50)
    told = host.told("LOG")
    assert [one["text"] for one in told] == [f"line {number}" for number in range(2, MOST_LINES + 2)]
    assert [one["counter"] for one in told] == list(range(2, MOST_LINES + 2))
