"""The turns that could show a partly visible board."""

import random

import pytest

from engine.showing import turns_showing
from tests.effort import cases
from tests.engine.games.diaballik import oracle
from tests.engine.games.diaballik.strategies import GAME


def showing(state, **looks):
    """The turns whose ends could have these looks, with everything else unchanged."""
    before = GAME.table.appearance(state)
    return list(turns_showing(GAME, state, {place: (look,) for place, look in {**before, **looks}.items()}))


def test_the_turns_showing_a_table_are_those_found_by_trying_every_turn():
    rng = random.Random(4)
    for _ in range(cases(10)):
        state = GAME.notation.parse_state(oracle.drawing(oracle.random_position(rng)))
        ends = {turn: GAME.table.appearance(GAME.rules.apply(state, turn)) for turn in GAME.rules.legal_turns(state)}
        for shown in rng.sample(list(ends.values()), min(3, len(ends))):
            hidden = set(rng.sample(list(shown), rng.choice((0, 1, 8, len(shown)))))
            could_be = {place: (look,) for place, look in shown.items() if place not in hidden}
            found = list(turns_showing(GAME, state, could_be))
            fitting = [turn for turn, end in ends.items() if all(end[place] == shown[place] for place in could_be)]
            assert len(found) == len(fitting)
            assert set(found) == set(fitting)
            before = GAME.table.appearance(state)
            changed = [sum(look != before[place] for place, look in ends[turn].items()) for turn in found]
            assert changed == sorted(changed)


def test_a_turn_with_an_anti_play_claim_looks_like_one_without():
    drawn = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"
    state = GAME.notation.parse_state(drawn)
    shown = showing(state, f1="empty", f2="black piece")
    assert [GAME.notation.format_turn(turn) for turn in shown] == ["f1-f2", "f1-f2 anti-play"]


def test_with_the_board_hidden_every_turn_is_listed_the_shortest_first():
    state = GAME.rules.new()
    before = GAME.table.appearance(state)
    ends = [GAME.table.appearance(GAME.rules.apply(state, turn)) for turn in turns_showing(GAME, state, {})]
    assert len(ends) == len(GAME.rules.legal_turns(state))
    changed = [sum(look != before[place] for place, look in end.items()) for end in ends]
    assert changed == sorted(changed)


@pytest.mark.parametrize("foe", ["a7", "d7", "g7"])
def test_no_turn_changes_a_square_of_the_opponents(foe):
    start = GAME.rules.new()
    assert showing(start, a1="empty", a2="black piece")
    assert showing(start, a1="empty", a2="black piece", **{foe: "empty"}) == []
