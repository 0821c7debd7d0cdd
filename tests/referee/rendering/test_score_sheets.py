from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from engine.printing import Box, BoxGroup, PrintedSheet
from engine.registry import load
from engine.values import OptionValue
from referee.errors import PrintError
from referee.rendering.printed_sheets import PAPERS_MM, Page, plan_sheets, write_pdf
from referee.settings.table_layout import with_rules
from tests.referee.rendering.test_printed_sheets import PX_PER_MM, rasterise
from tests.vision.readers.ink import sheets
from vision.geometry import project
from vision.layout.pieces import GridSurface
from vision.layout.table import TableLayout, default_layout
from vision.opencv import aruco_dictionary, detect_markers
from vision.readers.ink.network import MARGIN_CELLS, REACH_CELLS
from vision.readers.registry import table_reader

WRITTEN = ("blokus-dice", "number-drop")
WIDE = "20x12/20/a1,b2/1,2,I3,V3/I4,L4,T4,O4,Z4/I5,L5,Y5/P5,U5,V5/T5,X5,F5/N5,W5,Z5"


def planned(
    name: str, options: Mapping[str, OptionValue], paper: str = "a4"
) -> tuple[TableLayout, PrintedSheet, tuple[Page, ...]]:
    game = load(name)
    assert game.printed_sheet is not None
    printed = game.printed_sheet(options)
    layout = with_rules(default_layout(name), game, options)
    return layout, printed, plan_sheets(game.title, printed, layout, paper)


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("paper", sorted(PAPERS_MM))
def test_each_player_has_a_page_with_markers_where_the_layout_says(name: str, paper: str) -> None:
    layout, _, pages = planned(name, {"players": 3}, paper)
    detector = cv2.aruco.ArucoDetector(aruco_dictionary(layout.markers.dictionary))
    assert len(pages) == 3
    for part, page in zip(layout.parts(), pages, strict=True):
        found = dict(detect_markers(detector, rasterise(page)))
        assert sorted(found) == sorted(part.markers.centres_mm)
        cut = page.cuts[0]
        middle = np.array([cut.x_mm + cut.width_mm / 2, cut.y_mm + cut.height_mm / 2])
        for marker_id, quad in found.items():
            seen = quad.mean(axis=0) / PX_PER_MM * (1, -1) + (0, page.height_mm) - middle
            assert seen == pytest.approx(part.markers.centres_mm[marker_id], abs=0.15)
            assert quad[1][0] - quad[0][0] == pytest.approx(part.markers.side_mm * PX_PER_MM, abs=2), "upright"


@pytest.mark.parametrize(("name", "size"), [("number-drop", (148, 210)), ("blokus-dice", (200, 200))])
def test_a_sheet_is_as_large_as_its_layout_says(name: str, size: tuple[int, int]) -> None:
    _, _, pages = planned(name, {})
    assert {(page.cuts[0].width_mm, page.cuts[0].height_mm) for page in pages} == {size}


@pytest.mark.parametrize(
    ("name", "options"), [("number-drop", {}), ("blokus-dice", {}), ("blokus-dice", {"sheet": WIDE})]
)
@pytest.mark.parametrize("paper", sorted(PAPERS_MM))
def test_everything_printed_is_on_the_sheet_and_clear_of_the_markers(
    name: str, options: dict[str, OptionValue], paper: str
) -> None:
    layout, _, pages = planned(name, options, paper)
    page, cut = pages[0], pages[0].cuts[0]
    assert cut.x_mm >= 5
    assert cut.y_mm >= 35, "clear of the ruler"
    markers = [
        (shape[0].x_mm, min(part.y_mm for part in shape) - 1, max(part.y_mm for part in shape) + 4)
        for shape in page.shapes
    ]
    side = layout.markers.side_mm
    texts = [
        (label.x_mm - centred / 2, label.y_mm, label.x_mm + wide - centred / 2)
        for label in page.labels
        for wide in [stringWidth(label.text, "Helvetica", label.size_pt) * 25.4 / 72]
        for centred in [wide if label.centred else 0.0]
        if label.y_mm > cut.y_mm
    ]
    lines = [
        (min(x, to_x), min(y, to_y), max(x, to_x))
        for one in page.lines
        for (x, y), (to_x, to_y) in [(one.start_mm, one.end_mm)]
    ]
    for left, y, right in texts + lines:
        assert cut.x_mm <= left
        assert right <= cut.x_mm + cut.width_mm
        for marker_left, low, high in markers:
            assert right <= marker_left or left >= marker_left + side or y <= low or y >= high


def test_number_drops_red_line_is_between_lines_11_and_12() -> None:
    _, _, pages = planned("number-drop", {})
    cut = pages[0].cuts[0]
    red = [line for line in pages[0].lines if line.colour[0] > 0.5]
    assert [line.start_mm[1] - (cut.y_mm + 105) for line in red] == [pytest.approx(-84 + 11 * 12)]
    beside = sorted((label.y_mm, label.text) for label in pages[0].labels if label.text in {"+2", "-5"})
    assert [text for _, text in beside] == ["+2"] * 11 + ["-5"] * 3


