"""The conversations among the protocol's test vectors: a host's messages, and the answers expected from a device."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

from firmware_bridge.protocol import messages
from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.packets import Kind, Packet, packet_frame

Json = dict[str, Any]

BOOT_ID = 0x600DB007
_PIN_MAP = {
    "board": "pico",
    "buttons": [6],
    "format": 1,
    "lights": {"brightness": 255, "count": 4, "limit_ma": 2000, "order": "GRB", "pin": 0},
    "link": "usb",
    "name": "test board",
    "switches": [2, 3, 4, 5],
}
_PIN_MAP_TEXT = json.dumps(_PIN_MAP, sort_keys=True, separators=(",", ":"))

DEVICE: Json = {
    "pin_map": _PIN_MAP_TEXT,
    "boot_id": BOOT_ID,
    "reset_cause": 0,
    "lights": 4,
    "switches": 4,
    "buttons": 1,
}
"""The device in all conversations: it starts at 0 ms with every switch open and no button pressed."""

A = 0x1234
B = 0x00FE
"""Session ids."""

RED = messages.LightFrame(bytes((255, 0, 0)) * 4)
GREEN = messages.LightFrame(bytes((0, 255, 0)) * 4)
ONE_BLUE = messages.LightFrame(bytes(9) + bytes((0, 0, 255)))


class Conversation:
    """Builds a conversation, which begins with the device's start at 0 ms."""

    def __init__(self, name: str, about: str) -> None:
        self._name = name
        self._about = about
        self._steps: list[Json] = []
        self.at(0, sends=[restarted()])

    def at(
        self,
        at_ms: int,
        *arrives: bytes,
        sends: list[Json] | None = None,
        lights: str | messages.LightFrame | None = None,
    ) -> Conversation:
        """Add a step."""
        step: Json = {"at_ms": at_ms, "arrives": b"".join(arrives).hex(), "sends": sends or []}
        if lights is not None:
            step["lights"] = lights.colours.hex() if isinstance(lights, messages.LightFrame) else lights
        self._steps.append(step)
        return self

    def greeted(self, session: int = A, at_ms: int = 100) -> Conversation:
        """Add a handshake, with the device's first report acknowledged 5 ms later."""
        self.at(at_ms, hello(session), sends=[welcome(session, at_ms), sensors(session, 0)])
        return self.at(at_ms + 5, acknowledged(session, 1))

    def written(self) -> Json:
        """Give the conversation as JSON."""
        return {"name": self._name, "about": self._about, "steps": self._steps}


Write = Callable[[Conversation], object]
_ALL: list[tuple[str, str, Write]] = []


def _conversation(name: str, about: str) -> Callable[[Write], Write]:
    """Register a function that writes a conversation; they are listed in the order of their definitions."""

    def add(write: Write) -> Write:
        _ALL.append((name, about, write))
        return write

    return add


# Messages from the host.


def host_frame(message: messages.HostMessage, session: int, sequence: int = 0, expected: int = 0) -> bytes:
    """A message's frame."""
    kind, payload = encode_message(message)
    return packet_frame(Packet(kind, session, sequence, expected, payload))


def hello(session: int, oldest: int = 1, newest: int = 1) -> bytes:
    """A HELLO."""
    return host_frame(messages.Hello(oldest, newest), session)


def acknowledged(session: int, expected: int, kind: Kind = Kind.ACKNOWLEDGED) -> bytes:
    """An ACKNOWLEDGED or a MISSING."""
    return packet_frame(Packet(kind, session, 0, expected))


# Expected answers from the device.


def answer(kind: Kind, session: int, sequence: int = 0, expected: int = 0, **fields: object) -> Json:
    """An expected packet, of which only these fields are compared."""
    return {
        "kind": kind.name,
        "session": session,
        "sequence": sequence,
        "acknowledged": expected,
        "fields": fields,
    }


def restarted() -> Json:
    """A RESTARTED."""
    return answer(Kind.RESTARTED, 0, boot_id=BOOT_ID)


def welcome(session: int, at_ms: int) -> Json:
    """A WELCOME."""
    return answer(
        Kind.WELCOME,
        session,
        version=1,
        boot_id=BOOT_ID,
        time_ms=at_ms,
        lights=4,
        switches=4,
        buttons=1,
        buzzer=0,
        pin_map_checksum=zlib.crc32(_PIN_MAP_TEXT.encode()),
        reset_cause=0,
    )


