"""Grouping candidate tips by spot in the picture."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.scene.viewpoint import lens, looking_at
from vision.frame import FloatArray
from vision.layout.pieces import PyramidPieces
from vision.layout.table import default_layout
from vision.readers.stacks.crops import StackCrops
from vision.readers.stacks.proposals import group_by_spot, likeliest_tips, tips_and_angles
from vision.readers.stacks.search import Top

BOARD = default_layout("blockade").board


def top(x_mm: float, pieces: int, turned: float = 0.0) -> Top:
    tip_mm = BOARD.height_mm + 44.5 + 6.0 * pieces
    return Top("S", pieces, x_mm, 0.0, tip_mm, turned, 0.0, 20.0, 2.0, np.zeros(3))


@pytest.fixture(scope="module")
def from_above() -> StackCrops:
    return StackCrops(lens(), looking_at(620.0, 0.0, -90.0), BOARD)


def test_tips_at_one_spot_and_about_one_height_are_classified_once(from_above: StackCrops) -> None:
    candidates = [("c3", top(0.0, 1)), ("c3", top(0.2, 2)), ("c3", top(0.0, 5)), ("c3", top(2.5, 1))]
    spots, first = group_by_spot(from_above, candidates)
    assert spots.tolist() == [0, 0, 1, 2]
    assert first == [0, 2, 3]


def test_only_the_first_spots_of_each_place_are_kept(from_above: StackCrops) -> None:
    candidates = [
        ("c3", top(0.0, 1)),
        ("c3", top(2.5, 1)),
        ("c3", top(2.6, 1)),
        ("c3", top(0.1, 2)),
        ("c4", top(0.0, 1)),
    ]
    spots, first = group_by_spot(from_above, candidates, most=1)
    assert spots.tolist() == [0, -1, -1, 0, 1]
    assert first == [0, 4]


def test_tips_of_two_places_are_two_spots(from_above: StackCrops) -> None:
    spots, first = group_by_spot(from_above, [("c3", top(0.0, 1)), ("c4", top(0.0, 1))])
    assert spots.tolist() == first == [0, 1]


def test_turns_are_relative_to_the_crop_and_within_45_degrees(from_above: StackCrops) -> None:
    candidates = [("c3", top(0.0, 1, turned)) for turned in (0.1, 0.1 + np.pi / 2, 3.0)]
    tips, turned = tips_and_angles(from_above, candidates)
    assert tips[0].tolist() == [0.0, 0.0, candidates[0][1].tip_mm]
    assert np.abs(turned).max() <= np.pi / 4 + 1e-9
    assert turned[0] == pytest.approx(turned[1])


@pytest.mark.parametrize("aside", [(0.0, 0.0), (2.7, -1.4), (-3.2, 3.2)])
@pytest.mark.parametrize("pieces", [2, 6])
def test_the_likeliest_tip_is_found_anywhere_above_the_base(aside: tuple[float, float], pieces: int) -> None:
    sizes = PyramidPieces.on(BOARD)
    centres_mm = np.array([[40.0, 0.0, BOARD.height_mm], [-40.0, 80.0, BOARD.height_mm]])
    true = centres_mm + np.array([*aside, sizes.tip_mm("M", pieces)])

    def log_odds(points_mm: FloatArray) -> FloatArray:
        return -np.asarray(np.linalg.norm(points_mm - true[:, None], axis=2))

    found = likeliest_tips(centres_mm, sizes, log_odds)
    assert np.abs(found - true)[:, :2].max() < 0.75
    assert found[:, 2] == pytest.approx(true[:, 2])
