"""Measuring a camera from pictures of the table itself: from its markers and the crossings of its lines.

Each view of a flat thing of known size determines the lens (Zhang, *A flexible new technique for camera calibration*,
2000). Square pixels are assumed, the axis in the middle of the picture unless there are three views or more, and one
number of distortion: k1, with k2 its square, which is between no k2 and the 1.8 squares of an equidistant fish-eye. The
start is the best of a range of focal lengths without distortion, by both planar poses of the markers. Then the lens and
all poses are fitted together to the corners and crossings by Levenberg-Marquardt, with the errors weighted as Huber
(1964) does, so that a piece that looks like a crossing hardly counts.

From straight above every focal length fits, so usual lenses are preferred as far as nothing is known, or what a photo
tells of its own. The result says how well it is known: the standard deviation, the remaining error, and reasons not to
trust it. Views that disagree with the others are thrown out.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from common.phrases import Phrase
from vision.calibration import camera_from_json, camera_to_json
from vision.errors import CalibrationError
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import GridSurface
from vision.layout.table import TableLayout
from vision.locating.lattice import clear_boards, run_to_end
from vision.locating.location import check_not_mirrored, seen_text
from vision.locating.markers import Marker, MarkerDetector, Method, SharedPicture
from vision.locating.pose import corner_pairs, fit_least_squares, poses_from, refine_pose
from vision.opencv import project_with_jacobian, refine_saddles


@dataclass(frozen=True)
class LensPriors:
    """What is known of a lens before its first picture. Standard deviations are of normal distributions."""

    focal: float = 0.66
    """Usual focal length as a share of the picture's diagonal: between the 0.62 of a phone's main camera in photos
    (27 mm on 35 mm film), the 0.70 of its films, which are cropped, and webcams of 60 to 78 degrees (0.87 to 0.62).
    """
    log_focal_sd: float = 0.25
    """Standard deviation of its logarithm; twice that reaches from an action camera to a portrait lens. Higher: a
    picture from straight above says less of the lens, and bent paper more.
    """
    k1_sd: float = 0.1
    """Standard deviation of k1 around 0; a wide webcam has -0.2. Higher: views from straight above confuse more."""
    centre_sd: float = 0.01
    """Standard deviation of the axis from the middle, as a share of the picture's width: what stabilising moves it."""


PHOTO_PRIORS = LensPriors(focal=0.62, log_focal_sd=0.5)
"""For one photo of one sheet, by its markers alone: any phone, and none of its lenses is unlikely."""
PRIORS = LensPriors()
_TOLD_SD = 0.06
"""Standard deviation of the logarithm of a focal length that a photo tells: some makers mean the diagonal, some the
width, and a photo that is cropped to 16:9 tells what the whole one would.
"""


def _priors_of(picture: SharedPicture) -> LensPriors:
    """Return what is known of a picture's lens before it is looked at."""
    return PRIORS if picture.focal_share is None else LensPriors(picture.focal_share, _TOLD_SD)