def sensors(session: int, sequence: int, expected: int = 0) -> Json:
    """A report that every switch is open."""
    return answer(Kind.SENSORS, session, sequence, expected, closed=[False] * 4, doubtful=[False] * 4, changes=[])


def taken(session: int, expected: int) -> Json:
    """An ACKNOWLEDGED."""
    return answer(Kind.ACKNOWLEDGED, session, expected=expected)


def gap(session: int, expected: int) -> Json:
    """A MISSING."""
    return answer(Kind.MISSING, session, expected=expected)


# The conversations.


@_conversation("handshake", "a session as it should be: handshake, settings, lights, a ping, a snapshot, a sound")
def _handshake(it: Conversation) -> None:
    it.greeted()
    it.at(110, host_frame(messages.Configure(), A, 0, 1), sends=[taken(A, 1)])
    it.at(120, host_frame(RED, A, 1, 1), sends=[taken(A, 2)])
    it.at(150, lights=RED)
    it.at(620, host_frame(messages.Ping(77), A, 0, 1), sends=[answer(Kind.PONG, A, expected=2, token=77, time_ms=620)])
    it.at(700, host_frame(messages.Snapshot(), A, 2, 1), sends=[taken(A, 3), sensors(A, 1, 3)])
    it.at(705, acknowledged(A, 2))
    it.at(710, host_frame(messages.Sound((messages.Tone(880, 10),)), A, 3, 2), sends=[taken(A, 4)])
    it.at(740, host_frame(ONE_BLUE, A, 4, 2), sends=[taken(A, 5)]).at(770, lights=ONE_BLUE)


@_conversation("HELLO again", "a repeated HELLO is answered again until something numbered came, then ignored")
def _hello_again(it: Conversation) -> None:
    it.at(100, hello(A), sends=[welcome(A, 100), sensors(A, 0)])
    it.at(120, hello(A), sends=[welcome(A, 120)])
    it.at(125, acknowledged(A, 1))
    it.at(130, hello(A), hello(A), sends=[answer(Kind.WELCOME, A), answer(Kind.WELCOME, A)])
    it.at(140, host_frame(RED, A, 0, 1), sends=[taken(A, 1)])
    it.at(150, hello(A))
    it.at(160, host_frame(GREEN, A, 1, 1), sends=[taken(A, 2)]).at(190, lights=GREEN)


@_conversation("another session", "a HELLO of another session begins a new session; the old one is no longer known")
def _new_session(it: Conversation) -> None:
    it.greeted(A)
    it.at(110, host_frame(RED, A, 0, 1), sends=[taken(A, 1)])
    it.greeted(B, 300)
    it.at(310, host_frame(GREEN, A, 1, 1), sends=[restarted()])
    it.at(350, lights=RED)
    it.at(360, host_frame(GREEN, B, 0, 1), sends=[taken(B, 1)]).at(390, lights=GREEN)


@_conversation("unknown session", "a packet of an unknown session is answered by RESTARTED, at most once in 100 ms")
def _unknown_session(it: Conversation) -> None:
    it.at(200, host_frame(RED, A, 5, 9), sends=[restarted()])
    it.at(250, host_frame(messages.Ping(1), A))
    it.at(290, acknowledged(B, 3), acknowledged(A, 3))
    it.at(310, host_frame(messages.Ping(2), A), sends=[restarted()])
    it.at(320, lights="waiting")
    it.greeted(B, 500)


@_conversation("a gap", "packets after a gap are dropped and answered by MISSING, at most once in 10 ms")
def _gap(it: Conversation) -> None:
    it.greeted()
    it.at(200, host_frame(RED, A, 1, 1), sends=[gap(A, 0)])
    it.at(205, host_frame(GREEN, A, 2, 1))
    it.at(220, host_frame(GREEN, A, 2, 1), sends=[gap(A, 0)])
    it.at(240, lights="waiting")
    it.at(250, host_frame(messages.Configure(), A, 0, 1), sends=[taken(A, 1)])
    it.at(251, host_frame(RED, A, 1, 1), sends=[taken(A, 2)])
    it.at(270, host_frame(GREEN, A, 3, 1), sends=[gap(A, 2)])
    it.at(290, host_frame(ONE_BLUE, A, 2, 1), sends=[taken(A, 3)]).at(320, lights=ONE_BLUE)


