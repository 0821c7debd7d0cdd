from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from engine.registry import games, load
from hardware.lights.signals import Light, LightRole, Mood, Signal
from referee.rendering.board_text import DrawnBoard
from referee.session.feed import TableSnapshot
from referee.web.drawing.pieces import stack_in
from referee.web.drawing.table import RINGS, _say_in, draw_table
from tests.present import present

SVG = "{http://www.w3.org/2000/svg}"
SCREENS = runpy.run_path(str(Path(__file__).parents[3] / "scripts" / "drawing" / "screens.py"))


def snapshot_of(name: str) -> TableSnapshot:
    snapshot: TableSnapshot = SCREENS["screen_of"](name).snapshot
    return snapshot


def parsed(markup: str) -> ET.Element:
    return ET.fromstring(f"<all>{markup}</all>")


@pytest.mark.parametrize("name", games())
def test_every_place_of_a_game_in_play_can_be_tapped(name: str) -> None:
    snapshot = snapshot_of(name)
    drawn = parsed(draw_table(load(name), snapshot))
    ids = [found for each in drawn.iter() if (found := each.get("id"))]
    assert sorted(ids) == sorted(f"place-{place}" for place in snapshot.appearance)


@pytest.mark.parametrize("name", games())
def test_every_drawing_has_a_description_and_no_inline_styles(name: str) -> None:
    markup = draw_table(load(name), snapshot_of(name))
    pictures = parsed(markup).findall(f"{SVG}svg")
    assert pictures
    for picture in pictures:
        assert picture.get("role") == "img"
        assert picture.findtext(f"{SVG}title")
        assert picture.findtext(f"{SVG}desc")
    assert "style=" not in markup


@pytest.mark.parametrize("name", games())
def test_a_table_before_its_set_up_is_drawn_empty(name: str) -> None:
    before = TableSnapshot(1, 1, Signal(Mood.LOOKING), 0.0)
    drawn = parsed(draw_table(load(name), before))
    places = DrawnBoard.seen(load(name), {}).appearance
    assert len([each for each in drawn.iter() if each.get("id")]) == len(places)


def test_the_size_of_a_drawing_is_limited() -> None:
    for name in games():
        assert len(draw_table(load(name), snapshot_of(name)).encode()) < 75_000, name


def test_a_name_cannot_break_out_of_the_drawing() -> None:
    snapshot = replace(snapshot_of("number-drop"), names={"p1": '</text><script>alert("x")</script>'})
    markup = draw_table(load("number-drop"), snapshot)
    assert "<script>" not in markup
    assert 'alert("x")' in "".join(parsed(markup).itertext())


@pytest.mark.parametrize("sign", ["\x01", "\ufffe"])
def test_a_sign_in_a_name_that_xml_forbids_is_replaced(sign: str) -> None:
    snapshot = replace(snapshot_of("number-drop"), names={"p1": f"A{sign}B"})
    assert "A\ufffdB" in "".join(parsed(draw_table(load("number-drop"), snapshot)).itertext())


@pytest.mark.parametrize("role", LightRole)
def test_a_light_differs_by_more_than_its_colour(role: LightRole) -> None:
    snapshot = snapshot_of("diaballik")
    lit = replace(snapshot, signal=Signal(Mood.WAITING, (Light.for_role("d4", role),)))
    drawn = parsed(draw_table(load("diaballik"), lit))
    (light,) = (each for each in drawn.iter() if each.get("class", "").startswith("light"))
    assert "".join(light.itertext()) == RINGS[role].sign


def test_no_two_roles_of_lights_share_dashes_or_a_mark() -> None:
    assert len({style.dashes for style in RINGS.values()}) == len(RINGS)
    assert len({style.sign for style in RINGS.values()}) == len(RINGS)


def test_the_path_of_each_piece_is_an_arrow() -> None:
    snapshot = snapshot_of("diaballik")
    assert present(snapshot.last_turn).said == "black d1-d2 g1-g2"
    drawn = parsed(draw_table(load("diaballik"), snapshot))
    assert len([each for each in drawn.iter() if each.get("class") == "arrow"]) == 2


def test_a_stack_is_described_from_the_lowest_piece_up() -> None:
    looks = load("blockade").looks
    assert [look.name for look in stack_in("CL+BMM+KS", looks)] == [
        "clear large", "blue medium", "blue medium", "black small",
    ]  # fmt: skip
    assert stack_in("#", looks) == ()


def test_only_known_side_faces_are_drawn() -> None:
    game = load("deblockle")
    assert game.side_faces is not None
    known = game.rules.new()
    appearance = game.table.appearance(known)
    unknown = game.table.set_up(appearance)
    parts = []
    for state in (known, unknown):
        snapshot = TableSnapshot(1, 1, Signal(Mood.WAITING), 0.0, states=(state,), appearance=appearance)
        parts.append(draw_table(game, snapshot).count("<polygon"))
    with_sides, without = parts
    assert with_sides > without


def test_loops_boxes_and_lines_of_a_sheet_are_drawn() -> None:
    game = load("number-drop")
    assert game.marked_sheets is not None
    snapshot = snapshot_of("number-drop")
    marked = game.marked_sheets(snapshot.states[0])["p2"]
    assert marked.loops == (("p2.c1", "p2.d1", "p2.d2", "p2.e2"),)
    assert marked.boxes[0] == ("", "x", "", "", "")
    assert "#c22222" in draw_table(game, snapshot)


@pytest.mark.parametrize(("name", "is_said"), [("", True), ("m", True), ("Sum", False)])
def test_only_texts_with_a_whole_name_in_them_are_not_translated(name: str, is_said: bool) -> None:
    drawn = ET.fromstring("<svg><title>Sum</title></svg>")
    _say_in(drawn, lambda _: "Summe", [name])
    assert drawn.findtext("title") == ("Summe" if is_said else "Sum")
