"""The table that is being set up, the definition of a set-up step, and what the page shows of it."""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from app.settings.conversions import with_sheet_file
from app.settings.settings import Settings
from app.settings.sources import absolute_source, expanded
from app.settings.table_layout import is_kit, layout_for_camera, with_rules
from common.durable import write_durably
from common.findings import Finding, Severity, worst
from engine.api import Game
from engine.values import OptionValue
from referee.errors import ConfigError
from referee.judge.belief import Belief
from referee.session.ports import Reader
from vision.calibration import load_calibration
from vision.cameras import has_password
from vision.frame import Frame, Image
from vision.geometry import CameraModel
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras

Point = tuple[float, float]
"""A point in a picture, in pixels: x to the right, y down."""


class FieldKind(enum.Enum):
    """The kind of input a field takes: a text, a password, a number, a length in mm, or numbers of pins."""

    TEXT = enum.auto()
    PASSWORD = enum.auto()
    NUMBER = enum.auto()
    LENGTH = enum.auto()
    PINS = enum.auto()


@dataclass(frozen=True)
class Field:
    """One input field of an answer: its label and its initial value.

    An ``is_optional`` field may stay empty. ``setting`` is the name under which the value goes into the answer;
    ``hint`` says how to find the value. ``least`` is the smallest plausible length in mm: what is a tenth of a
    plausible one was measured in centimetres.
    """

    label: str
    kind: FieldKind = FieldKind.TEXT
    value: str = ""
    is_optional: bool = False
    setting: str = ""
    hint: str = ""
    least: float = 0.0


@dataclass(frozen=True)
class AnswerForm:
    """One way to answer a step, and what the page asks for then.

    The answer sent is ``answer``, then the values of the fields, then that of one of the forms in ``then``, separated
    by spaces. ``corners`` returns named points to drag over the picture, from a new one; they come last, as ``x,y``.

    ``button`` chooses it and ``words`` explain it. ``asks`` is the question to which the forms in ``then`` are answers;
    ``told`` comes before it. ``camera`` is the source of the picture to choose it by. ``is_rare``: it is folded away.
    """

    button: str
    fields: tuple[Field, ...] = ()
    corners: Callable[[], tuple[tuple[str, Point], ...]] | None = None
    answer: str = ""
    words: str = ""
    asks: str = ""
    told: tuple[str, ...] = ()
    then: tuple["AnswerForm", ...] = ()
    camera: str = ""
    is_rare: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether choosing it is the whole answer."""
        return not (self.fields or self.corners or self.then)


class StepState(enum.Enum):
    """Whether a step is done, left out, current, or still ahead."""

    DONE = enum.auto()
    SKIPPED = enum.auto()
    NOW = enum.auto()
    AHEAD = enum.auto()


@dataclass(frozen=True)
class Dialogue:
    """Messages and a question during a long operation, such as finding each light.

    ``question`` is empty if there is none; an answer names its ``number``.
    """

    lines: tuple[str, ...] = ()
    question: str = ""
    number: str = ""


@dataclass(frozen=True, eq=False)
class Inspection:
    """The newest picture with detections drawn over it, and its findings for the step.

    If ``picture`` is ``None``, the findings say why. ``grid`` is drawn over the picture by the page: lines of points,
    and names at points.
    """

    findings: tuple[Finding, ...] = ()
    picture: Image | None = None
    grid: tuple[tuple[Point, ...], ...] = ()
    names: tuple[tuple[str, Point], ...] = ()


FIRST_CAMERA = "0"

Look = Callable[[str], Frame]
"""Takes a picture with a camera. Raises CameraError."""

MakeMap = Callable[[Settings, Path], bool]
"""Maps lights or switches to squares with a person's help and writes the file; returns whether any was found."""


@dataclass(frozen=True)
class FoundCamera:
    """A camera that is plugged in: its source, and its name for people."""

    source: str
    name: str


def _refuse_mapping(settings: Settings, path: Path) -> bool:
    del settings
    raise ConfigError("here nobody can be asked which is where; make {name} at a terminal", path.name)


ADDRESS_FILE = "camera-address"
"""The file in the table's folder with the address of a network camera, if that holds a password."""


def with_hidden_password(source: str, folder: Path) -> str:
    """Return a camera that may be shown and be written into settings; raises OSError.

    An address with a password goes into a file that only its owner may read, and ``address:FILE`` is returned.
    """
    if not has_password(source):
        return source
    write_durably(folder / ADDRESS_FILE, f"{source.strip()}\n", private=True)
    return f"address:{ADDRESS_FILE}"


