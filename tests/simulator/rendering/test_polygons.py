from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from simulator.rendering.painting import box_around, clipped, polygon_mask

POINTS = arrays.arrays(np.float64, (5, 2), elements=st.floats(-50, 50))


@given(POINTS, st.integers(0, 4))
def test_a_box_holds_its_points_and_the_margin(points: np.ndarray, margin: int) -> None:
    left, top, right, bottom = box_around(points, margin)
    assert (points.min(axis=0) >= (left + margin, top + margin)).all()
    assert (points.max(axis=0) <= (right - margin - 1, bottom - margin - 1)).all()


@given(POINTS)
def test_a_clipped_box_is_inside_the_picture(points: np.ndarray) -> None:
    found = clipped(box_around(points, 2), (20, 30, 3))
    if found is not None:
        left, top, right, bottom = found
        assert 0 <= left < right <= 30
        assert 0 <= top < bottom <= 20


def test_a_box_outside_the_picture_has_no_part_in_it() -> None:
    assert clipped((30, 0, 40, 10), (20, 30)) is None
    assert clipped((29, 19, 40, 40), (20, 30)) == (29, 19, 30, 20)


def test_a_mask_is_full_inside_and_empty_outside() -> None:
    mask = polygon_mask((9, 9), np.array([[2.0, 2.0], [6.0, 2.0], [6.0, 6.0], [2.0, 6.0]]))
    assert mask[4, 4] == 255
    assert mask[0, 0] == mask[8, 8] == 0
