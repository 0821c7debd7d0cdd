from typing import Any

import numpy as np
import pytest

from engine.registry import load
from simulator.play.players import Habits, Players
from simulator.scene.scene import Sensor, Setting, lens, looking_at, standard_layout


@pytest.fixture(scope="session")
def clean_setting() -> Setting:
    """A sharp, noiseless camera over the standard table."""
    return Setting(lens((800, 450)), looking_at(), sensor=Sensor(noise=0.0, defocus_px=0.0, vignette=0.0))


@pytest.fixture(scope="session")
def small_setting() -> Setting:
    """A small picture, for tests that need many frames."""
    return Setting(lens((320, 240), 70.0), looking_at(760.0), sensor=Sensor(noise=2.0, jpeg_quality=90))


@pytest.fixture(scope="session")
def game() -> Any:
    return load("deblockle")


@pytest.fixture(scope="session")
def make_players(game: Any) -> Any:
    def make(seed: int, **habits: Any) -> Players:
        return Players(game, standard_layout(), Habits(**habits), np.random.default_rng(seed))

    return make
