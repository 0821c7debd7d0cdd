"""Ink attenuates the paper's light; optical densities add."""

from __future__ import annotations

import numpy as np
import pytest

from vision.errors import LayoutError
from vision.surface.paper import densities_on, fit_bare_paper, hues, nearest_turn, usual_hues


@pytest.mark.parametrize(
    ("degrees", "nearest"), [(0.0, 0.0), (190.0, -170.0), (-190.0, 170.0), (360.0, 0.0), (179.0, 179.0), (725.0, 5.0)]
)
def test_angles_are_wrapped_to_the_range_around_zero(degrees: float, nearest: float) -> None:
    assert nearest_turn(np.array([degrees]))[0] == pytest.approx(nearest)


def test_pens_of_known_colours_have_usual_hues() -> None:
    assert usual_hues(["red", "blue"]).tolist() == [25.0, -178.0]
    with pytest.raises(LayoutError, match="no pen is known as 'mauve'; colours may be red, orange"):
        usual_hues(["red", "mauve"])


def test_bare_paper_is_fitted_beneath_ink_and_under_a_lamp_at_its_side() -> None:
    rows, columns = 120, 160
    lamp = 0.3 + 0.5 * np.linspace(0, 1, columns)[None, :, None] * np.ones((rows, 1, 3)) * (0.8, 0.9, 1.0)
    inked = lamp.copy()
    inked[20:100:2, 30:90] *= (0.2, 0.3, 0.9)
    found = fit_bare_paper(inked.astype(np.float32))
    assert found.shape == inked.shape
    assert np.abs(found / lamp - 1).max() < 0.06


def test_some_pixels_tell_as_much_as_all(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(8)
    light = np.linspace(0.5, 0.8, 120)[None, :, None] * random.normal(1, 0.02, (120, 120, 3))
    for row, column in random.permutation(np.argwhere(np.ones((10, 10))))[:60]:
        light[12 * row : 12 * row + 11, 12 * column : 12 * column + 11] *= (0.3, 0.7, 0.4)
    some = fit_bare_paper(light.astype(np.float32))
    monkeypatch.setattr("vision.surface.paper._ONE_IN", 1)
    assert some == pytest.approx(fit_bare_paper(light.astype(np.float32)), rel=0.02)


def test_twice_the_ink_has_twice_the_density_and_the_same_hue() -> None:
    paper = np.full((1, 2, 3), 0.8, dtype=np.float32)
    share = np.array([0.9, 0.5, 0.4])
    light = (paper * np.stack([share, share**2])).astype(np.float32)
    once, twice = densities_on(light, paper, 0.0)[0]
    assert once == pytest.approx(-np.log(share), abs=1e-5)
    assert twice == pytest.approx(2 * once, abs=1e-5)
    hue, strength = hues(np.array([once, twice], dtype=np.float64))
    assert hue[0] == pytest.approx(hue[1], abs=1e-3)
    assert strength[1] == pytest.approx(2 * strength[0], abs=1e-4)


def test_a_shadow_has_no_hue_and_noise_in_the_dark_no_density() -> None:
    paper = np.full((1, 2, 3), 0.8, dtype=np.float32)
    light = np.array([[[0.4, 0.4, 0.4], [0.0, 0.0, 0.0]]], dtype=np.float32)
    shadow, black = densities_on(light, paper, 0.02)[0]
    assert hues(shadow.astype(np.float64))[1] == pytest.approx(0.0, abs=1e-6)
    assert black == pytest.approx(np.log(1.02 / 0.02), abs=1e-4)


def test_each_channel_alone_has_a_hue_of_its_own() -> None:
    hue, strength = hues(np.eye(3))
    assert hue == pytest.approx([np.degrees(np.arctan2(-0.5, 1)), 90.0, np.degrees(np.arctan2(-0.5, -1))])
    assert strength == pytest.approx([np.hypot(1, 0.5), 1.0, np.hypot(1, 0.5)])


def test_paper_too_bright_for_the_camera_is_even() -> None:
    found = fit_bare_paper(np.ones((40, 60, 3), dtype=np.float32))
    assert found == pytest.approx(1.0, abs=1e-3)


def test_densities_are_the_logs_of_the_shares_of_light_left_by_ink() -> None:
    random = np.random.default_rng(4)
    paper = random.uniform(0, 1, (9, 7, 3)).astype(np.float32)
    light = (paper * random.uniform(0, 2, paper.shape)).astype(np.float32)
    before = light.copy(), paper.copy()
    shares = np.clip(light / np.maximum(paper, 1e-3), 0, 1.5)
    assert densities_on(light, paper, 0.02) == pytest.approx(np.log(1.02) - np.log(shares + 0.02), abs=1e-5)
    assert (light == before[0]).all()
    assert (paper == before[1]).all()
