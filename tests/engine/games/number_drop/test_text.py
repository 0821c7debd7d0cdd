"""Number Drop's texts: strict ones round-trip, lenient ones are read, and every error names its column."""

import re

import pytest

from engine.errors import AmbiguousError, IllegalTurnError, UnreadableError
from engine.support.chance import format_roll
from engine.values import Roll
from tests.engine.games.number_drop.strategies import DICE, GAME, TILES
from tests.engine.whole_games import scores_of

SOLO = f"{TILES} players=1"
LETTERED = "555..../1234...|loop:a2+b2+c2|loop:a1+b1+c1|letters:A"
FULL = "/".join(["XXXXXXX"] * 14)
ROLL = f"p1 roll p1=1...... p2=2...... {TILES}"


@pytest.mark.parametrize(
    "text",
    [
        "p1 tiles p1=- p2=-",
        f"p2 setup p1=1...... p2=- {TILES} to=p2",
        ROLL,
        f"p2 roll p1={LETTERED} p2=2...... {TILES} first=p2 crossed_off=A",
        f"p2 penalty p1={LETTERED} p2=2...... {TILES} to=p2 slot=A",
        f"p1 drop p1=1...... p2=555.... {TILES} roll=1,3,4,*,* to=p1 then=p2",
        f"p1 slide p1=1...... {TILES} roll=1,3,4,5,T to=p1 crossed_off=E notches=0,1,2,3,4 players=1",
        f"p1 penalty p1=1...... {TILES} roll=1,3,4,*,T to=p1 slot=D crossed_off=D notches=0,0,0,4,0 star_slid=yes "
        "players=1",
        f"over p1={'/'.join(['1......'] * 12)} p2=2...... gone=p2",
        "over p1=- p2=- announced=all:draw",
        f"p1 roll p1={'/'.join(['XXXXXXX'] * 12)} p2=2...... {TILES} x_counts_above_line=false",
        f"p2 roll p1=1...... p2=2...... p3=3...... {TILES} first=p2 gone=p1 players=3",
        "p1 tiles p1=- notches=0,0,0,0,0 players=1 tiles=solo_side tile_backs=I3,V3,U5,X5,T5 "
        "dice=111111/222222/333333/444444/IIIIII",
    ],
)
def test_a_strict_text_round_trips(text):
    assert GAME.notation.format_state(GAME.notation.parse_state(text)) == text


@pytest.mark.parametrize(
    ("lenient", "strict"),
    [
        (f"  {TILES.upper()}  ROLL P2=2......   P1=......./1......", ROLL),
        (ROLL.removeprefix("p1 "), ROLL),
        (f"p1 Roll p1=..5..../1555... p2=- {TILES}", f"p1 roll p1=..5..../1555... p2=- {TILES}"),
        (f"roll p1=555..../1234...;letters:a;loop:a2+b2+c2;loop:c1+b1+a1 p2=2...... {TILES}",
         f"p1 roll p1=555..../1234...|loop:a2+b2+c2|loop:a1+b1+c1|letters:A p2=2...... {TILES}"),
        (f"drop p1=1...... p2=- {TILES} roll=*,5,*,3,T to=p1", f"p1 drop p1=1...... p2=- {TILES} roll=3,5,*,*,T to=p1"),
        ("....... 1x.....", "p1 roll p1=1X..... p2=- slots=I3,I4,O4,S4,T4"),
        ("123..../1x..... players=3 tiles=solo_side", "p1 roll p1=123..../1X..... p2=- p3=- slots=I4,L4,O4,S4,T4 "
         "players=3 tiles=solo_side"),
        ("/.......\n", "p1 roll p1=- p2=- slots=I3,I4,O4,S4,T4"),
    ],
)  # fmt: skip
def test_a_lenient_text_is_read(lenient, strict):
    assert GAME.notation.format_state(GAME.notation.parse_state(lenient)) == strict


