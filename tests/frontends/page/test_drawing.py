"""The drawings: every piece once and by name, its way, the set-up, the small ones, and nothing that a page forbids."""

import runpy
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from engine.registry import games, load
from engine.values import EMPTY
from frontends.board_text import colour_letters
from frontends.languages import sentences
from frontends.page.drawing.pieces import picture, written
from frontends.page.drawing.scenes import MISSING, OTHER, TOO_MUCH, moves_of, stack_in
from frontends.page.drawing.small import draw_choices, draw_look, draw_stack_sides
from frontends.page.drawing.table import EDGES, draw_table
from hardware.lights.signals import Light, LightRole, Mood, Signal
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.fold import Intention
from referee.session.feed import TableSnapshot
from tests.present import present

SVG = "{http://www.w3.org/2000/svg}"
SCREENS = runpy.run_path(str(Path(__file__).parents[3] / "scripts" / "drawing" / "screens.py"))


def drawn_snapshot(name: str) -> TableSnapshot:
    snapshot: TableSnapshot = SCREENS["screen_of"](name).snapshot
    return snapshot


def parsed(markup: str) -> ET.Element:
    return ET.fromstring(f"<all>{markup}</all>")


def of_class(drawn: ET.Element, kind: str) -> list[ET.Element]:
    return [each for each in drawn.iter() if each.get("class") == kind]


def drawn_at(drawn: ET.Element, kind: str) -> list[str]:
    return sorted(each.get("data-place", "") for each in of_class(drawn, kind) if each.get("data-place"))


@pytest.mark.parametrize("name", games())
def test_every_place_of_a_game_in_play_can_be_tapped(name: str) -> None:
    snapshot = drawn_snapshot(name)
    drawn = parsed(draw_table(load(name), snapshot))
    ids = [found for each in drawn.iter() if (found := each.get("id"))]
    assert len(set(ids)) == len(ids)
    assert {used[1:] for each in drawn.iter() if (used := each.get("href"))} <= set(ids)
    assert sorted(found for found in ids if found.startswith("place-")) == sorted(
        f"place-{place}" for place in snapshot.appearance
    )


@pytest.mark.parametrize("name", games())
def test_every_drawing_has_a_description_and_no_inline_styles(name: str) -> None:
    markup = draw_table(load(name), drawn_snapshot(name))
    pictures = parsed(markup).findall(f"{SVG}svg")
    assert pictures
    for drawn in pictures:
        assert drawn.get("role") == "img"
        assert drawn.findtext(f"{SVG}title")
        assert drawn.findtext(f"{SVG}desc")
    assert "style=" not in markup


@pytest.mark.parametrize("name", games())
def test_before_its_set_up_a_table_shows_the_start_position_faintly(name: str) -> None:
    game = load(name)
    before = TableSnapshot(1, 1, Signal(Mood.LOOKING), 0.0)
    drawn = parsed(draw_table(game, before))
    start = game.table.appearance(game.rules.new())
    assert drawn_at(drawn, "ghost") == sorted(place for place, look in start.items() if look != EMPTY)
    assert drawn_at(drawn, "piece") == drawn_at(drawn, "wrong") == []


@pytest.mark.parametrize("name", ["blockade", "deblockle", "diaballik"])
def test_each_square_that_is_set_up_wrongly_is_marked(name: str) -> None:
    game = load(name)
    start = game.table.appearance(game.rules.new())
    first, second, *others = [place for place, look in start.items() if look != EMPTY]
    free = next((place for place, look in start.items() if look == EMPTY), second)
    other = next(look for look in game.looks if look not in {EMPTY, start[second]})
    seen = {**start, first: EMPTY, free: start[second], second: other}
    signs = {first: MISSING, second: OTHER, free: OTHER if free == second else TOO_MUCH}
    lights = tuple(Light.for_role(place, LightRole.FAULT) for place in signs)
    snapshot = TableSnapshot(1, 1, Signal(Mood.FAULT, lights), 0.0, seen=seen, wrong=tuple(signs))
    drawn = parsed(draw_table(game, snapshot))
    assert {each.get("data-place"): "".join(each.itertext()) for each in of_class(drawn, "wrong")} == signs
    assert not [each for each in drawn.iter() if each.get("class", "").startswith("light")]
    assert drawn_at(drawn, "ghost") == [first]
    assert drawn_at(drawn, "seen") == sorted({second, free, *others})
    nothing = replace(snapshot, seen=dict.fromkeys(start, EMPTY), wrong=tuple(start))
    assert of_class(parsed(draw_table(game, nothing)), "wrong") == []


