"""When a camera's exposure is locked and unlocked, frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest

from referee.runtime.exposure import ExposureHold
from referee.runtime.inputs import OpenedInputs
from referee.sensing.readers import TickSource
from tests.referee.service_table import ScriptedReader
from vision.frame import Frame
from vision.reading import HindranceKind, PlaceReading, Reading

STEP_S = 0.1


class Camera:
    def __init__(self) -> None:
        self.is_locked = False
        self.asked: list[bool] = []

    def lock(self, locked: bool) -> None:
        self.is_locked = locked
        self.asked.append(locked)


class Watched:
    """An exposure lock that gets frames of one brightness for a while."""

    def __init__(self) -> None:
        self.camera = Camera()
        self.said: list[str] = []
        self._hold = ExposureHold(self.camera, self.said.append)
        self._times: Iterator[int] = count()

    def show(self, brightness: int, seconds: float, *, is_located: bool = True) -> None:
        for _ in range(round(seconds / STEP_S)):
            image = np.full((48, 64, 3), brightness, dtype=np.uint8)
            self._hold.update(Frame(image, next(self._times) * STEP_S, 0), is_located=is_located)


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_the_exposure_is_locked_once_the_table_was_visible_for_a_while(watched: Watched) -> None:
    watched.show(100, 10, is_located=False)
    watched.show(100, 2)
    watched.show(100, 1, is_located=False)
    watched.show(100, 2)
    assert watched.camera.asked == []
    watched.show(100, 2)
    assert watched.camera.asked == [True]
    assert watched.said == []


def test_an_arm_over_the_board_does_not_change_the_lock(watched: Watched) -> None:
    watched.show(100, 5)
    watched.show(65, 30)
    watched.show(40, 3)
    watched.show(100, 30)
    assert watched.camera.asked == [True]


@pytest.mark.parametrize("brightness", [30, 220])
def test_a_change_of_light_is_reported_and_adapted_to(watched: Watched, brightness: int) -> None:
    watched.show(100, 6)
    watched.show(brightness, 5)
    assert watched.camera.asked == [True, False]
    assert watched.said == ["The light has changed. The camera adapts to it."]
    watched.show(120, 5)
    assert watched.camera.asked == [True, False, True]


def test_a_camera_whose_brightness_jumps_on_locking_stays_automatic(watched: Watched) -> None:
    watched.show(100, 3.2)
    assert watched.camera.is_locked
    watched.show(20, 0.5)
    assert watched.camera.asked == [True, False]
    watched.show(100, 60)
    assert watched.camera.asked == [True, False]
    assert watched.said == ["This camera can't lock its exposure, so it stays automatic."]


def test_a_camera_that_was_disconnected_is_locked_again(watched: Watched) -> None:
    watched.show(100, 5)
    watched.camera.is_locked = False
    watched.show(30, 2)
    assert watched.camera.asked == [True]
    watched.show(30, 3)
    assert watched.camera.asked == [True, True]
    assert watched.said == []


@pytest.mark.parametrize(("hidden_by", "asked"), [(HindranceKind.NO_CAMERA, []), (None, [True])])
def test_the_exposure_is_not_locked_while_only_sensors_know_the_table(
    hidden_by: HindranceKind | None, asked: list[bool]
) -> None:
    camera = Camera()
    inputs = OpenedInputs(
        TickSource(lambda: 0.0, print, STEP_S), ScriptedReader(), exposure=ExposureHold(camera, print)
    )
    reading = Reading(0, 0.0, {"a1": PlaceReading({"empty": 1.0}, sensed=0.0, hidden_by=hidden_by)})
    for number in range(100):
        frame = Frame(np.full((16, 16, 3), 90, np.uint8), number * STEP_S, number)
        inputs.adapt(frame, reading, is_set_up=True, has_verdicts=False)
    assert camera.asked == asked


def test_the_exposure_is_not_locked_on_what_replaces_an_unplugged_camera() -> None:
    camera, now_s = Camera(), [0.0]

    def wait(seconds: float) -> None:
        now_s[0] += seconds

    frames = TickSource(lambda: now_s[0], wait, STEP_S)
    inputs = OpenedInputs(frames, ScriptedReader(), exposure=ExposureHold(camera, print))
    sensed = Reading(0, 0.0, {"a1": PlaceReading({"empty": 1.0}, sensed=0.0)})
    for _ in range(100):
        inputs.adapt(frames.read(1.0), sensed, is_set_up=True, has_verdicts=False)
    assert camera.asked == []
