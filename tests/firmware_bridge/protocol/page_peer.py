"""A device written from docs/internals/protocol.md alone.

It shares no line with either of our ends, nor how they think.

No switches close and no lamps shine here: what a device must say, and when, is all there is.
"""

import struct
from collections import deque

from tests.firmware_bridge.protocol.oracle import cobs_decode, cobs_encode, crc32

VERSION = 1


def packet(kind: int, session: int = 0, sequence: int = 0, acknowledged: int = 0, payload: bytes = b"") -> bytes:
    body = struct.pack("<BHHH", kind, session, sequence, acknowledged) + payload
    return body + struct.pack("<I", crc32(body))


def frame(body: bytes) -> bytes:
    return b"\x00" + cobs_encode(body) + b"\x00"


class Parser:
    """Bytes in, packets out."""

    def __init__(self) -> None:
        self.counted = {"long": 0, "undecodable": 0, "short": 0, "checksum": 0}
        self._frame = bytearray()
        self._is_skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        packets = []
        for byte in data:
            if byte and not self._is_skipping:
                self._frame.append(byte)
                if len(self._frame) > 1040:
                    self.counted["long"] += 1
                    self._is_skipping = True
            elif not byte:
                encoded, is_whole = bytes(self._frame), not self._is_skipping
                self._frame.clear()
                self._is_skipping = False
                if encoded and is_whole and (body := self._sound(encoded)) is not None:
                    packets.append(body)
        return packets

    def _sound(self, encoded: bytes) -> bytes | None:
        body = cobs_decode(encoded)
        if body is None:
            self.counted["undecodable"] += 1
        elif len(body) > 1035:
            self.counted["long"] += 1
        elif len(body) < 11:
            self.counted["short"] += 1
        elif struct.pack("<I", crc32(body[:-4])) != body[-4:]:
            self.counted["checksum"] += 1
        else:
            return body
        return None


