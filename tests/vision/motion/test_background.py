"""The learned background: differences of structure, light and colour from it, and pixels at rest."""

import numpy as np
import pytest

from vision.frame import BoolImage, Image
from vision.motion.hands import BackgroundModel, Difference, FrameFeatures, RestMap, frame_features

SHAPE = (90, 120)
EVERYWHERE: BoolImage = np.ones(SHAPE, dtype=np.bool_)
MIDDLE = (slice(35, 55), slice(50, 70))
"""The inside of the area ``CHANGED``, well away from its rim."""


def area(left: int, top: int, right: int, bottom: int) -> BoolImage:
    """A mask of a rectangle."""
    mask: BoolImage = np.zeros(SHAPE, dtype=np.bool_)
    mask[top:bottom, left:right] = True
    return mask


CHANGED = area(40, 25, 80, 65)


def chequered(dark: float = 60.0, pale: float = 180.0) -> np.ndarray:
    """Squares of six pixels, in levels of each channel."""
    rows, columns = np.indices(SHAPE) // 6
    return np.repeat(np.where((rows + columns) % 2, pale, dark)[..., None], 3, axis=2)


def features(levels: np.ndarray, noise: float = 0.0, seed: int = 0) -> FrameFeatures:
    noisy = levels + np.random.default_rng(seed).normal(0, noise, levels.shape)
    return frame_features(np.clip(np.round(noisy), 0, 255).astype(np.uint8))


def with_area(levels: np.ndarray, mask: BoolImage, value: np.ndarray | float | tuple[float, ...]) -> np.ndarray:
    return np.where(mask[..., None], value, levels)


def compared(levels: np.ndarray, trusted: BoolImage = EVERYWHERE, noise: float = 0.0) -> Difference:
    """A frame compared with a chequered background."""
    return BackgroundModel(features(chequered(), noise)).compare(features(levels, noise, 1), trusted)


def test_features_are_logarithms_of_light_and_colour_and_the_gradient_of_light() -> None:
    even: Image = np.full((30, 30, 3), (40, 90, 150), dtype=np.uint8)
    one = frame_features(even)
    assert one.level[15, 15] == pytest.approx(280 / 3, rel=1e-5)
    assert one.light[15, 15] == pytest.approx(np.log(280 / 3 + 4), rel=1e-5)
    assert one.red[15, 15] == pytest.approx(np.log(158 / 98), rel=1e-4)
    assert one.blue[15, 15] == pytest.approx(np.log(48 / 98), rel=1e-4)
    assert np.abs(one.slope_x).max() < 1e-6
    ramp = np.broadcast_to(np.exp(4 + 0.01 * np.arange(100)) - 4, (20, 100)).astype(np.float32)
    rising = frame_features(np.repeat(np.round(ramp).astype(np.uint8)[..., None], 3, axis=2))
    # a Sobel filter sums eight differences over one pixel
    assert rising.slope_x[5:-5, 20:80].mean() == pytest.approx(0.25 * 8 * 0.01, rel=0.05)
    assert np.abs(rising.slope_y[5:-5, 5:-5]).max() < 1e-5
    falling = frame_features(np.ascontiguousarray(np.round(ramp[:, ::-1].T).astype(np.uint8)))
    assert falling.slope_y[20:80, 5:-5].mean() == pytest.approx(-0.25 * 8 * 0.01, rel=0.05)
    assert np.abs(falling.red).max() < 1e-6


def test_an_unchanged_board_shows_all_its_structure() -> None:
    same = compared(chequered(), noise=1.0)
    assert same.judged.mean() > 0.99
    assert same.shown.mean() > 0.99
    assert not same.lost.any()
    assert not same.changed.any()
    assert not same.different.any()
    assert same.gain == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("light", [0.4, 0.7, 1.3])
def test_a_change_of_the_whole_light_is_a_gain_and_no_difference(light: float) -> None:
    lit = compared(light * chequered(), noise=1.0)
    assert lit.gain == pytest.approx(np.log(light), abs=0.05)
    assert lit.shown.mean() > 0.95
    assert not lit.lost.any()
    assert lit.different.mean() < 0.02


