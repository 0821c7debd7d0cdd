"""Resignations and draws that somebody enters during a game."""

from __future__ import annotations

from typing import Any

import pytest

from engine.registry import load
from hardware.lights.signals import Mood
from hardware.pin_map import ButtonRole
from referee.commands.values import (
    Announce,
    AnswerDraw,
    NewGame,
    OfferDraw,
    Overrule,
    Press,
    Reply,
    TakeBack,
)
from referee.judge.verdict import VerdictKind
from referee.session.ports import ServiceSettings, TurnEnd
from tests.referee.service_table import START, Table, kinds_of


@pytest.mark.parametrize("how", ["button", "typed", "under a hand"])
def test_if_touches_end_turns_the_next_player_resigns_after_a_finished_turn(table_set_up: Any, how: str) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    assert on.service.pending
    if how == "typed":
        assert on.tell(Announce("resign", "Ann")) == Reply("Teal resigns.")
    else:
        show = on.hand if how == "under a hand" else on.show
        for _ in range(2):
            show(after, 0.5)
            said = on.tell(Press(ButtonRole.RESIGN)).words
            assert said.startswith(("Teal resigns", "Noted. It is decided once"))
        on.show(after, 1)
    assert on.snapshots[-1].outcome.winner == "gold"
    assert on.kinds()[-3:] == ["turn", "announced", "end"]


def test_a_buttons_question_shows_no_turn_that_still_waits(table_set_up: Any) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    assert on.tell(Press(ButtonRole.RESIGN)).words.startswith("Teal resigns")
    newest = on.snapshots[-1]
    assert (newest.states, newest.to_move, newest.turns) == (on.service.belief, "gold", 0)


@pytest.mark.parametrize("shown", ["put back", "illegal"])
def test_whoever_was_asked_resigns_although_the_finished_turn_is_gone(
    table_set_up: Any, start: Any, shown: str
) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    if shown == "illegal":
        wrong = {**start, "c1": "empty", "a5": START["c1"]}
        assert VerdictKind.ILLEGAL in kinds_of(on.show(wrong, 4))
    for _ in range(2):
        if shown == "illegal":
            on.show(wrong, 0.5)
        else:
            on.hand(after, 0.5)
        said = on.tell(Press(ButtonRole.RESIGN)).words
        assert said.startswith(("Teal resigns", "Noted. It is decided once"))
    if shown == "put back":
        on.show(start, 1)
    assert on.snapshots[-1].outcome.winner == "gold"
    assert "turn" not in on.kinds()


def test_a_resignation_ends_the_game_and_can_be_taken_back(table: Any, on: Any) -> None:
    assert on.service.enter(Announce("resign", "Ann")) == "Gold resigns."
    shown = on.lamp.signals[-1]
    assert (on.service.finished, shown.mood) == (True, Mood.FINISHED)
    assert shown.words == "Gold resigns. Teal wins: gold resigned."
    assert on.kinds()[-2:] == ["announced", "end"]
    assert not on.tell(TakeBack("Ann")).refused
    assert not on.service.finished
    assert on.lamp.signals[-1].mood is Mood.WAITING
    again = table(on.journal)
    again.service.start()
    assert again.service.belief == on.service.belief


def test_a_draw_accepted_after_a_finished_turn_ends_that_turn_too(make_reading: Any, new_journal: Any) -> None:
    game = load("diaballik")
    on = Table(game, make_reading, new_journal(), ServiceSettings(turn_end=TurnEnd.TOUCH))
    on.service.start()
    start = game.rules.new()
    on.show(game.table.appearance(start), 4)
    on.tell(OfferDraw("Ann", "black"))
    on.show(game.table.appearance(game.rules.apply(start, game.notation.parse_turn(start, "c1-c2"))), 2)
    assert on.tell(AnswerDraw(by="Ben", accepts=True)) == Reply("Draw agreed.")
    assert on.kinds() == ["new game", "set up", "draw offer", "turn", "announced", "end"]


def test_a_noted_resignation_outlives_the_word_that_a_place_is_right(table_set_up: Any) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    on.hand(after, 0.5)
    assert on.tell(Announce("resign", "Ann")).words.startswith("Noted.")
    on.tell(Overrule(("e7",), "Ben"))
    on.show(after, 2)
    assert on.kinds()[-3:] == ["turn", "announced", "end"]


@pytest.mark.parametrize("later", [Announce("gold:resign", "Ben"), Announce("nonsense", "Ben")])
def test_what_is_announced_first_counts_and_what_follows_is_answered(table_set_up: Any, later: Announce) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    on.hand(after, 0.5)
    for said in (Announce("resign", "Ann"), later, later):
        assert on.tell(said).words.startswith("Noted.")
    heard = len(on.said)
    on.show(after, 1)
    assert on.snapshots[-1].outcome.winner == "gold"
    assert on.kinds()[-3:] == ["turn", "announced", "end"]
    assert len(on.said) == heard + 2, "one sentence for each"


def test_a_question_of_the_game_before_is_not_answered_in_the_next_one(on: Table, start: Any) -> None:
    assert "Gold resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    on.tell(NewGame("deblockle"))
    on.show(start, 2)
    assert on.service.belief
    assert "Gold resigns?" in on.tell(Press(ButtonRole.RESIGN)).words
    assert not on.service.finished
