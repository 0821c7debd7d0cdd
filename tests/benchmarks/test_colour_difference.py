from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.colours import (
    DISTINCT_DIFFERENCE,
    VISION_MATRICES,
    Eye,
    ciede2000,
    cielab,
    difference,
    distinguishable,
    perceived_light,
)
from hardware.lights import animation
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, Colour, Pattern, Style

# L*, a*, b* of two colours and their CIEDE2000: table 1 of Sharma, Wu and Dalal (2005), all of its 34 pairs.
PUBLISHED = [
    ((50.0000, 2.6772, -79.7751), (50.0000, 0.0000, -82.7485), 2.0425),
    ((50.0000, 3.1571, -77.2803), (50.0000, 0.0000, -82.7485), 2.8615),
    ((50.0000, 2.8361, -74.0200), (50.0000, 0.0000, -82.7485), 3.4412),
    ((50.0000, -1.3802, -84.2814), (50.0000, 0.0000, -82.7485), 1.0000),
    ((50.0000, -1.1848, -84.8006), (50.0000, 0.0000, -82.7485), 1.0000),
    ((50.0000, -0.9009, -85.5211), (50.0000, 0.0000, -82.7485), 1.0000),
    ((50.0000, 0.0000, 0.0000), (50.0000, -1.0000, 2.0000), 2.3669),
    ((50.0000, -1.0000, 2.0000), (50.0000, 0.0000, 0.0000), 2.3669),
    ((50.0000, 2.4900, -0.0010), (50.0000, -2.4900, 0.0009), 7.1792),
    ((50.0000, 2.4900, -0.0010), (50.0000, -2.4900, 0.0010), 7.1792),
    ((50.0000, 2.4900, -0.0010), (50.0000, -2.4900, 0.0011), 7.2195),
    ((50.0000, 2.4900, -0.0010), (50.0000, -2.4900, 0.0012), 7.2195),
    ((50.0000, -0.0010, 2.4900), (50.0000, 0.0009, -2.4900), 4.8045),
    ((50.0000, -0.0010, 2.4900), (50.0000, 0.0010, -2.4900), 4.8045),
    ((50.0000, -0.0010, 2.4900), (50.0000, 0.0011, -2.4900), 4.7461),
    ((50.0000, 2.5000, 0.0000), (50.0000, 0.0000, -2.5000), 4.3065),
    ((50.0000, 2.5000, 0.0000), (73.0000, 25.0000, -18.0000), 27.1492),
    ((50.0000, 2.5000, 0.0000), (61.0000, -5.0000, 29.0000), 22.8977),
    ((50.0000, 2.5000, 0.0000), (56.0000, -27.0000, -3.0000), 31.9030),
    ((50.0000, 2.5000, 0.0000), (58.0000, 24.0000, 15.0000), 19.4535),
    ((50.0000, 2.5000, 0.0000), (50.0000, 3.1736, 0.5854), 1.0000),
    ((50.0000, 2.5000, 0.0000), (50.0000, 3.2972, 0.0000), 1.0000),
    ((50.0000, 2.5000, 0.0000), (50.0000, 1.8634, 0.5757), 1.0000),
    ((50.0000, 2.5000, 0.0000), (50.0000, 3.2592, 0.3350), 1.0000),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((63.0109, -31.0961, -5.8663), (62.8187, -29.7946, -4.0864), 1.2630),
    ((61.2901, 3.7196, -5.3901), (61.4292, 2.2480, -4.9620), 1.8731),
    ((35.0831, -44.1164, 3.7933), (35.0232, -40.0716, 1.5901), 1.8645),
    ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ((36.4612, 47.8580, 18.3852), (36.2715, 50.5065, 21.2231), 1.4146),
    ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ((90.9257, -0.5406, -0.9208), (88.6381, -0.8985, -0.7239), 1.5381),
    ((6.7747, -0.2908, -2.4247), (5.8714, -0.0985, -2.2286), 0.6377),
    ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
]
LIT = [colour for colour in Colour if colour is not Colour.OFF]
PAIRS = [*combinations(ROLE_STYLES.values(), 2), *combinations(MOOD_STYLES.values(), 2)]
bytes_ = st.integers(0, 255)
colours = st.tuples(bytes_, bytes_, bytes_)
labs = st.tuples(st.floats(0, 100), st.floats(-120, 120), st.floats(-120, 120))


