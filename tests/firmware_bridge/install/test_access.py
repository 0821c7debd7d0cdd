"""Boards that are no boards: what is said of them, without MicroPython."""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import serial
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import (
    NoFirmwareError,
    PortAmbiguousError,
    PortMissingError,
    PortTakenError,
    WrongDeviceError,
)
from firmware_bridge.firmware.core.version import FIRMWARE_VERSION
from firmware_bridge.install import console
from firmware_bridge.install.access import (
    InstallEnvironment,
    ReachedBoard,
    bare_board,
    identify,
    only_port,
    same_board,
)
from firmware_bridge.install.check import compare_versions, equipment, running_finding
from firmware_bridge.install.console import BareBoard, InstallError, Survey, read_hexadecimal, read_survey
from firmware_bridge.install.installation import check_machine, check_welcome, install
from firmware_bridge.install.manifest import (
    MAIN_FILE,
    MANIFEST_FILE,
    NEW_SUFFIX,
    STAY_FILE,
    Firmware,
    Manifest,
    ManifestError,
    difference,
    our_firmware,
    version_text,
)
from firmware_bridge.pin_maps.pin_map import BOARDS, PinMap
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import Welcome
from tests.commands import Run, runner_in
from tests.firmware_bridge.install.conftest import InterpreterBoard

PICO = SerialPort("/dev/ttyACM0", "Board CDC", 0x2E8A, 0x0005, "E6614103E72B8F2A")


def record(device: str, vendor_id: int, serial_number: str) -> Any:
    """One of pyserial's records."""
    return SimpleNamespace(
        device=device, description="n/a", vid=vendor_id, pid=5, serial_number=serial_number, manufacturer=None
    )


def around(*records: Any) -> InstallEnvironment:
    """A computer with these ports."""
    return InstallEnvironment(list_ports=lambda: records, wait=lambda _: None)


def test_without_a_board_it_is_said_how_micropython_gets_there() -> None:
    with pytest.raises(PortMissingError, match=r"found no Pico and no Espressif.*hold its BOOTSEL button"):
        only_port(WantedBoard(), around())


def test_of_two_boards_one_is_to_be_named() -> None:
    ports = around(record("/dev/ttyACM0", 0x2E8A, "A"), record("/dev/ttyACM1", 0x303A, "B"))
    with pytest.raises(PortAmbiguousError, match=r"2 boards: /dev/ttyACM0.*/dev/ttyACM1.*with --port"):
        only_port(WantedBoard(), ports)
    assert only_port(WantedBoard("/dev/ttyACM1"), ports).serial_number == "B"


def test_a_board_is_found_again_by_its_serial_number_or_by_its_port() -> None:
    assert same_board(PICO, 115200) == WantedBoard(None, 0x2E8A, 0x0005, "E6614103E72B8F2A")
    assert same_board(SerialPort("/dev/ttyAMA0"), 9600) == WantedBoard("/dev/ttyAMA0", baud=9600)


def test_a_port_that_another_program_has_is_said(firmware: Firmware, pins: PinMap) -> None:
    master, slave = os.openpty()
    name = os.ttyname(slave)
    try:
        with (
            serial.Serial(name, exclusive=True),
            pytest.raises(PortTakenError, match=f"{name} is in use by this very program"),
        ):
            install(WantedBoard(name), firmware, pins, around(), lambda what, done, total: None)
    finally:
        os.close(master)
        os.close(slave)


def test_a_port_that_is_taken_only_briefly_is_tried_again() -> None:
    errors = iter([PortTakenError("/dev/ttyACM0 is in use by a program that looks for modems")])

    def briefly_taken(name: str, baud: int) -> Any:
        raise next(errors, PortMissingError(f"there is no port {name}"))

    edges = InstallEnvironment(list_ports=list, open_port=briefly_taken)
    with pytest.raises(PortMissingError, match="there is no port /dev/ttyACM0"):
        identify(PICO, 115200, edges, leave=True)


