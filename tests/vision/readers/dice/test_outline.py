"""Outlines of drawn dice that lie flat or lean, seen aslant and flattened."""

import cv2
import numpy as np
import pytest

from vision.readers.dice.outline import LeaningOdds, OutlineFit, fit_outline

PLACE = (40.0, 38.0, 26.0)
SLANT = (0.25, 0.3)


def drawn(lean_deg: float, towards_deg: float = 40.0) -> np.ndarray:
    """A light die on a dark table, in parallel perspective; its upper side's middle is at PLACE while it lies flat."""
    x, y, side = PLACE
    towards = np.radians(towards_deg)
    lean, _ = cv2.Rodrigues(np.array([np.cos(towards), np.sin(towards), 0.0]) * np.radians(lean_deg))
    turn, _ = cv2.Rodrigues(np.array([0.0, 0.0, 0.4]))
    signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * side / 2
    corners = signs @ (lean @ turn).T
    corners[:, 2] -= side / 2
    seen = np.array([x, y]) + corners[:, :2] - corners[:, 2:] * SLANT
    image = np.full((90, 90, 3), 60, dtype=np.uint8)
    cv2.fillConvexPoly(image, np.rint(cv2.convexHull(seen.astype(np.float32))).astype(np.int32), (200, 210, 220))
    return image


def test_the_outline_of_a_flat_die_is_that_of_a_flat_cube() -> None:
    fit = fit_outline(drawn(0.0), PLACE, SLANT)
    assert fit is not None
    assert fit.gain < 0.3


@pytest.mark.parametrize("towards_deg", [40.0, 130.0, 250.0])
def test_a_leaning_die_fits_a_leaning_cube_better(towards_deg: float) -> None:
    flat, leaning = fit_outline(drawn(0.0), PLACE, SLANT), fit_outline(drawn(22.0, towards_deg), PLACE, SLANT)
    assert flat is not None
    assert leaning is not None
    odds = LeaningOdds()
    assert odds.of(0.0, leaning) > odds.of(0.0, flat)


def test_a_bare_table_has_no_outline() -> None:
    assert fit_outline(np.full((90, 90, 3), 60, dtype=np.uint8), PLACE, SLANT) is None


def test_what_reaches_out_of_the_square_is_no_die() -> None:
    image = drawn(0.0)
    image[30:60] = 220
    assert fit_outline(image, PLACE, SLANT) is None


def test_the_network_and_the_outline_both_count() -> None:
    odds = LeaningOdds()
    assert odds.of(1.0, OutlineFit(-3.0, 0.3)) > odds.of(0.0, OutlineFit(-3.0, 0.3))
    assert odds.of(0.0, OutlineFit(-3.0, 0.6)) > odds.of(0.0, OutlineFit(-3.0, 0.3))
