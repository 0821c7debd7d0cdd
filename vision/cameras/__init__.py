"""Cameras: where frames come from. Live devices, image files, videos and growing folders look the same from here.

``open_camera`` opens one by its specification: ``usb:0``, a folder, a video file.
"""

import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from common.phrases import Phrase, joined
from vision.cameras.files import VIDEO_SUFFIXES, GrowingFolder, ImageFiles, VideoFile, image_paths
from vision.cameras.live import ID_PATTERN, LiveCamera, find_camera, pi_camera, usb_camera
from vision.cameras.network import ADDRESS_PATTERN, IN_A_FILE, has_password, network_camera, shown_address, with_address
from vision.cameras.phone import SPEC, PhoneCamera
from vision.errors import CameraError
from vision.frame import Camera, Clock, Wait, Waiting
from vision.images import IMAGE_SUFFIXES

__all__ = [
    "Camera",
    "GrowingFolder",
    "ImageFiles",
    "LiveCamera",
    "PhoneCamera",
    "VideoFile",
    "Waiting",
    "has_password",
    "image_paths",
    "is_live",
    "open_camera",
    "shown_source",
    "source_path",
    "with_address",
]

_SPECS = (
    Phrase("0 or usb:0 or /dev/video0 (a USB camera)"),
    Phrase("usb:046d:0825, usb:046d:0825:SERIAL or usb:046d:0825@1-1.4 (this USB camera, whatever its number)"),
    Phrase("pi or pi:0 (the Pi's own camera)"),
    Phrase("phone (a phone that has opened the page)"),
    Phrase("http://ADDRESS, https://ADDRESS or rtsp://ADDRESS (a camera in the network)"),
    Phrase("address:FILE (a camera in the network, whose address is the first line of that file)"),
    Phrase("images:FOLDER or FOLDER or IMAGE (image files in name order, then the end)"),
    Phrase("folder:FOLDER (a folder that grows)"),
    Phrase("video:FILE or FILE.mp4 (every frame)"),
    Phrase("realtime:FILE (a video at the speed it was filmed)"),
)
"""The forms that ``open_camera`` understands."""

_DEVICE = re.compile(r"\d+|/dev/video\d+|/dev/v4l/.+")
_LIVE = re.compile(
    rf"{_DEVICE.pattern}|(usb|v4l2):.+|pi(:\d+)?|{SPEC}|{ADDRESS_PATTERN.pattern}|{IN_A_FILE.pattern}", re.IGNORECASE
)
_KINDS = "usb|v4l2|address|images|folder|video|realtime"
_ADDRESS = re.compile(rf"(?:(?:{_KINDS}):)?((?!(?:{_KINDS}):)[\w+.-]+:/.*)", re.DOTALL)
"""An address, also of a kind that FFmpeg would open, but no camera has."""
_PATH = re.compile(r"(?:(?:images|folder|video|realtime):)?(.+)")


def is_live(spec: str) -> bool:
    """Return whether ``spec`` names a camera that delivers live pictures, not a file or folder."""
    return bool(_LIVE.fullmatch(spec.strip()) or ID_PATTERN.fullmatch(spec.strip()))


def shown_source(spec: str) -> str:
    """Return a specification as it may be shown: of an address, only what ``shown_address`` leaves."""
    address = _ADDRESS.fullmatch(spec.strip())
    return spec if address is None else shown_address(address[1])


def source_path(spec: str) -> Path | None:
    """Return the file or folder that ``spec`` names; ``None`` for a live camera, unless its address is in a file."""
    if (address := IN_A_FILE.fullmatch(spec.strip())) is not None:
        return Path(address["file"])
    named = None if is_live(spec) else _PATH.fullmatch(spec.strip())
    return None if named is None else Path(named[1])


