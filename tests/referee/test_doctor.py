from __future__ import annotations

import json
import os
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, date, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from common.findings import Finding, Severity, worst
from firmware_bridge.connection.connection import ConnectionStatistics
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.packets import DroppedFrames
from firmware_bridge.protocol.status import Counts, LinkStatistics
from referee.doctor import (
    Machine,
    check_broker,
    check_camera,
    check_journal,
    check_lights,
    check_packages,
    check_python,
    check_serial,
    check_table,
    examine,
)
from referee.errors import BrokerError, ConfigError
from referee.journal import Journal
from referee.journal.events import Event, EventKind
from referee.mqtt.options import MqttOptions
from referee.sensing.health import HealthFile, SensorHealth, health_file
from referee.settings.configuration import Configuration, load
from referee.wiring import diagnosis
from referee.wiring.devices import LinkedController, linked_controller
from referee.wiring.diagnosis import check_wires, link_quality
from referee.wiring.plan import WiringPlan
from referee.wiring.sensor_map import SensorMap, save_sensor_map
from tests.referee.virtual_board import SETTINGS, Plugged, plugged
from tests.vision.cameras.test_usb_devices import plug_in
from vision.calibration import Calibration, save_calibration
from vision.geometry import CameraModel
from vision.readers.blocks.appearance import drawn_appearance, save_appearance

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
PLENTY = 10**10


def configured(folder: Path, text: str = "") -> Configuration:
    (folder / "referee.toml").write_text(text)
    return load(None, environment={"HOME": str(folder)}, folder=folder)


def machine(root: Path, **more: Any) -> Machine:
    return Machine(
        root=root,
        version_of=lambda name: _missing(name) if name == "opencv-python" else "1.2.3",
        free_bytes=lambda path: PLENTY,
        ports=lambda: (),
        board=lambda pins: [Finding("board", Severity.OK, "a board")],
        **more,
    )


def _missing(name: str) -> str:
    raise metadata.PackageNotFoundError(name)


def faults(findings: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity == "fault"]


def test_a_computer_with_nothing_set_up_has_notes_and_no_faults(tmp_path: Path) -> None:
    findings = list(examine(lambda: configured(tmp_path), NOW, machine(tmp_path)))
    assert faults(findings) == []
    assert worst(findings) == "note"
    subjects = {finding.subject for finding in findings}
    assert subjects >= {
        "Python", "libraries", "OpenCV", "settings", "camera", "calibration", "layout", "looks", "board", "serial",
        "journal", "disk",
    }  # fmt: skip
    assert all(finding.remedy for finding in findings if finding.severity == "note" and finding.subject != "serial")


def test_wrong_settings_are_a_fault_and_the_rest_is_looked_at_all_the_same(tmp_path: Path) -> None:
    def broken() -> Configuration:
        raise ConfigError("referee.toml:3: turn.end is wrong")

    findings = list(examine(broken, NOW, machine(tmp_path)))
    assert "referee.toml:3" in faults(findings)[0].message
    assert any(finding.subject == "disk" for finding in findings)


@pytest.mark.parametrize(("version", "level"), [((3, 10, 9), "fault"), ((3, 11, 0), "ok"), ((3, 13, 1), "ok")])
def test_python(version: tuple[int, ...], level: str) -> None:
    assert check_python(version).severity == level


def test_a_missing_library_and_one_too_many_are_named() -> None:
    def version_of(name: str) -> str:
        return _missing(name) if name == "rich" else "9.9"

    levels = {finding.message.split()[0]: finding.severity for finding in check_packages(version_of)}
    assert levels == {"numpy": "ok", "rich": "fault", "opencv-python": "note"}


def test_cameras_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    names = tmp_path / "sys/class/video4linux/video2"
    names.mkdir(parents=True)
    (names / "name").write_text("Good Webcam\n")
    for number in (2, 10):
        (tmp_path / f"dev/video{number}").touch()
    findings = list(check_camera(configured(tmp_path, '[camera]\nsource = "2"\n'), tmp_path))
    assert [finding.message for finding in findings] == ["/dev/video2: Good Webcam", "/dev/video10: a camera"]
    chosen = list(check_camera(configured(tmp_path, '[camera]\nsource = "/dev/video1"\n'), tmp_path))[-1]
    assert chosen.severity == "fault"
    assert "referee.toml:2" in chosen.message


