from dataclasses import dataclass

import cv2
import numpy as np
import pytest

from tests.vision import photoreal
from vision.frame import Image
from vision.geometry import CameraModel, CubeSolid, Pose, Rectangle, project
from vision.layout.pieces import GridSurface, Ink
from vision.layout.table import default_layout
from vision.locating.lines_and_markers import refine_by_grid
from vision.locating.location import locate
from vision.surface.occlusion import OcclusionDetector
from vision.surface.plan import SurfacePlan
from vision.surface.sheet_occlusion import SheetOcclusionDetector, SheetPlan
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


def test_what_hides_no_line_beside_a_lamps_reflection_is_no_thing() -> None:
    x, y = photoreal.LAYOUT.centre_mm("d4")
    alone = painted(disc(x, y, 12), (40, 40, 200))
    assert [kind for kind, _ in coverings_in(alone)] == ["object"]
    lamp = project(photoreal.camera(NAME), photoreal.pose(NAME), [[a, b, 10.0] for a, b in disc(x - 40, y, 26)])
    cv2.fillConvexPoly(alone, np.round(lamp).astype(np.int32), (255, 255, 255))
    assert {kind for kind, _ in coverings_in(alone)} == {"glare"}


def test_coloured_noise_in_the_dark_is_dark_and_no_thing() -> None:
    picture = photoreal.picture(NAME)
    noise = np.random.default_rng(3).normal(0.0, 9.0, picture.shape)
    blotchy = 6.0 * cv2.GaussianBlur(noise, (0, 0), 4.0)
    night = np.clip(0.15 * picture + blotchy, 0, 255).astype(np.uint8)
    assert {kind for kind, _ in coverings_in(night)} == {"dark"}


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


# Objects covering a sheet of paper, as opposed to ink, print and shadow.

ABOVE = Pose(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 420.0]))
"""A camera straight above the sheet's middle."""
SKIN, BLUE, WHITE, BLACK = (120, 150, 205), (190, 90, 40), (215, 215, 215), (12, 12, 12)
WRITTEN = default_layout("number-drop").board
FILLED = default_layout("blokus-dice").board


@dataclass(frozen=True)
class Coin:
    """A coin: its middle, radius and colour."""

    x_mm: float
    y_mm: float
    radius_mm: float
    colour: tuple[int, int, int]


def filled_cells(
    sheet: GridSurface, colour: tuple[int, int, int], *cells: tuple[int, int], spilt_mm: float = -0.5
) -> list[tuple[Rectangle, tuple[int, int, int]]]:
    """Cells by column and row, filled with a colour and ``spilt_mm`` beyond their lines."""
    size, left, near = sheet.cell_mm, sheet.bounds_mm.left_mm, sheet.bounds_mm.near_mm
    return [
        (
            Rectangle(
                left + column * size - spilt_mm,
                left + (column + 1) * size + spilt_mm,
                near + row * size - spilt_mm,
                near + (row + 1) * size + spilt_mm,
            ),
            colour,
        )
        for column, row in cells
    ]


def sheet_with(
    camera: CameraModel,
    sheet: GridSurface,
    parts: list[tuple[Rectangle, tuple[int, int, int]]],
    *,
    printed: bool = False,
    blur_px: int = 1,
    coin: Coin | None = None,
) -> list[tuple[str, float]]:
    """Coverings found on white paper with these parts coloured: kinds and areas in mm², largest first.

    A ``printed`` grid lies below the parts, a ``coin`` on them.
    """
    image: Image = np.full((camera.size[1], camera.size[0], 3), WHITE, dtype=np.uint8)
    if printed:
        image[:] = cv2.GaussianBlur(grid_of(camera, sheet), (blur_px, blur_px), 0)
    for part, colour in parts:
        corners = project(camera, ABOVE, part.corners_mm(sheet.height_mm))
        cv2.fillConvexPoly(image, np.round(corners).astype(np.int32), colour)
    if coin is not None:
        angles = np.linspace(0.0, 2 * np.pi, 60)
        ring = np.column_stack(
            [coin.x_mm + coin.radius_mm * np.cos(angles), coin.y_mm + coin.radius_mm * np.sin(angles)]
        )
        rim = project(camera, ABOVE, np.column_stack([ring, np.full(len(ring), sheet.height_mm)]))
        cv2.fillConvexPoly(image, np.round(rim).astype(np.int32), coin.colour)
    cover = SheetOcclusionDetector(camera, ABOVE, SheetPlan.of(sheet))
    return [(str(one.kind), one.area_mm2) for one in cover.detect(cover.sampler.view(image, [])).occlusions]


