"""Installs the firmware and a pin map on a board. Power may be cut at any moment; the board can always be repaired.

Files are written under temporary names and verified; until all are complete, the old firmware is unchanged. Then the
manifest is removed, the new files replace the old ones, and the manifest is written last. A board on which this was
interrupted has no manifest: `./run hardware firmware check` reports it, and installing again repairs it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from firmware_bridge.install.access import InstallEnvironment, await_restart, bare_board, identify, only_port
from firmware_bridge.install.console import BareBoard, BoardFullError, InstallError, Survey
from firmware_bridge.install.manifest import (
    MAIN_FILE,
    MANIFEST_FILE,
    NEW_SUFFIX,
    PIN_MAP_FILE,
    Difference,
    Firmware,
    Manifest,
    ManifestError,
    Version,
    difference,
    sha256,
    version_text,
)
from firmware_bridge.pin_maps.pin_map import PinMap, is_linked_by_usb
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import Welcome

OLDEST_MICROPYTHON = (1, 22)  # docs/firmware.md promises it
KEPT_MAIN_FILE = "main_before_referee.py"
"""Name for the owner's own main.py once the firmware's has replaced it; with a number if there is such a file."""
_OUR_IMPORT = b"from firmware.board."
"""What a line of every version's main.py starts with."""
REFUSAL = "can't use its pin map, so it uses none of its pins"
REFUSAL_REMEDY = "a pin may be missing on this module, or be taken by its memory: choose another, then install again"

# allowance for the file system's own data: a block for each new file would be too much to require of a small board
_SPARE_BYTES = 16 * 1024

Progress = Callable[[str, int, int], None]
"""Called with what is being done, and the numbers of bytes written and in total."""


@dataclass(frozen=True)
class InstallResult:
    """The result of an installation; versions are the firmware's.

    ``before`` is ``None`` if there was none or it is unknown, ``kept_main`` the name under which the owner's own
    main.py was kept. ``has_pin_map``: there is a pin map on the board, this one or an earlier one. ``welcome`` is
    ``None`` if the pin map makes the board use its UART only.
    """

    port: SerialPort
    version: Version
    before: Version | None
    written: tuple[str, ...]
    kept_main: str | None
    has_pin_map: bool
    welcome: Welcome | None


def install(
    wanted: WantedBoard,
    firmware: Firmware,
    pins: PinMap | None,
    environment: InstallEnvironment,
    progress: Progress,
) -> InstallResult:
    """Install ``firmware`` and ``pins`` on the wanted board, verify every file, start it and check that it runs.

    Files that are there already are not written again. Without ``pins`` the board keeps its pin map. Raises
    BridgeError: the port can't be used, another device is there, the board is full, is of another kind than the pin map
    says, was disconnected, or does not answer afterwards.
    """
    port = only_port(wanted, environment)
    progress("looking for the board", 0, 0)
    reached = identify(port, wanted.baud, environment, leave=True)
    progress("waiting for its prompt", 0, 0)
    with bare_board(reached, wanted.baud, environment) as board:
        try:
            survey = board.survey()
            check_machine(survey, port, pins)
            before = installed_manifest(board, survey)
            change = _FileUpdate(firmware, pins, survey, before)
            kept_main = change.make(board, progress)
            is_on_usb = pins.link is None if pins is not None else speaks_usb(board, survey)
            progress("starting the firmware", 0, 0)
        finally:
            # in any case, the board is not left at its prompt: whatever firmware it has is started
            board.reset()
    welcome = None
    if is_on_usb:
        welcome = check_welcome(await_restart(port, wanted.baud, environment), port, firmware, pins)
    return InstallResult(
        port=port,
        version=firmware.version,
        before=None if before is None else before.version,
        written=change.difference.to_write,
        kept_main=kept_main,
        has_pin_map=pins is not None or PIN_MAP_FILE in survey.hashes,
        welcome=welcome,
    )


def check_machine(survey: Survey, port: SerialPort, pins: PinMap | None) -> None:
    """Raise InstallError for a device that can't run the firmware, or another board than the pin map is for."""
    if survey.implementation != "micropython":
        raise InstallError(
            f"the board on {port.device} runs {survey.implementation}; the firmware needs MicroPython "
            f"{'.'.join(map(str, OLDEST_MICROPYTHON))} or newer"
        )
    if survey.version[:2] < OLDEST_MICROPYTHON:
        raise InstallError(
            f"the board on {port.device} has {survey.title}; the firmware needs "
            f"{'.'.join(map(str, OLDEST_MICROPYTHON))} or newer: docs/firmware.md explains how to put it on the board"
        )
    if pins is not None and pins.board.is_other_chip(survey.machine):
        raise InstallError(
            f"the pin map is for the {pins.board.title}, and the board on {port.device} is: {survey.machine}; change "
            "`board` in the pin map, or name the port of the other board"
        )


def installed_manifest(board: BareBoard, survey: Survey) -> Manifest | None:
    """Read the board's own manifest; ``None`` if it is missing or unreadable."""
    if MANIFEST_FILE not in survey.hashes:
        return None
    try:
        return Manifest.from_json(board.read(MANIFEST_FILE))
    except ManifestError:
        return None


def speaks_usb(board: BareBoard, survey: Survey) -> bool:
    """Return whether the firmware uses USB by the pin map on the board; without a valid one, it does."""
    if PIN_MAP_FILE not in survey.hashes:
        return True
    return is_linked_by_usb(board.read(PIN_MAP_FILE))


