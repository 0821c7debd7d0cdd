from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware_bridge.errors import PortAmbiguousError, PortMissingError
from firmware_bridge.ports.selection import WantedBoard, candidates, similar_ports
from firmware_bridge.ports.serial_ports import SerialPort

PICO = SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "one")
SECOND_PICO = SerialPort("/dev/ttyACM1", "", 0x2E8A, 5, "two")
ESPRESSIF = SerialPort("/dev/ttyACM2", "", 0x303A, 0x1001, "aa:bb")
PRINTER = SerialPort("/dev/ttyUSB0", "USB Serial", 0x1A86, 0x7523)
UART = SerialPort("/dev/ttyS0")


def test_the_only_board_is_meant_when_nothing_was_asked_for() -> None:
    assert candidates(WantedBoard(), [PRINTER, UART, PICO]) == (PICO,)
    assert candidates(WantedBoard(), [ESPRESSIF, PICO]) == (ESPRESSIF, PICO)


def test_a_converter_is_never_tried_unasked() -> None:
    with pytest.raises(PortMissingError) as raised:
        candidates(WantedBoard(), [PRINTER, UART])
    assert str(raised.value) == (
        "found no Pico and no Espressif board on USB; there is /dev/ttyUSB0, WCH serial converter (many Arduino and "
        "ESP boards), USB 1a86:7523; if the board is behind another port, name it in the settings"
    )
    assert candidates(WantedBoard("/dev/ttyUSB0"), [PRINTER, UART]) == (PRINTER,)


def test_a_port_that_is_left_out_is_never_tried_unasked(tmp_path: Path) -> None:
    link = tmp_path / "by-id"
    link.symlink_to(ESPRESSIF.device)
    for name in (ESPRESSIF.device, str(link)):
        assert candidates(WantedBoard(left_out=name), [ESPRESSIF, PICO]) == (PICO,)
    with pytest.raises(PortMissingError, match=r"there is /dev/ttyACM2, Espressif board"):
        candidates(WantedBoard(left_out=ESPRESSIF.device), [ESPRESSIF])


def test_a_port_is_found_by_its_name_or_a_link_to_it(tmp_path: Path) -> None:
    link = tmp_path / "by-id"
    link.symlink_to("/dev/null")
    port = SerialPort("/dev/null", "", 0x2E8A, 5)
    assert candidates(WantedBoard(str(link)), [port]) == (port,)
    assert candidates(WantedBoard("/dev/null"), [port]) == (port,)


def test_a_port_that_is_not_listed_may_be_there_all_the_same() -> None:
    assert candidates(WantedBoard("/dev/pts/7"), [PICO]) == (SerialPort("/dev/pts/7"),)


def test_a_named_port_with_another_board_is_told() -> None:
    with pytest.raises(PortMissingError) as raised:
        candidates(WantedBoard("/dev/ttyACM1", serial_number="one"), [PICO, SECOND_PICO])
    assert str(raised.value).startswith(
        "found no port for a board on /dev/ttyACM1 with serial number one; on that port is /dev/ttyACM1, Raspberry Pi"
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (WantedBoard(serial_number="two"), SECOND_PICO),
        (WantedBoard(vendor_id=0x303A), ESPRESSIF),
        (WantedBoard(vendor_id=0x1A86, product_id=0x7523), PRINTER),
        (WantedBoard(vendor_id=0x2E8A, product_id=5, serial_number="one"), PICO),
    ],
)
def test_a_board_is_found_by_its_usb_facts(wanted: WantedBoard, found: SerialPort) -> None:
    assert candidates(wanted, [PICO, SECOND_PICO, ESPRESSIF, PRINTER, UART]) == (found,)


def test_two_that_fit_are_a_question() -> None:
    with pytest.raises(PortAmbiguousError) as raised:
        candidates(WantedBoard(vendor_id=0x2E8A), [PICO, SECOND_PICO])
    message = str(raised.value)
    assert message.startswith("2 ports fit a board with USB numbers 2e8a:any: /dev/ttyACM0, Raspberry Pi")
    assert message.endswith("which one is it? Give its serial number in the settings")
    alike = [SerialPort(f"/dev/ttyUSB{number}", "", 0x1A86, 0x7523) for number in range(2)]
    with pytest.raises(PortAmbiguousError, match="Name its port in the settings"):
        candidates(WantedBoard(vendor_id=0x1A86), alike)


def test_none_that_fits_is_missing() -> None:
    with pytest.raises(PortMissingError, match="found no port for a board with serial number nine; there are"):
        candidates(WantedBoard(serial_number="nine"), [PICO, ESPRESSIF])
    with pytest.raises(PortMissingError, match=r"there are no serial ports at all: .* carries data\?$"):
        candidates(WantedBoard(), [])