@_conversation("a repeat", "a packet that arrived before is acknowledged again, but not carried out again")
def _repeat(it: Conversation) -> None:
    it.greeted()
    it.at(200, host_frame(RED, A, 0, 1), sends=[taken(A, 1)])
    it.at(220, host_frame(GREEN, A, 1, 1), sends=[taken(A, 2)])
    it.at(240, host_frame(RED, A, 0, 1), sends=[taken(A, 2)])
    it.at(260, host_frame(GREEN, A, 1, 1), sends=[taken(A, 2)])
    it.at(290, lights=GREEN)


@_conversation("no version in common", "a host of later versions only is refused, and its packets are of no session")
def _refused(it: Conversation) -> None:
    it.at(100, hello(A, 2, 9), sends=[answer(Kind.REFUSED, A, oldest=1, newest=1)])
    it.at(200, host_frame(RED, A), sends=[restarted()])
    it.at(310, hello(B, 0, 0), sends=[answer(Kind.REFUSED, B, oldest=1, newest=1)])
    it.at(400, hello(A, 1, 9), sends=[answer(Kind.WELCOME, A, version=1), sensors(A, 0)])
    it.at(405, acknowledged(A, 1))


@_conversation(
    "silence", "when the host falls silent, its last frame goes out and its session ends; a light frame ends the wait"
)
def _silence(it: Conversation) -> None:
    it.greeted()
    it.at(200, host_frame(RED, A, 0, 1), sends=[taken(A, 1)])
    it.at(230, lights=RED)
    it.at(3100, lights=RED)
    it.at(3300, lights="waiting")
    it.at(3400, host_frame(GREEN, A, 1, 1), sends=[restarted()])
    it.at(3450, lights="waiting")
    it.greeted(B, 3500)
    it.at(3550, host_frame(messages.Ping(9), B, 0, 1), sends=[answer(Kind.PONG, B, token=9)])
    it.at(3590, lights="waiting")
    it.at(3600, host_frame(GREEN, B, 0, 1), sends=[taken(B, 1)])
    it.at(3650, lights=GREEN)


@_conversation("silence as configured", "CONFIGURE says how long silence may last; pings keep the lights as they are")
def _configured_silence(it: Conversation) -> None:
    it.greeted()
    it.at(200, host_frame(messages.Configure(silence_ms=500), A, 0, 1), sends=[taken(A, 1)])
    it.at(210, host_frame(RED, A, 1, 1), sends=[taken(A, 2)])
    for number in range(4):
        it.at(
            600 + 400 * number,
            host_frame(messages.Ping(number), A, 0, 1),
            sends=[answer(Kind.PONG, A, expected=2, token=number)],
        )
    it.at(2200, lights=RED)
    it.at(2350, lights="waiting")


@_conversation("resending", "what isn't acknowledged is sent again after 60 ms, then after twice as long each time")
def _resending(it: Conversation) -> None:
    it.at(100, hello(A), sends=[welcome(A, 100), sensors(A, 0)])
    it.at(140)
    it.at(165, sends=[sensors(A, 0)])
    it.at(250)
    it.at(290, sends=[sensors(A, 0)])
    it.at(300, acknowledged(A, 1))
    it.at(900).at(1500)


@_conversation("impossible acknowledgement", "a number that lies outside what is outstanding is ignored")
def _wrong_acknowledgement(it: Conversation) -> None:
    it.at(100, hello(A), sends=[welcome(A, 100), sensors(A, 0)])
    it.at(110, acknowledged(A, 2))
    it.at(120, acknowledged(A, 65_535))
    it.at(165, sends=[sensors(A, 0)])
    it.at(170, acknowledged(A, 1))
    it.at(600)


@_conversation(
    "MISSING", "after MISSING the device resends at once, but only once until an acknowledgement or its timer"
)
def _missing(it: Conversation) -> None:
    it.at(100, hello(A), sends=[welcome(A, 100), sensors(A, 0)])
    it.at(110, acknowledged(A, 0, Kind.MISSING), sends=[sensors(A, 0)])
    it.at(115, acknowledged(A, 0, Kind.MISSING))
    it.at(120, acknowledged(A, 1, Kind.MISSING))
    it.at(500)


