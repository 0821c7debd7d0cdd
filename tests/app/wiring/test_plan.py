"""The plan of all wired devices, checked before anything is opened, and the doctor's findings about them."""

import json
import socketserver
import textwrap
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from app.sensing.health import HealthFile, SensorHealth, health_file
from app.settings.configuration import Configuration, load
from app.wiring import checks
from app.wiring.checks import check_wires, link_quality
from app.wiring.devices import LinkedController, linked_controller
from app.wiring.plan import SensorMap, WiringPlan, plan_and_problems, playable_plan, save_sensor_map, wiring_plan
from common.findings import Finding
from firmware_bridge.connection.connection import ConnectionStatistics
from firmware_bridge.protocol.link import LinkStatistics
from firmware_bridge.protocol.packets import DroppedFrames
from referee.errors import ConfigError
from tests.referee.virtual_board import SETTINGS, Plugged, plugged

PLACES = ("a1", "b1", "c1")
LIGHTS = "lights = 4\nstatus = 3\n[places]\na1 = 0\nb1 = [1, 2]\n"
SENSORS = "switches = 3\n[places]\na1 = 2\nb1 = 0\n"
PINS = (
    'board = "pico"\n[lights]\npin = 28\ncount = 4\n[matrix]\nrows = [2]\ncolumns = [3, 4, 5]\n[buttons]\nhint = 10\n'
)


def planned(folder: Path, text: str) -> tuple[WiringPlan, list[str]]:
    (folder / "referee.toml").write_text(text)
    configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
    return plan_and_problems(configuration.settings, configuration.sources, PLACES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lights.toml").write_text(LIGHTS)
    (tmp_path / "sensors.toml").write_text(SENSORS)
    (tmp_path / "pins.toml").write_text(PINS)
    return tmp_path


def test_without_settings_nothing_is_wired(folder: Path) -> None:
    plan, found = planned(folder, "")
    assert found == []
    assert not plan.needs_controller
    assert not plan.has_sensors
    assert plan.roles == ("end turn", "hint", "take back")


WHOLE = """
[lights]
drivers = ["terminal", "board"]
light_map = "lights.toml"
brightness = 0.5
current_limit_ma = 800
[board]
port = "/dev/ttyACM7"
serial_number = "ABC"
pin_map = "pins.toml"
silence_s = 4
[sensors]
source = "board"
eyes = "both"
map = "sensors.toml"
false_closed = 0.02
"""


def test_a_complete_table_is_planned(folder: Path) -> None:
    plan, found = planned(folder, WHOLE)
    assert found == []
    assert plan.needs_controller
    assert (plan.drivers, plan.brightness, plan.roles) == (("board",), 0.5, ("hint",))
    assert (plan.wanted.port, plan.wanted.serial_number) == ("/dev/ttyACM7", "ABC")
    assert (plan.configure.silence_ms, plan.configure.current_limit_ma) == (4000, 800)
    assert plan.sensor_settings.false_closed == 0.02
    assert plan.light_map is not None
    assert plan.sensor_map is not None


def test_the_settings_of_the_guide_give_a_complete_table(folder: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "microcontroller.md").read_text(encoding="utf-8")
    settings = textwrap.dedent(guide.split("```toml\n", 1)[1].split("```", 1)[0])
    plan, found = planned(folder, settings)
    assert found == []
    assert (plan.drivers, plan.switch_source, plan.inputs) == (("board",), "board", "both")
    assert plan.pin_map is not None
    assert None not in (plan.light_map, plan.sensor_map)


def test_by_default_any_board_that_answers_is_used(folder: Path) -> None:
    plan, _ = planned(folder, "")
    assert plan.wanted.is_any


def test_all_missing_settings_are_named_at_once(folder: Path) -> None:
    text = '[lights]\ndrivers = ["board", "wled-network"]\n[sensors]\neyes = "both"\n'
    _, found = planned(folder, text)
    listed = "\n".join(found)
    assert "lights.light_map: it is not set, and board and wled-network need one" in listed
    assert "lights.wled_host: it is not set" in listed
    assert "sensors.eyes: it is 'both', but sensors.source is none" in listed
    assert "sensors.eyes: it is 'both', but sensors.map is not set; `./run hardware sensors map` makes one" in listed
    assert len(found) == 4
    (folder / "referee.toml").write_text(text)
    configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
    with pytest.raises(ConfigError) as caught:
        wiring_plan(configuration.settings, configuration.sources, PLACES)
    assert str(caught.value) == listed


def test_all_invalid_files_are_named(folder: Path) -> None:
    (folder / "lights.toml").write_text(LIGHTS + "z9 = 0\n")
    (folder / "sensors.toml").write_text("switches = 1\n")
    (folder / "pins.toml").write_text(PINS.replace("hint = 10", "hint = 28"))
    _, found = planned(folder, WHOLE)
    listed = "\n".join(found)
    assert "light 0 is used for place a1 and for place z9" in listed
    assert "it has no places" in listed
    assert "GP28 is used twice" in listed
    assert all("referee.toml:" in line for line in found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("count = 4", "count = 3"), "the strip has 3 lights and the light map needs 4"),
        (("columns = [3, 4, 5]", "columns = [3, 4]"), "there are 2 switches and the sensor map was made for 3"),
    ],
)
def test_a_pin_map_with_too_few_lights_or_switches_is_reported(
    folder: Path, change: tuple[str, str], message: str
) -> None:
    (folder / "pins.toml").write_text(PINS.replace(*change))
    _, found = planned(folder, WHOLE)
    assert len(found) == 1
    assert message in found[0]


