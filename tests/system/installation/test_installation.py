"""Installing and checking with the real mpremote and MicroPython over a pseudo-terminal, and a bare prompt."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from serial.tools.list_ports_common import ListPortInfo

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import ConnectionState
from firmware_bridge.errors import NoFirmwareError
from firmware_bridge.firmware.core.version import FIRMWARE_VERSION
from firmware_bridge.install.check import BoardCheck, check
from firmware_bridge.install.console import BareBoard, BoardFullError, InstallError
from firmware_bridge.install.installation import KEPT_MAIN_FILE, install
from firmware_bridge.install.manifest import MANIFEST_FILE, PIN_MAP_FILE, Firmware, version_text
from firmware_bridge.pin_maps.pin_map import PinMap, SerialWires
from firmware_bridge.ports.selection import WantedBoard
from tests.firmware_bridge.install.conftest import InterpreterBoard
from tests.guard import GUARD_S

NewBoard = Callable[..., InterpreterBoard]
OURS = version_text(FIRMWARE_VERSION)
DEVICE = "firmware/core/device.py"
OWNERS = {"main.py": b"print('mine')\n", "boot.py": b"# mine\n", "notes/mine.txt": b"mine"}


class CutError(Exception):
    """Raised where the computer loses power."""


def unseen(what: str, done: int, total: int) -> None:
    """Show no progress."""


def checked(board: InterpreterBoard, firmware: Firmware, pins: PinMap | None, *, quick: bool = False) -> BoardCheck:
    """The findings of a check."""
    return check(board.wanted, firmware, pins, board.around, unseen, quick=quick)


def told(found: BoardCheck) -> dict[str, str]:
    """The check's findings that are not ok, by subject."""
    return {finding.subject: finding.message for finding in found.findings if finding.severity != "ok"}


def test_a_bare_board_gets_the_firmware_and_keeps_its_owners_files(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    board = new_board(OWNERS)
    written: list[tuple[int, int]] = []

    def progress(what: str, done: int, total: int) -> None:
        if total:
            assert what.startswith("writing ")
            written.append((done, total))

    done = install(board.wanted, firmware, pins, board.around, progress)
    assert done.written == tuple(sorted((*firmware.files, PIN_MAP_FILE)))
    assert (done.before, done.kept_main, done.has_pin_map) == (None, KEPT_MAIN_FILE, True)
    assert written == sorted(written)
    assert written[-1][0] == written[-1][1] == sum(map(len, firmware.files.values())) + len(pins.device_json())
    kept = {KEPT_MAIN_FILE: OWNERS["main.py"], "boot.py": OWNERS["boot.py"], "notes/mine.txt": b"mine"}
    assert board.files() == {**all_files, **kept}
    assert done.welcome is not None
    assert (done.welcome.firmware, done.welcome.pin_map_checksum) == (firmware.version, pins.crc32)
    assert (done.welcome.lights, done.welcome.switches, done.welcome.buttons) == (64, 64, 3)

    found = checked(board, firmware, pins)
    assert found.is_good, found
    assert [finding.subject for finding in found.findings] == ["interpreter", "firmware", "files", "pin map", "board"]
    board.wait_until_it_runs()


def test_the_owners_main_is_kept_though_a_manifest_of_a_removed_firmware_is_left(
    new_board: NewBoard, firmware: Firmware, pins: PinMap
) -> None:
    board = new_board({"main.py": OWNERS["main.py"], MANIFEST_FILE: firmware.manifest.to_json()})
    assert install(board.wanted, firmware, pins, board.around, lambda *_: None).kept_main
    assert board.files()[KEPT_MAIN_FILE] == OWNERS["main.py"]


@pytest.mark.parametrize("left_out", [frozenset(), frozenset({MANIFEST_FILE})])
def test_the_owners_main_is_kept_beside_files_of_the_firmware_and_an_earlier_main(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes], left_out: frozenset[str]
) -> None:
    files = {path: data for path, data in all_files.items() if path not in left_out}
    board = new_board({**files, "main.py": OWNERS["main.py"], KEPT_MAIN_FILE: b"print('first')\n"})
    assert install(board.wanted, firmware, pins, board.around, unseen).kept_main == "main_before_referee_2.py"
    kept = {KEPT_MAIN_FILE: b"print('first')\n", "main_before_referee_2.py": OWNERS["main.py"]}
    assert board.files() == {**all_files, **kept}


