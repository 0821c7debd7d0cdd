"""Signals on a WLED controller, from the panel to the wire: the driver of ``hardware`` with this room's outputs."""

import os
import select
import socket

import serial

from common.grid import PlaceGrid
from firmware_bridge.ports.port import Port
from firmware_bridge.wled import NETWORK_STEADY_S, WledNetwork, WledSerial
from hardware.lights.light_map import LightMap
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.pixels import PixelDriver
from hardware.lights.signals import Light, LightRole, Mood, Signal
from tests.firmware_bridge.wled.looking_up import wait_until_looked_up
from tests.firmware_bridge.wled.nobody import port_of_nobody
from tests.guard import GUARD_S
from tests.hardware.strips import serpentine

START_S = 100.0


class Clock:
    def __init__(self) -> None:
        self.now_s = START_S

    def __call__(self) -> float:
        return self.now_s


class CountedPort(Port):
    """A real port that counts what it took."""

    def __init__(self, device: serial.Serial) -> None:
        super().__init__(device)
        self.written_bytes = 0

    def write(self, data: bytes) -> int:
        written = super().write(data)
        self.written_bytes += written
        return written


def test_a_strip_of_300_lights_keeps_up_with_a_swell_over_a_slow_line() -> None:
    clock, said = Clock(), list[str]()
    end, kept = os.openpty()
    name = os.ttyname(kept)
    board = serpentine(PlaceGrid.of_squares(7, 7), 6, lights=300)
    arrived = bytearray()
    ports: list[CountedPort] = []

    def open_counted(name: str, baud: int) -> CountedPort:
        ports.append(CountedPort(serial.Serial(name, baud, timeout=0)))
        return ports[-1]

    def make() -> PixelDriver:
        return PixelDriver("WLED", WledSerial(name, 300, clock, open_port=open_counted), board)

    def receive() -> None:
        """Wait for all that was written: the kernel carries it over in its own time."""
        while len(arrived) < ports[0].written_bytes:
            assert select.select([end], [], [], GUARD_S)[0], "nothing came"
            arrived.extend(os.read(end, 65536))

    with Panel([DriverSource("WLED", make)], clock, said.append) as panel:
        panel.show(Signal(Mood.QUESTION, (Light.for_role("c3", LightRole.QUESTION),)))
        while (change_s := panel.next_change_s(clock.now_s)) is not None and change_s < START_S + 4.0:
            assert change_s > clock.now_s
            clock.now_s = change_s
            panel.tick(change_s)
            receive()
        # The line is free again, so the dark frame of the end may be sent.
        clock.now_s += 1.0
    receive()
    os.close(kept)
    os.close(end)
    assert said == []
    # A frame takes 79 ms at 115200 bits a second, 300 lights 9 ms, the rest 5 ms: 4 s have room for 43 of a swell's 80.
    frames = [bytes(arrived[at + 6 : at + 906]) for at in range(0, len(arrived), 906)]
    assert all(arrived[at : at + 3] == b"Ada" for at in range(0, len(arrived), 906))
    assert 38 <= len(frames) <= 45
    assert frames[-1] == bytes(900)
    lit = {number for frame in frames for number in range(300) if any(frame[3 * number : 3 * number + 3])}
    assert lit == set(board.places["c3"])


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

        source = DriverSource("WLED", make, steady_s=NETWORK_STEADY_S)
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

    with Panel([DriverSource("WLED", make, steady_s=NETWORK_STEADY_S)], clock, said.append, back.append) as panel:
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
