"""The disc reader on ray-traced pictures: owners, places and balls."""

import math
from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest

from benchmarks.scene.things import ForeignObject
from simulator.enrolment import set_up_image
from simulator.play.actions import Arrangement, Slack
from simulator.play.diaballik import DiscHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting
from simulator.table import standard_setting
from tests.effort import some
from tests.vision.readers.discs import pictures
from tests.vision.readers.discs.drawn import BOARD, DARK, PALE, Drawn, finder_from, picture_of, seen_from
from vision.frame import BoolImage, FloatArray, Frame, Image
from vision.geometry import Pose, project
from vision.layout.pieces import DiscPieces
from vision.locating.location import locate
from vision.readers.discs import reader as disc_reader
from vision.readers.discs.enrolment import enrol, learn_colours
from vision.readers.discs.finder import (
    INSIDE_TOP_MM,
    BallEvidence,
    DiscFit,
    DiscShape,
    TopPlane,
    ball_evidence,
    beyond_mm,
)
from vision.readers.discs.lighting import DARK_FLOOR, DiscAppearance, DiscColours, shares_of
from vision.readers.discs.reader import DiscReader, DiscSettings
from vision.readers.protocols import EnrolmentPicture, SurfaceView
from vision.readers.registry import table_reader
from vision.reading import HindranceKind, Reading

TOP_MM = 20.0
DRAWN = standard_setting(game="diaballik")


def read(name: str, image: Image | None = None) -> Reading:
    reader = table_reader(pictures.camera(name), pictures.LAYOUT, pictures.looks())
    return reader.read(Frame(pictures.picture(name) if image is None else image, 0.0, 0, name))


def shown(reading: Reading) -> dict[str, str]:
    return {place: one.best[0] for place, one in reading.places.items()}


def painted(name: str, place: str, radius_mm: float, height_mm: float, colour: tuple[int, int, int]) -> Image:
    """The picture with a flat round thing over a place."""
    x, y = pictures.LAYOUT.centre_mm(place)
    turns = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    rim = [[x + radius_mm * np.cos(turn), y + radius_mm * np.sin(turn), height_mm] for turn in turns]
    image = pictures.picture(name).copy()
    outline = np.round(project(pictures.camera(name), pictures.pose(name), rim)).astype(np.int32)
    cv2.fillConvexPoly(image, outline, colour, cv2.LINE_AA)
    return image


@pytest.mark.parametrize("name", pictures.EXPECTED)
def test_every_piece_and_ball_is_read(name: str) -> None:
    assert shown(read(name)) == pictures.expected(name)


@pytest.mark.parametrize("name", pictures.PLAYED)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda image: np.asarray(np.clip(image * 1.25, 0, 255), dtype=np.uint8), id="brighter"),
        pytest.param(lambda image: np.asarray(image * np.array([0.8, 1.0, 1.1]) * 0.9, dtype=np.uint8), id="warmer"),
        pytest.param(lambda image: np.asarray(cv2.GaussianBlur(image, (0, 0), 0.8), dtype=np.uint8), id="softer"),
    ],
)
def test_another_exposure_white_balance_or_focus_changes_no_owner(name: str, change: Callable[[Image], Image]) -> None:
    seen = shown(read(name, change(pictures.picture(name))))
    assert {place: look.split()[0] for place, look in seen.items()} == {
        place: look.split()[0] for place, look in pictures.expected(name).items()
    }


def test_unchanged_places_are_not_read_again() -> None:
    view = pictures.view("012.jpg")
    reader = DiscReader(view.surface, pictures.looks())
    first = reader.read(view, view.surface.places, {})
    again = reader.read(view, ["e2"], first)
    assert {place: sight.log_odds for place, sight in again.items() if place != "e2"} == {
        place: sight.log_odds for place, sight in first.items() if place != "e2"
    }
    assert again["e2"].player == "black"
    assert again["e2"].ball_log_odds > 0


