"""Live cameras, on USB or a Pi's ribbon cable: a thread takes frames and keeps only the newest.

USB cameras are identified by vendor and product, serial number, or the USB socket they are plugged into: the kernel
numbers ``/dev/video0``, ``/dev/video1``, … in the order in which it finds cameras, so numbers may change.

The Pi's own camera is used through Picamera2 in a process under the system's Python.
"""

import fcntl
import math
import os
import re
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import cv2
import numpy as np

from common.phrases import Phrase
from vision.cameras.processes import CameraProcess
from vision.errors import CameraError, FrameTimeoutError
from vision.frame import Camera, Clock, Frame, Image, Waiting

ID_PATTERN = re.compile(
    r"usb:(?P<maker>[0-9a-f]{4}:[0-9a-f]{4})(?::(?P<serial>[^@\s]+))?(?:@(?P<socket>[0-9]+-[0-9.]+))?", re.IGNORECASE
)
"""A camera's id: ``usb:046d:0825``, then its serial number after ``:``, its socket after ``@``, or both."""


@dataclass(frozen=True)
class UsbCamera:
    """A USB camera that is plugged in.

    ``device`` is its present device file. ``maker`` is vendor and product, such as ``046d:0825``; ``serial`` is empty
    if it has none; ``socket`` is the bus, then the port of each hub, such as ``1-1.4``.
    """

    device: str
    name: str
    maker: str
    serial: str
    socket: str

    def fits(self, camera_id: str) -> bool:
        """Return whether an id is this camera's."""
        wanted = ID_PATTERN.fullmatch(camera_id)
        return (
            wanted is not None
            and wanted["maker"].lower() == self.maker
            and wanted["serial"] in (None, self.serial)
            and wanted["socket"] in (None, self.socket)
        )

    @property
    def by_serial(self) -> str:
        """The id that is valid in every socket; without a serial number, the id in its present socket."""
        return f"usb:{self.maker}:{self.serial}" if self.serial else self.by_socket

    @property
    def by_socket(self) -> str:
        """The id that is valid only in its present socket."""
        return f"usb:{self.maker}@{self.socket}"


def usb_cameras(root: Path) -> tuple[UsbCamera, ...]:
    """List the USB cameras in the order of their numbers; ``root`` is the folder that contains ``sys``."""
    entries = (root / "sys/class/video4linux").glob("video*")
    numbered = sorted(entries, key=lambda entry: (len(entry.name), entry.name))
    cameras: dict[str, UsbCamera] = {}
    for entry in numbered:
        if (camera := _camera(entry)) is not None:
            # an infrared sensor in the same housing has the same ids; the first device file is the colour camera's
            cameras.setdefault(camera.socket, camera)
    return tuple(cameras.values())


def _camera(entry: Path) -> UsbCamera | None:
    """Return the camera of a device file, ``None`` for one that isn't on USB or delivers no pictures."""
    if read_attribute(entry / "index") not in ("", "0"):
        # A camera's further device files deliver metadata.
        return None
    interface = (entry / "device").resolve()
    socket = next((folder for folder in (interface, *interface.parents) if (folder / "idVendor").is_file()), None)
    if socket is None:
        return None
    maker = f"{read_attribute(socket / 'idVendor')}:{read_attribute(socket / 'idProduct')}".lower()
    # Characters that separate the parts of an id can't be part of one.
    serial = re.sub(r"[@\s]+", "_", read_attribute(socket / "serial"))
    return UsbCamera(
        f"/dev/{entry.name}", read_attribute(entry / "name") or Phrase("a camera"), maker, serial, socket.name
    )


def ids_of(cameras: tuple[UsbCamera, ...]) -> dict[str, str]:
    """Return the best id of each camera by device: by its serial number, unless another one has the same."""
    serials = [camera.by_serial for camera in cameras]
    return {
        camera.device: camera.by_serial if serials.count(camera.by_serial) == 1 else camera.by_socket
        for camera in cameras
    }


def find_camera(camera_id: str, root: Path = Path("/")) -> str:
    """Return the present device file of a camera.

    Raises CameraError, which lists the connected cameras, when none fits the id, or more than one.
    """
    cameras = usb_cameras(root)
    fitting = [camera for camera in cameras if camera.fits(camera_id)]
    if len(fitting) == 1:
        return fitting[0].device
    ids = ids_of(tuple(fitting) or cameras)
    there = ", ".join(f"{ids[camera.device]} ({camera.name})" for camera in fitting or cameras)
    if fitting:
        raise CameraError(
            "{fitting} cameras are {camera_id}: {there}; give the whole id of one", len(fitting), camera_id, there
        )
    raise CameraError(
        "camera {camera_id} is not plugged in; there is {others}", camera_id, there or Phrase("no USB camera")
    )


