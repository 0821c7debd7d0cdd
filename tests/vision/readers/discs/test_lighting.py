"""The owner of a disc by its colour in any light, and the light on the markers' white paper."""

import math
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vision.conftest import RenderTable
from tests.vision.readers.discs.drawn import BOARD, DARK, PALE, Drawn, picture_of, seen_from, view_of
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout
from vision.readers.discs.lighting import (
    DARK_FLOOR,
    NO_GLARE,
    USUAL_PAPER,
    ColourClassifier,
    DiscAppearance,
    DiscColours,
    Glare,
    PaperLight,
    colour_of_shares,
    colours_of,
    fit_glare,
    light_of,
    shares_of,
    with_saturation,
)
from vision.readers.discs.reader import DiscReader
from vision.readers.probabilities import softmax

BLACK, WHITE = 0.03, 0.85
PAPER = np.full(3, 0.8)
RED, BLUE = (0.06, 0.1, 0.5), (0.5, 0.2, 0.08)


def colour(*light: float) -> FloatArray:
    """The colour of linear light relative to paper: one value a channel, or one for all."""
    return colour_of_shares(np.broadcast_to(light, 3) + DARK_FLOOR)


TAUGHT = ColourClassifier({"red": colour(*RED), "blue": colour(*BLUE)})


def test_a_colour_is_log_blue_and_log_red_against_green_and_the_mean_log() -> None:
    light = np.array([0.2, 0.4, 0.7])
    blue, green, red = np.log(light / 0.8 + DARK_FLOOR)
    own = pytest.approx([blue - green, red - green, (blue + green + red) / 3], abs=1e-5)
    assert colours_of(light.astype(np.float32).reshape(1, 1, 3), PAPER)[0, 0] == own
    assert colour(*(light / 0.8)) == own
    assert shares_of(colour(*light)) == pytest.approx(light + DARK_FLOOR)


def chance_of_white(share: float) -> float:
    """The probability that a grey disc, its light in shares of paper's, is white's."""
    taught = ColourClassifier({"black": colour(BLACK), "white": colour(WHITE)})
    return softmax(taught.log_likelihoods([colour(share)], PAPER, 0.0)[0], 1.0, 0.001)["white"]


@pytest.mark.parametrize(("share", "white"), [(BLACK, False), (WHITE, True), (0.95, True)])
def test_a_taught_colour_is_certain(share: float, white: bool) -> None:
    assert (chance_of_white(share) > 0.99) == white
    assert (chance_of_white(share) < 0.01) == (not white)


@pytest.mark.parametrize("share", [0.3, 0.4, 0.5])
def test_a_pale_disc_may_be_a_dark_one_under_a_lamp(share: float) -> None:
    assert 0.01 < chance_of_white(share) < 0.99


def test_where_a_lamp_whitens_several_discs_a_pale_one_is_less_certainly_whites() -> None:
    taught = ColourClassifier({"black": colour(BLACK), "white": colour(WHITE)})
    clear = [colour(share) for share in (BLACK, WHITE) * 4]
    under_a_lamp = [*clear[:4], *(colour(share) for share in (0.2, 0.3, 0.35, 0.45))]
    usual = taught.glossy_share([], PAPER, 0.0)
    few, many = (taught.glossy_share(seen, PAPER, 0.0) for seen in (clear, under_a_lamp))
    assert few == usual < many / 2 < 0.1
    chances = [
        softmax(taught.log_likelihoods([colour(WHITE)], PAPER, 0.0, share)[0], 1.0, 0.0)["white"]
        for share in (few, many)
    ]
    assert chances[0] > chances[1] + 0.005
    assert taught.log_likelihoods(clear, PAPER, 0.0, usual) == taught.log_likelihoods(clear, PAPER, 0.0)
    assert ColourClassifier({}).glossy_share(clear, PAPER, 0.0) == usual


