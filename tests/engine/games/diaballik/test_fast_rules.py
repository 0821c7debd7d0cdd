"""The fast rules, and results from tables, against the plain rules."""

from hypothesis import given, settings

from engine.games.diaballik import turns
from engine.games.diaballik.state import GOAL, other
from engine.games.diaballik.turns import begin_turn, results_by_playing
from engine.registry import load
from tests.effort import cases
from tests.engine.games.diaballik.strategies import states

GAME = load("diaballik")
USUAL = {"pass_over_own": True, "antiplay": "announced"}


def by_tables(state):
    own, foes = state.side(state.to_move), state.side(other(state.to_move))
    return turns.distinct_results(
        own.pieces, own.ball, foes.pieces, GOAL[state.to_move], null_turn=state.options.null_turn
    )


def by_playing(state):
    return {
        side.pieces | side.ball << turns.BALL_SHIFT for side in results_by_playing(begin_turn(state, state.to_move))
    }


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
    assert turns.can_win(own.pieces, own.ball, foes.pieces, goal) == wins


@given(states(**USUAL))
def test_the_squares_reached_before_a_pass_agree_with_turns_without_one(state):
    own, foes = state.side(state.to_move), state.side(other(state.to_move))
    reached = own.pieces
    for result in by_playing(state):
        if result >> turns.BALL_SHIFT == own.ball:
            reached |= result & turns.PIECES_MASK
    found = turns.reach_before_pass(own.pieces, own.ball, foes.pieces)
    assert found == reached & ~(1 << own.ball)


def test_the_null_turn_adds_one_result():
    assert len(turns.distinct_results(0x7F, 3, 0x7F << 42, 0x7F << 42)) == 290
    assert len(turns.distinct_results(0x7F, 3, 0x7F << 42, 0x7F << 42, null_turn=False)) == 289
