"""A sheet laid flat: what a camera sees finer than the flat picture is averaged, not left out."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tests.vision.readers.ink.sheets import camera, layout, picture, pose
from vision.geometry import CameraModel
from vision.readers.ink.paper import flat_map, flat_picture, flat_window


def magnified(times: int) -> CameraModel:
    """The camera with so many times its pixels."""
    matrix = camera().matrix.copy()
    matrix[:2] *= times
    matrix[:2, 2] += (times - 1) / 2
    width, height = camera().size
    return replace(camera(), matrix=matrix, size=(times * width, times * height))


@pytest.mark.parametrize("times", [1, 3])
def test_the_flat_picture_has_the_same_size_however_much_the_camera_sees(times: int) -> None:
    board = layout("number-drop").board
    one = cv2.resize(picture("number-drop"), None, fx=times, fy=times, interpolation=cv2.INTER_LINEAR)
    near = magnified(times)
    flat = flat_picture(one, flat_map(near, pose("number-drop"), board), board)
    usual = flat_picture(picture("number-drop"), flat_map(camera(), pose("number-drop"), board), board)
    assert flat.shape == (*flat_window(board).shape, 3)
    assert np.abs(flat.astype(int) - usual).mean() < 4


def test_lines_finer_than_a_pixel_of_the_flat_picture_are_averaged() -> None:
    board = layout("number-drop").board
    near = magnified(8)
    width, height = near.size
    striped = np.zeros((height, width, 3), dtype=np.uint8)
    striped[:, ::2] = 200
    flat = flat_picture(striped, flat_map(near, pose("number-drop"), board), board)
    assert flat.mean() == pytest.approx(100, abs=5)
    assert flat.std() < 25
