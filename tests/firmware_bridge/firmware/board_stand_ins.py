"""Stand-ins for what the firmware's edges meet, and a board's parts; fixtures in ``conftest.py``."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BOARD = "firmware_bridge.firmware.board"
STAY = "firmware_bridge/firmware/board/stay.py"
UART = {"link": {"uart": 1, "tx": 0, "rx": 1, "baud": 115200}}
PARTS = {
    **UART,
    "lights": {"pin": 28, "count": 2, "order": "BGR"},
    "matrix": {"rows": [2, 3, 4], "columns": [5, 6]},
    "switches": [7, 8],
    "buttons": [9],
    "buzzer": {"pin": 10, "kind": "passive"},
}


class Console:
    """The console of an interpreter: a byte at a time, and it says whether there is one."""

    def __init__(self):
        self.arriving = bytearray()
        self.sent = bytearray()
        self.room = 1000
        self.buffer = self

    def readinto(self, target):
        assert len(target) == 1
        target[0] = self.arriving.pop(0)

    def write(self, data):
        assert len(data) == 1
        assert self.room
        self.room -= 1
        self.sent += data


class Poll:
    """``select.poll``, asked without waiting."""

    def register(self, stream, flags):
        self.stream, self.flags = stream, flags

    def ipoll(self, timeout):
        assert timeout == 0
        ready = self.stream.arriving if self.flags == 1 else self.stream.room
        return iter([(self.stream, self.flags)] if ready else [])


def levels_of_all_pins(table):
    """The register of an RP2040's pins."""
    return sum(table.level(number) << number for number in range(30))
