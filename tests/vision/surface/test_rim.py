"""The rim of a drawn board: where the step to the table is, and what reaches over it, on each of its four sides."""

from __future__ import annotations

import functools

import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.surface.drawn import BOARD, WINDOW
from vision.frame import BoolImage, FloatImage
from vision.surface.colours import COARSER, SurfaceColours
from vision.surface.rim import RimEvidence, SurfaceRim

ROWS, COLUMNS = WINDOW.shape[0] // COARSER, WINDOW.shape[1] // COARSER
WOOD, TABLE, SKIN = (0.0, 0.0, 0.0), (0.5, -0.3, -0.2), (-0.5, 0.6, 0.2)
Colour = tuple[float, float, float]


@functools.cache
def rim() -> SurfaceRim:
    return SurfaceRim(BOARD, WINDOW)


def mm(x: tuple[float, float], y: tuple[float, float]) -> tuple[slice, slice]:
    """Coarse rows and columns of a rectangle."""
    left, far = WINDOW.to_pixels(x[0], y[1])
    right, near = WINDOW.to_pixels(x[1], y[0])
    return (
        slice(max(0, round(far / COARSER)), max(0, round(near / COARSER))),
        slice(max(0, round(left / COARSER)), max(0, round(right / COARSER))),
    )


def logs_of(*parts: tuple[tuple[float, float], tuple[float, float], Colour]) -> FloatImage:
    """Colours of a board on a table with rectangles on both, each by its extents and colour."""
    logs = np.empty((ROWS, COLUMNS, 3), dtype=np.float32)
    logs[:] = TABLE
    logs[mm((-140, 140), (-140, 140))] = WOOD
    for x, y, colour in parts:
        logs[mm(x, y)] = colour
    return logs


def mask(x: tuple[float, float], y: tuple[float, float]) -> BoolImage:
    found = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    found[mm(x, y)] = True
    return found


def detect(logs: FloatImage, hidden: BoolImage | None = None) -> RimEvidence:
    nothing: FloatImage = np.zeros((ROWS, COLUMNS), dtype=np.float32)
    no: BoolImage = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    colours = SurfaceColours(nothing, no, logs, nothing, nothing, no, 0.13, no)
    return rim().detect(colours, np.zeros(WINDOW.shape, dtype=np.bool_) if hidden is None else hidden)


def turned(array: npt.NDArray[np.generic], side: int) -> npt.NDArray[np.generic]:
    """What is at the near side, brought to another."""
    return np.ascontiguousarray(np.rot90(array, side))


ARM = ((-20.0, 15.0), (-180.0, -60.0))


def test_a_bare_rim_shows_its_step_everywhere() -> None:
    found = detect(logs_of())
    assert found.apart.all()
    assert not (found.gone | found.beyond | found.entered | found.continuing).any()
    assert len(found.gone) == 4 * 28
    everything = np.ones((ROWS, COLUMNS), dtype=np.bool_)
    assert found.gone_at(everything) == 0
    assert found.crossed_by(everything) is False
    assert not found.entered_by(everything)
    assert not found.continues_at(everything)


@pytest.mark.parametrize("side", range(4))
def test_an_arm_enters_where_it_crosses_the_rim(side: int) -> None:
    found = detect(np.asarray(turned(logs_of((*ARM, SKIN)), side), dtype=np.float32))
    pixels = np.asarray(turned(mask(*ARM), side))
    assert found.entered_by(pixels)
    assert found.continues_at(pixels)
    assert found.crossed_by(pixels) is True
    assert 1 <= found.gone_at(pixels) <= 2
    assert 3 <= found.entered.sum() <= 5
    assert 3 <= found.beyond.sum() <= 5
    assert 2 <= found.gone.sum() <= 5
    elsewhere = np.asarray(turned(mask((60.0, 130.0), (-150.0, -60.0)), side))
    assert not found.entered_by(elsewhere)
    assert found.crossed_by(elsewhere) is False
    opposite = np.asarray(turned(mask(ARM[0], (60.0, 160.0)), side))
    assert found.gone_at(opposite) == 0
    assert found.crossed_by(np.asarray(turned(mask((-40.0, 40.0), (-40.0, 40.0)), side))) is False


