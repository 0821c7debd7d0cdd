"""Sheets bent by a few millimetres: cells are located by the printed grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

from benchmarks.parts.sheet_films import sheet_film
from simulator.rendering.background import paint_background
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import InkPose
from simulator.scene.scene import Bend, Hand, Scene, Setting, first_fitting, growing_distances, lens, looking_at
from simulator.scene.sheets import extent_mm, place_mm
from tests.effort import some
from tests.present import present
from tests.vision.readers.ink import sheets
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import GridSurface
from vision.layout.table import default_layout
from vision.locating.location import locate
from vision.readers import table_reader as reader_module
from vision.readers.registry import table_reader
from vision.surface.paper import PaperShape, lacks_grid, paper_shape

PENS = ("red", "blue", "yellow", "green")
ARCH, CURL, TWIST = Bend(5.0), Bend(-5.0, along_deg=90.0, reach_mm=105.0), Bend(5.0, along_deg=30.0, twist_mm=5.0)


def setting(game: str, bend: Bend | None, tilt_deg: float = 35.0) -> Setting:
    """One sheet alone, seen aslant."""
    layout = default_layout(game).with_sheets(1)
    layout = replace(layout, surfaces=layout.surfaces[:1])
    camera = lens((640, 480))
    poses = (looking_at(one, tilt_deg, -60.0) for one in growing_distances(250.0, 1.03, 50))
    return Setting(camera, first_fitting(camera, extent_mm(layout), 10.0, poses), layout, bend=bend)


def grid_mm(seen: Setting) -> FloatArray:
    """The corners of the cells as they lie on the table."""
    board = seen.layout.board
    corners = np.unique(np.concatenate([board.outline_mm(place) for place in board.places]), axis=0)
    heights = np.full(len(corners), board.height_mm)
    return np.column_stack([corners, heights if seen.bend is None else heights + seen.bend.heights_mm(corners)])


def off_cells(seen: Setting) -> tuple[float, float]:
    """Largest error of the cells' corners in cells, found as bent and as flat paper."""
    image = paint_background(seen)
    pose = locate(image, seen.camera, seen.layout).pose
    corners, board = grid_mm(seen), seen.layout.board
    shape = present(paper_shape(image, seen.camera, pose, board))
    true = project(seen.camera, seen.pose, corners)
    cell_px = float(np.linalg.norm(np.diff(true[:2], axis=0)))

    def off(flat_mm: FloatArray) -> float:
        found = project(seen.camera, pose, np.column_stack([flat_mm, np.full(len(flat_mm), board.height_mm)]))
        return float(np.linalg.norm(found - true, axis=1).max()) / cell_px

    return off(shape.seen_at_mm(corners[:, :2])), off(corners[:, :2])


@pytest.mark.parametrize(
    ("game", "bend"),
    some(
        [
            *(("number-drop", ARCH), ("blokus-dice", ARCH), ("blokus-dice", TWIST)),
            *(("number-drop", TWIST), ("number-drop", CURL), ("blokus-dice", CURL)),
        ],
        3,
    ),
)
def test_cells_of_bent_paper_are_located(game: str, bend: Bend) -> None:
    as_bent, as_flat = off_cells(setting(game, bend))
    assert as_bent < 0.04
    assert as_flat > 0.12


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_flat_paper_is_recognised_as_flat(game: str) -> None:
    seen = setting(game, None)
    image = paint_background(seen)
    assert paper_shape(image, seen.camera, locate(image, seen.camera, seen.layout).pose, seen.layout.board) is None


def test_a_bare_table_gives_no_bend() -> None:
    seen = setting("blokus-dice", None)
    bare = np.full_like(paint_background(seen), 180)
    assert paper_shape(bare, seen.camera, seen.pose, seen.layout.board) is None


def filled_in(seen: Setting, filled: Mapping[str, str], *hands: Hand) -> Image:
    """A picture of the sheet with cells filled with pens."""
    strokes = tuple(((-5.0, float(y)), (5.0, float(y))) for y in np.linspace(-5.0, 5.0, 8))
    ink = [InkPose(*place_mm(seen.layout, place), place, pen, pen, strokes, 2.0) for place, pen in filled.items()]
    return Renderer(1).render(Scene(seen, tuple(ink), hands))


@pytest.mark.parametrize("tilt_deg", [20.0, 45.0])
def test_flat_paper_is_recognised_as_flat_if_ink_hides_most_lines(tilt_deg: float) -> None:
    seen = setting("blokus-dice", None, tilt_deg)
    image = filled_in(seen, dict(zip(seen.layout.places[::2], cycle(PENS))))
    assert paper_shape(image, seen.camera, locate(image, seen.camera, seen.layout).pose, seen.layout.board) is None


