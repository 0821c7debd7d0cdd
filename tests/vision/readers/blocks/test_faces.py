"""Fitting one face in drawn pictures with known symbol, position, rotation and colours."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.effort import some
from tests.vision.readers.blocks.drawn import FACES, INK, LOOKS, SIDE_MM, SYMBOLS, Face, Light, plane_picture
from vision.frame import FloatImage
from vision.readers.blocks.appearance import BlockAppearance, drawn_mask, log_ratio
from vision.readers.blocks.faces import (
    TURNS_DEG,
    ColourMetric,
    FaceFinder,
    FaceFit,
    contrast_views,
    edge_clarity,
    face_and_ink,
    fit_face,
    rough_centre,
    view_weights,
)
from vision.sampling import PlaneWindow

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
