"""A board to print: every drawn shape is on some page, at its true size."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import PrintError
from referee.rendering.printed_sheets import MARGIN_MM, RULER_HEIGHT_MM, Page, marker_shape, plan_board, write_pdf
from vision.layout.table import default_layout


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
        assert cut.y_mm >= MARGIN_MM + RULER_HEIGHT_MM
        assert cut.x_mm + cut.width_mm <= page.width_mm - MARGIN_MM + 1e-6
        assert cut.y_mm + cut.height_mm <= page.height_mm - MARGIN_MM + 1e-6
        assert page.ruler
    letters = {label.text for page in pages for label in page.labels}
    assert {"a", "1", str(board.rows)} <= letters


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(PrintError, match="no paper"):
        plan_board(default_layout("deblockle"), "A board", "napkin")


def test_the_row_label_on_a_cut_line_of_deblockle_is_on_two_pages() -> None:
    pages = plan_board(default_layout("deblockle"), "Deblockle", "a4")
    assert [number for number, page in enumerate(pages) if "4" in {label.text for label in page.labels}] == [0, 3]


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
