"""An evening's standings by name, from games that were played to the end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.registry import load
from engine.values import Outcome
from referee.clocks import read_control
from referee.commands.values import Announce, EnterRoll, EnterTurn, NewGame, TakeBack
from referee.journal.events import STOPPED
from referee.journal.journal import Journal
from referee.journal.results import PlayedGame, Results, Tally, played_game, results_in, results_of
from referee.session.log import end_event, time_is_up
from referee.session.service import Service
from tests.referee.by_text import by_text

SIDES = ("p1", "p2", "p3")


def by_name(results: Results) -> dict[str, tuple[int, int, int, int | None]]:
    return {each.name: (each.tally.won, each.tally.drawn, each.tally.lost, each.points) for each in results.standings}


def test_wins_draws_and_meetings_are_counted_by_name() -> None:
    results = results_of(
        [
            PlayedGame({"gold": "Ann", "teal": "Ben"}, Outcome("gold", "won")),
            PlayedGame({"gold": "Ben", "teal": "Ann"}, Outcome("teal", "won")),
            PlayedGame({"gold": "Ben", "teal": "Ann"}, Outcome(None, "a draw")),
            PlayedGame({"gold": "Ben", "teal": "ann"}, Outcome("gold", "won")),
        ]
    )
    assert by_name(results) == {"Ann": (2, 1, 0, None), "Ben": (1, 1, 2, None), "ann": (0, 0, 1, None)}
    assert [each.name for each in results.standings] == ["Ann", "Ben", "ann"]
    assert results.against["Ann", "Ben"] == Tally(2, 1, 0)
    assert results.against["Ben", "Ann"] == Tally(0, 1, 2)
    assert ("Ann", "ann") not in results.against


def test_a_shared_victory_is_a_draw_between_the_winners_and_points_rank_the_others() -> None:
    names = {"p1": "Ann", "p2": "Ben", "p3": "Cem", "p4": "Dee"}
    scores = {"p1": 30, "p2": 30, "p3": 20, "p4": 10}
    results = results_of([PlayedGame(names, Outcome(None, "most points", ("p1", "p2")), scores)])
    assert by_name(results) == {
        "Ann": (0, 1, 0, 30),
        "Ben": (0, 1, 0, 30),
        "Cem": (0, 0, 1, 20),
        "Dee": (0, 0, 1, 10),
    }
    assert results.against["Ann", "Ben"] == Tally(drawn=1)
    assert results.against["Ann", "Dee"] == Tally(won=1)
    assert results.against["Cem", "Dee"] == Tally(won=1)
    level = results_of([PlayedGame(names, Outcome("p1", "won"), {**scores, "p4": 20})])
    assert level.against["Cem", "Dee"] == level.against["Dee", "Cem"] == Tally(drawn=1)
    assert level.against["Ben", "Cem"] == Tally(won=1)
    without = results_of([PlayedGame(names, Outcome("p1", "won"))])
    assert ("Cem", "Dee") not in without.against


def test_whoever_resigned_comes_behind_those_who_lost_at_the_end() -> None:
    names = {"p1": "Ann", "p2": "Ben", "p3": "Cem", "p4": "Dee"}
    scores = {"p1": 60, "p2": 50, "p3": 40, "p4": 30}
    results = results_of([PlayedGame(names, Outcome("p1", "won"), scores, frozenset({"p2", "p3"}))])
    assert results.against["Dee", "Ben"] == results.against["Dee", "Cem"] == Tally(won=1)
    assert results.against["Ben", "Cem"] == Tally(won=1)
    without = results_of([PlayedGame(names, Outcome("p1", "won"), {}, frozenset({"p2"}))])
    assert without.against["Dee", "Ben"] == Tally(won=1)
    assert ("Cem", "Dee") not in without.against


games = st.lists(
    st.builds(
        PlayedGame,
        st.permutations(["Ann", "Ben", "Cem"]).map(lambda names: dict(zip(SIDES, names, strict=True))),
        st.one_of(
            st.just(Outcome(None, "a draw")),
            st.sampled_from(SIDES).map(lambda side: Outcome(side, "won")),
            st.just(Outcome(None, "together", ("p1", "p3"))),
        ),
        st.fixed_dictionaries(dict.fromkeys(SIDES, st.integers(0, 9))),
        st.frozensets(st.sampled_from(SIDES)),
    ),
    max_size=8,
)


@given(games)
def test_the_standings_add_up(played: list[PlayedGame]) -> None:
    results = results_of(played)
    assert sum(each.tally.played for each in results.standings) == 3 * len(played)
    assert sum(each.points or 0 for each in results.standings) == sum(sum(game.scores.values()) for game in played)
    decided = [game for game in played if game.outcome.winner]
    assert sum(each.tally.won for each in results.standings) == len(decided)
    for one, other in itertools.permutations(("Ann", "Ben", "Cem"), 2):
        mine, theirs = (results.against.get(pair, Tally()) for pair in ((one, other), (other, one)))
        assert (mine.won, mine.drawn, mine.lost) == (theirs.lost, theirs.drawn, theirs.won)
        assert mine.played == len(played)


@given(games)
def test_the_best_players_come_first(played: list[PlayedGame]) -> None:
    """More victories, then more draws, then more points, then fewer defeats, then by name."""
    standings = results_of(played).standings
    for above, below in itertools.pairwise(standings):
        ranks = [(each.tally.won, each.tally.drawn, each.points or 0) for each in (above, below)]
        assert ranks[0] >= ranks[1]
        if ranks[0] == ranks[1]:
            assert (above.tally.lost, above.name) < (below.tally.lost, below.name)


@pytest.fixture
def evening(new_journal: Callable[[], Journal]) -> Journal:
    """Ann beats Ben, Ben loses another game on points, and one game each is stopped and unfinished."""
    journal = new_journal()

    def begin(command: NewGame, clock: str = "none") -> Service[Any, Any]:
        session = by_text(journal, command.game, control=read_control(clock))
        session.begin(command)
        return session

    session = begin(NewGame("deblockle", {}, {"gold": "Ann", "teal": "Ben"}), "game 5")
    session.enter(Announce("resign", "Ben", "teal"))
    session = begin(NewGame("number-drop", {"players": 2}, {"p1": "Ann"}))
    session.enter(Announce("resign", "Ann", "p1"))
    session = begin(NewGame("diaballik", {}, {"black": "Ann", "white": "Ben"}))
    game = load("diaballik")
    turn = game.rules.legal_turns(game.rules.new())[0]
    session.enter(EnterTurn(game.notation.format_turn(turn), "Ann"))
    journal.append(end_event(Outcome(None, STOPPED), None))
    session = begin(NewGame("blockade", {}))
    session.enter(EnterRoll("4,1", "Ann"))
    return journal


def test_the_games_of_a_journal_are_added_up(evening: Journal) -> None:
    results = results_in(evening)
    assert by_name(results)["Ben"] == (0, 0, 1, None)
    assert by_name(results)["Ann"][:3] == (1, 0, 1)
    assert by_name(results)["p2"][0] == 1
    assert results.left_out == (3, 4)
    assert results_in(evening, first=3).standings == ()


def test_a_solo_game_that_was_given_up_or_lost_on_time_is_no_result(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    session = by_text(journal, "number-drop")
    for reason in ("", time_is_up("p1")):
        session.begin(NewGame("number-drop", {"players": 1}, {"p1": "Ann"}))
        session.enter(Announce("resign", "Ann"))
        if reason:
            journal.append(end_event(Outcome(None, reason), None))
    results = results_in(journal)
    assert (results.standings, results.left_out) == ((), (1, 2))


def test_a_journal_says_who_resigned(new_journal: Callable[[], Journal]) -> None:
    journal = new_journal()
    session = by_text(journal, "number-drop")
    session.begin(NewGame("number-drop", {"players": 3}, {"p1": "Ann", "p2": "Ben", "p3": "Cem"}))
    for said in ("p2:resign", "p3:resign"):
        session.enter(Announce(said, "Ann"))
    session.take_back(TakeBack("Ann"))
    session.enter(Announce("p1:resign", "Ann"))
    played = played_game(load("number-drop"), journal.events())
    assert played is not None
    assert (played.outcome.winner, played.resigned) == ("p3", {"p1", "p2"})
