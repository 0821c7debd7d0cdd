"""The session's snapshots, each published after the journal has its events."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from common.phrases import capitalized
from engine.registry import load
from engine.search.budget import CountingClock
from engine.values import Outcome
from hardware.lights.signals import Mood, Signal
from referee.commands.values import Announce, AskHint, Correct, EnterTurn, NewGame, OfferDraw
from referee.errors import JournalFullError
from referee.hints.opponent import ImmediateHints
from referee.journal.fold import Intention
from referee.journal.journal import BufferedJournal
from referee.judge.verdict import VerdictKind
from referee.session.feed import TableSnapshot, next_words, players_of, players_to_move
from referee.session.ports import ServiceSettings
from tests.referee.service_table import Table


def test_a_snapshot_has_the_belief_and_its_verdict(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    first = on.snapshots[-1]
    assert (first.game_number, first.event_number, first.states) == (1, 1, ())
    assert (first.appearance, first.to_move, first.verdict) == ({}, None, None)
    on.show(start, 2)
    turn, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    told = on.snapshots[-1]
    assert told.states == on.service.belief
    assert (told.appearance, told.to_move, told.outcome) == (after, "teal", None)
    assert told.verdict is on.service.shown
    assert told.verdict.kind is VerdictKind.ACCEPTED
    assert told.words == told.signal.words == told.verdict.sentence
    assert told.event_number == told.evidence == len(on.journal.events())
    assert {one.evidence.name for one in on.journal.evidence(told.evidence)} >= {f"after-{turn.places[0]}"}


def test_a_snapshot_shows_the_first_of_several_states(table_set_up: Any) -> None:
    told = table_set_up(options={"starts": "either"}).snapshots[-1]
    assert len({state.to_move for state in told.states}) == 2
    assert told.to_move == told.states[0].to_move


def test_every_change_is_published_once_after_it_is_recorded(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 4)
    on.tell(Correct("Ann", {"c1": "gold block, x up"}))
    on.tell(EnterTurn(on.game.notation.format_turn(on.game.rules.legal_turns(on.service.belief[0])[0]), "Ann"))
    assert [snapshot.event_number for snapshot in on.snapshots] == [1, 2, 3, 4]
    assert on.lamp.events_then == [1, 2, 3, 4]
    assert [one.verdict is None for one in on.snapshots] == [True, False, True, True], "a word takes it off the show"


DIABALLIK: Any = load("diaballik")
NUMBER_DROP: Any = load("number-drop")
TILES_TO_DRAW = NUMBER_DROP.to_draw(NUMBER_DROP.rules.new())
BLOKUS: Any = load("blokus-dice")
INTENTION = Intention("white", "a1-a2", "Please play a1-a2 for white.")


@pytest.mark.parametrize(
    ("game", "how", "words"),
    [
        (DIABALLIK, {}, "The signal."),
        (DIABALLIK, {"words": "Set up the pieces."}, "Set up the pieces."),
        (DIABALLIK, {"states": (DIABALLIK.rules.new(),)}, "Black to play."),
        (DIABALLIK, {"states": (DIABALLIK.rules.new(),), "intention": INTENTION}, INTENTION.words),
        (
            DIABALLIK,
            {"intention": INTENTION, "outcome": Outcome("white", "black resigned")},
            "White wins: black resigned.",
        ),
        (NUMBER_DROP, {"states": (NUMBER_DROP.rules.new(),)}, f"{capitalized(TILES_TO_DRAW)}."),
        (BLOKUS, {"states": (BLOKUS.rules.new(),)}, "P1 rolls 4 dice."),
    ],
)
def test_what_comes_next_is_said(game: Any, how: dict[str, Any], words: str) -> None:
    assert next_words(game, TableSnapshot(1, 1, Signal(Mood.WAITING, words="The signal."), 0.0, **how)) == words


def test_the_players_are_those_who_play_and_move_between_set_up_and_end() -> None:
    state = NUMBER_DROP.rules.new()
    state = NUMBER_DROP.dice.rolled(state, NUMBER_DROP.dice.possible_rolls(state)[0].roll)
    shown = TableSnapshot(1, 1, Signal(Mood.WAITING), 0.0, (state,), playing=("p1", "p2"))
    assert players_of(NUMBER_DROP, shown) == ("p1", "p2")
    assert players_of(DIABALLIK, replace(shown, playing=())) == DIABALLIK.players
    assert players_to_move(NUMBER_DROP, shown) == NUMBER_DROP.rules.players_to_move(state) != ()
    for other in (replace(shown, states=()), replace(shown, outcome=Outcome("p1", "p2 resigned"))):
        assert players_to_move(NUMBER_DROP, other) == ()


def test_a_fault_is_published_with_an_unchanged_belief(on: Any, start: Any) -> None:
    on.show({**start, "e5": "empty", "a4": start["e5"]}, 3)
    told = on.snapshots[-1]
    assert told.verdict is not None
    assert told.verdict.kind is VerdictKind.ILLEGAL
    assert told.words == told.signal.words
    assert told.appearance == start


def test_trouble_with_the_camera_is_shown_until_it_ends(on: Any) -> None:
    def told() -> tuple[str, Mood]:
        return on.snapshots[-1].trouble, on.snapshots[-1].signal.mood

    on.service.say_trouble("the camera is gone.")
    assert told() == ("The camera is gone.", Mood.TROUBLE)
    turn = on.game.notation.format_turn(on.game.rules.legal_turns(on.service.belief[0])[0])
    for command in (EnterTurn(turn, "Ann"), OfferDraw("Ann", "gold"), Announce("nonsense", "Ann"), AskHint("Ann")):
        on.tell(command)
        assert told() == ("The camera is gone.", Mood.TROUBLE)
    on.service.end_trouble("The camera is back.")
    assert told() == ("", Mood.WAITING)


def test_trouble_with_the_disk_is_shown_beside_the_cameras(table_set_up: Any, new_journal: Any) -> None:
    journal = BufferedJournal(new_journal(), lambda sentence: None)
    on = table_set_up(journal)
    journal.trouble = JournalFullError("no room on the disk")
    on.tell(Announce("nonsense", "Ann"))
    assert (on.snapshots[-1].trouble, on.snapshots[-1].signal.mood) == ("No room on the disk", Mood.TROUBLE)
    on.service.say_trouble("the camera is gone.")
    assert on.snapshots[-1].trouble == "The camera is gone. No room on the disk"
    on.service.end_trouble("The camera is back.")
    assert on.snapshots[-1].trouble == "No room on the disk"


@pytest.fixture
def with_hints(deblockle: Any, make_reading: Any, new_journal: Any) -> Table:
    """A table with hints at which the referee has started."""
    hints = ImmediateHints(CountingClock(0.01))
    made = Table(deblockle, make_reading, new_journal(), ServiceSettings(rest_s=1.0), hints)
    made.service.start()
    return made


def test_a_hint_is_shown_as_long_as_its_squares_are_lit(with_hints: Table, start: Any) -> None:
    on = with_hints
    on.show(start, 2)
    on.service.hint(AskHint("Ann"))
    on.service.poll_hints()
    told = on.snapshots[-1]
    assert told.hint
    on.tell(OfferDraw("Ann", "gold"))
    assert (on.snapshots[-1].hint, on.snapshots[-1].signal.lights) == (told.hint, told.signal.lights)
    on.show(on.play(start="c1", top="hoops")[1], 2)
    assert on.snapshots[-1].hint == ""


def test_a_refused_hint_before_the_set_up_leaves_what_the_players_have_to_do(with_hints: Table) -> None:
    on = with_hints
    waits = on.snapshots[-1].words
    assert waits == "Waiting for the set-up."
    assert on.tell(AskHint("Ann")).refused
    assert (on.snapshots[-1].words, on.snapshots[-1].signal.words) == (waits, "No hint: the board is not set up yet.")
    on.service.say_trouble("the camera is gone.")
    on.service.end_trouble("The camera is back.")
    assert (on.snapshots[-1].words, on.snapshots[-1].signal.words) == (waits, waits)


def test_a_request_for_an_impossible_hint_gives_a_reason(on: Any) -> None:
    on.tell(AskHint("Ann"))
    assert (on.snapshots[-1].hint, on.snapshots[-1].signal.words) == ("", "There are no hints here.")


def test_a_new_game_begins_with_nothing_of_the_old_one(on: Any, start: Any) -> None:
    on.show(on.play(start="c1", top="hoops")[1], 2)
    assert on.tell(NewGame("diaballik")).refused
    assert on.tell(NewGame("deblockle", players={"glod": "Ann"})).refused
    reply = on.tell(NewGame("deblockle", {"side_by_side": False}, {"gold": "Ann"}))
    assert reply.words == "Game 2 of Deblockle begins. Set up the pieces."
    told = on.snapshots[-1]
    assert (told.game_number, told.states, told.verdict, told.signal.mood) == (2, (), None, Mood.LOOKING)
    assert on.journal.events(2)[0][1].data["players"] == {"gold": "Ann"}
    on.show(start, 2)
    assert on.journal.events(2)[-1][1].kind == "set up"
    assert not on.service.belief[0].options.side_by_side if hasattr(on.service.belief[0], "options") else True
