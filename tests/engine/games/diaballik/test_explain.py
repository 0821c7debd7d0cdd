"""Every rule of Diaballik: a case that breaks it and a near miss; the sentence and remedy of each fault."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import IllegalTurnError
from engine.games.diaballik.state import Action, DiaballikTurn
from engine.values import Announcement, Certainty
from tests.effort import cases
from tests.engine.games.diaballik.strategies import (
    AHEAD,
    APART,
    CROWDED,
    GAME,
    MIDDLE,
    OPEN,
    OVER,
    SAID,
    START,
    STUCK,
    TWO_FOES,
    TWO_PASSES,
    WALL,
    WALL_AND_GOAL,
    changed,
    check,
    seen,
    states,
)

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


@pytest.mark.parametrize(
    ("text", "change", "rule", "places"),
    [
        (
            "black black:a6,b1,c1,d1*,e1,f1,g1 white:a7,b7,c7,d7*,e7,f7,g7",
            "a6- a7:b",
            "square-taken",
            ("a6", "a7"),
        ),
        (
            "black black:c2,d3,f3,b4,b5,c6*,d6 white:b2,e2,d4*,f5,b6,e6,d7",
            "c6- b7:B",
            "carrier-moved",
            ("c6", "b7"),
        ),
        (
            "black black:d1,d3,e3,c5*,b6,b7,d7 white:b1,c1,b3,d6,e6,f6,c7*",
            "c5- b4:B",
            "carrier-moved",
            ("c5", "b4"),
        ),
    ],
)
def test_only_the_fault_itself_is_named(text, change, rule, places):
    state = GAME.notation.parse_state(text)
    (breach,) = GAME.table.explain(state, changed(state, change))
    assert (breach.rule, breach.places) == (rule, places)


def test_a_carrier_that_moved_and_passed_then_has_to_take_back_both():
    state = GAME.notation.parse_state("black black:a1,b1*,c1,d1,e2,d4,g4 white:d5,c6,b7,c7,d7*,f7,g7")
    (breach,) = GAME.table.explain(state, changed(state, "b1- b2:b e2:B"))
    assert (breach.rule, breach.places) == ("carrier-moved", ("b1", "b2", "e2"))
    assert breach.remedy.startswith("Put everything back")


def test_a_surplus_ball_is_named():
    state = GAME.rules.new()
    (breach,) = GAME.table.explain(state, changed(state, "e1:B"))
    assert breach.remedy == "Take the ball off the piece on e1."


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ("g1:B", ["ball-added"]),
        ("g1:B a1- a2:b", ["ball-added"]),
        ("d1:b g3:B", ["piece-added", "ball-missing"]),
        ("d1:b", ["ball-missing"]),
    ],
)
def test_a_ball_too_many_or_on_no_piece_of_the_player_is_no_pass(change, rules):
    assert sorted(seen(f"{START} pass_over_own=false", change)) == sorted(rules)


def test_a_ball_beside_its_moved_piece_goes_back_with_it():
    state = GAME.rules.new()
    missing = next(
        each for each in GAME.table.explain(state, changed(state, "d1- d2:b")) if each.rule == "ball-missing"
    )
    assert missing.remedy == ("Put the piece on d2 back on d1, with black's ball; it may move once the ball is passed.")
    assert missing.places == ("d1", "d2")


@pytest.mark.parametrize(
    ("text", "change", "rules"),
    [
        (MIDDLE, "c1:b e4:B g1- g2:b", ["pass-not-straight"]),
        (MIDDLE, "c1:b c4:B g1- g2:b", ["pass-blocked"]),
        (START, "d1- d2:B a1- a2:b", ["carrier-moved"]),
        (START, "d1- d2:B a1- a2:b b1- b2:b c1- c2:b", ["carrier-moved", "too-many-moves"]),
        (OPEN, "d1:b d7:B a1- a2:b", []),
        (START, "d1- d2:b", ["ball-missing", "carrier-moved"]),
    ],
)
def test_legal_parts_of_a_turn_are_not_reported(text, change, rules):
    assert sorted(seen(text, change)) == rules


def test_a_player_out_of_turn_is_told_whose_turn_it_is():
    state = GAME.rules.new()
    (breach,) = GAME.table.explain(state, changed(state, "a7- a6:w"))
    assert breach.remedy == "Put everything back as it was; black plays."


TOLD = [
    (START, "a1- a6:b", "a1 to a6 is 5 steps; a turn has 2 moves of one square.", "", ("a1", "a6")),
    (START, "a1- a2:b b1- b2:b c1- c2:b",
     "The pieces from a1, b1 and c1 moved 3 steps in all; a turn has 2 moves of one square.", "",
     ("a1", "b1", "c1", "a2", "b2", "c2")),
    (AHEAD, "a4- a1:b", "a4 to a1 is 3 steps; a turn has 2 moves of one square.", "", ("a4", "a1")),
    (CROWDED, "a1- a3:b", "From a1 to a3 a piece went over the one on a2.", "", ("a1", "a2", "a3")),
    (START, "a1- b2:b c1- c2:b", "a1 to b2 is a diagonal step.", "", ("a1", "b2")),
    (APART, "a1:b b2:b a5:b g3:B", "The ball can't be passed from a1 to g3: they share no row, column or diagonal.", "",
     ("a1", "g3")),
    (MIDDLE, "c1:b c4:B", "The pass from c1 to c4 goes over the white piece on c3.", "", ("c1", "c3", "c4")),
    (f"{START} pass_over_own=false", "d1:b a1:B", "The pass from d1 to a1 goes over black's own piece on b1.", "",
     ("d1", "b1", "c1", "a1")),
    (START, "d1- d3:B", "The piece with the ball went from d1 to d3.",
     "Put it back on d1; it may move once the ball is passed.", ("d1", "d3")),
    (START, "d1- d2:B a1- a2:b", "The piece with the ball went from d1 to d2.",
     "Put it back on d1; it may move once the ball is passed.", ("d1", "d2")),
    (TWO_FOES, "a1:b a5:B", "The pass from a1 to a5 goes over the white piece on a2.", "", ("a1", "a2", "a3", "a5")),
    (TWO_PASSES, "d5- d4:b c7:B", "Passing e5 to c7 is a second pass; a turn has one.", "", ("e5", "c7")),
    (OPEN, "d1- d2:b d7:B", "With the ball on d7 black has won, and nothing more is done.",
     "Leave the ball on d7 and everything else as it was then.", ("d7", "d1", "d2")),
    (START, "e1:B f1:B", "Black has balls on d1, e1 and f1.", "Take the ball off the pieces on e1 and f1.",
     ("d1", "e1", "f1")),
    (START, "d1:b e1:B f1:B", "Black has balls on e1 and f1.",
     "Leave the ball only where it was passed to, e1 or f1: that decides the turn.", ("e1", "f1")),
    (START, "d1:b c1:B a1- a2:B", "Black has balls on c1 and a2.", "Take the ball off the piece on a2.", ("c1", "a2")),
    (START, "d7:w c7:W e7:W", "White has balls on c7 and e7.",
     "Take the balls off c7 and e7, and put one back on the piece that had it, the one from d7.", ("c7", "e7", "d7")),
    (START, "a1- a2:b d7:w", "White's ball is on none of white's pieces; it was on d7.",
     "Put white's ball back on the piece that had it, the one from d7.", ("d7",)),
    (START, "a7-", "The white piece from a7 is gone.", "Put the white piece back on a7.", ("a7",)),
    (START, "a4:w", "There is a white piece on a4 that wasn't on the board.", "Take the white piece off a4.", ("a4",)),
    (START, "a7:b", "On a7 stood a white piece, and now a black one stands there.",
     "Take the black piece off a7, then put the white one back there.", ("a7",)),
    (START, "a1- a2:b d7:w e7:W", "It is black's turn, and white's ball went from d7 to e7.",
     "Put white's ball back on d7.", ("d7", "e7")),
    (START, "d7- d6:W", "It is black's turn, and the white piece on d7 was moved to d6.",
     "Put the white piece back on d7.", ("d7", "d6")),
    (START, "a7- a6:w", "It is black's turn, not white's.", "Put everything back as it was; black plays.",
     ("a6", "a7")),
    (OVER, "a1- a2:b", "The game is over, so no more turns count.", "Set the table up to play again.", ("a1", "a2")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "change", "sentence", "remedy", "places"), TOLD)
def test_one_fault_has_one_sentence_and_a_remedy(text, change, sentence, remedy, places):
    state = GAME.notation.parse_state(text)
    (breach,) = GAME.table.explain(state, changed(state, change))
    assert breach.sentence == sentence
    assert breach.remedy == (remedy or "Put everything back as it was and play another turn.")
    assert breach.places == places


def test_pieces_of_both_players_that_moved_are_more_than_one_turn_and_no_fault():
    state = GAME.rules.new()
    one = changed(state, "a1- a2:b a7- a6:w")
    assert [breach.rule for breach in GAME.table.explain(state, one)] == ["moved-opponent-piece"]
    assert GAME.table.explain(state, changed(state, "a1- a2:b a7- a6:w b7- b6:w")) == ()
    only_theirs = GAME.table.explain(state, changed(state, "a7- a6:w b7- b6:w c7- c6:w"))
    assert {breach.rule for breach in only_theirs} == {"moved-opponent-piece"}


def test_two_faults_are_both_reported():
    state = GAME.rules.new()
    taken = GAME.table.explain(state, changed(state, "a7:b a1-"))
    assert [breach.sentence for breach in taken] == [
        "The black piece from a1 went to a7, where a white piece stood.",
        "a1 to a7 is 6 steps; a turn has 2 moves of one square.",
    ]
    assert taken[0].remedy == "Put the black piece back on a1 and the white one on a7."
    pushed = GAME.table.explain(state, changed(state, "a7:b a1- a6:w"))
    assert [breach.rule for breach in pushed] == ["too-many-moves", "moved-opponent-piece"]
    skipped = GAME.notation.parse_state(f"white {STUCK}")
    assert [breach.sentence for breach in GAME.table.explain(skipped, changed(skipped, "g4- g5:W"))] == [
        "White can neither move nor pass, so black plays.",
        "It is black's turn, and the white piece on g4 was moved to g5.",
    ]


AROUND = "black black:a3,b5,c5,d1*,e1,f1,g1 white:a4,b4,c4,d4*,e4,f4,g4"
FRONT_SENTENCE = "Only 1 of black's pieces touches white's wall from black's side of the board, on a3; 3 are needed."
WRITTEN = [
    (START, "d1-e1", "The piece on d1 has the ball, so it can't move to e1.",
     "Put it back on d1; it may move once the ball is passed. Write d1*e1 if a pass was meant."),
    (START, "d1-d2", "The piece on d1 has the ball, so it can't move to d2.",
     "Put it back on d1; it may move once the ball is passed."),
    (START, "a1-b1", "b1 is taken, so nothing moves there from a1.", None),
    (OPEN, "a1-c1", "From a1 to c1 a piece went over the one on b1.", None),
    (CROWDED, "a1-a3", "From a1 to a3 a piece went over the one on a2.", None),
    (START, "a1-c2", "a1 to c2 is 3 steps; a turn has 2 moves of one square.", None),
    (START, "a1-a2 b1-b2 c1-c2", "Moving c1 to c2 is one move too many; a turn has 2.", None),
    (START, "d1*e1 e1*f1", "Passing e1 to f1 is a second pass; a turn has one.", None),
    (MIDDLE, "c1*d1", "Black has no other piece on d1, so the ball can't be passed there.", None),
    (MIDDLE, "e1*g1", "The piece on e1 doesn't have the ball; the ball is on c1.", None),
    (START, "d7*e7", "The piece on d7 is white's, and so is its ball.", None),
    (f"{START} null_turn=false", "a1-a2 a2-a1", "After this turn everything stands where it stood before.", None),
    (START, "a1-a2 anti-play", "None of black's pieces touches white's wall; 3 are needed.",
     "Play the turn without announcing anti-play."),
    ("black black:a1,b1,c1,d1*,e1,f1,g1 white:a7,b5,c7,d7*,e7,f7,g7", "a1-a2 anti-play",
     "White's pieces don't form a wall from one side of the board to the other.",
     "Play the turn without announcing anti-play."),
    (WALL, "a3-a2 anti-play", "Only 2 of black's pieces touch white's wall, on e4 and g4; 3 are needed.",
     "Play the turn without announcing anti-play."),
    ("black black:a3,b1,c1,d1*,e1,f1,g1 white:a4,b4,c4,d4*,e4,f4,g4", "b1-b2 anti-play",
     "Only 1 of black's pieces touches white's wall, on a3; 3 are needed.",
     "Play the turn without announcing anti-play."),
    ("black black:a1,b1,c1,d1*,e1,f1,g1 white:a4,b4,c4,d4*,e4,f4,g4", "b1-b2 anti-play",
     "None of black's pieces touches white's wall; 3 are needed.", "Play the turn without announcing anti-play."),
    (f"{AROUND} antiplay_contacts=front", "e1-e2 anti-play", FRONT_SENTENCE,
     "Play the turn without announcing anti-play."),
    (f"{AROUND} antiplay_contacts=front".replace("a3", "a2"), "e1-e2 anti-play",
     "None of black's pieces touches white's wall from black's side of the board; 3 are needed.",
     "Play the turn without announcing anti-play."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "turn", "sentence", "remedy"), WRITTEN)
def test_a_typed_turn_is_refused_with_sentence_and_remedy(text, turn, sentence, remedy):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(text), turn)
    (breach,) = raised.value.breaches
    assert breach.sentence == sentence
    assert breach.remedy == (remedy or "Put everything back as it was and play another turn.")


@pytest.mark.parametrize(
    ("rule", "sentence", "remedy"),
    [
        ("anti-play-turn", "It is white's turn, so black can't announce anti-play now.", "Wait for black's turn."),
        (
            "anti-play-contacts",
            "Only 2 of black's pieces touch white's wall, on a3 and e4; 3 are needed.",
            "Bring 1 more piece right up to the wall.",
        ),
        (
            "repetition-too-soon",
            "Black can't claim a draw: this position hasn't come up three times.",
            "Play on.",
        ),
    ],
)
def test_an_announcement_is_refused_with_sentence_and_remedy(rule, sentence, remedy):
    text, said = SAID[rule][0]
    player, _, kind = said.partition(":")
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(GAME.notation.parse_state(text), Announcement(kind, player))
    (breach,) = raised.value.breaches
    assert (breach.sentence, breach.remedy) == (sentence, remedy)


@pytest.mark.parametrize(
    ("options", "rule", "sentence", "remedy"),
    [
        ({"repetition_draw": True}, "not-your-turn", "It is black's turn, so white can't claim a draw now.",
         "Wait for white's turn."),
        ({}, "repetition-too-soon", "White can't claim a draw: a draw by repetition was not agreed.", "Play on."),
    ],
)  # fmt: skip
def test_a_draw_is_claimed_on_the_claimants_turn(options, rule, sentence, remedy):
    state = GAME.rules.new(options)
    for turn in ("a1-a2", "a7-a6", "a2-a1", "a6-a7") * 2:
        state = GAME.rules.apply(state, GAME.notation.parse_turn(state, turn))
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(state, Announcement("repetition", "white"))
    (breach,) = raised.value.breaches
    assert (breach.rule, breach.sentence, breach.remedy) == (rule, sentence, remedy)
    with pytest.raises(IllegalTurnError, match="what can be: ") as everyone:
        GAME.rules.announce(state, Announcement("repetition"))
    assert everyone.value.breaches == ()


@pytest.mark.parametrize(
    ("pieces", "sentence"),
    [
        ("a3,b1,c1,d1*,e1,f1,g1", "Only 1 of black's pieces touches white's wall, on a3; 3 are needed."),
        ("a1,b1,c1,d1*,e1,f1,g1", "None of black's pieces touches white's wall; 3 are needed."),
    ],
)
def test_the_pieces_that_touch_the_wall_are_counted(pieces, sentence):
    state = GAME.notation.parse_state(f"black black:{pieces} white:a4,b4,c4,d4*,e4,f4,g4")
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(state, Announcement("anti-play", "black"))
    assert raised.value.breaches[0].sentence == sentence


@pytest.mark.parametrize(
    ("change", "anywhere", "sentence", "remedy", "places"),
    [
        ("d4:b e4:b", False, "There are 9 black pieces, and black starts with 7.",
         "Take the black pieces off d4 and e4.", "d4 e4"),
        ("d4:b", True, "There are 8 black pieces, and black starts with 7.",
         "Take 1 of the black pieces off the board.", "a1 b1 c1 d1 e1 f1 g1 d4"),
        ("a1-", True, "There are 6 black pieces, and black starts with 7.", "Put 1 more black piece on the board.", ""),
        ("d1:b", False, "Black starts with the ball on the piece on d1, and none has one.",
         "Put black's ball on the piece on d1.", "d1"),
        ("d1:b e1:B", False, "Black starts with the ball on the piece on d1, and it is on e1.",
         "Put black's ball on the piece on d1.", "e1 d1"),
        ("a1:B e1:B", False, "Black starts with the ball on the piece on d1, and it is on a1, d1 and e1.",
         "Take the ball off the pieces on a1 and e1.", "a1 d1 e1"),
        ("d1:b a1:B g1:B", True, "Black starts with the ball on one piece, and it is on a1 and g1.",
         "Leave the ball on one of them only.", "a1 g1"),
    ],
)  # fmt: skip
def test_a_wrong_start_has_its_sentence_and_remedy(change, anywhere, sentence, remedy, places):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up(changed(GAME.rules.new(), change), anywhere=anywhere)
    (breach,) = raised.value.breaches
    assert (breach.sentence, breach.remedy, " ".join(breach.places)) == (sentence, remedy, places)


def test_the_piece_with_the_ball_is_not_sent_back_to_an_occupied_square():
    state = GAME.notation.parse_state("black black:a1,b1,c1,d1*,f1,g1,f3 white:a6,e6,a7*,b7,d7,f7,g7")
    seen = {**GAME.table.appearance(state), "d1": "black piece", "g1": "empty", "f2": "black piece with ball"}
    breaches = GAME.table.explain(state, seen)
    assert breaches
    assert all("back on f1" not in breach.remedy for breach in breaches)


def test_with_the_front_alone_an_announcement_counts_the_pieces_there():
    both, front = (GAME.notation.parse_state(f"{AROUND} antiplay_contacts={each}") for each in ("both_sides", "front"))
    assert Announcement("anti-play", "black") in GAME.rules.announcements(both)
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(front, Announcement("anti-play", "black"))
    (breach,) = raised.value.breaches
    assert (breach.rule, breach.sentence) == ("anti-play-contacts", FRONT_SENTENCE)


def test_a_missing_contact_is_not_told_as_a_missing_wall():
    apart = GAME.notation.parse_state("black black:a1,b1,c1,d1*,e1,f1,g1 white:a4,b4,c4,d4*,e4,f4,g4")
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(apart, "b1-b2 anti-play")
    assert [breach.rule for breach in raised.value.breaches] == ["anti-play-contacts"]


@pytest.mark.parametrize(("change", "rule"), [("a7:B", "colour-changed"), ("a3:B", "piece-added")])
def test_a_ball_on_a_piece_that_must_go_needs_no_remedy_of_its_own(change, rule):
    state = GAME.rules.new()
    (breach,) = GAME.table.explain(state, changed(state, change))
    assert breach.rule == rule


@pytest.mark.parametrize(
    ("text", "change", "told"),
    [
        (
            "black black:a1,e1*,g1,c2,d2,b5,f6 white:f1,a2,b6,c6*,c7,e7,g7",
            "e1- d2- d1:b f1:B",
            [("square-taken", ("e1", "f1")), ("carrier-moved", ("e1", "f1"))],
        ),
        (
            "black black:a1,c1,c2*,e2,g2,c3,f4 white:d3,e4,c5*,e5,a6,d6,g7",
            "c2:b a1:B g6:B",
            [("pass-not-straight", ("c2", "a1")), ("piece-added", ("g6",))],
        ),
        ("", "d7:w e7:W d4:W", [("piece-added", ("d4",)), ("passed-opponent-ball", ("d7", "e7"))]),
        (
            "",
            "d1- d2:b c1- c3:B",
            [("pass-not-straight", ("d1", "c3")), ("too-many-moves", ("c1", "d1", "d2", "c3"))],
        ),
    ],
    ids=["a captured carrier", "a pass and a surplus ball", "the opponent's pass", "a pass and a move"],
)
def test_two_faults_that_share_a_ball_are_told_apart(text, change, told):
    state = GAME.notation.parse_state(text) if text else GAME.rules.new()
    assert [(each.rule, each.places) for each in GAME.table.explain(state, changed(state, change))] == told
