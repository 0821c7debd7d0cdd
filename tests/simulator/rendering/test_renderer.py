from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from benchmarks.scene.things import ForeignObject
from benchmarks.scene.variety import varied_setting
from simulator.rendering import optics
from simulator.rendering.hands import hand_sprite
from simulator.rendering.ink import INKS
from simulator.rendering.painting import Shadows, Sprite, box_around, clipped, paste, polygon_mask
from simulator.rendering.renderer import PAINTERS, Renderer
from simulator.rendering.textures import face_texture
from simulator.scene.pieces import (
    Ball,
    BallPose,
    DiePose,
    DiscPose,
    InkPose,
    PenPose,
    PiecePose,
    Pyramid,
    StackPose,
    block_on,
    changed,
)
from simulator.scene.scene import (
    SLEEVES,
    Hand,
    Lamp,
    Lighting,
    Scene,
    Sensor,
    Setting,
    TableLook,
    lens,
    looking_at,
    standard_layout,
)
from simulator.scene.sheets import place_mm
from simulator.table import standard_setting
from tests.effort import cases, some
from tests.present import present
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


@pytest.mark.parametrize("state", ["missing", "half covered"])
def test_a_hidden_marker_is_not_found(clean_setting: Setting, state: str) -> None:
    setting = replace(clean_setting, table=TableLook(markers={2: state}))  # type: ignore[dict-item]
    assert sorted(found_corners(Renderer().render(Scene(setting)))) == [0, 1, 3]


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


@pytest.mark.parametrize("turned_deg", [-30.0, 0.0, 17.0])
def test_a_top_symbol_has_its_orientation(clean_setting: Setting, turned_deg: float) -> None:
    layout = clean_setting.layout
    block = block_on(layout, "d4", "teal", "star", "slider", turned_deg=turned_deg)
    setting = replace(clean_setting, pose=looking_at(tilt_deg=0.0))
    image = Renderer().render(Scene(setting, (block,)))
    angle = np.radians(turned_deg)
    up = np.array([-np.sin(angle), np.cos(angle)])
    height = layout.board.height_mm + BlockPieces.on(layout.board).side_mm
    points = [[*(up * reach), height] for reach in (8.5, -8.5)]
    (tip_x, tip_y), (gap_x, gap_y) = np.rint(project(setting.camera, setting.pose, points)).astype(int)
    assert image[tip_y, tip_x].min() > image[gap_y, gap_x].min() + 50, "a star has a point at its top, a gap below"


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


def test_a_forearm_casts_its_shadow_with_a_short_sleeve_too(clean_setting: Setting) -> None:
    lamp = Lamp((-700.0, 0.0, 700.0), radius_mm=20.0)
    setting = replace(clean_setting, lighting=Lighting((lamp,), ambient=0.2, gloss=0.0), pose=looking_at(tilt_deg=0.0))
    bare = Hand((0.0, 100.0, 40.0), (20.0, -420.0, 60.0))
    sleeved = replace(bare, sleeve=SLEEVES["blue sleeve"], sleeve_from=0.8)
    free, with_bare, with_sleeve = (
        Renderer().render(Scene(setting, (), hands)).astype(np.float64) for hands in ((), (bare,), (sleeved,))
    )
    ((x, y),) = np.rint(project(setting.camera, setting.pose, [[75.0, -120.0, 10.0]])).astype(int)
    assert with_bare[y, x].mean() < 0.9 * free[y, x].mean()
    assert with_sleeve[y, x] == pytest.approx(with_bare[y, x], abs=4)


