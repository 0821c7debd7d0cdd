from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from benchmarks.scene.things import ForeignObject
from simulator.rendering import optics
from simulator.rendering.renderer import Renderer
from simulator.rendering.textures import face_texture
from simulator.scene.pieces import (
    Ball,
    BallPose,
    DiscPose,
    InkPose,
    PiecePose,
    Pyramid,
    StackPose,
    block_on,
)
from simulator.scene.scene import (
    Hand,
    Lamp,
    Lighting,
    Scene,
    Sensor,
    Setting,
    lens,
    looking_at,
)
from simulator.scene.sheets import place_mm
from simulator.table import standard_setting
from tests.effort import some
from vision.frame import Image
from vision.geometry import back_project, project
from vision.layout.pieces import BlockPieces, PyramidPieces
from vision.layout.table import default_layout
from vision.opencv import aruco_dictionary, detect_markers

ZOOM = 2


def found_corners(developed: np.ndarray) -> dict[int, np.ndarray]:
    # Edges between black and white sit in the middle only in linear light; a screen curve makes white bloom.
    linear = np.power(developed / 255.0, optics.GAMMA).astype(np.float32) * 255.0
    image = cv2.resize(linear, None, fx=ZOOM, fy=ZOOM, interpolation=cv2.INTER_LINEAR).astype(np.uint8)
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    parameters.cornerRefinementWinSize = 4
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), parameters)
    corners, ids, _ = detector.detectMarkers(image)
    if len(corners) == 0:
        return {}
    return {
        int(i): (np.asarray(c).reshape(4, 2) + 0.5) / ZOOM - 0.5
        for i, c in zip(np.asarray(ids).ravel(), corners, strict=True)
    }


VIEWS = {
    "ordinary": (lens(), looking_at()),
    "straight down": (lens(), looking_at(tilt_deg=0.0)),
    "tilted and turned": (lens(), looking_at(760.0, 38.0, -35.0, 4.0)),
    "wide lens": (lens((1280, 720), 95.0, (-0.25, 0.06, 0.0, 0.0, 0.0)), looking_at(430.0, 10.0)),
    "small picture": (lens((640, 480), 62.0), looking_at(590.0, 15.0, 90.0)),
    "large picture": (lens((1600, 900)), looking_at(620.0, 20.0, 180.0)),
}


@pytest.mark.parametrize("name", some(VIEWS, 3))
def test_markers_are_where_they_are_projected(name: str) -> None:
    camera, pose = VIEWS[name]
    setting = Setting(camera, pose, sensor=Sensor(noise=1.0, defocus_px=0.4))
    found = found_corners(Renderer().render(Scene(setting)))
    assert sorted(found) == [0, 1, 2, 3]
    errors = []
    for marker_id, corners in found.items():
        wanted = project(camera, pose, setting.layout.markers.corners_mm(marker_id))
        errors.append(np.linalg.norm(corners - wanted, axis=1))
    assert np.max(errors) < 0.5
    offsets = np.vstack([found[i] - project(camera, pose, setting.layout.markers.corners_mm(i)) for i in found])
    assert np.abs(offsets.mean(axis=0)).max() < 0.15, "a shift of all corners means a pixel convention is off"


def test_rays_agree_with_projection() -> None:
    camera, pose = VIEWS["wide lens"]
    rays = optics.normalised_rays(camera, 0.0, 0.0, camera.size)
    pixels = np.array([[0.0, 0.0], [640.0, 360.0], [1279.0, 719.0], [17.0, 700.0]])
    on_table = back_project(camera, pose, pixels, 0.0)
    in_camera = on_table @ pose.rotation.T + pose.translation
    wanted = in_camera[:, :2] / in_camera[:, 2:]
    got = np.array([rays[int(y), int(x)] for x, y in pixels])
    assert np.abs(got - wanted).max() * camera.matrix[0, 0] < 0.1