def test_gaps_between_filled_cells_and_their_lines_are_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in ("SHOTS", "PICTURES"):
        monkeypatch.setattr(f"benchmarks.parts.sheet_films.{number}", 1)
    film = sheet_film("blokus-dice", 4, (1280, 720), seed=1)
    shot = film.shots[0]
    for part in film.layout.parts():
        located = locate(shot.pictures[0], shot.camera, part)
        assert paper_shape(shot.pictures[0], shot.camera, located.pose, part.board) is None


@pytest.mark.parametrize(("game", "brighter"), [("number-drop", 1.6), ("blokus-dice", 2.0)])
def test_writing_gives_no_bend_if_the_lines_are_overexposed(game: str, brighter: float) -> None:
    bright = np.clip(brighter * sheets.picture(game).astype(float), 0, 255).astype(np.uint8)
    assert paper_shape(bright, sheets.camera(), sheets.pose(game), sheets.layout(game).board) is None


def test_squares_of_a_bent_sheet_are_read() -> None:
    seen = setting("blokus-dice", Bend(6.0), tilt_deg=45.0)
    filled = dict(zip(seen.layout.places[::7], cycle(PENS)))
    image = filled_in(seen, filled)
    reading = table_reader(seen.camera, seen.layout, None).read(Frame(image, 0.0, 0, "bent"))
    assert not reading.hindrances
    assert {place: one.best[0] for place, one in reading.places.items() if one.best[0] != "empty"} == filled


@pytest.mark.parametrize(
    ("bend", "hand"),
    [
        (None, Hand((20.0, 0.0, 15.0), (20.0, -300.0, 120.0))),
        (Bend(3.0), Hand((0.0, 0.0, 15.0), (300.0, 0.0, 120.0))),
    ],
)
def test_a_sheet_first_seen_under_a_hand_is_measured_again_once_it_has_gone(
    monkeypatch: pytest.MonkeyPatch, bend: Bend | None, hand: Hand
) -> None:
    measured: list[Pose] = []

    def shape_of(image: Image, camera: CameraModel, pose: Pose, surface: GridSurface) -> PaperShape | None:
        measured.append(pose)
        return paper_shape(image, camera, pose, surface)

    monkeypatch.setattr(reader_module, "paper_shape", shape_of)
    seen = setting("blokus-dice", bend, tilt_deg=45.0)
    filled = dict(zip(seen.layout.places[::7], cycle(PENS)))
    reader = table_reader(seen.camera, seen.layout, None)
    covered, clear = filled_in(seen, filled, hand), filled_in(seen, filled)
    for number in range(30):
        reading = reader.read(Frame(covered if number < 8 else clear, number / 10, number, "sheet"))
        assert len(measured) == 1 or number >= 8
    assert len(measured) == 2
    assert not reading.hindrances
    assert {place: one.best[0] for place, one in reading.places.items() if one.best[0] != "empty"} == filled


@pytest.mark.parametrize(
    "hand",
    [
        Hand((20.0, 0.0, 15.0), (20.0, -300.0, 120.0)),
        Hand((0.0, 0.0, 15.0), (300.0, 0.0, 120.0)),
    ],
    ids=["from the near side", "from the right"],
)
def test_a_bent_sheet_of_which_a_hand_hid_markers_is_located_by_all_of_them_once_it_has_gone(hand: Hand) -> None:
    seen = setting("blokus-dice", Bend(6.0), tilt_deg=45.0)
    filled = dict(zip(seen.layout.places[::7], cycle(PENS)))
    reader = table_reader(seen.camera, seen.layout, None)
    covered, clear = filled_in(seen, filled, hand), filled_in(seen, filled)
    for number in range(25):
        reading = reader.read(Frame(covered if number < 3 else clear, number / 10, number, "sheet"))
    assert not reading.hindrances
    assert {place: one.best[0] for place, one in reading.places.items() if one.best[0] != "empty"} == filled


@pytest.mark.parametrize("bend", [ARCH, CURL])
def test_the_picture_of_a_cell_is_cut_from_the_bent_surface(bend: Bend) -> None:
    seen = setting("number-drop", bend)
    shown = Frame(paint_background(seen), 0.0, 0, "bent")
    reader = table_reader(seen.camera, seen.layout, None)
    reader.read(shown)
    off_px = []
    for place in ("p1.b2", "p1.f2", "p1.d7", "p1.b13", "p1.f13", "p1.a7", "p1.g7"):
        light = reader.crop(shown, place)[24:48].mean(axis=(0, 2))
        off_px += [first + int(light[first : first + 18].argmin()) - line for first, line in ((9, 18), (45, 54))]
    assert max(abs(one) for one in off_px) <= 3


def test_even_light_lacks_a_grid() -> None:
    board = default_layout("number-drop").board
    assert lacks_grid(np.full((600, 800, 3), 186, np.uint8), lens((800, 600)), looking_at(420.0, 10.0), board)