@dataclass(frozen=True)
class SelfCalibrationSettings:
    """What counts as a crossing, and as good evidence. Set by hand on ray-traced pictures of four lenses.

    Pixels are those of a picture with a diagonal of ``diagonal_px``; larger pictures have larger errors.
    """

    diagonal_px: float = 1469.0
    """1280 x 720."""
    focal_lengths: tuple[float, float, int] = (0.3, 2.6, 25)
    """Minimum and maximum focal length tried, as shares of the diagonal, and the number of steps."""
    corner_px: float = 0.5
    """Standard deviation of a corner or crossing, in pixels. Their errors are not independent, so it is more than each
    of them has: from it follows how well the lens is said to be known.
    """
    corner_share: float = 0.01
    """Further standard deviation of a marker's corner while only the markers are known, as a share of its side: paper
    is never quite flat.
    """
    huber: float = 2.5
    """Error, in standard deviations, above which a point counts less."""
    fewest_markers: int = 3
    """Minimum number of a part's markers: two do not determine a lens."""
    fewest_with_crossings: int = 2
    """The same where ``fewest_crossings`` of its lines are seen too."""
    fewest_crossings: int = 14
    """Minimum number of crossings where there are fewer markers, or none."""
    near_px: tuple[float, ...] = (7.0, 4.0, 2.5)
    """Maximum distance of a crossing from where it should be, in pixels, in each round."""
    window: float = 0.16
    """Half the side of the window in which a crossing is searched for, as a share of a square's width."""
    window_px: tuple[int, int] = (2, 5)
    """Minimum and maximum of that, in pixels."""
    symmetry: float = 0.85
    """Minimum correlation of a crossing's surroundings with themselves, turned by half a turn."""
    contrast: float = 4.0
    """Minimum standard deviation of their brightness, of 255."""
    most_error_px: float = 0.7
    """Error of a view, in pixels, above which it disagrees. Higher: accepts bent paper, and other lenses."""
    sure_sd: float = 0.015
    """Standard deviation of the focal length, as a share of it, up to which tall pieces are read as well as they can
    be. Of 1,748 random cameras below it, none was off by more than 2.2 %; below twice it, by 3.7 %
    (``benchmarks/focal_length.py``).
    """
    views_for_centre: int = 3
    """Number of views from which the picture's axis is measured too."""
    fewest_points: int = 4
    """Minimum number of points that give a pose."""
    steps: int = 40
    """Maximum number of steps of a fit."""
    without_markers: tuple[float, ...] = (0.55, 0.68, 0.84)
    """Focal lengths, as shares of the diagonal, with which a board's lines are searched for, one in each turn."""


_SETTINGS = SelfCalibrationSettings()
_FAST: Sequence[Method] = (MarkerDetector.halved, MarkerDetector.plain)
_SLOW: Sequence[Method] = (MarkerDetector.thorough, MarkerDetector.sharpened, MarkerDetector.equalised)
TURNS = len(_SLOW)
"""In how many turns a table can be searched for: by one slow method for markers, or with one focal length, in each."""


def tilt_deg(pose: Pose) -> float:
    """Return the angle, in degrees, between a plane z = 0 that is seen in a pose and the picture's plane."""
    return float(np.degrees(np.arccos(np.clip(abs(pose.rotation[2, 2]), 0, 1))))


@dataclass(frozen=True, eq=False)
class Sighting:
    """One part of the table in one picture: points (n, 3) in mm, (n, 2) in pixels, and its pose."""

    points_mm: FloatArray
    pixels: FloatArray
    pose: Pose

    @property
    def tilt_deg(self) -> float:
        """Angle between the part and the picture's plane."""
        return tilt_deg(self.pose)

    def errors_px(self, camera: CameraModel) -> FloatArray:
        """Return the distance of each of its points from where a camera shows it, (n,)."""
        return np.asarray(np.linalg.norm(project(camera, self.pose, self.points_mm) - self.pixels, axis=1))

    def error_px(self, camera: CameraModel) -> float:
        """Return the root mean square of these distances."""
        return float(np.sqrt(np.mean(self.errors_px(camera) ** 2)))


@dataclass(frozen=True, eq=False)
class SelfCalibration:
    """A camera measured from the table, by the ``sightings`` that agree; ``thrown_out`` is how many do not.

    ``focal_sd`` is the standard deviation of the focal length as a share of it, ``k1_sd`` that of the distortion;
    ``priors`` is what was known before.
    """

    camera: CameraModel
    focal_sd: float
    k1_sd: float
    sightings: tuple[Sighting, ...]
    thrown_out: int = 0
    priors: LensPriors = PRIORS

    @property
    def error_px(self) -> float:
        """Root mean square distance of the points from where the camera shows them."""
        return self.camera.reprojection_error_px

    @property
    def agrees(self) -> bool:
        """Whether the points are where the camera shows them."""
        return self.error_px <= _SETTINGS.most_error_px * unit_px(self.camera.size)

    @property
    def is_sure(self) -> bool:
        """Whether the lens is known so well that tall pieces are read as well as possible."""
        return not self.reasons

    @property
    def is_slanted(self) -> bool:
        """Whether its views are slanted enough to tell the focal length."""
        return self.focal_sd <= _SETTINGS.sure_sd

    @property
    def reasons(self) -> tuple[Phrase, ...]:
        """Why it should not be trusted in full; empty if it can be."""
        reasons = []
        if not self.agrees:
            reasons.append(
                Phrase(
                    "the markers and lines are {error_px} pixels off on average; lay everything flat, and check that "
                    "the layout is this table's",
                    f"{self.error_px:.1f}",
                )
            )
        if not self.is_slanted:
            reasons.append(Phrase("it looks straight down"))
        return tuple(reasons)