def hue(image: np.ndarray, pixel: np.ndarray) -> int:
    x, y = (round(float(value)) for value in pixel)
    patch = image[y - 1 : y + 2, x - 1 : x + 2].reshape(-1, 1, 3)
    return int(np.median(cv2.cvtColor(patch, cv2.COLOR_BGR2HSV)[..., 0]))


@pytest.mark.parametrize("colour", ["gold", "teal"])
@pytest.mark.parametrize("place", some(["a1", "d4", "g7", "b6"]))
def test_a_blocks_top_is_where_it_is_projected(clean_setting: Setting, colour: str, place: str) -> None:
    layout = clean_setting.layout
    block = block_on(layout, place, colour, "cross", "star", turned_deg=10.0)
    image = Renderer().render(Scene(clean_setting, (block,)))
    x, y = layout.centre_mm(place)
    top = layout.board.height_mm + BlockPieces.on(layout.board).side_mm
    middle, corner = project(clean_setting.camera, clean_setting.pose, [[x, y, top], [x + 9.5, y + 9.5, top]])
    expected = {"gold": 20, "teal": 90}[colour]
    assert abs(hue(image, corner) - expected) < 12
    column, row = (round(float(value)) for value in middle)
    assert image[row, column].min() > 150, "the ink of the symbol is in the middle"


def test_side_faces_show_the_symbols_the_net_says(clean_setting: Setting) -> None:
    pose = looking_at(620.0, 45.0)
    setting = replace(clean_setting, pose=pose)
    symbols = ("x", "hoops", "cross", "slider")
    images, renderer = {}, Renderer()
    for north in symbols:
        block = block_on(setting.layout, "d4", "gold", "star", north)
        images[north] = renderer.render(Scene(setting, (block,)))
    south = {"x": "cross", "cross": "x", "hoops": "slider", "slider": "hoops"}
    half, base = BlockPieces.on(setting.layout.board).side_mm / 2, setting.layout.board.height_mm
    corners = [[-half, -half, base + 30], [half, -half, base + 30], [half, -half, base], [-half, -half, base]]
    source = project(setting.camera, pose, corners).astype(np.float32)
    target = np.array([[0, 0], [95, 0], [95, 95], [0, 95]], dtype=np.float32)
    warp = cv2.getPerspectiveTransform(source, target)
    for north, image in images.items():
        seen = cv2.warpPerspective(image, warp, (96, 96)).astype(np.float64).mean(axis=2)
        scores = {}
        for symbol in symbols:
            wanted = face_texture(setting.blocks, "gold", symbol, 1).astype(np.float64).mean(axis=2)
            scores[symbol] = float(np.corrcoef(seen.ravel(), wanted.ravel())[0, 1])
        assert max(scores, key=scores.__getitem__) == south[north]


def test_a_shadow_falls_away_from_the_lamp(clean_setting: Setting) -> None:
    lamp = Lamp((-700.0, 0.0, 700.0), radius_mm=20.0)
    setting = replace(clean_setting, lighting=Lighting((lamp,), ambient=0.2, gloss=0.0), pose=looking_at(tilt_deg=0.0))
    block = block_on(setting.layout, "d4", "teal", "stop", "x")
    with_block, without = (Renderer().render(Scene(setting, blocks)) for blocks in ((block,), ()))
    points = [[25.0, 0.0, 10.0], [-25.0, 0.0, 10.0]]
    (east_x, east_y), (west_x, west_y) = np.rint(project(setting.camera, setting.pose, points)).astype(int)
    assert with_block[east_y, east_x].mean() < 0.8 * without[east_y, east_x].mean()
    assert with_block[west_y, west_x].mean() > 0.95 * without[west_y, west_x].mean()