def test_a_board_without_its_main_file_is_not_told_to_stay_for_good(
    new_board: Callable[..., InterpreterBoard], all_files: Mapping[str, bytes]
) -> None:
    board = new_board({path: data for path, data in all_files.items() if path != MAIN_FILE})
    reached = ReachedBoard(SerialPort(board.port), None, NoFirmwareError("MicroPython at its prompt"))
    with bare_board(reached, 115200, board.around) as bare:
        assert bare.survey().has_firmware
    assert STAY_FILE not in board.files()


def test_what_is_certainly_something_else_is_left_alone() -> None:
    printer = WrongDeviceError("/dev/ttyUSB0 is a 3D printer (Marlin); is the right port named in the settings?")

    def no_opening(name: str, baud: int) -> Any:
        raise AssertionError(f"{name} was opened")

    with pytest.raises(WrongDeviceError, match="3D printer"):
        bare_board(
            ReachedBoard(SerialPort("/dev/ttyUSB0", vendor_id=0x1A86), None, printer),
            115200,
            InstallEnvironment(list_ports=list, open_port=no_opening),
        )


def test_a_board_that_never_comes_to_a_prompt_is_given_up() -> None:
    clock = iter(range(1000))
    silent = WrongDeviceError("/dev/ttyACM0 does not speak the referee's protocol")
    edges = InstallEnvironment(
        list_ports=list, open_port=_missing, clock=lambda: float(next(clock)), wait=lambda _: None
    )
    with pytest.raises(WrongDeviceError, match=r"does not come to MicroPython's prompt.*BOOTSEL"):
        bare_board(ReachedBoard(PICO, None, silent), 115200, edges)
    with pytest.raises(InstallError, match=r"went to its prompt and did not come back.*files go over USB"):
        bare_board(ReachedBoard(SerialPort("/dev/ttyAMA0"), None, None), 115200, edges)


def _missing(name: str, baud: int) -> Any:
    raise PortMissingError(f"there is no port {name}")


def test_a_port_without_anybody_at_the_prompt_is_said() -> None:
    with pytest.raises(InstallError, match=r"/dev/nowhere does not come to its prompt"):
        BareBoard("/dev/nowhere", 115200)


@pytest.mark.parametrize(
    ("survey", "told"),
    [
        (Survey({}, "circuitpython", (9, 2, 1), "Raspberry Pi Pico with rp2040", 9), "runs circuitpython"),
        (Survey({}, "micropython", (1, 21, 0), "Raspberry Pi Pico with RP2040", 9), "MicroPython 1.21.0 on .*1.22 or"),
        (
            Survey({}, "micropython", (1, 27, 0), "Raspberry Pi Pico2 with RP2350", 9),
            "the pin map is for the Raspberry Pi Pico, and the board on /dev/ttyACM0 is: Raspberry Pi Pico2",
        ),
        (Survey({}, "micropython", (1, 27, 0), "Generic ESP32S3 module with ESP32S3", 9), "is: Generic ESP32S3 module"),
    ],
)  # fmt: skip
def test_what_cannot_run_the_firmware_is_said(survey: Survey, told: str, pins: PinMap) -> None:
    with pytest.raises(InstallError, match=told):
        check_machine(survey, PICO, pins)


@pytest.mark.parametrize("machine", ["Raspberry Pi Pico W with RP2040", "Somebody's board with RP2040", "", "JS"])
def test_boards_that_may_be_the_right_one_are_taken(machine: str, pins: PinMap) -> None:
    check_machine(Survey({}, "micropython", (1, 22, 0), machine, 9), PICO, pins)
    check_machine(Survey({}, "micropython", (1, 22, 0), "Raspberry Pi Pico2 with RP2350", 9), PICO, None)


def test_versions_are_compared_by_their_numbers() -> None:
    assert compare_versions((1, 0, 0), (1, 0, 0)).severity == "ok"
    assert "older than this program's 1.10.0" in compare_versions((1, 9, 0), (1, 10, 0)).message
    assert "newer than this program's 1.9.0" in compare_versions((1, 10, 0), (1, 9, 0)).message