def test_the_start_that_is_asked_for_is_drawn() -> None:
    game = load("diaballik")
    variant = game.rules.new({"start": "variant"})
    snapshot = TableSnapshot(1, 1, Signal(Mood.LOOKING), 0.0, start=game.notation.format_state(variant))
    drawn = parsed(draw_table(game, snapshot))
    looks = game.table.appearance(variant)
    assert drawn_at(drawn, "ghost") == sorted(place for place, look in looks.items() if look != EMPTY)


def test_the_size_of_a_drawing_is_limited() -> None:
    for name in games():
        assert len(draw_table(load(name), drawn_snapshot(name)).encode()) < 75_000, name


def test_a_name_cannot_break_out_of_the_drawing() -> None:
    snapshot = replace(drawn_snapshot("number-drop"), names={"p1": '</text><script>alert("x")</script>'})
    markup = draw_table(load("number-drop"), snapshot)
    assert "<script>" not in markup
    assert 'alert("x")' in "".join(parsed(markup).itertext())


@pytest.mark.parametrize("sign", ["\x01", "\ufffe"])
def test_a_sign_that_xml_forbids_is_replaced(sign: str) -> None:
    snapshot = replace(drawn_snapshot("number-drop"), names={"p1": f"A{sign}B"})
    assert "A B" in "".join(parsed(draw_table(load("number-drop"), snapshot)).itertext())
    other = parsed(written(picture("keepsake", f"A{sign}B", "", 0, 0, 1, 1)))
    assert "A\ufffdB" in "".join(other.itertext())


def test_a_sheet_without_a_name_is_player_1s() -> None:
    snapshot = replace(drawn_snapshot("number-drop"), names={"p2": "ben"})
    titles = [each.text for each in parsed(draw_table(load("number-drop"), snapshot)).iter(f"{SVG}title")]
    assert titles[:2] == ["Player 1: 0", "ben: 4"]


@pytest.mark.parametrize("role", LightRole)
def test_a_light_differs_by_more_than_its_colour(role: LightRole) -> None:
    snapshot = drawn_snapshot("diaballik")
    lit = replace(snapshot, signal=Signal(Mood.WAITING, (Light.for_role("d4", role),)), last_turn=None)
    drawn = parsed(draw_table(load("diaballik"), lit))
    (light,) = (each for each in drawn.iter() if each.get("class", "").startswith("light"))
    assert light.get("data-place") == "d4"
    # The light of the last turn is a tint.
    assert "".join(light.itertext()) == ("" if role is LightRole.TURN else EDGES[role].sign)


def test_no_two_roles_of_lights_share_dashes_or_a_mark() -> None:
    assert len({style.dashes for style in EDGES.values()}) == len(EDGES)
    assert len({style.sign for style in EDGES.values()}) == len(EDGES)


def test_the_last_turn_is_two_tinted_squares_and_an_arrow_for_each_piece() -> None:
    snapshot = drawn_snapshot("diaballik")
    assert present(snapshot.last_turn).said == "black d1-d2 g1-g2"
    drawn = parsed(draw_table(load("diaballik"), snapshot))
    assert len(of_class(drawn, "arrow")) == 2
    assert drawn_at(drawn, "light turn") == ["d1", "d2", "g1", "g2"]
    came = {each.get("id"): each.get("data-from") for each in drawn.iter() if each.get("data-from")}
    assert came == {"piece-d2": "d1", "piece-g2": "g1"}


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
        parts.append(draw_table(game, snapshot).count("<use"))
    with_sides, without = parts
    assert with_sides > without


def test_tiles_show_their_slot_and_their_shape_and_the_die_its_shape() -> None:
    game = load("number-drop")
    snapshot = drawn_snapshot("number-drop")
    state = snapshot.states[0]
    tiles = game.tiles(state)
    assert list(tiles) == list("ABCDE")
    drawn = parsed(draw_table(game, snapshot))
    (beside,) = (each for each in drawn if each.findtext(f"{SVG}title") == "Tiles")
    assert [each.text for each in beside.iter(f"{SVG}text")] == list("ABCDE")
    squares = [str(each.get("d")).count("z") for each in beside.iter(f"{SVG}path")]
    assert squares == [game.shapes(state)[face].count("X") for face in tiles.values()]
    assert game.shapes(state)["T"] == game.shapes(state)["T4"]
    assert game.tiles(game.rules.new()) == {}


def test_the_shapes_that_the_dice_give_are_lit_in_their_boxes() -> None:
    game = load("blokus-dice")
    state = game.notation.parse_state("p1 dice=1,5 p1=-:0 p2=-:0")
    snapshot = TableSnapshot(1, 1, Signal(Mood.WAITING), 0.0, states=(state,), appearance=game.table.appearance(state))
    lit = of_class(parsed(draw_table(game, snapshot)), "allowed")
    assert [str(each.get("d")).count("M") for each in lit] == [7, 7]
    rolling = game.rules.new()
    waiting = replace(snapshot, states=(rolling,), appearance=game.table.appearance(rolling))
    assert of_class(parsed(draw_table(game, waiting)), "allowed") == []


