"""The controller of a board, WLED strips, and switches on the Pi's own pins."""

import re
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from gpiozero import Device
from gpiozero.pins import mock
from rich.console import Console

from app.mapping.sensors import show_sensors
from app.sensing.health import HealthFile, SensorHealth, SensorSnapshot
from app.settings.configuration import Configuration, load
from app.wiring.devices import Controller, OpenedDevices, open_devices, strip_sources
from app.wiring.plan import Inputs, SensorMap, SwitchSource, WiringPlan, save_sensor_map, wiring_plan
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonPressed,
    LightsLimited,
    Linked,
    Lost,
    PressesDropped,
    SensorsReported,
    SwitchChanged,
)
from firmware_bridge.firmware.core.version import FIRMWARE_VERSION
from firmware_bridge.pin_maps.file import parse_pin_map
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import Welcome
from hardware.lights.light_map import LightMap
from hardware.lights.panel import Panel
from hardware.lights.signals import Colour, Light, LightRole, Mood, Pattern, Signal, Sound
from hardware.pin_map import BUTTON_ROLES
from tests.guard import GUARD_S
from vision.reading import PlaceChange

WELCOME = Welcome(FIRMWARE_VERSION, 5, 4, 3, 3, 2, 77, 0, "Pico")
PLAN = WiringPlan(
    drivers=("board",),
    light_map=LightMap({"a1": (0,), "b1": (1, 2)}, (3,), lights=4, pin_map_crc=77),
    switch_source=SwitchSource.CONTROLLER,
    sensor_map=SensorMap({"a1": 2, "b1": 0}, 3, 77),
    inputs=Inputs.BOTH,
)
ON_A_PORT = Linked(1.0, SerialPort("/dev/ttyACM0"), WELCOME, restarted=False)


@dataclass
class ScriptedConnection:
    """A connection with scripted events."""

    welcome: Welcome | None = WELCOME
    last_heard_s: float | None = None
    events: list[BoardEvent] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)
    tunes: list[Sequence[tuple[float, float]]] = field(default_factory=list)

    def show_lights(self, colours: bytes) -> None:
        self.frames.append(colours)

    def play(self, tones: Sequence[tuple[float, float]]) -> None:
        self.tunes.append(tones)

    def poll(self) -> tuple[BoardEvent, ...]:
        events, self.events = tuple(self.events), []
        return events


@pytest.fixture
def connection() -> ScriptedConnection:
    return ScriptedConnection()


def controller(connection: Any, plan: WiringPlan, say: Callable[[str], None]) -> Controller:
    return Controller(connection, plan, say)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def board(connection: ScriptedConnection, said: list[str]) -> Controller:
    return controller(connection, PLAN, said.append)


def press(button: int) -> ButtonPressed:
    return ButtonPressed(button, 2.0)


def report(*closed: bool, doubtful: Sequence[bool] = (), changes: Sequence[SwitchChanged] = ()) -> SensorsReported:
    return SensorsReported(3.0, closed, tuple(doubtful) or (False,) * len(closed), tuple(changes))


def test_a_signal_becomes_a_frame_and_a_tune(connection: ScriptedConnection, board: Controller) -> None:
    signal = Signal(Mood.ACCEPTED, (Light("b1", Colour.GREEN, Pattern.STEADY, LightRole.TURN),), Sound.ACCEPTED)
    with Panel(board.driver_sources(), lambda: 0.0, print) as panel:
        panel.show(signal, 0.0)
    green = bytes(Colour.GREEN.value)
    assert connection.frames == [bytes(3) + 3 * green, bytes(12)]
    assert len(connection.tunes[0]) > 0
    assert list(connection.tunes[-1]) == []


def test_a_shorter_strip_gets_only_its_lights_and_is_reported(
    connection: ScriptedConnection, board: Controller, said: list[str]
) -> None:
    shorter = replace(WELCOME, lights=2)
    connection.welcome = shorter
    connection.events = [replace(ON_A_PORT, welcome=shorter)]
    with Panel(board.driver_sources(), lambda: 0.0, print) as panel:
        panel.show(Signal(Mood.ACCEPTED), 0.0)
        board.presses()
    assert len(connection.frames[0]) == 6
    assert len(said) == 1
    assert "the strip has 2 lights and the light map needs 4" in said[0]


def test_a_board_used_only_for_sensors_gives_no_lights(connection: ScriptedConnection) -> None:
    assert controller(connection, replace(PLAN, drivers=("wled-network",)), print).driver_sources() == ()


def test_a_board_without_lights_still_sounds(connection: ScriptedConnection) -> None:
    pin_map = parse_pin_map('board = "pico"\n[buttons]\nhint = 18\n[buzzer]\npin = 22\n', button_roles=BUTTON_ROLES)
    plan = WiringPlan(drivers=("board",), pin_map=pin_map)
    for lights in (None, PLAN.light_map):
        sources = controller(connection, replace(plan, light_map=lights), print).driver_sources()
        assert [source.name for source in sources] == ["board buzzer"]


