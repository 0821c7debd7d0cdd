"""Outlines of drawn dice that lie flat or lean, in oblique rectified views."""

import math

import cv2
import numpy as np
import pytest

from tests.effort import some
from vision.readers.dice.finding import LeaningOdds, leaning_gain

PLACE = (40.0, 38.0, 26.0)
SLANT = (0.25, 0.3)
DARK, LIGHT = (60.0, 60.0, 60.0), (200.0, 210.0, 220.0)


def drawn(
    lean_deg: float,
    towards_deg: float = 40.0,
    turned_deg: float = 23.0,
    slant: tuple[float, float] = SLANT,
    place: tuple[float, float, float] = PLACE,
    body: tuple[float, float, float] = LIGHT,
    table: tuple[float, float, float] = DARK,
) -> np.ndarray:
    """A die in parallel perspective; the middle of its upper side is at ``place`` while it lies flat."""
    x, y, side = place
    towards = math.radians(towards_deg)
    lean, _ = cv2.Rodrigues(np.array([math.cos(towards), math.sin(towards), 0.0]) * math.radians(lean_deg))
    turn, _ = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(turned_deg)]))
    signs = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * side / 2
    corners = signs @ (lean @ turn).T
    corners[:, 2] -= side / 2
    seen = np.array([x, y]) + corners[:, :2] - corners[:, 2:] * slant
    image = np.full((150, 150, 3), table, dtype=np.uint8)
    hull = np.rint(cv2.convexHull(seen.astype(np.float32)) * 16).astype(np.int32)
    cv2.fillConvexPoly(image, hull, body, cv2.LINE_AA, 4)
    return image


def gain_of(image: np.ndarray, place: tuple[float, float, float] = PLACE, slant: tuple[float, float] = SLANT) -> float:
    gain = leaning_gain(image, place, slant)
    assert gain is not None
    return gain


@pytest.mark.parametrize("slant", [(0.0, 0.0), (0.25, 0.3), (-0.6, 0.1), (0.0, -0.7)])
@pytest.mark.parametrize("turned_deg", some([0.0, 31.0, 45.0, 70.0]))
def test_a_flat_die_fits_no_leaning_cube_better(slant: tuple[float, float], turned_deg: float) -> None:
    assert gain_of(drawn(0.0, turned_deg=turned_deg, slant=slant), slant=slant) < 0.15


@pytest.mark.parametrize("slant", [(0.0, 0.0), (0.25, 0.3)])
@pytest.mark.parametrize("towards_deg", [0.0, 40.0, 90.0, 180.0, 220.0, 270.0, 320.0])
def test_a_leaning_die_fits_a_leaning_cube_better(slant: tuple[float, float], towards_deg: float) -> None:
    assert gain_of(drawn(22.0, towards_deg, slant=slant), slant=slant) > 0.3


def test_the_more_a_die_leans_the_larger_the_gain() -> None:
    gains = [gain_of(drawn(lean_deg, 40.0)) for lean_deg in (0.0, 12.0, 18.0, 25.0)]
    assert gains == sorted(gains)
    assert gains[-1] > 0.7


@pytest.mark.parametrize("side", [14.0, 26.0, 52.0])
def test_neither_size_nor_place_matters(side: float) -> None:
    place = (71.0, 66.0, side)
    assert gain_of(drawn(0.0, place=place), place) < 0.15
    assert gain_of(drawn(22.0, place=place), place) > 0.5


@pytest.mark.parametrize("wrong", [(2.0, 0.0, 0.0), (0.0, -2.0, 0.0), (0.0, 0.0, 2.0), (0.0, 0.0, -2.0)])
def test_a_place_or_size_that_is_slightly_off_does_no_harm(wrong: tuple[float, float, float]) -> None:
    place = (PLACE[0] + wrong[0], PLACE[1] + wrong[1], PLACE[2] + wrong[2])
    assert gain_of(drawn(0.0), place) < 0.25
    assert gain_of(drawn(25.0), place) > 0.3


@pytest.mark.parametrize(
    ("body", "table"),
    [
        ((30.0, 30.0, 30.0), (190.0, 190.0, 190.0)),
        ((40.0, 40.0, 190.0), (120.0, 90.0, 80.0)),
        ((190.0, 90.0, 30.0), (60.0, 130.0, 150.0)),
    ],
)
def test_dice_of_any_colour_stand_out(body: tuple[float, float, float], table: tuple[float, float, float]) -> None:
    assert gain_of(drawn(0.0, body=body, table=table)) < 0.15
    assert gain_of(drawn(22.0, body=body, table=table)) > 0.3


@pytest.mark.parametrize(("level", "body"), [(75.0, (40.0, 50.0, 230.0)), (40.0, (90.0, 100.0, 190.0))])
def test_a_shadow_is_not_the_die(level: float, body: tuple[float, float, float]) -> None:
    shadow = drawn(0.0, place=(46.0, 42.0, 26.0), body=(level, level, level), table=(110.0, 110.0, 110.0))
    die = drawn(0.0, body=body, table=(0.0, 0.0, 0.0))
    image = np.where(die.any(axis=2, keepdims=True), die, shadow)
    assert gain_of(image) < 0.15


@pytest.mark.parametrize("noise", [0.0, 2.0, 40.0])
def test_a_patterned_table_hides_the_outline(noise: float) -> None:
    grain = np.random.default_rng(1).normal(0, noise, (150, 150, 3))
    image = np.clip(drawn(22.0, body=(130.0, 140.0, 150.0)) + grain, 0, 255).astype(np.uint8)
    assert (leaning_gain(image, PLACE, SLANT) is None) == (noise > 20)


