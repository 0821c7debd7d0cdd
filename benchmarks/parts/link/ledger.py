"""Who wrote what, and who was given what: finds every message that is wrong, out of order, or acknowledged and lost.

It reads what each end writes, before the wire spoils it, and hears of what each end hands on, and knows nothing of how
the two ends work inside.
"""

from __future__ import annotations

import struct
import zlib
from collections import defaultdict
from dataclasses import dataclass, field

from cobs import cobs

from firmware_bridge.protocol.codec import decode_message
from firmware_bridge.protocol.messages import FaultReport, LightFrame, Sound, Tone
from firmware_bridge.protocol.packets import Kind, is_sequenced

_HEADER = struct.Struct("<BHHH")
_NUMBERS = 1 << 16
_CHECKSUM_BYTES = 4
_MOST_TOLD = 20

Incarnation = tuple[int, int]
"""A session and the boot id of the device in it; a host's own packets are of boot 0, whatever device takes them."""
_NEWEST_OF = (Kind.LIGHTS_ALL, Kind.LIGHTS_LIT, Kind.FAULT)


def numbered_sound(number: int) -> Sound:
    """A sound that carries a number and that number's checksum."""
    checksum = zlib.crc32(number.to_bytes(4, "little"))
    return Sound((Tone(number & 0xFFFF, number >> 16), Tone(checksum & 0xFFFF, checksum >> 16)))


def numbered_lights(number: int, filler: bytes) -> LightFrame:
    """A light frame that carries a number, some filler, and the checksum of both."""
    body = number.to_bytes(4, "little") + filler
    colours = zlib.crc32(body).to_bytes(4, "little") + body + b"\xff"
    return LightFrame(colours + bytes(-len(colours) % 3))


def numbered_fault(number: int, filler: str) -> FaultReport:
    """A fault report that carries a number, some filler, and the checksum of both."""
    body = f"{number} {filler}"
    return FaultReport(1, number & 0xFFFF, f"{zlib.crc32(body.encode()):08x} {body}")


def number_in(kind: int, payload: bytes) -> int | None:
    """The number in such a message; -1 if its checksum is wrong, ``None`` for a message of another sort."""
    message = decode_message(kind, payload)
    if isinstance(message, Sound):
        number, checksum = (tone.frequency_hz | tone.milliseconds << 16 for tone in message.tones)
        return number if checksum == zlib.crc32(number.to_bytes(4, "little")) else -1
    if isinstance(message, LightFrame):
        colours = message.colours.rstrip(b"\0")
        body = colours[4:-1]
        return int.from_bytes(body[:4], "little") if colours[:4] == zlib.crc32(body).to_bytes(4, "little") else -1
    if isinstance(message, FaultReport):
        checksum_text, _, rest = message.text.partition(" ")
        return int(rest.split(" ")[0]) if checksum_text == f"{zlib.crc32(rest.encode()):08x}" else -1
    return None


@dataclass
class Ledger:
    """One direction: what its sender numbered, and what its receiver was given.

    Attributes:
        name: of the direction.
        written: sequenced packets in the order of their numbers, by session and its sender's boot.
        given: how many of a session's packets the receiver was given in order, by session and the device's boot.
        delivered: messages given, in all sessions.
        resent: packets that were written again.
        wrong: what must not be, in words; at most twenty are kept.
        wrong_count: how many there were.
        newest_number: the number of the light frame or fault report given last.
    """

    name: str
    written: dict[Incarnation, list[tuple[int, bytes]]] = field(default_factory=lambda: defaultdict(list))
    given: dict[Incarnation, int] = field(default_factory=lambda: defaultdict(int))
    delivered: int = 0
    resent: int = 0
    wrong: list[str] = field(default_factory=list)
    wrong_count: int = 0
    newest_number: int = -1
    _from: Incarnation = (0, 0)
    _to: Incarnation = (0, 0)

    def note_written(self, frames: bytes, boot: int, back: Ledger, back_boot: int) -> int:
        """Read what the sender writes, and its claims of what has arrived the other way; give how many frames.

        ``boot`` is the sender's, 0 for a host; ``back_boot`` the boot of the device that the sender is linked with, or
        is.
        """
        count = 0
        for encoded in frames.split(b"\0"):
            if not encoded:
                continue
            count += 1
            packet = cobs.decode(encoded)
            kind, session, sequence, acknowledged = _HEADER.unpack_from(packet)
            if not session:
                continue
            back.note_claimed((session, back_boot), acknowledged)
            if is_sequenced(kind):
                self._hear_numbered((session, boot), sequence, kind, packet[_HEADER.size : -_CHECKSUM_BYTES])
        return count

    def note_claimed(self, incarnation: Incarnation, expected: int) -> None:
        """Hear the receiver say that all before ``expected`` have arrived."""
        given = self.given[incarnation]
        if (given - expected) % _NUMBERS >= _NUMBERS // 2:
            self.complain(f"acknowledged up to {expected}, given {given} (session, boot {incarnation})")

    def begin(self, written: Incarnation, given: Incarnation) -> None:
        """Hear the receiver begin a session: whose packets it takes now, and as whom."""
        self._from, self._to = written, given

    def give(self, kind: int, payload: bytes) -> None:
        """Hear of a message that the receiver hands on, in the session it is in."""
        self.delivered += 1
        written, place = self.written[self._from], self.given[self._to]
        if place >= len(written):
            return self.complain(f"given a message of kind {kind} that nobody sent (session, boot {self._to})")
        if written[place] != (kind, payload):
            return self.complain(
                f"given {(kind, payload)!r} where {written[place]!r} was sent (session, boot {self._to})"
            )
        self.given[self._to] = place + 1
        number = number_in(kind, payload)
        if number is not None:
            if number < 0:
                return self.complain(f"given a message whose own checksum is wrong: {payload!r}")
            if kind in _NEWEST_OF:
                self.newest_number = number
        return None

    def check_acknowledged(self, incarnation: Incarnation, count: int) -> None:
        """Hear the sender say that so many of a session's packets were acknowledged; each must have been given."""
        if count > self.given[incarnation]:
            self.complain(f"{count} acknowledged, only {self.given[incarnation]} given (session, boot {incarnation})")

    def check_everything_given(self, written: Incarnation, given: Incarnation) -> None:
        """At the end, when nothing was in the way for a while: all that was sent in this session must be there."""
        left = len(self.written[written]) - self.given[given]
        if left:
            self.complain(f"{left} messages never came (session, boot {given})")

    def _hear_numbered(self, incarnation: Incarnation, sequence: int, kind: int, payload: bytes) -> None:
        written = self.written[incarnation]
        back = (len(written) - sequence) % _NUMBERS
        if back == 0:
            written.append((kind, payload))
        elif back > len(written) or written[len(written) - back] != (kind, payload):
            self.complain(f"number {sequence} was written with two payloads (session, boot {incarnation})")
        else:
            self.resent += 1

    def complain(self, words: str) -> None:
        """Note that something is as it must not be."""
        self.wrong_count += 1
        if len(self.wrong) < _MOST_TOLD:
            self.wrong.append(f"{self.name}: {words}")