def test_a_board_that_drives_no_pin_of_its_pin_map_is_not_good(firmware: Firmware, pins: PinMap) -> None:
    """The firmware uses no pin at all if the board refuses one of them."""
    counts = (pins.light_count, pins.switch_count, len(pins.buttons))
    good = Welcome(firmware.version, 5, *counts, 2, pins.crc32, 0, "Pico")
    assert check_welcome(good, PICO, firmware, pins) is good
    assert running_finding(good).severity == "ok"
    refusing = replace(good, lights=0, switches=0, buttons=0, buzzer=0)
    with pytest.raises(InstallError, match=r"^the board on /dev/ttyACM0 can't use its pin map, so it uses none of its"):
        check_welcome(refusing, PICO, firmware, pins)
    assert running_finding(refusing).severity == "fault"
    assert running_finding(replace(refusing, pin_map_checksum=0)).severity == "ok", "it has none"


def test_what_is_connected_is_counted_in_words() -> None:
    one = Welcome((1, 0, 0), 5, 1, 1, 1, 0, 0, 0, "Pico")
    assert equipment(one) == "1 light, 1 switch, 1 button"
    assert equipment(replace(one, lights=64, switches=0, buttons=3, buzzer=2)) == (
        "64 lights, 0 switches, 3 buttons, a buzzer"
    )


# ``referee hardware firmware`` as it is typed, with a board of MicroPython under Node behind a pseudo-terminal.

