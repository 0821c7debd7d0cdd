#!/usr/bin/env python3
"""Writes tests/data/protocol-vectors.json, the test vectors for both ends of the link.

docs/internals/protocol.md describes the format.

Run: python scripts/protocol_vectors.py [--check]

The output is deterministic. With ``--check`` it only checks that the file is up to date; exit code 1 if it is not.
"""

import argparse
import json
import random
import sys
import zlib
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from firmware_bridge.protocol.codec import encode_message  # noqa: E402
from firmware_bridge.protocol.messages import (  # noqa: E402
    ButtonReport,
    Configure,
    FaultReport,
    Hello,
    Leave,
    LightFrame,
    Log,
    Message,
    Ping,
    Pong,
    Refused,
    Restarted,
    SensorReport,
    Snapshot,
    Sound,
    SwitchChange,
    Tone,
    Welcome,
)
from firmware_bridge.protocol.packets import (  # noqa: E402
    LARGEST_PACKET,
    Kind,
    Packet,
    encode_frame,
    encode_packet,
    is_sequenced,
    may_come_from_host,
    packet_frame,
)
from scripts.protocol_conversations import DEVICE, conversations  # noqa: E402

FILE = ROOT / "tests" / "data" / "protocol-vectors.json"

Json = dict[str, Any]


def checksums() -> list[Json]:
    """Bytes and their CRC-32."""
    chance = random.Random(32)
    data = [b"", b"\x00", b"\xff", b"a", b"123456789", bytes(4), bytes(range(256)), b"\xff" * 32, bytes(1031)]
    data += [chance.randbytes(length) for length in (2, 3, 7, 64, 1031)]
    return [{"bytes": piece.hex(), "crc": zlib.crc32(piece)} for piece in data]