def test_a_card_on_blocks_hides_the_nearer_one_too(clean_setting: Setting) -> None:
    setting = replace(clean_setting, pose=looking_at(tilt_deg=30.0))
    top_mm = setting.layout.board.height_mm + BlockPieces.on(setting.layout.board).side_mm
    (x, y), (near_x, near_y) = (setting.layout.board.centre_mm(place) for place in ("d4", "d2"))
    card = ForeignObject("card", x, y, base_mm=top_mm, radius_mm=y - near_y + 10.0)
    block = block_on(setting.layout, "d2", "teal", "stop", "x")
    with_block, without = (
        Renderer().render(Scene(setting, blocks, (), (card,))).astype(np.float64) for blocks in ((block,), ())
    )
    ((column, row),) = np.rint(project(setting.camera, setting.pose, [[near_x, near_y, top_mm]])).astype(int)
    assert with_block[row, column] == pytest.approx(without[row, column], abs=3)


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


def test_rendering_a_scene_does_not_affect_the_next(small_setting: Setting) -> None:
    still = Scene(small_setting, (block_on(small_setting.layout, "c3", "gold", "x", "star"),))
    renderer = Renderer()
    before = renderer.render(still, 1)
    before_copy = before.copy()
    renderer.render(replace(still, hands=(Hand((0.0, 0.0, 40.0), (80.0, -420.0, 140.0)),)), 2)
    assert np.array_equal(renderer.render(still, 1), before_copy)


@settings(max_examples=cases(12, 3), deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 1.0]))
def test_every_drawn_setting_has_its_markers_in_the_picture(seed: int, hardness: float) -> None:
    setting = varied_setting(seed, hardness)
    markers = standard_layout().markers
    for marker_id in markers.centres_mm:
        pixels = project(setting.camera, setting.pose, markers.corners_mm(marker_id))
        assert pixels.min() > 0
        assert (pixels < np.asarray(setting.camera.size)).all()


def test_arguments_are_validated(clean_setting: Setting) -> None:
    with pytest.raises(ValueError, match="expected 0 to 1"):
        varied_setting(1, 1.5)
    with pytest.raises(ValueError, match="no block colour 'red'"):
        Renderer().render(Scene(clean_setting, (block_on(standard_layout(), "a1", "red", "x", "star"),)))


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


def test_a_ball_casts_its_shadow_on_its_disc(discs_setting: Setting) -> None:
    lamp = Lamp((-700.0, 0.0, 700.0), radius_mm=10.0)
    setting = replace(discs_setting, lighting=Lighting((lamp,), ambient=0.2, gloss=0.0), pose=looking_at(tilt_deg=0.0))
    image = rendered(setting, DiscPose(0.0, 0.0, "white", Ball("white", (-3.0, 0.0))))
    assert at(setting, image, 8.5, 0.0, 20.0).mean() < 0.85 * at(setting, image, 0.0, 10.0, 20.0).mean()


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


def test_a_clear_pyramid_hides_less_than_a_black_one(stacks_setting: Setting) -> None:
    bare = rendered(stacks_setting)
    change = {}
    for colour in ("clear", "black"):
        image = rendered(stacks_setting, StackPose(0.0, 0.0, (Pyramid("L", colour),)))
        change[colour] = np.abs(image.astype(int) - bare).sum()
    assert 0 < change["clear"] < 0.6 * change["black"]


def test_a_leaning_pyramid_displaces_its_tip(stacks_setting: Setting) -> None:
    setting = replace(stacks_setting, pose=looking_at(tilt_deg=0.0))
    image = rendered(setting, StackPose(0.0, 0.0, (Pyramid("L", "black", lean_deg=(20.0, 0.0)),)))
    tip_mm = 44.5 * np.sin(np.radians(20.0))
    assert at(setting, image, tip_mm - 1.0, 0.0, 6.0 + 44.5 * np.cos(np.radians(20.0)) - 1.0).max() < 90


def test_a_moving_piece_is_blurred(discs_setting: Setting) -> None:
    held = DiscPose(0.0, 0.0, "black", base_mm=30.0)
    still, moving = (rendered(discs_setting, replace(held, streak_mm=streak)) for streak in ((0.0, 0.0), (20.0, 0.0)))
    beside = [at(discs_setting, image, 15.0, 0.0, 35.0).mean() for image in (still, moving)]
    assert beside[1] < beside[0] - 20


