"""How clear a picture is as a whole, and what is wrong with it."""

import cv2
import numpy as np
import pytest

from vision.clarity import Clarity, trouble_on
from vision.frame import FloatArray
from vision.reading import HindranceKind
from vision.sampling import linear_light, linear_light_table


def tiles(seed: int = 1) -> FloatArray:
    """A picture of black, grey and white tiles with sharp edges and a little noise, in grey levels."""
    random = np.random.default_rng(seed)
    small = random.choice([15.0, 120.0, 180.0, 230.0], (20, 30))
    return np.asarray(np.kron(small, np.ones((12, 12))) + random.normal(0, 1.5, (240, 360)))


def trouble(levels: FloatArray) -> HindranceKind | None:
    return Clarity(np.clip(np.round(levels), 0, 255).astype(np.uint8)).trouble


def test_haze_is_taken_away_and_a_clear_picture_stays_as_it_is() -> None:
    image = np.stack([tiles()] * 3, axis=-1).round().clip(0, 255).astype(np.uint8)
    assert Clarity(image).without_haze(image) is image
    light = linear_light(image)
    light = np.asarray(0.4 * light + 0.4, dtype=np.float32)
    hazy = np.interp(light, linear_light_table(), np.arange(256)).round().astype(np.uint8)
    clear = Clarity(hazy).without_haze(hazy)
    assert Clarity(hazy).trouble is HindranceKind.HAZE
    assert Clarity(clear).trouble is None
    ratio = [
        float(np.quantile(linear_light(one), 0.5) / np.quantile(linear_light(one), 0.95)) for one in (image, clear)
    ]
    assert ratio[0] == pytest.approx(ratio[1], abs=0.06)


def test_a_clear_picture_has_no_trouble_in_dimmer_and_in_brighter_light() -> None:
    for share in (0.5, 1.0, 1.3):
        assert trouble(tiles() * share) is None


def test_what_is_wrong_with_a_picture_is_named() -> None:
    clear = tiles()
    noise = np.random.default_rng(2).normal(0, 30, clear.shape)
    assert trouble(clear * 0.3) is HindranceKind.DARK
    assert trouble(clear + noise) is HindranceKind.DARK
    assert trouble(clear * 4 + 200) is HindranceKind.GLARE
    assert trouble(170 + 0.15 * clear) is HindranceKind.HAZE
    assert trouble(np.asarray(cv2.GaussianBlur(clear, (0, 0), 3))) is HindranceKind.BLUR
    assert trouble(clear.round(-1)) is HindranceKind.COARSE


def test_places_that_show_little_are_compared_with_the_others() -> None:
    place = np.array([[40, 60], [160, 200]], dtype=np.uint8)
    for lit, shaded, why in (
        (place // 2 + 128, place, HindranceKind.GLARE),
        (place // 4, place, HindranceKind.DARK),
        (place, place, HindranceKind.UNCLEAR),
    ):
        assert trouble_on([lit] * 3, [shaded] * 5) is why
    assert trouble_on([place], []) is HindranceKind.UNCLEAR


@pytest.mark.parametrize(("level", "why"), [(5, HindranceKind.DARK), (120, None), (250, HindranceKind.GLARE)])
def test_an_even_picture_has_no_edges_and_shows_no_haze(level: int, why: HindranceKind | None) -> None:
    even = Clarity(np.full((240, 320), level, dtype=np.uint8))
    assert even.edge_px is None
    assert even.trouble is why


def test_the_width_of_edges_grows_with_the_blur() -> None:
    blurred = [cv2.GaussianBlur(tiles(), (0, 0), sigma).astype(np.uint8) for sigma in (0.5, 1.5, 3)]
    narrow, wider, widest = (Clarity(np.asarray(grey)).edge_px or 0.0 for grey in blurred)
    assert 2 < narrow < 3
    assert narrow < wider < 5 < widest
