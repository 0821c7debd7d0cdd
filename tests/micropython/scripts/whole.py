"""The whole firmware, main.py and all, on stand-ins for a microcontroller's modules; only in MicroPython."""

import json
import os
import sys

import pins
from bench import PacketList, from_hex, to_hex

_PIN_MAP = {
    "format": 1,
    "board": "pico",
    "link": {"uart": 0, "tx": 0, "rx": 1, "baud": 115200},
    "lights": {"pin": 28, "count": 3, "order": "GRB"},
    "matrix": {"rows": [2, 3], "columns": [4, 5]},
    "switches": [6],
    "buttons": [7],
    "buzzer": {"pin": 8},
}


def run(data):
    """Start it several times; after each, give what can be seen from outside."""
    from firmware.core.packets import PacketReader

    pins.install()
    install_clock()
    write("/pins.json", json.dumps(_PIN_MAP))
    results = []
    for step in data["starts"]:
        pins.table.stop_after_ms = pins.table.now_ms + step["ms"]
        pins.table.arriving = from_hex(step["arrives"])
        pins.table.sent = bytearray()
        if step.get("stay"):
            write("/stay", "")
        if step.get("fault"):
            write("/fault.txt", "Traceback\nMemoryError: full\n")
        ended = start(step.get("breaks"))
        taken = PacketList()
        PacketReader(taken).feed(bytes(pins.table.sent), 0)
        results.append(
            {
                "ended": ended,
                "sent": [packet[0] for packet in taken.packets],
                "texts": "".join([chr(byte) for byte in b"".join(taken.packets) if 32 <= byte < 127]),
                "files": sorted(os.listdir("/")),
                "watchdog_ms": pins.table.watchdog_ms,
                "strip": "".join([to_hex(shown) for shown in pins.table.strips.get(28, [])[-1:]]),
            }
        )
    return results


def start(breaks):
    """Run main.py as the interpreter does, until the test is over or the board resets; a part may break on the way."""
    for name in list(sys.modules):
        if name.startswith("firmware") and name != "firmware.board.clock":
            del sys.modules[name]
    if breaks:
        import firmware.board.parts

        def broken(self):
            raise OSError("the matrix is broken")

        firmware.board.parts.Contacts.closed = broken
    with open("/main.py") as file:
        code = file.read()
    try:
        exec(code, {"__name__": "__main__"})
    except pins.Stopped:
        return "running"
    except pins.Reset:
        return "reset"
    return "interpreter"


def install_clock():
    """The interpreter's own time can't be changed, so the firmware's door to it is; and its os draws no numbers."""
    clock = pins.Module(
        sleep_ms=pins.table.sleep_ms,
        sleep_us=lambda us: None,
        ticks_ms=pins.table.ticks_ms,
        ticks_us=pins.table.ticks_us,
        ticks_diff=pins.ticks_diff,
    )
    sys.modules["firmware.board.clock"] = clock
    sys.modules["os"] = pins.Module(remove=os.remove, rename=os.rename, urandom=lambda count: b"\7" * count)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