def read_attribute(path: Path) -> str:
    """Return the text of a file in sysfs; empty if it can't be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


@dataclass(frozen=True, eq=False)
class Shot:
    """A picture of a device, and its age in seconds."""

    image: Image
    age_s: float = 0.0


class Capture(Protocol):
    """An opened capture device, from OpenCV or elsewhere."""

    def read(self) -> Shot | None:
        """Wait for the next picture; ``None`` when it went away. Raises CameraError where the reason is known."""
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


class PlainWaiting:
    """Waits, and does nothing else."""

    def __init__(self) -> None:
        self._changed = threading.Condition()

    def until(self, ready: Callable[[], bool], timeout_s: float) -> object:
        """Wait until ``ready`` is true."""
        with self._changed:
            return self._changed.wait_for(ready, timeout_s)

    def wake(self) -> None:
        """Have ``ready`` asked again."""
        with self._changed:
            self._changed.notify_all()


_PLUG_IN = Phrase("plug it in again")
_CHECK_CABLE = Phrase("check its cable, and whether another program uses it")
_REOPEN_S = 10.0
"""Least time, in seconds, between opening a device again and again that hangs. Longer: later help, less strain."""


class LiveCamera(Camera):
    """Returns the newest frame of a device, and opens the device again after it was unplugged.

    ``open_capture`` is called once here, so a missing device raises at once, and then every ``retry_s`` seconds while
    the device is missing. ``read`` waits for a frame with ``waiting``. ``remedy`` says what to do when it went away,
    ``silent_remedy`` when it gives no frame.
    """

    def __init__(
        self,
        open_capture: OpenCapture,
        *,
        name: str,
        clock: Clock,
        retry_s: float = 1.0,
        waiting: Waiting | None = None,
        remedy: str = _PLUG_IN,
        silent_remedy: str = _CHECK_CABLE,
    ) -> None:
        super().__init__(name)
        self._remedy, self._silent_remedy = remedy, silent_remedy
        self._open_capture, self._clock, self._retry_s = open_capture, clock, retry_s
        self._waiting: Waiting = waiting or PlainWaiting()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._newest: Frame | None = None
        self._locked = False
        self._reopened_s = -math.inf
        self._is_stuck = False
        self._fault: str | None = None
        self._is_fault_raised = False
        capture = open_capture()
        self._thread = threading.Thread(
            target=self._run, args=(capture,), name=Phrase("camera {name}", name), daemon=True
        )
        self._thread.start()

    def _read(self, timeout_s: float) -> Frame:
        """Return the newest frame that was not returned before.

        When the device is disconnected, the first call raises CameraError; later calls wait for it to come back.
        """
        self._waiting.until(self._has_news, timeout_s)
        with self._lock:
            if self._stop.is_set():
                raise CameraError("camera {name} is closed", self.name)
            if self._newest is not None:
                frame, self._newest = self._newest, None
                return frame
            if self._fault is not None:
                self._is_fault_raised = True
                raise CameraError(self._fault)
        raise FrameTimeoutError(
            "camera {name} gave no frame within {timeout_s} s; {remedy}",
            self.name,
            f"{timeout_s:g}",
            self._silent_remedy,
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

    def reopen(self) -> None:
        """Open the device again, since it gives no new pictures; ignored if it was just opened."""
        now_s = self._clock()
        if now_s - self._reopened_s >= _REOPEN_S:
            self._reopened_s, self._is_stuck = now_s, True

    def _has_news(self) -> bool:
        is_new_fault = self._fault is not None and not self._is_fault_raised
        return self._newest is not None or is_new_fault or self._stop.is_set()

    def close(self) -> None:
        """Stop the thread and release the device."""
        self._stop.set()
        self._waiting.wake()
        self._thread.join(timeout=2.0)

    def _run(self, capture: Capture | None) -> None:
        sequence, is_locked = 0, False
        while not self._stop.is_set():
            if capture is not None and self._is_stuck:
                capture.release()
                self._is_stuck = self._locked = is_locked = False
                capture = self._reopen()
            if capture is not None and is_locked != self._locked:
                is_locked = self._locked
                capture.lock(is_locked)
            shot, reason = None, Phrase("camera {name} went away; {remedy}", self.name, self._remedy)
            try:
                shot = None if capture is None else capture.read()
            except CameraError as error:
                reason = error.args[0]
            if shot is not None:
                self._publish(Frame(shot.image, self._clock() - shot.age_s, sequence, self.name))
                sequence += 1
                continue
            self._locked = is_locked = False
            if capture is not None:
                capture.release()
                self._publish(Phrase("{reason}; the referee tries every {retry_s} s", reason, f"{self._retry_s:g}"))
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
        with self._lock:
            self._newest, self._fault = (None, result) if isinstance(result, str) else (result, None)
            self._is_fault_raised = False
        self._waiting.wake()


_AUTOMATIC_EXPOSURE = 3
"""V4L2's exposure mode "aperture priority"."""
_V4L2_CONTROLS = (
    # V4L2's exposure mode 1 is manual.
    (cv2.CAP_PROP_AUTO_EXPOSURE, cv2.CAP_PROP_EXPOSURE, 1),
    (cv2.CAP_PROP_AUTO_WB, cv2.CAP_PROP_WB_TEMPERATURE, 0),
    (cv2.CAP_PROP_AUTOFOCUS, cv2.CAP_PROP_FOCUS, 0),
)
"""Each automatic control, the value it sets, and what turns it off (videodev2.h's V4L2_CID_EXPOSURE_AUTO)."""


