"""What speaks to a whole device on a board without pins, and the pin maps that tests share."""

from __future__ import annotations

from dataclasses import replace

from firmware_bridge.protocol.messages import HostState, Wanted, encode_packet
from firmware_bridge.protocol.packets import encode_frame

LIGHTS = {"lights": {"pin": 0, "count": 6, "limit_ma": 2000}}
BUTTONS = {"buttons": [6, 7]}
SWITCHES = {"switches": [8, 9, 10]}
BUZZER = {"buzzer": {"pin": 11}}
EVERYTHING = {**LIGHTS, **BUTTONS, **SWITCHES, **BUZZER}
VERDICT = bytes((200, 10, 99))


class Host:
    """Speaks to a bench's device."""

    def __init__(self, bench):
        self.bench = bench
        self.boot_id = bench.board.boot_id
        self.wanted = Wanted()
        self.number = 0
        self.heard = []

    def greet(self):
        self.say(HostState(0, 1))
        return self

    def say(self, state):
        self.give(encode_packet(state))

    def give(self, packet):
        self.bench.give(encode_frame(packet))
        self.listen()

    def state(self, taken=(), **how):
        """Say that nothing more is wanted."""
        self.number += 1
        self.say(HostState(self.boot_id, self.number, taken, **how))

    def want(self, **wanted):
        """Want something, and the same as before besides."""
        self.wanted = replace(self.wanted, number=self.wanted.number + 1, **wanted)
        self.state(wanted=self.wanted)
        return self

    def show(self, colours):
        return self.want(colours=colours)

    def listen(self):
        """Note what was sent."""
        self.heard += self.bench.sent()

    def run(self, ms, *, speaks=False):
        """Let time pass."""
        until = self.bench.board.now + ms
        while self.bench.board.now < until:
            self.bench.run_until(min(until, self.bench.board.now + 10))
            self.listen()
            if speaks and self.bench.board.now % 500 == 0:
                self.state()
        return self

    def told(self, kind="BOARD_STATE"):
        """The fields of all packets of a kind heard since the last call; all others are forgotten, too."""
        found = [packet["fields"] for packet in self.heard if packet["kind"] == kind]
        self.heard = []
        return found

    def now(self):
        """The newest state."""
        self.heard = []
        self.state()
        return self.told()[-1]


def press(host, button=0, ms=60):
    """Press a button and let it go."""
    host.bench.board.pressed = 1 << button
    host.run(ms)
    host.bench.board.pressed = 0
    host.run(60)
