"""A live camera: a thread takes frames and keeps only the newest."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from vision.cameras.camera import Camera, Clock
from vision.errors import CameraError, FrameTimeoutError
from vision.frame import Frame, Image


@dataclass(frozen=True, eq=False)
class Shot:
    """A picture of a device, and its age in seconds."""

    image: Image
    age_s: float = 0.0


class Capture(Protocol):
    """An opened capture device, from OpenCV or elsewhere."""

    def read(self) -> Shot | None:
        """Wait for the next picture; ``None`` when the device was disconnected."""
        ...

    def lock(self, locked: bool) -> None:
        """Keep exposure, gain, white balance and focus as they are now, or let the device adapt as it did before, as
        far as it can.
        """
        ...

    def release(self) -> None:
        """Release the device."""
        ...


OpenCapture = Callable[[], Capture]
"""Opens the device; raises CameraError with the reason if it can't."""


class LiveCamera(Camera):
    """Returns the newest frame of a device, and opens the device again after it was unplugged.

    ``open_capture`` is called once here, so a missing device raises at once, and then every ``retry_s`` seconds while
    the device is missing.
    """

    def __init__(self, open_capture: OpenCapture, *, name: str, clock: Clock, retry_s: float = 1.0) -> None:
        super().__init__(name)
        self._open_capture, self._clock, self._retry_s = open_capture, clock, retry_s
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._newest: Frame | None = None
        self._locked = False
        self._fault: str | None = None
        self._is_fault_raised = False
        capture = open_capture()
        self._thread = threading.Thread(target=self._run, args=(capture,), name=f"camera {name}", daemon=True)
        self._thread.start()

    def read(self, timeout_s: float) -> Frame:
        """Return the newest frame that was not returned before; see ``Camera.read``.

        When the device is disconnected, the first call raises CameraError; later calls wait for it to come back.
        """
        with self._changed:
            self._changed.wait_for(self._has_news, timeout=timeout_s)
            if self._stop.is_set():
                raise CameraError(f"camera {self.name} is closed")
            if self._newest is not None:
                frame, self._newest = self._newest, None
                return frame
            if self._fault is not None:
                self._is_fault_raised = True
                raise CameraError(self._fault)
        raise FrameTimeoutError(
            f"camera {self.name} gave no frame within {timeout_s:g} s; check its cable, "
            "and whether another program uses it"
        )

    @property
    def is_locked(self) -> bool:
        """Whether the device was asked to keep its exposure; false again after it was disconnected."""
        return self._locked

    def lock(self, locked: bool) -> None:
        """Ask the device to keep exposure, gain, white balance and focus as they are now, or to adapt again.

        This takes effect before the next frame.
        """
        self._locked = locked

    def _has_news(self) -> bool:
        is_new_fault = self._fault is not None and not self._is_fault_raised
        return self._newest is not None or is_new_fault or self._stop.is_set()

    def close(self) -> None:
        """Stop the thread and release the device."""
        with self._changed:
            self._stop.set()
            self._changed.notify_all()
        self._thread.join(timeout=2.0)

    def _run(self, capture: Capture | None) -> None:
        sequence, is_locked = 0, False
        while not self._stop.is_set():
            if capture is not None and is_locked != self._locked:
                is_locked = self._locked
                capture.lock(is_locked)
            shot = None if capture is None else capture.read()
            if shot is not None:
                self._publish(Frame(shot.image, self._clock() - shot.age_s, sequence, self.name))
                sequence += 1
                continue
            self._locked = is_locked = False
            if capture is not None:
                capture.release()
                self._publish(
                    f"camera {self.name} went away; plug it in again; the referee tries every {self._retry_s:g} s"
                )
            if self._stop.wait(self._retry_s):
                return
            capture = self._reopen()
        if capture is not None:
            capture.release()

    def _reopen(self) -> Capture | None:
        try:
            return self._open_capture()
        except CameraError:
            return None

    def _publish(self, result: Frame | str) -> None:
        """Pass a frame, or the sentence of a fault, to ``read``."""
        with self._changed:
            self._newest, self._fault = (None, result) if isinstance(result, str) else (result, None)
            self._is_fault_raised = False
            self._changed.notify_all()


_AUTOMATIC_EXPOSURE = 3
"""V4L2's exposure mode "aperture priority"."""
_V4L2_CONTROLS = (
    # V4L2's exposure mode 1 is manual.
    (cv2.CAP_PROP_AUTO_EXPOSURE, cv2.CAP_PROP_EXPOSURE, 1),
    (cv2.CAP_PROP_AUTO_WB, cv2.CAP_PROP_WB_TEMPERATURE, 0),
    (cv2.CAP_PROP_AUTOFOCUS, cv2.CAP_PROP_FOCUS, 0),
)
"""Each automatic control, the value it sets, and what turns it off (videodev2.h's V4L2_CID_EXPOSURE_AUTO)."""


class _OpenCvCapture:
    """A capture device opened by OpenCV."""

    def __init__(self, capture: cv2.VideoCapture) -> None:
        self._capture = capture
        self._automatic: dict[int, float] = {}
        """While locked: the value that each automatic control had before."""

    def read(self) -> Shot | None:
        is_read, image = self._capture.read()
        return Shot(np.asarray(image, dtype=np.uint8)) if is_read and image is not None else None

    def lock(self, locked: bool) -> None:
        if not locked:
            for automatic, before in self._automatic.items():
                self._capture.set(automatic, before)
            self._automatic = {}
            return
        now = [self._capture.get(value) for _, value, _ in _V4L2_CONTROLS]
        self._automatic = {automatic: self._capture.get(automatic) for automatic, _, _ in _V4L2_CONTROLS}
        # A program that was killed leaves the exposure locked, and no table can be seen with that in another light.
        self._automatic[cv2.CAP_PROP_AUTO_EXPOSURE] = _AUTOMATIC_EXPOSURE
        for (automatic, value, off), kept in zip(_V4L2_CONTROLS, now, strict=True):
            self._capture.set(automatic, off)
            # Some cameras return to a default value when they are no longer automatic.
            self._capture.set(value, kept)

    def release(self) -> None:
        # A device keeps its controls, also for the next program.
        self.lock(False)
        self._capture.release()


def usb_camera(
    device: str | int,
    *,
    clock: Clock,
    find: Callable[[], str | int] | None = None,
    size: tuple[int, int] | None = None,
    frames_per_second: float | None = None,
    retry_s: float = 1.0,
) -> LiveCamera:
    """Open a V4L2/USB camera, by index or path, requesting a size (width, height) and a rate if given.

    ``find`` returns the index or path each time it is opened, or raises CameraError; ``device`` is then only its name.
    Raises CameraError when it cannot be opened.
    """
    name = f"/dev/video{device}" if isinstance(device, int) else device

    def open_capture() -> Capture:
        capture = cv2.VideoCapture(device if find is None else find())
        if not capture.isOpened():
            capture.release()
            raise CameraError(
                f"camera {name} cannot be opened; is it plugged in, used by another program, and may you read it "
                "(group video)?"
            )
        if size is not None:
            # Most USB cameras deliver large pictures at full rate only as MJPEG.
            capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, size[0])
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, size[1])
        if frames_per_second is not None:
            capture.set(cv2.CAP_PROP_FPS, frames_per_second)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        return _OpenCvCapture(capture)

    return LiveCamera(open_capture, name=name, clock=clock, retry_s=retry_s)
