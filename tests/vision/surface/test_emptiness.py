from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.effort import some
from tests.vision import photoreal
from tests.vision.surface.drawn import BOARD, plan
from tests.vision.surface.test_occlusion import NAME, painted, solids
from vision.frame import BoolImage, FloatImage, Image
from vision.geometry import CameraModel, Pose, Rectangle, project
from vision.layout.pieces import GridSurface
from vision.sampling import PlaneWindow, linear_light
from vision.surface.occlusion import (
    EmptinessCurves,
    OcclusionDetector,
    PlaceExaminer,
    SurfaceEvidence,
    emptiness,
    place_measures,
    shipped,
)
from vision.surface.plan import BESIDE_MM, LineEvidence, SurfacePlan
from vision.surface.sheet_occlusion import FilledCells, SheetLines
from vision.surface.view import COARSER, SurfaceColours, SurfaceSampler

FINDER = OcclusionDetector(photoreal.camera(NAME), photoreal.pose(NAME), SurfacePlan.of(photoreal.LAYOUT.board))


def sight_of(image: Image) -> SurfaceEvidence:
    return FINDER.detect(FINDER.sampler.view(image, solids(NAME)))


def odds_of(image: Image) -> dict[str, float]:
    view = FINDER.sampler.view(image, solids(NAME))
    return emptiness(view, photoreal.LAYOUT.board, FINDER.detect(view))


def relit(image: Image, factor: np.ndarray) -> Image:
    light = np.clip(linear_light(image) * factor, 0.0, 1.0)
    return np.asarray(np.round(255 * np.power(light, 1 / 2.2)), dtype=np.uint8)


def share_of_lines_seen(sight: SurfaceEvidence) -> float:
    return 1.0 - float(sight.places["board not clear"][0])


def test_the_lines_of_a_clear_board_are_seen() -> None:
    assert share_of_lines_seen(sight_of(photoreal.picture(NAME))) > 0.98


@pytest.mark.parametrize("colour", [(0.35, 0.7, 1.1), (1.2, 0.9, 0.6), (0.4, 0.4, 0.4)])
def test_lines_stay_visible_under_another_lamp(colour: tuple[float, float, float]) -> None:
    sight = sight_of(relit(photoreal.picture(NAME), np.array(colour)))
    assert sight.occlusions == ()
    assert share_of_lines_seen(sight) > 0.98


@pytest.mark.parametrize("towards_deg", some([0, 200, 90, 290]))
def test_half_the_board_in_deep_shade_is_no_covering(towards_deg: int) -> None:
    image = photoreal.picture(NAME)
    middle = project(photoreal.camera(NAME), photoreal.pose(NAME), [[0.0, 0.0, 10.0]])[0]
    rows, columns = image.shape[:2]
    x, y = np.meshgrid(np.arange(columns) - middle[0], np.arange(rows) - middle[1])
    angle = np.deg2rad(towards_deg)
    share = np.clip((x * np.cos(angle) + y * np.sin(angle)) / 30 + 0.5, 0, 1)[..., None]
    shaded = relit(image, 1 - share + share * np.array([0.24, 0.2, 0.17]))
    assert sight_of(shaded).occlusions == ()


def test_lines_under_an_object_of_the_boards_colour_are_gone() -> None:
    view = FINDER.sampler.view(photoreal.picture(NAME), solids(NAME))
    blue, green, red = (int(value) for value in np.median(view.colours[~view.hidden_by_pieces & ~view.outside], axis=0))
    card = [(-60.0, -60.0), (20.0, -60.0), (20.0, 20.0), (-60.0, 20.0)]
    not_seen = sight_of(painted(card, (blue, green, red))).places["lines not seen"]
    by_place = dict(zip(photoreal.LAYOUT.board.places, not_seen, strict=True))
    assert by_place["d4"] >= 0.75
    assert by_place["a7"] == 0.0


