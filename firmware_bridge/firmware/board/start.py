"""What main.py calls: wait for somebody who wants the interpreter, run until something goes wrong, restart."""

import io
import os
import sys

import machine

from ..core.device import LEVEL_ERROR, Device
from ..core.pin_map import PinMap, read_pin_map
from .clock import sleep_ms, ticks_ms
from .microcontroller import Microcontroller

PIN_MAP_FILE = "pins.json"
FAULT_FILE = "fault.txt"
TOLD_FAULT_FILE = "last_fault.txt"

WAIT_MS = 2000
"""How long Ctrl-C leads into the interpreter after a start, at least, so that no board can be locked up."""

_LAST_WAIT_MS = 1000
"""How much of it comes when all modules are loaded, which takes a Pico nearly two seconds: a host is waiting, too."""

_LAST_WORDS_STEPS = 50


def main(root: str = "") -> None:
    """Run the firmware until something goes wrong."""
    sleep_ms(max(_LAST_WAIT_MS, WAIT_MS - ticks_ms()))
    with RestartAfterFault(root) as guard:
        device = make_device(root)
        guard.device = device
        while True:
            device.step()


def make_device(root: str) -> Device:
    """Make the device of the pin map that is on the board; with a pin map that can't be used it has no pins."""
    pins = load_pin_map(root)
    try:
        board = Microcontroller(pins, root)
    except (ValueError, OSError) as error:
        pins.faults.append(str(error))
        pins.drop_pins()
        board = Microcontroller(pins, root)
    device = Device(board, pins)
    fault = take_fault(root)
    if fault:
        device.log(LEVEL_ERROR, "the firmware has restarted after " + fault)
    board.start_watchdog()
    return device


def load_pin_map(root: str) -> PinMap:
    """Read the pin map; without the file it is one on which nothing hangs."""
    try:
        with open(root + "/" + PIN_MAP_FILE, "rb") as file:
            return read_pin_map(file.read())
    except OSError:
        pins = PinMap()
        pins.faults.append("there is no pin map on the board")
        return pins


def take_fault(root: str) -> str:
    """Give the last line of what went wrong before this start, once; the whole stays in another file."""
    try:
        with open(root + "/" + FAULT_FILE) as file:
            lines = file.read().split("\n")
        os.rename(root + "/" + FAULT_FILE, root + "/" + TOLD_FAULT_FILE)
    except OSError:
        return ""
    told = [line for line in lines if line.strip()]
    return told[-1] if told else "an unknown fault"


class RestartAfterFault:
    """Whatever goes wrong inside is written down and told to the host, and then the board restarts.

    Attributes:
        device: tells the host, once there is one.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self.device: Device | None = None

    def __enter__(self) -> "RestartAfterFault":
        return self

    def __exit__(self, kind: "type[BaseException] | None", error: "BaseException | None", trace: object) -> None:
        if error is None or isinstance(error, KeyboardInterrupt):
            return
        try:
            text = io.StringIO()
            sys.print_exception(error, text)  # type: ignore[attr-defined]
            with open(self._root + "/" + FAULT_FILE, "w") as file:
                file.write(text.getvalue())
            self._tell(repr(error))
        finally:
            machine.reset()

    def _tell(self, what: str) -> None:
        if self.device is not None:
            self.device.log(LEVEL_ERROR, what + "; the firmware restarts")
            for _ in range(_LAST_WORDS_STEPS):
                self.device.step()
                sleep_ms(1)
