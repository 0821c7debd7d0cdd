"""The fast rules and the fast core against the slow plain ones, on thousands of positions."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine.games.deblockle import turns
from engine.games.deblockle.rules import count_results
from engine.games.deblockle.state import DeblockleState
from engine.perft import counts_of_first_turns, perft
from engine.registry import load
from engine.values import Certainty
from tests.effort import cases
from tests.engine.games.deblockle import oracle
from tests.present import present

GAME = load("deblockle")
DOCS = Path(__file__).parents[4] / "docs" / "games" / "deblockle.md"


def as_key(turn):
    return turn.start, turn.rolled_to[0], turn.top, turn.end


def assert_same(position):
    state = GAME.notation.parse_state(oracle.text(position))
    assert state.to_move == position["to_move"], oracle.text(position)
    turns = GAME.rules.legal_turns(state)
    assert sorted(map(str, map(as_key, turns))) == sorted(map(str, oracle.legal(position))), oracle.text(position)
    return state, turns


@pytest.mark.parametrize("seed", range(4))
def test_same_turns_and_same_results_on_random_positions(seed):
    rng = random.Random(seed)
    for _ in range(cases(240)):
        position = oracle.random_position(rng)
        state, turns = assert_same(position)
        for turn in rng.sample(turns, min(2, len(turns))):
            assert GAME.rules.certainty(state, turn) is Certainty.CERTAIN
            following = oracle.play(position, as_key(turn))
            after, _ = assert_same(following)
            played = GAME.rules.apply(state, turn)
            assert played.blocks == after.blocks
            assert played.to_move == following["to_move"]


@pytest.mark.long
def test_same_turns_on_many_random_positions():
    rng = random.Random("many")
    for _ in range(30_000):
        assert_same(oracle.random_position(rng))


@pytest.mark.parametrize("seed", range(3))
def test_hidden_faces_stand_for_all_possibilities_at_once(seed):
    """A certain turn is legal in every world, an uncertain one in some; applying it keeps those worlds."""
    rng = random.Random(1000 + seed)
    for _ in range(cases(14)):
        position = oracle.random_position(rng, most_blocks=2)
        seen = GAME.table.appearance(GAME.notation.parse_state(oracle.text(position)))
        options = {**position["options"], "starts": rng.choice(["gold", "teal"])}
        if oracle.touching({square: block["colour"] for square, block in position["blocks"].items()}, "gold"):
            options["side_by_side"] = True
        state = GAME.table.set_up(seen, options, anywhere=True)
        for _ in range(3):
            check_worlds(state)
            turns = GAME.rules.legal_turns(state)
            if not turns:
                break
            state = GAME.rules.apply(state, rng.choice(turns))


def check_worlds(state):
    worlds = list(oracle.worlds(state, GAME))
    settled = [oracle.skip(world) for world in worlds]
    assert state.to_move is None or state.to_move in {world["to_move"] for world in settled}
    legal_in: Counter[tuple[Any, ...]] = Counter()
    for world in settled:
        for key in oracle.legal(world) if state.to_move else ():
            legal_in[key] += 1
    turns = GAME.rules.legal_turns(state)
    assert sorted(map(str, map(as_key, turns))) == sorted(map(str, legal_in))
    for turn in turns:
        certain = legal_in[as_key(turn)] == len(worlds)
        assert GAME.rules.certainty(state, turn) is (Certainty.CERTAIN if certain else Certainty.NOT_KNOWN_YET)
    for turn in turns[:: max(1, len(turns) // 4)]:
        after = {
            str(sorted((square, str(sorted(block["faces"].items()))) for square, block in following["blocks"].items()))
            for world in settled
            if as_key(turn) in oracle.legal(world)
            for following in [oracle.play(world, as_key(turn))]
        }
        kept = {
            str(sorted((square, str(sorted(block["faces"].items()))) for square, block in world["blocks"].items()))
            for world in oracle.worlds(GAME.rules.apply(state, turn), GAME)
        }
        assert kept == after


FIXED_STARTS = {
    "one a side": {"blocks_gold": 1, "blocks_teal": 1},
    "two against one": {"blocks_gold": 2, "blocks_teal": 1},
    "one against two, variant": {"blocks_gold": 1, "blocks_teal": 2, "side_by_side": False},
    "one a side, other slides": {
        "blocks_gold": 1,
        "blocks_teal": 1,
        "slider_stops_before_star": True,
        "starts": "teal",
    },
}
MIXED_STARTS = (
    "gold c3:G.slider/north=star e5:G.x/north=hoops d5:T.hoops/north=cross removed=1,0",
    "teal a1:G.x/north=star d3:T.star/north=x b2:T.cross/north=star removed=0,1 hop_forfeited_when_stuck=true",
    "gold d5:G.x/north=slider d3:T.hoops/north=star removed=0,0 slider_stops_before_star=true",
    "gold a1:G.x/north=slider b1:T.hoops/north=star a2:T.cross/north=slider removed=0,0",
)


def plain(state):
    (world,) = oracle.worlds(state, GAME)
    return world


@pytest.mark.parametrize("options", FIXED_STARTS.values(), ids=FIXED_STARTS)
def test_perft_to_depth_3_of_fixed_starts(options):
    state = GAME.rules.new(options)
    assert [perft(GAME, state, depth) for depth in (1, 2, 3)] == [
        oracle.perft(plain(state), depth) for depth in (1, 2, 3)
    ]


@pytest.mark.parametrize("text", MIXED_STARTS)
def test_perft_to_depth_3_of_mixed_starts(text):
    state = GAME.notation.parse_state(text)
    assert perft(GAME, state, 3) == oracle.perft(plain(state), 3)


# Counted by the plain rules; test_published_counts_are_the_plain_rules counts them again.
PERFT = [
    ({}, [58, 2760, 135413]),
    ({"side_by_side": False}, [53, 2335, 104232]),
    ({"slider_stops_before_star": True, "hop_forfeited_when_stuck": True}, [58, 2760, 135416]),
    ({"blocks_gold": 3, "blocks_teal": 3}, [49, 1248, 45646]),
    ({"blocks_gold": 2, "blocks_teal": 2}, [28, 446, 9776]),
    ({"blocks_gold": 1, "blocks_teal": 1}, [4, 16, 178, 1386, 9139]),
]


@pytest.mark.parametrize(("options", "counts"), PERFT)
def test_published_counts(options, counts):
    state = GAME.rules.new(options)
    assert [perft(GAME, state, depth) for depth in range(1, len(counts) + 1)] == counts


def test_documented_counts_are_the_published_ones():
    text = " ".join(DOCS.read_text(encoding="utf-8").split())
    counts = {str(options): found for options, found in PERFT}
    one, two, three = counts["{}"][:3]
    assert f"counts {three} ways to play three whole turns ({one} and {two} for one and two)" in text
    assert f"and {counts[str({'side_by_side': False})][2]} with `--option side_by_side=false`" in text


@pytest.mark.long
@pytest.mark.parametrize(("options", "counts"), PERFT)
def test_published_counts_are_the_plain_rules(options, counts):
    state = plain(GAME.rules.new(options))
    assert [oracle.perft(state, depth) for depth in range(1, len(counts) + 1)] == counts


def test_counts_of_first_turns_add_up():
    state = GAME.notation.parse_state(MIXED_STARTS[0])
    turns, counts = counts_of_first_turns(GAME, state, 2)
    assert turns == GAME.rules.legal_turns(state)
    assert sum(counts) == perft(GAME, state, 2)


@pytest.mark.parametrize(("call", "depth"), [(perft, -1), (counts_of_first_turns, 0)])
def test_perft_needs_a_depth(call, depth):
    with pytest.raises(ValueError, match="expected"):
        call(GAME, GAME.rules.new(), depth)


def test_perft_to_depth_0_is_one():
    assert perft(GAME, GAME.rules.new(), 0) == 1


def core_of(state: DeblockleState) -> tuple[turns.FastRules, turns.Position]:
    return turns.fast_rules_of(state.options), present(turns.known_position(state))


def turns_by_the_core(state):
    """The core's moves as turns, with the blocks and the player to move after each."""
    core, position = core_of(state)
    moves = core.moves(position)
    assert core.count(position) == len(moves) == len(set(moves))
    player = (*GAME.players, "over")[position[0]]
    return {turns.turn_of(state.options, player, move): core.play(position, move) for move in moves}


def fast_perft(core, position, depth):
    if not position[1] or not position[2]:
        return 0
    if depth == 1:
        return core.count(position)
    return sum(fast_perft(core, core.play(position, move), depth - 1) for move in core.moves(position))


def assert_same_fast(state, rng, tried=3):
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
        assert_same_fast(GAME.notation.parse_state(oracle.text(oracle.random_position(rng))), rng)


@pytest.mark.long
def test_same_turns_and_results_on_many_positions():
    rng = random.Random("fast")
    for _ in range(10_000):
        assert_same_fast(GAME.notation.parse_state(oracle.text(oracle.random_position(rng))), rng)


@pytest.mark.parametrize(("options", "counts"), PERFT)
def test_published_counts_of_the_fast_rules(options, counts):
    state = GAME.rules.new(options)
    core, position = core_of(state)
    assert [fast_perft(core, position, depth) for depth in range(1, len(counts) + 1)] == counts
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
    assert fast_perft(core, (0, position[1], ()), 2) == 0


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
