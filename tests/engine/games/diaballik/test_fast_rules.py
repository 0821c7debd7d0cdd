"""The fast rules, results from tables and random games by proposals, against the plain rules."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings

from engine.games.diaballik import fast_rules
from engine.games.diaballik.advice.playouts import RandomGames, lookup
from engine.games.diaballik.state import GOAL, other
from engine.games.diaballik.turns import begin_turn, results_by_playing
from engine.registry import load
from engine.support.chance import play_random_games
from engine.values import Announcement
from tests.effort import cases, some
from tests.engine.games.diaballik.strategies import states

GAME = load("diaballik")
USUAL = {"pass_over_own": True, "antiplay": "announced"}


def by_tables(state):
    own, foes = state.side(state.to_move), state.side(other(state.to_move))
    return fast_rules.distinct_results(
        own.pieces, own.ball, foes.pieces, GOAL[state.to_move], null_turn=state.options.null_turn
    )


def by_playing(state):
    return {
        side.pieces | side.ball << fast_rules.BALL_SHIFT
        for side in results_by_playing(begin_turn(state, state.to_move))
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
    wins = any(goal >> (result >> fast_rules.BALL_SHIFT) & 1 for result in by_playing(state))
    assert fast_rules.can_win(own.pieces, own.ball, foes.pieces, goal) == wins


@given(states(**USUAL))
def test_the_squares_reached_before_a_pass_agree_with_turns_without_one(state):
    own, foes = state.side(state.to_move), state.side(other(state.to_move))
    reached = own.pieces
    for result in by_playing(state):
        if result >> fast_rules.BALL_SHIFT == own.ball:
            reached |= result & fast_rules.PIECES_MASK
    found = fast_rules.reach_before_pass(own.pieces, own.ball, foes.pieces)
    assert found == reached & ~(1 << own.ball)


def test_the_null_turn_adds_one_result():
    assert len(fast_rules.distinct_results(0x7F, 3, 0x7F << 42, 0x7F << 42)) == 290
    assert len(fast_rules.distinct_results(0x7F, 3, 0x7F << 42, 0x7F << 42, null_turn=False)) == 289


@given(states(**USUAL))
def test_every_result_is_proposed_exactly_once(state):
    """Drawing proposals until one is legal therefore draws all results with equal probability."""
    games = RandomGames(state, 1, np.random.default_rng(0))
    numbers = np.arange(lookup().first.size)
    proposed = games.propose(np.zeros_like(numbers), numbers)
    legal, ball, wins = games.check_proposals(proposed)
    pieces = proposed.own ^ games.change_of(proposed, np.arange(legal.size))
    packed = (pieces | ball << fast_rules.BALL_SHIFT)[legal].tolist()
    assert sorted(packed) == sorted(by_tables(state))
    goal = GOAL[state.to_move]
    assert wins[legal].tolist() == [bool(goal >> (each >> fast_rules.BALL_SHIFT) & 1) for each in packed]


@pytest.mark.parametrize("text", some(["", "null_turn=false", "antiplay_contacts=front start=variant"], 1))
def test_random_games_agree_statistically_with_games_through_the_interface(text):
    """Wins, lengths and unfinished games agree within five standard errors."""
    state = GAME.notation.parse_state(f"w.bWww./...w..w/.b...../......./..w..../.b...b./...Bb.b {text}")
    plain = play_random_games(GAME.rules, state, cases(150, 60), Random(1), most_plies=12)
    quick = GAME.advice.playouts(state, 6000, Random(2), most_plies=12)
    for one, two in [
        (plain.wins.get("black", 0), quick.wins.get("black", 0)),
        (plain.wins.get("white", 0), quick.wins.get("white", 0)),
        (plain.unfinished, quick.unfinished),
    ]:
        share = two / quick.games
        assert abs(one / plain.games - share) <= 5 * (max(share * (1 - share), 0.01) / plain.games) ** 0.5
    assert abs(plain.plies / plain.games - quick.plies / quick.games) <= 5 * 6 / plain.games**0.5


def test_claims_occur_in_random_games_as_often_as_they_are_legal():
    state = GAME.notation.parse_state("......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb")
    turns = GAME.rules.legal_turns(state)
    claims = sum(turn.claims for turn in turns)
    tally = GAME.advice.playouts(state, 8000, Random(4), most_plies=1)
    expected = claims / len(turns)
    assert abs(tally.wins["black"] / 8000 - expected) <= 5 * (expected * (1 - expected) / 8000) ** 0.5


@pytest.mark.parametrize("text", ["pass_over_own=false null_turn=false", "antiplay=automatic"])
def test_random_games_under_other_options_agree_with_those_through_the_interface(text):
    state = GAME.notation.parse_state(f"......./..W..w./.w.ww.w/w...b.b/......./b....../.bB..bb {text}")
    plain = play_random_games(GAME.rules, state, 40, Random(1), most_plies=4)
    quick = GAME.advice.playouts(state, 40, Random(2), most_plies=4)
    assert abs(plain.wins.get("black", 0) - quick.wins.get("black", 0)) <= 5 * 40**0.5 / 2
    assert abs(plain.plies - quick.plies) <= 5 * 2 * 40**0.5


def test_games_already_over_are_counted_as_over():
    won = GAME.rules.announce(GAME.rules.new(), Announcement("resign", "black"))
    drawn = GAME.rules.announce(GAME.rules.new(), Announcement("draw"))
    assert GAME.advice.playouts(won, 3, Random(1)).wins == {"white": 3}
    assert GAME.advice.playouts(drawn, 3, Random(1)).draws == 3
    assert GAME.advice.playouts(GAME.rules.new(), 3, Random(1), most_plies=0).unfinished == 3


def test_random_games_are_repeatable_and_counted_to_their_end():
    state = GAME.rules.new()
    assert GAME.advice.playouts(state, 40, Random(7)) == GAME.advice.playouts(state, 40, Random(7))
    tally = GAME.advice.playouts(state, 40, Random(7))
    assert sum(tally.wins.values()) == 40
    cut = GAME.advice.playouts(state, 5, Random(7), most_plies=3)
    assert (cut.unfinished, cut.plies) == (5, 15)


def test_a_stuck_player_is_skipped_in_random_games():
    state = GAME.notation.parse_state("white wb...../wb...../wb...../wb....W/wb...../wb...../B......")
    assert GAME.advice.playouts(state, 30, Random(1), most_plies=200).plies > 30
    assert GAME.advice.playouts(state, 2, Random(1), most_plies=200).plies > 2
    shut = GAME.table.amend(state, {"b2": "black piece"}, "black")
    assert sum(GAME.advice.playouts(shut, 10, Random(2)).wins.values()) == 10


class WatchedGames(RandomGames):
    """Random games that check every position before each round of proposals."""

    rounds = 0

    def propose(self, games, drawn):
        self.rounds += 1
        half = len(self._pieces) // 2
        shown = np.zeros_like(self._pieces)
        for column in range(7):
            shown |= np.left_shift(1, self._squares[:, column])
        # Seven pieces a side on seven different squares, the same as a set and as a list, and never two on one square.
        assert np.array_equal(shown, self._pieces)
        assert (np.sort(self._squares, axis=1)[:, 1:] > np.sort(self._squares, axis=1)[:, :-1]).all()
        assert not (self._pieces[:half] & self._pieces[half:]).any()
        playing = self._playing
        assert (self._squares[playing, 0] < 42).all()
        assert (self._squares[half + playing, 0] >= 7).all()
        return super().propose(games, drawn)


def watched(count):
    games = WatchedGames(GAME.rules.new(), min(count, 2048), np.random.default_rng(5))
    tally = games.run(count, 10_000)
    assert games.rounds > 100
    assert sum(tally.wins.values()) == tally.games == count


def test_pieces_and_balls_are_kept_in_random_games():
    watched(150)


@pytest.mark.long
def test_pieces_and_balls_are_kept_in_ten_thousand_random_games():
    watched(10_000)


@pytest.mark.long
@pytest.mark.parametrize("options", [{"pass_over_own": False}, {"antiplay": "automatic"}, {"start": "variant"}])
def test_random_games_under_other_options_end(options):
    tally = GAME.advice.playouts(GAME.rules.new(options), 30, Random(10))
    assert sum(tally.wins.values()) == 30
