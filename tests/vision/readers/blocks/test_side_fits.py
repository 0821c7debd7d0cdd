"""Evidence from the sides of a drawn block: symbols, colour, and the odds of a block."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision import photoreal
from tests.vision.readers.blocks.drawn import CAMERA, FACES, INK, LOOKS, SYMBOLS, Block, picture_of, seen_from, texture
from vision.frame import FloatImage, Image
from vision.geometry import CubeSolid, Rectangle, Side, back_project, corners_px, project
from vision.layout.pieces import BlockPieces
from vision.readers.blocks.appearance import BlockAppearance, drawn_mask, log_ratio
from vision.readers.blocks.reader import (
    SIDE_PX,
    SideFit,
    SideReader,
    SideView,
    neighbours_in_net,
    side_probabilities,
    side_views,
    support,
)
from vision.readers.probabilities import softmax
from vision.sampling import PlaneGrid, PlaneWindow, linear_light, linear_light_table, plane_map

POSE = seen_from()
READER = SideReader(LOOKS)


def view(
    symbol: str,
    colour: str = "red",
    size_px: tuple[float, float] = (40.0, 30.0),
    shift_px: tuple[int, int] = (0, 0),
    blur_px: float = 0.8,
) -> SideView:
    """A sampled side face, centred or shifted by some pixels."""
    width, height = (round(length) for length in size_px)
    face = cv2.resize(texture(symbol, FACES[colour], INK), (width, height), interpolation=cv2.INTER_AREA)
    face = cv2.resize(cv2.GaussianBlur(face, (0, 0), blur_px), (SIDE_PX, SIDE_PX), interpolation=cv2.INTER_LINEAR)
    face = np.roll(face, shift_px, axis=(1, 0)) + np.random.default_rng(1).normal(0, 0.004, face.shape)
    is_open = np.ones((SIDE_PX, SIDE_PX), dtype=np.bool_)
    points = np.stack(np.meshgrid(np.arange(36.0), np.arange(36.0)), axis=-1).astype(np.float32)
    return SideView(Side.SOUTH, np.asarray(face, np.float32), points, size_px[1], size_px[0], is_open)


def fitted(one: SideView, colour: str | None = "red") -> SideFit:
    found = READER.fit(one, colour)
    assert found is not None
    return found


@pytest.mark.parametrize("symbol", SYMBOLS)
@pytest.mark.parametrize("size_px", [(32.0, 26.0), (28.0, 18.0)])
def test_the_symbol_of_a_side_fits_best(symbol: str, size_px: tuple[float, float]) -> None:
    found = fitted(view(symbol, size_px=size_px))
    assert max(found.fits, key=lambda name: found.fits[name]) == symbol
    assert found.fits[symbol] > 0.8
    assert set(found.fits) == set(SYMBOLS)
    assert found.colour_off is not None
    assert found.colour_off < 0.45
    rival = max(fit for name, fit in found.fits.items() if name != symbol)
    assert found.fits[symbol] > rival + 0.02


@pytest.mark.parametrize("shift_px", [(2, 0), (-2, 2), (0, -3), (3, 3)])
def test_a_side_may_be_off_by_three_pixels(shift_px: tuple[int, int]) -> None:
    centred = fitted(view("hoops"))
    shifted = fitted(view("hoops", shift_px=shift_px))
    assert shifted.fits["hoops"] > centred.fits["hoops"] - 0.06
    assert fitted(view("hoops", shift_px=(7, 7))).fits["hoops"] < centred.fits["hoops"] - 0.2


def test_a_side_out_of_focus_is_compared_with_blurred_masks() -> None:
    sharp, soft = (fitted(view("x", blur_px=blur_px)) for blur_px in (0.6, 2.2))
    assert soft.fits["x"] > 0.93
    assert sharp.sharp_fit == pytest.approx(max(sharp.fits.values()), abs=0.02)
    assert soft.sharp_fit < max(soft.fits.values()) - 0.02


def test_the_colour_of_a_side_is_compared_with_its_blocks() -> None:
    own, other = fitted(view("hoops", "red"), "red"), fitted(view("hoops", "green"), "red")
    assert own.colour_off is not None
    assert other.colour_off is not None
    assert own.colour_off + 0.5 < other.colour_off
    between = float(np.sqrt(np.mean((LOOKS.colours["green"] - LOOKS.colours["red"]) ** 2)))
    assert other.colour_off == pytest.approx(between, abs=0.35)
    unknown = fitted(view("hoops", "green"), None)
    assert unknown.colour_off is None
    best = max(fitted(view("hoops", "green"), colour).fits["hoops"] for colour in ("red", "green"))
    assert unknown.fits["hoops"] == pytest.approx(best)


@pytest.mark.parametrize(("hidden_rows", "fits"), [(15, True), (26, False)])
def test_a_side_is_fitted_by_its_visible_part_if_that_is_a_third(hidden_rows: int, fits: bool) -> None:
    whole = view("cross")
    is_open = whole.open.copy()
    is_open[SIDE_PX - hidden_rows :] = False
    picture = whole.picture.copy()
    picture[SIDE_PX - hidden_rows :] = (0.9, 0.1, 0.9)
    part = replace(whole, open=is_open, picture=picture)
    assert part.open_share == pytest.approx(1 - hidden_rows / SIDE_PX)
    found = READER.fit(part, "red")
    assert (found is not None) == fits
    if found is not None:
        assert found.fits["cross"] > 0.93
        assert found.colour_off is not None
        assert found.colour_off < 0.4
        unaware = READER.fit(replace(whole, picture=picture), "red")
        assert unaware is not None
        assert unaware.fits["cross"] < found.fits["cross"] - 0.1


def test_sides_are_fitted_without_known_colours_too() -> None:
    found = SideReader(BlockAppearance({}, LOOKS.masks)).fit(view("star"), None)
    assert found is not None
    assert found.fits["star"] > 0.9
    assert found.colour_off is None


def side(height_px: float, sharp_fit: float, colour_off: float | None, open_rows: int = SIDE_PX):
    one = view("star")
    is_open = one.open.copy()
    is_open[open_rows:] = False
    return replace(one, height_px=height_px, open=is_open), SideFit({"star": sharp_fit}, sharp_fit, colour_off)


@pytest.mark.parametrize(
    ("sides", "odds"),
    [
        ([side(22.0, 0.68, None)], 36 * 0.1),
        ([side(30.0, 0.68, None)], 36 * 0.1),
        ([side(15.0, 0.68, None)], 36 * 0.1 * 0.5),
        ([side(8.0, 0.9, None)], 0.0),
        ([side(22.0, 0.68, None, 18)], 36 * 0.1 * 0.5),
        ([side(22.0, 0.58, 0.85)], 10 * 0.1),
        ([side(22.0, 0.58, 0.2)], 3.0),
        ([side(22.0, 0.58, 1.45)], -5.0),
        ([side(22.0, 0.58, 3.0)], -8.0),
        ([side(22.0, 0.63, 0.95), side(22.0, 0.63, None)], 36 * 0.1),
        ([side(22.0, 0.95, 0.1)], 8.0),
        ([side(22.0, 0.1, 3.0)], -16.0),
    ],
)
def test_the_odds_of_a_block_by_its_sides(sides: list[tuple[SideView, SideFit]], odds: float) -> None:
    assert support(sides) == pytest.approx(odds)
    assert support([]) == 0.0


def test_the_symbols_of_a_side_are_reported_if_it_is_high_and_visible_enough() -> None:
    fits = {"star": 0.9, "x": 0.88, "cross": 0.5}
    high = replace(view("star"), height_px=20.0)
    told = side_probabilities(high, fits, ("star", "x"))
    assert told == pytest.approx(softmax({"star": 0.9, "x": 0.88}, 0.015 * 1.5, 0.002))
    flat = side_probabilities(replace(high, height_px=6.0), fits, ("star", "x", "moon"))
    assert flat == pytest.approx(softmax({"star": 0.9, "x": 0.88}, 0.015 * (1 + 10 / 6), 0.002))
    assert side_probabilities(replace(high, height_px=5.9), fits, ("star", "x")) is None
    assert side_probabilities(high, fits, ("moon",)) is None
    assert side_probabilities(high, {"star": 0.59}, ("star",)) is None
    assert side_probabilities(high, {"star": 0.6}, ("star",)) is not None
    for open_rows, read in ((29, True), (28, False)):
        is_open = high.open.copy()
        is_open[open_rows:] = False
        assert (side_probabilities(replace(high, open=is_open), fits, ("star",)) is not None) == read


@pytest.mark.parametrize("azimuth_deg", [-75.0, 15.0, 100.0, 200.0])
def test_the_sides_of_a_block_in_a_picture_are_read(azimuth_deg: float) -> None:
    pose = seen_from(azimuth_deg, 45.0)
    block = Block("d4", "star", turned_deg=6.0)
    image = picture_of([block], pose)
    (views,) = side_views(image, corners_px([block.solid], CAMERA, pose))
    assert len(views) in (1, 2)
    for one in views:
        assert block.solid.facing_camera(one.side, pose.camera_position_mm) > 0
        found = fitted(one)
        symbol = block.sides[list(Side).index(one.side)]
        if one.height_px > 15 and one.width_px > 15:
            assert max(found.fits, key=lambda name: found.fits[name]) == symbol
        upper_left, upper_right, lower_right, lower_left = corners_px([block.solid], CAMERA, pose)[0][
            [*{"north": (5, 4, 0, 1), "east": (6, 5, 1, 2), "south": (7, 6, 2, 3), "west": (4, 7, 3, 0)}[one.side]]
        ]
        width = (np.linalg.norm(upper_right - upper_left) + np.linalg.norm(lower_right - lower_left)) / 2
        assert one.width_px == pytest.approx(width)
        quad = np.array([upper_left, upper_right, lower_right, lower_left], dtype=np.float32)
        assert one.height_px == pytest.approx(cv2.contourArea(quad) / width, rel=1e-4)
        unit = np.array([[0, 0], [SIDE_PX, 0], [SIDE_PX, SIDE_PX], [0, SIDE_PX]], dtype=np.float32)
        warp = cv2.getPerspectiveTransform(unit, quad)
        centres = np.stack(np.meshgrid(np.arange(36) + 0.5, np.arange(36) + 0.5), axis=-1).reshape(-1, 1, 2)
        expected = cv2.perspectiveTransform(centres, warp).reshape(SIDE_PX, SIDE_PX, 2)
        assert np.abs(one.points_px - expected).max() < 0.02


def test_sides_lower_than_five_pixels_are_not_sampled() -> None:
    counts = []
    for tilt_deg in (0.0, 8.0, 14.0, 40.0):
        pose = seen_from(-90.0, tilt_deg)
        (views,) = side_views(np.zeros((750, 1000, 3), np.uint8), corners_px([Block("d4", "x").solid], CAMERA, pose))
        assert all(one.height_px >= 5.0 for one in views)
        counts.append(len(views))
    assert counts[0] == 0
    assert counts[-1] == 1


def test_parts_outside_the_picture_are_not_visible() -> None:
    image: Image = np.zeros((750, 1000, 3), np.uint8)
    corners = corners_px([Block("d4", "x").solid], CAMERA, seen_from(-90.0, 45.0))
    left = corners[..., 0].min()
    (views,) = side_views(image, corners - np.array([left + 0.5 * np.ptp(corners[..., 0]), 0.0]))
    assert [round(one.open_share, 1) for one in views if one.side == "south"] == [0.5]
    assert side_views(image, np.zeros((0, 8, 2))) == []
    (none,) = side_views(image, np.zeros((1, 8, 2)))
    assert none == []


MEASURES = {
    "star": (0.35, 0.35 * (1 + np.cos(np.pi / 5)), 5 * 0.35 * 0.14 * np.sin(np.pi / 5)),
    "stop": (2 * 0.345 * np.cos(np.pi / 8), 2 * 0.345 * np.cos(np.pi / 8), 4 * 0.345**2 * np.sin(np.pi / 4)),
    "cross": (0.68, 0.68, 2 * 0.68 * 0.2 - 0.04),
    "x": ((0.73 + 0.2) / np.sqrt(2), (0.73 + 0.2) / np.sqrt(2), 2 * 0.73 * 0.2 - 0.04),
    "slider": (2 * 0.235, 2 * 0.355, 2 * 0.235 * 0.355),
    "hoops": (2 * (0.172 + 0.155), 0.19 + 0.112 + 2 * 0.155, 3 * np.pi * (0.155**2 - 0.1**2)),
}
"""Width, height and area of each symbol, in sides of the face, the star's half width and height."""


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_a_drawn_symbol_has_its_size(symbol: str) -> None:
    mask: FloatImage = drawn_mask(symbol, 200)
    rows, columns = np.nonzero(mask > 0.5)
    width, height, area = MEASURES[symbol]
    if symbol == "star":
        width = 2 * 0.35 * np.cos(np.pi / 10)
    assert (np.ptp(columns) + 1) / 200 == pytest.approx(width, abs=0.02)
    assert (np.ptp(rows) + 1) / 200 == pytest.approx(height, abs=0.02)
    assert mask.mean() == pytest.approx(area, abs=0.012)
    middle = (columns.min() + columns.max()) / 2
    assert middle == pytest.approx(99.5, abs=1)
    assert log_ratio(np.ones(3), np.ones(3)) == pytest.approx(np.zeros(3))


