"""How much is done for one picture, whatever it shows: counted in quads, pixels and searches, not in time."""

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from app.settings.table_layout import layout_for_camera
from benchmarks.slow_pictures import TEXTURES
from simulator.scene.scene import looking_at
from tests.effort import some
from vision import self_calibration
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import project
from vision.layout.table import default_layout
from vision.learned_cameras import LearnedCameras
from vision.locating import lattice, markers, pose
from vision.locating.location import LocationSettings, locate
from vision.locating.markers import MarkerDetector, SharedPicture
from vision.locating.quads import dark_quads
from vision.motion.changes import Attention
from vision.opencv import as_grey, detect_markers
from vision.readers.registry import table_reader
from vision.self_calibration import PRIORS, TURNS, camera_with_share

LAYOUT = default_layout("diaballik")
FINDER = MarkerDetector(LAYOUT.markers.dictionary)
METHODS = ("quick", "halved", "plain", "thorough", "sharpened", "equalised", "enlarged")
SIZE = (960, 540)
ONE_WINDOW_TELLS = 1.6
"""How many more quads all windows may show than the one that is counted tells."""


def seen(texture: str, size: tuple[int, int] = SIZE) -> Image:
    return TEXTURES[texture](np.random.default_rng(1), *size)


def quads_compared(detector: cv2.aruco.ArucoDetector, grey: Image) -> int:
    """How many quads OpenCV's detector has to compare, at all its thresholds."""
    chosen = detector.getDetectorParameters()
    windows = range(
        chosen.adaptiveThreshWinSizeMin, chosen.adaptiveThreshWinSizeMax + 1, chosen.adaptiveThreshWinSizeStep
    )
    least, count = chosen.minMarkerPerimeterRate * max(grey.shape), 0
    for window in windows:
        dark = cv2.adaptiveThreshold(
            grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, chosen.adaptiveThreshConstant
        )
        for outline in cv2.findContours(dark, cv2.RETR_LIST, cv2.CHAIN_APPROX_NONE)[0]:
            if len(outline) >= least:
                corners = cv2.approxPolyDP(outline, chosen.polygonalApproxAccuracyRate * len(outline), True)
                count += len(corners) == 4 and cv2.isContourConvex(corners)
    return count


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[cv2.aruco.ArucoDetector, Image]]:
    """Every search for markers: OpenCV's detector and the picture."""
    done: list[tuple[cv2.aruco.ArucoDetector, Image]] = []

    def detect(detector: cv2.aruco.ArucoDetector, grey: Image) -> list[tuple[int, np.ndarray]]:
        done.append((detector, grey))
        return detect_markers(detector, grey)

    monkeypatch.setattr(markers, "detect_markers", detect)
    return done


@pytest.mark.parametrize("texture", some(["noise, 2 px", "foliage", "chessboard, 8 px", "like markers, 24 px"], 1))
def test_of_many_quads_only_the_largest_are_compared(
    texture: str, searched: list[tuple[cv2.aruco.ArucoDetector, Image]]
) -> None:
    grey = as_grey(seen(texture))
    for method in METHODS:
        getattr(FINDER, method)(grey)
    counts = [quads_compared(detector, picture) for detector, picture in searched]
    assert len(counts) == len(METHODS)
    assert max(counts) <= ONE_WINDOW_TELLS * markers.EffortSettings().most_quads


def test_a_marker_on_a_carpet_of_squares_is_still_found() -> None:
    image = as_grey(seen("chessboard, 8 px"))
    image[150:350, 300:500] = 255
    image[190:310, 340:460] = np.kron(FINDER.pattern(2), np.ones((20, 20), np.uint8))
    for method in ("plain", "thorough", "equalised"):
        found = getattr(FINDER, method)(image)
        assert [marker.marker_id for marker in found] == [2], method
        assert found[0].corners_px[0] == pytest.approx([339.5, 189.5], abs=1.0)


def test_a_picture_as_large_as_a_photo_is_reduced_before_it_is_searched(
    searched: list[tuple[cv2.aruco.ArucoDetector, Image]],
) -> None:
    image = np.full((3000, 4000), 200, np.uint8)
    image[1000:1600, 1200:1800] = np.kron(FINDER.pattern(3), np.ones((100, 100), np.uint8))
    effort = markers.EffortSettings()
    for method in METHODS:
        (found,) = getattr(FINDER, method)(image)
        assert found.corners_px == pytest.approx(
            np.array([[1199.5, 999.5], [1799.5, 999.5], [1799.5, 1599.5], [1199.5, 1599.5]]), abs=1.0
        )
    pixels = [picture.size for _, picture in searched]
    assert max(pixels) <= effort.most_pixels
    assert max(pixels[3:6]) <= effort.most_pixels_thorough


