"""A sheet in a phone's photo: its focal length is estimated, and incomplete sheets are reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest

from simulator.rendering.textures import sheet_texture
from simulator.scene.scene import first_fitting, growing_distances, lens, looking_at
from simulator.scene.sheets import lying_sheets
from tests.effort import some
from tests.vision.readers.ink.sheets import EXPECTED, frame, grid_of, picture
from vision.errors import FrameError, LayoutError, NotLocatedError
from vision.frame import Image
from vision.geometry import CameraModel, plane_homography, project
from vision.images import load_image
from vision.layout.table import TableLayout, default_layout
from vision.locating.photographed import MOST_SHEETS, photographed_sheet
from vision.opencv import as_grey
from vision.readers.registry import table_reader

DATA = Path(__file__).resolve().parents[2] / "data"
GAMES = ("number-drop", "blokus-dice")
LAYOUTS = [default_layout(game) for game in GAMES]
PRINTED_PX_PER_MM = 6.0
WIDE = (1600, 800)


def photo(
    game: str,
    view_deg: float = 69.0,
    tilt_deg: float = 30.0,
    sheets: tuple[int, ...] = (1,),
    size: tuple[int, int] = (1008, 756),
    farther: float = 1.0,
) -> tuple[Image, CameraModel]:
    """A distortion-free photo of these players' blank sheets side by side, and its camera."""
    camera = lens(size, view_deg, (0, 0, 0, 0, 0), (0.0, 0.0))
    table = default_layout(game).with_sheets(MOST_SHEETS)
    half = lying_sheets(table)[0].half_mm
    corners = np.array([(x, y, 0.0) for x in (-half[0], half[0]) for y in (-half[1], half[1])]) * len(sheets)
    poses = (looking_at(one, tilt_deg, -70.0, 20.0) for one in growing_distances(120.0, 1.03, 200))
    pose = first_fitting(camera, corners * farther, 8.0, poses)
    image = np.full((*size[::-1], 3), (70, 90, 110), np.uint8)
    for place, player in enumerate(sheets):
        printed = sheet_texture(lying_sheets(table)[player - 1], game, PRINTED_PX_PER_MM)
        aside = 2.1 * half[0] * (place - (len(sheets) - 1) / 2)
        to_mm = np.array([(1, 0, aside - half[0]), (0, -1, half[1]), (0, 0, 1)]) @ np.diag(
            [1 / PRINTED_PX_PER_MM, 1 / PRINTED_PX_PER_MM, 1]
        )
        to_px = plane_homography(pose, camera, 0.25) @ to_mm
        cv2.warpPerspective(printed, to_px, size, dst=image, flags=cv2.INTER_AREA, borderMode=cv2.BORDER_TRANSPARENT)
    return np.asarray(cv2.GaussianBlur(image, (0, 0), 0.5), dtype=np.uint8), camera


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize(("view_deg", "tilt_deg"), some([(26.0, 40.0), (69.0, 30.0), (100.0, 40.0), (69.0, 55.0)]))
def test_an_oblique_view_of_a_sheet_gives_the_focal_length(game: str, view_deg: float, tilt_deg: float) -> None:
    image, camera = photo(game, view_deg, tilt_deg)
    sheet = photographed_sheet(image, LAYOUTS)
    assert (sheet.layout.game, sheet.layout.board.name) == (game, "sheet of p1")
    assert sheet.camera.matrix[0, 0] == pytest.approx(camera.matrix[0, 0], rel=0.2)
    assert sheet.error_px < 2.5


@pytest.mark.parametrize("view_deg", [26.0, 69.0, 100.0])
def test_the_cells_of_a_sheet_seen_from_above_are_found_whatever_the_lens(view_deg: float) -> None:
    image, camera = photo("number-drop", view_deg, 0.0)
    sheet = photographed_sheet(image, LAYOUTS)
    board = sheet.layout.board
    outer = project(sheet.camera, sheet.pose, board.bounds_mm.corners_mm(board.height_mm))
    darkest = [cv2.getRectSubPix(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), (5, 5), tuple(corner)) for corner in outer]
    assert all(patch.min() < patch.max() - 30 for patch in darkest)
    assert camera.size == sheet.camera.size


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("view_deg", [26.0, 100.0])
def test_the_usual_focal_length_is_assumed_from_straight_above(game: str, view_deg: float) -> None:
    """That view fits any focal length; 27 mm on 35 mm film is 0.62 of the picture's diagonal."""
    image, camera = photo(game, view_deg, 0.0)
    sheet = photographed_sheet(image, LAYOUTS)
    assert sheet.camera.matrix[0, 0] == sheet.camera.matrix[1, 1]
    assert sheet.camera.matrix[0, 0] == pytest.approx(0.62 * np.hypot(*camera.size), rel=0.1)
    assert sheet.camera.matrix[:2, 2].tolist() == [503.5, 377.5]
    assert sheet.error_px < 0.8


@pytest.mark.parametrize("game", GAMES)
def test_a_ray_traced_sheet_is_read_without_a_calibration(game: str) -> None:
    sheet = photographed_sheet(picture(game), LAYOUTS)
    reading = table_reader(sheet.camera, sheet.layout, None).read(frame(picture(game)))
    wrong = sum(a != b for a, b in zip("".join(grid_of(reading, game)), "".join(EXPECTED[game]["grid"]), strict=True))
    assert wrong <= (1 if game == "number-drop" else 0)