def test_a_reflected_lamp_is_glare_and_places_near_it_are_unsure() -> None:
    image = photoreal.picture(NAME)
    column, row = project(photoreal.camera(NAME), photoreal.pose(NAME), [[0.0, 0.0, 10.0]])[0]
    rows, columns = image.shape[:2]
    x, y = np.meshgrid(np.arange(columns) - column, np.arange(rows) - row)
    spot = 3.0 * np.exp(-0.5 * (x**2 + y**2) / 50**2)[..., None]
    light = np.clip(linear_light(image) + spot, 0, 1)
    glaring = np.asarray(np.round(255 * np.power(light, 1 / 2.2)), dtype=np.uint8)
    assert {covering.kind for covering in sight_of(glaring).occlusions} == {"glare"}
    clear, veiled = odds_of(image), odds_of(glaring)
    assert veiled["d4"] < 4.6 < clear["d4"]


def test_no_place_is_certainly_empty_in_a_dark_blurred_picture() -> None:
    blurred = np.asarray(cv2.GaussianBlur(photoreal.picture(NAME), (0, 0), 4), dtype=np.uint8)
    dark = relit(blurred, np.array([0.02, 0.02, 0.02]))
    assert max(odds_of(dark).values()) < 4.6 < max(odds_of(photoreal.picture(NAME)).values())


def test_curves_start_at_zero_and_only_fall() -> None:
    for at, log_odds in shipped().curves.values():
        assert at[0] == log_odds[0] == 0
        assert (np.diff(at) > 0).all()
        assert (np.diff(log_odds) <= 0).all()


def test_a_place_without_doubt_has_the_highest_odds_of_being_empty() -> None:
    clear = {"board not clear": np.zeros(1)} | {name: np.zeros(1) for name in shipped().curves}
    assert shipped().log_odds(clear) == shipped().most


@pytest.mark.parametrize("name", sorted(shipped().curves))
def test_each_doubt_lowers_the_odds(name: str) -> None:
    model = replace(shipped(), most=100.0, most_unclear=100.0, least=-100.0)
    measures = {"board not clear": np.zeros(3)} | {other: np.zeros(3) for other in model.curves}
    at, _ = model.curves[name]
    measures[name] = np.array([0.0, at[-1], 10 * at[-1]])
    clear, doubted, beyond = model.log_odds(measures)
    assert clear > doubted == beyond


def test_odds_are_limited_by_the_curves() -> None:
    curves = {"dark": (np.array([0.0, 1.0]), np.array([0.0, -8.0]))}
    model = EmptinessCurves(constant=6.0, most=5.0, most_unclear=3.0, least=-1.5, curves=curves)
    measures = {
        "dark": np.array([0.0, 0.25, 0.5, 1.0, 0.0, 0.0, 0.0]),
        "board not clear": np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]),
        "lines not seen": np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.5]),
    }
    np.testing.assert_allclose(model.log_odds(measures), [5.0, 4.0, 2.0, -1.5, 3.0, 3.0, 5.0])


def test_a_clear_board_leaves_no_doubt_but_where_pieces_stand() -> None:
    view = FINDER.sampler.view(photoreal.picture(NAME), solids(NAME))
    measures = place_measures(view, photoreal.LAYOUT.board, FINDER.detect(view))
    blocks = photoreal.EXPECTED[NAME]["blocks"]
    free = np.array([place not in blocks for place in photoreal.LAYOUT.board.places])
    assert measures["board not clear"].max() < 0.1
    assert measures["off hue"][free].max() < 0.2
    assert np.median(measures["rougher"][free]) < 0.1


def test_an_unknown_piece_is_rough_and_off_hue() -> None:
    block = next(iter(photoreal.EXPECTED[NAME]["blocks"]))
    others = [
        solid
        for solid in solids(NAME)
        if np.hypot(*np.subtract((solid.x_mm, solid.y_mm), photoreal.LAYOUT.centre_mm(block))) > 1.0
    ]
    view = FINDER.sampler.view(photoreal.picture(NAME), others)
    sight = FINDER.detect(view)
    measures = place_measures(view, photoreal.LAYOUT.board, sight)
    number = photoreal.LAYOUT.board.places.index(block)
    assert measures["rougher"][number] > 1.0
    assert measures["off hue"][number] > 0.5
    assert emptiness(view, photoreal.LAYOUT.board, sight)[block] < 0


