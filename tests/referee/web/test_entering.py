"""The API's lists of turns to type and dice to tap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.registry import load
from engine.values import Outcome, Roll
from referee.web.documents import MOST_TURNS, dice_document, turns_document
from tests.referee.web.page_table import client_of, port_of, snapshot_of


def rolled(name: str, faces: str) -> tuple[Any, Any, Any]:
    """A game, a snapshot that awaits its first roll, and one with that roll."""
    game = load(name)
    options = {} if name == "blockade" else {"players": 2}
    before = game.rules.new(options)
    assert game.dice is not None
    after = game.dice.rolled(before, Roll(tuple(faces.split(","))))
    snapshot = snapshot_of(game)
    return game, replace(snapshot, states=(before,)), replace(snapshot, states=(after,))


def test_the_first_turns_are_listed_and_the_others_counted() -> None:
    game = load("diaballik")
    snapshot = snapshot_of(game)
    every = turns_document(game, snapshot)
    in_all = len(game.rules.legal_turns(snapshot.states[0]))
    assert in_all > MOST_TURNS
    assert (len(every.turns), every.more) == (MOST_TURNS, in_all - MOST_TURNS)
    begun = turns_document(game, snapshot, "A1-A2 b1")
    assert begun.turns
    assert begun.more == 0
    assert all(turn.text.startswith("a1-a2 b1") for turn in begun.turns)
    assert turns_document(game, snapshot, "z9").turns == ()


def test_the_api_lists_the_turns_that_begin_with_a_text() -> None:
    port = port_of()
    client = client_of(port)
    assert client.get("/api/turns").status_code == 404
    port.snapshots(snapshot_of(port.game, 7))
    listed = client.get("/api/turns", params={"begins": "a1-a2 d1"}, headers={"Accept-Language": "de"}).json()
    assert listed["event_number"] == 7
    words = {turn["text"]: turn["words"] for turn in listed["turns"]}
    assert words["a1-a2 d1*e1"] == "Schwarz zieht a1 nach a2 und spielt den Ball von d1 nach e1."


def test_a_claim_is_listed_once_it_is_possible() -> None:
    port = port_of()
    client = client_of(port)
    port.snapshots(snapshot_of(port.game))
    assert client.get("/api/turns").json()["announcements"] == []
    form = client.get("/enter").text.partition('id="announcing"')[2].partition("</form>")[0]
    assert ("hidden" in form.partition(">")[0], '<select name="text"></select>' in form) == (True, True)
    wall = port.game.notation.parse_state("......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb")
    port.snapshots(replace(snapshot_of(port.game), states=(wall,)))
    (claim,) = client.get("/api/turns", headers={"Accept-Language": "de"}).json()["announcements"]
    assert claim["text"] == "black:anti-play"
    assert claim["words"].startswith("Schwarz ")
    form = client.get("/enter").text.partition('id="announcing"')[2].partition("</form>")[0]
    assert ("hidden" in form.partition(">")[0], '<option value="black:anti-play">' in form) == (False, True)


def test_a_finished_game_and_a_game_on_sheets_list_no_turns() -> None:
    game = load("diaballik")
    over = replace(snapshot_of(game), outcome=Outcome("black", "white resigned"))
    assert turns_document(game, over).turns == ()
    assert turns_document(load("number-drop"), snapshot_of(load("number-drop"))).turns == ()


@pytest.mark.parametrize(
    ("name", "roll", "dice", "face"),
    [("blockade", "6,4", 2, "6"), ("blokus-dice", "3,6", 2, "1"), ("number-drop", "O4,I4,X5,I3,T5", 5, "T5")],
)
def test_dice_are_offered_for_an_awaited_roll_and_to_correct_a_visible_one(
    name: str, roll: str, dice: int, face: str
) -> None:
    game, awaiting, lying = rolled(name, roll)
    offered = dice_document(game, awaiting).dice
    assert len(offered) == dice
    assert all(face in die.faces and not die.shown for die in offered)
    seen = dice_document(game, lying, awaiting.states).dice
    assert [die.faces for die in seen] == [die.faces for die in offered]


def test_dice_are_not_offered_after_a_typed_roll_or_in_a_game_without_dice() -> None:
    game, awaiting, lying = rolled("blokus-dice", "3,6")
    assert dice_document(game, lying).dice == ()
    assert [die.shown for die in dice_document(game, lying, awaiting.states).dice] == ["3", "6"]
    assert dice_document(game, replace(awaiting, outcome=Outcome(None, "over"))).dice == ()
    assert dice_document(load("diaballik"), snapshot_of(load("diaballik"))).dice == ()


def test_the_api_names_distinguishable_dice() -> None:
    port = port_of("blockade")
    client = client_of(port)
    port.snapshots(snapshot_of(port.game, 3))
    told = client.get("/api/dice", headers={"Accept-Language": "de"}).json()
    assert told["event_number"] == 3
    assert [die["faces"] for die in told["dice"]] == [["1", "2", "3", "4", "5", "6"]] * 2
    assert len({die["name"] for die in told["dice"]}) == 2
