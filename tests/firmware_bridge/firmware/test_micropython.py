"""The firmware's core in the real MicroPython interpreter: it keeps to the vectors and does as in CPython."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from cobs import cobs

from firmware_bridge.protocol.codec import encode_message
from firmware_bridge.protocol.messages import Configure, Hello, Leave, LightFrame, Ping, Snapshot, Sound, Tone
from firmware_bridge.protocol.packets import Kind, Packet, encode_packet, packet_frame

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "firmware_bridge" / "firmware" / "core"
VECTORS = json.loads((ROOT / "tests" / "data" / "protocol-vectors.json").read_text(encoding="utf-8"))

PIN_MAP = json.dumps(
    {
        "format": 1,
        "board": "pico",
        "lights": {"pin": 0, "count": 300, "limit_ma": 2000},
        "matrix": {"rows": [1, 2, 3, 4, 5, 6, 7, 8], "columns": [9, 10, 11, 12, 13, 14, 15, 16]},
        "switches": [17, 18],
        "buttons": [19, 20],
        "buzzer": {"pin": 21},
    }
)
SESSION = 4711


def frame(message, sequence=0, acknowledged=0, session=SESSION):
    """The frame of a message of the host."""
    kind, payload = encode_message(message)
    return packet_frame(Packet(kind, session, sequence, acknowledged, payload))


def test_every_vector_holds(script):
    results = script("vectors", VECTORS)
    assert len(results) > 100
    assert [result for result in results if result["wrong"]] == []


def test_a_vector_that_is_wrong_is_found(script):
    """The scripts can fail: each kind of vector, spoilt, is told."""
    checksum, framing, message = VECTORS["checksums"][3], VECTORS["framing"][5], VECTORS["messages"][15]
    conversation = next(one for one in VECTORS["conversations"] if one["name"] == "silence")
    steps = [
        {**step, "lights": "00ff00"} if step.get("lights") == "waiting" else step for step in conversation["steps"]
    ]
    spoilt = {
        "checksums": [{**checksum, "crc": checksum["crc"] ^ 1}],
        "framing": [{**framing, "frame": framing["frame"][:-4] + "7700"}],
        "messages": [{**message, "sequence": message["sequence"] ^ 1}],
        "bad": [{**VECTORS["bad"][2], "counted": {"short": 1}}],
        "device": VECTORS["device"],
        "conversations": [{**conversation, "steps": steps}],
    }
    results = script("vectors", spoilt)
    assert len(results) == 5
    assert all(result["wrong"] for result in results)


def test_the_whole_core_is_imported(in_micropython):
    names = sorted(file.stem for file in CORE.glob("*.py") if file.stem != "__init__")
    assert in_micropython("importing", names) == [{"module": name, "own": True} for name in names]


class Acting:
    """Random things that happen to a device."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.at_ms = 0
        self.session = 0
        self.sequence = 0
        self.acknowledged = 0
        self.acts: list[tuple[int, str, object]] = []

    def case(self) -> dict[str, object]:
        starts_ms = self.rng.choice([0, 5, (1 << 30) - 1500, 123_456_789])
        for _ in range(self.rng.randrange(25, 60)):
            self.at_ms += self.rng.choice([0, 0, 1, 2, 5, 11, 24, 60, 90, 130])
            self.rng.choice([self.host, self.host, self.host, self.contacts, self.contacts, self.port])()
        acts = [*self.acts, (self.at_ms + 3200, "room", 1 << 30)]
        return {
            "pin_map": PIN_MAP,
            "boot_id": self.rng.getrandbits(32),
            "reset_cause": self.rng.choice([0, 1]),
            "starts_ms": starts_ms,
            "acts": acts,
        }

    def add(self, what: str, value: object) -> None:
        self.acts.append((self.at_ms, what, value))

    def host(self) -> None:
        rng = self.rng
        if not self.session or rng.random() < 0.05:
            self.session, self.sequence, self.acknowledged = rng.randrange(1, 65536), 0, 0
            sent = frame(Hello(1, rng.choice([1, 1, 3])), session=self.session)
        else:
            sent = self.message()
        if rng.random() < 0.1:
            damaged = bytearray(sent)
            damaged[rng.randrange(len(sent))] ^= 1 << rng.randrange(8)
            sent = bytes(damaged)
        for piece in (sent[:7], sent[7:]) if rng.random() < 0.2 else (sent,):
            self.add("arrives", piece.hex())

    def message(self) -> bytes:
        rng = self.rng
        colours = rng.randbytes(3 * rng.choice([0, 1, 8, 64, 300, 310]))
        few = bytearray(900)
        few[rng.randrange(900)] = 255
        message = rng.choice(
            [
                LightFrame(colours),
                LightFrame(bytes(few)),
                Sound(tuple(Tone(rng.randrange(2000), rng.randrange(80)) for _ in range(rng.randrange(4)))),
                Configure(
                    silence_ms=rng.choice([0, 300, 3000]),
                    debounce_ms=rng.choice([0, 5, 20, 900]),
                    long_press_ms=rng.choice([0, 100, 1000]),
                    brightness=rng.choice([255, 255, 20, 1, 0]),
                    current_limit_ma=rng.choice([0, 400, 60000]),
                    snapshot_every_ms=rng.choice([0, 0, 200]),
                ),
                Snapshot(),
                *([Leave()] if rng.random() < 0.1 else []),
                Ping(rng.getrandbits(32)),
            ]
        )
        self.acknowledged = min(65535, self.acknowledged + rng.choice([0, 0, 1, 1, 2]))
        if isinstance(message, Ping):
            return bytes(frame(message, 0, self.acknowledged, self.session))
        sequence = max(0, self.sequence + rng.choice([0, 0, 0, 0, 0, 0, -1, 1]))
        self.sequence += sequence == self.sequence
        return bytes(frame(message, sequence, self.acknowledged, self.session))

    def contacts(self) -> None:
        masks = [self.rng.choice([0, 0, 0, 1, 2, 3, 129]) for _ in range(8)] + [self.rng.randrange(4)]
        if self.rng.random() < 0.5:
            self.add("masks", masks)
        else:
            self.add("pressed", self.rng.randrange(4))

    def port(self) -> None:
        self.add("room", self.rng.choice([0, 1, 5, 40, 1 << 30, 1 << 30]))