# Coloured regions of a sheet: filled cells, or objects in the colour of ink.

SHEET = GridSurface("sheet", 6, 5, 10.0)
WINDOW = PlaneWindow.over(Rectangle(-50.0, 50.0, -45.0, 45.0), 0.0, 4.0)
"""Two cells of paper on all sides of the grid; 40 pixels a cell."""
ARMS_MM = SheetLines(SHEET, WINDOW).arms_mm
CELLS = FilledCells(SHEET, WINDOW, ARMS_MM)
CORNERS = [(column, row) for row in range(1, 5) for column in range(1, 6)]
Area = tuple[float, float, float, float]
"""Left, right, near and far side in cells from the grid's near left corner."""

_rows, _columns = np.indices(WINDOW.shape)
ACROSS = (_columns + 0.5) / 40 - 2
UP = (WINDOW.shape[0] - _rows - 0.5) / 40 - 2


def area(left: float, right: float, near: float, far: float) -> BoolImage:
    return np.asarray((left < ACROSS) & (right > ACROSS) & (near < UP) & (far > UP))


def painted_filled_cells(areas: Iterable[Area]) -> BoolImage:
    return np.asarray(np.any([area(*one) for one in areas], axis=0))


def lines(hidden: Iterable[tuple[int, int]] = (), arm: int | None = None) -> npt.NDArray[np.bool_]:
    """The arms whose line is hidden: all arms of these corners, or one of each."""
    even = np.zeros((len(CORNERS), 4), dtype=np.bool_)
    for corner in hidden:
        even[CORNERS.index(corner), slice(None) if arm is None else arm] = True
    return even


def foreign(areas: Iterable[Area], even: npt.NDArray[np.bool_] | None = None) -> BoolImage:
    ink = painted_filled_cells(areas)
    return CELLS.mark_objects(ink, ink, lines() if even is None else even)


def marked(pixels: BoolImage) -> set[tuple[int, int]]:
    """The cells, by column and row, in which something is marked."""
    return {(int(column), int(row)) for column, row in zip(np.floor(ACROSS[pixels]), np.floor(UP[pixels]), strict=True)}


def inside(share: float) -> float:
    """Distance from a cell's side that covers this share of the cell inside its border."""
    return 0.25 + share / 2


def test_the_corners_are_in_this_order() -> None:
    middles = (ARMS_MM.mean(axis=1) + np.array([30.0, 25.0])) / 10.0
    assert [tuple(np.round(one).astype(int).tolist()) for one in middles] == CORNERS
    steps = np.sign(np.round(ARMS_MM[0] - ARMS_MM[0].mean(axis=0), 3)).tolist()
    assert steps == [[0, 1], [0, -1], [1, 0], [-1, 0]]


def test_the_areas_of_the_grid_and_beyond_spilt_ink() -> None:
    assert (CELLS.on_grid == area(0, 6, 0, 5)).all()
    assert (CELLS.beyond == ~area(-0.45, 6.45, -0.45, 5.45)).all()


@pytest.mark.parametrize("share", [0.2, 0.3, 0.4, 0.45])
def test_a_region_that_covers_a_cell_in_part_is_an_object_there(share: float) -> None:
    found = foreign([(1, 2 + inside(share), 1, 2)])
    assert (2, 1) in marked(found)
    assert (found == area(1, 2 + inside(share), 1, 2)).all(), "the object extends a cell and a half around it"


def disc(column: float, row: float, radius: float) -> BoolImage:
    return np.asarray(np.hypot(ACROSS - column, UP - row) < radius)


