"""The device's side of the protocol: sessions, order, acknowledgements, resending. Pure; time is passed in.

The meaning of messages is up to the ``LinkOwner``. Unacknowledged packets: go-back-N with a timer that backs off.
"""

import struct

from .board import Board
from .packets import (
    ACKNOWLEDGED,
    FIRST_SEQUENCED,
    HEADER_BYTES,
    HELLO,
    LOG,
    MISSING,
    PONG,
    REFUSED,
    RESTARTED,
    SENSORS,
    SMALLEST_PACKET,
    WELCOME,
    PacketHandler,
    PacketReader,
    encode_into,
    make_packet,
    max_encoded_size,
    read_header,
)
from .ticks import elapsed_ms
from .version import NEWEST_PROTOCOL, OLDEST_PROTOCOL

SLOTS = 4  # most unacknowledged packets; set by hand for the RAM
LARGEST_SENT = 256
"""Size of the longest payload that the device sends, in bytes."""

FIRST_WAIT_MS = 60  # before packets are sent again; doubled each time; set by hand
LONGEST_WAIT_MS = 1000  # bound of that
NO_TOKEN = -1  # of a packet that nobody asks after

WINDOW = 8
"""Maximum number of the host's unacknowledged packets."""

_FIRST_FROM_DEVICE = SENSORS
_FIRST_RESERVED = 0x30  # kinds from here on are reserved (protocol)
_FROM_DEVICE_ONLY = (WELCOME, REFUSED, RESTARTED, PONG, LOG)

_MISSING_EVERY_MS = 10  # the same gap is reported at most so often; set by hand
_RESTARTED_EVERY_MS = 100  # so is a packet of an unknown session
_HALF = 0x8000  # of the range of sequence numbers: ahead or behind


class Outbox:
    """A bounded buffer of complete frames."""

    def __init__(self, size: int = 1536) -> None:
        self._buffer = bytearray(size)
        self._view = memoryview(self._buffer)
        self._start = 0
        self._end = 0

    @property
    def is_empty(self) -> bool:
        """Whether everything was written."""
        return self._start == self._end

    def has_room_for(self, length: int) -> bool:
        """Whether the frame of a packet of ``length`` bytes fits."""
        needed = max_encoded_size(length) + 2
        if self._end + needed > len(self._buffer) and self._start:
            kept = self._end - self._start
            self._view[:kept] = self._view[self._start : self._end]
            self._start, self._end = 0, kept
        return self._end + needed <= len(self._buffer)

    def put(self, packet: bytes) -> bool:
        """Add the frame of a packet; returns ``False`` if there is no room."""
        if not self.has_room_for(len(packet)):
            return False
        self._buffer[self._end] = 0
        end = encode_into(packet, self._buffer, self._end + 1)
        self._buffer[end] = 0
        self._end = end + 1
        return True

    def write_to(self, board: Board) -> None:
        """Write as much to the board as it accepts now."""
        if self._start < self._end:
            self._start += board.write(self._view[self._start : self._end])
        if self._start == self._end:
            self._start = self._end = 0


class LinkOwner:
    """The user of a link."""

    def welcome_payload(self) -> bytes:
        """Return the payload of WELCOME."""
        raise NotImplementedError

    def session_began(self, now: int) -> None:
        """Note that a host has begun a session; unacknowledged packets of the session before are dropped."""
        raise NotImplementedError

    def take_message(self, kind: int, payload: memoryview, now: int) -> None:
        """Process a message: sequenced ones in order, each once. The payload is overwritten afterwards."""
        raise NotImplementedError

    def was_acknowledged(self, token: int) -> None:
        """Note that the message sent with this token has arrived."""
        raise NotImplementedError


class SendWindow:
    """The sequenced packets that the host hasn't acknowledged, oldest first; ``resent`` counts those written again."""

    def __init__(self) -> None:
        self._payloads = [bytearray(LARGEST_SENT) for _ in range(SLOTS)]
        self._lengths = [0] * SLOTS
        self._kinds = [0] * SLOTS
        self._tokens = [NO_TOKEN] * SLOTS
        self.resent = 0
        self.forget()

    def forget(self) -> None:
        """Start a new session: no packets, and numbers count from 0."""
        self._oldest = 0
        self._held = 0
        self._written = 0
        self._sent_once = 0
        self._wait_ms = FIRST_WAIT_MS
        self._waiting_since = 0
        self._is_resend_done = False

    def has_room(self) -> bool:
        """Whether another packet may be added."""
        return self._held < SLOTS

    def add(self, kind: int, payload: memoryview, token: int = NO_TOKEN) -> None:
        """Add a packet, whose ``token`` is returned when it is acknowledged; only while there is room."""
        slot = (self._oldest + self._held) % SLOTS
        self._payloads[slot][: len(payload)] = payload
        self._lengths[slot] = len(payload)
        self._kinds[slot] = kind
        self._tokens[slot] = token
        self._held += 1

    def acknowledge(self, number: int, now: int) -> list[int]:
        """Process the number that the host expects next, and return the tokens of the packets that have arrived."""
        arrived = (number - self._oldest) & 0xFFFF
        if not 0 < arrived <= self._sent_once:
            return []
        tokens = [self._tokens[(self._oldest + i) % SLOTS] for i in range(arrived)]
        self._oldest = (self._oldest + arrived) & 0xFFFF
        self._held -= arrived
        self._sent_once -= arrived
        self._written = max(0, self._written - arrived)
        self._wait_ms = FIRST_WAIT_MS
        self._waiting_since = now
        self._is_resend_done = False
        return [token for token in tokens if token != NO_TOKEN]

    def resend(self) -> None:
        """Write everything again at the host's request; only once until an acknowledgement or the timer's expiry."""
        if not self._is_resend_done and self._sent_once:
            self._is_resend_done = True
            self._written = 0

    def tick(self, now: int) -> None:
        """Write everything again when the timer has expired, and double it."""
        if self._sent_once and elapsed_ms(now, self._waiting_since) >= self._wait_ms:
            self._written = 0
            self._wait_ms = min(LONGEST_WAIT_MS, 2 * self._wait_ms)
            self._waiting_since = now
            self._is_resend_done = False

    def next_unwritten(self) -> int:
        """Return the sequence number of the next packet to write, or -1."""
        return (self._oldest + self._written) & 0xFFFF if self._written < self._held else -1

    def kind_of(self, number: int) -> int:
        """Return the kind of an unacknowledged packet."""
        return self._kinds[number % SLOTS]

    def payload_of(self, number: int) -> memoryview:
        """Return the payload of an unacknowledged packet."""
        slot = number % SLOTS
        return memoryview(self._payloads[slot])[: self._lengths[slot]]

    def wrote(self, now: int) -> None:
        """Note that the next unwritten packet was written."""
        if self._written == 0:
            self._waiting_since = now
        self._written += 1
        if self._written > self._sent_once:
            self._sent_once = self._written
        else:
            self.resent += 1


