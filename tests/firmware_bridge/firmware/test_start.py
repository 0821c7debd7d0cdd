"""How the firmware starts, stays at its prompt, and restarts after a fault, with the stand-ins of a microcontroller."""

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

from firmware_bridge.protocol.codec import decode_message, encode_message
from firmware_bridge.protocol.messages import Hello, Leave, Log, Welcome
from firmware_bridge.protocol.packets import Kind, Packet, PacketReader, packet_frame
from tests.firmware_bridge.firmware.board_stand_ins import (
    BOARD,
    PARTS,
    ROOT,
    STAY,
)


@pytest.fixture
def start(pins: Any, tmp_path: Path) -> Callable[..., tuple[str, list[Packet]]]:
    """Start the firmware in a folder for so many ms: ``start(ms, arrives)`` says how it ended, and what was sent."""
    module, stay = (importlib.import_module(f"{BOARD}.{name}") for name in ("start", "stay"))

    def run(ms, *messages):
        pins.table.stop_after_ms = pins.table.now_ms + ms
        pins.table.arriving = b"".join(packet_frame(packet) for packet in messages)
        pins.table.sent = bytearray()
        if stay.should_stay(str(tmp_path)):
            return "interpreter", []
        try:
            module.main(str(tmp_path))
        except (pins.Stopped, pins.Reset) as end:
            how = type(end).__name__
        return how, PacketReader().feed(bytes(pins.table.sent))

    return run


def hello(session=5):
    return Packet(Kind.HELLO, session, 0, 0, encode_message(Hello(1, 1))[1])


def put(folder, form):
    (folder / "pins.json").write_text(json.dumps({"format": 1, "board": "pico", **form}), encoding="utf-8")


def logged(sent: list[Packet]) -> list[str]:
    """The texts of the log."""
    messages = [decode_message(packet.kind, packet.payload) for packet in sent]
    return [message.text for message in messages if isinstance(message, Log)]


def test_nothing_starts_in_the_first_two_seconds(pins, start, tmp_path):
    put(tmp_path, PARTS)
    assert start(1999, hello()) == ("Stopped", [])
    assert pins.table.watchdog_ms == 0
    how, sent = start(2100, hello())
    assert how == "Stopped"
    assert [packet.kind for packet in sent[:3]] == [Kind.RESTARTED, Kind.WELCOME, Kind.SENSORS]
    assert pins.table.watchdog_ms == 8000
    assert pins.table.fed > 50


def test_leave_writes_the_marker_and_the_next_start_stays_in_the_interpreter_once(pins, start, tmp_path):
    put(tmp_path, PARTS)
    leave = Packet(Kind.LEAVE, 5, 0, 0, encode_message(Leave())[1])
    assert start(2500, hello(), leave)[0] == "Reset"
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
    console.arriving += packet_frame(hello())
    start(2200)
    sent = [decode_message(packet.kind, packet.payload) for packet in PacketReader().feed(bytes(console.sent))]
    (welcome,) = [message for message in sent if isinstance(message, Welcome)]
    assert (welcome.lights, welcome.buttons) == (0, 0)
    assert any("pin" in getattr(message, "text", "") for message in sent)


def test_a_pin_that_the_chip_refuses_is_told_and_nothing_is_driven(pins, start, tmp_path):
    pins.table.refused = (28,)
    put(tmp_path, PARTS)
    _, sent = start(2200, hello())
    told = [decode_message(packet.kind, packet.payload) for packet in sent]
    assert any("invalid pin" in getattr(message, "text", "") for message in told)
    assert next(message for message in told if isinstance(message, Welcome)).switches == 0


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
    how, sent = start(3000, hello())
    assert how == "Reset"
    assert logged(sent) == ["MemoryError('no room'); the firmware restarts"]
    assert "breaks_later" in (tmp_path / "fault.txt").read_text(encoding="utf-8")

    _, sent = start(2200, hello())
    assert logged(sent) == ["the firmware has restarted after MemoryError: no room"]
    assert (tmp_path / "last_fault.txt").exists()
    assert start(2200, hello())[1][-1].kind != Kind.LOG


def test_a_fault_while_telling_of_a_fault_restarts_the_board_too(pins, start, tmp_path, monkeypatch):
    put(tmp_path, PARTS)
    parts = sys.modules[f"{BOARD}.parts"]
    monkeypatch.setattr(parts.Contacts, "closed", lambda self: 1 // 0)
    assert start(3000, hello())[0] == "Reset"
    assert pins.table.resets == 1