def estimate_camera(
    pictures: Sequence[Image | SharedPicture],
    layout: TableLayout,
    *,
    name: str = "",
    thorough: bool = True,
    turn: int | None = None,
) -> SelfCalibration:
    """Measure the camera from pictures of the table, (height, width[, 3]) uint8, all of one size.

    Unless ``thorough``, markers are only searched for by fast methods. With a ``turn``, of 0 to ``TURNS`` - 1, only one
    of the slow methods is tried for markers, and one focal length for lines. Raises CalibrationError if the pictures
    differ in size, or none shows enough markers or crossings, and MirroredError for mirrored ones.
    """
    shared = [one if isinstance(one, SharedPicture) else SharedPicture(one) for one in pictures]
    sizes = {one.grey.shape for one in shared}
    if len(sizes) != 1:
        raise CalibrationError("pictures of {sizes} sizes; expected one or more of one size", len(sizes))
    turns = slice(None) if turn is None else slice(turn, turn + 1)
    methods = (*_FAST, *(_SLOW[turns] if thorough else ()))
    shares = _SETTINGS.without_markers[turns]
    measured = [one for picture in shared for one in _measured(picture, layout, name, methods, shares)]
    if not measured:
        raise CalibrationError(_lacking(shared[0], layout, methods))
    return joined_calibration(measured)


def calibration_to_json(measured: SelfCalibration) -> dict[str, Any]:
    """Return what ``calibration_from_json`` reads."""
    return camera_to_json(measured.camera) | {
        "focal_sd": measured.focal_sd,
        "k1_sd": measured.k1_sd,
        "usual_focal": [measured.priors.focal, measured.priors.log_focal_sd],
        "sightings": [
            {
                "points_mm": one.points_mm.round(3).tolist(),
                "pixels": one.pixels.round(3).tolist(),
                "pose": [one.pose.rotation_vector.tolist(), one.pose.translation.tolist()],
            }
            for one in measured.sightings
        ],
    }


def calibration_from_json(data: Mapping[str, Any]) -> SelfCalibration:
    """Make a measured camera from parsed JSON; raises CalibrationError for what is missing or invalid."""
    camera = camera_from_json(data, "the measured camera")
    try:
        sightings = tuple(
            Sighting(
                np.asarray(one["points_mm"], dtype=np.float64).reshape(-1, 3),
                np.asarray(one["pixels"], dtype=np.float64).reshape(-1, 2),
                Pose.from_vectors(*one["pose"]),
            )
            for one in data["sightings"]
        )
        priors = LensPriors(*map(float, data["usual_focal"]))
        measured = SelfCalibration(camera, float(data["focal_sd"]), float(data["k1_sd"]), sightings, priors=priors)
    except (KeyError, TypeError, ValueError) as wrong:
        raise CalibrationError("the measured camera is invalid: {wrong}", wrong) from None
    sound = all(
        len(one.points_mm) == len(one.pixels) > 0 and np.isfinite(one.points_mm).all() and np.isfinite(one.pixels).all()
        for one in sightings
    )
    numbers = measured.focal_sd, measured.k1_sd, priors.focal, priors.log_focal_sd
    if not (sightings and sound and np.isfinite(numbers).all() and min(numbers) > 0):
        raise CalibrationError("the measured camera has no views that it can be measured from")
    return measured