def test_distances_are_zero_at_a_taught_colour_and_grow_with_hue_and_brightness() -> None:
    seen = [
        colour(*RED),
        np.add(colour(*RED), [0.0, 0.2, 0.0]),
        np.add(colour(*RED), [0.0, 0.4, 0.0]),
        np.add(colour(*RED), [0, 0, 0.4]),
    ]
    own, near, far, bright = TAUGHT.distances(seen, PAPER, 0.0)
    assert own["red"] == pytest.approx(0.0, abs=1e-6)
    assert own["blue"] > 8
    assert far["red"] == pytest.approx(2 * near["red"])
    assert 1 < bright["red"] < far["red"] < 3.5
    assert TAUGHT.distances([], PAPER, 0.0) == []
    assert ColourClassifier({}).distances(seen, PAPER, 0.0) == [{}] * 4


def test_a_strong_hue_may_be_stronger_but_a_weak_one_may_not() -> None:
    strong, weak = np.array([0.0, 1.7, -1.2]), np.array([-0.4, 0.3, -1.2])
    taught = ColourClassifier({"red": strong, "maple": weak})
    redder = np.array([0.0, 0.6, 0.0])
    as_strong, as_weak = taught.distances([strong + redder, weak + redder], PAPER, 0.0)
    assert as_strong["red"] < 2.5
    assert as_weak["maple"] > 3.0
    assert as_strong["maple"] > 8


@pytest.mark.parametrize("brighter", [-1.0, -0.5, 0.0, 0.5])
def test_one_light_correction_for_all_discs_restores_their_colours(brighter: float) -> None:
    factor = np.exp(brighter)
    seen = [colour(*(factor * np.array(light))) for light in (RED, BLUE) * 4]
    light = TAUGHT.fit_light(seen, PAPER)[0]
    assert light == pytest.approx(brighter, abs=0.11)
    for name, distance in zip(("red", "blue") * 4, TAUGHT.distances(seen, PAPER, light), strict=True):
        assert distance[name] < 0.6
    for name, likely in zip(("red", "blue") * 4, TAUGHT.log_likelihoods(seen, PAPER, light), strict=True):
        assert max(likely, key=lambda one: likely[one]) == name


def test_only_discs_of_taught_colours_determine_the_light() -> None:
    seen = [colour(*(1.5 * np.array(light))) for light in (RED, BLUE) * 3]
    foreign = colour(0.05, 0.6, 0.05)
    assert TAUGHT.fit_light([*seen, foreign, foreign], PAPER)[0] == TAUGHT.fit_light(seen, PAPER)[0]
    assert TAUGHT.fit_light([foreign], PAPER)[0] == 0.0
    assert TAUGHT.fit_light([], PAPER)[0] == 0.0
    assert ColourClassifier({}).fit_light(seen, PAPER)[0] == 0.0


def test_one_disc_alone_moves_the_light_less_than_many() -> None:
    brighter = colour(*(2.0 * np.array(RED)))
    one, many = TAUGHT.fit_light([brighter], PAPER)[0], TAUGHT.fit_light([brighter] * 9, PAPER)[0]
    assert 0.1 < one < many
    assert many == pytest.approx(np.log(2), abs=0.11)


def test_the_light_correction_is_limited() -> None:
    taught = ColourClassifier({"dark": colour(0.02)})
    assert (
        1.0 < taught.fit_light([colour(0.5)] * 9, PAPER)[0] < 1.5
        or taught.fit_light([colour(0.5)] * 9, PAPER)[0] == 0.0
    )
    assert -1.5 < ColourClassifier({"pale": colour(0.8)}).fit_light([colour(0.3)] * 9, PAPER)[0] < -0.7


def test_a_saturated_channel_does_not_change_the_colour() -> None:
    bright_paper = np.full(3, 0.95)
    pink = ColourClassifier({"pink": colour(0.6, 0.6, 1.4), "green": colour(0.3, 0.6, 0.3)})
    full = colour(0.6, 0.6, 1 / 0.95)
    assert pink.distances([full], bright_paper, 0.0)[0]["pink"] < 0.05
    assert pink.distances([full], np.full(3, 0.3), 0.0)[0]["pink"] > 0.8


