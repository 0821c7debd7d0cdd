"""The search for turns in which the two colours' moves alternate."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from engine.games.blockade import enumeration
from engine.games.blockade.enumeration import WaysToEnds, WayToOneEnd, alternating_ends, may_rest
from engine.games.blockade.reach import Layout, terrain_of, without_movable
from engine.games.blockade.state import RED, YELLOW
from engine.showing import turns_showing
from tests.effort import cases
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import GAME, frozen, state_of
from tests.engine.games.blockade.test_showing import HELPED

LAST_BLACK_FOR_HELPED = (
    "warm roll=4,4 a1:CL+RMS b1:GLMS+KL c1:GLMS+KL d1:GLMS+KL e1:CL+YM a2:RLM b2:GLMS+KL c2:YLS d2:YLMS+KL e2:YLMS+KM "
    "a3:RL b3:GL c3:CL+BMMSS d3:BL e3:YLMS+KM a4:RLMS+KM b4:RLMS+KM c4:RLMS+KM+RS d4:BLMS+KS e4:YLMS+KS a5:CL+GMS "
    "b5:BL c5:BLMS+KS d5:BLMS+KS e5:CL"
)


class Counting(WayToOneEnd):
    """Counts how often the search reached a position, new or not."""

    reached = 0

    def steps_left(self, layout: Layout) -> int:
        self.reached += 1
        return super().steps_left(layout)


def test_a_position_reached_by_two_orders_of_steps_is_searched_once():
    """The number is that of the current search."""
    state = GAME.notation.parse_state(HELPED)
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, "c2-a2 a1-a2 a1-a3 a2-a1 a2-c2"))
    red, yellow = (
        Counting(terrain_of(state.stacks, state.options, colour), terrain_of(after.stacks, after.options, colour).start)
        for colour in (RED, YELLOW)
    )
    (found,) = alternating_ends((red, yellow), [(4, 4)], state.supply)
    assert found.layouts == tuple(terrain_of(after.stacks, after.options, colour).start for colour in (RED, YELLOW))
    assert red.reached <= 10_295


def test_the_steps_left_are_those_of_the_cheapest_path():
    terrain = terrain_of(GAME.rules.new().stacks, GAME.rules.new().options, RED)
    a, b, c, d, e = ((*("",) * number, "M", *("",) * (24 - number)) for number in range(5))
    ways = WaysToEnds(terrain, [(a, b, 1), (b, c, 2), (a, c, 4), (c, d, 12), (d, a, 15), (b, e, 1)], [d])
    assert [ways.steps_left(layout) for layout in (d, c, b, a)] == [0, 12, 14, 15]
    assert ways.steps_left(e) > 20


PIECES = {"M": "red M", "S": "red S", "m": "yellow M", "s": "yellow S", "3": "black L", "2": "black M", "1": "black S"}


def random_pile(rng, stack):
    """Some pieces of both colours, perhaps above a new tower on a bare large."""
    loose = "".join(rng.choice("MSms") for _ in range(rng.randint(0, 3)))
    if len(stack) > 1 or rng.random() < 0.5:
        return loose
    return {"red L": "MS", "yellow L": "ms"}.get(stack[0], "") + rng.choice("321") + loose


def test_a_pile_of_both_colours_may_rest_where_the_plain_rules_allow():
    rng = random.Random("piles")
    found = Counter[bool]()
    for _ in range(cases(200)):
        state = state_of(oracle.random_board(rng), "warm")
        red, yellow = (terrain_of(state.stacks, state.options, colour) for colour in (RED, YELLOW))
        bare = replace(state, stacks=tuple(without_movable(stack, "warm") for stack in state.stacks))
        for square, stack in enumerate(frozen(bare)):
            pile = random_pile(rng, stack)
            rests = oracle.in_order((*stack, *(PIECES[mark] for mark in pile)))
            assert may_rest((red, yellow), square, pile) == rests, f"{pile} on {stack}"
            found[rests] += 1
    assert min(found.values()) > 10


def test_help_is_searched_for_even_if_another_cap_would_make_it_needless(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the last black were used first, a2 would stay open and red would need no help, but yellow builds nothing."""
    monkeypatch.setattr(enumeration, "MOST_NODES", 200_000)
    state = GAME.notation.parse_state(LAST_BLACK_FOR_HELPED)
    turn = GAME.notation.parse_turn(state, "c2-a2 a1-a2 a1-a3 a2-a1 a2-c2")
    listed = {GAME.rules.apply(state, one).stacks for one in GAME.rules.legal_turns(state)}
    assert GAME.rules.apply(state, turn).stacks in listed
    assert listed == {GAME.rules.apply(state, one).stacks for one in turns_showing(GAME, state, {})}
