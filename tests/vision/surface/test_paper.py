"""Ink attenuates the paper's light; optical densities add."""

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
from vision.errors import LayoutError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import GridSurface
from vision.layout.table import default_layout
from vision.locating.location import locate
from vision.readers import surface_reader as reader_module
from vision.readers.registry import table_reader
from vision.surface.paper import (
    PaperShape,
    densities_on,
    find_shade,
    fit_bare_paper,
    hues,
    lacks_grid,
    nearest_turn,
    paper_in_shade,
    paper_shape,
    usual_hues,
)


@pytest.mark.parametrize(
    ("degrees", "nearest"), [(0.0, 0.0), (190.0, -170.0), (-190.0, 170.0), (360.0, 0.0), (179.0, 179.0), (725.0, 5.0)]
)
def test_angles_are_wrapped_to_the_range_around_zero(degrees: float, nearest: float) -> None:
    assert nearest_turn(np.array([degrees]))[0] == pytest.approx(nearest)


def test_pens_of_known_colours_have_usual_hues() -> None:
    assert usual_hues(["red", "blue"]).tolist() == [25.0, -178.0]
    with pytest.raises(LayoutError, match="no pen is known as 'mauve'; colours may be red, orange"):
        usual_hues(["red", "mauve"])


def test_bare_paper_is_fitted_beneath_ink_and_under_a_lamp_at_its_side() -> None:
    rows, columns = 120, 160
    lamp = 0.3 + 0.5 * np.linspace(0, 1, columns)[None, :, None] * np.ones((rows, 1, 3)) * (0.8, 0.9, 1.0)
    inked = lamp.copy()
    inked[20:100:2, 30:90] *= (0.2, 0.3, 0.9)
    found = fit_bare_paper(inked.astype(np.float32))
    assert found.shape == inked.shape
    assert np.abs(found / lamp - 1).max() < 0.06


def test_a_shadow_with_sharp_edges_is_paper_in_shade_and_ink_in_it_keeps_its_colour() -> None:
    rows, columns = 160, 240
    lit = np.full((rows, columns, 3), 0.8)
    lit[:, :100] *= (0.22, 0.2, 0.18)
    inked = lit.copy()
    pen = np.array([0.8, 0.4, 0.2])
    inked[40:80, 40:60] *= pen
    inked[40:80, 160:180] *= pen
    light = inked.astype(np.float32)
    paper = fit_bare_paper(light)
    shade = find_shade(light, paper)
    assert shade is not None
    density = densities_on(light, paper_in_shade(light, paper, shade), 0.0)
    for column in (50, 170):
        assert density[60, column] == pytest.approx(-np.log(pen), abs=0.15)
        assert np.abs(density[120, column]).max() < 0.1
    assert find_shade(lit[:, 100:].astype(np.float32), fit_bare_paper(lit[:, 100:].astype(np.float32))) is None


def test_some_pixels_tell_as_much_as_all(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(8)
    light = np.linspace(0.5, 0.8, 120)[None, :, None] * random.normal(1, 0.02, (120, 120, 3))
    for row, column in random.permutation(np.argwhere(np.ones((10, 10))))[:60]:
        light[12 * row : 12 * row + 11, 12 * column : 12 * column + 11] *= (0.3, 0.7, 0.4)
    some = fit_bare_paper(light.astype(np.float32))
    monkeypatch.setattr("vision.surface.paper._ONE_IN", 1)
    assert some == pytest.approx(fit_bare_paper(light.astype(np.float32)), rel=0.02)


def test_twice_the_ink_has_twice_the_density_and_the_same_hue() -> None:
    paper = np.full((1, 2, 3), 0.8, dtype=np.float32)
    share = np.array([0.9, 0.5, 0.4])
    light = (paper * np.stack([share, share**2])).astype(np.float32)
    once, twice = densities_on(light, paper, 0.0)[0]
    assert once == pytest.approx(-np.log(share), abs=1e-5)
    assert twice == pytest.approx(2 * once, abs=1e-5)
    hue, strength = hues(np.array([once, twice], dtype=np.float64))
    assert hue[0] == pytest.approx(hue[1], abs=1e-3)
    assert strength[1] == pytest.approx(2 * strength[0], abs=1e-4)


def test_a_shadow_has_no_hue_and_noise_in_the_dark_no_density() -> None:
    paper = np.full((1, 2, 3), 0.8, dtype=np.float32)
    light = np.array([[[0.4, 0.4, 0.4], [0.0, 0.0, 0.0]]], dtype=np.float32)
    shadow, black = densities_on(light, paper, 0.02)[0]
    assert hues(shadow.astype(np.float64))[1] == pytest.approx(0.0, abs=1e-6)
    assert black == pytest.approx(np.log(1.02 / 0.02), abs=1e-4)


def test_each_channel_alone_has_a_hue_of_its_own() -> None:
    hue, strength = hues(np.eye(3))
    assert hue == pytest.approx([np.degrees(np.arctan2(-0.5, 1)), 90.0, np.degrees(np.arctan2(-0.5, -1))])
    assert strength == pytest.approx([np.hypot(1, 0.5), 1.0, np.hypot(1, 0.5)])


def test_paper_too_bright_for_the_camera_is_even() -> None:
    found = fit_bare_paper(np.ones((40, 60, 3), dtype=np.float32))
    assert found == pytest.approx(1.0, abs=1e-3)


def test_densities_are_the_logs_of_the_shares_of_light_left_by_ink() -> None:
    random = np.random.default_rng(4)
    paper = random.uniform(0, 1, (9, 7, 3)).astype(np.float32)
    light = (paper * random.uniform(0, 2, paper.shape)).astype(np.float32)
    before = light.copy(), paper.copy()
    shares = np.clip(light / np.maximum(paper, 1e-3), 0, 1.5)
    assert densities_on(light, paper, 0.02) == pytest.approx(np.log(1.02) - np.log(shares + 0.02), abs=1e-5)
    assert (light == before[0]).all()
    assert (paper == before[1]).all()


# Sheets bent by a few millimetres: cells are located by the printed grid.

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
    some(
        [
            (None, Hand((20.0, 0.0, 15.0), (20.0, -300.0, 120.0))),
            (Bend(3.0), Hand((0.0, 0.0, 15.0), (300.0, 0.0, 120.0))),
        ],
        1,
    ),
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
