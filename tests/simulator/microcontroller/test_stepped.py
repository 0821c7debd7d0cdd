import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware_bridge.protocol.link import HostLink, SerialLine
from firmware_bridge.protocol.messages import BoardSettings, ResetCause, Tone
from simulator.microcontroller.stepped import IDLE_LOOP_S, SteppedMicrocontroller
from simulator.microcontroller.wire import FRAME_FAULTS, WireFaults
from tests.effort import cases
from tests.simulator.microcontroller.virtual_host import VirtualHost
from tests.simulator.microcontroller.wires import faulty

# 2 ms there, 2 ms back: nothing happens at once, as on a real wire.
LATENCY_S = 0.002
SOME_OF_ALL = replace(WireFaults.every_kind(0.08), latency_s=LATENCY_S, garbage_bytes=300)
WIRES = {
    **{fault: faulty(**{fault: 0.3, "latency_s": LATENCY_S}) for fault in FRAME_FAULTS},
    "garbage": WireFaults(garbage_bytes=3000, latency_s=LATENCY_S),
    "slow": WireFaults(bytes_per_s=1500.0, latency_s=LATENCY_S),
    "silence": WireFaults(silences_at_s=(1.0, 2.5), silence_s=0.7),
    "all": replace(SOME_OF_ALL, bytes_per_s=11520.0, silences_at_s=(1.5,), silence_s=0.5),
}