def test_a_sheet_above_the_line_without_a_phase_is_a_finished_game():
    state = GAME.notation.parse_state(" ".join(["X......"] * 14))
    assert state.to_move is None
    assert scores_of(GAME, state)["p1"] == -15


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "doesn't say what is awaited", 1),
        ("p1", "doesn't say what is awaited", 3),
        ("p1 roll hello", "cannot read 'hello'", 9),
        ("roll roll", "cannot read 'roll'", 6),
        ("p1 p2 roll", "cannot read 'p2'", 4),
        ("roll p1=-", "lacks p2=", 10),
        (f"roll p1=- p2=- p3=- {TILES}", "players= for more", 19),
        ("roll p1=- p1=1......", "p1 with one value", 11),
        (f"roll p1=1.....* p2=- {TILES}", "7 digits, X and dots", 9),
        (f"roll p1=1....../1..... p2=- {TILES}", "7 digits", 17),
        (f"roll p1={'/'.join(['1......'] * 15)} p2=- {TILES}", "at most 14 lines", 9),
        (f"roll p1=1......|loop:z9 p2=- {TILES}", "loop:a1", 17),
        (f"roll p1=1......|circle:a1 p2=- {TILES}", "letters:AB", 17),
        (f"roll p1=1......|letters:F p2=- {TILES}", "letters:AB", 17),
        (f"roll p1=111....|loop:a1+b1+c1|circle:a1 p2=- {TILES}", "letters:AB", 31),
        (f"roll p1=- p2=- {TILES} slot=A", "in a penalty and only then", 42),
        (f"penalty p1={LETTERED} p2=- {TILES} to=p2 slot=AB", "one of ABCDE", None),
        (f"roll p1=- {TILES} notches=0,0,0,0,5 players=1", "5 numbers from 0 to 4", None),
        (f"roll p1=- {TILES} notches=0,0,0,0,0,9 players=1", "5 numbers from 0 to 4", None),
        ("over p1=- p2=- p3=- players=3 announced=all:draw", "in a two-player game", None),
        ("over p1=- p2=- announced=p1:draw", "in a two-player game", None),
        ("roll p1=- p2=-", "lacks slots=", 15),
        (f"p2 roll p1=1...... p2=2...... {TILES}", "p1, who is next", 1),
        ("p1 over p1=- p2=- announced=all:draw", "nobody, as the game is over", 1),
        (f"roll p1=- p2=- {TILES} first=p3", "one of p1, p2", 43),
        (f"roll p1=- p2=- {TILES} crossed_off=F", "letters out of ABCDE", 49),
        (f"drop p1=- p2=- {TILES} roll=1,3,4,5,T to=p3", "players out of p1, p2", 55),
        (f"drop p1=- p2=- {TILES} to=p1", "lacks roll=", 42),
        (f"penalty p1={LETTERED} p2=- {TILES} to=p2", "slot", None),
        (f"penalty p1={LETTERED} p2=- {TILES} to=p2 slot=F", "one of ABCDE", None),
        (f"roll p1=- {TILES} notches=1,2 players=1", "5 numbers", None),
        (f"roll p1=- p2=- {TILES} notches=1,2,0,0,0", "players=1 only", None),
        (f"roll p1=- p2=- {TILES} last_turn=no", "expected yes", None),
        (f"roll p1=- p2=- {TILES} announced=all:draw", "in a two-player game", None),
        (f"roll p1=- p2=- {TILES} players=9", "takes one of 1, 2", 37),
        ("roll 1......", "options beside a bare sheet", 1),
        ("1...... p1=-", "options beside a bare sheet", 12),
        ("12.....Y", "cannot read", 1),
    ],
)
def test_an_unreadable_text_names_its_column(text, message, column):
    with pytest.raises(UnreadableError, match=message) as raised:
        GAME.notation.parse_state(text)
    if column is not None:
        assert raised.value.column == column


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"roll p1=1....../....... p2=- {TILES}", "1 on a2 in the air"),
        (f"roll p1=1.X....|loop:a1+b1+c1 p2=- {TILES}", "isn't round 3 to 8"),
        (f"roll p1=12.3...|loop:a1+b1+d1 p2=- {TILES}", "fitting digits side by side"),
        (f"roll p1=1.....1/11111.1|loop:a1+b1+g1 p2=- {TILES}", "fitting digits side by side"),
        (f"roll p1=111..../111....|loop:a1+b1+c1|loop:a2+b2+c2 p2=- {TILES}", "same3 is filled twice"),
        (f"roll p1=1111...|loop:a1+b1+c1|loop:a1+b1+c1+d1 p2=- {TILES}", "used once"),
        (f"roll p1=111....|loop:a1+b1+c1|letters:A p2=- {TILES}", "without both combinations of 3"),
        (f"roll p1=- p2=- {TILES} crossed_off=A", "nobody circled"),
        (f"roll p1={'/'.join(['1......'] * 12)} p2=- {TILES}", "after a turn that ended it"),
        ("over p1=1...... p2=2......", "nothing ended it"),
        (f"roll p1=- p2=- {TILES} gone=p2", "given up"),
        (f"roll p1=- p2=- p3=- {TILES} gone=p1 players=3", "is to roll, but has resigned"),
        (f"setup p1=- p2=- p3=- {TILES} to=p2,p3 gone=p1 players=3", "is to roll, but has resigned"),
        (f"tiles p1=- p2=- {TILES}", "drawn"),
        (f"setup p1=1...... p2=- {TILES} to=p1,p2", "those with an empty sheet"),
        (f"setup p1=3...... p2=- {TILES} to=p2", "p1 begins with one 1"),
        (f"roll p1=- p2=- {TILES} to=p1", "nobody where a roll is awaited"),
        (f"drop p1=- p2=- {TILES} roll=1,3,4,5,T", "must name who plays"),
        (f"drop p1=- p2=- {TILES} roll=1,3,4,5,T to=p1 then=p1", "has dropped already"),
        (f"drop p1=- p2=- {TILES} roll=1,3,4,5,T then=p1", "p1 has no combination"),
        (f"drop p1=- p2=- {TILES} roll=1,1,1,1,T to=p1", "can't show"),
        (f"drop p1=- p2=- {TILES} roll=1,3,4,5 to=p1", "expected 4 number dice"),
        (f"drop p1={'/'.join(['X......'] * 12)} p2=- {TILES} roll=1,3,4,5,T to=p1", "above the Game Over line"),
        (
            f"drop p1={'/'.join(['XXXXXXX'] * 14)} p2=- {TILES} roll=1,3,4,5,T to=p1 x_counts_above_line=no",
            "fits nowhere",
        ),
        (f"roll p1=- p2=- {TILES} roll=1,3,4,5,T", "no roll lies"),
        ("roll p1=- p2=- slots=I4,V3,O4,T4,S4", "A and B show the same tile"),
        (f"penalty p1={LETTERED} p2=- {TILES} to=p1,p2 slot=A", "circled A doesn't drop"),
        (f"penalty p1={LETTERED} p2=- {TILES} to=p2 slot=A crossed_off=A", "is crossed off"),
        (f"penalty p1={LETTERED} p2=- {TILES} to=p2 slot=B", "nobody circled B"),
        (f"penalty p1=- roll=1,3,4,5,T to=p1 slot=B notches=0,0,0,0,0 {SOLO}", "isn't at the bottom"),
        (f"slide p1=- p2=- {TILES} roll=1,3,4,5,T to=p1", "the solo game"),
        (f"star-slide p1=- roll=1,3,4,5,T to=p1 notches=1,0,0,0,0 {SOLO}", "needs a star"),
        (f"slide p1=- roll=1,3,4,5,T to=p1 notches=4,4,4,4,4 crossed_off=ABCDE {SOLO}", "needs a tile"),
        (f"roll p1=- notches=4,0,0,0,0 {SOLO}", "tiles at the bottom are crossed off"),
        (f"drop p1=- roll=1,3,4,*,T to=p1 notches=4,0,0,0,0 crossed_off=A star_slid=yes {SOLO}", "star_slid= belongs"),
        ("tiles p1=- notches=1,0,0,0,0 players=1", "no tile slides"),
        ("tiles p1=11..... p2=-", "begins with one 1"),
        ("tiles p1=- p2=- crossed_off=A", "no letter is crossed off"),
        (f"roll p1=- p2=- {TILES} then=p1", "nobody where a roll is awaited"),
        (f"penalty p1={LETTERED} p2=- {TILES} to=p2 slot=A star_slid=yes", "star_slid= belongs"),
    ],
)
def test_an_impossible_position_names_the_broken_rule(text, message):
    with pytest.raises(UnreadableError, match=message):
        GAME.notation.parse_state(text)


