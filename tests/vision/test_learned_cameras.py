"""Learning the camera of each picture while a table is read: sizes, other sides, and another lens."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting, lens
from simulator.table import standard_setting
from tests.effort import some
from tests.vision import photoreal
from tests.vision.conftest import look_at
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel
from vision.layout.table import TableLayout, default_layout
from vision.learned_cameras import MOST_CAMERAS, LearnedCameras
from vision.locating.location import locate
from vision.locating.markers import SharedPicture
from vision.readers.registry import table_reader
from vision.reading import HindranceKind
from vision.self_calibration import SelfCalibration

LAYOUT = default_layout("deblockle")
SIDES = (
    (0.0, -300.0, 620.0),
    (330.0, -220.0, 560.0),
    (-260.0, 250.0, 600.0),
    (0.0, -500.0, 420.0),
    (380.0, 60.0, 520.0),
)
"""Where a camera looks from, in mm, each from another side."""
ABOVE = (6.0, -4.0, 680.0)


def seen_from(camera_mm: tuple[float, float, float], camera: CameraModel, game: str = "deblockle") -> Image:
    setting: Setting = replace(standard_setting(camera, game=game), pose=look_at(camera_mm))
    return Renderer(1).render(Scene(setting, ()), 0)


def off(found: SelfCalibration, camera: CameraModel) -> float:
    return abs(float(np.log(found.camera.matrix[0, 0] / camera.matrix[0, 0])))


def learn(cameras: LearnedCameras, image: Image, time_s: float = 0.0, layout: TableLayout = LAYOUT) -> bool:
    """What a reader does with a picture; whether the camera became another one."""
    picture = SharedPicture(image)
    camera = cameras.camera_for(picture, time_s)
    assert camera is not None
    try:
        located = locate(image, camera, layout, markers=picture)
    except NotLocatedError:
        return cameras.look_again(picture, time_s)
    return cameras.learn(picture, layout, located)


@pytest.fixture(scope="module")
def camera() -> CameraModel:
    return lens((960, 540))


def test_the_first_picture_of_the_table_gives_the_camera_and_it_is_kept(camera: CameraModel) -> None:
    kept: list[SelfCalibration] = []
    cameras = LearnedCameras(LAYOUT, keep=kept.append)
    blank = np.full((540, 960, 3), 120, np.uint8)
    assert cameras.camera_for(SharedPicture(blank), 0.0) is None
    assert "none of markers 0 to 3 was seen" in cameras.why_unknown
    image = seen_from(SIDES[0], camera)
    assert cameras.camera_for(SharedPicture(image), 0.5) is None, "it is not searched for in every frame"
    found = cameras.camera_for(SharedPicture(image), 1.5)
    assert found is cameras.newest is kept[0].camera
    assert off(kept[0], camera) < 0.01
    again = LearnedCameras(LAYOUT, known=kept)
    assert again.camera_for(SharedPicture(blank), 0.0) is found


def test_of_a_source_that_changes_its_size_all_the_time_only_some_cameras_are_known(camera: CameraModel) -> None:
    cameras = LearnedCameras(LAYOUT)
    image = seen_from(SIDES[0], camera)
    learn(cameras, image)
    learn(cameras, seen_from(SIDES[1], camera))
    for width in range(600, 600 + 8 * (MOST_CAMERAS + 1), 8):
        small = np.asarray(cv2.resize(image, (width, width * 9 // 16), interpolation=cv2.INTER_AREA), dtype=np.uint8)
        assert cameras.camera_for(SharedPicture(small), 0.0) is not None
    assert len(cameras.known) == MOST_CAMERAS
    assert camera.size in cameras.known, "it was seen from two sides"
    assert (600, 337) not in cameras.known


def test_pictures_of_each_size_have_a_camera_of_their_own(camera: CameraModel) -> None:
    cameras = LearnedCameras(LAYOUT)
    wide = seen_from(SIDES[0], camera)
    tall = np.ascontiguousarray(np.rot90(wide))
    small = np.asarray(cv2.resize(wide, (640, 360), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    for image in (wide, tall, small, wide):
        found = cameras.camera_for(SharedPicture(image), 0.0)
        assert found is not None
        assert found.size == (image.shape[1], image.shape[0])
    assert len(cameras.known) == 3
    assert cameras.known_for((640, 360)) is cameras.known[640, 360].camera
    assert cameras.known_for((641, 360)) is None
    ratio = cameras.known[640, 360].camera.matrix[0, 0] / cameras.known[960, 540].camera.matrix[0, 0]
    assert ratio == pytest.approx(2 / 3, rel=0.01)


def test_a_calibrated_camera_stays_as_it_is(camera: CameraModel) -> None:
    cameras = LearnedCameras(LAYOUT, fixed=camera)
    assert not learn(cameras, seen_from(SIDES[1], camera))
    assert cameras.newest is camera
    assert cameras.known == {}
    assert cameras.notices() == ()


def test_pictures_from_other_sides_make_it_better_and_the_same_side_is_not_measured_again(camera: CameraModel) -> None:
    cameras = LearnedCameras(LAYOUT)
    cameras.camera_for(SharedPicture(seen_from(ABOVE, camera)), 0.0)
    (first,) = cameras.known.values()
    assert not first.is_sure
    assert not learn(cameras, seen_from(ABOVE, camera))
    for number, side in enumerate(SIDES):
        assert learn(cameras, seen_from(side, camera)), number
        assert not learn(cameras, seen_from(side, camera)), number
    (last,) = cameras.known.values()
    assert last.is_sure
    assert last.focal_sd < first.focal_sd
    assert off(last, camera) < 0.005
    assert len(last.sightings) == 4
    assert min(one.tilt_deg for one in last.sightings) > 10, "that from above tells least"
    assert not learn(cameras, seen_from(ABOVE, camera)), "nor is it measured for nothing"


def test_a_photo_from_straight_above_that_tells_its_focal_length_gives_the_camera() -> None:
    narrow = lens((960, 540), horizontal_view_deg=46.0)
    share = float(narrow.matrix[0, 0] / np.hypot(*narrow.size))
    image = seen_from((6.0, -4.0, 1000.0), narrow)
    errors = []
    for told in (None, 1.02 * share):
        cameras = LearnedCameras(LAYOUT)
        cameras.camera_for(SharedPicture(image, told), 0.0)
        (known,) = cameras.known.values()
        errors.append(off(known, narrow))
    assert errors[0] > 0.08
    assert errors[1] < 0.04


@pytest.mark.parametrize("zoom", some([1.12, 0.85], 1))
def test_another_lens_is_measured_anew_and_that_is_said(camera: CameraModel, zoom: float) -> None:
    cameras = LearnedCameras(LAYOUT)
    for side in SIDES[:3]:
        cameras.camera_for(SharedPicture(seen_from(side, camera)), 0.0)
        learn(cameras, seen_from(side, camera))
    zoomed = replace(camera, matrix=camera.matrix * [[zoom, 1, 1], [1, zoom, 1], [1, 1, 1]])
    assert learn(cameras, seen_from(SIDES[3], zoomed), 60.0)
    (known,) = cameras.known.values()
    assert len(known.sightings) == 1
    assert off(known, zoomed) < 0.02
    assert cameras.notices() == ("The camera's lens has changed. I measured it again.",)
    assert learn(cameras, seen_from(SIDES[1], zoomed), 61.0)
    assert cameras.notices() == ()


def test_only_tall_pieces_need_a_camera_that_is_not_straight_above(camera: CameraModel) -> None:
    for game, said in (("deblockle", False), ("blockade", True)):
        cameras = LearnedCameras(default_layout(game))
        cameras.camera_for(SharedPicture(seen_from(ABOVE, camera, game)), 0.0)
        assert any("Raise one side of the phone by a book and hold still" in one for one in cameras.notices()) == said


@pytest.mark.parametrize("zoom", some([1.03, 1.1, 0.88], 1))
def test_a_little_slant_does_not_pass_another_lens(camera: CameraModel, zoom: float) -> None:
    layout = default_layout("blockade")
    measured = LearnedCameras(layout)
    for side in SIDES:
        image = seen_from(side, camera, "blockade")
        assert measured.camera_for(SharedPicture(image), 0.0)
        learn(measured, image, layout=layout)
    other = replace(camera, matrix=camera.matrix * [[zoom, 1, 1], [1, zoom, 1], [1, 1, 1]])
    cameras = LearnedCameras(layout, known=measured.known.values(), may_differ=True)
    learn(cameras, seen_from((0.0, -150.0, 650.0), other, "blockade"), layout=layout)
    (known,) = cameras.known.values()
    assert off(known, other) < 0.02 or "Raise one side" in cameras.notices()[-1]


@pytest.mark.parametrize("zoom", some([1.0, 1.15, 0.82], 1))
def test_a_camera_that_may_be_another_ones_is_trusted_once_a_slanted_view_fits_it(
    camera: CameraModel, zoom: float
) -> None:
    layout = default_layout("blockade")
    measured = LearnedCameras(layout)
    for side in SIDES:
        assert measured.camera_for(SharedPicture(seen_from(side, camera, "blockade")), 0.0)
    other = replace(camera, matrix=camera.matrix * [[zoom, 1, 1], [1, zoom, 1], [1, 1, 1]])
    cameras = LearnedCameras(layout, known=measured.known.values(), may_differ=True)
    usual = LearnedCameras(layout, known=measured.known.values())
    for side, is_trusted in ((ABOVE, False), (SIDES[0], True), (ABOVE, True)):
        image = seen_from(side, other, "blockade")
        learn(cameras, image, layout=layout)
        assert (cameras.notices() == () or "has changed" in cameras.notices()[0]) == is_trusted, cameras.notices()
    assert off(next(iter(cameras.known.values())), other) < 0.02
    learn(usual, seen_from(ABOVE, camera, "blockade"), layout=layout)
    assert usual.notices() == (), "a fixed camera is asked for nothing"


def test_a_reader_follows_pictures_of_any_size_and_says_what_lacks() -> None:
    name = "034.jpg"
    cameras = LearnedCameras(photoreal.LAYOUT)
    reader = table_reader(cameras, photoreal.LAYOUT, photoreal.looks())
    image = photoreal.picture(name)
    blank = reader.read(Frame(np.full_like(image, 120), 0.0, 0))
    assert blank.places == {}
    assert blank.hindered_by(HindranceKind.NOT_LOCATED) is not None
    smaller = np.asarray(cv2.resize(image, None, fx=0.8, fy=0.8, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    for number, shown in enumerate((image, smaller, np.ascontiguousarray(np.rot90(image)), image), start=1):
        reading = reader.read(Frame(shown, 10.0 * number, number))
        wrong = [place for place, one in reading.places.items() if one.best[0] != photoreal.expected_look(name, place)]
        assert reading.places
        assert wrong == []
    assert len(cameras.known) == 3