_SET_CONTROL = 0xC008561C
"""The kernel's VIDIOC_S_CTRL (videodev2.h)."""
_POWER_LINE_FREQUENCY = 0x00980918
"""V4L2_CID_POWER_LINE_FREQUENCY: exposures are then multiples of a lamp's flicker (v4l2-controls.h)."""
_POWER_LINES = {50: 1, 60: 2}
"""Its values by mains frequency."""
_ZONES = "zoneinfo"
"""The folder of the system's time zones."""
_ZONES_OF_60_HZ = re.compile(
    r"(US|Canada|Mexico|Brazil)/.*|Asia/(Seoul|Taipei|Manila|Riyadh)|Pacific/(Honolulu|Guam|Saipan|Palau|Pago_Pago)|ROK|"
    r"America/(?!Argentina|Asuncion|Barbados|Buenos_Aires|Cayenne|Curacao|Dominica$|Grenada|Guadeloupe|Jamaica|La_Paz|"
    r"Martinique|Miquelon|Montevideo|Nuuk|Punta_Arenas|Santiago|St_Lucia|St_Vincent).*"
)
"""Time zones in which the mains has 60 Hz (IEC, World Plugs); it has 50 Hz in the others, and in half of Japan."""


def usual_mains_hz(root: Path = Path("/")) -> int:
    """Return the mains frequency of the system's time zone, 50 or 60; ``root`` is the folder that contains ``etc``."""
    _, _, zone = os.path.realpath(root / "etc/localtime").partition(f"/{_ZONES}/")
    return 60 if _ZONES_OF_60_HZ.fullmatch(zone) else 50


def set_mains(device: str, mains_hz: int, control: Callable[[int, int, bytes], object] = fcntl.ioctl) -> bool:
    """Have a V4L2 device expose so that a lamp on mains of 50 or 60 Hz doesn't flicker; return whether it can."""
    wanted = struct.pack("Ii", _POWER_LINE_FREQUENCY, _POWER_LINES[mains_hz])
    try:
        opened = os.open(device, os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        control(opened, _SET_CONTROL, wanted)
    except OSError:
        return False
    finally:
        os.close(opened)
    return True


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
    mains_hz: int | None = None,
    retry_s: float = 1.0,
    waiting: Waiting | None = None,
) -> LiveCamera:
    """Open a V4L2/USB camera, by index or path, requesting a size (width, height) and a rate if given.

    Exposures suit mains of ``mains_hz``, 50 or 60, by default that of the time zone, if the camera can do that.

    ``find`` returns the index or path each time it is opened, or raises CameraError; ``device`` is then only its name.
    Raises CameraError when it cannot be opened.
    """
    name = f"/dev/video{device}" if isinstance(device, int) else device

    def open_capture() -> Capture:
        found = device if find is None else find()
        capture = cv2.VideoCapture(found)
        if not capture.isOpened():
            capture.release()
            raise CameraError(
                "camera {name} cannot be opened; is it plugged in, used by another program, and may you "
                "read it (group video)?",
                name,
            )
        if size is not None:
            # Most USB cameras deliver large pictures at full rate only as MJPEG.
            capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, size[0])
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, size[1])
        if frames_per_second is not None:
            capture.set(cv2.CAP_PROP_FPS, frames_per_second)
        capture.set(cv2.CAP_PROP_BUFFERSIZE, 1)
        set_mains(f"/dev/video{found}" if isinstance(found, int) else found, mains_hz or usual_mains_hz())
        return _OpenCvCapture(capture)

    return LiveCamera(open_capture, name=name, clock=clock, retry_s=retry_s, waiting=waiting)


