from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serial.tools.list_ports_common import ListPortInfo

from firmware_bridge.errors import PortMissingError
from firmware_bridge.ports.serial_ports import SerialPort, serial_ports


def record(device: str, vid: int | None = None, pid: int | None = None, serial: str | None = None) -> ListPortInfo:
    info = ListPortInfo(device, skip_link_detection=True)
    info.vid, info.pid, info.serial_number = vid, pid, serial
    return info


def test_usb_ports_come_first_and_are_named_by_their_vendor() -> None:
    pico = record("/dev/ttyACM0", 0x2E8A, 0x0005, "E6614C311B")
    ports = serial_ports(lambda: [record("/dev/ttyS0"), pico])
    assert [port.device for port in ports] == ["/dev/ttyACM0", "/dev/ttyS0"]
    assert ports[0].board == "Raspberry Pi microcontroller (Pico)"
    assert str(ports[0]) == (
        "/dev/ttyACM0, Raspberry Pi microcontroller (Pico), USB 2e8a:0005, serial number E6614C311B"
    )
    assert ports[1] == SerialPort("/dev/ttyS0")
    assert str(ports[1]) == "/dev/ttyS0"


def test_an_unknown_vendor_keeps_its_description() -> None:
    info = record("/dev/ttyUSB0", 0x1234, 0x0001)
    info.description = "Somebody's board"
    (port,) = serial_ports(lambda: [info])
    assert port.board is None
    assert str(port) == "/dev/ttyUSB0, Somebody's board, USB 1234:0001"


def test_no_ports_are_no_error() -> None:
    assert serial_ports(list) == ()


@given(st.sets(st.integers(0, 300), max_size=12), st.randoms(use_true_random=False))
def test_ports_are_in_natural_order_however_they_are_found(numbers: set[int], shuffle: random.Random) -> None:
    records = [record(f"/dev/ttyUSB{number}", 0x0403, 1) for number in numbers]
    shuffle.shuffle(records)
    assert [port.device for port in serial_ports(lambda: records)] == [f"/dev/ttyUSB{n}" for n in sorted(numbers)]


def test_a_listing_that_stumbles_is_tried_again() -> None:
    records = iter([TypeError("int() can't convert non-string with explicit base"), OSError("gone")])

    def stumbling() -> list[ListPortInfo]:
        for error in records:
            raise error
        return [record("/dev/ttyS0")]

    assert serial_ports(stumbling) == (SerialPort("/dev/ttyS0"),)


def test_ports_that_change_all_the_time_are_told() -> None:
    def stumbling() -> list[ListPortInfo]:
        raise TypeError

    with pytest.raises(PortMissingError, match="the serial ports change while they are listed"):
        serial_ports(stumbling)


def test_this_computers_ports_can_be_listed() -> None:
    assert all(isinstance(port, SerialPort) for port in serial_ports())
