"""Every rule of Number Drop: a case that breaks it and a near miss; the sentence and remedy of each fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError, IllegalTurnError, UnreadableError
from engine.games.number_drop.explanation import breaches_of
from engine.games.number_drop.notation import read_turn
from engine.games.number_drop.rules import catalogue
from engine.games.number_drop.state import Combination, Drop, PenaltyDrop, Phase, SetUpDigit, Slide
from engine.values import Announcement, Certainty, Roll
from tests.engine.games.number_drop.strategies import DICE, GAME, LETTERED, OPTIONS, TILES, position
from tests.engine.whole_games import scores_of
from tests.present import present

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


DRAW_ANOTHER = "Erase this loop. Draw a loop round fitting digits, or none."
LEAVE_THE_LETTER = "Leave the letter; the combination counts."
TURNS = [
    # The rule, sentence and remedy of each of ``CASES``, in its order.
    ("game-over", "The game is over, but p2 plays on.", "Erase it from p2's sheet."),
    ("roll-first", "p1 plays, but the table waits for p1 to roll.", "Erase it from p1's sheet. First, p1 has to roll."),
    ("not-your-turn", "p1 has nothing to write now; p2 plays.", "Erase it from p1's sheet."),
    ("not-now", "p1 writes on the sheet, but now a tile has to be slid.",
     "Erase it from p1's sheet. First, a tile has to be slid."),
    ("resigned", "p2 has resigned, and the sheet is set aside.", "Erase it from p2's sheet."),
    ("set-up-one-digit", "p1 wrote 2 cells in the set-up.",
     "Leave one 1 on the lowest line of p1's sheet, and nothing else."),
    ("set-up-own-number", "p2 wrote 1, but begins with a 2.",
     "Erase it, and write a 2 on the lowest line of p2's sheet."),
    ("set-up-lowest-line", "p1 wrote on a2, which is not on the lowest line.",
     "Erase it, and write a 1 on the lowest line of p1's sheet."),
    ("written-stays", "p1 wrote over a1.", "Drop the shape elsewhere."),
    ("written-stays", "p1 wrote over a1 and b1.", "Drop the shape elsewhere."),
    ("digits-only", "p1 wrote an X as part of a shape.",
     "Erase b1, c1, d1 and c2 on p1's sheet. Write 1, 3, 4, 5, each once."),
    ("four-digits", "p1 wrote 3 digits; there are four number dice.", "Write 5 as well, in the shape T."),
    ("digits-as-rolled", "p1 wrote 1, 3, 4, 6, but the dice show 1, 3, 4, 5.", "Write 5 instead of 6 on p1's c2."),
    ("digits-as-rolled", "p1 wrote 1, 3, 5, 6, but the dice show 1, 3, 4, *.",
     "Erase b1, c1, d1 and c2 on p1's sheet. Write 1, 3, 4, *, each once (* is any digit)."),
    ("shape-as-rolled", "What p1 wrote doesn't have the shape T.",
     "Erase b1, c1, d1 and d2 on p1's sheet. Form the shape T, turned or flipped."),
    ("crosses-only", "p2 wrote 3 while a penalty drops.",
     "Erase b1, c1, d1 and e1 on p2's sheet. Write the penalty in X, and nothing else."),
    ("penalty-shape", "What p2 wrote doesn't have the shape of tile A (I4).",
     "Erase b1, c1, d1 and d2 on p2's sheet. Drop the tile's shape, turned or flipped as you like."),
    ("penalty-protected", "p1 has circled the letter A, so its penalty isn't for p1.", "Erase it from p1's sheet."),
    ("falls-to-rest", "The shape of p1 hangs in the air; there it falls to line 1.",
     "Erase b2, c2, d2 and c3 on p1's sheet. Let the shape fall until something stops it."),
    ("straight-down", "The shape of p1 can't get there from the top; something is in its way.",
     "Erase c1, d1, c2 and d2 on p1's sheet. Let the shape fall straight down from the top."),
    ("drop-first", "p1 hasn't dropped in this turn, so there is nothing to draw a loop after.",
     "Erase the loop from p1's sheet."),
    ("combination-of-digits", "p1 drew a loop round an X or an open cell.", DRAW_ANOTHER),
    ("combination-of-digits", "p1 drew a loop round an X or an open cell.", DRAW_ANOTHER),
    ("digit-used", "a1, b1 and c1 belong to another loop already.", DRAW_ANOTHER),
    ("combination-size", "The loop of p1 goes round 2 digits; a combination has 3 to 8.", DRAW_ANOTHER),
    ("combination-kind", "The digits 4, 5, 7 are neither equal nor consecutive.", DRAW_ANOTHER),
    ("combination-side-by-side", "The digits 5, 5, 5 are not joined side by side.", DRAW_ANOTHER),
    ("box-filled", "p1 has already scored 3 identical digits.", DRAW_ANOTHER),
    ("letter-needs-both", "This combination doesn't fill both boxes of the letter B.", LEAVE_THE_LETTER),
    ("letter-needs-both", "This combination doesn't fill both boxes of the letter B.", LEAVE_THE_LETTER),
    ("letter-crossed-off", "The letter A is crossed off.", LEAVE_THE_LETTER),
    ("slide-at-bottom", "The tile D is at the bottom already.", "Slide A, B, C or E."),
    ("slide-star-tile", "The shape die shows T, which isn't the shape of tile A.", "Slide D."),
]  # fmt: skip
CHANGES = [
    # The same for each of ``TABLES``.
    ("written-stays", "What p1 had on a1 was erased or written over.", "Write it again on p1's sheet: 1 on a1."),
    ("written-stays", "What p1 had on a1 was erased or written over.", "Write it again on p1's sheet: 1 on a1."),
    ("loop-stays", "p1's loop round a1, b1 and c1 no longer goes round a1.", "Draw it round a1, b1 and c1 again."),
    ("straight-down", "The shape of p1 can't get there from the top; something is in its way.",
     "Erase c1, d1, c2 and d2 on p1's sheet. Let the shape fall straight down from the top."),
    ("one-combination", "p1 drew more than one loop in this turn, round e1, f1, g1, a2, b2, c2.",
     "Keep one of these loops, and erase the rest."),
    ("four-digits", "p2 wrote 2 digits; there are four number dice.", "Write 4, 5 as well, in the shape T."),
    ("digits-only", "p2 wrote an X as part of a shape.",
     "Erase b1, c1, d1 and c2 on p2's sheet. Write 1, 3, 4, 5, each once."),
    ("crosses-only", "p2 wrote 1, 1, 1, 1 while a penalty drops.",
     "Erase a1, b1, c1 and d1 on p2's sheet. Write the penalty in X, and nothing else."),
    ("set-up-own-number", "p1 wrote 2, but begins with a 1.",
     "Erase it, and write a 1 on the lowest line of p1's sheet."),
    ("drop-first", "p1 hasn't dropped in this turn, so there is nothing to draw a loop after.",
     "Erase the loop from p1's sheet."),
    ("resigned", "p2 has resigned, and the sheet is set aside.", "Erase it from p2's sheet."),
    ("game-over", "The game is over, but p2 plays on.", "Erase the loop from p2's sheet."),
    ("combination-size", "The loop of p2 goes round 1 digit; a combination has 3 to 8.",
     "Erase the loop from p2's sheet."),
    ("combination-size", "The loop of p1 goes round 2 digits; a combination has 3 to 8.", DRAW_ANOTHER),
]  # fmt: skip


@pytest.mark.parametrize(("case", "told"), list(zip(CASES, TURNS, strict=True)))
def test_a_wrong_turn_has_its_sentence_and_remedy(case, told):
    rule, text, turn, _ = case
    state = GAME.notation.parse_state(text)
    nearest = breaches_of(state, attempt(state, turn))[0]
    assert (rule, nearest.sentence, nearest.remedy) == told


def test_a_second_eight_is_refused_whatever_the_first_was():
    state = GAME.notation.parse_state(
        f"drop p1=22...../2222228/1234567|loop:a1+b1+c1+d1+e1+f1+g1+g2 p2=2...... {TILES} roll=1,2,3,4,O then=p1"
    )
    (breach,) = breaches_of(state, attempt(state, "loop:a2+b2+c2+d2+e2+f2+a3+b3"))
    assert (breach.rule, breach.sentence) == ("box-filled", "p1 has already scored eight digits.")


@pytest.mark.parametrize(("case", "told"), list(zip(TABLES, CHANGES, strict=True)))
def test_a_wrong_table_has_its_sentence_and_remedy(case, told):
    rule, text, change, _ = case
    state = GAME.notation.parse_state(text)
    nearest = GAME.table.explain(state, seen(state, change))[0]
    assert (rule, nearest.sentence, nearest.remedy) == told


def test_one_loop_round_too_many_joined_digits_is_one_combination():
    nine = "5555555/55....."
    state = GAME.notation.parse_state(f"drop p1={nine[8:]}/{nine[:7]} p2=2...... {TILES} roll=1,3,4,5,T then=p1")
    change = {f"p1.{square}": "digit 5 circled" for square in ["a1", "b1", "c1", "d1", "e1", "f1", "g1", "a2", "b2"]}
    (breach,) = GAME.table.explain(state, change)
    assert (breach.rule, breach.sentence) == (
        "combination-size",
        "The loop of p1 goes round 9 digits; a combination has 3 to 8.",
    )


def test_every_digit_written_while_a_penalty_drops_is_named():
    state = GAME.notation.parse_state(PENALTY)
    change = {f"p2.{square}": f"digit {digit}" for square, digit in zip(("a1", "b1", "c1", "d1"), "1225", strict=True)}
    assert GAME.table.explain(state, change)[0].sentence == "p2 wrote 1, 2, 2, 5 while a penalty drops."


EARNED = f"p1=555..../1234...|loop:a1+b1+c1|loop:a2+b2+c2 p2=2...... {TILES}"
"""Both boxes of A are filled, and its letter is open."""
LETTERED_B = "5555.../1234...|loop:a1+b1+c1+d1|loop:a2+b2+c2+d2|letters:B"
LATER = [
    f"roll {EARNED}",
    f"drop {EARNED} roll=1,3,4,5,T to=p1,p2",
    f"drop {EARNED} roll=1,3,4,5,T to=p2",
    f"penalty {EARNED.replace('p2=2......', f'p2={LETTERED_B}')} slot=B to=p1",
    f"slide {EARNED.partition(' ')[0]} {TILES} roll=1,3,4,5,T to=p1 notches=0,0,0,0,0 players=1",
]


@pytest.mark.parametrize("text", LATER)
def test_a_letter_may_be_announced_at_any_time_after_the_turn_that_filled_its_boxes(text):
    state, said = GAME.notation.parse_state(text), Announcement("letter-a", "p1")
    assert said in GAME.rules.announcements(state)
    circled = GAME.rules.announce(state, said)
    assert said not in GAME.rules.announcements(circled)
    assert GAME.notation.format_state(circled) == GAME.notation.format_state(state).replace(
        "loop:a1+b1+c1 ", "loop:a1+b1+c1|letters:A "
    )
    assert GAME.rules.players_to_move(circled) == GAME.rules.players_to_move(state)
    assert GAME.table.appearance(circled) == GAME.table.appearance(state)
    assert scores_of(GAME, circled) == scores_of(GAME, state)
    for typed in ("circle A", "letter a"):
        with pytest.raises(IllegalTurnError) as raised:
            GAME.notation.parse_turn(state, typed, "p1")
        assert raised.value.breaches[0].instead == "Announce it: p1:letter-a."


def test_a_letter_announced_later_strikes_at_the_next_star_and_protects_its_player():
    state = GAME.rules.announce(GAME.notation.parse_state(LATER[0]), Announcement("letter-a", "p1"))
    struck = present(GAME.dice).rolled(state, Roll(("1", "3", "4", "*", "T")))
    assert (struck.phase, GAME.rules.players_to_move(struck)) == (Phase.PENALTY, ("p2",))


def test_a_letter_earned_before_is_announced_and_not_circled_with_another_combination():
    text = f"drop p1=555333./1234567|loop:a1+b1+c1|loop:a2+b2+c2 p2=2...... {TILES} roll=1,3,4,5,T then=p1"
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(text), "loop:d1+e1+f1+g1/A")
    assert raised.value.breaches[0].instead == "Announce it: p1:letter-a."


STRUCK = f"penalty {EARNED.replace('p2=2......', f'p2={LETTERED}')} slot=A to=p1"


@pytest.mark.parametrize(
    ("text", "letter", "sentence"),
    [
        (ROLL, "a", "p1 hasn't filled both boxes of 3, so the letter A stays open."),
        (f"roll {EARNED}", "b", "p1 hasn't filled both boxes of 4, so the letter B stays open."),
        (f"roll p1={LETTERED} p2=2...... {TILES}", "a", "p1 has circled the letter A already."),
        (f"roll {EARNED.replace('p2=2......', f'p2={LETTERED}')} crossed_off=A", "a", "The letter A is crossed off."),
        (STRUCK, "a", "The penalty of the letter A is already dropping."),
        (f"roll {EARNED} p3=3...... players=3 gone=p1 first=p2", "a", "p1 has resigned, and the sheet is set aside."),
    ],
)
def test_a_letter_that_is_not_open_is_refused_with_the_reason(text, letter, sentence):
    state, said = GAME.notation.parse_state(text), Announcement(f"letter-{letter}", "p1")
    assert said not in GAME.rules.announcements(state)
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(state, said)
    (breach,) = raised.value.breaches
    assert (breach.sentence, breach.instead) == (sentence, f"Leave the letter {letter.upper()}.")


def test_whoever_typed_a_turn_is_not_told_to_erase_it():
    for _, text, turn, _ in CASES:
        state = GAME.notation.parse_state(text)
        for breach in breaches_of(state, attempt(state, turn)):
            assert "Erase" not in breach.instead
            assert breach.remedy.endswith(breach.instead) or breach.remedy.startswith(("Write", "Leave one", "Erase"))


HAS_DROPPED = f"p1=4445.../1234555|loop:a1+b1+c1 p2=2...... {TILES}"


@pytest.mark.parametrize(
    ("text", "loop", "rule", "sentence"),
    [
        (f"drop {HAS_DROPPED} roll=1,3,4,5,T to=p2", "loop:a2+b2+d2", "combination-kind",
         "The digits 4, 4, 5 are neither equal nor consecutive."),
        (f"drop {HAS_DROPPED} roll=1,3,4,5,T to=p2", "loop:a2+b2+c2/A", "one-combination",
         "p1 has finished this turn, and draws no more loops in it."),
        (f"roll {HAS_DROPPED}", "loop:a2+b2+d2", "combination-kind",
         "The digits 4, 4, 5 are neither equal nor consecutive."),
        (f"roll {HAS_DROPPED}", "loop:a2+b2+c2", "drop-first", "The turn is over, so p1 draws no more loops."),
    ],
)  # fmt: skip
def test_a_loop_after_the_end_of_a_turn_is_told_its_own_fault(text, loop, rule, sentence):
    state = GAME.notation.parse_state(text)
    turn = attempt(state, f"p1: {loop}")
    (breach,) = breaches_of(state, turn)
    assert (breach.rule, breach.sentence, breach.remedy) == (rule, sentence, "Erase the loop from p1's sheet.")
    circled = dict.fromkeys(turn.places[:2], "digit 4 circled") | {
        turn.places[2]: f"{GAME.table.appearance(state)[turn.places[2]]} circled"
    }
    assert GAME.table.explain(state, circled) == (breach,)


def test_a_loop_round_digits_that_have_to_be_erased_has_no_breach_of_its_own():
    state = GAME.notation.parse_state(f"roll {HAS_DROPPED}")
    written = {f"p1.{square}2": "digit 6 circled" for square in "efg"} | {"p1.g3": "digit 1"}
    assert [breach.rule for breach in GAME.table.explain(state, written)] == ["roll-first"]


def test_a_loop_round_digits_that_have_to_be_erased_goes_with_them_whatever_its_size():
    state = GAME.notation.parse_state(COMBINE)
    written = {"p1.b2": "digit 5 circled", "p1.c2": "digit 5 circled", "p1.d2": "digit 5 circled"}
    assert [(breach.rule, breach.places) for breach in GAME.table.explain(state, written)] == [
        ("not-your-turn", ("p1.d2",)),
        ("combination-of-digits", ("p1.b2", "p1.c2", "p1.d2")),
    ]
    waiting = GAME.notation.parse_state(SECOND)
    written = {f"p1.{square}1": f"digit {digit} circled" for square, digit in zip("abc", "123", strict=True)}
    untimely, round_three = GAME.table.explain(waiting, written)
    assert (untimely.rule, untimely.places) == ("not-your-turn", ("p1.b1", "p1.c1"))
    assert round_three.sentence == "The loop of p1 goes round b1 and c1, which may not be written now."
    assert round_three.places == ("p1.a1", "p1.b1", "p1.c1")


@given(OPTIONS)
def test_the_summary_tells_the_rules_in_force(options):
    told, settings = GAME.notation.summary(options), GAME.rules.new(options).options
    alone = settings.players == 1
    assert ("You play alone." in told) == ("slide any tile down" in told) == ("all tiles are down" in told) == alone
    several = f"There are {settings.players} players, each with a sheet."
    assert (several in told) == ("a tie is shared" in told) == (not alone)
    assert ("with anything in it costs 5" in told) == settings.x_counts_above_line
    assert ("with a digit in it costs 5" in told) == (not settings.x_counts_above_line)
    if not alone:
        sides = {"solo_side": "solo side up", "other_side": "other side up", "both_sides": "either side up"}
        assert [side for side in sides.values() if side in told] == [sides[settings.tiles]]
        assert (" and their backs" in told) == (settings.tiles == "both_sides")
    solo_up = alone or settings.tiles != "other_side"
    tiles = settings.components.tiles
    assert {(f"{solo} " in told, f"{back} " in told) for solo, back in tiles} == {(solo_up, not solo_up)}
    assert ("take turns, clockwise" in told) == (settings.clockwise and not alone)


_NO_BOXES = "same -----, run -----, bonus -, letters -"
_TILES_LIE = "Tiles: A I4  B L4  C O4  D T4  E S4"
STANDING = [
    ("p1 tiles p1=- p2=-", ["Draw the tiles to slots A to E, and tell the referee their faces (p1 is first)."]),
    (SETUP, ["First digits to write: p1, p2.", _TILES_LIE, f"p1: 0 points; {_NO_BOXES}"]),
    (ROLL, ["p1: roll the dice.", _TILES_LIE]),
    (DROP, ["To drop: p1, p2.", _TILES_LIE, "Dice: 1 3 4 5 T"]),
    (
        COMBINE,
        [
            "To combine: p1.",
            _TILES_LIE,
            "Dice: 1 3 4 5 T",
            "p1: 5 points; same -----, run 3----, bonus -, letters -, line 1 +2",
        ],
    ),
    (
        CROSSED,
        [
            "To combine: p1.",
            "Tiles: A I4 (off)  B L4  C O4  D T4  E S4",
            "Dice: 1 2 3 4 O",
            "p1: 3 points; same -----, run 3----, bonus -, letters -",
            "p2: 6 points; same 3----, run 3----, bonus -, letters A",
        ],
    ),
    (PENALTY, ["The penalty of tile A drops: p2."]),
    (SLIDE, ["Slide any tile.", "Tiles: A I4 0/4  B L4 0/4  C O4 0/4  D T4 4/4  E S4 0/4"]),
    (STAR, ["Slide the tile that the star asks for.", "Tiles: A I4 1/4  B L4 0/4  C O4 0/4  D T4 0/4  E S4 0/4"]),
    (
        f"{OVER} gone=p2",
        [
            "The game is over.",
            "p1: -5 points; same -----, run -----, bonus -, letters -, line 12 -5",
            f"p2 (resigned): 0 points; {_NO_BOXES}",
        ],
    ),
]


@pytest.mark.parametrize(("text", "lines"), STANDING)
def test_the_standing_names_the_next_step_and_describes_every_sheet(text, lines):
    assert list(GAME.notation.standing(GAME.notation.parse_state(text))[: len(lines)]) == lines


@pytest.mark.parametrize(
    ("text", "change", "sentence", "remedy", "places"),
    [
        (DROP, "p1.b1=1,p1.c1=3,p1.d1=4,p1.c2=5,p1.g1=5", "p1 wrote 5 digits; there are four number dice.",
         "Erase g1 on p1's sheet.", "p1.g1"),
        (DROP, "p1.b1=1,p1.c1=3,p1.d1=4,p1.c2=5,p1.f9=X", "p1 wrote an X as part of a shape.",
         "Erase f9 on p1's sheet.", "p1.f9"),
        (PENALTY, "p2.b1=X,p2.c1=X,p2.d1=X,p2.e1=X,p2.b2=1,p2.c2=3", "p2 wrote 1, 3 while a penalty drops.",
         "Erase b2 and c2 on p2's sheet.", "p2.b2 p2.c2"),
        (PENALTY, "p2.b1=X,p2.c1=X,p2.d1=X,p2.e1=X,p2.g9=X", "What p2 wrote doesn't have the shape of tile A (I4).",
         "Erase g9 on p2's sheet.", "p2.g9"),
        (PENALTY, "p2.a1=X,p2.b1=X,p2.c1=X,p2.d1=X,p2.e1=X", "What p2 wrote doesn't have the shape of tile A (I4).",
         "Erase a1, b1, c1, d1 and e1 on p2's sheet. Drop the tile's shape, turned or flipped as you like.",
         "p2.a1 p2.b1 p2.c1 p2.d1 p2.e1"),
        (DROP, "p1.b1=1,p1.c1=3,p1.d1=4,p1.c2=6", "p1 wrote 1, 3, 4, 6, but the dice show 1, 3, 4, 5.",
         "Write 5 instead of 6 on p1's c2.", "p1.c2"),
        (DROP, "p1.b1=1,p1.c1=3,p1.d1=4,p1.c2=4", "p1 wrote 1, 3, 4, 4, but the dice show 1, 3, 4, 5.",
         "Erase b1, c1, d1 and c2 on p1's sheet. Write 1, 3, 4, 5, each once.", "p1.b1 p1.c1 p1.d1 p1.c2"),
        (DROP, "p1.b1=1,p1.c1=3,p1.d1=4", "p1 wrote 3 digits; there are four number dice.",
         "Write 5 as well, in the shape T.", "p1.b1 p1.c1 p1.d1"),
        (SECOND, "p1.c3=5 circled", "p1 has nothing to write now; p2 plays.", "Erase it from p1's sheet.", "p1.c3"),
        (DROP, "p1.a1=empty,p2.a1=empty", "What p1 had on a1 was erased or written over.",
         "Write it again on p1's sheet: 1 on a1.", "p1.a1"),
    ],
)  # fmt: skip
def test_only_what_has_to_be_mended_is_named(text, change, sentence, remedy, places):
    state = GAME.notation.parse_state(text)
    looks = {
        place: mark if mark == "empty" else "cross" if mark == "X" else f"digit {mark}"
        for place, _, mark in (each.partition("=") for each in change.split(","))
    }
    breaches = GAME.table.explain(state, looks)
    assert (breaches[0].sentence, breaches[0].remedy, " ".join(breaches[0].places)) == (sentence, remedy, places)
    assert len(breaches) == len({breach.places[0][:2] for breach in breaches}), "one breach for each player"
