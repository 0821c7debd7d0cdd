"""Switches on the Pi's own pins, from settings to squares, with gpiozero's mock pins."""

from __future__ import annotations

import time
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from gpiozero import Device
from gpiozero.pins import mock
from rich.console import Console

from referee.mapping.sensors import show_sensors
from referee.sensing.health import HealthFile, SensorHealth, SensorSnapshot
from referee.settings.configuration import Configuration, load
from referee.wiring.devices import OpenedDevices, open_devices
from referee.wiring.plan import SensorMap, WiringPlan, save_sensor_map, wiring_plan
from tests.guard import GUARD_S

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