def test_a_picture_depends_only_on_scene_seed_and_frame(small_setting: Setting) -> None:
    block = block_on(small_setting.layout, "c3", "gold", "x", "star")
    hand = Hand((0.0, 0.0, 40.0), (80.0, -420.0, 140.0))
    scene = Scene(
        small_setting, (block,), (hand,), (ForeignObject("coin", 160.0, 0.0), ForeignObject("cup", -170.0, 20.0))
    )
    used = Renderer(5)
    used.render(Scene(small_setting), 0)
    assert np.array_equal(used.render(scene, 3), Renderer(5).render(scene, 3))
    assert not np.array_equal(used.render(scene, 3), used.render(scene, 4))
    assert not np.array_equal(used.render(scene, 3), Renderer(6).render(scene, 3))


# Discs, balls and pyramids are drawn where geometry puts them, in their colours, with shadows.


@pytest.fixture(scope="module")
def discs_setting(clean_setting: Setting) -> Setting:
    return replace(clean_setting, layout=default_layout("diaballik"), lighting=Lighting(gloss=0.0))


@pytest.fixture(scope="module")
def stacks_setting(clean_setting: Setting) -> Setting:
    return replace(clean_setting, layout=default_layout("blockade"), lighting=Lighting(gloss=0.0))


def rendered(setting: Setting, *pieces: PiecePose) -> Image:
    return Renderer().render(Scene(setting, pieces))


def at(setting: Setting, image: Image, x_mm: float, y_mm: float, z_mm: float) -> np.ndarray:
    column, row = np.rint(project(setting.camera, setting.pose, [[x_mm, y_mm, z_mm]])[0]).astype(int)
    return np.asarray(image[row, column], dtype=int)


def test_a_disc_covers_what_its_circle_covers(discs_setting: Setting) -> None:
    setting = replace(discs_setting, pose=looking_at(tilt_deg=0.0))
    bare, image = rendered(setting), rendered(setting, DiscPose(0.0, 0.0, "black"))
    for angle in np.linspace(0, 2 * np.pi, 8):
        x, y = np.cos(angle), np.sin(angle)
        assert at(setting, image, 11.0 * x, 11.0 * y, 20.0).max() < 80
        assert at(setting, image, 16.5 * x, 16.5 * y, 10.0).min() > 80
    far = at(setting, image, 60.0, 60.0, 10.0)
    assert np.array_equal(far, at(setting, bare, 60.0, 60.0, 10.0))


def test_a_ball_lies_on_its_disc(discs_setting: Setting) -> None:
    setting = replace(discs_setting, pose=looking_at(620.0, 40.0))
    carrier = rendered(setting, DiscPose(0.0, 0.0, "white", Ball("black")))
    assert at(setting, carrier, 0.0, 0.0, 10.0 + 10.0 + 12.0).max() < 90
    assert at(setting, carrier, -10.0, 0.0, 20.0).min() > 120
    alone = rendered(setting, BallPose(0.0, 0.0, "black"))
    assert at(setting, alone, 0.0, 0.0, 10.0 + 12.0).max() < 90


def test_an_unknown_colour_is_refused(discs_setting: Setting, stacks_setting: Setting) -> None:
    with pytest.raises(ValueError, match="no piece colour 'red'; this table has black, white"):
        rendered(discs_setting, DiscPose(0.0, 0.0, "red"))
    with pytest.raises(ValueError, match="no pyramid colour 'pink'"):
        rendered(stacks_setting, StackPose(0.0, 0.0, (Pyramid("L", "pink"),)))


@pytest.mark.parametrize(("colour", "channel"), [("red", 2), ("green", 1), ("blue", 0)])
def test_a_stack_shows_its_top_piece_at_its_height(stacks_setting: Setting, colour: str, channel: int) -> None:
    setting = replace(stacks_setting, pose=looking_at(620.0, 30.0))
    sizes = ("L", "M", "M", "S")
    stack = StackPose(0.0, 0.0, (*(Pyramid(size, "clear") for size in sizes[:-1]), Pyramid("S", colour)))
    image = rendered(setting, stack)
    pyramids = PyramidPieces.on(setting.layout.board)
    base = 6.0 + pyramids.elevations_mm(sizes)[-1]
    seen = at(setting, image, 0.0, -4.0, base + 9.0)
    assert seen.argmax() == channel
    assert seen.max() > 1.5 * np.sort(seen)[1]


