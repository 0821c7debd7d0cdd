"""The automatic controls of a USB camera, locked and unlocked."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from itertools import count
from typing import ClassVar

import cv2
import numpy as np
import pytest

from tests.guard import GUARD_S
from vision.cameras.live import LiveCamera, usb_camera
from vision.frame import Image

PICTURE = np.full((48, 64, 3), 120, dtype=np.uint8)


class Capture:
    """Stands in for OpenCV's capture of a camera whose focus and white balance the owner has set by hand."""

    opened: ClassVar[list[Capture]] = []

    def __init__(self, device: int) -> None:
        self.controls = {
            cv2.CAP_PROP_AUTO_EXPOSURE: 3.0,
            cv2.CAP_PROP_EXPOSURE: 150.0,
            cv2.CAP_PROP_AUTO_WB: 0.0,
            cv2.CAP_PROP_WB_TEMPERATURE: 4000.0,
            cv2.CAP_PROP_AUTOFOCUS: 0.0,
            cv2.CAP_PROP_FOCUS: 35.0,
        }
        self.pictures: queue.Queue[Image] = queue.Queue()
        self.released = False
        self.opened.append(self)

    def isOpened(self) -> bool:  # noqa: N802 - as OpenCV names it
        return True

    def get(self, control: int) -> float:
        return self.controls[control]

    def set(self, control: int, value: float) -> bool:
        self.controls[control] = value
        return True

    def read(self) -> tuple[bool, Image]:
        return True, self.pictures.get(timeout=GUARD_S)

    def release(self) -> None:
        self.released = True


def take_two(camera: LiveCamera, capture: Capture) -> None:
    """Read two frames: what was asked of the camera before has happened when the second one comes."""
    for _ in range(2):
        capture.pictures.put(PICTURE)
        camera.read(GUARD_S)


def close(camera: LiveCamera, capture: Capture) -> None:
    threading.Timer(0.01, capture.pictures.put, [PICTURE]).start()
    camera.close()


@pytest.fixture
def usb(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[LiveCamera, Capture]]:
    monkeypatch.setattr(Capture, "opened", [])
    monkeypatch.setattr(cv2, "VideoCapture", Capture)
    camera = usb_camera(0, clock=count().__next__)
    (capture,) = Capture.opened
    yield camera, capture
    close(camera, capture)


def test_unlocking_turns_on_only_what_was_automatic_before(usb: tuple[LiveCamera, Capture]) -> None:
    camera, capture = usb
    before = dict(capture.controls)
    camera.lock(True)
    take_two(camera, capture)
    assert capture.controls == before | {cv2.CAP_PROP_AUTO_EXPOSURE: 1.0}
    camera.lock(False)
    take_two(camera, capture)
    assert capture.controls == before


def test_a_locked_camera_is_unlocked_before_its_release(usb: tuple[LiveCamera, Capture]) -> None:
    camera, capture = usb
    before = dict(capture.controls)
    camera.lock(True)
    take_two(camera, capture)
    close(camera, capture)
    assert capture.released
    assert capture.controls == before
