"""main.py and everything behind it in MicroPython, with stand-ins for the modules of a microcontroller."""

from __future__ import annotations

from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.messages import Hello, Leave, LightFrame
from firmware_bridge.protocol.packets import Kind, Packet, packet_frame


def frame(message, sequence=0):
    kind, payload = encode_message(message)
    return packet_frame(Packet(kind, 4711, sequence, 0, payload)).hex()


def test_the_firmware_starts_speaks_leaves_and_starts_again_after_a_fault(in_micropython):
    talk = frame(Hello(1, 1)) + frame(LightFrame(bytes([255, 0, 0, 0, 255, 0, 0, 0, 255])))
    starts = [
        {"ms": 1900, "arrives": talk},
        {"ms": 2200, "arrives": talk},
        {"ms": 2500, "arrives": talk + frame(Leave(), 1)},
        {"ms": 2200, "arrives": ""},
        {"ms": 2200, "arrives": "", "breaks": True},
        {"ms": 2300, "arrives": frame(Hello(1, 1))},
    ]
    waiting, running, left, interpreter, broken, again = in_micropython("whole", {"starts": starts})

    assert (waiting["ended"], waiting["sent"], waiting["watchdog_ms"]) == ("running", [], 0)

    assert running["ended"] == "running"
    assert running["sent"][:3] == [Kind.RESTARTED, Kind.WELCOME, Kind.SENSORS]
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
    assert Kind.LOG in again["sent"]
    assert "restarted after OSError: the matrix is broken" in again["texts"]
    assert "fault.txt" not in again["files"]
    assert "last_fault.txt" in again["files"]
