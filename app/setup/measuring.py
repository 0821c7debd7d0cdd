"""The set-up step that measures the table: from a printed board, typed sizes, or the board's corners in a picture."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from app.settings.table_layout import is_kit, with_rules
from app.setup.picture_checks import LocatedTable, draw_markers, table_findings
from app.setup.table_setup import AnswerForm, Field, FieldKind, Inspection, Point, SetupStep, StepResult, TableSetup
from common.durable import write_durably
from common.findings import Finding
from common.json_files import read_json_object
from common.phrases import Phrase
from referee.errors import ConfigError
from vision.errors import LayoutError, NotLocatedError, VisionError
from vision.frame import FloatArray, Frame
from vision.geometry import CameraModel, Pose, back_project, project
from vision.images import write_image
from vision.layout.kit import KIT
from vision.layout.pieces import NO_MARKERS, GridSurface, Ink
from vision.layout.table import TableLayout, layout_from_json, shipped_data
from vision.locating.lines_and_markers import better_height_mm
from vision.locating.location import locate
from vision.locating.markers import Marker, MarkerDetector
from vision.opencv import as_grey, planar_poses, undistort_points
from vision.self_calibration import camera_of_board, estimate_camera

LAYOUT_FILE = "layout.json"
SEEN_FILE = "seen.png"
"""The picture of the located table, with its grid drawn."""
PAPER_MM = 0.2
"""The thickness of the printed board, in mm."""
_HEIGHT_ROUNDS = 6
"""How often a board's height is measured, each time with the camera as a board of the last height shows it."""
_ENOUGH_MARKERS = 3
"""Markers from which they alone give the pose."""
SIDE_OFF = 0.05
"""The largest relative error of a marker's side before the sizes are doubted."""
_CORNERS = (
    Phrase("far left corner"),
    Phrase("far right corner"),
    Phrase("near right corner"),
    Phrase("near left corner"),
)
_INSET = 0.2
"""The initial inset of the corners if nothing was found, as a share of the picture's width and height."""


def _instructions(table: TableSetup) -> tuple[str, ...]:
    if table.uses_kit and table.has_board:
        return (
            Phrase("Lay the joined board flat, all of it in the picture."),
            Phrase("Leave it empty for now; the pieces come later."),
        )
    if not table.has_board:
        return (Phrase("Lay the sheets under the camera, side by side, all the same way up."),)
    return (
        Phrase("Lay the empty board under the camera, with a marker outside each corner."),
        Phrase("Seen from the first player, 0 is far left, 1 far right, 2 near right and 3 near left."),
        Phrase("The markers' printed tops point away from the first player."),
    )


def _check_table(table: TableSetup, answer: str) -> StepResult:
    frame = table.picture()
    if (own := _own_file(table, answer)) is not None:
        used = () if is_kit(own) else (Finding.ok(Phrase("layout"), Phrase("{file} is used", file=own.name)),)
        findings = (*used, *_findings(table, frame, table.layout_from(own, markers="layout")))
        return StepResult(findings, {"table.layout": answer, "table.markers": None})
    if not table.has_board:
        if answer:
            raise _no_layout(answer)
        return StepResult(_findings(table, frame, table.layout))
    data, measured = _measure(table, answer, frame)
    layout = _layout_of(table, data)
    bare = _is_bare(answer)
    findings = (*measured, *_findings(table, frame, layout.without_markers() if bare else layout))
    outcome = StepResult(findings, {"table.layout": LAYOUT_FILE, "table.markers": NO_MARKERS if bare else None})
    if outcome.is_done:
        write_durably(table.folder / LAYOUT_FILE, json.dumps(data, indent=2) + "\n")
    return outcome


