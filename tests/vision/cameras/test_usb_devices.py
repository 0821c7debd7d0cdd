"""USB cameras are identified, and found again, by their entries in /sys."""

from __future__ import annotations

import os
import queue
import shutil
import struct
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import ClassVar

import cv2
import numpy as np
import pytest

from tests.guard import GUARD_S
from vision.cameras import open_camera
from vision.cameras.live import LiveCamera, find_camera, ids_of, set_mains, usb_camera, usb_cameras, usual_mains_hz
from vision.errors import CameraError
from vision.frame import Image

MAKER = "046d:0825"


def plug_in(
    root: Path,
    number: int,
    socket: str,
    serial: str = "",
    maker: str = MAKER,
    name: str = "Webcam",
    interface_number: str = "1.0",
) -> None:
    """Make a camera's entries as Linux does: /dev/videoN for pictures, and N + 1 for their metadata."""
    folder = root / "sys/devices/pci0000:00/usb1" / socket
    interface = folder / f"{socket}:{interface_number}"
    (root / "sys/class/video4linux").mkdir(parents=True, exist_ok=True)
    for index in (0, 1):
        entry = interface / "video4linux" / f"video{number + index}"
        entry.mkdir(parents=True)
        (entry / "index").write_text(f"{index}\n")
        (entry / "name").write_text(f"{name}\n")
        (entry / "device").symlink_to(interface)
        (root / "sys/class/video4linux" / entry.name).symlink_to(entry)
    vendor, product = maker.split(":")
    (folder / "idVendor").write_text(f"{vendor}\n")
    (folder / "idProduct").write_text(f"{product}\n")
    if serial:
        (folder / "serial").write_text(f"{serial}\n")


def unplug(root: Path, socket: str) -> None:
    shutil.rmtree(root / "sys/devices/pci0000:00/usb1" / socket)
    for entry in (root / "sys/class/video4linux").iterdir():
        if not entry.exists():
            entry.unlink()


def ids(root: Path) -> Sequence[str]:
    return list(ids_of(usb_cameras(root)).values())


def test_only_usb_devices_that_give_pictures_are_listed(tmp_path: Path) -> None:
    assert usb_cameras(tmp_path) == ()
    plug_in(tmp_path, 10, "1-1.4", "A1B2", name="Good Webcam")
    plug_in(tmp_path, 2, "2-1", maker="1BCF:2C99")
    # The Pi's own camera and its processors are no USB devices.
    (tmp_path / "sys/class/video4linux/video19").mkdir()
    cameras = usb_cameras(tmp_path)
    assert [(camera.device, camera.name) for camera in cameras] == [
        ("/dev/video2", "Webcam"),
        ("/dev/video10", "Good Webcam"),
    ]
    assert ids(tmp_path) == ["usb:1bcf:2c99@2-1", "usb:046d:0825:A1B2"]


def test_an_infrared_sensor_in_the_same_housing_is_left_out(tmp_path: Path) -> None:
    plug_in(tmp_path, 0, "1-8", "0001", name="Integrated Camera")
    plug_in(tmp_path, 2, "1-8", "0001", name="Integrated IR Camera", interface_number="1.2")
    assert ids(tmp_path) == ["usb:046d:0825:0001"]
    assert find_camera("usb:046d:0825:0001", tmp_path) == "/dev/video0"


def test_identical_cameras_are_told_apart_by_their_socket(tmp_path: Path) -> None:
    plug_in(tmp_path, 0, "1-1.3", "SN0001")
    plug_in(tmp_path, 2, "1-1.4", "SN0001")
    assert ids(tmp_path) == ["usb:046d:0825@1-1.3", "usb:046d:0825@1-1.4"]
    assert find_camera("usb:046D:0825@1-1.4", tmp_path) == "/dev/video2"
    with pytest.raises(CameraError, match=r"^2 cameras are usb:046d:0825:SN0001: usb:046d:0825@1-1\.3 \(Webcam\), "):
        find_camera("usb:046d:0825:SN0001", tmp_path)


