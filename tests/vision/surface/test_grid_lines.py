"""Visible and missing printed lines of a drawn board."""

import functools
import math
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.effort import cases, some
from tests.vision.surface.drawn import BOARD, WINDOW, Rect, board_image, grey_of, part, softened, with_lines
from vision.frame import BoolImage, FloatImage
from vision.layout.pieces import GridSurface
from vision.layout.table import default_layout
from vision.sampling import sample
from vision.surface.plan import HALVES, GridLines, LineEvidence, grid_segments
from vision.surface.sheet_occlusion import SheetLines
from vision.surface.view import view_window

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
    not_bare: BoolImage | None = None,
    brighter: FloatImage | None = None,
    bleached: BoolImage | None = None,
) -> LineEvidence:
    return lines().detect(
        grey,
        mask() if not_bare is None else not_bare,
        np.zeros(COARSE, dtype=np.float32) if brighter is None else brighter,
        np.zeros(COARSE, dtype=np.bool_) if bleached is None else bleached,
    )


def parts_in(rect: Rect, margin_mm: float = 0.0) -> npt.NDArray[np.bool_]:
    """Mask of the line parts wholly inside a rectangle shrunk by a margin."""
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
    segments = grid_segments(BOARD)
    assert len(segments) == 2 * 7 * 6
    assert np.hypot(segments[:, 2] - segments[:, 0], segments[:, 3] - segments[:, 1]) == pytest.approx(40.0)
    assert np.abs(segments).max() == 140.0
    assert len(np.unique(segments, axis=0)) == len(segments)
    parts = dict(zip(BOARD.places, lines().parts_around(BOARD.centres_mm), strict=True))
    around = {place: int(own.sum()) for place, own in parts.items()}
    assert (around["d4"], around["d1"], around["a4"], around["a1"], around["g7"]) == (8, 6, 6, 4, 4)
    where = parts["d4"] > 0
    assert (where == parts_in((-21.0, 21.0, -21.0, 21.0))).all()


def test_every_line_of_a_bare_board_is_seen() -> None:
    found = detect(GREY)
    assert found.seen.all()
    assert not found.missing.any()
    assert found.judged.all()
    assert found.decidable.all()
    assert found.clearness == pytest.approx(1.0, abs=0.25)
    assert lines().parts.upright.sum() == len(found.missing_log_odds) / 2


@pytest.mark.parametrize("rect", [CARD, (-140.0, -25.0, -140.0, 140.0), (30.0, 140.0, 30.0, 140.0)])
def test_lines_under_a_card_of_the_boards_colour_are_missing_and_no_others(rect: Rect) -> None:
    found = detect(over(rect))
    inside, near = parts_in(rect, 1.0), parts_in(rect, -8.0)
    assert found.missing[inside].all()
    assert found.seen[~near].all()
    assert found.clearness[inside].max() < 0.4


def test_where_hardly_a_line_is_left_those_of_an_earlier_picture_tell() -> None:
    rect: Rect = (-140.0, 140.0, -140.0, 90.0)
    grey = over(rect)
    assert not detect(grey).missing.any()
    assert detect(grey).usual is None
    known = detect(GREY).usual
    found = lines().detect(grey, mask(), np.zeros(COARSE, np.float32), np.zeros(COARSE, np.bool_), known)
    assert found.missing[parts_in(rect, 1.0)].all()
    assert found.seen[~parts_in(rect, -8.0)].all()


def test_lines_are_seen_although_pieces_hide_the_middle_of_every_square() -> None:
    full = mask()
    for x, y in BOARD.centres_mm:
        full[part((x - 12.0, x + 12.0, y - 12.0, y + 12.0))] = True
    found = detect(over(CARD), full)
    assert found.missing[parts_in(CARD, 1.0)].all()
    assert found.seen[~parts_in(CARD, -8.0)].all()


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
    assert turned.missing_log_odds[lines().parts.upright].sum() == pytest.approx(
        upright.missing_log_odds[~lines().parts.upright].sum(), rel=0.02
    )


def test_a_camera_shaken_one_way_blurs_half_of_the_lines_and_loses_none() -> None:
    shaken = np.asarray(cv2.blur(GREY, (7, 1)), dtype=np.float32)
    found = detect(over(CARD, shaken))
    assert found.missing[parts_in(CARD, 1.0)].all()
    assert found.seen[~parts_in(CARD, -8.0)].all()