@pytest.mark.parametrize(("one", "other", "published"), PUBLISHED)
def test_differences_equal_the_published_ones(one, other, published: float) -> None:
    assert ciede2000(one, other) == pytest.approx(published, abs=0.00005)


@given(labs, labs)
def test_the_difference_is_symmetric(one, other) -> None:
    assert ciede2000(one, other) == pytest.approx(ciede2000(other, one), abs=1e-6)
    assert ciede2000(one, one) == 0.0


@pytest.mark.parametrize("eye", Eye)
def test_white_and_black_look_alike_to_every_eye(eye: Eye) -> None:
    assert [sum(row) for row in VISION_MATRICES[eye]] == pytest.approx([1.0] * 3, abs=2e-6)
    assert perceived_light((255, 255, 255), eye) == pytest.approx((1.0, 1.0, 1.0), abs=2e-6)
    assert cielab(perceived_light((255, 255, 255), eye)) == pytest.approx((100.0, 0.0, 0.0), abs=1e-3)
    assert cielab(perceived_light((0, 0, 0), eye)) == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


@given(colours)
def test_an_ordinary_eye_sees_what_the_light_is(colour) -> None:
    light = perceived_light(colour, Eye.ORDINARY)
    encoded = [12.92 * one if one <= 0.0031308 else 1.055 * one ** (1 / 2.4) - 0.055 for one in light]
    assert [round(255 * one) for one in encoded] == list(colour)


def test_red_and_green_of_like_brightness_look_much_more_alike_to_eyes_that_lack_red_or_green() -> None:
    red, green = (230, 0, 0), (0, 110, 0)
    ordinary = difference(red, green, Eye.ORDINARY, by_hue_alone=True)
    assert difference(red, green, Eye.DEUTERANOPIA, by_hue_alone=True) < ordinary / 3
    assert difference(red, green, Eye.PROTANOPIA, by_hue_alone=True) < ordinary / 3
    assert difference(red, green, Eye.TRITANOPIA, by_hue_alone=True) > ordinary / 2


@pytest.mark.parametrize("eye", Eye)
@pytest.mark.parametrize(("one", "other"), list(combinations(LIT, 2)))
def test_side_by_side_any_two_colours_of_the_palette_differ_to_every_eye(one: Colour, other: Colour, eye: Eye) -> None:
    assert difference(one.value, other.value, eye) >= DISTINCT_DIFFERENCE


@pytest.mark.parametrize(("one", "other"), list(combinations(LIT, 2)))
def test_to_an_ordinary_eye_hue_alone_tells_any_two_colours_apart(one: Colour, other: Colour) -> None:
    assert difference(one.value, other.value, Eye.ORDINARY, by_hue_alone=True) >= DISTINCT_DIFFERENCE


@pytest.mark.parametrize("eye", Eye)
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_meanings_are_told_apart_by_colour_or_by_rhythm(one: Style, other: Style, eye: Eye) -> None:
    by_colour, by_rhythm = distinguishable(one, other, eye)
    assert by_colour or by_rhythm


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_meanings_are_told_apart_by_rhythm_whatever_their_colours(one: Style, other: Style) -> None:
    assert one.pattern is not other.pattern


def train(pattern: Pattern) -> list[bool]:
    """Whether a one-coloured light is on, every 50 ms for 14 s: whole periods of every pattern there is."""
    return [animation.brightness(pattern, step / 20, smooth=False) > 0 for step in range(280)]


@pytest.mark.parametrize(("one", "other"), list(combinations(Pattern, 2)))
def test_two_rhythms_differ_for_a_tenth_of_the_time_however_they_are_shifted(one: Pattern, other: Pattern) -> None:
    first, second = train(one), train(other)
    apart = [
        sum(a != b for a, b in zip(first, second[shift:] + second[:shift], strict=True)) for shift in range(len(second))
    ]
    assert min(apart) >= 28