@pytest.mark.parametrize(
    ("name", "options"), [("number-drop", {}), ("blokus-dice", {}), ("blokus-dice", {"sheet": WIDE})]
)
def test_columns_and_lines_have_their_names_in_grey_outside_the_grid(
    name: str, options: dict[str, OptionValue]
) -> None:
    layout, _, pages = planned(name, options)
    page, cut = pages[0], pages[0].cuts[0]
    middle = np.array([cut.x_mm + cut.width_mm / 2, cut.y_mm + cut.height_mm / 2])
    grid = layout.parts()[0].surfaces[0]
    assert isinstance(grid, GridSurface)
    bounds, cell = grid.bounds_mm, grid.cell_mm
    at = {label.text: np.array([label.x_mm, label.y_mm]) - middle for label in page.labels if label.grey}
    assert len(at) == grid.columns + grid.rows
    height = 5 * 25.4 / 72
    for place in grid.places:
        letter, number = place.removeprefix(grid.prefix)[0], place.removeprefix(grid.prefix)[1:]
        x, y = grid.centre_mm(place)
        assert at[letter][0] == pytest.approx(x)
        assert at[letter][1] + height < bounds.near_mm - MARGIN_CELLS * cell, "beyond what the reader flattens"
        assert at[number][1] < y < at[number][1] + height
        assert at[number][0] + stringWidth(number, "Helvetica", 5) * 25.4 / 144 < bounds.left_mm - REACH_CELLS * cell


@pytest.mark.parametrize("name", WRITTEN)
def test_a_sheet_is_read_alike_with_the_names_printed_beside_its_grid(name: str) -> None:
    page = planned(name, {})[2][0]
    cut = page.cuts[0]
    printed = np.full((round(cut.height_mm * PX_PER_MM), round(cut.width_mm * PX_PER_MM)), 255, np.uint8)
    for label in page.labels:
        if label.grey:
            size = label.size_pt * 25.4 / 72 * PX_PER_MM / 30
            left = (label.x_mm - cut.x_mm) * PX_PER_MM - cv2.getTextSize(label.text, 0, size, 1)[0][0] / 2
            low = printed.shape[0] - (label.y_mm - cut.y_mm) * PX_PER_MM
            cv2.putText(printed, label.text, (round(left), round(low)), 0, size, 255 * label.grey, 2, cv2.LINE_AA)
    image = sheets.picture(name)
    x, y = cut.width_mm / 2, cut.height_mm / 2
    corners = np.array([(-x, y, 0.0), (x, y, 0.0), (x, -y, 0.0), (-x, -y, 0.0)])
    right, low = printed.shape[1], printed.shape[0]
    to_picture = cv2.getPerspectiveTransform(
        np.array([(0, 0), (right, 0), (right, low), (0, low)], np.float32),
        project(sheets.camera(), sheets.pose(name), corners).astype(np.float32),
    )
    inked = cv2.warpPerspective(printed, to_picture, image.shape[1::-1], flags=cv2.INTER_AREA, borderValue=255)
    named = (image * (inked[..., None] / 255)).astype(np.uint8)
    assert (named != image).any()
    reader = table_reader(sheets.camera(), sheets.layout(name), None)
    read, plain = (reader.read(sheets.frame(each)) for each in (named, image))
    assert sheets.grid_of(read, name) == sheets.grid_of(plain, name)
    assert read.hindrances == plain.hindrances == ()
    for place, one in plain.places.items():
        assert read.places[place].probabilities == pytest.approx(one.probabilities, abs=0.01)


def test_an_owners_own_sheet_is_printed_with_its_squares() -> None:
    layout, printed, pages = planned("blokus-dice", {"sheet": WIDE, "players": 2})
    assert (layout.board.columns, layout.board.rows, layout.board.cell_mm) == (20, 12, 7)
    assert printed.closed == ("a1", "b2")
    assert len(pages[0].shaded) == 2 + 89, "the closed squares, and those of the shapes to cross off"
    assert len(printed.groups[-1].boxes) == 20


def test_boxes_without_room_and_a_sheet_too_large_are_refused() -> None:
    layout = default_layout("number-drop")
    crowded = PrintedSheet(7, 14, (BoxGroup("many", (Box("1"),) * 200),))
    with pytest.raises(PrintError, match="no room around the grid for the 200 boxes of 'many'"):
        plan_sheets("Game", crowded, layout, "a4")
    centres = {0: (-168.0, 168.0), 1: (168.0, 168.0), 2: (168.0, -168.0), 3: (-168.0, -168.0)}
    large = replace(layout, markers=replace(layout.markers, centres_mm=centres))
    with pytest.raises(PrintError, match="360 x 360 mm, which does not fit on a4"):
        plan_sheets("Game", crowded, large, "a4")


def test_the_pdf_contains_lines_colours_and_words(tmp_path: Path) -> None:
    _, _, pages = planned("number-drop", {"players": 1})
    write_pdf(pages, tmp_path / "sheet.pdf", title="sheet")
    pdf = (tmp_path / "sheet.pdf").read_bytes()
    for words in (b"(Number Drop, sheet of p1)", b"(+2)", b"(Name)", b".85 .1 .1 RG", b"must be exactly 100 mm"):
        assert words in pdf