def grid_of(camera: CameraModel, sheet: GridSurface) -> Image:
    """The printed grid on white paper."""
    image: Image = np.full((camera.size[1], camera.size[0], 3), WHITE, dtype=np.uint8)
    bounds, cell = sheet.bounds_mm, sheet.cell_mm
    ends = [(x, bounds.near_mm, x, bounds.far_mm) for x in bounds.left_mm + cell * np.arange(sheet.columns + 1)]
    ends += [(bounds.left_mm, y, bounds.right_mm, y) for y in bounds.near_mm + cell * np.arange(sheet.rows + 1)]
    for x1, y1, x2, y2 in ends:
        line = project(camera, ABOVE, np.array([[x1, y1, sheet.height_mm], [x2, y2, sheet.height_mm]]))
        start, end = np.round(line).astype(int).tolist()
        cv2.line(image, start, end, (90, 90, 90), 1)
    return image


def hand(sheet: GridSurface, wide_mm: float = 30.0) -> Rectangle:
    """A rectangle from the right edge, halfway up, over the margin and two cells."""
    bounds = sheet.bounds_mm
    return Rectangle(bounds.right_mm - 2 * sheet.cell_mm, bounds.right_mm + 60.0, -wide_mm / 2, wide_mm / 2)


@pytest.mark.parametrize("sheet", [WRITTEN, FILLED])
def test_bare_paper_is_not_covered(camera: CameraModel, sheet: GridSurface) -> None:
    assert sheet_with(camera, sheet, []) == []


@pytest.mark.parametrize("sheet", [WRITTEN, FILLED])
def test_an_object_that_enters_over_the_margin_is_a_hand(camera: CameraModel, sheet: GridSurface) -> None:
    ((kind, area_mm2),) = sheet_with(camera, sheet, [(hand(sheet), SKIN)])
    assert kind == "hand"
    assert area_mm2 == pytest.approx(30.0 * (2 * sheet.cell_mm + Ink.on(sheet).margin_mm(sheet)), rel=0.15)


def test_a_covering_on_the_cells_of_a_written_sheet_is_an_object(camera: CameraModel) -> None:
    cell = WRITTEN.cell_mm
    lying = Rectangle(-1.5 * cell, 1.5 * cell, -cell, cell)
    ((kind, area_mm2),) = sheet_with(camera, WRITTEN, [(lying, BLUE)])
    assert kind == "object"
    assert area_mm2 == pytest.approx(6 * cell**2, rel=0.15)


def test_a_black_object_is_no_shadow(camera: CameraModel) -> None:
    cell = WRITTEN.cell_mm
    assert [kind for kind, _ in sheet_with(camera, WRITTEN, [(Rectangle(0.0, 3 * cell, 0.0, 3 * cell), BLACK)])] == [
        "object"
    ]


def test_a_blot_is_ink_until_it_is_larger_than_a_cell_and_a_half(camera: CameraModel) -> None:
    cell = WRITTEN.cell_mm
    assert sheet_with(camera, WRITTEN, [(Rectangle(0.0, cell, 0.0, cell), BLUE)]) == []
    assert sheet_with(camera, WRITTEN, [(Rectangle(0.0, 2 * cell, 0.0, cell), BLUE)])


def test_a_stroke_is_ink_however_long(camera: CameraModel) -> None:
    bounds = WRITTEN.bounds_mm
    assert sheet_with(camera, WRITTEN, [(Rectangle(-1.0, 1.0, bounds.near_mm, bounds.far_mm), BLUE)]) == []


@pytest.mark.parametrize("sheet", [WRITTEN, FILLED])
def test_a_grey_shadow_covers_nothing(camera: CameraModel, sheet: GridSurface) -> None:
    assert sheet_with(camera, sheet, [(hand(sheet, 60.0), (140, 140, 140))]) == []


def test_squares_filled_with_a_pen_are_ink_and_another_colour_is_an_object(camera: CameraModel) -> None:
    cell = FILLED.cell_mm
    patch = Rectangle(-2 * cell, 2 * cell, -2 * cell, 2 * cell)
    red, purple = (70, 60, 225), (205, 90, 165)
    assert sheet_with(camera, FILLED, [(patch, red)]) == []
    assert [kind for kind, _ in sheet_with(camera, FILLED, [(patch, purple)])] == ["object"]


def test_a_marker_in_a_corner_of_the_margin_is_no_hand(camera: CameraModel) -> None:
    bounds = WRITTEN.bounds_mm
    corner = Rectangle(bounds.right_mm + 3.0, bounds.right_mm + 16.0, bounds.far_mm + 3.0, bounds.far_mm + 16.0)
    beside = Rectangle(bounds.right_mm + 3.0, bounds.right_mm + 16.0, -6.5, 6.5)
    assert sheet_with(camera, WRITTEN, [(corner, BLACK)]) == []
    assert [kind for kind, _ in sheet_with(camera, WRITTEN, [(beside, BLACK)])] == ["object"]


