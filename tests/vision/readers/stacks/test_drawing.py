"""The drawing of stacks: their edges, coloured by certainty."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.readers.stacks.drawn import BOARD, CAMERA, seen_from
from vision.frame import Image
from vision.geometry import PyramidSolid, project
from vision.readers.protocols import SurfaceView
from vision.readers.stacks.reader import StackSighting, Top, draw_stacks

POSE = seen_from()
GREEN, RED = (80, 220, 80), (60, 60, 255)
BLACK: Image = np.zeros((CAMERA.size[1], CAMERA.size[0], 3), dtype=np.uint8)
VIEW = SurfaceView(BLACK, CAMERA, POSE, BOARD)
TOP = Top("M", 2, 41.0, -39.0, 62.0, np.array([50.0, 60.0, 150.0]))
SOLID = PyramidSolid(40.0, -40.0, BOARD.height_mm, 56.0, 25.4, 3.2, 5.0)
SURE = StackSighting(TOP, SOLID, {"red medium": 0.95, "red small": 0.05}, 4.0)


def drawn(one: StackSighting) -> Image:
    return draw_stacks(BLACK, VIEW, {"d2": one})


def inked(image: Image, colour: tuple[int, int, int]) -> npt.NDArray[np.bool_]:
    """Mask of a line of that colour with its anti-aliased edge."""
    strength, own = np.linalg.norm(image, axis=2), np.linalg.norm(colour)
    return np.asarray((image @ np.array(colour) > 0.97 * own * strength) & (strength > 0.4 * own))


def test_foot_and_edges_are_drawn_at_their_positions() -> None:
    ink = inked(drawn(SURE), GREEN)
    to_ink = cv2.distanceTransform((~ink).astype(np.uint8), cv2.DIST_L2, 5)
    lined = np.ones(ink.shape, dtype=np.uint8)
    below = SOLID.corners_mm()[:4]
    tip = np.array([TOP.x_mm, TOP.y_mm, TOP.tip_mm])
    edges = [(below[corner], below[(corner + 1) % 4]) for corner in range(4)] + [(corner, tip) for corner in below]
    for ends in edges:
        start, end = np.round(project(CAMERA, POSE, np.array(ends))).astype(int).tolist()
        cv2.line(lined, start, end, 0, 1)
    assert np.quantile(to_ink[lined == 0], 0.8) < 2
    assert to_ink[lined == 0].max() < 12
    rows, columns = np.nonzero(ink)
    middle = project(CAMERA, POSE, tip[None])[0]
    assert np.hypot(columns - middle[0], rows - middle[1]).max() < 120


def test_lines_are_one_pixel_thin() -> None:
    image = drawn(SURE)[..., 1] / GREEN[1]
    corners = np.round(project(CAMERA, POSE, SOLID.corners_mm()[:4]))
    tip = project(CAMERA, POSE, np.array([[TOP.x_mm, TOP.y_mm, TOP.tip_mm]]))[0]
    nearest = corners[:, 1].argmax()
    for start, end in ((corners[nearest - 1], corners[nearest]), (corners[nearest], tip)):
        # ink along the lines across the middle of this one
        along = (end - start) / np.hypot(*(end - start))
        rows, columns = np.indices(image.shape)
        off = np.stack([columns, rows], axis=-1) - (start + end) / 2
        near = (np.abs(off @ along) < 5) & (np.abs(off @ (-along[1], along[0])) < 4)
        assert image[near].sum() / 10 == pytest.approx(1.0, abs=0.4)


@pytest.mark.parametrize(
    ("one", "is_sure"),
    [
        (SURE, True),
        (replace(SURE, log_odds=-0.5), False),
        (replace(SURE, log_odds=0.0), False),
        (replace(SURE, looks={"red medium": 0.85, "red small": 0.15}), False),
    ],
)
def test_certain_stacks_are_green_and_doubtful_ones_red(one: StackSighting, is_sure: bool) -> None:
    image = drawn(one)
    assert inked(image, GREEN).any() == is_sure
    assert inked(image, RED).any() != is_sure


def test_doubtful_tops_are_labelled_with_their_probability_and_each_with_its_name() -> None:
    doubted = drawn(replace(SURE, looks={"red medium": 0.85, "red small": 0.15}))
    other = drawn(replace(SURE, looks={"red medium": 0.71, "red small": 0.29}))
    assert (doubted != other).any()
    assert (drawn(replace(SURE, top=replace(TOP, pieces=3))) != drawn(SURE)).any()
    assert (drawn(replace(SURE, looks={"red small": 0.95, "red medium": 0.05})) != drawn(SURE)).any()
    assert not BLACK.any()