DROP = f"drop p1=......./1...... p2=2...... {TILES} roll=1,3,4,5,T to=p1,p2"
SETUP = f"setup p1=- p2=- {TILES} to=p1,p2"
PENALTY = f"penalty p1={LETTERED} p2=2...... {TILES} to=p2 slot=A"
COMBINE = f"drop p1=555..../1234...|loop:a1+b1+c1 p2=2...... {TILES} roll=1,2,3,4,O then=p1"
SLIDE = f"slide p1=- roll=1,3,4,5,T to=p1 notches=0,0,0,0,0 {SOLO}"


@pytest.mark.parametrize(
    ("state", "text", "player", "strict"),
    [
        (DROP, "b1=1,c1=3,d1=4,c2=5", None, "b1=1,c1=3,d1=4,c2=5"),
        (DROP, " C2 5  D1:4; B1 1 / c1=3 ", None, "b1=1,c1=3,d1=4,c2=5"),
        (DROP, "p2: b1=1,c1=3,d1=4,c2=5", None, "b1=1,c1=3,d1=4,c2=5"),
        (DROP, "b1=1,c1=3,d1=4,c2=5", "p2", "b1=1,c1=3,d1=4,c2=5"),
        (DROP, "p2 b1=1,c1=3,d1=4,c2=5", None, "b1=1,c1=3,d1=4,c2=5"),
        (DROP, "p1.b1=1,p1.c1=3,p1.d1=4,p1.c2=5", None, "b1=1,c1=3,d1=4,c2=5"),
        (SETUP, "g1=1", None, "g1=1"),
        (SETUP, "p2.g1=2", None, "g1=2"),
        (PENALTY, "d1 x e1 x f1 x g1 x", None, "d1=X,e1=X,f1=X,g1=X"),
        (COMBINE, "loop c2 a2 b2", None, "loop:a2+b2+c2"),
        (COMBINE, "same: a2,b2,c2; a", None, "loop:a2+b2+c2/A"),
        (COMBINE, "loop:a2+b2+c2 circle A", None, "loop:a2+b2+c2/A"),
        (COMBINE, "a2+b2+c2", None, "loop:a2+b2+c2"),
        (COMBINE, "p1.a2 p1.b2 p1.c2 A", None, "loop:a2+b2+c2/A"),
        (COMBINE, "loop p1.a2,p1.b2,p1.c2", None, "loop:a2+b2+c2"),
        (COMBINE, "pass", None, "none"),
        (COMBINE, "nothing", None, "none"),
        (SLIDE, "Slide c", None, "slide:C"),
    ],
)
def test_turns_are_read_leniently(state, text, player, strict):
    turn = GAME.notation.parse_turn(GAME.notation.parse_state(state), text, player)
    assert GAME.notation.format_turn(turn) == strict
    if player:
        assert turn.player == player


