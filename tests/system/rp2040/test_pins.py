"""What hangs on the pins of an emulated Pico: the strip's pulses, switches and buttons, and how long all that takes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.firmware.core import lights
from firmware_bridge.pin_maps.pin_map import PinMap
from firmware_bridge.protocol.link import Pressed
from firmware_bridge.protocol.messages import BoardSettings, BoardState
from tests.system.rp2040.edges import MS
from tests.system.rp2040.strip import frames
from tests.system.rp2040.talk import PageDialogue

if TYPE_CHECKING:
    from pathlib import Path

    from tests.system.rp2040.emulated_pico import EmulatedPico

COUNT = 300
STRIP, FIRST_ROW, END_TURN = 28, 2, 18
SETTINGS = BoardSettings(silence_ms=3000, debounce_ms=20)


@pytest.fixture(scope="module")
def running(uf2: Path, installed_flash: bytes) -> EmulatedPico:
    """A Pico whose firmware has started."""
    from tests.system.rp2040.emulated_pico import EmulatedPico

    pico = EmulatedPico(uf2, installed_flash)
    PageDialogue(pico)
    print(f"\nfrom power to its first word: {pico.now_ns / MS:.0f} ms")
    return pico


@pytest.fixture
def talk(running: EmulatedPico) -> PageDialogue:
    """A new host with the usual settings; earlier light effects have ended."""
    talk = PageDialogue(running)
    talk.link.configure(SETTINGS)
    talk.link.show(bytes(3 * COUNT))
    talk.settle()
    talk.run_for(30)
    return talk


def on_the_wire(colours: bytes, limit_ma: int = 18300) -> bytes:
    """The bytes that the core alone sends the strip for these colours, green first."""
    frame = lights.LightFrame(COUNT, limit_ma, 255)
    frame.take_all(memoryview(colours), COUNT)
    frame.refresh(0)
    shown = frame.shown
    return bytes(shown[at + place] for at in range(0, 3 * COUNT, 3) for place in (1, 0, 2))


def colours(seed: int) -> bytes:
    return Random(seed).randbytes(3 * COUNT)


def test_the_pico_reports_its_attached_parts(talk: PageDialogue, pins: PinMap) -> None:
    welcome = talk.link.welcome
    assert welcome is not None
    assert (welcome.lights, welcome.switches, welcome.buttons) == (COUNT, 64, 2)
    assert welcome.pin_map_checksum == pins.crc32
    assert "RP2040" in welcome.board or "Pico" in welcome.board


def test_strip_pulses_follow_the_data_sheet_and_the_loop_continues(talk: PageDialogue) -> None:
    edges = talk.pico.watch(STRIP)
    rows = talk.pico.watch(FIRST_ROW)
    few = bytes((0, 99, 0)) * 2 + bytes(3 * (COUNT - 2))
    talk.link.show(colours(3))
    assert talk.run_until(lambda: bool(edges), 200)
    # This one is there while the first is on its way: it waits for it, and for the pause that ends it.
    talk.link.show(few)
    assert talk.run_until(lambda: len(edges) >= 2 * 2 * 24 * COUNT, 500)
    talk.run_for(1)
    assert frames(edges) == [on_the_wire(colours(3)), on_the_wire(few)]
    sending = (edges[0].at_ns, edges[2 * 24 * COUNT - 1].at_ns)
    # 300 lights of 30 us each, and meanwhile the switches are read.
    assert sending[1] - sending[0] == pytest.approx(9.0 * MS, rel=0.01)
    assert len([edge for edge in rows if not edge.is_high and sending[0] < edge.at_ns < sending[1]]) >= 2


def test_a_frame_that_would_draw_too_much_current_is_dimmed(talk: PageDialogue) -> None:
    talk.link.configure(replace(SETTINGS, current_limit_ma=2000))
    talk.settle()
    talk.run_for(30)
    edges = talk.pico.watch(STRIP)
    talk.link.show(colours(6))
    assert talk.run_until(lambda: len(edges) >= 2 * 24 * COUNT, 500)
    assert frames(edges) == [on_the_wire(colours(6), 2000)]
    assert talk.next(BoardState, lambda state: state.limited_ma > 0).limited_ma > 2000


def test_presses_and_switches_are_reported_soon_with_their_start_times(talk: PageDialogue) -> None:
    pico = talk.pico
    pico.press(END_TURN)
    pressed_ns = pico.now_ns
    pressed = talk.next(Pressed)
    took_ms = (pico.now_ns - pressed_ns) / MS
    assert pressed.button == 0
    # Debouncing takes 20 ms of it.
    assert 20 <= took_ms <= 40
    print(f"\na press is told after {took_ms:.1f} ms, 20 of which are for bouncing")
    pico.release(END_TURN)
    pico.join(3, 12)
    joined_ns = pico.now_ns
    talk.next(BoardState, lambda state: state.closed[8 + 2])
    took_ms = (pico.now_ns - joined_ns) / MS
    assert 20 <= took_ms <= 40
    print(f"a switch is told after {took_ms:.1f} ms, 20 of which are for bouncing")
    pico.part(3, 12)
    talk.next(BoardState, lambda state: not state.closed[8 + 2])


def test_a_verdict_is_cleared_if_the_host_falls_silent(talk: PageDialogue) -> None:
    talk.link.configure(replace(SETTINGS, silence_ms=700))
    talk.link.show(colours(5))
    talk.settle()
    talk.run_for(30)
    edges = talk.pico.watch(STRIP)
    talk.pico.run_for(1000)
    talk.pico.run_until(lambda: talk.pico.now_ns - edges[-1].at_ns > MS, 20)
    shown = frames(edges)
    assert len(shown) >= 3
    for frame in shown:
        for light in range(COUNT):
            red, green, blue = frame[3 * light : 3 * light + 3]
            assert red == green == blue <= 60
            assert light % lights.PULSE_EVERY == 0 or red == 0


def test_many_frames_do_not_keep_the_pico_from_reading_its_switches(talk: PageDialogue) -> None:
    rows = talk.pico.watch(FIRST_ROW)
    talk.run_for(100)
    idle_ms = gaps_ms([edge.at_ns for edge in rows if not edge.is_high])
    rows.clear()
    began_ns = talk.pico.now_ns
    for seed in range(4):
        talk.link.show(colours(seed))
        talk.settle()
    frame_ms = (talk.pico.now_ns - began_ns) / MS / 4
    busy_ms = gaps_ms([edge.at_ns for edge in rows if not edge.is_high])
    print(
        f"\nidle: a pass in {sum(idle_ms) / len(idle_ms):.1f} ms, {max(idle_ms):.1f} at most; while frames of {COUNT} "
        f"lights come one after the other: {max(busy_ms):.1f} ms at most, {frame_ms:.1f} ms a frame"
    )
    assert max(idle_ms) < 6
    # Three scans must agree within the 20 ms of debouncing.
    assert max(busy_ms) < 15
    assert frame_ms < 60


def gaps_ms(moments_ns: list[float]) -> list[float]:
    return [(later - earlier) / MS for earlier, later in pairwise(moments_ns)]