def test_the_markers_identify_the_player() -> None:
    sheet = photographed_sheet(photo("number-drop", sheets=(3,))[0], LAYOUTS)
    assert sheet.layout.board.name == "sheet of p3"
    assert sheet.layout.places[0] == "p3.a1"


def test_one_hidden_marker_does_no_harm() -> None:
    image, _ = photo("blokus-dice")
    whole = photographed_sheet(image, LAYOUTS)
    hidden = project(whole.camera, whole.pose, whole.layout.markers.corners_mm(2))
    cv2.fillConvexPoly(image, np.round(hidden).astype(np.int32), (120, 150, 205))
    assert photographed_sheet(image, LAYOUTS).layout == whole.layout


def smaller_print(layout: TableLayout) -> TableLayout:
    """The layout of a sheet whose markers lie elsewhere."""
    centres = {number: (0.7 * x, y) for number, (x, y) in layout.markers.centres_mm.items()}
    return replace(layout, markers=replace(layout.markers, centres_mm=centres))


@pytest.mark.parametrize(
    ("made", "layouts", "says"),
    [
        (partial(np.full, (756, 1008, 3), 200, np.uint8), LAYOUTS, "none of the markers of a sheet of number-drop and"),
        (lambda: photo("number-drop")[0][:, :520], LAYOUTS, "only markers 0 and 3 seen; expected 3 of one sheet"),
        (lambda: photo("number-drop", sheets=(1, 2), size=WIDE)[0], LAYOUTS, "the sheet of p1 and sheet of p2"),
        (
            lambda: photo("number-drop", sheets=(1, 1), size=WIDE)[0],
            LAYOUTS,
            "so two sheets have the same markers",
        ),
        (lambda: photo("blokus-dice", tilt_deg=0.0)[0], LAYOUTS[:1], "not where a sheet of number-drop has them"),
        (lambda: photo("number-drop")[0], [smaller_print(LAYOUTS[0])], "not where a sheet"),
    ],
)
def test_a_photo_without_one_whole_sheet_is_reported(
    made: Callable[[], Image], layouts: list[TableLayout], says: str
) -> None:
    with pytest.raises(NotLocatedError, match=says):
        photographed_sheet(made(), layouts)


@pytest.mark.parametrize("table", ["photoreal/003.jpg", "photoreal-discs/001.jpg", "photoreal-stacks/010.jpg"])
def test_another_games_table_is_no_sheet_though_it_has_the_same_markers(table: str) -> None:
    with pytest.raises(NotLocatedError, match="no printed lines of a sheet of blokus-dice"):
        photographed_sheet(load_image(DATA / table), LAYOUTS)


def test_a_sheet_of_which_only_the_handwriting_is_not_overexposed_is_located() -> None:
    image, _ = photo("number-drop")
    sheet = photographed_sheet(image, LAYOUTS)
    board = sheet.layout.board
    outline = project(sheet.camera, sheet.pose, board.bounds_mm.grown(6.0).corners_mm(board.height_mm))
    centres = project(sheet.camera, sheet.pose, np.insert(board.centres_mm, 2, board.height_mm, axis=1))
    cv2.fillConvexPoly(image, np.round(outline).astype(np.int32), (255, 255, 255))
    for column, row in np.round(centres).astype(np.int32).tolist():
        cv2.line(image, (column - 2, row + 3), (column + 2, row - 3), (60, 50, 40), 2)
    assert photographed_sheet(image, LAYOUTS).layout == sheet.layout


def test_cells_too_small_to_read_are_refused() -> None:
    image, _ = photo("number-drop", size=(640, 480), farther=2.6, tilt_deg=10.0)
    with pytest.raises(FrameError, match="pixels wide in the photo; expected 9 or more; take it from closer"):
        photographed_sheet(image, LAYOUTS)


def test_a_grey_photo_is_accepted() -> None:
    grey = as_grey(photo("number-drop")[0])
    assert photographed_sheet(grey, LAYOUTS).layout.game == "number-drop"


@pytest.mark.parametrize("ids", [(40, 41, 42, 43), (0, 4, 8, 12)])
def test_a_sheet_with_ids_of_its_own_is_found_though_there_are_none_for_six(ids: tuple[int, ...]) -> None:
    usual = default_layout("number-drop").with_sheets(1)
    centres = dict(zip(ids, usual.markers.centres_mm.values(), strict=True))
    own = replace(usual, markers=replace(usual.markers, centres_mm=centres))
    with pytest.raises(NotLocatedError, match="no sheet"):
        photographed_sheet(np.full((480, 640), 200, np.uint8), [own])


def test_a_layout_without_markers_on_its_sheets_is_refused() -> None:
    usual = default_layout("number-drop").with_sheets(1)
    bare = replace(usual, markers=replace(usual.markers, centres_mm={}))
    with pytest.raises(LayoutError, match="found by its markers"):
        photographed_sheet(np.full((480, 640), 200, np.uint8), [bare])
