"""Parsers of files: settings, maps, layouts, calibrations, looks, pictures, house rules, journals, their copies."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from app.sensing.health import SensorRecord, Suspicion, load_health
from app.settings.configuration import example as example_settings
from app.settings.configuration import load as load_settings
from app.wiring.plan import load_sensor_map
from benchmarks.parts.fuzz.run import Parser
from benchmarks.parts.fuzz.typed import played
from engine.errors import EngineError
from engine.games.blokus_dice import sheet
from engine.registry import games, load
from engine.support.chance import format_roll
from engine.values import Roll
from firmware_bridge.errors import BridgeError
from firmware_bridge.pin_maps.file import read_pin_map
from firmware_bridge.pin_maps.pin_map import BOARDS, example_pin_map
from hardware.errors import HardwareError
from hardware.lights.light_map import LightMap, light_map_as_toml, read_light_map
from journal.backups import restore
from journal.journal import Journal
from journal.reader import read_journal
from referee.errors import ConfigError, RefereeError
from referee.record.events import Event, EventKind, Evidence
from referee.record.fold import fold
from simulator.play.game import GameOptions
from simulator.table import VirtualTable
from vision.calibration import load_calibration, save_calibration
from vision.cameras.phone import MOST_PHOTO_PIXELS
from vision.errors import VisionError
from vision.images import decode_photo, load_image
from vision.layout.table import default_layout, games_with_layouts, load_layout
from vision.readers.dice.photographs import INSIDE, FaceSet
from vision.readers.registry import PIECE_READERS, load_any

_ROLES = ("end turn", "hint", "take back")
_NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
_SETTINGS = b"""\
[game]
name = "blockade"
[turn]
rest_s = 2.5
end = "button"
[lights]
drivers = ["gpio"]
button_pins = {"end turn" = 17}
buzzer_pin = 18
[clock]
time = "fischer 5+3"
"""


def memory_folder() -> str | None:
    """Give a folder in memory for temporary files, or ``None`` for the default."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    """The temporary folder of this process."""
    return tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory_folder())


def read_as_file(read: Callable[[Path], object], data: bytes) -> None:
    """Write an input to a file and read that."""
    path = Path(_scratch().name) / f"input-{os.getpid()}"
    path.write_bytes(data)
    read(path)


def _written(write: Callable[[Path], object]) -> bytes:
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        path = Path(folder) / "valid"
        write(path)
        return path.read_bytes()


def _settings(path: Path) -> None:
    load_settings(path, environment={}, folder=path.parent)


def _settings_files() -> Sequence[bytes]:
    return [example_settings().encode(), _SETTINGS]


def _sensor_maps() -> Sequence[bytes]:
    return [b"switches = 64\npin_map_crc = 7\n\n[places]\na1 = 0\na2 = 1\n"]


def _light_maps() -> Sequence[bytes]:
    return [light_map_as_toml(LightMap({"a1": (0,), "a2": (1, 2)}, (3,), lights=8, pin_map_crc=7)).encode()]


def _layouts() -> Sequence[bytes]:
    folder = resources.files("vision.layout").joinpath("games")
    return [folder.joinpath(f"{name}.json").read_bytes() for name in games_with_layouts()]


@cache
def _looks() -> tuple[bytes, ...]:
    found = []
    for name in games_with_layouts():
        for surface in default_layout(name).surfaces:
            kind = PIECE_READERS.get("" if surface.pieces is None else surface.pieces.kind)
            if kind is not None:
                found.append(_written(partial(kind.save, kind.plain(surface))))
    return tuple(dict.fromkeys(found))


@cache
def _calibrations() -> tuple[bytes, ...]:
    camera = VirtualTable(1, GameOptions(turns=1)).calibration()
    return (_written(lambda path: save_calibration(path, camera)),)


def _healths() -> Sequence[bytes]:
    record = SensorRecord("a1", Suspicion(-2.5), Suspicion(3.0, 2, 1), agreed=2)
    return [
        json.dumps({"a1": {name: kept for name, kept in asdict(record).items() if name != "place"}}).encode(),
        b"{}",
    ]


@cache
def _pictures() -> tuple[bytes, ...]:
    image = np.random.default_rng(1).integers(0, 255, (24, 32, 3), dtype=np.uint8)
    return tuple(cv2.imencode(suffix, image)[1].tobytes() for suffix in (".jpg", ".png", ".bmp", ".webp", ".tiff"))


@contextmanager
def _silenced() -> Iterator[None]:
    """Hide the messages of image libraries, which write to stderr directly."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _picture(path: Path) -> None:
    with _silenced():
        load_image(path)