def test_a_plain_object_over_the_board_hides_its_structure() -> None:
    found = compared(with_area(chequered(), CHANGED, 120.0), noise=1.0)
    assert found.lost[MIDDLE].all()
    assert found.changed[MIDDLE].all()
    assert not found.shown[MIDDLE].any()
    assert not found.lost[:, :30].any()
    assert not found.lost[:, 90:].any()
    assert found.different[MIDDLE].all()
    assert found.gain == pytest.approx(0.0, abs=0.05)


@pytest.mark.parametrize(
    ("contrast", "lost", "shown"), [(0.35, True, False), (0.55, False, False), (0.85, False, True)]
)
def test_less_than_half_of_the_contrast_is_lost_and_most_of_it_is_shown(
    contrast: float, lost: bool, shown: bool
) -> None:
    """In the middle of the area the squares keep their mean light and lose some of their contrast."""
    mean = np.log(chequered() + 4).mean()
    flat = np.exp(mean + contrast * (np.log(chequered() + 4) - mean)) - 4
    found = compared(with_area(chequered(), CHANGED, flat))
    assert found.lost[MIDDLE].mean() == pytest.approx(float(lost), abs=0.1)
    assert found.shown[MIDDLE].mean() == pytest.approx(float(shown), abs=0.1)


def test_stronger_structure_is_a_change_but_no_loss() -> None:
    finer = np.where((np.indices(SHAPE) // 2).sum(axis=0) % 2, 200.0, 40.0)[..., None]
    found = compared(with_area(np.full((*SHAPE, 3), 120.0), CHANGED, finer))
    assert not found.shown[MIDDLE].any()
    blank = BackgroundModel(features(np.full((*SHAPE, 3), 120.0)))
    fresh = blank.compare(features(with_area(np.full((*SHAPE, 3), 120.0), CHANGED, finer)), ~CHANGED)
    assert not fresh.judged.any()
    assert fresh.changed[MIDDLE].mean() > 0.9
    assert not fresh.lost.any()
    assert not fresh.changed[:15].any()


@pytest.mark.parametrize(
    ("factor", "different"),
    [
        ((1.5, 1.5, 1.5), True),
        ((1.25, 1.25, 1.25), False),
        ((0.65, 0.65, 0.65), True),
        ((0.8, 0.8, 0.8), False),
        ((1.0, 1.0, 1.25), True),
        ((1.25, 1.0, 1.0), True),
        ((1.0, 1.0, 1.1), False),
        ((1.0, 0.8, 1.0), True),
    ],
)
def test_a_local_change_of_light_or_colour_is_a_difference(factor: tuple[float, ...], different: bool) -> None:
    """The thresholds are a third in the logarithm of light and a sixth in that of colour."""
    even = np.full((*SHAPE, 3), 120.0)
    model = BackgroundModel(features(even))
    found = model.compare(features(with_area(even, CHANGED, 120.0 * np.array(factor))), EVERYWHERE)
    assert found.different[MIDDLE].all() == found.different[MIDDLE].any() == different
    assert not found.different[:, :25].any()


def test_the_gain_is_measured_in_the_trusted_part() -> None:
    left = area(0, 0, 50, 90)
    half_dark = with_area(chequered(), ~left, 0.5 * chequered())
    assert compared(half_dark, left).gain == pytest.approx(0.0, abs=0.02)
    assert compared(half_dark, ~left).gain == pytest.approx(np.log(0.5), abs=0.06)
    assert compared(half_dark, np.zeros_like(left)).gain == pytest.approx(np.log(0.5), abs=0.1)


def test_overexposed_or_very_dark_structure_is_not_judged() -> None:
    assert not compared(with_area(chequered(), CHANGED, 255.0)).judged[MIDDLE].any()
    assert compared(with_area(chequered(), CHANGED, 240.0)).judged[MIDDLE].any()
    night = BackgroundModel(features(0.02 * chequered(), 1.0)).compare(features(0.02 * chequered(), 1.0, 1), EVERYWHERE)
    assert night.judged.mean() < 0.05


@pytest.mark.parametrize(("noise", "judged"), [(5.0, True), (8.0, False)])
def test_structure_is_judged_where_it_stands_out_from_the_noise(noise: float, judged: bool) -> None:
    """Squares that differ by ten levels."""
    faint = chequered(112.0, 122.0)
    model = BackgroundModel(features(faint))
    for seed in range(12):
        found = model.compare(features(faint, noise, seed), EVERYWHERE)
    assert found.judged.mean() == pytest.approx(float(judged), abs=0.05)


def test_a_single_noisy_frame_does_not_hide_the_structure() -> None:
    faint = chequered(112.0, 122.0)
    assert BackgroundModel(features(faint)).compare(features(faint, 12.0), EVERYWHERE).judged.mean() > 0.95


def test_a_black_object_hides_structure_although_noise_would_hide_any_on_it() -> None:
    found = compared(with_area(chequered(), CHANGED, 2.0), noise=1.0)
    assert found.lost[MIDDLE].all()


@pytest.mark.parametrize(("contrast", "changed"), [(1.6, False), (1.95, True)])
def test_structure_nearly_twice_as_strong_is_a_change(contrast: float, changed: bool) -> None:
    board = chequered(30.0, 90.0)
    mean = np.log(board + 4).mean()
    stronger = np.exp(mean + contrast * (np.log(board + 4) - mean)) - 4
    found = BackgroundModel(features(board)).compare(features(with_area(board, CHANGED, stronger)), ~CHANGED)
    assert found.changed[MIDDLE].mean() == pytest.approx(float(changed), abs=0.05)
    assert not found.lost[MIDDLE].any()
    assert not found.shown[MIDDLE].any()


def test_a_noisy_shadow_leaves_the_structure_in_sight() -> None:
    shaded = with_area(chequered(), CHANGED, 0.2 * chequered())
    model = BackgroundModel(features(chequered(), 2.5))
    for seed in range(3):
        found = model.compare(features(shaded, 2.5, seed), ~CHANGED)
    assert found.shown[MIDDLE].all()
    assert not found.changed[MIDDLE].any()


def test_learning_at_the_usual_rate_takes_about_ten_frames() -> None:
    even = np.full((*SHAPE, 3), 100.0)
    model, bright = BackgroundModel(features(even)), features(with_area(even, CHANGED, 200.0))
    known = []
    for _ in range(30):
        model.learn(bright, 0.0, CHANGED)
        known.append(not model.compare(bright, ~CHANGED).different[MIDDLE].any())
    assert 5 < known.index(True) < 15
    assert known[-1]


@pytest.mark.parametrize("rate", [0.08, 0.5, 1.0])
def test_the_background_moves_by_the_rate_towards_the_frame_inside_the_mask(rate: float) -> None:
    even = np.full((*SHAPE, 3), 100.0)
    model = BackgroundModel(features(even))
    bright = features(1.6 * even)
    model.learn(bright, 0.0, CHANGED, rate)
    after = model.compare(features(even), ~CHANGED)
    full = float(bright.light[0, 0] - features(even).light[0, 0])
    left = model.compare(features(with_area(even, CHANGED, 100 * np.exp(rate * full))), ~CHANGED)
    assert not left.different[MIDDLE].any()
    assert after.different[MIDDLE].all() == (rate * full > 0.33)
    assert not after.different[:, :25].any()


def test_learning_removes_the_gain_of_the_whole_picture() -> None:
    model = BackgroundModel(features(chequered()))
    darker = features(0.6 * with_area(chequered(), CHANGED, 120.0))
    model.learn(darker, float(np.log(0.6)), CHANGED, 1.0)
    found = model.compare(features(with_area(chequered(), CHANGED, 120.0)), EVERYWHERE)
    assert not found.different[MIDDLE].any()
    assert not found.lost[MIDDLE].any()


def test_light_is_learned_without_the_structure() -> None:
    model = BackgroundModel(features(chequered()))
    shadow = with_area(chequered(), CHANGED, 0.5 * chequered() * np.array([1.3, 1.0, 0.8]))
    assert model.compare(features(shadow), ~CHANGED).different[MIDDLE].all()
    model.learn_light(features(shadow), 0.0, CHANGED)
    found = model.compare(features(shadow), ~CHANGED)
    assert not found.different[MIDDLE].any()
    assert found.shown[MIDDLE].mean() > 0.9
    model.learn_light(features(with_area(chequered(), CHANGED, 120.0)), 0.0, CHANGED)
    assert model.compare(features(with_area(chequered(), CHANGED, 120.0)), ~CHANGED).lost[MIDDLE].all()


def test_edges_along_an_outline_show_an_object_that_came_or_went() -> None:
    even, thing = (
        features(one) for one in (np.full((*SHAPE, 3), 90.0), with_area(np.full((*SHAPE, 3), 90.0), CHANGED, 180))
    )
    half = features(with_area(np.full((*SHAPE, 3), 90.0), CHANGED, 127.3))
    assert BackgroundModel(even).edges_along(thing, CHANGED) > 100
    assert BackgroundModel(thing).edges_along(even, CHANGED) < 0.01
    assert BackgroundModel(thing).edges_along(thing, CHANGED) == pytest.approx(1.0)
    assert BackgroundModel(thing).edges_along(half, CHANGED) == pytest.approx(0.5, abs=0.05)
    bar = features(with_area(np.full((*SHAPE, 3), 90.0), area(0, 43, 120, 47), 180))
    assert BackgroundModel(thing).edges_along(bar, CHANGED) < 0.3, "edges across the outline do not count"


def test_a_pixel_is_at_rest_after_four_frames_counted_from_its_last_change() -> None:
    rest = RestMap(SHAPE)
    even = np.full((*SHAPE, 3), 100.0)
    times_s = (0.0, 0.1, 0.2, 0.3, 0.4)
    for at_s in times_s:
        rest.update(features(even), 0.0, at_s)
        assert rest.at_rest_for(at_s - 1e-6).all() == (at_s >= 0.3)
        assert not rest.at_rest_for(at_s + 0.01).any()
    rest.update(features(with_area(even, CHANGED, 110.0)), 0.0, 0.5)
    assert not rest.at_rest_for(0.0)[MIDDLE].any()
    assert rest.at_rest_for(0.45)[:, :30].all()
    assert rest.share_at_least(area(0, 0, 120, 90), 0.45) == pytest.approx(1 - CHANGED.mean(), abs=0.05)
    assert rest.share_at_least(area(0, 0, 30, 90), 0.5) == 1.0
    for at_s in (0.6, 0.7, 0.8, 0.9):
        rest.update(features(with_area(even, CHANGED, 110.0)), 0.0, at_s)
    assert rest.at_rest_for(0.39)[MIDDLE].all()
    assert not rest.at_rest_for(0.41)[MIDDLE].any()


@pytest.mark.parametrize(("level", "stays"), [(100, 104), (200, 207), (20, 22)])
def test_a_small_change_of_light_is_no_movement(level: int, stays: int) -> None:
    """The threshold is three hundredths in the logarithm plus two levels."""
    for other, moved in ((stays, False), (2 * stays - level + 3, True)):
        rest = RestMap(SHAPE)
        for number in range(4):
            rest.update(features(np.full((*SHAPE, 3), float(level))), 0.0, number / 10)
        rest.update(features(np.full((*SHAPE, 3), float(other))), 0.0, 0.4)
        assert rest.at_rest_for(0.3).any() != moved


def test_a_change_of_the_whole_light_is_no_movement() -> None:
    rest = RestMap(SHAPE)
    for number in range(4):
        rest.update(features(np.full((*SHAPE, 3), 100.0)), 0.0, number / 10)
    dark = features(np.full((*SHAPE, 3), 60.0))
    rest.update(dark, float(dark.light[0, 0] - np.log(104.0)), 0.4)
    assert rest.at_rest_for(0.39).all()


def test_a_slow_steady_change_is_not_at_rest() -> None:
    rest = RestMap(SHAPE)
    for number in range(30):
        rest.update(features(np.full((*SHAPE, 3), 100.0 + 2 * number)), 0.0, number / 10)
        assert not rest.at_rest_for(0.6).any()