def linked(pin_map: bytes, faults: WireFaults | None = None, seed: int = 1, **knobs: float) -> VirtualHost:
    host = VirtualHost(SteppedMicrocontroller(pin_map, faults, seed, **knobs))
    host.run(0.1)
    return host


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("seed", range(1, 1 + cases(2)))
def test_lights_and_presses_arrive_over_a_bad_wire(pin_map: bytes, wire: str, seed: int) -> None:
    host = linked(pin_map, WIRES[wire], seed)
    newest = b""
    for number in range(60):
        newest = host.show(1 + number, 255 - number, 7)
        if number % 10 == 0:
            host.board.press(number // 10 % 3, host.now_s, held_s=0.08)
        host.run(0.05)
    host.run(4.0)
    assert host.shown == newest
    assert host.presses == [number // 10 % 3 for number in range(0, 60, 10)]
    assert host.board.boots == 1


def test_the_same_seed_gives_the_same_bytes_at_the_same_times(pin_map: bytes) -> None:
    def transcript(seed: int) -> list[tuple[float, str, bytes]]:
        host = linked(pin_map, replace(SOME_OF_ALL, reset_every_s=2.0, unplug_every_s=3.0), seed)
        for number in range(20):
            host.show(number + 1, 2, 3)
            host.board.press(1, host.now_s, 0.05)
            host.board.set_switch(number % 14, number % 3 > 0, host.now_s)
            host.run(0.25)
        return host.transcript

    assert transcript(5) == transcript(5)
    assert transcript(5) != transcript(6)


def test_a_new_host_gets_each_press_that_the_one_before_had_not_taken(pin_map: bytes) -> None:
    before = linked(pin_map)
    before.board.press(0, before.now_s, 0.08)
    before.run(0.5)
    assert before.presses == [0]
    # no host is there to receive these
    before.board.press(1, before.now_s, 0.08)
    before.board.press(0, before.now_s + 0.5, 0.08)
    before.board.set_switch(3, True, before.now_s)
    before.board.advance(before.now_s + 2.0)
    after = VirtualHost(before.board, before.now_s + 2.0)
    newest = after.show(4, 5, 6)
    after.run(0.5)
    assert after.presses == [1, 0]
    assert after.shown == newest
    assert after.states[-1].closed[3]
    third = VirtualHost(before.board, after.now_s)
    third.run(0.5)
    assert (third.is_linked, third.presses) == (True, [])


def test_a_press_before_a_reset_that_no_host_heard_is_the_only_one_lost(pin_map: bytes) -> None:
    host = linked(pin_map)
    for wire in (host.board.to_device, host.board.to_host):
        wire.be_silent(host.now_s + 1.0)
    host.board.press(0, host.now_s, 0.08)
    host.run(0.5)
    host.board.reset(host.now_s)
    host.board.press(1, host.now_s + 0.2, 0.08)
    host.run(2.0)
    assert host.presses == [1]


def test_when_the_host_falls_silent_the_lights_wait(pin_map: bytes) -> None:
    host = linked(pin_map)
    host.link.configure(BoardSettings(silence_ms=1000))
    verdict = host.show(1, 255, 1)
    host.run(1.0)
    assert host.shown == verdict
    quiet_from_s = host.now_s
    host.board.advance(quiet_from_s + 5.0)
    waiting = [frame for frame in host.board.board.shown if frame.is_waiting and frame.time_s > quiet_from_s]
    assert waiting[0].time_s <= quiet_from_s + 1.0 + 2 * IDLE_LOOP_S
    assert all(frame.is_waiting for frame in host.board.board.shown if frame.time_s > waiting[0].time_s)
    host.now_s = quiet_from_s + 5.0
    again = host.show(1, 1, 255)
    host.run(3.0)
    assert host.shown == again


@pytest.mark.parametrize("pressed_after_s", [0.5, 3.5])
def test_a_host_that_pauses_longer_than_the_silence_gets_its_lights_back_and_each_press_once(
    pin_map: bytes, pressed_after_s: float
) -> None:
    host = linked(pin_map)
    host.link.configure(BoardSettings(silence_ms=3000))
    verdict = host.show(1, 255, 1)
    host.run(1.0)
    paused_s = host.now_s
    host.board.press(0, paused_s + pressed_after_s, 0.06)
    host.board.advance(paused_s + 4.0)
    assert host.board.board.shown[-1].is_waiting
    host.now_s = paused_s + 4.0
    host.run(3.0)
    assert host.shown == verdict
    assert host.presses == [0]


@pytest.mark.parametrize("faults", [WireFaults(), SOME_OF_ALL], ids=["good wire", "bad wire"])
@pytest.mark.parametrize("what", ["reset", "unplug"])
def test_lights_come_back_after_the_board_was_away(pin_map: bytes, faults: WireFaults, what: str) -> None:
    host = linked(pin_map, faults)
    shown = host.show(9, 8, 7, 6, 5, 4)
    host.run(1.0)
    assert host.shown == shown
    if what == "reset":
        host.board.reset(host.now_s)
    else:
        host.board.unplug(host.now_s)
        assert not host.board.is_plugged
        host.run(1.0)
        assert host.shown == b""
        host.board.replug(host.now_s)
    host.run(0.5 if faults == WireFaults() else 6.0)
    assert host.is_linked
    assert host.shown == shown
    assert host.board.boots == 2
    assert len(host.welcomes) == 2


def test_outages_happen_on_schedule(pin_map: bytes) -> None:
    host = linked(pin_map, WireFaults(resets_at_s=(2.0,), unplugs_at_s=(4.0,), unplugged_s=0.5))
    shown = host.show(1, 2, 3)
    host.run(1.8)
    assert host.board.boots == 1
    host.run(0.5)
    assert host.board.boots == 2
    host.run(1.8)
    assert not host.board.is_plugged
    host.run(5.0)
    assert host.board.boots == 3
    assert host.shown == shown


def test_a_held_button_is_reported_once_despite_bounce(pin_map: bytes) -> None:
    host = linked(pin_map, bounce_s=0.006)
    for _ in range(10):
        host.board.press(2, host.now_s, held_s=1.5)
        host.run(2.0)
    assert host.presses == [2] * 10


def test_switches_are_reported(pin_map: bytes) -> None:
    host = linked(pin_map)
    host.board.set_switch(5, True, host.now_s)
    host.board.set_switch(13, True, host.now_s)
    host.run(0.5)
    assert [number for number, closed in enumerate(host.states[-1].closed) if closed] == [5, 13]
    host.board.set_switch(5, False, host.now_s)
    host.run(0.5)
    assert [number for number, closed in enumerate(host.states[-1].closed) if closed] == [13]


def test_without_diodes_a_possible_ghost_is_doubtful(pin_map: bytes) -> None:
    host = linked(pin_map)
    for switch in (0, 1, 4):
        host.board.set_switch(switch, True, host.now_s)
    host.run(0.5)
    assert {0, 1, 4, 5} == {number for number, doubtful in enumerate(host.states[-1].doubtful) if doubtful}
    with_diodes = linked(pin_map.replace(b'"diodes": false', b'"diodes": true'))
    for switch in (0, 1, 4):
        with_diodes.board.set_switch(switch, True, with_diodes.now_s)
    with_diodes.run(0.5)
    assert not any(with_diodes.states[-1].doubtful)
    assert [number for number, closed in enumerate(with_diodes.states[-1].closed) if closed] == [0, 1, 4]


def test_a_firmware_that_hangs_is_reset_by_the_watchdog_and_says_so(pin_map: bytes) -> None:
    host = linked(pin_map, watchdog_s=1.0)
    shown = host.show(3, 2, 1)
    host.run(0.5)
    host.board.hang(host.now_s)
    host.run(0.9)
    assert host.board.boots == 1
    host.run(5.0)
    assert host.board.boots == 2
    assert host.shown == shown
    assert host.welcomes[-1].reset_cause == ResetCause.WATCHDOG


def test_the_host_can_send_it_into_the_bare_interpreter(pin_map: bytes) -> None:
    host = linked(pin_map)
    host.show(5, 5, 5)
    host.run(0.5)
    host.link.leave()
    host.run(1.0)
    host.link = HostLink()
    host.link.open(SerialLine())
    assert (host.board.is_in_interpreter, host.shown) == (True, b"")
    assert any(b">>> " in data for _, way, data in host.transcript if way == "came")
    host.board.reset(host.now_s)
    host.run(4.0)
    assert not host.board.is_in_interpreter
    assert host.is_linked


def test_tones_sound_for_their_time(pin_map: bytes) -> None:
    host = linked(pin_map)
    host.link.play((Tone(880, 100), Tone(0, 50), Tone(440, 200)))
    host.run(1.0)
    sounded = [tone for tone in host.board.board.tones if tone.time_s > 0.05]
    assert [tone.frequency_hz for tone in sounded] == [880, 0, 440, 0]
    lasted_s = [after.time_s - before.time_s for before, after in pairwise(sounded)]
    assert lasted_s == pytest.approx([0.1, 0.05, 0.2], abs=2 * IDLE_LOOP_S)


def test_an_idle_board_loops_rarely(pin_map: bytes) -> None:
    board = SteppedMicrocontroller(pin_map)
    wakes, now_s = 0, 0.0
    while now_s < 10.0:
        now_s = board.next_due_s
        board.advance(now_s)
        board.take_to_host(now_s)
        assert board.next_due_s > now_s
        # In the first second it may still have something to do.
        wakes += now_s > 1.0
    assert wakes <= math.ceil(9.0 / IDLE_LOOP_S) + 1


def test_unknown_switches_and_buttons_are_refused(pin_map: bytes) -> None:
    board = SteppedMicrocontroller(pin_map)
    with pytest.raises(IndexError, match="there is no button 3; the board has 3, counted from 0"):
        board.press(3, 0.0)
    with pytest.raises(IndexError, match="there is no switch 14; the board has 14, counted from 0"):
        board.set_switch(14, True, 0.0)


ACTIONS = st.sampled_from(["show", "show", "press", "reset", "unplug", "silence", "switch"])


@settings(max_examples=cases(10, 2))
@given(st.lists(st.tuples(ACTIONS, st.floats(0.0, 1.5)), min_size=1, max_size=12), st.integers(0, 1000))
def test_after_any_faults_the_newest_lights_are_shown(actions: list[tuple[str, float]], seed: int) -> None:
    form = b'{"format": 1, "board": "pico", "name": "v", "link": "usb", "lights": {"pin": 28, "count": 12, '
    form += b'"order": "GRB", "limit_ma": 2000, "brightness": 255}, "buttons": [18, 19, 20], "switches": [26, 27]}'
    host = linked(form, SOME_OF_ALL, seed)
    newest = host.show(200, 1, 1)
    pressed = 0
    for number, (action, wait_s) in enumerate(actions):
        if action == "show":
            newest = host.show(1 + number, 100, 100)
        elif action == "press":
            host.board.press(0, host.now_s, 0.06)
            pressed += 1
        elif action == "switch":
            host.board.set_switch(0, number % 2 == 0, host.now_s)
        elif action == "reset":
            host.board.reset(host.now_s)
        elif action == "unplug":
            host.board.unplug(host.now_s)
            host.run(wait_s)
            host.board.replug(host.now_s)
        else:
            for wire in (host.board.to_device, host.board.to_host):
                wire.be_silent(host.now_s + wait_s)
        host.run(wait_s)
    # On so bad a wire a state may be lost at any time, so not at a certain moment, but soon.
    for _ in range(60):
        host.run(1.0)
        if host.is_linked and host.link.is_settled and host.shown == newest:
            break
    else:
        raise AssertionError(f"the lights show {host.shown!r}, not {newest!r}; the link has {host.link.statistics}")
    assert host.presses.count(0) <= pressed
