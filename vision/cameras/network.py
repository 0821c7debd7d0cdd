"""Cameras with an address in the network: MJPEG over HTTP, and RTSP. OpenCV's FFmpeg opens them, within time limits."""

import contextlib
import re
import socket
from urllib.parse import SplitResult, urlsplit

import cv2
import numpy as np

from common.phrases import Phrase
from vision.cameras.live import Capture, LiveCamera, Shot
from vision.errors import CameraError
from vision.frame import Clock, Waiting

_PORTS = {"http": 80, "https": 443, "rtsp": 554}
"""The schemes that may be opened, and their usual ports: FFmpeg's others read files, or what this machine sends."""
ADDRESS_PATTERN = re.compile(rf"({'|'.join(_PORTS)})://.+", re.IGNORECASE)
OPEN_S = 4.0
"""How long, in seconds, a camera may take to answer; RTSP cameras took up to 2. Longer: slower to say what is wrong."""
READ_S = 3.0
"""How long, in seconds, it may send nothing until it is opened again. Longer: outlasts longer gaps of a network."""
_RETRY_S = 3.0
"""Seconds between two tries to open it again. Longer: later pictures, less to do for a camera that starts."""


def shown_address(address: str) -> str:
    """Return the part of an address that may be shown: its scheme, host and port.

    A user, a password, and a path or query, in which many cameras take both, are left out. Where it can't be told
    which part is the host, only the scheme is shown.

    >>> shown_address("rtsp://me:secret@10.0.0.7:8554/live?password=secret")
    'rtsp://10.0.0.7:8554'
    """
    shown = re.sub(r"^([^/]*/*)(?:[^/?#]*@)?([^/?#]*)([^@]*)$", r"\1\2", address.strip())
    return re.sub(r"^([^/]*/*).*@.*", r"\1…", shown, flags=re.DOTALL)


def network_camera(address: str, *, clock: Clock, waiting: Waiting | None = None) -> LiveCamera:
    """Open a camera by its address. Raises CameraError, which never shows a password, when it cannot be opened."""
    name = shown_address(address)
    split = _split(address, name)

    def open_capture() -> Capture:
        # FFmpeg would write its own words to the terminal, and give no reason.
        host, port = split.hostname or "", split.port or _PORTS[split.scheme]
        try:
            socket.create_connection((host, port), OPEN_S).close()
        except OSError as error:
            raise CameraError(
                "camera {name} cannot be reached ({reason}); is it switched on and in this network, and is its "
                "address right?",
                name,
                error.strerror or str(error),
            ) from error
        limits = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, OPEN_S * 1000, cv2.CAP_PROP_READ_TIMEOUT_MSEC, READ_S * 1000]
        capture = cv2.VideoCapture(address.strip(), cv2.CAP_FFMPEG, list(map(int, limits)))
        if not capture.isOpened():
            capture.release()
            raise CameraError(
                "camera {name} answers, but sends no film; are the path, the user and the password in its address "
                "right?",
                name,
            )
        return _NetworkCapture(capture)

    return LiveCamera(
        open_capture,
        name=name,
        clock=clock,
        retry_s=_RETRY_S,
        waiting=waiting,
        remedy=Phrase("look whether it is switched on and in this network"),
        silent_remedy=Phrase("look whether it is switched on and in this network"),
    )


def _split(address: str, name: str) -> SplitResult:
    """Split an address; raises CameraError for one without a host or with a wrong port."""
    with contextlib.suppress(ValueError):
        split = urlsplit(address.strip())
        if split.hostname and split.port != 0:
            return split
    raise CameraError("{name} is no address of a camera; expected one such as http://192.168.1.7:8080/video", name)


class _NetworkCapture:
    """A film that comes from an address."""

    def __init__(self, capture: cv2.VideoCapture) -> None:
        self._capture = capture

    def read(self) -> Shot | None:
        is_read, image = self._capture.read()
        return Shot(np.asarray(image, dtype=np.uint8)) if is_read and image is not None else None

    def lock(self, locked: bool) -> None:
        """Do nothing: the camera's own settings can't be reached."""

    def release(self) -> None:
        self._capture.release()
