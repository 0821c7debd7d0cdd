"""Diagnosis: what is present, what is missing, and what to do about it.

Every check is a function that returns Findings (``common.findings``).
"""

import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from app.runtime.builder import attention
from app.settings.configuration import Configuration
from app.settings.conversions import pins, sensor_pins, table_options
from app.settings.kept_cameras import kept_cameras
from app.settings.settings import Settings
from app.settings.sources import PASSWORD_VARIABLE, Source, source_of
from app.settings.table_layout import is_kit, layout_for_camera, with_rules
from app.wiring.checks import AskWled, Connect, ask_wled, check_wires, connect
from app.wiring.devices import LinkedController
from app.wiring.plan import WiringPlan
from common.findings import Finding, Severity
from common.phrases import Phrase, either, joined, listed
from engine import registry
from engine.api import Game
from firmware_bridge.errors import PortTakenError
from firmware_bridge.ports.serial_ports import SerialPort, serial_ports
from frontends.mqtt.options import MqttOptions, mqtt_options
from frontends.mqtt.settings import MqttSection
from hardware.pins import probe
from journal.last_recorded import missing_for_readers
from journal.lock import lock_holder
from journal.reader import read_journal
from referee.errors import BrokerError, ConfigError, JournalBusyError, JournalError, JournalMissingError
from referee.hints.opponent import check_side
from vision.calibration import load_calibration
from vision.cameras import has_password, shown_source, source_path, with_address
from vision.cameras.live import ID_PATTERN, find_camera, ids_of, read_attribute, usb_cameras, usual_mains_hz
from vision.cameras.network import ADDRESS_PATTERN
from vision.cameras.phone import SPEC
from vision.errors import CameraError, VisionError, WeightsError
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras
from vision.readers.protocols import LearnedLook
from vision.readers.registry import load_any, missing_traits, reader_kind, table_reader

OLDEST_PYTHON = (3, 11)
PACKAGES = ("numpy", "opencv-python-headless", "gpiozero", "pyserial", "cobs", "pydantic", "click", "rich", "reportlab")
LITTLE_ROOM_BYTES = 200 * 1024 * 1024
NO_ROOM_BYTES = 5 * 1024 * 1024
"""Free space below which the doctor warns, and below which it finds a fault: soon nothing can be recorded."""

Version = Callable[[str], str]


def ask_broker(options: MqttOptions) -> None:
    """Connect to a broker and leave it again; raises BrokerError."""
    # The MQTT client is only loaded if there is a broker.
    from frontends.mqtt.table_link import ask_broker

    ask_broker(options)


@dataclass(frozen=True)
class Machine:
    """The computer that is examined; passed in so that tests can replace it."""

    root: Path = Path("/")
    python: tuple[int, ...] = field(default_factory=lambda: tuple(sys.version_info[:3]))
    version_of: Version = metadata.version
    free_bytes: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free
    ports: Callable[[], Sequence[SerialPort]] = serial_ports
    board: Callable[[Sequence[tuple[str, int]]], Sequence[Finding]] = probe
    connect: Connect = connect
    ask_wled: AskWled = ask_wled
    holder: Callable[[Path], str | None] = lock_holder
    host_name: Callable[[], str] = socket.gethostname
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    ask_broker: Callable[[MqttOptions], None] = ask_broker


def machine_in_use() -> Machine:
    """Return this computer without access to pins, board and journal, which a running referee uses."""

    def refuse(_: WiringPlan) -> AbstractContextManager[LinkedController]:
        raise PortTakenError("the running referee uses the board")

    return Machine(board=lambda _: (), connect=refuse, holder=lambda _: None)


