"""Opening ports: real pseudo-terminals and real pyserial wherever the fault can be had without a board."""

import errno
import grp
import os
import random
import select
import subprocess
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import serial
from hypothesis import given
from hypothesis import strategies as st
from serial.tools.list_ports_common import ListPortInfo

from firmware_bridge.connection.thread import line_of
from firmware_bridge.errors import (
    PortAmbiguousError,
    PortDeniedError,
    PortError,
    PortGoneError,
    PortMissingError,
    PortTakenError,
    PortUnusableError,
)
from firmware_bridge.ports.port import Port, open_port
from firmware_bridge.ports.selection import WantedBoard, candidates, similar_ports
from firmware_bridge.ports.serial_ports import PortHolder, SerialPort, port_holders, serial_ports
from tests.guard import GUARD_S

MOST_TAKEN_BYTES = 1_000_000
"""Many times what a pseudo-terminal's buffers hold."""
PICO = SimpleNamespace(
    device="/dev/ttyACM0", description="n/a", vid=0x2E8A, pid=5, serial_number="E661", manufacturer=None
)
UART = SimpleNamespace(
    device="/dev/ttyS0", description="n/a", vid=None, pid=None, serial_number=None, manufacturer=None
)


@pytest.fixture
def pair() -> Iterator[tuple[int, str]]:
    """The device's end of a pseudo-terminal, and the name of the other; the device's end may be closed by the test."""
    device, host = os.openpty()
    tty.setraw(host)
    name = os.ttyname(host)
    os.close(host)
    yield device, name
    with open_files_closed(device):
        pass


@contextmanager
def open_files_closed(*files: int) -> Iterator[None]:
    try:
        yield
    finally:
        for file in files:
            if Path(f"/proc/self/fd/{file}").exists():
                os.close(file)


@pytest.fixture
def port(pair: tuple[int, str]) -> Iterator[Port]:
    opened = open_port(pair[1])
    yield opened
    opened.close()


def failing(error: Exception) -> Callable[[serial.Serial], None]:
    def fail(_: serial.Serial) -> None:
        raise error

    return fail


def refusal(number: int, **more: Any) -> PortError:
    """The error of a port whose opening fails with the system's number."""
    error = serial.SerialException(number, "could not open port")
    with pytest.raises(PortError) as raised:
        open_port("/dev/ttyACM7", open_device=failing(error), list_records=lambda: [PICO, UART], **more)
    return raised.value


def test_bytes_go_both_ways_without_waiting(pair: tuple[int, str], port: Port) -> None:
    device, name = pair
    assert port.name == name
    assert port.read() == b""
    os.write(device, b"\x00\x03\x04\x11\x13\r\n\xff")
    assert arrived(port.fileno(), port.read, 8) == b"\x00\x03\x04\x11\x13\r\n\xff"
    assert port.write(b"\x00\x03\x0a\x0d\xff") == 5
    assert arrived(device, lambda: os.read(device, 100), 5) == b"\x00\x03\x0a\x0d\xff"


def arrived(file: int, read: Callable[[], bytes], count: int) -> bytes:
    """Read until so many bytes are there: the kernel carries them over in its own time."""
    data = b""
    while len(data) < count:
        assert select.select([file], [], [], GUARD_S)[0], f"only {data!r} came"
        data += read()
    return data


def test_a_full_buffer_takes_nothing_and_holds_nobody_up(pair: tuple[int, str], port: Port) -> None:
    piece = bytes(1000)
    taken = refused = 0
    # Between two refusals the kernel may carry some more over to the other end, but only so much.
    while refused < 3:
        count = port.write(piece)
        taken += count
        refused += count == 0
        assert taken < MOST_TAKEN_BYTES, "it takes everything"
    assert taken > 0
    port.discard()
    assert port.write(piece) > 0


