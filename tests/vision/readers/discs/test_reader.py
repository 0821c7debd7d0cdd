"""The disc reader on ray-traced pictures: owners, places and balls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import cv2
import numpy as np
import pytest

from simulator.enrolment import set_up_image
from simulator.play.actions import Arrangement, Slack
from simulator.play.diaballik import DiscHandler
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import ForeignObject, Scene, Setting
from simulator.table import standard_setting
from tests.vision.readers.discs import pictures
from vision.frame import Frame, Image
from vision.geometry import Pose, project
from vision.layout.pieces import DiscPieces
from vision.locating.location import locate
from vision.readers.discs import reader as disc_reader
from vision.readers.discs.enrolment import enrol, learn_colours
from vision.readers.discs.lighting import DiscAppearance, DiscColours
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
        assert disc.solid.x_mm == pytest.approx(share * known[place].solid.x_mm, abs=0.1)
        assert disc.solid.foot_radius_mm == pytest.approx(share * 12.5)
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


@pytest.mark.parametrize("diameter_mm", [34.0, 35.0])
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
