"""Whose a disc is by its colour: sure where it is a taught one, and no surer than a mirrored lamp allows."""

from __future__ import annotations

import numpy as np
import pytest

from vision.readers.discs.appearance import DARK_FLOOR, colour_of_shares
from vision.readers.discs.lighting import ColourClassifier
from vision.readers.probabilities import tempered

BLACK, WHITE = 0.03, 0.85
PAPER = np.full(3, 0.8)


def chance_of_white(share: float) -> float:
    """The probability that a grey disc, its light in shares of paper's, is white's."""
    taught = {
        name: colour_of_shares(np.full(3, one + DARK_FLOOR)) for name, one in (("black", BLACK), ("white", WHITE))
    }
    seen = colour_of_shares(np.full(3, share + DARK_FLOOR))
    return tempered(ColourClassifier(taught).log_likelihoods([seen], PAPER, 0.0)[0], 1.0, 0.001)["white"]


@pytest.mark.parametrize(("share", "white"), [(BLACK, False), (WHITE, True), (0.95, True)])
def test_a_taught_colour_is_certain(share: float, white: bool) -> None:
    assert (chance_of_white(share) > 0.99) == white
    assert (chance_of_white(share) < 0.01) == (not white)


@pytest.mark.parametrize("share", [0.3, 0.4, 0.5])
def test_a_pale_disc_may_be_a_dark_one_under_a_lamp(share: float) -> None:
    assert 0.01 < chance_of_white(share) < 0.99
