import contextlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import IllegalTurnError, UnreadableError
from engine.games.diaballik.notation import _runs_of_squares, _Token
from engine.perft import perft
from engine.registry import load
from tests.effort import cases
from tests.engine.games.diaballik import oracle
from tests.engine.games.diaballik.strategies import positions, states
from tests.present import present

GAME = load("diaballik")
START = GAME.rules.new()
STRICT = "black black:a1,b1,c1,d1*,e1,f1,g1 white:a7,b7,c7,d7*,e7,f7,g7"
BLACK, WHITE = STRICT.split()[1:]
GOAL = "over black:a1,b1,c1,d1,e1,f1,g7* white:a7,b7,c7,d7*,e7,f7,g6"
ANTI_PLAY = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"


@given(positions())
def test_a_drawing_and_the_strict_text_are_the_same_state(position):
    state = GAME.notation.parse_state(oracle.drawing(position))
    assert GAME.notation.parse_state(GAME.notation.format_state(state)) == state
    bare = "/".join(row.replace(" ", "") for row in oracle.drawing({**position, "options": oracle.OPTIONS}).split("/"))
    rows = bare[len(position["to_move"]) :]
    alone = GAME.notation.parse_state(rows)
    assert (alone.to_move, GAME.table.appearance(alone)) == ("black", GAME.table.appearance(state))


@given(states(), st.integers(0, 10**6), st.randoms(use_true_random=False))
@settings(max_examples=cases(50))
def test_actions_in_any_legal_order_are_kept_as_written(state, choice, rng):
    turns = GAME.rules.legal_turns(state)
    turn = turns[choice % len(turns)]
    actions = list(turn.actions)
    rng.shuffle(actions)
    shuffled = turn.__class__(turn.player, tuple(actions), turn.claims)
    with contextlib.suppress(IllegalTurnError):
        after = GAME.rules.apply(state, shuffled)
        read = GAME.notation.parse_turn(state, GAME.notation.format_turn(shuffled))
        assert GAME.rules.apply(state, read) == after
        assert read == shuffled


def test_the_start_is_written_in_strict_text():
    assert GAME.notation.format_state(START) == STRICT
    variant = GAME.notation.format_state(GAME.rules.new({"start": "variant", "null_turn": False}))
    assert variant == ("black black:a1,c1,d1*,e1,g1,b7,f7 white:b1,f1,a7,c7,d7*,e7,g7 start=variant null_turn=false")