def test_loops_boxes_and_lines_of_a_sheet_are_drawn() -> None:
    game = load("number-drop")
    assert game.marked_sheets is not None
    snapshot = drawn_snapshot("number-drop")
    marked = game.marked_sheets(snapshot.states[0])["p2"]
    assert marked.loops == (("p2.c1", "p2.d1", "p2.d2", "p2.e2"),)
    assert marked.boxes[0] == ("", "x", "", "", "")
    assert "#c22222" in draw_table(game, snapshot)


def test_only_a_players_name_is_not_translated() -> None:
    snapshot = replace(drawn_snapshot("number-drop"), names={"p1": "Strikes"})
    drawn = parsed(draw_table(load("number-drop"), snapshot, sentences("de")))
    titles = [title.text for title in drawn.iter(f"{SVG}title")]
    assert sum("Strikes" in str(title) for title in titles) == 1
    assert "Strikes" not in draw_table(load("blokus-dice"), drawn_snapshot("blokus-dice"), sentences("de"))


@pytest.mark.parametrize("name", games())
def test_every_piece_is_drawn_once_and_its_square_says_what_stands_there(name: str) -> None:
    snapshot = drawn_snapshot(name)
    drawn = parsed(draw_table(load(name), snapshot))
    standing = sorted(place for place, look in snapshot.appearance.items() if look != EMPTY)
    ids = [found for each in drawn.iter() if (found := each.get("id", "")).startswith("piece-")]
    assert sorted(ident for ident in ids if ident.count("-") == 1) == [f"piece-{place}" for place in standing]
    assert [each for each in of_class(drawn, "piece") if each.get("id") and not each.get("data-place")] == []
    labels = {each.get("id"): each.get("aria-label", "") for each in drawn.iter()}
    # A label says what is drawn, also where that is not what is believed.
    verdict = snapshot.verdict
    astray = {place: look for place, look in verdict.seen.items() if look != EMPTY} if verdict is not None else {}
    for place, look in {**snapshot.appearance, **astray}.items():
        label = labels[f"place-{place}"]
        assert label.startswith(f"{place.rpartition('.')[2]}: ")
        assert look in label
        assert label.endswith(" (does not belong there)") is (place in astray)


def test_squares_and_letters_are_in_the_readers_language() -> None:
    drawn = draw_table(load("diaballik"), drawn_snapshot("diaballik"), sentences("de"))
    assert 'aria-label="b1: schwarzer Stein"' in drawn
    assert 'aria-label="a1: leer"' in drawn


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", games())
def test_no_two_colours_of_a_game_share_a_letter(name: str, language: str) -> None:
    letters = colour_letters(load(name).looks, sentences(language))
    assert len(set(letters.values())) == len(letters)
    assert all(1 <= len(letter) <= 2 for letter in letters.values())


def test_german_yellow_and_green_are_told_apart() -> None:
    letters = colour_letters(load("blockade").looks, sentences("de"))
    assert (letters["yellow"], letters["green"], letters["red"]) == ("Ge", "Gr", "R")


def test_an_illegal_turn_shows_where_the_piece_stands_and_the_way_back() -> None:
    snapshot = drawn_snapshot("diaballik")
    gone, there = "b1", "b4"
    look = snapshot.appearance[gone]
    verdict = Verdict(
        VerdictKind.ILLEGAL, "No.", 0.0, 1, places=(gone, there), expected={gone: look, there: EMPTY},
        seen={gone: EMPTY, there: look},
    )  # fmt: skip
    drawn = parsed(draw_table(load("diaballik"), replace(snapshot, verdict=verdict)))
    assert len(of_class(drawn, "arrow")) == 1
    assert drawn_at(drawn, "seen") == [there]
    assert [each.get("data-place") for each in of_class(drawn, "piece") if each.get("opacity")] == [gone]
    assert of_class(drawn, "light turn") == []


def test_a_ball_that_lies_on_the_wrong_piece_goes_back_by_one_arrow() -> None:
    snapshot = drawn_snapshot("diaballik")
    carrier, other = "d1", "a1"
    before = {carrier: "black piece with ball", other: "black piece"}
    after = {carrier: "black piece", other: "black piece with ball"}
    verdict = Verdict(VerdictKind.ILLEGAL, "No.", 0.0, 1, places=tuple(before), expected=before, seen=after)
    drawn = parsed(draw_table(load("diaballik"), replace(snapshot, verdict=verdict)))
    assert len(of_class(drawn, "arrow")) == 1
    assert drawn_at(drawn, "seen ball") == [other]


