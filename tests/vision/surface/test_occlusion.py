from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision import photoreal
from vision.frame import Image
from vision.geometry import CubeSolid, project
from vision.locating.lines_and_markers import refine_by_grid
from vision.locating.location import locate
from vision.surface.occlusion import OcclusionDetector
from vision.surface.plan import SurfacePlan
from vision.surface.view import SurfaceSampler

NAME = "019.jpg"


def solids(name: str) -> list[CubeSolid]:
    """The blocks on the board, slightly enlarged as they may be off centre."""
    return [CubeSolid(*photoreal.LAYOUT.centre_mm(place), 10.0, 35.0) for place in photoreal.EXPECTED[name]["blocks"]]


def coverings_in(image: Image, name: str = NAME) -> list[tuple[str, float]]:
    finder = OcclusionDetector(photoreal.camera(name), photoreal.pose(name), SurfacePlan.of(photoreal.LAYOUT.board))
    sight = finder.detect(finder.sampler.view(image, solids(name)))
    return [(one.kind, one.area_mm2) for one in sight.occlusions]


def painted(points_mm: list[tuple[float, float]], colour: tuple[int, int, int], name: str = NAME) -> Image:
    """The picture with a flat shape lying on the board."""
    image = photoreal.picture(name).copy()
    corners = project(photoreal.camera(name), photoreal.pose(name), [[x, y, 10.0] for x, y in points_mm])
    cv2.fillConvexPoly(image, np.round(corners).astype(np.int32), colour)
    return image


def disc(x: float, y: float, radius_mm: float) -> list[tuple[float, float]]:
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    return [(x + radius_mm * float(np.cos(a)), y + radius_mm * float(np.sin(a))) for a in angles]


def test_a_clear_board_is_clear() -> None:
    assert coverings_in(photoreal.picture(NAME)) == []


@pytest.mark.parametrize("colour", [(40, 40, 200), (180, 60, 20), (230, 230, 230), (20, 20, 20)])
def test_a_cup_in_the_middle_is_an_object(colour: tuple[int, int, int]) -> None:
    found = coverings_in(painted(disc(-20, 25, 28), colour))
    assert [kind for kind, _ in found] == ["object"]
    assert 0.5 < found[0][1] / (np.pi * 28**2) < 2.0


def test_an_arm_that_reaches_in_over_the_edge_is_a_hand() -> None:
    arm = [(10.0, -260.0), (70.0, -260.0), (75.0, 0.0), (25.0, 0.0)]
    assert [kind for kind, _ in coverings_in(painted(arm, (120, 150, 205)))] == ["hand"]


def test_a_card_that_ends_on_the_board_is_no_hand() -> None:
    card = [(20.0, -138.0), (105.0, -138.0), (105.0, -50.0), (20.0, -50.0)]
    assert [kind for kind, _ in coverings_in(painted(card, (60, 40, 190)))] == ["object"]


def test_a_fingertip_over_an_edge_square_is_a_hand() -> None:
    finger = [(-15.0, -260.0), (15.0, -260.0), (12.0, -112.0), (-12.0, -112.0)]
    assert [kind for kind, _ in coverings_in(painted(finger, (120, 150, 205)))] == ["hand"]


def test_an_object_of_the_boards_own_colour_is_found_by_the_lines_it_hides() -> None:
    board = photoreal.picture(NAME)
    sampler = SurfaceSampler(photoreal.camera(NAME), photoreal.pose(NAME), photoreal.LAYOUT.board)
    view = sampler.view(board, solids(NAME))
    pixels = np.round(view.pixel_map[~view.hidden_by_pieces]).astype(int)
    blue, green, red = (int(v) for v in np.median(board[pixels[:, 1], pixels[:, 0]], axis=0))
    arm = [(20.0, -260.0), (95.0, -260.0), (95.0, 20.0), (20.0, 20.0)]
    assert [kind for kind, _ in coverings_in(painted(arm, (blue, green, red)))] == ["hand"]


def test_a_shadow_is_no_covering() -> None:
    image = photoreal.picture(NAME).astype(np.float64)
    arm = project(
        photoreal.camera(NAME),
        photoreal.pose(NAME),
        [[x, y, 10.0] for x, y in ((-60.0, -200.0), (10.0, -200.0), (20.0, 60.0), (-50.0, 60.0))],
    )
    mask = np.zeros(image.shape[:2], dtype=np.uint8)
    cv2.fillConvexPoly(mask, np.round(arm).astype(np.int32), 255)
    share = cv2.GaussianBlur(mask, (0, 0), 6)[..., None] / 255
    shaded = (image * (1 - 0.45 * share)).clip(0, 255).astype(np.uint8)
    assert coverings_in(shaded) == []


def test_the_grid_corrects_a_rotated_pose() -> None:
    """A single marker leaves the far side of the board millimetres off; its lines correct that."""
    name = "034.jpg"
    image, camera, layout = photoreal.picture(name), photoreal.camera(name), photoreal.LAYOUT
    true = photoreal.pose(name)
    corners = [[x, y, 40.0] for x in (-140, 140) for y in (-140, 140)]
    located = locate(image, camera, layout)
    nudge = cv2.Rodrigues(np.array([0.0, 0.0, 0.012]))[0]
    swung = type(true)(true.rotation @ nudge, true.translation + np.array([0.4, -0.3, 1.0]))

    def off(pose: object) -> float:
        assert isinstance(pose, type(true))
        return float(np.abs(project(camera, pose, corners) - project(camera, true, corners)).max())

    better = refine_by_grid(image, camera, swung, layout, located.markers[:1])
    assert off(swung) > 2.0
    assert off(better) < 0.5 * off(swung)


def test_a_board_without_lines_leaves_the_pose_alone() -> None:
    name = "034.jpg"
    flat = np.full_like(photoreal.picture(name), 140)
    pose = photoreal.pose(name)
    assert refine_by_grid(flat, photoreal.camera(name), pose, photoreal.LAYOUT, []) is pose
