from __future__ import annotations

import numpy as np

from benchmarks.training.emptiness import fitted, knots_of, ramps, surest


def made(places: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two features of places, and whether they are empty; the log-odds are 4 - 3 times the first feature."""
    rng = np.random.default_rng(seed)
    telling, silent = rng.uniform(0, 2, (2, places))
    bare = rng.random(places) < 1 / (1 + np.exp(-(4.0 - 3.0 * telling)))
    return telling, silent, bare


def test_the_fit_finds_the_slopes() -> None:
    telling, silent, bare = made(20_000, 1)
    knots = np.array([0.0, 1.0, 2.0])
    given = np.hstack([ramps(telling, knots), ramps(silent, knots)])
    constant, first, second, *nothing = fitted(given, bare, np.ones(len(bare)))
    np.testing.assert_allclose([constant, first, second], [4.0, 3.0, 3.0], atol=0.4)
    np.testing.assert_allclose(nothing, 0.0, atol=0.2)


def test_no_feature_makes_a_place_more_probably_empty() -> None:
    telling, _, bare = made(2_000, 2)
    given = ramps(2.0 - telling, np.array([0.0, 1.0, 2.0]))
    _, *falls = fitted(given, bare, np.ones(len(bare)))
    np.testing.assert_allclose(falls, 0.0)


def test_the_same_samples_give_the_same_fit() -> None:
    telling, silent, bare = made(2_000, 3)
    given = np.hstack([ramps(telling, knots_of(telling, bare)), ramps(silent, knots_of(silent, bare))])
    first, second = (fitted(given, bare, np.ones(len(bare))) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_ramps_give_the_share_of_each_segment() -> None:
    passed = ramps(np.array([-1.0, 0.5, 2.0, 9.0]), np.array([0.0, 1.0, 3.0]))
    np.testing.assert_allclose(passed, [[0.0, 0.0], [0.5, 0.0], [1.0, 0.5], [1.0, 1.0]])


def test_knots_are_where_samples_are() -> None:
    values, bare = np.linspace(0, 4, 401), np.arange(401) % 2 == 0
    knots = knots_of(values, bare)
    assert knots[0] == 0
    assert knots[-1] == 4
    assert (np.diff(knots) > 0.1).all()
    np.testing.assert_array_equal(knots_of(np.zeros(50), bare[:50]), [0.0, 1.0])


def test_the_highest_odds_are_supported_by_samples() -> None:
    odds = np.linspace(9, -9, 1000)
    bare = np.arange(1000) < 900
    np.testing.assert_allclose(surest(odds, bare, np.ones(1000)), np.log(901))
    bare[100] = False
    np.testing.assert_allclose(surest(odds, bare, np.ones(1000)), np.log(900 / 2))