def test_another_versions_main_is_replaced_after_a_cut(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    older = {path: data for path, data in all_files.items() if path != MANIFEST_FILE}
    board = new_board({**older, "main.py": b"# older\n" + all_files["main.py"]})
    assert install(board.wanted, firmware, pins, board.around, unseen).kept_main is None
    assert board.files() == all_files


def test_files_already_there_are_not_written_again(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    board = new_board(all_files)
    done = install(board.wanted, firmware, None, board.around, unseen)
    assert (done.written, done.before) == ((), firmware.version)
    assert done.has_pin_map
    assert board.files() == all_files
    quick = checked(board, firmware, pins, quick=True)
    assert quick.is_good
    assert [finding.subject for finding in quick.findings] == ["firmware", "pin map", "board"]


def test_altered_and_missing_files_are_named_and_restored(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    board = new_board({path: data for path, data in all_files.items() if path != "firmware/board/ports.py"})
    board.put({DEVICE: all_files[DEVICE] + b"# altered\n"})
    found = checked(board, firmware, pins)
    assert [finding.message for finding in found.findings if finding.severity == "fault"] == [
        "missing on the board: firmware/board/ports.py",
        f"different from this version's files: {DEVICE}",
    ]
    done = install(board.wanted, firmware, pins, board.around, unseen)
    assert done.written == ("firmware/board/ports.py", DEVICE)
    assert board.files() == all_files


def test_an_older_firmware_is_named_and_fully_replaced(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    changed = b"# older\n" + firmware.files[DEVICE]
    files = {**firmware.files, DEVICE: changed, "firmware/core/gone.py": b"# not any more\n"}
    older = Firmware((0, 9, 3), files)
    board = new_board({**all_files, **files, MANIFEST_FILE: older.manifest.to_json()})
    assert told(checked(board, firmware, pins)) == {"firmware": f"version 0.9.3, older than this program's {OURS}"}
    done = install(board.wanted, firmware, pins, board.around, unseen)
    assert (done.before, done.written) == ((0, 9, 3), (DEVICE,))
    assert board.files() == all_files


def test_a_newer_firmware_is_named(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    newer = replace(firmware, version=(200, 0, 0))
    board = new_board({**all_files, MANIFEST_FILE: newer.manifest.to_json()})
    found = checked(board, firmware, pins)
    assert told(found) == {"firmware": f"version 200.0.0, newer than this program's {OURS}"}
    assert any("update the referee" in finding.remedy for finding in found.findings)


def test_another_pin_map_is_named_and_installed(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    board = new_board(all_files)
    other = replace(pins, name="Another table", switches=(26,))
    assert told(checked(board, firmware, other, quick=True)) == {"pin map": "the board's differs from yours"}
    done = install(board.wanted, firmware, other, board.around, unseen)
    assert done.written == (PIN_MAP_FILE,)
    assert done.welcome is not None
    assert (done.welcome.board, done.welcome.switches) == ("Another table", 65)
    assert told(checked(board, firmware, other)) == {}


def test_a_board_without_a_pin_map_is_named(new_board: NewBoard, firmware: Firmware, pins: PinMap) -> None:
    board = new_board({**firmware.files, MANIFEST_FILE: firmware.manifest.to_json()})
    assert told(checked(board, firmware, pins)) == {
        "pin map": "there is none on the board, so nothing is connected to its pins"
    }
    done = install(board.wanted, firmware, None, board.around, unseen)
    assert not done.has_pin_map


@pytest.mark.parametrize(
    "at_share", [0.5, pytest.param(0.0, marks=pytest.mark.long), pytest.param(1.0, marks=pytest.mark.long)]
)
def test_a_cut_while_writing_leaves_the_old_firmware_running(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, at_share: float
) -> None:
    files = {path: b"# older\n" + data for path, data in firmware.files.items() if path.startswith("firmware/core/")}
    older = Firmware((0, 9, 0), {**firmware.files, **files})
    before = {**older.files, PIN_MAP_FILE: pins.device_json(), MANIFEST_FILE: older.manifest.to_json()}
    board = new_board(before)

    def cut(what: str, done: int, total: int) -> None:
        if total and done >= at_share * total:
            raise CutError

    with pytest.raises(CutError):
        install(board.wanted, firmware, pins, board.around, cut)
    board.order("reset")
    after = board.files()
    assert {path: data for path, data in after.items() if not path.endswith(".new")} == before
    found = checked(board, older, pins)
    assert found.is_good
    assert "files" in told(found)
    install(board.wanted, firmware, pins, board.around, unseen)
    assert told(checked(board, firmware, pins)) == {}
    assert not any(path.endswith(".new") for path in board.files())


@pytest.mark.parametrize("swaps", [0, 1])
def test_a_cut_while_files_are_renamed_is_noticed_and_repaired(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, swaps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = Firmware((0, 9, 0), {path: b"# older\n" + data for path, data in firmware.files.items()})
    board = new_board({**older.files, PIN_MAP_FILE: pins.device_json(), MANIFEST_FILE: older.manifest.to_json()})
    swap, left = BareBoard.swap, iter(range(swaps))

    def cut(bare: BareBoard, paths: tuple[str, ...]) -> None:
        if next(left, None) is None:
            # Some have their places by now and some have not.
            swap(bare, paths[: len(paths) // 2])
            raise CutError
        swap(bare, paths)

    with monkeypatch.context() as patch:
        patch.setattr(BareBoard, "swap", cut)
        with pytest.raises(CutError):
            install(board.wanted, firmware, pins, board.around, unseen)
    board.order("reset")
    assert MANIFEST_FILE not in board.files()
    assert told(checked(board, firmware, pins))["firmware"].startswith("an installation was cut off")
    install(board.wanted, firmware, pins, board.around, unseen)
    assert told(checked(board, firmware, pins)) == {}


def test_a_full_board_keeps_its_firmware(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    board = new_board(all_files)
    board.order("quota", bytes=3000)
    larger = Firmware((201, 0, 0), {path: data + b"#" * 1000 for path, data in firmware.files.items()})
    with pytest.raises(BoardFullError, match=r"is full: it could not take firmware/.*remove files of yours"):
        install(board.wanted, larger, pins, board.around, unseen)
    board.wait_until_it_runs()
    assert board.files() == all_files
    board.order("quota", bytes=None)
    assert checked(board, firmware, pins).is_good


def test_files_of_a_cut_installation_take_no_room_from_the_next(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    whole = {f"{path}.new": data for path, data in all_files.items() if path.startswith("firmware/core/")}
    others = {"firmware/core/gone.py.new": b"#" * 5000, "firmware/board/start.py.new": b"#" * 5000, "main.py.new": b"#"}
    board = new_board({**whole, **others})
    written = dict[str, int]()

    def progress(what: str, done: int, total: int) -> None:
        if total:
            written[what.removeprefix("writing ")] = total

    done = install(board.wanted, firmware, pins, board.around, progress)
    assert done.written == tuple(sorted((*firmware.files, PIN_MAP_FILE)))
    rest = {path: data for path, data in all_files.items() if f"{path}.new" not in whole and path != MANIFEST_FILE}
    assert written == dict.fromkeys(rest, sum(map(len, rest.values())))
    assert board.files() == all_files


def test_a_pulled_cable_is_reported(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    board = new_board({PIN_MAP_FILE: all_files[PIN_MAP_FILE], **firmware.files})
    changed = Firmware((201, 0, 0), {path: data + b"#" for path, data in firmware.files.items()})

    def pull(what: str, done: int, total: int) -> None:
        if done:
            board.unplug()

    with pytest.raises(InstallError, match=r"could not take .*plug it in again and run the command once more"):
        install(board.wanted, changed, pins, board.around, pull)


def test_a_fault_recorded_by_the_firmware_is_reported(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    board = new_board({**all_files, "last_fault.txt": b"Traceback (most recent call last):\nMemoryError: no room\n"})
    found = checked(board, firmware, pins)
    assert found.is_good
    assert told(found) == {"last fault": "MemoryError: no room"}


def test_the_board_is_found_again_under_another_port_name(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes], tmp_path: Path
) -> None:
    board = new_board({**all_files, DEVICE: b"# altered\n" + all_files[DEVICE]})
    names = [tmp_path / f"ttyACM{number}" for number in range(3)]
    for name in names:
        name.symlink_to(board.port)
    asked = count()

    def list_ports() -> list[ListPortInfo]:
        record = ListPortInfo(str(names[next(asked) % len(names)]), skip_link_detection=True)
        record.vid, record.pid, record.serial_number = 0x2E8A, 0x0005, "E6614103E72B8F2A"
        return [record]

    around = replace(board.around, list_ports=list_ports)
    done = install(WantedBoard(), firmware, pins, around, unseen)
    assert done.written == (DEVICE,)
    assert check(WantedBoard(), firmware, pins, around, unseen).is_good
    assert next(asked) > 6


def test_firmware_of_another_version_is_reached_after_replugging(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    version = "firmware/core/version.py"
    text = all_files[version].replace(b"PROTOCOL = 2", b"PROTOCOL = 9")
    newer = Firmware((200, 0, 0), {**firmware.files, version: text})
    board = new_board({**all_files, version: text, MANIFEST_FILE: newer.manifest.to_json()}, wait_ms=1000)
    quick = checked(board, firmware, pins, quick=True)
    assert "speaks version 9 of the protocol, and this program version 2" in told(quick)["firmware"]

    def plug_in_again(sentence: str) -> None:
        assert "Unplug it now and plug it in again; waiting up to 60 seconds" in sentence
        board.order("reset")

    around = replace(board.around, say=plug_in_again)
    done = install(board.wanted, firmware, pins, around, unseen)
    assert (done.before, done.written) == ((200, 0, 0), (version,))
    assert checked(board, firmware, pins, quick=True).is_good


def test_with_a_uart_no_answer_is_expected_on_usb(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    board = new_board(all_files)
    wired = replace(pins, link=SerialWires(0, 0, 1))
    done = install(board.wanted, firmware, wired, board.around, unseen)
    assert done.welcome is None
    assert board.files()[PIN_MAP_FILE] == wired.device_json()


@pytest.mark.long
def test_firmware_that_does_not_start_is_reached_at_the_prompt_and_named(
    new_board: NewBoard, firmware: Firmware, pins: PinMap, all_files: Mapping[str, bytes]
) -> None:
    broken = "firmware/core/device.py"
    board = new_board({**all_files, broken: b"this is no Python\n"})
    found = told(checked(board, firmware, pins))
    assert found["files"] == f"different from this version's files: {broken}"
    assert found["board"] == "its firmware does not answer"
    install(board.wanted, firmware, pins, board.around, unseen)
    assert checked(board, firmware, pins).is_good


@pytest.mark.long
def test_a_real_prompt_is_named_and_the_firmware_is_greeted_once_it_runs(
    new_board: Callable[..., Any], all_files: dict[str, bytes]
) -> None:
    board = new_board()
    said: list[str] = []
    with BoardConnection(WantedBoard(board.port), time.monotonic, said.append, list_ports=list) as connection:
        assert connection.wait_for(lambda: connection.outage is not None, GUARD_S)
        assert connection.outage is not None
        assert isinstance(connection.outage.error, NoFirmwareError), connection.outage
        assert said == [
            f"{board.port} is MicroPython at its prompt, without the referee's firmware running; "
            "`./run hardware firmware install` puts it there"
        ]
        board.put(all_files)
        board.order("reset")
        assert connection.wait_for(lambda: connection.state is ConnectionState.LINKED, GUARD_S), connection.outage
        assert said[1:] == [f"the board answers now, on {board.port}"]