@pytest.mark.parametrize("texture", ["noise, 1 px", "foliage"])
def test_few_outlines_are_followed_for_blurred_markers(texture: str) -> None:
    assert len(dark_quads(as_grey(seen(texture, (1280, 720))))) < 2000


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done for a picture, in order: long searches, and pauses if ``pause`` notes them."""
    done: list[str] = []

    def noted(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            done.append(name)
            return function(*arguments, **named)

        return call

    for name in ("thorough", "sharpened", "equalised", "enlarged"):
        method = getattr(MarkerDetector, name)
        monkeypatch.setattr(MarkerDetector, name, noted("search", method))
    monkeypatch.setattr(self_calibration, "_SLOW", tuple(noted("search", method) for method in self_calibration._SLOW))
    monkeypatch.setattr(lattice, "candidate_rotations", noted("search", lattice.candidate_rotations))
    monkeypatch.setattr(lattice, "_candidates_at_rotation", noted("rotation", lattice._candidates_at_rotation))
    monkeypatch.setattr(pose, "poses_from", noted("start", pose.poses_from))
    return done


def paste(image: Image, pattern: Image, corners_px: np.ndarray) -> None:
    """Show a pattern between four corners."""
    large = np.kron(pattern, np.ones((10, 10), np.uint8))
    side = large.shape[0] - 0.5
    square = np.array([[-0.5, -0.5], [side, -0.5], [side, side], [-0.5, side]], np.float32)
    to_picture = cv2.getPerspectiveTransform(square, corners_px.astype(np.float32))
    size = (image.shape[1], image.shape[0])
    covered = cv2.warpPerspective(np.full_like(large, 255), to_picture, size) > 127
    image[covered] = cv2.warpPerspective(large, to_picture, size)[covered, None]


def longest_run(work: list[str], name: str) -> int:
    """How often something was done between two pauses, at most."""
    counts = [0]
    for one in work:
        if one == "pause":
            counts.append(0)
        counts[-1] += one == name
    return max(counts)


@pytest.mark.parametrize("lines", some([False, True], 1))
@pytest.mark.parametrize("is_known", [False, True])
def test_a_photo_is_searched_in_steps(lines: bool, is_known: bool, work: list[str]) -> None:
    layout = layout_for_camera("diaballik", Path("kit"), "none" if lines else "layout")
    size = (640, 360)
    fixed = camera_with_share(PRIORS.focal, size) if is_known else None
    reader = table_reader(LearnedCameras(layout, fixed=fixed), layout, None, attention=Attention.STILL)
    reader.pause = lambda: work.append("pause")
    reading = reader.read(Frame(seen("foliage", size), 0.0, 0, "phone", is_still=True))
    assert not reading.places
    assert work.count("search") >= 3 - lines
    assert longest_run(work, "search") == 1
    # each rotation of a board without markers is tried along and across
    assert longest_run(work, "rotation") <= 2 * lattice.LatticeSettings().rotations_a_step


def test_of_a_field_of_a_tables_own_markers_few_are_fitted(work: list[str]) -> None:
    size, most = (480, 270), LocationSettings().most_of_an_id
    picture = SharedPicture(seen("its own markers, 36 px", size), pause=lambda: work.append("pause"))
    assert len(picture.find(FINDER, MarkerDetector.plain)) > 30
    with contextlib.suppress(NotLocatedError):
        locate(picture.image, camera_with_share(PRIORS.focal, size), LAYOUT, markers=picture)
    # after a search, and once more with those found where markers must be, by each and by pairs with different ids
    assert 0 < longest_run(work, "start") <= 2 * (4 * most + 6 * most**2)


def test_another_sheet_in_a_picture_that_was_searched_is_fitted_in_steps_too(work: list[str]) -> None:
    size = (1280, 720)
    picture = SharedPicture(seen("its own markers, 36 px", size), pause=lambda: work.append("pause"))
    for method in (MarkerDetector.halved, MarkerDetector.quick, MarkerDetector.plain):
        picture.find(FINDER, method)
    work.clear()
    for _ in range(2):
        with contextlib.suppress(NotLocatedError):
            locate(picture.image, camera_with_share(PRIORS.focal, size), LAYOUT, markers=picture, thorough=False)
    assert work.count("start") > 2 * longest_run(work, "start") > 0


def test_a_table_is_found_beside_a_field_of_smaller_copies_of_its_markers() -> None:
    camera, at = camera_with_share(PRIORS.focal, SIZE), looking_at(620.0, 20.0)
    image = seen("its own markers, 16 px")
    for marker_id in LAYOUT.markers.centres_mm:
        corners = project(camera, at, LAYOUT.markers.corners_mm(marker_id))
        for scale, shown in ((1.5, np.full((6, 6), 255, np.uint8)), (1.0, FINDER.pattern(marker_id))):
            grown = (corners - corners.mean(axis=0)) * scale + corners.mean(axis=0)
            paste(image, shown, grown)
    found = locate(image, camera, LAYOUT, markers=SharedPicture(image))
    assert found.ids_used == (0, 1, 2, 3)
    assert found.pose.camera_position_mm == pytest.approx(at.camera_position_mm, abs=3.0)


def test_the_slow_methods_take_turns_in_a_film(work: list[str]) -> None:
    cameras, picture = LearnedCameras(LAYOUT), seen("noise, 8 px")
    counts = []
    for number in range(6):
        work.clear()
        assert cameras.camera_for(SharedPicture(picture), number / 15, is_film=True) is None
        counts.append(work.count("search"))
    assert counts == [*[1] * TURNS, *[0] * (6 - TURNS)], "then there is a pause"
    work.clear()
    assert cameras.camera_for(SharedPicture(picture), 2.0) is None
    assert work.count("search") == TURNS, "a single picture is searched by all of them"


def test_a_board_without_markers_is_searched_with_one_focal_length_at_a_time(work: list[str]) -> None:
    bare = replace(LAYOUT, markers=replace(LAYOUT.markers, centres_mm={}))
    cameras, picture = LearnedCameras(bare), seen("noise, 8 px")
    assert cameras.camera_for(SharedPicture(picture), 0.0, is_film=True) is None
    assert work.count("search") == len(lattice.LatticeSettings().shrunk)


def test_a_search_of_a_known_camera_is_made_in_steps_too(work: list[str]) -> None:
    size = (480, 270)
    picture = SharedPicture(seen("foliage", size), pause=lambda: work.append("pause"))
    with pytest.raises(NotLocatedError):
        locate(picture.image, camera_with_share(PRIORS.focal, size), LAYOUT, markers=picture)
    assert longest_run(work, "search") == 1