def examine(load: Callable[[], Configuration], machine: Machine | None = None) -> Iterator[Finding]:
    """Examine everything, one Finding after the other; ``load`` reads the settings (ConfigError is a Finding too)."""
    machine = machine or Machine()
    yield check_python(machine.python)
    yield from check_packages(machine.version_of)
    yield from check_opencv()
    try:
        configuration = load()
    except ConfigError as error:
        yield Finding.fault("settings", str(error), "correct it; `./run tools config --example` shows every setting")
        message = Phrase("the checks below use the defaults, because the settings can't be read")
        yield Finding.note("settings", message)
        defaults = Settings().with_absolute_paths({}, Path.cwd(), machine.environment)
        configuration = Configuration(defaults, None, {})
    else:
        found = configuration.file or Phrase("no file, all defaults")
        yield Finding.ok("settings", str(found))
    yield from check_camera(configuration, machine.root)
    yield from check_table(configuration)
    yield from check_opponent(configuration.settings)
    yield from check_lights(configuration, machine)
    yield from check_serial(machine.ports())
    yield from check_wires(configuration, machine.connect, machine.ask_wled)
    yield from check_broker(configuration.settings.mqtt, machine.host_name(), machine.environment, machine.ask_broker)
    yield from check_journal(configuration.settings.journal.path, machine.free_bytes, machine.holder)


def check_python(version: Sequence[int]) -> Finding:
    """Check whether Python is new enough."""
    text = ".".join(map(str, version))
    if tuple(version[:2]) < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        return Finding.fault(
            "Python", Phrase("{text} is too old", text), Phrase("install Python {oldest} or newer", oldest)
        )
    return Finding.ok("Python", text)


