"""The steps from a bare table to the first game, as a list: what to do, what is asked, and a check that says what is
missing or gives settings.

Terminal and page walk the same list. Files go into the table's folder, pictures come through its ``look``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

from common.durable import write_durably
from common.findings import Finding
from engine.api import Game, OptionValue, WritesSquares
from engine.errors import EngineError
from engine.options import read_options
from firmware_bridge.errors import BridgeError
from hardware.errors import HardwareError
from referee.errors import ConfigError
from referee.judge.belief import Belief
from referee.judge.explorer import STARTS_OPTION, JudgeContext, usual_appearance
from referee.judge.judge import begin, judge
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from referee.rendering.printed_board import plan_board
from referee.rendering.printed_sheets import Page, plan_charuco, plan_markers, write_pdf
from referee.rendering.score_sheets import plan_sheets
from referee.runtime.readers import LearningReader
from referee.session.ports import Reader
from referee.settings.table_layout import layout_for_camera, with_rules
from referee.setup.new_table import NewTable, Outcome, Step
from referee.setup.views import picture_findings, table_findings
from referee.setup.wiring_steps import WIRING_STEPS
from vision.calibration import calibrate, load_calibration, parse_board, save_calibration
from vision.cameras import image_paths
from vision.errors import VisionError
from vision.frame import Frame, Image
from vision.images import load_image
from vision.layout.pieces import PyramidPieces
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.protocols import EnrolmentPicture
from vision.readers.registry import reader_kind, table_reader
from vision.reading import Reading

CHARUCO = "charuco:7x5:30:22:DICT_5X5_100"
"""The calibration board that is printed: it fits on A4 and letter."""

RULER_MM = 100.0
RULER_OFF_MM = 0.5
"""How far off the printed ruler may be, in mm: a marker 175 mm from the middle is then off by less than 1 mm."""

CALIBRATION_PICTURES = 15
BETWEEN_PICTURES_S = 2.0
LOOKS_FILE = "looks.json"
CLEAR = "clear"
"""What a stack's pyramid without a colour is called."""
LETTERS = {"black": "K"}
"""Colours whose letter in a stack's text is not their first."""
PAPER_MM = 0.2
"""How thick the printed board is."""


def steps_of(game: Game[Any, Any]) -> tuple[Step, ...]:
    """Give the steps for a game, in order."""
    without = {"switches", "switch-map"} if game.printed_sheet is not None else {"players"}
    return tuple(step for step in _STEPS if step.name not in without)


def checked(step: Step, table: NewTable, answer: str) -> Outcome:
    """Check a step and keep what it gives; what can't be read or opened is something missing, too."""
    try:
        outcome = step.check(table, answer.strip() or step.default)
    except (VisionError, EngineError, ConfigError, HardwareError, BridgeError, OSError) as error:
        return Outcome((Finding.fault(step.name, str(error)),))
    if outcome.is_done:
        table.values |= {key: value for key, value in outcome.values.items() if value is not None}
    return outcome


def _place_camera(_: NewTable) -> tuple[str, ...]:
    return (
        "Mount the camera 60 to 90 cm above the table, tilted by 45° at most, and switch autofocus off.",
        "Light the table from the side.",
    )


def _check_camera(table: NewTable, source: str) -> Outcome:
    (frame,) = table.look(source, 1, 0.0)
    height, width = frame.image.shape[:2]
    given = {
        "game.name": table.game.name,
        "camera.source": source,
        "camera.width_px": width,
        "camera.height_px": height,
    }
    return Outcome(tuple(picture_findings(frame)), given)


def _about_players(table: NewTable) -> tuple[str, ...]:
    return (f"{table.game.title} has a sheet for each player.",)


def _check_players(table: NewTable, answer: str) -> Outcome:
    options = {**table.options, "players": answer}
    players = read_options(table.game.options, options)["players"]
    return Outcome((Finding.ok("players", f"{players} play"),), {"game.options": {**options, "players": players}})


def _print(table: NewTable) -> tuple[str, ...]:
    layout = with_rules(layout_for_camera(table.game.name, None), table.game, table.options)
    title = table.game.title
    pages: dict[str, tuple[Page, ...]] = {"calibration-board.pdf": (plan_charuco(parse_board(CHARUCO), table.paper),)}
    if table.game.printed_sheet is not None:
        printed = table.game.printed_sheet(read_options(table.game.options, table.options))
        pages["sheets.pdf"] = plan_sheets(title, printed, layout, table.paper)
        use = "sheets.pdf has a sheet for each player. Cut them out."
    else:
        pages["board.pdf"] = plan_board(layout, title, table.paper)
        pages["markers.pdf"] = plan_markers(layout.markers, table.paper)
        use = "Use board.pdf, a whole board with its markers, or your own board with the markers of markers.pdf."
    for name, planned in pages.items():
        write_pdf(planned, table.folder / name, title=f"{title}: {name.removesuffix('.pdf')}")
    return (
        f"Print these at 100 % (no fit to page), from {table.folder}: {', '.join(pages)}",
        use,
        "Glue the calibration board onto something flat and stiff.",
    )


