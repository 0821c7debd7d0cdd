"""Feeds millions of corrupted bytes to the packet parsers of both sides.

Five kinds alternate: random bytes; valid frames of packets with flipped bits; frames with changed bits or bytes; the
head of one frame with the tail of another; and intact frames, the only ones that must be accepted.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Protocol

from cobs import cobs

from firmware_bridge.firmware.core.packets import PacketHandler
from firmware_bridge.firmware.core.packets import PacketReader as DeviceReader
from firmware_bridge.protocol.packets import PacketReader as HostReader
from firmware_bridge.protocol.packets import encode_frame

KINDS = ("random", "miscounted", "changed", "spliced", "whole")
_PIECE_BYTES = 64 * 1024
_ZERO_SHARE = 0.05
_LARGEST_PAYLOAD = 1024
_USUAL_PAYLOADS = (0, 1, 4, 11, 30, 100, 247)


class Parser(Protocol):
    """A parser under test; it gives packets as bytes without the checksum."""

    def feed(self, data: bytes) -> list[bytes]:
        """Parse received bytes; give the accepted packets."""

    @property
    def compared(self) -> int:
        """Number of frames whose checksum was compared."""


class HostParser:
    """The host's parser."""

    def __init__(self) -> None:
        self._reader = HostReader()

    def feed(self, data: bytes) -> list[bytes]:
        """Parse received bytes; give the accepted packets."""
        return self._reader.feed(data)

    @property
    def compared(self) -> int:
        """Number of frames whose checksum was compared."""
        return self._reader.packets + self._reader.dropped.checksum


class DeviceParser(PacketHandler):
    """The microcontroller's parser."""

    def __init__(self) -> None:
        self._reader = DeviceReader(self)
        self._accepted: list[bytes] = []

    def handle_packet(self, packet: memoryview, now: int) -> None:
        """Collect an accepted packet."""
        del now
        self._accepted.append(bytes(packet))

    def feed(self, data: bytes) -> list[bytes]:
        """Parse received bytes; give the accepted packets."""
        self._accepted = []
        self._reader.feed(data, 0)
        return self._accepted

    @property
    def compared(self) -> int:
        """Number of frames whose checksum was compared."""
        return self._reader.accepted + self._reader.wrong_checksum


PARSERS: dict[str, Callable[[], Parser]] = {"host": HostParser, "device": DeviceParser}


