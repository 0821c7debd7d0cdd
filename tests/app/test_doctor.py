import json
import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.bug_report import Anonymizer
from app.doctor import (
    Machine,
    check_broker,
    check_camera,
    check_journal,
    check_lights,
    check_opponent,
    check_packages,
    check_python,
    check_serial,
    check_table,
    examine,
)
from app.settings.configuration import Configuration, load
from app.settings.kept_cameras import cameras_file, keep_camera
from common.findings import Finding, Severity, worst
from firmware_bridge.ports.serial_ports import SerialPort
from frontends.mqtt.options import MqttOptions
from journal.journal import Journal
from referee.errors import BrokerError, ConfigError
from referee.record.events import Event, EventKind
from tests.vision.cameras.test_usb_devices import plug_in
from vision.calibration import save_calibration
from vision.geometry import CameraModel, Pose
from vision.readers.blocks.appearance import BlockAppearance, drawn_mask, save_appearance
from vision.self_calibration import SelfCalibration, Sighting

NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
PLENTY = 10**10
MASKS = {"star": drawn_mask("star", 60)}


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
    findings = list(examine(lambda: configured(tmp_path), machine(tmp_path)))
    assert faults(findings) == []
    assert worst(findings) == "note"
    subjects = {finding.subject for finding in findings}
    assert subjects >= {
        "Python", "libraries", "OpenCV", "settings", "camera", "lens", "layout", "looks", "board", "serial",
        "journal", "disk",
    }  # fmt: skip
    assert all(finding.remedy for finding in findings if finding.severity == "note" and finding.subject != "serial")


def test_wrong_settings_are_a_fault_and_the_other_checks_still_run(tmp_path: Path) -> None:
    def broken() -> Configuration:
        raise ConfigError("referee.toml:3: turn.end is wrong")

    environment = {"XDG_DATA_HOME": str(tmp_path)}
    findings = list(examine(broken, machine(tmp_path, environment=environment)))
    fault, note = [finding for finding in findings if finding.subject == "settings"]
    assert (fault.severity, note.severity) == ("fault", "note")
    assert "referee.toml:3" in fault.message
    assert note.message == "the checks below use the defaults, because the settings can't be read"
    assert any(finding.subject == "disk" for finding in findings)
    (journal,) = [finding for finding in findings if finding.subject == "journal"]
    assert str(tmp_path / "tabletop-referee" / "journal.sqlite") in journal.message, "the usual place of the journal"


def test_a_missing_sheet_file_is_a_fault_of_the_settings(tmp_path: Path) -> None:
    text = '[game]\nname = "blokus-dice"\n[game.options]\nsheet = "ours.toml"\n'
    findings = list(examine(lambda: configured(tmp_path, text), machine(tmp_path)))
    (fault,) = faults(findings)
    assert fault.subject == "settings"
    assert f"referee.toml:4: game.options: cannot read {tmp_path}/ours.toml" in fault.message


@pytest.mark.parametrize(("version", "level"), [((3, 10, 9), "fault"), ((3, 11, 0), "ok"), ((3, 13, 1), "ok")])
def test_the_python_version_is_checked(version: tuple[int, ...], level: str) -> None:
    assert check_python(version).severity == level


def test_a_missing_library_and_a_conflicting_one_are_named() -> None:
    def version_of(name: str) -> str:
        return _missing(name) if name == "rich" else "9.9"

    levels = {finding.message.split()[0]: finding.severity for finding in check_packages(version_of)}
    assert levels == {"numpy": "ok", "rich": "fault", "opencv-python": "note"}


def test_no_version_of_a_library_is_taken_for_an_address() -> None:
    told = [finding.message for finding in check_packages(lambda name: "5.0.0.93")]
    assert "opencv-python-headless 5.0.0" in told[0]
    assert [Anonymizer().text(message) for message in told] == told


MAINS = "lamps on mains of 50 Hz, by the time zone; mains_hz under [camera] sets another"


