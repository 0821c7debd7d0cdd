"""What is said of a turn or a table that breaks a rule, and what to do about it."""

import pytest
from hypothesis import given

from engine.games.number_drop.violations import breaches_of
from tests.engine.games.number_drop.strategies import GAME, OPTIONS
from tests.engine.games.number_drop.test_explain import (
    COMBINE,
    CROSSED,
    DROP,
    FILLED,
    GONE,
    OPEN,
    OVER,
    PENALTY,
    ROLL,
    SECOND,
    SETUP,
    SLIDE,
    STAR,
    STARRED,
    UNDER,
    attempt,
    seen,
)

TURNS = [
    (OVER, "p2: b1=2,c1=2,d1=2,e1=2", "The game is over, but p2 plays on.", "Erase it from p2's sheet."),
    (
        ROLL,
        "p1: b1=1,c1=3,d1=4,c2=5",
        "p1 plays, but the table waits for p1 to roll.",
        "Erase it from p1's sheet. Then p1 rolls.",
    ),
    (SECOND, "p1: b1=1,c1=3,d1=4,c2=5", "p1 has nothing to write now; p2 plays.", "Erase it from p1's sheet."),
    (
        SLIDE,
        "b1=1,c1=3,d1=4,c2=5",
        "p1 plays something else, but now a tile is slid.",
        "Erase it from p1's sheet. First, a tile is slid.",
    ),
    (GONE, "p2: b1=1,c1=3,d1=4,c2=5", "p2 has resigned, and the sheet is set aside.", "Erase it from p2's sheet."),
    (
        SETUP,
        "p1: a1=1,b1=1",
        "p1 wrote 2 cells in the set-up.",
        "Leave one 1 on the lowest line of p1's sheet, and nothing else.",
    ),
    (
        SETUP,
        "p2: a1=1",
        "p2 wrote 1, but begins with a 2.",
        "Erase it, and write a 2 on the lowest line of p2's sheet.",
    ),
    (
        SETUP,
        "p1: a2=1",
        "p1 wrote on a2, which is not on the lowest line.",
        "Erase it, and write a 1 on the lowest line of p1's sheet.",
    ),
    (DROP, "p1: a1=1,b1=3,c1=4,b2=5", "p1 wrote over a1.", "Write a1 as it was, and drop the shape elsewhere."),
    (DROP, "p1: b1=1,c1=3,d1=4,c2=X", "p1 wrote an X as part of a shape.", "Write 1, 3, 4, 5, each once."),
    (DROP, "p1: b1=1,c1=3,d1=4", "p1 wrote 3 digits; there are four number dice.", "Write 1, 3, 4, 5, each once."),
    (
        DROP,
        "p1: b1=1,c1=3,d1=4,c2=6",
        "p1 wrote 1, 3, 4, 6, but the dice show 1, 3, 4, 5.",
        "Write 1, 3, 4, 5, each once.",
    ),
    (
        STARRED,
        "p1: b1=1,c1=3,d1=5,c2=6",
        "p1 wrote 1, 3, 5, 6, but the dice show 1, 3, 4, *.",
        "Write 1, 3, 4, *, each once (* is any digit).",
    ),
    (DROP, "p1: b1=1,c1=3,d1=4,d2=5", "What p1 wrote hasn't the shape T.", "Form the shape T, turned or flipped."),
    (
        PENALTY,
        "p2: b1=X,c1=X,d1=X,e1=3",
        "p2 wrote 3 while a penalty drops.",
        "Write the penalty in X, and nothing else.",
    ),
    (
        PENALTY,
        "p2: b1=X,c1=X,d1=X,d2=X",
        "What p2 wrote hasn't the shape of tile I4.",
        "Drop the tile's shape, turned or flipped as you like.",
    ),
    (
        PENALTY,
        "p1: d1=X,e1=X,f1=X,g1=X",
        "p1 has circled the letter A, so its penalty isn't for p1.",
        "Erase it from p1's sheet.",
    ),
    (
        DROP,
        "p1: b2=1,c2=3,d2=4,c3=5",
        "The shape of p1 hangs in the air; there it falls to line 1.",
        "Let it fall until something stops it.",
    ),
    (
        UNDER,
        "p1: c1=1,d1=3,c2=4,d2=5",
        "The shape of p1 can't get there from the top; something is in its way.",
        "Let it fall straight down from the top, and stop where it is stopped.",
    ),
    (
        DROP,
        "p1: loop:a1+b1+c1",
        "p1 draws a loop, but has no drop in this turn to draw it after.",
        "Erase it from p1's sheet.",
    ),
    (
        COMBINE,
        "loop:a3+b3+c3",
        "p1 drew a loop round an X or an open cell.",
        "Erase this loop. Draw one round fitting digits, or draw none.",
    ),
    (
        COMBINE,
        "loop:a3+b3+a4",
        "p1 drew a loop round an X or an open cell.",
        "Erase this loop. Draw one round fitting digits, or draw none.",
    ),
    (
        COMBINE,
        "loop:a1+b1+c1",
        "a1, b1 and c1 belong to another loop already.",
        "Erase this loop. Draw one round fitting digits, or draw none.",
    ),
    (
        COMBINE,
        "loop:a3+b3",
        "The loop of p1 goes round 2 digits.",
        "Erase this loop. Draw one round fitting digits, or draw none.",
    ),
    (
        COMBINE,
        "loop:d1+e1+e3",
        "The digits 4, 5, 7 are neither equal nor consecutive.",
        "Erase this loop. Draw one round fitting digits, or draw none.",
    ),
    (
        COMBINE,
        "loop:c2+e1+f1",
        "These digits don't touch by their sides.",
        "Erase this loop. Draw one round fitting digits, or draw none.",
    ),
    (
        FILLED,
        "loop:e1+f1+g1",
        "p1 has scored 3 identical digits before.",
        "Erase this loop. Draw one round fitting digits, or draw none.",
    ),
    (
        COMBINE,
        "loop:e1+f1+g1/B",
        "This combination doesn't fill both boxes of the letter B.",
        "Leave the letter; the combination counts.",
    ),
    (
        OPEN,
        "loop:a2+b2+c2/B",
        "This combination doesn't fill both boxes of the letter B.",
        "Leave the letter; the combination counts.",
    ),
    (CROSSED, "loop:a2+b2+c2/A", "The letter A is crossed off.", "Leave the letter; the combination counts."),
    (SLIDE, "slide:D", "The tile D is at the bottom already.", "Slide A, B, C or E."),
    (STAR, "slide:A", "The shape die shows T, which isn't tile A.", "Slide D."),
]
TABLES = [
    (
        DROP,
        "p1.a1=empty",
        "What p1 had on a1 was erased or written over.",
        "Write it again on p1's sheet: 1 on a1.",
    ),
    (
        DROP,
        "p1.a1=digit 2",
        "What p1 had on a1 was erased or written over.",
        "Write it again on p1's sheet: 1 on a1.",
    ),
    (
        COMBINE,
        "p1.a1=digit 1",
        "p1's loop round a1, b1 and c1 no longer goes round a1.",
        "Draw it round a1, b1 and c1 again.",
    ),
    (
        UNDER,
        "p1.c1=digit 1,p1.d1=digit 3,p1.c2=digit 4,p1.d2=digit 5",
        "The shape of p1 can't get there from the top; something is in its way.",
        "Let it fall straight down from the top, and stop where it is stopped.",
    ),
    (
        COMBINE,
        "p1.e1=digit 5 circled,p1.f1=digit 5 circled,p1.g1=digit 5 circled,"
        "p1.a2=digit 5 circled,p1.b2=digit 5 circled,p1.c2=digit 5 circled",
        "p1 drew more than one loop in this turn, round e1, f1, g1, a2, b2, c2.",
        "Keep one of these loops, and erase the rest.",
    ),
    (
        DROP,
        "p2.b1=digit 1,p2.c1=digit 3",
        "p2 wrote 2 digits; there are four number dice.",
        "Write 1, 3, 4, 5, each once.",
    ),
    (
        DROP,
        "p2.b1=cross,p2.c1=cross,p2.d1=cross,p2.c2=cross",
        "p2 wrote an X as part of a shape.",
        "Write 1, 3, 4, 5, each once.",
    ),
    (
        PENALTY,
        "p2.a1=digit 1,p2.b1=digit 1,p2.c1=digit 1,p2.d1=digit 1",
        "p2 wrote 1 while a penalty drops.",
        "Write the penalty in X, and nothing else.",
    ),
    (
        SETUP,
        "p1.a1=digit 2,p2.a1=digit 2",
        "p1 wrote 2, but begins with a 1.",
        "Erase it, and write a 1 on the lowest line of p1's sheet.",
    ),
    (
        DROP,
        "p1.a1=digit 1 circled",
        "p1 draws a loop, but has no drop in this turn to draw it after.",
        "Erase it from p1's sheet.",
    ),
    (GONE, "p2.a2=cross", "p2 has resigned, and the sheet is set aside.", "Erase it from p2's sheet."),
    (OVER, "p2.a1=digit 2 circled", "The game is over, but p2 plays on.", "Erase it from p2's sheet."),
    (
        ROLL,
        "p2.a1=digit 2 circled",
        "p2 draws a loop, but nothing was dropped in this turn.",
        "Erase it from p2's sheet.",
    ),
    (
        DROP,
        "p1.b1=digit 1 circled,p1.c1=digit 3,p1.d1=digit 4,p1.c2=digit 5,p1.a1=digit 1 circled",
        "The loop of p1 goes round 2 digits.",
        "Erase this loop. Draw one round fitting digits, or draw none.",
    ),
]


