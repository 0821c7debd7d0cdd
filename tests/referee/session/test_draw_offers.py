"""A draw is offered by one player and accepted or refused by the other; the offer lapses when the other plays on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.registry import load
from referee.commands.values import (
    AgreedDraw,
    Announce,
    AnswerDraw,
    Command,
    Correct,
    EnterTurn,
    NewGame,
    OfferDraw,
    Reply,
    Role,
    TakeBack,
)
from referee.hints.opponent import ImmediateHints, Opponent, OpponentSettings
from referee.journal.events import Event, EventKind
from referee.journal.exports import event_lines
from referee.journal.fold import DrawOffer, fold, offer_after
from referee.journal.journal import Journal
from referee.journal.reader import events_of_game
from referee.session.feed import TableSnapshot
from referee.session.log import correction_event, misread_event
from referee.session.ports import ServiceSettings
from referee.session.service import Service
from tests.referee.by_text import by_text
from tests.referee.service_table import ScriptedReader, wall_clock

GAME: Any = load("diaballik")
Tell = Callable[[Command], Reply]


def carry_out(session: Any, command: Command) -> Reply:
    replies: list[Reply | None] = []
    session.execute(command, replies.append)
    assert replies[-1] is not None
    return replies[-1]


def service_on(journal: Journal, opponent: Opponent | None = None) -> tuple[Service[Any, Any], list[TableSnapshot]]:
    snapshots: list[TableSnapshot] = []
    service: Service[Any, Any] = Service(
        GAME, ScriptedReader(), journal, snapshots.append, ServiceSettings(), lambda said: None, opponent=opponent
    )
    service.start()
    if not service.belief:
        assert not carry_out(service, set_up()).refused
    return service, snapshots


def set_up() -> Command:
    return Correct("Ann", position=GAME.notation.format_state(GAME.rules.new()))


@pytest.fixture(params=["running", "idle"])
def session(request: Any, new_journal: Callable[[], Journal]) -> Iterator[tuple[Any, Journal]]:
    journal = new_journal()
    if request.param == "running":
        yield service_on(journal)[0], journal
    else:
        idle = by_text(journal, "diaballik")
        idle.begin(NewGame("diaballik"))
        yield idle, journal


def test_an_accepted_offer_ends_the_game_and_can_be_taken_back(session: tuple[Any, Journal]) -> None:
    table, journal = session
    assert carry_out(table, OfferDraw("Ann", "white")).words == "White offers a draw."
    assert "agreed" in carry_out(table, AnswerDraw(by="Ben", accepts=True)).words
    game, events = events_of_game(journal, None)
    assert fold(game, events).outcome is not None
    said = [event for _, event in events if event.kind in ("draw offer", "announced")]
    kept = [(event.kind.value, event.data["by"]) for event in said]
    assert kept == [("draw offer", "Ann"), ("announced", "Ben")]
    assert not carry_out(table, TakeBack("Ann")).refused
    assert fold(*events_of_game(journal, None)).outcome is None
    assert carry_out(table, AnswerDraw(by="Ben", accepts=True)).refused


@pytest.mark.parametrize("text", ["draw", "all:draw", " Draw ", "ALL : draw"])
def test_an_announced_draw_is_an_offer_until_the_other_player_agrees(session: tuple[Any, Journal], text: str) -> None:
    table, journal = session
    assert carry_out(table, Announce(text, "Ann")).words == "Black offers a draw."
    assert carry_out(table, Announce(text, "Ann")).refused
    assert fold(*events_of_game(journal, None)).outcome is None
    assert "agreed" in carry_out(table, Announce(text, "Ben", "white")).words
    assert fold(*events_of_game(journal, None)).outcome is not None


@pytest.mark.parametrize("offers", [[], [OfferDraw("Ann", "white")]])
def test_an_owner_ends_the_game_in_a_draw_without_an_offer(session: tuple[Any, Journal], offers: list[Command]) -> None:
    table, journal = session
    for offer in offers:
        assert not carry_out(table, offer).refused
    assert AgreedDraw.needs is Role.OWN
    assert "agreed" in carry_out(table, AgreedDraw("Arbiter")).words
    game, events = events_of_game(journal, None)
    assert fold(game, events).outcome is not None
    assert [event.data["by"] for _, event in events if event.kind == "announced"] == ["Arbiter"]
    assert carry_out(table, AgreedDraw("Arbiter")).refused


def test_a_refused_offer_leaves_the_game_unchanged(session: tuple[Any, Journal]) -> None:
    table, journal = session
    carry_out(table, OfferDraw("Ann"))
    assert carry_out(table, AnswerDraw(by="Ben", accepts=False)).words == "White refuses the draw."
    game, events = events_of_game(journal, None)
    assert fold(game, events).outcome is None
    assert fold(game, events).offered_by is None
    assert [line.sentence for line in event_lines(game, events)][-2:] == [
        "Black offers a draw.",
        "White refuses the draw.",
    ]
    assert carry_out(table, AnswerDraw(by="Ben", accepts=False)) == Reply("no draw is on offer", refused=True)


def test_an_offer_holds_until_the_other_player_plays_on(session: tuple[Any, Journal]) -> None:
    table, journal = session
    carry_out(table, OfferDraw("Ann", "black"))
    assert not carry_out(table, EnterTurn("a1-a2", "Ann", "black")).refused
    assert fold(*events_of_game(journal, None)).offered_by == "black"
    assert not carry_out(table, EnterTurn("a7-a6", "Ben", "white")).refused
    assert fold(*events_of_game(journal, None)).offered_by is None
    assert carry_out(table, AnswerDraw(by="Ben", accepts=True)).refused


@pytest.mark.parametrize("plays", ["gold", "teal"])
def test_a_misread_side_face_leaves_an_offer_open(plays: str) -> None:
    game = load("deblockle")
    state = game.rules.new()
    turn = Event(EventKind.TURN, {"turn": "e1-e2", "player": plays, "state": game.notation.format_state(state)})
    offer = offer_after(DrawOffer("gold"), misread_event(game, [state], 1.0))
    assert offer == DrawOffer("gold")
    assert offer_after(offer, turn) == (DrawOffer("gold", is_newest=False) if plays == "gold" else None)
    assert offer_after(offer, correction_event(game, [state], "Ann", "", 1.0)) is None


@pytest.mark.parametrize("change", [TakeBack("Ann"), Announce("black:resign", "Ann"), set_up()])
def test_an_offer_lapses_with_its_position(session: tuple[Any, Journal], change: Command) -> None:
    table, journal = session
    carry_out(table, OfferDraw("Ann", "black"))
    assert not carry_out(table, EnterTurn("a1-a2", "Ann", "black")).refused
    reply = carry_out(table, change)
    assert not reply.refused
    assert fold(*events_of_game(journal, None)).offered_by is None
    is_over = isinstance(change, Announce)
    assert reply.words.endswith("Black's draw offer no longer counts.") is not is_over


def test_a_turn_by_the_other_player_says_that_it_ends_the_offer(session: tuple[Any, Journal]) -> None:
    table, _ = session
    carry_out(table, OfferDraw("Ann", "white"))
    assert carry_out(table, EnterTurn("a1-a2", "Ann")).words == (
        "Black moves a1 to a2. White's draw offer no longer counts."
    )
    assert carry_out(table, EnterTurn("a7-a6", "Ben")).words == "White moves a7 to a6."


@pytest.mark.parametrize("turns", [[], ["a1-a2"]])
def test_a_take_back_withdraws_an_offer_and_leaves_the_turn_before_it(
    session: tuple[Any, Journal], turns: list[str]
) -> None:
    table, journal = session
    for turn in turns:
        carry_out(table, EnterTurn(turn, "Ann"))
    carry_out(table, OfferDraw("Ann", "white"))
    assert carry_out(table, TakeBack("Ann")) == Reply("White withdraws the draw offer.")
    game, events = events_of_game(journal, None)
    assert fold(game, events).offered_by is None
    assert fold(game, events).turns == tuple(turns)
    assert event_lines(game, events)[-1].sentence == "White withdraws the draw offer."
    assert carry_out(table, TakeBack("Ann")).refused is not bool(turns)


def test_an_impossible_offer_is_refused(session: tuple[Any, Journal]) -> None:
    table, _ = session
    assert "there is no player 'green'" in carry_out(table, OfferDraw("Ann", "green")).words
    carry_out(table, OfferDraw("Ann", "black"))
    assert carry_out(table, OfferDraw("Ann", "black")).words == (
        "Black has offered a draw already; White accepts or refuses"
    )
    carry_out(table, AnswerDraw(by="Ben", accepts=True))
    assert carry_out(table, OfferDraw("Ann", "black")) == Reply(
        "a draw can be offered only during a game whose rules allow one", refused=True
    )


def test_a_game_without_draws_refuses_an_offer(new_journal: Callable[[], Journal]) -> None:
    idle = by_text(new_journal(), "blokus-dice")
    idle.begin(NewGame("blokus-dice"))
    assert carry_out(idle, OfferDraw("Ann")) == Reply(
        "a draw can be offered only during a game whose rules allow one", refused=True
    )


def test_every_screen_shows_an_open_offer_even_after_a_restart(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "j.sqlite", wall_clock=wall_clock) as journal:
        service, snapshots = service_on(journal)
        carry_out(service, OfferDraw("Ann", "black"))
        assert snapshots[-1].offer == "black"
        assert snapshots[-1].signal.words == "Black offers a draw."
        again, after = service_on(journal)
        assert after[-1].offer == "black"
        carry_out(again, AnswerDraw(by="Ben", accepts=False))
        assert after[-1].offer is None


def test_the_program_accepts_no_draw(new_journal: Callable[[], Journal]) -> None:
    opponent = Opponent(GAME, OpponentSettings("white"), ImmediateHints(lambda: 0.0))
    service, _ = service_on(new_journal(), opponent)
    assert carry_out(service, OfferDraw("Ann")).words == "the program accepts no draw; play on, or resign"


COMMANDS: st.SearchStrategy[Command] = st.one_of(
    st.builds(OfferDraw, st.just("Ann"), st.sampled_from([None, "black", "white"])),
    st.builds(AnswerDraw, st.booleans(), st.just("Ben")),
    st.sampled_from([EnterTurn("a1-a2", "Ann"), EnterTurn("a2-a1", "Ann"), EnterTurn("a7-a6", "Ben"), TakeBack("Ann")]),
)


@given(commands=st.lists(COMMANDS, max_size=12))
def test_screen_and_journal_always_agree_about_an_offer(commands: list[Command]) -> None:
    with Journal.in_memory(wall_clock=wall_clock) as journal:
        service, snapshots = service_on(journal)
        for command in commands:
            carry_out(service, command)
            game, events = events_of_game(journal, None)
            assert snapshots[-1].offer == fold(game, events).offered_by
            assert snapshots[-1].offer is None or fold(game, events).outcome is None


def test_the_program_offers_no_draw_either(new_journal: Callable[[], Journal]) -> None:
    opponent = Opponent(GAME, OpponentSettings("black"), ImmediateHints(lambda: 0.0))
    service, _ = service_on(new_journal(), opponent)
    assert carry_out(service, OfferDraw("Ann")).refused, "it is the program's turn"