def test_a_bare_table_has_no_outline() -> None:
    assert leaning_gain(np.full((90, 90, 3), 60, dtype=np.uint8), PLACE, SLANT) is None


@pytest.mark.parametrize("edge", ["left", "right", "top", "bottom"])
def test_an_object_that_extends_beyond_the_square_is_no_die(edge: str) -> None:
    # The view is oblique along the stripe, which elongates cubes in its direction too.
    is_level = edge in ("left", "right")
    slant = (0.5, 0.0) if is_level else (0.0, 0.5)
    image = drawn(0.0, slant=slant)
    x, y = (round(at + 0.5 * PLACE[2] * lower) for at, lower in zip(PLACE[:2], slant, strict=True))
    out = slice(0, (x if is_level else y)) if edge in ("left", "top") else slice((x if is_level else y), 150)
    image[(slice(y, y + 5), out) if is_level else (out, slice(x, x + 5))] = 220
    assert leaning_gain(image, PLACE, slant) is None


def test_two_dice_in_one_are_not_judged() -> None:
    image = np.maximum(drawn(0.0), drawn(0.0, place=(PLACE[0] + 20, PLACE[1] + 10, 26.0)))
    assert leaning_gain(image, PLACE, SLANT) is None


WAYS = np.array([(math.cos(number * math.pi / 18), math.sin(number * math.pi / 18)) for number in range(36)])


def cube_reaches(lean_deg: float, towards_deg: float, turned_deg: float, slant: tuple[float, float]) -> np.ndarray:
    """The extent of a rounded cube's outline in each direction: spheres in the corners of a smaller cube."""
    towards = math.radians(towards_deg)
    lean, _ = cv2.Rodrigues(np.array([math.cos(towards), math.sin(towards), 0.0]) * math.radians(lean_deg))
    turn, _ = cv2.Rodrigues(np.array([0.0, 0.0, math.radians(turned_deg)]))
    corners = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]) * 0.78 / 2 @ (lean @ turn).T
    lines = np.column_stack([WAYS, -WAYS @ np.array(slant)])
    return np.asarray((corners @ lines.T).max(axis=0) + 0.11 * np.linalg.norm(lines, axis=1))


def misfit(reach: np.ndarray, cube: np.ndarray) -> float:
    """Residual of an outline after fitting a cube's size and position by regularised least squares."""
    of_size_and_shift = np.vstack([np.column_stack([cube, WAYS]), np.diag([0.1 / 0.08, 0.1 / 0.1, 0.1 / 0.1])])
    wanted = np.concatenate([reach - cube, np.zeros(3)])
    changes, *_ = np.linalg.lstsq(of_size_and_shift, wanted, rcond=None)
    off = np.minimum(np.abs(wanted - of_size_and_shift @ changes)[:36], 0.15)
    held_back = (changes[0] / 0.08) ** 2 + (changes[1] ** 2 + changes[2] ** 2) / 0.1**2
    return math.sqrt((off**2).mean() + 2e-4 * held_back)


@pytest.mark.parametrize("slant", some([(0.25, 0.5), (0.0, 0.0), (-0.75, 0.25)], 1))
@pytest.mark.parametrize(("lean_deg", "towards_deg"), [(0.0, 0.0), (11.0, 130.0), (22.0, 310.0), (30.0, 200.0)])
def test_the_gain_equals_that_of_an_exhaustive_search_over_cubes(
    slant: tuple[float, float], lean_deg: float, towards_deg: float
) -> None:
    # A die of the comparison size, centred between four pixels, so nothing is resampled.
    x, y = 70.5 - 12 * slant[0], 70.5 - 12 * slant[1]
    image = drawn(lean_deg, towards_deg, slant=slant, place=(x + 2.0, y - 2.5, 25.0))
    square = cv2.GaussianBlur(image[39:103, 39:103], (0, 0), 0.7)
    light = cv2.cvtColor(square.astype(np.float32) / 255, cv2.COLOR_BGR2Lab)[..., 0]
    mask = (light - light[0, 0] > 0.35 * (light[32, 32] - light[0, 0])).astype(np.uint8)
    for how, side in ((cv2.MORPH_CLOSE, 3), (cv2.MORPH_OPEN, 4)):
        mask = np.asarray(cv2.morphologyEx(mask, how, np.ones((side, side), np.uint8)), dtype=np.uint8)
    rows, columns = np.nonzero(mask)
    reach = (np.column_stack([columns, rows]) - 31.5) @ WAYS.T / 24
    outline = reach.max(axis=0) + 0.5 / 24
    flat = min(misfit(outline, cube_reaches(0.0, 0.0, turn, slant)) for turn in range(0, 90, 3))
    leaning = min(
        misfit(outline, cube_reaches(lean, 22.5 * towards, 7.5 * turn, slant))
        for lean in (12.0, 18.0, 25.0, 33.0)
        for towards in range(16)
        for turn in range(12)
    )
    gain = leaning_gain(image, (x, y, 24.0), slant)
    if flat > 0.12:
        assert gain is None
    else:
        assert gain == pytest.approx(math.log(max(flat, 0.03) / max(leaning, 0.03)), abs=0.006)


def test_network_and_outline_both_count_and_less_in_oblique_views() -> None:
    odds = LeaningOdds()
    assert odds.of(1.0, 0.3, 0.5) > odds.of(0.0, 0.3, 0.5)
    assert odds.of(0.0, 0.6, 0.5) > odds.of(0.0, 0.3, 0.5)
    assert odds.of(0.0, 0.6, 0.2) > odds.of(0.0, 0.6, 0.5)
    assert odds.of(-6.0, 0.0, 0.5) < -3
    assert odds.of(3.0, 0.6, 0.5) > 5
