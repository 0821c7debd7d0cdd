"""Hints for Diaballik: a win in one is taken, a loss in one avoided, and there is a hint until the game ends."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings

from engine.errors import IllegalTurnError
from engine.games.diaballik.evaluation import WIN
from engine.games.diaballik.hints import Line, position_of, reason_for
from engine.games.diaballik.results import can_win, claimed_results, distinct_results, results_of
from engine.games.diaballik.state import GOAL, DiaballikState
from engine.games.diaballik.turns import (
    BALL_SHIFT,
    begin_turn,
)
from engine.registry import load
from engine.search.budget import CountingClock
from engine.values import Announcement, Certainty, Strength
from tests.effort import cases
from tests.engine.games.diaballik import oracle
from tests.engine.games.diaballik.strategies import states
from tests.present import present

GAME = load("diaballik")
WALL = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"
STUCK = "wb...../wb...../wb...../wb....W/wb...../wb...../B......"
OPEN = "ww.bwww/..w.W../......./......./......./......./bb.Bbbb"


def hint(state, seed=0, reads=60, **given):
    """A hint after this many readings of the clock, however fast the machine is."""
    return GAME.advice.hint(
        state, reads * 1e-3, random.Random(seed), clock=CountingClock(1e-3), **{"earlier": (), **given}
    )


@given(states())
@settings(max_examples=cases(25))
def test_a_hint_is_legal_and_takes_a_win(state):
    player = state.to_move
    wins = {turn for turn in GAME.rules.legal_turns(state) if winner_after(state, turn) == player}
    found = hint(state, reads=8)
    assert GAME.rules.certainty(state, found.turn) is Certainty.CERTAIN
    assert found.unit == "win"
    assert 0 <= found.expected <= 1 >= found.sure >= 0
    assert found.reason
    if wins:
        assert found.turn in wins
        assert (found.expected, found.sure) == (1.0, 1.0)
        assert found.reason.startswith(("wins", "announces"))


def winner_after(state, turn):
    outcome = GAME.rules.outcome(GAME.rules.apply(state, turn))
    return None if outcome is None else outcome.winner


@pytest.mark.parametrize("strength", Strength)
@pytest.mark.parametrize("options", [{}, {"pass_over_own": False}])
def test_a_loss_in_one_is_avoided_if_possible(strength, options):
    """In positions in which the opponent could win next, and some but not all turns prevent it."""
    rng = random.Random(f"{strength}")
    found = 0
    while found < cases(3):
        position = oracle.random_position(rng, antiplay="announced", antiplay_contacts="both_sides", **options)
        state = GAME.notation.parse_state(oracle.drawing(position))
        turns = GAME.rules.perft_turns(state)
        if hint(state, strength=Strength.GENTLE).expected == 1.0:
            continue
        sample = rng.sample(range(len(turns)), min(25, len(turns)))
        safe = [turns[number] for number in sample if not loses_next(state, turns[number])]
        if not 0 < len(safe) < len(sample):
            continue
        found += 1
        assert not loses_next(state, hint(state, strength=strength).turn)


def loses_next(state, turn):
    after = GAME.rules.apply(state, turn)
    if after.to_move is None:
        return False
    reply = begin_turn(after, after.to_move)
    results = results_of(reply)
    wins = [result for result in results if GOAL[reply.player] >> (result >> BALL_SHIFT) & 1]
    return bool(wins or claimed_results(reply, results))


def test_a_gentle_hint_looks_less_far_ahead_and_is_less_certain():
    gentle = hint(GAME.rules.new(), strength=Strength.GENTLE, reads=10_000)
    fair = hint(GAME.rules.new(), strength=Strength.FAIR, reads=10_000)
    assert gentle.sure < fair.sure < 1


AUTOMATIC = f"{WALL.replace('b....../......./.b', '......./b....../.b')} antiplay=automatic"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (OPEN, "wins: the ball reaches d7"),
        (WALL, "announces anti-play: at least three pieces touch white's wall"),
        (AUTOMATIC, "wins: at least three pieces touch white's wall, which is anti-play"),
    ],
)
def test_a_hint_that_needs_no_search_gives_its_reason(text, reason):
    assert hint(GAME.notation.parse_state(text), reads=3).reason == reason


START = "wwwWwww/......./......./......./......./......./bbbBbbb"
FORWARD = "wwwWwww/......./......./.b...../......./......./b.bBbbb"
READY = "wwwWww./......b/....w../......./......./......./bbb.bBb"
PRESSED = "wwwW.ww/......./......./....b../......./..w..../bbb.bbB"
TWICE = "www.w../......./......./...W.../w....bb/..w..../.bb.bBb"
BETWEEN = "wwwW.ww/......./..b..../...w.../......./......./bbb.Bbb"
NOT_OVER_OWN = "black black:a1,b1,c1,e1,f1*,d2,g4 white:d5,b6,d6,g6,a7,c7*,f7 pass_over_own=false"
BARRED = "black black:a1,d1*,e1,f1,g1,a2,a3 white:b5,b6*,f6,c7,d7,e7,g7 pass_over_own=false"


@pytest.mark.parametrize(
    ("text", "turn", "score", "reason"),
    [
        (START, "a1-a2", WIN - 3, "wins in 2 turns whatever white does"),
        (START, "a1-a2", -(WIN - 2), "holds out longest: white can force a win"),
        (START, "a1-a2", 0, "posts a piece on a2"),
        (START, "a1-a2 a2-a1", 0, "keeps everything in its place"),
        (START, "d1*a1", 0, "brings the ball to safety on a1"),
        (START, "c1-c2 d1*c2", 0, "brings the ball forward to c2"),
        (START, "c1-c2 c2-c3 d1*e1", 0, "opens a passing line to c3"),
        (FORWARD, "b4-b5", 0, "brings a piece forward to b5"),
        (READY, "f1*g1", 0, "threatens to pass to g7 and win"),
        (PRESSED, "e1-d1", 0, "stops white's pass to d1 on the far row"),
        (TWICE, "e1-d1", 0, "posts a piece on d1"),
        (BETWEEN, "c5-d5", 0, "closes white's passing line to d4"),
        (NOT_OVER_OWN, "e1-e2 g4-g5 f1*c1", 0, "opens a passing line to d2"),
        (BARRED, "a3-a4 a4-a5 d1*a1", 0, "opens a passing line to a2"),
    ],
)
def test_the_reason_names_the_most_important_gain(text, turn, score, reason):
    state = GAME.notation.parse_state(text)
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, turn)).black
    told = reason_for(state.options, position_of(state), Line(after.pieces | after.ball << BALL_SHIFT, score, 2))
    assert told == reason


def test_a_win_that_cannot_be_stopped_is_found():
    """The carrier has two receivers on different lines, and white can only block one."""
    state = GAME.notation.parse_state("w.....w/.b...b./...B.../......./..w.w../b..W..b/b.w.wb.")
    found = hint(state, reads=400)
    assert found.reason.startswith(("wins", "wins in"))
    assert found.sure == 1.0


def test_hints_called_certain_are_certain():
    """Certain wins in two turns, and certain losses, are tested against every reply."""
    rng = random.Random(11)
    sure = 0
    while sure < cases(4, 2):
        over_own, antiplay = rng.choice([(True, "announced"), (False, "announced"), (True, "automatic")])
        given = {"pass_over_own": over_own, "antiplay": antiplay}
        state = GAME.notation.parse_state(oracle.drawing(oracle.random_position(rng, **given)))
        found = hint(state, reads=25)
        if found.sure < 1 or not found.reason.startswith(("wins in 2 turns", "holds")):
            continue
        after = GAME.rules.apply(state, found.turn)
        replies = [] if after.to_move is None else list(GAME.rules.perft_turns(after))
        if found.expected == 1:
            sure += 1
            assert after.to_move != state.to_move
            for reply in replies:
                then = GAME.rules.apply(after, reply)
                over = GAME.rules.outcome(then)
                assert wins_now(then) if over is None else over.winner == state.to_move
        elif after.to_move is None or wins_now(after):
            # It loses at once, so every other turn does.
            sure += 1
            assert all(loses_next(state, turn) for turn in list(GAME.rules.perft_turns(state))[::7])


def wins_now(state):
    return hint(state, strength=Strength.GENTLE, reads=1).expected == 1.0


def test_a_wall_about_to_be_claimed_is_opened():
    """White's wall has two contacts and a third black piece is near, so white opens it."""
    state = GAME.notation.parse_state(f"white {WALL.replace('b....../......./.b', '......./b....../.b')}")
    after = GAME.rules.apply(state, hint(state).turn)
    assert after.to_move == "black"
    assert not wins_now(after)


