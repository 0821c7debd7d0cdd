"""The device's side of the protocol: sessions, order, acknowledgements, resending. Pure; time is passed in.

What the messages mean is the business of whoever is told of them: ``LinkOwner``.
"""

import struct

from .board import Board
from .framing import encode_into, encoded_most
from .packets import (
    ACKNOWLEDGED,
    FIRST_SEQUENCED,
    HEADER_BYTES,
    HELLO,
    MISSING,
    REFUSED,
    RESTARTED,
    SENSORS,
    SMALLEST_PACKET,
    WELCOME,
    PacketReader,
    PacketTaker,
    make_packet,
    read_header,
)
from .ticks import elapsed_ms
from .version import NEWEST_PROTOCOL, OLDEST_PROTOCOL
from .window import NO_TOKEN, SendWindow

WINDOW = 8
"""How many packets of the host may be under way."""

_FIRST_FROM_DEVICE = SENSORS
_FIRST_RESERVED = 0x30
_FROM_DEVICE_ONLY = (WELCOME, REFUSED, RESTARTED, 0x08, 0x09)

_MISSING_EVERY_MS = 10
_RESTARTED_EVERY_MS = 100
_HALF = 0x8000


class Outbox:
    """A bounded buffer of whole frames; a frame that doesn't fit isn't begun."""

    def __init__(self, size: int = 1536) -> None:
        self._buffer = bytearray(size)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything was handed over."""
        return self._start == self._end

    def has_room_for(self, length: int) -> bool:
        """Whether the frame of a packet of ``length`` bytes fits."""
        needed = encoded_most(length) + 2
        if self._end + needed > len(self._buffer) and self._start:
            kept = self._end - self._start
            self._view[:kept] = self._view[self._start : self._end]
            self._start, self._end = 0, kept
        return self._end + needed <= len(self._buffer)

    def put(self, packet: bytes) -> bool:
        """Put in the frame of a packet; ``False`` when there is no room."""
        if not self.has_room_for(len(packet)):
            return False
        self._buffer[self._end] = 0
        end = encode_into(packet, self._buffer, self._end + 1)
        self._buffer[end] = 0
        self._end = end + 1
        return True

    def hand_over(self, board: Board) -> None:
        """Give the board what it takes now."""
        if self._start < self._end:
            self._start += board.write(self._view[self._start : self._end])
        if self._start == self._end:
            self._start = self._end = 0


class LinkOwner:
    """Whoever uses the link."""

    def welcome_payload(self) -> bytes:
        """Give what WELCOME says."""
        raise NotImplementedError

    def session_began(self, now: int) -> None:
        """Hear that a host has begun a session: nothing that was under way before counts."""
        raise NotImplementedError

    def take_message(self, kind: int, payload: memoryview, now: int) -> None:
        """Take a message of the session: sequenced ones in order, each once. The payload is overwritten afterwards."""
        raise NotImplementedError

    def was_acknowledged(self, token: int) -> None:
        """Hear that the message sent with this token has arrived."""
        raise NotImplementedError


class DeviceLink(PacketTaker):
    """Packets in, packets out.

    Attributes:
        session: the session under way, 0 before any.
        heard_at: the ticks at which the session's last valid packet came.
        reader: counts what came and what was dropped.
        window: what is under way to the host.
        outbox: bytes that wait for the port.
    """

    def __init__(self, owner: LinkOwner, boot_id: int, now: int) -> None:
        self._owner = owner
        self._boot_id = boot_id
        self.reader = PacketReader(self)
        self.window = SendWindow()
        self.outbox = Outbox()
        self.session = 0
        self.heard_at = now
        self._expected = 0
        self._heard_sequenced = False
        self._owes_acknowledgement = False
        self._missing_told = False
        self._missing_told_at = now
        self._restarted_told_at = now
        self._put_restarted(now)

    def receive(self, data: bytes, now: int) -> None:
        """Take in what has arrived."""
        self.reader.feed(data, now)

    def send(self, kind: int, payload: memoryview, token: int = NO_TOKEN) -> bool:
        """Send a sequenced message; ``False`` when there is no session or no room now."""
        if not self.session or not self.window.has_room():
            return False
        self.window.add(kind, payload, token)
        return True

    def send_unsequenced(self, kind: int, payload: "bytes | memoryview") -> bool:
        """Send a message that may be lost; ``False`` when there is no room now."""
        return self._put(kind, 0, payload)

    def step(self, now: int) -> None:
        """Write what is to be written: new packets, packets that weren't acknowledged in time, acknowledgements."""
        self.window.tick(now)
        number = self.window.next_unwritten()
        while number >= 0:
            if not self._put(self.window.kind_of(number), number, self.window.payload_of(number)):
                break
            self.window.wrote(now)
            number = self.window.next_unwritten()
        if self._owes_acknowledgement:
            self._put(ACKNOWLEDGED, 0, b"")

    def take_packet(self, packet: memoryview, now: int) -> None:
        """Take a packet whose checksum is right."""
        kind, session, sequence, acknowledged = read_header(packet)
        payload = packet[HEADER_BYTES:]
        if kind in _FROM_DEVICE_ONLY or _FIRST_FROM_DEVICE <= kind < _FIRST_RESERVED:
            return
        if kind == HELLO:
            self._take_hello(session, payload, now)
        elif session == 0 or session != self.session:
            if elapsed_ms(now, self._restarted_told_at) >= _RESTARTED_EVERY_MS:
                self._put_restarted(now)
        else:
            self.heard_at = now
            for token in self.window.acknowledge(acknowledged, now):
                self._owner.was_acknowledged(token)
            if kind >= FIRST_SEQUENCED:
                self._take_sequenced(kind, sequence, payload, now)
            elif kind == MISSING:
                self.window.resend()
            elif kind != ACKNOWLEDGED:
                self._owner.take_message(kind, payload, now)

    def _take_hello(self, session: int, payload: memoryview, now: int) -> None:
        if session == 0 or len(payload) < 2:
            return
        if not (payload[0] <= NEWEST_PROTOCOL and payload[1] >= OLDEST_PROTOCOL):
            text = b"this firmware speaks another version of the protocol"
            self._put_for(REFUSED, session, bytes((OLDEST_PROTOCOL, NEWEST_PROTOCOL)) + text)
            return
        if session == self.session:
            if not self._heard_sequenced:
                self.heard_at = now
                self._put(WELCOME, 0, self._owner.welcome_payload())
            return
        self.session = session
        self.heard_at = now
        self.window.forget()
        self._expected = 0
        self._heard_sequenced = False
        self._owes_acknowledgement = False
        self._missing_told = False
        self._put(WELCOME, 0, self._owner.welcome_payload())
        self._owner.session_began(now)

    def _take_sequenced(self, kind: int, sequence: int, payload: memoryview, now: int) -> None:
        ahead = (sequence - self._expected) & 0xFFFF
        if ahead == 0:
            self._expected = (self._expected + 1) & 0xFFFF
            self._heard_sequenced = True
            self._owes_acknowledgement = True
            self._missing_told = False
            self._owner.take_message(kind, payload, now)
        elif ahead >= _HALF:
            self._owes_acknowledgement = True
        elif not self._missing_told or elapsed_ms(now, self._missing_told_at) >= _MISSING_EVERY_MS:
            self._missing_told = self._put(MISSING, 0, b"")
            self._missing_told_at = now

    def _put_restarted(self, now: int) -> None:
        self._restarted_told_at = now
        self.outbox.put(make_packet(RESTARTED, 0, 0, 0, struct.pack("<I", self._boot_id)))

    def _put(self, kind: int, sequence: int, payload: "bytes | memoryview") -> bool:
        if not self.outbox.has_room_for(SMALLEST_PACKET + len(payload)):
            return False
        self.outbox.put(make_packet(kind, self.session, sequence, self._expected, payload))
        self._owes_acknowledgement = False
        return True

    def _put_for(self, kind: int, session: int, payload: bytes) -> None:
        self.outbox.put(make_packet(kind, session, 0, 0, payload))