def _findings(table: TableSetup, frame: Frame, layout: TableLayout) -> tuple[Finding, ...]:
    """Return the findings of a table that was measured, and write a picture with the grid drawn, or else the markers.

    A board that lies at another height says what the lines of its grid show, instead of things that seem to lie there.
    """
    located = LocatedTable.of(frame, table.cameras(layout), layout)
    findings = tuple(height_findings(table, located)) or tuple(table_findings(located))
    if table.uses_kit:
        return findings
    drawn, path = located.drawn(), table.folder / SEEN_FILE
    write_image(path, draw_markers(frame, layout) if drawn is None else drawn)
    if drawn is None:
        seen = Finding.note(_PICTURE, Phrase("{file} shows the markers that the referee sees", file=str(path)))
        return (*findings, seen)
    message = Phrase("{file} shows the grid that the referee sees", file=str(path))
    remedy = Phrase("the grid must lie on the board's own lines; if not, measure again, above all the height")
    return (*findings, Finding.note(_PICTURE, message, remedy))


_PICTURE = Phrase("picture")


def height_findings(table: TableSetup, seen: LocatedTable) -> Iterator[Finding]:
    """Report a board whose lines show that it is higher or lower than the layout says.

    Without three markers the lines have a part in the pose, so they say nothing.
    """
    board = seen.layout.surfaces[0]
    if not isinstance(board, GridSurface) or isinstance(board.pieces, Ink):
        return
    better_mm = None
    for _ in range(_HEIGHT_ROUNDS):
        layout, located = seen.parts[0]
        if isinstance(located, NotLocatedError) or len(located.markers) < _ENOUGH_MARKERS:
            break
        height_mm = better_height_mm(seen.frame.image, seen.camera, located.pose, layout, clearly=better_mm is None)
        if height_mm is None:
            break
        # the camera was measured from a board of the wrong height, so the better one is only nearer
        better_mm = height_mm
        better = _resize_board(seen.layout, board.cell_mm, better_mm)
        seen = LocatedTable.of(seen.frame, table.cameras(better), better)
    if better_mm is not None:
        message = Phrase(
            "the board's lines lie where a board {better} mm high has them, not one of {given} mm",
            better=f"{better_mm:g}",
            given=f"{board.height_mm:g}",
        )
        remedy = Phrase(
            "measure from the table to the board's top, and a square; only a board you printed is as flat as paper, "
            "{paper} mm",
            paper=f"{PAPER_MM:g}",
        )
        yield Finding.fault(Phrase("height"), message, remedy)


def _own_file(table: TableSetup, answer: str) -> Path | None:
    """Return the layout file that an answer names, or ``kit``; ``None`` for other answers."""
    path = table.file(answer) if answer else None
    return path if path is not None and (path.is_file() or is_kit(path)) else None


def _no_layout(answer: str) -> ConfigError:
    return ConfigError("there is no layout file {file}", repr(answer))


def _is_bare(answer: str) -> bool:
    """Return whether an answer says that the board has no markers."""
    return NO_MARKERS in answer.split()


def _layout_of(table: TableSetup, data: dict[str, Any]) -> TableLayout:
    return with_rules(layout_from_json(data), table.game, table.options)


def _present_data(table: TableSetup) -> dict[str, Any]:
    """Return the content of the layout in use, or of the game's own if that one can't be used; raises ConfigError."""
    own = table.values.get("table.layout")
    if own is None:
        return _shipped_data(table)
    try:
        # This refuses the layout of another game or board.
        table.layout_from(table.file(own))
        return read_json_object(table.file(own), "the layout", LayoutError)
    except LayoutError:
        # The answer makes a new one.
        return _shipped_data(table)


def _shipped_data(table: TableSetup) -> dict[str, Any]:
    """Return the content of the layout file that comes with the game, without its paper kit."""
    return {key: value for key, value in shipped_data(table.game.name).items() if key != "kit"}


