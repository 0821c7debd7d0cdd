"""Visible and missing printed lines of a drawn board."""

from __future__ import annotations

import functools
import math

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.effort import cases
from tests.vision.surface.drawn import BOARD, WINDOW, Rect, board_image, grey_of, part, softened, with_lines
from vision.frame import BoolImage, FloatImage
from vision.sampling import sample
from vision.surface.plan import HALVES, GridLines, LineEvidence, grid_segments

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
