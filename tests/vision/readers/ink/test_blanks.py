"""Cells with only print are found, and one of them is read for all."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.readers.ink.sheets import camera, layout, picture, pose
from vision.frame import FloatImage
from vision.readers.ink.blanks import blank_cells
from vision.readers.ink.crops import BLOT, EMPTY_SIGN, SIGNS, Crops
from vision.readers.ink.network import InkNetwork
from vision.readers.ink.paper import CELL_PX, flat_map, flat_picture, ink_on

ROWS, COLUMNS = 6, 5
CELLS = np.argwhere(np.ones((ROWS, COLUMNS), dtype=np.bool_))


def printed_ink() -> FloatImage:
    """The ink of a sheet with nothing but its lines, with half a cell of margin."""
    ink = np.zeros(((ROWS + 1) * CELL_PX, (COLUMNS + 1) * CELL_PX), dtype=np.float32)
    half = CELL_PX // 2
    for row in range(ROWS + 1):
        ink[half + row * CELL_PX, half:-half] = 0.5
    for column in range(COLUMNS + 1):
        ink[half:-half, half + column * CELL_PX] = 0.5
    return ink


def centre_px(row: int, column: int) -> tuple[int, int]:
    """The column and row of a cell's centre in the flat picture."""
    return (column + 1) * CELL_PX, (row + 1) * CELL_PX


def found_in(ink: FloatImage) -> set[tuple[int, int]]:
    return {(int(row), int(column)) for row, column in CELLS[blank_cells(ink, CELLS)]}


class CountingNetwork(InkNetwork):
    """The network, and how many crops it was asked to read."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def scores(self, crops: Crops) -> npt.NDArray[np.float64]:
        self.asked += len(crops)
        return super().scores(crops)


def test_all_cells_of_an_unwritten_sheet_are_blank() -> None:
    assert found_in(printed_ink()) == {(int(row), int(column)) for row, column in CELLS}


def test_a_stroke_marks_its_cell_and_cells_within_half_a_cell() -> None:
    ink = printed_ink()
    x, y = centre_px(3, 2)
    cv2.line(ink, (x - 8, y - 8), (x - 2, y - 2), 0.3, 1)
    seen_by = {(2, 1), (2, 2), (3, 1), (3, 2)}
    assert found_in(ink) == {(int(row), int(column)) for row, column in CELLS} - seen_by


def test_the_darkest_blank_cell_comes_first() -> None:
    ink = printed_ink()
    x, y = centre_px(4, 1)
    ink[y - 2 : y + 2, x - 2 : x + 2] = 0.03
    assert CELLS[blank_cells(ink, CELLS)[0]].tolist() == [4, 1]


def test_the_same_sign_in_most_cells_is_not_taken_for_print() -> None:
    ink = printed_ink()
    for row, column in CELLS[: 2 * len(CELLS) // 3]:
        cv2.line(ink, centre_px(row, column), np.add(centre_px(row, column), 8).tolist(), 0.4, 2)
    written = {(int(row), int(column)) for row, column in CELLS[: 2 * len(CELLS) // 3]}
    assert not found_in(ink) & written


def test_a_darker_line_between_two_rows_is_print() -> None:
    ink = printed_ink()
    below = CELL_PX // 2 + 2 * CELL_PX
    ink[below - 1 : below + 1, CELL_PX // 2 : -CELL_PX // 2] = 0.9
    assert len(found_in(ink)) == len(CELLS)


def test_a_stroke_through_a_whole_row_is_no_print() -> None:
    ink = printed_ink()
    _, y = centre_px(2, 0)
    ink[y - 1 : y + 1, CELL_PX // 2 : -CELL_PX // 2] = 0.9
    assert not {row for row, _ in found_in(ink)} & {1, 2, 3}


@pytest.mark.parametrize(("along_px", "is_seen"), [(2 * CELL_PX, True), (3, False)])
def test_ink_on_a_line_counts_if_it_is_darker_than_print_can_be(along_px: int, is_seen: bool) -> None:
    ink = printed_ink()
    x, y = centre_px(3, 2)
    ink[y + CELL_PX // 2, x : x + along_px] = 0.5 * (1.8 if is_seen else 1.2)
    assert ((3, 2) in found_in(ink)) != is_seen


def test_a_few_cells_have_nothing_in_common() -> None:
    ink = printed_ink()[: 3 * CELL_PX, : 3 * CELL_PX]
    assert not len(blank_cells(ink, CELLS[:2]))


def test_one_blank_cell_is_read_for_all() -> None:
    board = layout("number-drop").board
    ink = ink_on(flat_picture(picture("number-drop"), flat_map(camera(), pose("number-drop"), board), board))
    cells = np.argwhere(np.ones((board.rows, board.columns), dtype=np.bool_))
    blank = blank_cells(ink, cells)
    assert len(blank) > 20
    network, each = CountingNetwork(), InkNetwork()
    quick = network.read(ink, cells)
    slow = np.concatenate([each.read(ink, cells[number : number + 1]) for number in range(len(cells))])
    others = np.setdiff1d(np.arange(len(cells)), blank)
    assert network.asked <= len(cells) - len(blank) + 1 + 4 * len(others)
    assert quick[others] == pytest.approx(slow[others], abs=1e-3)
    assert (slow[blank, : len(SIGNS)].argmax(axis=1) == SIGNS.index(EMPTY_SIGN)).all()
    assert quick[blank, SIGNS.index(EMPTY_SIGN)] == pytest.approx(slow[blank, SIGNS.index(EMPTY_SIGN)], abs=0.01)


def test_all_blank_cells_are_read_if_the_darkest_is_not_certainly_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    network = CountingNetwork()
    doubtful = np.zeros((1, 0))

    def scores(crops: Crops) -> npt.NDArray[np.float64]:
        network.asked += len(crops)
        given = np.zeros((len(crops), doubtful.shape[1] + len(SIGNS) + 5))
        given[:, : len(SIGNS)] = np.log(0.5 / (len(SIGNS) - 1))
        given[:, SIGNS.index(BLOT)] = np.log(0.5)
        return given

    monkeypatch.setattr(network, "scores", scores)
    network.read(printed_ink(), CELLS)
    assert network.asked == 5 * len(CELLS)
