"""The list of set-up steps, a run through them, and its saved progress.

Each step has instructions, a question, and a check that yields findings and settings. Files go into the table's folder;
pictures come from its ``look``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.settings.configuration import load, written
from app.settings.sources import FILE_NAME, absolute_source, read_file
from app.settings.table_layout import kit_for
from app.setup.measuring import GRID_STEP, SEEN_FILE, TABLE_STEP, watch_table
from app.setup.picture_checks import draw_markers, hindrance_name, marker_findings, picture_findings
from app.setup.printing import KIT_STEP, PRINT_STEP
from app.setup.table_setup import (
    AnswerForm,
    Field,
    FieldKind,
    Inspection,
    SetupStep,
    StepResult,
    TableSetup,
    with_hidden_password,
)
from app.setup.wiring_steps import WIRING_STEPS
from common.durable import write_durably
from common.findings import Finding
from common.json_files import read_json_object
from common.phrases import Phrase, joined, plain_reason
from engine.api import Game
from engine.errors import EngineError
from engine.options import read_options
from engine.support.chance import format_roll
from engine.values import OptionValue
from firmware_bridge.errors import BridgeError
from hardware.errors import HardwareError
from referee.errors import ConfigError
from referee.judge.belief import Belief
from referee.judge.explorer import JudgeContext
from referee.judge.judge import judge
from referee.judge.set_up import begin
from referee.judge.settings import Trigger
from referee.judge.starts import STARTS_OPTION, usual_appearance
from referee.judge.verdict import VerdictKind
from referee.session.ports import Reader
from vision.cameras import shown_source
from vision.cameras.phone import SPEC
from vision.errors import NotLocatedError, VisionError
from vision.frame import Frame
from vision.images import load_image
from vision.layout.pieces import PyramidPieces
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.locating.markers import SharedPicture
from vision.readers.learning_reader import LearningReader
from vision.readers.protocols import EnrolmentPicture, LearnedLook
from vision.readers.registry import reader_kind, table_reader
from vision.reading import HindranceKind, Reading

LOOKS_FILE = "looks.json"
CLEAR = "clear"
"""The name of a colourless pyramid in a stack."""
LETTERS = {"black": "K"}
"""Colours whose letter in a stack's text isn't their initial."""


def steps_of(game: Game[Any, Any], *, tonight: bool = False) -> tuple[SetupStep, ...]:
    """Return the steps for a game, in order; ``tonight``, only those without which no game can begin."""
    without = {"switches", "switch-map"} if game.has_sheets else {"players"}
    return tuple(step for step in (_TONIGHT if tonight else _STEPS) if step.name not in without)


def outcome_of(step: SetupStep, table: TableSetup, answer: str) -> StepResult:
    """Check a step without storing its settings. An expected error becomes a finding."""
    try:
        return step.check(table, answer.strip())
    except FAULTS as error:
        return StepResult((fault_of(step, error),))


def take_settings(table: TableSetup, outcome: StepResult) -> None:
    """Store the settings of a step that is done in the table."""
    if outcome.is_done:
        table.values = {key: value for key, value in {**table.values, **outcome.values}.items() if value is not None}


FAULTS = (VisionError, EngineError, ConfigError, HardwareError, BridgeError, OSError)
"""The errors that a table can cause; any other error is a bug."""


def fault_of(step: SetupStep, error: Exception) -> Finding:
    """Convert an error to a finding; a translatable message stays translatable."""
    said = error.args[0] if error.args and isinstance(error.args[0], Phrase) else str(error)
    return Finding.fault(step.title, said)


def _placing(table: TableSetup) -> tuple[str, ...]:
    tilts_deg = kit_for(table.game, table.options).tilts_deg if table.uses_kit else None
    least, most = tilts_deg or (0, 45)
    return (
        Phrase("Put the camera 60 to 90 cm above the table, for example on a shelf or a stack of books beside it."),
        Phrase("Let it look down, {least}° to {most}° from straight down.", least=least, most=most),
        Phrase("Switch a webcam's autofocus off."),
        Phrase("Light the table from the side."),
    )


def _check_camera(table: TableSetup, source: str) -> StepResult:
    source = with_hidden_password(source, table.folder)
    frame = table.look(absolute_source(source, table.folder))
    height, width = frame.image.shape[:2]
    given = {"camera.source": source, "camera.width_px": width, "camera.height_px": height}
    return StepResult(tuple(picture_findings(frame)), given)


_ADDRESS_FIELDS = (
    Field(Phrase("Its address, such as http://192.168.1.7:8080/video")),
    Field(Phrase("Its user, if it has one"), is_optional=True),
    Field(Phrase("Its password"), FieldKind.PASSWORD, is_optional=True),
)


def _camera_forms(table: TableSetup) -> tuple[AnswerForm, ...]:
    """Offer each camera by its picture, and any other by its name; then its picture is looked at."""
    good = (AnswerForm(Phrase("Yes, use this camera")),)
    asks = Phrase("Is the whole table in the picture?")
    words = {SPEC: Phrase("This phone or another one: it films, or takes a photo after each turn.")}
    named = {each.source: each.name for each in table.found_cameras}
    if "camera.source" in table.values:
        used = table.source
        name = Phrase("Camera {number}", number=used) if used.isdigit() else Phrase("the camera in use")
        named.setdefault(used, name)
    other = Field(
        Phrase("The camera, such as 0 or pi, or pictures, such as folder:pictures"),
        value=str(table.values.get("camera.source", "")),
    )
    return (
        # First, so that their numbers stay while others come and go.
        AnswerForm(Phrase("Another camera"), (other,), asks=asks, then=good, is_rare=True),
        AnswerForm(Phrase("A camera in the network"), _ADDRESS_FIELDS, asks=asks, then=good, is_rare=True),
        *(
            AnswerForm(name, answer=source, words=words.get(source, ""), camera=source, asks=asks, then=good)
            for source, name in named.items()
        ),
    )


def _watch_camera(table: TableSetup, frame: Frame) -> Inspection:
    layout = table.layout if table.uses_kit else table.usual_layout
    return Inspection((*picture_findings(frame), *marker_findings(frame, layout)), draw_markers(frame, layout))


def _players_text(table: TableSetup) -> tuple[str, ...]:
    return (Phrase("{game} has a sheet for each player.", game=table.game.title),)


def _check_players(table: TableSetup, answer: str) -> StepResult:
    game, subject = table.game, Phrase("players")
    counts = next(each.choices for each in game.options if each.name == "players")
    if answer not in map(str, counts):
        message = Phrase("{game} is for {least} to {most} players", game=game.title, least=counts[0], most=counts[-1])
        return StepResult((Finding.fault(subject, message),))
    players = read_options(game.options, {**table.options, "players": answer})["players"]
    return StepResult(
        (Finding.ok(subject, str(players)),), {"game.options": {**table.chosen_options, "players": players}}
    )


def _player_forms(table: TableSetup) -> tuple[AnswerForm, ...]:
    players = str(table.chosen_options.get("players", 2))
    most = Field(Phrase("How many play?"), FieldKind.NUMBER, players)
    return (AnswerForm(Phrase("Next"), (most,)),)


def _set_up(table: TableSetup) -> tuple[str, ...]:
    if table.has_board:
        return (
            Phrase("Set the game up by its rules, with the first player's pieces on the near side."),
            Phrase("Then take your hands away."),
        )
    return (Phrase("Leave the sheets empty, and take your hands and pens away."),)


def _check_set_up(table: TableSetup, answer: str) -> StepResult:
    game, layout, frame = table.game, table.layout, _picture_for(table, answer)
    learned: list[LearnedLook] = []
    reader = _learning_reader(table, layout, frame, learned) if table.has_board else _plain_reader(table)
    reading = reader.read(frame)
    options = {**table.options, **start_options(game)}
    belief, ruling = begin(JudgeContext(game), Belief(), [reading], options, trigger=Trigger.DECLARED)
    verdict = ruling.verdict
    if verdict.kind is not VerdictKind.SET_UP:
        return StepResult((*_hindrances(table, reading), Finding.fault(_SET_UP, verdict.sentence)))
    remarks: list[str] = []
    for looks in learned[-1:]:
        reader_kind(layout).save(looks, table.folder / LOOKS_FILE)
        remarks += reader_kind(layout).remarks(looks, layout.board)
    table.belief, table.reader = belief, reader if table.has_board else None
    return StepResult(
        (Finding.ok(_SET_UP, verdict.sentence), *(Finding.note(_SET_UP, note) for note in (*ruling.notes, *remarks))),
        {"table.looks": LOOKS_FILE} if table.has_board else {},
    )


def _picture_for(table: TableSetup, answer: str) -> Frame:
    """Return the picture from the named file, or one from the camera."""
    return Frame(load_image(table.file(answer)), 0.0, 0, answer) if answer else table.picture()


def start_options(game: Game[Any, Any]) -> Mapping[str, OptionValue]:
    """Return options that let the first player begin, so that the test turn needs no dice."""
    by_roll = [each for each in game.options if each.name == STARTS_OPTION and each.default not in game.players]
    return {STARTS_OPTION: game.players[0]} if by_roll else {}


def _learning_reader(table: TableSetup, layout: TableLayout, frame: Frame, learned: list[LearnedLook]) -> Reader:
    """Return a reader that learns the pieces from the start position and appends their looks to ``learned``.

    Stacks are enrolled, because the start position determines their hidden pieces. Raises EnrolmentError and
    NotLocatedError.
    """
    game, cameras, kind = table.game, table.cameras(layout), reader_kind(layout)
    if not isinstance(layout.board.pieces, PyramidPieces):
        return LearningReader(cameras, layout, usual_appearance(game, table.options), learned.append)
    colours = {CLEAR, *(look.split()[0] for look in game.looks if " " in look)}
    names = {LETTERS.get(name, name[0].upper()): name for name in colours}
    squares = game.squares(game.rules.new({**table.options, **start_options(game)}))
    stacks = {
        place: " ".join(f"{size}:{names[part[0]]}" for part in stack.split("+") for size in part[1:])
        for place, stack in squares.items()
        if stack
    }
    position = kind.positions(", ".join(f"{place}={stack}" for place, stack in stacks.items()), layout.board)
    camera = cameras.camera_for(SharedPicture(frame.image), frame.time_s)
    if camera is None:
        raise NotLocatedError(cameras.why_unknown)
    pose = locate(frame.image, camera, layout).pose
    picture = EnrolmentPicture(frame.image, camera, pose, position, Phrase("the set-up"), layout.markers)
    looks = kind.enrol([picture], layout.board)
    learned.append(looks)
    return table_reader(cameras, layout, looks)


def _plain_reader(table: TableSetup) -> Reader:
    """Return a reader of sheets, which needs no looks."""
    return table_reader(table.cameras(table.layout), table.layout, None)


def _hindrances(table: TableSetup, reading: Reading) -> tuple[Finding, ...]:
    remedies = {
        HindranceKind.HAND: Phrase("take your hands away from the board"),
        HindranceKind.OBJECT: Phrase("if nothing lies there, press the paper flat")
        if table.uses_kit
        else Phrase(
            "if nothing lies there, compare {file} with the board and measure the table again, above all its height",
            file=SEEN_FILE,
        ),
    }
    return tuple(
        Finding.fault(hindrance_name(each.kind), each.message, remedies.get(each.kind, ""))
        for each in reading.hindrances
    )


def _turn_forms(table: TableSetup) -> tuple[AnswerForm, ...]:
    played = Phrase("The turn is played")
    if not _awaits_roll(table):
        return (AnswerForm(played),)
    what = Phrase("Which tiles were drawn?") if _draws_tiles(table) else Phrase("What was rolled?")
    faces = Field(what, hint=Phrase("All faces with commas, such as {faces}.", faces=_some_faces(table)))
    return (AnswerForm(played, then=(AnswerForm(Phrase("Check the turn"), (faces,)),)),)


def _told_of_turn(table: TableSetup) -> tuple[str, ...]:
    first = Phrase("Play one turn by the rules.")
    if _awaits_roll(table):
        first = Phrase("Roll the dice and play one turn with them.")
        if _draws_tiles(table):
            first = Phrase("Draw the tiles and play the first turn.")
    return first, Phrase("Then take your hands away.")


_SET_UP_FORMS = (AnswerForm(Phrase("It is set up")),)


def _awaits_roll(table: TableSetup) -> bool:
    return table.belief is not None and table.game.awaits_roll(table.belief.states[0])


def _draws_tiles(table: TableSetup) -> bool:
    return table.belief is not None and bool(table.game.to_draw(table.belief.states[0]))


def _some_faces(table: TableSetup) -> str:
    """Return an example of the roll that is awaited."""
    assert table.belief is not None
    assert table.game.dice is not None
    return format_roll(table.game.dice.possible_rolls(table.belief.states[0])[0].roll)


def _check_turn(table: TableSetup, answer: str) -> StepResult:
    game, belief = table.game, table.belief
    if belief is None:
        raise ConfigError(Phrase("the set-up has to be seen first; go back to that step"))
    if _awaits_roll(table):
        if not answer:
            remedy = Phrase("type all faces, such as {faces}", faces=_some_faces(table))
            return StepResult((Finding.fault(_TURN, Phrase("the roll is missing"), remedy),))
        dice = game.dice_for(answer)
        states = tuple(dice.rolled(state, dice.parse_roll(state, answer)) for state in belief.states)
        belief = replace(belief, states=states, states_ignoring_sides=states)
    reading = (table.reader or _plain_reader(table)).read(table.picture())
    if any(each.kind is HindranceKind.HAND for each in reading.hindrances):
        return StepResult(_hindrances(table, reading))
    _, ruling = judge(JudgeContext(game), belief, [reading], Trigger.DECLARED)
    last = ruling.verdicts[-1]
    if len(ruling.steps) > 1:
        message = Phrase("two turns were played: {turns}", turns=last.sentence)
        return StepResult((Finding.fault(_TURN, message, Phrase("take the second one back, for this test")),))
    if not ruling.steps and not last.candidates:
        return StepResult((*_hindrances(table, reading), Finding.fault(_TURN, last.sentence)))
    # Several turns may look alike from above. The view is fine all the same; in a game, the referee asks.
    return StepResult((Finding.ok(_TURN, last.sentence),))


_SET_UP, _TURN = Phrase("set-up"), Phrase("turn")
_PLAYERS_STEP = SetupStep(
    "players", Phrase("The players"), Phrase("How many play?"), _player_forms, _check_players, told=_players_text
)
_CAMERA_STEP = SetupStep(
    "camera",
    Phrase("The camera"),
    Phrase("Which camera looks at the table?"),
    _camera_forms,
    _check_camera,
    told=_placing,
    watch=_watch_camera,
)
_TONIGHT = (KIT_STEP, _PLAYERS_STEP, PRINT_STEP, _CAMERA_STEP, TABLE_STEP, GRID_STEP)
_STEPS = (
    *_TONIGHT,
    *WIRING_STEPS,
    SetupStep(
        "pieces",
        Phrase("The set-up"),
        Phrase("Set up the game"),
        lambda _: _SET_UP_FORMS,
        _check_set_up,
        told=_set_up,
        watch=watch_table,
        takes_photo=True,
        needs=("table",),
        shows_game=True,
    ),
    SetupStep(
        "turn",
        Phrase("A test turn"),
        Phrase("Play a test turn"),
        _turn_forms,
        _check_turn,
        told=_told_of_turn,
        watch=watch_table,
        after="pieces",
        needs=("pieces",),
    ),
)


PROGRESS_FILE = "setup.json"
_DELETE = Phrase("delete it, and the steps start again")
_CORRECT = Phrase("correct it, or begin the steps again by --new")


@dataclass
class Progress:
    """The progress so far: the game, the names of the steps done, and the settings by ``section.key``.

    ``skipped`` are those of the steps done that a person left out.
    """

    folder: Path
    game: str
    done: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    @classmethod
    def load(cls, folder: Path, game: str | None) -> Progress | None:
        """Load the progress from a folder; ``None`` if there is none, or only for a game other than ``game`` or than
        the one that the settings name.

        The settings include those that the owner added to the file. Raises ConfigError if a file can't be read.
        """
        if not (folder / PROGRESS_FILE).is_file():
            return None
        file = folder / PROGRESS_FILE
        try:
            kept = read_json_object(file, "what setup kept", ConfigError)
        except ConfigError as error:
            raise ConfigError(joined((error.args[0], _DELETE), "; ")) from error
        if "game" not in kept or game not in (None, kept["game"]):
            return None
        done, skipped = (kept.get(key, []) for key in ("done", "skipped"))
        if not all(
            isinstance(names, list) and all(isinstance(name, str) for name in names) for names in (done, skipped)
        ):
            raise ConfigError(
                joined((Phrase("what setup kept {file} has no lists of steps", file=file), _DELETE), "; ")
            )
        values: dict[str, Any] = {}
        if (folder / FILE_NAME).is_file():
            try:
                sections, _ = read_file(folder / FILE_NAME)
            except ConfigError as error:
                raise ConfigError(joined((error.args[0], _CORRECT), "; ")) from error
            values = {
                f"{name}.{key}": value
                for name, keys in sections.items()
                if isinstance(keys, dict)
                for key, value in keys.items()
            }
        if values.get("game.name", kept["game"]) != kept["game"]:
            return None
        return cls(folder, str(kept["game"]), done, values, skipped)

    def has_done(self, steps: Sequence[SetupStep]) -> bool:
        """Return whether each of these steps was done or left out."""
        return {step.name for step in steps} <= {*self.done}

    def keep(self, values: Mapping[str, Any]) -> None:
        """Write both files; each survives a power cut undamaged."""
        self.values = dict(values)
        if self.values:
            source = str(self.values.get("camera.source", ""))
            # An address of which not all may be shown may hold a password.
            is_private = shown_source(source) != source
            write_durably(self.folder / FILE_NAME, written(self.values), private=is_private)
        kept = {"game": self.game, "done": self.done, "skipped": self.skipped}
        write_durably(self.folder / PROGRESS_FILE, json.dumps(kept) + "\n")


@dataclass(frozen=True)
class Ending:
    """Whether a table that was set up can be watched, and the environment variables that override its settings."""

    is_ready: bool
    overriding: tuple[str, ...]


@dataclass
class SetUpRun:
    """A table, its steps and their progress. Every step is saved as soon as it is done."""

    steps: Sequence[SetupStep]
    table: TableSetup
    kept: Progress

    @property
    def step(self) -> SetupStep | None:
        """The next step, even if it isn't needed; ``None`` at the end."""
        step = next((step for step in self.steps if step.name not in self.kept.done), None)
        if step is None or not step.after or self.table.belief is not None or step.after not in self.kept.done:
            return step
        # The required step was done in an earlier run, so it must be repeated.
        return next(before for before in self.steps if before.name == step.after)

    def number(self, step: SetupStep) -> int:
        """Return the step's number, counted from 1."""
        return self.steps.index(step) + 1

    @property
    def left_out(self) -> tuple[SetupStep, ...]:
        """The steps that a person left out although this table needs them."""
        return tuple(each for each in self.steps if each.name in self.kept.skipped and not each.unneeded(self.table))

    def answer(self, step: SetupStep, text: str) -> StepResult:
        """Check a step; its results are saved if the check passes."""
        return self.finish(step, outcome_of(step, self.table, text))

    def finish(self, step: SetupStep, outcome: StepResult) -> StepResult:
        """Take over and save a checked step if it passed; returns its outcome, or why it can't be saved."""
        try:
            if outcome.again:
                self.go(next(each for each in self.steps if each.name == outcome.again))
            elif outcome.is_done:
                take_settings(self.table, outcome)
                self._keep([*self.kept.done, step.name], [name for name in self.kept.skipped if name != step.name])
        except OSError as error:
            message = Phrase("this step can't be saved ({reason})", reason=plain_reason(error))
            return StepResult((Finding.fault(step.title, message),))
        return outcome

    def skip(self, step: SetupStep) -> None:
        """Leave out a step, and those that need what it finds; raises OSError if that can't be saved."""
        out = [step.name, *(each.name for each in self.steps if step.name in (each.after, each.reviews))]
        self._keep([*self.kept.done, *out], [*self.kept.skipped, *out])

    def _keep(self, done: Sequence[str], skipped: Sequence[str]) -> None:
        """Save the steps done and the settings; the steps count only once they are saved."""
        kept = replace(self.kept, done=list(dict.fromkeys(done)), skipped=list(dict.fromkeys(skipped)))
        kept.keep(self.table.values)
        self.kept = kept

    def back(self, step: SetupStep | None) -> None:
        """Go back to the needed step before this one, or before the end; raises OSError if that can't be saved."""
        earlier = self.steps if step is None else self.steps[: self.steps.index(step)]
        before = [each for each in earlier if not each.unneeded(self.table)]
        if before:
            self.go(before[-1])

    def go(self, step: SetupStep) -> None:
        """Do a step again, and those that use its results; raises OSError if that can't be saved."""
        again = {step.name}
        for each in self.steps:
            if again.intersection(each.needs):
                again.add(each.name)
        kept = self.kept
        self._keep(*([name for name in names if name not in again] for names in (kept.done, kept.skipped)))

    def ending(self, environment: Mapping[str, str]) -> Ending:
        """Return how the set-up ended for a person with these environment variables."""
        file, values = self.table.folder / FILE_NAME, self.table.values
        try:
            sources = load(file, environment=environment, folder=file.parent).sources
        except ConfigError:
            # The command itself says what is wrong.
            sources = {}
        overriding = sorted(
            f"${sources[name].detail}" for name in values if name in sources and sources[name].kind == "environment"
        )
        return Ending("camera.source" in values, tuple(overriding))