def test_a_usb_camera_is_told_by_what_stays_the_same(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/video2").touch()
    plug_in(tmp_path, 2, "1-1.4", "A1B2")
    told = list(check_camera(configured(tmp_path, '[camera]\nsource = "usb:046d:0825"\n'), tmp_path))
    assert [finding.message for finding in told] == [
        "/dev/video2: Webcam, always usb:046d:0825:A1B2",
        "usb:046d:0825 is /dev/video2",
    ]
    *_, away = check_camera(configured(tmp_path, '[camera]\nsource = "usb:046d:0826"\n'), tmp_path)
    assert (away.severity, "is not plugged in; there is usb:046d:0825:A1B2" in away.message) == ("fault", True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every device")
def test_a_camera_that_may_not_be_used(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/video0").touch(mode=0o000)
    (finding,) = check_camera(configured(tmp_path), tmp_path)
    assert (finding.severity, "usermod -aG video" in finding.remedy) == ("fault", True)


def test_no_camera_is_a_fault_only_when_one_was_asked_for(tmp_path: Path) -> None:
    assert [finding.severity for finding in check_camera(configured(tmp_path), tmp_path)] == ["note"]
    asked = configured(tmp_path, '[camera]\nsource = "0"\n')
    assert [finding.severity for finding in check_camera(asked, tmp_path)] == ["fault"]


def test_the_pi_s_own_camera_needs_the_system_s_picamera2(tmp_path: Path) -> None:
    asked = configured(tmp_path, '[camera]\nsource = "pi:0"\n')
    (lacking,) = check_camera(asked, tmp_path)
    assert (lacking.severity, lacking.remedy) == ("fault", "sudo apt install python3-picamera2")
    (tmp_path / "usr/lib/python3/dist-packages/picamera2").mkdir(parents=True)
    assert [finding.severity for finding in check_camera(asked, tmp_path)] == ["ok"]


def test_pictures_as_a_camera(tmp_path: Path) -> None:
    there = configured(tmp_path, f'[camera]\nsource = "folder:{tmp_path}"\n')
    assert [finding.severity for finding in check_camera(there, tmp_path)] == ["ok"]
    gone = configured(tmp_path, '[camera]\nsource = "/nowhere/film.mp4"\n')
    assert [finding.severity for finding in check_camera(gone, tmp_path)] == ["fault"]


def table_files(folder: Path) -> None:
    camera = CameraModel(np.diag([900.0, 900.0, 1.0]), np.zeros(5), (1280, 720), 0.1, "cam")
    save_calibration(folder / "camera.json", Calibration(camera, (), 1.0, ()), made_on=date(2026, 5, 1))
    save_appearance(drawn_appearance(("star",), {"gold": np.zeros(3), "teal": np.ones(3)}), folder / "looks.json")


TABLE = '[camera]\ncalibration = "camera.json"\n[table]\nlooks = "looks.json"\n'


def test_files_of_the_table_that_are_there(tmp_path: Path) -> None:
    table_files(tmp_path)
    findings = list(check_table(configured(tmp_path, TABLE)))
    assert [(finding.subject, finding.severity) for finding in findings] == [
        ("calibration", "ok"),
        ("layout", "ok"),
        ("looks", "ok"),
    ]
    assert "1280 x 720, 0.10 px" in findings[0].message
    assert "gold, teal; star" in findings[2].message
    save_appearance(drawn_appearance(("star",), {"gold": np.zeros(3)}), tmp_path / "looks.json")
    (lacking,) = faults(list(check_table(configured(tmp_path, TABLE))))
    assert "does not show what teal pieces look like" in lacking.message


def test_files_of_the_table_that_are_missing_or_broken(tmp_path: Path) -> None:
    (tmp_path / "looks.json").write_text(json.dumps({"format": "no"}))
    (tmp_path / "layout.json").write_text("{}")
    findings = list(check_table(configured(tmp_path, TABLE + 'layout = "layout.json"\n')))
    assert [finding.severity for finding in findings] == ["fault", "fault", "fault"]
    assert all(finding.remedy for finding in findings)


def test_a_calibration_for_another_size(tmp_path: Path) -> None:
    table_files(tmp_path)
    small = configured(tmp_path, TABLE.replace("[table]", "width_px = 640\nheight_px = 480\n[table]"))
    (fault,) = faults(list(check_table(small)))
    assert "asked for 640 x 480" in fault.message


def test_pins_are_looked_up_only_when_something_hangs_on_them(tmp_path: Path) -> None:
    around = machine(tmp_path)
    assert [finding.subject for finding in check_lights(configured(tmp_path), around)] == ["board"]
    asked: list[Any] = []

    def board(pins: Any) -> list[Finding]:
        asked.append(pins)
        return []

    wired = configured(tmp_path, '[lights]\ndrivers = ["gpio"]\nbuzzer_pin = 18\n')
    list(check_lights(wired, Machine(root=tmp_path, board=board)))
    assert asked[0].buzzer == 18


def test_serial_ports() -> None:
    assert [finding.severity for finding in check_serial(())] == ["note"]
    (finding,) = check_serial([SerialPort("/dev/ttyACM0", vendor_id=0x2E8A, product_id=5)])
    assert "Pico" in finding.message


@pytest.mark.parametrize(
    ("lines", "level", "message"),
    [
        ("", [], ""),
        ('address = "b.lan"', ["ok"], "b.lan, port 1883 lets the table pi in; it may command nothing"),
        ('address = "b.lan"\ncommands = "own"', ["ok"], "it may do what the owner may"),
        ('address = "b.lan"\nuser = "Ann"', ["ok", "note"], "the password goes to it unencrypted"),
        ('address = "gone.lan"', ["fault"], "gone.lan does not answer"),
        ('address = "b.lan"\nuser = "Ann"\npassword_file = "none"', ["fault"], "can't be read from"),
    ],
)
def test_a_broker(lines: str, level: list[str], message: str, tmp_path: Path) -> None:
    def ask(options: MqttOptions) -> None:
        if options.address == "gone.lan":
            raise BrokerError("gone.lan does not answer")

    settings = configured(tmp_path, f"[mqtt]\n{lines}\n").settings
    found = list(check_broker(settings.mqtt, "pi", {"REFEREE_MQTT_PASSWORD": "x"}, ask))
    assert [each.severity.value for each in found] == level
    assert not found or message in found[-1].message


def test_a_journal_that_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    none_yet = list(check_journal(path, NOW, lambda folder: PLENTY))
    assert [finding.severity for finding in none_yet] == ["ok", "ok"]
    with Journal.open(path, wall_clock=lambda: NOW) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}))
        in_use = list(check_journal(path, NOW, lambda folder: PLENTY))
    assert f"process {os.getpid()}" in in_use[1].message
    after = list(check_journal(path, NOW, lambda folder: PLENTY))
    assert "1 game, 1 still open" in after[0].message
    assert len(after) == 2