@pytest.mark.parametrize("middle", [(2.5, 2.5), (0.5, 2.5), (3.5, 4.5), (2.9, 3.2), (4.0, 3.0)])
@pytest.mark.parametrize(("radius", "is_coin"), [(0.5, False), (0.6, False), (0.65, True), (0.74, True), (1.2, True)])
def test_what_is_round_and_larger_than_a_cell_is_a_coin(
    middle: tuple[float, float], radius: float, is_coin: bool
) -> None:
    coin = disc(*middle, radius)
    assert (CELLS.mark_coins(coin, coin) == (coin if is_coin else False)).all()


def test_a_coin_that_lies_mostly_beside_the_grid_is_found_by_all_of_it() -> None:
    coin = disc(-0.4, 2.5, 0.7)
    assert (CELLS.mark_coins(coin & CELLS.on_grid, coin) == coin).all()
    assert not CELLS.mark_coins(coin & CELLS.on_grid, coin & CELLS.on_grid).any()
    assert not CELLS.mark_coins(area(4, 5, 4, 5), coin).any(), "it has none of this pen's colour"


@pytest.mark.parametrize("spilt", [-0.1, 0.0, 0.1, 0.2])
@pytest.mark.parametrize(
    "cells",
    [
        [(2, 2)],
        [(2, 2), (3, 2)],
        [(2, 2), (3, 2), (2, 3), (3, 3)],
        [(2, 2), (3, 2), (2, 3)],
        [(2, 1), (1, 2), (2, 2), (3, 2), (2, 3)],
        [(2, 2), (3, 2), (2, 3), (3, 3), (2, 4)],
    ],
)
def test_filled_cells_are_no_coin_however_carelessly_filled(cells: list[tuple[int, int]], spilt: float) -> None:
    ink = painted_filled_cells(
        [(column - spilt, column + 1 + spilt, row - spilt, row + 1 + spilt) for column, row in cells]
    )
    assert not CELLS.mark_coins(ink, ink).any()


def test_cells_filled_beyond_their_sides_are_ink_beside_filled_ones_and_in_the_grids_corner() -> None:
    assert not foreign([(1.85, 3.15, 1, 4), (1, 4, 1.85, 3.15)]).any()
    assert not foreign([(0, 1.2, 0, 1.2)]).any()
    assert not foreign([(1.8, 3.2, 1.8, 3.2)]).any(), "over the corners too"
    assert not foreign([(2.0, 3.2, 1.8, 3.2)]).any(), "not over the left side"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.55, 0.7, 1.0])
def test_a_cell_hardly_or_mostly_covered_is_ink_while_its_lines_show(share: float) -> None:
    assert not foreign([(1, 2 + inside(share), 1, 2)]).any()


@pytest.mark.parametrize(
    ("arm", "corner"), [(0, (2, 1)), (1, (2, 2))], ids=["the arm above a corner", "the arm below a corner"]
)
@pytest.mark.parametrize(("share", "is_object"), [(0.55, True), (0.75, True), (0.85, False), (0.1, False)])
def test_if_a_line_is_hidden_more_of_a_cell_must_be_covered(
    arm: int, corner: tuple[int, int], share: float, is_object: bool
) -> None:
    assert foreign([(1, 2 + inside(share), 1, 2)], lines([corner], arm)).any() == is_object
    assert foreign([(2 - inside(share), 3, 1, 2)], lines([corner], arm)).any() == is_object


@pytest.mark.parametrize(("arm", "corner"), [(2, (1, 2)), (3, (2, 2))])
@pytest.mark.parametrize(("share", "is_object"), [(0.7, True), (0.85, False)])
def test_horizontal_lines_count_like_vertical_ones(
    arm: int, corner: tuple[int, int], share: float, is_object: bool
) -> None:
    assert foreign([(1, 2, 1, 2 + inside(share))], lines([corner], arm)).any() == is_object
    assert foreign([(1, 2, 2 - inside(share), 3)], lines([corner], arm)).any() == is_object


def test_a_hidden_line_elsewhere_does_not_affect_a_cell() -> None:
    assert not foreign([(1, 2 + inside(0.7), 1, 2)], lines([(4, 3)])).any()
    assert not foreign([(1, 2 + inside(0.7), 1, 2)], lines([(2, 1)], 1)).any()