@pytest.mark.parametrize(("deep_mm", "kind"), [(13.0, "object"), (20.0, "object"), (60.0, "hand")])
def test_a_die_on_the_margin_is_an_object_and_an_arm_is_a_hand(camera: CameraModel, deep_mm: float, kind: str) -> None:
    edge = WRITTEN.bounds_mm.right_mm + 2.0
    lying = Rectangle(edge, edge + 16.0, -deep_mm / 2, deep_mm / 2)
    assert [found for found, _ in sheet_with(camera, WRITTEN, [(lying, SKIN)])] == [kind]


def test_a_finger_on_an_outer_cell_is_a_hand(camera: CameraModel) -> None:
    edge = WRITTEN.bounds_mm.right_mm
    finger = Rectangle(edge - 8.0, edge + 18.0, -7.0, 7.0)
    assert [kind for kind, _ in sheet_with(camera, WRITTEN, [(finger, SKIN)])] == ["hand"]


def test_the_largest_covering_comes_first(camera: CameraModel) -> None:
    cell = WRITTEN.cell_mm
    bounds = WRITTEN.bounds_mm
    small = Rectangle(bounds.left_mm + cell, bounds.left_mm + 3 * cell, bounds.far_mm - 3 * cell, bounds.far_mm - cell)
    found = sheet_with(camera, WRITTEN, [(hand(WRITTEN, 50.0), SKIN), (small, BLUE)])
    assert [kind for kind, _ in found] == ["hand", "object"]
    assert found[0][1] > found[1][1]


@pytest.mark.parametrize("sheet", [WRITTEN, FILLED])
def test_an_object_as_pale_as_paper_is_found_by_the_lines_it_hides(camera: CameraModel, sheet: GridSurface) -> None:
    cell = sheet.cell_mm
    shift = cell / 2 * (sheet.columns % 2)
    pale = Rectangle(shift - 1.2 * cell, shift + 1.2 * cell, -1.2 * cell, 1.2 * cell), (220, 210, 222)
    assert sheet_with(camera, sheet, [], printed=True) == []
    assert sheet_with(camera, sheet, [pale]) == []
    ((kind, area_mm2),) = sheet_with(camera, sheet, [pale], printed=True)
    assert kind == "object"
    assert cell**2 < area_mm2 < 13 * cell**2


def test_writing_over_lines_covers_nothing(camera: CameraModel) -> None:
    cell = WRITTEN.cell_mm
    left, near = WRITTEN.bounds_mm.left_mm, WRITTEN.bounds_mm.near_mm
    thick_mm = 0.15 * cell
    loop = [
        (Rectangle(left + cell, left + 3 * cell, near + row * cell, near + row * cell + thick_mm), BLUE)
        for row in (1, 2, 3)
    ]
    loop += [
        (Rectangle(left + column * cell, left + column * cell + thick_mm, near + cell, near + 3 * cell), BLUE)
        for column in (1, 2, 3)
    ]
    assert sheet_with(camera, WRITTEN, loop, printed=True) == []


def test_no_pale_object_is_found_in_a_picture_too_blurred_for_lines(camera: CameraModel) -> None:
    cell = WRITTEN.cell_mm
    pale = Rectangle(-1.2 * cell, 1.2 * cell, -1.2 * cell, 1.2 * cell), WHITE
    assert sheet_with(camera, WRITTEN, [pale], printed=True, blur_px=61) == []


def test_wood_is_no_ink_though_its_hue_is_between_red_and_yellow(camera: CameraModel) -> None:
    cell = FILLED.cell_mm
    patch = Rectangle(-cell, cell, -cell, cell)
    wood, yellow_in_shadow = (26, 46, 78), (20, 90, 105)
    assert [kind for kind, _ in sheet_with(camera, FILLED, [(patch, wood)])] == ["object"]
    assert sheet_with(camera, FILLED, [(patch, yellow_in_shadow)]) == []


def test_the_lit_side_of_a_wooden_object_belongs_to_it(camera: CameraModel) -> None:
    cell = FILLED.cell_mm
    top = Rectangle(-cell, cell, -cell, cell), (26, 46, 78)
    side = Rectangle(-cell, cell, cell, 3 * cell), (52, 80, 127)
    assert sheet_with(camera, FILLED, [side]) == []
    ((kind, area_mm2),) = sheet_with(camera, FILLED, [top, side])
    assert kind == "object"
    assert area_mm2 == pytest.approx(8 * cell**2, rel=0.15)


RED, YELLOW, GREEN = (70, 62, 200), (60, 190, 235), (75, 145, 50)
COPPER, TINGE = (71, 104, 172), (163, 141, 138)
WRITTEN_IN = filled_cells(FILLED, RED, (1, 1), (2, 1), (2, 2), (3, 2)) + filled_cells(
    FILLED, YELLOW, (7, 8), (7, 7), (8, 7), (8, 6)
)


