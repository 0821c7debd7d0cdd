"""The vectorised face search agrees with sliding turned masks over the picture."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.present import present
from tests.vision import photoreal
from tests.vision.readers.blocks import drawn
from vision.geometry import Rectangle, project
from vision.layout.pieces import BlockPieces
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.blocks.faces import (
    FINE_PX_PER_MM,
    TURNS_DEG,
    CloseFitter,
    ColourMetric,
    FaceFinder,
    RoughFace,
    RoughFinder,
    _Upright,
    fit_face,
    rough_centre,
)
from vision.sampling import PlaneGrid, PlaneWindow, linear_light, plane_map, sample

LAYOUT = photoreal.LAYOUT
SIDE_MM = BlockPieces.on(LAYOUT.board).side_mm
HEIGHT_MM = LAYOUT.board.height_mm + SIDE_MM


@pytest.fixture(scope="module", params=photoreal.BOARDS)
def found(request: pytest.FixtureRequest) -> tuple[str, PlaneGrid, list[RoughFace]]:
    name = str(request.param)
    grid = PlaneGrid.of(
        photoreal.camera(name), photoreal.pose(name), Rectangle(-190.0, 190.0, -190.0, 190.0), HEIGHT_MM
    )
    image = photoreal.frame(name).image
    return name, grid, RoughFinder(photoreal.looks(), SIDE_MM).find(image, grid, LAYOUT.board, LAYOUT.places, 0.5)


def blocks_in_sight(name: str) -> set[str]:
    return {
        place
        for place in LAYOUT.places
        if photoreal.expected_look(name, place) != "empty" and place not in photoreal.EXPECTED[name].get("hidden", ())
    }


def test_no_block_in_sight_is_overlooked(found: tuple[str, PlaneGrid, list[RoughFace]]) -> None:
    name, _, sights = found
    if photoreal.EXPECTED[name]["hand"]:
        pytest.skip("a hand hides some blocks")
    assert blocks_in_sight(name) <= {sight.place for sight in sights}


def test_a_place_is_read_the_same_alone_and_with_all_others(
    found: tuple[str, PlaneGrid, list[RoughFace]],
) -> None:
    name, grid, sights = found
    finder = RoughFinder(photoreal.looks(), SIDE_MM)
    for sight in sights[:6]:
        (alone,) = finder.find(photoreal.frame(name).image, grid, LAYOUT.board, [sight.place], 0.5)
        assert (alone.x_mm, alone.y_mm, alone.fit) == pytest.approx((sight.x_mm, sight.y_mm, sight.fit), abs=1e-3)


def test_close_fits_equal_those_of_sliding_turned_masks(found: tuple[str, PlaneGrid, list[RoughFace]]) -> None:
    name, grid, sights = found
    image, camera, pose = photoreal.frame(name).image, photoreal.camera(name), photoreal.pose(name)
    clear = [sight for sight in sights if sight.fit > 0.75]
    judge = ColourMetric(photoreal.looks().colours, 0.2)
    distances = [judge.distances(sight.face, sight.ink) for sight in clear]
    colours = [min(one, key=one.__getitem__) for one in distances]
    fits = CloseFitter(photoreal.looks(), SIDE_MM).fit(image, grid, clear, colours)
    window = PlaneWindow(-180.0, 180.0, 360.0, 360.0, HEIGHT_MM, FINE_PX_PER_MM)
    light = linear_light(sample(image, plane_map(camera, pose, window)))
    looks = photoreal.looks()
    plain = {
        name: FaceFinder(BlockAppearance({name: colour}, looks.masks), SIDE_MM, FINE_PX_PER_MM)
        for name, colour in looks.colours.items()
    }
    compared = 0
    for sight, fit, colour in zip(clear, fits, colours, strict=True):
        slow = fit_face(plain[colour], light, window, (sight.x_mm, sight.y_mm))
        if slow.correlation < 0.8:
            continue
        compared += 1
        fit = present(fit)
        assert fit.symbol == slow.symbol
        assert np.hypot(fit.x_mm - slow.x_mm, fit.y_mm - slow.y_mm) < 1.5
        assert abs(fit.turned_deg - slow.turned_deg) <= 6.0
        assert fit.correlation > slow.correlation - 0.05
        assert 0.7 < fit.edges / slow.edges < 1.15
    assert compared >= 3


def test_rough_sights_are_near_those_of_sliding_masks(
    found: tuple[str, PlaneGrid, list[RoughFace]],
) -> None:
    name, _, sights = found
    image, camera, pose = photoreal.frame(name).image, photoreal.camera(name), photoreal.pose(name)
    finder = FaceFinder(photoreal.looks(), SIDE_MM, 1.0)
    for sight in sights:
        if sight.fit > 0.8 and sight.place in blocks_in_sight(name):
            x, y = LAYOUT.centre_mm(sight.place)
            window = PlaneWindow(x - 40.0, y + 40.0, 80.0, 80.0, HEIGHT_MM, 1.0)
            light = linear_light(sample(image, plane_map(camera, pose, window)))
            column, row = rough_centre(finder, light, window.to_pixels(x, y), 10.0)
            seen_mm = window.left_mm + column + 0.5, window.far_mm - row - 0.5
            assert math.dist((sight.x_mm, sight.y_mm), seen_mm) < 2.0


def test_the_rotation_bonus_favours_upright_faces_and_clear_edges() -> None:
    sights = [0, 0, 0, 1]
    turned = _Upright(
        np.array(sights), np.array([0.0, 30.0, -30.0, 0.0]), np.zeros((4, 2)), np.zeros((4, 1, 1, 3), np.float32)
    )
    clarity = np.ones((2, len(TURNS_DEG)))
    clarity[1] = np.e
    bonus = CloseFitter._rotation_bonuses(turned, clarity)
    assert bonus == pytest.approx([0.0, -0.018, -0.018, 0.06])


@pytest.mark.parametrize("turned_deg", [0.0, 33.0, -24.0])
def test_a_turned_face_is_sampled_upright(turned_deg: float) -> None:
    """In a picture whose levels encode each pixel's position."""
    columns, rows = np.meshgrid(np.arange(drawn.CAMERA.size[0]), np.arange(drawn.CAMERA.size[1]))
    image = np.dstack([columns // 4, rows // 4, np.zeros_like(rows)]).astype(np.uint8)
    pose, middle = drawn.seen_from(), (20.0, -35.0)
    grid = PlaneGrid.of(drawn.CAMERA, pose, drawn.BOARD.bounds_mm, 40.0)
    fitter = CloseFitter(drawn.LOOKS, drawn.SIDE_MM)
    seen = fitter._sample_upright(image, grid, [(0, turned_deg, middle)], fitter._coarse, 2)
    side = fitter._coarse.side_px + 4
    assert seen.light.shape == (1, side, side, 3)
    turn = np.deg2rad(turned_deg)
    for row, column in ((0, 0), (0, side - 1), (side - 1, 0), (side // 2, 2)):
        right, up = (column - (side - 1) / 2) / 0.75, ((side - 1) / 2 - row) / 0.75
        x, y = (
            middle[0] + right * np.cos(turn) - up * np.sin(turn),
            middle[1] + right * np.sin(turn) + up * np.cos(turn),
        )
        level = project(drawn.CAMERA, pose, [[x, y, 40.0]])[0] / 4 - 0.375
        least, most = (linear_light(np.round(level + by).astype(np.uint8)[None])[0] for by in (-1, 1))
        assert (least <= seen.light[0, row, column, :2]).all()
        assert (seen.light[0, row, column, :2] <= most).all()
