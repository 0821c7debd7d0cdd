"""Hints: a win in one turn is taken, a loss in one avoided, and there is always one while the game goes on."""

import itertools
import random

import pytest

from engine.api import Announcement
from engine.errors import IllegalTurnError
from engine.registry import load

GAME = load("deblockle")


def counting_clock(step_s=1e-4):
    ticks = itertools.count()
    return lambda: next(ticks) * step_s


def hint(state, seed=0, **given):
    return GAME.hint(state, 0.02, random.Random(seed), clock=counting_clock(), **given)


def test_a_win_in_one_is_taken():
    state = GAME.parse_state("gold c6:G.x/north=slider a2:T.x? removed=3,0")
    found = hint(state)
    assert (found.turn.end, found.expected, found.sure, found.unit) == (None, 1.0, 1.0, "win")
    assert "wins" in found.reason


def test_a_loss_in_one_is_avoided():
    # Teal's last block rolls from e2 to d2 with the star up, unless something stands in the way.
    state = GAME.parse_state("gold b3:G.x/north=star f3:G.x/north=slider e2:T.x/north=stop removed=0,3")
    threatening = [turn for turn in GAME.legal_turns(GAME.amend(state, {}, "teal")) if turn.end is None]
    for seed in range(4):
        after = GAME.apply(state, hint(state, seed).turn)
        winning = [turn for turn in GAME.legal_turns(after) if turn.player == "teal" and turn.end is None]
        assert threatening or not winning


def test_the_only_turn_is_given_at_once():
    state = GAME.new({"blocks_gold": 1, "blocks_teal": 1})
    while len(GAME.legal_turns(state)) > 1:
        state = GAME.apply(state, GAME.legal_turns(state)[0])
    assert GAME.legal_turns(state) in ([], [hint(state).turn])


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_every_hint_is_a_legal_turn_of_the_player_to_move(seed, hidden):
    rng = random.Random(seed)
    state = GAME.new({"blocks_gold": 2, "blocks_teal": 2})
    if hidden:
        state = GAME.set_up(GAME.appearance(state), {"blocks_gold": 2, "blocks_teal": 2})
    for _ in range(12):
        if state.to_move is None:
            break
        heard = []
        found = hint(state, seed, better=heard.append)
        assert heard[-1] == found
        assert found.turn in GAME.legal_turns(state)
        assert found.turn.player == state.to_move
        assert 0 <= found.expected <= 1
        assert 0 <= found.sure <= 1
        assert found.reason
        state = GAME.apply(state, rng.choice(GAME.legal_turns(state)))


def test_after_the_end_there_is_nothing_to_hint_at():
    with pytest.raises(IllegalTurnError, match="game is over"):
        hint(GAME.announce(GAME.new(), Announcement("draw")))
