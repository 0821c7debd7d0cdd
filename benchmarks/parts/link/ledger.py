"""Compares sent with delivered messages: finds those wrong, out of order, or acknowledged and lost.

It reads what each end writes before the wire corrupts it, and is told what each end delivers; it knows nothing of how
the ends work inside.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from dataclasses import dataclass, field

from cobs import cobs

from firmware_bridge.protocol.codec import decode_message
from firmware_bridge.protocol.messages import FaultReport, LightFrame, Sound, Tone
from firmware_bridge.protocol.packets import SEQUENCE_NUMBERS, Kind, Packet, decode_packet, is_sequenced

_MOST_SHOWN = 20

Incarnation = tuple[int, int]
"""A session and the boot id of the packets' sender, or of the receiving device; a host's boot id is 0."""
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
    """The number in such a message; -1 if its checksum is wrong, ``None`` for other messages."""
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
    """The sent and delivered messages of one direction.

    Attributes:
        name: of the direction.
        written: sequenced packets in order, by session and the sender's boot.
        given: number of packets delivered in order, by session and the device's boot.
        delivered: messages delivered in all sessions.
        resent: packets retransmitted.
        wrong: the first twenty violations, in words.
        wrong_count: number of violations.
        newest_number: number of the light frame or fault report delivered last.
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
        """Read frames that the sender writes, with their acknowledgements for ``back``; give the number of frames.

        ``boot`` is the sender's, 0 for a host; ``back_boot`` is the boot of the device at either end.
        """
        count = 0
        for encoded in frames.split(b"\0"):
            if not encoded:
                continue
            count += 1
            packet = decode_packet(cobs.decode(encoded))
            if not packet.session:
                continue
            back.note_acknowledgement((packet.session, back_boot), packet.acknowledged)
            if is_sequenced(packet.kind):
                self._note_sequenced((packet.session, boot), packet)
        return count

    def note_acknowledgement(self, incarnation: Incarnation, expected: int) -> None:
        """Check the receiver's acknowledgement of all packets before ``expected``."""
        given = self.given[incarnation]
        if (given - expected) % SEQUENCE_NUMBERS >= SEQUENCE_NUMBERS // 2:
            self.report(f"acknowledged up to {expected}, given {given} (session, boot {incarnation})")

    def begin(self, written: Incarnation, given: Incarnation) -> None:
        """Note that the receiver begins a session: the incarnations of sender and receiver."""
        self._from, self._to = written, given

    def give(self, kind: int, payload: bytes) -> None:
        """Check a message that the receiver delivers, in its current session."""
        self.delivered += 1
        written, place = self.written[self._from], self.given[self._to]
        if place >= len(written):
            return self.report(f"given a message of kind {kind} that nobody sent (session, boot {self._to})")
        if written[place] != (kind, payload):
            return self.report(
                f"given {(kind, payload)!r} where {written[place]!r} was sent (session, boot {self._to})"
            )
        self.given[self._to] = place + 1
        number = number_in(kind, payload)
        if number is not None:
            if number < 0:
                return self.report(f"given a message whose own checksum is wrong: {payload!r}")
            if kind in _NEWEST_OF:
                self.newest_number = number
        return None

    def check_acknowledged(self, incarnation: Incarnation, count: int) -> None:
        """Check that as many of a session's packets were delivered as the sender holds for acknowledged."""
        if count > self.given[incarnation]:
            self.report(f"{count} acknowledged, only {self.given[incarnation]} given (session, boot {incarnation})")

    def check_everything_given(self, written: Incarnation, given: Incarnation) -> None:
        """Check, after a while without faults, that all packets of this session were delivered."""
        left = len(self.written[written]) - self.given[given]
        if left:
            self.report(f"{left} messages never came (session, boot {given})")

    def _note_sequenced(self, incarnation: Incarnation, packet: Packet) -> None:
        written, message = self.written[incarnation], (packet.kind, packet.payload)
        back = (len(written) - packet.sequence) % SEQUENCE_NUMBERS
        if back == 0:
            written.append(message)
        elif back > len(written) or written[len(written) - back] != message:
            self.report(f"number {packet.sequence} was written with two payloads (session, boot {incarnation})")
        else:
            self.resent += 1

    def report(self, words: str) -> None:
        """Note a violation."""
        self.wrong_count += 1
        if len(self.wrong) < _MOST_SHOWN:
            self.wrong.append(f"{self.name}: {words}")
