"""Which printed lines of a drawn board are seen, and which are missing."""

from __future__ import annotations

import functools

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.surface.drawn import BOARD, WINDOW, Rect, board_image, grey_of, part, softened, with_lines
from vision.frame import BoolImage, FloatImage
from vision.surface.grid_lines import HALVES, GridLines, LineEvidence, grid_segments

GREY = grey_of(board_image())
COARSE = (WINDOW.shape[0] // 2, WINDOW.shape[1] // 2)
CARD: Rect = (-55.0, 55.0, -55.0, 55.0)


@functools.cache
def lines() -> GridLines:
    return GridLines(BOARD, WINDOW)


def mask(rect: Rect | None = None) -> BoolImage:
    found = np.zeros(WINDOW.shape, dtype=np.bool_)
    if rect is not None:
        found[part(rect)] = True
    return found


def detect(
    grey: FloatImage,
    known: BoolImage | None = None,
    brighter: FloatImage | None = None,
    bleached: BoolImage | None = None,
) -> LineEvidence:
    return lines().detect(
        grey,
        mask() if known is None else known,
        np.zeros(COARSE, dtype=np.float32) if brighter is None else brighter,
        np.zeros(COARSE, dtype=np.bool_) if bleached is None else bleached,
    )


def parts_in(rect: Rect, margin_mm: float = 0.0) -> npt.NDArray[np.bool_]:
    """Which parts lie wholly inside a rectangle, smaller by a margin."""
    ends = []
    for x1, y1, x2, y2 in grid_segments(BOARD):
        for low, high in HALVES:
            ends.append([(x1 + share * (x2 - x1), y1 + share * (y2 - y1)) for share in (low, high)])
    x, y = np.moveaxis(np.array(ends), -1, 0)
    left, right, near, far = rect
    inside = (x > left + margin_mm) & (x < right - margin_mm) & (y > near + margin_mm) & (y < far - margin_mm)
    return np.asarray(inside.all(axis=1))


def level(grey: FloatImage) -> float:
    return float(np.median(grey[part((-139.0, 139.0, -139.0, 139.0))]))


def over(rect: Rect, grey: FloatImage = GREY) -> FloatImage:
    """The board with a card of its own grey."""
    grey = grey.copy()
    grey[part(rect)] = level(grey) + np.random.default_rng(2).normal(0, 1.0, grey[part(rect)].shape)
    return grey


def test_inner_lines_are_one_cell_long_and_border_the_squares() -> None:
    segments = np.array(grid_segments(BOARD))
    assert len(segments) == 2 * 7 * 6
    assert np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1]) == pytest.approx(40.0)
    assert np.abs(segments).max() == 140.0
    assert len(np.unique(segments, axis=0)) == len(segments)
    around = {place: int(lines().parts_around(BOARD.centre_mm(place)).sum()) for place in BOARD.places}
    assert (around["d4"], around["d1"], around["a4"], around["a1"], around["g7"]) == (8, 6, 6, 4, 4)
    where = lines().parts_around(BOARD.centre_mm("d4")) > 0
    assert (where == parts_in((-21.0, 21.0, -21.0, 21.0))).all()


def test_every_line_of_a_bare_board_is_seen() -> None:
    found = detect(GREY)
    assert found.seen.all()
    assert not found.missing.any()
    assert found.judged.all()
    assert found.decidable.all()
    assert found.clearness == pytest.approx(1.0, abs=0.25)
    assert lines().parts.upright.sum() == len(found.gone) / 2


@pytest.mark.parametrize("rect", [CARD, (-140.0, -25.0, -140.0, 140.0), (30.0, 140.0, 30.0, 140.0)])
def test_lines_under_a_card_of_the_boards_colour_are_missing_and_no_others(rect: Rect) -> None:
    found = detect(over(rect))
    inside, near = parts_in(rect, 1.0), parts_in(rect, -8.0)
    assert found.missing[inside].all()
    assert found.seen[~near].all()
    assert found.clearness[inside].max() < 0.4


def test_bright_lines_on_a_dark_board_are_lines_too() -> None:
    rect = CARD
    found = detect(over(rect, 200 - GREY))
    assert found.missing[parts_in(rect, 1.0)].all()
    assert found.seen[~parts_in(rect, -8.0)].all()


def test_a_turned_view_gives_the_turned_answer() -> None:
    grey = over((-100.0, -20.0, -60.0, 140.0))
    upright, turned = detect(grey), detect(np.ascontiguousarray(np.rot90(grey)))
    assert turned.missing.sum() == upright.missing.sum()
    assert turned.seen.sum() == upright.seen.sum()
    assert turned.gone[lines().parts.upright].sum() == pytest.approx(
        upright.gone[~lines().parts.upright].sum(), rel=0.02
    )