@pytest.mark.parametrize(("text", "turn", "sentence", "remedy"), TURNS)
def test_a_wrong_turn_is_told_in_words(text, turn, sentence, remedy):
    state = GAME.notation.parse_state(text)
    nearest = breaches_of(state, attempt(state, turn))[0]
    assert (nearest.sentence, nearest.remedy) == (sentence, remedy)


@pytest.mark.parametrize(("text", "change", "sentence", "remedy"), TABLES)
def test_a_wrong_table_is_told_in_words(text, change, sentence, remedy):
    state = GAME.notation.parse_state(text)
    nearest = GAME.table.explain(state, seen(state, change))[0]
    assert (nearest.sentence, nearest.remedy) == (sentence, remedy)


@given(OPTIONS)
def test_the_rules_told_are_those_in_force(options):
    told, settings = GAME.notation.summary(options), GAME.rules.new(options).options
    alone = settings.players == 1
    assert ("You play alone." in told) == ("slide any tile down" in told) == ("all tiles are down" in told) == alone
    assert (f"{settings.players} play, each on a sheet." in told) == ("a tie is shared" in told) == (not alone)
    assert ("with anything in it costs 5" in told) == settings.x_counts_above_line
    assert ("with a digit in it costs 5" in told) == (not settings.x_counts_above_line)
    if not alone:
        sides = {"solo_side": "solo side up", "other_side": "other side up", "both_sides": "either side up"}
        assert [side for side in sides.values() if side in told] == [sides[settings.tiles]]


_NO_BOXES = "same -----, run -----, bonus -, letters -"
_TILES_LIE = "Tiles: A I4  B L4  C O4  D T4  E S4"
STANDING = [
    ("p1 tiles p1=- p2=-", ["Draw the tiles to slots A to E, and tell the referee their faces (p1 is first)."]),
    (SETUP, ["First digits to write: p1, p2.", _TILES_LIE, f"p1: 0 points; {_NO_BOXES}"]),
    (ROLL, ["p1 rolls.", _TILES_LIE]),
    (DROP, ["To drop: p1, p2. To combine: nobody.", _TILES_LIE, "Dice: 1 3 4 5 T"]),
    (
        COMBINE,
        [
            "To drop: nobody. To combine: p1.",
            _TILES_LIE,
            "Dice: 1 3 4 5 T",
            "p1: 5 points; same -----, run 3----, bonus -, letters -, line 1 +2",
        ],
    ),
    (
        CROSSED,
        [
            "To drop: nobody. To combine: p1.",
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
def test_what_is_awaited_and_how_every_sheet_stands_are_said(text, lines):
    assert list(GAME.notation.standing(GAME.notation.parse_state(text))[: len(lines)]) == lines
