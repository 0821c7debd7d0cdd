"""Every rule of Number Drop: a case that breaks it and a near miss; and the properties of explain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.games.number_drop.explanation import breaches_of
from engine.games.number_drop.notation import read_turn
from engine.games.number_drop.rules import catalogue
from engine.games.number_drop.state import Combination, Drop, PenaltyDrop, Phase, SetUpDigit, Slide
from engine.values import Announcement, Certainty
from tests.engine.games.number_drop.strategies import DICE, GAME, LETTERED, TILES, position
from tests.engine.whole_games import scores_of

SETUP = f"setup p1=- p2=- {TILES} to=p1,p2"
ROLL = f"roll p1=1...... p2=2...... {TILES}"
DROP = f"drop p1=1...... p2=2...... {TILES} roll=1,3,4,5,T to=p1,p2"
TWO_WRITTEN = DROP.replace("p1=1......", "p1=13.....")
STARRED = f"drop p1=1...... p2=2...... {TILES} roll=1,3,4,*,T to=p1,p2"
SECOND = f"drop p1=1...... p2=2...... {TILES} roll=1,3,4,5,T to=p2"
PENALTY = f"penalty p1={LETTERED} p2=.....2. {TILES} slot=A to=p2"
UNDER = f"drop p1=.11111./.1...1./.1...1. p2=2...... {TILES} roll=1,3,4,5,O to=p1"
COMBINE = f"drop p1=66X.7../555.6../1234555|loop:a1+b1+c1 p2=2...... {TILES} roll=1,3,4,5,T then=p1"
FILLED = f"drop p1=555.333/1234555|loop:a2+b2+c2 p2=2...... {TILES} roll=1,3,4,5,T then=p1"
CROSSED = f"drop p1=555..../1234...|loop:a1+b1+c1 p2={LETTERED} {TILES} crossed_off=A roll=1,2,3,4,O then=p1"
OPEN = CROSSED.replace(" crossed_off=A", "")
OVER = f"over p1={'/'.join(['1......'] * 12)} p2=2......"
SLIDE = f"slide p1=1...... {TILES} roll=1,3,4,5,T to=p1 notches=0,0,0,4,0 crossed_off=D players=1"
STAR = f"star-slide p1=1...... {TILES} roll=1,3,4,*,T to=p1 notches=1,0,0,0,0 players=1"
GONE = f"roll p1=1...... p2=2...... p3=3...... {TILES} players=3 gone=p2"

CASES = [
    # rule, position, breaking turn, near miss (None: the rule has no turn beside it), its player
    ("game-over", OVER, "p2: b1=2,c1=2,d1=2,e1=2", None),
    ("roll-first", ROLL, "p1: b1=1,c1=3,d1=4,c2=5", None),
    ("not-your-turn", SECOND, "p1: b1=1,c1=3,d1=4,c2=5", "p2: b1=1,c1=3,d1=4,c2=5"),
    ("not-now", SLIDE, "b1=1,c1=3,d1=4,c2=5", "slide:A"),
    ("resigned", GONE, "p2: b1=1,c1=3,d1=4,c2=5", None),
    ("set-up-one-digit", SETUP, "p1: a1=1,b1=1", "p1: a1=1"),
    ("set-up-own-number", SETUP, "p2: a1=1", "p2: a1=2"),
    ("set-up-lowest-line", SETUP, "p1: a2=1", "p1: a1=1"),
    ("written-stays", DROP, "p1: a1=1,b1=3,c1=4,b2=5", "p1: b1=1,c1=3,d1=4,c2=5"),
    ("written-stays", TWO_WRITTEN, "p1: a1=1,b1=3,c1=4,b2=5", "p1: c1=1,d1=3,e1=4,d2=5"),
    ("digits-only", DROP, "p1: b1=1,c1=3,d1=4,c2=X", "p1: b1=1,c1=3,d1=4,c2=5"),
    ("four-digits", DROP, "p1: b1=1,c1=3,d1=4", "p1: b1=1,c1=3,d1=4,c2=5"),
    ("digits-as-rolled", DROP, "p1: b1=1,c1=3,d1=4,c2=6", "p1: b1=3,c1=1,d1=4,c2=5"),
    ("digits-as-rolled", STARRED, "p1: b1=1,c1=3,d1=5,c2=6", "p1: b1=1,c1=3,d1=4,c2=6"),
    ("shape-as-rolled", DROP, "p1: b1=1,c1=3,d1=4,d2=5", "p1: b1=1,b2=3,b3=4,c2=5"),
    ("crosses-only", PENALTY, "p2: b1=X,c1=X,d1=X,e1=3", "p2: b1=X,c1=X,d1=X,e1=X"),
    ("penalty-shape", PENALTY, "p2: b1=X,c1=X,d1=X,d2=X", "p2: b1=X,b2=X,b3=X,b4=X"),
    ("penalty-protected", PENALTY, "p1: d1=X,e1=X,f1=X,g1=X", "p2: b1=X,c1=X,d1=X,e1=X"),
    ("falls-to-rest", DROP, "p1: b2=1,c2=3,d2=4,c3=5", "p1: a2=1,b2=3,c2=4,b3=5"),
    ("straight-down", UNDER, "p1: c1=1,d1=3,c2=4,d2=5", "p1: f4=1,g4=3,f5=4,g5=5"),
    ("drop-first", DROP, "p1: loop:a1+b1+c1", "p1: b1=1,c1=3,d1=4,c2=5"),
    ("combination-of-digits", COMBINE, "loop:a3+b3+c3", "loop:e1+f1+g1"),
    ("combination-of-digits", COMBINE, "loop:a3+b3+a4", "none"),
    ("digit-used", COMBINE, "loop:a1+b1+c1", "none"),
    ("combination-size", COMBINE, "loop:a3+b3", "loop:a2+b2+c2"),
    ("combination-kind", COMBINE, "loop:d1+e1+e3", "loop:e1+f1+g1"),
    ("combination-side-by-side", COMBINE, "loop:c2+e1+f1", "loop:e1+f1+g1"),
    ("box-filled", FILLED, "loop:e1+f1+g1", "loop:a1+b1+c1"),
    ("letter-needs-both", COMBINE, "loop:e1+f1+g1/B", "loop:a2+b2+c2/A"),
    ("letter-needs-both", OPEN, "loop:a2+b2+c2/B", "loop:a2+b2+c2/A"),
    ("letter-crossed-off", CROSSED, "loop:a2+b2+c2/A", "loop:a2+b2+c2"),
    ("slide-at-bottom", SLIDE, "slide:D", "slide:E"),
    ("slide-star-tile", STAR, "slide:A", "slide:D"),
]
"""The rules that a turn can break; those of the table alone follow below."""


def attempt(state, text):
    player, colon, turn = text.partition(": ")
    return read_turn(state, turn, player) if colon else read_turn(state, text, state.to_move or "p1")


@pytest.mark.parametrize(("rule", "position_text", "turn_text", "near_miss"), CASES)
def test_a_turn_breaks_its_rule_and_the_near_miss_does_not(rule, position_text, turn_text, near_miss):
    state = GAME.notation.parse_state(position_text)
    turn = attempt(state, turn_text)
    breaches = breaches_of(state, turn)
    assert rule in [breach.rule for breach in breaches]
    for breach in breaches:
        assert breach.sentence.endswith(".")
        assert breach.remedy.endswith((".", ")."))
        assert set(breach.places) <= set(turn.places)
    assert GAME.rules.certainty(state, turn) is Certainty.IMPOSSIBLE
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.apply(state, turn)
    assert raised.value.breaches == breaches
    with pytest.raises(IllegalTurnError):
        GAME.notation.parse_turn(state, GAME.notation.format_turn(turn), turn.player)
    if near_miss is not None:
        assert breaches_of(state, attempt(state, near_miss)) == ()
        GAME.rules.apply(state, attempt(state, near_miss))


def seen(state, change):
    """The table with changes such as ``p1.a1=digit 3``, separated by commas."""
    return {
        **GAME.table.appearance(state),
        **dict(part.strip().split("=") for part in change.split(",") if part.strip()),
    }


TABLES = [
    # rule, position, change that breaks it, change that doesn't
    ("written-stays", DROP, "p1.a1=empty", ""),
    ("written-stays", DROP, "p1.a1=digit 2", "p1.a1=digit 1"),
    ("loop-stays", COMBINE, "p1.a1=digit 1", "p1.a1=digit 1 circled"),
    ("straight-down", UNDER, "p1.c1=digit 1,p1.d1=digit 3,p1.c2=digit 4,p1.d2=digit 5", None),
    ("one-combination", COMBINE,
     "p1.e1=digit 5 circled,p1.f1=digit 5 circled,p1.g1=digit 5 circled,"
     "p1.a2=digit 5 circled,p1.b2=digit 5 circled,p1.c2=digit 5 circled",
     "p1.e1=digit 5 circled,p1.f1=digit 5 circled,p1.g1=digit 5 circled"),
    ("four-digits", DROP, "p2.b1=digit 1,p2.c1=digit 3",
     "p2.b1=digit 1,p2.c1=digit 3,p2.d1=digit 4,p2.c2=digit 5"),
    ("digits-only", DROP, "p2.b1=cross,p2.c1=cross,p2.d1=cross,p2.c2=cross",
     "p2.b1=digit 5,p2.c1=digit 3,p2.d1=digit 4,p2.c2=digit 1"),
    ("crosses-only", PENALTY, "p2.a1=digit 1,p2.b1=digit 1,p2.c1=digit 1,p2.d1=digit 1",
     "p2.a1=cross,p2.b1=cross,p2.c1=cross,p2.d1=cross"),
    ("set-up-own-number", SETUP, "p1.a1=digit 2,p2.a1=digit 2", "p1.a1=digit 1,p2.a1=digit 2"),
    ("drop-first", DROP, "p1.a1=digit 1 circled", ""),
    ("resigned", GONE, "p2.a2=cross", ""),
    ("game-over", OVER, "p2.a1=digit 2 circled", ""),
    ("combination-size", ROLL, "p2.a1=digit 2 circled", ""),
    ("combination-size", DROP,
     "p1.b1=digit 1 circled,p1.c1=digit 3,p1.d1=digit 4,p1.c2=digit 5,p1.a1=digit 1 circled",
     "p1.b1=digit 3 circled,p1.c1=digit 4 circled,p1.d1=digit 1,p1.c2=digit 5 circled"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "position_text", "wrong", "right"), TABLES)
def test_a_table_breaks_its_rule_and_the_near_miss_does_not(rule, position_text, wrong, right):
    state = GAME.notation.parse_state(position_text)
    breaches = GAME.table.explain(state, seen(state, wrong))
    assert rule in [breach.rule for breach in breaches]
    assert all(breach.places for breach in breaches)
    if right is not None:
        assert GAME.table.explain(state, seen(state, right)) == ()


def test_every_rule_of_the_catalogue_has_a_case():
    assert {case[0] for case in (*CASES, *TABLES)} == set(catalogue)


@pytest.mark.parametrize("place", ["p3.a1", "p1.h1", "p1.a15", "a1", ""])
def test_an_unknown_place_is_refused(place):
    with pytest.raises(UnreadableError, match="there is no place"):
        GAME.table.explain(GAME.rules.new(), {place: "digit 1"})


def test_an_unknown_look_is_refused():
    with pytest.raises(UnreadableError, match=r"p1\.a1 shows 'digit 11'"):
        GAME.table.explain(GAME.rules.new(), {"p1.a1": "digit 11"})


def test_places_that_are_left_out_are_unchanged():
    state = GAME.notation.parse_state(DROP)
    assert GAME.table.explain(state, {}) == ()
    assert GAME.table.explain(state, {"p1.b1": "digit 1"})[0].rule == "four-digits"


def any_turn(rng, player):
    squares = [f"{rng.choice('abcdefg')}{rng.randrange(1, 15)}" for _ in range(rng.choice((1, 3, 4, 4, 5)))]
    return rng.choice(
        (
            SetUpDigit(player, squares[0], rng.choice("0123456789")),
            Drop(player, tuple(squares), "".join(rng.choice("0123456789") for _ in squares)),
            PenaltyDrop(player, tuple(squares)),
            Combination(player, tuple(squares), rng.choice((None, "A", "C"))),
            Combination(player),
            Slide(player, rng.choice("ABCDE")),
        )
    )


@given(st.integers(0, 2**32), st.integers(1, 4), st.randoms(use_true_random=False))
def test_a_turn_is_legal_if_and_only_if_it_breaks_no_rule(seed, players, rng):
    before, state = position(seed, {"players": players}, most_steps=50)
    turns = [any_turn(rng, f"p{rng.randrange(1, 7)}") for _ in range(20)]
    for each in (before, state):
        legal = GAME.rules.legal_turns(each)
        if len(legal):
            turns.append(legal[rng.randrange(len(legal))])
    listed = set(GAME.rules.legal_turns(state))
    for turn in turns:
        assert (turn in listed) == (breaches_of(state, turn) == ())


@given(st.integers(0, 2**32), st.integers(1, 3), st.randoms(use_true_random=False))
def test_any_change_of_the_sheets_is_legal_or_breaks_a_rule(seed, players, rng):
    before, state = position(seed, {"players": players}, most_steps=50)
    if before != state:
        assert GAME.table.explain(before, GAME.table.appearance(state)) == ()
    places = [place for place in GAME.table.appearance(state) if rng.random() < 0.03]
    change = {place: rng.choice(GAME.looks) for place in places}
    breaches = GAME.table.explain(state, change)
    assert {breach.rule for breach in breaches} <= set(catalogue)
    try:
        amended = GAME.table.amend(state, change)
    except EngineError:
        return
    assert all(GAME.table.appearance(amended)[place] == look for place, look in change.items())


def test_a_corrected_sheet_keeps_its_loops_or_gets_new_ones():
    state = GAME.notation.parse_state(f"roll p1={LETTERED} p2=2...... {TILES}")
    opened = GAME.table.amend(state, {"p1.a1": "digit 1", "p1.b1": "digit 2", "p1.c1": "digit 3"})
    assert opened.sheets[0].letters == 0
    assert scores_of(GAME, opened)["p1"] == 3
    longer = GAME.table.amend(
        opened,
        {f"p1.{column}1": f"digit {digit} circled" for digit, column in enumerate("abcd", 1)}
        | dict.fromkeys(["p1.a2", "p1.b2", "p1.c2"], "digit 5"),
    )
    assert scores_of(GAME, longer)["p1"] == 4
    with pytest.raises(UnreadableError, match="combination that is still open"):
        GAME.table.amend(state, {"p1.a1": "digit 1"})


@pytest.mark.parametrize("digits", ["22222222", "12345678"])
def test_eight_circled_digits_fill_the_bonus_box(digits):
    squares = [*(f"p1.{column}1" for column in "abcdefg"), "p1.g2"]
    looks = {square: f"digit {digit} circled" for square, digit in zip(squares, digits, strict=True)}
    amended = GAME.table.amend(GAME.notation.parse_state(f"roll p1=1...... p2=2...... {TILES}"), looks)
    # Eight for the box, and two for the full line.
    assert scores_of(GAME, amended)["p1"] == 8 + 2
    with pytest.raises(UnreadableError, match="make no combination that is still open"):
        GAME.table.amend(amended, {"p1.f2": looks["p1.g2"], "p1.e2": looks["p1.g2"]})


def test_a_corrected_game_continues_or_is_over():
    tall = GAME.notation.parse_state(OVER + f" {TILES}")
    lower = GAME.table.amend(tall, {"p1.a12": "empty"}, "p2")
    assert GAME.awaits_roll(lower)
    assert lower.to_move == "p2"
    assert GAME.table.amend(lower, {"p1.a12": "digit 4"}).to_move is None
    with pytest.raises(UnreadableError, match="in the air"):
        GAME.table.amend(lower, {"p1.c9": "digit 4"})
    with pytest.raises(UnreadableError, match="there is no player"):
        GAME.table.amend(lower, {}, "p3")
    with pytest.raises(UnreadableError, match="nothing to play now"):
        GAME.table.amend(GAME.notation.parse_state(SECOND), {}, "p1")


TALL = {f"p1.a{line}": "digit 4" for line in range(2, 13)}
OVER_ALONE = f"over p1={'/'.join(['1......'] * 12)} {TILES} players=1 notches=0,0,0,0,0"


def test_a_correction_can_end_a_game_or_continue_it():
    parse, amend = GAME.notation.parse_state, GAME.table.amend
    assert amend(parse(ROLL), TALL).to_move is None
    assert amend(parse(SLIDE), TALL).to_move is None
    assert amend(parse(SLIDE), {"p1.a2": "digit 4"}).to_move == "p1"
    assert amend(parse(OVER_ALONE), {"p1.a12": "empty"}).to_move == "p1"
    for said in (Announcement("resign", "p2"), Announcement("draw")):
        given_up = GAME.rules.announce(parse(ROLL), said)
        assert amend(given_up, {"p1.b1": "digit 4"}).to_move is None
    with pytest.raises(UnreadableError, match="someone above the Game Over line is still to drop"):
        amend(parse(DROP), TALL)


def test_the_next_player_rolls_after_a_turn_that_a_correction_keeps_from_ending_the_game():
    parse, amend = GAME.notation.parse_state, GAME.table.amend
    lower = {"p1.a12": "empty"}
    assert amend(parse(f"{OVER} {TILES}"), lower).to_move == "p2"
    # A wrong correction and its own correction leave everything as it was.
    assert amend(amend(parse(ROLL), TALL), dict.fromkeys(TALL, "empty")) == parse(ROLL)


def test_only_a_player_who_may_play_can_be_named_next():
    parse, amend = GAME.notation.parse_state, GAME.table.amend
    # p2 may write already, and who rolls next stays as it was
    assert amend(parse(DROP), {}, "p2") == parse(DROP)
    assert amend(parse(GONE), {}, "p3").to_move == "p3"
    with pytest.raises(UnreadableError, match="p2 has nothing to play now; expected p1"):
        amend(parse(GONE), {}, "p2")
    with pytest.raises(UnreadableError, match="p1 has nothing to play now; expected nobody"):
        amend(parse(OVER), {}, "p1")


def test_a_start_is_read_from_the_sheets():
    state = GAME.table.set_up({"p1.a1": "digit 1", "p2.g1": "digit 2"})
    assert GAME.awaits_roll(state)
    rolled = DICE.rolled(state, DICE.possible_rolls(state)[0].roll)
    assert GAME.awaits_roll(rolled)
    half = GAME.table.set_up({"p1.a1": "digit 1"}, {"players": 3})
    assert GAME.rules.players_to_move(DICE.rolled(half, DICE.possible_rolls(half)[0].roll)) == ("p2", "p3")


@pytest.mark.parametrize(
    ("looks", "rule"),
    [
        ({"p1.a1": "digit 2"}, "set-up-own-number"),
        ({"p1.a2": "digit 1"}, "set-up-lowest-line"),
        ({"p1.a1": "digit 1", "p1.b1": "digit 1"}, "set-up-one-digit"),
        ({"p1.a1": "digit 1 circled"}, "drop-first"),
    ],
)
def test_a_wrong_start_names_its_rule(looks, rule):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up(looks)
    assert [breach.rule for breach in raised.value.breaches] == [rule]


def test_a_wrong_start_is_described():
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up({"p1.a1": "digit 1 circled", "p2.a1": "digit 2 circled", "p2.b1": "digit 2"})
    assert str(raised.value).endswith(
        ": 2 cells of p2's sheet are filled. p1 circled a1 before the first drop. p2 circled a1 before the first drop."
    )


def test_an_announcement_after_the_end_is_refused():
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(GAME.notation.parse_state(OVER), Announcement("resign", "p1"))
    assert [breach.rule for breach in raised.value.breaches] == ["game-over"]


def test_dropping_the_roll_in_a_penalty_turn_is_reported_as_the_wrong_time():
    rolled = GAME.notation.parse_state(
        "p1 roll p1=123..../333....|loop:a1+b1+c1|loop:a2+b2+c2|letters:A p2=2...... slots=I4,I3,O4,X5,T5"
    )
    state = DICE.rolled(rolled, DICE.parse_roll(rolled, "1,*,2,5,T"))
    change = {"p1.e1": "digit 1", "p1.f1": "digit 2", "p1.g1": "digit 5", "p1.f2": "digit 1"}
    (breach,) = GAME.table.explain(state, change)
    assert breach.rule == "not-now"
    assert breach.sentence == "p1 drops the roll, but in a turn with a penalty nobody does."


NO_DROP = "p1 has not dropped a shape, so there is no loop to draw or to leave out."
NO_LOOP = "p1 has no loop to draw now, so there is none to leave out."
ANY_SHAPE = "one of the shapes I, O, T, L and S"


@pytest.mark.parametrize(
    ("text", "turn", "sentence", "remedy"),
    [
        (DROP, "p1: none", NO_DROP, "First, the shape T has to be dropped."),
        (SETUP, "p1: none", NO_DROP, "First, the first digits have to be written."),
        (ROLL, "p1: none", NO_LOOP, "Nothing needs to be done."),
        (SECOND, "p1: none", NO_LOOP, "Nothing needs to be done."),
        (DROP.replace("1,3,4,5,T", "1,3,4,5,*"), "p1: none", NO_DROP, f"First, {ANY_SHAPE} has to be dropped."),
        (
            DROP.replace("1,3,4,5,T", "1,3,4,5,*"),
            "p1: b1=1,c1=3,d1=4,f1=5",
            "What p1 wrote has none of the shapes I, O, T, L and S.",
            "Erase b1, c1, d1 and f1 on p1's sheet. Form one of these shapes, turned or flipped.",
        ),
        (SETUP, "p1: d1=X", "p1 wrote X, but begins with a 1.", "Erase it, and write a 1 on the lowest line"),
        (COMBINE, "loop:a1+b1+c1", "a1, b1 and c1 belong to another loop already.", "Erase this loop."),
        (COMBINE, "loop:c1+a2+b2", "c1 belongs to another loop already.", "Erase this loop."),
        (SECOND, "p1: b1=1,c1=3,d1=4,c2=5", "p1 has nothing to write now; p2 plays.", "Erase it from p1's sheet."),
        (
            DROP.replace("p2=2......", "p2=2...... p3=3......").replace("to=p1,p2", "players=3 to=p1,p3"),
            "p2: b1=1,c1=3,d1=4,c2=5",
            "p2 has nothing to write now; p1 and p3 play.",
            "Erase it from p2's sheet.",
        ),
        (DROP, "p1: e2=1,f2=3,g2=4,f3=5", "hangs in the air; there it falls to line 1.", "Erase e2, f2, g2 and f3 on"),
        (DROP, "p1: a3=1,b3=3,c3=4,b4=5", "hangs in the air; there it falls to line 2.", "Erase a3, b3, c3 and b4 on"),
        (
            SLIDE.replace("0,0,0,4,0", "4,4,0,4,4").replace("off=D", "off=ABDE"),
            "slide:A",
            "The tile A is at the bottom already.",
            "Slide C.",
        ),
    ],
)
def test_a_turn_at_the_wrong_time_has_its_sentence_and_remedy(text, turn, sentence, remedy):
    state = GAME.notation.parse_state(text)
    breaches = breaches_of(state, attempt(state, turn))
    assert sentence in breaches[0].sentence
    assert breaches[0].remedy.startswith(remedy)


def test_a_partly_erased_loop_is_named_as_a_whole():
    state = GAME.notation.parse_state(COMBINE)
    first = GAME.table.explain(state, {"p1.a1": "digit 1"})
    assert [(each.rule, each.sentence, each.remedy, each.places) for each in first] == [
        (
            "loop-stays",
            "p1's loop round a1, b1 and c1 no longer goes round a1.",
            "Draw it round a1, b1 and c1 again.",
            ("p1.a1",),
        )
    ]


def test_a_corrected_digit_opens_the_loop_that_it_makes():
    state = GAME.notation.parse_state(DROP.replace("1,3,4,5,T", "4,1,*,5,I"))
    misread = GAME.rules.apply(state, Drop("p1", ("b1", "c1", "d1", "e1"), "1945"))
    amended = GAME.table.amend(misread, {"p1.c1": "digit 1"})
    assert GAME.table.explain(amended, {f"p1.{column}1": "digit 1 circled" for column in "abc"}) == ()
    assert GAME.table.explain(misread, {f"p1.{column}1": "digit 1 circled" for column in "abc"}) != ()


def test_whoever_writes_again_while_the_last_player_drops_has_nothing_to_write() -> None:
    text = "p2 drop p1=5....../2....../08..1.. p2=......2 slots=L4,S4,O4,I4,T4 roll=2,5,*,*,L to=p2 clockwise=true"
    state = GAME.notation.parse_state(text)
    after = {**GAME.table.appearance(state), "p1.f5": "digit 5", "p2.b1": "digit 3"}
    assert GAME.table.explain(state, after)[0].sentence == "p1 has nothing to write now."


def test_a_first_digit_that_was_corrected_away_can_be_written_again():
    rolling = GAME.notation.parse_state(f"roll p1=...1... p2=....2.. {TILES}")
    corrected = GAME.table.amend(rolling, {"p2.e1": "empty"})
    assert corrected.phase is Phase.SETUP
    assert GAME.rules.players_to_move(corrected) == ("p2",)
