"""Calibrating a camera from pictures of a ChArUco board, and calibration files.

A calibration reports whether it can be trusted, and the reasons if it can't.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from common.durable import write_durably
from common.json_files import read_json
from common.phrases import Phrase, as_sentence, either
from vision.errors import CalibrationError
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel
from vision.opencv import (
    RADIAL_TERMS,
    CameraFit,
    aruco_dictionary,
    as_grey,
    detect_charuco,
    fit_camera,
    refine_saddles,
)

_SPEC = re.compile(r"(?i:charuco):(\d+)(?i:x)(\d+):(\d+(?:\.\d+)?):(\d+(?:\.\d+)?):(DICT_\w+)")
_EXAMPLE = "charuco:7x5:30:22:DICT_5X5_100"
_FEWEST_CORNERS = 8
"""Minimum number of corners seen in a picture that is used. Higher: uses fewer. These limits were set by hand."""
_LONGEST_PX = 65_535
"""Longest side of a picture of a calibration: a JPEG's."""
_LEAST_GAINS = (0.95, 0.85)
"""Share of the error that a third radial term, and then the rational model, may leave. Higher: they are used more."""
_FEWEST_VIEWS = 5
"""Minimum number of pictures used. With fewer, the calibration should be repeated."""
_LARGEST_ERROR_PX = 0.5
"""Maximum reprojection error, in pixels, of a good calibration. Higher: accepts blurred pictures and bent boards."""
_LEAST_COVERAGE = 0.5
"""Minimum share (0 to 1) of the picture with corners in it. Lower: lenses may be measured in the middle only."""
_LEAST_TILT_DEG = 15.0
"""Minimum angle, in degrees, between the board and the picture's plane for a view to count as tilted; three must be."""


@dataclass(frozen=True)
class CharucoBoardSpec:
    """A ChArUco board: number of squares across and down, side of squares and markers in mm, name of the dictionary."""

    columns: int
    rows: int
    square_mm: float
    marker_mm: float
    dictionary: str

    def corners_mm(self, ids: Sequence[int]) -> FloatArray:
        """Return the inner corners with these ids on the board, shape (n, 3), z = 0."""
        numbers = np.asarray(ids, dtype=np.intp)
        across, down = numbers % (self.columns - 1) + 1, numbers // (self.columns - 1) + 1
        return np.column_stack([across * self.square_mm, down * self.square_mm, np.zeros(len(numbers))])


def parse_board(text: str) -> CharucoBoardSpec:
    """Parse ``charuco:COLUMNSxROWS:SQUARE_MM:MARKER_MM:DICTIONARY``; raises CalibrationError."""
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise CalibrationError(
            "no board {text!r}; expected charuco:COLUMNSxROWS:SQUARE_MM:MARKER_MM:DICTIONARY, like {example}",
            text,
            _EXAMPLE,
        )
    columns, rows = int(match[1]), int(match[2])
    square, marker, dictionary = float(match[3]), float(match[4]), match[5]
    if columns < 3 or rows < 3:
        raise CalibrationError(
            "a board of {columns} x {rows} squares is too small; expected at least 3 x 3", columns, rows
        )
    if not 0 < marker < square:
        raise CalibrationError(
            "markers of {marker} mm in squares of {square} mm; expected smaller ones, above 0",
            f"{marker:g}",
            f"{square:g}",
        )
    try:
        aruco_dictionary(dictionary)
    except ValueError as wrong:
        raise CalibrationError(str(wrong)) from wrong
    return CharucoBoardSpec(columns, rows, square, marker, dictionary)


def format_board(board: CharucoBoardSpec) -> str:
    """Write the form that ``parse_board`` reads."""
    return f"charuco:{board.columns}x{board.rows}:{board.square_mm:g}:{board.marker_mm:g}:{board.dictionary}"


@dataclass(frozen=True)
class CalibrationView:
    """One picture of the board: corners found, reprojection error, tilt, and whether it was used."""

    index: int
    corners: int
    error_px: float | None
    tilt_deg: float | None
    used: bool
    why_not: str = ""