@pytest.mark.parametrize(
    ("state", "text", "column"),
    [
        (DROP, "", 1),
        (DROP, "b1=1,h1=3", 6),
        (DROP, "b1=1,c1=3,d15=4", 11),
        (DROP, "b1=1,b1=3", 6),
        (DROP, "b1=1 und c1=3", 6),
        (COMBINE, "loop:", 6),
        (COMBINE, "loop:a2+z2", 9),
        (COMBINE, "loop:a2+a2", 9),
        (COMBINE, "loop:a2+b2+c2/F", 15),
        (COMBINE, "loop:a2+b2+c2/A/B", 17),
        (SLIDE, "slide:F", 1),
    ],
)
def test_an_unreadable_turn_names_its_column(state, text, column):
    with pytest.raises(UnreadableError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(state), text)
    assert raised.value.column == column


@pytest.mark.parametrize(
    ("state", "text", "error"),
    [
        (ROLL, "", UnreadableError),
        (ROLL, "1,3,4,5,Q", UnreadableError),
        (ROLL, "1,3,4,5", IllegalTurnError),
        (ROLL, "1,3,4,5,6", IllegalTurnError),
        (ROLL, "1,3,T,I,4", IllegalTurnError),
        (ROLL, "1,1,1,1,T", IllegalTurnError),
        (ROLL, "I4,L4,O4,T4,S4", IllegalTurnError),
        (DROP, "1,3,4,5,T", IllegalTurnError),
        ("tiles p1=- p2=-", "I4,L4,O4,T4", IllegalTurnError),
        ("tiles p1=- p2=-", "1,3,4,5,T", IllegalTurnError),
        ("over p1=- p2=- announced=all:draw", "1,3,4,5,T", IllegalTurnError),
    ],
)
def test_an_impossible_roll_is_refused(state, text, error):
    with pytest.raises(error):
        DICE.parse_roll(GAME.notation.parse_state(state), text)