CAMERA_SIDES, POSE_SIDES = photoreal.camera("006.jpg"), photoreal.pose("006.jpg")


@given(st.floats(-120, 120), st.floats(-120, 120), st.floats(-45, 45))
def test_sides_share_the_solids_corners(x: float, y: float, turned: float) -> None:
    solid = CubeSolid(x, y, 10.0, 30.0, turned)
    corners = {tuple(np.round(corner, 6)) for corner in solid.corners_mm()}
    for side in Side:
        face = solid.side_corners_mm(side)
        assert {tuple(np.round(corner, 6)) for corner in face} <= corners
        upper_left, upper_right, lower_right, lower_left = face
        assert upper_left[2] == upper_right[2] > lower_left[2] == lower_right[2]
        # right-handed as seen from outside: right x down points into the block
        into = np.cross(upper_right - upper_left, lower_left - upper_left)
        middle = np.array([x, y, 25.0])
        assert into @ (middle - face.mean(axis=0)) > 0


def test_the_north_side_is_away_from_the_first_player() -> None:
    solid = CubeSolid(0.0, 0.0, 10.0, 30.0)
    assert solid.side_corners_mm(Side.NORTH)[:, 1] == pytest.approx(15.0)
    assert solid.side_corners_mm(Side.EAST)[:, 0] == pytest.approx(15.0)
    assert solid.facing_camera(Side.SOUTH, np.array([0.0, -500.0, 400.0])) > 0.5
    assert solid.facing_camera(Side.NORTH, np.array([0.0, -500.0, 400.0])) < 0