def test_presses_come_as_roles_in_order(connection: ScriptedConnection, board: Controller, said: list[str]) -> None:
    connection.events = [press(2), press(0), press(3)]
    assert board.presses() == ["take back", "end turn"]
    assert board.presses() == []
    connection.events = [press(3)]
    board.presses()
    assert len(said) == 1
    assert "button 3 was pressed, and the settings give it no use" in said[0]


def test_switches_are_reported_by_square_and_each_change_once(
    connection: ScriptedConnection, board: Controller
) -> None:
    assert board.latest(0.0) is None
    first = report(False, True, True, changes=[SwitchChanged(2, True, 2.5), SwitchChanged(1, True, 2.6)])
    second = report(True, True, True, doubtful=(True, False, False), changes=[SwitchChanged(0, True, 2.9)])
    connection.events = [first, press(0), second]
    changes = (PlaceChange("a1", True, 2.5), PlaceChange("b1", True, 2.9))
    assert board.latest(3.0) == SensorSnapshot(3.0, {"a1": True, "b1": True}, frozenset({"b1"}), changes)
    assert board.latest(3.1) == SensorSnapshot(3.0, {"a1": True, "b1": True}, frozenset({"b1"}))
    assert board.presses() == ["end turn"]


def test_the_last_report_holds_while_the_board_is_connected(connection: ScriptedConnection, board: Controller) -> None:
    connection.events = [report(False, True, True)]
    connection.last_heard_s = 7.5
    assert board.latest(8.0) == SensorSnapshot(7.5, {"a1": True, "b1": False})


def test_a_disconnected_board_reports_no_switches(connection: ScriptedConnection, board: Controller) -> None:
    connection.events = [report(True, True, True, changes=[SwitchChanged(2, True, 2.5)]), Lost(3.0, "unplugged")]
    assert board.latest(3.0) is None
    connection.events = [ON_A_PORT]
    assert board.latest(4.0) is None
    connection.events = [report(False, True, False)]
    assert board.latest(5.0) == SensorSnapshot(3.0, {"a1": False, "b1": False})


def test_a_square_with_a_missing_switch_is_left_out(
    connection: ScriptedConnection, board: Controller, said: list[str]
) -> None:
    connection.events = [replace(ON_A_PORT, welcome=replace(WELCOME, switches=2)), report(True, False)]
    assert board.latest(3.0) == SensorSnapshot(3.0, {"b1": True})
    assert "there are 2 switches and the sensor map was made for 3: a1 would have none" in said[0]


def test_switches_are_reported_by_number_for_mapping(connection: ScriptedConnection, said: list[str]) -> None:
    board = controller(connection, WiringPlan(switch_source=SwitchSource.CONTROLLER), said.append)
    assert board.switches() is None
    moved = SwitchChanged(1, True, 2.5)
    connection.events = [report(False, False, changes=[moved]), report(False, True)]
    assert board.switches() == report(False, True, changes=[moved])
    assert board.switches() == report(False, True)
    assert said == []


def test_of_changes_that_nobody_asks_for_only_the_newest_are_kept(
    connection: ScriptedConnection, board: Controller
) -> None:
    for number in range(1000):
        connection.events = [report(number % 2 == 0, changes=[SwitchChanged(0, number % 2 == 0, float(number))])]
        board.presses()
    kept = board.switches()
    assert kept is not None
    assert [change.time_s for change in kept.changes] == [float(number) for number in range(744, 1000)]


def test_a_pin_map_changed_since_mapping_is_reported_until_the_board_is_another(
    connection: ScriptedConnection, board: Controller, said: list[str]
) -> None:
    other = replace(ON_A_PORT, welcome=replace(WELCOME, pin_map_checksum=78))
    connection.events = [other]
    board.presses()
    assert len(said) == 2
    assert "has changed since the lights were mapped" in said[0]
    assert "has changed since the sensors were mapped" in said[1]
    connection.events = [replace(other, welcome=replace(other.welcome, boot_id=6, reset_cause=1))]
    board.presses()
    assert len(said) == 2
    connection.events = [ON_A_PORT, other]
    board.presses()
    assert len(said) == 4


def test_a_board_with_another_pin_map_than_configured_is_reported_for_each_such_map(
    connection: ScriptedConnection, said: list[str]
) -> None:
    pin_map = parse_pin_map('board = "pico"\n[lights]\npin = 28\ncount = 4\n', button_roles=BUTTON_ROLES)
    board = controller(connection, WiringPlan(pin_map=pin_map), said.append)
    connection.events = [replace(ON_A_PORT, welcome=replace(WELCOME, pin_map_checksum=pin_map.crc32))]
    board.presses()
    assert said == []
    for times in (1, 2):
        connection.events = [replace(ON_A_PORT, welcome=replace(WELCOME, pin_map_checksum=pin_map.crc32 ^ times))]
        board.presses()
        assert len(said) == times
        assert said[-1].startswith(
            "The pin map on the board is not the one that the settings name; `./run hardware firmware install`"
        )


