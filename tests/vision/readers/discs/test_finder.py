"""Finding discs in drawn pictures with known positions and colours."""

import math

import cv2
import numpy as np
import pytest

from tests.vision.readers.discs import pictures
from tests.vision.readers.discs.drawn import (
    BOARD,
    CAMERA,
    DARK,
    PALE,
    PIECES,
    Drawn,
    finder_from,
    picture_of,
    seen_from,
)
from vision.frame import BoolImage, FloatArray
from vision.geometry import outline_px, project
from vision.layout.pieces import DiscPieces
from vision.readers.discs.finder import DiscFinder, DiscFit, DiscShape, TopPlane, beyond_mm
from vision.readers.discs.lighting import DARK_FLOOR, USUAL_PAPER, shares_of

POSE = seen_from()
ASLANT = seen_from(tilt_deg=50.0)
RED = (0.05, 0.08, 0.5)
STANDING = (
    Drawn("a1", PALE),
    Drawn("g1", DARK, (5.0, 3.0)),
    Drawn("d2", PALE, (-6.0, 2.0)),
    Drawn("b4", DARK, (0.0, -6.5)),
    Drawn("f5", RED, (3.0, 6.0)),
    Drawn("a7", PALE, (-4.0, -4.0)),
    Drawn("g7", DARK, (6.0, 0.0)),
)


@pytest.fixture(scope="module")
def finder() -> DiscFinder:
    return finder_from(POSE)


@pytest.fixture(scope="module")
def plane(finder: DiscFinder) -> TopPlane:
    return finder.plane(picture_of(STANDING, POSE), BOARD.places)


@pytest.fixture(scope="module")
def found(finder: DiscFinder, plane: TopPlane) -> dict[str, DiscFit]:
    return finder.find(plane, list(BOARD.places))


@pytest.mark.parametrize("disc", STANDING, ids=lambda disc: disc.place)
def test_a_disc_is_found_at_its_position_and_in_its_colour(found: dict[str, DiscFit], disc: Drawn) -> None:
    fit = found[disc.place]
    assert np.abs(fit.centre_mm - disc.centre_mm).max() < 3.2
    assert fit.contrast > 4
    assert fit.contrast_if_bare > 4
    assert shares_of(fit.colour) - DARK_FLOOR == pytest.approx(disc.light, rel=0.06, abs=0.004)
    assert fit.light == pytest.approx(np.median(disc.light) * USUAL_PAPER, rel=0.08, abs=0.003)


def test_bare_places_have_no_contrast(found: dict[str, DiscFit]) -> None:
    standing = {disc.place for disc in STANDING}
    assert all(fit.contrast < 1.9 for place, fit in found.items() if place not in standing)


@pytest.mark.parametrize("azimuth_deg", [15.0, 105.0, 195.0])
def test_a_disc_is_found_from_every_side_of_the_table(azimuth_deg: float) -> None:
    pose = seen_from(azimuth_deg, 40.0)
    finder = finder_from(pose)
    discs = [Drawn("a1", PALE, (6.0, -3.0)), Drawn("g4", DARK, (-4.0, 5.0)), Drawn("c7", RED)]
    places = [disc.place for disc in discs]
    fits = finder.find(finder.plane(picture_of(discs, pose), places), places)
    for disc in discs:
        assert np.abs(fits[disc.place].centre_mm - disc.centre_mm).max() < 3.2
        assert fits[disc.place].contrast > 4


def test_stripes_and_squares_across_a_place_are_no_disc(finder: DiscFinder) -> None:
    picture = picture_of([], POSE)
    x, y = BOARD.centre_mm("d4")
    stripe = [[x - 40, y - 6, 20], [x + 40, y - 6, 20], [x + 40, y + 6, 20], [x - 40, y + 6, 20]]
    cv2.fillConvexPoly(picture, np.round(project(CAMERA, POSE, stripe)).astype(np.int32), (220, 220, 220))
    fits = finder.find(finder.plane(picture, ["d4"]), ["d4"])
    assert "d4" not in fits or fits["d4"].contrast < 1.9