@given(st.floats(-140, 140), st.floats(-140, 140), st.floats(0, 60))
def test_projecting_and_projecting_back_meet(x: float, y: float, z: float) -> None:
    there = project(CAMERA_SIDES, POSE_SIDES, [[x, y, z]])
    back = back_project(CAMERA_SIDES, POSE_SIDES, there, z)
    assert back[0] == pytest.approx([x, y, z], abs=0.05)


def test_plane_maps_agree_with_projecting_each_point() -> None:
    window = PlaneWindow(-140.0, 140.0, 280.0, 280.0, 40.0, 2.0)
    found = plane_map(CAMERA_SIDES, POSE_SIDES, window)
    assert found.shape == (560, 560, 2)
    rng = np.random.default_rng(1)
    for row, column in rng.integers(0, 560, (200, 2)):
        x = window.left_mm + (column + 0.5) / 2
        y = window.far_mm - (row + 0.5) / 2
        exact = project(CAMERA_SIDES, POSE_SIDES, [[x, y, 40.0]])[0]
        assert np.abs(found[row, column] - exact).max() < 1e-3
        assert window.to_pixels(x, y) == pytest.approx((column, row))


def test_a_plane_grid_agrees_with_projecting_each_point() -> None:
    grid = PlaneGrid.of(CAMERA_SIDES, POSE_SIDES, Rectangle(-140.0, 140.0, -140.0, 140.0), 40.0)
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-139, 139, (2, 20, 10))
    exact = project(CAMERA_SIDES, POSE_SIDES, np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 40.0)]))
    assert np.abs(grid.pixel_map(x, y).reshape(-1, 2) - exact).max() < 0.1


