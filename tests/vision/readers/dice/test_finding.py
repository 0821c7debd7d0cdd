"""Finding dice: the crops given to the networks, and the interpretation of their output."""

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from vision.readers.dice.finding import (
    CELL_PX,
    CLASSES,
    CROP_PX,
    Candidate,
    FindingSettings,
    FoundDie,
    SquareView,
    crop,
    find_candidates,
    find_dice,
    square_input,
)

SIDE_PX = 16.0


class OneMiddle:
    """A fake finder that reports the middle of one die, in one cell."""

    def __init__(self, column: int, row: int) -> None:
        self._at = (row, column)

    def run(self, batch: np.ndarray) -> np.ndarray:
        given = np.full((1, 4, batch.shape[2] // CELL_PX, batch.shape[3] // CELL_PX), -9.0, dtype=np.float32)
        given[0, 1:] = 0
        given[0, 0, self._at[0], self._at[1]] = 4.0
        return given


class Threes:
    """A fake classifier that calls everything a three, with this offset in edges, and a box twice as wide as high."""

    def __init__(self, across: float, down: float, longer: float = 0.0) -> None:
        self._off = (across, down, longer, math.log(1.2), math.log(0.6))
        self.slants: list[float] = []

    def run(self, batch: np.ndarray) -> np.ndarray:
        self.slants += batch[:, 3, 0, 0].tolist()
        given = np.zeros((len(batch), len(CLASSES) + 5), dtype=np.float32)
        given[:, 2] = 9.0
        given[:, len(CLASSES) :] = self._off
        return given


class OnesWithPips:
    """A fake classifier that calls a square with a white middle a one, and any other no die."""

    def run(self, batch: np.ndarray) -> np.ndarray:
        given = np.zeros((len(batch), len(CLASSES) + 5), dtype=np.float32)
        middle = batch.shape[2] // 2
        is_white = batch[:, 0, middle, middle] > batch[:, 0, 2, 2]
        given[is_white, CLASSES.index("1")] = 9.0
        given[~is_white, CLASSES.index("nothing")] = 9.0
        return given


class Leaning:
    """A fake network that gives every die these log-odds of leaning."""

    def __init__(self, log_odds: float) -> None:
        self._log_odds = log_odds

    def run(self, batch: np.ndarray) -> np.ndarray:
        return np.full((len(batch), 3), self._log_odds, dtype=np.float32)


PLAIN = np.full((160, 160, 3), 90, dtype=np.uint8)


def networks(finder: Any, faces: Any, leaning: Any = None, temperature: float = 1.0) -> Any:
    return SimpleNamespace(finder=finder, faces=faces, leaning=leaning, temperature=temperature)


def found(
    faces: Threes | OnesWithPips, log_odds: float = -9.0, image: npt.NDArray[np.uint8] = PLAIN, **how: Any
) -> Any:
    read_by = networks(OneMiddle(20, 15), faces, Leaning(log_odds))
    return find_dice(image, read_by, (SIDE_PX / 1.4, SIDE_PX * 1.4), **how)


def test_the_second_network_corrects_the_position_of_a_die() -> None:
    (plain,) = found(Threes(0.0, 0.0))
    (moved,) = found(Threes(0.1, -0.05, 0.1))
    assert moved.x_px - plain.x_px == pytest.approx(0.1 * plain.side_px)
    assert moved.y_px - plain.y_px == pytest.approx(-0.05 * plain.side_px)
    assert moved.side_px == pytest.approx(plain.side_px * math.exp(0.1))
    assert moved.box_edges == pytest.approx((1.2, 0.6))


def test_a_die_looked_at_again_is_turned_by_a_right_angle_and_its_box_turned_back() -> None:
    (moved,) = found(Threes(0.3, 0.0))
    assert moved.box_edges == pytest.approx((0.6, 1.2))


def test_the_second_network_is_given_the_slant_of_the_view() -> None:
    faces = Threes(0.0, -0.1)
    (plain,) = found(Threes(0.0, 0.0))
    (seen,) = found(faces, slant_at=lambda _x, _y: (0.6, 0.0))
    assert faces.slants == pytest.approx([0.6])
    # The camera is on the right, which is down in the square: up in the square is left in the picture.
    assert seen.x_px - plain.x_px == pytest.approx(-0.1 * plain.side_px)
    assert seen.y_px == pytest.approx(plain.y_px, abs=1e-6)


@pytest.mark.parametrize(("across", "down"), [(0.0, 0.9), (0.0, -0.9), (0.9, 0.0), (-0.7, 0.7)])
def test_a_die_whose_side_was_taken_for_its_top_is_found_above_it(across: float, down: float) -> None:
    (side,) = found(Threes(0.0, 0.0))
    steep = math.hypot(across, down)
    # The middle of the nearest side is half an edge nearer to the camera than that of the top, and half an edge lower.
    away = 0.7 * side.side_px * (1 + steep) / 2
    top = side.x_px - away * across / steep, side.y_px - away * down / steep
    image = PLAIN.copy()
    cv2.circle(image, (round(top[0]), round(top[1])), 4, (255, 255, 255), -1)
    (die,) = found(OnesWithPips(), image=image, slant_at=lambda _x, _y: (across, down))
    assert math.dist((die.x_px, die.y_px), top) < 3
    assert die.values()["1"] > 0.9
    assert not found(OnesWithPips(), image=image, slant_at=lambda _x, _y: (0.2 * across, 0.2 * down))


@pytest.mark.parametrize("log_odds", [-9.0, 9.0])
def test_leaning_is_judged_only_if_the_camera_is_known(log_odds: float) -> None:
    (plain,) = found(Threes(0.0, 0.0), log_odds)
    (seen,) = found(Threes(0.0, 0.0), log_odds, slant_at=lambda _x, _y: (0.3, 0.0))
    assert plain.cocked < 0.1
    assert (0.5 < seen.cocked <= 1) == (log_odds > 0)
    assert seen.values()["3"] > 0.9


def test_leaning_is_judged_from_four_squares() -> None:
    image = PLAIN.copy()
    image[76:85, 76:85] = 250
    seen: list[np.ndarray] = []

    class Watching(Leaning):
        def run(self, batch: np.ndarray) -> np.ndarray:
            seen.append(batch)
            return super().run(batch) + len(seen)

    read_by = networks(Middles(MIDDLE), Says([FIVE]), Watching(-9.0))
    (die,) = find_dice(image, read_by, SIDES, UNSCALED, slant_at=lambda _x, _y: (0.0, 1e-6))
    assert math.log(die.cocked / (1 - die.cocked)) == pytest.approx(-9.0 + (1 + 2 + 3 + 4) / 4, abs=1e-3)
    # The spot is in the middle of the die; a pixel is a twentieth of an edge, and two squares are mirrored.
    bright = [np.argwhere(batch[0, 0] > 1).mean(axis=0) - (CROP_PX - 1) / 2 for batch in seen]
    assert np.array(bright) == pytest.approx(np.array([(-1, -1), (1, 1), (1, 1), (-1, -1)]), abs=0.3)


def test_candidates_where_no_die_can_lie_are_not_classified() -> None:
    faces = Threes(0.0, 0.0)
    assert found(faces, is_possible=lambda _one: False) == ()
    assert faces.slants == []


@pytest.mark.parametrize("towards", [(1.0, 0.0), (0.0, 1.0), (-0.7, 0.3), (0.2, -0.9)])
def test_a_square_has_the_camera_below_it(towards: tuple[float, float]) -> None:
    picture = np.zeros((120, 120, 3), dtype=np.uint8)
    along = np.array(towards) / math.hypot(*towards)
    x, y = np.rint(60 + 12 * along).astype(int)
    picture[y - 2 : y + 3, x - 2 : x + 3] = 255
    view = SquareView.of(towards)
    rows, columns = np.nonzero(crop(picture, 60.0, 60.0, 20.0, view)[..., 0] > 128)
    # The steeper the slant, the further the square extends below the middle: a fifth of an edge a unit.
    upper = (CROP_PX - 1) / 2 - 0.2 * 20 * min(math.hypot(*towards), 1.0)
    assert rows.mean() - upper == pytest.approx(12, abs=1)
    assert columns.mean() == pytest.approx((CROP_PX - 1) / 2, abs=1)


def test_an_unknown_view_differs_from_any_known_one() -> None:
    square = np.full((CROP_PX, CROP_PX, 3), 70, dtype=np.uint8)
    given = square_input([square, square], [SquareView(), SquareView.of((0.3, 0.4))])
    assert (given[0, 3] == -1).all(), "as the networks were taught"
    assert (given[1, 3] == 0.5).all()


class Middles:
    """A fake finder that reports middles (x, y, edge, probability) in the pixels of any picture given."""

    def __init__(self, *middles: tuple[float, float, float, float]) -> None:
        self._middles = middles
        self.shapes: list[tuple[int, ...]] = []

    def run(self, batch: np.ndarray) -> np.ndarray:
        self.shapes.append(batch.shape)
        given = np.full((1, 4, batch.shape[2] // CELL_PX, batch.shape[3] // CELL_PX), -9.0, dtype=np.float32)
        for x, y, side, heat in self._middles:
            across, down = (x - (CELL_PX - 1) / 2) / CELL_PX, (y - (CELL_PX - 1) / 2) / CELL_PX
            column, row = math.floor(across), math.floor(down)
            given[0, :, row, column] = (math.log(heat / (1 - heat)), math.log(side / 16), across - column, down - row)
        return given


UNSCALED = FindingSettings(smallest_px=10.0, largest_px=25.6)
"""Dice with an edge of SIDE_PX are looked for in the picture as it is."""
SIDES = (SIDE_PX, SIDE_PX)


def candidates(image: npt.NDArray[np.uint8], side_px: tuple[float, float], *middles: Any) -> list[Candidate]:
    finder: Any = Middles(*middles)
    return find_candidates(image, finder, side_px, UNSCALED)


@pytest.mark.parametrize("scale", [1.0, 2.0, 0.5])
def test_a_candidate_is_where_the_finder_sees_it_in_the_scaled_picture(scale: float) -> None:
    sides = (SIDE_PX / scale, SIDE_PX / scale)
    (one,) = candidates(PLAIN[:150, :157], sides, (50.0, 62.5, 17.0, 0.9))
    # the middle of a picture's first pixel is half a pixel inside it
    assert (one.x_px, one.y_px) == pytest.approx((50.5 / scale - 0.5, 63.0 / scale - 0.5), abs=1e-3)
    assert one.side_px == pytest.approx(17.0 / scale, rel=1e-4)
    assert one.heat == pytest.approx(0.9, abs=1e-4)


def test_the_finder_is_given_whole_cells() -> None:
    finder: Any = Middles()
    find_candidates(PLAIN[:150, :157], finder, SIDES, UNSCALED)
    assert finder.shapes == [(1, 3, 152, 160)]


@pytest.mark.parametrize(
    ("side_px", "scales"), [((16.0, 16.0), [1.0]), ((10.5, 25.0), [1.0]), ((16.0, 64.0), [0.707, 0.354])]
)
def test_a_picture_is_searched_once_for_each_range_of_edges(side_px: tuple[float, float], scales: list[float]) -> None:
    finder: Any = Middles()
    image = np.zeros((400, 400, 3), dtype=np.uint8)
    find_candidates(image, finder, side_px, UNSCALED)
    assert [shape[2] / 400 for shape in finder.shapes] == pytest.approx(scales, abs=0.012)


@pytest.mark.parametrize(("said", "side_px"), [([{"5": 12.0}] * 2, 17.0), ([{"nothing": 12.0}, {"5": 12.0}], 33.9)])
def test_what_is_seen_at_two_scales_is_one_die_that_is_one(said: list[dict[str, float]], side_px: float) -> None:
    image = np.zeros((400, 400, 3), dtype=np.uint8)
    # both scales show it in the corner, the first as a smaller die, or as a pip
    read_by = networks(Middles((2.0, 2.0, 12.0, 0.9)), Says(said))
    (die,) = find_dice(image, read_by, (16.0, 64.0), UNSCALED)
    assert die.side_px == pytest.approx(side_px, rel=1e-2)


@pytest.mark.parametrize(("side_px", "count"), [(16.0 / 1.45, 0), (16.0 / 1.35, 1), (16.0 * 1.35, 1), (16.0 * 1.45, 0)])
def test_a_candidate_far_too_small_or_large_is_dropped(side_px: float, count: int) -> None:
    assert len(candidates(PLAIN, SIDES, (50.0, 62.5, side_px, 0.9))) == count


@pytest.mark.parametrize(("heat", "count"), [(0.15, 0), (0.25, 1), (0.999, 1)])
def test_an_unlikely_candidate_is_dropped(heat: float, count: int) -> None:
    assert len(candidates(PLAIN, SIDES, (50.0, 62.5, 16.0, heat))) == count


@pytest.mark.parametrize(("away_px", "heats"), [(4.0, [0.9]), (6.0, [0.9]), (9.0, [0.9, 0.8])])
def test_of_middles_close_together_the_likelier_is_kept(away_px: float, heats: list[float]) -> None:
    beside = candidates(PLAIN, SIDES, (50.0, 62.5, 16.0, 0.8), (50.0 + away_px, 62.5, 16.0, 0.9))
    assert [one.heat for one in beside] == pytest.approx(heats, abs=1e-4)


@pytest.mark.parametrize(("across", "down"), [(4, 0), (-4, 0), (0, 4), (0, -4), (4, 4), (-4, -4), (4, -4), (-4, 4)])
def test_a_candidate_is_likelier_than_all_cells_around_it(across: float, down: float) -> None:
    # Dice so small that two middles in neighbouring cells would not be merged.
    small = FindingSettings(smallest_px=5.0, largest_px=12.8)
    finder: Any = Middles((50.5, 62.5, 8.0, 0.9), (50.5 + across, 62.5 + down, 8.0, 0.7))
    (one,) = find_candidates(PLAIN, finder, (8.0, 8.0), small)
    assert one.heat == pytest.approx(0.9, abs=1e-4)


class Says:
    """A fake classifier that returns these class scores, one batch after another, and the given correction.

    A class that is not named has the score 0.
    """

    def __init__(self, *scores: Sequence[dict[str, float]], off: tuple[float, float, float] = (0, 0, 0)) -> None:
        self._scores = list(scores)
        self._off = (*off, 0.0, 0.0)
        self.batches: list[np.ndarray] = []

    def run(self, batch: np.ndarray) -> np.ndarray:
        scores = self._scores[min(len(self.batches), len(self._scores) - 1)]
        self.batches.append(batch)
        given = np.zeros((len(batch), len(CLASSES) + 5), dtype=np.float32)
        given[:, len(CLASSES) :] = self._off
        for row, named in zip(given, [*scores] * len(batch), strict=False):
            for name, score in named.items():
                row[CLASSES.index(name)] = score
        return given


def dice_of(faces: Says, *middles: tuple[float, float, float, float], odds: float = -9.0, **how: Any) -> Any:
    """The dice of a plain picture, given these middles from the finder and this classifier."""
    read_by = networks(Middles(*middles), faces, Leaning(odds))
    return find_dice(PLAIN, read_by, SIDES, how.pop("settings", UNSCALED), **how)


FIVE = {"5": 12.0}
MIDDLE = (80.0, 80.0, 16.0, 0.9)


@pytest.mark.parametrize(("share", "count"), [(0.6, 1), (0.8, 2), (1.1, 2)])
def test_dice_too_close_together_are_merged(share: float, count: int) -> None:
    beside = (80.0 + 16 * share, 80.0, 16.0, 0.85)
    assert len(dice_of(Says([FIVE]), MIDDLE, beside)) == count


@pytest.mark.parametrize(
    ("share", "heat", "count"), [(1.2, 0.9, 2), (1.2, 0.6, 2), (1.2, 0.5, 1), (1.4, 0.5, 2), (1.4, 0.9, 2)]
)
def test_a_weak_die_beside_a_strong_one_is_taken_for_its_side(share: float, heat: float, count: int) -> None:
    beside = (80.0 + 16 * share, 80.0, 16.0, heat)
    assert len(dice_of(Says([FIVE]), MIDDLE, beside)) == count


@pytest.mark.parametrize(
    ("direction_deg", "share", "slant", "count"),
    [
        (0.0, 0.8, 0.5, 1),
        (30.0, 0.8, 0.5, 1),
        (45.0, 0.8, 0.5, 2),
        (90.0, 0.8, 0.5, 2),
        (0.0, 0.99, 0.5, 2),
        (0.0, 0.8, 0.3, 2),
    ],
)
def test_a_die_too_close_in_front_of_another_is_taken_for_its_side(
    direction_deg: float, share: float, slant: float, count: int
) -> None:
    along = math.radians(direction_deg)
    before = (80.0 + 16 * share * math.cos(along), 80.0 + 16 * share * math.sin(along), 16.0, 0.88)
    seen = dice_of(Says([FIVE]), MIDDLE, before, slant_at=lambda _x, _y: (slant, 0.0))
    assert len(seen) == count
    assert (seen[0].x_px, seen[0].y_px) == pytest.approx((80.0, 80.0), abs=0.01)


def test_a_clear_die_is_classified_once() -> None:
    faces = Says([FIVE])
    dice_of(faces, MIDDLE)
    assert len(faces.batches) == 1


@pytest.mark.parametrize("off", [(0.25, 0.0, 0.0), (0.0, -0.25, 0.0), (0.0, 0.0, 0.25), (0.0, 0.0, -0.25)])
def test_a_die_in_a_square_that_is_far_off_is_classified_again(off: tuple[float, float, float]) -> None:
    faces = Says([FIVE], off=off)
    (die,) = dice_of(faces, MIDDLE)
    assert len(faces.batches) == 2
    # The second square is turned by a right angle and corrected in size.
    across, down, longer = off
    x = 80 + 16 * (across + math.exp(longer) * down)
    y = 80 + 16 * (down - math.exp(longer) * across)
    assert (die.x_px, die.y_px, die.side_px) == pytest.approx((x, y, 16 * math.exp(2 * longer)), abs=0.01)


def test_corrections_are_limited_to_half_an_edge() -> None:
    (die,) = dice_of(Says([FIVE], [FIVE], off=(0.9, 0.0, 0.0)), MIDDLE)
    assert (die.x_px, die.y_px) == pytest.approx((88.0, 72.0), abs=0.01)


def test_a_doubtful_die_is_classified_twice_and_both_results_count() -> None:
    faces = Says([{"5": 4.0, "4": 3.0}], [{"5": 2.0, "4": 5.0, "nothing": 1.0}])
    (die,) = dice_of(faces, MIDDLE)
    assert len(faces.batches) == 2
    scores = np.zeros(len(CLASSES))
    scores[[CLASSES.index(name) for name in ("5", "4", "nothing")]] = (3.0, 4.0, 0.5)
    assert die.probabilities == pytest.approx(np.exp(scores) / np.exp(scores).sum(), abs=1e-3)


def test_a_doubtful_die_seen_from_the_side_is_read_where_it_turned_out_to_lie() -> None:
    faces = Says([{"5": 4.0, "4": 3.0}], [{"5": 1.0, "4": 9.0}])
    (die,) = dice_of(faces, MIDDLE, slant_at=lambda _x, _y: (0.0, 0.1))
    assert len(faces.batches) == 2
    assert die.probabilities[CLASSES.index("4")] == pytest.approx(
        math.exp(9) / (math.exp(9) + math.exp(1) + 7), rel=1e-4
    )


def test_a_die_seen_from_the_side_and_still_in_doubt_is_read_in_a_mirror_too() -> None:
    image = PLAIN.copy()
    image[77:84, 83:] = 250
    faces = Says([{"5": 2.0}], [{"5": 2.0}], [{"5": 1.0, "4": 3.0}, {"5": 3.0}])
    read_by = networks(Middles(MIDDLE), faces, Leaning(-9.0))
    (die,) = find_dice(image, read_by, SIDES, UNSCALED, slant_at=lambda _x, _y: (0.0, 0.1))
    square, mirror_image = faces.batches[-1]
    assert np.allclose(mirror_image, square[:, :, ::-1], atol=1e-5)
    assert not np.allclose(mirror_image, square, atol=0.1)
    assert die.probabilities[CLASSES.index("5")] == pytest.approx(
        math.exp(2) / (math.exp(2) + math.exp(1.5) + 7), rel=1e-2
    )


def test_the_second_square_is_turned_if_the_camera_is_unknown() -> None:
    image = PLAIN.copy()
    image[77:84, 90:] = 250
    faces = Says([{"5": 2.0}])
    find_dice(image, networks(Middles(MIDDLE), faces), SIDES, UNSCALED)
    first, second = (np.argwhere(batch[0, 0] > 1).mean(axis=0) - (CROP_PX - 1) / 2 for batch in faces.batches)
    assert abs(first[0]) < 1 < first[1]
    assert abs(second[1]) < 1 < second[0]


def field(count: int, heat: float = 0.9) -> list[tuple[float, float, float, float]]:
    """Middles in rows, as a patterned ground gives them."""
    return [(24.0 * (1 + one % 20), 24.0 * (1 + one // 20), 16.0, heat - 1e-4 * one) for one in range(count)]


@pytest.mark.parametrize(("around", "sure", "unsure"), [(4, 1, 4), (400, 1, 0)])
def test_what_all_of_the_ground_looks_like_is_no_die(around: int, sure: int, unsure: int) -> None:
    image = np.full((528, 528, 3), 90, dtype=np.uint8)
    looks_a_little = {"5": 3.0, "nothing": 3.2}
    first = [FIVE, *[looks_a_little] * around]
    read_by = networks(Middles(*field(1 + around)), Says(first, first[1:]))
    dice = find_dice(image, read_by, SIDES, UNSCALED)
    assert sum(die.is_die > 0.99 for die in dice) == sure
    assert len(dice) - sure == unsure


@pytest.mark.parametrize(("nothing", "looks", "count"), [(9.0, 1, 0), (4.0, 2, 0), (0.0, 2, 1)])
def test_a_candidate_that_is_hardly_a_die_is_dropped(nothing: float, looks: int, count: int) -> None:
    faces = Says([{"nothing": nothing}])
    assert len(dice_of(faces, MIDDLE)) == count
    assert len(faces.batches) == looks


def test_a_higher_temperature_flattens_the_probabilities() -> None:
    (die,) = find_dice(PLAIN, networks(Middles(MIDDLE), Says([FIVE]), temperature=4.0), SIDES, UNSCALED)
    assert die.probabilities.max() == pytest.approx(math.exp(3.0) / (math.exp(3.0) + len(CLASSES) - 1), rel=1e-2)


@pytest.mark.parametrize("prior", [1.0, 0.1])
def test_prior_odds_count_against_a_die_that_leans(prior: float) -> None:
    settings = FindingSettings(smallest_px=10.0, largest_px=25.6, leaning=prior)
    (plain,) = dice_of(Says([{"5": 6.0, "cocked": 6.0}]), MIDDLE, settings=settings)
    assert plain.cocked == pytest.approx(prior * math.exp(6) / ((1 + prior) * math.exp(6) + 6), rel=1e-3)
    (seen,) = dice_of(Says([FIVE]), MIDDLE, odds=2.0, settings=settings, slant_at=lambda _x, _y: (0.0, 0.0))
    assert seen.cocked / (1 - seen.cocked) == pytest.approx(prior * math.exp(2.0), rel=1e-3)


def test_the_fields_of_a_found_die() -> None:
    square = np.full((CROP_PX, CROP_PX, 3), 250, dtype=np.uint8)
    square[9:23, 9:23] = (40, 30, 200)
    square[15:17, 9:23] = 0
    chances = np.array([0.5, 0.1, 0, 0, 0, 0, 0.2, 0, 0.2], dtype=np.float32)
    die = FoundDie(30.0, 40.0, 20.0, 0.5, chances, square)
    assert die.is_die == pytest.approx(0.8)
    assert die.strength == pytest.approx(0.25)
    assert die.cocked == pytest.approx(0.25)
    assert die.values()["1"] == pytest.approx(0.5 / 0.6, rel=1e-4)
    assert sum(die.values().values()) == pytest.approx(1.0)
    assert die.colour_lab() == pytest.approx((43.3, 63.2, 40.0), abs=0.5)
    nothing = FoundDie(30.0, 40.0, 20.0, 0.5, np.eye(len(CLASSES), dtype=np.float32)[-1], square)
    assert nothing.strength == nothing.is_die == nothing.cocked == 0
