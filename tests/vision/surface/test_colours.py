"""Colours that count as bare board, as odd or as strange on a drawn board."""

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest

from tests.vision.surface.drawn import WINDOW, WOOD, Rect, lit, part, softened, view_of
from vision.frame import BoolImage, Image
from vision.sampling import linear_light
from vision.surface.view import COARSER, SurfaceColours, coarse_px, sharp_share

PATCH: Rect = (-60.0, 10.0, -30.0, 50.0)
ROWS, COLUMNS = WINDOW.shape
BARE: BoolImage = np.zeros(WINDOW.shape, dtype=np.bool_)


def wood(factor: npt.ArrayLike = 1.0) -> Image:
    """Even wood without lines, in a lamp's light by pixel."""
    return softened(lit(np.full((ROWS, COLUMNS, 3), WOOD, dtype=np.uint8), factor))


def with_patch(rect: Rect, factor: object, image: Image | None = None) -> Image:
    """The wood with the light of a rectangle multiplied."""
    image = wood() if image is None else image
    share = np.zeros((ROWS, COLUMNS, 1))
    share[part(rect)] = 1.0
    return lit(image, 1 + share * (np.asarray(factor) - 1))


def test_a_coarse_pixel_is_the_one_whose_centre_is_nearest() -> None:
    centres = cv2.resize(np.arange(20.0)[None], (20 // COARSER, 1), interpolation=cv2.INTER_AREA)[0]
    fine = np.random.default_rng(3).uniform(0.0, 19.0, (40, 5))
    assert np.array_equal(coarse_px(fine), np.abs(fine[..., None] - centres).argmin(axis=-1))
    assert np.array_equal(coarse_px(centres), np.arange(20 // COARSER))


def coarse(rect: Rect, grown_mm: float = 0.0) -> BoolImage:
    left, right, near, far = rect
    mask = np.zeros((ROWS, COLUMNS), dtype=np.bool_)
    mask[part((left - grown_mm, right + grown_mm, near - grown_mm, far + grown_mm))] = True
    return mask[::COARSER, ::COARSER]


def colours_of(image: Image, not_bare: BoolImage = BARE) -> SurfaceColours:
    found = SurfaceColours.of(view_of(image), not_bare)
    assert found is not None
    return found


def test_even_wood_is_neither_strange_nor_odd() -> None:
    found = colours_of(wood())
    assert not found.strange.any()
    assert not found.odd.any()
    assert np.abs(found.off_hue).max() < 0.03
    assert np.abs(found.brighter).max() < 0.05
    assert not found.not_bare[2:, 2:].any()
    assert 0.1 < found.hue_limit < 0.2


@pytest.mark.parametrize("lamp", [0.25, 0.6, 1.6])
def test_brightness_does_not_change_the_colour(lamp: float) -> None:
    usual = colours_of(with_patch(PATCH, (0.5, 1.3, 0.9)))
    found = colours_of(lit(with_patch(PATCH, (0.5, 1.3, 0.9)), lamp))
    assert (found.strange == usual.strange).mean() > 0.99
    assert np.abs(found.off_hue - usual.off_hue).max() < 0.15


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_light_falling_off_to_a_side_or_from_the_middle_is_not_strange(axis: int, power: int) -> None:
    along = np.linspace(-1, 1, (ROWS, COLUMNS)[axis])
    fall = np.exp(-0.6 * along**power)
    found = colours_of(wood(np.expand_dims(fall, (1 - axis, 2))))
    assert found.odd.mean() < 0.04
    assert not found.strange.any()


def test_light_falling_off_towards_two_corners_is_not_strange() -> None:
    across, down = np.meshgrid(np.linspace(-1, 1, COLUMNS), np.linspace(-1, 1, ROWS))
    found = colours_of(wood(np.exp(0.6 * across * down)[..., None]))
    assert found.odd.mean() < 0.02


@pytest.mark.parametrize("factor", [(0.4, 1.0, 0.4), (1.6, 1.0, 1.0), (1.0, 1.0, 0.5)])
def test_only_the_area_of_another_hue_is_strange(factor: tuple[float, float, float]) -> None:
    found = colours_of(with_patch(PATCH, factor))
    assert found.strange[coarse(PATCH, -6.0)].all()
    assert not found.strange[~coarse(PATCH, 10.0)].any()
    blue, green, red = np.log(factor)
    off_hue = found.off_hue[coarse(PATCH, -8.0)]
    assert np.median(off_hue) == pytest.approx(np.hypot(blue - green, red - green), rel=0.3)
    assert np.ptp(off_hue) < 0.1
    assert np.abs(found.off_hue[~coarse(PATCH, 12.0)]).max() < 0.06


def test_a_weak_hue_is_odd_and_not_strange() -> None:
    found = colours_of(with_patch(PATCH, (1.08, 1.0, 0.93)))
    assert found.odd[coarse(PATCH, -6.0)].all()
    assert not found.strange.any()
    assert not found.odd[~coarse(PATCH, 10.0)].any()


@pytest.mark.parametrize(
    ("factor", "strange", "odd"),
    [(2.2, True, True), (1.5, False, True), (1.1, False, False), (0.5, False, True), (0.12, True, True)],
)
def test_deep_shade_and_bright_light_are_strange_and_weaker_ones_odd(factor: float, strange: bool, odd: bool) -> None:
    found = colours_of(with_patch(PATCH, factor, wood(0.5)))
    inside = coarse(PATCH, -6.0)
    assert found.strange[inside].mean() == pytest.approx(float(strange), abs=0.02)
    assert found.odd[inside].mean() == pytest.approx(float(odd), abs=0.02)
    assert float(np.median(found.brighter[inside])) == pytest.approx(np.log(factor), rel=0.2, abs=0.12)


def test_a_bright_spot_is_judged_by_its_median_channel() -> None:
    image = wood()
    image[part(PATCH)] = (250, 128, 128)
    image[part((60.0, 120.0, 60.0, 120.0))] = (250, 250, 128)
    found = colours_of(image)
    assert found.bright[coarse(PATCH, -4.0)].max() < 0.25
    assert found.bright[coarse((60.0, 120.0, 60.0, 120.0), -4.0)].min() > 0.9


def test_known_areas_are_never_strange_and_do_not_affect_their_surroundings() -> None:
    not_bare = BARE.copy()
    not_bare[part(PATCH)] = True
    found = colours_of(with_patch(PATCH, (0.3, 1.0, 0.2)), not_bare)
    assert not found.strange.any()
    assert not found.odd.any()
    assert found.not_bare[coarse(PATCH, -2.0)].all()
    assert not found.not_bare[~coarse(PATCH, 4.0)].any()
    assert (found.off_hue[coarse(PATCH, -2.0)] == 0).all()
    assert (found.brighter[coarse(PATCH, -2.0)] == 0).all()
    nearly_all = np.ones_like(BARE)
    nearly_all[:20, :20] = False
    assert SurfaceColours.of(view_of(wood()), nearly_all) is None
    nearly_all[:, : COLUMNS // 5] = False
    assert SurfaceColours.of(view_of(wood()), nearly_all) is not None


def test_a_board_under_a_wide_arm_is_measured_by_the_rest_of_it() -> None:
    hand: Rect = (-176.0, -90.0, -176.0, 176.0)
    found = colours_of(with_patch(hand, (0.5, 1.0, 1.8)))
    assert found.strange[coarse(hand, -10.0)].all()
    assert not found.strange[~coarse(hand, 12.0)].any()


def test_objects_have_sharp_outlines_and_soft_light_does_not() -> None:
    image = with_patch(PATCH, (0.4, 1.0, 0.4))
    sharp = colours_of(image)
    assert sharp_share(sharp, coarse(PATCH), ~np.ones_like(sharp.not_bare)) == pytest.approx(1.0, abs=0.05)
    rows, columns = np.indices((ROWS, COLUMNS))
    away = np.hypot(rows - ROWS / 2, columns - COLUMNS / 2)
    glow = np.exp(-0.5 * (away / 35) ** 2)[..., None] * np.array([0.9, 0.3, 0.0])
    soft = colours_of(wood(1 + glow))
    pixels = (away < 45)[::COARSER, ::COARSER]
    share = sharp_share(soft, pixels, ~np.ones_like(pixels))
    assert share is not None
    assert share < 0.1
    half = coarse((-176.0, -25.0, -176.0, 176.0))
    mixed = replace(sharp, logs=np.asarray(np.where(half[..., None], sharp.logs, cv2.blur(sharp.logs, (41, 41)))))
    part_of = sharp_share(mixed, coarse(PATCH), ~np.ones_like(half))
    assert part_of is not None
    assert 0.2 < part_of < 0.8


def test_a_fully_excluded_outline_is_not_judged() -> None:
    found = colours_of(with_patch(PATCH, (0.4, 1.0, 0.4)))
    pixels = coarse(PATCH)
    assert sharp_share(found, pixels, np.ones_like(pixels)) is None
    assert sharp_share(found, pixels, coarse(PATCH, 6.0)) is None
    near_half = coarse((-176.0, 176.0, -176.0, 0.0))
    assert sharp_share(found, pixels, near_half) == pytest.approx(1.0, abs=0.05)
    at_the_border = coarse((-176.0, -150.0, 150.0, 176.0))
    border = colours_of(with_patch((-176.0, -150.0, 150.0, 176.0), (0.4, 1.0, 0.4)))
    assert sharp_share(border, at_the_border, ~np.ones_like(pixels)) is not None


def test_a_board_that_is_half_white_is_measured_by_its_dull_half() -> None:
    image = wood()
    image[:, : COLUMNS // 2] = 255
    found = colours_of(image)
    assert not found.strange[:, COLUMNS // 4 + 5 :].any()
    assert found.strange[:, : COLUMNS // 4 - 5].mean() > 0.95


def fitted(values: npt.NDArray[np.floating], chosen: BoolImage, curved: bool) -> npt.NDArray[np.floating]:
    """A robust linear or quadratic fit to the chosen values."""
    rows, columns = np.indices(values.shape)
    y, x = rows / values.shape[0] - 0.5, columns / values.shape[1] - 0.5
    terms = np.stack([np.ones_like(x), x, y, *([x * x, y * y, x * y] if curved else [])], axis=-1)
    given, targets = terms[chosen], values[chosen].astype(np.float64)
    off = np.abs(targets - np.median(targets))
    share = 0.6
    for _ in range(4):
        kept = off <= np.sort(off)[int(share * (len(off) - 1))]
        solution, *_ = np.linalg.lstsq(given[kept], targets[kept], rcond=None)
        off, share = np.abs(targets - given @ solution), 0.7
    return np.asarray(terms @ solution)


@pytest.mark.parametrize("hidden_mm", [0.0, 200.0])
@pytest.mark.parametrize("lamp", [0.15, 1.0, 4.5])
def test_strange_and_odd_areas_are_those_that_differ_from_the_fitted_surface(hidden_mm: float, lamp: float) -> None:
    """Hues are fitted linearly, brightness quadratically, both to the bare board smoothed over bare pixels."""
    falling = np.linspace(1.2, 0.6, COLUMNS)[None, :, None] * np.linspace(0.8, 1.1, ROWS)[:, None, None] ** 2
    image = with_patch((40.0, 90.0, 20.0, 60.0), (1.0, 1.0, 2.2), with_patch(PATCH, (0.5, 1.3, 0.9), wood(falling)))
    image = with_patch((-120.0, -70.0, -130.0, -80.0), 0.15, with_patch((60.0, 120.0, -120.0, -70.0), 1.4, image))
    image = lit(image, lamp)
    not_bare = BARE.copy()
    not_bare[part((-hidden_mm, hidden_mm, -150.0, -150.0 + hidden_mm))] = True
    found = colours_of(image, not_bare)
    small = not_bare[::COARSER, ::COARSER]
    taken = np.pad(small, ((1, 0), (1, 0)))
    bare = ~(taken[1:, 1:] | taken[:-1, 1:] | taken[1:, :-1] | taken[:-1, :-1])
    assert (found.not_bare == ~bare).all()
    chosen = np.zeros_like(bare)
    chosen[::4, ::4] = bare[::4, ::4]
    size = bare.shape[::-1]
    light = linear_light(np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8))
    bright = np.median(light, axis=2)
    assert np.abs(found.bright - bright).max() < 1e-6
    dull = chosen & (bright < 0.88)
    chosen = dull if dull.sum() > 0.3 * chosen.sum() else chosen
    scaled = light * (0.3 / np.median(light[chosen]))
    floored = np.log(scaled + 0.004 + 0.02 * scaled.max(axis=2, keepdims=True))
    brightness = np.log(scaled.mean(axis=2) + 0.004)
    logs = np.stack([floored[..., 0] - floored[..., 1], floored[..., 2] - floored[..., 1], brightness], axis=-1)
    logs = logs.astype(np.float32)
    sigma = 2.5 / COARSER
    weight = np.maximum(cv2.GaussianBlur(bare.astype(np.float32), (0, 0), sigma), 1e-3)
    inside = cv2.GaussianBlur(logs * bare[..., None], (0, 0), sigma) / weight[..., None]
    off = [inside[..., term] - fitted(inside[..., term], chosen, curved=term == 2) for term in range(3)]
    off_hue = np.hypot(off[0], off[1])
    usual = float(np.median(off_hue[chosen]))
    assert found.hue_limit == pytest.approx(max(0.13, 4.5 * usual), rel=0.01)
    assert np.abs(found.off_hue - off_hue * bare).max() < 0.002
    assert np.abs(found.brighter - off[2] * bare).max() < 0.002
    assert np.abs(found.logs - cv2.GaussianBlur(logs, (0, 0), sigma)).max() < 1e-3
    strange = (off_hue > found.hue_limit) | (off[2] > 0.55) | (off[2] < -1.7)
    odd = (off_hue > max(0.045, 3.0 * usual)) | (np.abs(off[2]) > 0.3)
    assert (found.strange != (strange & bare)).mean() < 0.001
    assert (found.odd != (odd & bare)).mean() < 0.001
    assert 0.003 < found.strange.mean() < found.odd.mean() < 0.6


ARM: Rect = (-176.0, 60.0, -176.0, 176.0)
"""Two thirds of the board."""
SKIN = (0.6, 0.8, 1.2)


def test_an_arm_over_most_of_the_board_is_strange_if_the_boards_hue_is_known() -> None:
    usual_hue = colours_of(wood()).usual_hue
    image = with_patch(ARM, SKIN)
    found = SurfaceColours.of(view_of(image), BARE, usual_hue)
    assert found is not None
    assert found.strange[coarse(ARM, -6.0)].all()
    assert not found.strange[~coarse(ARM, 10.0)].any()
    assert found.usual_hue is None
    alone = colours_of(image)
    assert not alone.strange[coarse(ARM, -6.0)].any()


def test_a_known_hue_gives_way_to_another_light() -> None:
    usual_hue = colours_of(wood()).usual_hue
    image = wood(SKIN)
    found = SurfaceColours.of(view_of(image), BARE, usual_hue)
    assert found is not None
    assert not found.strange.any()
    assert found.usual_hue == pytest.approx(colours_of(image).usual_hue)
    assert found.usual_hue != pytest.approx(usual_hue, abs=0.2)
