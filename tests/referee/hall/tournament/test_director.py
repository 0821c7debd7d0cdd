"""Tournaments in the database: rounds, results from the tables, and an arbiter's decisions."""

from __future__ import annotations

import pytest

from referee.errors import TournamentError
from referee.hall.tournament.director import Director
from referee.hall.tournament.values import Score, System
from referee.journal.events import EventKind
from tests.referee.hall.halls import Clock, event, hall_on, opened
from tests.referee.hall.halls import table as table_of

NAMES = [("Ann", 1800), ("Ben", 1700), ("Cleo", 1600), ("Dan", 0)]
SEATS = ("table-1", "table-2")


def director_on(where: str) -> Director:
    return Director(opened(where), Clock().utc)


def scores(director: Director, number: int) -> list[str]:
    return [game.score.value for game in director.get(number).tournament.pairings]


def test_a_tournament_is_kept_as_started(where: str) -> None:
    number = director_on(where).begin("Club", System.SWISS, 3, "deblockle", NAMES[::-1])
    director = director_on(where)
    (kept,) = director.all()
    assert (kept.id, kept.game, kept.tournament.rounds, kept.tournament.system) == (
        number,
        "deblockle",
        3,
        System.SWISS,
    )
    assert [(player.number, player.name) for player in kept.tournament.players] == [
        (1, "Ann"),
        (2, "Ben"),
        (3, "Cleo"),
        (4, "Dan"),
    ]
    assert director.begin("Next", System.ROUND_ROBIN, 0, "diaballik", NAMES) == number + 1
    assert director.get(number + 1).tournament.rounds == 3
    for count, needed in ((2, 1), (4, 2), (5, 3), (8, 3), (9, 4)):
        names = [(f"P{each}", 0) for each in range(count)]
        swiss = director.get(director.begin("As many as it needs", System.SWISS, 0, "diaballik", names))
        assert swiss.tournament.rounds == needed


@pytest.mark.parametrize(
    ("system", "rounds", "names", "why"),
    [
        (System.SWISS, 3, NAMES[:1], "2 to"),
        (System.SWISS, 3, [("Ann", 0), ("ann", 0)], "twice"),
        (System.ROUND_ROBIN, 4, NAMES, "3 rounds, or a multiple"),
    ],
)
def test_an_invalid_tournament_is_refused(
    tmp_path: object, system: System, rounds: int, names: list[tuple[str, int]], why: str
) -> None:
    with pytest.raises(TournamentError, match=why):
        director_on(f"{tmp_path}/hall.db").begin("x", system, rounds, "deblockle", names)


def test_a_round_needs_the_previous_results_and_enough_tables(where: str) -> None:
    director = director_on(where)
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    with pytest.raises(TournamentError, match="the next round needs 2 tables, and got 1"):
        director.pair(number, ["table-1"])
    assert director.pair(number, SEATS) == 1
    with pytest.raises(TournamentError, match="round 1 still has 2 games"):
        director.pair(number, SEATS)
    director.decide(number, (1, 1), Score.FIRST_WINS, "Arbiter")
    director.decide(number, (1, 2), Score.SECOND_ABSENT, "Arbiter")
    director.set_present(number, 4, present=False)
    assert director.pair(number, SEATS) == 2
    assert scores(director, number) == ["1-0", "+:-", "", "bye"]
    with pytest.raises(TournamentError, match="no game at board 9"):
        director.decide(number, (1, 9), Score.DRAW, "Arbiter")
    with pytest.raises(TournamentError, match="no tournament 77"):
        director.get(77)


def test_results_come_from_the_tables_and_an_arbiter_outranks_them(where: str) -> None:
    hall, director = hall_on(where), director_on(where)
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    first, second = (table_of(seat) for seat in SEATS)
    # Ann has the first side at board 1, Dan at board 2; the tables' clocks are a year ahead.
    for feed in (first, second):
        feed.began = feed.began.replace(year=2030)
    first.begin(("Ann", "Cleo"), 0)
    second.begin(("Dan", "Ben"), 0)
    while not (first.ended_games and second.ended_games):
        first.advance()
        second.advance()
    told = {feed.table: [event(each) for each in feed.events] for feed in (first, second)}
    hall.take(told["table-1"])
    winner = next(each.data["winner"] for each in first.events if each.event_type == EventKind.END)
    of_first_side = next(iter(first.events[0].data["players"])) == winner
    assert scores(director, number) == ["1-0" if of_first_side else "0-1", ""]
    director.decide(number, (1, 2), Score.BOTH_ABSENT, "Arbiter")
    hall.take([*told["table-2"], *told["table-1"]])
    assert scores(director, number)[1] == "-:-"


def test_a_result_is_taken_back_with_the_turn_that_made_it(where: str) -> None:
    hall, director = hall_on(where), director_on(where)
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    feed = table_of()
    feed.began = feed.began.replace(year=2030)
    feed.begin(("Ann", "Cleo"), 0)
    while not feed.ended_games:
        feed.advance()
    hall.take([event(each) for each in feed.events])
    assert scores(director, number)[0] != ""
    hall.take([event(feed.append(EventKind.TAKE_BACK, {"by": "Ann"}))])
    assert scores(director, number)[0] == ""


def test_a_different_game_does_not_count_for_the_pairing(where: str) -> None:
    hall, director = hall_on(where), director_on(where)
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    earlier, elsewhere, others = table_of(), table_of("table-2"), table_of("table-3")
    elsewhere.began = others.began = earlier.began.replace(year=2030)
    earlier.begin(("Ann", "Cleo"), 0)
    elsewhere.begin(("Ann", "Cleo"), 0)
    others.begin(("Ann", "Ben"), 0)
    for feed in (earlier, elsewhere, others):
        while not feed.ended_games:
            feed.advance()
        hall.take([event(each) for each in feed.events])
    assert scores(director, number) == ["", ""]
