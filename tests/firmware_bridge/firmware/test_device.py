"""The whole device on a board without pins: what it does when a host speaks, falls silent, comes again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.firmware.core.events import MOST_LINES, MOST_PRESSES
from firmware_bridge.firmware.core.version import FIRMWARE_VERSION
from firmware_bridge.protocol.messages import Configure, Leave, LightFrame, Ping, Snapshot, Sound, Tone
from firmware_bridge.protocol.packets import Kind, Packet, packet_frame
from tests.effort import cases
from tests.firmware_bridge.firmware.device_host import DEFAULTS, LIGHTS, VERDICT, Host, press


def test_welcome_says_what_the_board_has(host):
    (welcome,) = host.shake_hands().told("WELCOME")
    assert welcome["version"] == 1
    assert (welcome["major"], welcome["minor"], welcome["patch"]) == FIRMWARE_VERSION
    assert (welcome["boot_id"], welcome["time_ms"]) == (0xABCDEF01, 100)
    assert (welcome["lights"], welcome["switches"], welcome["buttons"], welcome["buzzer"]) == (6, 3, 2, 2)
    assert welcome["pin_map_checksum"] == host.bench.pins.checksum
    assert (welcome["largest_payload"], welcome["board"]) == (1024, "pico")


def test_a_frame_is_shown_and_stays_while_the_host_speaks(host):
    host.shake_hands().say(LightFrame(VERDICT * 6))
    host.run(20_000, pings=True)
    assert not host.bench.device.lights.is_waiting
    assert bytes(host.bench.device.lights.wanted) == VERDICT * 6


gaps = st.lists(st.tuples(st.integers(1, 900), st.sampled_from(["lights", "ping", "garbage", "other session"])))


@given(st.sampled_from([300, 450]), gaps)
@settings(max_examples=cases(50, 10))
def test_no_verdict_outlives_its_host(silence_ms, acts):
    # hypothesis keeps a function's fixtures for all examples, so the device is made by hand.
    with pytest.MonkeyPatch.context() as patch:
        bench = _bench(patch, LIGHTS)
        host = Host(bench).shake_hands()
        host.say(Configure(silence_ms, 20, 1000, 255, 0, 0))
        host.say(LightFrame(VERDICT * 6))
        heard_at = bench.board.now
        for gap_ms, what in acts:
            until = bench.board.now + gap_ms
            while bench.board.now < until:
                bench.run_until(bench.board.now + 1)
                silent_ms = bench.board.now - heard_at
                # A frame may be on its way to the strip for 10 ms.
                if silent_ms >= silence_ms + 11:
                    assert VERDICT not in bytes(bench.device.lights.wanted)
                    assert len(set(bench.board.shown[-1][:3])) == 1
            if not bench.device.link.session:
                host.shake_hands(host.session + 1)
                heard_at = bench.board.now
            if what == "lights":
                host.say(LightFrame(VERDICT * 6))
                heard_at = bench.board.now
            elif what == "ping":
                host.say(Ping(1))
                heard_at = bench.board.now
            elif what == "garbage":
                bench.give(b"\x00\x05hello\x00\x02\x01\x00")
            else:
                bench.give(packet_frame(Packet(Kind.PING, 3, 0, 0, b"1234")))


def test_silence_ends_the_session_so_that_a_slow_host_sends_its_lights_again(host):
    host.shake_hands().say(LightFrame(VERDICT * 6))
    host.run(3000)
    assert host.bench.device.lights.is_waiting
    host.heard = []
    host.say(Ping(1))
    assert [packet["kind"] for packet in host.heard] == ["RESTARTED"]
    host.shake_hands(78).say(LightFrame(VERDICT * 6))
    assert bytes(host.bench.device.lights.wanted) == VERDICT * 6


def _bench(patch, pin_map):
    import importlib
    import json
    from pathlib import Path

    patch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "micropython" / "scripts"))
    return importlib.import_module("bench").Bench(json.dumps({"format": 1, "board": "pico", **pin_map}).encode())


def test_before_any_host_the_lights_wait(host):
    host.run(3000)
    assert host.bench.device.lights.is_waiting
    assert len(host.bench.board.shown) > 10
    assert all(not any(frame[3:]) for frame in host.bench.board.shown)


def test_only_the_newest_of_many_frames_is_shown(host):
    host.shake_hands()
    before = len(host.bench.board.shown)
    began = host.bench.board.now
    for number in range(100):
        host.say(LightFrame(bytes((255, 255, number + 1)) * 6))
        host.run(1)
    host.run(20)
    assert len(host.bench.board.shown) - before <= (host.bench.board.now - began) / 10 + 1
    assert bytes(host.bench.device.lights.wanted) == bytes((255, 255, 100)) * 6
    assert host.bench.board.shown[-1] == bytes(host.bench.device.lights.shown)


def test_a_frame_that_says_nothing_new_is_still_whole(host):
    host.shake_hands().say(LightFrame(VERDICT * 6))
    host.say(LightFrame(b"\0\0\0" + VERDICT))
    assert bytes(host.bench.device.lights.wanted) == b"\0\0\0" + VERDICT + bytes(12)


def test_a_light_beyond_the_strip_is_told_once_and_the_others_are_shown(host):
    host.shake_hands()
    for _ in range(3):
        host.say(LightFrame(VERDICT * 8))
        host.run(50)
    (fault,) = host.told("FAULT")
    assert (fault["code"], fault["number"]) == (2, 7)
    assert "6" in fault["text"]
    assert bytes(host.bench.device.lights.wanted) == VERDICT * 6
    host.shake_hands(78)
    host.say(LightFrame(VERDICT * 8))
    assert len(host.told("FAULT")) == 1


def test_too_much_current_is_limited_and_told_once(host):
    host.shake_hands().say(Configure(3000, 20, 1000, 255, 100, 0))
    for red in (250, 251, 252):
        host.say(LightFrame(bytes((red, 255, 255)) * 6))
        host.run(50)
    (fault,) = host.told("FAULT")
    assert fault["code"] == 3
    assert 340 < fault["number"] <= 366
    assert 6 + 20 * sum(host.bench.board.shown[-1]) / 255 <= 100
    host.say(Configure(3000, 20, 1000, 255, 60_000, 0))
    host.run(50)
    assert host.bench.board.shown[-1][1] == 255


def test_a_limit_that_leaves_all_lights_dark_is_told_as_such(host):
    host.shake_hands().say(LightFrame(b"\xff" * 18))
    host.say(Configure(3000, 20, 1000, 255, 6, 0))
    host.run(50)
    assert not any(host.bench.board.shown[-1])
    (fault,) = host.told("FAULT")
    assert fault["text"] == "the lights would draw 366 mA; they stay dark: the limit is too low"


def test_tones_sound_and_stop_when_the_host_is_gone(host):
    host.shake_hands().say(DEFAULTS)
    host.say(LightFrame(VERDICT))
    host.say(Sound((Tone(440, 100), Tone(0, 50), Tone(880, 60_000))))
    host.run(200)
    began = host.bench.board.tones[0][0]
    assert host.bench.board.tones == [(began, 440), (began + 100, 0), (began + 150, 880)]
    host.run(3200)
    assert host.bench.board.tones[-1][1] == 0


def test_leave_is_acknowledged_the_lights_go_out_and_the_board_restarts_into_the_interpreter(host):
    host.shake_hands().say(LightFrame(VERDICT * 6))
    host.run(20)
    host.say(Leave())
    assert host.heard[-1]["acknowledged"] == 2
    assert host.bench.board.restarts == []
    host.run(20)
    assert host.bench.board.restarts[0] is True
    assert not any(host.bench.board.shown[-1])
    host.say(LightFrame(VERDICT * 6))
    host.run(30)
    assert not any(host.bench.board.shown[-1])


def test_a_strip_that_is_still_being_sent_to_gets_the_newest_frame_as_soon_as_it_may(host):
    host.shake_hands().say(LightFrame(VERDICT * 6))
    host.run(20)
    shown = len(host.bench.board.shown)
    host.bench.board.takes_lights = lambda: False
    host.say(LightFrame(VERDICT * 5))
    host.say(LightFrame(VERDICT * 4))
    host.run(40)
    assert len(host.bench.board.shown) == shown
    host.bench.board.takes_lights = lambda: True
    host.run(5)
    (newest,) = host.bench.board.shown[shown:]
    assert [any(newest[at : at + 3]) for at in range(0, 18, 3)] == [True] * 4 + [False] * 2


def test_leave_waits_until_the_lights_are_out(host):
    host.shake_hands().say(LightFrame(VERDICT * 6))
    host.run(20)
    host.bench.board.takes_lights = lambda: False
    host.say(Leave())
    host.run(100)
    assert host.bench.board.restarts == []
    host.bench.board.takes_lights = lambda: True
    host.run(5)
    assert host.bench.board.restarts[0] is True
    assert not any(host.bench.board.shown[-1])


def test_leave_happens_though_the_port_takes_nothing(host):
    host.shake_hands()
    host.bench.board.room = 0
    host.say(Leave())
    host.run(150)
    assert host.bench.board.restarts == []
    host.run(100)
    assert host.bench.board.restarts[0] is True


def test_impossible_settings_become_the_nearest_possible(host):
    host.shake_hands().say(Configure(0, 60_000, 0, 255, 0, 0))
    host.say(LightFrame(VERDICT))
    host.run(2500)
    assert not host.bench.device.lights.is_waiting
    host.run(800)
    assert host.bench.device.lights.is_waiting
    host.shake_hands(78)
    host.bench.board.pressed = 1
    host.run(450, pings=True)
    assert host.told("BUTTON") == []
    host.run(800, pings=True)
    assert [one["what"] for one in host.told("BUTTON")] == [1, 2]


def test_lights_that_do_not_rise_are_no_frame(host):
    host.shake_hands().say(LightFrame(VERDICT * 6))
    for payload in (b"\2\0" + b"\3\0abc" + b"\2\0abc", b"\2\0" + b"\3\0abc" + b"\3\0abc"):
        host.bench.give(packet_frame(Packet(Kind.LIGHTS_LIT, host.session, host.sequence, 0, payload)))
        host.sequence += 1
    host.run(50)
    assert bytes(host.bench.device.lights.wanted) == VERDICT * 6
    assert [(fault["code"], fault["number"]) for fault in host.told("FAULT")] == [(1, Kind.LIGHTS_LIT)]
    host.say(LightFrame(bytes(15) + VERDICT))
    assert bytes(host.bench.device.lights.wanted) == bytes(15) + VERDICT


def test_messages_that_are_too_short_change_nothing_and_are_told(host):
    host.shake_hands().say(LightFrame(VERDICT * 6))
    for kind in (Kind.LIGHTS_ALL, Kind.LIGHTS_LIT, Kind.SOUND, Kind.CONFIGURE):
        for payload in (b"", b"\x09", b"\x09\x00\x01"):
            host.bench.give(packet_frame(Packet(kind, host.session, host.sequence, 0, payload)))
            host.sequence += 1
    host.run(50)
    assert bytes(host.bench.device.lights.wanted) == VERDICT * 6
    assert [(fault["code"], fault["number"]) for fault in host.told("FAULT")] == [(1, Kind.LIGHTS_ALL)]
    assert host.bench.device.link.reader.accepted > 12


def test_the_watchdog_is_fed_in_every_pass(host):
    fed = host.bench.board.fed
    host.run(100)
    assert host.bench.board.fed - fed >= 100


@pytest.mark.long
def test_sequence_numbers_wrap(host):
    host.shake_hands()
    for number in range(65_600):
        host.sequence &= 0xFFFF
        host.bench.give(
            packet_frame(Packet(Kind.LIGHTS_ALL, host.session, host.sequence, 1, b"\1\0" + bytes((number % 251, 1, 1))))
        )
        host.sequence += 1
        host.bench.board.sent = bytearray()
        assert host.bench.device.lights.wanted[0] == number % 251


# What a whole device on a board without pins tells its host: presses, switches, faults, log lines.


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
