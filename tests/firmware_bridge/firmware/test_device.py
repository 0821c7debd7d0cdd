"""The whole device on a board without pins: what it does when a host speaks, falls silent, comes again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.firmware.core.version import FIRMWARE_VERSION
from firmware_bridge.protocol.messages import BoardSettings, HostState, Tone, Wanted, encode_packet
from firmware_bridge.protocol.packets import encode_frame
from tests.effort import cases
from tests.firmware_bridge.firmware.device_host import LIGHTS, VERDICT, Host, press


def test_welcome_says_what_the_board_has(host):
    (welcome,) = host.greet().told("WELCOME")
    assert welcome["version"] == 2
    assert welcome["firmware"] == list(FIRMWARE_VERSION)
    assert welcome["boot_id"] == 0xABCDEF01
    assert (welcome["lights"], welcome["switches"], welcome["buttons"], welcome["buzzer"]) == (6, 3, 2, 2)
    assert welcome["pin_map_checksum"] == host.bench.pins.checksum
    assert (welcome["board"], welcome["trouble"]) == ("pico", "")


def test_a_frame_is_shown_and_stays_while_the_host_speaks(host):
    host.greet().show(VERDICT * 6)
    host.run(20_000, speaks=True)
    assert not host.bench.device.lights.is_waiting
    assert bytes(host.bench.device.lights.wanted) == VERDICT * 6


def test_without_lights_in_what_is_wanted_they_stay_as_they_are(host):
    host.greet().want(settings=BoardSettings(debounce_ms=5))
    host.run(100)
    assert host.bench.device.lights.is_waiting


gaps = st.lists(st.tuples(st.integers(1, 900), st.sampled_from(["lights", "state", "garbage", "another board's"])))


@given(st.sampled_from([300, 450]), gaps)
@settings(max_examples=cases(50, 10))
def test_no_verdict_outlives_its_host(silence_ms, acts):
    # hypothesis keeps a function's fixtures for all examples, so the device is made by hand.
    with pytest.MonkeyPatch.context() as patch:
        bench = _bench(patch, LIGHTS)
        host = Host(bench).greet()
        host.want(settings=BoardSettings(silence_ms), colours=VERDICT * 6)
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
            if what == "lights":
                host.show(VERDICT * 6)
                heard_at = bench.board.now
            elif what == "state":
                host.state()
                heard_at = bench.board.now
            elif what == "garbage":
                bench.give(b"\x00\x05hello\x00\x02\x01\x00")
            else:
                bench.give(encode_frame(b"\x48\x01" + encode_packet(HostState(bench.board.boot_id, 1))[2:]))


def test_after_silence_a_slow_host_sees_that_its_lights_are_not_shown(host):
    host.greet().show(VERDICT * 6)
    assert host.now()["shown"] == host.wanted.number
    host.run(3000)
    assert host.bench.device.lights.is_waiting
    host.heard = []
    host.run(2000)
    assert host.told() == []
    host.state()
    assert host.told()[-1]["shown"] == 0
    host.show(VERDICT * 6)
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
    host.greet()
    before = len(host.bench.board.shown)
    began = host.bench.board.now
    for number in range(100):
        host.show(bytes((255, 255, number + 1)) * 6)
        host.run(1)
    host.run(20)
    assert len(host.bench.board.shown) - before <= (host.bench.board.now - began) / 10 + 1
    assert bytes(host.bench.device.lights.wanted) == bytes((255, 255, 100)) * 6
    assert host.bench.board.shown[-1] == bytes(host.bench.device.lights.shown)


def test_a_frame_that_says_nothing_new_is_still_whole(host):
    host.greet().show(VERDICT * 6)
    host.show(b"\0\0\0" + VERDICT)
    assert bytes(host.bench.device.lights.wanted) == b"\0\0\0" + VERDICT + bytes(12)


def test_lights_beyond_the_strip_are_left_out(host):
    host.greet().show(VERDICT * 8)
    assert bytes(host.bench.device.lights.wanted) == VERDICT * 6
    host.show(bytes(21) + VERDICT)
    assert not any(host.bench.device.lights.wanted)


def test_too_much_current_is_limited_and_told(host):
    host.greet().want(settings=BoardSettings(current_limit_ma=100))
    for red in (250, 251, 252):
        host.show(bytes((red, 255, 255)) * 6)
        host.run(50)
    told = host.told()[-1]
    assert 340 < told["limited_ma"] <= 366
    assert told["flags"] == 0
    assert 6 + 20 * sum(host.bench.board.shown[-1]) / 255 <= 100
    host.want(settings=BoardSettings(current_limit_ma=60_000))
    host.run(50)
    assert host.bench.board.shown[-1][1] == 255
    assert host.told()[-1]["limited_ma"] == 0


def test_a_limit_that_leaves_all_lights_dark_is_told_as_such(host):
    host.greet().want(colours=b"\xff" * 18, settings=BoardSettings(current_limit_ma=6))
    host.run(50)
    assert not any(host.bench.board.shown[-1])
    told = host.told()[-1]
    assert (told["limited_ma"], told["flags"]) == (366, 2)


def test_tones_sound_once_and_stop_when_the_host_is_gone(host):
    host.greet().show(VERDICT)
    host.want(sound=9, tones=(Tone(440, 100), Tone(0, 50), Tone(880, 60_000)))
    host.run(100)
    # The same again, as after a lost answer.
    host.state(wanted=host.wanted)
    host.run(100)
    began = host.bench.board.tones[0][0]
    assert host.bench.board.tones == [(began, 440), (began + 100, 0), (began + 150, 880)]
    host.run(3200)
    assert host.bench.board.tones[-1][1] == 0


def test_leaving_is_told_the_lights_go_out_and_the_board_restarts_into_the_interpreter(host):
    host.greet().show(VERDICT * 6)
    host.run(20)
    host.state(leaves=True)
    assert host.told()[-1]["flags"] == 1
    assert host.bench.board.restarts == []
    host.run(20)
    assert host.bench.board.restarts[0] is True
    assert not any(host.bench.board.shown[-1])
    host.show(VERDICT * 6)
    host.run(30)
    assert not any(host.bench.board.shown[-1])


def test_a_strip_that_is_still_being_sent_to_gets_the_newest_frame_as_soon_as_it_may(host):
    host.greet().show(VERDICT * 6)
    host.run(20)
    shown = len(host.bench.board.shown)
    host.bench.board.takes_lights = lambda: False
    host.show(VERDICT * 5)
    host.show(VERDICT * 4)
    host.run(40)
    assert len(host.bench.board.shown) == shown
    host.bench.board.takes_lights = lambda: True
    host.run(5)
    (newest,) = host.bench.board.shown[shown:]
    assert [any(newest[at : at + 3]) for at in range(0, 18, 3)] == [True] * 4 + [False] * 2


def test_leave_waits_until_the_lights_are_out(host):
    host.greet().show(VERDICT * 6)
    host.run(20)
    host.bench.board.takes_lights = lambda: False
    host.state(leaves=True)
    host.run(100)
    assert host.bench.board.restarts == []
    host.bench.board.takes_lights = lambda: True
    host.run(5)
    assert host.bench.board.restarts[0] is True
    assert not any(host.bench.board.shown[-1])


def test_leave_happens_though_the_port_takes_nothing(host):
    host.greet()
    host.bench.board.room = 0
    host.state(leaves=True)
    host.run(150)
    assert host.bench.board.restarts == []
    host.run(100)
    assert host.bench.board.restarts[0] is True


def test_impossible_settings_become_the_nearest_possible(host):
    host.greet().want(settings=BoardSettings(0, 60_000), colours=VERDICT)
    host.run(2500)
    assert not host.bench.device.lights.is_waiting
    host.run(800)
    assert host.bench.device.lights.is_waiting
    host.greet()
    host.bench.board.pressed = 1
    host.run(450, speaks=True)
    assert host.now()["presses"] == [0, 0]
    host.run(100, speaks=True)
    assert host.now()["presses"] == [1, 0]


def test_what_is_not_whole_changes_nothing(host):
    host.greet().show(VERDICT * 6)
    host.wanted = Wanted(host.wanted.number + 1, BoardSettings(brightness=1), b"\1\2\3", 5, (Tone(440, 100),))
    whole = encode_packet(HostState(host.boot_id, 9, (), wanted=host.wanted))
    lights = b"\2\0" + b"\3\0abc"
    wrong = [whole[:length] for length in range(2, len(whole))]
    wrong += [
        whole[:-6] + b"\2" + lights + b"\2\0abc",
        whole[:-6] + b"\2" + lights + b"\3\0abc",
        whole[:-6] + b"\3\0\0",
    ]
    for packet in wrong:
        host.give(packet)
    host.run(50)
    assert bytes(host.bench.device.lights.wanted) == VERDICT * 6
    assert host.bench.board.tones == []
    assert host.told()[-1]["shown"] == host.wanted.number - 1
    host.give(whole)
    assert bytes(host.bench.device.lights.wanted[:3]) == b"\1\2\3"


def test_the_watchdog_is_fed_in_every_pass(host):
    fed = host.bench.board.fed
    host.run(100)
    assert host.bench.board.fed - fed >= 100


# What a whole device on a board without pins tells its host: presses, switches, troubles.


def test_presses_are_counted_and_timed(host):
    host.greet()
    began = host.bench.board.now
    press(host, 0, 1500)
    press(host, 1)
    told = host.told()
    first = next(one for one in told if one["presses"] == [1, 0])
    assert first["time_ms"] - first["before_ms"][0] == began + 1
    assert first["time_ms"] - began <= 25
    assert told[-1]["presses"] == [1, 1]


def test_a_press_is_told_often_until_a_host_has_taken_it(host):
    host.greet().run(20)
    host.told()
    press(host, ms=500)
    assert len(host.told()) >= 5
    host.state((1, 0))
    host.told()
    host.run(1000)
    assert len(host.told()) == 2
    assert host.greet().now()["taken"] == [1, 0]


def test_a_press_stays_old_where_the_ticks_wrap(host):
    press(host)
    for half in range(1, 12):
        host.bench.board.now = (half << 29) + 1000
        host.bench.device.step()
        assert host.greet().told()[-1]["before_ms"][0] == 65535
    press(host)
    assert host.told()[-1]["before_ms"][0] < 200


def test_presses_that_nobody_heard_are_told_to_the_next_host(host):
    for _ in range(40):
        press(host, ms=30)
    host.run(2200)
    press(host, 1)
    state = host.greet().told()[-1]
    assert (state["presses"], state["taken"]) == ([40, 1], [0, 0])
    assert state["before_ms"][0] > 2000 > state["before_ms"][1]


def test_switches_are_told_when_something_changes(host):
    first = host.greet().told()[-1]
    assert first["closed"] == first["doubtful"] == [False] * 3
    host.bench.board.masks = [0b101]
    host.run(100)
    (changed,) = host.told()
    assert changed["closed"] == [True, False, True]
    host.run(300)
    assert host.told() == []
    host.run(1000)
    assert [one["closed"] for one in host.told()] == [[True, False, True]] * 2


def test_switches_that_are_not_read_yet_are_doubtful(make_bench):
    bench = make_bench({"switches": [8, 9, 10]})
    bench.run_until(1)
    (state,) = [packet["fields"] for packet in bench.sent()]
    assert state["doubtful"] == [True] * 3


def test_a_port_that_takes_nothing_loses_nothing(host):
    host.greet().run(20)
    host.bench.board.room = 0
    press(host)
    host.bench.board.masks = [0b010]
    host.run(500)
    host.told()
    host.bench.board.room = 3
    host.run(500)
    told = host.told()[-1]
    assert told["presses"] == [1, 0]
    assert told["closed"] == [False, True, False]


def test_nothing_is_said_before_a_host_speaks_but_that_the_board_started(make_bench):
    bench = make_bench(LIGHTS)
    bench.run_until(10_000)
    assert [packet["kind"] for packet in bench.sent()] == ["BOARD_STATE"]


def test_trouble_is_told_at_once_and_to_every_host(make_bench):
    bench = make_bench({"buttons": [3, 3], **LIGHTS}, reset_cause=1)
    host = Host(bench).greet()
    (welcome,) = host.told("WELCOME")
    assert "pin 3 is used twice" in welcome["trouble"]
    assert welcome["reset_cause"] == 1
    assert bench.device.lights.count == 0
    bench.device.tell_trouble("OSError" + "ä" * 200)
    host.run(5)
    (welcome,) = host.told("WELCOME")
    assert welcome["trouble"].startswith("OSErrorää")
    assert len(welcome["trouble"].encode()) <= 200
    assert host.greet().told("WELCOME") == [welcome]