def test_bare_places_do_not_affect_the_evenness_of_discs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disc_reader, "_SETTINGS", DiscSettings(least_log_odds=-20.0))
    view = pictures.view(pictures.PLAYED[0])
    reader = DiscReader(view.surface, pictures.looks())
    seen = reader.read(view, view.surface.places, {})
    bare = {place for place, one in seen.items() if one.log_odds < 0}
    assert bare
    alone = reader.read(view, [place for place in view.surface.places if place not in bare], {})
    assert {place: one.ball_log_odds for place, one in alone.items()} == pytest.approx(
        {place: one.ball_log_odds for place, one in seen.items() if place not in bare}
    )


@pytest.mark.parametrize("share", [0.6, 1.4])
def test_a_smaller_or_larger_table_that_gives_the_same_picture_is_read_alike(share: float) -> None:
    usual = pictures.view("012.jpg")
    view, taught = (of_another_size(pictures.view(name), share) for name in ("012.jpg", "enrol.jpg"))
    looks = learn_colours(taught, DiscAppearance({}), pictures.START)
    places = view.surface.places
    seen, known = (
        DiscReader(one.surface, own).read(one, places, {}) for one, own in ((view, looks), (usual, pictures.looks()))
    )
    assert set(seen) == set(known)
    for place, disc in seen.items():
        assert disc.log_odds == pytest.approx(known[place].log_odds, abs=0.01)
        assert disc.look_probabilities() == pytest.approx(known[place].look_probabilities(), abs=0.01)
        solid, usual_solid = disc.solid, known[place].solid
        assert solid is not None
        assert usual_solid is not None
        assert solid.x_mm == pytest.approx(share * usual_solid.x_mm, abs=0.1)
        assert solid.foot_radius_mm == pytest.approx(share * 12.5)
    drawn = DiscReader(view.surface, looks).draw(view.image, view, seen)
    assert np.abs(drawn.astype(int) - DiscReader(usual.surface, looks).draw(usual.image, usual, known)).mean() < 0.1


def of_another_size(view: SurfaceView, share: float) -> SurfaceView:
    """The same picture of a table that is as much smaller as it is nearer."""
    board, pieces, markers = pictures.LAYOUT.board, DiscPieces.on(pictures.LAYOUT.board), pictures.LAYOUT.markers
    size_mm = (pieces.diameter_mm, pieces.disc_mm, pieces.ball_mm)
    small = DiscPieces(*(share * one for one in size_mm))
    centres = {marker_id: (share * x, share * y) for marker_id, (x, y) in markers.centres_mm.items()}
    return replace(
        view,
        pose=Pose(view.pose.rotation, share * view.pose.translation),
        surface=replace(board, cell_mm=share * board.cell_mm, height_mm=share * board.height_mm, pieces=small),
        markers=replace(markers, side_mm=share * markers.side_mm, z_mm=share * markers.z_mm, centres_mm=centres),
    )


def odds_of_a_ball(looks: DiscAppearance) -> float:
    """The log-odds of a ball on the black disc on d1, which has one."""
    view = pictures.view("012.jpg")
    return DiscReader(view.surface, looks).read(view, view.surface.places, {})["d1"].ball_log_odds