def _measure(table: TableSetup, answer: str, frame: Frame) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Return the layout for an answer, and the findings of measuring it; raises ConfigError and LayoutError.

    What an answer does not measure stays as it was.
    """
    layout, shipped = _present_data(table), _shipped_data(table)
    if not isinstance(layout.get("markers"), dict):
        layout["markers"] = shipped["markers"]
    findings: tuple[Finding, ...] = ()
    words = answer.split()
    if not words:
        layout["board"] |= {"cell": shipped["board"]["cell"], "top_z": PAPER_MM}
        layout["markers"] = {**shipped["markers"], "z": PAPER_MM}
        return layout, findings
    bare = _is_bare(answer)
    if bare:
        words = [*(word for word in words if word != NO_MARKERS), "0", "0"]
    try:
        typed = [float(word.replace(",", ".")) for word in words[:2]]
        if len(words) == 6:
            corners = [(float(x), float(y)) for x, _, y in (word.partition(",") for word in words[2:])]
            typed += [0.0, 0.0]
        else:
            corners = []
            typed += [float(word.replace(",", ".")) for word in words[2:]]
        cell, height, across, along = typed
    except ValueError:
        raise _no_layout(answer) from None
    if corners:
        resized = _resize_board(_layout_of(table, layout), cell, height)
        centres, findings = markers_by_corners(frame, _camera_at(table, frame, resized, corners), resized, corners)
    else:
        x, y = across / 2, along / 2
        centres = {0: (-x, y), 1: (x, y), 2: (x, -y), 3: (-x, -y)}
    layout["board"] |= {"cell": cell, "top_z": height}
    if bare:
        return layout, findings
    layout["markers"]["centres"] = {str(number): list(centre) for number, centre in sorted(centres.items())}
    return layout, findings


def _camera_at(table: TableSetup, frame: Frame, layout: TableLayout, corners_px: Sequence[Point]) -> CameraModel:
    """Return the calibrated camera, or as the lines show it of a board whose outer corners are in known places."""
    calibrated, size = table.calibrated, (frame.image.shape[1], frame.image.shape[0])
    if calibrated is not None and calibrated.size == size:
        return calibrated
    return camera_of_board(as_grey(frame.image), layout, partial(_pose_of, board=layout.board, corners_px=corners_px))


def _resize_board(layout: TableLayout, cell_mm: float, height_mm: float) -> TableLayout:
    """Return the layout with a board of another size."""
    board = replace(layout.board, cell_mm=cell_mm, height_mm=height_mm)
    return replace(layout, surfaces=(board, *layout.surfaces[1:]))


def markers_by_corners(
    frame: Frame, camera: CameraModel, layout: TableLayout, corners_px: Sequence[Point]
) -> tuple[dict[int, tuple[float, float]], tuple[Finding, ...]]:
    """Measure where the markers lie: return each one's centre (x, y) in mm by its id, and the findings.

    ``corners_px`` are the outer corners of the board's squares in the picture, clockwise from the far left one. The
    layout must have the right board size. Raises ConfigError if the corners are impossible or a marker isn't seen.
    """
    pose = _pose_of(camera, board=layout.board, corners_px=corners_px)
    markers = layout.markers
    seen = _markers_in(frame, layout)
    missing = sorted({*markers.centres_mm} - {*seen})
    if missing:
        named = ", ".join(map(str, missing))
        raise ConfigError(Phrase("not seen: {markers}; each marker must be in the picture", markers=named))
    centres, findings = {}, []
    for number, marker in sorted(seen.items()):
        on_table = back_project(camera, pose, marker.corners_px, markers.z_mm)[:, :2]
        centres[number] = (round(float(on_table[:, 0].mean()), 1), round(float(on_table[:, 1].mean()), 1))
        side_mm = float(np.linalg.norm(on_table - np.roll(on_table, 1, axis=0), axis=1).mean())
        subject = Phrase("marker {number}", number=number)
        message = Phrase(
            "{measured} mm wide; it is {printed} mm", measured=f"{side_mm:.1f}", printed=f"{markers.side_mm:.1f}"
        )
        if abs(side_mm / markers.side_mm - 1) > SIDE_OFF:
            remedy = Phrase("measure a square again, and put the corners onto those of the outer squares")
            findings.append(Finding.fault(subject, message, remedy))
        else:
            findings.append(Finding.ok(subject, message))
    return centres, tuple(findings)


def _pose_of(camera: CameraModel, *, board: GridSurface, corners_px: Sequence[Point]) -> Pose:
    bounds = board.bounds_mm
    left, right, near, far = bounds.left_mm, bounds.right_mm, bounds.near_mm, bounds.far_mm
    corners_mm = np.array([[left, far], [right, far], [right, near], [left, near]])
    rays = undistort_points(np.asarray(corners_px, dtype=np.float64), camera.matrix, camera.distortion)
    for rotation, translation in planar_poses(corners_mm, rays):
        flat = Pose.from_vectors(rotation, translation)
        # The corners lie on the board's top, but the table's frame has its origin at the bottom.
        pose = Pose(flat.rotation, flat.translation - flat.rotation[:, 2] * board.height_mm)
        if pose.camera_position_mm[2] > board.height_mm:
            return pose
    wrong = Phrase("no board has its corners there; begin with the far left one and go on clockwise")
    raise ConfigError(wrong)


def _markers_in(frame: Frame, layout: TableLayout) -> dict[int, Marker]:
    finder, grey = MarkerDetector(layout.markers.dictionary), as_grey(frame.image)
    for find in (finder.plain, finder.thorough):
        seen = {each.marker_id: each for each in find(grey) if each.marker_id in layout.markers.centres_mm}
        if len(seen) == len(layout.markers.centres_mm):
            break
    return seen


def _forms(table: TableSetup) -> tuple[AnswerForm, ...]:
    """Return the ways to answer on the page; what was measured before is filled in."""
    if table.uses_kit:
        return (AnswerForm(Phrase("It's in place"), answer=KIT),)
    known = AnswerForm(Phrase("Use a layout that I have"), (Field(Phrase("A layout you have")),), is_rare=True)
    if not table.has_board:
        return (AnswerForm(Phrase("The sheets are in place")), known)
    board = table.usual_layout.board
    measured = _layout_of(table, _present_data(table)).board if "table.layout" in table.values else None
    cell_mm = board.cell_mm if measured is None else measured.cell_mm
    # A board's height has no usual value.
    height = "" if measured is None else f"{measured.height_mm:g}"
    wide, high = board.columns * board.cell_mm / 2, board.rows * board.cell_mm / 2
    corners = AnswerForm(
        Phrase("These are the corners"),
        corners=lambda: tuple(zip(_CORNERS, _first_corners(table), strict=True)),
        asks=Phrase("Drag the four corners onto those of the outer squares"),
    )
    by_corners = AnswerForm(
        Phrase("In the picture"),
        then=(corners,),
        words=Phrase("You show the board's corners; the camera does the rest."),
    )
    by_ruler = AnswerForm(
        Phrase("With a ruler"),
        (
            _length(Phrase("How far is it from marker 0 to marker 1?"), _MARKER_HINT, least=wide),
            _length(Phrase("How far is it from marker 1 to marker 2?"), _MARKER_HINT, least=high),
        ),
        words=Phrase("You measure from marker to marker."),
    )
    bare = AnswerForm(
        Phrase("There are no markers"), answer=NO_MARKERS, words=Phrase("The camera finds the board by its lines.")
    )
    own = AnswerForm(
        Phrase("My own board"),
        (
            _length(Phrase("How wide is a square?"), _CELL_HINT, f"{cell_mm:g}", least=_LEAST_CELL_MM),
            _length(Phrase("How high is the board?"), _HEIGHT_HINT, height),
        ),
        words=Phrase("Thicker than paper; you measure it once."),
        asks=Phrase("How shall the markers be measured?"),
        then=(by_corners, by_ruler, bare),
    )
    printed = AnswerForm(Phrase("The board I printed"), words=Phrase("A sheet of paper with its own markers."))
    return (AnswerForm(Phrase("It's in place"), asks=Phrase("Which board is it?"), then=(printed, own, known)),)


def _length(label: Phrase, hint: Phrase, value: str = "", least: float = 0.0) -> Field:
    return Field(label, FieldKind.LENGTH, value, hint=hint, least=least)


_LEAST_CELL_MM = 8.0
"""Less than the smallest square of any game, 12 mm: what is smaller was measured in centimetres."""
_MARKER_HINT = Phrase("From middle to middle, in millimetres.")
_CELL_HINT = Phrase("From the middle of a square to the middle of the next, in millimetres.")
_HEIGHT_HINT = Phrase("From the table to where the pieces stand, in millimetres: 1 cm is 10.")


def _first_corners(table: TableSetup) -> list[Point]:
    """Guess the board's corners: from the markers if they are seen, else a box well inside the picture."""
    frame = table.picture()
    height, width = frame.image.shape[:2]
    try:
        layout = table.usual_layout
        camera = table.calibrated or estimate_camera([frame.image], layout, thorough=False).camera
        pose = locate(frame.image, camera, layout).pose
        x, y = layout.board.bounds_mm.right_mm, layout.board.bounds_mm.far_mm
        corners: FloatArray = np.array([[-x, y, 0.0], [x, y, 0.0], [x, -y, 0.0], [-x, -y, 0.0]])
        corners[:, 2] = layout.board.height_mm
        pixels = project(camera, pose, corners)
    except VisionError:
        pixels = np.array([[_INSET, _INSET], [1 - _INSET, _INSET], [1 - _INSET, 1 - _INSET], [_INSET, 1 - _INSET]])
        pixels = pixels * np.array([width, height])
    inside = np.clip(pixels, 0, [width - 1, height - 1])
    return [(round(float(x), 1), round(float(y), 1)) for x, y in inside]


