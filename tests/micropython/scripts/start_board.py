# What a board in the interpreter under Node runs instead of /main.py: the core that was installed, on a board without
# pins whose wire is the pseudo-terminal.
import binascii
import sys
import time

import wire

if "/" not in sys.path:
    sys.path.insert(0, "/")

from firmware.core.board import Board
from firmware.core.device import Device
from firmware.core.pin_map import PinMap, read_pin_map


class WiredBoard(Board):
    def __init__(self, pins):
        self._pins = pins
        self.boot_id = time.ticks_ms() ^ 0x5EED
        self.reset_cause = 2

    def ticks_ms(self):
        return time.ticks_ms()

    def read(self):
        return binascii.unhexlify(wire.take())

    def write(self, data):
        wire.give(binascii.hexlify(data).decode())
        return len(data)

    def show_lights(self, colours):
        pass

    def scan(self, masks):
        for index in range(len(masks)):
            masks[index] = 0

    def buttons(self):
        return 0

    def tone(self, frequency_hz):
        pass

    def feed_watchdog(self):
        pass

    def restart(self, into_interpreter):
        if into_interpreter:
            with open("/stay", "w") as marker:
                marker.write("stay")
        wire.reset()


try:
    with open("/pins.json", "rb") as file:
        pins = read_pin_map(file.read())
except OSError:
    pins = PinMap()
device = Device(WiredBoard(pins), pins)
step = device.step
