"""Fitting one face in drawn pictures with known symbol, position, rotation and colours."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import cases, some
from tests.present import present
from tests.vision import photoreal
from tests.vision.readers.blocks import drawn
from tests.vision.readers.blocks.drawn import FACES, INK, LOOKS, SIDE_MM, SYMBOLS, Face, Light, plane_picture
from vision.frame import FloatImage
from vision.geometry import Rectangle, project
from vision.layout.pieces import BlockPieces
from vision.readers.blocks.appearance import (
    BlockAppearance,
    TemplateBank,
    correlations,
    drawn_mask,
    log_ratio,
    peak_between,
    unit_rows,
    windows_of,
)
from vision.readers.blocks.faces import (
    FINE_PX_PER_MM,
    TURNS_DEG,
    CloseFitter,
    ColourMetric,
    FaceFinder,
    FaceFit,
    RoughFace,
    RoughFinder,
    _Upright,
    contrast_views,
    edge_clarity,
    face_and_ink,
    fit_face,
    rough_centre,
    view_weights,
)
from vision.sampling import PlaneGrid, PlaneWindow, linear_light, plane_map, sample

WINDOW = PlaneWindow(-60.0, 60.0, 120.0, 120.0, 40.0, 1.5)
FINDER = FaceFinder(LOOKS, SIDE_MM, WINDOW.px_per_mm)
ANY_COLOUR = FaceFinder(BlockAppearance({}, LOOKS.masks), SIDE_MM, WINDOW.px_per_mm)


def fitted(face: Face, around_mm: tuple[float, float] = (0.0, 0.0), finder: FaceFinder = FINDER) -> FaceFit:
    return fit_face(finder, plane_picture([face], WINDOW), WINDOW, around_mm)


@pytest.mark.parametrize("symbol", SYMBOLS)
@pytest.mark.parametrize(("turned_deg", "quarter"), some([(9.0, 1), (0.0, 0), (-15.0, 2), (24.0, 3)]))
def test_a_face_is_fitted_where_it_lies(symbol: str, turned_deg: float, quarter: int) -> None:
    found = fitted(Face(symbol, 1.6, -1.2, turned_deg, quarter))
    assert found.symbol == symbol
    assert (found.x_mm, found.y_mm) == pytest.approx((1.6, -1.2), abs=0.6)
    assert abs(found.turned_deg - turned_deg) <= (9.0 if symbol == "stop" else 3.0)
    assert found.correlation > 0.9
    # a slider looks alike after a half turn, a cross and a stop after a quarter
    period = {"slider": 2, "stop": 1, "x": 1, "cross": 1}.get(symbol, 4)
    assert found.quarter == quarter % period
    assert found.face == pytest.approx(FACES["red"], abs=0.05)
    assert found.ink == pytest.approx(INK, abs=0.12)
    assert found.edges > 2
    assert found.ratio == pytest.approx(log_ratio(found.face, found.ink))
    assert max(found.scores, key=lambda name: found.scores[name]) == symbol
    assert set(found.scores) == set(SYMBOLS)


@pytest.mark.parametrize("off_mm", [(2.6, 0.0), (-2.6, 0.0), (0.0, 2.6), (0.0, -2.6)])
def test_a_face_is_searched_within_three_millimetres(off_mm: tuple[float, float]) -> None:
    found = fitted(Face("star", *off_mm))
    assert (found.x_mm, found.y_mm) == pytest.approx(off_mm, abs=0.6)
    far = fitted(Face("star", 3 * off_mm[0], 3 * off_mm[1]))
    assert np.hypot(far.x_mm - 3 * off_mm[0], far.y_mm - 3 * off_mm[1]) > 2


def test_ink_is_searched_in_the_views_of_the_known_colours() -> None:
    dark = Face("hoops", face=(0.7, 0.75, 0.8), ink=(0.04, 0.04, 0.05))
    assert fitted(dark).correlation < 0.5
    assert fitted(dark, finder=ANY_COLOUR).correlation > 0.9
    red, green = (
        FaceFinder(BlockAppearance({name: LOOKS.colours[name]}, LOOKS.masks), SIDE_MM, WINDOW.px_per_mm)
        for name in ("red", "green")
    )
    red_on_green = Face("hoops", face=(0.1, 0.4, 0.12), ink=(0.08, 0.08, 0.45))
    assert fitted(red_on_green, finder=green).correlation > fitted(red_on_green, finder=red).correlation + 0.05


@pytest.mark.parametrize("middle_mm", [(42.0, -41.0), (-42.0, -41.0), (42.0, 41.0)])
def test_a_face_near_the_pictures_border_is_fitted(middle_mm: tuple[float, float]) -> None:
    found = fitted(Face("star", *middle_mm), (middle_mm[0] - 1.0, middle_mm[1] + 1.0))
    assert found.symbol == "star"
    assert (found.x_mm, found.y_mm) == pytest.approx(middle_mm, abs=0.7)


def test_a_symbol_without_a_square_around_it_has_faint_edges() -> None:
    ground: Light = FACES["red"]
    bare = plane_picture([Face("stop", face=ground)], WINDOW, ground)
    found = fit_face(FINDER, bare, WINDOW, (0.0, 0.0))
    assert found.edges < 2 < fitted(Face("stop")).edges


def test_face_and_ink_are_the_ends_of_a_line_through_every_pixel() -> None:
    mask = drawn_mask("star", 40)
    random = np.random.default_rng(2)
    patch = (np.array([0.1, 0.3, 0.5]) + mask[..., None] * np.array([0.6, 0.0, -0.4])).astype(np.float32)
    noisy: FloatImage = (patch + random.normal(0, 0.01, patch.shape)).astype(np.float32)
    face, ink = face_and_ink(noisy, mask)
    assert face == pytest.approx([0.1, 0.3, 0.5], abs=0.005)
    assert ink == pytest.approx([0.7, 0.3, 0.1], abs=0.01)
    dark, _ = face_and_ink((patch - np.float32(0.2)).astype(np.float32), mask)
    assert dark[0] == 0.0
    even_face, even_ink = face_and_ink(patch, np.full_like(mask, 0.5))
    assert even_face == pytest.approx(even_ink)


def test_views_show_ink_bright_on_every_known_colour() -> None:
    weights = view_weights(LOOKS)
    assert weights.shape == (2, 3)
    assert np.abs(weights).sum(axis=1) == pytest.approx([1.0, 1.0])
    for weight, face in zip(weights, FACES.values(), strict=True):
        expected = 1 - np.exp(log_ratio(np.array(face), np.array(INK)))
        assert weight == pytest.approx(expected / np.abs(expected).sum(), abs=1e-5)
        assert weight @ np.array(INK) > weight @ np.array(face)
    unknown = view_weights(BlockAppearance({}, {}))
    thirds = [1 / 3] * 3
    bright = [[1, 0, 0], [0, 1, 0], [0, 0, 1], thirds]
    assert unknown == pytest.approx(np.array([*bright, *-np.array(bright)]))
    picture = np.random.default_rng(3).random((5, 6, 3)).astype(np.float32)
    assert np.stack(contrast_views(picture, LOOKS)) == pytest.approx(np.moveaxis(picture @ weights.T, -1, 0), abs=1e-6)


@pytest.mark.parametrize("turned_deg", [-30.0, -12.0, 0.0, 21.0, 42.0])
def test_a_squares_edges_are_clearest_at_its_own_turn(turned_deg: float) -> None:
    picture = plane_picture([Face("stop", 3.0, 2.0, turned_deg)], WINDOW, noise=0.0)
    grey = picture.mean(axis=2)
    down, across = (np.abs(one).astype(np.float32) for one in np.gradient(grey))
    x, y = WINDOW.to_pixels(3.0, 2.0)
    clarity = edge_clarity(across, down, np.array([(x, y)]), SIDE_MM * 1.5)[0]
    assert TURNS_DEG[int(clarity.argmax())] == turned_deg
    assert clarity.max() > 2.5 * np.median(clarity)


def test_the_faintest_of_four_edges_does_not_count() -> None:
    """The gradient of each edge is known, over its whole length."""
    across, down = np.zeros((2, 60, 60), dtype=np.float32)
    down[20, :], down[40, :], across[:, 20], across[:, 40] = 0.1, 0.2, 0.4, 0.6
    middle = np.array([(30.0, 30.0)])
    upright = TURNS_DEG.index(0.0)
    assert edge_clarity(across, down, middle, 20.0)[0, upright] == pytest.approx((0.2 + 0.4 + 0.6) / 3, abs=1e-3)
    across[:30, 40] = 0.0
    down[38:43, 36:] = 0.0
    assert edge_clarity(across, down, middle, 20.0)[0, upright] == pytest.approx((0.1 + 0.2 + 0.4) / 3, abs=0.21)
    assert edge_clarity(across, down, middle, 14.0)[0, upright] == pytest.approx(0.0)


def test_the_best_rough_fit_is_chosen_within_reach_of_the_place() -> None:
    window = PlaneWindow(-60.0, 60.0, 120.0, 120.0, 40.0, 1.0)
    finder = FaceFinder(LOOKS, SIDE_MM, 1.0)
    faces = [Face("star", -30.0, 25.0), Face("cross", 28.0, -26.0, face=FACES["green"])]
    picture = plane_picture(faces, window)
    for face in faces:
        column, row = window.to_pixels(face.x_mm, face.y_mm)
        for across, down in ((2.0, -2.0), (5.4, 0.0), (-5.4, 0.0), (0.0, 5.4), (0.0, -5.4)):
            found = rough_centre(finder, picture, (column + across, row + down), 6.0)
            assert found == pytest.approx((column, row), abs=0.8)
        far = rough_centre(finder, picture, (column + 10.0, row), 6.0)
        assert 4.0 <= far[0] - column <= 16.5
        assert abs(far[1] - row) <= 6.5
    corner = rough_centre(finder, picture, (14.0, 14.0), 6.0)
    assert min(corner) >= 12.0


def test_a_known_colour_has_no_distance_in_any_light_and_a_small_one_with_gloss() -> None:
    metric = ColourMetric(LOOKS.colours, 0.2)
    red, ink = np.array(FACES["red"]), np.array(INK)
    for lamp in (0.2, 1.0):
        own = metric.distances(lamp * red, lamp * ink)
        assert own["red"] == pytest.approx(0.0, abs=0.02)
        assert own["green"] > 4
    for gloss in (-0.03, -0.015, 0.015, 0.03, 0.05, 0.08, 0.12, 0.17, 0.23, 0.3):
        glossy = metric.distances(red + gloss * 0.75, ink + gloss * 0.75)
        assert 0.6 <= glossy["red"] * 0.12 / abs(gloss) <= 1.01
    for contrast in (1.2, 1.5, 2.0):
        stretched = metric.distances(red, red * (ink / red) ** contrast)
        assert stretched["red"] < math.log(contrast) / 0.3 + 0.3
        assert stretched["green"] > 4
    off = metric.distances(red * np.exp(0.2), ink)
    assert 0.3 < off["red"] < 1.3
    wide = ColourMetric(LOOKS.colours, 0.4).distances(red, np.array([0.75, 0.3, 0.75]))
    narrow = metric.distances(red, np.array([0.75, 0.3, 0.75]))
    assert wide["red"] < 0.75 * narrow["red"]
    pale = ColourMetric({"pale": log_ratio(np.array([0.7, 0.75, 0.8]), np.array([0.05, 0.05, 0.05]))}, 0.2)
    assert pale.distances(np.array([0.35, 0.375, 0.4]), np.array([0.025] * 3))["pale"] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_a_symbol_is_read_where_an_overexposed_block_shows_no_edge(symbol: str) -> None:
    face = Face(symbol, face=(1.0, 1.0, 1.0), ink=(0.05, 0.05, 0.05))
    picture = np.clip(plane_picture([face], WINDOW, (1.0, 1.0, 1.0), noise=0.0), 0, 1)
    found = fit_face(ANY_COLOUR, picture, WINDOW, (0.0, 0.0))
    assert (found.symbol, found.edges) == (symbol, pytest.approx(1.0))


# The vectorised face search agrees with sliding turned masks over the picture.

LAYOUT = photoreal.LAYOUT
SIDE_MM_FACE_SEARCH = BlockPieces.on(LAYOUT.board).side_mm
HEIGHT_MM = LAYOUT.board.height_mm + SIDE_MM_FACE_SEARCH


@pytest.fixture(scope="module", params=photoreal.BOARDS)
def found(request: pytest.FixtureRequest) -> tuple[str, PlaneGrid, list[RoughFace]]:
    name = str(request.param)
    grid = PlaneGrid.of(
        photoreal.camera(name), photoreal.pose(name), Rectangle(-190.0, 190.0, -190.0, 190.0), HEIGHT_MM
    )
    image = photoreal.frame(name).image
    return (
        name,
        grid,
        RoughFinder(photoreal.looks(), SIDE_MM_FACE_SEARCH).find(image, grid, LAYOUT.board, LAYOUT.places, 0.5),
    )


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
    finder = RoughFinder(photoreal.looks(), SIDE_MM_FACE_SEARCH)
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
    fits = CloseFitter(photoreal.looks(), SIDE_MM_FACE_SEARCH).fit(image, grid, clear, colours)
    window = PlaneWindow(-180.0, 180.0, 360.0, 360.0, HEIGHT_MM, FINE_PX_PER_MM)
    light = linear_light(sample(image, plane_map(camera, pose, window)))
    looks = photoreal.looks()
    plain = {
        name: FaceFinder(BlockAppearance({name: colour}, looks.masks), SIDE_MM_FACE_SEARCH, FINE_PX_PER_MM)
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
    finder = FaceFinder(photoreal.looks(), SIDE_MM_FACE_SEARCH, 1.0)
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


# Correlating many masks with many patches at once gives each one's correlation coefficient.

BANK = TemplateBank.of(
    {symbol: drawn_mask(symbol, 60) for symbol in ("star", "cross", "hoops")}, 30.0, 0.75, (0.6, 1.2)
)


@given(st.integers(0, 2**32 - 1), st.floats(0.001, 1.0), st.floats(0.0, 1.0))
@settings(deadline=None, max_examples=cases(40))
def test_every_correlation_is_the_correlation_coefficient(seed: int, contrast: float, level: float) -> None:
    rng = np.random.default_rng(seed)
    side = BANK.side_px + 4
    patches = (level + contrast * rng.random((3, side, side))).astype(np.float32)
    found = correlations(windows_of(patches, BANK.side_px), BANK.rows)
    assert found.shape == (3, 5, 5, len(BANK.rows))
    for _ in range(30):
        patch, down, across, index = (int(rng.integers(size)) for size in found.shape)
        window = patches[patch, down : down + BANK.side_px, across : across + BANK.side_px].astype(np.float64)
        expected = np.corrcoef(window.ravel(), BANK.masks[index].ravel())[0, 1]
        assert found[patch, down, across, index] == pytest.approx(expected, abs=2e-3)


def test_a_patch_without_contrast_correlates_with_nothing() -> None:
    flat = np.full((1, BANK.side_px, BANK.side_px), 0.4, dtype=np.float32)
    assert (correlations(windows_of(flat, BANK.side_px), BANK.rows) == -1).all()


def test_the_bank_holds_each_symbol_in_each_turn_that_looks_different() -> None:
    turns = {
        symbol: {q for s, q in zip(BANK.symbols, BANK.quarters, strict=True) if s == symbol} for symbol in BANK.symbols
    }
    assert turns == {"star": {0, 1, 2, 3}, "cross": {0}, "hoops": {0, 1, 2, 3}}
    assert set(BANK.columns_of("star", 0.6)) | set(BANK.columns_of("star", 1.2)) == set(range(8))
    assert unit_rows(BANK.rows) == pytest.approx(BANK.rows, abs=1e-5)


@given(st.floats(-0.49, 0.49), st.floats(-0.49, 0.49))
def test_a_peak_between_places_is_found(down: float, across: float) -> None:
    rows, columns = np.meshgrid(np.arange(5.0), np.arange(5.0), indexing="ij")
    scores = (1 - 0.1 * (rows - 2 - down) ** 2 - 0.1 * (columns - 2 - across) ** 2).astype(np.float32)
    assert peak_between(scores, 2, 2) == pytest.approx((down, across), abs=1e-3)


@pytest.mark.parametrize(("row", "column"), [(1, 1), (1, 4), (3, 1), (3, 4), (0, 2), (4, 2), (2, 0), (2, 5), (0, 5)])
def test_a_peak_is_found_up_to_the_place_beside_the_border(row: int, column: int) -> None:
    rows, columns = np.meshgrid(np.arange(5.0), np.arange(6.0), indexing="ij")
    scores = (1 - 0.1 * (rows - row - 0.3) ** 2 - 0.1 * (columns - column + 0.2) ** 2).astype(np.float32)
    down, across = 0.3 if 0 < row < 4 else 0.0, -0.2 if 0 < column < 5 else 0.0
    assert peak_between(scores, row, column) == pytest.approx((down, across), abs=1e-3)
