"""Enrolling a set of discs from the start position or from known positions, and errors."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.vision.readers.discs import drawn, pictures
from tests.vision.readers.discs.drawn import DARK, PALE, Drawn, picture_of, seen_from, view_of
from vision.errors import EnrolmentError
from vision.layout.pieces import DiscPieces, GridSurface
from vision.readers.discs.enrolment import DISC_POSITIONS, enrol, learn_colours, remarks
from vision.readers.discs.lighting import (
    DARK_FLOOR,
    DiscAppearance,
    DiscColours,
    colour_of_shares,
    load_appearance,
    look_name,
    save_appearance,
)
from vision.readers.protocols import EnrolmentPicture

BOARD = pictures.LAYOUT.board
RED = (0.05, 0.08, 0.5)


def known(position: dict[str, tuple[str, bool]]) -> EnrolmentPicture:
    name = "enrol.jpg"
    return EnrolmentPicture(
        pictures.picture(name), pictures.camera(name), pictures.pose(name), position, name, pictures.LAYOUT.markers
    )


def test_the_set_up_teaches_each_players_colours() -> None:
    looks = pictures.looks()
    assert looks.looks == ("black piece", "black piece with ball", "white piece", "white piece with ball")
    assert looks.traits[0] == ("black", "white")
    # The pieces named black are the white set.
    assert looks.players["black"].disc[2] > looks.players["white"].disc[2] + 1.5
    assert (np.abs(looks.players["black"].disc[:2]) < 0.3).all()


def test_one_piece_and_one_ball_of_each_player_are_enough() -> None:
    position = DISC_POSITIONS.read("a1=black, d1=black ball; a7=white\nd7=white piece with ball", BOARD)
    assert position["d7"] == ("white", True)
    few, many = enrol([known(position)], BOARD), pictures.looks()
    for player, colours in many.players.items():
        assert np.abs(few.players[player].disc - colours.disc).max() < 0.2


def test_a_ball_that_hides_its_disc_teaches_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    large = replace(drawn.PIECES, ball_mm=19.0)
    monkeypatch.setattr(drawn, "PIECES", large)
    pose = seen_from(tilt_deg=0.0)
    image = picture_of([Drawn("d4", RED, ball=DARK), Drawn("g7", RED, ball=DARK), Drawn("a1", PALE)], pose)
    pieces = {"d4": ("red", True), "g7": ("red", True), "a1": ("pale", False)}
    both, clear = (
        enrol(
            [EnrolmentPicture(image, drawn.CAMERA, pose, {place: pieces[place] for place in places}, "drawn")],
            replace(BOARD, pieces=large),
        ).players["red"]
        for places in (("d4", "g7", "a1"), ("g7", "a1"))
    )
    assert both.ball == pytest.approx(clear.ball)
    assert np.abs(both.ball - both.disc).max() > 1


def chequered(place: str) -> str:
    return "last" if (ord(place[0]) + int(place[1])) % 2 else "first"


@pytest.mark.parametrize(
    "start",
    [
        {f"{column}{row}": player for row, player in ((1, "first"), (7, "last")) for column in "abcdefg"},
        {place: chequered(place) for place in BOARD.places},
        {place: chequered(place) for place in ("b2", "c2", "d2", "d5", "e5", "f5")},
    ],
    ids=["rows", "full", "few"],
)
def test_colours_are_learned_from_any_start(start: dict[str, str]) -> None:
    light = {"first": (PALE, RED), "last": (RED, DARK)}
    carriers = {place for place in start if place[0] == "d"}
    discs = [
        Drawn(place, light[player][0], ball=light[player][1] if place in carriers else None)
        for place, player in start.items()
    ]
    start = {place: f"{player} piece{' with ball' if place in carriers else ''}" for place, player in start.items()}
    pose = seen_from()
    taught = learn_colours(view_of(picture_of(discs, pose), pose), DiscAppearance({}), start)
    for player, (disc, ball) in light.items():
        own = taught.players[player]
        as_disc, as_ball = (colour_of_shares(np.array(one) / 0.6 + DARK_FLOOR) for one in (disc, ball))
        assert np.abs(own.disc - as_disc).max() < np.abs(own.disc - as_ball).max()
        assert np.abs(own.ball - as_ball).max() < np.abs(own.ball - as_disc).max()


def test_colours_and_sizes_that_are_read_but_not_well_are_said() -> None:
    def taught(*lightness: float) -> DiscAppearance:
        colours = [colour_of_shares(np.full(3, light) + DARK_FLOOR) for light in lightness]
        return DiscAppearance(
            {name: DiscColours(one, one) for name, one in zip(("black", "white"), colours, strict=True)}
        )

    def wide(diameter_mm: float) -> GridSurface:
        return replace(BOARD, pieces=replace(DiscPieces.on(BOARD), diameter_mm=diameter_mm))

    assert BOARD.cell_mm == 40
    assert remarks(taught(0.05, 0.4), wide(33)) == ()
    assert remarks(DiscAppearance({}), wide(33)) == ()
    # L* of 0.2 and 0.3 of white is 51.8 and 61.7
    (near,) = remarks(taught(0.2, 0.3), wide(33))
    assert "black and white discs are only 10 apart in colour (L*a*b*; 25 or more is clear)" in near
    (broad,) = remarks(taught(0.05, 0.4), wide(34))
    assert "discs 34 mm wide nearly fill squares of 40 mm" in broad


def test_missing_pieces_and_pieces_that_look_alike_are_named() -> None:
    with pytest.raises(
        EnrolmentError, match=r"no clear piece on d4( \(it stands out by .*\))?: check what stands there"
    ):
        enrol([known({"d4": ("black", False)})], BOARD)
    with pytest.raises(EnrolmentError, match="black and white look nearly the same"):
        enrol([known({"a1": ("black", False), "b1": ("white", False)})], BOARD)
    with pytest.raises(EnrolmentError, match="no picture of a known position"):
        enrol([], BOARD)
    empty = replace(pictures.view("enrol.jpg"), image=np.full_like(pictures.picture("enrol.jpg"), 120))
    needed = "the set-up shows no clear piece on a1 and 13 more of 14 squares: .* for a start of your own, use"
    with pytest.raises(EnrolmentError, match=needed):
        learn_colours(empty, DiscAppearance({}), pictures.START)


@pytest.mark.parametrize("columns", ["a", "g", "ag"])
def test_a_set_up_is_turned_only_if_all_of_it_is(columns: str) -> None:
    pose = seen_from()
    discs = [Drawn(f"{column}{row}", PALE if column == "a" else RED) for column in columns for row in range(1, 8)]
    with pytest.raises(EnrolmentError) as said:
        learn_colours(view_of(picture_of(discs, pose), pose), DiscAppearance({}), pictures.START)
    assert ("quarter turn" in str(said.value)) == (columns == "ag")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a1=black, a1=white", "given twice"),
        ("z9=black", "name 'z9'"),
        ("a1 black", "cannot read the position"),
        (";", "name no piece"),
    ],
)
def test_positions_that_make_no_sense_are_refused(text: str, says: str) -> None:
    with pytest.raises(EnrolmentError, match=says):
        DISC_POSITIONS.read(text, BOARD)


def test_positions_come_from_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"a1": "black", "d7": "white piece with ball"}), encoding="utf-8")
    assert DISC_POSITIONS.read(str(path), BOARD) == {"a1": ("black", False), "d7": ("white", True)}
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(EnrolmentError, match="expected an object of squares"):
        DISC_POSITIONS.read(str(path), BOARD)


def test_looks_are_kept_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "looks.json"
    save_appearance(pictures.looks(), path)
    again = load_appearance(path)
    assert again.looks == pictures.looks().looks
    for player, colours in pictures.looks().players.items():
        assert np.abs(again.players[player].ball - colours.ball).max() < 1e-3
    assert look_name("white", True) == "white piece with ball"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"format": "other"}, "have format 'other'"),
        ({"format": "tabletop-referee discs 1"}, "cannot be read"),
        ({"format": "tabletop-referee discs 1", "players": {"black": {"disc": [1, 2], "ball": [0, 0, 0]}}}, "cannot"),
        (
            {"format": "tabletop-referee discs 1", "players": {"x": {"disc": [1, 2, 10**400], "ball": [0, 0, 0]}}},
            "cannot be read",
        ),
        (
            {"format": "tabletop-referee discs 1", "players": {"x": {"disc": [1, 2, "nan"], "ball": [0, 0, 0]}}},
            "cannot",
        ),
    ],
)
def test_an_invalid_file_of_looks_is_refused(data: dict[str, object], says: str, tmp_path: Path) -> None:
    (tmp_path / "looks.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=says):
        load_appearance(tmp_path / "looks.json")