def test_likelihoods_fall_with_the_distance_and_allow_for_a_lamps_reflection() -> None:
    colours = [colour(*RED), np.add(colour(*RED), [0.0, 0.5, 0.0]), np.add(colour(*RED), [0.0, 1.5, 0.0])]
    own, near, far = (one["red"] for one in TAUGHT.log_likelihoods(colours, PAPER, 0.0))
    assert own > near > far
    assert own == pytest.approx(0.0, abs=0.2)
    black = ColourClassifier({"black": colour(BLACK)})
    glossy, green = colour(BLACK + 0.3), colour(BLACK, BLACK + 0.9, BLACK)
    shiny, strange = (one["black"] for one in black.log_likelihoods([glossy, green], PAPER, 0.0))
    assert strange + 2 < shiny < -2
    assert TAUGHT.log_likelihoods([], PAPER, 0.0) == []
    assert ColourClassifier({}).log_likelihoods(colours, PAPER, 0.0) == [{}] * 3


@pytest.fixture(scope="module")
def lit(pose: Pose, render_table: RenderTable) -> Image:
    """A table whose markers' white is at 0.745 of the camera's range."""
    return render_table(pose)


def covered(image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, ids: Sequence[int]) -> Image:
    """The picture with white cards on some markers."""
    image = image.copy()
    for marker_id in ids:
        corners = project(camera, pose, layout.markers.corners_mm(marker_id))
        cv2.fillConvexPoly(image, np.round(corners).astype(np.int32), (255, 255, 255))
    return image


def test_the_light_is_measured_on_the_markers_paper(
    layout: TableLayout, camera: CameraModel, pose: Pose, lit: Image
) -> None:
    paper = PaperLight(camera, pose, layout.markers)
    light = paper.of(lit)
    assert light == pytest.approx(0.745, rel=0.12)
    tinted = np.asarray(np.round(lit * np.array([0.7, 0.5, 0.9])), dtype=np.uint8)
    assert paper.of(tinted) / light == pytest.approx(np.array([0.7, 0.5, 0.9]) ** 2.2, rel=0.12)
    grey = np.asarray(cv2.cvtColor(lit, cv2.COLOR_BGR2GRAY), dtype=np.uint8)
    assert paper.of(grey) == pytest.approx(light, rel=0.03)


