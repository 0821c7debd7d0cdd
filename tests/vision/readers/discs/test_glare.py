"""A lamp reflected by all discs of a picture, which makes black ones as bright as white ones in the shade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.readers.discs.drawn import BOARD, DARK, PALE, Drawn, picture_of, seen_from, view_of
from vision.frame import FloatArray
from vision.readers.discs.lighting import (
    DARK_FLOOR,
    NO_GLARE,
    ColourClassifier,
    DiscAppearance,
    DiscColours,
    Glare,
    colour_of_shares,
    fit_glare,
    light_of,
    shares_of,
)
from vision.readers.discs.reader import DiscReader

PAPER = np.full(3, 0.6)


def colour(light: npt.ArrayLike) -> FloatArray:
    return colour_of_shares(np.asarray(light, dtype=np.float64) + DARK_FLOOR)


LOOKS = DiscAppearance(
    {"black": DiscColours(colour(DARK), colour(DARK)), "white": DiscColours(colour(PALE), colour(PALE))}
)
CLASSIFIER = ColourClassifier({name: own.disc for name, own in LOOKS.players.items()})
OWNERS = ("black", "white") * 7


def centres(seed: int) -> FloatArray:
    """Where 14 discs stand on a board."""
    return np.random.default_rng(seed).uniform(-120, 120, (len(OWNERS), 2))


def seen_under(glare: Glare, at_mm: FloatArray, light: float = 1.0) -> list[FloatArray]:
    """The colours of the owners' discs."""
    own = [np.array(DARK if owner == "black" else PALE) * light for owner in OWNERS]
    added = glare.at(at_mm)
    return [colour(np.minimum(one + more, 1 / PAPER)) for one, more in zip(own, added, strict=True)]


def nearest(distances: Sequence[dict[str, float]]) -> list[str]:
    return [min(one, key=lambda name: one[name]) for one in distances]


@pytest.mark.parametrize(
    ("glare", "light"),
    [
        (Glare(20.0, -60.0, 130.0, 0.4), 1.0),
        (Glare(110.0, 110.0, 200.0, 0.5), 0.8),
        (Glare(0.0, 0.0, 80.0, 0.9), 1.2),
    ],
)
def test_the_discs_together_show_the_reflection(glare: Glare, light: float) -> None:
    at_mm = centres(3)
    seen = seen_under(glare, at_mm, light)
    found = light_of(LOOKS, CLASSIFIER, seen, at_mm, PAPER)
    assert nearest(found.distances(seen, at_mm)) == list(OWNERS)
    black = np.array([owner == "black" for owner in OWNERS])
    true, fitted = glare.at(at_mm)[black], found.glare.at(at_mm)[black]
    assert fitted == pytest.approx(true, rel=0.35, abs=0.03)
    alone = CLASSIFIER.distances(seen, PAPER, CLASSIFIER.fit_light(seen, PAPER)[0])
    assert nearest(alone) != list(OWNERS) or max(min(one.values()) for one in alone) > 2.5


@given(seed=st.integers(0, 99), light=st.floats(0.4, 1.6))
def test_no_reflection_is_seen_where_there_is_none(seed: int, light: float) -> None:
    at_mm = centres(seed)
    seen = seen_under(NO_GLARE, at_mm, light)
    assert light_of(LOOKS, CLASSIFIER, seen, at_mm, PAPER).glare is NO_GLARE


def test_a_single_thing_that_is_no_disc_is_no_reflection() -> None:
    at_mm = np.array([[0.0, 0.0], [30.0, 0.0], [60.0, 0.0]])
    seen = [colour(DARK), colour(PALE), colour(np.add(DARK, 0.25))]
    assert light_of(LOOKS, CLASSIFIER, seen, at_mm, PAPER).glare is NO_GLARE
    assert fit_glare(CLASSIFIER, seen, at_mm, PAPER, CLASSIFIER.fit_light(seen, PAPER)[1]) is None
    assert fit_glare(CLASSIFIER, seen, at_mm, PAPER, 99.0) is not None


def test_a_reflection_fades_and_adds_white_light_up_to_saturation() -> None:
    glare = Glare(10.0, -20.0, 50.0, 0.4)
    assert glare.at(np.array([[10.0, -20.0], [60.0, -20.0], [10.0, 400.0]])) == pytest.approx(
        [0.4, 0.4 * np.exp(-0.5), 0.0], abs=1e-9
    )
    centre = np.array([10.0, -20.0])
    assert shares_of(glare.on(colour(DARK), centre, PAPER)) == pytest.approx(np.add(DARK, 0.4) + DARK_FLOOR)
    bright = shares_of(replace(glare, strength=5.0).on(colour(DARK), centre, PAPER))
    assert bright == pytest.approx(1 / PAPER + DARK_FLOOR)
    assert NO_GLARE.on(colour(DARK), centre, PAPER) is not None
    assert NO_GLARE.on(colour(DARK), centre, PAPER) == pytest.approx(colour(DARK))


def test_discs_and_their_balls_are_read_under_a_lamps_reflection() -> None:
    glare = Glare(-40.0, -60.0, 130.0, 0.35)
    places = ("a1", "b2", "c3", "d1", "e5", "f7", "g4", "a6", "b5", "c7", "d3", "e2", "f4", "g1")
    standing = []
    for place, owner in zip(places, OWNERS, strict=True):
        own = DARK if owner == "black" else PALE
        blue, green, red = np.add(own, glare.at(np.array([BOARD.centre_mm(place)]))[0]).tolist()
        standing.append(Drawn(place, (blue, green, red), ball=own if place in ("c3", "b2") else None))
    pose = seen_from()
    seen = DiscReader(BOARD, LOOKS).read(view_of(picture_of(standing, pose), pose), BOARD.places, {})
    told = {place: (one.player, one.ball_log_odds > 0) for place, one in seen.items() if one.log_odds > 0}
    assert told == {place: (owner, place in ("c3", "b2")) for place, owner in zip(places, OWNERS, strict=True)}
