"""How a picture changes the hues of a set: strength and tint are found from all tops together."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import some
from tests.vision.readers.stacks import pictures
from vision.frame import FloatArray, Image
from vision.readers.stacks.appearance import plain_appearance
from vision.readers.stacks.reader import HueSettings, StackReader, hue_costs, tint_of

KNOWN = np.array([*plain_appearance().colours.values(), np.zeros(2)])


def hues_of_tops(rng: np.random.Generator, count: int = 25) -> FloatArray:
    """Draw hues of tops of all colours."""
    return np.asarray(KNOWN[np.arange(count) % len(KNOWN)] + rng.normal(0, 0.1, (count, 2)))


@given(
    seed=st.integers(0, 2**32),
    strength=st.floats(0.55, 1.7),
    shift=st.tuples(st.floats(-0.4, 0.4), st.floats(-0.4, 0.4)),
)
@settings(deadline=None)
def test_strength_and_tint_of_a_picture_are_removed(seed: int, strength: float, shift: tuple[float, float]) -> None:
    learned = hues_of_tops(np.random.default_rng(seed))
    hues = strength * learned + shift
    again = tint_of(hues, KNOWN).without(hues)
    assert (hue_costs(again, KNOWN).argmin(axis=1) == np.arange(25) % len(KNOWN)).all()
    assert np.abs(again - learned).max() < 0.5


def test_hues_as_learned_are_hardly_changed() -> None:
    tint = tint_of(KNOWN, KNOWN)
    assert tint.strength == 1.0
    assert tint.shift == pytest.approx([0, 0], abs=1e-9)


def test_without_tops_nothing_is_changed() -> None:
    tint = tint_of(np.empty((0, 2)), KNOWN)
    assert (tint.strength, *tint.shift) == (1.0, 0.0, 0.0)


def test_odd_hues_do_not_set_the_tint() -> None:
    hues = hues_of_tops(np.random.default_rng(1))
    hues[:3] = (4.0, 4.0)
    tint = tint_of(hues, KNOWN)
    assert tint.strength == pytest.approx(1.0, abs=0.13)
    assert np.abs(tint.shift).max() < 0.15


def test_of_two_unlike_colours_the_nearer_one_costs_less() -> None:
    far = np.array([[9.0, -0.5]])
    costs = hue_costs(far, KNOWN)[0]
    assert costs.argmin() == 3
    assert costs.min() > HueSettings().usual_cost


def saturated(image: Image, factor: float) -> Image:
    """Multiply the distance of each pixel from grey."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)[..., None].astype(np.float32)
    return np.clip(grey + factor * (image - grey), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("factor", some([0.5, 0.7, 2.0, 1.6]))
@pytest.mark.parametrize("gains", [(1.0, 1.0, 1.0), (0.75, 1.0, 1.2)])
def test_colours_are_read_by_cameras_that_show_them_otherwise(factor: float, gains: tuple[float, ...]) -> None:
    view = pictures.view("010.jpg")
    image = np.clip(saturated(view.image, factor) * np.array(gains), 0, 255).astype(np.uint8)
    reader = StackReader(pictures.LAYOUT.board, pictures.looks())
    seen = reader.read(replace(view, image=image), pictures.LAYOUT.places, {})
    colours = {place: max(one.looks, key=lambda look: one.looks[look]).split()[0] for place, one in seen.items()}
    assert colours == {place: look.split()[0] for place, look in pictures.expected("010.jpg").items()}