@given(st.lists(st.floats(0.0, 4.0), min_size=2, max_size=20))
def test_more_light_is_never_darker(levels: list[float]) -> None:
    ordered = np.sort(np.asarray(levels))
    shown = optics.develop(ordered.reshape(1, -1, 1).repeat(3, axis=2))[0, :, 0].astype(int)
    assert (np.diff(shown) >= 0).all()


def test_no_light_is_black_and_plenty_is_white() -> None:
    assert optics.develop(np.zeros((1, 1, 3))).max() == 0
    assert optics.develop(np.full((1, 1, 3), 5.0)).min() >= 250


def test_full_light_leaves_dark_colours_as_they_are() -> None:
    table = optics.tone_table(np.ones(3))
    assert np.abs(table[:220, 0, 0].astype(int) - np.arange(220)).max() <= 1


def test_a_shade_table_keeps_the_light_outside_the_shadow() -> None:
    table = optics.shade_table(np.array([0.25, 0.5, 1.0]))
    assert table[0, 0].tolist() == [255, 255, 255]
    assert table[255, 0].tolist() == [
        round(255 * 0.25 ** (1 / optics.GAMMA)),
        round(255 * 0.5 ** (1 / optics.GAMMA)),
        255,
    ]


@pytest.mark.parametrize("deviation", [1.5, 4.0])
def test_noise_has_the_spread_asked_for(deviation: float) -> None:
    camera = lens((320, 240))
    noise = optics.SensorNoise(camera, deviation, 3)
    grey = np.full((240, 320, 3), 128, dtype=np.uint8)
    noisy = noise.add(grey, 0).astype(float)
    assert abs(noisy.mean() - 128) < 0.1
    assert abs(noisy.std() - deviation) < 0.15 * deviation
    assert not np.array_equal(noise.add(grey, 0), noise.add(grey, 1))
    assert np.array_equal(noise.add(grey, 7), noise.add(grey, 7))


def test_motion_blur_spreads_only_along_the_motion() -> None:
    image = np.zeros((41, 41), dtype=np.uint8)
    image[20, 20] = 255
    smeared = optics.motion_blur(image, (12.0, 0.0))
    assert np.ptp(np.flatnonzero(smeared.sum(axis=0))) >= 10
    assert np.ptp(np.flatnonzero(smeared.sum(axis=1) > 20)) <= 2
    assert optics.motion_blur(image, (0.3, 0.0)) is image


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


def test_exposure_and_colour_error_reach_the_picture(clean_setting: Setting) -> None:
    ordinary = Renderer().render(Scene(clean_setting)).reshape(-1, 3).mean(axis=0)
    dim = replace(clean_setting, sensor=replace(clean_setting.sensor, exposure=0.5))
    warm = replace(clean_setting, sensor=replace(clean_setting.sensor, white_balance=(0.7, 1.0, 1.0)))
    assert (Renderer().render(Scene(dim)).reshape(-1, 3).mean(axis=0) < 0.8 * ordinary).all()
    blue, green, _ = Renderer().render(Scene(warm)).reshape(-1, 3).mean(axis=0) / ordinary
    assert blue < 0.9
    assert green == pytest.approx(1.0, abs=0.01)


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


@pytest.mark.parametrize(("colour", "channel"), [("red", 2), ("blue", 0)])
def test_a_pens_colour_shows(setting: Setting, colour: str, channel: int) -> None:
    written = patch(setting, rendered_ink(setting, ink_on(setting, "p1.d7", colour)), "p1.d7").reshape(-1, 3)
    darkest = written[written.sum(axis=1).argmin()]
    assert int(darkest[channel]) == max(darkest)
    assert colour in INKS


def test_a_pen_lies_over_what_is_written(setting: Setting) -> None:
    x, y = place_mm(setting.layout, "p1.d7")
    pen = PenPose(x, y - 60.0, "black", turned_deg=90.0)
    plain = rendered_ink(setting, pen)
    assert (
        patch(setting, plain, "p1.d7") == patch(setting, rendered_ink(setting, pen, ink_on(setting, "p1.d7")), "p1.d7")
    ).all()


