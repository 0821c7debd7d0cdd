"""Converting settings to the values used by hardware, journal and rules."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import whole_files
from common.phrases import Phrase
from engine.api import Game
from engine.errors import OptionError, UnreadableError
from engine.options import read_options
from engine.values import OptionValue
from hardware.pin_map import GpioPinMap
from referee.clocks import FlagRule, TimeControl, read_control
from referee.judge.starts import EITHER, STARTS_OPTION
from referee.record.events import EvidenceLimits

if TYPE_CHECKING:
    from app.settings.settings import (
        BoardSection,
        ClockSection,
        JournalSection,
        LightSection,
        OpponentSection,
        Settings,
    )
    from firmware_bridge.ports.selection import WantedBoard
    from hardware import factory
    from hardware.switches import SwitchPins
    from referee.hints.opponent import OpponentSettings


def opponent_settings(opponent: OpponentSection) -> OpponentSettings | None:
    """Return the side and strength of the program as an opponent, ``None`` without one."""
    from referee.hints.opponent import OpponentSettings

    if opponent.player is None:
        return None
    return OpponentSettings(opponent.player, opponent.strength, opponent.seconds)


def time_control(clock: ClockSection) -> TimeControl | None:
    """Return the time control of a new game; raises ClockError."""
    return read_control(clock.time, flag=FlagRule(clock.flag), waits=clock.waits)


def pins(lights: LightSection, known_places: Sequence[str] = ()) -> GpioPinMap:
    """Return the validated pin map; ``known_places`` are the game's. Raises PinError that lists every problem."""
    return GpioPinMap.from_names(
        places=lights.place_pins,
        columns=lights.column_pins,
        rows=lights.row_pins,
        status_red=lights.status_red_pin,
        status_green=lights.status_green_pin,
        status_blue=lights.status_blue_pin,
        buzzer=lights.buzzer_pin,
        buttons={role: pin for role, pin in lights.button_pins.items()},  # noqa: C416 - widens the keys' type
        known_places=known_places,
    )


def sensor_pins(settings: Settings) -> SwitchPins:
    """Return the validated pins of switches on the Pi itself; raises PinError that lists every problem."""
    from hardware.switches import switch_pins

    sensors = settings.sensors
    return switch_pins(
        rows=sensors.row_pins,
        columns=sensors.column_pins,
        singles=sensors.switch_pins,
        diodes=sensors.diodes,
        taken=pins(settings.lights).uses,
    )


def light_settings(lights: LightSection, known_places: Sequence[str] = ()) -> factory.DriverSettings:
    """Return the settings of the terminal's and the Pi's own light drivers; raises PinError."""
    from hardware.factory import DRIVER_NAMES, DriverSettings
    from hardware.lights.gpio import BuzzerKind

    return DriverSettings(
        drivers=tuple(name for name in lights.drivers if name in DRIVER_NAMES),
        pins=pins(lights, known_places),
        active_high=lights.active_high,
        buzzer_kind=BuzzerKind(lights.buzzer),
        bell=lights.bell,
    )


def wanted_board(board: BoardSection) -> WantedBoard:
    """Return the board and port that the settings name."""
    from app.settings.settings import AUTO_PORT
    from firmware_bridge.ports.selection import WantedBoard

    return WantedBoard(
        port=None if board.port == AUTO_PORT else board.port,
        vendor_id=board.vendor_id,
        product_id=board.product_id,
        serial_number=board.serial_number,
        baud=board.baud,
    )


def is_address(text: str) -> bool:
    """Whether a text is an address that a server can listen at, such as ``0.0.0.0``."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def evidence_limits(journal: JournalSection) -> EvidenceLimits:
    """Return the maximum size of a journal's pictures."""
    from app.settings.settings import KIB, MIB

    return EvidenceLimits(
        picture_bytes=journal.evidence_picture_kib * KIB, total_bytes=journal.evidence_total_mib * MIB
    )


def sheet_path(game: Game[Any, Any], given: Mapping[str, OptionValue], folder: Path | None = None) -> Path | None:
    """Return the file that an option names for a game's sheet, ``None`` without one.

    A value is a file name when it ends with ``.toml`` or such a file exists; it is relative to ``folder``, or else to
    the working folder.
    """
    sheet = game.sheet_file
    if sheet is None or sheet.option not in given:
        return None
    value = str(given[sheet.option]).strip()
    if "\0" in value:
        return None
    path = (folder or Path()) / os.path.expanduser(value)  # noqa: PTH111 - accepts any text
    # Unlike Path.is_file, this accepts a sheet's own text, which may be longer than any file name.
    return path if value.lower().endswith(".toml") or os.path.isfile(path) else None  # noqa: PTH113


def with_sheet_file(
    game: Game[Any, Any], given: Mapping[str, OptionValue], folder: Path | None = None
) -> dict[str, OptionValue]:
    """Return the options with a sheet's content in place of the file name that stands for it.

    The name is relative to ``folder``, or else to the working folder. Raises OptionError for an invalid file, OSError
    for one that cannot be read.
    """
    options, sheet, path = dict(given), game.sheet_file, sheet_path(game, given, folder)
    if sheet is not None and path is not None:
        try:
            options.update(sheet.read(read_text(path)))
        except UnreadableError as error:
            raise OptionError(
                Phrase("option {option} is the file {file}, which has faults:\n{faults}", sheet.option, path, error)
            ) from error
    return options


def read_text(path: Path) -> str:
    """Read a file's text; raises OSError, and UnreadableError when it is not UTF-8."""
    try:
        return whole_files.read_text(path, most_bytes=whole_files.MOST_SETTINGS_BYTES)
    except UnicodeDecodeError as error:
        raise UnreadableError(Phrase("{file} is not UTF-8 text", path)) from error


def table_options(game: Game[Any, Any], given: Mapping[str, OptionValue]) -> dict[str, OptionValue]:
    """Parse the options given for a game at a table: the game's own, and ``starts=either`` where there is a choice.

    With ``either`` the first turn decides who starts. Only what was given is returned. Raises OptionError.
    """
    rules = with_sheet_file(game, given)
    is_open = STARTS_OPTION in rules and str(rules[STARTS_OPTION]).strip().lower() == EITHER
    if is_open and any(option.name == STARTS_OPTION for option in game.options):
        del rules[STARTS_OPTION]
    values = read_options(game.options, rules)
    read = {name: values[name] for name in rules}
    try:
        game.rules.new(read)
    except ValueError as error:
        raise OptionError(str(error)) from error
    return {name: read.get(name, EITHER) for name in given}
