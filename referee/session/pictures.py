"""The camera's newest picture as JPEG, encoded once for all viewers."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import cv2
import numpy as np

from referee.session.table_port import TablePort
from vision.frame import Frame, Image

_QUALITY = 80
"""JPEG quality, 0 to 100. A 1280 x 720 picture takes about 150 kB."""
_WIDEST_PX = 1280
"""Wider pictures are scaled down, since a phone shows no more detail."""


@dataclass(frozen=True)
class _Encoded:
    frame: Frame
    content: bytes | None


class CameraPictures:
    """Encodes pictures on request. Any thread may call it; the call may block."""

    def __init__(self, port: TablePort) -> None:
        self._port = port
        self._locks = {overlay: threading.Lock() for overlay in (False, True)}
        self._encoded: dict[bool, _Encoded] = {}

    def jpeg(self, *, overlay: bool) -> bytes | None:
        """Return the newest picture, ``None`` if there is none; ``overlay`` draws what was located over it."""
        with self._locks[overlay]:
            frame = self._port.frame()
            if frame is None:
                return None
            known = self._encoded.get(overlay)
            if known is None or known.frame is not frame:
                image = self._port.overlay(frame) if overlay else frame.image
                known = self._encoded[overlay] = _Encoded(frame, None if image is None else as_jpeg(image))
            return known.content


def as_jpeg(image: Image) -> bytes:
    """Encode a picture for a phone; wide ones are scaled down."""
    height, width = image.shape[:2]
    if width > _WIDEST_PX:
        size = (_WIDEST_PX, round(height * _WIDEST_PX / width))
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
    done, content = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
    if not done:
        raise ValueError(f"a picture of shape {image.shape} can't be written as JPEG")
    return bytes(content.tobytes())