@pytest.mark.parametrize(
    "sensor",
    [Sensor(defocus_px=2.0), Sensor(shake_px=(9.0, 4.0)), Sensor(jpeg_quality=20), Sensor(noise=8.0)],
    ids=["defocus", "shake", "jpeg", "noise"],
)
def test_every_fault_of_the_sensor_changes_the_picture(sensor: Sensor) -> None:
    camera = lens((160, 120))
    image = np.zeros((120, 160, 3), dtype=np.uint8)
    image[40:80, 50:110] = (40, 120, 220)
    clean = Sensor(noise=0.0, defocus_px=0.0)
    same = optics.through_sensor(image, clean, optics.SensorNoise(camera, 0.0, 1), 0)
    assert np.array_equal(same, image)
    faulty = optics.through_sensor(image, sensor, optics.SensorNoise(camera, sensor.noise, 1), 0)
    assert not np.array_equal(faulty, image)


@pytest.mark.parametrize("kind", ["coin", "cup", "card"])
def test_things_lie_where_they_are_put(clean_setting: Setting, kind: str) -> None:
    thing = ForeignObject(kind, 100.0, 0.0, (0.2, 0.2, 0.9), base_mm=10.0, radius_mm=14.0)  # type: ignore[arg-type]
    renderer = Renderer()
    without, with_it = (renderer.render(Scene(clean_setting, things=things)) for things in ((), (thing,)))
    ((x, y),) = np.rint(project(clean_setting.camera, clean_setting.pose, [[100.0, 0.0, 12.0]])).astype(int)
    change = np.abs(with_it.astype(int) - without).sum(axis=2)
    assert change[y, x] > 60
    assert change[:, : clean_setting.camera.size[0] // 3].max() == 0


# Sheets as the virtual camera sees them.

SIZE = (960, 540)


@pytest.fixture(scope="module")
def setting() -> Setting:
    plain = standard_setting(lens(SIZE), layout=default_layout("number-drop").with_sheets(2))
    return replace(plain, sensor=Sensor(noise=0.0, jpeg_quality=None))


def rendered_ink(setting: Setting, *pieces: PiecePose) -> npt.NDArray[np.uint8]:
    return Renderer(1).render(Scene(setting, pieces))


def ink_on(setting: Setting, place: str, colour: str = "black") -> InkPose:
    x, y = place_mm(setting.layout, place)
    return InkPose(x, y, place, "digit 1", colour, (((-3.0, -3.0), (3.0, 3.0)), ((-3.0, 3.0), (3.0, -3.0))), 1.5)


def patch(setting: Setting, image: npt.NDArray[np.uint8], place: str) -> npt.NDArray[np.uint8]:
    """The centre of a cell."""
    x, y = project(setting.camera, setting.pose, np.array([[*place_mm(setting.layout, place), 0.0]]))[0]
    return image[round(y) - 2 : round(y) + 3, round(x) - 2 : round(x) + 3]


def test_every_sheet_has_its_markers(setting: Setting) -> None:
    found = detect_markers(cv2.aruco.ArucoDetector(aruco_dictionary("DICT_4X4_50")), rendered_ink(setting))
    assert sorted(dict(found)) == list(range(8))


def test_ink_darkens_its_own_cell_only(setting: Setting) -> None:
    bare = rendered_ink(setting)
    for place, beside in (("p1.c5", "p1.d5"), ("p2.g14", "p2.f14")):
        written = rendered_ink(setting, ink_on(setting, place))
        assert patch(setting, written, place).min() < patch(setting, bare, place).min() - 60
        assert (patch(setting, written, beside) == patch(setting, bare, beside)).all()


# Sprites mix with what is behind them at their edges, and with nothing else.
