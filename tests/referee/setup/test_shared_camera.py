"""The camera of a set-up: what it is asked for."""

from __future__ import annotations

import tomllib
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.commands import Run
from vision.frame import Image


class UsbCapture:
    """Stands in for OpenCV's capture of a USB camera: small pictures, unless others are asked for."""

    def __init__(self, _: int) -> None:
        self._values = {cv2.CAP_PROP_FRAME_WIDTH: 640.0, cv2.CAP_PROP_FRAME_HEIGHT: 480.0}

    def isOpened(self) -> bool:  # noqa: N802 - as OpenCV names it
        return True

    def get(self, name: int) -> float:
        return self._values.get(name, 0.0)

    def set(self, name: int, value: float) -> bool:
        self._values[name] = value
        return True

    def read(self) -> tuple[bool, Image]:
        height, width = self._values[cv2.CAP_PROP_FRAME_HEIGHT], self._values[cv2.CAP_PROP_FRAME_WIDTH]
        return True, np.full((int(height), int(width), 3), 120, np.uint8)

    def release(self) -> None:
        pass


@pytest.mark.parametrize(
    ("settings", "size"), [(None, (1280, 720)), ("[camera]\nwidth_px = 1600\nheight_px = 900\n", (1600, 900))]
)
def test_a_usb_camera_gives_pictures_of_the_size_in_the_settings(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: str | None, size: tuple[int, int]
) -> None:
    monkeypatch.setattr(cv2, "VideoCapture", UsbCapture)
    file = tmp_path / "referee.toml"
    if settings is not None:
        file.write_text(settings)
    said = run("setup", "deblockle", "--camera", "0", input="q\n" if settings is None else "y\nq\n")
    assert f"{size[0]} x {size[1]} pixels" in said.output
    camera = tomllib.loads(file.read_text())["camera"]
    assert (camera["width_px"], camera["height_px"]) == size