class PageDevice:
    """A device whose switches are all open; ``at_ms`` is its clock."""

    def __init__(self, boot_id: int, lights: int, switches: int, buttons: int, pin_map: bytes = b"") -> None:
        self.boot_id, self.lights, self.switches, self.buttons = boot_id, lights, switches, buttons
        self.pin_map = pin_map
        self.parser = Parser()
        self.at_ms = 0
        self.shown: bytes | None = None
        """What the lights show, dark ones at the end left out; ``None``: they wait."""
        self._event = 0
        self._silence_ms = 3000
        self._heard_ms = 0
        self._restarted_ms = 0
        self._out = [packet(0x04, payload=struct.pack("<I", boot_id))]
        self._forget(0)

    def _forget(self, session: int) -> None:
        self.session = session
        self.told: list[tuple[int, bytes]] = []
        """Kind and payload of what was told in this session."""
        self._expected = 0
        self._has_heard_numbered = self._owes = False
        self._complained_ms: int | None = None
        self._waiting: deque[tuple[int, bytes, int]] = deque()
        self._outstanding: deque[tuple[int, bytes, int]] = deque()
        self._oldest = 0
        self._wait_ms, self._due_ms = 60, 0
        self._was_asked = False

    def press(self, button: int) -> None:
        """Let a button be pressed now."""
        self._tell(0x21, struct.pack("<HBBIH", self._event, button, 1, self.at_ms, 0))
        self._event += 1

    @property
    def due_ms(self) -> int | None:
        """When it next has something to say."""
        if self._out or self._owes or (self.session and self._waiting and len(self._outstanding) < 4):
            return self.at_ms
        return self._due_ms if self._outstanding else None

    def receive(self, data: bytes) -> None:
        for body in self.parser.feed(data):
            kind, session, sequence, acknowledged = struct.unpack_from("<BHHH", body)
            payload = body[7:-4]
            if kind in (0x02, 0x03, 0x04, 0x08, 0x09) or 0x20 <= kind <= 0x2F:
                continue
            if kind == 0x01:
                self._greeted(session, payload)
            elif session == 0 or session != self.session:
                if self.at_ms - self._restarted_ms >= 100:
                    self._restarted_ms = self.at_ms
                    self._out.append(packet(0x04, payload=struct.pack("<I", self.boot_id)))
            else:
                self._heard_ms = self.at_ms
                self._arrived(acknowledged)
                self._take(kind, sequence, payload)

    def step(self) -> list[bytes]:
        """Give the packets to send now."""
        if self.session and self.at_ms - self._heard_ms >= self._silence_ms:
            self.shown = None
            self._end_session()
        if self._outstanding and self.at_ms >= self._due_ms:
            self._wait_ms = min(1000, 2 * self._wait_ms)
            self._was_asked = False
            self._send_again()
        while self.session and self._waiting and len(self._outstanding) < 4:
            if not self._outstanding:
                self._due_ms = self.at_ms + self._wait_ms
            self._outstanding.append(self._waiting.popleft())
            self._say_numbered(len(self._outstanding) - 1)
        if self._owes:
            self._say(0x05)
        out, self._out = self._out, []
        return out

    def _end_session(self) -> None:
        presses = [one for one in (*self._outstanding, *self._waiting) if one[0] == 0x21]
        self._forget(0)
        self._waiting.extend(presses)

    def _greeted(self, session: int, payload: bytes) -> None:
        if len(payload) < 2 or session == 0:
            return
        if payload[0] > VERSION or payload[1] < VERSION:
            self._out.append(packet(0x03, session, payload=bytes((VERSION, VERSION))))
            return
        if session != self.session:
            self._end_session()
            presses = [one for one in self._waiting if self.at_ms - one[2] <= 2000]
            self._forget(session)
            self._tell_switches()
            self._waiting.extend(presses)
        elif self._has_heard_numbered:
            return
        self._heard_ms = self.at_ms
        facts = (self.boot_id, self.at_ms, 1024, 8, self.lights, self.switches, self.buttons, 0, crc32(self.pin_map))
        self._say(0x02, bytes((VERSION, 0, 0, 1)) + struct.pack("<IIHBHHBBI", *facts) + b"\x00\x04page")

    def _arrived(self, acknowledged: int) -> None:
        count = (acknowledged - self._oldest) % 65536
        if 0 < count <= len(self._outstanding):
            for _ in range(count):
                self._outstanding.popleft()
            self._oldest = acknowledged
            self._wait_ms, self._due_ms = 60, self.at_ms + 60
            self._was_asked = False

    def _take(self, kind: int, sequence: int, payload: bytes) -> None:
        if kind == 0x06 and not self._was_asked:
            self._was_asked = True
            self._send_again()
        elif kind == 0x07 and len(payload) >= 4:
            self._say(0x08, payload[:4] + struct.pack("<I", self.at_ms))
        elif kind >= 0x10:
            ahead = (sequence - self._expected) % 65536
            if ahead == 0:
                self._expected = (self._expected + 1) % 65536
                self._has_heard_numbered = self._owes = True
                self._complained_ms = None
                self.told.append((kind, payload))
                if not self._obey(kind, payload):
                    self._tell(0x22, struct.pack("<BH", 1, kind))
            elif ahead >= 32768:
                self._owes = True
            elif self._complained_ms is None or self.at_ms - self._complained_ms >= 10:
                self._complained_ms = self.at_ms
                self._say(0x06)

    def _obey(self, kind: int, payload: bytes) -> bool:
        """Do what a message says; ``False`` for one that is malformed."""
        count = struct.unpack_from("<H", payload)[0] if len(payload) >= 2 else -1
        match kind:
            case 0x10 if 0 <= count <= (len(payload) - 2) // 3:
                self._show(payload[2 : 2 + 3 * count])
            case 0x11 if 0 <= count <= (len(payload) - 2) // 5:
                lit = dict(struct.unpack_from("<H3s", payload, 2 + 5 * number) for number in range(count))
                if len(lit) < count or list(lit) != sorted(lit):
                    return False
                self._show(b"".join(lit.get(light, bytes(3)) for light in range(max(lit, default=-1) + 1)))
            case 0x12:
                return len(payload) > 0 and len(payload) >= 1 + 4 * payload[0]
            case 0x13 if len(payload) >= 11:
                self._silence_ms = count or 3000
            case 0x14:
                self._tell_switches()
            case 0x15:
                self.shown = b""
            case 0x10 | 0x11 | 0x13:
                return False
        return True

    def _show(self, colours: bytes) -> None:
        named = len(colours) // 3
        if named > self.lights:
            self._tell(0x22, struct.pack("<BH", 2, named - 1))
        lit = len(colours[: 3 * self.lights].rstrip(b"\x00")) + 2
        self.shown = colours[: lit - lit % 3]

    def _tell_switches(self) -> None:
        bits = bytes(2 * ((self.switches + 7) // 8))
        self._tell(0x20, struct.pack("<IH", self.at_ms, self.switches) + bits + b"\x00")

    def _tell(self, kind: int, payload: bytes) -> None:
        self._waiting.append((kind, payload, self.at_ms))

    def _send_again(self) -> None:
        for number in range(len(self._outstanding)):
            self._say_numbered(number)
        self._due_ms = self.at_ms + self._wait_ms

    def _say_numbered(self, number: int) -> None:
        kind, payload, _ = self._outstanding[number]
        self._say(kind, payload, (self._oldest + number) % 65536)

    def _say(self, kind: int, payload: bytes = b"", sequence: int = 0) -> None:
        self._out.append(packet(kind, self.session, sequence, self._expected, payload))
        self._owes = False
