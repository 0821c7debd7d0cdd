"""The firmware's core in the real MicroPython interpreter: it keeps to the vectors and does as in CPython."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from cobs import cobs

from firmware_bridge.protocol.messages import BoardSettings, HostState, Tone, Wanted, encode_packet
from firmware_bridge.protocol.packets import encode_frame

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
BOOT_ID = 4711


def frame(state):
    """The frame of a host's state."""
    return encode_frame(encode_packet(state))


def test_every_vector_holds(script):
    results = script("vectors", VECTORS)
    assert len(results) > 100
    assert [result for result in results if result["wrong"]] == []


def test_a_vector_that_is_wrong_is_found(script):
    """The scripts can fail: each kind of vector, spoilt, is told."""
    checksum, framing, message = VECTORS["checksums"][3], VECTORS["framing"][5], VECTORS["messages"][5]
    conversation = next(one for one in VECTORS["conversations"] if one["name"] == "silence")
    steps = [
        {**step, "lights": "00ff00"} if step.get("lights") == "waiting" else step for step in conversation["steps"]
    ]
    spoilt = {
        "checksums": [{**checksum, "crc": checksum["crc"] ^ 1}],
        "framing": [{**framing, "frame": framing["frame"][:-4] + "7700"}],
        "messages": [{**message, "packet": message["packet"][:-2]}],
        "bad": [{**VECTORS["bad"][2], "counted": {"short": 2}}],
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
        self.boot_id = 0
        self.taken = [0, 0]
        self.acts: list[tuple[int, str, object]] = []

    def case(self) -> dict[str, object]:
        starts_ms = self.rng.choice([0, 5, (1 << 30) - 1500, 123_456_789])
        for _ in range(self.rng.randrange(25, 60)):
            self.at_ms += self.rng.choice([0, 0, 1, 2, 5, 11, 24, 60, 90, 130])
            self.rng.choice([self.host, self.host, self.host, self.contacts, self.contacts, self.port])()
        acts = [*self.acts, (self.at_ms + 3200, "room", 1 << 30)]
        return {
            "pin_map": PIN_MAP,
            "boot_id": BOOT_ID,
            "reset_cause": self.rng.choice([0, 1]),
            "starts_ms": starts_ms,
            "acts": acts,
        }

    def add(self, what: str, value: object) -> None:
        self.acts.append((self.at_ms, what, value))

    def host(self) -> None:
        rng = self.rng
        if not self.boot_id or rng.random() < 0.05:
            self.boot_id = BOOT_ID
            sent = frame(HostState(0, rng.randrange(1, 65536)))
        else:
            sent = frame(self.state())
        if rng.random() < 0.1:
            damaged = bytearray(sent)
            damaged[rng.randrange(len(sent))] ^= 1 << rng.randrange(8)
            sent = bytes(damaged)
        for piece in (sent[:7], sent[7:]) if rng.random() < 0.2 else (sent,):
            self.add("arrives", piece.hex())

    def state(self) -> HostState:
        rng = self.rng
        few = bytearray(900)
        few[rng.randrange(900)] = 255
        colours = rng.choice([None, bytes(few), rng.randbytes(3 * rng.choice([0, 1, 8, 64, 300, 310]))])
        settings = BoardSettings(
            silence_ms=rng.choice([0, 300, 3000]),
            debounce_ms=rng.choice([0, 5, 20, 900]),
            brightness=rng.choice([255, 255, 20, 1, 0]),
            current_limit_ma=rng.choice([0, 400, 60000]),
        )
        tones = tuple(Tone(rng.randrange(2000), rng.randrange(80)) for _ in range(rng.randrange(4)))
        wanted = Wanted(rng.randrange(1, 65536), settings, colours, rng.choice([0, rng.randrange(65536)]), tones)
        self.taken = [count + rng.choice([0, 0, 0, 1]) for count in self.taken]
        return HostState(
            BOOT_ID,
            rng.randrange(1, 65536),
            tuple(self.taken),
            leaves=rng.random() < 0.01,
            wanted=rng.choice([None, wanted, wanted]),
        )

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
    results = compare(in_cpython, in_micropython, [7, 8, 12])
    # These cases are worth comparing only if much happens in them.
    states = [packet["fields"] for result in results for _, packet in result["sent"]]
    assert any("trouble" in fields for fields in states)
    assert any(fields.get("limited_ma") for fields in states)
    assert any(any(fields.get("presses", ())) for fields in states)
    assert any(result["restarts"] for result in results)
    assert any(result["tones"] for result in results)
    assert sum(len(result["shown"]) for result in results) > 80
    assert any(True in fields.get("doubtful", ()) for fields in states)


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
        made = rng.randbytes(2 + rng.randrange(60))
        messages.append({"packet": made.hex(), "frame": encode_frame(made).hex()})
    results = script(
        "vectors", {"checksums": [], "framing": framing, "messages": messages, "bad": [], "conversations": []}
    )
    assert len(results) == 300
    assert [result for result in results if result["wrong"]] == []


def test_rubbish_is_dropped_and_what_was_sent_is_taken(script):
    planted = [
        frame(HostState(0, 9)),
        frame(HostState(1, 10, (0, 0), wanted=Wanted(1, colours=bytes(range(1, 199))))),
        frame(HostState(1, 11, (0, 0))),
        frame(HostState(1, 12, (0, 0), wanted=Wanted(2, colours=b"\xff" * 900))),
        frame(HostState(1, 13, (1, 2), wanted=Wanted(3, sound=4, tones=(Tone(440, 100),)))),
    ]
    data = {"pin_map": PIN_MAP, "planted": [piece.hex() for piece in planted], "seed": 77, "bytes": 100_000}
    (result,) = script("fuzz", data)
    assert result["fed"] >= 100_000
    assert result["accepted"] == result["whole"] > 50
    assert result["dropped"] > 100


def test_the_memory_that_the_firmware_takes_is_as_documented(in_micropython):
    shown = [
        HostState(1, 2 + at, (), wanted=Wanted(2 + at, colours=colour * 900)) for at, colour in enumerate((b"@", b"~"))
    ]
    frames = [frame(HostState(0, 1)), *map(frame, shown)]
    data = {"pin_map": PIN_MAP, "frames": [one.hex() for one in frames]}
    functions = ("before", "imported", "made", "used", "after")
    measured = {one["when"]: one["bytes"] for one in in_micropython("memory", data, *functions, heap_bytes=190_000)}
    code, device = measured["imported"] - measured["before"], measured["used"] - measured["imported"]
    # docs/firmware.md tells these; a Pico's heap has some 190 kB.
    assert 20_000 < code < 60_000
    assert 5_000 < device < 20_000
    # A thousand idle passes leave hardly any garbage (from the states that it sends).
    assert measured["idle"] < 20_000