@dataclass(frozen=True, eq=False)
class Calibration:
    """A camera's calibration and how far it can be trusted.

    ``coverage`` is the share (0 to 1) of an 8 x 6 grid over the picture in which corners were seen. ``reasons`` say
    why the calibration should be repeated, and are empty for a good one. ``board`` is the board's description.
    """

    camera: CameraModel
    views: tuple[CalibrationView, ...]
    coverage: float
    reasons: tuple[str, ...]
    board: str = ""

    @property
    def good(self) -> bool:
        """Whether the calibration can be used."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """``good``, or ``Not good enough.`` and a sentence for each reason."""
        return "good" if self.good else " ".join((Phrase("Not good enough."), *map(as_sentence, self.reasons)))


@dataclass(frozen=True, eq=False)
class BoardCorners:
    """The inner corners of a board that were seen in a picture: (n, 2) in pixels, and their ids."""

    corners_px: FloatArray
    ids: list[int]

    @property
    def is_enough(self) -> bool:
        """Whether there are enough of them to calibrate with."""
        return len(self.ids) >= _FEWEST_CORNERS


def calibrate(images: Sequence[Image], board: CharucoBoardSpec | str, *, name: str = "") -> Calibration:
    """Calibrate a camera from pictures of a board, all of one size, (height, width[, 3]) uint8.

    Views that disagree with the others are left out. Raises CalibrationError when the pictures differ in size or too
    few of them show the board. A calibration that should not be trusted is returned with its ``reasons``.
    """
    spec = parse_board(board) if isinstance(board, str) else board
    size = _common_size(images)
    sightings = [find_board(image, spec) for image in images]
    usable = [sighting for sighting in sightings if sighting.is_enough]
    if len(usable) < 3:
        counts = ", ".join(str(len(sighting.ids)) for sighting in sightings)
        raise CalibrationError(
            "{usable} of {images} pictures show enough of the board {format_board} (corners seen: "
            "{counts}; {fewest_corners} needed), too few; take {fewest_views} or more, or check the "
            "board's description, the focus and the light, and that they are not mirrored",
            len(usable),
            len(images),
            format_board(spec),
            counts,
            _FEWEST_CORNERS,
            _FEWEST_VIEWS,
        )
    fit, kept = _fit_without_outliers(usable, spec, size)
    views = _views(sightings, kept, fit)
    coverage = _coverage(kept, size)
    camera = CameraModel(fit.matrix, fit.distortion, size, fit.error_px, name)
    return Calibration(camera, views, coverage, _reasons(views, fit, coverage), format_board(spec))


def _common_size(images: Sequence[Image]) -> tuple[int, int]:
    if not images:
        raise CalibrationError(
            "no pictures; expected {fewest_views} or more of the board from different sides", _FEWEST_VIEWS
        )
    sizes = sorted({(image.shape[1], image.shape[0]) for image in images})
    if len(sizes) > 1:
        listed = ", ".join(f"{width} x {height}" for width, height in sizes)
        raise CalibrationError("the pictures differ in size ({sizes}); take all with one camera at one setting", listed)
    return sizes[0]


def find_board(image: Image, spec: CharucoBoardSpec) -> BoardCorners:
    """Find a board's inner corners in a picture, (height, width[, 3]) uint8; none where it is not seen."""
    grey = as_grey(image)
    best = BoardCorners(np.zeros((0, 2)), [])
    # Boards with an even number of rows exist with the first square black (OpenCV before 4.6) or white.
    for legacy in (False, True) if spec.rows % 2 == 0 else (False,):
        board = cv2.aruco.CharucoBoard(
            (spec.columns, spec.rows), spec.square_mm, spec.marker_mm, aruco_dictionary(spec.dictionary)
        )
        board.setLegacyPattern(legacy)
        corners, ids = detect_charuco(cv2.aruco.CharucoDetector(board), grey)
        if len(ids) > len(best.ids):
            best = BoardCorners(corners, ids)
    if len(best.ids) < 2:
        return best
    gaps = np.linalg.norm(best.corners_px[:, None] - best.corners_px[None], axis=2)
    nearest = float(np.median(np.where(gaps > 0, gaps, np.inf).min(axis=1)))
    # A wider window would take in the corners of the markers inside the squares.
    window = int(np.clip(nearest / 8, 2, 6))
    return BoardCorners(refine_saddles(grey, best.corners_px, window), best.ids)


