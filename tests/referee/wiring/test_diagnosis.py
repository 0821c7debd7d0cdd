"""The doctor's findings about boards, strips and switches."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from common.findings import Finding
from firmware_bridge.connection.connection import ConnectionStatistics
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.link import Counts, LinkStatistics
from firmware_bridge.protocol.packets import DroppedFrames
from referee.sensing.health import HealthFile, SensorHealth, health_file
from referee.settings.configuration import Configuration
from referee.wiring import devices
from referee.wiring.devices import LinkedController, check_wires, link_quality, linked_controller
from referee.wiring.plan import SensorMap, WiringPlan, save_sensor_map
from tests.referee.virtual_board import SETTINGS, Plugged, plugged

LIGHTS = "lights = 4\nstatus = 3\n[places]\na1 = 0\nb1 = [1, 2]\n"


def quietly(plan: WiringPlan) -> AbstractContextManager[LinkedController]:
    return linked_controller(plan, lambda sentence: None)


def no_wled(host: str) -> dict[str, Any]:
    raise OSError("nobody there")


def findings(configuration: Configuration, ask: Any = no_wled, ports: Any = ()) -> dict[str, list[Finding]]:
    by_subject: dict[str, list[Finding]] = {}
    for finding in check_wires(configuration, ports, quietly, ask):
        by_subject.setdefault(finding.subject, []).append(finding)
    return by_subject


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugged]:
    monkeypatch.setattr(devices, "LISTEN_S", 0.1)
    (tmp_path / "lights.toml").write_text(LIGHTS)
    save_sensor_map(SensorMap({"a1": 0, "b1": 2}, 3), tmp_path / "sensors.toml")
    with plugged(tmp_path) as it:
        yield it


def test_without_wired_devices_there_are_no_findings(table: Plugged) -> None:
    assert findings(table.settings(base="")) == {}


def test_a_working_board_has_only_ok_findings(table: Plugged) -> None:
    found = findings(table.settings(base=SETTINGS.replace("[board]", 'eyes = "both"\n[board]')))
    assert all(finding.severity == "ok" for subject in found.values() for finding in subject), found
    assert "4 lights; 2 squares, 1 for the status light" in found["light map"][0].message
    assert "2 squares, 3 switches" in found["sensor map"][0].message
    assert "4 lights, 3 switches, 2 buttons, a buzzer" in found["board"][0].message
    assert table.device.port_name in found["board"][0].message
    assert "ms there and back" in found["link"][0].message


@pytest.mark.parametrize(
    ("link", "level"),
    [
        (LinkStatistics(packets=9, round_trip_s=0.002), "ok"),
        (LinkStatistics(packets=9, dropped=DroppedFrames(checksum=1)), "ok"),
        (LinkStatistics(packets=9, dropped=DroppedFrames(checksum=1, undecodable=1)), "note"),
        (LinkStatistics(packets=9, counts=Counts(resent=1)), "note"),
        (LinkStatistics(packets=9, round_trip_s=0.2), "note"),
    ],
)
def test_a_bad_cable_is_reported(link: LinkStatistics, level: str) -> None:
    finding = link_quality(ConnectionStatistics(link, 0, 0, 0))
    assert finding.severity == level
    assert bool(finding.remedy) == (level == "note")


def test_a_board_that_does_not_answer_is_a_fault(table: Plugged) -> None:
    configuration = table.settings()
    table.unplug()
    found = findings(configuration)
    assert [finding.severity for finding in found["board"]] == ["fault"]
    assert "there is no port" in found["board"][0].message


def test_a_board_used_by_another_program_is_reported(table: Plugged) -> None:
    configuration = table.settings()

    @contextmanager
    def taken(plan: WiringPlan) -> Iterator[LinkedController]:
        with quietly(plan) as first:
            first.welcome()
            with quietly(plan) as second:
                yield second

    (finding,) = [one for one in check_wires(configuration, (), taken, no_wled) if one.subject == "board"]
    assert finding.severity == "note"
    assert "is in use" in finding.message


def test_a_board_that_another_program_takes_only_briefly_is_waited_for(table: Plugged) -> None:
    @contextmanager
    def taken_briefly(plan: WiringPlan) -> Iterator[LinkedController]:
        with ExitStack() as first:
            first.enter_context(quietly(plan)).welcome()
            with quietly(plan) as second:
                assert second.connection.wait_for(lambda: second.connection.outage is not None, 20.0)
                first.close()
                yield second

    found = [one for one in check_wires(table.settings(), (), taken_briefly, no_wled) if one.subject == "board"]
    assert [one.severity for one in found] == ["ok"]


def test_a_strip_shorter_than_its_map_is_reported(table: Plugged) -> None:
    (table.folder / "lights.toml").write_text(LIGHTS.replace("lights = 4", "lights = 6") + "c1 = 5\n")
    found = findings(table.settings())
    assert [finding.severity for finding in found["board"]] == ["ok", "fault"]
    assert "the strip has 4 lights and the light map needs 6" in found["board"][1].message


def test_maps_that_are_missing_are_faults(table: Plugged) -> None:
    (table.folder / "lights.toml").unlink()
    found = findings(table.settings())
    assert found["wires"][0].severity == "fault"
    assert "referee.toml:4: lights.light_map: the light map" in found["wires"][0].message


WLED = '[lights]\ndrivers = ["wled-network"]\nlight_map = "lights.toml"\nwled_host = "wled.local"\n'


@pytest.mark.parametrize(
    ("told", "level", "message"),
    [
        ({"ver": "0.15.0", "leds": {"count": 30}}, "ok", "wled.local: WLED 0.15.0, 30 lights"),
        ({"ver": "0.15.0", "leds": {"count": 3}}, "fault", "the strip has 3 lights and the light map needs 4"),
        ({}, "ok", "some lights"),
    ],
)
def test_a_wled_that_answers_is_described(table: Plugged, told: dict[str, Any], level: str, message: str) -> None:
    (finding,) = findings(table.settings(base=WLED), lambda host: told)["WLED"]
    assert finding.severity == level
    assert message in finding.message


def test_a_wled_that_does_not_answer_is_a_fault(table: Plugged) -> None:
    (finding,) = findings(table.settings(base=WLED))["WLED"]
    assert (finding.severity, "wled.local does not answer: nobody there" in finding.message) == ("fault", True)

    def ask(host: str) -> dict[str, Any]:
        raise OSError(-2, "Name or service not known")

    (finding,) = findings(table.settings(base=WLED), ask)["WLED"]
    assert finding.message == "wled.local does not answer: Name or service not known"


@pytest.mark.parametrize("name", ["my wled", "http://wled.local", ""])
def test_an_impossible_name_of_a_wled_is_a_fault_and_is_not_asked(table: Plugged, name: str) -> None:
    found = findings(table.settings(base=WLED.replace("wled.local", name)), devices.ask_wled)
    (fault,) = found["wires"]
    assert f"lights.wled_host: {name!r} is not the name of a WLED controller" in fault.message
    assert "WLED" not in found


def test_a_name_that_no_request_can_contain_is_not_answered() -> None:
    with pytest.raises(ValueError, match="control characters"):
        devices.ask_wled("wled\x01")


def test_the_serial_port_of_a_wled_is_checked(table: Plugged) -> None:
    text = WLED.replace("wled-network", "wled-serial").replace(
        'wled_host = "wled.local"', 'wled_serial_port = "/dev/ttyUSB3"'
    )
    (gone,) = findings(table.settings(base=text))["WLED"]
    assert (gone.severity, "there is no port /dev/ttyUSB3" in gone.message) == ("fault", True)
    (there,) = findings(table.settings(base=text), ports=[SerialPort("/dev/ttyUSB3")])["WLED"]
    assert there.severity == "ok"
    link = table.folder / "by-id"
    link.symlink_to("/dev/ttyUSB3")
    linked = text.replace("/dev/ttyUSB3", str(link))
    (there,) = findings(table.settings(base=linked), ports=[SerialPort("/dev/ttyUSB3")])["WLED"]
    assert there.severity == "ok"


class _Wled(BaseHTTPRequestHandler):
    answer: bytes = json.dumps({"ver": "0.15.0", "leds": {"count": 49}}).encode()

    def do_GET(self) -> None:
        assert self.path == "/json/info"
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.answer)

    def log_message(self, *args: Any) -> None:
        """Nothing in the tests' output."""