def test_a_disc_below_a_ball_is_found_and_its_top_is_uneven(finder: DiscFinder) -> None:
    bare, with_ball = (
        finder.find(finder.plane(picture_of([disc], POSE), ["d4"]), ["d4"])["d4"]
        for disc in (Drawn("d4", PALE), Drawn("d4", PALE, ball=DARK))
    )
    assert with_ball.contrast > 4
    assert with_ball.contrast_if_bare < 0.5 * with_ball.contrast
    assert np.abs(with_ball.centre_mm - bare.centre_mm).max() < 3.2
    assert with_ball.colour == pytest.approx(bare.colour, abs=0.1)


def test_half_a_disc_is_enough_if_the_rest_is_known_to_be_hidden(finder: DiscFinder) -> None:
    picture = picture_of([Drawn("d4", PALE)], POSE)
    x, y = BOARD.centre_mm("d4")
    card = [[x, y - 60, 20], [x + 60, y - 60, 20], [x + 60, y + 60, 20], [x, y + 60, 20]]
    cv2.fillConvexPoly(picture, np.round(project(CAMERA, POSE, card)).astype(np.int32), (20, 200, 20))
    plane = finder.plane(picture, ["d4"])
    hidden: BoolImage = np.zeros(plane.colours.shape[:2], dtype=np.bool_)
    column, _ = plane.window.to_pixels(x, y)
    hidden[:, round(column) - 2 :] = True
    unaware = finder.find(plane, ["d4"]).get("d4")
    aware = finder.find(plane, ["d4"], hidden)["d4"]
    assert unaware is None or unaware.contrast < 0.5 * aware.contrast
    assert aware.contrast > 4
    assert abs(aware.y_mm - y) < 1.5
    everything = np.ones_like(hidden)
    assert finder.find(plane, ["d4"], everything) == {}


def test_sampling_part_of_the_plane_gives_the_same_values(finder: DiscFinder, plane: TopPlane) -> None:
    picture = picture_of(STANDING, POSE)
    for places in (["a1"], ["a1", "g7"], ["c3", "d3", "c4", "d4"]):
        part = finder.plane(picture, places)
        sampled = (part.colours != 0).all(axis=2)
        assert 0.02 < sampled.mean() < 0.6
        assert np.abs(part.colours - plane.colours)[sampled].max() < 0.02
        for place in places:
            x, y = BOARD.centre_mm(place)
            around = np.array([[x + dx, y + dy] for dx in (-23, 0, 23) for dy in (-23, 0, 23)])
            assert part.mask_at(sampled, around).all()
    assert not finder.plane(picture, []).colours.any()
    assert finder.find(plane, []) == {}


def test_a_grey_picture_shows_discs_too(finder: DiscFinder) -> None:
    grey = cv2.cvtColor(picture_of(STANDING[:2], POSE), cv2.COLOR_BGR2GRAY)
    fits = finder.find(finder.plane(np.asarray(grey, dtype=np.uint8), ["a1", "g1"]), ["a1", "g1"])
    assert all(fit.contrast > 4 for fit in fits.values())
    assert len(fits) == 2
    assert np.abs(fits["a1"].colour[:2]).max() < 0.02


def test_points_of_the_plane_are_interpolated_and_looked_up(plane: TopPlane) -> None:
    left, far = plane.window.left_mm, plane.window.far_mm
    centres = np.array([[left + 30.5, far - 20.5], [left + 31.5, far - 20.5]])
    here, beside = plane.at(centres)
    assert here == pytest.approx(plane.colours[20, 30])
    assert plane.at(centres.mean(axis=0)) == pytest.approx((here + beside) / 2, abs=1e-5)
    many = plane.at(np.tile(centres, (20, 1000, 1)))
    assert many.shape == (20, 2000, 3)
    assert (many[-1, -2:] == (here, beside)).all()
    mask: BoolImage = np.zeros(plane.colours.shape[:2], dtype=np.bool_)
    mask[20, 30] = True
    assert plane.mask_at(mask, centres).tolist() == [True, False]
    mask[0, 0] = mask[-1, -1] = True
    assert plane.mask_at(mask, np.array([[left - 50, far + 50], [-left + 50, -far - 50]])).all()