def test_a_cell_that_is_filled_in_part_and_touches_no_other_is_ink() -> None:
    assert not foreign([(1.1, 1 + inside(0.4), 1.1, 1.9)]).any()


def test_separate_regions_are_judged_independently() -> None:
    found = foreign([(1, 2 + inside(0.4), 1, 2), (4, 6, 3, 4)])
    assert marked(found) == {(1, 1), (2, 1)}


def test_an_object_extends_a_cell_and_a_half_around_the_partial_cell() -> None:
    """Three filled cells are to the left of a partly covered one."""
    found = foreign([(0, 3 + inside(0.4), 1, 2)])
    assert (found == area(1.5, 3 + inside(0.4), 1, 2)).all()


@pytest.mark.parametrize(("beside", "is_object"), [(0.4, False), (0.5, True), (0.62, True), (0.7, False)])
def test_a_region_reaching_far_beyond_the_grid_is_an_object_unless_it_is_wide(beside: float, is_object: bool) -> None:
    """Beside the grid there are no cells: the share is of the area inside a cell's border."""
    assert foreign([(-beside, 1, 1, 2)]).any() == is_object
    assert foreign([(5, 6 + beside, 1, 2)]).any() == is_object
    assert foreign([(1, 2, -beside, 1)]).any() == is_object
    assert foreign([(1, 2, 4, 5 + beside)]).any() == is_object


@pytest.mark.parametrize(
    ("reach", "hidden_arms", "is_object"), [(0.8, 4, True), (0.8, 3, False), (0.8, 0, False), (0.9, 4, False)]
)
def test_a_region_is_round_if_the_far_quarters_of_its_four_cells_are_bare(
    reach: float, hidden_arms: int, is_object: bool
) -> None:
    """The four cells are covered inside their borders, and 36 % or 64 % of their far quarters."""
    even = lines()
    even[CORNERS.index((2, 2)), :hidden_arms] = True
    found = foreign([(2 - reach, 2 + reach, 2 - reach, 2 + reach)], even)
    assert marked(found) == ({(1, 1), (2, 1), (1, 2), (2, 2)} if is_object else set())


@pytest.mark.parametrize("bare", list(combinations(((1, 1), (2, 1), (1, 2), (2, 2)), 2)))
def test_a_region_with_two_fully_covered_cells_is_not_round(bare: tuple[tuple[int, int], ...]) -> None:
    """36 % of the far quarters of the other two are covered."""
    filled = painted_filled_cells([(1, 3, 1, 3)])
    for column, row in bare:
        left, near = (at if at < 2 else at + 0.6 for at in (column, row))
        filled &= ~area(left, left + 0.4, near, near + 0.4)
    assert not CELLS.mark_objects(filled, filled, lines([(2, 2)])).any()


PENS_DEG = np.array([0.0, 120.0])
USUAL_WITHIN_DEG = 30.0


def mark_foreign_hues(areas: dict[Area, float]) -> set[tuple[int, int]]:
    """The cells whose hue is no pen's; ``areas`` gives hues in degrees."""
    ink, hue = painted_filled_cells(areas), np.zeros(WINDOW.shape, dtype=np.float32)
    for one, degrees in areas.items():
        hue[area(*one)] = degrees
    return marked(CELLS.mark_foreign_hues(hue, ink, PENS_DEG, USUAL_WITHIN_DEG))


@pytest.mark.parametrize(
    ("hue", "is_off"),
    [
        (0, False),
        (29, False),
        (31, True),
        (-29, False),
        (-31, True),
        (91, False),
        (149, False),
        (151, True),
        (350, False),
    ],
)
def test_a_hue_belongs_to_a_pen_within_the_usual_distance(hue: float, is_off: bool) -> None:
    assert mark_foreign_hues({(1, 2, 1, 2): hue}) == ({(1, 1)} if is_off else set())