def _lacking(picture: SharedPicture, layout: TableLayout, methods: Sequence[Method]) -> Phrase:
    """Say why a picture does not suffice to measure its camera; raises MirroredError for a mirrored one."""
    part = max(layout.parts(), key=lambda part: len(_markers_of(picture, part, methods)))
    if not part.markers.centres_mm:
        return Phrase(
            "board not located: its lines are not seen clearly; have it whole in the picture, with nothing on it but "
            "its pieces, or put markers around it"
        )
    check_not_mirrored(picture, MarkerDetector(part.markers.dictionary), part.markers.centres_mm)
    return Phrase(
        "table not located: {seen_text}; {fewest_markers} are needed, flat, lit and sharp, to measure the camera too",
        seen_text(sorted(marker.marker_id for marker in _markers_of(picture, part, methods)), part),
        _SETTINGS.fewest_markers,
    )


def _measured(
    picture: SharedPicture, layout: TableLayout, name: str, methods: Sequence[Method], shares: Sequence[float]
) -> Iterator[SelfCalibration]:
    """Yield the camera of a picture as each part of the table in it shows it; none where too little is seen."""
    for part in layout.parts():
        found = (
            _measured_by_markers(picture, part, _markers_of(picture, part, methods), name)
            if part.markers.centres_mm
            else _measured_by_lines(picture, part, name, shares)
        )
        if found is not None:
            yield found


def measured_at(
    picture: SharedPicture, part: TableLayout, markers: Sequence[Marker], pose: Pose, camera: CameraModel
) -> SelfCalibration | None:
    """Return the camera as a part of the table shows it that was located by a similar one; ``None`` if it shows too
    little.
    """
    if markers:
        return _measured_by_markers(picture, part, markers, camera.name)
    return _best_by_lines([_with_crossings(picture.grey, part, _bare(pose), camera, _priors_of(picture))])


def camera_of_board(grey: Image, part: TableLayout, pose_of: Callable[[CameraModel], Pose]) -> CameraModel:
    """Return the camera as a board's lines show it whose pose is roughly known for any camera, from ``pose_of``.

    Where too few lines are seen, it is a usual camera.
    """
    starts = [camera_with_share(share, (grey.shape[1], grey.shape[0])) for share in _SETTINGS.without_markers]
    found = _best_by_lines([_with_crossings(grey, part, _bare(pose_of(one)), one, PRIORS) for one in starts])
    return camera_with_share(PRIORS.focal, (grey.shape[1], grey.shape[0])) if found is None else found.camera


def _measured_by_markers(
    picture: SharedPicture, part: TableLayout, markers: Sequence[Marker], name: str
) -> SelfCalibration | None:
    """Return the camera as a part's markers and crossings show it; ``None`` if they are too few."""
    if len(markers) < _SETTINGS.fewest_with_crossings:
        return None
    grey, priors = picture.grey, _priors_of(picture)
    points, pixels = corner_pairs(part.markers, markers)
    starts = cameras_from_markers(part, markers, (grey.shape[1], grey.shape[0]), priors, name)
    found = [_with_crossings(grey, part, Sighting(points, pixels, pose), camera, priors) for camera, pose in starts]
    best = _best_of(found)
    fewest = 0 if len(markers) >= _SETTINGS.fewest_markers else len(points) + _SETTINGS.fewest_crossings
    return best if best is not None and _agreeing_points(best) >= fewest else None


def cameras_from_markers(
    part: TableLayout, markers: Sequence[Marker], size: tuple[int, int], priors: LensPriors, name: str = ""
) -> list[tuple[CameraModel, Pose]]:
    """Return the camera without distortion, of a picture of ``size`` (width, height), that best explains a part's
    markers, with both poses of the markers, the better one first; none if no pose does.
    """
    points, pixels = corner_pairs(part.markers, markers)
    off_px = _SETTINGS.corner_px * unit_px(size) + _SETTINGS.corner_share * float(
        np.mean([marker.side_px for marker in markers])
    )
    best: tuple[float, list[tuple[CameraModel, Pose]]] = (np.inf, [])
    for share in np.geomspace(*_SETTINGS.focal_lengths):
        camera = camera_with_share(float(share), size, name)
        poses = poses_from(camera, part.markers, tuple(markers))
        if poses:
            unusual = float(np.log(share / priors.focal)) / priors.log_focal_sd
            cost = float(np.sum((project(camera, poses[0], points) - pixels) ** 2)) / off_px**2 + unusual**2
            best = min(best, (cost, [(camera, pose) for pose in poses]), key=lambda one: one[0])
    return best[1]


