"""A piece set seen by cameras of another saturation than the one it was enrolled with."""

from __future__ import annotations

import numpy as np
import pytest

from tests.vision.readers.discs.drawn import BOARD, PALE, Drawn, picture_of, seen_from, view_of
from vision.frame import FloatArray, Image
from vision.readers.discs.lighting import (
    DARK_FLOOR,
    ColourClassifier,
    DiscAppearance,
    DiscColours,
    colour_of_shares,
    light_of,
    shares_of,
    with_saturation,
)
from vision.readers.discs.reader import DiscReader

RED, ORANGE, BLUE = (0.1, 0.12, 0.4), (0.12, 0.3, 0.5), (0.4, 0.2, 0.12)
PAPER = np.full(3, 0.6)
GREY = (0.2, 0.2, 0.2)


def colour(*light: float) -> FloatArray:
    return colour_of_shares(np.array(light) + DARK_FLOOR)


LOOKS = DiscAppearance(
    {"red": DiscColours(colour(*RED), colour(*PALE)), "blue": DiscColours(colour(*BLUE), colour(*PALE))}
)
CLASSIFIER = ColourClassifier({name: own.disc for name, own in LOOKS.players.items()})
STANDING = (Drawn("a1", RED), Drawn("d1", RED, ball=PALE), Drawn("c4", BLUE), Drawn("f7", BLUE), Drawn("e5", RED))


def saturated(image: Image, factor: float) -> Image:
    grey = (image @ np.array([0.114, 0.587, 0.299]))[..., None]
    return np.asarray(np.clip(np.round(grey + factor * (image - grey)), 0, 255), dtype=np.uint8)


@pytest.mark.parametrize("factor", [0.6, 1.0, 1.6])
def test_discs_are_read_at_another_saturation(factor: float) -> None:
    pose = seen_from()
    view = view_of(saturated(picture_of(STANDING, pose, ground=GREY), factor), pose)
    seen = DiscReader(BOARD, LOOKS).read(view, BOARD.places, {})
    told = {place: (one.player, one.ball_log_odds > 0) for place, one in seen.items() if one.log_odds > 0}
    assert told == {disc.place: ("red" if disc.light == RED else "blue", disc.ball is not None) for disc in STANDING}


@pytest.mark.parametrize("factor", [0.6, 1.5])
def test_one_factor_is_found_for_all_discs(factor: float) -> None:
    shown = with_saturation(LOOKS, PAPER, factor)
    seen = [own.disc for own in shown.players.values()] * 4
    light = light_of(LOOKS, CLASSIFIER, seen, np.zeros((len(seen), 2)), PAPER)
    for name, own in light.looks.players.items():
        assert own.disc == pytest.approx(shown.players[name].disc), name
    nearest = [min(one.values()) for one in light.classifier.distances(seen, PAPER, light.level)]
    assert max(nearest) < 0.5
    assert max(min(one.values()) for one in CLASSIFIER.distances(seen, PAPER, 0.0)) > 1.5


def test_learned_colours_and_foreign_colours_give_no_saturation_correction() -> None:
    learned = [own.disc for own in LOOKS.players.values()]
    for seen in (learned * 4, [colour(0.1, 0.6, 0.1)], []):
        assert light_of(LOOKS, CLASSIFIER, seen, np.zeros((len(seen), 2)), PAPER).looks is LOOKS


def test_saturation_scales_the_distance_from_grey_and_clips() -> None:
    grey = DiscAppearance({"grey": DiscColours(colour(*GREY), colour(*GREY))})
    assert with_saturation(grey, PAPER, 1.5).players["grey"].disc == pytest.approx(colour(*GREY))
    level = (np.array(RED) * 0.6) ** (1 / 2.2)
    luma = float(level @ [0.114, 0.587, 0.299])
    for factor in (0.6, 1.5, 3.0):
        expected = np.clip(luma + factor * (level - luma), 0, 1) ** 2.2 / 0.6
        shown = shares_of(with_saturation(LOOKS, PAPER, factor).players["red"].disc)
        assert shown == pytest.approx(expected + DARK_FLOOR)
