"""Boards that are no boards: what is said of them, without MicroPython."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import serial

from firmware_bridge.errors import (
    NoFirmwareError,
    PortAmbiguousError,
    PortMissingError,
    PortTakenError,
    WrongDeviceError,
)
from firmware_bridge.install.access import (
    InstallEnvironment,
    ReachedBoard,
    bare_board,
    identify,
    only_port,
    same_board,
)
from firmware_bridge.install.check import compare_versions, equipment, running_finding
from firmware_bridge.install.console import BareBoard, InstallError, Survey
from firmware_bridge.install.installation import check_machine, check_welcome, install
from firmware_bridge.install.manifest import MAIN_FILE, STAY_FILE, Firmware
from firmware_bridge.pin_maps.pin_map import PinMap
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import Welcome
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
    good = Welcome(1, firmware.version, 5, 0, 1024, 8, *counts, 2, pins.crc32, 0, "Pico")
    assert check_welcome(good, PICO, firmware, pins) is good
    assert running_finding(good).severity == "ok"
    refusing = replace(good, lights=0, switches=0, buttons=0, buzzer=0)
    with pytest.raises(InstallError, match=r"^the board on /dev/ttyACM0 can't use its pin map, so it uses none of its"):
        check_welcome(refusing, PICO, firmware, pins)
    assert running_finding(refusing).severity == "fault"
    assert running_finding(replace(refusing, pin_map_checksum=0)).severity == "ok", "it has none"


def test_what_is_connected_is_counted_in_words() -> None:
    one = Welcome(1, (1, 0, 0), 5, 0, 1024, 8, 1, 1, 1, 0, 0, 0, "Pico")
    assert equipment(one) == "1 light, 1 switch, 1 button"
    assert equipment(replace(one, lights=64, switches=0, buttons=3, buzzer=2)) == (
        "64 lights, 0 switches, 3 buttons, a buzzer"
    )
