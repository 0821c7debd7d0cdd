"""Only changed pictures are read again, and still pictures with a hindrance after a short time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vision.frame import Frame, Image
from vision.motion.changes import ChangeGate
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading


class Gated:
    """A reader behind a gate."""

    def __init__(self, reader: Any, *, reads_movement: bool = False) -> None:
        self.reader, self.gate = reader, ChangeGate(reads_movement=reads_movement)

    def read(self, frame: Frame) -> Reading:
        return self.gate.reading(frame, self.reader.read, self.reader.invalidate_cache)


class Counting:
    """Gives the same reading for every frame and counts them."""

    def __init__(self) -> None:
        self.read_frames: list[int] = []
        self.afresh: list[int] = []

    def invalidate_cache(self) -> None:
        self.afresh.append(len(self.read_frames))

    def read(self, frame: Frame) -> Reading:
        self.read_frames.append(frame.sequence)
        return Reading(frame.sequence, frame.time_s, {"a1": PlaceReading({"empty": 1.0})})


@pytest.fixture
def counting() -> Counting:
    return Counting()


def picture(seed: int, brightness: float = 1.0, block_at: int | None = None) -> Image:
    rows = np.linspace(60, 180, 180)[:, None, None] * np.ones((1, 320, 3))
    noise = np.random.default_rng(seed).normal(0, 4, rows.shape)
    if block_at is not None:
        rows[80:104, block_at : block_at + 24] = 240
    return np.asarray(np.clip(rows * brightness + noise, 0, 255), dtype=np.uint8)


def feed(reader: Gated, pictures: list[Image], fps: float = 10.0) -> list[Reading]:
    return [reader.read(Frame(image, number / fps, number)) for number, image in enumerate(pictures)]


def test_a_still_picture_is_read_only_a_few_times(counting: Counting) -> None:
    reader = Gated(counting)
    readings = feed(reader, [picture(seed) for seed in range(12)])
    assert counting.read_frames == [0, 1]
    assert [reading.sequence for reading in readings] == list(range(12))
    assert [reading.time_s for reading in readings] == [number / 10 for number in range(12)]


def test_a_still_picture_is_read_again_from_time_to_time(counting: Counting) -> None:
    reader = Gated(counting)
    feed(reader, [picture(seed) for seed in range(12)], fps=1.0)
    assert counting.read_frames == [0, 1, 4, 7, 10]


def test_a_moving_picture_is_not_read(counting: Counting) -> None:
    reader = Gated(counting)
    still = [picture(seed) for seed in range(3)]
    moving = [picture(3 + step, block_at=40 + 20 * step) for step in range(5)]
    rest = [picture(20 + seed, block_at=120) for seed in range(3)]
    readings = feed(reader, still + moving + rest)
    assert all(reading.hindered_by(HindranceKind.HAND) for reading in readings[3:8])
    assert counting.read_frames == [0, 1, 8, 9]


def test_after_movement_every_place_is_read_anew(counting: Counting) -> None:
    reader = Gated(counting)
    still = [picture(seed) for seed in range(3)]
    moving = [picture(3, block_at=40), picture(4, block_at=60), picture(5)]
    feed(reader, [*still, *moving, *(picture(6 + seed) for seed in range(3))])
    assert counting.afresh == [2, 2, 2], "with each moving frame, before the next reading"
    assert counting.read_frames == [0, 1, 6, 7]


def test_a_lamp_that_dims_is_no_movement(counting: Counting) -> None:
    reader = Gated(counting)
    readings = feed(reader, [picture(seed, brightness=1 - 0.01 * seed) for seed in range(12)])
    assert not any(reading.hindrances for reading in readings)


def test_a_frame_of_another_size_counts_as_a_change(counting: Counting) -> None:
    reader = Gated(counting)
    readings = feed(reader, [picture(0), picture(1)[:90], np.zeros((0, 0, 3), np.uint8)])
    assert readings[0].places
    assert readings[1].hindrances
    assert readings[2].hindrances


def test_grey_pictures_are_accepted(counting: Counting) -> None:
    reader = Gated(counting)
    assert feed(reader, [picture(0)[:, :, 0]])[0].places


class SeesAHandUntil:
    """Reports a hand until a given frame."""

    def __init__(self, gone: int) -> None:
        self.gone = gone
        self.read_frames: list[int] = []

    def read(self, frame: Frame) -> Reading:
        self.read_frames.append(frame.sequence)
        hand = (Hindrance(HindranceKind.HAND, "a hand is over d1", ("d1",)),) if frame.sequence < self.gone else ()
        return Reading(frame.sequence, frame.time_s, {}, hand)

    def invalidate_cache(self) -> None:
        """Do nothing."""


def test_the_end_of_a_hindrance_is_noticed_soon_on_a_still_picture() -> None:
    inner = SeesAHandUntil(gone=3)
    reader = Gated(inner)
    still = np.full((90, 160, 3), 120, dtype=np.uint8)
    readings = [reader.read(Frame(still, number / 8, number)) for number in range(12)]
    assert inner.read_frames == [0, 1, 3]
    assert [bool(reading.hindrances) for reading in readings] == [True] * 3 + [False] * 9


def test_while_something_moves_places_are_read_only_if_asked_for(counting: Counting) -> None:
    pictures = [picture(0), picture(1, block_at=60), picture(2, block_at=160)]
    for reads_movement in (False, True):
        reading = feed(Gated(counting, reads_movement=reads_movement), pictures)[-1]
        assert bool(reading.places) is reads_movement
        assert [one.kind for one in reading.hindrances] == [HindranceKind.HAND]
        assert (reading.sequence, reading.time_s) == (2, 0.2)
