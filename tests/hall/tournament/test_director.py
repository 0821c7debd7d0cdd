"""Tournaments: rounds, results from the tables, an arbiter's decisions, standings calculated by hand, and files."""

import csv
import io
from datetime import date, timedelta
from pathlib import Path

import pytest

from benchmarks.hall.feeds import Feed
from hall.tournament.director import Director
from hall.tournament.standings import format_points, pairings_csv, standings, standings_csv, trf16
from hall.tournament.values import Pairing, Player, Score, System, Tournament
from referee.errors import TournamentError
from referee.journal.events import EventKind
from tests.hall.halls import Clock, event, hall_on, opened, replay, state
from tests.hall.halls import table as table_of

NAMES = [("Ann", 1800), ("Ben", 1700), ("Cleo", 1600), ("Dan", 0)]
SEATS = ("table-1", "table-2")


def director_on(where: str) -> Director:
    return Director(opened(where), Clock().utc)


def scores(director: Director, number: int) -> list[str]:
    return [game.score.value for game in director.get(number).tournament.pairings]


def play(feed: Feed, *names: str) -> str:
    """Let a table play a game to its end between two players; returns its score, for the first side first."""
    if names:
        feed.begin((names[0], names[1]), 0)
    ended = feed.ended_games
    while feed.ended_games == ended:
        feed.advance()
    first = next(iter(feed._names))
    return "1-0" if feed.events[-1].data["winner"] == first else "0-1"


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
        (System.SWISS, 3000, NAMES, "3000 rounds were asked for; expected 1 to 2000"),
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


@pytest.mark.parametrize("system", System)
def test_no_round_is_paired_after_the_last(where: str, system: System) -> None:
    director = director_on(where)
    number = director.begin("Club", system, 0, "deblockle", NAMES[:2])
    assert director.pair(number, SEATS) == 1
    director.decide(number, (1, 1), Score.DRAW, "Arbiter")
    with pytest.raises(TournamentError, match="all 1 rounds are paired"):
        director.pair(number, SEATS)


@pytest.mark.parametrize("arbiter", ["Arbiter", "table"])
def test_results_come_from_the_tables_and_an_arbiter_outranks_them(arbiter: str, where: str) -> None:
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
    director.decide(number, (1, 2), Score.BOTH_ABSENT, arbiter)
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
    elsewhere, others = table_of("table-2"), table_of("table-3")
    play(elsewhere, "Ann", "Cleo")
    play(others, "Ann", "Ben")
    for feed in (elsewhere, others):
        hall.take([event(each) for each in feed.events])
    assert scores(director, number) == ["", ""]


@pytest.mark.parametrize("lag", [timedelta(0), timedelta(hours=1), timedelta(days=9000), timedelta(days=-400)])
def test_a_game_counts_for_its_pairing_whatever_the_tables_clock_shows(where: str, lag: timedelta) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of()
    feed.began = Clock().utc() - lag
    play(feed, "Ann", "Cleo")
    hall.take([state(feed), *(event(each) for each in feed.events)])
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    begun = feed.begin(("Ann", "Cleo"), 0)
    hall.take([event(begun)])
    assert director.get(number).begun == {(1, 1)}
    score = play(feed)
    hall.take([event(each) for each in feed.events])
    assert scores(director, number) == [score, ""]


def test_a_game_from_before_the_pairing_does_not_count_even_if_its_events_come_later(where: str) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of()
    play(feed, "Ann", "Cleo")
    # The hall was away: the broker has the newest state for it, but not the events.
    hall.take([state(feed)])
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    hall.take([event(each) for each in feed.events])
    assert len(hall.copies.results(9)) == 1
    assert (scores(director, number), director.get(number).begun) == (["", ""], frozenset())
    score = play(feed, "Ann", "Cleo")
    hall.take([event(each) for each in feed.events])
    assert scores(director, number) == [score, ""]


def test_a_game_that_began_while_the_hall_was_away_counts(where: str) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of(events=9)
    hall.take([state(feed), *(event(each) for each in feed.events)])
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    score = play(feed, "Ann", "Cleo")
    again = hall_on(where)
    again.take([state(feed)])
    again.take([event(each) for each in feed.events])
    assert scores(director, number) == [score, ""]