def some_turns(name: str) -> tuple[Any, Any, list[Any]]:
    """A game, one of its states, and a few legal turns there."""
    game = load(name)
    state, rng = game.rules.new(), Random(1)
    while game.awaits_roll(state):
        assert game.dice is not None
        state = game.dice.rolled(state, rng.choice(game.dice.possible_rolls(state)).roll)
    return game, state, list(islice((turn for turn in game.rules.legal_turns(state) if turn.places), 2))


@pytest.mark.parametrize("name", games())
def test_each_turn_to_choose_has_a_board_of_its_own(name: str) -> None:
    game, state, turns = some_turns(name)
    said = [(game.notation.format_turn(turn), turn.player) for turn in turns]
    drawings = draw_choices(game, [state], [*said, ("nonsense", turns[0].player)])
    assert drawings[-1] == ""
    assert len(set(drawings)) == len(drawings)
    for turn, drawing in zip(turns, drawings, strict=False):
        drawn = parsed(drawing)
        assert drawn.findtext(f"{SVG}svg/{SVG}title") == game.notation.describe(turn)
        ids = {found for each in drawn.iter() if (found := each.get("id"))}
        assert {used[1:] for each in drawn.iter() if (used := each.get("href"))} == ids
        assert set(drawn_at(drawn, "light turn")) <= set(turn.places)
        assert drawn_at(drawn, "light turn")
    everything = "".join(drawings)
    all_ids = [found for each in parsed(everything).iter() if (found := each.get("id"))]
    assert len(all_ids) == len(set(all_ids))


@pytest.mark.parametrize("name", games())
def test_a_hint_is_numbered_arrows_or_faint_ink(name: str) -> None:
    game, state, (turn, *_) = some_turns(name)
    looks = game.table.appearance(state)
    after = game.table.appearance(game.rules.apply(state, turn))
    hinted = Intention(turn.player, game.notation.format_turn(turn), "Play this.", turn.places)
    lights = tuple(Light.for_role(place, LightRole.HINT) for place in turn.places)
    snapshot = TableSnapshot(1, 1, Signal(Mood.WAITING, lights), 0.0, states=(state,), appearance=looks)
    drawn = parsed(draw_table(game, replace(snapshot, hinted=hinted)))
    ids = [each.get("id", "") for each in drawn.iter()]
    ghosts = {ident.removeprefix("ghost-") for ident in ids if ident.startswith("ghost-") and ident.count("-") == 1}
    assert ghosts == {place for place, look in after.items() if look != EMPTY and looks[place] == EMPTY}
    arrows = ["".join(each.itertext()) for each in of_class(drawn, "arrow")]
    steps = moves_of(hinted.turn)
    assert arrows == (
        [] if game.has_sheets else [str(step + 1) if len(steps) > 1 else "" for step in range(len(steps))]
    )
    assert arrows or ghosts
    assert not [each for each in drawn.iter() if each.get("class", "").startswith("light")]


def test_a_turn_that_the_program_asks_for_is_shown_like_a_hint() -> None:
    snapshot = drawn_snapshot("diaballik")
    asked = Intention("white", "e7-e6 d7*e6", "Play this.")
    drawn = parsed(draw_table(load("diaballik"), replace(snapshot, intention=asked)))
    assert ["".join(each.itertext()) for each in of_class(drawn, "arrow")] == ["1", "2"]
    assert of_class(drawn, "light turn") == []


@pytest.mark.parametrize("name", ["blockade", "blokus-dice"])
def test_a_roll_to_choose_is_drawn_as_dice(name: str) -> None:
    game = load(name)
    state = game.rules.new()
    assert game.dice is not None
    roll = game.dice.possible_rolls(state)[0].roll
    (drawing,) = draw_choices(game, [state], [(",".join(roll.faces), "")])
    assert parsed(drawing).find(f"{SVG}svg[@class='dice']") is not None


@pytest.mark.parametrize("name", games())
def test_every_look_of_a_game_has_a_drawing_of_its_own(name: str) -> None:
    game = load(name)
    for place in ("", game.places[0]):
        drawings = {draw_look(game, look, sentences("de"), place=place) for look in game.looks}
        assert len(drawings) == len(game.looks)
    assert f"{place.rpartition('.')[2]}: " in "".join(drawings)
    assert [len(parsed(drawing)) for drawing in drawings] == [1] * len(drawings)
    assert "style=" not in "".join(drawings)


def test_stacks_are_drawn_from_the_side_with_every_pyramid() -> None:
    for name in games():
        game, state = load(name), drawn_snapshot(name).states[0]
        uses = len(list(parsed(draw_stack_sides(game, state)).iter(f"{SVG}use")))
        assert uses == (0 if game.heights is None else sum(game.heights(state).values()))