def test_the_search_handles_a_stuck_player():
    state = GAME.notation.parse_state(f"black {STUCK.replace('wb...../wb...../B......', 'w.b..../wb...../B......')}")
    for strength in Strength:
        assert GAME.rules.certainty(state, hint(state, strength=strength, reads=150).turn) is Certainty.CERTAIN


def test_there_is_no_hint_when_the_game_is_over():
    over = GAME.rules.announce(GAME.rules.new(), Announcement("resign", "black"))
    with pytest.raises(IllegalTurnError, match="over"):
        hint(over)


@pytest.mark.parametrize("seed", range(2))
def test_hints_win_against_chance(seed):
    rng = random.Random(seed)
    for player in GAME.players:
        state = GAME.rules.new()
        for _ in range(120):
            if state.to_move is None:
                break
            if state.to_move == player:
                turn = hint(state, seed, reads=12).turn
            else:
                turns = GAME.rules.legal_turns(state)
                turn = turns[rng.randrange(len(turns))]
            state = GAME.rules.apply(state, turn)
        assert present(GAME.rules.outcome(state)).winner == player


def test_a_third_repetition_is_avoided_if_another_turn_is_nearly_as_good():
    state = GAME.rules.new()
    first = hint(state)
    after = GAME.rules.apply(state, first.turn)
    again = hint(state, earlier=(after, state, after, state))
    assert GAME.rules.apply(state, again.turn) != after


