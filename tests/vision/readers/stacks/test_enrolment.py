"""Enrolling a set of pyramids, and errors in positions and files."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.vision.readers.stacks import pictures
from vision.errors import EnrolmentError
from vision.readers.registry import load_any
from vision.readers.stacks.appearance import (
    PyramidAppearance,
    hues_of,
    load_appearance,
    plain_appearance,
    save_appearance,
)
from vision.readers.stacks.enrolment import STACK_POSITIONS, enrol, learn_set_up

BOARD = pictures.LAYOUT.board


def test_hues_and_set_up_are_learned_from_a_known_position() -> None:
    looks = pictures.looks()
    assert set(looks.colours) == {"red", "yellow", "green", "blue"}
    assert looks.colours["red"][1] > 1.0
    assert looks.colours["yellow"][0] < -1.0
    assert looks.set_up["a1"][0] == ("L", "clear")
    assert looks.traits[1] == ("small", "medium", "large")


def test_hues_are_learned_from_an_unstated_set_up() -> None:
    learned = learn_set_up(pictures.view("enrol.jpg"), plain_appearance(), {})
    for colour, hue in pictures.looks().colours.items():
        assert np.linalg.norm(learned.colours[colour] - hue) < 0.6


def test_colours_that_are_stronger_than_usual_are_learned_from_a_set_up() -> None:
    weak = PyramidAppearance({colour: 0.3 * hue for colour, hue in plain_appearance().colours.items()})
    learned = learn_set_up(pictures.view("enrol.jpg"), weak, {})
    for colour, hue in pictures.looks().colours.items():
        assert np.linalg.norm(learned.colours[colour] - hue) < 0.8


def test_a_dark_picture_teaches_nothing() -> None:
    view = pictures.view("enrol.jpg")
    dark = replace(view, image=np.full_like(view.image, 3))
    with pytest.raises(EnrolmentError, match=r"0 red pyramids found in the set-up; .*: check that the game is set up"):
        learn_set_up(dark, plain_appearance(), {})


def test_a_position_without_colours_teaches_nothing() -> None:
    picture = replace(pictures.enrolment("enrol.jpg"), position={"c3": (("L", "clear"),)})
    with pytest.raises(EnrolmentError, match="no stack with a coloured pyramid"):
        enrol([picture], BOARD)


def test_two_names_for_one_colour_are_refused() -> None:
    names = {"a2": "red", "b4": "red", "a3": "pink", "c4": "pink"}
    position = {place: (("L", name), ("S", name)) for place, name in names.items()}
    picture = replace(pictures.enrolment("enrol.jpg"), position=position)
    with pytest.raises(EnrolmentError, match="red and pink look nearly the same"):
        enrol([picture], BOARD)


def test_looks_are_kept_in_a_file(tmp_path: Path) -> None:
    save_appearance(pictures.looks(), tmp_path / "looks.json")
    loaded = load_any(tmp_path / "looks.json")
    assert isinstance(loaded, PyramidAppearance)
    assert loaded.set_up == pictures.looks().set_up
    assert loaded.looks == pictures.looks().looks
    assert np.allclose(loaded.colours["red"], pictures.looks().colours["red"], atol=1e-3)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"format": "other"}, "format 'other'"),
        ({"format": "tabletop-referee pyramids 1", "colours": {"red": [1]}, "set_up": {}}, "cannot be read"),
        ({"format": "tabletop-referee pyramids 1"}, "cannot be read"),
        ({"format": "tabletop-referee pyramids 1", "colours": {"red": [10**400, 0]}, "set_up": {}}, "cannot be read"),
        (
            {"format": "tabletop-referee pyramids 1", "colours": {"red": [math.inf, 0]}, "set_up": {}},
            "2 finite numbers",
        ),
    ],
)
def test_a_foreign_file_is_refused(data: dict[str, object], says: str, tmp_path: Path) -> None:
    (tmp_path / "looks.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=says):
        load_appearance(tmp_path / "looks.json")


def test_grey_has_no_hue() -> None:
    assert hues_of(np.array([[90.0, 90.0, 90.0], [200.0, 200.0, 200.0]])) == pytest.approx(np.zeros((2, 2)))


def test_positions_are_read_from_text_and_from_a_file(tmp_path: Path) -> None:
    read = STACK_POSITIONS.read("a2=L:red S:red; c3=L:clear", BOARD)
    assert read == {"a2": (("L", "red"), ("S", "red")), "c3": (("L", "clear"),)}
    file = tmp_path / "set-up.json"
    file.write_text(json.dumps({"stacks": {"a2": ["L:red", "S:red"], "c3": ["L:clear"]}}), encoding="utf-8")
    assert STACK_POSITIONS.read(str(file), BOARD) == read


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a2", "cannot read the position 'a2'"),
        ("a2=", "a stack without pyramids"),
        ("a2=red", "cannot read the pyramid 'red'"),
        ("a2=L:red+S:red", "lowest pyramid first, such as 'L:red S:red'"),
        ("z9=L:red", "no square 'z9'"),
        ("a2=L:red, a2=L:red", "given twice"),
        (" ", "name no stack"),
    ],
)
def test_positions_that_make_no_sense_are_refused(text: str, says: str) -> None:
    with pytest.raises(EnrolmentError, match=says):
        STACK_POSITIONS.read(text, BOARD)


def test_a_file_of_other_content_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text('{"blocks": []}', encoding="utf-8")
    with pytest.raises(EnrolmentError, match="the positions name 'blocks'"):
        STACK_POSITIONS.read(str(file), BOARD)