def test_half_the_light_halves_the_contrast_of_lines_and_loses_none() -> None:
    found = detect(over(CARD, 0.5 * GREY))
    assert found.missing[parts_in(CARD, 1.0)].all()
    assert found.seen[~parts_in(CARD, -8.0)].all()
    shaded = GREY.copy()
    shaded[:, : shaded.shape[1] // 2] *= np.float32(0.55)
    found = detect(shaded)
    assert not found.missing.any()
    assert found.seen.mean() > 0.9


def test_lines_behind_pieces_are_not_judged() -> None:
    found = detect(over(CARD), mask((-57.0, 57.0, -57.0, 57.0)))
    inside = parts_in(CARD)
    assert not found.judged[inside].any()
    assert not found.missing.any()
    assert (found.missing_log_odds[inside] == 0).all()
    assert found.judged[~parts_in(CARD, -12.0)].all()
    assert found.seen[~parts_in(CARD, -12.0)].all()


def test_lines_are_not_judged_if_hardly_any_is_in_sight() -> None:
    nearly_all = ~mask((-30.0, 30.0, -30.0, 30.0))
    found = detect(over((-10.0, 30.0, -30.0, 30.0)), nearly_all)
    assert (found.missing_log_odds == 0).all()
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


def test_lines_that_are_all_slightly_displaced_are_seen() -> None:
    off = np.asarray(np.roll(GREY, (1, 1), (0, 1)))
    assert detect(off).seen.mean() > 0.98


OFFSETS_MM = (-5.5, -4.5, -2.4, -1.6, -0.8, 0.0, 0.8, 1.6, 2.4, 4.5, 5.5)


class ByPart:
    """Cross profile of half a line segment, or of the same shifted to an area without lines."""

    def __init__(
        self, grey: FloatImage, not_bare: BoolImage, start: npt.NDArray[np.floating], end: npt.NDArray[np.floating]
    ):
        along = (end - start) / np.linalg.norm(end - start)
        self.upright = abs(along[1]) > 0.5
        across = np.array([-along[1], along[0]])
        points = [start + (end - start) * number / 11 for number in range(12)]
        columns, rows = (np.round(at).astype(int) for at in WINDOW.to_pixels(*np.array(points).T))
        self.rows, self.columns = np.clip(rows, 0, grey.shape[0] - 1), np.clip(columns, 0, grey.shape[1] - 1)
        is_open = ~not_bare[self.rows, self.columns]
        self.bare = 2 * int(is_open.sum()) >= 12
        levels = []
        for off_mm in OFFSETS_MM:
            moved = np.array(WINDOW.to_pixels(*(np.array(points) + off_mm * across).T), dtype=np.float32).T
            shown = sample(grey, np.ascontiguousarray(moved[None]))[0]
            levels.append(float(shown[is_open].mean()) if is_open.any() else 0.0)
        left, middle, right = np.mean(levels[:2]), levels[2:-2], np.mean(levels[-2:])
        self.beside, self.step = float(left + right) / 2, float(abs(left - right))
        self.contrasts = self.beside - min(middle), max(middle) - self.beside
        self.places = middle.index(min(middle)), middle.index(max(middle))


def by_parts(
    grey: FloatImage, not_bare: BoolImage, brighter: FloatImage, bleached: BoolImage
) -> tuple[list[float], list[bool], list[float]]:
    """A part-by-part reference: odds that a part is gone, whether a line would show, and its clarity."""
    segments = grid_segments(BOARD).reshape(-1, 2, 2)
    parts, blanks = [], []
    for start, end in segments:
        way = end - start
        shift = np.array([-way[1], way[0]]) / 2
        for low, high in ((0.08, 0.48), (0.52, 0.92)):
            parts.append(ByPart(grey, not_bare, start + low * way, start + high * way))
            blanks.append(ByPart(grey, not_bare, start + shift + low * way, start + shift + high * way))
    coarse = [(one.rows // 2, one.columns // 2) for one in parts]
    bright = [bool(bleached[at].mean() > 0.2) for at in coarse]
    judged = [one for one, white in zip(parts, bright, strict=True) if one.bare and not white]
    judged = judged if len(judged) >= 12 else [one for one in parts if one.bare]
    gone, decidable, clearness = [0.0] * len(parts), [False] * len(parts), [0.0] * len(parts)
    if len(judged) < 12:
        return gone, decidable, clearness
    way = 0 if np.median([one.contrasts[0] for one in judged]) >= np.median([one.contrasts[1] for one in judged]) else 1
    for upright in (False, True):
        own = [number for number, one in enumerate(parts) if one.bare and one.upright == upright]
        null = [one.contrasts[way] for one in blanks if one.bare and one.upright == upright]
        if min(len(own), len(null)) < 12:
            continue
        lit = {n: max(0.0, float(brighter[coarse[n][0][6], coarse[n][1][6]])) for n in own}
        levels = {n: parts[n].beside * math.exp(-2 / 2.2 * lit[n]) for n in own}
        blank = float(np.median(null))
        noise = max(0.8, 1.4826 * float(np.median(np.abs(np.array(null) - blank))))
        usual = float(np.quantile([parts[n].contrasts[way] / max(levels[n], 1.0) for n in own], 0.65))
        expected = {n: max(usual * levels[n], 1e-3) for n in own}
        present = np.mean([parts[n].contrasts[way] > 0.5 * (blank + expected[n]) for n in own])
        for n in own:
            shown = min(max(parts[n].contrasts[way], blank), expected[n])
            of_line, of_none = math.hypot(noise, 0.3 * expected[n]), math.hypot(noise, 0.06 * expected[n])
            odds = ((shown - expected[n]) / of_line) ** 2 / 2 - ((shown - blank) / of_none) ** 2 / 2
            if expected[n] > blank + 2.0 * noise and present > 0.4:
                gone[n] = min(2.5, max(-2.5, odds + math.log(of_line / of_none)))
            decidable[n] = gone[n] != 0
        where = {n: (1.0, parts[n].rows.mean() / grey.shape[0], parts[n].columns.mean() / grey.shape[1]) for n in own}
        seen = [n for n in own if gone[n] < 0]
        fit = np.zeros(3)
        if len(seen) >= 12:
            fit = np.linalg.lstsq([where[n] for n in seen], [parts[n].places[way] for n in seen], rcond=None)[0]
        for n in own:
            astray = len(seen) >= 12 and abs(parts[n].places[way] - np.dot(where[n], fit)) >= 1.7
            if astray or parts[n].contrasts[way] > 2.2 * usual * parts[n].beside + 1.6:
                gone[n] = max(gone[n], 0.0)
            if parts[n].step > usual * parts[n].beside:
                gone[n] = min(gone[n], 0.0)
            clearness[n] = parts[n].contrasts[way] / max(usual * parts[n].beside, 1e-3)
    white = [gone[n] < 0 for n, one in enumerate(parts) if bright[n] and one.bare]
    if not white or np.mean(white) < 0.6:
        gone = [min(odds, 0.0) if is_bright else odds for odds, is_bright in zip(gone, bright, strict=True)]
    return gone, decidable, clearness


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("seed", range(cases(3)))
def test_the_evidence_equals_a_part_by_part_reference(seed: int, inverted: bool) -> None:
    """Cards, shadows, a lamp and noise on a board with dark or bright lines, some hidden by pieces."""
    random = np.random.default_rng(seed)

    def anywhere(least_mm: float, most_mm: float) -> Rect:
        (x, y), (wide, deep) = random.uniform(-150, 150, 2), random.uniform(least_mm, most_mm, 2) / 2
        return x - wide, x + wide, y - deep, y + deep

    grey = (255 - GREY if inverted else GREY).copy()
    for _ in range(3):
        grey = over(anywhere(20, 90), grey)
        grey[part(anywhere(20, 120))] *= np.float32(random.uniform(0.4, 1.5))
    grey += random.normal(0, random.choice([0.5, 3.0, 8.0]), grey.shape).astype(np.float32)
    not_bare, bleached = mask(anywhere(60, 120)) | mask(anywhere(20, 40)), np.zeros(COARSE, dtype=np.bool_)
    bleached |= mask(anywhere(40, 120))[::2, ::2][: COARSE[0], : COARSE[1]]
    brighter = cv2.resize(random.normal(0, 0.5, (5, 5)).astype(np.float32), COARSE[::-1]).astype(np.float32)
    found = detect(grey, not_bare, brighter, bleached)
    gone, decidable, clearness = by_parts(grey, not_bare, brighter, bleached)
    assert found.decidable.tolist() == decidable
    assert found.clearness == pytest.approx(np.array(clearness), abs=1e-3)
    assert found.missing_log_odds == pytest.approx(np.array(gone), abs=0.01)


# Covered areas of a drawn sheet, found by its grid lines alone.

SHEETS = (default_layout("number-drop").board, default_layout("blokus-dice").board)
LIGHT, DARK = 0.6, 0.2
Cells = tuple[float, float, float, float]
"""Left, right, near and far end in cells from the grid's near left corner."""


def part_sheet_lines(sheet: GridSurface, cells: Cells) -> tuple[slice, slice]:
    window, bounds = view_window(sheet, 10.0), sheet.bounds_mm
    left, right, near, far = cells
    first, top = window.to_pixels(bounds.left_mm + left * sheet.cell_mm, bounds.near_mm + far * sheet.cell_mm)
    last, bottom = window.to_pixels(bounds.left_mm + right * sheet.cell_mm, bounds.near_mm + near * sheet.cell_mm)
    return slice(round(top + 0.5), round(bottom + 0.5)), slice(round(first + 0.5), round(last + 0.5))


def printed(sheet: GridSurface, blur_px: float = 0.6) -> FloatImage:
    """The light of a sheet with its grid."""
    window, bounds = view_window(sheet, 10.0), sheet.bounds_mm
    light = np.full((*window.shape, 3), LIGHT, dtype=np.float32)
    for number in range(sheet.columns + 1):
        column = round(window.to_pixels(bounds.left_mm + number * sheet.cell_mm, 0.0)[0])
        light[10:-10, column] = DARK
    for number in range(sheet.rows + 1):
        row = round(window.to_pixels(0.0, bounds.near_mm + number * sheet.cell_mm)[1])
        light[row, 10:-10] = DARK
    noisy = cv2.GaussianBlur(light, (0, 0), blur_px) + np.random.default_rng(1).normal(0, 0.004, light.shape)
    return np.asarray(noisy, dtype=np.float32)


def covered(sheet: GridSurface, light: FloatImage, without: BoolImage | None = None) -> BoolImage:
    window = view_window(sheet, 10.0)
    nothing = np.zeros(window.shape, dtype=np.bool_)
    lines = SheetLines(sheet, window)
    return lines.mark_covered(lines.examine(light), light, nothing if without is None else without)


def with_card(sheet: GridSurface, cells: Cells, light: float = LIGHT) -> FloatImage:
    image = printed(sheet)
    shape = image[part_sheet_lines(sheet, cells)].shape
    image[part_sheet_lines(sheet, cells)] = light + np.random.default_rng(2).normal(0, 0.004, shape)
    return image


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
def test_a_bare_sheet_is_not_covered_in_any_light(sheet: GridSurface) -> None:
    light = printed(sheet)
    for factor in (1.0, 0.3, 0.1):
        assert not covered(sheet, light * np.float32(factor)).any()
    lamp = np.linspace(0.4, 1.3, light.shape[1], dtype=np.float32)[None, :, None]
    assert not covered(sheet, light * lamp).any()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize("brightness", [LIGHT, 0.4, 0.8])
def test_a_card_over_one_corner_covers_the_four_squares_around_it(sheet: GridSurface, brightness: float) -> None:
    found = covered(sheet, with_card(sheet, (1.4, 2.6, 2.4, 3.6), brightness))
    assert found[part_sheet_lines(sheet, (1.05, 2.95, 2.05, 3.95))].all()
    assert found.sum() == pytest.approx(4 * sheet.cell_mm**2, rel=0.2)


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize("share", [0.5, 0.6, 0.7, 0.8])
def test_paper_over_most_of_the_grid_covers_it(sheet: GridSurface, share: float) -> None:
    far = share * sheet.rows
    found = covered(sheet, with_card(sheet, (0.0, sheet.columns, 0.0, far)))
    assert found[part_sheet_lines(sheet, (0.05, sheet.columns - 0.05, 0.5, far - 1.0))].all()
    assert not found[part_sheet_lines(sheet, (0.05, sheet.columns - 0.05, far + 1.5, sheet.rows))].any()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
def test_lines_under_paper_or_ink_are_told_apart(sheet: GridSurface) -> None:
    lines = SheetLines(sheet, view_window(sheet, 10.0))
    assert lines.examine(printed(sheet)).are_seen
    assert not lines.examine(with_card(sheet, (-0.5, sheet.columns + 0.5, -0.5, sheet.rows + 0.5))).are_seen


@pytest.mark.parametrize(("columns", "rows"), [(1, 14), (7, 1), (2, 1)])
def test_a_single_column_or_row_has_no_lines_to_judge(columns: int, rows: int) -> None:
    sheet = replace(SHEETS[0], columns=columns, rows=rows)
    assert not covered(sheet, printed(sheet)).any()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
def test_a_card_beside_a_corner_covers_none(sheet: GridSurface) -> None:
    for cells in ((1.1, 1.9, 1.1, 1.9), (1.1, 1.9, 1.4, 2.6), (1.4, 2.6, 1.1, 1.9)):
        assert not covered(sheet, with_card(sheet, cells)).any()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
def test_a_card_over_three_of_the_four_lines_of_a_corner_covers_none(sheet: GridSurface) -> None:
    for cells in ((1.4, 2.6, 1.9, 2.6), (1.4, 2.6, 1.4, 2.1), (1.9, 2.6, 1.4, 2.6), (1.4, 2.1, 1.4, 2.6)):
        assert not covered(sheet, with_card(sheet, cells)).any(), cells


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize(
    ("card", "is_found"),
    [
        ((1.9, 3.1, 3.9, 5.1), True),
        ((1.9, 3.1, 3.9, 4.85), True),
        ((1.9, 3.1, 3.9, 4.55), False),
        ((-0.3, 1.1, 3.9, 5.1), True),
        ((-0.3, 1.1, 3.9, 4.85), True),
        ((-0.3, 1.1, 3.9, 4.45), False),
        ((-0.3, 1.1, -0.3, 1.1), False),
    ],
    ids=["all 8 arms", "6", "4", "4 of 4 at the edge", "3", "1", "2 of 2 in a corner"],
)
def test_a_card_over_most_lines_around_a_cell_covers_it_and_half_of_its_neighbours(
    sheet: GridSurface, card: Cells, is_found: bool
) -> None:
    found = covered(sheet, with_card(sheet, card))
    left, near = max(0, math.ceil(card[0])), math.ceil(card[2])
    assert found.any() == is_found
    assert found[part_sheet_lines(sheet, (left, left + 1.45, near - 0.45, near + 1.45))].all() == is_found


def test_larger_cards_cover_more_and_up_to_the_border_of_the_grid() -> None:
    sheet = SHEETS[0]
    found = covered(sheet, with_card(sheet, (0.0, 2.6, 0.0, 3.6)))
    assert found[part_sheet_lines(sheet, (0.05, 2.95, 0.05, 3.95))].all()
    assert not found[part_sheet_lines(sheet, (3.2, 6.0, 0.0, 12.0))].any()


def test_a_card_is_found_where_most_lines_have_a_filled_cell_on_one_side() -> None:
    sheet = SHEETS[1]
    card = (0.4, 1.6, 0.4, 1.6)
    light = with_card(sheet, card)
    for column in range(sheet.columns):
        for row in range(4 + column % 2, sheet.rows, 2):
            light[part_sheet_lines(sheet, (column + 0.05, column + 0.95, row + 0.05, row + 0.95))] *= np.float32(0.3)
    found = covered(sheet, light)
    assert found[part_sheet_lines(sheet, (0.05, 1.95, 0.05, 1.95))].all()
    assert not found[part_sheet_lines(sheet, (0.0, sheet.columns, 3.0, sheet.rows))].any()


def test_strokes_over_a_corner_are_no_card() -> None:
    sheet = SHEETS[0]
    light = printed(sheet)
    rows, columns = part_sheet_lines(sheet, (2.0, 3.0, 3.0, 4.0))
    for offset in (-4, 0, 4):
        cv2.line(
            light,
            (columns.start - 15, rows.stop + offset - 9),
            (columns.start + 15, rows.stop + offset + 9),
            (0.05,) * 3,
            2,
        )
    assert not covered(sheet, light).any()


def test_excluded_and_overexposed_corners_are_not_judged() -> None:
    sheet = SHEETS[0]
    card = (1.4, 2.6, 2.4, 3.6)
    light = with_card(sheet, card)
    without = np.zeros(light.shape[:2], dtype=np.bool_)
    without[part_sheet_lines(sheet, card)] = True
    assert not covered(sheet, light, without).any()
    assert covered(sheet, light, ~without).any()
    assert not covered(sheet, with_card(sheet, card, 0.95)).any()
    tinted = with_card(sheet, card, 0.8)
    tinted[part_sheet_lines(sheet, card)] = (0.7, 0.85, 0.98)
    assert covered(sheet, tinted).any(), "one channel that is full hides no line"


def test_a_sheet_without_visible_lines_is_not_judged() -> None:
    sheet = SHEETS[0]
    blank = np.full((*view_window(sheet, 10.0).shape, 3), LIGHT)
    noisy = (blank + np.random.default_rng(3).normal(0, 0.02, blank.shape)).astype(np.float32)
    assert not covered(sheet, noisy).any()
    one_way = with_card(sheet, (1.4, 2.6, 2.4, 3.6))
    one_way = np.asarray(cv2.GaussianBlur(one_way, (0, 0), 0.1, sigmaY=25.0), dtype=np.float32)
    one_way += np.random.default_rng(4).normal(0, 0.01, one_way.shape).astype(np.float32)
    assert not covered(sheet, one_way).any()


def test_a_card_is_found_on_a_shaken_picture_too() -> None:
    sheet = SHEETS[0]
    shaken = np.asarray(cv2.blur(with_card(sheet, (1.4, 3.6, 2.4, 4.6)), (3, 1)), dtype=np.float32)
    found = covered(sheet, shaken)
    assert found[part_sheet_lines(sheet, (1.05, 3.95, 2.05, 4.95))].all()
    assert found.sum() < 12 * sheet.cell_mm**2


ARMS = ((0, 1), (0, -1), (1, 0), (-1, 0))
ACROSS = (-0.23, -0.17, -0.06, -0.04, -0.02, 0.0, 0.02, 0.04, 0.06, 0.17, 0.23)


def by_arms(sheet: GridSurface, light: FloatImage) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """For each arm of each corner: whether its line is gone, and whether the light across it is even."""
    window, bounds, cell = view_window(sheet, 10.0), sheet.bounds_mm, sheet.cell_mm
    logs = np.log(light.mean(axis=2) + np.float32(0.02)).astype(np.float32)

    def profile(x: float, y: float, way: tuple[int, int]) -> tuple[float, float]:
        """Darkness of the middle of an arm against the paper on its darker side, and the spread across it."""
        levels = []
        for off in ACROSS:
            along = [0.08 + 0.39 * number / 7 for number in range(8)]
            points = [
                (x + cell * (at * way[0] - off * way[1]), y + cell * (at * way[1] + off * way[0])) for at in along
            ]
            pixels = np.array([window.to_pixels(*point) for point in points], dtype=np.float32)[None]
            levels.append(float(np.median(cv2.remap(logs, pixels[..., 0], pixels[..., 1], cv2.INTER_LINEAR))))
        paper = min((levels[0] + levels[1]) / 2, (levels[-1] + levels[-2]) / 2)
        return paper - min(levels[2:-2]), max(levels) - min(levels)

    corners = [
        (bounds.left_mm + cell * column, bounds.near_mm + cell * row)
        for row in range(1, sheet.rows)
        for column in range(1, sheet.columns)
    ]
    lined = np.array([[profile(x, y, way) for way in ARMS] for x, y in corners])
    blank = np.array([[profile(x + cell / 2, y + cell / 2, way)[0] for way in ARMS] for x, y in corners])
    gone, even = np.zeros(blank.shape, dtype=np.bool_), np.zeros(blank.shape, dtype=np.bool_)
    for way in (slice(0, 2), slice(2, 4)):
        none = float(np.median(blank[:, way.start]))
        noise = 1.4826 * float(np.median(np.abs(blank[:, way.start] - none)))
        least = none - 3.0 * noise if sheet is SHEETS[1] else -math.inf
        shown = [one for one in lined[:, way, 0].ravel().tolist() if one > least]
        contrast = float(np.median(shown)) - none if len(shown) > 0.2 * 2 * len(lined) else 0.0
        if contrast < 6.0 * noise:
            return np.zeros_like(gone), np.zeros_like(even)
        even[:, way] = lined[:, way, 1] < 0.5 * contrast
        gone[:, way] = even[:, way] & (lined[:, way, 0] - none < 0.3 * contrast)
    return gone, even


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize(("seed", "noise"), some([(4, 0.0), (1, 0.01), (3, 0.3), (2, 0.03)]))
def test_the_judgement_of_arms_equals_an_arm_by_arm_reference(sheet: GridSurface, seed: int, noise: float) -> None:
    """Pale and dark objects on the sheet; lines show through some, and strokes cross some."""
    random = np.random.default_rng(seed)
    light = printed(sheet)
    for _ in range(12):
        column, row = random.uniform(0, sheet.columns), random.uniform(0, sheet.rows)
        wide, deep = random.uniform(0.3, 2.0, 2)
        pixels = part_sheet_lines(sheet, (column, column + wide, row, row + deep))
        share = random.choice([1.0, 0.9, 0.7, 0.4])
        light[pixels] = share * random.uniform(0.1, 0.8) + (1 - share) * light[pixels]
    for _ in range(8):
        start, end = random.integers(0, light.shape[0], (2, 2)).tolist()
        cv2.line(light, start, end, (0.1, 0.1, 0.15), 2)
    light *= np.float32(1) + random.normal(0, noise, light.shape).astype(np.float32)
    lines = SheetLines(sheet, view_window(sheet, 10.0))
    found = lines.examine(light)
    gone, even = by_arms(sheet, light)
    assert (found.missing == gone).all()
    assert (found.even == even).all()
    assert gone.any() == even.any() == (noise < 0.3)
    assert (gone != even).any() == (noise < 0.3)
    assert found.missing.shape == lines.arms_mm.shape[:2]
    nothing = np.zeros(light.shape[:2], dtype=np.bool_)
    expected = nothing.copy()
    cell_px = round(sheet.cell_mm * view_window(sheet, 10.0).px_per_mm)
    at_corners = {
        (up, across): gone[number] for number, (up, across) in enumerate(np.ndindex(sheet.rows - 1, sheet.columns - 1))
    }
    points_mm = [tuple(lines.arms_mm[number].mean(axis=0)) for number in np.flatnonzero(gone.all(axis=1))]
    for up, across in np.ndindex(sheet.rows, sheet.columns):
        # the cell's own arms of the corners at its near left, near right, far left and far right
        own = [
            at_corners[up + down, across + left][list(arms)]
            for down, left, arms in ((-1, -1, (0, 2)), (-1, 0, (0, 3)), (0, -1, (1, 2)), (0, 0, (1, 3)))
            if (up + down, across + left) in at_corners
        ]
        if len(own) > 1 and np.mean(own) >= 0.75:
            middle = np.array([across, up]) + 0.5
            points_mm.append(tuple(middle * sheet.cell_mm + (sheet.bounds_mm.left_mm, sheet.bounds_mm.near_mm)))
    for point_mm in points_mm:
        column, row = (round(float(at)) for at in view_window(sheet, 10.0).to_pixels(*point_mm))
        if light[row, column].min() <= 0.88:
            expected[max(0, row - cell_px) : row + cell_px + 1, max(0, column - cell_px) : column + cell_px + 1] = True
    assert (lines.mark_covered(found, light, nothing) == expected).all()


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: str(sheet.columns))
@pytest.mark.parametrize(("light", "seen"), [(0.02, False), (0.5, False), (1.0, True)])
def test_even_light_without_noise_shows_no_lines_unless_overexposed(
    sheet: GridSurface, light: float, seen: bool
) -> None:
    """Compression leaves no noise on plain paper."""
    window = view_window(sheet, 10.0)
    assert SheetLines(sheet, window).examine(np.full((*window.shape, 3), light, np.float32)).are_seen is seen