def compare(in_cpython, in_micropython, seeds):
    cases = [Acting(seed).case() for seed in seeds]
    here, there = in_cpython("acting", cases), in_micropython("acting", cases)
    for seed, one, other in zip(seeds, here, there, strict=True):
        assert one == other, f"seed {seed}"
    return here


def test_a_device_does_the_same_in_both(in_cpython, in_micropython):
    results = compare(in_cpython, in_micropython, [3, 11, 29])
    # These cases are worth comparing only if much happens in them.
    kinds = {packet["kind"] for result in results for _, packet in result["sent"]}
    assert kinds >= {"WELCOME", "RESTARTED", "SENSORS", "BUTTON", "FAULT", "PONG", "MISSING", "ACKNOWLEDGED"}
    assert any(result["restarts"] for result in results)
    assert any(result["tones"] for result in results)
    assert sum(len(result["shown"]) for result in results) > 80
    assert any(True in packet["fields"].get("doubtful", ()) for result in results for _, packet in result["sent"])


@pytest.mark.long
def test_a_device_does_the_same_in_both_many_times(in_cpython, in_micropython):
    for start in range(100, 180, 20):
        compare(in_cpython, in_micropython, range(start, start + 20))


def test_random_packets_go_round_as_the_host_writes_them(script):
    rng = random.Random(5)
    framing, messages = [], []
    for _ in range(150):
        length = rng.choice([0, 1, 253, 254, 255, 256, 508, 509, 510, rng.randrange(1036)])
        packet = bytes(rng.choice([0, 0, 255, rng.randrange(256)]) for _ in range(length))
        if rng.random() < 0.4:
            packet = packet.replace(b"\0", b"\1")
        framing.append({"packet": packet.hex(), "frame": (b"\0" + cobs.encode(packet) + b"\0").hex()})
        payload = rng.randbytes(rng.randrange(60))
        kind = rng.choice([Kind.SENSORS, Kind.LOG])
        first, second, third = (rng.choice([0, 1, 65535, rng.getrandbits(16)]) for _ in "123")
        made = Packet(kind, first, second, third, payload)
        messages.append(
            {
                "number": made.kind,
                "session": made.session,
                "sequence": made.sequence,
                "acknowledged": made.acknowledged,
                "fields": {},
                "payload": payload.hex(),
                "packet": encode_packet(made).hex(),
                "frame": packet_frame(made).hex(),
            }
        )
    results = script(
        "vectors", {"checksums": [], "framing": framing, "messages": messages, "bad": [], "conversations": []}
    )
    assert len(results) == 300
    assert [result for result in results if result["wrong"]] == []


def test_rubbish_is_dropped_and_what_was_sent_is_taken(script):
    planted = [
        frame(Ping(0), session=9),
        frame(LightFrame(bytes(range(1, 199)))),
        frame(Hello(1, 1)),
        frame(LightFrame(b"\xff" * 900), 3),
        frame(Snapshot(), 1),
        frame(Configure(3000, 20, 1000, 255, 0, 0), 2),
    ]
    data = {"pin_map": PIN_MAP, "planted": [piece.hex() for piece in planted], "seed": 77, "bytes": 100_000}
    (result,) = script("fuzz", data)
    assert result["fed"] >= 100_000
    assert result["accepted"] == result["whole"] > 50
    assert result["dropped"] > 100


def test_the_memory_that_the_firmware_takes_is_as_documented(in_micropython):
    frames = [frame(Hello(1, 1)), frame(LightFrame(b"\x40" * 900)), frame(LightFrame(b"\x90" * 900), 1)]
    data = {"pin_map": PIN_MAP, "frames": [one.hex() for one in frames]}
    functions = ("before", "imported", "made", "used", "after")
    measured = {one["when"]: one["bytes"] for one in in_micropython("memory", data, *functions, heap_bytes=190_000)}
    code, device = measured["imported"] - measured["before"], measured["used"] - measured["imported"]
    # docs/firmware.md tells these; a Pico's heap has some 190 kB.
    assert 20_000 < code < 60_000
    assert 5_000 < device < 20_000
    # A thousand idle passes leave hardly any garbage (from what is sent again here, as nobody acknowledges it).
    assert measured["idle"] < 20_000
