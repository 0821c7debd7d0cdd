"""The firmware's edges in CPython, with stand-ins for the modules of a microcontroller."""

from __future__ import annotations

import importlib
import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware_bridge.firmware.core.pin_map import read_pin_map
from tests.firmware_bridge.firmware.board_stand_ins import (
    BOARD,
    PARTS,
    UART,
)


def make(form, root=""):
    """A microcontroller with this pin map."""
    pin_map = read_pin_map(json.dumps({"format": 1, "board": "pico", **form}).encode())
    assert pin_map.faults == []
    return importlib.import_module(f"{BOARD}.microcontroller").Microcontroller(pin_map, root)


def test_lights_are_sent_in_the_order_that_the_strip_takes(pins):
    board = make(PARTS)
    board.show_lights(bytearray([1, 2, 3, 4, 5, 6]))
    assert pins.table.strips[28] == [bytes([3, 2, 1, 6, 5, 4])]


def test_a_frame_waits_until_the_lights_have_taken_the_one_before(pins):
    board = make(PARTS)
    assert board.takes_lights()
    board.show_lights(bytearray(6))
    assert not board.takes_lights()
    pins.table.now_us = 299
    assert not board.takes_lights()
    pins.table.now_us = 300
    assert board.takes_lights()
    # The clock comes round every 18 minutes; what is over stays over.
    pins.table.now_us += 15 * 60 * 1_000_000
    assert board.takes_lights()


@pytest.fixture
def rp2(monkeypatch: pytest.MonkeyPatch, pins: Any) -> Any:
    """The firmware takes the chip for an RP2040."""
    monkeypatch.setattr(importlib.import_module(f"{BOARD}.parts"), "sys", SimpleNamespace(platform="rp2"))
    return pins


@pytest.mark.parametrize(
    ("order", "sent"), [("GRB", "02010300 05040600"), ("RGB", "01020300 04050600"), ("BGR", "03020100 06050400")]
)
def test_a_pico_sends_its_lights_in_words_whose_highest_byte_goes_first(rp2, order, sent):
    board = make({**PARTS, "lights": {"pin": 28, "count": 2, "order": order}})
    assert rp2.table.programs == [
        [0, {"sideset_init": 2, "out_shiftdir": 0, "autopull": True, "pull_thresh": 24}, 8_000_000, 28, 1]
    ]
    board.show_lights(bytearray([1, 2, 3, 4, 5, 6]))
    words = b"".join(bytes.fromhex(word)[::-1] for word in sent.split())
    assert rp2.table.dma_sent == [[0x50200010, words]]


def test_a_pico_changes_no_frame_that_is_still_being_sent(rp2):
    board = make({**PARTS, "lights": {"pin": 28, "count": 100}})
    board.show_lights(bytearray(300))
    rp2.table.dma_active = True
    rp2.table.now_us = 1_000_000
    assert not board.takes_lights()
    # The last words are on their way for a while when DMA has handed them over; 100 lights take 3 ms, and a pause.
    rp2.table.dma_active = False
    rp2.table.now_us = 3299
    assert not board.takes_lights()
    rp2.table.now_us = 3300
    assert board.takes_lights()


def test_a_pico_reads_all_columns_at_once_and_finds_the_same(rp2):
    board = make(PARTS)
    for contact in ((2, 5), (2, 6), (4, 5), (8, "GND"), (9, "GND")):
        rp2.table.join(*contact)
    masks = [0, 0, 0, 0]
    board.scan(masks)
    assert masks == [0b11, 0, 0b11, 0b10]
    assert board.buttons() == 1


