"""A tournament's files, column by column."""

from __future__ import annotations

import csv
import io
from datetime import date

from hall.tournament.standings import pairings_csv, standings_csv, trf16
from hall.tournament.values import Pairing, Player, Score, System, Tournament

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
