"""The fast rules, and results from tables, against the slow plain ones, the published counts, and printed examples."""

import random

import pytest
from hypothesis import given, settings

from engine.games.diaballik import results, turns
from engine.games.diaballik.rules import count_results
from engine.games.diaballik.state import GOAL, other
from engine.games.diaballik.turns import begin_turn, results_by_playing, unpack
from engine.perft import perft
from engine.registry import load
from engine.support.grid import members
from engine.values import EMPTY
from tests.effort import cases
from tests.engine.games.diaballik import oracle
from tests.engine.games.diaballik.strategies import states
from tests.present import present

GAME = load("diaballik")

# The left of the two printed examples; of the right one, which shows a wall, a white piece on a4 is part.
MOVEMENT_AND_PASS = """
7 w w . W . w w
6 . . . . . . .
5 . . . . w b .
4 . . b . b . .
3 b . w . . . .
2 . . . . . . .
1 . . B . b . b
"""
ANTI_PLAY = """
7 . . . . . . .
6 . . W . . w .
5 . w . w w . w
4 w . . . b . b
3 b . . . . . .
2 . . . . . . .
1 . b B . . b b
"""


def result_key(state, turn):
    """A turn's result in the oracle's form."""
    after = GAME.table.appearance(GAME.rules.apply(state, turn))
    mine = {place: look for place, look in after.items() if look.startswith(turn.player)}
    (ball,) = [place for place, look in mine.items() if look.endswith("ball")]
    return frozenset(map(square_of, mine)), square_of(ball)


def square_of(place):
    return "abcdefg".index(place[0]), int(place[1]) - 1


def compare(position):
    """The turns and claims are the same; returns the state."""
    text = oracle.drawing(position)
    state = GAME.notation.parse_state(text)
    assert state.to_move == position["to_move"], text
    turns = GAME.rules.legal_turns(state)
    plain = [turn for turn in turns if not turn.claims]
    assert plain == list(GAME.rules.perft_turns(state))
    assert count_results(state) == len(plain)
    keys = [result_key(state, turn) for turn in plain]
    assert len(set(keys)) == len(keys), text
    assert set(keys) == set(oracle.results(position)), text
    shortest = oracle.shortest(position)
    for key, turn in zip(keys, plain, strict=True):
        actions = [(action.passes, GAME.places[action.start], GAME.places[action.end]) for action in turn.actions]
        assert actions == [(kind == "pass", oracle.name(a), oracle.name(b)) for kind, a, b in shortest[key]], text
    claims = [(GAME.rules.apply(state, turn), turn) for turn in turns if turn.claims]
    assert {result_key(state, turn) for _, turn in claims} == oracle.claims(position), text
    assert all(present(GAME.rules.outcome(after)).winner == turn.player for after, turn in claims)
    return state, dict(zip(keys, plain, strict=True))


def compare_following(position, rng, times):
    """The states after some turns are the same."""
    state, by_key = compare(position)
    for key in rng.sample(sorted(by_key, key=repr), min(times, len(by_key))):
        following = oracle.play(position, key)
        after = GAME.rules.apply(state, by_key[key])
        outcome = GAME.rules.outcome(after)
        assert (after.to_move, outcome and outcome.winner) == (following["to_move"], following["winner"])
        shown = {name: look for name, look in GAME.table.appearance(after).items() if look != "empty"}
        assert {square_of(name): look.split()[0] for name, look in shown.items()} == following["men"]


@pytest.mark.parametrize("seed", range(2))
def test_same_turns_and_same_results_on_random_positions(seed):
    rng = random.Random(seed)
    for _ in range(cases(20)):
        compare_following(oracle.random_position(rng), rng, 6)


def test_pieces_and_balls_in_the_hand_agree_with_the_oracle():
    rng = random.Random(3)
    for _ in range(cases(20)):
        position = oracle.random_position(rng)
        state, mover = GAME.notation.parse_state(oracle.drawing(position)), position["to_move"]
        before = GAME.table.appearance(state)
        boards = []
        for unfinished in GAME.table.unfinished(state):
            shown = {square_of(place): look for place, look in {**before, **unfinished.change}.items() if look != EMPTY}
            balls = [square for square, look in shown.items() if look == f"{mover} piece with ball"]
            men = frozenset((square, look.split()[0]) for square, look in shown.items())
            boards.append((men, balls[0] if balls else None))
        assert len(set(boards)) == len(boards)
        assert set(boards) == {(frozenset(men.items()), ball) for men, ball in oracle.in_hand(position)}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_same_results_on_thousands_of_random_positions(seed):
    rng = random.Random(f"many {seed}")
    for _ in range(1000):
        position = oracle.random_position(rng)
        state = GAME.notation.parse_state(oracle.drawing(position))
        packed = results.results_of(begin_turn(state, state.to_move))
        found = {key_of_packed(result) for result in packed}
        assert len(found) == len(packed)
        assert found == set(oracle.results(position)), oracle.drawing(position)
    for _ in range(40):
        compare_following(oracle.random_position(rng), rng, 5)