@given(st.binary(max_size=60), st.binary(min_size=256, max_size=256), st.integers(0, 1), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_loops_in_machine_code_do_what_the_others_do(pins, wanted, table, faintest, data):
    swift, plain = (importlib.import_module(f"{BOARD}.{name}") for name in ("native_loops", "loops"))
    wanted = bytearray(wanted[: len(wanted) // 3 * 3])
    places = data.draw(st.permutations([1, 2, 3]))
    results: list[tuple[bytes, ...]] = []
    for loops in (swift, plain):
        shown, words = bytearray(len(wanted)), bytearray(len(wanted) // 3 * 4)
        total = loops.make_levels().write(wanted, shown, bytearray(table), faintest)
        assert total == sum(shown)
        loops.pack_words(shown, words, *places)
        results.append((bytes(shown), bytes(words)))
        if total:
            loops.make_levels().dim(shown, total // 3, total)
            results[-1] += (bytes(shown),)
    assert results[0] == results[1]


def test_the_matrix_is_read_row_by_row_with_its_ghosts_and_the_rows_float_again(pins):
    board = make(PARTS)
    masks = [9, 9, 9, 9]
    board.scan(masks)
    assert masks == [0, 0, 0, 0]
    for contact in ((2, 5), (2, 6), (4, 5), (8, "GND")):
        pins.table.join(*contact)
    board.scan(masks)
    # Row 4 and column 6 meet nowhere, but three corners are closed.
    assert masks == [0b11, 0, 0b11, 0b10]
    assert not any(pins.table.pins[row].pulls_low() for row in (2, 3, 4))


def test_buttons_close_to_ground(pins):
    board = make(PARTS)
    assert board.buttons() == 0
    pins.table.join(9, "GND")
    assert board.buttons() == 1


def test_a_passive_buzzer_plays_what_it_can_and_an_active_one_only_sounds(pins):
    board = make(PARTS)
    assert pins.table.pwm[10][1] == 0
    for hz in (440, 1, 60_000, 0):
        board.tone(hz)
    assert pins.table.pwm[10] == [20_000, 0]
    board.tone(440)
    assert pins.table.pwm[10] == [440, 32768]
    active = make({**UART, "buzzer": {"pin": 11, "kind": "active"}})
    active.tone(440)
    assert pins.table.pins[11].driven == 1
    active.tone(0)
    assert pins.table.pins[11].driven == 0


def test_a_board_with_nothing_on_it_does_nothing(pins):
    board = make(UART)
    masks: list[int] = []
    board.scan(masks)
    board.tone(440)
    board.show_lights(bytearray())
    board.feed_watchdog()
    assert (masks, board.buttons(), pins.table.fed) == ([], 0, 0)


def test_a_uart_reads_what_is_there_and_writes_what_fits(pins):
    board = make(UART)
    assert pins.table.uart == [1, 115200, 0, 1]
    assert board.read() == b""
    pins.table.arriving = bytes(range(256)) + b"more"
    assert board.read() + board.read() == bytes(range(256)) + b"more"
    pins.table.room = 3
    assert board.write(memoryview(b"abcdef")) == 3
    pins.table.room = 0
    assert board.write(memoryview(b"def")) == 0
    assert pins.table.sent == b"abc"


def test_usb_never_waits_for_a_byte_or_for_room(pins, console):
    board = make({"buttons": [9]})
    assert pins.table.keyboard_interrupts == -1
    assert board.read() == b""
    console.arriving += bytes(range(256))
    assert board.read() == bytes(range(128))
    assert board.read() == bytes(range(128, 256))
    console.room = 4
    assert board.write(memoryview(b"abcdef")) == 4
    assert board.write(memoryview(b"ef")) == 0
    assert console.sent == b"abcd"


@pytest.mark.parametrize(
    ("platform", "chip", "cause", "scratch", "told"),
    [
        ("rp2", "RP2040", 1, 0, 0),
        ("rp2", "RP2040", 3, 0x6AB73121, 1),
        ("rp2", "RP2350", 3, 0x6AB73121, 1),
        ("rp2", "RP2040", 3, 0, 2),
        ("rp2", "RP9999", 3, 0, 255),
        ("esp32", "ESP32-S3", 3, 0, 1),
        ("esp32", "ESP32-S3", 5, 0, 2),
    ],
)
def test_why_the_board_started(pins, monkeypatch, platform, chip, cause, scratch, told):
    chips = importlib.import_module(f"{BOARD}.chip")
    machine = f"Board with {chip}"
    monkeypatch.setattr(
        chips, "sys", SimpleNamespace(platform=platform, implementation=SimpleNamespace(_machine=machine))
    )
    pins.table.cause, pins.table.scratch = cause, scratch
    assert chips.reset_cause() == told