def test_both_control_lines_stay_asserted_and_the_port_is_locked(pair: tuple[int, str]) -> None:
    asked: list[serial.Serial] = []

    def note(device: serial.Serial) -> None:
        asked.append(device)
        device.open()

    with open_closed(open_port(pair[1], 57600, open_device=note)):
        (device,) = asked
        assert device.dtr is True
        assert device.rts is True
        assert device.exclusive is True
        assert device.baudrate == 57600
    with open_closed(open_port(pair[1], open_device=note)):
        assert asked[-1].baudrate == 115_200


@contextmanager
def open_closed(port: Port) -> Iterator[Port]:
    try:
        yield port
    finally:
        port.close()


def test_a_device_that_goes_away_is_gone(pair: tuple[int, str], port: Port) -> None:
    device, name = pair
    os.close(device)
    with pytest.raises(PortGoneError, match=f"{name} was unplugged, or its device switched off.*check the cable"):
        port.read()
    with pytest.raises(PortGoneError, match=r"unplugged.*Input/output error"):
        port.write(b"anybody?")
    port.discard()
    port.close()
    port.close()


@pytest.mark.parametrize(
    ("name", "bytes_per_s"), [("ttyUSB0", 960.0), ("ttyAMA10", 960.0), ("ttyS0", 960.0), ("ttyACM0", None), ("7", None)]
)
def test_only_a_uart_has_a_rate(name: str, bytes_per_s: float | None, tmp_path: Path) -> None:
    link = tmp_path / "by-id"
    link.symlink_to(tmp_path / name)
    for path in (f"/dev/{name}", str(link)):
        line = line_of(path, 9600)
        line.write(96, 5.0)
        assert line.free_s == (5.0 if bytes_per_s is None else 5.0 + 96 / bytes_per_s)


def test_a_port_that_is_not_there_names_those_that_are() -> None:
    with pytest.raises(PortMissingError) as raised:
        open_port("/dev/ttyACM7", list_records=lambda: [UART, PICO])
    assert str(raised.value) == (
        "there is no port /dev/ttyACM7; there is /dev/ttyACM0, Raspberry Pi microcontroller (Pico), USB 2e8a:0005, "
        "serial number E661"
    )
    assert isinstance(raised.value, FileNotFoundError)


def test_without_any_ports_the_cable_is_asked_after() -> None:
    with pytest.raises(PortMissingError, match=r"no serial ports at all: is the board plugged in, with a cable that"):
        open_port("/dev/ttyACM7", list_records=list)


def test_a_port_of_this_very_program_is_named_so(pair: tuple[int, str], port: Port) -> None:
    with pytest.raises(PortTakenError, match=f"{pair[1]} is in use by this very program; it is named twice"):
        open_port(pair[1])