@pytest.mark.parametrize(
    ("text", "faces"),
    [
        ("1,3,4,5,T", "1,3,4,5,T"),
        (" t 5 4 3 1", "1,3,4,5,T"),
        ("*,1,*,3,*", "1,3,*,*,*"),
        ("*,7,S,1,3", "1,3,7,*,S"),
    ],
)
def test_rolls_are_read_in_any_order(text, faces):
    roll = DICE.parse_roll(GAME.notation.parse_state(ROLL), text)
    assert format_roll(roll) == faces
    assert roll == Roll(tuple(faces.split(",")))


DROP = f"p1 drop p1=.1..... p2=2...... {TILES} roll=1,3,4,5,O to=p1,p2"


def test_a_drop_can_be_typed_as_digits_and_a_column():
    state = GAME.notation.parse_state(DROP)
    for text in ("3 1 4 5 on a", "3,1,4,5 A", "3145 on a"):
        assert GAME.notation.format_turn(GAME.notation.parse_turn(state, text)) == "a2=3,b2=1,a3=4,b3=5"
    named = GAME.notation.parse_turn(state, "3 1 4 5 on a", "p2")
    assert (named.player, GAME.notation.format_turn(named)) == ("p2", "a2=3,b2=1,a3=4,b3=5")


@pytest.mark.parametrize(("player", "prefix"), [("p1", ""), ("p2", "p2:")])
def test_digits_that_fit_several_drops_are_ambiguous(player, prefix):
    state = GAME.notation.parse_state(DROP.replace("5,O", "5,I"))
    with pytest.raises(AmbiguousError, match="'3 1 4 5 on a' fits 2 drops: say which, such as ") as asked:
        GAME.notation.parse_turn(state, "3 1 4 5 on a", player)
    turns = [GAME.notation.parse_turn(state, text) for text in asked.value.candidates]
    assert {turn.player for turn in turns} == {player}
    assert all(text.startswith(prefix) for text in asked.value.candidates)
    assert {turn.squares[-1] for turn in turns} == {"d2", "a4" if player == "p1" else "a5"}


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("3 1 4 5", UnreadableError, "expected a column, such as 3 1 4 5 on b"),
        ("3 1 4 5 on", UnreadableError, "expected a column, such as 3 1 4 5 on b"),
        ("3 1 4 5 on g", UnreadableError, "the shape O can't be dropped with its left edge in column g"),
        ("3 1 4 4 on a", IllegalTurnError, "4"),
        ("3 1 4", UnreadableError, "such as a1=1,b1=3,c1=4,d1=5 or 1 3 4 5 on a"),
    ],
)
def test_digits_that_make_no_drop_are_refused_with_the_reason(text, error, said):
    with pytest.raises(error, match=said):
        GAME.notation.parse_turn(GAME.notation.parse_state(DROP), text)