@pytest.mark.parametrize("side", range(4))
def test_a_card_at_the_rim_does_not_reach_over_it(side: int) -> None:
    card = ((-40.0, 40.0), (-140.0, -80.0))
    found = detect(np.asarray(turned(logs_of((*card, SKIN)), side), dtype=np.float32))
    pixels = np.asarray(turned(mask(*card), side))
    assert found.crossed_by(pixels) is False
    assert not found.entered_by(pixels)
    assert found.gone_at(pixels) == 0


def test_what_looks_like_the_table_may_continue_there() -> None:
    card = ((-40.0, 40.0), (-140.0, -80.0))
    found = detect(logs_of((*card, TABLE)))
    assert found.crossed_by(mask(*card)) is None
    assert not found.gone.any()


@pytest.mark.parametrize("side", range(4))
def test_what_lies_along_a_side_is_no_arm(side: int) -> None:
    book = ((-130.0, 0.0), (-180.0, -100.0))
    found = detect(np.asarray(turned(logs_of((*book, SKIN)), side), dtype=np.float32))
    assert not found.entered.any()
    assert found.beyond.sum() + found.continuing.sum() > 10


def test_an_arm_up_to_a_corner_is_one_too() -> None:
    for x in ((-140.0, -105.0), (105.0, 140.0)):
        corner = (x, (-180.0, -60.0))
        found = detect(logs_of((*corner, SKIN)))
        assert found.entered_by(mask(*corner))


def test_light_that_fades_in_and_out_enters_nowhere() -> None:
    logs = logs_of()
    x = np.linspace(-176, 176, COLUMNS)
    glow = 0.8 * np.exp(-0.5 * (x / 40) ** 2).astype(np.float32)
    logs[mm((-180, 180), (-180, -60))] += (glow[:, None] * np.array([-1.0, 1.0, 0.4]))[None].astype(np.float32)
    found = detect(logs)
    assert found.beyond.any()
    assert not found.entered.any()


@pytest.mark.parametrize(("brightness", "is_new"), [(-0.5, False), (-1.2, True), (0.1, False), (0.6, True)])
def test_a_shadow_on_the_table_is_nothing_new_and_a_dark_sleeve_is(brightness: float, is_new: bool) -> None:
    shaded = (TABLE[0], TABLE[1], TABLE[2] + brightness)
    assert detect(logs_of((ARM[0], (-180.0, -142.0), shaded))).beyond.any() == is_new


def test_nothing_is_said_where_pieces_hide_the_rim_or_it_is_out_of_the_picture() -> None:
    logs = logs_of((*ARM, SKIN))
    hidden = np.zeros(WINDOW.shape, dtype=np.bool_)
    hidden[-80:] = True
    found = detect(logs, hidden)
    assert not found.entered.any()
    assert not found.beyond.any()
    assert 68 < found.apart.sum() < 80
    beside = np.zeros(WINDOW.shape, dtype=np.bool_)
    beside[:, :100] = True
    assert detect(logs, beside).entered_by(mask(*ARM))


def test_on_a_table_like_the_board_no_step_is_missed() -> None:
    logs = logs_of()
    logs[:] = WOOD
    logs[mm(*ARM)] = SKIN
    found = detect(logs)
    assert not found.gone.any()
    assert found.entered_by(mask(*ARM))
    assert not found.apart[~found.beyond].any()


def test_two_arms_are_two() -> None:
    found = detect(logs_of((*ARM, SKIN), ((60.0, 95.0), (-180.0, -60.0), SKIN)))
    edges = np.diff(found.entered[2 * 28 : 3 * 28].astype(int))
    assert (edges == 1).sum() == 2
    assert 6 <= found.entered.sum() <= 9