@dataclass
class Fuzzed:
    """The results of one side's parser; ``byte_count`` leaves out intact frames."""

    parser: str
    byte_count: int = 0
    whole_sent: int = 0
    accepted: int = 0
    accepted_unsent: int = 0
    whole_missed: int = 0
    compared: int = 0
    crash: str | None = None
    fed: Counter[str] = field(default_factory=Counter)

    def add(self, other: Fuzzed) -> None:
        """Add another run of the same parser."""
        for name in ("byte_count", "whole_sent", "accepted", "accepted_unsent", "whole_missed", "compared"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.crash = self.crash or other.crash
        self.fed += other.fed

    @property
    def expected_unsent(self) -> float:
        """Expected number of corrupted frames that pass the 32-bit checksum by chance."""
        return (self.compared - self.whole_sent) / 2**32

    @property
    def met(self) -> bool:
        """Whether it accepted all intact frames, and only those, without a crash."""
        return self.crash is None and not self.accepted_unsent and not self.whole_missed


class FuzzSource:
    """Draws the bytes; the same seed gives the same ones."""

    def __init__(self, seed: int | str) -> None:
        self._rng = Random(f"{seed} fuzz")

    def stream(self, byte_count: int) -> tuple[bytes, list[bytes], Counter[str]]:
        """Give at least so many bytes, the packets (without checksum) of its intact frames, and the bytes by kind."""
        drawn: dict[bytes, bytes] = {}
        fed: Counter[str] = Counter()
        stream = bytearray()
        while len(stream) < byte_count:
            for kind in KINDS:
                piece = self._piece(kind, drawn)
                fed[kind] += len(piece)
                stream += piece
        stream += b"\0"
        # A corrupted frame may be intact by chance, so the bytes themselves are searched.
        data = bytes(stream)
        return data, [drawn[one] for one in data.split(b"\0") if one in drawn], fed

    def _piece(self, kind: str, drawn: dict[bytes, bytes]) -> bytes:
        rng = self._rng
        if kind == "random":
            data = bytearray(rng.randbytes(rng.randrange(1, 400)))
            # Uniform bytes give frames of 256 bytes on average; extra zeros give short ones too.
            for _ in range(int(len(data) * _ZERO_SHARE * rng.random())):
                data[rng.randrange(len(data))] = 0
            return bytes(data)
        packet, frame = self._frame(drawn)
        if kind == "whole":
            return frame
        if kind == "spliced":
            _, other = self._frame(drawn)
            return frame[: rng.randrange(len(frame))] + other[rng.randrange(len(other)) :]
        if kind == "miscounted":
            flipped: bytes = b"\0" + cobs.encode(self._flipped(packet)) + b"\0"
            return flipped
        return self._changed(frame)

    def cut(self, data: bytes) -> list[bytes]:
        """Split data into the sizes of reads."""
        rng = self._rng
        pieces = []
        start = 0
        while start < len(data):
            size = rng.choice((1, 7, 64, 512, 4096))
            pieces.append(data[start : start + size])
            start += size
        return pieces

    def _frame(self, drawn: dict[bytes, bytes]) -> tuple[bytes, bytes]:
        """A packet with its checksum, and its frame."""
        rng = self._rng
        length = rng.choice(_USUAL_PAYLOADS) if rng.random() < 0.97 else rng.randrange(_LARGEST_PAYLOAD + 1)
        packet = rng.randbytes(7 + length)
        frame = encode_frame(packet)
        drawn[frame.strip(b"\0")] = packet
        return packet + zlib.crc32(packet).to_bytes(4, "little"), frame

    def _flipped(self, packet: bytes) -> bytes:
        rng = self._rng
        flipped = bytearray(packet)
        for bit in rng.sample(range(8 * len(packet)), rng.choice((1, 2, 3, 4, 8, 32))):
            flipped[bit >> 3] ^= 1 << (bit & 7)
        return bytes(flipped)

    def _changed(self, frame: bytes) -> bytes:
        rng = self._rng
        data = bytearray(frame)
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            at = rng.randrange(len(data)) if data else 0
            match rng.randrange(5) if data else 2:
                case 0:
                    data[at] ^= 1 << rng.randrange(8)
                case 1:
                    del data[at]
                case 2:
                    data.insert(at, rng.randrange(256))
                case 3:
                    data[at] = rng.randrange(256)
                case _:
                    del data[at : at + rng.randrange(1, 9)]
        return bytes(data)


def fuzz(parser_name: str, byte_count: int, seed: int) -> Fuzzed:
    """Feed so many bytes to one side's parser."""
    parser, source, result = PARSERS[parser_name](), FuzzSource(seed), Fuzzed(parser_name)
    while result.byte_count < byte_count:
        stream, sent, fed = source.stream(min(_PIECE_BYTES, byte_count - result.byte_count))
        accepted: list[bytes] = []
        try:
            for read in source.cut(stream):
                accepted += parser.feed(read)
        except Exception as error:  # noqa: BLE001 # any error at all is what this looks for, and is reported
            result.crash = f"{type(error).__name__}: {error}"
            break
        result.byte_count += len(stream) - fed["whole"]
        result.fed += fed
        result.whole_sent += len(sent)
        result.accepted += len(accepted)
        if accepted != sent:
            result.accepted_unsent += (Counter(accepted) - Counter(sent)).total()
            result.whole_missed += (Counter(sent) - Counter(accepted)).total()
    result.compared = parser.compared
    return result