def camera_with_share(share: float, size: tuple[int, int], name: str = "") -> CameraModel:
    """Return a camera without distortion whose focal length is that share of its picture's diagonal."""
    focal_px = share * float(np.hypot(*size))
    matrix = np.array([[focal_px, 0, (size[0] - 1) / 2], [0, focal_px, (size[1] - 1) / 2], [0, 0, 1]])
    return CameraModel(matrix, np.zeros(5), size, name=name)


def _markers_of(picture: SharedPicture, part: TableLayout, methods: Sequence[Method]) -> list[Marker]:
    """Return a part's markers, found by ever slower detectors until all are; an id seen twice is left out."""
    wanted, finder, best = set(part.markers.centres_mm), MarkerDetector(part.markers.dictionary), list[Marker]()
    for method in methods:
        found = [marker for marker in picture.find(finder, method) if marker.marker_id in wanted]
        counts = Counter(marker.marker_id for marker in found)
        alone = [marker for marker in found if counts[marker.marker_id] == 1]
        best = alone if len(alone) > len(best) else best
        if len(best) == len(wanted):
            break
    return best


def _measured_by_lines(
    picture: SharedPicture, part: TableLayout, name: str, shares: Sequence[float]
) -> SelfCalibration | None:
    """Return the camera as the lines of a board without markers show it, from the best of some usual lenses."""
    found, grey, told = [], picture.grey, picture.focal_share
    for share in shares if told is None else (told,):
        picture.pause()
        camera = camera_with_share(share, (grey.shape[1], grey.shape[0]), name)
        for _, board in run_to_end(clear_boards(grey, camera, part.board), picture.pause)[:1]:
            found.append(_with_crossings(grey, part, _bare(board.pose), camera, _priors_of(picture)))
    return _best_by_lines(found)


def _best_of(found: Sequence[SelfCalibration | None]) -> SelfCalibration | None:
    """Return the calibration with which most points agree."""
    return max((one for one in found if one is not None), key=_agreeing_points, default=None)


def _best_by_lines(found: Sequence[SelfCalibration | None]) -> SelfCalibration | None:
    best = _best_of(found)
    return best if best is not None and _agreeing_points(best) >= _SETTINGS.fewest_crossings else None


def _bare(pose: Pose) -> Sighting:
    """Return a sighting of nothing yet."""
    return Sighting(np.zeros((0, 3)), np.zeros((0, 2)), pose)


def _agreeing_points(found: SelfCalibration) -> int:
    """Return how many points are nearly where the camera shows them."""
    within_px = _SETTINGS.huber * _SETTINGS.corner_px * unit_px(found.camera.size)
    return sum(int((one.errors_px(found.camera) < within_px).sum()) for one in found.sightings)


def _with_crossings(
    grey: Image, part: TableLayout, start: Sighting, camera: CameraModel, priors: LensPriors
) -> SelfCalibration | None:
    """Fit the camera to one sighting and to the crossings around where it has them, ever closer; ``None`` where there
    are too few points for a pose.
    """
    fitted = fit_camera_to([start], camera, priors) if len(start.points_mm) else None
    for near_px in _SETTINGS.near_px:
        now, pose = (camera, start.pose) if fitted is None else (fitted.camera, fitted.sightings[0].pose)
        points, pixels = _crossings(grey, now, pose, part, near_px * unit_px(now.size))
        both = Sighting(np.vstack([start.points_mm, points]), np.vstack([start.pixels, pixels]), pose)
        if len(both.points_mm) < _SETTINGS.fewest_points:
            return None
        fitted = fit_camera_to([both], now, priors)
    return fitted


