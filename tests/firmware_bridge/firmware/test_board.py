"""The firmware's edges in CPython, with stand-ins for the modules of a microcontroller."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware_bridge.firmware.core.pin_map import read_pin_map
from firmware_bridge.protocol.messages import (
    BoardState,
    HostState,
    Kind,
    Message,
    Wanted,
    Welcome,
    decode_packet,
    encode_packet,
)
from firmware_bridge.protocol.packets import PacketReader, encode_frame
from tests.firmware_bridge.firmware.board_stand_ins import (
    BOARD,
    PARTS,
    ROOT,
    STAY,
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


# How the firmware starts, stays at its prompt, and restarts after a fault, with the stand-ins of a microcontroller.


@pytest.fixture
def start(pins: Any, tmp_path: Path) -> Callable[..., tuple[str, list[Message]]]:
    """Start the firmware in a folder for so many ms: ``start(ms, arrives)`` says how it ended, and what was sent."""
    module, stay = (importlib.import_module(f"{BOARD}.{name}") for name in ("start", "stay"))

    def run(ms, *messages):
        pins.table.stop_after_ms = pins.table.now_ms + ms
        pins.table.arriving = b"".join(frame(message) for message in messages)
        pins.table.sent = bytearray()
        if stay.should_stay(str(tmp_path)):
            return "interpreter", []
        try:
            module.main(str(tmp_path))
        except (pins.Stopped, pins.Reset) as end:
            how = type(end).__name__
        return how, read(bytes(pins.table.sent))

    return run


GREETING = HostState(0, 1)
BOOT_ID = 0x07070707


def frame(state):
    return encode_frame(encode_packet(state))


def read(data: bytes) -> list[Message]:
    return [decode_packet(packet) for packet in PacketReader().feed(data)]


def put(folder, form):
    (folder / "pins.json").write_text(json.dumps({"format": 1, "board": "pico", **form}), encoding="utf-8")


def troubles(sent: list[Message]) -> list[str]:
    """The troubles that the welcomes name."""
    return [message.trouble for message in sent if isinstance(message, Welcome)]


def test_nothing_starts_in_the_first_two_seconds(pins, start, tmp_path):
    put(tmp_path, PARTS)
    assert start(1999, GREETING) == ("Stopped", [])
    assert pins.table.watchdog_ms == 0
    how, sent = start(2100, GREETING)
    assert how == "Stopped"
    assert [type(message) for message in sent[:3]] == [BoardState, Welcome, BoardState]
    assert pins.table.watchdog_ms == 8000
    assert pins.table.fed > 50


def test_leave_writes_the_marker_and_the_next_start_stays_in_the_interpreter_once(pins, start, tmp_path, monkeypatch):
    monkeypatch.setattr("os.urandom", lambda count: b"\7" * count)
    put(tmp_path, PARTS)
    leave = HostState(BOOT_ID, 2, leaves=True)
    assert start(2500, GREETING, leave)[0] == "Reset"
    assert (tmp_path / "stay").exists()
    assert start(2500) == ("interpreter", [])
    assert not (tmp_path / "stay").exists()
    assert start(2500)[0] == "Stopped"


def test_whether_to_stay_is_asked_before_anything_else_is_loaded(monkeypatch):
    """Loading takes a Pico nearly two seconds, and a host that waits for the prompt presses Ctrl-C all the while."""
    code = (ROOT / "firmware_bridge" / "firmware" / "main.py").read_text(encoding="utf-8")
    ran = []
    for name in ("firmware", "firmware.board"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(__path__=[]))
    for stays in (True, False):
        monkeypatch.setitem(
            sys.modules, "firmware.board.stay", SimpleNamespace(should_stay=lambda root, stays=stays: stays)
        )
        if not stays:
            monkeypatch.setitem(sys.modules, "firmware.board.start", SimpleNamespace(main=lambda: ran.append("main")))
        exec(code, {})
        assert ran == ([] if stays else ["main"])
    imported = re.findall(r"^(?:import|from) (\S+)", (ROOT / STAY).read_text(encoding="utf-8"), re.MULTILINE)
    assert imported == ["os"]


@pytest.mark.parametrize("content", [None, "{", '{"format":1,"board":"pico","buttons":[3,3]}'])
def test_without_a_usable_pin_map_the_board_speaks_over_usb_and_says_so(pins, console, start, tmp_path, content):
    if content is not None:
        (tmp_path / "pins.json").write_text(content, encoding="utf-8")
    console.arriving += frame(GREETING)
    start(2200)
    sent = read(bytes(console.sent))
    (welcome,) = [message for message in sent if isinstance(message, Welcome)]
    assert (welcome.lights, welcome.buttons) == (0, 0)
    assert "pin" in welcome.trouble


def test_a_pin_that_the_chip_refuses_is_told_and_nothing_is_driven(pins, start, tmp_path):
    pins.table.refused = (28,)
    put(tmp_path, PARTS)
    _, sent = start(2200, GREETING)
    welcome = next(message for message in sent if isinstance(message, Welcome))
    assert "invalid pin" in welcome.trouble
    assert welcome.switches == 0


def test_a_fault_is_written_down_told_and_told_again_after_the_restart(pins, start, tmp_path, monkeypatch):
    put(tmp_path, PARTS)
    parts = sys.modules[f"{BOARD}.parts"]
    whole = parts.Contacts.closed
    reads = []

    def breaks_later(self):
        reads.append(1)
        if len(reads) == 200:
            raise MemoryError("no room")
        return whole(self)

    monkeypatch.setattr(parts.Contacts, "closed", breaks_later)
    how, sent = start(3000, GREETING)
    assert how == "Reset"
    assert troubles(sent) == ["", "MemoryError('no room'); the firmware restarts"]
    assert "breaks_later" in (tmp_path / "fault.txt").read_text(encoding="utf-8")

    _, sent = start(2200, GREETING)
    assert troubles(sent) == ["the firmware has restarted after MemoryError: no room"]
    assert (tmp_path / "last_fault.txt").exists()
    assert troubles(start(2200, GREETING)[1]) == [""]


def test_a_fault_while_telling_of_a_fault_restarts_the_board_too(pins, start, tmp_path, monkeypatch):
    put(tmp_path, PARTS)
    parts = sys.modules[f"{BOARD}.parts"]
    monkeypatch.setattr(parts.Contacts, "closed", lambda self: 1 // 0)
    assert start(3000, GREETING)[0] == "Reset"
    assert pins.table.resets == 1


# main.py and everything behind it in MicroPython, with stand-ins for the modules of a microcontroller.


def test_the_firmware_starts_speaks_leaves_and_starts_again_after_a_fault(in_micropython):
    colours = bytes([255, 0, 0, 0, 255, 0, 0, 0, 255])
    greeting = frame(GREETING).hex()
    talk = greeting + frame(HostState(BOOT_ID, 2, wanted=Wanted(colours=colours))).hex()
    starts = [
        {"ms": 1900, "arrives": talk},
        {"ms": 2200, "arrives": talk},
        {"ms": 2500, "arrives": talk + frame(HostState(BOOT_ID, 3, leaves=True)).hex()},
        {"ms": 2200, "arrives": ""},
        {"ms": 2200, "arrives": "", "breaks": True},
        {"ms": 2300, "arrives": greeting},
    ]
    waiting, running, left, interpreter, broken, again = in_micropython("whole", {"starts": starts})

    assert (waiting["ended"], waiting["sent"], waiting["watchdog_ms"]) == ("running", [], 0)

    assert running["ended"] == "running"
    assert running["sent"][:3] == [Kind.BOARD_STATE, Kind.WELCOME, Kind.BOARD_STATE]
    assert running["strip"] == "00ff00" + "ff0000" + "0000ff"
    assert running["watchdog_ms"] == 8000

    assert left["ended"] == "reset"
    assert left["strip"] == "00" * 9
    assert "stay" in left["files"]

    assert interpreter["ended"] == "interpreter"
    assert interpreter["sent"] == []
    assert "stay" not in interpreter["files"]

    assert broken["ended"] == "reset"
    assert "fault.txt" in broken["files"]

    assert again["ended"] == "running"
    assert "restarted after OSError: the matrix is broken" in again["texts"]
    assert "fault.txt" not in again["files"]
    assert "last_fault.txt" in again["files"]
