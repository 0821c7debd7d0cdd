"""Pictures of a place: which changes make them differ, and which do not."""

from __future__ import annotations

import math

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision.frame import FloatImage, Image
from vision.reading import KEPT_PX, REACH_PX, USUAL_DIFFERENCE, PlacePicture

ROWS, COLUMNS = 120, 80
TIP_PX = (40.0, 50.0)


def drawn(
    tip_px: tuple[float, float] = TIP_PX,
    *,
    turned_deg: float = 0.0,
    light: float = 1.0,
    across: float = 0.0,
    noise: int = 0,
    moved_px: tuple[int, int] = (0, 0),
) -> Image:
    """A crop of a bright tip on a darker face, in light that grows ``across`` the picture by this share."""
    levels: FloatImage = np.full((ROWS, COLUMNS), 60.0, dtype=np.float32)
    for side_px, level in ((44.0, 90.0), (9.0, 200.0)):
        corners = cv2.boxPoints((tip_px, (side_px, side_px), turned_deg))
        cv2.fillConvexPoly(levels, np.round(corners * 16).astype(np.int32), level, cv2.LINE_AA, shift=4)
    levels *= light * np.linspace(1.0, 1.0 + across, COLUMNS, dtype=np.float32)
    levels += np.random.default_rng(noise).normal(0.0, 1.5 * (noise > 0), levels.shape)
    levels = np.roll(levels, moved_px, axis=(1, 0))
    return np.repeat(np.clip(levels, 0, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def taken(crop: Image, tip_px: tuple[float, float] = TIP_PX) -> PlacePicture:
    return PlacePicture.of(crop, np.array(tip_px))


def apart(**later: object) -> float:
    return taken(drawn(noise=1)).difference(taken(drawn(**{"noise": 2, **later})))  # type: ignore[arg-type]


def test_a_picture_does_not_differ_from_itself() -> None:
    assert taken(drawn()).difference(taken(drawn())) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    "later",
    [
        {},
        {"light": 0.6},
        {"light": 1.2},
        {"across": 0.3},
        {"moved_px": (KEPT_PX * REACH_PX, 0)},
        {"moved_px": (-KEPT_PX * REACH_PX, KEPT_PX * REACH_PX)},
    ],
)
def test_noise_light_and_small_pose_differences_hardly_count(later: dict[str, object]) -> None:
    assert apart(**later) < 10


@pytest.mark.parametrize(
    "later", [{"tip_px": (45.0, 50.0)}, {"tip_px": (40.0, 44.0)}, {"turned_deg": 40.0}, {"tip_px": (52.0, 61.0)}]
)
def test_a_piece_put_down_anew_differs_much_more(later: dict[str, object]) -> None:
    assert apart(**later) > 4 * max(apart(), apart(light=0.6), apart(across=0.3))


def test_changes_far_from_the_tip_do_not_count() -> None:
    crop = drawn()
    crop[90:110, 5:75] = 250
    assert taken(drawn()).difference(taken(crop)) < 0.5


def test_a_blank_place_hardly_differs_by_its_noise() -> None:
    blank = np.full((ROWS, COLUMNS, 3), 120, dtype=np.uint8)
    noisy = blank + np.random.default_rng(3).integers(0, 2, blank.shape).astype(np.uint8)
    assert taken(blank).difference(taken(noisy)) < 25


@pytest.mark.parametrize("tip_px", [(-60.0, 50.0), (40.0, 400.0)])
def test_pictures_that_do_not_show_the_tip_cannot_be_compared(tip_px: tuple[float, float]) -> None:
    assert math.isinf(taken(drawn(), tip_px).difference(taken(drawn())))


def test_pictures_of_two_sizes_cannot_be_compared() -> None:
    assert math.isinf(taken(drawn()).difference(taken(drawn()[:-20])))


@given(st.floats(-10, COLUMNS + 10), st.floats(-10, ROWS + 10), st.integers(1, 50))
def test_a_difference_is_within_its_bounds_wherever_the_tip_is(column: float, row: float, noise: int) -> None:
    found = taken(drawn(), (column, row)).difference(taken(drawn((55.0, 35.0), noise=noise)))
    assert math.isinf(found) or 0.0 <= found * USUAL_DIFFERENCE <= 2.0


def test_a_difference_is_the_share_of_contrast_that_changed_at_the_best_offset() -> None:
    random = np.random.default_rng(4)
    first, second = (random.normal(0, 0.2, (60, 40)).astype(np.float32) for _ in range(2))
    later = np.roll(first, (1, -1), axis=(0, 1)) + 0.1 * second
    tip = (20.3, 24.6)
    found = PlacePicture(first, tip).difference(PlacePicture(later, (0.0, 0.0)))
    before = first[19:31, 15:27]
    shares = []
    for down in (-1, 0, 1):
        for across in (-1, 0, 1):
            moved = later[19 + down : 31 + down, 15 + across : 27 + across]
            shares.append(((moved - before) ** 2).mean() / ((moved**2).mean() + (before**2).mean() + 1e-3))
    assert found == pytest.approx(min(shares) / USUAL_DIFFERENCE, rel=1e-4)
    assert shares.index(min(shares)) == 6


@pytest.mark.parametrize(("tip_px", "is_seen"), [((-5.0, 20.0), False), ((-3.0, 20.0), True), ((44.0, 20.0), True)])
def test_a_tip_at_the_rim_is_compared_as_far_as_it_is_visible(tip_px: tuple[float, float], is_seen: bool) -> None:
    levels = np.random.default_rng(4).normal(0, 0.2, (60, 40)).astype(np.float32)
    found = PlacePicture(levels, tip_px).difference(PlacePicture(levels, tip_px))
    assert math.isinf(found) != is_seen
    assert not is_seen or found == pytest.approx(0.0, abs=1e-6)


def test_the_tip_is_kept_at_the_scale_of_the_picture() -> None:
    kept = taken(drawn(), (40.5, 51.5))
    assert kept.levels.shape == (ROWS // KEPT_PX, COLUMNS // KEPT_PX)
    assert kept.tip_px == (20.0, 25.5)
    row, column = np.unravel_index(int(taken(drawn((40.0, 50.0))).levels.argmax()), kept.levels.shape)
    assert (column, row) == pytest.approx((20, 25), abs=2)
