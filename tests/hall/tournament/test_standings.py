"""Standings, by cases calculated by hand."""

from __future__ import annotations

from hall.tournament.standings import format_points, standings
from hall.tournament.values import Pairing, Player, Score, System, Tournament

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
