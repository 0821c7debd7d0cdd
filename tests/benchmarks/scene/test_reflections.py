"""Mirror images in plane faces, and shadows on them."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.scene.reflections import Facets, Surroundings, fresnel
from simulator.scene.scene import lens, looking_at
from vision.frame import FloatArray

CAMERA = lens((400, 400), distortion=np.zeros(5))
POSE = looking_at(600.0, 0.0)
SIDE_PX, STEP_MM = 200, 2.0
ORIGIN, SHAPE = np.zeros(2), (400, 400)
UPRIGHT = np.array([1.0, 0.0, 0.0])
"""The normal of a wall that faces +x."""


@pytest.fixture
def surroundings() -> Surroundings:
    """Ground with a brightness equal to its x in mm, under a grey sky."""
    column = (np.arange(SIDE_PX) - SIDE_PX / 2 + 0.5) * STEP_MM
    texture = np.broadcast_to(column[None, :, None], (SIDE_PX, SIDE_PX, 3)).astype(np.float32)
    half = SIDE_PX / 2 * STEP_MM - STEP_MM / 2
    ground = np.array([[STEP_MM, 0, -half], [0, -STEP_MM, half], [0, 0, 0], [0, 0, 1]])
    projection = CAMERA.matrix @ np.column_stack([POSE.rotation, POSE.translation])
    return Surroundings(projection, POSE.camera_position_mm, np.ascontiguousarray(texture), ground, np.full(3, 77.0))


def pixel(point_mm: FloatArray) -> tuple[int, int]:
    found = CAMERA.matrix @ (POSE.rotation @ point_mm + POSE.translation)
    column, row = np.rint(found[:2] / found[2]).astype(int).tolist()
    return row, column


def wall(x_mm: float, value: float) -> Facets:
    """A square of 20 mm that faces -x."""
    face = np.array([[x_mm, 10, 0], [x_mm, -10, 0], [x_mm, -10, 20], [x_mm, 10, 20]], dtype=float)
    return Facets(face[None], np.array([[-1.0, 0, 0]]), np.full((1, 3), value))


def test_reflectance_grows_from_a_little_head_on_to_everything_at_grazing_incidence() -> None:
    assert fresnel(1.0, 0.04) == pytest.approx(0.04)
    assert fresnel(0.0, 0.04) == pytest.approx(1.0)
    assert fresnel(0.2, 0.04) == pytest.approx(0.354, abs=1e-3)


def test_a_wall_mirrors_the_ground_where_the_reflected_ray_hits_it(surroundings: Surroundings) -> None:
    point = np.array([-60.0, 0.0, 30.0])
    picture = surroundings.mirrored(point, UPRIGHT, Facets.joined([]), ORIGIN, SHAPE)
    # the ray from 600 mm above the centre goes 2 mm aside for each 19 mm down, and turns back at the wall
    assert picture[pixel(point)][0] == pytest.approx(-60 + 30 * 60 / 570, abs=1.0)


def test_a_wall_mirrors_an_object_in_front_of_it_and_none_behind_it(surroundings: Surroundings) -> None:
    point = np.array([-60.0, 0.0, 30.0])
    in_front = surroundings.mirrored(point, UPRIGHT, wall(-58.0, 500.0), ORIGIN, SHAPE)
    behind = surroundings.mirrored(point, UPRIGHT, wall(-62.0, 500.0), ORIGIN, SHAPE)
    assert in_front[pixel(point)][0] == pytest.approx(500.0)
    assert behind[pixel(point)][0] < 0


def test_a_level_mirror_shows_the_sky(surroundings: Surroundings) -> None:
    flat = surroundings.mirrored(
        np.array([0.0, 0.0, 30.0]), np.array([0.0, 0.0, 1.0]), Facets.joined([]), ORIGIN, SHAPE
    )
    assert (flat == 77.0).all()


def test_a_body_in_front_of_a_face_casts_its_shadow_on_it(surroundings: Surroundings) -> None:
    point = np.array([-60.0, 0.0, 20.0])
    to_light = np.array([1.0, 0.0, 0.0])
    corners = wall(-40.0, 0.0).corners_mm.reshape(-1, 3)
    mask = surroundings.shadow(point, UPRIGHT, to_light, [corners], ORIGIN, SHAPE)
    assert mask[pixel(np.array([-60.0, 0.0, 10.0]))] == 255
    assert not surroundings.shadow(point, UPRIGHT, to_light, [corners - [40.0, 0, 0]], ORIGIN, SHAPE).any()
    assert mask[pixel(np.array([-60.0, 30.0, 10.0]))] == 0
