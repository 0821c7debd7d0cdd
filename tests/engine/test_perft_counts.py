"""Every registered game agrees with its turn counts in ``tests/games``, so that a missing move shows."""

import pytest

from engine.perft import perft, start_of_count
from engine.registry import games, load
from tests.games.known import known_of


@pytest.mark.parametrize("name", games())
def test_the_counted_turns_are_those_on_file(name):
    game, counts = load(name), known_of(name)["count"]
    assert len(counts) > 1, "one position is not enough"
    for count in counts:
        known = count.get("state")
        state = game.rules.new(count.get("options")) if known is None else game.notation.parse_state(known)
        start, roll = start_of_count(game, state, count.get("roll"), count.get("colour"))
        counted = [perft(game, start, depth, roll) for depth in range(1, len(count["turns"]) + 1)]
        assert counted == count["turns"], f"{known or count.get('options')}: {counted}"