@pytest.mark.parametrize("ball", [False, True])
def test_a_nearer_disc_hides_the_area_that_its_outline_covers(ball: bool) -> None:
    centre, top_mm = np.array(BOARD.centre_mm("d3")), BOARD.height_mm + PIECES.disc_mm
    finder = finder_from(ASLANT)
    hidden = finder.hidden_by(finder.covered(centre, ball))
    x, y = np.meshgrid(np.arange(-30.0, 31.0, 2.0), np.arange(-30.0, 31.0, 2.0))
    points = centre + np.column_stack([x.ravel(), y.ravel()])
    pixels = project(CAMERA, ASLANT, np.column_stack([points, np.full(len(points), top_mm)]))
    disc, with_ball = (
        np.array([cv2.pointPolygonTest(outline, tuple(map(float, pixel)), True) for pixel in pixels])
        for outline in (
            outline_px(PIECES.solid_with(centre[0], centre[1], BOARD.height_mm, ball=one), CAMERA, ASLANT)
            for one in (False, True)
        )
    )
    marked = finder.plane(np.zeros((600, 800, 3), np.uint8), []).mask_at(hidden, points)
    assert marked[disc > 1.5].mean() > 0.97
    assert not marked[(with_ball if ball else disc) < -4].any()
    assert marked[(disc < -3) & (with_ball > 3)].any() == ball


def test_the_hidden_share_of_a_disc_grows_as_the_nearer_one_comes_closer() -> None:
    finder, middle = finder_from(ASLANT), np.array(BOARD.centre_mm("d4"))
    towards = ASLANT.camera_position_mm[:2] - middle
    towards /= np.linalg.norm(towards)
    shares = [
        finder.hidden_share(middle, finder.covered(middle + away * towards, True)) for away in (0.0, 15.0, 30.0, 60.0)
    ]
    assert shares[0] == 1
    assert shares[0] > shares[1] > shares[2] > shares[3] == 0
    assert finder.hidden_share(middle, finder.covered(middle + 30.0 * towards, False)) < shares[2]
    assert finder.hidden_share(middle, []) == 0


WAYS = np.array([(math.cos(turn * math.pi / 10), math.sin(turn * math.pi / 10)) for turn in range(20)])


def steps(most: float, step: int) -> list[tuple[int, int]]:
    """Offsets in a circle, row by row."""
    along = range(-int(most), int(most) + 1, step)
    return [(x, y) for y in along for x in along if math.hypot(x, y) <= most + step / 4]


class ByCircles:
    """The search near one place, circle by circle."""

    def __init__(self, plane: TopPlane, shape: DiscShape, place: str, nearer: BoolImage) -> None:
        centre = np.array(BOARD.centre_mm(place))
        self.plane, self.nearer, self.centre = plane, nearer, centre
        rings = [centre + share * shape.radius_mm * WAYS for share in (0.5, 0.72, 0.9)]
        beside = [centre + (shape.reach(centre, WAYS)[:, None] + out) * WAYS for out in (1.4, 3.0)]
        points = np.concatenate([*rings, *beside])
        columns, rows = plane.window.to_pixels(points[:, 0], points[:, 1])
        self.pixels = np.round(np.column_stack([rows, columns])).astype(int)
        self.clear = np.array([beyond_mm(point, shape.ball_circles(centre)) > 0.8 for point in points])

    def at(self, offset: tuple[int, int], *, whole: bool = False) -> tuple[float, float, FloatArray]:
        """The contrast of one circle, the contrast of its whole outline, and its colour."""
        rows, columns = (self.pixels + np.array([-offset[1], offset[0]])).T
        colours = self.plane.colours[rows, columns].astype(np.float64)
        kept = (self.clear | whole) & ~self.nearer[rows, columns]
        inside = colours[:60][kept[:60]]
        colour, spread = (inside.mean(axis=0), inside.std(axis=0)) if len(inside) else (np.zeros(3), np.zeros(3))
        apart = np.where(kept[60:], np.linalg.norm((colours[60:] - colour) / (0.02 + spread), axis=1), -1.0)
        around = np.sort(np.maximum(apart[:20], apart[20:]))
        seen = int((around >= 0).sum())
        fitting = float(np.minimum(around, 8.0).sum())
        if seen < 8 or len(inside) < 4:
            return 0.0, fitting, colour
        return float(around[20 - seen + int(0.15 * seen)]), fitting, colour

    def fit(self) -> tuple[FloatArray, float, float, FloatArray] | None:
        """The best circle's middle, its contrast with and without the part a ball would cover, and its colour."""
        first = max(steps(8, 2), key=lambda offset: self.at(offset)[0])
        if self.at(first)[0] <= 1.2:
            return None
        close = [(first[0] + x, first[1] + y) for x, y in steps(2, 1)]
        most = max(self.at(offset)[0] for offset in close)
        found = max((one for one in close if self.at(one)[0] >= 0.9 * most), key=lambda offset: self.at(offset)[1])
        whole = max(self.at((found[0] + x, found[1] + y), whole=True)[0] for x, y in steps(1, 1))
        return self.centre + found, most, min(most, whole), self.at(found)[2]