def test_side_faces_are_sampled_from_their_upper_left_corner() -> None:
    """Colours encode each pixel's position, so a face's pixels show where they were sampled."""
    columns, rows = np.meshgrid(np.arange(CAMERA_SIDES.size[0]), np.arange(CAMERA_SIDES.size[1]))
    image = np.dstack([columns % 256, rows % 256, np.zeros_like(rows)]).astype(np.uint8)
    solid = CubeSolid(20.0, -30.0, 10.0, 30.0, 12.0)
    (views,) = side_views(image, corners_px([solid], CAMERA_SIDES, POSE_SIDES))
    facing = {side: solid.facing_camera(side, POSE_SIDES.camera_position_mm) for side in Side}
    seen = {view.side for view in views}
    assert {side for side in Side if facing[side] > 0.3} <= seen <= {side for side in Side if facing[side] > 0}
    assert "south" in seen
    for view in views:
        expected = project(CAMERA_SIDES, POSE_SIDES, solid.side_corners_mm(view.side))
        for (row, column), corner in zip(((0, 0), (0, 35), (35, 35), (35, 0)), expected, strict=True):
            assert np.linalg.norm(view.points_px[row, column] - corner) < 2.0
        assert view.open.all()
        at = view.points_px[18, 18]
        shown = linear_light(np.round(at % 256).astype(np.uint8).reshape(1, 2))[0]
        assert np.abs(view.picture[18, 18, :2] - shown).max() < 0.02


