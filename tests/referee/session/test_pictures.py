"""The camera's pictures as they are sent to viewers."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from engine.registry import load
from referee.commands.values import CommandQueue
from referee.session.table_port import CameraPictures, NewestFrame, SnapshotHub, TablePort, as_jpeg
from vision.frame import Frame, Image


@pytest.mark.parametrize(
    ("shape", "sent"), [((720, 1280), (720, 1280)), ((723, 1281), (722, 1280)), ((1080, 1920), (720, 1280))]
)
def test_wide_pictures_are_scaled_down(shape: tuple[int, int], sent: tuple[int, int]) -> None:
    content = as_jpeg(np.zeros((*shape, 3), np.uint8))
    decoded = cv2.imdecode(np.frombuffer(content, np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    assert decoded.shape == (*sent, 3)


def test_each_frame_is_drawn_once_for_all_viewers() -> None:
    newest, drawn = NewestFrame(), list[Frame]()

    def overlay(frame: Frame) -> Image | None:
        drawn.append(frame)
        return 255 - frame.image if frame.sequence == 1 else None

    port = TablePort(load("diaballik"), SnapshotHub(), CommandQueue(lambda: 0.0), frame=newest, overlay=overlay)
    pictures = CameraPictures(port)
    assert pictures.jpeg(overlay=False) is None
    first, second = (Frame(np.zeros((8, 8, 3), np.uint8), number / 10, number, "camera") for number in (1, 2))
    newest.frame = first
    for _ in range(2):
        assert pictures.jpeg(overlay=False) == as_jpeg(first.image)
        assert pictures.jpeg(overlay=True) == as_jpeg(255 - first.image)
    newest.frame = second
    assert pictures.jpeg(overlay=True) is None, "nothing was located"
    assert drawn == [first, second]