@dataclass
class TableSetup:
    """The table that is being set up: its game, its folder, the camera, and the results so far.

    ``values`` are settings by ``section.key``, as in the settings file, with paths relative to the folder; the game
    is always among them. ``found_cameras`` are plugged in. ``belief`` is set once the start position was seen.
    """

    game: Game[Any, Any]
    folder: Path
    look: Look
    today: date
    paper: str = "a4"
    values: dict[str, Any] = field(default_factory=dict)
    belief: Belief[Any, Any] | None = None
    reader: Reader | None = None
    found_cameras: Sequence[FoundCamera] = ()
    make_light_map: MakeMap = _refuse_mapping
    make_sensor_map: MakeMap = _refuse_mapping

    def __post_init__(self) -> None:
        """Name the game in the settings, whichever steps are skipped."""
        self.values = {**self.values, "game.name": self.game.name}

    @property
    def chosen_options(self) -> Mapping[str, OptionValue]:
        """The rule options as in the settings, where a sheet is given by its file's name."""
        chosen: Mapping[str, OptionValue] = self.values.get("game.options", {})
        return chosen

    @property
    def options(self) -> Mapping[str, OptionValue]:
        """The rule options, with the content of a sheet's file; raises OptionError and OSError for a bad one."""
        return with_sheet_file(self.game, self.chosen_options, self.folder)

    @property
    def has_board(self) -> bool:
        """Whether the game has a board with pieces. If not, it is played on paper sheets."""
        return not self.game.has_sheets

    def cameras(self, layout: TableLayout) -> LearnedCameras:
        """Return what gives the camera of a picture of a table: the calibrated one, or as the picture shows it.

        Raises CalibrationError and ConfigError for a calibration that can't be used.
        """
        return LearnedCameras(layout, fixed=self.calibrated)

    @property
    def calibrated(self) -> CameraModel | None:
        """The calibrated camera, if there is a calibration; raises CalibrationError and ConfigError."""
        path = self.values.get("camera.calibration")
        return None if path is None else load_calibration(self.file(str(path)))

    @property
    def layout(self) -> TableLayout:
        """The measured table; raises LayoutError and ConfigError."""
        own = self.values.get("table.layout")
        return self.layout_from(None if own is None else self.file(own))

    @property
    def uses_kit(self) -> bool:
        """Whether the game is the paper kit."""
        own = self.values.get("table.layout")
        return own is not None and is_kit(self.file(own))

    @property
    def usual_layout(self) -> TableLayout:
        """The game's own layout, used before the table is measured."""
        return with_rules(layout_for_camera(self.game.name, None), self.game, self.options)

    @property
    def source(self) -> str:
        """The camera in use; the first one until another is chosen. Raises ConfigError for an impossible file."""
        return absolute_source(str(self.values.get("camera.source", FIRST_CAMERA)), self.folder)

    @property
    def picture_px(self) -> tuple[int, int]:
        """The camera's width and height in pixels; (0, 0) while they are unknown."""
        return self.values.get("camera.width_px", 0), self.values.get("camera.height_px", 0)

    def file(self, name: str) -> Path:
        """Return the path of a file that an answer or the settings name; raises ConfigError."""
        return self.folder / expanded(name)

    def layout_from(self, path: Path | None, markers: str | None = None) -> TableLayout:
        """Return the table as a layout file has it, or the game's own without one; raises LayoutError.

        ``markers`` takes the place of the setting ``table.markers``.
        """
        markers = markers or str(self.values.get("table.markers", "layout"))
        layout = layout_for_camera(self.game.name, path, markers)
        return with_rules(layout, self.game, self.options)

    def picture(self) -> Frame:
        """Take one picture; raises CameraError."""
        return self.look(self.source)


@dataclass(frozen=True)
class StepResult:
    """The findings of a check, and the settings that result from it; ``None`` removes one.

    ``again`` names an earlier step that has to be done again.
    """

    findings: tuple[Finding, ...]
    values: Mapping[str, object] = field(default_factory=dict)
    again: str = ""

    @property
    def is_done(self) -> bool:
        """Whether the check found no fault."""
        return worst(self.findings) is not Severity.FAULT


Watch = Callable[[TableSetup, Frame], Inspection]
"""Describes and draws what a picture shows, before the step is answered."""


@dataclass(frozen=True)
class SetupStep:
    """One step: ``asks`` is its question, after what it has ``told``; ``forms`` are the ways to answer it.

    ``check`` takes the text that a form's answers make. ``prepare`` writes the ``files`` to print, each with its title.
    ``watch`` describes and draws the newest picture. ``after`` names a step that must be done in the same run.
    ``needs`` are the steps whose results this one uses: if one of them is done again, so is this. ``reviews`` names
    the step whose result a person looks at here; it is left out with it. ``unneeded`` returns the reason if this table
    doesn't need the step. ``takes_photo``: the answer may be a picture file. ``shows_game``: the page draws how the
    game is set up.
    """

    name: str
    title: str
    asks: str
    forms: Callable[[TableSetup], tuple[AnswerForm, ...]]
    check: Callable[[TableSetup, str], StepResult]
    told: Callable[[TableSetup], tuple[str, ...]] = lambda _: ()
    prepare: Callable[[TableSetup], object] = lambda _: None
    files: Callable[[TableSetup], tuple[tuple[str, str], ...]] = lambda _: ()
    watch: Watch | None = None
    after: str = ""
    needs: tuple[str, ...] = ()
    reviews: str = ""
    unneeded: Callable[[TableSetup], str] = lambda _: ""
    takes_photo: bool = False
    shows_game: bool = False
