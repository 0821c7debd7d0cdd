"""Where the networks look for dice, and what is made of what they say."""

import math
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from vision.readers.dice.finding import Candidate, find_dice
from vision.readers.dice.networks import CELL_PX, CLASSES, CROP_PX, SquareView, crop, square_input

SIDE_PX = 16.0


class OneMiddle:
    """A finder that sees the middle of one die, in one cell."""

    def __init__(self, column: int, row: int) -> None:
        self._at = (row, column)

    def run(self, batch: np.ndarray) -> np.ndarray:
        given = np.full((1, 4, batch.shape[2] // CELL_PX, batch.shape[3] // CELL_PX), -9.0, dtype=np.float32)
        given[0, 1:] = 0
        given[0, 0, self._at[0], self._at[1]] = 4.0
        return given


class Threes:
    """A classifier that calls everything a three, off by so much of an edge in the square."""

    def __init__(self, across: float, down: float, longer: float = 0.0) -> None:
        self._off = (across, down, longer)
        self.slants: list[float] = []

    def run(self, batch: np.ndarray) -> np.ndarray:
        self.slants += batch[:, 3, 0, 0].tolist()
        given = np.zeros((len(batch), len(CLASSES) + 3), dtype=np.float32)
        given[:, 2] = 9.0
        given[:, len(CLASSES) :] = self._off
        return given


class OnesWithPips:
    """A classifier that calls a square with a white middle a one, and any other nothing."""

    def run(self, batch: np.ndarray) -> np.ndarray:
        given = np.zeros((len(batch), len(CLASSES) + 3), dtype=np.float32)
        middle = batch.shape[2] // 2
        is_white = batch[:, 0, middle, middle] > batch[:, 0, 2, 2]
        given[is_white, CLASSES.index("1")] = 9.0
        given[~is_white, CLASSES.index("nothing")] = 9.0
        return given


class Leaning:
    """Holds these log-odds that any die leans."""

    def __init__(self, log_odds: float) -> None:
        self._log_odds = log_odds

    def run(self, batch: np.ndarray) -> np.ndarray:
        return np.full((len(batch), 3), self._log_odds, dtype=np.float32)


PLAIN = np.full((160, 160, 3), 90, dtype=np.uint8)


def found(
    faces: Threes | OnesWithPips, log_odds: float = -9.0, image: npt.NDArray[np.uint8] = PLAIN, **how: Any
) -> Any:
    leaning = Leaning(log_odds)
    networks: Any = SimpleNamespace(finder=OneMiddle(20, 15), faces=faces, leaning=leaning, temperature=1.0)
    return find_dice(image, networks, (SIDE_PX / 1.4, SIDE_PX * 1.4), **how)


def test_a_die_is_where_the_second_network_says() -> None:
    (plain,) = found(Threes(0.0, 0.0))
    (moved,) = found(Threes(0.1, -0.05, 0.1))
    assert moved.x_px - plain.x_px == pytest.approx(0.1 * plain.side_px)
    assert moved.y_px - plain.y_px == pytest.approx(-0.05 * plain.side_px)
    assert moved.side_px == pytest.approx(plain.side_px * math.exp(0.1))


def test_the_second_network_is_told_how_aslant_it_looks() -> None:
    faces = Threes(0.0, -0.1)
    (plain,) = found(Threes(0.0, 0.0))
    (seen,) = found(faces, slant_at=lambda _x, _y: (0.6, 0.0))
    assert faces.slants == pytest.approx([0.6])
    # the camera is on the right, which the square shows below: up in the square is left in the picture
    assert seen.x_px - plain.x_px == pytest.approx(-0.1 * plain.side_px)
    assert seen.y_px == pytest.approx(plain.y_px, abs=1e-6)


@pytest.mark.parametrize(("across", "down"), [(0.0, 0.9), (0.0, -0.9), (0.9, 0.0), (-0.7, 0.7)])
def test_a_die_whose_side_was_taken_for_its_top_is_found_above_it(across: float, down: float) -> None:
    (side,) = found(Threes(0.0, 0.0))
    steep = math.hypot(across, down)
    # the middle of the nearest side is half an edge nearer to the camera than the top's, and half an edge lower
    away = 0.7 * side.side_px * (1 + steep) / 2
    top = side.x_px - away * across / steep, side.y_px - away * down / steep
    image = PLAIN.copy()
    cv2.circle(image, (round(top[0]), round(top[1])), 4, (255, 255, 255), -1)
    (die,) = found(OnesWithPips(), image=image, slant_at=lambda _x, _y: (across, down))
    assert math.dist((die.x_px, die.y_px), top) < 3
    assert die.values()["1"] > 0.9
    assert not found(OnesWithPips(), image=image, slant_at=lambda _x, _y: (0.2 * across, 0.2 * down))


@pytest.mark.parametrize("log_odds", [-9.0, 9.0])
def test_whether_a_die_leans_is_seen_where_the_camera_is_known(log_odds: float) -> None:
    (plain,) = found(Threes(0.0, 0.0), log_odds)
    (seen,) = found(Threes(0.0, 0.0), log_odds, slant_at=lambda _x, _y: (0.3, 0.0))
    assert plain.cocked < 0.1
    assert (0.5 < seen.cocked <= 1) == (log_odds > 0)
    assert seen.values()["3"] > 0.9


def test_where_no_die_can_lie_none_is_looked_at() -> None:
    faces = Threes(0.0, 0.0)

    def nowhere(_one: Candidate) -> bool:
        return False

    assert found(faces, may_lie=nowhere) == ()
    assert faces.slants == []


@pytest.mark.parametrize("towards", [(1.0, 0.0), (0.0, 1.0), (-0.7, 0.3), (0.2, -0.9)])
def test_a_square_has_the_camera_below_it(towards: tuple[float, float]) -> None:
    picture = np.zeros((120, 120, 3), dtype=np.uint8)
    along = np.array(towards) / math.hypot(*towards)
    x, y = np.rint(60 + 12 * along).astype(int)
    picture[y - 2 : y + 3, x - 2 : x + 3] = 255
    view = SquareView.of(towards)
    rows, columns = np.nonzero(crop(picture, 60.0, 60.0, 20.0, view)[..., 0] > 128)
    # the steeper the slant, the more of what is below the middle the square holds: a fifth of an edge a unit
    upper = (CROP_PX - 1) / 2 - 0.2 * 20 * min(math.hypot(*towards), 1.0)
    assert rows.mean() - upper == pytest.approx(12, abs=1)
    assert columns.mean() == pytest.approx((CROP_PX - 1) / 2, abs=1)


def test_an_unknown_view_is_told_from_any_other() -> None:
    square = np.full((CROP_PX, CROP_PX, 3), 70, dtype=np.uint8)
    given = square_input([square, square], [SquareView(), SquareView.of((0.3, 0.4))])
    assert (given[0, 3] < 0).all()
    assert (given[1, 3] == 0.5).all()