def test_a_first_digit_need_not_be_typed():
    state = GAME.notation.parse_state(f"p1 setup p1=- p2=- {TILES} to=p1,p2")
    assert GAME.notation.format_turn(GAME.notation.parse_turn(state, "D1")) == "d1=1"
    assert GAME.notation.format_turn(GAME.notation.parse_turn(state, "p2: e1")) == "e1=2"
    with pytest.raises(UnreadableError, match=r"such as d1=1$"):
        GAME.notation.parse_turn(state, "3 1 4 5 on b")


PAIRED = f"drop p1=123.... p2=2...... {TILES} roll=1,3,4,5,T to=p2 then=p1"


@pytest.mark.parametrize(
    ("state", "player", "example"),
    [
        (f"setup p1=- p2=- {TILES} to=p1,p2", "p2", "d1=2"),
        (PAIRED, "p1", "loop:a1+b1+c1 or none"),
        (PAIRED, "p2", "a1=1,b1=3,c1=4,d1=5 or 1 3 4 5 on a"),
    ],
)
def test_the_example_of_a_turn_fits_the_player_who_types(state, player, example):
    for text in ("", "nonsense"):
        with pytest.raises(UnreadableError, match=re.escape(f"such as {example}")):
            GAME.notation.parse_turn(GAME.notation.parse_state(state), text, player)


@pytest.mark.parametrize("text", ["none", "d1", "1 3 4 5 on a", "loop:a1+b1+c1", "a1=1"])
@pytest.mark.parametrize("player", ["p3", "p9", "nobody"])
def test_a_turn_of_an_unknown_player_is_unreadable(text, player):
    for state in (f"setup p1=- p2=- {TILES} to=p1,p2", PAIRED):
        with pytest.raises(UnreadableError, match=f"there is no player '{player}'"):
            GAME.notation.parse_turn(GAME.notation.parse_state(state), text, player)


def test_no_shape_of_a_star_fits_beyond_the_sheet():
    state = GAME.notation.parse_state(f"drop p1={'/'.join(['......X'] * 11)} p2=2...... {TILES} roll=1,3,4,5,* to=p1")
    with pytest.raises(UnreadableError, match=r"^no shape can be dropped with its left edge in column g"):
        GAME.notation.parse_turn(state, "1 3 4 5 on g")


def test_a_tile_that_lies_in_two_slots_is_named_by_these() -> None:
    tile = GAME.rules.new({"players": 2}).options.components.tiles[0]
    others = [solo for solo, _ in GAME.rules.new({"players": 2}).options.components.tiles[1:4]]
    with pytest.raises(
        IllegalTurnError, match=rf"^A and E show the same tile \({tile[0]} and {tile[1]} are its two sides\)"
    ):
        GAME.dice_for("tiles").rolled(GAME.rules.new({"players": 2}), Roll((tile[0], *others, tile[1])))


def test_tiles_are_drawn_not_rolled() -> None:
    start = GAME.rules.new({"players": 2})
    drawn = GAME.roll_sentence(start, Roll(("I4", "L4", "O4", "T4", "S4")))
    assert drawn == "The tiles were drawn."
