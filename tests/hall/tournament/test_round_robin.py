"""Round robins: FIDE's printed Berger tables, every pairing once, and balanced sides."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from hall.tournament.round_robin import berger_round, pair, rounds_needed
from hall.tournament.values import Score, System, Tournament, number_players

# As printed in FIDE's handbook, C.05, annex 1.
PRINTED = {
    4: "1-4 2-3 / 4-3 1-2 / 2-4 3-1",
    6: "1-6 2-5 3-4 / 6-4 5-3 1-2 / 2-6 3-1 4-5 / 6-5 1-4 2-3 / 3-6 4-2 5-1",
    8: "1-8 2-7 3-6 4-5 / 8-5 6-4 7-3 1-2 / 2-8 3-1 4-7 5-6 / 8-6 7-5 1-4 2-3 / 3-8 4-2 5-1 6-7 / 8-7 1-6 2-5 3-4 / "
    "4-8 5-3 6-2 7-1",
}


@pytest.mark.parametrize("count", PRINTED)
def test_rounds_follow_the_printed_berger_tables(count: int) -> None:
    for number, line in enumerate(PRINTED[count].split(" / "), 1):
        assert {f"{first}-{second}" for first, second in berger_round(count, number)} == set(line.split())


def played(count: int, rounds: int = 0) -> Tournament:
    tournament = Tournament(
        "club",
        System.ROUND_ROBIN,
        rounds or rounds_needed(count),
        number_players([(f"P{number}", 0) for number in range(count)]),
    )
    for _ in range(tournament.rounds):
        tournament = replace(tournament, pairings=(*tournament.pairings, *pair(tournament)))
    return tournament


@pytest.mark.parametrize("count", range(2, 24))
def test_every_player_meets_every_other_once_with_balanced_sides(count: int) -> None:
    tournament = played(count)
    games = [pairing for pairing in tournament.pairings if pairing.second is not None]
    met = sorted(tuple(sorted((game.first, game.second or 0))) for game in games)
    assert met == sorted(combinations(range(1, count + 1), 2))
    for player in tournament.players:
        mine = tournament.games_of(player.number)
        assert len(mine) == tournament.rounds, "one game or bye a round"
        firsts = sum(game.first == player.number and game.second is not None for game in mine)
        assert abs(2 * firsts - (count - 1)) <= 1
    byes = [pairing.first for pairing in tournament.pairings if pairing.score is Score.BYE]
    assert sorted(byes) == ([] if count % 2 == 0 else list(range(1, count + 1)))
    assert set(tournament.halves().values()) == {0}, "a bye counts nothing here"


def test_games_of_players_who_are_left_out_are_lost_at_once() -> None:
    players = tuple(replace(player, present=player.number not in (1, 4)) for player in played(5).players)
    tournament = Tournament("club", System.ROUND_ROBIN, 5, players)
    for _ in range(5):
        tournament = replace(tournament, pairings=(*tournament.pairings, *pair(tournament)))
    assert len(tournament.pairings) == 15, "everybody is still paired with everybody"
    scores = {frozenset((game.first, game.second)): game for game in tournament.pairings if game.second}
    for pairing in scores.values():
        away = [number in (1, 4) for number in (pairing.first, pairing.second)]
        assert (
            pairing.score
            == {
                (False, False): Score.OPEN,
                (False, True): Score.SECOND_ABSENT,
                (True, False): Score.FIRST_ABSENT,
                (True, True): Score.BOTH_ABSENT,
            }[away[0], away[1]]
        )
    assert tournament.halves() == {1: 0, 2: 4, 3: 4, 4: 0, 5: 4}


def test_in_a_second_cycle_the_sides_change() -> None:
    tournament = played(5, 10)
    games = {(game.first, game.second) for game in tournament.pairings if game.second}
    assert len(games) == 20
    assert games == {(second, first) for first, second in games}