def watch_table(table: TableSetup, frame: Frame) -> Inspection:
    """Draw the located table, or else the markers, and say what is wrong with the picture."""
    located = LocatedTable.of(frame, table.cameras(table.layout), table.layout)
    findings, drawn = tuple(table_findings(located)), located.drawn()
    return Inspection(findings, draw_markers(frame, table.layout) if drawn is None else drawn)


TABLE_STEP = SetupStep(
    "table",
    Phrase("The table"),
    Phrase("Lay everything under the camera"),
    _forms,
    _check_table,
    told=_instructions,
    watch=watch_table,
    needs=("camera", "kit"),
)


def _watch_grid(table: TableSetup, frame: Frame) -> Inspection:
    """Say what is wrong with the picture, and give the grid to draw over it."""
    located = LocatedTable.of(frame, table.cameras(table.layout), table.layout)
    return Inspection(tuple(table_findings(located)), *located.grid())


def _check_grid(_: TableSetup, answer: str) -> StepResult:
    if not answer:
        return StepResult((Finding.ok(_GRID, Phrase("it lies on the board's lines")),))
    return StepResult((Finding.note(_GRID, Phrase("the table is measured again")),), again=TABLE_STEP.name)


_GRID = Phrase("grid")
_ANEW = "n"
_GRID_FORMS = (
    AnswerForm(Phrase("Yes, it fits")),
    AnswerForm(
        Phrase("No, it does not"),
        asks=Phrase("What is wrong with it?"),
        then=(
            AnswerForm(
                Phrase("It lies too far up or down"),
                answer=_ANEW,
                words=Phrase("The board's height is wrong. Measure from the table to the board's top."),
            ),
            AnswerForm(
                Phrase("Its squares are too large or too small"),
                answer=_ANEW,
                words=Phrase("A square's width is wrong. Measure five in a row, and divide by five."),
            ),
            AnswerForm(
                Phrase("It lies askew, or beside the board"),
                answer=_ANEW,
                words=Phrase("A marker lies elsewhere. Put each where it belongs, or measure them anew."),
            ),
        ),
    ),
)
GRID_STEP = SetupStep(
    "grid",
    Phrase("The grid"),
    Phrase("Does the grid lie on the board's lines?"),
    lambda _: _GRID_FORMS,
    _check_grid,
    watch=_watch_grid,
    needs=("table",),
    reviews="table",
    unneeded=lambda table: Phrase("The outline on the picture shows that.") if table.uses_kit else "",
)
