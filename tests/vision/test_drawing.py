"""Drawings on a picture are at the right place and in the right colour."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from simulator.scene.scene import lens, looking_at
from vision.drawing import draw, draw_occlusions, write_text
from vision.frame import FloatArray, Image
from vision.geometry import Rectangle, project
from vision.layout.pieces import GridSurface, Tray, top_mm
from vision.layout.table import TableLayout, default_layout
from vision.locating.location import TableLocation
from vision.locating.markers import Marker
from vision.reading import HindranceKind
from vision.surface.occlusion import Occlusion
from vision.surface.view import SurfaceSampler

CAMERA = lens((800, 600))
POSE = looking_at(620.0, 25.0, -75.0)
LAYOUT = default_layout("deblockle")
BOARD = LAYOUT.board
MARKER, BOX, GRID, DOUBT, COVERED = (80, 220, 80), (255, 160, 0), (200, 90, 0), (60, 60, 255), (200, 60, 200)


def black() -> Image:
    return np.zeros((600, 800, 3), dtype=np.uint8)


def located(*, uncertain: bool = False, markers: bool = True) -> TableLocation:
    seen = [Marker(one, project(CAMERA, POSE, LAYOUT.markers.corners_mm(one))) for one in (0, 2) if markers]
    errors = {0: 0.25, 2: 1.5}
    return TableLocation(POSE, tuple(seen), (0, 2), 0.3, errors if markers else {}, uncertain)


def is_inked(image: Image, colour: tuple[int, int, int]) -> bool:
    """Whether some pixel has a colour, apart from antialiasing."""
    return bool((np.abs(image.astype(int) - colour).max(axis=2) < 12).any())


def near_ink(image: Image, points_mm: FloatArray, colour: tuple[int, int, int]) -> np.ndarray:
    """Whether about that colour is drawn within a pixel of each point's projection."""
    found = []
    for x, y in np.round(project(CAMERA, POSE, points_mm)).astype(int):
        part = image[y - 1 : y + 2, x - 1 : x + 2].reshape(-1, 3).astype(float)
        strength = np.linalg.norm(part, axis=1)
        alike = part @ np.array(colour) > 0.95 * strength * np.linalg.norm(colour)
        found.append(bool((alike & (strength > 0.3 * np.linalg.norm(colour))).any()))
    return np.array(found)


def between(first: tuple[float, ...], second: tuple[float, ...]) -> FloatArray:
    shares = np.linspace(0.06, 0.94, 15)[:, None]
    return np.asarray(np.array(first) * (1 - shares) + np.array(second) * shares)


@pytest.mark.parametrize("surface", [BOARD, GridSurface("board", 5, 8, 24.0, height_mm=12.0)])
@pytest.mark.parametrize("uncertain", [False, True])
def test_all_lines_of_a_board_and_its_box_are_drawn(surface: GridSurface, uncertain: bool) -> None:
    layout = replace(LAYOUT, surfaces=(surface,))
    image = draw(black(), located(uncertain=uncertain, markers=False), layout, CAMERA)
    bounds, up = surface.bounds_mm, surface.height_mm
    lines = [
        between(
            (bounds.left_mm + column * surface.cell_mm, bounds.near_mm, up),
            (bounds.left_mm + column * surface.cell_mm, bounds.far_mm, up),
        )
        for column in range(surface.columns + 1)
    ]
    lines += [
        between(
            (bounds.left_mm, bounds.near_mm + row * surface.cell_mm, up),
            (bounds.right_mm, bounds.near_mm + row * surface.cell_mm, up),
        )
        for row in range(surface.rows + 1)
    ]
    for line in lines:
        assert near_ink(image, line, DOUBT if uncertain else GRID).mean() > 0.6
    top = top_mm(surface)
    corners = [tuple(corner) for corner in bounds.corners_mm(0.0)]
    for number, (x, y, _) in enumerate(corners):
        next_x, next_y, _ = corners[(number + 1) % 4]
        for height in (0.0, top):
            edge = between((x, y, height), (next_x, next_y, height))
            assert near_ink(image, edge, DOUBT if uncertain else BOX).mean() > 0.6
        assert near_ink(image, between((x, y, 0.0), (x, y, top)), DOUBT if uncertain else BOX).mean() > 0.5
    assert is_inked(image, DOUBT if uncertain else GRID)
    assert is_inked(image, BOX) != uncertain
    # nothing but names is drawn outside the box
    outside = Rectangle(bounds.left_mm - 20, bounds.right_mm + 20, bounds.near_mm - 20, bounds.far_mm + 20)
    assert not near_ink(image, outside.corners_mm(0.0), GRID).any()