@pytest.mark.parametrize(
    ("answer", "is_wled"), [(_Wled.answer, True), (b"<html>a printer</html>", False), (b"[]", False)]
)
def test_a_wled_is_recognised_by_its_answer(answer: bytes, is_wled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Wled, "answer", answer)
    with HTTPServer(("127.0.0.1", 0), _Wled) as server:
        monkeypatch.setattr(devices, "_HTTP_PORT", server.server_address[1])
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        if is_wled:
            assert devices.ask_wled("127.0.0.1")["leds"]["count"] == 49
        else:
            with pytest.raises(ValueError, match=r"Expecting value|not as a WLED"):
                devices.ask_wled("127.0.0.1")
        thread.join()


def test_a_server_without_http_is_no_wled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rude(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"220 mail\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Rude) as server:
        monkeypatch.setattr(devices, "_HTTP_PORT", server.server_address[1])
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises((ValueError, OSError)):
            devices.ask_wled("127.0.0.1")
        thread.join()


def test_sensors_that_were_taken_out_are_named(table: Plugged) -> None:
    configuration = table.settings(base="")
    health = SensorHealth()
    for turn in range(12):
        health.compare({"a1": True}, {"a1": turn % 2 == 0})
    path = health_file(configuration.settings.journal.path)
    path.parent.mkdir(parents=True)
    HealthFile.write(health, path)
    (finding,) = findings(configuration)["sensors"]
    assert finding.severity == "note"
    assert "the sensor under a1 is switched off: it has said" in finding.message
    path.write_text("{")
    (finding,) = findings(configuration)["sensors"]
    assert finding.severity == "fault"
