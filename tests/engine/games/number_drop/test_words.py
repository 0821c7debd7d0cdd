"""The sentence and remedy of each turn or table that breaks a rule."""

import pytest
from hypothesis import given

from engine.errors import IllegalTurnError
from engine.games.number_drop.explanation import breaches_of
from tests.engine.games.number_drop.strategies import GAME, OPTIONS, TILES
from tests.engine.games.number_drop.test_explain import (
    CASES,
    COMBINE,
    CROSSED,
    DROP,
    OVER,
    PENALTY,
    ROLL,
    SECOND,
    SETUP,
    SLIDE,
    STAR,
    TABLES,
    attempt,
    seen,
)

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


@pytest.mark.parametrize("text", [COMBINE, ROLL, SECOND])
@pytest.mark.parametrize("typed", ["circle A", "letter a"])
def test_a_letter_is_not_circled_later_than_its_combination(text, typed):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(text), typed, "p1")
    (breach,) = raised.value.breaches
    assert breach.sentence == "p1 circles A without a combination."
    assert breach.instead == "A letter is circled together with the combination that earns it, or never."


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


def test_a_loop_is_judged_without_the_digits_that_have_to_be_erased():
    state = GAME.notation.parse_state(COMBINE)
    written = {"p1.b2": "digit 5 circled", "p1.c2": "digit 5 circled", "p1.d2": "digit 5 circled"}
    assert [(breach.rule, breach.places) for breach in GAME.table.explain(state, written)] == [
        ("not-your-turn", ("p1.d2",)),
        ("combination-size", ("p1.b2", "p1.c2")),
    ]


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
    (ROLL, ["p1 rolls.", _TILES_LIE]),
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
