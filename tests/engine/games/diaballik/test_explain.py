"""Every rule of Diaballik: a case that breaks it and a near miss; and the properties of explain."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import IllegalTurnError, UnreadableError
from engine.games.diaballik.state import Action, DiaballikTurn
from engine.values import EMPTY, Announcement, Certainty
from tests.effort import cases
from tests.engine.games.diaballik.changes import (
    APART,
    CROWDED,
    GAME,
    MIDDLE,
    OPEN,
    OVER,
    SAID,
    START,
    STUCK,
    WALL,
    WALL_AND_GOAL,
    changed,
    check,
    seen,
)
from tests.engine.games.diaballik.strategies import states

# rule: a case that breaks it, and a near miss with its rule or None. Each: a state and a change, or a turn.
CASES = {
    "game-over": [(OVER, "a1- a2:b"), (OVER, "", None)],
    "not-your-turn": [(START, "a7- a6:w"), (f"white {START}", "a7- a6:w", None)],
    "no-action-left": [(f"white {STUCK}", "g4- g5:W"), (f"white {STUCK}", "b2- c2:b", None)],
    "moved-opponent-piece": [(START, "a1- a2:b a7- a6:w"), (START, "a1- a2:b", None)],
    "passed-opponent-ball": [(START, "a1- a2:b d7:w e7:W"), (START, "d1:b e1:B", None)],
    "carrier-moved": [(START, "d1- d2:B"), (START, "d1:b e1:B", None)],
    "moved-diagonally": [(START, "a1- b2:b c1- c2:b"), (START, "a1- b2:b", None)],
    "square-taken": [(CROWDED, "a1- a3:b"), (START, "a1- a3:b", None)],
    "too-many-moves": [(START, "a1- a2:b b1- b2:b c1- c2:b"), (START, "a1- a2:b b1- b2:b", None)],
    "pass-not-straight": [(APART, "a1:b b2:b a5:b g3:B"), (APART, "a1:b b2:B", None)],
    "pass-blocked": [(MIDDLE, "c1:b c4:B"), (MIDDLE, "c1:b a3:B", None)],
    "pass-over-own": [(f"{START} pass_over_own=false", "d1:b a1:B"), (START, "d1:b a1:B", None)],
    "ball-missing": [(START, "d1:b"), (START, "d1:b c1:B", None)],
    "ball-added": [(START, "c1:B"), (START, "d1:b c1:B", None)],
    "piece-added": [(START, "d4:b"), (START, "c1- c2:b", None)],
    "piece-removed": [(START, "a1-"), (START, "a1- a2:b", None)],
    "colour-changed": [(START, "a1:w"), (START, "", None)],
    "goal-ends-turn": [(OPEN, "d1- d2:b d7:B"), (OPEN, "d1:b d7:B", None)],
}
TURNS = {
    "carrier-moved": [(START, "d1-d2"), (START, "d1*e1 d1-d2")],
    "moved-diagonally": [(START, "a1-b2"), (START, "a1-a2 a2-b2")],
    "square-taken": [(START, "a1-b1"), (START, "b1-b2 a1-b1")],
    "too-many-moves": [(START, "a1-a2 b1-b2 c1-c2"), (START, "a1-a2 b1-b2")],
    "second-pass": [(START, "d1*e1 e1*f1"), (START, "d1*f1")],
    "pass-not-straight": [(MIDDLE, "c1*e4"), (MIDDLE, "c1*e1")],
    "pass-blocked": [(MIDDLE, "c1*c4"), (MIDDLE, "c1*a3")],
    "pass-over-own": [(f"{MIDDLE} pass_over_own=false", "c1*g1"), (f"{MIDDLE} pass_over_own=false", "c1*e1")],
    "pass-to-nobody": [(MIDDLE, "c1*d1"), (MIDDLE, "e1-d1 c1*d1")],
    "pass-without-ball": [(MIDDLE, "e1*g1"), (MIDDLE, "c1*g1")],
    "moved-opponent-piece": [(START, "a7-a6"), (START, "a1-a2")],
    "passed-opponent-ball": [(START, "d7*e7"), (START, "d1*e1")],
    "goal-ends-turn": [(OPEN, "d1*d7 d1-d2"), (OPEN, "d1*d7")],
    "null-turn": [(f"{START} null_turn=false", "a1-a2 a2-a1"), (START, "a1-a2 a2-a1")],
    "anti-play-wall": [(START.replace("www/.", ".ww/w"), "a1-a2 anti-play"), (WALL, "c1*b1 anti-play")],
    "anti-play-contacts": [(WALL, "a3-a2 anti-play"), (WALL, "f1-f2 anti-play")],
}
STARTS = {
    "too-many-pieces": "d4:b",
    "too-few-pieces": "a1-",
    "start-square": "a1- a2:b",
    "start-ball": "d1:b e1:B",
}


@pytest.mark.parametrize("rule", CASES)
def test_a_change_on_the_table_breaks_its_rule_and_the_near_miss_does_not(rule):
    (text, change), (near_text, near_change, other) = CASES[rule]
    assert seen(text, change)[0] == rule
    assert seen(near_text, near_change)[:1] == ([] if other is None else [other])


def broken_by(call, *arguments):
    """The rules that an illegal turn breaks; none if it is accepted."""
    refused = None
    try:
        call(*arguments)
    except IllegalTurnError as error:
        refused = error
    if refused is None:
        return []
    assert all(breach.sentence in str(refused) for breach in refused.breaches)
    return check(refused.breaches)


@pytest.mark.parametrize("rule", TURNS)
def test_a_typed_turn_breaks_its_rule_and_the_near_miss_is_legal(rule):
    (text, turn), (near_text, near_turn) = TURNS[rule]
    assert broken_by(GAME.notation.parse_turn, GAME.notation.parse_state(text), turn) == [rule]
    assert broken_by(GAME.notation.parse_turn, GAME.notation.parse_state(near_text), near_turn) == []


@pytest.mark.parametrize("rule", SAID)
def test_an_announcement_breaks_its_rule_and_the_near_miss_is_allowed(rule):
    (text, said), (near_text, near_said) = SAID[rule]

    def announce(where, what):
        player, _, kind = what.partition(":")
        return GAME.rules.announce(
            GAME.notation.parse_state(where), Announcement(kind, None if player == "all" else player)
        )

    assert broken_by(announce, text, said) == [rule]
    assert broken_by(announce, near_text, near_said) == []


@pytest.mark.parametrize("rule", STARTS)
def test_a_wrong_start_breaks_its_rule(rule):
    looks = changed(GAME.rules.new(), STARTS[rule])
    assert rule in broken_by(GAME.table.set_up, looks)
    assert broken_by(GAME.table.set_up, GAME.table.appearance(GAME.rules.new())) == []


def test_a_ball_may_not_start_where_it_would_win():
    looks = changed(GAME.rules.new(), "d1:b a1- a7- a6:w a7:B")
    assert broken_by(lambda: GAME.table.set_up(looks, anywhere=True)) == ["start-at-goal"]
    assert broken_by(lambda: GAME.table.set_up(changed(GAME.rules.new(), "d1:b a1- a6:B"), anywhere=True)) == []


def test_every_rule_is_raised_by_some_test():
    assert {*CASES, *TURNS, *SAID, *STARTS, "start-at-goal"} == set(GAME.rules.catalogue)


MORE = [
    ("square-taken", CROWDED, "a1- a2:b"),
    ("carrier-moved", START, "d1- d3:B"),
    ("too-many-moves", START, "a1- a6:b"),
    ("too-many-moves", START, "a1- a4:b"),
    ("piece-removed", START, "a7-"),
    ("piece-added", START, "a4:w"),
    ("ball-missing", START, "d7:w"),
    ("ball-added", START, "e7:W"),
    ("moved-opponent-piece", START, "d7- d6:W"),
    ("colour-changed", START, "a7:b"),
    ("pass-not-straight", MIDDLE, "c1:b f5:B c4- c6:b a3- a5:b"),
    ("pass-not-straight", APART, "a1- g3:B e5:b"),
]


@pytest.mark.parametrize(("rule", "text", "change"), MORE)
def test_further_violations_are_named(rule, text, change):
    assert rule in seen(text, change)


@given(states(), st.integers(0, 10**6))
@settings(max_examples=cases(40))
def test_a_legal_turn_breaks_no_rule_and_any_other_change_breaks_one(state, choice):
    turns = GAME.rules.legal_turns(state)
    after = GAME.table.appearance(GAME.rules.apply(state, turns[choice % len(turns)]))
    assert GAME.table.explain(state, after) == ()
    rng = random.Random(choice)
    for _ in range(2):
        spoiled = {**after, rng.choice(GAME.places): rng.choice(GAME.looks)}
        explained = any(GAME.table.appearance(GAME.rules.apply(state, turn)) == spoiled for turn in turns)
        null = spoiled == GAME.table.appearance(state)
        assert bool(check(GAME.table.explain(state, spoiled))) != (explained or null)


@pytest.mark.parametrize("after", [{"h1": EMPTY}, {"a1": "a cat"}])
def test_an_unknown_place_or_look_is_refused(after):
    with pytest.raises(UnreadableError):
        GAME.table.explain(GAME.rules.new(), after)


@pytest.mark.parametrize(
    ("actions", "rule"),
    [
        ((), "null-turn"),
        ((Action(14, 21, passes=False),), "moved-opponent-piece"),
        ((Action(14, 21, passes=True),), "pass-without-ball"),
        ((Action(3, 3, passes=True),), "pass-to-nobody"),
        ((Action(0, 14, passes=False),), "too-many-moves"),
    ],
)
def test_turns_not_made_by_the_engine_are_checked(actions, rule):
    turn = DiaballikTurn("black", actions, claims=False)
    assert broken_by(GAME.rules.apply, GAME.rules.new(), turn) == [rule]
    assert GAME.rules.certainty(GAME.rules.new(), turn) is Certainty.IMPOSSIBLE


@pytest.mark.parametrize(
    ("text", "turn", "rule"),
    [
        (CROWDED, "a1-a3", "square-taken"),
        (f"white {STUCK}", "g4-g5", "moved-opponent-piece"),
        (OPEN, "d1*d7 anti-play", "goal-ends-turn"),
        (WALL, "a3-a2 anti-play", "anti-play-contacts"),
        (WALL_AND_GOAL, "d6*d7 anti-play", "goal-ends-turn"),
    ],
)
def test_further_illegal_turns_name_their_rule(text, turn, rule):
    assert broken_by(GAME.notation.parse_turn, GAME.notation.parse_state(text), turn) == [rule]


def test_apply_refuses_with_breaches():
    turn = GAME.notation.parse_turn(GAME.rules.new(), "a1-a2")
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.apply(GAME.notation.parse_state(f"white {START}"), turn)
    assert [breach.rule for breach in raised.value.breaches] == ["not-your-turn"]
