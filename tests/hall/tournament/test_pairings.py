"""Round robins by FIDE's printed Berger tables, and Swiss pairings, by brute force too."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hall.tournament.round_robin import berger_round, rounds_needed
from hall.tournament.round_robin import pair as pair_round_robin
from hall.tournament.swiss import Cost, PairingRecord, bye_cost, cost, match_players, pairing_records
from hall.tournament.swiss import pair as pair_swiss
from hall.tournament.values import Pairing, Score, System, Tournament, number_players
from referee.errors import TournamentError
from tests.effort import cases

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
        tournament = replace(tournament, pairings=(*tournament.pairings, *pair_round_robin(tournament)))
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
        tournament = replace(tournament, pairings=(*tournament.pairings, *pair_round_robin(tournament)))
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


RESULTS = (Score.FIRST_WINS, Score.SECOND_WINS, Score.DRAW)


def begun(count: int, rounds: int) -> Tournament:
    return Tournament("club", System.SWISS, rounds, number_players([(f"P{number}", 0) for number in range(count)]))


def with_round(tournament: Tournament, rng: Random) -> Tournament:
    """Pair a round and play it."""
    paired = [
        replace(game, score=rng.choice(RESULTS)) if game.score is Score.OPEN else game
        for game in pair_swiss(tournament)
    ]
    return replace(tournament, pairings=(*tournament.pairings, *paired))


def sides_of(tournament: Tournament, number: int) -> str:
    return "".join(
        "w" if game.first == number else "b" for game in tournament.games_of(number) if game.second is not None
    )


@settings(max_examples=cases(60, 15))
@given(st.integers(2, 40), st.integers(1, 7), st.integers(0, 10**6))
def test_in_whole_tournaments_nobody_meets_or_sits_out_twice(count: int, rounds: int, seed: int) -> None:
    # With this few rounds there is always a pairing; with more there may be none.
    rounds = min(rounds, count // 2)
    tournament, rng = begun(count, rounds), Random(seed)
    for number in range(1, rounds + 1):
        tournament = with_round(tournament, rng)
        games = [game for game in tournament.pairings if game.round == number]
        seated = [player for game in games for player in (game.first, game.second) if player is not None]
        assert sorted(seated) == list(range(1, count + 1))
        assert [game.board for game in games] == list(range(1, len(games) + 1))
    met = [frozenset((game.first, game.second)) for game in tournament.pairings if game.second is not None]
    assert len(met) == len(set(met)), "nobody meets twice"
    byes = [game.first for game in tournament.pairings if game.second is None]
    assert len(byes) == len(set(byes)) == (rounds if count % 2 else 0), "nobody sits out twice"


@pytest.mark.parametrize("seed", range(6))
def test_sides_are_balanced_and_scores_close_in_a_field_of_forty(seed: int) -> None:
    tournament, rng = begun(40, 9), Random(seed)
    for number in range(1, 10):
        before = tournament.halves()
        tournament = with_round(tournament, rng)
        games = [game for game in tournament.pairings if game.round == number and game.second is not None]
        apart = [abs(before[game.first] - before[game.second or 0]) for game in games]
        # Odd groups pass one player to the next; in the last rounds the few at both ends need distant opponents.
        assert sum(apart) <= 2 * len(set(before.values())) + 4
    for player in tournament.players:
        sides = sides_of(tournament, player.number)
        assert abs(sides.count("w") - sides.count("b")) <= 2
        assert "www" not in sides
        assert "bbb" not in sides


def test_the_first_round_pairs_upper_with_lower_half_with_alternating_sides() -> None:
    games = pair_swiss(begun(8, 3))
    assert [(game.first, game.second) for game in games] == [(1, 5), (6, 2), (3, 7), (8, 4)]


def test_the_bye_goes_to_the_lowest_player_without_one() -> None:
    tournament = begun(5, 3)
    (bye,) = [game for game in pair_swiss(tournament) if game.second is None]
    assert (bye.first, bye.board, bye.score) == (5, 3, Score.BYE)
    tournament = replace(tournament, pairings=(replace(bye, round=1), Pairing(1, 1, 4, 3, Score.SECOND_ABSENT)))
    (bye,) = [game for game in pair_swiss(tournament) if game.second is None]
    assert bye.first == 3, "5 sat out, and 4 has won without playing"


def test_an_absent_player_is_not_paired() -> None:
    tournament = begun(6, 3)
    away = replace(tournament, players=tuple(replace(each, present=each.number != 2) for each in tournament.players))
    assert {2} & {number for game in pair_swiss(away) for number in (game.first, game.second)} == set()


def test_a_field_without_a_possible_pairing_is_reported() -> None:
    tournament = begun(4, 5)
    for _ in range(3):
        tournament = with_round(tournament, Random(1))
    with pytest.raises(TournamentError, match="second meeting"):
        pair_swiss(tournament)


def every_pairing(field: list[PairingRecord]) -> Iterator[list[tuple[PairingRecord, PairingRecord | None]]]:
    """All pairings of a field, with one player sitting out if its size is odd."""
    if not field:
        yield []
        return
    one, rest = field[0], field[1:]
    for other in rest:
        if other.number not in one.opponents:
            left = [each for each in rest if each is not other]
            yield from ([(one, other), *more] for more in every_pairing(left))
    if len(field) % 2 and not one.sat_out:
        yield from ([(one, None), *more] for more in every_pairing(rest))


def total(pairs: list[tuple[PairingRecord, PairingRecord | None]], field: list[PairingRecord]) -> Cost:
    costs = [bye_cost(one, field) if other is None else cost(one, other) for one, other in pairs]
    parts = [sum(each[part] for each in costs) for part in range(4)]
    return parts[0], parts[1], parts[2], parts[3]


@settings(max_examples=cases(60, 15))
@given(st.integers(3, 8), st.integers(0, 4), st.integers(0, 10**6))
def test_the_pairing_of_a_small_field_has_the_lowest_cost(count: int, rounds: int, seed: int) -> None:
    tournament, rng = begun(count, 9), Random(seed)
    for _ in range(rounds):
        if len(match_players(pairing_records(tournament))) < (count + 1) // 2:
            return
        tournament = with_round(tournament, rng)
    field = pairing_records(tournament)
    ways = [total(way, field) for way in every_pairing(field)]
    found = match_players(field)
    if not ways:
        assert len(found) < (count + 1) // 2
    else:
        assert total(found, field) == min(ways)


def test_a_large_field_can_be_paired() -> None:
    tournament, rng = begun(150, 9), Random(3)
    for _ in range(3):
        tournament = with_round(tournament, rng)
    halves = tournament.halves()
    apart = [abs(halves[game.first] - halves[game.second or 0]) for game in pair_swiss(tournament)]
    assert sum(apart) <= 8
