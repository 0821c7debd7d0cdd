"""Alpha-beta agrees with a plain full-width search on small random games, and with known values of toy games."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.alpha_beta import EXACT, MOST_GUESS, Found, Table, best_move
from engine.search.budget import CountingClock, Deadline
from tests.effort import cases
from tests.engine.search.toy_rules import (
    START,
    Nim,
    NoughtsAndCrosses,
    RandomGame,
    WithWinsSeen,
    no_hurry,
    plain_score,
    plain_score_of,
    reads,
)


@given(
    seed=st.integers(0, 10**9),
    plies=st.integers(1, 6),
    width=st.integers(1, 4),
    depth=st.integers(1, 7),
)
def test_score_and_move_agree_with_a_plain_search(seed: int, plies: int, width: int, depth: int) -> None:
    rules = RandomGame(seed, plies, width)
    found = best_move(rules, START, no_hurry(), Random(seed), most_depth=depth)
    only_move = len(rules.moves(START)) == 1
    if only_move:
        assert found.depth == 1
    elif found.proven:
        assert found.score == plain_score(rules, START, plies)
    else:
        assert found.depth == depth
        assert found.score == plain_score(rules, START, depth)
    assert found.score == plain_score_of(rules, START, found.move, plies if found.proven else found.depth)


def test_thousands_of_random_games_are_solved_correctly() -> None:
    wins = losses = draws = 0
    for seed in range(cases(2_000)):
        rules = RandomGame(seed, 5, 3)
        found = best_move(rules, START, no_hurry(), Random(0))
        if found.depth == 1 and not found.proven:
            continue
        assert found.proven
        assert found.score == plain_score(rules, START, 5)
        wins += found.win_in is not None
        losses += found.loss_in is not None
        draws += found.score == 0
    assert min(wins, losses, draws) > cases(100)


@pytest.mark.parametrize("seed", range(cases(150)))
def test_proven_wins_and_losses_are_true_even_if_positions_repeat(seed: int) -> None:
    rules = RandomGame(seed, 5, 3, loops=True)
    found = best_move(rules, START, no_hurry(), Random(0), most_depth=9)
    if abs(found.score) > MOST_GUESS:
        assert found.score == plain_score(rules, START, found.depth)


@pytest.mark.parametrize("heaps", [(1, 2, 3), (3, 4, 5), (2, 2), (1, 3, 4), (5, 4, 1)])
def test_nim_is_won_if_and_only_if_the_exclusive_or_of_the_heaps_is_not_0(heaps: tuple[int, ...]) -> None:
    found = best_move(Nim(), (*heaps, 0), no_hurry(), Random(0))
    sum_of_heaps = 0
    for heap in heaps:
        sum_of_heaps ^= heap
    assert found.proven
    assert (found.win_in is not None) == (sum_of_heaps != 0)
    assert (found.loss_in is not None) == (sum_of_heaps == 0)
    assert found.chance(100) == (1.0 if sum_of_heaps else 0.0)


@pytest.mark.parametrize("rules", [NoughtsAndCrosses(), WithWinsSeen()])
def test_noughts_and_crosses_is_a_draw(rules: NoughtsAndCrosses) -> None:
    found = best_move(rules, ".........", no_hurry(), Random(0))
    assert found.proven
    assert found.score == 0
    assert found.chance(100) == 0.5


@pytest.mark.parametrize("rules", [NoughtsAndCrosses(), WithWinsSeen()])
@pytest.mark.parametrize(
    ("position", "moves", "win_in"),
    [("xx.oo....", {2}, 1), ("x..o.....", {1, 2, 4}, 5)],
)
def test_the_shortest_win_is_taken(rules: NoughtsAndCrosses, position: str, moves: set[int], win_in: int) -> None:
    found = best_move(rules, position, no_hurry(), Random(3))
    assert found.proven
    assert found.win_in == win_in
    assert found.move in moves


@pytest.mark.parametrize("position", ["xx..o....", "xx.o....."])
def test_a_loss_in_one_is_avoided_after_a_search_of_two_plies(position: str) -> None:
    """Crosses threaten 2. In the second position noughts lose later anyway, and must still prevent the loss in one."""
    deep = 0
    for reads_allowed in range(2, 100):
        found = best_move(NoughtsAndCrosses(), position, reads(reads_allowed), Random(2))
        if found.depth >= 2:
            deep += 1
            assert found.move == 2
    assert deep > 50


def test_a_move_known_to_lose_is_not_chosen_over_an_unsearched_one() -> None:
    """If the time ends in the second ply, no move is given that is already known to lose."""
    for seed in range(20):
        for reads_allowed in range(2, 12):
            found = best_move(NoughtsAndCrosses(), "xx..o....", reads(reads_allowed), Random(seed))
            assert found.loss_in is None


def test_of_losing_moves_the_one_that_lasts_longest_is_chosen() -> None:
    rules = NoughtsAndCrosses()
    position = "xx.o....."
    lost_in = {}
    for move in rules.moves(position):
        lost_in[move] = best_move(rules, rules.play(position, move), no_hurry(), Random(0)).win_in
    assert {each for move, each in lost_in.items() if move != 2} == {1}
    found = best_move(rules, position, no_hurry(), Random(0))
    assert found.move == 2
    assert found.loss_in == 1 + (lost_in[2] or 0) == 4


def test_the_only_move_is_given_without_a_search() -> None:
    found = best_move(NoughtsAndCrosses(), "xoxxoo.xo", reads(10**6), Random(0))
    assert (found.move, found.depth) == (6, 1)


@pytest.mark.parametrize("reads_allowed", range(60))
def test_the_search_ends_at_the_first_clock_reading_after_the_deadline_with_a_legal_move(reads_allowed: int) -> None:
    clock = CountingClock(1.0)
    rules = RandomGame(7, 30, 5)
    found = best_move(rules, START, Deadline(clock, reads_allowed), Random(5))
    assert found.move in rules.moves(START)
    # One reading too many ends the search.
    assert clock.now_s <= reads_allowed + 2


def test_the_score_of_an_interrupted_search_is_exact_for_its_move_and_depth() -> None:
    for reads_allowed in range(2, 90):
        rules = RandomGame(reads_allowed, 8, 3)
        found = best_move(rules, START, reads(reads_allowed), Random(1))
        if found.depth and not found.proven:
            assert found.score == plain_score_of(rules, START, found.move, found.depth)


def test_the_same_clock_and_seed_give_the_same_search() -> None:
    first, second = (best_move(RandomGame(21, 30, 5), START, reads(300), Random(4)) for _ in range(2))
    assert first == second


def test_among_equal_moves_chance_decides() -> None:
    moves = {
        best_move(NoughtsAndCrosses(), ".........", no_hurry(), Random(seed), most_depth=1).move for seed in range(60)
    }
    assert moves == set(range(9))


def test_the_chance_rises_with_the_score() -> None:
    chances = [Found("a", score, 3, False).chance(100) for score in (-300, -100, 0, 100, 300)]
    assert chances == sorted(chances)
    assert chances[2] == 0.5
    assert chances[3] == pytest.approx(0.731, abs=0.001)


def test_invalid_arguments_are_refused() -> None:
    rules = NoughtsAndCrosses()
    with pytest.raises(ValueError, match="the game has ended"):
        best_move(rules, "xxxoo....", no_hurry(), Random(0))
    with pytest.raises(ValueError, match="at least 1"):
        best_move(rules, ".........", no_hurry(), Random(0), most_depth=0)
    with pytest.raises(ValueError, match="more than 0"):
        Found("a", 0, 0, False).chance(0)
    with pytest.raises(ValueError, match="at least 2"):
        Table(1)


def test_the_table_forgets_the_oldest_generation() -> None:
    table: Table[str] = Table(4)
    for number in range(5):
        table.put(number, (1, EXACT, number, None))
    assert table.get(4) == (1, EXACT, 4, None)
    assert table.get(3) == (1, EXACT, 3, None), "the previous generation is still known"
    assert table.get(0) is None


@given(seed=st.integers(0, 10**9), depth=st.integers(1, 5))
def test_a_penalty_is_subtracted_from_the_score_of_a_first_move(seed: int, depth: int) -> None:
    rules = RandomGame(seed, 6, 4)
    moves = rules.moves(START)
    penalties = {move: Random(f"{seed} {move}").choice((0, 3, 50)) for move in moves}
    found = best_move(rules, START, no_hurry(), Random(0), most_depth=depth, penalties=penalties)

    def told(move: int) -> int:
        score = plain_score_of(rules, START, move, found.depth)
        return score if abs(score) > MOST_GUESS else score - penalties[move]

    if found.depth == depth:
        assert found.score == told(found.move) == max(map(told, moves))
