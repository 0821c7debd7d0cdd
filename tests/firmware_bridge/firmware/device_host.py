"""What speaks to a whole device on a board without pins, and the pin maps and messages that tests share."""

from __future__ import annotations

from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.messages import Configure, Hello, Ping
from firmware_bridge.protocol.packets import Kind, Packet, is_sequenced, packet_frame

LIGHTS = {"lights": {"pin": 0, "count": 6, "limit_ma": 2000}}
BUTTONS = {"buttons": [6, 7]}
SWITCHES = {"switches": [8, 9, 10]}
BUZZER = {"buzzer": {"pin": 11}}
EVERYTHING = {**LIGHTS, **BUTTONS, **SWITCHES, **BUZZER}
VERDICT = bytes((200, 10, 99))
DEFAULTS = Configure(3000, 20, 1000, 255, 0, 0)


class Host:
    """Speaks to a bench's device, and acknowledges what it hears unless it is told not to."""

    def __init__(self, bench, session=77):
        self.bench = bench
        self.session = session
        self.sequence = 0
        self.expected = 0
        self.acknowledged = 0
        self.heard = []
        self.acknowledges = True

    def shake_hands(self, session=None):
        if session is not None:
            self.session, self.sequence, self.expected, self.acknowledged = session, 0, 0, 0
        self.say(Hello(1, 1))
        return self

    def say(self, message, *, sequence=None):
        kind, payload = encode_message(message)
        number = 0
        if is_sequenced(kind):
            number = self.sequence if sequence is None else sequence
            self.sequence += sequence is None
        self.bench.give(packet_frame(Packet(kind, self.session, number, self.acknowledged, payload)))
        self.listen()

    def listen(self):
        """Take what was sent, in order and each once."""
        heard_something = False
        for packet in self.bench.sent():
            kind = Kind[packet["kind"]]
            if is_sequenced(kind):
                heard_something = True
                if packet["sequence"] != self.expected:
                    continue
                self.expected += 1
            self.heard.append(packet)
        if heard_something and self.acknowledges:
            self.acknowledged = self.expected
            self.bench.give(packet_frame(Packet(Kind.ACKNOWLEDGED, self.session, 0, self.acknowledged)))

    def run(self, ms, *, pings=False):
        """Let time pass."""
        until = self.bench.board.now + ms
        while self.bench.board.now < until:
            self.bench.run_until(min(until, self.bench.board.now + 10))
            self.listen()
            if pings and self.bench.board.now % 500 == 0:
                self.say(Ping(1))
        return self

    def told(self, kind):
        """The fields of all packets of a kind heard since the last call; all others are forgotten, too."""
        found = [packet["fields"] for packet in self.heard if packet["kind"] == kind]
        self.heard = []
        return found


def press(host, button=0, ms=60):
    """Press a button and let it go."""
    host.bench.board.pressed = 1 << button
    host.run(ms)
    host.bench.board.pressed = 0
    host.run(60)