@pytest.mark.parametrize(
    "text",
    [
        f"{BLACK} {WHITE}",
        f"  {WHITE.upper()}   BLACK {BLACK.upper()}",
        "black black:g1,f1,e1,d1*,c1,b1,a1 white:g7,f7,e7,d7*,c7,b7,a7 null_turn=yes antiplay=announced",
        "wwwWwww/......./......./......./......./......./bbbBbbb",
        "7 w w w W w w w\n6 . . . . . . .\n5 .......\n4 .......\n3 .......\n2 .......\n1 bbb B bbb\nblack\n",
        "black wwwWwww/......./......./......./......./......./bbbBbbb null_turn=true",
    ],
)
def test_states_are_read_leniently(text):
    assert GAME.notation.parse_state(text) == START


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "0 black pieces; expected 7", None),
        (f"black {BLACK}", "0 white pieces", None),
        (STRICT.replace("a1,", ""), "6 black pieces", None),
        (STRICT.replace("g1", "g1,g2"), "8 black pieces", None),
        (STRICT.replace("d1*", "d1"), "0 balls on black pieces", None),
        (STRICT.replace("e7", "e7*"), "2 balls on white pieces", None),
        (STRICT.replace("a1", "a7"), "'a7' at column 41.*a7 has one", 41),
        (STRICT.replace("a1", "h1"), "'h1' at column 13.*squares such as", 13),
        (STRICT.replace("a1", ""), "'' at column 13", 13),
        (STRICT.replace("b1", "h1"), "'h1' at column 16", 16),
        (f"{STRICT} 12", "'12' at column 63", 63),
        (f"{STRICT} 8", "'8' at column 63", 63),
        (f"over {ANTI_PLAY} antiplay=automatic", "no ball is on the far row", None),
        (f"white {STRICT}", "'black' at column 7.*only one of", 7),
        (f"{STRICT} bananas", "'bananas' at column 63", 63),
        (f"{STRICT} =", "'=' at column 63", 63),
        (f"{STRICT} speed=3", "no option 'speed'", 63),
        (f"{STRICT} start=elsewhere", "takes one of standard, variant", 63),
        (f"{STRICT} start=variant start=standard", "start with one value", 77),
        (f"{STRICT} seen=1", "seen=COUNT", 63),
        (f"{STRICT} seen=1*0123456789abcdef", "expected repetition_draw=true", None),
        (STRICT.replace("black ", "over ", 1), "no ball is on the far row", None),
        (f"{STRICT} announced=white:resign", "say 'over'", 63),
        (STRICT.replace("black ", "over ", 1) + " announced=red:resign", "cannot read 'red:resign'", 62),
        (STRICT.replace("black ", "over ", 1) + " announced=white:lunch", "the kind one of anti-play", 62),
        (STRICT.replace("black ", "over ", 1) + " announced=white:draw", "or all:draw", 62),
        (STRICT.replace("black ", "over ", 1) + " announced=all:resign", "or all:draw", 62),
        (STRICT.replace("black ", "over ", 1) + " announced=white:repetition", "repetition_draw=true", 62),
        (STRICT.replace("black ", "over ", 1) + " announced=white:anti-play", "a wall of black's", 62),
        (f"{GOAL} announced=white:resign", "nothing announced, as a ball", 62),
        (GOAL.replace("d7*", "d7").replace("a7", "a2*"), "over", None),
        ("over black:a1,b1,c1,d1,e1,f1,g7* white:a7,b7,c7,d7,e7,f7,g2*", "over", None),
        ("black:a2,b2,c2,d2,e2,f2,g7* white:a7,b7,c7,d7,e7,f7,g1*", "both balls", None),
        ("wwwWwww/.......", "5 more rows", 15),
        ("wwwWwww/......./......./......./......./....../bbbBbbb", "1 more square in row 2", 46),
        ("wwwWwwwb/......./......./......./......./......./bbbBbbb", "seven rows of seven squares", 8),
        ("wwwWwww/......./......./......./......./......./bbbBbbb/.", "seven rows of seven squares", 57),
        ("wwwWwww/......./......./..x..../......./......./bbbBbbb", "'..x....' at column 25", 25),
    ],
)
def test_an_unreadable_state_names_the_part_and_what_was_expected(text, message, column):
    if message == "over":
        assert GAME.notation.parse_state(text).to_move is None
        return
    with pytest.raises(UnreadableError, match=message) as raised:
        GAME.notation.parse_state(text)
    assert raised.value.column == column


@pytest.mark.parametrize(
    "announced", ["black:resign", "all:draw", "black:anti-play", "white:repetition"], ids=lambda text: text
)
def test_states_that_ended_by_an_announcement_round_trip(announced):
    text = f"over {ANTI_PLAY} repetition_draw=true announced={announced}"
    state = GAME.notation.parse_state(text)
    assert state.to_move is None
    assert GAME.notation.parse_state(GAME.notation.format_state(state)) == state
    winner = {"black:resign": "white", "black:anti-play": "black"}.get(announced)
    assert present(GAME.rules.outcome(state)).winner == winner