# Sprites mix with what is behind them at their edges, and with nothing else.

DECK = default_layout("deblockle")
STILL, MOVING = (0.0, 0.0), (8.0, 3.0)
PIECES = [
    ("deblockle", block_on(DECK, "d4", "gold", "star", "x", turned_deg=9.0)),
    ("diaballik", DiscPose(0.0, 0.0, "white")),
    ("blockade", StackPose(0.0, 0.0, (Pyramid("L", "yellow"),))),
    ("blockade", DiePose(0.0, 0.0, "white", 3)),
    ("number-drop", PenPose(0.0, 0.0, "red")),
]


def assert_as_bright_at_the_edge(sprite: Sprite) -> None:
    """Its colour, found from its picture before black and before white, is about the same where it covers half."""
    shape = (*sprite.cover.shape, 3)
    black, white = np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8)
    for frame in (black, white):
        paste(frame, replace(sprite, left=0, top=0))
    cover = 1.0 - (white.astype(float) - black).mean(axis=2) / 255.0
    edge, inside = (cover > 0.3) & (cover < 0.7), cover > 0.9
    colour = (black[edge] / cover[edge][:, None]).mean()
    assert 0.75 < colour / black[inside].mean() < 1.25


@pytest.mark.parametrize("streak_mm", [STILL, MOVING])
@pytest.mark.parametrize(("game", "piece"), PIECES, ids=lambda one: one if isinstance(one, str) else type(one).__name__)
def test_edges_of_pieces_are_as_bright_as_their_inside(
    clean_setting: Setting, game: str, piece: Any, streak_mm: tuple[float, float]
) -> None:
    setting = replace(clean_setting, layout=default_layout(game), lighting=Lighting((), ambient=0.9, gloss=0.0))
    painter = PAINTERS[type(piece)](setting, Shadows(setting, 1.0))
    assert_as_bright_at_the_edge(painter.sprite(changed(piece, streak_mm=streak_mm)))


@pytest.mark.parametrize("streak_mm", [STILL, MOVING])
def test_edges_of_hands_are_as_bright_as_their_inside(clean_setting: Setting, streak_mm: tuple[float, float]) -> None:
    hand = Hand((30.0, -60.0, 60.0), (120.0, -260.0, 200.0), sleeve=None, streak_mm=streak_mm)
    assert_as_bright_at_the_edge(present(hand_sprite(clean_setting, hand)))


POINTS = arrays.arrays(np.float64, (5, 2), elements=st.floats(-50, 50))


@given(POINTS, st.integers(0, 4))
def test_a_box_holds_its_points_and_the_margin(points: np.ndarray, margin: int) -> None:
    left, top, right, bottom = box_around(points, margin)
    assert (points.min(axis=0) >= (left + margin, top + margin)).all()
    assert (points.max(axis=0) <= (right - margin - 1, bottom - margin - 1)).all()


@given(POINTS)
def test_a_clipped_box_is_inside_the_picture(points: np.ndarray) -> None:
    found = clipped(box_around(points, 2), (20, 30, 3))
    if found is not None:
        left, top, right, bottom = found
        assert 0 <= left < right <= 30
        assert 0 <= top < bottom <= 20


def test_a_box_outside_the_picture_has_no_part_in_it() -> None:
    assert clipped((30, 0, 40, 10), (20, 30)) is None
    assert clipped((29, 19, 40, 40), (20, 30)) == (29, 19, 30, 20)


def test_a_mask_is_full_inside_and_empty_outside() -> None:
    mask = polygon_mask((9, 9), np.array([[2.0, 2.0], [6.0, 2.0], [6.0, 6.0], [2.0, 6.0]]))
    assert mask[4, 4] == 255
    assert mask[0, 0] == mask[8, 8] == 0
