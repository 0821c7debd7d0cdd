"""The table that is being set up, and what a step of that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from common.findings import Finding, Severity, worst
from engine.api import Game
from engine.values import OptionValue
from referee.errors import ConfigError
from referee.judge.belief import Belief
from referee.session.ports import Reader
from referee.settings.sections import Settings
from referee.settings.table_layout import layout_for_camera, with_rules
from referee.web.setting_up.port import Sight, Way
from vision.calibration import load_calibration
from vision.frame import Frame
from vision.geometry import CameraModel
from vision.layout.table import TableLayout

FIRST_CAMERA = "0"
PICTURES_FOLDER = "calibration"
"""Where the pictures go that a camera is calibrated with one by one."""

Look = Callable[[str, int, float], Sequence[Frame]]
"""Takes pictures: of which camera, how many, how many seconds apart. Raises CameraError."""

MakeMap = Callable[[Settings, Path], bool]
"""Goes through lights or switches with a person and writes which is under which square; whether any was found."""


def _nobody_maps(settings: Settings, path: Path) -> bool:
    del settings
    raise ConfigError(f"here nobody can be asked which is where; make {path.name} at a terminal")


@dataclass
class NewTable:
    """The table that is being set up: its game, a folder for the files, the camera, and what was found so far.

    ``values`` are settings by ``section.key``, as the settings file holds them, with paths relative to the folder.
    ``belief`` is there once the set-up was seen, ``pictures`` once one was taken to calibrate the camera with.
    """

    game: Game[Any, Any]
    folder: Path
    look: Look
    today: date
    paper: str = "a4"
    values: dict[str, Any] = field(default_factory=dict)
    belief: Belief[Any, Any] | None = None
    reader: Reader | None = None
    pictures: object = None
    make_light_map: MakeMap = _nobody_maps
    make_sensor_map: MakeMap = _nobody_maps

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """The rules that were chosen."""
        chosen: Mapping[str, OptionValue] = self.values.get("game.options", {})
        return chosen

    @property
    def has_board(self) -> bool:
        """Whether the game has a board with pieces; otherwise it is written on sheets."""
        return self.game.printed_sheet is None

    @property
    def camera(self) -> CameraModel:
        """The calibrated camera; raises CalibrationError."""
        return load_calibration(self.folder / str(self.values.get("camera.calibration", "camera.json")))

    @property
    def layout(self) -> TableLayout:
        """The measured table; raises LayoutError."""
        own = self.values.get("table.layout")
        layout = layout_for_camera(self.game.name, None if own is None else self.folder / own)
        return with_rules(layout, self.game, self.options)

    @property
    def usual_layout(self) -> TableLayout:
        """The table as the game's own layout has it, before anything is measured."""
        return with_rules(layout_for_camera(self.game.name, None), self.game, self.options)

    @property
    def source(self) -> str:
        """The camera that is looked through; the first one until another is chosen."""
        return str(self.values.get("camera.source", FIRST_CAMERA))

    def picture(self) -> Frame:
        """Take one picture; raises CameraError."""
        return self.look(self.source, 1, 0.0)[0]


@dataclass(frozen=True)
class Outcome:
    """What a check found, and the settings it gives."""

    findings: tuple[Finding, ...]
    values: Mapping[str, object] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether nothing is missing."""
        return worst(self.findings) is not Severity.FAULT


Watch = Callable[[NewTable, Frame], Sight]
"""Says what a picture shows of a step, and draws it, before anything is answered."""


def _is_needed(table: NewTable) -> str:
    del table
    return ""


def _by_its_question(table: NewTable) -> tuple[Way, ...]:
    del table
    return ()


def _no_files(table: NewTable) -> tuple[str, ...]:
    del table
    return ()


@dataclass(frozen=True)
class Step:
    """One step. ``prepare`` says what to do, and may write files for it; ``question`` is asked before the check.

    ``ways`` are those to answer it on the page; each gives such an answer as is typed. ``live`` says that the check
    looks through the camera and may be repeated until nothing is missing; ``watch`` tells and draws what the newest
    picture shows. ``after`` names the step that has to be done in the same sitting. ``unneeded`` says why this table
    needs no such step. ``files`` are those to print. ``collect`` takes a picture; ``takes_photo`` says that the answer
    may be a picture's file.
    """

    name: str
    title: str
    prepare: Callable[[NewTable], tuple[str, ...]]
    question: str
    check: Callable[[NewTable, str], Outcome]
    default: str = ""
    live: bool = False
    after: str = ""
    unneeded: Callable[[NewTable], str] = _is_needed
    ways: Callable[[NewTable], tuple[Way, ...]] = _by_its_question
    watch: Watch | None = None
    files: Callable[[NewTable], tuple[str, ...]] = _no_files
    collect: Callable[[NewTable, Frame, bool], Finding] | None = None
    takes_photo: bool = False
