"""What a picture lacks before a table can be refereed from it, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from common.findings import Finding
from vision.errors import NotLocatedError
from vision.frame import Frame
from vision.geometry import CameraModel
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.opencv import as_grey
from vision.readers.registry import table_reader


@dataclass(frozen=True)
class ViewSettings:
    """From when on a picture will do. As docs/set-up.md promises; brightness set by hand."""

    marker_px: float = 25.0
    """Side of a marker, in pixels, that it needs to be found in every light. Lower: farther away, less sure."""
    marker_error_px: float = 1.0
    """Distance, in pixels, between a marker and where the others say it is, from which it lies wrong."""
    darkest: float = 30.0
    """Mean grey value, 0 to 255, below which a picture is too dark."""
    brightest: float = 230.0
    """Mean grey value, 0 to 255, above which it is too bright."""


_SETTINGS = ViewSettings()


def picture_findings(frame: Frame, settings: ViewSettings = _SETTINGS) -> Iterator[Finding]:
    """Say how large and how bright a picture is."""
    height, width = frame.image.shape[:2]
    mean = float(np.mean(as_grey(frame.image)))
    if mean < settings.darkest:
        yield Finding.fault("light", "the picture is too dark", "switch on a lamp, or take the cap off the lens")
    elif mean > settings.brightest:
        yield Finding.fault("light", "the picture is too bright", "turn a lamp away, or lower the camera's exposure")
    yield Finding.ok("picture", f"{width} x {height} pixels")


def table_findings(
    frame: Frame, camera: CameraModel, layout: TableLayout, settings: ViewSettings = _SETTINGS
) -> Iterator[Finding]:
    """Say for each marker whether it is seen, large enough and in its place, and what hinders the view of the board.

    Raises CalibrationError for a picture of another size than the calibration's.
    """
    found = [list(_marker_findings(frame, camera, part, settings)) for part in layout.parts()]
    for findings in found:
        yield from findings
    if not any(each.message for findings in found for each in findings if each.subject == "table"):
        return
    for hindrance in table_reader(camera, layout, None).read(frame).hindrances:
        yield Finding.fault(hindrance.kind, hindrance.message, "clear the board, or move the lamp")


def _marker_findings(
    frame: Frame, camera: CameraModel, layout: TableLayout, settings: ViewSettings
) -> Iterator[Finding]:
    try:
        located = locate(frame.image, camera, layout)
    except NotLocatedError as error:
        yield Finding.fault("markers", str(error), "the whole board and its markers must be in the picture")
        return
    yield Finding.ok("table", f"found, {located.error_px:.1f} px off on average")
    for missing in sorted({*layout.markers.centres_mm} - {*located.ids_seen}):
        yield Finding.fault(f"marker {missing}", "missing", "bring it into the picture, flat and uncovered")
    for marker in located.markers:
        name, error_px = f"marker {marker.marker_id}", located.marker_errors_px[marker.marker_id]
        if marker.side_px < settings.marker_px:
            small = f"{marker.side_px:.0f} px wide, which is too small: {settings.marker_px:.0f} px are needed"
            yield Finding.fault(name, small, "move the camera nearer, or take larger pictures")
        if error_px > settings.marker_error_px:
            yield Finding.fault(name, f"{error_px:.1f} px out of place", "put it where it belongs, or measure again")