def test_a_camera_shaken_one_way_blurs_half_of_the_lines_and_loses_none() -> None:
    shaken = np.asarray(cv2.blur(GREY, (7, 1)), dtype=np.float32)
    found = detect(over(CARD, shaken))
    assert found.missing[parts_in(CARD, 1.0)].all()
    assert found.seen[~parts_in(CARD, -8.0)].all()


def test_half_of_the_light_halves_the_contrast_of_lines_and_loses_none() -> None:
    found = detect(over(CARD, 0.5 * GREY))
    assert found.missing[parts_in(CARD, 1.0)].all()
    assert found.seen[~parts_in(CARD, -8.0)].all()
    shaded = GREY.copy()
    shaded[:, : shaded.shape[1] // 2] *= np.float32(0.55)
    found = detect(shaded)
    assert not found.missing.any()
    assert found.seen.mean() > 0.9


def test_nothing_is_said_of_lines_behind_pieces() -> None:
    found = detect(over(CARD), mask((-57.0, 57.0, -57.0, 57.0)))
    inside = parts_in(CARD)
    assert not found.judged[inside].any()
    assert not found.missing.any()
    assert (found.gone[inside] == 0).all()
    assert found.judged[~parts_in(CARD, -12.0)].all()
    assert found.seen[~parts_in(CARD, -12.0)].all()


def test_where_hardly_anything_is_in_sight_nothing_is_said() -> None:
    nearly_all = ~mask((-30.0, 30.0, -30.0, 30.0))
    found = detect(over((-10.0, 30.0, -30.0, 30.0)), nearly_all)
    assert (found.gone == 0).all()
    assert not found.decidable.any()


def test_a_board_without_lines_misses_none() -> None:
    blank = np.full(WINDOW.shape, 120.0) + np.random.default_rng(3).normal(0, 1.5, WINDOW.shape)
    found = detect(blank.astype(np.float32))
    assert not found.missing.any()
    assert not found.decidable.any()


def test_lines_fade_in_added_light_and_are_not_missing() -> None:
    rect = (-60.0, 60.0, -60.0, 60.0)
    faded = GREY.copy()
    faded[part(rect)] = level(GREY) + 30 + (faded[part(rect)] - level(GREY)) * 0.1
    brighter = np.zeros(COARSE, dtype=np.float32)
    rows, columns = part(rect)
    brighter[rows.start // 2 : rows.stop // 2, columns.start // 2 : columns.stop // 2] = 1.2
    inside = parts_in(rect, 2.0)
    assert detect(faded).missing[inside].all()
    assert not detect(faded, brighter=brighter).missing[inside].any()


def test_lines_in_overexposed_parts_are_not_missing_unless_the_whole_board_is_white() -> None:
    bleached = np.zeros(COARSE, dtype=np.bool_)
    rows, columns = part(CARD)
    bleached[rows.start // 2 : rows.stop // 2, columns.start // 2 : columns.stop // 2] = True
    found = detect(over(CARD), bleached=bleached)
    assert not found.missing[parts_in(CARD)].any()
    white = np.ones(COARSE, dtype=np.bool_)
    everywhere = detect(over((-55.0, 15.0, -55.0, 15.0)), bleached=white)
    assert everywhere.missing[parts_in((-55.0, 15.0, -55.0, 15.0), 1.0)].all()


def test_the_hard_edge_of_a_shadow_along_a_line_hides_no_line() -> None:
    lineless = np.full(WINDOW.shape, level(GREY), dtype=np.float32)
    grey = GREY.copy()
    rows, _ = part((-140.0, 140.0, -140.0, 140.0))
    edge = round(WINDOW.to_pixels(20.0, 0.0)[0])
    grey[rows, edge - 8 : edge + 8] = lineless[rows, edge - 8 : edge + 8]
    grey[rows, edge:] *= np.float32(0.35)
    along = lines().parts.upright & (np.abs(lines().parts.points[:, 0, 1] - edge) < 3)
    assert not detect(grey).missing[along].any()


def test_an_edge_far_stronger_than_a_line_or_beside_its_place_is_not_that_line() -> None:
    pale = softened(with_lines(np.full((*WINDOW.shape, 3), 130, dtype=np.uint8), (110, 110, 110)))
    grey = grey_of(pale)
    x, y = 20.0, 0.0
    strong = grey.copy()
    strong[part((x - 2, x + 2, y - 18, y + 18))] = 20
    here = lines().parts.upright & parts_in((x - 3, x + 3, y - 21, y + 21))
    assert here.sum() == 2
    assert detect(grey).seen[here].all()
    assert not detect(strong).seen[here].any()
    moved = grey.copy()
    moved[part((x - 4, x + 4, y - 19, y + 19))] = 130
    moved[part((x + 2, x + 4, y - 19, y + 19))] = 110
    assert not detect(moved).seen[here].any()


def test_lines_all_a_little_beside_their_places_are_seen() -> None:
    off = np.asarray(np.roll(GREY, (1, 1), (0, 1)))
    assert detect(off).seen.mean() > 0.98