def test_a_nearer_block_hides_part_of_a_side_face() -> None:
    image = np.zeros((CAMERA_SIDES.size[1], CAMERA_SIDES.size[0], 3), dtype=np.uint8)
    (views,) = side_views(image, corners_px([CubeSolid(0.0, 40.0, 10.0, 30.0)], CAMERA_SIDES, POSE_SIDES))
    view = next(one for one in views if one.side == "south")
    nearer = np.zeros(image.shape[:2], dtype=np.uint8)
    assert view.without_hidden(nearer) is view
    middle = int(view.points_px[..., 0].mean())
    nearer[:, :middle] = 1
    assert 0.3 < view.without_hidden(nearer).open_share < 0.7


def test_linear_light_rises_from_black_to_white() -> None:
    table = linear_light_table()
    assert table[0] == 0
    assert table[255] == pytest.approx(1.0)
    assert (np.diff(table) > 0).all()


def test_neighbours_leave_out_a_symbol_and_its_opposite() -> None:
    net = BlockPieces.on(photoreal.LAYOUT.board).net
    assert set(neighbours_in_net(net, "star")) == {"slider", "x", "hoops", "cross"}
    assert set(neighbours_in_net(net, "x")) == {"star", "stop", "slider", "hoops"}
    assert set(neighbours_in_net(net, "moon")) == set(net.values())


def test_a_symbol_on_two_faces_has_the_neighbours_of_both() -> None:
    net = {"up": "star", "down": "stop", "north": "star", "south": "x", "east": "hoops", "west": "cross"}
    assert set(neighbours_in_net(net, "star")) == {"star", "x", "hoops", "cross", "stop"}
