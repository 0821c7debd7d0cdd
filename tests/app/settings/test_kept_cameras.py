"""Measured cameras beside the journal: by source and size, without passwords, and never a reason to stop."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.settings.kept_cameras import camera_of, cameras_file, keep_camera, kept_cameras, table_cameras
from app.settings.settings import Settings
from tests.vision import photoreal
from vision.errors import CalibrationError
from vision.geometry import CameraModel, Pose
from vision.learned_cameras import MOST_CAMERAS
from vision.locating.markers import SharedPicture
from vision.self_calibration import SelfCalibration, Sighting


def measured(size: tuple[int, int], focal_px: float = 900.0) -> SelfCalibration:
    sighting = Sighting(np.ones((4, 3)), np.ones((4, 2)), Pose(np.eye(3), np.array([0.0, 0.0, 500.0])))
    camera = CameraModel(np.diag([focal_px, focal_px, 1.0]), np.zeros(5), size, 0.2, "")
    return SelfCalibration(camera, 0.01, 0.02, (sighting,))


def focals(journal: Path, source: str) -> list[float]:
    return [float(one.camera.matrix[0, 0]) for one in kept_cameras(journal, source)]


def test_each_source_and_size_has_its_own_camera_and_the_latest_one_counts(tmp_path: Path) -> None:
    journal = tmp_path / "games.sqlite"
    assert kept_cameras(journal, "0") == ()
    for source, size, focal_px in (("0", (1280, 720), 900), ("0", (720, 1280), 901), ("1", (1280, 720), 902)):
        keep_camera(journal, source, measured(size, focal_px))
    assert focals(journal, "0") == [900, 901]
    keep_camera(journal, "0", measured((1280, 720), 950))
    assert focals(journal, "0") == [901, 950]
    assert focals(journal, "1") == [902]
    for number in range(30):
        keep_camera(journal, f"phone {number}", measured((1280, 720)))
    assert focals(journal, "0") == []
    assert focals(journal, "phone 29") == [900]


def test_a_device_that_sends_many_sizes_drives_out_neither_other_sources_nor_a_well_known_camera(
    tmp_path: Path,
) -> None:
    journal = tmp_path / "games.sqlite"
    keep_camera(journal, "0", measured((1280, 720), 901))
    one_side = measured((1920, 1080), 902)
    keep_camera(journal, "phone", replace(one_side, sightings=one_side.sightings * 2))
    for number in range(30):
        keep_camera(journal, "phone", measured((640 + number, 480), 1000 + number))
    assert focals(journal, "0") == [901]
    assert focals(journal, "phone") == [902, *range(1030 - MOST_CAMERAS + 1, 1030)]


def test_no_name_and_password_of_an_address_is_kept(tmp_path: Path) -> None:
    journal, source = tmp_path / "games.sqlite", "rtsp://anna:secret@10.0.0.5:554/live?password=secret"
    keep_camera(journal, source, measured((1280, 720)))
    text = cameras_file(journal).read_text()
    assert '"rtsp://10.0.0.5:554"' in text
    assert "anna" not in text
    assert "secret" not in text
    assert focals(journal, source) == [900]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": "tabletop-referee cameras", "version": 2, "cameras": [1]}']
)
def test_a_damaged_file_is_told_and_measured_anew(content: str, tmp_path: Path) -> None:
    settings = Settings().changed({"journal.path": tmp_path / "games.sqlite"})
    cameras_file(settings.journal.path).write_text(content)
    with pytest.raises(CalibrationError):
        kept_cameras(settings.journal.path, "0")
    told: list[str] = []
    assert table_cameras(settings, photoreal.LAYOUT, "0", told.append).known == {}
    assert [one.endswith("the camera is measured anew.") for one in told] == [True]
    keep_camera(settings.journal.path, "0", measured((1280, 720)))
    assert focals(settings.journal.path, "0") == [900]


def test_a_file_of_another_version_is_replaced(tmp_path: Path) -> None:
    journal = tmp_path / "games.sqlite"
    keep_camera(journal, "0", measured((1280, 720)))
    data = json.loads(cameras_file(journal).read_text())
    cameras_file(journal).write_text(json.dumps({**data, "version": 1}))
    assert kept_cameras(journal, "0") == ()
    keep_camera(journal, "0", measured((1280, 720)))
    assert focals(journal, "0") == [900]


def test_a_camera_that_cannot_be_kept_is_told(tmp_path: Path) -> None:
    settings = Settings().changed({"journal.path": tmp_path / "no folder" / "games.sqlite"})
    told: list[str] = []
    cameras = table_cameras(settings, photoreal.LAYOUT, "0", told.append)
    assert cameras.camera_for(SharedPicture(photoreal.picture("034.jpg")), 0.0) is not None
    assert "it is measured again after a restart" in told[0]


def test_one_picture_has_the_calibrated_camera_or_its_own() -> None:
    image = photoreal.picture("034.jpg")
    fixed = Settings().changed({"camera.calibration": photoreal.FOLDER / "pi3.json"})
    assert camera_of(fixed, [image], photoreal.LAYOUT).name == "pi3"
    smaller = np.ascontiguousarray(image[:-8])
    assert camera_of(fixed, [smaller], photoreal.LAYOUT).size == (1280, 712)
    assert camera_of(Settings(), [image], photoreal.LAYOUT).name == ""