@_conversation("bad bytes", "bytes that are no frame, or fail their checksum, get no answer and change nothing")
def _bad_bytes(it: Conversation) -> None:
    it.greeted()
    good = host_frame(RED, A, 0, 1)
    flipped = bytearray(good)
    flipped[6] ^= 1
    it.at(200, bytes(flipped))
    it.at(210, b"\x00garbage\x00", b"\x05\x01\x00", b"\x55" * 3000)
    it.at(220, b"\x00\x02\x07\x00")
    it.at(240, lights="waiting")
    it.at(250, good, sends=[taken(A, 1)]).at(280, lights=RED)


@_conversation("in pieces", "bytes come as they come: one at a time, or several frames at once")
def _pieces(it: Conversation) -> None:
    frame = hello(A)
    for at in range(len(frame) - 1):
        it.at(100 + at, frame[at : at + 1], sends=[])
    it.at(150, frame[-1:], sends=[welcome(A, 150), sensors(A, 0)])
    together = [
        acknowledged(A, 1),
        host_frame(RED, A, 0, 1),
        host_frame(GREEN, A, 1, 1),
        host_frame(messages.Ping(3), A, 0, 1),
    ]
    it.at(160, *together, sends=[taken(A, 1), taken(A, 2), answer(Kind.PONG, A, expected=2, token=3)])
    it.at(200, lights=GREEN)


@_conversation("later versions", "unknown kinds are ignored, numbered ones acknowledged; longer payloads are fine")
def _unknown_kinds(it: Conversation) -> None:
    it.greeted()
    it.at(200, packet_frame(Packet(0x0C, A, 0, 1, b"what?")))
    it.at(210, packet_frame(Packet(0x30, A, 0, 1, b"what?")), sends=[taken(A, 1)])
    it.at(220, packet_frame(Packet(0x1F, A, 1, 1)), sends=[taken(A, 2)])
    kind, payload = encode_message(RED)
    it.at(230, packet_frame(Packet(kind, A, 2, 1, payload + b"more")), sends=[taken(A, 3)])
    it.at(260, lights=RED)


@_conversation("an echo", "kinds that only a device sends are dropped when they come from a host")
def _echo(it: Conversation) -> None:
    it.greeted()
    it.at(200, packet_frame(Packet(Kind.SENSORS, A, 0, 1, bytes(7))))
    it.at(210, packet_frame(Packet(Kind.PONG, A, 0, 1, bytes(8))))
    it.at(220, packet_frame(Packet(0x2F, A, 0, 1)))
    it.at(230, host_frame(RED, A, 0, 1), sends=[taken(A, 1)]).at(260, lights=RED)


@_conversation("a malformed payload", "it is acknowledged, told as fault 1, and changes nothing")
def _malformed(it: Conversation) -> None:
    it.greeted()
    it.at(200, host_frame(RED, A, 0, 1), sends=[taken(A, 1)])
    bad = packet_frame(Packet(Kind.LIGHTS_ALL, A, 1, 1, b"\x04\x00\x01\x02"))
    it.at(220, bad, sends=[taken(A, 2), answer(Kind.FAULT, A, 1, 2, code=1)])
    it.at(225, acknowledged(A, 2)).at(250, lights=RED)


@_conversation("HELLO without a session", "session 0 is none, so that HELLO is ignored")
def _no_session(it: Conversation) -> None:
    it.at(100, hello(0))
    it.greeted(A, 200)


@_conversation("LEAVE", "the device acknowledges, puts the lights out and restarts into the bare interpreter")
def _leave(it: Conversation) -> None:
    it.greeted()
    it.at(200, host_frame(RED, A, 0, 1), sends=[taken(A, 1)])
    it.at(230, lights=RED)
    it.at(300, host_frame(messages.Leave(), A, 1, 1), sends=[taken(A, 2)])


def conversations() -> list[Json]:
    """All conversations."""
    made = []
    for name, about, write in _ALL:
        it = Conversation(name, about)
        write(it)
        made.append(it.written())
    return made
