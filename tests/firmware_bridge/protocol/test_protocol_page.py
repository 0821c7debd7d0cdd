"""docs/internals/protocol.md says what the code does: kinds, fields, sizes, numbers."""

import random
import re
import struct
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.firmware.core import events
from firmware_bridge.firmware.core import link as device_link
from firmware_bridge.protocol import delivery, link, messages, packets, session
from firmware_bridge.protocol.codec import LONGEST_TEXT, encode_message
from firmware_bridge.protocol.link import HostLink, LinkState
from firmware_bridge.protocol.messages import (
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
    Tone,
    Welcome,
)
from firmware_bridge.protocol.packets import BOTH_WAYS, FROM_DEVICE, FROM_HOST, Kind, is_sequenced
from tests.firmware_bridge.protocol.page_peer import PageDevice, Parser, frame
from tests.firmware_bridge.protocol.test_vectors import VECTORS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "internals" / "protocol.md").read_text(encoding="utf-8")
BITS = re.compile(r"u(8|16|32) (\w+)")


def section(heading: str) -> str:
    """What stands under a heading, up to the next of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"no heading {heading!r}"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of a text's table rows, without headings."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rules = {number for number, row in enumerate(cells) if all(set(cell) <= {"-"} and cell for cell in row)}
    return [row for number, row in enumerate(cells) if not {number, number + 1} & rules]


def kinds(heading: str) -> dict[Kind, list[str]]:
    """The rows of a section that begin with a kind."""
    return {Kind(int(row[0].strip("`"), 16)): row[1:] for row in rows(section(heading)) if row[0].startswith("`0x")}


UNSEQUENCED = kinds("Unsequenced")
FROM_THE_HOST = kinds("Sequenced, from the host")
FROM_THE_DEVICE = kinds("Sequenced, from the device")
PAYLOADS = {kind: row[-1] for table in (UNSEQUENCED, FROM_THE_HOST, FROM_THE_DEVICE) for kind, row in table.items()}


def test_every_kind_stands_where_it_belongs() -> None:
    assert [*UNSEQUENCED] == [kind for kind in Kind if not is_sequenced(kind)]
    assert [*FROM_THE_HOST] == [kind for kind in Kind if is_sequenced(kind) and kind in FROM_HOST]
    assert [*FROM_THE_DEVICE] == [kind for kind in Kind if is_sequenced(kind) and kind in FROM_DEVICE]
    for table in (UNSEQUENCED, FROM_THE_HOST, FROM_THE_DEVICE):
        for kind, row in table.items():
            assert row[0] == kind.name
    for kind, row in UNSEQUENCED.items():
        assert row[1] == ("both" if kind in BOTH_WAYS else "host" if kind in FROM_HOST else "device")


def numbered(make: type[Any]) -> Any:
    """A message whose numbers are 1, 2, 3 and so on."""
    assert is_dataclass(make)
    names = [field.name for field in fields(make)]
    return make(**{name: "words" if name == "text" else number for number, name in enumerate(names, 1)})


@pytest.mark.parametrize(
    "make", [Hello, Refused, Restarted, Ping, Pong, Log, Configure, Snapshot, Leave, ButtonReport, FaultReport]
)
def test_the_fields_are_as_the_table_says(make: type[Any]) -> None:
    message = numbered(make)
    kind, payload = encode_message(message)
    told = PAYLOADS[kind]
    expected = b"".join(getattr(message, name).to_bytes(int(bits) // 8, "little") for bits, name in BITS.findall(told))
    if "text" in told:
        expected += b"words"
    else:
        assert bool(expected) != told.startswith("nothing")
    assert payload == expected


def test_welcome_is_as_its_table_says() -> None:
    table = [row for row in rows(section("Unsequenced")) if not row[0].startswith("`")]
    names = [row[1] for row in table]
    values = {name: number for number, name in enumerate(names, 1) if name not in ("firmware", "board", "length")}
    welcome = Welcome(**values, firmware=(7, 8, 9), board="Pico")
    expected = b""
    for size, name, *_ in table:
        match name:
            case "firmware":
                assert size == "3"
                expected += bytes((7, 8, 9))
            case "length":
                expected += b"\x04"
            case "board":
                expected += b"Pico"
            case _:
                expected += values[name].to_bytes(int(size), "little")
    assert encode_message(welcome) == (Kind.WELCOME, expected)


def test_the_header_is_as_its_table_says() -> None:
    packet = packets.Packet(0x21, 0x1122, 0x3344, 0x5566, b"payload")
    data = packets.encode_packet(packet)
    for offset, size, name, _ in rows(section("Packets"))[:4]:
        value = int.from_bytes(data[int(offset) : int(offset) + int(size)], "little")
        assert value == getattr(packet, name)


def test_bad_frames_are_counted_as_the_table_says() -> None:
    told = [row[0].strip("`") for row in rows(section("Frames")) if row[0].startswith("`") and row[0] != "`00`"]
    assert sorted(told) == sorted(field.name for field in fields(packets.DroppedFrames))


def test_faults_have_the_codes_of_the_firmware() -> None:
    table = rows(section("Sequenced, from the device"))[len(FROM_THE_DEVICE) :]
    codes = [
        *(events.BAD_MESSAGE, events.LIGHT_BEYOND_STRIP, events.CURRENT_LIMITED),
        *(events.PIN_MAP, events.WATCHDOG_RESET, events.OVERFLOW),
    ]
    assert [int(row[1]) for row in table] == codes


def seconds(*values_s: float) -> str:
    return ", ".join(f"{round(value * 1000)} ms" if value < 1 else f"{value:g} s" for value in values_s)


def test_the_numbers_are_those_of_the_code() -> None:
    hellos = [f"{pause:g} s" for pause in session.HELLO_INTERVALS_S]
    expected = {
        "largest payload": f"{packets.LARGEST_PAYLOAD} bytes",
        "largest packet, largest encoded": f"{packets.LARGEST_PACKET}, {packets.LARGEST_ENCODED} bytes",
        "lights in one frame": f"{(packets.LARGEST_PAYLOAD - 2) // 3} in LIGHTS_ALL; "
        f"{(packets.LARGEST_PAYLOAD - 2) // 5} lit ones of 65536 in LIGHTS_LIT",
        "window from the host, light frames in it": f"{link.WINDOW}, {link.LIGHT_FRAMES_OUTSTANDING}",
        "window from the device": f"{device_link.SLOTS}",
        "host's timer: shortest, before it measured, longest": seconds(
            delivery.MIN_TIMEOUT_S, delivery.INITIAL_TIMEOUT_S, delivery.MAX_TIMEOUT_S
        ),
        "device's timer: first, longest": seconds(device_link.FIRST_WAIT_MS / 1000, device_link.LONGEST_WAIT_MS / 1000),
        "HELLO again after": ", ".join([*hellos, hellos[-1]]) + " …",
        "no WELCOME, silence, nothing acknowledged, a gap": seconds(
            session.WELCOME_TIMEOUT_S, link.SILENT_AFTER_S, link.UNACKNOWLEDGED_AFTER_S, link.INCOMPLETE_AFTER_S
        ),
        "PING after, at the latest": ", ".join(f"{s:g} s" for s in (session.PING_AFTER_S, session.PING_EVERY_S)),
        "MISSING again after, RESTARTED again after": f"{seconds(delivery.GAP_REPORT_INTERVAL_S)}, 100 ms",
    }
    assert {row[0]: row[1] for row in rows(section("Numbers"))} == expected
    assert f"text of at most {LONGEST_TEXT} bytes" in PAGE
    assert f"{events.MOST_PRESSES} presses" in PAGE
    assert f"again every {link.REFUSED_RETRY_S:g} s" in PAGE
    assert f"{round(session.MIN_HELLO_INTERVAL_S, 3):g} s after the last" in " ".join(PAGE.split())
    assert f"version {messages.NEWEST_VERSION} of the protocol" in PAGE


def test_the_vectors_have_the_keys_that_are_described() -> None:
    told = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in rows(section("Test vectors"))}
    assert list(told) == list(VECTORS)
    for key, names in told.items():
        if isinstance(VECTORS[key], list):
            described = names - {"host", "device", "both"} | {"name"}
            for entry in VECTORS[key]:
                assert set(entry) <= described, key


# Somebody who read nothing but docs/internals/protocol.md gets on with the vectors and with the host's end.


@pytest.mark.parametrize("size", [1, 10_000])
def test_the_parser_keeps_to_the_vectors(size: int) -> None:
    for entry in (*VECTORS["messages"], *VECTORS["bad"]):
        parser = Parser()
        data = bytes.fromhex(entry.get("frame") or entry["bytes"])
        got = [body.hex() for at in range(0, len(data), size) for body in parser.feed(data[at : at + size])]
        assert got == entry.get("packets", [entry.get("packet")]), entry["name"]
        assert {way: count for way, count in parser.counted.items() if count} == entry.get("counted", {})


@pytest.mark.parametrize("conversation", [pytest.param(one, id=one["name"]) for one in VECTORS["conversations"]])
def test_the_device_keeps_to_the_vectors(conversation: dict[str, Any]) -> None:
    facts = VECTORS["device"]
    pin_map = facts["pin_map"].encode()
    device = PageDevice(facts["boot_id"], facts["lights"], facts["switches"], facts["buttons"], pin_map)
    for step in conversation["steps"]:
        device.at_ms = step["at_ms"]
        device.receive(bytes.fromhex(step.get("arrives", "")))
        sent = [struct.unpack_from("<BHHH", body) for body in device.step()]
        wanted = [
            (Kind[one["kind"]].value, one["session"], one["sequence"], one["acknowledged"]) for one in step["sends"]
        ]
        # An ACKNOWLEDGED may be missing where another packet of the step carries its number.
        others = {acknowledged for kind, _, _, acknowledged in sent if kind != Kind.ACKNOWLEDGED}
        assert sent == [one for one in wanted if one in sent or one[0] != Kind.ACKNOWLEDGED or one[3] > max(others)]
        if "lights" in step:
            assert ("waiting" if device.shown is None else device.shown.hex()) == step["lights"]


@pytest.mark.parametrize("lost", [0.0, 0.1, 0.3])
def test_the_device_gets_on_with_the_host_on_a_wire_that_loses(lost: float) -> None:
    chance = random.Random(5)
    device, host = PageDevice(77, 64, 20, 2), HostLink()
    device.step()
    host.begin(0.0, 1)
    heard: list[Message] = []
    presses, sessions = 200, 1
    for at_ms in range(40_000):
        device.at_ms = at_ms
        now_s = at_ms / 1000
        if at_ms % 20 == 0 and at_ms < 20 * presses and host.state is LinkState.LINKED:
            device.press(at_ms // 20 % 2)
            host.send(LightFrame(bytes((1 + at_ms % 255, 0, 7)) * 64))
            host.send(Sound((Tone(440, at_ms),)))
        data = host.outgoing(now_s)
        if data and chance.random() >= lost:
            device.receive(data)
        for body in device.step():
            if chance.random() >= lost:
                heard += host.receive(frame(body), now_s)
        if host.state is LinkState.LOST:
            sessions += 1
            host.begin(now_s, sessions)
    assert host.state is LinkState.LINKED
    assert host.is_settled
    assert isinstance(heard[1], SensorReport)
    events = [message.event for message in heard if isinstance(message, ButtonReport)]
    # Presses that nobody heard of for two seconds are forgotten; of the others each is told once, in order.
    assert events == sorted(set(events))
    assert len(events) > presses / 2
    assert sessions > 1 or events == list(range(events[-1] + 1))
    assert device.shown == bytes((1 + 20 * (presses - 1) % 255, 0, 7)) * 64