class _FileUpdate:
    """The changes to make on one board."""

    def __init__(self, firmware: Firmware, pins: PinMap | None, survey: Survey, before: Manifest | None) -> None:
        self._survey = survey
        self._manifest = firmware.manifest.to_json()
        self._data: Mapping[str, bytes] = (
            firmware.files if pins is None else {**firmware.files, PIN_MAP_FILE: pins.device_json()}
        )
        hashes = {path: sha256(data) for path, data in self._data.items()}
        wanted = Manifest(firmware.version, hashes)
        self.difference: Difference = difference(wanted, survey.hashes, before)
        self._hashes = hashes
        self._before = before

    def make(self, board: BareBoard, progress: Progress) -> str | None:
        """Make the changes, and verify them; returns the new name of the owner's main.py, if there was one."""
        to_write = self.difference.to_write
        is_manifest_due = self._survey.hashes.get(MANIFEST_FILE) != sha256(self._manifest)
        if not to_write and not self.difference.left_over and not is_manifest_due:
            return None
        # an interrupted installation may have left new files, of this version or of another
        there = self._survey.hashes
        complete = {path for path in to_write if there.get(path + NEW_SUFFIX) == self._hashes[path]}
        new = {path for path in self.difference.left_over if path.endswith(NEW_SUFFIX)}
        stale = new - {path + NEW_SUFFIX for path in complete}
        if stale:
            board.remove(stale)
            self._survey = board.survey()
        to_send = tuple(path for path in to_write if path not in complete)
        self._check_room(to_send)
        try:
            self._write_new(board, to_send, progress)
        except BoardFullError:
            board.remove(path + NEW_SUFFIX for path in to_write)
            raise
        progress("checking what was written", 0, 0)
        self._check(board, {path: self._hashes[path] for path in to_write}, NEW_SUFFIX)
        progress("putting the files in their places", 0, 0)
        is_main_ours = MAIN_FILE not in self.difference.altered or self._is_main_ours(board)
        board.remove((MANIFEST_FILE, *(path for path in self.difference.left_over if path not in new)))
        kept_main = None if is_main_ours else board.rename_freely(MAIN_FILE, KEPT_MAIN_FILE)
        board.swap(to_write)
        self._check(board, self._hashes, "")
        board.write_new(MANIFEST_FILE, self._manifest, lambda _: None)
        board.swap((MANIFEST_FILE,))
        return kept_main

    def _is_main_ours(self, board: BareBoard) -> bool:
        """Return whether the board's main.py is one of ours; without a manifest its text tells."""
        if self._before is not None:
            return self._survey.hashes[MAIN_FILE] == self._before.files.get(MAIN_FILE)
        return board.has_line(MAIN_FILE, _OUR_IMPORT)

    def _write_new(self, board: BareBoard, paths: tuple[str, ...], progress: Progress) -> None:
        board.make_folders({str(folder) for path in paths for folder in PurePosixPath(path).parents if folder.name})
        total = sum(len(self._data[path]) for path in paths)
        done = 0
        for path in paths:

            def report(count: int, path: str = path) -> None:
                nonlocal done
                done += count
                progress(f"writing {path}", done, total)

            board.write_new(path, self._data[path], report)

    @staticmethod
    def _check(board: BareBoard, hashes: Mapping[str, str], suffix: str) -> None:
        there = board.survey().hashes
        wrong = sorted(path for path, digest in hashes.items() if there.get(path + suffix) != digest)
        if wrong:
            raise InstallError(
                f"what the board has of {', '.join(wrong)} is not what was sent: its memory or its cable is faulty; "
                "run the command once more, with another cable if it happens again"
            )

    def _check_room(self, paths: tuple[str, ...]) -> None:
        needed = sum(len(self._data[path]) for path in paths) + len(self._manifest) + _SPARE_BYTES
        if self._survey.free_bytes < needed:
            raise BoardFullError(
                f"the board has {self._survey.free_bytes // 1024} kB free, and {needed // 1024} kB are needed; remove "
                "files of yours from it. Nothing was changed"
            )


def check_welcome(welcome: Welcome | None, port: SerialPort, firmware: Firmware, pins: PinMap | None) -> Welcome:
    """Return what the board says of itself; raises InstallError if that is not what was put on it."""
    if welcome is None:
        raise InstallError(
            f"the firmware is on the board on {port.device}, but it does not answer; unplug it and plug it in again, "
            f"then run `./run hardware firmware check`"
        )
    if welcome.firmware != firmware.version:
        raise InstallError(
            f"the board on {port.device} says that it runs firmware {version_text(welcome.firmware)}, and "
            f"{version_text(firmware.version)} was put on it; is there a second board? Name the port with --port"
        )
    if pins is not None and welcome.pin_map_checksum != pins.crc32:
        raise InstallError(
            f"the board on {port.device} does not use the pin map that was put on it; unplug it and plug it in again, "
            f"then run `./run hardware firmware check`"
        )
    if pins is not None and refuses_pins(welcome):
        raise InstallError(f"the board on {port.device} {REFUSAL}; {REFUSAL_REMEDY}")
    return welcome


def refuses_pins(welcome: Welcome) -> bool:
    """Return whether the board has a pin map and could not use it: with one unusable pin it uses none."""
    uses_any = welcome.lights or welcome.switches or welcome.buttons or welcome.buzzer
    return welcome.pin_map_checksum != 0 and not uses_any