@pytest.mark.parametrize("hidden", [False, True])
def test_the_best_circle_equals_that_of_an_exhaustive_search(hidden: bool) -> None:
    pose = seen_from(-75.0, 35.0)
    finder = finder_from(pose)
    discs = [
        Drawn("b2", PALE, (3.0, -4.0)),
        Drawn("d2", DARK, ball=PALE),
        Drawn("f3", (0.14, 0.22, 0.33)),
        Drawn("d5", PALE, (-6.0, 5.0), ball=DARK),
    ]
    places = [*(disc.place for disc in discs), "b6"]
    plane = finder.plane(picture_of(discs, pose), places)
    plane.colours[:] += np.random.default_rng(8).normal(0.0, 0.03, plane.colours.shape).astype(np.float32)
    nearer = np.zeros(plane.colours.shape[:2], dtype=np.bool_)
    if hidden:
        for place, share in (("b2", 3), ("d2", -4), ("d5", 12), ("f3", 24)):
            column, row = (round(float(at)) for at in plane.window.to_pixels(*BOARD.centre_mm(place)))
            nearer[row - 24 : row + 24, column - 24 : column + share] = True
    found = finder.find(plane, places, nearer)
    assert "b2" in found
    assert len(found) < len(places)
    for place in places:
        expected = ByCircles(plane, finder.shape, place, nearer).fit()
        assert (place in found) == (expected is not None), place
        if expected is not None:
            middle, contrast, without_ball, colour = expected
            one = found[place]
            assert one.centre_mm == pytest.approx(middle)
            assert one.contrast == pytest.approx(contrast, rel=1e-3)
            assert one.contrast_if_bare == pytest.approx(without_ball, rel=1e-3)
            assert one.colour == pytest.approx(colour, abs=1e-3)
            assert one.light == pytest.approx(np.median((shares_of(colour) - DARK_FLOOR) * plane.paper), abs=1e-3)


@pytest.mark.parametrize("directions", [7, 8, 9])
@pytest.mark.parametrize("samples", [3, 4, 60])
def test_a_disc_is_found_by_eight_of_twenty_directions_and_four_points_of_its_top(
    finder: DiscFinder, directions: int, samples: int
) -> None:
    """Only this many directions around a disc, and points of its top, are visible at every position tried."""
    window = finder.plane(picture_of([], POSE), []).window
    circles = ByCircles(
        TopPlane(np.zeros((*window.shape, 3), np.float32), window, np.ones(3)),
        finder.shape,
        "d4",
        np.zeros(window.shape, dtype=np.bool_),
    )
    clear = [number for number in range(20) if circles.clear[60 + number] and circles.clear[80 + number]]
    hidden: BoolImage = np.ones(window.shape, dtype=np.bool_)
    colours = np.zeros((*window.shape, 3), dtype=np.float32)
    inside = [number for number in range(60) if circles.clear[number]][:samples]
    for number in inside:
        hidden[tuple(circles.pixels[number])] = False
    for number in clear[:directions]:
        hidden[tuple(circles.pixels[60 + number])] = hidden[tuple(circles.pixels[80 + number])] = False
    colours[tuple(circles.pixels[60:].T)] = 1.0
    fits = finder.find(TopPlane(colours, window, np.ones(3)), ["d4"], hidden)
    assert ("d4" in fits) == (directions >= 8 and samples >= 4)


