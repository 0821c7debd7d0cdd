"""Called by main.py: waits for Ctrl-C, runs the firmware until an error, restarts."""

import io
import os
import sys

import machine

from ..core.device import Device
from ..core.pin_map import PinMap, read_pin_map
from .clock import sleep_ms, ticks_ms
from .microcontroller import Microcontroller

PIN_MAP_FILE = "pins.json"
FAULT_FILE = "fault.txt"
REPORTED_FAULT_FILE = "last_fault.txt"

WAIT_MS = 2000
"""Minimum time after a start in which Ctrl-C leads into the interpreter, so that no board can be locked up."""

_LAST_WAIT_MS = 1000
"""The part of it after all modules are loaded, which takes a Pico nearly two seconds: the host is waiting."""

_FINAL_STEPS = 50  # of about 1 ms, in which the last report leaves; set by hand


def main(root: str = "") -> None:
    """Run the firmware until an error."""
    sleep_ms(max(_LAST_WAIT_MS, WAIT_MS - ticks_ms()))
    with RestartAfterFault(root) as guard:
        device = make_device(root)
        guard.device = device
        while True:
            device.step()


def make_device(root: str) -> Device:
    """Make the device described by the board's pin map; with an unusable pin map it has only its link."""
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
        device.tell_trouble("the firmware has restarted after " + fault)
    board.start_watchdog()
    return device


def load_pin_map(root: str) -> PinMap:
    """Read the pin map; without the file, nothing is connected."""
    try:
        with open(root + "/" + PIN_MAP_FILE, "rb") as file:
            return read_pin_map(file.read())
    except OSError:
        pins = PinMap()
        pins.faults.append("there is no pin map on the board")
        return pins


def take_fault(root: str) -> str:
    """Return the last line of the fault before this start, once; the whole text is kept in another file."""
    try:
        with open(root + "/" + FAULT_FILE) as file:
            lines = file.read().split("\n")
        os.rename(root + "/" + FAULT_FILE, root + "/" + REPORTED_FAULT_FILE)
    except OSError:
        return ""
    texts = [line for line in lines if line.strip()]
    return texts[-1] if texts else "an unknown fault"


class RestartAfterFault:
    """Records any exception inside, reports it to the host by ``device``, if there is one, and restarts the board."""

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
            self._report(repr(error))
        finally:
            machine.reset()

    def _report(self, what: str) -> None:
        if self.device is not None:
            self.device.tell_trouble(what + "; the firmware restarts")
            for _ in range(_FINAL_STEPS):
                self.device.step()
                sleep_ms(1)
