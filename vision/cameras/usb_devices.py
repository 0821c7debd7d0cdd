"""Identifies USB cameras by vendor and product, serial number, or the USB socket they are plugged into.

The kernel numbers ``/dev/video0``, ``/dev/video1``, … in the order in which it finds cameras, so numbers may change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from vision.errors import CameraError

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
    return UsbCamera(f"/dev/{entry.name}", read_attribute(entry / "name") or "a camera", maker, serial, socket.name)


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
        raise CameraError(f"{len(fitting)} cameras are {camera_id}: {there}; give the whole id of one")
    raise CameraError(f"camera {camera_id} is not plugged in; there is {there or 'no USB camera'}")


def read_attribute(path: Path) -> str:
    """Return the text of a file in sysfs; empty if it can't be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