def _check_print(_: NewTable, answer: str) -> Outcome:
    try:
        ruler_mm = float(answer.replace(",", ".").removesuffix("mm"))
    except ValueError:
        return Outcome((Finding.fault("ruler", f"{answer!r} is not a length", "type millimetres, such as 100"),))
    if ruler_mm <= 0 or abs(ruler_mm - RULER_MM) > RULER_OFF_MM:
        scale = f"{100 * RULER_MM / ruler_mm:.1f} %" if ruler_mm > 0 else "100 %"
        remedy = f"set the printer's scale to {scale} and print again"
        return Outcome((Finding.fault("ruler", f"{ruler_mm:g} mm long; it must be {RULER_MM:g} mm", remedy),))
    return Outcome((Finding.ok("ruler", f"{ruler_mm:g} mm: the prints are true to scale"),))


def _before_calibration(_: NewTable) -> tuple[str, ...]:
    return (
        f"Hold the calibration board in front of the camera: {CALIBRATION_PICTURES} pictures are taken, "
        f"{BETWEEN_PICTURES_S:g} seconds apart.",
        "Tilt it to every side, near and far, and bring it into each corner of the picture.",
    )


def _check_calibration(table: NewTable, answer: str) -> Outcome:
    given = (table.folder / Path(answer).expanduser()) if answer else None
    if given is not None and given.is_file():
        camera = load_calibration(given)
        size = (table.values.get("camera.width_px"), table.values.get("camera.height_px"))
        if camera.size != size:
            sizes = [f"{width} x {height}" for width, height in (camera.size, size)]
            wrong = f"{given.name} is for {sizes[0]} pixels, the camera gives {sizes[1]}"
            return Outcome((Finding.fault("calibration", wrong, "calibrate at the size you play with"),))
        return Outcome((Finding.ok("calibration", f"{given.name} is used"),), {"camera.calibration": answer})
    images: list[Image]
    if given is not None:
        images = [load_image(path) for path in image_paths(given)]
    else:
        source = str(table.values["camera.source"])
        images = [frame.image for frame in table.look(source, CALIBRATION_PICTURES, BETWEEN_PICTURES_S)]
    found = calibrate(images, CHARUCO, name="camera")
    if not found.good:
        return Outcome(
            tuple(Finding.fault("calibration", reason, "take the pictures again") for reason in found.reasons)
        )
    save_calibration(table.folder / "camera.json", found, made_on=table.today)
    told = f"good: {found.camera.reprojection_error_px:.2f} px off on average; written to camera.json"
    return Outcome((Finding.ok("calibration", told),), {"camera.calibration": "camera.json"})


def _lay_out(table: NewTable) -> tuple[str, ...]:
    if not table.has_board:
        return ("Lay the sheets under the camera, side by side, with their tops to the same side.",)
    return (
        "Lay the board under the camera. Markers 0 and 1 lie beyond its far corners, from left to right, 2 and "
        "3 beyond",
        "its near corners, from right to left; their printed tops point away from the first player.",
        "If it is your own board, measure in mm: a square, the board's height, from the middle of marker 0 to that of",
        "marker 1, and from marker 1 to marker 2. Type the four numbers, such as: 40 10 350 350",
    )


def _check_table(table: NewTable, answer: str) -> Outcome:
    given: dict[str, object] = {}
    if table.has_board:
        table.values["table.layout"] = given["table.layout"] = _measured(table, answer)
    return Outcome(tuple(table_findings(table.picture(), table.camera, table.layout)), given)


def _measured(table: NewTable, answer: str) -> str:
    """Write the layout of the printed board, or of one with these measures, and give its file's name."""
    text = resources.files("vision.layout").joinpath("games", f"{table.game.name}.json").read_text(encoding="utf-8")
    layout = json.loads(text)
    if answer:
        try:
            cell, height, across, along = (float(word.replace(",", ".")) for word in answer.split())
        except ValueError:
            raise ConfigError(f"got {answer!r}; expected four lengths in mm, such as 40 10 350 350") from None
        x, y = across / 2, along / 2
        layout["board"] |= {"cell": cell, "top_z": height}
        layout["markers"]["centres"] = {"0": [-x, y], "1": [x, y], "2": [x, -y], "3": [-x, -y]}
    else:
        layout["board"]["top_z"] = layout["markers"]["z"] = PAPER_MM
    write_durably(table.folder / "layout.json", json.dumps(layout, indent=2) + "\n")
    return "layout.json"


def _set_up(table: NewTable) -> tuple[str, ...]:
    if table.has_board:
        return (
            "Set the game up by its rules, with the first player's pieces on the near side. Then take your hands away.",
        )
    return ("Leave the sheets empty, and take your hands and pens away.",)