def _photo(data: bytes) -> None:
    with _silenced():
        decode_photo(data, "the photo", most_pixels=MOST_PHOTO_PIXELS)


def _events(name: str) -> Iterator[Event]:
    """A game's beginning as the journal holds it."""
    game = load(name)
    yield Event(EventKind.NEW_GAME, {"game": name, "options": {}, "players": {game.players[0]: "Ann"}})
    for step, state in played(name):
        text = game.notation.format_state(state)
        if step is None:
            yield Event(EventKind.SET_UP, {"state": text})
        elif isinstance(step, Roll):
            yield Event(EventKind.ROLLED, {"roll": format_roll(step), "state": text})
        else:
            data: dict[str, Any] = {"turn": game.notation.format_turn(step), "player": step.player, "state": text}
            yield Event(EventKind.TURN, data, 1.5)
    yield Event(EventKind.CORRECTION, {"by": "Ann", "state": text, "why": "it fell"})
    yield Event(EventKind.TAKE_BACK, {"by": "Ann"})


def _write_journal(name: str, path: Path) -> None:
    with Journal.open(path, wall_clock=lambda: _NOW) as journal:
        for event in _events(name):
            journal.append(event, (Evidence("before-a1", "image/png", b"\x89PNG"),))


@cache
def _journals() -> tuple[bytes, ...]:
    return tuple(_written(partial(_write_journal, name)) for name in games())


def _journal(path: Path) -> None:
    with read_journal(path) as journal:
        journal.check()
        for summary in journal.games():
            fold(load(summary.name), journal.events(summary.number))
        journal.evidence(journal.last_number)


def _restore_copy(path: Path) -> None:
    """Restore a copy over an earlier restored one."""
    restore(path, path.with_name("restored"), _NOW)
    for kept in path.parent.glob("restored-before-*"):
        kept.unlink()


def _house_sheet(data: bytes) -> None:
    sheet.read_sheet_file(data.decode(errors="surrogateescape"))


@cache
def _faces() -> tuple[bytes, ...]:
    inks = np.random.default_rng(1).random((2, INSIDE.size), dtype=np.float32)
    return (_written(FaceSet(("star", "moon"), inks).save),)


def _file(
    name: str, seeds: Callable[[], Sequence[bytes]], read: Callable[[Path], object], *refusals: type[Exception]
) -> Parser:
    return Parser(name, seeds, partial(read_as_file, read), refusals)


def _pin_maps() -> Sequence[bytes]:
    return [example_pin_map(board, _ROLES).encode() for board in sorted(BOARDS)]


PARSERS = (
    _file("settings", _settings_files, _settings, ConfigError),
    _file("pin map", _pin_maps, lambda path: read_pin_map(path, button_roles=_ROLES), BridgeError),
    _file("light map", _light_maps, read_light_map, HardwareError),
    _file("sensor map", _sensor_maps, load_sensor_map, ConfigError),
    _file("sensors' record", _healths, load_health, ConfigError),
    _file("layout", _layouts, load_layout, VisionError),
    _file("calibration", _calibrations, load_calibration, VisionError),
    _file("looks", _looks, load_any, VisionError),
    _file("picture", _pictures, _picture, VisionError),
    Parser("photo", lambda: _pictures()[:2], _photo, (VisionError,)),
    _file("dice faces", _faces, FaceSet.load, VisionError),
    _file("journal", _journals, _journal, RefereeError, EngineError),
    _file("copy of a journal", lambda: _journals()[:1], _restore_copy, RefereeError),
    Parser("house sheet", lambda: [sheet.text().encode()], _house_sheet, (EngineError,)),
)
