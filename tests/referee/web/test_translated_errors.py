"""Errors of cameras, calibration, maps and the doctor have a German translation wherever the page shows them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from firmware_bridge.ports.port import open_port
from hardware.lights.light_map import light_map_from_toml, read_light_map
from hardware.pin_map import parse_pin
from referee.doctor import Machine, examine
from referee.languages import Sentences, sentences_path
from referee.settings.configuration import load as load_settings
from referee.wiring.plan import load_sensor_map
from vision.calibration import calibrate, load_calibration, parse_board
from vision.cameras import open_camera
from vision.cameras.live import find_camera
from vision.images import check_frame, load_image
from vision.layout.table import default_layout, load_layout

GERMAN = Sentences.of(sentences_path("de"))
NOW = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
DARK = np.zeros((8, 8, 3), np.uint8)


def read_frames(source: str) -> None:
    with open_camera(source) as camera:
        for _ in range(2):
            camera.read(0.01)


def parse(read: Callable[[Path], object], text: str, path: Path) -> None:
    path.write_text(text, encoding="utf-8")
    read(path)


WRONG: dict[str, Callable[[Path], object]] = {
    "no such camera": lambda folder: read_frames("moon"),
    "no such file": lambda folder: read_frames(f"{folder}/none.png"),
    "a folder without pictures": lambda folder: read_frames(f"images:{folder}"),
    "a folder that doesn't grow": lambda folder: read_frames(f"folder:{folder}"),
    "no such folder": lambda folder: read_frames(f"folder:{folder}/none"),
    "a file that is no video": lambda folder: parse(lambda path: read_frames(f"{path}"), "no video", folder / "a.mp4"),
    "no Pi camera": lambda folder: read_frames("pi:7"),
    "no such USB camera": lambda folder: find_camera("usb:046d:0825", folder),
    "a picture of nothing": lambda folder: check_frame(DARK),
    "a picture of another size": lambda folder: check_frame(DARK + 9, (4, 4)),
    "an empty picture": lambda folder: parse(load_image, "", folder / "a.png"),
    "no picture": lambda folder: parse(load_image, "no picture", folder / "a.png"),
    "no calibration board": lambda folder: parse_board("moon"),
    "no pictures of the board": lambda folder: calibrate([], "charuco:7x5:30:22:DICT_5X5_100"),
    "no calibration": lambda folder: load_calibration(folder / "camera.json"),
    "a file that is no calibration": lambda folder: parse(load_calibration, "{}", folder / "camera.json"),
    "a calibration that is no JSON": lambda folder: parse(load_calibration, "{", folder / "camera.json"),
    "no layout": lambda folder: load_layout(folder / "layout.json"),
    "a layout without a key": lambda folder: parse(load_layout, "{}", folder / "layout.json"),
    "a game without a layout": lambda folder: default_layout("chess"),
    "no light map": lambda folder: read_light_map(folder / "lights.toml"),
    "an unknown key in a light map": lambda folder: light_map_from_toml("moon = 1"),
    "a light twice": lambda folder: light_map_from_toml("lights = 9\n[places]\na1 = [1]\na2 = [1]"),
    "a light beyond the strip": lambda folder: light_map_from_toml("lights = 9\n[places]\na1 = [9]"),
    "a light map that is no TOML": lambda folder: light_map_from_toml("moon"),
    "no sensor map": lambda folder: load_sensor_map(folder / "sensors.toml"),
    "a sensor map without squares": lambda folder: parse(load_sensor_map, "switches = 3", folder / "sensors.toml"),
    "no such pin": lambda folder: parse_pin("GPIO99"),
    "no such port": lambda folder: open_port(f"{folder}/ttyACM9", 115200),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_every_error_that_the_page_can_show_is_translated(wrong: str, tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError, RuntimeError, KeyError, EOFError)) as raised:
        WRONG[wrong](tmp_path)
    said = str(raised.value)
    german = GERMAN.translated(said)
    assert german is not None, said
    assert german != said


def test_every_finding_of_the_doctor_is_translated(tmp_path: Path) -> None:
    (tmp_path / "referee.toml").write_text('[camera]\ncalibration = "none.json"\n[lights]\nbuzzer_pin = 18\n')
    settings = partial(load_settings, None, environment={"HOME": str(tmp_path)}, folder=tmp_path)
    machine = Machine(root=tmp_path, free_bytes=lambda path: 10**7, ports=lambda: (), version_of=lambda name: "1.2.3")
    found = list(examine(settings, machine))
    # A list of library names is the same in any language.
    found = [each for each in found if (each.subject, each.severity) != ("libraries", "ok")]
    said = {text for each in found for text in (each.subject, each.message, each.remedy) if text}
    assert len(said) > 20
    assert {text for text in said if GERMAN.translated(text) is None} == set()
