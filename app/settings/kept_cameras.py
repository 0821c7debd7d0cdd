"""The cameras that were measured from the table, kept in a file beside the journal, by source and size of picture.

Of a source that is an address, only what may be shown is kept.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from app.settings.settings import Settings
from common.durable import write_durably
from common.json_files import read_json
from common.phrases import Phrase
from vision.calibration import load_calibration
from vision.cameras import shown_source, with_address
from vision.cameras.phone import SPEC
from vision.errors import CalibrationError, CameraError
from vision.frame import Image
from vision.geometry import CameraModel
from vision.layout.table import TableLayout
from vision.learned_cameras import LearnedCameras, with_camera
from vision.self_calibration import SelfCalibration, calibration_from_json, calibration_to_json, estimate_camera

_FORMAT = "tabletop-referee cameras"
_VERSION = 2
"""Version of the file's format; other versions are measured anew."""
_MOST_KEPT = 24
"""Number of cameras that are kept, those of the sources that were measured last."""


def cameras_file(journal: Path) -> Path:
    """Return the file with the measured cameras of a journal."""
    return journal.with_name(f"{journal.name}.camera.json")


def _named(source: str) -> str:
    """Return what a source is kept by: an address in a file as the address, so that another one there is another."""
    try:
        return shown_source(with_address(source))
    except CameraError:
        return source


def kept_cameras(journal: Path, source: str) -> tuple[SelfCalibration, ...]:
    """Return the cameras that were measured with a source, the latest one last; raises CalibrationError for a bad file.

    None if there is no file, or it was written by another version.
    """
    return tuple(calibration_from_json(entry) for entry in _entries(journal) if entry["source"] == _named(source))


def keep_camera(journal: Path, source: str, measured: SelfCalibration) -> None:
    """Keep a measured camera in place of the one of the same source and size; raises OSError."""
    name = _named(source)
    try:
        others = [one for one in _entries(journal) if one["source"] != name]
        known = kept_cameras(journal, source)
    except CalibrationError:
        others, known = [], ()
    own = [{"source": name, **calibration_to_json(one)} for one in with_camera(known, measured)]
    data = {"format": _FORMAT, "version": _VERSION, "cameras": [*others, *own][-_MOST_KEPT:]}
    write_durably(cameras_file(journal), json.dumps(data) + "\n", private=True)


def table_cameras(
    settings: Settings, layout: TableLayout, source: str, say: Callable[[str], object] = lambda _: None
) -> LearnedCameras:
    """Return the cameras behind a source's pictures: the calibrated one, those measured before, and new ones, kept.

    ``say`` tells what a person should know. Raises CalibrationError for a calibration that can't be used.
    """
    calibration, journal = settings.camera.calibration, settings.journal.path
    try:
        known = kept_cameras(journal, source)
    except CalibrationError as error:
        say(Phrase("{error}; the camera is measured anew.", error))
        known = ()
    return LearnedCameras(
        layout,
        fixed=None if calibration is None else load_calibration(calibration),
        known=known,
        # a household has more than one phone
        may_differ=source == SPEC,
        keep=partial(_keep, journal, source, say),
    )


def camera_of(settings: Settings, pictures: Sequence[Image], layout: TableLayout) -> CameraModel:
    """Return the camera of some pictures of one size: the calibrated one, or as they show it by themselves.

    Raises CalibrationError for a calibration that can't be used, and for pictures that show too little.
    """
    size = (pictures[0].shape[1], pictures[0].shape[0])
    calibrated = None if settings.camera.calibration is None else load_calibration(settings.camera.calibration)
    if calibrated is not None and calibrated.size == size:
        return calibrated
    return estimate_camera(pictures, layout).camera


def _keep(journal: Path, source: str, say: Callable[[str], object], measured: SelfCalibration) -> None:
    try:
        keep_camera(journal, source, measured)
    except OSError as error:
        say(
            Phrase(
                "The measured camera could not be kept in {path} ({strerror}): it is measured again after a restart.",
                cameras_file(journal),
                error.strerror,
            )
        )


def _entries(journal: Path) -> list[dict[str, Any]]:
    path = cameras_file(journal)
    if not path.is_file():
        return []
    data = read_json(path, Phrase("the measured cameras"), CalibrationError)
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise CalibrationError("{path} holds no measured cameras", path)
    cameras = data.get("cameras") if data.get("version") == _VERSION else []
    if not isinstance(cameras, list) or not all(
        isinstance(one, dict) and {"source", "size"} <= one.keys() for one in cameras
    ):
        raise CalibrationError("{path} holds no measured cameras", path)
    return cameras
