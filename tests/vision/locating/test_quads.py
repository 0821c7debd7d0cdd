"""Measuring the corners of a dark quad by its edges: blurred, beside other edges, and partly covered."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.effort import some
from vision.frame import FloatArray, Image
from vision.locating.markers import quad_area, refine_quad, refine_quads

SIZE_PX = 100
OVERSAMPLING = 6
TILTED = np.array([[26.3, 21.8], [71.4, 30.1], [66.2, 74.9], [20.7, 68.4]])


def square(side_px: float, turned_deg: float = 8.0) -> FloatArray:
    """The corners of a square in the middle of the picture, clockwise from the upper left."""
    turn = np.radians(turned_deg)
    corners = side_px / 2 * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return np.asarray(corners @ rotation + (SIZE_PX - 1) / 2 + np.array([0.3, -0.2]))


def picture_of(*areas: tuple[FloatArray, float], paper: float = 220.0, blur_px: float = 0.8) -> Image:
    """Blurred convex areas in grey levels, each drawn over those before it."""
    steps = (np.arange(SIZE_PX * OVERSAMPLING) + 0.5) / OVERSAMPLING - 0.5
    across, down = np.meshgrid(steps, steps)
    fine = np.full(across.shape, (paper / 255) ** 2.2)
    for corners, grey in areas:
        ahead = np.roll(corners, -1, axis=0) - corners
        left = np.array(
            [x * (down - corner[1]) - y * (across - corner[0]) for (x, y), corner in zip(ahead, corners, strict=True)]
        )
        fine[(left > 0).all(axis=0) | (left < 0).all(axis=0)] = (grey / 255) ** 2.2
    light = cv2.resize(fine, (SIZE_PX, SIZE_PX), interpolation=cv2.INTER_AREA)
    return np.round(255 * cv2.GaussianBlur(light, (0, 0), blur_px) ** (1 / 2.2)).astype(np.uint8)


def off_px(found: FloatArray | None, true: FloatArray) -> float:
    """The largest error of a corner; infinite if none was measured."""
    return np.inf if found is None else float(np.linalg.norm(found - true, axis=1).max())


@pytest.mark.parametrize(("quad", "within_px"), [(TILTED, 0.2), (TILTED[::-1], 0.2), (square(30.0), 0.4)])
@pytest.mark.parametrize("start_px", [(0.0, 0.0), (1.0, -0.8), (-0.9, 0.9)])
def test_corners_are_measured_from_a_rough_start(
    quad: FloatArray, within_px: float, start_px: tuple[float, float]
) -> None:
    assert off_px(refine_quad(picture_of((quad, 20.0)), quad + start_px), quad) < within_px


@pytest.mark.parametrize("blur_px", [0.5, 1.5, 2.5])
def test_blur_does_not_move_the_corners_of_a_black_quad_on_white(blur_px: float) -> None:
    grey = picture_of((TILTED, 0.0), paper=255.0, blur_px=blur_px)
    assert off_px(refine_quad(grey, TILTED + 0.5), TILTED) < 0.5


@pytest.mark.parametrize(("side_px", "start_px"), [(64.0, 4.4), (40.0, 3.5), (12.0, 1.2)])
def test_larger_quads_are_found_from_a_rougher_start(side_px: float, start_px: float) -> None:
    quad = square(side_px, 0.0)
    assert off_px(refine_quad(picture_of((quad, 20.0)), quad + start_px), quad) < 0.75


def test_a_frame_around_and_a_light_field_inside_do_not_shift_the_sides() -> None:
    quad = square(36.0)
    middle = quad.mean(axis=0)
    beside = [((middle + share * (quad - middle)), grey) for share, grey in ((1.4, 30.0), (1.27, 220.0))]
    inside = (middle + 0.68 * (quad - middle), 255.0)
    start = quad + np.array([0.7, -0.6])
    alone = refine_quad(picture_of((quad, 40.0)), start)
    assert alone is not None
    assert off_px(alone, quad) < 0.3
    assert off_px(refine_quad(picture_of(*beside, (quad, 40.0), inside), start), alone) < 0.1


@pytest.mark.parametrize("side", some(range(4)))
@pytest.mark.parametrize(("share", "grey"), [(0.1, 20.0), (0.2, 20.0), (0.2, 220.0), (0.4, 220.0)])
def test_a_partly_covered_side_is_measured_on_its_visible_part(side: int, share: float, grey: float) -> None:
    first, second = TILTED[side], TILTED[(side + 1) % 4]
    along, out = (second - first) * share, np.array([(second - first)[1], -(second - first)[0]]) / 45.0
    start = first + 0.3 * (second - first)
    card = np.array([start + 2 * out, start + along + 2 * out, start + along - 8 * out, start - 8 * out])
    assert off_px(refine_quad(picture_of((TILTED, 20.0), (card, grey)), TILTED), TILTED) < 0.2


def test_a_side_whose_edge_can_hardly_be_seen_is_not_measured() -> None:
    assert off_px(refine_quad(picture_of((TILTED, 100.0), paper=104.0, blur_px=0.3), TILTED), TILTED) < 0.5
    assert refine_quad(picture_of((TILTED, 100.0), paper=101.0, blur_px=0.3), TILTED) is None
    pale = refine_quad(picture_of((TILTED, 240.0), paper=200.0), TILTED)
    assert pale is None, "it must be darker than what surrounds it"
    half_seen = picture_of((TILTED, 20.0), (np.array([[0.0, 0.0], [99.0, 0.0], [99.0, 45.0], [0.0, 45.0]]), 20.0))
    assert refine_quad(half_seen, TILTED) is None


def test_quads_with_a_side_under_seven_pixels_are_not_measured() -> None:
    wide = np.array([[30.0, 40.0], [70.0, 40.0], [70.0, 47.4], [30.0, 47.4]])
    narrow = wide - [[0.0, 0.0], [0.0, 0.0], [0.0, 0.8], [0.0, 0.8]]
    assert off_px(refine_quad(picture_of((wide, 20.0), blur_px=0.4), wide), wide) < 0.2
    assert refine_quad(picture_of((narrow, 20.0), blur_px=0.4), narrow) is None


def test_results_keep_the_order_of_the_quads() -> None:
    left, right = square(20.0) - (25.0, 0.0), square(24.0, 3.0) + np.array([22.0, 5.0])
    grey = picture_of((left, 20.0), (right, 60.0))
    nothing = square(12.0) + np.array([0.0, 38.0])
    found = refine_quads(grey, [nothing, right + 0.4, left * 0.01, left - 0.4])
    assert found[0] is None
    assert found[2] is None
    assert off_px(found[1], right) < 0.6
    assert off_px(found[3], left) < 0.4
    assert refine_quads(grey, []) == []


@pytest.mark.parametrize("turned", [1, -1])
def test_the_area_is_that_of_any_simple_quad_in_either_order(turned: int) -> None:
    assert quad_area(np.array([[0.0, 0.0], [4.0, 1.0], [5.0, 6.0], [-1.0, 3.0]])[::turned]) == pytest.approx(20.0)


def test_any_number_of_quads_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    image = np.full((80, 80), 230, dtype=np.uint8)
    image[20:60, 20:60] = 20
    rough = np.array([[19.0, 20.0], [60.0, 19.0], [60.0, 60.0], [20.0, 61.0]])
    (one,) = refine_quads(image, [rough])
    assert one is not None
    monkeypatch.setattr("vision.sampling._MOST_ROWS", 7)
    many = refine_quads(image, [rough] * 9)
    assert all(quad is not None and np.array_equal(quad, one) for quad in many)