class DeviceLink(PacketHandler):
    """The device's end of the link; ``session`` is 0 without one.

    ``heard_at`` is the ticks at which the session's last valid packet arrived, ``outbox`` the bytes that wait for the
    port.
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
        self._must_acknowledge = False
        self._is_missing_reported = False
        self._missing_reported_at = now
        self._restarted_reported_at = now
        self._put_restarted(now)

    def receive(self, data: bytes, now: int) -> None:
        """Process bytes that have arrived."""
        self.reader.feed(data, now)

    def end_session(self) -> None:
        """End the session, so that the host's next packet is answered by RESTARTED."""
        self.session = 0
        self.window.forget()
        self._must_acknowledge = False

    def send(self, kind: int, payload: memoryview, token: int = NO_TOKEN) -> bool:
        """Send a sequenced message; returns ``False`` without a session, or if there is no room now."""
        if not self.session or not self.window.has_room():
            return False
        self.window.add(kind, payload, token)
        return True

    def send_unsequenced(self, kind: int, payload: "bytes | memoryview") -> bool:
        """Send a message that may be lost; returns ``False`` if there is no room now."""
        return self._put(kind, 0, payload)

    def step(self, now: int) -> None:
        """Write new packets, packets that weren't acknowledged in time, and acknowledgements."""
        self.window.tick(now)
        number = self.window.next_unwritten()
        while number >= 0:
            if not self._put(self.window.kind_of(number), number, self.window.payload_of(number)):
                break
            self.window.wrote(now)
            number = self.window.next_unwritten()
        if self._must_acknowledge:
            self._put(ACKNOWLEDGED, 0, b"")

    def handle_packet(self, packet: memoryview, now: int) -> None:
        """Process a packet whose checksum is right."""
        kind, session, sequence, acknowledged = read_header(packet)
        payload = packet[HEADER_BYTES:]
        if kind in _FROM_DEVICE_ONLY or _FIRST_FROM_DEVICE <= kind < _FIRST_RESERVED:
            return
        if kind == HELLO:
            self._take_hello(session, payload, now)
        elif session == 0 or session != self.session:
            if elapsed_ms(now, self._restarted_reported_at) >= _RESTARTED_EVERY_MS:
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
            versions = bytes((OLDEST_PROTOCOL, NEWEST_PROTOCOL))
            self.outbox.put(make_packet(REFUSED, session, 0, 0, versions + text))
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
        self._must_acknowledge = False
        self._is_missing_reported = False
        self._put(WELCOME, 0, self._owner.welcome_payload())
        self._owner.session_began(now)

    def _take_sequenced(self, kind: int, sequence: int, payload: memoryview, now: int) -> None:
        ahead = (sequence - self._expected) & 0xFFFF
        if ahead == 0:
            self._expected = (self._expected + 1) & 0xFFFF
            self._heard_sequenced = True
            self._must_acknowledge = True
            self._is_missing_reported = False
            self._owner.take_message(kind, payload, now)
        elif ahead >= _HALF:
            self._must_acknowledge = True
        elif not self._is_missing_reported or elapsed_ms(now, self._missing_reported_at) >= _MISSING_EVERY_MS:
            self._is_missing_reported = self._put(MISSING, 0, b"")
            self._missing_reported_at = now

    def _put_restarted(self, now: int) -> None:
        self._restarted_reported_at = now
        self.outbox.put(make_packet(RESTARTED, 0, 0, 0, struct.pack("<I", self._boot_id)))

    def _put(self, kind: int, sequence: int, payload: "bytes | memoryview") -> bool:
        if not self.outbox.has_room_for(SMALLEST_PACKET + len(payload)):
            return False
        self.outbox.put(make_packet(kind, self.session, sequence, self._expected, payload))
        self._must_acknowledge = False
        return True