def test_the_program_that_has_the_port_is_named(pair: tuple[int, str]) -> None:
    program = (
        "import serial, sys\n"
        f"with serial.Serial({pair[1]!r}, exclusive=True):\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "open\n"
        name = Path(f"/proc/{other.pid}/comm").read_text().strip()
        with pytest.raises(PortTakenError) as raised:
            open_port(pair[1])
        assert str(raised.value) == (
            f"{pair[1]} is in use by {name} (process {other.pid}); end whatever has it open, then try again"
        )
        other.stdin.close()


def test_a_port_whose_holder_cannot_be_seen_is_taken_all_the_same() -> None:
    for number in (errno.EAGAIN, errno.EBUSY):
        error = refusal(number, find_holders=lambda _: ())
        assert isinstance(error, PortTakenError)
        assert str(error).endswith("another program, which this user can't see; `sudo fuser -v /dev/ttyACM7` names it")


def test_a_port_that_this_user_may_not_open_is_really_refused(pair: tuple[int, str]) -> None:
    """As root by being another user for a moment, else by forbidding it to ourselves."""
    with as_somebody_refused(pair[1]), pytest.raises(PortDeniedError, match=f"this user may not open {pair[1]}; "):
        open_port(pair[1])


@contextmanager
def as_somebody_refused(name: str) -> Iterator[None]:
    mode = Path(name).stat().st_mode
    Path(name).chmod(0o600 if os.geteuid() == 0 else 0)
    is_root = os.geteuid() == 0
    try:
        if is_root:
            os.seteuid(65534)
        yield
    finally:
        if is_root:
            os.seteuid(0)
        Path(name).chmod(mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to any group")
def test_the_group_to_join_is_named(tmp_path: Path) -> None:
    mine = (os.getegid(), *os.getgroups())
    group = next(group for group in grp.getgrall() if group.gr_gid not in mine and group.gr_gid != 0)
    node = tmp_path / "ttyACM0"
    node.touch()
    os.chown(node, 0, group.gr_gid)
    refused = failing(serial.SerialException(errno.EACCES, "could not open port"))
    node.chmod(0o660)
    with pytest.raises(PortDeniedError) as raised:
        open_port(str(node), open_device=refused)
    assert str(raised.value) == (
        f"this user may not open {node}; only the group {group.gr_name} may: join it with `sudo usermod -aG "
        f"{group.gr_name} $USER`, then log out and in again"
    )
    assert isinstance(raised.value, PermissionError)
    node.chmod(0o600)
    with pytest.raises(
        PortDeniedError, match=r"it belongs to root alone; a udev rule can give it to the group dialout"
    ):
        open_port(str(node), open_device=refused)
    os.chown(node, 0, 4_000_000)
    node.chmod(0o660)
    with pytest.raises(PortDeniedError, match=r"usermod -aG 4000000 \$USER"):
        open_port(str(node), open_device=refused)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be of any group")
def test_a_member_of_the_group_is_told_of_another_reason(tmp_path: Path) -> None:
    node = tmp_path / "ttyACM0"
    node.touch()
    os.chown(node, 0, 65534)
    node.chmod(0o660)
    own = os.getegid()
    os.setegid(65534)
    try:
        with pytest.raises(PortDeniedError, match=r"it is in the port's group \w+, so a container or a security rule"):
            open_port(str(node), open_device=failing(serial.SerialException(errno.EACCES, "")))
    finally:
        os.setegid(own)


def test_without_a_port_to_look_at_the_advice_is_general() -> None:
    assert "ask whoever looks after this computer" in str(refusal(errno.EACCES))


def test_what_is_no_serial_port_is_named_so(tmp_path: Path) -> None:
    file = tmp_path / "board.txt"
    file.touch()
    for name in (file, tmp_path):
        with pytest.raises(PortUnusableError, match=f"{name} is not a serial port; expected one such as /dev/ttyACM0"):
            open_port(str(name))


@pytest.mark.parametrize("number", [errno.ENXIO, errno.ENODEV, errno.EIO])
def test_a_port_without_a_device_is_named_so(number: int) -> None:
    error = refusal(number)
    assert isinstance(error, PortUnusableError)
    assert f"/dev/ttyACM7 has no device behind it ({os.strerror(number)}); unplug it and plug it in" in str(error)


def test_a_port_that_cannot_be_set_up_says_why() -> None:
    def stumble(_: serial.Serial) -> None:
        try:
            raise termios.error(errno.EIO, "Input/output error")
        except termios.error as error:
            # As pyserial does, which drops the number.
            raise serial.SerialException(f"Could not configure port: {error}")  # noqa: B904

    with pytest.raises(PortUnusableError, match="has no device behind it"):
        open_port("/dev/ttyACM7", open_device=stumble)
    with pytest.raises(PortUnusableError, match="has no device behind it"):
        open_port("/dev/ttyACM7", open_device=failing(termios.error(errno.EIO, "Input/output error")))
    with pytest.raises(PortUnusableError, match=r"does not support 1234567 bits a second \(no such rate\); 115200"):
        open_port("/dev/ttyACM7", 1234567, open_device=failing(ValueError("no such rate")))
    with pytest.raises(PortUnusableError, match=r"can't be opened \(it is broken\); unplug it"):
        open_port("/dev/ttyACM7", open_device=failing(serial.SerialException("it is broken")))


def test_holders_are_those_with_the_port_open_or_locked(tmp_path: Path, pair: tuple[int, str]) -> None:
    with open_closed(open_port(pair[1])):
        assert os.getpid() in [holder.pid for holder in port_holders(pair[1])]
    # The locks alone tell of another user's program: its open files are hidden.
    node = tmp_path / "node"
    node.touch()
    status = node.stat()
    where = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    for pid, name in ((7, "screen"), (8, "modemmanager"), (9, "innocent")):
        (tmp_path / "proc" / str(pid)).mkdir(parents=True)
        (tmp_path / "proc" / str(pid) / "comm").write_text(f"{name}\n")
    (tmp_path / "proc" / "locks").write_text(
        f"1: FLOCK  ADVISORY  WRITE 7 {where}:{status.st_ino} 0 EOF\n"
        f"2: FLOCK  ADVISORY  WRITE 9 {where}:{status.st_ino + 1} 0 EOF\n"
        "3: something new\n"
    )
    (tmp_path / "proc" / "8" / "fd").mkdir()
    (tmp_path / "proc" / "8" / "fd" / "3").symlink_to(node)
    found = port_holders(str(node), tmp_path / "proc")
    assert found == (PortHolder(7, "screen"), PortHolder(8, "modemmanager"))
    assert str(found[0]) == "screen (process 7)"
    assert port_holders(str(node), tmp_path / "nowhere") == ()
    (tmp_path / "proc" / "8" / "comm").write_text("python3\n")
    assert str(port_holders(str(node), tmp_path / "proc")[1]) == "python3 (process 8)"
    for command, name in (
        ("python3\0-P\0-m\0app\0watch\0", "python3 -m app"),
        ("python3\0script.py\0-m\0", "python3"),
    ):
        (tmp_path / "proc" / "8" / "cmdline").write_text(command)
        assert port_holders(str(node), tmp_path / "proc")[1].name == name


PICO_SELECTION = SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "one")
SECOND_PICO = SerialPort("/dev/ttyACM1", "", 0x2E8A, 5, "two")
ESPRESSIF = SerialPort("/dev/ttyACM2", "", 0x303A, 0x1001, "aa:bb")
PRINTER = SerialPort("/dev/ttyUSB0", "USB Serial", 0x1A86, 0x7523)
UART_SELECTION = SerialPort("/dev/ttyS0")


def test_the_only_board_is_meant_when_nothing_was_asked_for() -> None:
    assert candidates(WantedBoard(), [PRINTER, UART_SELECTION, PICO_SELECTION]) == (PICO_SELECTION,)
    assert candidates(WantedBoard(), [ESPRESSIF, PICO_SELECTION]) == (ESPRESSIF, PICO_SELECTION)


def test_a_converter_is_never_tried_unasked() -> None:
    with pytest.raises(PortMissingError) as raised:
        candidates(WantedBoard(), [PRINTER, UART_SELECTION])
    assert str(raised.value) == (
        "found no Pico and no Espressif board on USB; there is /dev/ttyUSB0, WCH serial converter (many Arduino and "
        "ESP boards), USB 1a86:7523; if the board is behind another port, name it in the settings"
    )
    assert candidates(WantedBoard("/dev/ttyUSB0"), [PRINTER, UART_SELECTION]) == (PRINTER,)


def test_a_port_is_found_by_its_name_or_a_link_to_it(tmp_path: Path) -> None:
    link = tmp_path / "by-id"
    link.symlink_to("/dev/null")
    port = SerialPort("/dev/null", "", 0x2E8A, 5)
    assert candidates(WantedBoard(str(link)), [port]) == (port,)
    assert candidates(WantedBoard("/dev/null"), [port]) == (port,)


def test_a_port_that_is_not_listed_may_be_there_all_the_same() -> None:
    assert candidates(WantedBoard("/dev/pts/7"), [PICO_SELECTION]) == (SerialPort("/dev/pts/7"),)


def test_a_named_port_with_another_board_is_told() -> None:
    with pytest.raises(PortMissingError) as raised:
        candidates(WantedBoard("/dev/ttyACM1", serial_number="one"), [PICO_SELECTION, SECOND_PICO])
    assert str(raised.value).startswith(
        "found no port for a board on /dev/ttyACM1 with serial number one; on that port is /dev/ttyACM1, Raspberry Pi"
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (WantedBoard(serial_number="two"), SECOND_PICO),
        (WantedBoard(vendor_id=0x303A), ESPRESSIF),
        (WantedBoard(vendor_id=0x1A86, product_id=0x7523), PRINTER),
        (WantedBoard(vendor_id=0x2E8A, product_id=5, serial_number="one"), PICO_SELECTION),
    ],
)
def test_a_board_is_found_by_its_usb_facts(wanted: WantedBoard, found: SerialPort) -> None:
    assert candidates(wanted, [PICO_SELECTION, SECOND_PICO, ESPRESSIF, PRINTER, UART_SELECTION]) == (found,)


