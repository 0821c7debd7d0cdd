"""Compares a board's firmware, files and pin map with those it should have, and says what to do."""

from collections.abc import Iterator
from dataclasses import dataclass

from common.findings import Finding, Severity, worst
from common.phrases import Phrase, counted, joined
from firmware_bridge.errors import NoFirmwareError, VersionError, WrongDeviceError
from firmware_bridge.install.access import (
    InstallEnvironment,
    ReachedBoard,
    await_restart,
    bare_board,
    identify,
    only_port,
)
from firmware_bridge.install.console import BareBoard, Survey
from firmware_bridge.install.installation import (
    OLDEST_MICROPYTHON,
    REFUSAL,
    REFUSAL_REMEDY,
    Progress,
    installed_manifest,
    refuses_pins,
    speaks_usb,
)
from firmware_bridge.install.manifest import (
    FAULT_FILES,
    PIN_MAP_FILE,
    Difference,
    Firmware,
    Manifest,
    Version,
    difference,
    sha256,
    version_problem,
    version_text,
)
from firmware_bridge.pin_maps.pin_map import PinMap
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.ports.serial_ports import SerialPort
from firmware_bridge.protocol.messages import Welcome

_INSTALL = "`./run hardware firmware install` puts it right"
_MOST_NAMED = 4  # files in one sentence


@dataclass(frozen=True)
class BoardCheck:
    """The findings about the board on ``port``."""

    port: SerialPort
    findings: tuple[Finding, ...]

    @property
    def is_good(self) -> bool:
        """Whether the board has what it should have."""
        return worst(self.findings) is not Severity.FAULT


def check(
    wanted: WantedBoard,
    firmware: Firmware,
    pins: PinMap | None,
    environment: InstallEnvironment,
    progress: Progress,
    *,
    quick: bool = False,
) -> BoardCheck:
    """Check the wanted board; with ``quick`` only ask the running firmware, and leave it running.

    Otherwise the board is brought to its prompt, every file is compared by its hash, and the board is reset and checked
    to run again. ``pins`` is the pin map that it should have, if known. Nothing on the board is changed. Raises
    BridgeError when the port can't be used, or the device can't run the firmware.
    """
    port = only_port(wanted, environment)
    progress("looking for the board", 0, 0)
    reached = identify(port, wanted.baud, environment, leave=not quick)
    if quick:
        return BoardCheck(port, tuple(_check_running(reached, firmware, pins)))
    progress("waiting for its prompt", 0, 0)
    with bare_board(reached, wanted.baud, environment) as board:
        try:
            progress("comparing its files", 0, 0)
            survey = board.survey()
            manifest = installed_manifest(board, survey)
            findings = list(_check_files(survey, firmware, manifest, pins))
            findings += _read_fault(board, survey)
            is_on_usb = speaks_usb(board, survey)
            progress("starting the firmware", 0, 0)
        finally:
            board.reset()
    if survey.has_firmware and is_on_usb:
        findings.append(running_finding(await_restart(port, wanted.baud, environment)))
    return BoardCheck(port, tuple(findings))


def compare_versions(installed: Version, ours: Version) -> Finding:
    """Find whether a board's firmware is the program's, older or newer, and what to do."""
    problem = version_problem(installed, ours)
    if problem is None:
        return Finding.ok("firmware", f"version {version_text(installed)}")
    return Finding.fault("firmware", *problem)


def equipment(welcome: Welcome) -> str:
    """Describe what is connected to a board."""
    counts = [counted(welcome.lights, "light"), counted(welcome.switches, "switch", "switches")]
    counts += [counted(welcome.buttons, "button"), *([Phrase("a buzzer")] if welcome.buzzer else [])]
    return joined(counts, ", ")