@pytest.mark.parametrize("radius_cells", [0.7, 0.85, 1.0])
@pytest.mark.parametrize("off_cells", [0.0, 0.2, 0.35])
def test_a_coin_across_lines_is_an_object_even_if_it_is_red(
    camera: CameraModel, radius_cells: float, off_cells: float
) -> None:
    cell = FILLED.cell_mm
    coin = Coin(off_cells * cell, off_cells * cell / 2, radius_cells * cell, RED)
    assert [kind for kind, _ in sheet_with(camera, FILLED, WRITTEN_IN, printed=True, coin=coin)] == ["object"]


def test_a_coin_within_a_cell_is_an_object_if_its_hue_is_between_those_of_the_pens(camera: CameraModel) -> None:
    cell = FILLED.cell_mm
    coin = Coin(cell / 2, cell / 2, 0.6 * cell, COPPER)
    assert [kind for kind, _ in sheet_with(camera, FILLED, WRITTEN_IN, printed=True, coin=coin)] == ["object"]


@pytest.mark.parametrize("off_cells", [0.0, 0.3])
def test_a_coin_over_cells_filled_with_another_pen_is_an_object(camera: CameraModel, off_cells: float) -> None:
    cell = FILLED.cell_mm
    block = filled_cells(FILLED, RED, *((column, row) for column in range(3, 7) for row in range(3, 7)), spilt_mm=0.5)
    coin = Coin(off_cells * cell, 0.0, 0.9 * cell, YELLOW)
    assert sheet_with(camera, FILLED, block, printed=True) == []
    assert [kind for kind, _ in sheet_with(camera, FILLED, block, printed=True, coin=coin)] == ["object"]


@pytest.mark.parametrize(("middle_cells", "radius_cells"), [(0.5, 0.74), (0.6, 0.66), (0.6, 0.8)])
def test_a_coin_between_cells_filled_with_other_pens_is_an_object(
    camera: CameraModel, middle_cells: float, radius_cells: float
) -> None:
    cell = FILLED.cell_mm
    parts = filled_cells(FILLED, RED, (4, 5), (3, 5)) + filled_cells(FILLED, GREEN, (5, 4), (5, 3))
    coin = Coin(middle_cells * cell, middle_cells * cell, radius_cells * cell, YELLOW)
    assert sheet_with(camera, FILLED, parts, printed=True) == []
    assert [kind for kind, _ in sheet_with(camera, FILLED, parts, printed=True, coin=coin)] == ["object"]


def test_a_grey_card_that_is_as_colourful_as_ink_where_lines_meet_is_an_object(camera: CameraModel) -> None:
    side = 0.9 * FILLED.cell_mm
    card = [(Rectangle(-side, side, -side, side), (165, 165, 165)), (Rectangle(-4.0, 4.0, -4.0, 4.0), TINGE)]
    assert [kind for kind, _ in sheet_with(camera, FILLED, card, printed=True)] == ["object"]


@pytest.mark.parametrize("spilt_mm", [-2.0, -0.5, 1.0, 2.5])
def test_cells_filled_carelessly_are_ink(camera: CameraModel, spilt_mm: float) -> None:
    block = filled_cells(FILLED, RED, (1, 1), (2, 1), (1, 2), (2, 2), (3, 2), (3, 5), spilt_mm=spilt_mm)
    line = filled_cells(FILLED, YELLOW, (5, 7), (6, 7), (7, 7), (7, 6), spilt_mm=spilt_mm)
    beside = filled_cells(FILLED, BLUE, (4, 2), (4, 3), (3, 3), spilt_mm=spilt_mm)
    assert sheet_with(camera, FILLED, block + line + beside, printed=True) == []


def test_a_blue_sleeve_that_reaches_in_is_a_hand_over_the_cells_too(camera: CameraModel) -> None:
    ((kind, area_mm2),) = sheet_with(camera, FILLED, [(hand(FILLED), BLUE)], printed=True)
    assert kind == "hand"
    assert area_mm2 == pytest.approx(30.0 * (2 * FILLED.cell_mm + Ink.on(FILLED).margin_mm(FILLED)), rel=0.2)


def test_ink_spilt_over_the_edge_of_the_grid_is_no_hand(camera: CameraModel) -> None:
    bounds, last = FILLED.bounds_mm, FILLED.columns - 1
    navy = (130, 60, 45)
    cells = filled_cells(FILLED, navy, *((last, row) for row in range(2, 8)))
    spilt = Rectangle(bounds.right_mm - 1.0, bounds.right_mm + 4.0, bounds.near_mm + 30.0, bounds.far_mm - 30.0)
    assert sheet_with(camera, FILLED, [*cells, (spilt, navy)], printed=True) == []
