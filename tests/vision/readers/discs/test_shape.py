"""The areas that a disc and a ball cover in the plane of the tops agree with their projections."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.readers.discs import pictures
from vision.geometry import outline_px, project
from vision.layout.pieces import DiscPieces
from vision.readers.discs.finder import DiscShape, beyond_mm

BOARD = pictures.LAYOUT.board
PIECES = DiscPieces.on(BOARD)


@pytest.mark.parametrize("name", pictures.PLAYED)
@pytest.mark.parametrize("place", ["a1", "d4", "g7"])
def test_points_that_a_disc_covers_lie_within_its_projected_outline(name: str, place: str) -> None:
    camera, pose = pictures.camera(name), pictures.pose(name)
    shape = DiscShape.of(PIECES, pose, BOARD.height_mm)
    centre = np.array(BOARD.centre_mm(place))
    solid = PIECES.solid_with(centre[0], centre[1], BOARD.height_mm, ball=False)
    outline = outline_px(solid, camera, pose)
    grid = centre + np.stack(np.meshgrid(np.arange(-24.0, 25.0, 2.0), np.arange(-24.0, 25.0, 2.0)), axis=-1).reshape(
        -1, 2
    )
    pixels = project(camera, pose, np.column_stack([grid, np.full(len(grid), shape.top_mm)]))
    away = np.array([cv2.pointPolygonTest(outline, tuple(map(float, pixel)), True) for pixel in pixels])
    inside = beyond_mm(grid, shape.disc_circles(centre)) < 0
    assert (away[inside] > -1.0).all()
    assert (away[~inside] < 1.0).all()


@pytest.mark.parametrize("name", pictures.PLAYED)
def test_the_outline_of_a_ball_is_that_of_the_projected_sphere(name: str) -> None:
    camera, pose = pictures.camera(name), pictures.pose(name)
    shape = DiscShape.of(PIECES, pose, BOARD.height_mm)
    centre = np.array(BOARD.centre_mm("c5"))
    turns = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ways = np.column_stack([np.cos(turns), np.sin(turns)])
    outline = shape.ball_outline(centre, ways)
    seen = project(camera, pose, np.column_stack([outline, np.full(len(outline), shape.top_mm)]))
    half = PIECES.ball_mm / 2
    rng = np.random.default_rng(1)
    points = rng.normal(size=(4000, 3))
    points = points / np.linalg.norm(points, axis=1, keepdims=True) * half + (*centre, shape.top_mm + half)
    hull = np.asarray(cv2.convexHull(project(camera, pose, points).astype(np.float32)))
    away = [abs(cv2.pointPolygonTest(hull, tuple(map(float, pixel)), True)) for pixel in seen]
    assert max(away) < 1.2
    middle = outline.mean(axis=0)
    assert (beyond_mm(middle + 0.85 * (outline - middle), shape.ball_circles(centre)) < 0).all()


@pytest.mark.parametrize("place", ["a1", "d4", "g7"])
def test_the_extent_of_a_disc_is_that_of_its_top_and_bottom_circles(place: str) -> None:
    name = pictures.PLAYED[0]
    shape = DiscShape.of(PIECES, pictures.pose(name), BOARD.height_mm)
    centre = np.array(BOARD.centre_mm(place))
    turns = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ways = np.column_stack([np.cos(turns), np.sin(turns)])
    middles, radii = shape.disc_circles(centre)
    assert shape.reach(centre, ways) == pytest.approx(((middles - centre) @ ways.T + radii[:, None]).max(axis=0))
    assert shape.reach(centre, ways).min() == pytest.approx(PIECES.diameter_mm / 2)
    assert shape.reach(centre, ways).max() > PIECES.diameter_mm / 2 + 0.5