def test_a_ball_is_more_certain_if_all_other_discs_are_even(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = odds_of_a_ball(pictures.looks())
    never_narrower = DiscSettings(plain_spread_least=DiscSettings.plain_spread)
    monkeypatch.setattr(disc_reader, "_SETTINGS", never_narrower)
    assert usual > odds_of_a_ball(pictures.looks()) + 0.5


def test_a_ball_of_another_colour_than_its_own_is_doubted() -> None:
    known = pictures.looks().players
    elsewhere = DiscAppearance({name: DiscColours(one.disc, one.ball + 2.0) for name, one in known.items()})
    assert odds_of_a_ball(pictures.looks()) > odds_of_a_ball(elsewhere) + 0.3


def test_a_disc_of_another_colour_is_no_piece() -> None:
    reading = read("012.jpg", painted("012.jpg", "c4", 12.5, TOP_MM, (40, 200, 240)))
    assert reading.places["c4"].hidden_by is HindranceKind.OBJECT
    assert any("a foreign object is over c4" in one.message for one in reading.hindrances)
    assert {place: look for place, look in shown(reading).items() if place != "c4"} == {
        place: look for place, look in pictures.expected("012.jpg").items() if place != "c4"
    }


def test_a_ball_is_where_it_was_passed_to_even_if_both_or_none_show_one() -> None:
    image = pictures.picture("012.jpg")
    carriers = [place for place, look in pictures.expected("012.jpg").items() if look == "black piece with ball"]
    bare = next(place for place, look in pictures.expected("012.jpg").items() if look == "black piece")
    moved = _copied(image, carriers[0], bare)
    both = shown(read("012.jpg", moved))
    assert both[carriers[0]] == both[bare] == "black piece with ball"
    none = shown(read("012.jpg", _copied(image, bare, carriers[0])))
    assert none[carriers[0]] == none[bare] == "black piece"


def test_the_drawing_shows_what_was_seen() -> None:
    view = pictures.view("001.jpg")
    reader = DiscReader(view.surface, pictures.looks())
    drawn = reader.draw(view.image, view, reader.read(view, view.surface.places, {}))
    assert drawn.shape == view.image.shape
    assert (drawn != view.image).any()


def _copied(image: Image, start: str, end: str) -> Image:
    """The picture with the piece of one place copied to another, warped to its perspective."""
    name = "012.jpg"
    corners = []
    for place in (start, end):
        outline = pictures.LAYOUT.board.outline_mm(place)
        inner = outline.mean(axis=0) + 0.8 * (outline - outline.mean(axis=0))
        points = np.column_stack([inner, np.full(4, TOP_MM)])
        corners.append(project(pictures.camera(name), pictures.pose(name), points).astype(np.float32))
    warp = cv2.getPerspectiveTransform(corners[0], corners[1])
    size = (image.shape[1], image.shape[0])
    moved = cv2.warpPerspective(image, warp, size, flags=cv2.INTER_CUBIC)
    mask = np.zeros(image.shape[:2], dtype=np.uint8)
    cv2.fillConvexPoly(mask, np.round(corners[1]).astype(np.int32), 1)
    return np.where(mask[..., None] > 0, moved, image).astype(np.uint8)


def test_a_ball_in_its_discs_colour_is_found_from_above_by_comparison_with_other_discs() -> None:
    table = DRAWN
    handler = DiscHandler(table.layout, Slack(), np.random.default_rng(2))
    start = {place: f"{player} piece" for row, player in ((1, "black"), (7, "white")) for place in row_of(row)}
    taught = handler.set_up(start | {"d1": "black piece with ball", "d7": "white piece with ball"})
    looks = enrol([told(table, taught)], table.layout.board)
    reader = table_reader(table.camera, table.layout, looks)
    for carrier in ("d1", "d2", "d3"):
        played = dict.fromkeys(("b1", "c1", "d1", "d2", "d3", "b3", "e2"), "white piece")
        played[carrier] = "white piece with ball"
        image = Renderer(3).render(Scene(table, tuple(handler.set_up(played).values())), 0)
        seen = shown(reader.read(Frame(image, 0.0, 0, carrier)))
        assert {place: look for place, look in seen.items() if look != "empty"} == played


@pytest.mark.parametrize("diameter_mm", some([34.0, 35.0], 1))
def test_an_empty_square_is_no_disc_where_discs_nearly_fill_their_squares(diameter_mm: float) -> None:
    """Nearly all around an empty square run lines, just outside the outline that a disc would have."""
    board = DRAWN.layout.board
    close = replace(board, pieces=replace(DiscPieces.on(board), diameter_mm=diameter_mm))
    table = replace(DRAWN, layout=replace(DRAWN.layout, surfaces=(close,)))
    handler = DiscHandler(table.layout, Slack(), np.random.default_rng(2))
    taught = {place: f"{player} piece" for row, player in ((1, "black"), (7, "white")) for place in row_of(row)}
    taught |= {"d1": "black piece with ball", "d7": "white piece with ball"}
    reader = table_reader(table.camera, table.layout, enrol([told(table, handler.set_up(taught))], close))
    played: dict[str, str] = {}
    for row, owner in ((2, "white"), (4, "black"), (5, "white")):
        played |= dict.fromkeys(row_of(row)[row % 2 :: 2], f"{owner} piece")
    image = Renderer(1).render(Scene(table, tuple(handler.set_up(played).values())), 0)
    seen = shown(reader.read(Frame(image, 0.0, 0, "close")))
    assert {place: look for place, look in seen.items() if look != "empty"} == played


def row_of(row: int) -> list[str]:
    return [f"{column}{row}" for column in "abcdefg"]


def told(table: Setting, standing: Arrangement) -> EnrolmentPicture:
    picture = set_up_image(table, standing)
    pose = locate(picture.image, table.camera, table.layout).pose
    return EnrolmentPicture(picture.image, table.camera, pose, picture.position, picture.name, table.layout.markers)


@pytest.mark.parametrize("colour", [(0.2, 0.4, 0.55), (0.85, 0.85, 0.88)])
def test_a_coin_on_a_disc_is_not_taken_for_a_ball(colour: tuple[float, float, float]) -> None:
    table = DRAWN
    handler = DiscHandler(table.layout, Slack(), np.random.default_rng(2))
    looks = {place: f"{player} piece" for row, player in ((1, "black"), (7, "white")) for place in row_of(row)}
    looks |= {"d1": "black piece with ball", "d7": "white piece with ball"}
    standing = handler.set_up(looks)
    reader = table_reader(table.camera, table.layout, enrol([told(table, standing)], table.layout.board))
    top_mm = table.layout.board.height_mm + DiscPieces.on(table.layout.board).disc_mm
    coins = [
        ForeignObject("coin", standing[place].x_mm, standing[place].y_mm, colour, top_mm, radius_mm)
        for place, radius_mm in (("a1", 8.0), ("c1", 9.5), ("f1", 10.0), ("b7", 8.5), ("e7", 9.5))
    ]
    image = Renderer(3).render(Scene(table, tuple(standing.values()), (), tuple(coins)), 0)
    reading = reader.read(Frame(image, 0.0, 0, "coins"))
    for place in ("a1", "c1", "f1", "b7", "e7"):
        one = reading.places[place]
        with_ball = one.probabilities[f"{looks[place]} with ball"]
        assert one.hidden_by is HindranceKind.OBJECT or with_ball < 3 * one.probabilities[looks[place]], place
    assert shown(reading)["d1"] == looks["d1"]
    assert shown(reading)["d7"] == looks["d7"]


# Evidence of a ball on a disc in drawn pictures.

RED = (0.05, 0.08, 0.5)
STANDING = (
    Drawn("b2", PALE),
    Drawn("d2", PALE, ball=DARK),
    Drawn("f2", DARK),
    Drawn("b4", DARK, ball=RED),
    Drawn("d4", PALE, ball=PALE),
    Drawn("f4", RED, ball=RED),
    Drawn("d6", RED),
)


def evidence_of(
    discs: tuple[Drawn, ...] = STANDING, azimuth_deg: float = -75.0, shade: float = 0.0
) -> dict[str, BallEvidence]:
    """The evidence at each disc; with ``shade``, light falls off linearly by that share in 100 mm."""
    pose = seen_from(azimuth_deg)
    finder = finder_from(pose)
    places = [disc.place for disc in discs]
    plane = finder.plane(picture_of(discs, pose), places)
    plane.colours[..., 2] += np.linspace(0, shade * plane.colours.shape[1] / 100, plane.colours.shape[1])
    fits = finder.find(plane, places)
    return dict(zip(places, ball_evidence(plane, finder.shape, [fits[one] for one in places], None), strict=True))


@pytest.fixture(scope="module")
def seen() -> dict[str, BallEvidence]:
    return evidence_of()


def test_discs_with_a_ball_are_far_more_uneven_than_those_without(seen: dict[str, BallEvidence]) -> None:
    bare = [seen[disc.place].unevenness for disc in STANDING if disc.ball is None]
    with_ball = [seen[disc.place].unevenness for disc in STANDING if disc.ball is not None]
    assert max(bare) < 0.3
    assert min(with_ball) > 4 * max(bare)
    assert min(bare) >= 1e-3
    flat = [seen[disc.place].rounded for disc in STANDING if disc.ball is None]
    round_ones = [seen[disc.place].rounded for disc in STANDING if disc.ball is not None]
    assert max(flat) < 0.02
    assert min(round_ones) > 0.06


def test_the_colours_of_ball_and_top_are_measured(seen: dict[str, BallEvidence]) -> None:
    for disc in STANDING:
        blue, green, red = np.maximum(shares_of(seen[disc.place].colour) - DARK_FLOOR, 1e-3)
        if disc.ball == RED:
            assert red > 3 * max(blue, green)
        elif DARK in (disc.ball, disc.light):
            assert max(blue, green, red) < 0.1
        top = seen[disc.place].top
        assert 300 < len(top) < 380
        apart = np.abs(np.median(top, axis=0) - seen[disc.place].colour).max()
        assert (apart < 0.5) == (disc.ball is None or disc.ball == disc.light)


def test_the_whole_top_of_a_large_disc_is_sampled() -> None:
    finder = finder_from(seen_from())
    plane = finder.plane(picture_of(STANDING, seen_from()), ["d4"])
    fit = finder.find(plane, ["d4"])["d4"]
    large = replace(finder.shape, pieces=replace(finder.shape.pieces, diameter_mm=60.0))
    (seen,) = ball_evidence(plane, large, [fit], None)
    assert len(seen.top) == pytest.approx(math.pi * (30.0 - INSIDE_TOP_MM) ** 2, rel=0.02)


def test_light_from_one_side_is_no_evidence_of_a_ball(seen: dict[str, BallEvidence]) -> None:
    for place, one in evidence_of(shade=0.8).items():
        assert 1 / 3 < one.unevenness / seen[place].unevenness < 3


@pytest.mark.parametrize("azimuth_deg", [15.0, 105.0, 195.0])
def test_a_ball_is_seen_from_every_side_of_the_table(azimuth_deg: float) -> None:
    seen = evidence_of((Drawn("c3", PALE), Drawn("e5", PALE, ball=RED), Drawn("c5", DARK, ball=RED)), azimuth_deg)
    assert seen["c3"].unevenness < 0.3
    assert min(seen["e5"].unevenness, seen["c5"].unevenness) > 1.5


def test_a_nearly_hidden_disc_gives_no_evidence() -> None:
    pose = seen_from()
    finder = finder_from(pose)
    disc = Drawn("d4", PALE, ball=DARK)
    plane = finder.plane(picture_of([disc], pose), ["d4"])
    fits = list(finder.find(plane, ["d4"]).values())
    hidden: BoolImage = np.ones(plane.colours.shape[:2], dtype=np.bool_)
    (nothing,) = ball_evidence(plane, finder.shape, fits, hidden)
    assert (nothing.shaded, nothing.edge, len(nothing.top), nothing.is_seen) == (0.0, 0.0, 0, False)
    assert nothing.colour is fits[0].colour
    assert nothing.unevenness == 1e-3
    assert nothing.rounded == math.inf
    column, _ = plane.window.to_pixels(*BOARD.centre_mm("d4"))
    hidden[:, : round(column) + 1] = False
    (half,) = ball_evidence(plane, finder.shape, fits, hidden)
    (whole,) = ball_evidence(plane, finder.shape, fits, ~np.ones_like(hidden))
    assert len(half.top) == pytest.approx(len(whole.top) / 2, rel=0.15)
    assert half.unevenness > 1
    assert half.is_seen
    assert ball_evidence(plane, finder.shape, [], None) == []


def residual(points: FloatArray, values: FloatArray, *, curved: bool) -> float:
    """Mean squared residual of a linear or quadratic fit to values at points."""
    x, y = (points / 15.0).T
    terms = [np.ones_like(x), x, y, *([x * x, y * y, x * y] if curved else [])]
    solution, *_ = np.linalg.lstsq(np.column_stack(terms), values, rcond=None)
    return float(((np.column_stack(terms) @ solution - values) ** 2).mean())


def by_points(plane: TopPlane, shape: DiscShape, fit: DiscFit, nearer: BoolImage) -> BallEvidence:
    """The same evidence, point by point and direction by direction."""
    grid = np.array(
        [(x, y) for x in range(-22, 23) for y in range(-22, 23) if math.hypot(x, y) < shape.radius_mm - 2.6]
    )
    grid = grid[[not plane.mask_at(nearer, point) for point in fit.centre_mm + grid]]
    beyond = np.array([beyond_mm(point, shape.ball_circles(fit.centre_mm)) for point in fit.centre_mm + grid])
    top = np.column_stack([grid, plane.at(fit.centre_mm + grid)])
    ball, rest = top[beyond < -0.4], top[beyond > 0.8]
    if len(ball) < 12 or len(rest) < 12:
        return BallEvidence(0.0, 0.0, fit.colour, np.empty((0, 3)))
    noise = np.sqrt([residual(rest[:, :2], rest[:, 2 + channel], curved=False) for channel in range(3)])
    apart = noise[2] ** 2 * len(rest) + residual(ball[:, :2], ball[:, 4], curved=True) * len(ball)
    gained = residual(top[:, :2], top[:, 4], curved=False) - apart / (len(rest) + len(ball))
    contrasts = []
    for number in range(24):
        way = np.array([math.cos(number * math.pi / 12), math.sin(number * math.pi / 12)])
        outline = shape.ball_outline(fit.centre_mm, way[None])[0]
        inner, outer = outline - 1.4 * way, outline + 1.4 * way
        over_top = math.dist(outer, fit.centre_mm) < shape.radius_mm - 1.2
        clear = over_top or beyond_mm(inner, shape.disc_circles(fit.centre_mm)) > 1.2
        if clear and not plane.mask_at(nearer, outer):
            change = (plane.at(inner) - plane.at(outer)) / (np.array([0.06, 0.06, 0.05]) + noise)
            contrasts.append(float(np.linalg.norm(change)))
    edge = float(np.median(contrasts)) if len(contrasts) >= 6 else 0.0
    middle = top[np.hypot(top[:, 0], top[:, 1]) < 4.5]
    rounded = math.inf
    if len(middle) >= 12:
        rounded = math.sqrt(max(0.0, middle[:, 4].var() - residual(middle[:, :2], middle[:, 4], curved=True)))
    return BallEvidence(
        math.sqrt(max(0.0, gained)) / (0.02 + noise[2]), edge, np.median(ball[:, 2:], axis=0), top[:, 2:], rounded
    )


@pytest.mark.parametrize("hidden_mm", some([-30, -6, 0, 5, 9], 3))
def test_the_evidence_equals_a_point_by_point_reference(hidden_mm: int) -> None:
    """Each disc is hidden left of a line at this distance from its middle."""
    pose = seen_from(-75.0)
    finder = finder_from(pose)
    places = [disc.place for disc in STANDING]
    plane = finder.plane(picture_of(STANDING, pose), places)
    plane.colours[:] += np.random.default_rng(5).normal(0.0, 0.05, plane.colours.shape).astype(np.float32)
    fits = list(finder.find(plane, places).values())
    nearer: BoolImage = np.zeros(plane.colours.shape[:2], dtype=np.bool_)
    for fit in fits:
        column, row = (round(float(at)) for at in plane.window.to_pixels(fit.x_mm, fit.y_mm))
        if hidden_mm > -30:
            nearer[row - 24 : row + 25, column - 24 : column - hidden_mm] = True
    found = ball_evidence(plane, finder.shape, fits, nearer)
    for fit, one in zip(fits, found, strict=True):
        expected = by_points(plane, finder.shape, fit, nearer)
        assert one.shaded == pytest.approx(expected.shaded, rel=0.01, abs=0.01)
        assert one.edge == pytest.approx(expected.edge, rel=0.01, abs=0.01)
        assert one.colour == pytest.approx(expected.colour, abs=1e-3)
        assert one.rounded == pytest.approx(expected.rounded, rel=0.01, abs=1e-3)
        assert one.top.shape == expected.top.shape