def test_three_corners_of_a_board_are_named() -> None:
    plain = draw(black(), located(markers=False), LAYOUT, CAMERA)
    white = np.asarray((plain > 190).all(axis=2))
    for place in ("a1", "g1", "g7"):
        x, y = np.round(project(CAMERA, POSE, [[*BOARD.centre_mm(place), BOARD.height_mm]])[0]).astype(int)
        assert white[y - 14 : y + 4, x - 2 : x + 24].any()
    x, y = np.round(project(CAMERA, POSE, [[*BOARD.centre_mm("a7"), BOARD.height_mm]])[0]).astype(int)
    assert not white[y - 14 : y + 4, x - 2 : x + 24].any()


def test_markers_are_outlined_and_their_errors_written_beside_them() -> None:
    image = draw(black(), located(), LAYOUT, CAMERA)
    for marker in located().markers:
        for first, second in zip(marker.corners_px, np.roll(marker.corners_px, -1, axis=0), strict=True):
            for share in (0.1, 0.5, 0.9):
                x, y = np.round(first + share * (second - first)).astype(int)
                assert is_inked(image[y - 1 : y + 2, x - 1 : x + 2], MARKER)
        x, y = np.round(marker.corners_px.max(axis=0)).astype(int)
        assert (image[y - 14 : y + 2, x : x + 60] > 190).all(axis=2).any()
    other = replace(located(), marker_errors_px={0: 0.25, 2: 8.0})
    assert (draw(black(), other, LAYOUT, CAMERA) != image).any()


def test_a_tray_has_a_box_and_no_grid() -> None:
    tray = Tray("tray", Rectangle(-60.0, 80.0, -40.0, 50.0))
    image = draw(black(), located(markers=False), TableLayout("dice", LAYOUT.markers, (tray,)), CAMERA)
    assert near_ink(image, between((-60.0, -40.0, 0.0), (80.0, -40.0, 0.0)), BOX).all()
    assert not is_inked(image, GRID)


def test_a_table_far_outside_the_picture_and_a_grey_picture_can_be_drawn() -> None:
    away = replace(located(markers=False), pose=looking_at(300.0, 20.0, target_mm=(4000.0, 0.0, 0.0)))
    assert draw(black(), away, LAYOUT, CAMERA).shape == (600, 800, 3)
    grey = np.zeros((600, 800), dtype=np.uint8)
    assert draw(grey, located(), LAYOUT, CAMERA).shape == (600, 800, 3)
    assert not grey.any()


def test_an_occlusion_is_tinted_by_half_and_named() -> None:
    image = np.full((600, 800, 3), 100, dtype=np.uint8)
    view = SurfaceSampler(CAMERA, POSE, BOARD).view(image, ())
    rows, columns = view.pixel_map.shape[:2]
    mask = np.zeros((rows, columns), dtype=bool)
    mask[rows // 2 - 20 : rows // 2 + 20, columns // 2 - 20 : columns // 2 + 20] = True
    hand = Occlusion(HindranceKind.HAND, mask, 1600.0)
    for shown in (image, image[..., 0]):
        tinted = draw_occlusions(shown, view, [hand])
        x, y = np.round(view.pixel_map[rows // 2 + 10, columns // 2 - 10]).astype(int)
        assert tinted[y, x].tolist() == [150, 80, 150]
        changed = (tinted != 100).any(axis=2)
        outline = np.round(view.pixel_map[mask]).astype(np.int32)
        filled = np.zeros((600, 800), dtype=np.uint8)
        filled[outline[:, 1], outline[:, 0]] = 1
        covered = cv2.dilate(filled, np.ones((5, 5), np.uint8)) > 0
        words = np.zeros_like(covered)
        column, row = view.pixel_map[mask].mean(axis=0)
        words[int(row) - 22 : int(row) + 4, int(column) : int(column) + 130] = True
        assert changed[covered & (filled > 0)].mean() > 0.99
        assert not changed[~covered & ~words].any()
        assert is_inked(tinted[words][None], COVERED)
    assert (draw_occlusions(image, view, []) == image).all()


def test_text_stands_beside_its_point_with_a_dark_edge() -> None:
    image = np.full((60, 120, 3), 128, dtype=np.uint8)
    write_text(image, "d4", np.array([40.6, 30.2]), (80, 220, 80))
    rows, columns = np.nonzero((image != 128).any(axis=2))
    assert 40 <= columns.min() <= 44
    assert columns.max() < 64
    assert rows.min() >= 12
    assert 24 <= rows.max() <= 29
    assert image.max(axis=2).min() < 90
    assert is_inked(image, (80, 220, 80))