def test_a_missing_camera_is_named_with_the_connected_ones(tmp_path: Path) -> None:
    with pytest.raises(CameraError, match="usb:046d:0825 is not plugged in; there is no USB camera"):
        find_camera("usb:046d:0825", tmp_path)
    plug_in(tmp_path, 0, "1-1", "A 1@2")
    assert find_camera("usb:046d:0825", tmp_path) == "/dev/video0"
    assert find_camera(ids(tmp_path)[0], tmp_path) == "/dev/video0"
    with pytest.raises(CameraError, match=r"is not plugged in; there is usb:046d:0825:A_1_2 \(Webcam\)"):
        find_camera("usb:046d:0826", tmp_path)


class Unplugged:
    """A camera as OpenCV opens it, which gives a picture with its number in it until it is unplugged."""

    def __init__(self, device: str) -> None:
        self._device = Path(device)

    def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
        return True

    def read(self) -> tuple[bool, object]:
        entry = self.root / "sys/class/video4linux" / self._device.name
        number = int(self._device.name.removeprefix("video"))
        return (True, np.full((2, 2, 3), number, np.uint8)) if entry.exists() else (False, None)

    def set(self, control: int, value: float) -> bool:
        return True

    def release(self) -> None:
        pass

    root: Path


def read_to_the_end(camera: LiveCamera) -> None:
    while True:
        camera.read(GUARD_S)


def test_a_camera_is_found_again_under_a_new_device_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Unplugged, "root", tmp_path, raising=False)
    monkeypatch.setattr(cv2, "VideoCapture", Unplugged)
    plug_in(tmp_path, 0, "1-1.3", "MINE")
    plug_in(tmp_path, 2, "1-1.4", "OTHER")
    find = partial(find_camera, "usb:046d:0825:MINE", tmp_path)
    with usb_camera("usb:046d:0825:MINE", find=find, clock=lambda: 0.0, retry_s=0.01) as camera:
        assert camera.read(GUARD_S).image[0, 0, 0] == 0
        unplug(tmp_path, "1-1.3")
        with pytest.raises(CameraError, match="usb:046d:0825:MINE went away"):
            read_to_the_end(camera)
        plug_in(tmp_path, 4, "2-1", "MINE")
        assert camera.read(GUARD_S).image[0, 0, 0] == 4


@pytest.mark.parametrize("spec", ["usb:046d:0825", "usb:046d:0825:MINE", "usb:046d:0825@1-1.4"])
def test_a_camera_is_opened_by_its_id(spec: str) -> None:
    with pytest.raises(CameraError, match=f"camera {spec} is not plugged in"):
        open_camera(spec)


# Light from mains, and how a camera is told.


@pytest.mark.parametrize(
    ("zone", "mains_hz"),
    [
        ("Europe/Berlin", 50),
        ("America/New_York", 60),
        ("America/Argentina/Cordoba", 50),
        ("America/Dominica", 50),
        ("Asia/Seoul", 60),
        ("Asia/Kolkata", 50),
        ("Etc/UTC", 50),
    ],
)
def test_the_mains_frequency_follows_the_time_zone(tmp_path: Path, zone: str, mains_hz: int) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/localtime").symlink_to(f"/usr/share/zoneinfo/{zone}")
    assert usual_mains_hz(tmp_path) == mains_hz


def test_without_a_time_zone_the_mains_has_50_hz(tmp_path: Path) -> None:
    assert usual_mains_hz(tmp_path) == 50


@pytest.mark.parametrize(("mains_hz", "value"), [(50, 1), (60, 2)])
def test_a_camera_is_told_the_mains_frequency(tmp_path: Path, mains_hz: int, value: int) -> None:
    device, told = tmp_path / "video0", []

    def control(opened: int, request: int, argument: bytes) -> None:
        told.append((os.fstat(opened).st_ino, request, *struct.unpack("Ii", argument)))

    device.touch()
    assert set_mains(str(device), mains_hz, control)
    assert told == [(device.stat().st_ino, 0xC008561C, 0x00980918, value)]


def test_a_camera_that_cannot_be_told_is_used_as_it_is(tmp_path: Path) -> None:
    device = tmp_path / "video0"
    assert not set_mains(str(device), 50)
    device.touch()
    assert not set_mains(str(device), 50), "a file is no camera"


# The automatic controls of a USB camera, locked and unlocked.

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
