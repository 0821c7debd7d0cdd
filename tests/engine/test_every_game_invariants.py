"""Thousands of random games through the interface, with every invariant checked."""

from random import Random

import pytest

from engine.records import make, read, replay, write
from engine.registry import games, load
from tests.effort import cases
from tests.engine.whole_games import done, play, possible_rolls, scores_of

MANY = 10_000
STRETCH = 24
"""Steps between two checks of the invariants."""

FEWER = {"blockade": 50}
"""For games with costly lists of turns: the divisor of the number of stretches through the interface."""

every_game = pytest.mark.parametrize("name", games())


def look(game, start, steps):
    """Check the invariants after a stretch of random play from ``start``."""
    end = steps[-1].after if steps else start
    assert game.notation.parse_state(game.notation.format_state(end)) == end
    assert (game.rules.outcome(end) is None) == bool(game.rules.players_to_move(end))
    again = game.notation.parse_state(game.notation.format_state(start))
    for step in steps:
        assert again == step.before, "taking a step back restores the state"
        again = done(game, again, step.what)
    assert again == end
    if game.rules.outcome(end) is not None:
        assert not len(game.rules.legal_turns(end))
        assert not possible_rolls(game, end)


def stretches(game, count, seed):
    """Stretches of random games, each continuing the last one until that game is over."""
    rng = Random(seed)
    state = game.rules.new()
    for _ in range(count):
        if not game.rules.players_to_move(state):
            state = game.rules.new()
        steps = play(game, state, rng, most_steps=STRETCH, announcing=0.001)
        yield state, steps
        state = steps[-1].after


def record_adds_up(game, start, steps):
    """The scores of the record are those of the state, also after replaying the record."""
    record = make(game, start, [(step.what, step.after, "") for step in steps])
    assert dict(record.scores) == dict(scores_of(game, steps[-1].after))
    assert replay(read(write(record))).states[-1] == steps[-1].after


@every_game
def test_random_games_keep_every_invariant(name):
    game = load(name)
    for number, (start, steps) in enumerate(stretches(game, cases(20 if name not in FEWER else 4), name)):
        look(game, start, steps)
        if number % 10 == 0:
            record_adds_up(game, start, steps)


@pytest.mark.long
@every_game
def test_ten_thousand_stretches_keep_every_invariant(name):
    game = load(name)
    for number, (start, steps) in enumerate(stretches(game, MANY // FEWER.get(name, 1), f"{name} long")):
        look(game, start, steps)
        if number % 100 == 0:
            record_adds_up(game, start, steps)
