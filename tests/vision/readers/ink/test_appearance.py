"""Looks of ink need no enrolment; their names are the game's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from common.places import EMPTY
from engine.registry import load
from tests.vision.readers.ink.sheets import layout
from vision.errors import EnrolmentError
from vision.readers.ink.appearance import load_appearance
from vision.readers.registry import load_any, reader_kind


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_looks_are_named_as_the_game_names_them(game: str) -> None:
    looks = reader_kind(layout(game)).plain(layout(game).board).looks
    assert set(looks) == set(load(game).looks) - {EMPTY}


@pytest.mark.parametrize("game", ["number-drop", "blokus-dice"])
def test_looks_are_saved_and_loaded(game: str, tmp_path: Path) -> None:
    kind = reader_kind(layout(game))
    plain = kind.plain(layout(game).board)
    kind.save(plain, tmp_path / "looks.json")
    assert load_any(tmp_path / "looks.json") == plain
    assert plain.traits == (plain.looks,)


@pytest.mark.parametrize(
    ("said", "says"),
    [({"format": "blocks"}, "have format 'blocks'"), ({"format": "tabletop-referee ink 1", "pens": "red"}, "list of")],
)
def test_other_files_are_refused(said: dict[str, str], says: str, tmp_path: Path) -> None:
    (tmp_path / "looks.json").write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=says):
        load_appearance(tmp_path / "looks.json")


def test_pens_are_not_taught() -> None:
    kind = reader_kind(layout("blokus-dice"))
    with pytest.raises(EnrolmentError, match="recognised without being taught"):
        kind.positions("a1=red", layout("blokus-dice").board)