def _crossings(
    grey: Image, camera: CameraModel, pose: Pose, part: TableLayout, near_px: float
) -> tuple[FloatArray, FloatArray]:
    """Return the inner crossings of the lines that are seen near where a pose has them: (n, 3) in mm, (n, 2) in px.

    Those at the rim are not: they have no two lines to the other side.
    """
    points, pixels = [np.zeros((0, 3))], [np.zeros((0, 2))]
    for board in part.surfaces:
        if not isinstance(board, GridSurface) or min(board.columns, board.rows) < 2:
            continue
        across, along = ((np.arange(1, count) - count / 2) * board.cell_mm for count in (board.columns, board.rows))
        x, y = (axis.ravel() for axis in np.meshgrid(across, along))
        crossings = np.column_stack([x, y, np.full(len(x), board.height_mm)])
        expected = project(camera, pose, crossings)
        beside = project(camera, pose, crossings + np.array([board.cell_mm, 0.0, 0.0]))
        cell_px = float(np.median(np.linalg.norm(beside - expected, axis=1)))
        half = int(np.clip(_SETTINGS.window * cell_px, *_SETTINGS.window_px))
        inside = ((expected >= 2 * half) & (expected < np.array(camera.size) - 2 * half)).all(axis=1)
        crossings, expected = crossings[inside], expected[inside]
        seen = refine_saddles(grey, expected, half)
        near = np.linalg.norm(seen - expected, axis=1) < near_px
        clear = np.array([_is_crossing(grey, pixel, half) for pixel in seen], dtype=bool)
        points.append(crossings[near & clear])
        pixels.append(seen[near & clear])
    return np.vstack(points), np.vstack(pixels)


def _is_crossing(grey: Image, pixel: FloatArray, half: int) -> bool:
    """Return whether the surroundings look the same when turned by half a turn, and are not all of one brightness."""
    side = 2 * half + 5
    around = cv2.getRectSubPix(grey, (side, side), (float(pixel[0]), float(pixel[1]))).astype(np.float64)
    off = around - around.mean()
    spread = float(np.sum(off**2))
    return (
        spread > _SETTINGS.contrast**2 * side**2 and float(np.sum(off * off[::-1, ::-1])) > _SETTINGS.symmetry * spread
    )


def joined_calibration(measured: Sequence[SelfCalibration]) -> SelfCalibration:
    """Measure a camera from all sightings of one or more calibrations together; those that disagree are thrown out."""
    priors = min((one.priors for one in measured), key=lambda one: one.log_focal_sd)
    best = min(measured, key=lambda one: (not one.agrees, one.focal_sd))
    kept = [_seen_by(best.camera, one.camera, sighting) for one in measured for sighting in one.sightings]
    thrown_out, limit_px = 0, _SETTINGS.most_error_px * unit_px(best.camera.size)
    while True:
        fitted = fit_camera_to(kept, best.camera, priors)
        if len(kept) == 1 or max(one.error_px(fitted.camera) for one in fitted.sightings) <= limit_px:
            return replace(fitted, thrown_out=thrown_out)
        rest = [kept[:index] + kept[index + 1 :] for index in range(len(kept))]
        kept = min(rest, key=lambda some: _cost(fit_camera_to(some, best.camera, priors), priors))
        thrown_out += 1


def _cost(fitted: SelfCalibration, priors: LensPriors) -> float:
    """Return how unlikely a camera is: the error of a point, and how unusual its lens is."""
    share = fitted.camera.matrix[0, 0] / np.hypot(*fitted.camera.size)
    off = fitted.error_px / (_SETTINGS.corner_px * unit_px(fitted.camera.size))
    return float(off**2 + (np.log(share / priors.focal) / priors.log_focal_sd) ** 2)


def _seen_by(camera: CameraModel, before: CameraModel, sighting: Sighting) -> Sighting:
    """Return a sighting with the pose that another camera gives it."""
    if camera is before:
        return sighting
    nearer = sighting.pose.translation * (1, 1, camera.matrix[0, 0] / before.matrix[0, 0])
    start = Pose(sighting.pose.rotation, nearer)
    return replace(sighting, pose=refine_pose(camera, start, sighting.points_mm, sighting.pixels))


_LENS = 4
"""Parameters of a lens before those of the poses: logarithm of the focal length, k1, and the axis' shift from the
middle as a share of the width."""


