from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.scene.variety import varied_setting
from simulator.rendering.optics import GAMMA, normalised_rays
from simulator.rendering.renderer import Renderer
from simulator.rendering.textures import face_texture
from simulator.scene.pieces import block_on
from simulator.scene.scene import (
    SLEEVES,
    ForeignObject,
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
from tests.effort import cases, some
from vision.geometry import back_project, project
from vision.layout.pieces import BlockPieces

ZOOM = 2


def found_corners(developed: np.ndarray) -> dict[int, np.ndarray]:
    # Edges between black and white sit in the middle only in linear light; a screen curve makes white bloom.
    linear = np.power(developed / 255.0, GAMMA).astype(np.float32) * 255.0
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
    rays = normalised_rays(camera, 0.0, 0.0, camera.size)
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
