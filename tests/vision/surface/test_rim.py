"""The rim of a drawn board: the step to the table, and objects crossing it, on each of its four sides."""

import functools

import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.surface.drawn import BOARD, WINDOW
from vision.frame import BoolImage, FloatImage
from vision.surface.plan import RimEvidence, SurfaceRim
from vision.surface.view import COARSER, SurfaceColours

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
    """The array with its near side rotated to another side."""
    return np.ascontiguousarray(np.rot90(array, side))


ARM = ((-20.0, 15.0), (-180.0, -60.0))


def test_a_bare_rim_shows_its_step_everywhere() -> None:
    found = detect(logs_of())
    assert found.inside_differs.all()
    assert not (found.missing | found.table_differs | found.entered | found.continues).any()
    assert len(found.missing) == 4 * 28
    everything = np.ones((ROWS, COLUMNS), dtype=np.bool_)
    assert found.count_missing_at(everything) == 0
    assert found.is_crossed_by(everything) is False
    assert not found.is_entered_by(everything)
    assert not found.continues_at(everything)


@pytest.mark.parametrize("side", range(4))
def test_an_arm_enters_where_it_crosses_the_rim(side: int) -> None:
    found = detect(np.asarray(turned(logs_of((*ARM, SKIN)), side), dtype=np.float32))
    pixels = np.asarray(turned(mask(*ARM), side))
    assert found.is_entered_by(pixels)
    assert found.continues_at(pixels)
    assert found.is_crossed_by(pixels) is True
    assert 1 <= found.count_missing_at(pixels) <= 2
    assert 3 <= found.entered.sum() <= 5
    assert 3 <= found.table_differs.sum() <= 5
    assert 2 <= found.missing.sum() <= 5
    elsewhere = np.asarray(turned(mask((60.0, 130.0), (-150.0, -60.0)), side))
    assert not found.is_entered_by(elsewhere)
    assert found.is_crossed_by(elsewhere) is False
    opposite = np.asarray(turned(mask(ARM[0], (60.0, 160.0)), side))
    assert found.count_missing_at(opposite) == 0
    assert found.is_crossed_by(np.asarray(turned(mask((-40.0, 40.0), (-40.0, 40.0)), side))) is False


@pytest.mark.parametrize(("wide_mm", "parts"), [(100.0, 10), (110.0, 11), (120.0, 0)])
def test_an_object_wider_than_an_arm_does_not_enter(wide_mm: float, parts: int) -> None:
    found = detect(logs_of(((-110.0, wide_mm - 110.0), (-180.0, -60.0), SKIN)))
    assert found.table_differs.sum() == wide_mm / 10
    assert found.entered.sum() == parts


@pytest.mark.parametrize("side", range(4))
def test_a_card_at_the_rim_does_not_reach_over_it(side: int) -> None:
    card = ((-40.0, 40.0), (-140.0, -80.0))
    found = detect(np.asarray(turned(logs_of((*card, SKIN)), side), dtype=np.float32))
    pixels = np.asarray(turned(mask(*card), side))
    assert found.is_crossed_by(pixels) is False
    assert not found.is_entered_by(pixels)
    assert found.count_missing_at(pixels) == 0


def test_an_object_that_looks_like_the_table_may_continue_on_it() -> None:
    card = ((-40.0, 40.0), (-140.0, -80.0))
    found = detect(logs_of((*card, TABLE)))
    assert found.is_crossed_by(mask(*card)) is None
    assert not found.missing.any()


@pytest.mark.parametrize("side", range(4))
def test_an_object_along_a_side_is_no_arm(side: int) -> None:
    book = ((-130.0, 0.0), (-180.0, -100.0))
    found = detect(np.asarray(turned(logs_of((*book, SKIN)), side), dtype=np.float32))
    assert not found.entered.any()
    assert found.table_differs.sum() + found.continues.sum() > 10


def test_an_arm_over_a_corner_is_an_arm() -> None:
    for x in ((-140.0, -105.0), (105.0, 140.0)):
        corner = (x, (-180.0, -60.0))
        found = detect(logs_of((*corner, SKIN)))
        assert found.is_entered_by(mask(*corner))


@pytest.mark.parametrize("side", range(4))
def test_an_arm_beside_a_corner_is_an_arm_whatever_lies_beside_other_sides(side: int) -> None:
    arm, card = ((105.0, 140.0), (-180.0, -60.0)), ((-180.0, -142.0), (-140.0, -110.0))
    found = detect(np.asarray(turned(logs_of((*arm, SKIN), (*card, SKIN)), side), dtype=np.float32))
    assert found.is_entered_by(np.asarray(turned(mask(*arm), side)))


def test_soft_edged_light_does_not_enter() -> None:
    logs = logs_of()
    x = np.linspace(-176, 176, COLUMNS)
    glow = 0.8 * np.exp(-0.5 * (x / 40) ** 2).astype(np.float32)
    logs[mm((-180, 180), (-180, -60))] += (glow[:, None] * np.array([-1.0, 1.0, 0.4]))[None].astype(np.float32)
    found = detect(logs)
    assert found.table_differs.any()
    assert not found.entered.any()


@pytest.mark.parametrize("off", [(0.5, 0.0), (-0.5, 0.0), (0.0, 0.5), (0.0, -0.5)])
def test_an_arm_that_differs_from_the_table_in_either_hue_enters(off: tuple[float, float]) -> None:
    arm = (TABLE[0] + off[0], TABLE[1] + off[1], TABLE[2])
    assert detect(logs_of((*ARM, arm))).is_entered_by(mask(*ARM))


@pytest.mark.parametrize(("brightness", "is_new"), [(-0.5, False), (-1.2, True), (0.1, False), (0.6, True)])
def test_a_shadow_on_the_table_does_not_differ_and_a_dark_sleeve_does(brightness: float, is_new: bool) -> None:
    shaded = (TABLE[0], TABLE[1], TABLE[2] + brightness)
    assert detect(logs_of((ARM[0], (-180.0, -142.0), shaded))).table_differs.any() == is_new


def test_hidden_parts_of_the_rim_are_not_judged() -> None:
    logs = logs_of((*ARM, SKIN))
    hidden = np.zeros(WINDOW.shape, dtype=np.bool_)
    hidden[-80:] = True
    found = detect(logs, hidden)
    assert not found.entered.any()
    assert not found.table_differs.any()
    assert 68 < found.inside_differs.sum() < 80
    beside = np.zeros(WINDOW.shape, dtype=np.bool_)
    beside[:, :100] = True
    assert detect(logs, beside).is_entered_by(mask(*ARM))


def test_no_step_is_missing_on_a_table_of_the_boards_colour() -> None:
    logs = logs_of()
    logs[:] = WOOD
    logs[mm(*ARM)] = SKIN
    found = detect(logs)
    assert not found.missing.any()
    assert found.is_entered_by(mask(*ARM))
    assert not found.inside_differs[~found.table_differs].any()


def test_two_arms_enter_separately() -> None:
    found = detect(logs_of((*ARM, SKIN), ((60.0, 95.0), (-180.0, -60.0), SKIN)))
    edges = np.diff(found.entered[2 * 28 : 3 * 28].astype(int))
    assert (edges == 1).sum() == 2
    assert 6 <= found.entered.sum() <= 9