def test_an_evening_that_arrives_at_once_gives_the_same_results_as_one_that_was_followed(tmp_path: Path) -> None:
    feed, told = table_of(), []
    score = play(feed, "Ann", "Cleo")
    feed.append(EventKind.TAKE_BACK, {"by": "Ann"})
    feed.append(EventKind.END, {"winner": None, "reason": "agreed"})
    play(feed, "Ann", "Cleo")
    play(feed, "Eve", "Fay")
    play(feed, "Cleo", "Ann")
    for step in (1, len(feed.events)):
        where = str(tmp_path / f"{step}.db")
        hall, director = hall_on(where), director_on(where)
        number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
        director.pair(number, SEATS)
        for at in range(0, len(feed.events), step):
            hall.take([event(each) for each in feed.events[at : at + step]])
        told.append((scores(director, number), hall.copies.results(9)))
    assert told[0] == told[1]
    assert told[0][0] == ["½-½", ""] != [score, ""]


def test_a_game_in_a_journal_begun_anew_counts(where: str) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of(events=30)
    hall.take([state(feed), *(event(each) for each in feed.events)])
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    new = table_of()
    new.began = feed.began.replace(year=2020)
    score = play(new, "Ann", "Cleo")
    hall.take([state(new), *(event(each) for each in new.events)])
    assert scores(director, number) == [score, ""]


def restored(feed: Feed, events: int, games: int) -> Feed:
    """A table with a copy of another one's journal, from when it had so many events and games."""
    copy = table_of(feed.table)
    copy.events, copy.game_number = feed.events[:events], games
    copy.began = feed.began
    return copy


def test_a_game_at_a_table_with_a_restored_journal_counts(where: str) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of()
    play(feed, "Eve", "Fay")
    after_first = len(feed.events)
    play(feed, "Ann", "Cleo")
    hall.take([state(feed), *(event(each) for each in feed.events)])
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    feed = restored(feed, after_first, 1)
    later = table_of().began + timedelta(hours=1)
    begun = feed.begin(("Ann", "Cleo"), 1).model_copy(update={"wall_time": later.isoformat()})
    feed.events[-1] = begun
    (asked,) = hall.take([state(feed), event(begun)])
    hall.take(replay(feed, asked))
    assert director.get(number).begun == {(1, 1)}
    score = play(feed)
    hall.take([event(each) for each in feed.events])
    assert scores(director, number) == [score, ""]


def test_a_game_that_a_restored_journal_lacks_does_not_lend_its_number_to_another(where: str) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of()
    play(feed, "Eve", "Fay")
    after_first = len(feed.events)
    hall.take([state(feed), *(event(each) for each in feed.events)])
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    play(feed, "Ann", "Cleo")
    hall.take([event(each) for each in feed.events])
    assert scores(director, number)[0] != ""
    feed = restored(feed, after_first, 1)
    later = table_of().began + timedelta(hours=1)
    begun = feed.begin(("Eve", "Fay"), 1).model_copy(update={"wall_time": later.isoformat()})
    feed.events[-1] = begun
    (asked,) = hall.take([event(begun)])
    hall.take(replay(feed, asked))
    play(feed)
    hall.take([event(each) for each in feed.events])
    assert len(hall.copies.results(9)) == 2
    assert (scores(director, number), director.get(number).begun) == (["", ""], frozenset())


def test_the_same_players_at_the_same_table_have_a_game_for_each_round(where: str) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of()
    number = director.begin("Match", System.ROUND_ROBIN, 2, "deblockle", NAMES[:2])
    told: list[str] = []
    for sides in (("Ann", "Ben"), ("Ben", "Ann")):
        director.pair(number, SEATS)
        assert scores(director, number) == [*told, ""]
        hall.take([state(feed), *(event(each) for each in feed.events)])
        assert scores(director, number) == [*told, ""]
        told.append(play(feed, *sides))
        hall.take([state(feed), *(event(each) for each in feed.events)])
        assert scores(director, number) == told


def test_two_tournaments_at_the_same_table_each_get_their_game(where: str) -> None:
    clock = Clock()
    hall, director, feed = hall_on(where), Director(opened(where), clock.utc), table_of()
    one = director.begin("One", System.SWISS, 1, "deblockle", NAMES[:2])
    director.pair(one, SEATS)
    clock.now_s += 60
    two = director.begin("Two", System.SWISS, 1, "deblockle", NAMES[:2])
    director.pair(two, SEATS)
    first = play(feed, "Ann", "Ben")
    hall.take([event(each) for each in feed.events])
    assert (scores(director, one), scores(director, two)) == ([""], [first])
    second = play(feed, "Ann", "Ben")
    hall.take([event(each) for each in feed.events])
    assert (scores(director, one), scores(director, two)) == ([second], [first])


def test_a_reopened_game_of_an_earlier_round_is_the_one_that_is_missing(where: str) -> None:
    director = director_on(where)
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    for played in (1, 2):
        director.pair(number, SEATS)
        for board in (1, 2):
            director.decide(number, (played, board), Score.DRAW, "Arbiter")
    director.decide(number, (1, 2), Score.OPEN, "Arbiter")
    with pytest.raises(TournamentError, match="round 1 still has 1 game without a result"):
        director.pair(number, SEATS)