def _check_running(reached: ReachedBoard, firmware: Firmware, pins: PinMap | None) -> Iterator[Finding]:
    welcome = reached.welcome
    if welcome is not None:
        yield compare_versions(welcome.firmware, firmware.version)
        yield _compare_pin_maps(
            welcome.pin_map_checksum, None if pins is None else pins.crc32, has=welcome.pin_map_checksum != 0
        )
        yield running_finding(welcome)
    elif isinstance(reached.why_not, VersionError | NoFirmwareError):
        yield Finding.fault("firmware", str(reached.why_not))
    else:
        raise reached.why_not or WrongDeviceError(f"nothing is known of what is on {reached.port.device}")


def _check_files(
    survey: Survey, firmware: Firmware, manifest: Manifest | None, pins: PinMap | None
) -> Iterator[Finding]:
    is_old = survey.version[:2] < OLDEST_MICROPYTHON
    oldest = ".".join(map(str, OLDEST_MICROPYTHON))
    yield Finding(
        "interpreter",
        Severity.FAULT if is_old else Severity.OK,
        survey.title,
        f"the firmware needs {oldest} or newer; docs/firmware.md explains how to put it on the board" if is_old else "",
    )
    if not survey.has_firmware:
        yield Finding.fault("firmware", "there is none on the board", "`./run hardware firmware install` puts it there")
        return
    if manifest is None:
        yield Finding.fault("firmware", "an installation was cut off, or its files were put there by hand", _INSTALL)
    else:
        yield compare_versions(manifest.version, firmware.version)
    # another version's files differ, of course; what matters is whether they match their own manifest
    same_version = manifest is None or manifest.version == firmware.version
    wanted = firmware.manifest if same_version else manifest
    yield from _describe_difference(difference(wanted or firmware.manifest, survey.hashes, manifest))
    there = survey.hashes.get(PIN_MAP_FILE)
    yield _compare_pin_maps(there, None if pins is None else sha256(pins.device_json()), has=there is not None)


def _read_fault(board: BareBoard, survey: Survey) -> Iterator[Finding]:
    for file in FAULT_FILES:
        if file in survey.hashes:
            lines = [line.strip() for line in board.read(file).decode(errors="replace").splitlines() if line.strip()]
            message = lines[-1] if lines else "unknown"
            remedy = f"the firmware restarted after it; the full text is in {file} on the board"
            yield Finding.note("last fault", message, remedy)
            return


def _describe_difference(differs: Difference) -> Iterator[Finding]:
    if differs.missing:
        yield Finding.fault("files", f"missing on the board: {_name_some(differs.missing)}", _INSTALL)
    if differs.altered:
        yield Finding.fault("files", f"different from this version's files: {_name_some(differs.altered)}", _INSTALL)
    if differs.left_over:
        message = f"left over and not needed: {_name_some(differs.left_over)}"
        yield Finding.note("files", message, "`./run hardware firmware install` removes them")
    if differs.is_empty:
        yield Finding.ok("files", "all are correct")


def _compare_pin_maps(there: str | int | None, wanted: str | int | None, *, has: bool) -> Finding:
    remedy = "`./run hardware firmware install --pins FILE` puts yours there"
    if not has:
        return Finding.fault("pin map", "there is none on the board, so nothing is connected to its pins", remedy)
    if wanted is None:
        return Finding.ok("pin map", "there is one; with --pins FILE it is compared with yours")
    if there != wanted:
        return Finding.fault("pin map", "the board's differs from yours", remedy)
    return Finding.ok("pin map", "the board has yours")


def running_finding(welcome: Welcome | None) -> Finding:
    """Find whether the firmware answers, and whether it uses the pins of its pin map."""
    if welcome is None:
        message = "its firmware does not answer"
        return Finding.fault("board", message, "unplug it and plug it in again; if that doesn't help, install again")
    if refuses_pins(welcome):
        return Finding.fault("board", f"it {REFUSAL}", REFUSAL_REMEDY)
    return Finding.ok("board", f"{welcome.board} answers: {equipment(welcome)}")


def _name_some(paths: tuple[str, ...]) -> str:
    more = len(paths) - _MOST_NAMED
    return ", ".join(paths[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
