"""WLED strips of a plan, as drivers of a panel: over a real UDP socket and a real pseudo-terminal."""

from __future__ import annotations

import os
import select
import socket
import tty
from collections.abc import Iterator

import pytest

from hardware.lights.light_map import LightMap
from hardware.lights.panel import Panel
from hardware.lights.signals import Light, LightRole, Mood, Signal
from referee.wiring.devices import strip_sources
from referee.wiring.plan import WiringPlan
from tests.guard import GUARD_S

LIGHT_MAP = LightMap({"a1": (0,), "b1": (1,)}, (2,), lights=3)
SIGNAL = Signal(Mood.ACCEPTED, (Light.for_role("b1", LightRole.TURN),))


@pytest.fixture
def wled() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(GUARD_S)
        yield listening


def test_a_strip_on_the_network_shows_the_signal(wled: socket.socket) -> None:
    plan = WiringPlan(
        drivers=("wled-network",), light_map=LIGHT_MAP, wled_host="127.0.0.1", wled_port=wled.getsockname()[1]
    )
    with Panel(strip_sources(plan, lambda: 0.0), lambda: 0.0, print) as panel:
        panel.show(SIGNAL, 0.0)
        data = wled.recv(2000)[10:]
    assert len(data) == 9
    assert not any(data[:3])
    assert data[3:6] == data[6:9] != bytes(3)
    assert wled.recv(2000)[10:] == bytes(9)


def test_a_strip_on_a_serial_port_shows_the_signal() -> None:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    try:
        plan = WiringPlan(
            drivers=("wled-serial",), light_map=LIGHT_MAP, wled_serial_port=os.ttyname(theirs), wled_baud=115200
        )
        with Panel(strip_sources(plan, lambda: 0.0), lambda: 0.0, print) as panel:
            panel.show(SIGNAL, 0.0)
            assert os.read(ours, 100).startswith(b"Ada\x00\x02")
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_failing_strip_is_reported_once_and_affects_no_other(wled: socket.socket) -> None:
    said: list[str] = []
    plan = WiringPlan(
        drivers=("wled-serial", "wled-network"),
        light_map=LIGHT_MAP,
        wled_host="127.0.0.1",
        wled_port=wled.getsockname()[1],
        wled_serial_port="/dev/ttyNONE",
        wled_baud=115200,
    )
    with Panel(strip_sources(plan, lambda: 0.0), lambda: 0.0, said.append) as panel:
        panel.show(SIGNAL, 0.0)
        panel.show(SIGNAL, 5.0)
        assert panel.working == ("the WLED on the network",)
    assert len(said) == 1
    assert "The WLED on USB does not work: there is no port /dev/ttyNONE" in said[0]


def test_a_printer_on_the_port_of_wled_is_reported_once_and_never_counts_as_working() -> None:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    said: list[str] = []
    plan = WiringPlan(
        drivers=("wled-serial",), light_map=LIGHT_MAP, wled_serial_port=os.ttyname(theirs), wled_baud=115200
    )
    now_s = 0.0
    try:
        with Panel(strip_sources(plan, lambda: now_s), lambda: now_s, said.append, said.append) as panel:
            panel.show(SIGNAL, now_s)
            for _ in range(3):
                while not panel.working:
                    now_s += 1.0
                    panel.tick(now_s)
                os.write(ours, b"echo:Unknown command\n")
                while panel.working:
                    # The written bytes may arrive in parts.
                    assert select.select([theirs], [], [], GUARD_S)[0]
                    now_s += 1.0
                    panel.tick(now_s)
    finally:
        os.close(ours)
        os.close(theirs)
    assert len(said) == 1
    assert "is a 3D printer (Marlin) and not WLED" in said[0]


def test_an_invalid_name_of_a_wled_does_not_end_the_referee() -> None:
    said: list[str] = []
    plan = WiringPlan(drivers=("wled-network",), light_map=LIGHT_MAP, wled_host="http://wled", wled_port=4048)
    with Panel(strip_sources(plan, lambda: 0.0), lambda: 0.0, said.append) as panel:
        panel.show(SIGNAL, 0.0)
    assert said[0].startswith(
        "The WLED on the network does not work: 'http://wled' is not the name of a WLED controller"
    )


def test_without_a_map_there_is_no_strip() -> None:
    assert strip_sources(WiringPlan(drivers=("wled-network",))) == ()