def test_each_message_of_the_board_is_reported_once(
    connection: ScriptedConnection, board: Controller, said: list[str]
) -> None:
    troubled = replace(ON_A_PORT, welcome=replace(WELCOME, trouble="no memory"))
    connection.events = [troubled, troubled]
    connection.events += [LightsLimited(1.0, 850, is_dark=False)] * 2 + [LightsLimited(1.0, 366, is_dark=True)]
    connection.events += [PressesDropped(2.0, 2), PressesDropped(3.0, 1)]
    board.presses()
    assert said == [
        "The board says: no memory.",
        "The board's lights would draw 850 mA. The board dims them to stay within its limit.",
        "The board's lights would draw 366 mA. They stay dark: the limit is too low.",
        "2 presses of the board's buttons came too late or too fast to count.",
        "1 press of the board's buttons came too late or too fast to count.",
    ]


@pytest.mark.parametrize(
    ("firmware", "message"),
    [
        (
            (0, 9, 9),
            r"The board's firmware is version 0\.9\.9, older than this .*; `./run hardware firmware install` "
            r"updates it\.$",
        ),
        ((99, 0, 0), r"The board's firmware is version 99\.0\.0, newer than this .*; update the referee; or `./run "),
    ],
)
def test_firmware_of_another_version_is_named_with_a_remedy(
    connection: ScriptedConnection, board: Controller, said: list[str], firmware: tuple[int, int, int], message: str
) -> None:
    connection.events = [replace(ON_A_PORT, welcome=replace(WELCOME, firmware=firmware))]
    board.presses()
    assert len(said) == 1
    assert re.match(message, said[0])


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


SETTINGS = """
[sensors]
source = "pins"
eyes = "sensors"
map = "sensors.toml"
switch_pins = [5, 6]
"""


@pytest.fixture
def pins(monkeypatch: pytest.MonkeyPatch) -> Iterator[mock.MockFactory]:
    factory = mock.MockFactory(revision="c03111")
    monkeypatch.setattr(Device, "pin_factory", factory)
    yield factory
    factory.reset()


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    (tmp_path / "referee.toml").write_text(SETTINGS)
    save_sensor_map(SensorMap({"a1": 1, "b1": 0}, 2), tmp_path / "sensors.toml")
    return load(None, environment={"HOME": str(tmp_path)}, folder=tmp_path)


@pytest.fixture
def plan(configuration: Configuration) -> WiringPlan:
    return wiring_plan(configuration.settings, configuration.sources, ("a1", "b1"))


def settled_snapshot(wires: OpenedDevices) -> SensorSnapshot:
    """Take snapshots until every switch has settled, which needs a few equal scans."""
    assert wires.sensors is not None
    until_s = time.monotonic() + GUARD_S
    while time.monotonic() < until_s:
        sensed = wires.sensors.latest(0.0)
        if sensed is not None and not sensed.doubtful:
            return sensed
    raise AssertionError("the switches never settled")


def test_switches_on_pins_are_reported_by_square(pins: mock.MockFactory, plan: WiringPlan) -> None:
    said: list[str] = []
    with open_devices(plan, None, said.append) as wires:
        assert wires.presses() == []
        assert wires.controller is None
        assert settled_snapshot(wires).occupied == {"a1": False, "b1": False}
        pins.pin(6).drive_low()
        assert wires.sensors is not None
        until_s = time.monotonic() + GUARD_S
        while not settled_snapshot(wires).occupied["a1"]:
            assert time.monotonic() < until_s
        assert settled_snapshot(wires).occupied == {"a1": True, "b1": False}
        wires.save_health()
    assert said == []


def test_switches_on_pins_are_shown(pins: mock.MockFactory, configuration: Configuration) -> None:
    console = Console(file=StringIO(), width=200)
    assert show_sensors(configuration, console, once=True) == 0
    assert isinstance(console.file, StringIO)
    assert "0 of 2 squares are occupied: none." in console.file.getvalue()


@pytest.mark.usefixtures("pins")
def test_sensors_that_are_switched_off_are_named_when_they_are_opened(plan: WiringPlan, tmp_path: Path) -> None:
    health, said = SensorHealth(), list[str]()
    for turn in range(12):
        health.compare({"a1": True, "c1": True}, {"a1": turn % 2 == 0, "c1": turn % 2 == 0})
    HealthFile.write(health, tmp_path / "record.json")
    with open_devices(plan, tmp_path / "record.json", said.append):
        assert said == ["These sensors are switched off: a1. `./run hardware sensors` says why."]