MIDDLE = GAME.notation.parse_state("ww.W.ww/......./....wb./..b.b../b.w..../......./..B.b.b")


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("c1*e1", "c1*e1"),
        ("C1 x E1", "c1*e1"),
        ("pass c1 to e1", "c1*e1"),
        ("c1 passes to e1", "c1*e1"),
        ("c4 moves to c5", "c4-c5"),
        ("c4 to moves c5", "c4-c5"),
        ("c1 e1", "c1*e1"),
        ("c4-c5", "c4-c5"),
        ("c4 to c5, c5 to c6", "c4-c5 c5-c6"),
        ("c4-c5-c6", "c4-c5 c5-c6"),
        ("c4→c5→c6", "c4-c5 c5-c6"),
        ("move c4 c5 and pass c1 e1", "c4-c5 c1*e1"),
        ("c1*e1; c4-c5", "c1*e1 c4-c5"),
        ("c1*e1 then c1-c2", "c1*e1 c1-c2"),
        ("e1-e2 e2-e1", "e1-e2 e2-e1"),
        ("c4-d4 e4-e3", "c4-d4 e4-e3"),
        ("e4-d4 c4-c5", "e4-d4 c4-c5"),
    ],
)
def test_turns_are_read_leniently(text, strict):
    assert GAME.notation.format_turn(GAME.notation.parse_turn(MIDDLE, text)) == strict


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("", "moves and a pass such as", 1),
        ("   ", "moves and a pass such as", 1),
        ("anti-play", "before moving, announce anti-play without a turn", 1),
        ("c1", "a square", 3),
        ("c1*", "a square", 4),
        ("c1*e1 c4", "a square", 9),
        ("c1*e9", "'e9' at column 4", 4),
        ("c1+e1", r"'\+e1' at column 3", 3),
        ("*c1 e1", r"'\*' at column 1", 1),
        ("anti-play c1*e1", "'anti-play' at column 1", 1),
        ("c1*e12", "'e12' at column 4", 4),
    ],
)
def test_an_unreadable_turn_names_its_column(text, message, column):
    with pytest.raises(UnreadableError, match=message) as raised:
        GAME.notation.parse_turn(MIDDLE, text)
    assert raised.value.column == column


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        ("carrier-moved", ["move d1 e1", "d1 moves e1", "d1-e1"]),
        ("pass-without-ball", ["pass a1 a2", "a1 passes a2", "a1*a2", "a1*a2 d1 a1 a1 a2"]),
    ],
)
def test_a_move_is_not_read_as_a_pass_nor_a_pass_as_a_move(rule, texts):
    for text in texts:
        with pytest.raises(IllegalTurnError) as raised:
            GAME.notation.parse_turn(START, text)
        assert [breach.rule for breach in raised.value.breaches] == [rule]


def test_a_turn_of_the_player_who_is_not_to_move_is_refused():
    with pytest.raises(IllegalTurnError, match="It is black's turn") as raised:
        GAME.notation.parse_turn(START, "a7-a6", player="white")
    assert [breach.rule for breach in raised.value.breaches] == ["not-your-turn"]


@pytest.mark.parametrize(
    ("text", "sentence", "places"),
    [
        ("c1*e1", "Black passes c1 to e1.", ("c1", "e1")),
        ("c4-c5 c1*e1", "Black moves c4 to c5 and passes c1 to e1.", ("c4", "c5", "c1", "e1")),
        (
            "a3-a2 a2-a1 c1*e1",
            "Black moves a3 to a2 to a1 and passes c1 to e1.",
            ("a3", "a2", "a1", "c1", "e1"),
        ),
    ],
)
def test_turns_are_described_in_a_sentence(text, sentence, places):
    turn = GAME.notation.parse_turn(MIDDLE, text)
    assert GAME.notation.describe(turn) == sentence
    assert turn.places == places


def test_an_anti_play_claim_is_part_of_the_turn():
    state = GAME.notation.parse_state(ANTI_PLAY)
    turn = GAME.notation.parse_turn(state, "c1xb1 ANTI PLAY")
    assert GAME.notation.format_turn(turn) == "c1*b1 anti-play"
    assert GAME.notation.describe(turn) == "Black passes c1 to b1 and announces anti-play."


PAGE = (Path(__file__).parents[4] / "docs" / "games" / "diaballik.md").read_text(encoding="utf-8")


def test_the_counts_in_the_documentation_are_right():
    one, two = (perft(GAME, GAME.rules.new(), depth) for depth in (1, 2))
    assert f"counts {two} different results of two whole turns ({one} for one, 41099194 for three)" in PAGE


COUNTED = {
    "null_turn": ("false", [289, 83521]),
    "pass_over_own": ("false", [160, 25600]),
    "start": ("variant", [132, 24392]),
}


@pytest.mark.parametrize("option", COUNTED)
def test_options_change_the_counts(option):
    value, counts = COUNTED[option]
    assert [perft(GAME, GAME.rules.new({option: value}), depth) for depth in (1, 2)] == counts


