"""Evidence of a ball on a disc in drawn pictures."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.vision.readers.discs.drawn import BOARD, DARK, PALE, Drawn, finder_from, picture_of, seen_from
from vision.frame import BoolImage, FloatArray
from vision.readers.discs.finder import (
    INSIDE_TOP_MM,
    BallEvidence,
    DiscFit,
    DiscShape,
    TopPlane,
    ball_evidence,
    beyond_mm,
)
from vision.readers.discs.lighting import DARK_FLOOR, shares_of

RED = (0.05, 0.08, 0.5)
STANDING = (
    Drawn("b2", PALE),
    Drawn("d2", PALE, ball=DARK),
    Drawn("f2", DARK),
    Drawn("b4", DARK, ball=RED),
    Drawn("d4", PALE, ball=PALE),
    Drawn("f4", RED, ball=RED),
    Drawn("d6", RED),
)


def evidence_of(
    discs: tuple[Drawn, ...] = STANDING, azimuth_deg: float = -75.0, shade: float = 0.0
) -> dict[str, BallEvidence]:
    """The evidence at each disc; with ``shade``, light falls off linearly by that share in 100 mm."""
    pose = seen_from(azimuth_deg)
    finder = finder_from(pose)
    places = [disc.place for disc in discs]
    plane = finder.plane(picture_of(discs, pose), places)
    plane.colours[..., 2] += np.linspace(0, shade * plane.colours.shape[1] / 100, plane.colours.shape[1])
    fits = finder.find(plane, places)
    return dict(zip(places, ball_evidence(plane, finder.shape, [fits[one] for one in places], None), strict=True))


@pytest.fixture(scope="module")
def seen() -> dict[str, BallEvidence]:
    return evidence_of()


def test_discs_with_a_ball_are_far_more_uneven_than_those_without(seen: dict[str, BallEvidence]) -> None:
    bare = [seen[disc.place].unevenness for disc in STANDING if disc.ball is None]
    with_ball = [seen[disc.place].unevenness for disc in STANDING if disc.ball is not None]
    assert max(bare) < 0.3
    assert min(with_ball) > 4 * max(bare)
    assert min(bare) >= 1e-3
    flat = [seen[disc.place].rounded for disc in STANDING if disc.ball is None]
    round_ones = [seen[disc.place].rounded for disc in STANDING if disc.ball is not None]
    assert max(flat) < 0.02
    assert min(round_ones) > 0.06


def test_the_colours_of_ball_and_top_are_measured(seen: dict[str, BallEvidence]) -> None:
    for disc in STANDING:
        blue, green, red = np.maximum(shares_of(seen[disc.place].colour) - DARK_FLOOR, 1e-3)
        if disc.ball == RED:
            assert red > 3 * max(blue, green)
        elif DARK in (disc.ball, disc.light):
            assert max(blue, green, red) < 0.1
        top = seen[disc.place].top
        assert 300 < len(top) < 380
        apart = np.abs(np.median(top, axis=0) - seen[disc.place].colour).max()
        assert (apart < 0.5) == (disc.ball is None or disc.ball == disc.light)


def test_the_whole_top_of_a_large_disc_is_sampled() -> None:
    finder = finder_from(seen_from())
    plane = finder.plane(picture_of(STANDING, seen_from()), ["d4"])
    fit = finder.find(plane, ["d4"])["d4"]
    large = replace(finder.shape, pieces=replace(finder.shape.pieces, diameter_mm=60.0))
    (seen,) = ball_evidence(plane, large, [fit], None)
    assert len(seen.top) == pytest.approx(math.pi * (30.0 - INSIDE_TOP_MM) ** 2, rel=0.02)


def test_light_from_one_side_is_no_evidence_of_a_ball(seen: dict[str, BallEvidence]) -> None:
    for place, one in evidence_of(shade=0.8).items():
        assert 1 / 3 < one.unevenness / seen[place].unevenness < 3


@pytest.mark.parametrize("azimuth_deg", [15.0, 105.0, 195.0])
def test_a_ball_is_seen_from_every_side_of_the_table(azimuth_deg: float) -> None:
    seen = evidence_of((Drawn("c3", PALE), Drawn("e5", PALE, ball=RED), Drawn("c5", DARK, ball=RED)), azimuth_deg)
    assert seen["c3"].unevenness < 0.3
    assert min(seen["e5"].unevenness, seen["c5"].unevenness) > 1.5


def test_a_nearly_hidden_disc_gives_no_evidence() -> None:
    pose = seen_from()
    finder = finder_from(pose)
    disc = Drawn("d4", PALE, ball=DARK)
    plane = finder.plane(picture_of([disc], pose), ["d4"])
    fits = list(finder.find(plane, ["d4"]).values())
    hidden: BoolImage = np.ones(plane.colours.shape[:2], dtype=np.bool_)
    (nothing,) = ball_evidence(plane, finder.shape, fits, hidden)
    assert (nothing.shaded, nothing.edge, len(nothing.top), nothing.is_seen) == (0.0, 0.0, 0, False)
    assert nothing.colour is fits[0].colour
    assert nothing.unevenness == 1e-3
    assert nothing.rounded == math.inf
    column, _ = plane.window.to_pixels(*BOARD.centre_mm("d4"))
    hidden[:, : round(column) + 1] = False
    (half,) = ball_evidence(plane, finder.shape, fits, hidden)
    (whole,) = ball_evidence(plane, finder.shape, fits, ~np.ones_like(hidden))
    assert len(half.top) == pytest.approx(len(whole.top) / 2, rel=0.15)
    assert half.unevenness > 1
    assert half.is_seen
    assert ball_evidence(plane, finder.shape, [], None) == []


def residual(points: FloatArray, values: FloatArray, *, curved: bool) -> float:
    """Mean squared residual of a linear or quadratic fit to values at points."""
    x, y = (points / 15.0).T
    terms = [np.ones_like(x), x, y, *([x * x, y * y, x * y] if curved else [])]
    solution, *_ = np.linalg.lstsq(np.column_stack(terms), values, rcond=None)
    return float(((np.column_stack(terms) @ solution - values) ** 2).mean())


def by_points(plane: TopPlane, shape: DiscShape, fit: DiscFit, nearer: BoolImage) -> BallEvidence:
    """The same evidence, point by point and direction by direction."""
    grid = np.array(
        [(x, y) for x in range(-22, 23) for y in range(-22, 23) if math.hypot(x, y) < shape.radius_mm - 2.6]
    )
    grid = grid[[not plane.mask_at(nearer, point) for point in fit.centre_mm + grid]]
    beyond = np.array([beyond_mm(point, shape.ball_circles(fit.centre_mm)) for point in fit.centre_mm + grid])
    top = np.column_stack([grid, plane.at(fit.centre_mm + grid)])
    ball, rest = top[beyond < -0.4], top[beyond > 0.8]
    if len(ball) < 12 or len(rest) < 12:
        return BallEvidence(0.0, 0.0, fit.colour, np.empty((0, 3)))
    noise = np.sqrt([residual(rest[:, :2], rest[:, 2 + channel], curved=False) for channel in range(3)])
    apart = noise[2] ** 2 * len(rest) + residual(ball[:, :2], ball[:, 4], curved=True) * len(ball)
    gained = residual(top[:, :2], top[:, 4], curved=False) - apart / (len(rest) + len(ball))
    contrasts = []
    for number in range(24):
        way = np.array([math.cos(number * math.pi / 12), math.sin(number * math.pi / 12)])
        outline = shape.ball_outline(fit.centre_mm, way[None])[0]
        inner, outer = outline - 1.4 * way, outline + 1.4 * way
        over_top = math.dist(outer, fit.centre_mm) < shape.radius_mm - 1.2
        clear = over_top or beyond_mm(inner, shape.disc_circles(fit.centre_mm)) > 1.2
        if clear and not plane.mask_at(nearer, outer):
            change = (plane.at(inner) - plane.at(outer)) / (np.array([0.06, 0.06, 0.05]) + noise)
            contrasts.append(float(np.linalg.norm(change)))
    edge = float(np.median(contrasts)) if len(contrasts) >= 6 else 0.0
    middle = top[np.hypot(top[:, 0], top[:, 1]) < 4.5]
    rounded = math.inf
    if len(middle) >= 12:
        rounded = math.sqrt(max(0.0, middle[:, 4].var() - residual(middle[:, :2], middle[:, 4], curved=True)))
    return BallEvidence(
        math.sqrt(max(0.0, gained)) / (0.02 + noise[2]), edge, np.median(ball[:, 2:], axis=0), top[:, 2:], rounded
    )


@pytest.mark.parametrize("hidden_mm", [-30, -6, 0, 5, 9])
def test_the_evidence_equals_a_point_by_point_reference(hidden_mm: int) -> None:
    """Each disc is hidden left of a line at this distance from its middle."""
    pose = seen_from(-75.0)
    finder = finder_from(pose)
    places = [disc.place for disc in STANDING]
    plane = finder.plane(picture_of(STANDING, pose), places)
    plane.colours[:] += np.random.default_rng(5).normal(0.0, 0.05, plane.colours.shape).astype(np.float32)
    fits = list(finder.find(plane, places).values())
    nearer: BoolImage = np.zeros(plane.colours.shape[:2], dtype=np.bool_)
    for fit in fits:
        column, row = (round(float(at)) for at in plane.window.to_pixels(fit.x_mm, fit.y_mm))
        if hidden_mm > -30:
            nearer[row - 24 : row + 25, column - 24 : column - hidden_mm] = True
    found = ball_evidence(plane, finder.shape, fits, nearer)
    for fit, one in zip(fits, found, strict=True):
        expected = by_points(plane, finder.shape, fit, nearer)
        assert one.shaded == pytest.approx(expected.shaded, rel=0.01, abs=0.01)
        assert one.edge == pytest.approx(expected.edge, rel=0.01, abs=0.01)
        assert one.colour == pytest.approx(expected.colour, abs=1e-3)
        assert one.rounded == pytest.approx(expected.rounded, rel=0.01, abs=1e-3)
        assert one.top.shape == expected.top.shape