def _check_set_up(table: NewTable, _: str) -> Outcome:
    game, layout, looks = table.game, table.layout, {}
    frame = table.picture()
    if table.has_board:
        table.reader = _taught(table, layout, frame)
        looks = {"table.looks": LOOKS_FILE}
    reading = _read(table, frame)
    options = {**table.options, **_agreed_start(game)}
    belief, ruling = begin(JudgeContext.of(game), Belief(), [reading], options, trigger=Trigger.DECLARED)
    verdict = ruling.verdict
    if verdict.kind is not VerdictKind.SET_UP:
        return Outcome((*_hindrances(reading), Finding.fault("set-up", verdict.sentence)))
    table.belief = belief
    return Outcome(
        (Finding.ok("set-up", verdict.sentence), *(Finding.note("set-up", note) for note in ruling.notes)), looks
    )


def _agreed_start(game: Game[Any, Any]) -> Mapping[str, OptionValue]:
    """Have the first player begin where the dice say who does: one test turn needs no rolls for that."""
    by_roll = [each for each in game.options if each.name == STARTS_OPTION and each.default not in game.players]
    return {STARTS_OPTION: game.players[0]} if by_roll else {}


def _taught(table: NewTable, layout: TableLayout, frame: Frame) -> Reader:
    """Give a reader that learns the pieces from the set-up, and keeps what it learned in the folder.

    Stacks are enrolled, since it is known what they hold from below; raises EnrolmentError and NotLocatedError.
    """
    game, camera, kind, path = table.game, table.camera, reader_kind(layout), table.folder / LOOKS_FILE
    if not isinstance(layout.board.pieces, PyramidPieces) or not isinstance(game.notation, WritesSquares):
        expected = usual_appearance(game, table.options)
        return LearningReader(camera, layout, game.players, lambda looks: kind.save(looks, path), expected=expected)
    colours = {CLEAR, *(look.split()[0] for look in game.looks if " " in look)}
    names = {LETTERS.get(name, name[0].upper()): name for name in colours}
    squares = game.notation.squares(game.rules.new(table.options))
    stacks = {
        place: " ".join(f"{size}:{names[part[0]]}" for part in stack.split("+") for size in part[1:])
        for place, stack in squares.items()
        if stack
    }
    position = kind.positions(", ".join(f"{place}={stack}" for place, stack in stacks.items()), layout.board)
    pose = locate(frame.image, camera, layout).pose
    picture = EnrolmentPicture(frame.image, camera, pose, position, "the set-up", layout.markers)
    looks = kind.enrol([picture], layout.board)
    kind.save(looks, path)
    return table_reader(camera, layout, looks)


def _read(table: NewTable, frame: Frame) -> Reading:
    reader = table.reader or table_reader(table.camera, table.layout, None)
    return reader.read(frame)


def _hindrances(reading: Reading) -> tuple[Finding, ...]:
    return tuple(Finding.fault(each.kind, each.message) for each in reading.hindrances)


def _before_turn(table: NewTable) -> tuple[str, ...]:
    if _awaits_roll(table):
        return (
            "Roll the dice and play one turn with them. Take your hands away, then type what was rolled, such as 4,1.",
        )
    return ("Play one turn, and take your hands away.",)


def _awaits_roll(table: NewTable) -> bool:
    return table.belief is not None and table.game.awaits_roll(table.belief.states[0])


def _check_turn(table: NewTable, answer: str) -> Outcome:
    game, belief = table.game, table.belief
    if belief is None:
        raise ConfigError("the set-up has to be seen first; go back to that step")
    if _awaits_roll(table):
        if not answer:
            return Outcome((Finding.fault("turn", "the roll is missing", "type what the dice show, such as 4,1"),))
        dice = game.dice_for(answer)
        states = tuple(dice.rolled(state, dice.parse_roll(state, answer)) for state in belief.states)
        belief = replace(belief, states=states, states_ignoring_sides=states)
    reading = _read(table, table.picture())
    _, ruling = judge(JudgeContext.of(game), belief, [reading], Trigger.DECLARED)
    last = ruling.verdicts[-1]
    if not ruling.steps and not last.candidates:
        return Outcome((*_hindrances(reading), Finding.fault("turn", last.sentence)))
    # Where several turns look alike from above the table is seen well all the same; in a game the referee asks.
    return Outcome((Finding.ok("turn", last.sentence),))


_STEPS = (
    Step("camera", "The camera", _place_camera, "Which camera? 0 is the first", _check_camera, "0"),
    Step("players", "The players", _about_players, "How many play?", _check_players, "2"),
    Step("print", "Printing", _print, "How long is the printed ruler, in mm?", _check_print),
    Step(
        "calibration",
        "Calibration",
        _before_calibration,
        "Enter to begin, or a folder with pictures, or a calibration you have",
        _check_calibration,
    ),
    Step("table", "The table", _lay_out, "Enter for what you printed, or your measures", _check_table, live=True),
    *WIRING_STEPS,
    Step("pieces", "The set-up", _set_up, "Enter when it is set up", _check_set_up),
    Step("turn", "A test turn", _before_turn, "Enter when it is played", _check_turn, after="pieces"),
)
