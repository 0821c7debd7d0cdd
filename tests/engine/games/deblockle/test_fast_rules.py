"""The fast core against the plain rules and the slow oracle."""

import random
from collections import Counter

import pytest

from engine.games.deblockle import turns
from engine.games.deblockle.rules import count_results
from engine.games.deblockle.state import DeblockleState
from engine.registry import load
from tests.effort import cases
from tests.engine.games.deblockle import oracle
from tests.present import present

GAME = load("deblockle")


def core_of(state: DeblockleState) -> tuple[turns.FastRules, turns.Position]:
    return turns.fast_rules_of(state.options), present(turns.known_position(state))


def turns_by_the_core(state):
    """The core's moves as turns, with the blocks and the player to move after each."""
    core, position = core_of(state)
    moves = core.moves(position)
    assert core.count(position) == len(moves) == len(set(moves))
    player = (*GAME.players, "over")[position[0]]
    return {turns.turn_of(state.options, player, move): core.play(position, move) for move in moves}


def perft(core, position, depth):
    if not position[1] or not position[2]:
        return 0
    if depth == 1:
        return core.count(position)
    return sum(perft(core, core.play(position, move), depth - 1) for move in core.moves(position))


def assert_same(state, rng, tried=3):
    found = turns_by_the_core(state)
    assert set(found) == set(GAME.rules.legal_turns(state))
    for turn in rng.sample(sorted(found, key=GAME.notation.format_turn), min(tried, len(found))):
        after = GAME.rules.apply(state, turn)
        mover, golds, teals = found[turn]
        assert (golds, teals) == core_of(after)[1][1:]
        if golds and teals:
            assert (*GAME.players, None)[mover] == after.to_move


@pytest.mark.parametrize("seed", range(6))
def test_same_turns_and_results_as_the_plain_rules(seed):
    rng = random.Random(seed)
    for _ in range(cases(150)):
        assert_same(GAME.notation.parse_state(oracle.text(oracle.random_position(rng))), rng)


@pytest.mark.long
def test_same_turns_and_results_on_many_positions():
    rng = random.Random("fast")
    for _ in range(10_000):
        assert_same(GAME.notation.parse_state(oracle.text(oracle.random_position(rng))), rng)


@pytest.mark.parametrize("seed", range(4))
def test_same_turns_as_the_oracle(seed):
    rng = random.Random(100 + seed)
    for _ in range(cases(60)):
        position = oracle.random_position(rng)
        state = GAME.notation.parse_state(oracle.text(position))
        keys = {(turn.start, turn.rolled_to[0], turn.top, turn.end) for turn in turns_by_the_core(state)}
        assert keys == set(oracle.legal(position))


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ({}, [58, 2760, 135413]),
        ({"side_by_side": False}, [53, 2335, 104232]),
        ({"slider_stops_before_star": True, "hop_forfeited_when_stuck": True}, [58, 2760, 135416]),
        ({"blocks_gold": 1, "blocks_teal": 1}, [4, 16, 178, 1386, 9139]),
    ],
)
def test_published_counts(options, counts):
    state = GAME.rules.new(options)
    core, position = core_of(state)
    assert [perft(core, position, depth) for depth in range(1, len(counts) + 1)] == counts
    assert count_results(state) == counts[0]


def test_hidden_faces_are_sampled_and_every_possibility_is_drawn():
    state = GAME.table.set_up({"a1": "gold block, x up", "g7": "teal block, stop up"}, anywhere=True)
    assert turns.known_position(state) is None
    rng = random.Random(1)
    worlds = Counter(turns.draw_position(state, rng) for _ in range(1600))
    assert len(worlds) == 16
    assert min(worlds.values()) > 60
    assert count_results(state) == len(GAME.rules.legal_turns(state))


def test_there_is_no_turn_after_the_end():
    state = GAME.notation.parse_state(
        "over a1:G.stop/north=cross b1:T.x/north=star a2:T.x/north=star side_by_side=false"
    )
    core, position = core_of(state)
    assert (core.count(position), core.moves(position), position[0]) == (0, [], turns.OVER)
    assert perft(core, (0, position[1], ()), 2) == 0


@pytest.mark.long
def test_ten_thousand_games_at_random_break_no_invariant():
    rng = random.Random("ten thousand")
    games = [
        GAME.rules.new({**options, "blocks_gold": 1, "blocks_teal": 1}) for options in ({}, {"side_by_side": False})
    ]
    stars = {GAME.places.index(place) for place in ("d2", "d6")}
    for number in range(10_000):
        state = games[number % 2]
        core, position = core_of(state)
        while position[0] != turns.OVER and position[1] and position[2]:
            move = rng.choice(core.moves(position))
            following = core.play(position, move)
            before, after = turns.codes_of(move)
            mover, *blocks = position
            _, *blocks_after = following
            assert before in blocks[mover]
            kept = sorted({*blocks[mover]} - {before} | ({after} if after // turns.ORIENTATIONS < turns.OFF else set()))
            assert blocks_after[mover] == tuple(kept)
            assert blocks_after[1 - mover] == blocks[1 - mover]
            standing = [code // turns.ORIENTATIONS for code in (*following[1], *following[2])]
            assert len(set(standing)) == len(standing)
            assert not stars & set(standing)
            assert core.play(position, move) == following
            position = following