def test_markers_that_are_covered_or_out_of_sight_do_not_count(
    layout: TableLayout, camera: CameraModel, pose: Pose, lit: Image
) -> None:
    paper = PaperLight(camera, pose, layout.markers)
    light = paper.of(lit)
    assert paper.of(covered(lit, camera, pose, layout, [1, 2])) == pytest.approx(light, rel=0.05)
    assert paper.of(covered(lit, camera, pose, layout, [0, 1, 2, 3])) == pytest.approx(np.full(3, USUAL_PAPER))
    assert PaperLight(camera, pose, None).of(lit) == pytest.approx(np.full(3, USUAL_PAPER))
    half = replace(camera, size=(camera.size[0] // 2, camera.size[1]))
    white_right = lit.copy()
    white_right[:, half.size[0] :] = 255
    assert PaperLight(half, pose, layout.markers).of(white_right) == pytest.approx(light, rel=0.05)


NEAR = CameraModel(np.diag([1500.0, 1500.0, 1.0]), np.zeros(5), (640, 640))


def seen_near(layout: TableLayout, white: int, black: int) -> tuple[PaperLight, Image, FloatArray]:
    """A marker that fills half of a picture, in these levels: its paper light, the picture, and its corners."""
    markers = replace(layout.markers, centres_mm={0: (0.0, 0.0)})
    pose = Pose(np.diag([1.0, -1.0, -1.0]), np.array([0.107 * 200, 0.107 * 200, 200.0 + markers.z_mm]))
    corners = project(NEAR, pose, markers.corners_mm(0))
    side_px = round(float(np.ptp(corners[:, 0])))
    left, top = np.round(corners.min(axis=0)).astype(int)
    image = np.full((640, 640, 3), white, dtype=np.uint8)
    code = cv2.aruco.generateImageMarker(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50), 0, side_px)
    image[top : top + side_px, left : left + side_px] = np.where(code > 0, white, black)[..., None]
    return PaperLight(NEAR, pose, markers), image, corners


def test_specks_in_the_middle_of_the_markers_cells_leave_the_paper_white(layout: TableLayout) -> None:
    """The light is that of a cell's majority, not of its centre."""
    paper, image, corners = seen_near(layout, 200, 20)
    light = paper.of(image)
    assert light == pytest.approx(0.578, abs=0.01)
    cell_px = float(np.ptp(corners[:, 0])) / 6
    for row in range(6):
        for column in range(6):
            x, y = corners.min(axis=0) + cell_px * (np.array([column, row]) + 0.5)
            cv2.circle(image, (round(x), round(y)), round(0.12 * cell_px), (90, 90, 90), -1)
    assert paper.of(image) == pytest.approx(light, rel=0.02)


@pytest.mark.parametrize(("black", "counts"), [(120, True), (135, False)])
def test_a_marker_whose_black_is_nearly_half_as_light_as_its_white_counts_as_covered(
    layout: TableLayout, black: int, counts: bool
) -> None:
    """White must be at least 2.5 times as light as black: here 0.578 against 0.188 and 0.242."""
    paper, image, _ = seen_near(layout, 200, black)
    assert paper.of(image) == pytest.approx(0.578 if counts else USUAL_PAPER, abs=0.01)


PLAYERS = {"red": RED, "blue": BLUE, "pale": (0.75, 0.85, 0.9)}


def off(seen: FloatArray, light: FloatArray) -> float:
    """Distance between two colours in standard deviations, which grow with the hue."""
    expected = colour_of_shares(np.minimum(light, 1 / 0.8) + DARK_FLOOR)
    spreads = [math.hypot(0.16, 0.15 * expected[0]), math.hypot(0.16, 0.15 * expected[1]), 0.28]
    return float(np.linalg.norm((seen - expected) / spreads))


@pytest.mark.parametrize("seed", range(3))
def test_light_distances_and_likelihoods_equal_a_disc_by_disc_reference(seed: int) -> None:
    """Tries each light correction; a disc may reflect a lamp, more often a little than much."""
    random = np.random.default_rng(seed)
    taught = ColourClassifier({name: colour(*light) for name, light in PLAYERS.items()})
    chosen = [PLAYERS[name] for name in random.choice(list(PLAYERS), 6)]
    factor = np.exp(random.normal(0.0, 0.5))
    seen = [colour(*(factor * np.array(light))) + random.normal(0.0, 0.15, 3) for light in chosen]
    seen.append(colour(0.05, 0.6, 0.05))

    def cost(light: float) -> float:
        nearest = [min(off(one, np.exp(light) * np.array(own)) for own in PLAYERS.values()) for one in seen]
        return sum(min(distance, 3.5) ** 2 for distance in nearest) + (light / 0.45) ** 2

    light = min((step / 10 for step in range(-13, 14)), key=cost)
    assert taught.fit_light(seen, PAPER)[0] == pytest.approx(light)
    gloss = [0.02 * 60 ** (step / 15) for step in range(16)]
    weights = [one * math.exp(-one / 0.3) for one in gloss]
    cases = [(0.96, 0.0), *((0.04 * weight / sum(weights), one) for weight, one in zip(weights, gloss, strict=True))]
    distances, likely = (way(seen, PAPER, light) for way in (taught.distances, taught.log_likelihoods))
    for one, apart, logs in zip(seen, distances, likely, strict=True):
        for name, own in PLAYERS.items():
            lit = np.exp(light) * np.array(own)
            assert apart[name] == pytest.approx(off(one, lit), abs=1e-6)
            total = sum(weight * (1 + off(one, lit + added) ** 2 / 6) ** -3.5 for weight, added in cases)
            assert logs[name] == pytest.approx(math.log(total), abs=1e-6)


def test_the_nearest_correction_that_was_tried_is_used() -> None:
    seen = [colour(*RED)]
    assert TAUGHT.distances(seen, PAPER, 0.34) == TAUGHT.distances(seen, PAPER, 0.3)
    assert TAUGHT.distances(seen, PAPER, 9.0) == TAUGHT.distances(seen, PAPER, 2.0)
    assert TAUGHT.log_likelihoods(seen, PAPER, -9.0) == TAUGHT.log_likelihoods(seen, PAPER, -1.3)


# A lamp reflected by all discs of a picture, which makes black ones as bright as white ones in the shade.

PAPER_GLARE = np.full(3, 0.6)


def colour_glare(light: npt.ArrayLike) -> FloatArray:
    return colour_of_shares(np.asarray(light, dtype=np.float64) + DARK_FLOOR)


LOOKS = DiscAppearance(
    {
        "black": DiscColours(colour_glare(DARK), colour_glare(DARK)),
        "white": DiscColours(colour_glare(PALE), colour_glare(PALE)),
    }
)
CLASSIFIER = ColourClassifier({name: own.disc for name, own in LOOKS.players.items()})
OWNERS = ("black", "white") * 7


def centres(seed: int) -> FloatArray:
    """Where 14 discs stand on a board."""
    return np.random.default_rng(seed).uniform(-120, 120, (len(OWNERS), 2))


def seen_under(glare: Glare, at_mm: FloatArray, light: float = 1.0) -> list[FloatArray]:
    """The colours of the owners' discs."""
    own = [np.array(DARK if owner == "black" else PALE) * light for owner in OWNERS]
    added = glare.at(at_mm)
    return [colour_glare(np.minimum(one + more, 1 / PAPER_GLARE)) for one, more in zip(own, added, strict=True)]


def nearest(distances: Sequence[dict[str, float]]) -> list[str]:
    return [min(one, key=lambda name: one[name]) for one in distances]


@pytest.mark.parametrize(
    ("glare", "light"),
    [
        (Glare(20.0, -60.0, 130.0, 0.4), 1.0),
        (Glare(110.0, 110.0, 200.0, 0.5), 0.8),
        (Glare(0.0, 0.0, 80.0, 0.9), 1.2),
    ],
)
def test_the_discs_together_show_the_reflection(glare: Glare, light: float) -> None:
    at_mm = centres(3)
    seen = seen_under(glare, at_mm, light)
    found = light_of(LOOKS, CLASSIFIER, seen, at_mm, PAPER_GLARE)
    assert nearest(found.distances(seen, at_mm)) == list(OWNERS)
    black = np.array([owner == "black" for owner in OWNERS])
    true, fitted = glare.at(at_mm)[black], found.glare.at(at_mm)[black]
    assert fitted == pytest.approx(true, rel=0.35, abs=0.03)
    alone = CLASSIFIER.distances(seen, PAPER_GLARE, CLASSIFIER.fit_light(seen, PAPER_GLARE)[0])
    assert nearest(alone) != list(OWNERS) or max(min(one.values()) for one in alone) > 2.5


def test_a_player_is_no_more_certain_than_the_light() -> None:
    at_mm = centres(4)
    greys = DiscAppearance(
        {
            name: DiscColours(colour_glare(light), colour_glare(light))
            for name, light in (("dark", [0.1] * 3), ("pale", [0.4] * 3))
        }
    )
    judge = ColourClassifier({name: own.disc for name, own in greys.players.items()})
    between = [colour_glare([0.2] * 3)] * len(at_mm)
    both = [colour_glare([0.2 * share] * 3) for share in (1, 4) * 7]
    for seen, is_clear in ((between, False), (both, True)):
        light = light_of(greys, judge, seen, at_mm, PAPER_GLARE)
        first = light.log_likelihoods(seen, at_mm, np.zeros(len(seen)))[0]
        assert (abs(first["dark"] - first["pale"]) > 3) == is_clear
        assert bool(light.others) == (not is_clear)


def test_a_pale_disc_on_shaded_ground_is_no_dark_one() -> None:
    at_mm = centres(4)
    seen = [colour_glare([share] * 3) for share in (0.1, 0.5) * (len(at_mm) // 2)]
    greys = DiscAppearance(
        {
            name: DiscColours(colour_glare([share] * 3), colour_glare([share] * 3))
            for name, share in (("dark", 0.1), ("pale", 0.5))
        }
    )
    judge = ColourClassifier({name: own.disc for name, own in greys.players.items()})
    light = light_of(greys, judge, seen, at_mm, PAPER_GLARE)
    shaded, ground = [colour_glare([0.1] * 3)], at_mm[:1]
    for shade, player in ((0.0, "dark"), (np.log(0.2), "pale")):
        likely = light.log_likelihoods(shaded, ground, np.array([shade]))[0]
        assert max(likely, key=likely.__getitem__) == player


def test_bleached_paper_may_be_brighter_than_it_seems() -> None:
    dark = [colour_glare(np.array(DARK) * 4)] * 7
    level, _ = CLASSIFIER.fit_light(dark, np.ones(3))
    assert level == pytest.approx(np.log(4), abs=0.1)
    expected, _ = light_of(LOOKS, CLASSIFIER, dark, centres(5)[:7], np.ones(3)).discs_at(centres(5), "white", level)
    assert expected == pytest.approx(np.tile(colour_glare([1.0] * 3), (len(OWNERS), 1)), abs=0.2)


@given(seed=st.integers(0, 99), light=st.floats(0.4, 1.6))
def test_no_reflection_is_seen_where_there_is_none(seed: int, light: float) -> None:
    at_mm = centres(seed)
    seen = seen_under(NO_GLARE, at_mm, light)
    assert light_of(LOOKS, CLASSIFIER, seen, at_mm, PAPER_GLARE).glare is NO_GLARE


def test_a_single_thing_that_is_no_disc_is_no_reflection() -> None:
    at_mm = np.array([[0.0, 0.0], [30.0, 0.0], [60.0, 0.0]])
    seen = [colour_glare(DARK), colour_glare(PALE), colour_glare(np.add(DARK, 0.25))]
    assert light_of(LOOKS, CLASSIFIER, seen, at_mm, PAPER_GLARE).glare is NO_GLARE
    assert fit_glare(CLASSIFIER, seen, at_mm, PAPER_GLARE, CLASSIFIER.fit_light(seen, PAPER_GLARE)[1]) is None
    assert fit_glare(CLASSIFIER, seen, at_mm, PAPER_GLARE, 99.0) is not None


def test_a_reflection_fades_and_adds_white_light_up_to_saturation() -> None:
    glare = Glare(10.0, -20.0, 50.0, 0.4)
    assert glare.at(np.array([[10.0, -20.0], [60.0, -20.0], [10.0, 400.0]])) == pytest.approx(
        [0.4, 0.4 * np.exp(-0.5), 0.0], abs=1e-9
    )
    centre = np.array([10.0, -20.0])
    assert shares_of(glare.on(colour_glare(DARK), centre, PAPER_GLARE)) == pytest.approx(np.add(DARK, 0.4) + DARK_FLOOR)
    bright = shares_of(replace(glare, strength=5.0).on(colour_glare(DARK), centre, PAPER_GLARE))
    assert bright == pytest.approx(1 / PAPER_GLARE + DARK_FLOOR)
    assert NO_GLARE.on(colour_glare(DARK), centre, PAPER_GLARE) is not None
    assert NO_GLARE.on(colour_glare(DARK), centre, PAPER_GLARE) == pytest.approx(colour_glare(DARK))


def test_discs_and_their_balls_are_read_under_a_lamps_reflection() -> None:
    glare = Glare(-40.0, -60.0, 130.0, 0.35)
    places = ("a1", "b2", "c3", "d1", "e5", "f7", "g4", "a6", "b5", "c7", "d3", "e2", "f4", "g1")
    standing = []
    for place, owner in zip(places, OWNERS, strict=True):
        own = DARK if owner == "black" else PALE
        blue, green, red = np.add(own, glare.at(np.array([BOARD.centre_mm(place)]))[0]).tolist()
        standing.append(Drawn(place, (blue, green, red), ball=own if place in ("c3", "b2") else None))
    pose = seen_from()
    seen = DiscReader(BOARD, LOOKS).read(view_of(picture_of(standing, pose), pose), BOARD.places, {})
    told = {place: (one.player, one.ball_log_odds > 0) for place, one in seen.items() if one.log_odds > 0}
    assert told == {place: (owner, place in ("c3", "b2")) for place, owner in zip(places, OWNERS, strict=True)}


# A piece set seen by cameras of another saturation than the one it was enrolled with.

RED_SATURATION, ORANGE, BLUE_SATURATION = (0.1, 0.12, 0.4), (0.12, 0.3, 0.5), (0.4, 0.2, 0.12)
PAPER_SATURATION = np.full(3, 0.6)
GREY = (0.2, 0.2, 0.2)


def colour_saturation(*light: float) -> FloatArray:
    return colour_of_shares(np.array(light) + DARK_FLOOR)


LOOKS_SATURATION = DiscAppearance(
    {
        "red": DiscColours(colour_saturation(*RED_SATURATION), colour_saturation(*PALE)),
        "blue": DiscColours(colour_saturation(*BLUE_SATURATION), colour_saturation(*PALE)),
    }
)
CLASSIFIER_SATURATION = ColourClassifier({name: own.disc for name, own in LOOKS_SATURATION.players.items()})
STANDING = (
    Drawn("a1", RED_SATURATION),
    Drawn("d1", RED_SATURATION, ball=PALE),
    Drawn("c4", BLUE_SATURATION),
    Drawn("f7", BLUE_SATURATION),
    Drawn("e5", RED_SATURATION),
)


def saturated(image: Image, factor: float) -> Image:
    grey = (image @ np.array([0.114, 0.587, 0.299]))[..., None]
    return np.asarray(np.clip(np.round(grey + factor * (image - grey)), 0, 255), dtype=np.uint8)


@pytest.mark.parametrize("factor", [0.6, 1.0, 1.6])
def test_discs_are_read_at_another_saturation(factor: float) -> None:
    pose = seen_from()
    view = view_of(saturated(picture_of(STANDING, pose, ground=GREY), factor), pose)
    seen = DiscReader(BOARD, LOOKS_SATURATION).read(view, BOARD.places, {})
    told = {place: (one.player, one.ball_log_odds > 0) for place, one in seen.items() if one.log_odds > 0}
    assert told == {
        disc.place: ("red" if disc.light == RED_SATURATION else "blue", disc.ball is not None) for disc in STANDING
    }


@pytest.mark.parametrize("factor", [0.6, 1.5])
def test_one_factor_is_found_for_all_discs(factor: float) -> None:
    shown = with_saturation(LOOKS_SATURATION, PAPER_SATURATION, factor)
    seen = [own.disc for own in shown.players.values()] * 4
    light = light_of(LOOKS_SATURATION, CLASSIFIER_SATURATION, seen, np.zeros((len(seen), 2)), PAPER_SATURATION)
    for name, own in light.looks.players.items():
        assert own.disc == pytest.approx(shown.players[name].disc), name
    nearest = [min(one.values()) for one in light.classifier.distances(seen, PAPER_SATURATION, light.level)]
    assert max(nearest) < 0.5
    assert max(min(one.values()) for one in CLASSIFIER_SATURATION.distances(seen, PAPER_SATURATION, 0.0)) > 1.5


def test_learned_colours_and_foreign_colours_give_no_saturation_correction() -> None:
    learned = [own.disc for own in LOOKS_SATURATION.players.values()]
    for seen in (learned * 4, [colour_saturation(0.1, 0.6, 0.1)], []):
        assert (
            light_of(LOOKS_SATURATION, CLASSIFIER_SATURATION, seen, np.zeros((len(seen), 2)), PAPER_SATURATION).looks
            is LOOKS_SATURATION
        )


def test_saturation_scales_the_distance_from_grey_and_clips() -> None:
    grey = DiscAppearance({"grey": DiscColours(colour_saturation(*GREY), colour_saturation(*GREY))})
    assert with_saturation(grey, PAPER_SATURATION, 1.5).players["grey"].disc == pytest.approx(colour_saturation(*GREY))
    level = (np.array(RED_SATURATION) * 0.6) ** (1 / 2.2)
    luma = float(level @ [0.114, 0.587, 0.299])
    for factor in (0.6, 1.5, 3.0):
        expected = np.clip(luma + factor * (level - luma), 0, 1) ** 2.2 / 0.6
        shown = shares_of(with_saturation(LOOKS_SATURATION, PAPER_SATURATION, factor).players["red"].disc)
        assert shown == pytest.approx(expected + DARK_FLOOR)