def _fit_without_outliers(
    usable: Sequence[BoardCorners], spec: CharucoBoardSpec, size: tuple[int, int]
) -> tuple[CameraFit, list[BoardCorners]]:
    kept = list(usable)
    while True:
        fit = _fit(kept, spec, size)
        errors = np.array(fit.view_errors_px)
        limit = max(3 * float(np.median(errors)), 0.3)
        worst = int(np.argmax(errors))
        if errors[worst] <= limit or len(kept) <= max(3, (len(usable) + 1) // 2):
            return fit, kept
        del kept[worst]


def _fit(sightings: Sequence[BoardCorners], spec: CharucoBoardSpec, size: tuple[int, int]) -> CameraFit:
    points = [spec.corners_mm(sighting.ids) for sighting in sightings]
    pixels = [sighting.corners_px for sighting in sightings]
    try:
        simple, *others = (fit_camera(points, pixels, size, radial_terms=terms) for terms in RADIAL_TERMS)
    except ValueError as wrong:
        raise CalibrationError("no camera fits these pictures: {wrong}", wrong) from wrong
    # further terms distort the picture's corners badly where no corner was seen, so they must reduce the error
    for fit, needed in zip(others, _LEAST_GAINS, strict=True):
        simple = fit if fit.error_px < needed * simple.error_px else simple
    return simple


def _views(
    sightings: Sequence[BoardCorners], kept: Sequence[BoardCorners], fit: CameraFit
) -> tuple[CalibrationView, ...]:
    views = []
    for index, sighting in enumerate(sightings):
        count = len(sighting.ids)
        if sighting in kept:
            number = kept.index(sighting)
            rotation, _ = cv2.Rodrigues(fit.rotation_vectors[number])
            tilt = float(np.degrees(np.arccos(np.clip(abs(rotation[2, 2]), 0, 1))))
            views.append(CalibrationView(index, count, fit.view_errors_px[number], tilt, used=True))
        else:
            few = count < _FEWEST_CORNERS
            why = (
                either(count == 1, "only 1 corner seen", "only {count} corners seen", count=count)
                if few
                else Phrase("it disagrees with the other pictures")
            )
            views.append(CalibrationView(index, count, None, None, used=False, why_not=why))
    return tuple(views)


def _coverage(kept: Sequence[BoardCorners], size: tuple[int, int]) -> float:
    across, down = 8, 6
    pixels = np.concatenate([sighting.corners_px for sighting in kept])
    columns = np.clip(pixels[:, 0] * across / size[0], 0, across - 1).astype(int)
    rows = np.clip(pixels[:, 1] * down / size[1], 0, down - 1).astype(int)
    return len(set(zip(columns.tolist(), rows.tolist(), strict=True))) / (across * down)


def _reasons(views: Sequence[CalibrationView], fit: CameraFit, coverage: float) -> tuple[str, ...]:
    used = [view for view in views if view.used]
    reasons = []
    if len(used) < _FEWEST_VIEWS:
        reasons.append(
            either(
                len(used) == 1,
                "take at least {fewest_views} pictures (10 is better): only 1 picture could be used",
                "take at least {fewest_views} pictures (10 is better): only {used} pictures could be used",
                fewest_views=_FEWEST_VIEWS,
                used=len(used),
            )
        )
    if fit.error_px > _LARGEST_ERROR_PX:
        reasons.append(
            Phrase(
                "the corners are {error_px} pixels off on average; at most {largest_error_px} is "
                "acceptable; hold the board still and flat, check its measurements, and keep the focus fixed; "
                "a fish-eye lens may see 150 degrees at most",
                f"{fit.error_px:.2f}",
                _LARGEST_ERROR_PX,
            )
        )
    # as it is listed: without decimals
    tilted = [view for view in used if round(view.tilt_deg or 0.0) >= _LEAST_TILT_DEG]
    if len(tilted) < 3:
        reasons.append(
            either(
                len(tilted) == 1,
                "only 1 picture shows the board tilted by {least_tilt_deg} degrees or more; three or more "
                "are needed, tilted to different sides",
                "only {tilted} pictures show the board tilted by {least_tilt_deg} degrees or more; three "
                "or more are needed, tilted to different sides",
                least_tilt_deg=f"{_LEAST_TILT_DEG:g}",
                tilted=len(tilted),
            )
        )
    if coverage < _LEAST_COVERAGE:
        reasons.append(
            Phrase(
                "corners were seen in only {coverage} of the picture; at least {least_coverage} is needed; "
                "hold the board in each corner of the picture and near the edges too",
                f"{coverage:.0%}",
                f"{_LEAST_COVERAGE:.0%}",
            )
        )
    return tuple(reasons)


_FORMAT = "tabletop-referee camera"
_VERSION = 1
"""Version of the format of calibration files; other versions are rejected."""
_DISTORTION_LENGTHS = (4, 5, 8, 12, 14)
"""Possible numbers of coefficients in OpenCV's model of lens distortion."""


def save_calibration(path: Path, calibration: Calibration, *, made_on: date) -> None:
    """Write a calibration as JSON; raises CalibrationError when the file cannot be written."""
    about = {"date": made_on.isoformat(), "board": calibration.board, "verdict": calibration.verdict}
    data = camera_to_json(calibration.camera) | about
    try:
        write_durably(path, json.dumps(data, indent=2) + "\n")
    except OSError as error:
        raise CalibrationError("cannot write the calibration {path}: {strerror}", path, error.strerror) from error


def camera_to_json(camera: CameraModel) -> dict[str, Any]:
    """Return what ``camera_from_json`` reads."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "name": camera.name,
        "size": list(camera.size),
        "error_px": camera.reprojection_error_px,
        "matrix": camera.matrix.tolist(),
        "distortion": camera.distortion.tolist(),
    }


def load_calibration(path: Path) -> CameraModel:
    """Read a camera model from its calibration file; raises CalibrationError."""

    def fault(message: str) -> CalibrationError:
        return CalibrationError(
            "{message}; make one with: ./run hardware calibrate, or set none: the lens is measured from the table",
            message,
        )

    return camera_from_json(read_json(path, Phrase("the calibration"), fault), str(path))


def camera_from_json(data: Any, source: str) -> CameraModel:
    """Make a camera model from parsed JSON; raises CalibrationError naming the key that is missing or invalid."""
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise CalibrationError("{source} is not a calibration; make one with: ./run hardware calibrate", source)
    if data.get("version") != _VERSION:
        raise CalibrationError(
            "{source} has version {got!r}, this program reads {version}; calibrate again",
            source,
            data.get("version"),
            _VERSION,
        )
    try:
        matrix = np.asarray(data["matrix"], dtype=np.float64)
        distortion = np.asarray(data["distortion"], dtype=np.float64)
        width, height = (int(length) for length in data["size"])
        error_px = float(data["error_px"])
        name = str(data["name"])
    except KeyError as missing:
        raise CalibrationError("{source} has no key {missing}; calibrate again", source, missing) from None
    except (TypeError, ValueError, OverflowError) as wrong:
        raise CalibrationError("{source} is invalid: {wrong}; calibrate again", source, wrong) from None
    if matrix.shape != (3, 3) or not np.isfinite(matrix).all() or min(matrix[0, 0], matrix[1, 1]) <= 0:
        raise CalibrationError("{source}: matrix is not a camera matrix of 3 x 3 with focal lengths above zero", source)
    if distortion.ndim != 1 or len(distortion) not in _DISTORTION_LENGTHS or not np.isfinite(distortion).all():
        raise CalibrationError(
            "{source}: distortion has {size} numbers; expected 4, 5, 8, 12 or 14 finite ones", source, distortion.size
        )
    if not (1 <= width <= _LONGEST_PX and 1 <= height <= _LONGEST_PX and math.isfinite(error_px)):
        raise CalibrationError(
            "{source}: size {width} x {height} and error {error_px} do not fit a calibration",
            source,
            width,
            height,
            error_px,
        )
    return CameraModel(matrix, distortion, (width, height), error_px, name)