@pytest.mark.parametrize(
    ("hue", "is_off"), [(20, False), (34, False), (36, True), (6, False), (4, True), (149, False), (151, True)]
)
def test_a_pen_of_which_three_cells_are_known_has_their_hue(hue: float, is_off: bool) -> None:
    cells: dict[Area, float] = {
        (column, column + 1, 0, 1): 20 + by for column, by in zip((0, 2, 4), (-6, 0, 9), strict=True)
    }
    assert mark_foreign_hues({**cells, (1, 2, 3, 3.6): hue}) == ({(1, 3)} if is_off else set())


def test_two_cells_or_cells_that_are_not_filled_tell_nothing_of_a_pen() -> None:
    two: dict[Area, float] = {(0, 1, 0, 1): 20, (2, 3, 0, 1): 20}
    assert mark_foreign_hues({**two, (1, 2, 3, 3.6): 0}) == set()
    part: dict[Area, float] = {(column, column + inside(0.75), 0, 1): 20 for column in (0, 2, 4)}
    assert mark_foreign_hues({**part, (1, 2, 3, 3.6): 0}) == set()
    known: dict[Area, float] = {(column, column + inside(0.85), 0, 1): 20 for column in (0, 2, 4)}
    assert mark_foreign_hues({**known, (1, 2, 3, 3.6): 0}) == {(1, 3)}


@pytest.mark.parametrize(("share", "is_known"), [(0.6, True), (0.4, False)])
def test_a_cell_of_two_hues_is_that_pens_which_most_of_it_has(share: float, is_known: bool) -> None:
    split: dict[Area, float] = {}
    for column in (0, 2, 4):
        split[column, column + inside(share), 0, 1] = 20
        split[column + inside(share), column + 1, 0, 1] = 120
    assert mark_foreign_hues({**split, (1, 2, 3, 3.6): 0}) == ({(1, 3)} if is_known else set())


# Evidence by lines and colours for each place, compared with a place-by-place reference.