def test_a_game_of_hints_alone_ends():
    """After this opening play could repeat for ever."""
    rng = random.Random(2)
    state, earlier = GAME.rules.new(), list[DiaballikState]()
    while state.to_move is not None:
        assert len(earlier) < 150
        turns = GAME.rules.legal_turns(state)
        found = turns[rng.randrange(len(turns))] if len(earlier) < 2 else hint(state, 2, 30, earlier=earlier).turn
        earlier.append(state)
        state = GAME.rules.apply(state, found)


@pytest.mark.parametrize(
    "text",
    [
        "black black:c1,c2,g2*,e3,a5,b5,e7 white:b2,d2,g4,a6,b6,d6*,e6",
        "white black:b2,c2,d2,b3,f4*,g5,e6 white:a3,c3,b4*,c4,e4,f6,g6",
    ],
)
def test_a_hint_avoids_a_loss_by_force_to_an_unlikely_reply(text):
    """The turn that looks best loses by force to a reply that the search leaves out."""
    state = GAME.notation.parse_state(text)
    for seed in range(3):
        assert not has_winning_reply(GAME.rules.apply(state, hint(state, seed, 100).turn))


def has_winning_reply(state):
    """Whether the player to move has a turn after which, whatever the other does, the ball arrives."""
    position = position_of(state)
    mine, theirs = (GOAL[player] for player in ("black", "white")[:: 1 if position.player == 0 else -1])
    for reply in distinct_results(position.own, position.ball, position.foes, mine):
        other = position.after(reply)
        if not can_win(other.foes, other.foe_ball, other.own, mine) or can_win(
            other.own, other.ball, other.foes, theirs
        ):
            continue
        answers = (other.after(each) for each in distinct_results(other.own, other.ball, other.foes, theirs))
        if all(can_win(each.own, each.ball, each.foes, mine) for each in answers):
            return True
    return False


@pytest.mark.parametrize("strength", list(Strength))
def test_no_hint_makes_a_wall_that_loses_by_itself(strength):
    text = "black black:a3,b5,c5*,f5,g5,d6,e6 white:b2,e2,g4,d5*,b6,c6,e7 antiplay=automatic"
    state = GAME.notation.parse_state(text)
    assert winner_after(state, hint(state, reads=1000, strength=strength).turn) != "white"


@pytest.mark.parametrize("seed", range(cases(10, 2)))
def test_the_chance_does_not_depend_on_who_plays_last_in_the_search(seed):
    """At the start and a few turns later, depths 1, 2 and more tell about the same chance, near even."""
    state, rng = GAME.rules.new(), random.Random(seed)
    for _ in range(seed % 3):
        turns = GAME.rules.legal_turns(state)
        state = GAME.rules.apply(state, turns[rng.randrange(len(turns))])
    told = [hint(state, strength=strength, reads=3000).expected for strength in (Strength.GENTLE, Strength.FAIR)]
    told += [hint(state, reads=reads).expected for reads in (100, 400, 1600)]
    assert max(told) - min(told) < 0.3
    if not seed % 3:
        assert 0.35 < min(told) <= max(told) < 0.65


def test_what_two_opponents_are_told_adds_up():
    state = GAME.rules.new()
    told: list[float] = []
    while len(told) < 8:
        found = hint(state, seed=len(told), strength=Strength.FAIR, reads=2000)
        told.append(found.expected)
        state = GAME.rules.apply(state, found.turn)
    sums = [one + other for one, other in pairwise(told)]
    assert 0.85 < sum(sums) / len(sums) < 1.15
