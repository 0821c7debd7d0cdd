"""Small before and after pictures of the places a verdict turns on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import cv2

from engine.api import Place
from referee.journal.events import Evidence
from vision.errors import VisionError
from vision.frame import Frame, Image

MOST_PLACES = 6
"""Places kept with one verdict; a turn of Deblockle passes at most five."""


class Cropper(Protocol):
    """What cuts one place out of a frame."""

    def crop(self, frame: Frame, place: str) -> Image:
        """Give a small rectified picture of a place; raises a VisionError when the table was not located."""


class CropKeeper:
    """Remembers what every place looked like when the table was last agreed on."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = tuple(places)
        self._before: dict[Place, Image] = {}

    def keep(self, cropper: Cropper, frame: Frame | None) -> None:
        """Take this frame as what the places look like from now on."""
        if frame is not None:
            self._before = {
                place: image for place in self._places if (image := _crop(cropper, frame, place)) is not None
            }

    def evidence(self, places: Sequence[Place], cropper: Cropper, frame: Frame | None) -> tuple[Evidence, ...]:
        """Give PNG pictures of the places: ``before-c3`` as they were agreed on, ``after-c3`` as they are now."""
        found: list[Evidence] = []
        for place in places[:MOST_PLACES]:
            before = self._before.get(place)
            after = None if frame is None else _crop(cropper, frame, place)
            for name, image in ((f"before-{place}", before), (f"after-{place}", after)):
                if image is not None:
                    found.append(Evidence(name, "image/png", _png(image)))
        return tuple(found)


def _crop(cropper: Cropper, frame: Frame, place: Place) -> Image | None:
    try:
        return cropper.crop(frame, place)
    except VisionError:
        # Evidence is a help, never a reason to lose a verdict.
        return None


def _png(image: Image) -> bytes:
    encoded, content = cv2.imencode(".png", image)
    if not encoded:
        raise ValueError(f"a picture of shape {image.shape} can't be written as PNG")
    return bytes(content.tobytes())