def test_the_positions_in_the_documentation_are_read():
    blocks = [block.partition("```")[0].strip() for block in PAGE.split("```text\n")[1:]]
    assert len(blocks) == 2
    assert GAME.notation.format_state(GAME.notation.parse_state(blocks[0])) == blocks[0]
    assert GAME.notation.parse_state(blocks[1]) == GAME.rules.new()


@pytest.mark.parametrize("text", ["a1-a3", "a1 a2 a3", "a1a2a3", "a1-a2 a3", "a1->a2->a3", "A1 A3"])
def test_two_steps_of_one_piece_can_be_typed_together(text):
    assert GAME.notation.format_turn(GAME.notation.parse_turn(START, text)) == "a1-a2 a2-a3"


@pytest.mark.parametrize(
    ("text", "strict"),
    [
        ("a1 a2 a3 d1 e1", "a1-a2 a2-a3 d1*e1"),
        ("a1a2b1b2d1e1", "a1-a2 b1-b2 d1*e1"),
        ("a1-a3 d1 e1", "a1-a2 a2-a3 d1*e1"),
        ("d1 e1 d1 d2", "d1*e1 d1-d2"),
        ("d1 e1 d1 d3", "d1*e1 d1-d2 d2-d3"),
    ],
)
def test_squares_without_separators_are_pairs_or_continue_a_move(text, strict):
    assert GAME.notation.format_turn(GAME.notation.parse_turn(START, text)) == strict


@given(st.lists(st.sampled_from(["a1", "g2", "-", "*", "pass", "move"])))
def test_squares_in_a_row_are_counted_as_one_by_one(texts):
    kinds = {"-": "mark", "*": "mark", "pass": "passes", "move": "moves"}
    waiting = [_Token(kinds.get(text, "square"), text, 1) for text in ["end", *texts]]
    waiting[0] = waiting[0]._replace(kind="end")
    counted = [
        next(number for number, token in enumerate(reversed(waiting[: last + 1])) if token.kind != "square")
        for last in range(len(waiting))
    ]
    assert _runs_of_squares(waiting) == counted


def test_a_move_from_an_empty_square_is_not_reported_as_the_opponents():
    with pytest.raises(IllegalTurnError, match=r"^No piece stands on a2\.$") as raised:
        GAME.notation.parse_turn(START, "a2-a3")
    assert raised.value.breaches == ()


def test_a_carrier_that_moves_first_has_not_left_an_empty_square():
    with pytest.raises(IllegalTurnError, match="The piece on d1 has the ball, so it can't move to d2") as raised:
        GAME.notation.parse_turn(START, "d1-d2 d1*e1")
    assert raised.value.breaches[0].rule == "carrier-moved"


def test_whose_turn_it_is_comes_before_an_empty_square():
    over = GAME.notation.parse_state(GOAL)
    for state, player, rule in ((over, None, "game-over"), (START, "white", "not-your-turn")):
        with pytest.raises(IllegalTurnError) as raised:
            GAME.notation.parse_turn(state, "a3-a4", player)
        assert [breach.rule for breach in raised.value.breaches] == [rule]


def test_a_turn_of_an_unknown_player_is_unreadable():
    with pytest.raises(UnreadableError, match="there is no player 'red'; expected black or white"):
        GAME.notation.parse_turn(START, "a1-a2", "red")


def test_after_a_win_by_anti_play_no_piece_has_to_be_put_back():
    state = GAME.notation.parse_state(
        "black black:a3,b3,c1,d1*,e2,f1,g1 white:a4,b4,c4,d4*,e4,f4,g4 antiplay=automatic"
    )
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(state, "e2-e3 f1-f2")
    (breach,) = raised.value.breaches
    assert (breach.rule, breach.remedy) == ("game-over", "Leave the piece on f1 where it is: the game is over.")


def test_a_typed_position_counts_as_its_first_occurrence():
    text = GAME.notation.format_state(GAME.notation.parse_state(f"{STRICT} repetition_draw=true"))
    assert text.count("seen=1*") == 1