ASIDE = Pose(np.array([[1.0, 0.0, 0.0], [0.0, -0.8, -0.6], [0.0, 0.6, -0.8]]), np.array([0.0, 0.0, 900.0]))
"""A camera in front of the board."""
ROWS, COLUMNS = (size // COARSER for size in plan().window.shape)
PARTS = len(plan().lines.parts.upright)


def spots(random: np.random.Generator, share: float) -> BoolImage:
    """A mask of squares of ten coarse pixels."""
    few = random.random((ROWS // 10 + 1, COLUMNS // 10 + 1)) < share
    return np.kron(few, np.ones((10, 10), dtype=np.bool_))[:ROWS, :COLUMNS] > 0


def colours_of(off_hue: FloatImage, brighter: FloatImage) -> SurfaceColours:
    nothing: Any = np.zeros((ROWS, COLUMNS), dtype=np.float32)
    return SurfaceColours(nothing, nothing > 0, nothing, off_hue, brighter, nothing > 0, 0.2, nothing > 0)


@pytest.fixture(scope="module")
def sampler() -> SurfaceSampler:
    camera = CameraModel(
        np.array([[900.0, 0.0, 640.0], [0.0, 900.0, 360.0], [0.0, 0.0, 1.0]]), np.zeros(5), (1280, 720)
    )
    return SurfaceSampler(camera, ASIDE, BOARD, BESIDE_MM)


def around(values: npt.NDArray[Any], place: str) -> npt.NDArray[Any]:
    """The central 26 mm of a place."""
    x, y = BOARD.centre_mm(place)
    column, row = (round((float(at) - 0.5) / 2) for at in plan().window.to_pixels(x, y))
    return values[row - 6 : row + 7, column - 6 : column + 7]


@pytest.mark.parametrize("seed", range(3))
def test_the_evidence_equals_a_place_by_place_reference(sampler: SurfaceSampler, seed: int) -> None:
    random = np.random.default_rng(seed)
    gone = random.choice([-2.0, -0.5, 0.5, 2.0], PARTS)
    lines = LineEvidence(gone, random.random(PARTS) < 0.8, gone != 0, random.uniform(0.0, 1.5, PARTS))
    lines.judged[plan().around[BOARD.places.index("d4")] > 0] = False
    brighter = random.normal(0.0, 0.3, (ROWS, COLUMNS)).astype(np.float32)
    off_hue = random.choice(np.array([0.1, 0.25], dtype=np.float32), (ROWS, COLUMNS))
    not_bare, strange, by_light, glare = (spots(random, share) for share in (0.3, 0.3, 0.2, 0.004))
    found = PlaceExaminer(sampler, plan()).measures(
        lines, colours_of(off_hue, brighter), not_bare, strange, by_light, glare
    )
    solid = BOARD.solid_at("a1")
    assert solid is not None
    covered = np.argwhere(glare) * COARSER
    for number, place in enumerate(BOARD.places):
        one = {name: values[number] for name, values in found.items()}
        own = [part for part in np.flatnonzero(plan().around[number]) if lines.judged[part]]
        not_seen = np.mean([gone[part] >= -1 for part in own]) if own else one["board not clear"]
        clearness = np.mean([lines.clearness[part] for part in own]) if own else 1.0
        assert one["lines not seen"] == pytest.approx(not_seen)
        assert one["lines faint"] == pytest.approx(max(0.0, -np.log(max(clearness, 0.05))))
        assert one["strange"] == pytest.approx(around(strange, place).mean(), abs=1e-4)
        assert one["brighter"] - one["darker"] == pytest.approx(around(brighter, place).mean(), abs=1e-4)
        assert min(one["brighter"], one["darker"]) == 0.0
        shift = np.array([*BOARD.centre_mm(place), 0.0]) - [*BOARD.centre_mm("a1"), 0.0]
        column, row = (np.round((at - 0.5) / 2).astype(int) for at in sampler.seen_at(solid.inner_points_mm(5) + shift))
        row, column = np.clip(row, 0, ROWS - 1), np.clip(column, 0, COLUMNS - 1)
        odd = [off_hue[at] > 0.2 and not not_bare[at] and not by_light[at] for at in zip(row, column, strict=True)]
        is_open = int((~not_bare[row, column]).sum())
        assert one["off hue"] == pytest.approx(sum(odd) / max(is_open, 75.0))
        middle = np.array(plan().window.to_pixels(*BOARD.centre_mm(place)))[::-1]
        nearest_mm = float(np.abs(covered - middle).max(axis=1).min()) if len(covered) else 999.0
        if nearest_mm < 25.0 or nearest_mm > 56.0:
            assert one["near glare"] == (nearest_mm < 25.0)
    own_lines = (plan().around > 0) & lines.judged
    assert not own_lines[BOARD.places.index("d4")].any()
    assert found["board not clear"] == pytest.approx(1.0 - (own_lines & (gone < -1)).sum() / own_lines.sum())
    assert set(found["near glare"]) == {0.0, 1.0}


def test_glare_is_near_within_four_centimetres_of_a_places_middle(sampler: SurfaceSampler) -> None:
    nothing = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    zeros = np.zeros((ROWS, COLUMNS), dtype=np.float32)
    lines = LineEvidence(*(np.zeros(PARTS), np.ones(PARTS, dtype=np.bool_), nothing, np.ones(PARTS)))
    x, y = BOARD.centre_mm("d4")
    for away_mm, is_near in ((0.0, True), (40.0, True), (50.0, True), (56.0, False), (70.0, False)):
        glare = nothing.copy()
        column, row = (round(float(at) / COARSER) for at in plan().window.to_pixels(x + away_mm, y))
        glare[row, column] = True
        found = PlaceExaminer(sampler, plan()).measures(
            lines, colours_of(zeros, zeros), nothing, nothing, nothing, glare
        )
        assert found["near glare"][BOARD.places.index("d4")] == is_near, away_mm
    dark = PlaceExaminer(sampler, plan()).measures(lines, colours_of(zeros, zeros), nothing, nothing, nothing, nothing)
    assert not dark["near glare"].any()
