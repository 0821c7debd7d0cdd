"""Positions of pieces as an owner writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vision.errors import EnrolmentError
from vision.layout.pieces import Surface
from vision.layout.table import default_layout
from vision.readers.enrolment import PositionText

BOARD = default_layout("deblockle").board


def _shell(text: str, _: Surface) -> str | None:
    if text == "broken":
        raise EnrolmentError("no shell is broken")
    return text if text.endswith("shell") else None


SHELLS = PositionText("shell", '"a4=red shell"', _shell, record=("colour", "kind"))
EXPECTED = {"a4": "red shell", "b5": "blue, pale shell"}


@pytest.mark.parametrize(
    "text",
    [
        "a4=red shell, b5=blue, pale shell",
        "A4 = red shell;b5:blue, pale shell",
        "\n a4=red shell\nb5=blue, pale shell\n",
        "a4=red shell;;b5=blue, pale shell;",
    ],
)
def test_squares_are_separated_by_commas_semicolons_or_newlines(text: str) -> None:
    assert SHELLS.read(text, BOARD) == EXPECTED


@pytest.mark.parametrize(
    "data",
    [
        EXPECTED,
        {"shells": EXPECTED},
        {"a4": ["red", "shell"], "b5": "blue, pale shell"},
        {"A4": " red shell ", " b5": "blue, pale shell"},
        {
            "shells": [
                {"cell": "a4", "colour": "red", "kind": "shell"},
                {"cell": "b5", "colour": "blue, pale", "kind": "shell"},
            ]
        },
    ],
)
def test_a_file_holds_squares_or_a_list_of_pieces(data: object, tmp_path: Path) -> None:
    for path in (tmp_path / "position.json", tmp_path / "position"):
        path.write_text(json.dumps(data), encoding="utf-8")
        assert SHELLS.read(str(path), BOARD) == EXPECTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "name no shell; expected such as .a4=red shell"),
        ("a4=red shell, a4=blue shell", "the square a4 is given twice"),
        ("h9=red shell", "the positions name 'h9': no square 'h9'"),
        ("a4=red stone", "cannot read the position 'a4=red stone'; expected such as"),
        ("a4=red shell; rest", "cannot read the position 'rest'"),
        ("a4=broken", "the positions put 'broken' on a4: no shell is broken"),
        ("nowhere.json", "cannot read the positions nowhere.json"),
        ("a4 red shell, " * 100, "cannot read the position 'a4 red shell, a4"),
    ],
)
def test_an_unreadable_entry_is_named(text: str, message: str) -> None:
    with pytest.raises(EnrolmentError, match=message):
        SHELLS.read(text, BOARD)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"shells": [{"cell": "a4", "colour": "red"}]}, "the shells in .* each need cell, colour and kind .'kind'"),
        ([["a4", "red shell"]], "hold a list; expected an object of squares"),
        ({"shells": 3}, "hold a int; expected an object of squares"),
        ({}, "name no shell"),
    ],
)
def test_a_file_without_positions_is_refused(data: Any, message: str, tmp_path: Path) -> None:
    (tmp_path / "position.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=message):
        SHELLS.read(str(tmp_path / "position.json"), BOARD)


def test_a_list_of_pieces_needs_a_name_for_each_kind(tmp_path: Path) -> None:
    (tmp_path / "position.json").write_text(json.dumps({"shells": [{"cell": "a4"}]}), encoding="utf-8")
    with pytest.raises(EnrolmentError, match="hold a list; expected an object of squares"):
        PositionText("shell", "", _shell).read(str(tmp_path / "position.json"), BOARD)
