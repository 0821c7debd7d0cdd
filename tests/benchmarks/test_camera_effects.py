"""Pictures as another camera would have taken them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from benchmarks.parts.camera_effects import EFFECTS, with_effect
from vision.frame import Image


@pytest.fixture(scope="module")
def squares() -> Image:
    """A grey picture with a darker square that has sharp edges."""
    image = np.full((60, 80, 3), 170, dtype=np.uint8)
    image[20:40, 30:50] = 80
    return image


@pytest.mark.parametrize("name", EFFECTS)
def test_an_effect_changes_a_picture_the_same_way_each_time(name: str, squares: Image) -> None:
    changed = with_effect(name, squares)
    assert changed.shape == squares.shape
    assert changed.dtype == np.uint8
    assert np.abs(changed.astype(float) - squares).mean() > 0.5
    assert np.array_equal(changed, with_effect(name, squares))


def steepest(image: Image) -> float:
    return float(np.abs(np.diff(image[30].astype(float).mean(axis=1))).max())


def test_each_effect_is_what_it_is_called(squares: Image) -> None:
    blue, _, red = cv2.split(with_effect("warm", squares).astype(float))
    assert red.mean() > blue.mean() + 20
    assert with_effect("dim", squares).mean() < 0.7 * squares.mean()
    assert with_effect("dim", squares)[:15, :25].std() > 2
    assert (
        steepest(with_effect("soft", squares))
        < 0.7 * steepest(squares)
        < 0.7 * steepest(with_effect("sharpened", squares))
    )
    shaken = with_effect("shaken", squares).astype(float)
    assert shaken.mean() == pytest.approx(squares.mean(), abs=1)
    assert cv2.Laplacian(shaken, cv2.CV_64F).std() < 0.7 * cv2.Laplacian(squares.astype(float), cv2.CV_64F).std()