def test_a_board_is_found_again_under_another_name() -> None:
    moved = SerialPort("/dev/ttyACM5", "", 0x2E8A, 5, "one")
    usurper = SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "two")
    for wanted in (WantedBoard(), WantedBoard("/dev/ttyACM0"), WantedBoard(vendor_id=0x2E8A)):
        assert candidates(wanted, [usurper, moved], known=PICO) == (moved,)


def test_boards_without_serial_numbers_are_found_again_while_they_can_be_told_apart() -> None:
    known = SerialPort("/dev/ttyUSB0", "", 0x1A86, 0x7523)
    there = [SerialPort(f"/dev/ttyUSB{number}", "", 0x1A86, 0x7523) for number in (1, 2)]
    assert candidates(WantedBoard("/dev/ttyUSB0"), there[:1], known) == (there[0],)
    assert candidates(WantedBoard("/dev/ttyUSB2"), there, known) == (there[1],)
    assert candidates(WantedBoard("/dev/ttyUSB0"), [*there, known], known) == (known,)
    with pytest.raises(PortAmbiguousError, match="the board that was on /dev/ttyUSB0 is gone, and 2 are like it"):
        candidates(WantedBoard("/dev/ttyUSB0"), there, known)
    assert candidates(WantedBoard(), there, known) == tuple(there)


def test_a_board_named_by_a_link_is_found_again_where_the_link_leads_now(tmp_path: Path) -> None:
    known = SerialPort("/dev/ttyUSB0", "", 0x1A86, 0x7523)
    there = [SerialPort(f"/dev/ttyUSB{number}", "", 0x1A86, 0x7523) for number in (1, 2)]
    link = tmp_path / "by-path"
    link.symlink_to(there[1].device)
    assert candidates(WantedBoard(str(link)), there, known) == (there[1],)


def test_what_was_beside_the_board_is_never_taken_for_it() -> None:
    known = SerialPort("/dev/ttyUSB0", "", 0x1A86, 0x7523)
    printer = SerialPort("/dev/ttyUSB1", "", 0x1A86, 0x7523)
    back = SerialPort("/dev/ttyUSB2", "", 0x1A86, 0x7523)
    beside = similar_ports(known, [known, printer, PICO, UART])
    assert beside == {printer.device}
    wanted = WantedBoard("/dev/ttyUSB0")
    # Only a name that isn't there: opening it says so, and leaves the printer alone.
    assert candidates(wanted, [printer], known, beside) == (SerialPort("/dev/ttyUSB0"),)
    assert candidates(wanted, [printer, back], known, beside) == (back,)
    assert candidates(wanted, [printer, known], known, beside) == (known,)


def test_boards_that_swapped_names_are_told_apart_by_their_serial_numbers() -> None:
    beside = similar_ports(PICO, [PICO, SECOND_PICO])
    swapped = [SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "two"), SerialPort("/dev/ttyACM1", "", 0x2E8A, 5, "one")]
    assert candidates(WantedBoard("/dev/ttyACM0"), swapped, PICO, beside) == (swapped[1],)


def test_a_spare_board_may_take_the_place_of_one_that_is_gone() -> None:
    spare = SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "spare")
    for wanted in (WantedBoard(), WantedBoard("/dev/ttyACM0"), WantedBoard(vendor_id=0x2E8A)):
        assert candidates(wanted, [spare], known=PICO) == (spare,)
    with pytest.raises(PortMissingError):
        candidates(WantedBoard(serial_number="one"), [spare], known=PICO)


PORTS = st.builds(
    SerialPort,
    st.integers(0, 5).map(lambda number: f"/dev/ttyACM{number}"),
    st.just(""),
    st.sampled_from([None, 0x2E8A, 0x303A, 0x1A86]),
    st.sampled_from([5, 6]),
    st.sampled_from([None, "one", "two"]),
)
WANTED = st.builds(
    WantedBoard,
    st.none() | st.just("/dev/ttyACM1"),
    st.none() | st.just(0x2E8A),
    st.none() | st.just(5),
    st.none() | st.just("one"),
)


@given(WANTED, st.lists(PORTS, max_size=5, unique_by=lambda port: port.device), st.none() | PORTS)
def test_what_is_found_was_wanted(wanted: WantedBoard, ports: list[SerialPort], known: SerialPort | None) -> None:
    try:
        found = candidates(wanted, ports, known)
    except (PortMissingError, PortAmbiguousError):
        return
    assert len(found) == 1 or (wanted.is_any and len(found) > 1)
    for port in found:
        if port.device not in [listed.device for listed in ports]:
            assert wanted.port == port.device
        elif known is None or port.serial_number != known.serial_number:
            assert wanted.fits(port)
            assert wanted.port in (None, port.device)