def test_a_game_that_somebody_else_won_leaves_the_pairing_open(where: str) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of()
    number = director.begin("Club", System.SWISS, 1, "deblockle", NAMES[:2])
    director.pair(number, SEATS)
    feed.begin(("Ann", "Ben"), 0)
    feed.append(EventKind.END, {"winner": "p3", "reason": "most points"})
    hall.take([event(each) for each in feed.events])
    assert scores(director, number) == [""]


@pytest.mark.parametrize("slip", ["before the game", "in the game", "after the game"])
def test_an_open_score_brings_the_tables_result_back(where: str, slip: str) -> None:
    hall, director, feed = hall_on(where), director_on(where), table_of()
    number = director.begin("Club", System.SWISS, 3, "deblockle", NAMES)
    director.pair(number, SEATS)
    for when in ("before the game", "in the game", "after the game"):
        if when == "in the game":
            feed.begin(("Ann", "Cleo"), 0)
        if when == "after the game":
            score = play(feed)
        hall.take([event(each) for each in feed.events])
        if when == slip:
            director.decide(number, (1, 1), Score.BOTH_ABSENT, "Arbiter")
    assert scores(director, number) == ["-:-", ""]
    director.decide(number, (1, 1), Score.OPEN, "Arbiter")
    assert scores(director, number) == [score, ""]
    hall.take([event(feed.append(EventKind.TAKE_BACK, {"by": "Ann"}))])
    assert scores(director, number) == ["", ""], "it is the table's result again"


def test_a_player_who_is_left_out_of_a_round_robin_needs_no_table(where: str) -> None:
    director = director_on(where)
    number = director.begin("Club", System.ROUND_ROBIN, 0, "deblockle", NAMES)
    director.set_present(number, 4, present=False)
    with pytest.raises(TournamentError, match="the next round needs 1 table, and got 0"):
        director.pair(number, [])
    director.pair(number, ["table-1"])
    kept = director.get(number)
    assert [(game.first, game.second, game.score.value) for game in kept.tournament.pairings] == [
        (1, 4, "+:-"),
        (2, 3, ""),
    ]
    assert kept.seats == {(1, 1): "", (1, 2): "table-1"}
    director.decide(number, (1, 2), Score.DRAW, "Arbiter")
    assert director.pair(number, ["table-1"]) == 2


A, B, C, D = (Player(number, name) for number, name in enumerate("ABCD", 1))
WIN, LOSS, DRAW = Score.FIRST_WINS, Score.SECOND_WINS, Score.DRAW


def lines(tournament: Tournament) -> list[tuple[int, str, str, float, float]]:
    return [
        (
            line.rank,
            line.player.name,
            format_points(line.halves),
            line.buchholz_halves / 2,
            line.sonneborn_berger_quarters / 4,
        )
        for line in standings(tournament)
    ]


def test_standings_of_a_round_robin_of_four() -> None:
    games = (
        Pairing(1, 1, 1, 4, WIN),
        Pairing(1, 2, 2, 3, DRAW),
        Pairing(2, 1, 4, 3, LOSS),
        Pairing(2, 2, 1, 2, DRAW),
        Pairing(3, 1, 2, 4, LOSS),
        Pairing(3, 2, 3, 1, WIN),
    )
    # C 2½, A 1½, B 1, D 1. Sonneborn-Berger: C ½·1 + 1 + 1½ = 3; A 1 + ½·1 = 1½; B ½·2½ + ½·1½ = 2; D beat B: 1.
    told = lines(Tournament("x", System.ROUND_ROBIN, 3, (A, B, C, D), games))
    assert [(rank, name, score, berger) for rank, name, score, _, berger in told] == [
        (1, "C", "2½", 3.0),
        (2, "A", "1½", 1.5),
        (3, "B", "1", 2.0),
        (4, "D", "1", 1.0),
    ]


def test_standings_of_a_swiss_of_three_with_byes() -> None:
    games = (
        Pairing(1, 1, 1, 2, WIN),
        Pairing(1, 2, 3, None, Score.BYE),
        Pairing(2, 1, 3, 1, DRAW),
        Pairing(2, 2, 2, None, Score.BYE),
    )
    # A 1½: against B (1) and C (1½) = 2½; beat B, drew C: 1 + ¾ = 1¾.
    # C 1½: the bye counts its own 1½, and A 1½ = 3; 1½ + ¾ = 2¼. B 1: A 1½, the bye its own 1 = 2½; the bye: 1.
    assert lines(Tournament("x", System.SWISS, 2, (A, B, C), games)) == [
        (1, "C", "1½", 3.0, 2.25),
        (2, "A", "1½", 2.5, 1.75),
        (3, "B", "1", 2.5, 1.0),
    ]


