"""Every rule of the Blokus Dice Game: a case that breaks it and a near miss; and the properties of explain."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import IllegalTurnError, UnreadableError
from engine.showing import unfinished_showing
from engine.values import EMPTY, Announcement
from tests.effort import cases
from tests.engine.games.blokus_dice.strategies import GAME, states

SHEET = "sheet=6x5/1/c3/1,2/I3/V3/I4,L4/L5/O4"
NEW = f"p1 dice=1,4 p1=-:0 p2=-:0 {SHEET}"
ROLLING = f"p1 dice=- p1=-:0 p2=-:0 {SHEET}"
OVER = f"over p1=-:0:out p2=-:0:out {SHEET}"
OUT = f"p1 dice=1 p1=-:0 p2=-:0:out p3=-:0:out {SHEET}"
# p1 has red I3 on a1 b1 c1 and is to draw red again; one die shows 1, one 5.
SECOND = f"p1 dice=1,5 p1=6/6/6/6/rrr3:0 p2=6/6/6/6/bbb3:0 {SHEET}"
# p1 holds red, and has drawn blue in the only round so far.
BLUE_THERE = SECOND.replace("rrr3", "bbb3")
NO_STRIKE = SECOND.replace("rrr3:0", "rrr3:1")

# rule: (case that breaks it), (near miss). Each: a state, a change on the table, and the near miss's rule or None.
CASES: dict[str, tuple[tuple[str, str], tuple[str, str, str | None]]] = {
    "game-over": ((OVER, "p1.a1=red"), (OVER, "", None)),
    "not-in-the-game": (
        (OUT, "p2.a1=blue"),
        (OUT.replace("p2=-:0:out", "p2=-:0").replace("dice=1", "dice=1,4"), "p2.a1=blue", "not-your-turn"),
    ),
    "roll-first": ((ROLLING, "p1.a1=red"), (NEW, "p1.a1=red", None)),
    "not-your-turn": ((NEW, "p2.a1=blue"), (NEW.replace("p1 dice", "p2 dice", 1), "p2.a1=blue", None)),
    "wiped": ((SECOND, "p1.b1=empty"), (SECOND, "p1.d2=red", None)),
    "square-taken": ((BLUE_THERE, "p1.c1=red p1.c2=red"), (BLUE_THERE, "p1.d1=red p1.d2=red", "first-in-a-corner")),
    "closed-square": ((NEW, "p1.c3=red p1.c2=red p1.c1=red"), (NEW, "p1.a1=red p1.b1=red", None)),
    "colour-not-in-hand": ((NEW, "p1.a1=blue"), (NEW, "p1.a1=red", None)),
    "not-one-shape": ((NEW, "p1.a1=red p1.f1=red"), (NEW, "p1.a1=red p1.b1=red", None)),
    "no-such-shape": (
        (NEW, "p1.a1=red p1.b1=red p1.b2=red p1.c2=red"),
        (NEW, "p1.a1=red p1.b1=red p1.c1=red p1.d1=red", None),
    ),
    "shape-used": ((SECOND, "p1.d2=red p1.e2=red p1.f2=red"), (SECOND, "p1.d2=red p1.e2=red", None)),
    "first-in-a-corner": ((NEW, "p1.b1=red"), (NEW, "p1.f5=red", None)),
    "touches-side": ((SECOND, "p1.d1=red p1.d2=red"), (SECOND, "p1.d2=red p1.d3=red", None)),
    "touches-no-corner": ((SECOND, "p1.f5=red"), (SECOND, "p1.d2=red", None)),
    "no-strike-left": (
        (NO_STRIKE, "p1.d2=red p1.d3=red p1.d4=red p1.d5=red"),
        (SECOND, "p1.d2=red p1.d3=red p1.d4=red p1.d5=red", None),
    ),
}
# The same for typed turns: a state and a turn.
SAID = {
    "another-shape": ((NEW, "4:L4:a1,b1,c1,d1"), (NEW, "4:I4:a1,b1,c1,d1")),
    "no-such-die": ((NEW, "3:V3:a1,b1,a2"), (NEW.replace("1,4", "1,3"), "3:V3:a1,b1,a2")),
    "not-in-the-row": ((NEW, "4:2:a1,b1"), (NEW, "4:2:a1,b1:strike")),
    "strike-not-needed": ((NEW, "1:2:a1,b1:strike"), (NEW, "1:2:a1,b1")),
    "no-strike-left": ((NO_STRIKE, "1:I4:d2,d3,d4,d5:strike"), (SECOND, "1:I4:d2,d3,d4,d5:strike")),
    "game-over": ((OVER, "1:1:a1"), (NEW, "1:1:a1")),
    "roll-first": ((ROLLING, "1:1:a1"), (NEW, "1:1:a1")),
    "square-taken": ((BLUE_THERE, "1:2:c1,c2"), (BLUE_THERE, "1:1:a5")),
    "closed-square": ((NEW, "3:V3:c3,c2,d2"), (NEW, "1:2:a1,b1")),
    "no-such-shape": ((NEW, "4:Z4:a1,b1,b2,c2"), (NEW, "4:L4:a1,b1,c1,c2")),
    "not-one-shape": ((NEW, "1:2:a1,c1"), (NEW, "1:2:a1,b1")),
}
OTHERWISE = {"sheet-not-clean"}
"""Broken at the set-up: see tests/engine/games/blokus_dice/test_game.py."""


def changed(text):
    return dict(part.split("=") for part in text.split())


def rules_of(breaches):
    return [breach.rule for breach in breaches]


@pytest.mark.parametrize("rule", CASES)
def test_a_change_breaks_its_rule_and_the_near_miss_does_not(rule):
    (text, change), (near_text, near_change, near_rule) = CASES[rule]
    breaches = GAME.table.explain(GAME.notation.parse_state(text), changed(change))
    assert rules_of(breaches)[0] == rule
    near = rules_of(GAME.table.explain(GAME.notation.parse_state(near_text), changed(near_change)))
    assert near[:1] == ([] if near_rule is None else [near_rule])
    for breach in breaches:
        assert breach.sentence.endswith(".")
        assert breach.remedy.endswith(".")
        assert breach.rule in GAME.rules.catalogue


@pytest.mark.parametrize("rule", SAID)
def test_a_typed_turn_breaks_its_rule_and_the_near_miss_does_not(rule):
    (text, said), (near_text, near_said) = SAID[rule]
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(text), said)
    assert rules_of(raised.value.breaches)[0] == rule
    state = GAME.notation.parse_state(near_text)
    assert GAME.rules.apply(state, GAME.notation.parse_turn(state, near_said)) != state


def test_every_rule_has_its_cases():
    assert {*CASES, *SAID, *OTHERWISE} == set(GAME.rules.catalogue)


def test_every_violation_is_named_the_nearest_first():
    state = GAME.notation.parse_state(SECOND)
    both = GAME.table.explain(state, changed("p1.d2=red p2.d2=blue"))
    assert rules_of(both) == ["not-your-turn"]
    wrong = GAME.table.explain(state, changed("p1.d1=red p1.e1=blue p1.a1=empty"))
    assert rules_of(wrong) == ["wiped", "colour-not-in-hand", "touches-side", "touches-no-corner"]
    assert wrong[0].remedy == "Draw p1's a1 in red again."
    over_blue = GAME.table.explain(GAME.notation.parse_state(BLUE_THERE), changed("p1.a1=green"))
    assert rules_of(over_blue) == ["square-taken"]


def test_a_turn_in_a_colour_that_the_player_does_not_hold_is_explained():
    state = GAME.notation.parse_state(NEW)
    turn = replace(GAME.notation.parse_turn(state, "1:1:a1"), colour="green")
    with pytest.raises(IllegalTurnError, match="p1 holds red in this round, but drew in green on a1") as raised:
        GAME.rules.apply(state, turn)
    assert rules_of(raised.value.breaches) == ["colour-not-in-hand"]


def test_many_squares_and_separate_groups_are_described():
    state = GAME.notation.parse_state(NEW)
    (apart,) = GAME.table.explain(state, changed("p1.a1=red p1.b1=red p1.e5=red"))
    assert apart.sentence == "The squares that p1 drew are not joined: a1, b1 and e5."
    (large,) = GAME.table.explain(state, {f"p1.{column}{row}": "red" for column in "abcdef" for row in "12"})
    every = "p1's a1, b1, c1, d1, e1, f1, a2, b2, c2, d2, e2 and f2"
    assert large.sentence.startswith(f"The 12 squares on {every} are no shape")
    assert large.remedy.startswith(f"Wipe {every} clean.")


@pytest.mark.parametrize("change", ["p9.a1=red", "p1.k1=red", "a1=red", "p1.a1=pink", "p1.=red"])
def test_an_unknown_place_or_look_is_unreadable(change):
    with pytest.raises(UnreadableError, match="expected"):
        GAME.table.explain(GAME.notation.parse_state(NEW), changed(change))


@settings(max_examples=cases(40, 15))
@given(states(), st.integers(0, 10**6))
def test_legal_turns_break_no_rule(state, choice):
    assert GAME.table.explain(state, GAME.table.appearance(state)) == ()
    turns = GAME.rules.legal_turns(state)
    for turn in turns[choice % 211 :: 211]:
        after = GAME.table.appearance(GAME.rules.apply(state, turn))
        assert GAME.table.explain(state, after) == ()
        drawn = {place: look for place, look in after.items() if look != GAME.table.appearance(state)[place]}
        assert set(drawn) == set(turn.places)
        assert set(drawn.values()) == {turn.colour}


@given(states(), st.integers(0, 2**32))
def test_a_change_breaks_a_rule_unless_a_legal_turn_makes_it(state, seed):
    rng = random.Random(seed)
    places, looks = list(GAME.table.appearance(state)), GAME.looks
    change = {place: rng.choice(looks) for place in rng.sample(places, rng.randint(1, 3))}
    before = GAME.table.appearance(state)
    really = {place: look for place, look in change.items() if look != before[place]}
    ends = {frozenset(turn.places) for turn in GAME.rules.legal_turns(state)}
    hand = GAME.rules.legal_turns(state)[0].colour if ends else None
    legal = not really or (frozenset(really) in ends and set(really.values()) == {hand})
    assert (GAME.table.explain(state, change) == ()) == legal


@given(states(), st.integers(0, 2**32))
def test_an_illegal_turn_names_its_rule(state, seed):
    rng = random.Random(seed)
    grid = state.options.sheet.grid
    squares = ",".join(rng.sample(grid.names, rng.randint(1, 3)))
    text = f"{rng.randint(1, 6)}:{squares}{rng.choice(['', ':strike'])}"
    try:
        turn = GAME.notation.parse_turn(state, text)
    except IllegalTurnError as error:
        rules = rules_of(error.breaches)
    else:
        assert turn in list(GAME.rules.legal_turns(state))
        return
    assert rules
    assert set(rules) <= set(GAME.rules.catalogue)


def test_resigning_twice_breaks_a_rule():
    state = GAME.rules.announce(GAME.notation.parse_state("p1 p1=-:0 p2=-:0 p3=-:0"), Announcement("resign", "p2"))
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(state, Announcement("resign", "p2"))
    (breach,) = raised.value.breaches
    assert (breach.rule, breach.sentence) == ("not-in-the-game", "p2 is out of the game already.")


def test_a_position_can_be_corrected():
    state = GAME.notation.parse_state(SECOND)
    assert GAME.table.amend(state, {}) == state
    assert GAME.table.amend(state, {"p1.a1": "red"}) == state
    moved = GAME.table.amend(state, {"p1.c1": EMPTY, "p1.a2": "red", "p1.b1": EMPTY, "p1.a3": "red"})
    assert GAME.table.appearance(moved)["p1.a3"] == "red"
    assert moved.sheets[0].used == state.sheets[0].used
    rolling = GAME.notation.parse_state(ROLLING)
    assert GAME.table.amend(rolling, {}, "p2").to_move == "p2"
    again = GAME.table.amend(GAME.notation.parse_state(OVER), {}, "p2")
    assert (again.to_move, again.sheets[1].status) == ("p2", "playing")


@pytest.mark.parametrize(
    ("text", "looks", "to_move", "message"),
    [
        (SECOND, {"p1.b1": EMPTY}, None, "are no shape|drawn 1 twice|hang together"),
        (NEW, {"p1.c3": "red"}, None, "closed"),
        (NEW, {"p1.z9": "red"}, None, "no place"),
        (NEW, {"p1.a1": "pink"}, None, "shows 'pink'"),
        (NEW, {}, "p4", "no player 'p4'"),
        (OVER, {}, None, "say who is to play"),
        (NEW, {}, "p2", "dice on the table: 2; players still to take one in this round: 1; expected a die for each"),
    ],
)
def test_an_impossible_correction_is_refused(text, looks, to_move, message):
    with pytest.raises(UnreadableError, match=message):
        GAME.table.amend(GAME.notation.parse_state(text), looks, to_move)


@pytest.mark.parametrize(
    ("change", "sentence", "remedy"),
    [
        ("p1.a1=blue", "p1's a1 was filled already, and is drawn over.", "Draw p1's a1 in red again."),
        (
            "p1.a1=blue p1.b1=green",
            "p1's a1 and b1 were filled already, and are drawn over.",
            "Draw p1's a1 and b1 in red again.",
        ),
    ],
)
def test_an_overwritten_square_must_be_drawn_again(change, sentence, remedy):
    state = GAME.notation.parse_state(SECOND)
    (breach,) = GAME.table.explain(state, changed(change))
    assert (breach.rule, breach.sentence) == ("square-taken", sentence)
    assert breach.remedy == f"{remedy} Draw on empty squares only."


@pytest.mark.parametrize(
    ("state", "rule"),
    [
        (SECOND.replace("p1 dice=1,5", "p2 starter=p1 dice=1").replace("bbb3", "6"), "not-your-turn"),
        (SECOND.replace("dice=1,5", "dice=-"), "roll-first"),
        (
            SECOND.replace("rrr3:0", "rrr3:0:resigned")
            .replace("p1 d", "p2 d")
            .replace(" sheet", " p3=6/6/6/6/yyy3:0 sheet"),
            "not-in-the-game",
        ),
        (SECOND.replace(":0", ":0:out").replace("p1 dice=1,5", "over"), "game-over"),
    ],
)
def test_what_is_drawn_stays_drawn_when_the_player_may_not_draw(state, rule):
    state = GAME.notation.parse_state(state)
    (breach,) = GAME.table.explain(state, changed("p1.a1=blue"))
    assert (breach.rule, breach.remedy) == ("wiped", "Draw p1's a1 in red again.")
    wiped, drawn = GAME.table.explain(state, changed("p1.a1=empty p1.d2=red"))
    assert (wiped.rule, wiped.remedy) == ("wiped", "Draw p1's a1 in red again.")
    assert (drawn.rule, drawn.places) == (rule, ("p1.d2",))


def test_a_shape_over_another_colour_breaks_only_that_rule():
    state = GAME.notation.parse_state(BLUE_THERE)
    assert rules_of(GAME.table.explain(state, changed("p1.c1=red"))) == ["square-taken"]


def test_the_remedy_for_a_first_shape_names_the_corners():
    (breach,) = GAME.table.explain(GAME.notation.parse_state(NEW), changed("p1.b1=red"))
    assert breach.remedy == "Wipe p1's b1 clean. Draw it so that it covers p1's a1, f1, a5 or f5."


TOLD = [
    (OVER, "p1.a1=red", "The game is over, so nothing is drawn any more.", "Wipe p1's a1 clean."),
    (OUT, "p2.a1=blue", "p2 is out, and draws nothing more.", "Wipe p2's a1 clean."),
    (OUT.replace("p2=-:0:out", "p2=-:0:resigned"), "p2.a1=blue", "p2 has resigned, and draws nothing more.",
     "Wipe p2's a1 clean."),
    (ROLLING, "p1.a1=red", "p1 drew before rolling the dice of this round.",
     "Wipe p1's a1 clean. First p1 rolls."),
    (ROLLING, "p2.a1=blue", "p2 drew before p1 rolled the dice of this round.", "Wipe p2's a1 clean. First p1 rolls."),
    (BLUE_THERE, "p1.c1=red p1.c2=red", "p1's c1 was filled already, and is drawn over.",
     "Draw p1's c1 in blue again. Wipe p1's c2 clean. Draw on empty squares only."),
    (NEW, " ".join(f"p1.{column}{row}=red" for row in "12" for column in "abcd"),
     "The 8 squares on p1's a1, b1, c1, d1, a2, b2, c2 and d2 are no shape of this sheet.",
     "Wipe p1's a1, b1, c1, d1, a2, b2, c2 and d2 clean. Draw a shape that stands on the sheet."),
    (NEW, "p2.a1=blue", "It is p1's turn, not p2's.", "Wipe p2's a1 clean."),
    (SECOND, "p1.b1=empty", "p1's b1 no longer shows what was drawn.", "Draw p1's b1 in red again."),
    (BLUE_THERE, "p1.a1=empty p1.c1=empty", "p1's a1 and c1 no longer show what was drawn.",
     "Draw p1's a1 and c1 in blue again."),
    (NEW, "p1.a1=blue", "p1 holds red in this round, but drew in blue on a1.", "Wipe p1's a1 clean. Draw in red."),
    (NEW, "p1.a1=red p1.f1=red", "The squares that p1 drew are not joined: a1 and f1.",
     "Wipe p1's a1 and f1 clean. Draw the squares of one shape, side by side."),
    (NEW, "p1.a1=red p1.b1=red p1.b2=red p1.c2=red", "Z4 on p1's a1, b1, b2 and c2 is no shape of this sheet.",
     "Wipe p1's a1, b1, b2 and c2 clean. Draw a shape that stands on the sheet."),
    (SECOND, "p1.d2=red p1.e2=red p1.f2=red", "p1 has drawn the shape I3 before.",
     "Wipe p1's d2, e2 and f2 clean. Draw a shape not crossed off yet."),
    (SECOND, "p1.f5=red", "The red shape on p1's f5 touches no other red shape at a corner.",
     "Wipe p1's f5 clean. Draw it so that a corner of it touches a corner of a red shape."),
    (NO_STRIKE, "p1.d2=red p1.d3=red p1.d4=red p1.d5=red",
     "The shape I4 stands in row 4, and p1 has no strike left (1 crossed out).",
     "Wipe p1's d2, d3, d4 and d5 clean. Draw a shape of a row that a die gives."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "change", "sentence", "remedy"), TOLD)
def test_one_fault_has_one_sentence_and_a_remedy(text, change, sentence, remedy):
    (breach,) = GAME.table.explain(GAME.notation.parse_state(text), changed(change))
    assert (breach.sentence, breach.remedy) == (sentence, remedy)
    assert {place for place in changed(change) if "empty" not in change} <= {*breach.places}


WRITTEN = [
    (NEW, "4:L4:a1,b1,c1,d1", "p1's a1, b1, c1 and d1 form the shape I4, not the shape L4.",
     "Draw the shape L4, or type I4."),
    (NEW, "3:V3:a1", "p1's a1 forms the one-square shape (1), not the shape V3.", "Draw the shape V3, or type 1."),
    (NEW, "3:V3:a1,b1,a2", "No die shows a 3 for the shape V3, which stands in row 3; the dice show 1, 4.",
     "Take the 1 or the 4 and cross out a strike."),
    (NEW.replace("dice=1,4 p1=-:0 p2=-:0", "dice=1,1,4 p1=-:0 p2=-:0 p3=-:0"), "3:V3:a1,b1,a2",
     "No die shows a 3 for the shape V3, which stands in row 3; the dice show 1, 1, 4.",
     "Take the 1 or the 4 and cross out a strike."),
    (NEW, "3:2:a1,b1", "No die shows a 3; the dice show 1, 4.", "Take the 1."),
    (NO_STRIKE, "4:2:d2,d3", "No die shows a 4; the dice show 1, 5.", "Take the 1."),
    (NO_STRIKE, "4:I4:d2,d3,d4,d5", "No die shows a 4 for the shape I4, which stands in row 4; the dice show 1, 5.",
     "Take the 1 or the 5 and draw a shape of that row."),
    (NEW, "4:2:a1,b1", "The 4 gives a shape of row 4, but the two-square shape (2) stands in row 1.",
     "Draw a shape of row 4, or cross out a strike."),
    (NO_STRIKE, "1:I4:d2,d3,d4,d5", "The 1 gives a shape of row 1, but the shape I4 stands in row 4.",
     "Draw a shape of row 1."),
    (NEW, "1:2:a1,b1:strike", "The two-square shape (2) stands in row 1, which the die gives.",
     "Don't cross out a strike."),
    (BLUE_THERE, "1:1:c1", "p1's c1 is filled already.", "Draw on empty squares only."),
    (BLUE_THERE, "1:2:b1,c1", "p1's b1 and c1 are filled already.", "Draw on empty squares only."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "sentence", "remedy"), WRITTEN)
def test_a_typed_turn_is_refused_with_sentence_and_remedy(text, said, sentence, remedy):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(text), said)
    breach = raised.value.breaches[0]
    assert (breach.sentence, breach.remedy) == (sentence, remedy)


def test_a_taken_corner_is_not_offered_for_the_first_shape():
    breaches = GAME.table.explain(GAME.notation.parse_state(BLUE_THERE), changed("p1.d2=red"))
    assert [breach.remedy for breach in breaches] == [
        "Wipe p1's d2 clean. Draw it so that it covers p1's f1, a5 or f5."
    ]


def test_two_colours_that_nobody_holds_are_reported_separately():
    breaches = GAME.table.explain(GAME.notation.parse_state(NEW), changed("p1.a1=blue p1.b1=green"))
    assert [breach.places for breach in breaches] == [("p1.a1",), ("p1.b1",)]


def test_both_sides_of_a_shape_that_touches_are_named():
    (breach,) = GAME.table.explain(GAME.notation.parse_state(SECOND), changed("p1.d2=red p1.c2=red"))
    assert breach.sentence == "The red shape on p1's c2 and d2 shares a side with p1's c1, which is also red."
    assert breach.places == ("p1.c2", "p1.d2", "p1.c1")


def test_squares_of_an_unfinished_shape_are_told_apart_from_whole_shapes():
    state = GAME.notation.parse_state(NEW)
    unfinished = {each.places: each.instruction for each in unfinished_showing(GAME, state, {})}
    assert unfinished[("p1.b1",)] == "Fill the other squares of the shape on p1.b1."
    assert ("p1.a1",) not in unfinished, "the shape of one square is a whole turn there"
    assert not GAME.table.unfinished(GAME.notation.parse_state(OVER))


def test_no_more_strikes_are_crossed_out_than_shapes_are_drawn():
    state = GAME.notation.parse_state(f"p1 dice=- p1=6/6/6/6/rrr3:1 p2=6/6/6/6/bbb3:0 {SHEET}")
    wiped = dict.fromkeys(("p1.a1", "p1.b1", "p1.c1", "p2.a1", "p2.b1", "p2.c1"), EMPTY)
    assert [sheet.strikes for sheet in GAME.table.amend(state, wiped).sheets] == [0, 0]
    assert [sheet.strikes for sheet in GAME.table.amend(state, {"p1.a1": "red"}).sheets] == [1, 0]


def test_a_corrected_next_player_starts_the_round_only_without_dice_on_the_table():
    rolling = GAME.table.amend(GAME.notation.parse_state(ROLLING), {}, "p2")
    assert (rolling.starter, rolling.seat) == (1, 1)
    one_left = GAME.notation.parse_state(
        SECOND.replace("p1 dice=1,5", "p2 starter=p1 dice=1").replace("p1=6/6/6/6/rrr3", "p1=6/6/6/3r2/rrr3")
    )
    said = GAME.table.amend(one_left, {}, "p2")
    assert (said.starter, said.seat) == (0, 1)


@pytest.mark.parametrize(
    ("text", "said", "rule"),
    [
        (BLUE_THERE, "1:2:b1,c1", "square-taken"),
        (BLUE_THERE, "1:2:c1,d1", "square-taken"),
        (NEW, "1:2:b3,c3", "closed-square"),
    ],
)
def test_a_shape_on_squares_that_may_not_be_filled_breaks_one_rule(text, said, rule):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(text), said)
    assert [breach.rule for breach in raised.value.breaches] == [rule]


@pytest.mark.parametrize(
    ("drawn", "remedy", "places"),
    [
        ("p1.a1=red p1.b1=red p1.d5=red", "Wipe p1's d5 clean.", "p1.d5"),
        ("p1.a1=red p1.b1=red p1.d5=red p1.e1=red", "Wipe p1's e1 and d5 clean.", "p1.e1 p1.d5"),
        (
            "p1.a1=red p1.b1=red p1.d1=red",
            "Wipe p1's a1, b1 and d1 clean. Draw the squares of one shape, side by side.",
            "p1.a1 p1.b1 p1.d1",
        ),
        (
            "p1.b2=red p1.d5=red",
            "Wipe p1's b2 and d5 clean. Draw the squares of one shape, side by side.",
            "p1.b2 p1.d5",
        ),
    ],
)
def test_squares_beside_a_legal_shape_are_to_be_wiped(drawn, remedy, places):
    state = GAME.notation.parse_state(NEW)
    (breach,) = GAME.table.explain(state, changed(drawn))
    assert (breach.rule, breach.remedy, " ".join(breach.places)) == ("not-one-shape", remedy, places)
