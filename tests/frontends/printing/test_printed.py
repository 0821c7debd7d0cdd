"""Printed boards, sheets and score sheets: every shape is on some page, at its true size."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from app.settings.table_layout import with_rules
from engine.printing import Box, BoxGroup, PrintedSheet
from engine.registry import load
from engine.values import OptionValue
from frontends.printing.board import plan_board
from frontends.printing.pages import MARGIN_MM, PAPERS_MM, STRIP_MM, Page, marker_shape, write_pdf
from frontends.printing.sheets import plan_charuco, plan_markers, plan_sheets
from referee.errors import PrintError
from tests.vision.readers.ink import sheets
from vision.calibration import calibration_board
from vision.geometry import project
from vision.layout.pieces import GridSurface, MarkerLayout
from vision.layout.table import TableLayout, default_layout
from vision.opencv import aruco_dictionary, detect_markers, points_2d
from vision.readers.ink.network import MARGIN_CELLS, REACH_CELLS
from vision.readers.registry import table_reader


def black_mm2(page: Page) -> float:
    return sum(part.width_mm * part.height_mm for shape in page.shapes for part in shape)


@pytest.mark.parametrize("game", ["deblockle", "diaballik", "blockade"])
@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_markers_and_squares_are_whole_over_all_pages(game: str, paper: str) -> None:
    layout = default_layout(game)
    pages = plan_board(layout, "A board", paper)
    markers = layout.markers
    shapes = [marker_shape(markers.dictionary, one, 0, 0, markers.side_mm) for one in markers.centres_mm]
    wanted = sum(part.width_mm * part.height_mm for shape in shapes for part in shape)
    assert sum(map(black_mm2, pages)) == pytest.approx(wanted)
    lines = [line for page in pages for line in page.lines]
    drawn = sum(abs(line.end_mm[0] - line.start_mm[0]) + abs(line.end_mm[1] - line.start_mm[1]) for line in lines)
    board = layout.board
    squares_mm = board.cell_mm * ((board.columns + 1) * board.rows + (board.rows + 1) * board.columns)
    assert drawn >= squares_mm - 1e-6
    for page in pages:
        (cut,) = page.cuts
        assert cut.x_mm >= MARGIN_MM
        assert cut.y_mm >= MARGIN_MM + STRIP_MM
        assert cut.x_mm + cut.width_mm <= page.width_mm - MARGIN_MM + 1e-6
        assert cut.y_mm + cut.height_mm <= page.height_mm - MARGIN_MM + 1e-6
        assert page.ruler
    letters = {label.text for page in pages for label in page.labels}
    assert {"a", "1", str(board.rows)} <= letters


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(PrintError, match="no paper"):
        plan_board(default_layout("deblockle"), "A board", "napkin")


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_no_square_is_cut_so_each_label_is_on_one_page(paper: str) -> None:
    pages = plan_board(default_layout("deblockle"), "Deblockle", paper)
    texts = [label.text for page in pages for label in page.labels if label.size_pt == 11]
    assert all(texts.count(name) == 1 for name in "abcdefg1234567")


def test_a_star_is_printed_in_the_middle_of_each_home_square(tmp_path: Path) -> None:
    layout = default_layout("deblockle")
    pages = plan_board(layout, "Deblockle", "a4")
    write_pdf(pages, tmp_path / "board.pdf", title="board")
    pdf = (tmp_path / "board.pdf").read_bytes()
    assert b"/BaseFont /ZapfDingbats" in pdf
    # A star is the H of this font.
    assert pdf.count(b"(H) Tj") == sum(label.text == "\N{BLACK STAR}" for page in pages for label in page.labels) > 0
    (height,) = {label.size_pt * 25.4 / 72 for page in pages for label in page.labels if label.font != "Helvetica"}
    assert 0.5 * layout.board.cell_mm < 0.75 * height < 0.7 * layout.board.cell_mm


PX_PER_MM = 8
MARKERS = MarkerLayout("DICT_4X4_50", 36, 0, {0: (-175, 175), 1: (175, 175), 2: (175, -175), 3: (-175, -175)})


def rasterise(page: Page) -> npt.NDArray[np.uint8]:
    """Draw the shapes of a page as a printer would, 8 pixels a millimetre."""
    height = round(page.height_mm * PX_PER_MM)
    image = np.full((height, round(page.width_mm * PX_PER_MM)), 255, np.uint8)
    for shape in page.shapes:
        for rectangle in shape:
            left, right = (round(x * PX_PER_MM) for x in (rectangle.x_mm, rectangle.x_mm + rectangle.width_mm))
            low, high = (round(y * PX_PER_MM) for y in (rectangle.y_mm, rectangle.y_mm + rectangle.height_mm))
            image[height - high : height - low, left:right] = 0
    return image


@pytest.mark.parametrize("paper", sorted(PAPERS_MM))
@pytest.mark.parametrize("dictionary", ["DICT_4X4_50", "DICT_5X5_100", "DICT_6X6_250", "DICT_APRILTAG_36h11"])
def test_markers_are_found_at_their_true_size(paper: str, dictionary: str) -> None:
    markers = MarkerLayout(dictionary, 36, 0, {number: (number, 0) for number in (0, 1, 2, 3, 7, 11, 20, 21, 22)})
    pages = plan_markers(markers, paper)
    seen: dict[int, npt.NDArray[np.float64]] = {}
    for page in pages:
        detector = cv2.aruco.ArucoDetector(aruco_dictionary(dictionary))
        found = detect_markers(detector, rasterise(page))
        seen |= dict(found)
    assert sorted(seen) == sorted(markers.centres_mm)
    for quad in seen.values():
        top_left, top_right, bottom_right, _ = quad / PX_PER_MM
        assert np.linalg.norm(top_right - top_left) == pytest.approx(36, abs=0.3)
        assert np.linalg.norm(bottom_right - top_right) == pytest.approx(36, abs=0.3)
        assert top_right[0] - top_left[0] > 35, "the marker is upright"


def test_marker_cards_are_on_the_paper_without_overlap() -> None:
    for paper, (width, height) in PAPERS_MM.items():
        for side in (10, 36, 80, 110):
            for page in plan_markers(MarkerLayout("DICT_4X4_50", side, 0, MARKERS.centres_mm), paper):
                for index, card in enumerate(page.cuts):
                    assert card.x_mm >= 5
                    assert card.y_mm >= 40, "clear of the ruler"
                    assert card.x_mm + card.width_mm <= width - 5
                    assert card.y_mm + card.height_mm <= height - 5
                    for other in page.cuts[:index]:
                        assert (
                            other.x_mm + other.width_mm <= card.x_mm
                            or card.x_mm + card.width_mm <= other.x_mm
                            or card.y_mm + card.height_mm <= other.y_mm
                        )


def test_no_text_runs_off_the_paper_or_into_its_neighbour() -> None:
    for markers in (MARKERS, MarkerLayout("DICT_4X4_50", 10, 0, MARKERS.centres_mm)):
        for page in (
            *plan_markers(markers, "a4"),
            *plan_markers(markers, "letter"),
            plan_charuco("a4"),
        ):
            for index, label in enumerate(page.labels):
                end = label.x_mm + stringWidth(label.text, "Helvetica", label.size_pt) * 25.4 / 72
                assert end <= page.width_mm - 5, label.text
                for other in page.labels[index + 1 :]:
                    assert abs(other.y_mm - label.y_mm) > 2 or other.x_mm > end or label.x_mm > other.x_mm


def test_the_default_table_fits_on_one_sheet() -> None:
    assert len(plan_markers(default_layout("deblockle").markers, "a4")) == 1


def test_a_marker_too_large_for_the_paper_is_refused() -> None:
    with pytest.raises(PrintError, match="needs 253"):
        plan_markers(MarkerLayout("DICT_4X4_50", 190, 0, MARKERS.centres_mm), "a4")


@pytest.mark.parametrize(
    ("markers", "message"),
    [
        (MarkerLayout("DICT_4X4_50", 36, 0, {50: (0, 0)}), "no marker 50; it has 0 to 49"),
        (MarkerLayout("DICT_9X9", 36, 0, {0: (0, 0)}), "DICT_9X9"),
    ],
)
def test_a_marker_that_does_not_exist_is_refused(markers: MarkerLayout, message: str) -> None:
    with pytest.raises(PrintError, match=message):
        plan_markers(markers, "a4")


def test_unknown_paper_is_refused() -> None:
    with pytest.raises(PrintError, match="expected one of a4, letter"):
        plan_markers(MARKERS, "a3")


@pytest.mark.parametrize("paper", ["a4", "letter"])
def test_the_calibration_board_agrees_with_opencv_to_a_tenth_of_a_millimetre(paper: str) -> None:
    board = calibration_board()
    corners, ids, *_ = cv2.aruco.CharucoDetector(board).detectBoard(rasterise(plan_charuco(paper)))
    numbers = np.asarray(ids).ravel()
    assert len(numbers) == 24
    offsets = points_2d(corners) / PX_PER_MM - np.asarray(board.getChessboardCorners())[numbers, :2]
    assert np.ptp(offsets, axis=0) == pytest.approx([0, 0], abs=0.15)


NUMBER = r"(-?[\d.]+)"


def lengths_in(pdf: bytes, operator: str, count: int) -> list[tuple[float, ...]]:
    found = re.findall(rf"{' '.join([NUMBER] * count)} {operator}\b".encode(), pdf)
    return [tuple(float(number) * 25.4 / 72 for number in numbers) for numbers in found]


def test_the_pdf_has_the_planned_shapes_in_true_millimetres(tmp_path: Path) -> None:
    path = tmp_path / "markers.pdf"
    pages = plan_markers(MARKERS, "a4")
    write_pdf(pages, path, title="markers")
    pdf = path.read_bytes()
    assert pdf.startswith(b"%PDF-")
    width, height = (float(part) * 25.4 / 72 for part in re.findall(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+)", pdf)[0])
    assert (width, height) == pytest.approx((210, 297), abs=0.01)
    drawn = lengths_in(pdf, "re", 4)
    planned = [part for page in pages for shape in page.shapes for part in shape] + list(pages[0].cuts)
    assert len(drawn) == len(planned)
    for got, want in zip(drawn, planned, strict=True):
        assert got == pytest.approx((want.x_mm, want.y_mm, want.width_mm, want.height_mm), abs=0.01)
    ruler = re.findall(rf"{NUMBER} {NUMBER} m {NUMBER} {NUMBER} l".encode(), pdf)
    starts = [tuple(float(number) * 25.4 / 72 for number in line) for line in ruler]
    assert starts[0][2] - starts[0][0] == pytest.approx(100, abs=0.01)
    assert len(starts) == 102 + len(pages[0].lines)
    assert b"must be exactly 100 mm" in pdf
    for number in range(4):
        assert f"marker {number}:".encode() in pdf


def test_the_same_sheet_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("first.pdf", "second.pdf"):
        write_pdf([plan_charuco("a4")], tmp_path / name, title="board")
    assert (tmp_path / "first.pdf").read_bytes() == (tmp_path / "second.pdf").read_bytes()


def test_a_drawing_shows_which_marker_lies_where() -> None:
    (page,) = plan_markers(default_layout("deblockle").markers, "a4")
    at = {label.text: (label.x_mm, label.y_mm) for label in page.labels if label.centred}
    assert at["0"][0] == at["3"][0] < at["board"][0] < at["1"][0] == at["2"][0]
    assert at["3"][1] == at["2"][1] < at["board"][1] < at["0"][1] == at["1"][1]
    assert at["first player"][1] < at["3"][1]
    assert max(line.end_mm[0] for line in page.lines) < at["1"][0]


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