def framings() -> list[Json]:
    """Packets of arbitrary bytes, and their frames; lengths are around those at which COBS begins another block."""
    chance = random.Random(254)
    made = []
    for length in (0, 1, 2, 11, 253, 254, 255, 507, 508, 509, LARGEST_PACKET - 1, LARGEST_PACKET):
        full = bytes(1 + at % 255 for at in range(length))
        made.append((f"{length} bytes without a zero", full))
        made.append((f"{length} bytes of chance", chance.randbytes(length)))
        made.append((f"{length} zeros", bytes(length)))
        for at in sorted({0, length // 2, length - 1}):
            if length > at >= 0:
                made.append((f"{length} bytes, byte {at} is zero", full[:at] + b"\x00" + full[at + 1 :]))
    return [{"name": name, "packet": packet.hex(), "frame": encode_frame(packet).hex()} for name, packet in made]


EVERY_MESSAGE: tuple[tuple[str, Message], ...] = (
    ("hello", Hello(1, 1)),
    ("hello of a later host", Hello(1, 7)),
    (
        "welcome",
        Welcome(
            version=1,
            firmware=(1, 4, 2),
            boot_id=0xDEADBEEF,
            time_ms=12_345,
            largest_payload=1024,
            window=4,
            lights=64,
            switches=64,
            buttons=2,
            buzzer=2,
            pin_map_checksum=0x0BADCAFE,
            reset_cause=0,
            board="Raspberry Pi Pico",
        ),
    ),
    ("welcome of a bare board", Welcome(1, (0, 0, 0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, "")),
    ("welcome of a board with an accent", Welcome(1, (255, 255, 255), 1, 2, 3, 4, 5, 6, 7, 1, 9, 2, "Éclair")),
    ("refused", Refused(2, 3, "only versions 2 to 3")),
    ("refused without words", Refused(2, 2)),
    ("restarted", Restarted(0x01020304)),
    ("ping", Ping(0)),
    ("ping, the highest token", Ping(0xFFFFFFFF)),
    ("pong", Pong(1, 0xFFFFFFFF)),
    ("log", Log(30, 65_535, 4_294_967_295, "the strip is long")),
    ("log, cut at 200 bytes", Log(10, 0, 0, "é" * 101)),
    ("lights, none", LightFrame(b"")),
    ("lights, one", LightFrame(bytes((1, 2, 3)))),
    ("lights, dark ones at the end", LightFrame(bytes((0, 0, 255, 0, 0, 0, 0, 0, 0)))),
    ("lights, few of many", LightFrame(bytes(30) + bytes((255, 128, 0)) + bytes(90) + bytes((0, 0, 1)))),
    ("lights, one far away", LightFrame(bytes(3 * 299) + bytes((0, 255, 0)))),
    ("lights, 300 of them", LightFrame(bytes(1 + at % 255 for at in range(900)))),
    ("lights, as many as fit", LightFrame(b"\xff" * 3 * 340)),
    ("silence", Sound(())),
    ("sound", Sound((Tone(880, 120), Tone(0, 40), Tone(1760, 250)))),
    ("sound, the longest", Sound((Tone(65_535, 65_535),) * 255)),
    ("configure", Configure()),
    ("configure everything", Configure(65_535, 1, 65_535, 0, 65_535, 65_535)),
    ("snapshot", Snapshot()),
    ("leave", Leave()),
    ("sensors, none", SensorReport(0, (), ())),
    ("sensors, eight", SensorReport(1000, (True,) + (False,) * 7, (False,) * 7 + (True,))),
    (
        "sensors, nine and changes",
        SensorReport(
            70_000,
            (False,) * 8 + (True,),
            (True,) * 8 + (False,),
            (SwitchChange(8, True, 35), SwitchChange(0, False, 0), SwitchChange(0, True, 65_535)),
        ),
    ),
    ("button pressed", ButtonReport(0, 0, 1, 5000)),
    ("button held", ButtonReport(1, 0, 2, 5000, 1000)),
    ("button released", ButtonReport(65_535, 255, 3, 4_294_967_295, 65_535)),
    ("fault", FaultReport(2, 300, "light 300 is beyond the strip of 64")),
    ("fault without words", FaultReport(6, 0)),
)


def plain(value: Any) -> Any:
    """A field's value for JSON: bytes in hexadecimal, dataclasses as lists."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Tone | SwitchChange):
        return [plain(getattr(value, field.name)) for field in fields(value)]
    return value


def written(message: Message) -> Message:
    """The message as received: long texts cut, trailing dark lights removed."""
    if isinstance(message, LightFrame):
        return message.trimmed()
    if isinstance(message, Log):
        text = message.text.encode()[:200].decode(errors="ignore")
        return Log(message.level, message.counter, message.time_ms, text)
    return message


def messages() -> list[Json]:
    """One or more packets of every kind of message."""
    chance = random.Random(16)
    told = []
    for name, message in EVERY_MESSAGE:
        kind, payload = encode_message(message)
        sequence = chance.randrange(1 << 16) if is_sequenced(kind) else 0
        session = 0 if kind is Kind.RESTARTED else chance.randrange(1, 1 << 16)
        acknowledged = 0 if session == 0 or kind in (Kind.HELLO, Kind.WELCOME) else chance.randrange(1 << 16)
        sender = "host" if may_come_from_host(kind) else "device"
        told.append(_told(name, sender, written(message), Packet(kind, session, sequence, acknowledged, payload)))
    for kind in (Kind.ACKNOWLEDGED, Kind.MISSING):
        told.append(_told(kind.name.lower(), "both", None, Packet(kind, 0x1234, 0, 0xFFFF)))
    return told


def _told(name: str, sender: str, arrived: Message | None, packet: Packet) -> Json:
    """A packet as the file has it, with the message that arrives in it."""
    return {
        "name": name,
        "kind": Kind(packet.kind).name,
        "number": int(packet.kind),
        "from": sender,
        "message": arrived and type(arrived).__name__,
        "fields": {field.name: plain(getattr(arrived, field.name)) for field in fields(arrived)} if arrived else {},
        "session": packet.session,
        "sequence": packet.sequence,
        "acknowledged": packet.acknowledged,
        "payload": packet.payload.hex(),
        "packet": encode_packet(packet).hex(),
        "frame": packet_frame(packet).hex(),
    }


def bad_frames() -> list[Json]:
    """Faulty byte streams, the valid packets in them, and the counts of errors."""
    good = Packet(Kind.PING, 0x4321, 0, 5, b"\x07\x00\x00\x00")
    frame = packet_frame(good)
    body = encode_packet(good)
    flipped = bytearray(body)
    flipped[8] ^= 0x10
    too_long = encode_frame(bytes(1 + at % 255 for at in range(LARGEST_PACKET)))
    many_zeros = b"\x00" + b"\x01" * 1040 + b"\x00"

    def case(name: str, data: bytes, packets: int, **counted: int) -> Json:
        return {"name": name, "bytes": data.hex(), "packets": [body.hex()] * packets, "counted": counted}

    return [
        case("nothing", b"", 0),
        case("zeros only", bytes(50), 0),
        case("a good frame", frame, 1),
        case("two good frames", frame + frame, 2),
        case("two good frames that share a zero", frame + frame[1:], 2),
        case("garbage before a good frame", b"\x09garbage" + frame, 1, undecodable=1),
        case("text before a good frame", b"MicroPython v1.27\r\n>>> " + frame, 1, undecodable=1),
        case("no zero before the first frame", frame[1:], 1),
        case("the end is missing", frame[:-4] + frame, 1, undecodable=1),
        case("a code that points beyond the end", b"\x00\x05\x01\x02\x00", 0, undecodable=1),
        case("no packet", b"\x00\x01\x00", 0, short=1),
        case("ten bytes", encode_frame(body[:10]), 0, short=1),
        case("ten zeros", encode_frame(bytes(10)), 0, short=1),
        case("eleven zeros", encode_frame(bytes(11)), 0, checksum=1),
        case("a flipped bit", encode_frame(bytes(flipped)), 0, checksum=1),
        case("a byte too many", encode_frame(body + b"\x01"), 0, checksum=1),
        case("a byte too few", encode_frame(body[:-1]), 0, checksum=1),
        case("the checksum the wrong way round", encode_frame(body[:-4] + body[:-5:-1]), 0, checksum=1),
        case("the longest frame, of no packet", too_long, 0, checksum=1),
        case("1041 encoded bytes", b"\x00" + b"\x02" * 1041 + b"\x00" + frame, 1, long=1),
        case("1040 encoded bytes that decode to 1039", many_zeros + frame, 1, long=1),
        case("5000 bytes without a zero", b"\x55" * 5000 + b"\x00" + frame, 1, long=1),
        case("5000 bytes without an end", b"\x55" * 5000, 0, long=1),
        case("cut off, then good", frame[: len(frame) // 2] + b"\x00" + frame, 1, undecodable=1),
        case("another way to write it", _with_empty_last_block(), 0, checksum=1),
    ]


def _with_empty_last_block() -> bytes:
    """254 bytes without a zero, encoded with an empty last block, as by some encoders."""
    return encode_frame(b"\x11" * 254)[:-1] + b"\x01\x00"


def build() -> Json:
    """All vectors."""
    return {
        "protocol": 1,
        "checksums": checksums(),
        "framing": framings(),
        "messages": messages(),
        "bad": bad_frames(),
        "device": DEVICE,
        "conversations": conversations(),
    }


def as_text() -> str:
    """The file's text: one vector a line."""
    lines = []
    for key, value in build().items():
        if isinstance(value, list):
            rows = ",\n".join("  " + json.dumps(row) for row in value)
            lines.append(f" {json.dumps(key)}: [\n{rows}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file, or check it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="only check that the file is up to date")
    text = as_text()
    if parser.parse_args(arguments).check:
        same = FILE.exists() and FILE.read_text(encoding="utf-8") == text
        print(f"{FILE.relative_to(ROOT)} is {'up to date' if same else 'out of date: run this without --check'}")
        return 0 if same else 1
    FILE.write_text(text, encoding="utf-8")
    print(f"wrote {FILE.relative_to(ROOT)}, {FILE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