def fit_camera_to(sightings: Sequence[Sighting], start: CameraModel, priors: LensPriors) -> SelfCalibration:
    """Fit a camera and the poses of all sightings together, from near them."""
    size, diagonal_px = start.size, float(np.hypot(*start.size))
    free = [0, 1, 2, 3] if len(sightings) >= _SETTINGS.views_for_centre else [0, 1]
    middle = np.array([(size[0] - 1) / 2, (size[1] - 1) / 2])
    usual = np.array([np.log(priors.focal * diagonal_px), 0.0, 0.0, 0.0])
    spread = np.array([priors.log_focal_sd, priors.k1_sd, priors.centre_sd, priors.centre_sd])
    off_px = _SETTINGS.corner_px * unit_px(size)

    def camera_of(lens: FloatArray) -> CameraModel:
        focal_px, (x, y) = float(np.exp(lens[0])), middle + lens[2:_LENS] * size[0]
        matrix = np.array([[focal_px, 0, x], [0, focal_px, y], [0, 0, 1]])
        return replace(start, matrix=matrix, distortion=np.array([lens[1], lens[1] ** 2, 0, 0, 0]))

    def terms(parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        lens = usual.copy()
        lens[free] = parameters[: len(free)]
        camera = camera_of(lens)
        residuals, slopes = [], []
        for number, sighting in enumerate(sightings):
            at = len(free) + 6 * number
            pose = parameters[at : at + 6]
            seen, by = project_with_jacobian(sighting.points_mm, pose[:3], pose[3:], camera.matrix, camera.distortion)
            by_focal, by_k1 = by[..., 6:8].sum(axis=-1), by[..., 10] + 2 * lens[1] * by[..., 11]
            of_lens = np.stack(
                [by_focal * camera.matrix[0, 0], by_k1, by[..., 8] * size[0], by[..., 9] * size[0]], axis=-1
            )
            slope = np.zeros((2 * len(seen), len(parameters)))
            slope[:, : len(free)] = of_lens[..., free].reshape(2 * len(seen), -1)
            slope[:, at : at + 6] = by[..., :6].reshape(-1, 6)
            residuals.append((seen - sighting.pixels).reshape(-1))
            slopes.append(slope)
        off, weight = _huber(np.concatenate(residuals) / off_px)
        prior = np.zeros((len(free), len(parameters)))
        prior[:, : len(free)] = np.diag(1 / spread[free])
        return (
            np.concatenate([off, (lens - usual)[free] / spread[free]]),
            np.vstack([np.vstack(slopes) * (weight / off_px)[:, None], prior]),
        )

    lens = np.array([np.log(start.matrix[0, 0]), start.distortion[0], *((start.matrix[:2, 2] - middle) / size[0])])
    poses = [np.concatenate([one.pose.rotation_vector, one.pose.translation]) for one in sightings]
    found, normal = fit_least_squares(terms, np.concatenate([lens[free], *poses]), steps=_SETTINGS.steps)
    lens = usual.copy()
    lens[free] = found[: len(free)]
    deviations = np.sqrt(np.maximum(np.diag(np.linalg.pinv(normal)), 0.0))
    camera = camera_of(lens)
    fitted = tuple(
        replace(one, pose=Pose.from_vectors(pose[:3], pose[3:]))
        for one, pose in zip(sightings, found[len(free) :].reshape(-1, 6), strict=True)
    )
    errors_px = np.concatenate([one.errors_px(camera) for one in fitted])
    camera = replace(camera, reprojection_error_px=float(np.sqrt(np.mean(errors_px**2))))
    return SelfCalibration(camera, float(deviations[0]), float(deviations[1]), fitted, priors=priors)


def _huber(off: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return values whose squares are Huber's cost of errors, in standard deviations, and their derivatives."""
    large = np.abs(off) > _SETTINGS.huber
    size = np.sqrt(np.maximum(2 * _SETTINGS.huber * np.abs(off) - _SETTINGS.huber**2, _SETTINGS.huber**2))
    return np.where(large, np.sign(off) * size, off), np.where(large, _SETTINGS.huber / size, 1.0)


def unit_px(size: tuple[int, int]) -> float:
    """Return the length that a pixel of the usual picture has in one of another size; at least 1."""
    return max(1.0, float(np.hypot(*size)) / _SETTINGS.diagonal_px)