def test_two_that_fit_are_a_question() -> None:
    with pytest.raises(PortAmbiguousError) as raised:
        candidates(WantedBoard(vendor_id=0x2E8A), [PICO_SELECTION, SECOND_PICO])
    message = str(raised.value)
    assert message.startswith("2 ports fit a board with USB numbers 2e8a:any: /dev/ttyACM0, Raspberry Pi")
    assert message.endswith("which one is it? Give its serial number in the settings")
    alike = [SerialPort(f"/dev/ttyUSB{number}", "", 0x1A86, 0x7523) for number in range(2)]
    with pytest.raises(PortAmbiguousError, match="Name its port in the settings"):
        candidates(WantedBoard(vendor_id=0x1A86), alike)


def test_none_that_fits_is_missing() -> None:
    with pytest.raises(PortMissingError, match="found no port for a board with serial number nine; there are"):
        candidates(WantedBoard(serial_number="nine"), [PICO_SELECTION, ESPRESSIF])
    with pytest.raises(PortMissingError, match=r"there are no serial ports at all: .* carries data\?$"):
        candidates(WantedBoard(), [])


def test_a_board_is_found_again_under_another_name() -> None:
    moved = SerialPort("/dev/ttyACM5", "", 0x2E8A, 5, "one")
    usurper = SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "two")
    for wanted in (WantedBoard(), WantedBoard("/dev/ttyACM0"), WantedBoard(vendor_id=0x2E8A)):
        assert candidates(wanted, [usurper, moved], known=PICO_SELECTION) == (moved,)


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
    beside = similar_ports(known, [known, printer, PICO_SELECTION, UART_SELECTION])
    assert beside == {printer.device}
    wanted = WantedBoard("/dev/ttyUSB0")
    # Only a name that isn't there: opening it says so, and leaves the printer alone.
    assert candidates(wanted, [printer], known, beside) == (SerialPort("/dev/ttyUSB0"),)
    assert candidates(wanted, [printer, back], known, beside) == (back,)
    assert candidates(wanted, [printer, known], known, beside) == (known,)


def test_boards_that_swapped_names_are_told_apart_by_their_serial_numbers() -> None:
    beside = similar_ports(PICO_SELECTION, [PICO_SELECTION, SECOND_PICO])
    swapped = [SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "two"), SerialPort("/dev/ttyACM1", "", 0x2E8A, 5, "one")]
    assert candidates(WantedBoard("/dev/ttyACM0"), swapped, PICO_SELECTION, beside) == (swapped[1],)


def test_a_spare_board_may_take_the_place_of_one_that_is_gone() -> None:
    spare = SerialPort("/dev/ttyACM0", "", 0x2E8A, 5, "spare")
    for wanted in (WantedBoard(), WantedBoard("/dev/ttyACM0"), WantedBoard(vendor_id=0x2E8A)):
        assert candidates(wanted, [spare], known=PICO_SELECTION) == (spare,)
    with pytest.raises(PortMissingError):
        candidates(WantedBoard(serial_number="one"), [spare], known=PICO_SELECTION)


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