NewBoard = Callable[..., InterpreterBoard]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``referee hardware firmware`` with arguments, at home and at work in an empty folder."""
    return runner_in(tmp_path, monkeypatch, "firmware")


@pytest.mark.parametrize("board", sorted(BOARDS))
def test_the_example_that_is_printed_is_good(run: Run, tmp_path: Path, board: str) -> None:
    printed = run("pins", "--example", "--board", board)
    assert printed.exit_code == 0
    (tmp_path / "pins.toml").write_text(printed.output, encoding="utf-8")
    result = run("pins", "pins.toml")
    assert result.exit_code == 0
    assert result.output == (
        f"pins.toml is a good pin map ({BOARDS[board].title}): 64 lights, 64 switches, buttons: end turn, hint, "
        "take back.\n"
    )


def test_a_pin_map_with_faults_is_told_whole(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pins.toml").write_text('board = "pico"\n[lights]\npin = 2\ncount = 900\n[buttons]\nhint = 2\n')
    result = run("pins", "pins.toml")
    assert result.exit_code == 7
    assert result.stderr.splitlines() == [
        "referee: error: pins.toml: lights.count is 900; expected a whole number from 1 to 300",
        "referee: error: pins.toml: GP2 is used twice: for the lights and for the button 'hint'; give each its own pin",
    ]
    assert run("install", "--pins", "pins.toml", "--port", "/dev/nowhere").stderr == result.stderr


def test_delicate_pins_are_told_and_taken(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pins.toml").write_text('board = "esp32-s3"\n[switches]\npins = [45]\n')
    result = run("pins", "pins.toml")
    assert result.exit_code == 0
    assert result.stderr.startswith("note: pins.toml: switch 1 is on GPIO45: the chip reads it")
    assert ": 0 lights, 1 switch, buttons: none.\n" in result.stdout


def test_wrong_usage_is_told(run: Run) -> None:
    assert run("pins").exit_code == 2
    assert run("pins", "--example", "nowhere.toml").exit_code == 2


def test_a_port_that_is_not_there_is_told(run: Run) -> None:
    result = run("check", "--port", "/dev/nowhere")
    assert result.exit_code == 7
    assert "there is no port /dev/nowhere" in result.stderr


def test_install_and_check_say_what_they_did_and_found(
    run: Run, tmp_path: Path, new_board: NewBoard, firmware: Firmware, all_files: Mapping[str, bytes]
) -> None:
    version = version_text(firmware.version)
    board = new_board(all_files)
    other = run("pins", "--example").output.replace("count = 64", "count = 25")
    (tmp_path / "pins.toml").write_text(other, encoding="utf-8")
    (tmp_path / "referee.toml").write_text(f'[board]\nport = "{board.port}"\npin_map = "pins.toml"\n')
    before = run("check")
    assert before.exit_code == 1
    lines = [
        re.sub(r"(MicroPython) [\d.]+", r"\1 VERSION", " ".join(line.split())) for line in before.stdout.splitlines()
    ]
    assert lines == [
        board.port,
        "ok interpreter MicroPython VERSION on JS with Emscripten",
        f"ok firmware version {version}",
        "ok files all are correct",
        "wrong pin map the board's differs from yours",
        "→ `referee hardware firmware install --pins FILE` puts yours there",
        "ok board Raspberry Pi Pico answers: 64 lights, 64 switches, 3 buttons, a buzzer",
    ]
    installed = run("install")
    assert installed.exit_code == 0, installed.stderr
    assert installed.stdout.splitlines() == [
        f"Firmware {version} is on the board on {board.port}: 1 file written and checked.",
        "Raspberry Pi Pico answers: 25 lights, 64 switches, 3 buttons, a buzzer.",
    ]
    after = run("check", "--quick")
    assert after.exit_code == 0
    again = run("install", "--port", board.port)
    assert again.stdout.startswith(f"Firmware {version} was already on the board on {board.port}; every file is as it")


# What a board answers at its prompt is read, or said to be something else.

FACTS = b'["micropython", [1, 27, 0], "Raspberry Pi Pico with RP2040", 868352]\r\n'


def test_a_survey_is_read() -> None:
    survey = read_survey(b'["main.py", "5e5e"]\r\n' + FACTS)
    assert survey.hashes == {"main.py": "5e5e"}
    assert survey.title == "MicroPython 1.27.0 on Raspberry Pi Pico with RP2040"
    assert survey.free_bytes == 868352


@pytest.mark.parametrize(("file", "has"), [("main.py", False), ("firmware/a.py.new", False), ("firmware/a.py", True)])
def test_files_under_temporary_names_are_no_firmware(file: str, has: bool) -> None:
    assert read_survey(f'["{file}", "5e5e"]\r\n'.encode() + FACTS).has_firmware is has


@pytest.mark.parametrize(
    "said",
    [b"", b"\xff" + FACTS, FACTS + b"ok", FACTS.replace(b"868352", b"much"), b"[" * 5000, b'["main.py"]\r\n' + FACTS],
    ids=["nothing", "no text", "more", "no number", "nested", "no hash"],
)
def test_what_is_no_survey_is_refused(said: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_survey(said)


def test_a_file_comes_as_hexadecimal_digits() -> None:
    assert read_hexadecimal(b"00ff\r\n") == b"\0\xff"
    with pytest.raises(ValueError, match="non-hexadecimal"):
        read_hexadecimal(b"0x\r\n")


def test_a_board_that_answers_something_else_is_said(new_board: Callable[..., InterpreterBoard]) -> None:
    board = new_board({"json.py": b"def dumps(value):\n    return 'moo'\n"})
    with (
        BareBoard(board.port, 115200) as bare,
        pytest.raises(InstallError, match=r"answered something else than what was asked \('moo.*unplug it"),
    ):
        bare.survey()


def test_a_file_without_a_new_version_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.py").write_text("good")
    monkeypatch.setattr(os, "rename", lambda old, new, rename=os.rename: rename(f"{tmp_path}{old}", f"{tmp_path}{new}"))
    monkeypatch.setattr(os, "remove", lambda path, remove=os.remove: remove(f"{tmp_path}{path}"))
    with pytest.raises(OSError, match=r"main\.py\.new"):
        exec(console._SWAP.format(paths=("main.py",), suffix=".new"))
    assert (tmp_path / "main.py").read_text() == "good"


# What belongs on a board, and how what is there differs.

FOLDER = Path(str(files("firmware_bridge"))) / "firmware"
PATHS = st.sampled_from(["main.py", "firmware/a.py", "firmware/b.py", "firmware/core/c.py", "firmware/core/d.py"])
DIGESTS = st.sampled_from(["1" * 64, "2" * 64])
FILES = st.dictionaries(PATHS, DIGESTS)
MANIFESTS = st.builds(Manifest, st.tuples(*[st.integers(0, 9)] * 3), FILES)


def test_every_file_of_the_firmware_has_its_place_on_the_board() -> None:
    firmware = our_firmware(FOLDER)
    sources = {file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.py")}
    on_board = {path.removeprefix("firmware/") for path in firmware.files}
    assert on_board == sources
    assert "main.py" in firmware.files
    assert all(path == "main.py" or path.startswith("firmware/") for path in firmware.files)
    assert firmware.version == FIRMWARE_VERSION
    path = "firmware/core/version.py"
    assert firmware.files[path] == (FOLDER / "core" / "version.py").read_bytes()
    assert firmware.manifest.files[path] == hashlib.sha256(firmware.files[path]).hexdigest()


def test_what_python_leaves_behind_is_no_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "core" / "__pycache__").mkdir(parents=True)
    for name in ("main.py", "core/link.py", "core/__pycache__/link.cpython-311.py", "core/notes.txt"):
        (tmp_path / name).write_text("x = 1\n")
    assert sorted(our_firmware(tmp_path).files) == ["firmware/core/link.py", "main.py"]


@given(manifest=MANIFESTS)
def test_a_manifest_comes_back_as_it_was(manifest: Manifest) -> None:
    assert Manifest.from_json(manifest.to_json()) == manifest


@given(data=st.binary(max_size=40) | st.recursive(st.none() | st.integers() | st.text(max_size=3), st.lists).map(
    lambda value: json.dumps(value).encode()
))  # fmt: skip
def test_what_is_no_manifest_is_said(data: bytes) -> None:
    with pytest.raises(ManifestError, match=MANIFEST_FILE):
        Manifest.from_json(data)


@pytest.mark.parametrize(
    "form",
    [
        {"format": 2, "version": [1, 0, 0], "files": {}},
        {"format": 1, "version": [1, 0], "files": {}},
        {"format": 1, "version": [1, 0, True], "files": {}},
        {"format": 1, "version": [1, 0, -1], "files": {}},
        {"format": 1, "version": [1, 0, 0], "files": {"main.py": 3}},
        {"format": 1, "version": [1, 0, 0]},
    ],
)
def test_manifests_of_another_form_are_said(form: object) -> None:
    with pytest.raises(ManifestError, match="not of a form this program knows"):
        Manifest.from_json(json.dumps(form).encode())


@given(wanted=MANIFESTS, found=FILES, leftovers=st.sets(PATHS), installed=st.none() | MANIFESTS)
def test_writing_what_differs_and_removing_what_is_left_over_makes_the_board_right(
    wanted: Manifest, found: dict[str, str], leftovers: set[str], installed: Manifest | None
) -> None:
    there = {**found, **dict.fromkeys((path + NEW_SUFFIX for path in leftovers), "3" * 64)}
    differs = difference(wanted, there, installed)
    assert differs.is_empty == (not differs.to_write)
    after = {path: digest for path, digest in there.items() if path not in differs.left_over}
    after |= {path: wanted.files[path] for path in differs.to_write}
    assert wanted.files.items() <= after.items()
    assert not any(path.endswith(NEW_SUFFIX) for path in after)
    again = difference(wanted, after, wanted)
    assert again.is_empty
    assert not again.left_over
    # What neither the old manifest nor the new one lists is the owner's.
    known = set(wanted.files) | (set() if installed is None else set(installed.files))
    assert {path for path in found if path not in known} <= after.keys()


def test_the_same_firmware_has_the_same_manifest() -> None:
    files = {"main.py": b"1", "firmware/a.py": b"2"}
    other_order = dict(reversed(files.items()))
    assert Firmware((1, 0, 0), files).manifest.to_json() == Firmware((1, 0, 0), other_order).manifest.to_json()