def test_a_win_without_a_game_counts_no_game_won() -> None:
    games = (Pairing(1, 1, 1, 2, Score.SECOND_ABSENT), Pairing(1, 2, 3, 4, WIN))
    told = standings(Tournament("x", System.SWISS, 1, (A, B, C, D), games))
    assert {line.player.name: (line.halves, line.won) for line in told} == {
        "A": (2, 0),
        "B": (0, 0),
        "C": (2, 1),
        "D": (0, 0),
    }


def test_players_equal_in_all_tie_breaks_share_a_rank() -> None:
    games = (Pairing(1, 1, 1, 2, DRAW), Pairing(1, 2, 3, 4, WIN))
    told = standings(Tournament("x", System.ROUND_ROBIN, 3, (A, B, C, D), games))
    assert [(line.rank, line.player.name) for line in told] == [(1, "C"), (2, "A"), (2, "B"), (4, "D")]


def test_points_are_written_with_halves() -> None:
    assert [format_points(halves) for halves in (0, 1, 2, 5)] == ["0", "½", "1", "2½"]


PLAYERS = (
    Player(1, "Ann Alder", 1850),
    Player(2, "Ben"),
    Player(3, "Ä" * 50, 990),
    Player(4, "=1+1", 12, present=False),
)
GAMES = (
    Pairing(1, 1, 1, 2, Score.FIRST_WINS),
    Pairing(1, 2, 3, None, Score.BYE),
    Pairing(2, 1, 3, 1, Score.DRAW),
    Pairing(2, 2, 2, 4, Score.SECOND_ABSENT),
    Pairing(3, 1, 2, 3),
)
TOURNAMENT = Tournament("Club", System.SWISS, 5, PLAYERS, GAMES)


def test_a_report_has_every_field_in_its_column() -> None:
    report = trf16(TOURNAMENT, date(2027, 3, 1))
    assert all(line.endswith("\r") for line in report.split("\n")[:-1])
    lines = report.split("\r\n")
    assert lines[:6] == ["012 Club", "042 2027/03/01", "062 4", "072 3", "092 Individual: Swiss-System", "XXR 5"]
    ann, ben, third, absent = lines[6:10]
    # Columns as in the handbook, counted from 1.
    assert (ann[:3], ann[4:8], ann[14:47].rstrip(), ann[48:52]) == ("001", "   1", "Ann Alder", "1850")
    assert (ann[80:84], ann[85:89]) == (" 1.5", "   1")
    assert (ann[91:99], ann[101:109]) == ("   2 w 1", "   3 b =")
    assert ann[111:119] == "0000 - Z", "she was not paired in round 3"
    assert (ben[91:99], ben[101:109], ben[111:119]) == ("   1 b 0", "   4 w +", "   3 w")
    assert (third[14:47], third[91:99]) == ("Ä" * 33, "0000 - U")
    assert (absent[91:99], absent[101:109]) == ("0000 - Z", "   2 b -")


def test_a_report_of_a_round_robin_has_games_lost_by_absence() -> None:
    games = (Pairing(1, 1, 1, 4, Score.SECOND_ABSENT), Pairing(1, 2, 2, 3, Score.BOTH_ABSENT))
    lines = trf16(Tournament("Club", System.ROUND_ROBIN, 3, PLAYERS, games), date(2027, 3, 1)).split("\r\n")
    assert [line[91:99] for line in lines[6:10]] == ["   4 w +", "   3 w -", "   2 b -", "   1 b -"]


def test_standings_are_exported_as_csv() -> None:
    rows = list(csv.DictReader(io.StringIO(standings_csv(TOURNAMENT))))
    assert [(row["rank"], row["number"], row["points"]) for row in rows] == [
        ("1", "1", "1.5"),
        ("2", "3", "1.5"),
        ("3", "2", "1.0"),
        ("4", "4", "0.0"),
    ]
    assert rows[3]["name"] == "'=1+1", "no spreadsheet takes a name for a formula"


def test_pairings_are_exported_as_csv() -> None:
    rows = list(csv.reader(io.StringIO(pairings_csv(TOURNAMENT))))
    assert rows[0] == ["round", "board", "first", "second", "result"]
    assert rows[1] == ["1", "1", "Ann Alder", "Ben", "1-0"]
    assert rows[2][3:] == ["", "bye"]
    assert rows[5][4] == ""
