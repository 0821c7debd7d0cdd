"""Somebody who read nothing but docs/internals/protocol.md gets on with the vectors and with the host's end."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

import pytest

from firmware_bridge.protocol.link import HostLink, LinkState
from firmware_bridge.protocol.messages import ButtonReport, LightFrame, Message, SensorReport, Sound, Tone
from firmware_bridge.protocol.packets import Kind
from scripts import protocol_vectors
from tests.firmware_bridge.protocol.page_peer import PageDevice, Parser, frame

VECTORS: dict[str, Any] = json.loads(protocol_vectors.FILE.read_text(encoding="utf-8"))


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
