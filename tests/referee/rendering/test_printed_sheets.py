import re
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth

from referee.errors import PrintError
from referee.rendering.printed_sheets import PAPERS_MM, Page, plan_charuco, plan_markers, write_pdf
from vision.calibration import CharucoBoardSpec, parse_board
from vision.layout.pieces import MarkerLayout
from vision.layout.table import default_layout
from vision.opencv import aruco_dictionary, detect_charuco, detect_markers

PX_PER_MM = 8
MARKERS = MarkerLayout("DICT_4X4_50", 36, 0, {0: (-175, 175), 1: (175, 175), 2: (175, -175), 3: (-175, -175)})
BOARD = "charuco:7x5:30:22:DICT_5X5_100"


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
            plan_charuco(parse_board(BOARD), "a4"),
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


@pytest.mark.parametrize("spec", [BOARD, "charuco:6x8:24:18:DICT_4X4_100", "charuco:5x4:35.5:26:DICT_6X6_250"])
def test_the_calibration_board_agrees_with_opencv_to_a_tenth_of_a_millimetre(spec: str) -> None:
    board = parse_board(spec)
    page = plan_charuco(board, "a4")
    opencv = cv2.aruco.CharucoBoard(
        (board.columns, board.rows), board.square_mm, board.marker_mm, aruco_dictionary(board.dictionary)
    )
    corners, ids = detect_charuco(cv2.aruco.CharucoDetector(opencv), rasterise(page))
    assert len(ids) == (board.columns - 1) * (board.rows - 1)
    on_page_mm = corners / PX_PER_MM
    on_board_mm = board.corners_mm(ids)[:, :2]
    offsets = on_page_mm - on_board_mm
    assert np.ptp(offsets, axis=0) == pytest.approx([0, 0], abs=0.15)


def test_a_calibration_board_too_large_for_the_paper_is_refused() -> None:
    with pytest.raises(PrintError, match="400 x 240 mm"):
        plan_charuco(CharucoBoardSpec(10, 6, 40, 30, "DICT_5X5_100"), "a4")


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
        write_pdf([plan_charuco(parse_board(BOARD), "a4")], tmp_path / name, title="board")
    assert (tmp_path / "first.pdf").read_bytes() == (tmp_path / "second.pdf").read_bytes()


def test_a_drawing_shows_which_marker_lies_where() -> None:
    (page,) = plan_markers(default_layout("deblockle").markers, "a4")
    at = {label.text: (label.x_mm, label.y_mm) for label in page.labels if label.centred}
    assert at["0"][0] == at["3"][0] < at["board"][0] < at["1"][0] == at["2"][0]
    assert at["3"][1] == at["2"][1] < at["board"][1] < at["0"][1] == at["1"][1]
    assert at["first player"][1] < at["3"][1]
    assert max(line.end_mm[0] for line in page.lines) < at["1"][0]