BUTTONS_ONLY = 'board = "pico"\n[buttons]\n"end turn" = 18\n[buzzer]\npin = 22\n'


@pytest.mark.parametrize("drivers", ["", '[lights]\ndrivers = ["terminal", "board"]\n'])
def test_a_board_with_only_buttons_and_a_buzzer_needs_no_light_map(folder: Path, drivers: str) -> None:
    (folder / "pins.toml").write_text(BUTTONS_ONLY)
    plan, found = planned(folder, drivers + '[board]\npin_map = "pins.toml"\n')
    assert found == []
    assert plan.needs_controller
    assert not plan.has_board_lights
    assert plan.roles == ("end turn",)


def test_a_light_map_for_a_board_without_lights_is_reported(folder: Path) -> None:
    (folder / "pins.toml").write_text(BUTTONS_ONLY)
    text = '[lights]\ndrivers = ["board"]\nlight_map = "lights.toml"\n[board]\npin_map = "pins.toml"\n'
    _, found = planned(folder, text)
    assert len(found) == 1
    assert "the strip has 0 lights and the light map needs 4" in found[0]
    wled = text.replace('["board"]', '["board", "wled-network"]\nwled_host = "wled.local"')
    plan, found = planned(folder, wled)
    assert found == []
    assert plan.light_map is not None


@pytest.mark.parametrize(
    ("board", "messages"),
    [
        ("", ['board.port: it is "auto", but the pin map links the board by a UART', "board.baud: it is 115200"]),
        ('port = "/dev/serial0"\n', ["board.baud: it is 115200, but the pin map has 57600; set the same in both"]),
        ('port = "/dev/serial0"\nbaud = 57600\n', []),
        ('serial_number = "ABC"\nbaud = 57600\n', []),
    ],
)
def test_a_board_on_a_uart_needs_its_port_and_rate(folder: Path, board: str, messages: list[str]) -> None:
    uart = 'board = "pico"\nlink = "uart"\n[uart]\nnumber = 0\ntx = 0\nrx = 1\nbaud = 57600\n[buttons]\nhint = 10\n'
    (folder / "pins.toml").write_text(uart)
    _, found = planned(folder, f'[board]\npin_map = "pins.toml"\n{board}')
    assert len(found) == len(messages)
    assert all(message in line for message, line in zip(messages, found, strict=True))


def test_a_wled_strip_shorter_than_its_map_is_reported(folder: Path) -> None:
    text = (
        '[lights]\ndrivers = ["wled-network"]\nlight_map = "lights.toml"\nwled_host = "wled.local"\nstrip_lights = 3\n'
    )
    _, found = planned(folder, text)
    assert len(found) == 1
    assert "lights.light_map: the strip has 3 lights and the light map needs 4" in found[0]


