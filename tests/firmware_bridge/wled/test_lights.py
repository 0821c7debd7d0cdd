"""Signals on a WLED controller, from the panel to the wire: the driver of ``hardware`` with this room's outputs."""

import socket

from firmware_bridge.wled import STEADY_S, WledNetwork
from hardware.lights.light_map import LightMap
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.pixels import PixelDriver
from hardware.lights.signals import Light, LightRole, Mood, Signal
from tests.firmware_bridge.wled.looking_up import wait_until_looked_up
from tests.firmware_bridge.wled.nobody import port_of_nobody
from tests.guard import GUARD_S

START_S = 100.0


class Clock:
    def __init__(self) -> None:
        self.now_s = START_S

    def __call__(self) -> float:
        return self.now_s


def test_a_name_that_is_unknown_costs_only_those_lights_is_told_once_and_comes_back_by_itself() -> None:
    clock, said, back = Clock(), list[str](), list[str]()
    known: list[str] = []
    outputs: list[WledNetwork] = []

    def resolve(host: str, port: int) -> str:
        if not known:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return known[0]

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wled:
        wled.bind(("127.0.0.1", 0))
        wled.settimeout(GUARD_S)

        def make() -> PixelDriver:
            outputs.append(WledNetwork("wled-board.local", 2, clock, port=wled.getsockname()[1], resolve=resolve))
            return PixelDriver("WLED", outputs[-1], LightMap({"a1": (1,)}, (0,), lights=2))

        def play(seconds: int) -> None:
            for _ in range(seconds):
                clock.now_s += 1.0
                wait_until_looked_up(outputs[-1].host, GUARD_S)
                panel.tick()

        source = DriverSource("WLED", make, steady_s=STEADY_S)
        with Panel([source], clock, said.append, back.append) as panel:
            panel.show(Signal(Mood.ACCEPTED, (Light.for_role("a1", LightRole.TURN),)))
            play(600)
            assert len(said) == 1
            assert "no computer in this network is called 'wled-board.local'" in said[0]
            assert back == []
            known.append("127.0.0.1")
            play(80)
            assert wled.recv(100)[10:] == bytes([0, 87, 44, 0, 87, 44])
            assert (len(said), back) == (1, ["WLED works again."])
        while wled.recv(100)[10:] != bytes(6):
            pass


def test_a_controller_that_is_off_is_told_once_and_comes_back_by_itself() -> None:
    clock, said, back = Clock(), list[str](), list[str]()
    port = port_of_nobody()

    def make() -> PixelDriver:
        return PixelDriver("WLED", WledNetwork("127.0.0.1", 1, clock, port=port), LightMap({}, (0,), lights=1))

    with Panel([DriverSource("WLED", make, steady_s=STEADY_S)], clock, said.append, back.append) as panel:
        panel.show(Signal(Mood.ACCEPTED))
        for _ in range(600):
            clock.now_s += 1.0
            panel.tick()
        assert len(said) == 1
        assert "nothing takes lights on UDP port" in said[0]
        assert back == []
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wled:
            wled.bind(("127.0.0.1", port))
            for _ in range(80):
                clock.now_s += 1.0
                panel.tick()
            assert (len(said), back) == (1, ["WLED works again."])
            panel.close()