SERVER = Path(__file__).with_name("pi_server.py")
SYSTEM_PYTHON = ("/usr/bin/python3", "-I")
DEFAULT_SIZE = (1280, 720)
"""Width and height of the pictures, in pixels, unless a size is set."""
DEFAULT_RATE = 15.0
"""Frames per second, unless a rate is set."""

_START_S = 20.0
"""Maximum time, in seconds, for the camera to start. It takes about four on a Pi 4, more from a slow card."""
_FRAME_S = 5.0
"""Time without a reply, in seconds, after which the camera counts as gone: far longer than any useful exposure."""


def _boot_clock() -> float:
    """Return the seconds since the machine started, the clock of the sensor's time stamps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class PiCapture:
    """One running camera of the Pi. A process that dies or hangs ends it; opening it again starts another.

    ``command`` runs the server's script; ``size`` is (width, height); a camera that sends nothing for ``silence_s``
    counts as gone. Raises CameraError, which says what to do, if the camera can't be used.
    """

    def __init__(
        self,
        number: int,
        size: tuple[int, int],
        frames_per_second: float,
        mains_hz: int,
        *,
        command: Sequence[str] = (*SYSTEM_PYTHON, str(SERVER)),
        boot_clock: Clock = _boot_clock,
        silence_s: float = _FRAME_S,
    ) -> None:
        width, height = size
        self._boot_clock, self._silence_s, self._size = boot_clock, silence_s, size
        values = {"number": number, "width": width, "height": height, "rate": frames_per_second, "mains": mains_hz}
        try:
            self._process = CameraProcess(command, values, memory_bytes=width * height * 3)
        except OSError as error:
            raise CameraError("the Pi's camera can't be used: {error}", error) from error
        reply = self._process.reply(_START_S)
        if reply is None or "error" in reply:
            self.release()
            raise CameraError(_start_failure(number, reply))

    def read(self) -> Shot | None:
        """Wait for the next picture; ``None`` when the camera or its process has gone."""
        reply = self._process.request({"do": "frame"}, self._silence_s)
        if reply is None:
            return None
        return Shot(self._process.picture(*self._size), max(self._boot_clock() - reply["began_ns"] / 1e9, 0.0))

    def lock(self, locked: bool) -> None:
        """Keep exposure, gain, white balance and focus, or let the camera adapt; ignored if the process has ended."""
        self._process.request({"do": "lock", "locked": locked}, self._silence_s)

    def release(self) -> None:
        """End the process."""
        self._process.release()


def _start_failure(number: int, reply: dict[str, Any] | None) -> str:
    if reply is None:
        return Phrase(
            "the Pi's camera {number} did not start; check its ribbon cable, and what `rpicam-hello "
            "--list-cameras` says",
            number,
        )
    if reply["error"] == "missing":
        return Phrase(
            "the Pi's camera needs Picamera2 for the system's Python ({reply}); install it: sudo apt "
            "install python3-picamera2",
            reply["detail"],
        )
    return Phrase(
        "the Pi's camera {number} can't be used ({reply}); check its ribbon cable, whether another "
        "program uses it, and what `rpicam-hello --list-cameras` says",
        number,
        reply["detail"],
    )


def pi_camera(
    number: int,
    *,
    clock: Clock,
    size: tuple[int, int] | None,
    frames_per_second: float | None = None,
    mains_hz: int | None = None,
    waiting: Waiting | None = None,
) -> LiveCamera:
    """Open a camera on the Pi's ribbon cable, by its number. Raises CameraError when it can't be used."""

    def open_capture() -> Capture:
        return PiCapture(number, size or DEFAULT_SIZE, frames_per_second or DEFAULT_RATE, mains_hz or usual_mains_hz())

    return LiveCamera(open_capture, name=f"pi:{number}", clock=clock, waiting=waiting)