def test_a_journal_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_text("hello")
    assert next(iter(check_journal(path, NOW, lambda folder: PLENTY))).severity == "fault"
    assert path.read_text() == "hello"


@pytest.mark.parametrize(("free_mib", "level"), [(1, "fault"), (100, "note"), (5000, "ok")])
def test_disk_space(tmp_path: Path, free_mib: int, level: str) -> None:
    findings = list(check_journal(tmp_path / "deep/down/journal.sqlite", NOW, lambda folder: free_mib * 1024 * 1024))
    assert (findings[-1].subject, findings[-1].severity) == ("disk", level)


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
    monkeypatch.setattr(diagnosis, "LISTEN_S", 0.1)
    (tmp_path / "lights.toml").write_text(LIGHTS)
    save_sensor_map(SensorMap({"a1": 0, "b1": 2}, 3), tmp_path / "sensors.toml")
    with plugged(tmp_path) as it:
        yield it


def test_nothing_on_wires_is_nothing_to_say(table: Plugged) -> None:
    assert findings(table.settings(base="")) == {}


def test_a_board_that_is_well(table: Plugged) -> None:
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
def test_a_bad_cable_is_noticed(link: LinkStatistics, level: str) -> None:
    finding = link_quality(ConnectionStatistics(link, 0, 0, 0))
    assert finding.severity == level
    assert bool(finding.remedy) == (level == "note")


def test_a_board_that_does_not_answer(table: Plugged) -> None:
    configuration = table.settings()
    table.unplug()
    found = findings(configuration)
    assert [finding.severity for finding in found["board"]] == ["fault"]
    assert "there is no port" in found["board"][0].message


def test_a_board_that_another_program_has(table: Plugged) -> None:
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


def test_a_strip_that_is_shorter_than_the_map(table: Plugged) -> None:
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
def test_a_wled_that_answers(table: Plugged, told: dict[str, Any], level: str, message: str) -> None:
    (finding,) = findings(table.settings(base=WLED), lambda host: told)["WLED"]
    assert finding.severity == level
    assert message in finding.message


def test_a_wled_that_does_not(table: Plugged) -> None:
    (finding,) = findings(table.settings(base=WLED))["WLED"]
    assert (finding.severity, "wled.local does not answer: nobody there" in finding.message) == ("fault", True)


def test_a_wled_s_port(table: Plugged) -> None:
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
def test_wled_is_asked_as_its_page_does(answer: bytes, is_wled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Wled, "answer", answer)
    with HTTPServer(("127.0.0.1", 0), _Wled) as server:
        monkeypatch.setattr(diagnosis, "_HTTP_PORT", server.server_address[1])
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        if is_wled:
            assert diagnosis.ask_wled("127.0.0.1")["leds"]["count"] == 49
        else:
            with pytest.raises(ValueError, match=r"Expecting value|not as a WLED"):
                diagnosis.ask_wled("127.0.0.1")
        thread.join()


def test_who_is_no_web_server_is_no_wled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rude(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"220 mail\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Rude) as server:
        monkeypatch.setattr(diagnosis, "_HTTP_PORT", server.server_address[1])
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises((ValueError, OSError)):
            diagnosis.ask_wled("127.0.0.1")
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
    assert "the sensor under a1 is taken out: it has said" in finding.message
    path.write_text("{")
    (finding,) = findings(configuration)["sensors"]
    assert finding.severity == "fault"