def test_squares_that_the_game_lacks_are_named(folder: Path) -> None:
    (folder / "sensors.toml").write_text(SENSORS + "q8 = 1\n")
    _, found = planned(folder, WHOLE)
    assert "the sensor map has squares that this game does not have: q8" in found[0]


def test_a_button_role_used_twice_is_refused(folder: Path) -> None:
    _, found = planned(folder, '[board]\nbuttons = ["hint", "hint"]\n')
    assert "more than one button is set for hint; give each" in found[0]


@pytest.mark.parametrize("making", ["light map", "sensor map"])
def test_a_map_about_to_be_made_may_be_missing(folder: Path, making: Any) -> None:
    text = '[lights]\ndrivers = ["board"]\nlight_map = "new.toml"\n'
    text += '[sensors]\nsource = "board"\neyes = "both"\nmap = "new.toml"\n'
    (folder / "referee.toml").write_text(text)
    configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
    plan = wiring_plan(configuration.settings, configuration.sources, PLACES, making=making)
    assert plan.drivers == (("board",) if making == "light map" else ())
    assert plan.switch_source == "board"
    assert not plan.has_sensors


def test_a_game_is_played_without_its_wired_devices_if_their_settings_are_wrong(folder: Path) -> None:
    def playing(text: str) -> tuple[WiringPlan, tuple[str, ...]]:
        (folder / "referee.toml").write_text(text)
        configuration = load(None, environment={"HOME": str(folder)}, folder=folder)
        return playable_plan(configuration.settings, configuration.sources, PLACES)

    plan, wrong = playing(WHOLE)
    assert plan.needs_controller
    assert wrong == ()
    (folder / "pins.toml").write_text(PINS.replace("[3, 4, 5]", "[3, 3, 5]"))
    plan, wrong = playing(WHOLE)
    assert plan == WiringPlan()
    assert len(wrong) == 1
    assert "GP3 is used twice: for matrix column 1 and for matrix column 2" in wrong[0]
    with pytest.raises(ConfigError, match="GP3 is used twice"):
        playing(WHOLE.replace('"both"', '"sensors"'))


def quietly(plan: WiringPlan) -> AbstractContextManager[LinkedController]:
    return linked_controller(plan, lambda sentence: None)


def no_wled(host: str) -> dict[str, Any]:
    raise OSError("nobody there")


def findings(configuration: Configuration, ask: Any = no_wled) -> dict[str, list[Finding]]:
    by_subject: dict[str, list[Finding]] = {}
    for finding in check_wires(configuration, quietly, ask):
        by_subject.setdefault(finding.subject, []).append(finding)
    return by_subject


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugged]:
    monkeypatch.setattr(checks, "LISTEN_S", 0.1)
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
        (LinkStatistics(packets=9, again=1), "note"),
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

    (finding,) = [one for one in check_wires(configuration, taken, no_wled) if one.subject == "board"]
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

    found = [one for one in check_wires(table.settings(), taken_briefly, no_wled) if one.subject == "board"]
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
    found = findings(table.settings(base=WLED.replace("wled.local", name)), checks.ask_wled)
    (fault,) = found["wires"]
    assert f"lights.wled_host: {name!r} is not the name of a WLED controller" in fault.message
    assert "WLED" not in found


def test_a_name_that_no_request_can_contain_is_not_answered() -> None:
    with pytest.raises(ValueError, match="control characters"):
        checks.ask_wled("wled\x01")


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
        monkeypatch.setattr(checks, "_HTTP_PORT", server.server_address[1])
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        if is_wled:
            assert checks.ask_wled("127.0.0.1")["leds"]["count"] == 49
        else:
            with pytest.raises(ValueError, match=r"Expecting value|not as a WLED"):
                checks.ask_wled("127.0.0.1")
        thread.join()


def test_a_server_without_http_is_no_wled(monkeypatch: pytest.MonkeyPatch) -> None:
    class Rude(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.sendall(b"220 mail\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Rude) as server:
        monkeypatch.setattr(checks, "_HTTP_PORT", server.server_address[1])
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises((ValueError, OSError)):
            checks.ask_wled("127.0.0.1")
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
