"""What a ball on a disc leaves to be seen, on drawn pictures."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.readers.discs.drawn import BOARD, DARK, PALE, Drawn, finder_from, picture_of, seen_from
from vision.frame import BoolImage
from vision.readers.discs.appearance import DARK_FLOOR, shares_of
from vision.readers.discs.balls import BallEvidence, ball_evidence

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
    """That of each disc; with a ``shade``, the light falls off evenly across the plane, by that share in 100 mm."""
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


def test_a_balls_colour_is_told_and_what_lies_on_the_top(seen: dict[str, BallEvidence]) -> None:
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


def test_a_lamp_from_one_side_makes_no_ball(seen: dict[str, BallEvidence]) -> None:
    for place, one in evidence_of(shade=0.8).items():
        assert 1 / 3 < one.unevenness / seen[place].unevenness < 3


@pytest.mark.parametrize("azimuth_deg", [15.0, 105.0, 195.0])
def test_a_ball_is_seen_from_every_side_of_the_table(azimuth_deg: float) -> None:
    seen = evidence_of((Drawn("c3", PALE), Drawn("e5", PALE, ball=RED), Drawn("c5", DARK, ball=RED)), azimuth_deg)
    assert seen["c3"].unevenness < 0.3
    assert min(seen["e5"].unevenness, seen["c5"].unevenness) > 1.5


def test_where_nearly_all_is_hidden_nothing_is_said() -> None:
    pose = seen_from()
    finder = finder_from(pose)
    disc = Drawn("d4", PALE, ball=DARK)
    plane = finder.plane(picture_of([disc], pose), ["d4"])
    fits = list(finder.find(plane, ["d4"]).values())
    hidden: BoolImage = np.ones(plane.colours.shape[:2], dtype=np.bool_)
    (nothing,) = ball_evidence(plane, finder.shape, fits, hidden)
    assert (nothing.shaded, nothing.edge, len(nothing.top)) == (0.0, 0.0, 0)
    assert nothing.colour is fits[0].colour
    assert nothing.unevenness == 1e-3
    column, _ = plane.window.to_pixels(*BOARD.centre_mm("d4"))
    hidden[:, : round(column) + 1] = False
    (half,) = ball_evidence(plane, finder.shape, fits, hidden)
    (whole,) = ball_evidence(plane, finder.shape, fits, ~np.ones_like(hidden))
    assert len(half.top) == pytest.approx(len(whole.top) / 2, rel=0.15)
    assert half.unevenness > 1
    assert ball_evidence(plane, finder.shape, [], None) == []
