"""The fast core against the plain rules and the slow oracle, and random games by it."""

import random
from collections import Counter

import pytest

from engine.games.deblockle import fast_rules
from engine.games.deblockle.advice.playouts import turn_sampler_of
from engine.games.deblockle.rules import count_results
from engine.games.deblockle.state import DeblockleState
from engine.registry import load
from engine.support.chance import play_random_games
from engine.values import Announcement, Tally
from tests.effort import cases, some
from tests.engine.games.deblockle import oracle
from tests.present import present

GAME = load("deblockle")


def core_of(state: DeblockleState) -> tuple[fast_rules.FastRules, fast_rules.Position]:
    return fast_rules.fast_rules_of(state.options), present(fast_rules.known_position(state))


def turns_by_the_core(state):
    """The core's moves as turns, with the blocks and the player to move after each."""
    core, position = core_of(state)
    moves = core.moves(position)
    assert core.count(position) == len(moves) == len(set(moves))
    player = (*GAME.players, "over")[position[0]]
    return {fast_rules.turn_of(state.options, player, move): core.play(position, move) for move in moves}


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
    assert fast_rules.known_position(state) is None
    rng = random.Random(1)
    worlds = Counter(fast_rules.draw_position(state, rng) for _ in range(1600))
    assert len(worlds) == 16
    assert min(worlds.values()) > 60
    assert count_results(state) == len(GAME.rules.legal_turns(state))


@pytest.mark.parametrize("seed", range(4))
def test_exactly_the_legal_turns_are_drawn(seed):
    """Random positions, some of them blocked, under all options."""
    rng = random.Random(200 + seed)
    for _ in range(cases(12)):
        state = GAME.notation.parse_state(oracle.text(oracle.random_position(rng)))
        core, position = core_of(state)
        moves = core.moves(position)
        drawn = {turn_sampler_of(core).draw(position, rng) for _ in range(14 * len(moves) + 1)}
        assert drawn == ({*moves} if moves else {None})


@pytest.mark.parametrize(
    "text",
    [
        "gold c3:G.cross/north=star e5:G.x/north=hoops b3:T.hoops/north=cross c5:T.stop/north=cross removed=1,0",
        "gold c3:G.slider/north=star e5:G.x/north=hoops d5:T.hoops/north=cross removed=1,0",
        "teal a1:G.x/north=star d3:T.cross/north=star b2:T.cross/north=star removed=0,1 side_by_side=false",
    ],
)
def test_turns_are_drawn_with_equal_probability(text):
    state = GAME.notation.parse_state(text)
    core, position = core_of(state)
    rng = random.Random(2)
    turns = core.count(position)
    sampler = turn_sampler_of(core)
    drawn = Counter(sampler.draw(position, rng) for _ in range(turns * 200))
    assert set(drawn) == set(core.moves(position))
    # Pearson's statistic has a mean of turns - 1 and a spread of its root of twice that.
    statistic = sum((count - 200) ** 2 / 200 for count in drawn.values())
    assert statistic < turns - 1 + 4 * (2 * (turns - 1)) ** 0.5


def test_there_is_no_turn_to_draw_after_the_end():
    state = GAME.notation.parse_state(
        "over a1:G.stop/north=cross b1:T.x/north=star a2:T.x/north=star side_by_side=false"
    )
    core, position = core_of(state)
    assert (core.count(position), core.moves(position), position[0]) == (0, [], fast_rules.OVER)
    assert turn_sampler_of(core).draw(position, random.Random(0)) is None
    assert turn_sampler_of(core).draw((0, *position[1:]), random.Random(0)) is None
    assert perft(core, (0, position[1], ()), 2) == 0


@pytest.mark.parametrize("options", some([{}, {"side_by_side": False}, {"hop_forfeited_when_stuck": True}], 1))
def test_fast_random_games_end_as_games_through_the_interface_do(options):
    state = GAME.rules.new({"blocks_gold": 1, "blocks_teal": 1, **options})
    quick = GAME.advice.playouts(state, 200, random.Random(1))
    plain = play_random_games(GAME.rules, state, cases(8, 3), random.Random(1))
    assert quick.unfinished == plain.unfinished == 0
    assert sum(quick.wins.values()) + quick.draws == quick.games == 200
    assert quick.plies / 200 == pytest.approx(plain.plies / plain.games, rel=0.8)
    assert all(quick.wins[player] > 40 for player in GAME.players)


def test_random_games_can_be_cut_off_and_can_have_hidden_faces():
    hidden = GAME.table.set_up(GAME.table.appearance(GAME.rules.new()))
    assert GAME.advice.playouts(hidden, 3, random.Random(1), most_plies=7) == Tally(3, 21, {}, 0, 3)
    assert GAME.advice.playouts(hidden, 3, random.Random(1)) == GAME.advice.playouts(hidden, 3, random.Random(1))


def test_games_already_over_are_counted_with_their_outcome():
    start = GAME.rules.new()
    resigned = GAME.rules.announce(start, Announcement("resign", "gold"))
    assert GAME.advice.playouts(resigned, 2, random.Random(1)) == Tally(2, 0, {"teal": 2}, 0, 0)
    drawn = GAME.rules.announce(start, Announcement("draw"))
    assert GAME.advice.playouts(drawn, 2, random.Random(1)) == Tally(2, 0, {}, 2, 0)


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
        while position[0] != fast_rules.OVER and position[1] and position[2]:
            move = present(turn_sampler_of(core).draw(position, rng))
            following = core.play(position, move)
            before, after = fast_rules.codes_of(move)
            mover, *blocks = position
            _, *blocks_after = following
            assert before in blocks[mover]
            kept = sorted(
                {*blocks[mover]} - {before} | ({after} if after // fast_rules.ORIENTATIONS < fast_rules.OFF else set())
            )
            assert blocks_after[mover] == tuple(kept)
            assert blocks_after[1 - mover] == blocks[1 - mover]
            standing = [code // fast_rules.ORIENTATIONS for code in (*following[1], *following[2])]
            assert len(set(standing)) == len(standing)
            assert not stars & set(standing)
            assert core.play(position, move) == following
            position = following