def check_packages(version_of: Version) -> Iterator[Finding]:
    """Check which libraries are installed, and their versions."""
    there, missing = [], []
    for name in PACKAGES:
        try:
            there.append(f"{name} {_short(version_of(name))}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if there:
        yield Finding.ok("libraries", ", ".join(there))
    for name in missing:
        yield Finding.fault("libraries", Phrase("{name} is not installed", name), "start the program with `./run`")
    try:
        version = _short(version_of("opencv-python"))
    except metadata.PackageNotFoundError:
        return
    message = Phrase(
        "opencv-python {version} is installed beside the headless one; they overwrite each other's files", version
    )
    yield Finding.note("libraries", message, "uninstall both, then install opencv-python-headless alone")


def _short(version: str) -> str:
    # With four numbers it would look like an address, which a bug report leaves out.
    return ".".join(version.split(".")[:3])


def check_opencv() -> Iterator[Finding]:
    """Check whether OpenCV can find markers and open cameras."""
    import cv2

    if not hasattr(cv2, "aruco"):
        yield Finding.fault(
            "OpenCV", Phrase("{version} has no marker detection", cv2.__version__), "install opencv-python-headless"
        )
        return
    registry = cv2.videoio_registry
    backends = [registry.getBackendName(backend) for backend in registry.getCameraBackends()]
    yield Finding.ok(
        "OpenCV", Phrase("{version}, cameras through {backends}", cv2.__version__, ", ".join(backends) or "nothing")
    )
    if sys.platform == "linux" and "V4L2" not in backends:
        yield Finding.note("OpenCV", "this build cannot open USB cameras (no V4L2)", "use another OpenCV build")


def check_camera(configuration: Configuration, root: Path) -> Iterator[Finding]:
    """Check which cameras there are, whether they may be used, and whether the chosen one is among them."""
    ids = ids_of(usb_cameras(root))
    devices = sorted(root.glob("dev/video*"), key=lambda device: (len(device.name), device.name))
    for device in devices:
        name = read_attribute(root / "sys/class/video4linux" / device.name / "name") or Phrase("a camera")
        if os.access(device, os.R_OK | os.W_OK):
            by_id = ids.get(f"/dev/{device.name}")
            yield Finding.ok(
                "camera",
                either(
                    by_id,
                    "/dev/{name}: {name_2}, always {by_id}",
                    "/dev/{name}: {name_2}",
                    name=device.name,
                    name_2=name,
                    by_id=by_id,
                ),
            )
        else:
            remedy = Phrase("join the group with `sudo usermod -aG video $USER`, then log in again")
            yield Finding.fault(
                "camera", Phrase("/dev/{name}: {name_2}, but you may not use it", device.name, name), remedy
            )
    if devices:
        mains_hz = configuration.settings.camera.mains_hz
        told = either(
            mains_hz is not None,
            "lamps on mains of {mains_hz} Hz, as mains_hz under [camera] says",
            "lamps on mains of {mains_hz} Hz, by the time zone; mains_hz under [camera] sets another",
            mains_hz=mains_hz or usual_mains_hz(root),
        )
        yield Finding.ok("camera", told)
    yield from _chosen_camera(configuration, [device.name for device in devices], root)


def _chosen_camera(configuration: Configuration, devices: Sequence[str], root: Path) -> Iterator[Finding]:
    spec = configuration.settings.camera.source
    if re.fullmatch(r"pi(:\d+)?", spec):
        if (root / "usr/lib/python3/dist-packages/picamera2").is_dir():
            yield Finding.ok("camera", Phrase("{spec}: the Pi's own, through Picamera2", spec))
        else:
            yield Finding.fault("camera", "the Pi's own needs Picamera2", "sudo apt install python3-picamera2")
        return
    if spec.strip() == SPEC:
        if configuration.settings.page.address is None:
            yield Finding.note(
                "camera",
                "a phone, but only this machine can open the page",
                "set address under [page] to 0.0.0.0, or give --page-address 0.0.0.0",
            )
        else:
            yield Finding.ok("camera", "a phone that opens the page")
        return
    try:
        address = with_address(spec)
    except CameraError as error:
        yield Finding.fault("camera", str(error), "set source under [camera]")
        return
    if ADDRESS_PATTERN.fullmatch(address):
        yield Finding.ok("camera", Phrase("{address}: a camera in the network", shown_source(address)))
        source = source_of("camera.source", configuration.sources)
        file = configuration.file if source.kind == "file" else None
        file = source_path(spec) or (file if has_password(address) else None)
        if file is not None and file.stat().st_mode & _OTHERS_MAY_READ:
            yield Finding.note(
                "camera",
                Phrase("others on this machine may read its password in {file}", file),
                f"chmod 600 {file}",
            )
        return
    if ID_PATTERN.fullmatch(spec):
        try:
            yield Finding.ok("camera", Phrase("{spec} is {find_camera}", spec, find_camera(spec, root)))
        except CameraError as error:
            yield Finding.fault("camera", str(error), "plug it in, or set source under [camera]")
        return
    match = re.fullmatch(r"(?:usb:|v4l2:)?(?:/dev/video)?(\d+)", spec)
    source = configuration.sources.get("camera.source", Source("default"))
    if match is not None:
        if f"video{match[1]}" in devices:
            return
        severity = Severity.NOTE if source.kind == "default" else Severity.FAULT
        message = (
            Phrase("camera {spec} ({source}) is not there", spec, source)
            if devices
            else Phrase("no camera is plugged in")
        )
        yield Finding("camera", severity, message, "plug one in, or set source under [camera]; the demo needs none")
        return
    path = Path(spec.partition(":")[2] if re.match(r"[a-z]+:", spec) else spec)
    if path.exists():
        yield Finding.ok("camera", Phrase("pictures come from {path}", path))
    else:
        named = path if shown_source(spec) == spec else shown_source(spec)
        yield Finding.fault(
            "camera", Phrase("there is no {path} ({source})", named, source), "set source under [camera]"
        )


def check_table(configuration: Configuration) -> Iterator[Finding]:
    """Check whether the calibration, the layout and the looks can be read, as far as they are set."""
    settings = configuration.settings
    yield from _calibration(settings)
    load: Callable[[Path], LearnedLook] = load_any
    try:
        table = layout_for_camera(settings.game.name, settings.table.layout, settings.table.markers)
        game = registry.load(settings.game.name)
        table = with_rules(table, game, table_options(game, settings.game.options))
    except VisionError as error:
        yield Finding.fault("layout", str(error), "docs/set-up.md has a whole layout file")
    else:
        load = reader_kind(table).load
        where = settings.table.layout or Phrase("the one that comes with {name}", settings.game.name)
        if is_kit(settings.table.layout):
            where = Phrase("the paper kit of {name}", settings.game.name)
        ids = ", ".join(map(str, sorted(table.markers.centres_mm)))
        yield Finding.ok(
            "layout",
            either(
                ids,
                "{where}: {columns} x {rows} squares, markers {ids}",
                "{where}: {columns} x {rows} squares, no markers",
                where=where,
                columns=table.board.columns,
                rows=table.board.rows,
                ids=ids,
            ),
        )
        yield from _reader(settings, table, game)
        yield from _remarks(settings, table)
    yield _looks(settings, load)


def _calibration(settings: Settings) -> Iterator[Finding]:
    calibration = settings.camera.calibration
    if calibration is None:
        if settings.sensors.eyes != "sensors":
            yield from _measured(settings)
        return
    try:
        camera = load_calibration(calibration)
    except VisionError as error:
        yield Finding.fault("calibration", str(error), Phrase("set none: the lens is measured from the table"))
        return
    width, height = camera.size
    error_px = camera.reprojection_error_px
    yield Finding.ok(
        "calibration",
        Phrase(
            "{calibration}: {width} x {height}, {error_px} px off on average",
            calibration,
            width,
            height,
            f"{error_px:.2f}",
        ),
    )
    if camera.size != settings.camera.size_px:
        asked = settings.camera.size_px
        message = Phrase(
            "it is for {width} x {height} pixels, the camera is asked for {asked} x {asked_2}",
            width,
            height,
            asked[0],
            asked[1],
        )
        yield Finding.note("calibration", message, Phrase("nothing to do: the lens is measured from the table instead"))
        yield from _measured(settings)


def _measured(settings: Settings) -> Iterator[Finding]:
    """Say how well the cameras are known that were measured from the table."""
    try:
        known = kept_cameras(settings.journal.path, settings.camera.source)
    except VisionError as error:
        yield Finding.note(_LENS, str(error), Phrase("nothing to do: it is measured anew from the table"))
        return
    if not known:
        yield Finding.ok(_LENS, Phrase("it is measured from the first picture of the table; nothing to do"))
    for one in known:
        width, height = one.camera.size
        message = either(
            len(one.sightings) == 1,
            "known to {share} % from 1 view of the table, {width} x {height} pixels",
            "known to {share} % from {views} views of the table, {width} x {height} pixels",
            share=f"{100 * one.focal_sd:.1f}",
            views=len(one.sightings),
            width=width,
            height=height,
        )
        if one.is_sure:
            yield Finding.ok(_LENS, message)
        else:
            remedy = Phrase("good enough for flat pieces; for tall ones raise one side of the phone by a book")
            yield Finding.note(_LENS, joined((message, *one.reasons), "; "), remedy)


_OTHERS_MAY_READ = 0o044
_LENS = Phrase("lens")


def _reader(settings: Settings, table: TableLayout, game: Game[Any, Any]) -> Iterator[Finding]:
    """Show what a frame passes on its way to a Reading, if it can be built."""
    if settings.sensors.eyes == "sensors":
        return
    try:
        looks = None if settings.table.looks is None else reader_kind(table).load(settings.table.looks)
        reader = table_reader(LearnedCameras(table), table, looks, attention=attention(game))
    except WeightsError as error:
        yield Finding.fault("reader", str(error), "install the project again")
    except VisionError:
        return  # the other checks of the table say why
    else:
        stages = ["camera", str(reader), *(["sensors"] if settings.sensors.eyes == "both" else [])]
        yield Finding.ok("reader", " → ".join(stages))


def _looks(settings: Settings, load: Callable[[Path], LearnedLook]) -> Finding:
    looks = settings.table.looks
    if looks is None and registry.load(settings.game.name).has_sheets:
        return Finding.ok("looks", "handwriting is read without looks")
    if looks is None:
        message = Phrase("none are set; they are learned from each set-up")
        return Finding.note("looks", message, "`./run pieces enrol` gives more reliable results")
    try:
        known = load(looks)
    except VisionError as error:
        return Finding.fault("looks", str(error), "./run pieces enrol makes new ones")
    game = registry.load(settings.game.name)
    lacking = missing_traits(known, game.looks)
    if lacking:
        remedy = Phrase("give `./run pieces enrol` a picture of them too")
        return Finding.fault(
            "looks", Phrase("{looks} does not show what {lacking} pieces look like", looks, listed(lacking)), remedy
        )
    return Finding.ok("looks", joined((looks, joined((joined(names, ", ") for names in known.traits), "; ")), ": "))


def _remarks(settings: Settings, table: TableLayout) -> Iterator[Finding]:
    """Say which pieces can be read, but not well; other checks name looks that can't be read."""
    kind, board = reader_kind(table), table.board
    try:
        looks = kind.plain(board) if settings.table.looks is None else kind.load(settings.table.looks)
    except VisionError:
        return
    for remark in kind.remarks(looks, board):
        yield Finding.note("pieces", remark)


def check_opponent(settings: Settings) -> Iterator[Finding]:
    """Check whether the game has the side that the program is to play, if it plays one."""
    side = settings.opponent.player
    if side is None:
        return
    try:
        check_side(registry.load(settings.game.name), side)
    except ConfigError as error:
        yield Finding.fault("opponent", str(error), "correct player under [opponent], or name under [game]")
    else:
        yield Finding.ok("opponent", Phrase("the program plays {side}", side))


def check_lights(configuration: Configuration, machine: Machine) -> Iterator[Finding]:
    """Check whether there are pins, and whether those of lights, buttons and sensors exist."""
    settings = configuration.settings
    wired = pins(settings.lights)
    uses = wired.uses if "gpio" in settings.lights.drivers or wired.buttons else ()
    if settings.sensors.source == "pins":
        uses += sensor_pins(settings).uses
    yield from machine.board(uses)


def check_serial(ports: Sequence[SerialPort]) -> Iterator[Finding]:
    """Check which serial ports there are; none is needed without a board."""
    if not ports:
        yield Finding.note("serial", "no serial port; only boards with a microcontroller need one")
    for port in ports:
        yield Finding.ok("serial", str(port))


def check_broker(
    section: MqttSection, host_name: str, environment: Mapping[str, str], ask: Callable[[MqttOptions], None]
) -> Iterator[Finding]:
    """Check whether the broker answers, if one is set."""
    try:
        options = mqtt_options(section, host_name, environment.get(PASSWORD_VARIABLE))
        if options is None:
            return
        ask(options)
    except BrokerError as error:
        yield Finding.fault("broker", str(error), "correct [mqtt]; games go on without a broker")
        return
    may = {"off": Phrase("it may command nothing"), "play": Phrase("it may do what players may")}
    allowed = may.get(section.commands, Phrase("it may do what the owner may"))
    yield Finding.ok(
        "broker", Phrase("{broker} lets the table {table} in; {allowed}", options.broker, options.table, allowed)
    )
    if options.tls is None and options.user is not None:
        yield Finding.note("broker", "the password goes to it unencrypted", "set tls = true under [mqtt]")


def check_journal(
    path: Path,
    free_bytes: Callable[[Path], int],
    holder: Callable[[Path], str | None] = lock_holder,
) -> Iterator[Finding]:
    """Check whether the journal is intact and can be read and written, who uses it, and the free space."""
    yield from _journal_content(path)
    folder = next((parent for parent in path.parents if parent.is_dir()), Path())
    busy = holder(path)
    if busy is not None:
        yield Finding.note(
            "journal", Phrase("it is in use by {busy}", busy), "stop that one before another referee writes it"
        )
    writable = os.access(path if path.exists() else folder, os.W_OK) and os.access(folder, os.W_OK)
    if not writable:
        yield Finding.fault(
            "journal", Phrase("{path} may not be written", path), "change its rights, or give another --journal"
        )
    free = free_bytes(folder)
    amount = Phrase("{free_mib} MiB are free in {folder}", f"{free / 1024 / 1024:.0f}", folder)
    if free < NO_ROOM_BYTES:
        yield Finding.fault("disk", amount, "make room: without it events are kept in memory only")
    elif free < LITTLE_ROOM_BYTES:
        yield Finding.note("disk", amount, "make room before a long evening")
    else:
        yield Finding.ok("disk", amount)


def _journal_content(path: Path) -> Iterator[Finding]:
    try:
        with read_journal(path) as journal:
            journal.check()
            games, lost = journal.games(), missing_for_readers(journal)
    except JournalMissingError:
        yield Finding.ok("journal", Phrase("none yet; the first game makes {path}", path))
    except JournalBusyError as error:
        yield Finding.note("journal", str(error), "try again when the other program is done")
    except JournalError as error:
        yield Finding.fault("journal", str(error), "keep a copy of the file, and give another --journal")
    else:
        if lost:
            yield Finding.fault("journal", lost, "start `./run watch`, and compare the board with what it shows")
            return
        open_games = sum(not (game.ended or game.stopped) for game in games)
        yield Finding.ok(
            "journal",
            either(
                len(games) == 1,
                "{path}: 1 game, {open_games} still open; no damage found",
                "{path}: {games} games, {open_games} still open; no damage found",
                path=path,
                open_games=open_games,
                games=len(games),
            ),
        )