def test_the_mains_frequency_that_a_camera_is_told_is_named(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/video0").touch()
    *_, told = check_camera(configured(tmp_path, "[camera]\nmains_hz = 60\n"), tmp_path)
    assert told.message == "lamps on mains of 60 Hz, as mains_hz under [camera] says"


def test_connected_cameras_are_found(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    names = tmp_path / "sys/class/video4linux/video2"
    names.mkdir(parents=True)
    (names / "name").write_text("Good Webcam\n")
    for number in (2, 10):
        (tmp_path / f"dev/video{number}").touch()
    findings = list(check_camera(configured(tmp_path, '[camera]\nsource = "2"\n'), tmp_path))
    assert [finding.message for finding in findings] == ["/dev/video2: Good Webcam", "/dev/video10: a camera", MAINS]
    chosen = list(check_camera(configured(tmp_path, '[camera]\nsource = "/dev/video1"\n'), tmp_path))[-1]
    assert chosen.severity == "fault"
    assert "referee.toml:2" in chosen.message


def test_a_usb_camera_is_named_by_its_permanent_id(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/video2").touch()
    plug_in(tmp_path, 2, "1-1.4", "A1B2")
    told = list(check_camera(configured(tmp_path, '[camera]\nsource = "usb:046d:0825"\n'), tmp_path))
    assert [finding.message for finding in told] == [
        "/dev/video2: Webcam, always usb:046d:0825:A1B2",
        MAINS,
        "usb:046d:0825 is /dev/video2",
    ]
    *_, away = check_camera(configured(tmp_path, '[camera]\nsource = "usb:046d:0826"\n'), tmp_path)
    assert (away.severity, "is not plugged in; there is usb:046d:0825:A1B2" in away.message) == ("fault", True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may use every device")
def test_a_camera_without_permission_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/video0").touch(mode=0o000)
    finding, _ = check_camera(configured(tmp_path), tmp_path)
    assert (finding.severity, "usermod -aG video" in finding.remedy) == ("fault", True)


def test_a_missing_camera_is_a_fault_only_if_configured(tmp_path: Path) -> None:
    assert [finding.severity for finding in check_camera(configured(tmp_path), tmp_path)] == ["note"]
    asked = configured(tmp_path, '[camera]\nsource = "0"\n')
    assert [finding.severity for finding in check_camera(asked, tmp_path)] == ["fault"]


def test_the_pi_s_own_camera_needs_the_system_s_picamera2(tmp_path: Path) -> None:
    asked = configured(tmp_path, '[camera]\nsource = "pi:0"\n')
    (lacking,) = check_camera(asked, tmp_path)
    assert (lacking.severity, lacking.remedy) == ("fault", "sudo apt install python3-picamera2")
    (tmp_path / "usr/lib/python3/dist-packages/picamera2").mkdir(parents=True)
    assert [finding.severity for finding in check_camera(asked, tmp_path)] == ["ok"]


def test_pictures_can_be_the_camera(tmp_path: Path) -> None:
    there = configured(tmp_path, f'[camera]\nsource = "folder:{tmp_path}"\n')
    assert [finding.severity for finding in check_camera(there, tmp_path)] == ["ok"]
    gone = configured(tmp_path, '[camera]\nsource = "/nowhere/film.mp4"\n')
    assert [finding.severity for finding in check_camera(gone, tmp_path)] == ["fault"]


def test_a_phone_or_an_address_is_a_camera_and_no_password_is_told(tmp_path: Path) -> None:
    (unreached,) = check_camera(configured(tmp_path, '[camera]\nsource = "phone"\n'), tmp_path)
    assert (unreached.severity, "--page-address 0.0.0.0" in unreached.remedy) == ("note", True)
    reached = configured(tmp_path, '[camera]\nsource = "phone"\n[page]\naddress = "0.0.0.0"\n')
    assert [finding.severity for finding in check_camera(reached, tmp_path)] == ["ok"]
    for source, severity in (("rtsp://me:secret@camera/x?pwd=secret", "ok"), ("ftp://me:secret@camera/x", "fault")):
        finding, *_ = check_camera(configured(tmp_path, f'[camera]\nsource = "{source}"\n'), tmp_path)
        assert (finding.severity, "secret" in finding.message, "//camera" in finding.message) == (severity, False, True)


def table_files(folder: Path) -> None:
    camera = CameraModel(np.diag([900.0, 900.0, 1.0]), np.zeros(5), (1280, 720), 0.1, "cam")
    save_calibration(folder / "camera.json", camera)
    save_appearance(BlockAppearance({"gold": np.zeros(3), "teal": np.ones(3)}, MASKS), folder / "looks.json")


TABLE = '[camera]\ncalibration = "camera.json"\n[table]\nlooks = "looks.json"\n'


def test_valid_files_of_the_table_are_ok(tmp_path: Path) -> None:
    table_files(tmp_path)
    findings = list(check_table(configured(tmp_path, TABLE)))
    assert [(finding.subject, finding.severity) for finding in findings] == [
        ("calibration", "ok"),
        ("layout", "ok"),
        ("reader", "ok"),
        ("looks", "ok"),
    ]
    assert "1280 x 720, 0.10 px" in findings[0].message
    assert findings[2].message == "camera → STILL frames → TableTracker → board by BlockReader"
    assert "gold, teal; star" in findings[3].message
    save_appearance(BlockAppearance({"gold": np.zeros(3)}, MASKS), tmp_path / "looks.json")
    (lacking,) = faults(list(check_table(configured(tmp_path, TABLE))))
    assert "does not show what teal pieces look like" in lacking.message


def test_discs_too_wide_for_their_squares_are_said(tmp_path: Path) -> None:
    text = resources.files("vision.layout").joinpath("games", "diaballik.json").read_text(encoding="utf-8")
    for diameter_mm, said in ((33, 0), (35, 1)):
        layout = json.loads(text)
        layout["piece"]["diameter"] = diameter_mm
        (tmp_path / "layout.json").write_text(json.dumps(layout))
        settings = '[game]\nname = "diaballik"\n[table]\nlayout = "layout.json"\n'
        found = [each for each in check_table(configured(tmp_path, settings)) if each.subject == "pieces"]
        assert [str(each.severity) for each in found] == ["note"] * said
        assert all("discs 35 mm wide nearly fill squares of 40 mm" in each.message for each in found)


def test_handwriting_needs_no_looks(tmp_path: Path) -> None:
    found = {each.subject: each for each in check_table(configured(tmp_path, '[game]\nname = "number-drop"\n'))}
    assert (found["looks"].severity, found["looks"].message) == ("ok", "handwriting is read without looks")


def test_the_layout_of_the_paper_kit_is_named(tmp_path: Path) -> None:
    found = check_table(configured(tmp_path, '[game]\nname = "diaballik"\n[table]\nlayout = "kit"\n'))
    (layout,) = (each for each in found if each.subject == "layout")
    assert layout.severity == "ok"
    assert layout.message.startswith("the paper kit of diaballik: 7 x 7 squares")


def test_missing_or_damaged_files_of_the_table_are_faults(tmp_path: Path) -> None:
    (tmp_path / "looks.json").write_text(json.dumps({"format": "no"}))
    (tmp_path / "layout.json").write_text("{}")
    findings = list(check_table(configured(tmp_path, TABLE + 'layout = "layout.json"\n')))
    assert [finding.severity for finding in findings] == ["fault", "fault", "fault"]
    assert all(finding.remedy for finding in findings)


def test_sensors_alone_need_no_lens(tmp_path: Path) -> None:
    for eyes, count in (("both", 1), ("sensors", 0)):
        found = check_table(configured(tmp_path, f'[sensors]\neyes = "{eyes}"\n'))
        assert sum(finding.subject == "lens" for finding in found) == count


def test_a_calibration_for_another_picture_size_is_reported(tmp_path: Path) -> None:
    table_files(tmp_path)
    small = configured(tmp_path, TABLE.replace("[table]", "width_px = 640\nheight_px = 480\n[table]"))
    found = list(check_table(small))
    assert faults(found) == []
    assert [each.subject for each in found if "asked for 640 x 480" in each.message] == ["calibration"]
    assert "measured from the first picture of the table" in " ".join(each.message for each in found)


@pytest.mark.parametrize(
    ("focal_sd", "level", "said"),
    [(0.003, "ok", "known to 0.3 % from 1 view"), (0.09, "note", "known to 9.0 % from 1 view")],
)
def test_how_well_the_camera_is_known_is_said_in_percent(
    focal_sd: float, level: str, said: str, tmp_path: Path
) -> None:
    chosen = configured(tmp_path, f'[journal]\npath = "{tmp_path}/games.sqlite"\n')
    sighting = Sighting(np.zeros((1, 3)), np.zeros((1, 2)), Pose(np.eye(3), np.array([0.0, 0.0, 500.0])))
    camera = CameraModel(np.diag([900.0, 900.0, 1.0]), np.zeros(5), (1280, 720), 0.2, "0")
    keep_camera(chosen.settings.journal.path, "0", SelfCalibration(camera, focal_sd, 0.01, (sighting,)))
    (found,) = (each for each in check_table(chosen) if each.subject == "lens")
    assert found.severity == level
    assert said in found.message
    assert ("straight down" in found.message) == (level == "note")
    cameras_file(chosen.settings.journal.path).write_text("{")
    (found,) = (each for each in check_table(chosen) if each.subject == "lens")
    assert (found.severity, "measured anew" in found.remedy) == ("note", True)


@pytest.mark.parametrize(("side", "level"), [("teal", "ok"), ("teel", "fault"), ("white", "fault")])
def test_the_side_of_the_program_must_exist_in_the_game(side: str, level: str, tmp_path: Path) -> None:
    assert list(check_opponent(configured(tmp_path).settings)) == []
    (found,) = check_opponent(configured(tmp_path, f'[opponent]\nplayer = "{side}"\n').settings)
    assert (found.severity, "gold or teal" in found.message) == (level, level == "fault")


def test_pins_are_checked_only_if_something_is_wired_to_them(tmp_path: Path) -> None:
    around = machine(tmp_path)
    assert [finding.subject for finding in check_lights(configured(tmp_path), around)] == ["board"]
    asked: list[tuple[str, int]] = []

    def board(uses: Sequence[tuple[str, int]]) -> list[Finding]:
        asked.extend(uses)
        return []

    sensors = '[sensors]\nsource = "pins"\nswitch_pins = [5]\n'
    sensing = configured(tmp_path, f"[lights]\nbuzzer_pin = 18\n{sensors}")
    list(check_lights(sensing, Machine(root=tmp_path, board=board)))
    assert asked == [("sensor 1", 5)]
    wired = configured(tmp_path, f'[lights]\ndrivers = ["gpio"]\nbuzzer_pin = 18\n{sensors}')
    list(check_lights(wired, Machine(root=tmp_path, board=board)))
    assert asked[1:] == [("buzzer", 18), ("sensor 1", 5)]


def test_serial_ports_are_listed() -> None:
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
def test_the_connection_to_the_broker_is_checked(lines: str, level: list[str], message: str, tmp_path: Path) -> None:
    def ask(options: MqttOptions) -> None:
        if options.address == "gone.lan":
            raise BrokerError("gone.lan does not answer")

    settings = configured(tmp_path, f"[mqtt]\n{lines}\n").settings
    found = list(check_broker(settings.mqtt, "pi", {"REFEREE_MQTT_PASSWORD": "x"}, ask))
    assert [each.severity.value for each in found] == level
    assert not found or message in found[-1].message


def test_an_undamaged_journal_is_ok(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    none_yet = list(check_journal(path, lambda folder: PLENTY))
    assert [finding.severity for finding in none_yet] == ["ok", "ok"]
    with Journal.open(path, wall_clock=lambda: NOW) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}))
        in_use = list(check_journal(path, lambda folder: PLENTY))
    assert f"process {os.getpid()}" in in_use[1].message
    after = list(check_journal(path, lambda folder: PLENTY))
    assert "1 game, 1 still open" in after[0].message
    assert len(after) == 2


def test_missing_events_are_a_fault_until_the_next_start(tmp_path: Path) -> None:
    played, path = tmp_path / "played.sqlite", tmp_path / "journal.sqlite"
    with Journal.open(played, wall_clock=lambda: NOW) as journal:
        for number in range(20):
            journal.append(Event(EventKind.NEW_GAME, {"game": "deblockle"}))
            if number == 9:
                shutil.copy(played, path)
        shutil.copy(f"{played}-last", f"{path}-last")
    fault, *_ = check_journal(path, lambda folder: PLENTY)
    assert fault.severity == "fault"
    assert "journal.sqlite was damaged: 10 events after event 10 are missing." in fault.message
    with Journal.open(path, wall_clock=lambda: NOW) as journal:
        assert "events after event 10" in journal.remark
        in_use, *_ = check_journal(path, lambda folder: PLENTY)
        assert in_use.severity == "ok"
    sound, *_ = check_journal(path, lambda folder: PLENTY)
    assert sound.severity == "ok"


def test_a_file_that_is_no_journal_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_text("hello")
    assert next(iter(check_journal(path, lambda folder: PLENTY))).severity == "fault"
    assert path.read_text() == "hello"


@pytest.mark.parametrize(("free_mib", "level"), [(1, "fault"), (100, "note"), (5000, "ok")])
def test_little_disk_space_is_reported(tmp_path: Path, free_mib: int, level: str) -> None:
    findings = list(check_journal(tmp_path / "deep/down/journal.sqlite", lambda folder: free_mib * 1024 * 1024))
    assert (findings[-1].subject, findings[-1].severity) == ("disk", level)


@pytest.mark.parametrize(("mode", "is_told"), [(0o600, False), (0o644, True), (0o640, True)])
@pytest.mark.parametrize("is_in_a_file", [True, False])
def test_a_cameras_password_that_others_may_read_is_told(
    tmp_path: Path, mode: int, is_told: bool, is_in_a_file: bool
) -> None:
    address = "http://me:secret@camera/film"
    file = tmp_path / ("camera-address" if is_in_a_file else "referee.toml")
    (tmp_path / "camera-address").write_text(address)
    named = "address:camera-address" if is_in_a_file else address
    configuration = configured(tmp_path, f'[camera]\nsource = "{named}"\n')
    file.chmod(mode)
    first, *told = check_camera(configuration, tmp_path)
    assert first.message == "http://camera: a camera in the network"
    assert [str(each.message) for each in told] == (
        [f"others on this machine may read its password in {file}"] * is_told
    )
    assert "secret" not in str([first, *told])


def test_a_missing_file_with_a_cameras_address_is_a_fault(tmp_path: Path) -> None:
    (told,) = check_camera(configured(tmp_path, '[camera]\nsource = "address:nothing"\n'), tmp_path)
    assert told.severity is Severity.FAULT
    assert "the camera's address can't be read" in told.message