# The areas that a disc and a ball cover in the plane of the tops agree with their projections.

BOARD_SHAPE = pictures.LAYOUT.board
PIECES_SHAPE = DiscPieces.on(BOARD_SHAPE)


@pytest.mark.parametrize("name", pictures.PLAYED)
@pytest.mark.parametrize("place", ["a1", "d4", "g7"])
def test_points_that_a_disc_covers_lie_within_its_projected_outline(name: str, place: str) -> None:
    camera, pose = pictures.camera(name), pictures.pose(name)
    shape = DiscShape.of(PIECES_SHAPE, pose, BOARD_SHAPE.height_mm)
    centre = np.array(BOARD_SHAPE.centre_mm(place))
    solid = PIECES_SHAPE.solid_with(centre[0], centre[1], BOARD_SHAPE.height_mm, ball=False)
    outline = outline_px(solid, camera, pose)
    grid = centre + np.stack(np.meshgrid(np.arange(-24.0, 25.0, 2.0), np.arange(-24.0, 25.0, 2.0)), axis=-1).reshape(
        -1, 2
    )
    pixels = project(camera, pose, np.column_stack([grid, np.full(len(grid), shape.top_mm)]))
    away = np.array([cv2.pointPolygonTest(outline, tuple(map(float, pixel)), True) for pixel in pixels])
    inside = beyond_mm(grid, shape.disc_circles(centre)) < 0
    assert (away[inside] > -1.0).all()
    assert (away[~inside] < 1.0).all()


@pytest.mark.parametrize("name", pictures.PLAYED)
def test_the_outline_of_a_ball_is_that_of_the_projected_sphere(name: str) -> None:
    camera, pose = pictures.camera(name), pictures.pose(name)
    shape = DiscShape.of(PIECES_SHAPE, pose, BOARD_SHAPE.height_mm)
    centre = np.array(BOARD_SHAPE.centre_mm("c5"))
    turns = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    ways = np.column_stack([np.cos(turns), np.sin(turns)])
    outline = shape.ball_outline(centre, ways)
    seen = project(camera, pose, np.column_stack([outline, np.full(len(outline), shape.top_mm)]))
    half = PIECES_SHAPE.ball_mm / 2
    rng = np.random.default_rng(1)
    points = rng.normal(size=(4000, 3))
    points = points / np.linalg.norm(points, axis=1, keepdims=True) * half + (*centre, shape.top_mm + half)
    hull = np.asarray(cv2.convexHull(project(camera, pose, points).astype(np.float32)))
    away = [abs(cv2.pointPolygonTest(hull, tuple(map(float, pixel)), True)) for pixel in seen]
    assert max(away) < 1.2
    middle = outline.mean(axis=0)
    assert (beyond_mm(middle + 0.85 * (outline - middle), shape.ball_circles(centre)) < 0).all()


@pytest.mark.parametrize("place", ["a1", "d4", "g7"])
def test_the_extent_of_a_disc_is_that_of_its_top_and_bottom_circles(place: str) -> None:
    name = pictures.PLAYED[0]
    shape = DiscShape.of(PIECES_SHAPE, pictures.pose(name), BOARD_SHAPE.height_mm)
    centre = np.array(BOARD_SHAPE.centre_mm(place))
    turns = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ways = np.column_stack([np.cos(turns), np.sin(turns)])
    middles, radii = shape.disc_circles(centre)
    assert shape.reach(centre, ways) == pytest.approx(((middles - centre) @ ways.T + radii[:, None]).max(axis=0))
    assert shape.reach(centre, ways).min() == pytest.approx(PIECES_SHAPE.diameter_mm / 2)
    assert shape.reach(centre, ways).max() > PIECES_SHAPE.diameter_mm / 2 + 0.5