def key_of_packed(result):
    side = unpack(result)
    return frozenset((square % 7, square // 7) for square in members(side.pieces)), (side.ball % 7, side.ball // 7)


@pytest.mark.parametrize("options", [{}, {"start": "variant"}, {"pass_over_own": False}, {"null_turn": False}])
def test_first_turn_from_every_start(options):
    state, _ = compare(oracle.start(**options))
    assert GAME.table.appearance(state) == GAME.table.appearance(GAME.rules.new(options))


@pytest.mark.parametrize(("options", "counts"), [({}, [290, 84_100]), ({"null_turn": False}, [289, 83_521])])
def test_published_counts(options, counts):
    state = GAME.rules.new(options)
    assert [perft(GAME, state, depth) for depth in (1, 2)] == counts


@pytest.mark.long
def test_published_count_of_three_turns():
    assert perft(GAME, GAME.rules.new(), 3) == 41_099_194


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"pass_over_own": False}, {"start": "variant"}])
def test_the_oracle_counts_the_same_two_turns(options):
    assert oracle.perft(oracle.start(**options), 2) == perft(GAME, GAME.rules.new(options), 2)


def passes_from(state):
    firsts = {turn.actions[0] for turn in GAME.rules.legal_turns(state) if len(turn.actions) == 1}
    return {GAME.places[action.end] for action in firsts if action.passes}


def test_the_printed_example_of_passing_and_moving():
    state = GAME.notation.parse_state(MOVEMENT_AND_PASS)
    assert passes_from(state) == {"a3", "e1", "g1"}
    state = GAME.table.amend(state, {}, "white")
    alone = [turn for turn in GAME.rules.legal_turns(state) if turn.places and turn.places[0] == "e5"]
    one = {GAME.places[turn.actions[0].end] for turn in alone if len(turn.actions) == 1}
    two = {
        GAME.places[turn.actions[1].end]
        for turn in alone
        if len(turn.actions) == 2 and turn.actions[0].end == turn.actions[1].start
    }
    assert one == {"e6", "d5"}
    assert two - {"e5"} == {"e7", "d6", "f6", "c5", "d4"}


def test_the_printed_example_of_anti_play():
    state = GAME.notation.parse_state(ANTI_PLAY)
    assert [said.kind for said in GAME.rules.announcements(state) if said.player == "black"] == ["anti-play", "resign"]
    after = GAME.rules.announce(state, GAME.rules.announcements(state)[0])
    assert (present(GAME.rules.outcome(after)).winner, after.to_move) == ("black", None)
    men = {square_of(place): look.split()[0] for place, look in GAME.table.appearance(state).items() if look != "empty"}
    touching = oracle.contacts(men, "black", oracle.OPTIONS)
    assert {oracle.name(square) for square in touching} == {"a3", "e4", "g4"}


USUAL = {"pass_over_own": True, "antiplay": "announced"}


def by_tables(state):
    own, foes = state.side(state.to_move), state.side(other(state.to_move))
    return results.distinct_results(
        own.pieces, own.ball, foes.pieces, GOAL[state.to_move], null_turn=state.options.null_turn
    )


def by_playing(state):
    return set(results_by_playing(begin_turn(state, state.to_move)))


@given(states(**USUAL))
@settings(max_examples=cases(150))
def test_results_from_tables_agree_with_playing_the_turns(state):
    packed = by_tables(state)
    assert len(set(packed)) == len(packed)
    assert set(packed) == by_playing(state)


@given(states(**USUAL))
def test_a_win_in_one_turn_is_found(state):
    own, foes = state.side(state.to_move), state.side(other(state.to_move))
    goal = GOAL[state.to_move]
    wins = any(goal >> (result >> turns.BALL_SHIFT) & 1 for result in by_playing(state))
    assert results.can_win(own.pieces, own.ball, foes.pieces, goal) == wins


@given(states(**USUAL))
def test_the_squares_reached_before_a_pass_agree_with_turns_without_one(state):
    own, foes = state.side(state.to_move), state.side(other(state.to_move))
    reached = own.pieces
    for result in by_playing(state):
        if result >> turns.BALL_SHIFT == own.ball:
            reached |= result & turns.PIECES_MASK
    found = results.reach_before_pass(own.pieces, own.ball, foes.pieces)
    assert found == reached & ~(1 << own.ball)


def test_the_null_turn_adds_one_result():
    assert len(results.distinct_results(0x7F, 3, 0x7F << 42, 0x7F << 42)) == 290
    assert len(results.distinct_results(0x7F, 3, 0x7F << 42, 0x7F << 42, null_turn=False)) == 289