def open_camera(
    spec: str,
    *,
    clock: Clock = time.monotonic,
    wait: Wait = time.sleep,
    size: tuple[int, int] | None = None,
    frames_per_second: float | None = None,
    mains_hz: int | None = None,
    mirrored: bool = False,
    waiting: Waiting | None = None,
    phone: PhoneCamera | None = None,
) -> Camera:
    """Open the camera that ``spec`` names; see ``_SPECS`` for the forms.

    A live camera's frames are waited for with ``waiting``, those of files with ``wait``. ``size`` (width, height),
    ``frames_per_second`` and exposures for mains of ``mains_hz``, by default that of the time zone, are requested from
    a live camera and ignored for files. ``mirrored``: its pictures are, so they are turned round. ``phone`` is what a
    page puts a phone's pictures into. Raises CameraError that says what was expected, or why it cannot be opened.
    """
    rate = frames_per_second
    usb = partial(usb_camera, clock=clock, size=size, frames_per_second=rate, mains_hz=mains_hz, waiting=waiting)
    pi = partial(pi_camera, clock=clock, size=size, frames_per_second=rate, mains_hz=mains_hz, waiting=waiting)
    network = partial(network_camera, clock=clock, waiting=waiting)
    if spec.strip() == SPEC and phone is not None:
        camera: Camera = phone.opened(waiting)
    else:
        camera = _open(spec, clock, wait, usb, pi, network)
    camera.is_mirrored = mirrored
    return camera


def _open(
    spec: str,
    clock: Clock,
    wait: Wait,
    open_usb: Callable[..., LiveCamera],
    open_pi: Callable[..., LiveCamera],
    open_network: Callable[[str], LiveCamera],
) -> Camera:
    named = with_address(spec).strip()
    kind, colon, rest = named.partition(":")
    if not colon and kind != "pi":
        kind = ""
    if kind in {"usb", "v4l2", "images", "folder", "video", "realtime"} and not rest:
        raise CameraError("camera {spec!r} names nothing after the colon; expected {names}", spec, joined(_SPECS, "; "))
    if named == SPEC:
        raise CameraError("a phone can only be the camera of `./run watch` with --page and --page-address")
    if ADDRESS_PATTERN.fullmatch(named):
        return open_network(named)
    if _ADDRESS.fullmatch(named):
        raise CameraError(
            "no camera has the address {address}; expected one that begins with http://, https:// or rtsp://",
            shown_source(named),
        )
    if ID_PATTERN.fullmatch(named):
        return open_usb(named, find=partial(find_camera, named))
    if kind in {"usb", "v4l2"} or _DEVICE.fullmatch(named):
        device = rest if kind in {"usb", "v4l2"} else named
        if not _DEVICE.fullmatch(device):
            raise CameraError(
                "camera {spec!r} names no video device; expected a number, /dev/video0 or a USB camera's id after the "
                "colon",
                spec,
            )
        return open_usb(int(device) if device.isdecimal() else device)
    if kind == "pi" and (not rest or rest.isdecimal()):
        return open_pi(int(rest or 0))
    if kind == "folder":
        return GrowingFolder(Path(rest), clock=clock, wait=wait)
    if kind in {"video", "realtime"}:
        return VideoFile(Path(rest), clock=clock, wait=wait, realtime=kind == "realtime")
    path = Path(rest if kind == "images" else named or "(nothing)")
    if path.is_dir():
        return ImageFiles(image_paths(path), clock=clock, name=str(path))
    if path.suffix.lower() in VIDEO_SUFFIXES and kind != "images":
        return VideoFile(path, clock=clock, wait=wait)
    if path.suffix.lower() in IMAGE_SUFFIXES:
        if not path.is_file():
            raise CameraError("no image file {path}", path)
        return ImageFiles([path], clock=clock, name=str(path))
    if path.exists():
        raise CameraError("{path} is no folder, picture or video", path)
    if kind == "images" or ("/" in named and "://" not in named):
        raise CameraError("there is no file or folder {path}", path)
    raise CameraError("no camera {spec!r}; expected {names}", spec, joined(_SPECS, "; "))
