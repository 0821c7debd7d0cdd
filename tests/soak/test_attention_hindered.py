"""A still picture in which something is in the way is looked at again soon."""

from __future__ import annotations

import numpy as np

from referee.runtime.readers import AttentionSettings, AttentiveReader
from vision.frame import Frame, Image
from vision.reading import Hindrance, Reading


class SeesAHandUntil:
    """Says that a hand is in the way until a given frame."""

    def __init__(self, gone: int) -> None:
        self.gone = gone
        self.read_frames: list[int] = []

    def read(self, frame: Frame) -> Reading:
        self.read_frames.append(frame.sequence)
        hand = (Hindrance("hand", "a hand is over d1", ("d1",)),) if frame.sequence < self.gone else ()
        return Reading(frame.sequence, frame.time_s, {}, hand)

    def crop(self, frame: Frame, place: str) -> Image:
        return frame.image


def test_a_hand_that_is_gone_is_not_believed_for_long() -> None:
    inner = SeesAHandUntil(gone=3)
    reader = AttentiveReader(inner, AttentionSettings(reads=2, refresh_s=60.0, hindered_refresh_s=0.15))
    still = np.full((90, 160, 3), 120, dtype=np.uint8)
    readings = [reader.read(Frame(still, number / 10, number)) for number in range(12)]
    assert inner.read_frames == [0, 1, 3]
    assert [bool(reading.hindrances) for reading in readings] == [True] * 3 + [False] * 9
