"""Number Drop's rules one by one, its golden values, its options, tables shown, and random whole games."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine import perft
from engine.errors import AmbiguousError, IllegalTurnError, OptionError, UnreadableError
from engine.games.number_drop.rules import count_from
from engine.games.number_drop.sheet import (
    BOXES,
    EMPTY_CELLS,
    GRID,
    Points,
    Sheet,
    any_digits,
    read_dice,
)
from engine.games.number_drop.state import Combination, Drop, PenaltyDrop, Phase, Slide
from engine.games.number_drop.table import looks_before, marked_sheets, points_of_sheet
from engine.showing import turns_by_trying, turns_showing
from engine.support.grid import members
from engine.values import EMPTY, Announcement, Certainty, Outcome, OutcomeKind, Player, Roll
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.number_drop import oracle
from tests.engine.games.number_drop.strategies import (
    DICE,
    GAME,
    LETTERED,
    OPTIONS,
    TILES,
    after,
    positions,
    state_of,
    turns_of,
)
from tests.engine.whole_games import scores_of

GOLDEN = (
    ".....43/.....66/4412666/5441471/6446777/123X322/44XXX12/455X.22/5556422/5275.56/XXX2341/X.X123."
    "|loop:a6+b6+a5|loop:e8+f8+g8+f9|loop:a10+b10+b9+c9+b8|loop:b5+c5+a4+b4+c4+a3"
    "|loop:g7+f7+g6+f5+g5+f4+g4|loop:a7+b7+c7+c8|loop:d1+d2+e2+f2+f3+g3"
)


def test_the_golden_sheet_scores_54():
    state = state_of(f"over p1={GOLDEN} p2=-")
    assert scores_of(GAME, state) == {"p1": 54, "p2": 0}
    assert state.sheets[0].points(x_counts=True) == Points(35, 10, 14, -5)
    assert [line + 1 for line in state.sheets[0].full_lines()] == [2, 4, 6, 7, 8, 9, 10]
    assert [line + 1 for line in state.sheets[0].game_over_lines(x_counts=True)] == [12]
    assert GAME.rules.outcome(state) == Outcome("p1", "p1 crossed the Game Over line; 54 points")


def texts(state) -> list[str]:
    return [GAME.notation.format_turn(turn) for turn in GAME.rules.legal_turns(state)]


def phase(state) -> str:
    return GAME.notation.format_state(state).split()[1]


def looks_of(text: str) -> dict[str, str]:
    looks = GAME.table.appearance(state_of(text))
    return {place: look for place, look in looks.items() if place.startswith("p1.")}


def test_a_sheet_is_scored_by_its_appearance_even_if_loops_touch():
    looks = looks_of(f"over p1={GOLDEN} p2=-")
    points = points_of_sheet(looks)
    assert points == {"combinations": 35, "full columns": 10, "full lines": 14, "game over lines": -5}
    assert points_of_sheet({f"p6.{place[3:]}": look for place, look in looks.items()}) == points
    assert sum(points_of_sheet(looks_of("p1 roll p1=- p2=- slots=I4,I3,O4,X5,T5")).values()) == 0


def test_a_loop_around_no_combination_is_not_counted():
    looks = looks_of("p1 roll p1=5351111 p2=2...... slots=I4,I3,O4,X5,T5")
    looks |= {f"p1.{column}1": f"{looks[f'p1.{column}1']} circled" for column in "abc"}
    with pytest.raises(UnreadableError, match="a1, b1, c1 make no combinations"):
        points_of_sheet(looks)


def test_no_sheet_scores_more_than_100():
    full = Sheet("1" * 77 + EMPTY_CELLS[77:], tuple(1 << box for box in range(len(BOXES))))
    assert full.points(x_counts=True) == Points(25 + 25 + 8, 20, 22, 0)
    assert full.score(x_counts=True) == 100


@pytest.mark.parametrize(
    ("roll", "count"),
    [
        ("1,3,4,5,T", 22 * 24),
        ("1,3,4,5,I", 11 * 24),
        ("5 4 3 1 t", 22 * 24),
        ("1,1,2,3,O", 6 * 12),
        ("1,3,4,5,*", 105 * 24),
        ("3,1,*,*,L", 44 * 974),
        ("3,*,*,*,*", 105 * (10**4 - 9**4)),
    ],
)
@pytest.mark.parametrize("players", [1, 2, 6])
def test_the_drops_of_a_roll_are_counted_on_an_empty_sheet(roll, count, players):
    state, faces = perft.start_of_count(GAME, GAME.rules.new({"players": players}), roll)
    assert perft.perft(GAME, state, 1, faces) == count


def test_drops_are_counted_on_a_given_sheet():
    counts = []
    for text in ("....... 1......", "XXXXXXX/1111111", "/".join(["1......"] * 11), GOLDEN.partition("|")[0]):
        state, faces = perft.start_of_count(GAME, state_of(text), "1,3,4,5,I")
        counts.append(perft.perft(GAME, state, 1, faces))
    # Lying there are four ways to land and standing seven, fewer where fourteen lines aren't enough.
    assert counts == [264, 264, 24 * 10, 24 * (4 + 5)]


def test_counting_drops_needs_a_roll_and_takes_no_colour():
    with pytest.raises(IllegalTurnError, match="waits for a roll"):
        perft.start_of_count(GAME, GAME.rules.new())
    with pytest.raises(IllegalTurnError, match="can't show"):
        perft.start_of_count(GAME, GAME.rules.new(), "1,1,1,1,T")
    with pytest.raises(IllegalTurnError, match="colour"):
        perft.start_of_count(GAME, GAME.rules.new(), "1,3,4,5,T", "red")


def test_many_drops_are_listed_lazily():
    state = count_from(GAME.rules.new(), Roll(("3", "*", "*", "*", "*")), None)
    turns = GAME.rules.legal_turns(state)
    assert len(turns) == 361095
    assert turns[0] in turns
    assert turns[-1] == turns[361094]
    assert len(turns[10:20]) == 10
    assert len({turns[number] for number in range(0, 361095, 1000)}) == 362
    with pytest.raises(IndexError):
        turns[361095]


def test_a_game_begins_with_the_tiles_and_one_digit_per_player():
    state = GAME.rules.new({"players": 3})
    assert GAME.awaits_roll(state)
    assert len(DICE.possible_rolls(state)) == 3840
    state = after(state, "I4,I3,X5,O4,T5")
    assert GAME.rules.players_to_move(state) == ("p1", "p2", "p3")
    assert texts(state)[:2] == ["a1=1", "b1=1"]
    state = after(state, "p3: g1=3", "p1: a1=1")
    assert GAME.rules.players_to_move(state) == ("p2",)
    state = after(state, "p2: d1=2")
    assert GAME.awaits_roll(state)
    assert state.to_move == "p1"


@pytest.mark.parametrize(
    ("options", "count", "faces"),
    [
        ({}, 3840, {"I4", "L4", "O4", "T4", "S4", "V3", "I3", "U5", "X5", "T5"}),
        ({"tiles": "solo_side"}, 120, {"I4", "L4", "O4", "T4", "S4"}),
        ({"tiles": "other_side"}, 120, {"V3", "I3", "U5", "X5", "T5"}),
        ({"players": 1, "tiles": "other_side"}, 120, {"I4", "L4", "O4", "T4", "S4"}),
    ],
)
def test_tiles_show_the_sides_that_the_options_allow(options, count, faces):
    draws = DICE.possible_rolls(GAME.rules.new(options))
    assert len(draws) == count
    assert {face for draw in draws for face in draw.roll.faces} == faces
    assert {draw.probability for draw in draws} == {Fraction(1, count)}


def test_both_sides_of_one_tile_cannot_be_on_the_table():
    state = GAME.rules.new()
    with pytest.raises(IllegalTurnError, match="show the same tile"):
        DICE.rolled(state, Roll(("I4", "V3", "O4", "T4", "S4")))
    turned = GAME.rules.new({"tile_backs": "I3,V3,U5,X5,T5"})
    assert DICE.rolled(turned, Roll(("I4", "V3", "O4", "T4", "S4"))).tiles == ("I4", "V3", "O4", "T4", "S4")


def test_the_probabilities_of_rolls_follow_the_faces():
    state = state_of(f"roll p1=1...... p2=2...... {TILES}")
    rolls = {possible.roll.faces: possible.probability for possible in DICE.possible_rolls(state)}
    assert sum(rolls.values()) == 1
    # 1 from two dice, 3 and 4 as they come: counted by hand over the faces.
    assert rolls["1", "1", "3", "5", "T"] > 0
    assert rolls["7", "*", "*", "*", "*"] == Fraction(1, 6**5)
    assert ("1", "1", "1", "1", "T") not in rolls
    assert DICE.rolled(state, Roll(("T", "3", "5", "1", "1"))).roll == ("1", "1", "3", "5", "T")


def test_dice_can_have_other_faces():
    state = GAME.rules.new({"dice": "111111/222222/333333/444444/IIIIII"})
    state = after(state, "I4,L4,O4,T4,S4", "a1=1", "p2: a1=2")
    assert [each.roll.faces for each in DICE.possible_rolls(state)] == [("1", "2", "3", "4", "I")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 7}, "takes one of 1, 2"),
        ({"tiles": "any"}, "takes one of both_sides"),
        ({"dice": "123456"}, "4 number dice and a shape die"),
        ({"dice": "1*345/12*456/234*67/123567/IOTLS*"}, "6 faces"),
        ({"dice": "1*345X/12*456/234*67/123567/IOTLS*"}, "6 faces out of 0123456789"),
        ({"dice": "1*3457/12*456/234*67/123567/IOTLS1"}, "faces out of IOTLS"),
        ({"tile_backs": "V3,V3,U5,X5,T5"}, "in any order"),
        ({"x_counts_above_line": "perhaps"}, "true or false"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.rules.new(options)


@pytest.mark.parametrize(
    ("dice", "message", "column"),
    [
        ("1*345/12*456/234*67/123567/IOTLS*", "die 1 of", 1),
        ("1*3457/12*456/234*6/123567/IOTLS*", "die 3 of", 15),
        ("1*3457/12*456/234*67/123567/IOTLS1", "die 5 of", 29),
    ],
)
def test_an_invalid_die_is_refused_with_its_column(dice, message, column):
    with pytest.raises(UnreadableError, match=message) as raised:
        read_dice(dice)
    assert raised.value.column == column


@pytest.mark.parametrize(
    ("cells", "loops"),
    [
        ("111....", {"a1+b1+c1"}),
        ("1111...", {"a1+b1+c1", "b1+c1+d1", "a1+b1+c1+d1"}),
        ("11...../1.1....", {"a1+a2+b2"}),
        ("123....", {"a1+b1+c1"}),
        ("321....", {"a1+b1+c1"}),
        ("23...../14.....", {"a1+a2+b2", "b1+a2+b2", "a1+b1+a2+b2"}),
        ("890....", set()),
        ("1X11...", set()),
        ("135....", set()),
        ("1.2.3..", set()),
        ("3333333", {"+".join(f"{c}1" for c in "abcdefg"[s : s + n]) for n in range(3, 8) for s in range(8 - n)}),
    ],
)
def test_the_combinations_are_those_the_rules_allow(cells, loops):
    text = f"drop p1={cells} p2=2...... {TILES} roll=1,2,3,4,O"
    if not loops:
        with pytest.raises(UnreadableError, match="no combination"):
            state_of(f"{text} then=p1")
        return
    state = state_of(f"{text} then=p1")
    first, *others = texts(state)
    assert first == "none"
    assert {text.removeprefix("loop:") for text in others} == loops


def test_eight_of_a_kind_fill_the_one_bonus_box():
    sheet = "1....../1111111|loop:a1+b1+c1+d1+e1+f1+g1+a2"
    state = state_of(f"roll p1={sheet} p2=2...... {TILES}")
    assert scores_of(GAME, state)["p1"] == 8 + 2
    with pytest.raises(UnreadableError, match="bonus8 is filled twice"):
        state_of(
            "roll p1=2222222/2111111/1122222/1111111|loop:a1+b1+c1+d1+e1+f1+g1+a2|loop:a3+a4+b4+c4+d4+e4+f4+g4 "
            f"p2=- {TILES}"
        )


def test_a_shape_stops_at_the_first_obstacle_and_may_leave_holes():
    state = state_of(f"drop p1=..X..../..X..../X.XX... p2=2...... {TILES} roll=1,3,4,5,I to=p1")
    squares = {turn.squares for turn in GAME.rules.legal_turns(state)}
    assert ("a4", "b4", "c4", "d4") in squares
    assert ("b1", "b2", "b3", "b4") in squares
    assert ("d2", "e2", "f2", "g2") in squares
    assert len(squares) == 11


SOLO = "I4,L4,O4,T4,S4"


def test_alone_a_tile_slides_each_turn_and_a_star_slides_its_own():
    state = after(GAME.rules.new({"players": 1}), SOLO, "d1=1", "1,3,4,5,T")
    assert texts(state) == [f"slide:{letter}" for letter in "ABCDE"]
    assert GAME.notation.format_state(after(state, "slide:A")).startswith("p1 drop")
    starred = after(GAME.rules.new({"players": 1}), SOLO, "d1=1", "1,3,4,*,T", "slide:A")
    assert texts(starred) == ["slide:D"]
    assert after(starred, "slide:D").notches == (1, 0, 0, 1, 0)
    wild = after(GAME.rules.new({"players": 1}), SOLO, "d1=1", "1,3,4,5,*", "slide:A")
    assert len(GAME.rules.legal_turns(wild)) == 5


def test_alone_a_tile_at_the_bottom_does_not_slide():
    state = state_of(f"slide p1=1...... slots={SOLO} roll=1,3,4,*,T to=p1 notches=0,0,0,4,0 crossed_off=D players=1")
    assert texts(state) == [f"slide:{letter}" for letter in "ABCE"]
    assert GAME.notation.format_state(after(state, "slide:A")).startswith("p1 drop")


def test_alone_a_tile_at_go_drops_its_penalty_and_the_turn_continues():
    state = state_of(f"slide p1=1...... slots={SOLO} roll=1,3,4,*,T to=p1 notches=3,0,0,3,0 players=1")
    first = after(state, "slide:A")
    assert phase(first) == "penalty"
    starred = after(first, "d1=X,e1=X,f1=X,g1=X")
    assert phase(starred) == "star-slide"
    second = after(starred, "slide:D")
    assert second.slot == 3
    dropping = after(second, "d2=X,e2=X,f2=X,e3=X")
    assert DICE.roll_of(dropping) == Roll(("1", "3", "4", "*", "T"))
    assert phase(dropping) == "drop"


def test_alone_a_circled_letter_prevents_its_penalty():
    state = state_of(f"slide p1={LETTERED} slots={SOLO} roll=1,3,4,5,T to=p1 notches=3,0,0,3,0 players=1")
    assert phase(after(state, "slide:A")) == "drop"


def test_alone_the_game_ends_when_all_tiles_are_down():
    before = f"slide p1={LETTERED} slots={SOLO} roll=1,3,4,5,T to=p1 notches=3,4,4,4,4 crossed_off=BCDE players=1"
    over = after(state_of(before), "slide:A", "e1=1,f1=3,g1=4,f2=5")
    assert GAME.rules.outcome(over) == Outcome("p1", "all tiles are down: 8 points", kind=OutcomeKind.SCORE)


# One after the other

BOTH = "p1=1111... p2=2222..."
"""Both may combine, whatever they drop."""


def test_players_in_turn_drop_clockwise_and_then_combine_clockwise():
    state = state_of(f"p2 drop first=p2 {BOTH} {TILES} roll=1,3,4,5,I to=p1,p2 clockwise=true")
    order = []
    while state.to_move is not None and not GAME.awaits_roll(state):
        (player,) = GAME.rules.players_to_move(state)
        turns = GAME.rules.legal_turns(state)
        assert {turn.player for turn in turns[:100]} == {player}
        order.append((player, type(turns[0]).__name__))
        state = GAME.rules.apply(state, turns[0])
    assert order == [("p2", "Drop"), ("p1", "Drop"), ("p2", "Combination"), ("p1", "Combination")]


def test_a_player_out_of_turn_is_told_whose_turn_it_is():
    state = state_of(f"p1 drop {BOTH} {TILES} roll=1,3,4,5,I to=p1,p2 clockwise=true")
    seen = GAME.table.appearance(state)
    own = {f"p1.{square}": f"digit {digit}" for square, digit in zip(("g1", "g2", "g3", "g4"), "1345", strict=True)}
    others = {place.replace("p1", "p2"): look for place, look in own.items()}
    assert GAME.table.explain(state, {**seen, **own, **others}) == ()
    (breach,) = GAME.table.explain(state, {**seen, **others})
    assert breach.rule == "not-your-turn"
    assert breach.sentence == "p2 plays before p1, and in this game players take turns, clockwise."
    with pytest.raises(IllegalTurnError, match="p2 plays before p1"):
        GAME.rules.apply(state, GAME.notation.parse_turn(state, "g1=1,g2=3,g3=4,g4=5", "p2"))
    together = state_of(f"p1 drop {BOTH} {TILES} roll=1,3,4,5,I to=p1,p2")
    assert GAME.table.explain(together, {**seen, **others}) == ()


@pytest.mark.parametrize(
    ("boxes", "full_lines", "score", "told"),
    [
        (range(11), 11, 100, "place 1, ahead of CHE with 99"),
        (range(11), 10, 98, "place 2, ahead of FLO with 92"),
        (range(11), 7, 92, "place 3, ahead of MUM with 75"),
        ((0, 1, 2, 3, 4, 10), 10, 63, "place 4, ahead of DAD with 61"),
        (range(5), 11, 57, "place 5, ahead of LU6 with 55"),
        (range(5), 6, 47, "place 6, ahead of BRO with 46"),
        (range(5), 0, 35, "place 7, ahead of NOO with 34"),
        ((10,), 11, 30, "place 8, ahead of GUI with 27"),
        ((), 7, 14, "place 9, ahead of BEN with 13"),
        ((10,), 3, 13 + 1, "place 9, ahead of BEN with 13"),
        ((0,), 5, 13, "level with BEN, who has 13"),
        ((), 1, 2, "below BEN, who has 13"),
    ],
)
def test_alone_the_score_is_rated_by_the_printed_table(boxes, full_lines, score, told):
    loops = tuple(1 << box if box in boxes else 0 for box in range(len(BOXES)))
    sheet = Sheet(("X" * 7 * full_lines).ljust(98, "."), loops)
    over = replace(GAME.rules.new({"players": 1}), phase=Phase.OVER, sheets=(sheet,))
    assert scores_of(GAME, over) == {"p1": score}
    assert GAME.notation.standing(over)[-1] == f"High scores: {told}."


def test_the_draws_of_tiles_are_the_same_for_any_number_of_opponents():
    two, three = (DICE.possible_rolls(GAME.rules.new({"players": players})) for players in (2, 3))
    solo = DICE.possible_rolls(GAME.rules.new({"players": 1}))
    assert two == three
    assert len(solo) < len(two)
    assert sum(possible.probability for possible in two) == 1


@pytest.mark.parametrize("count", [31, 34])
def test_many_equal_digits_that_fill_no_boxes_are_refused_at_once(count):
    """Sets of equal digits hold 3 to 8 digits, each size once, so they can't hold 31 or 34 in all."""
    looks = {f"p1.{square}": "digit 3 circled" for square in GRID.names[:count]}
    run = {f"p1.{square}": f"digit {digit} circled" for square, digit in zip(GRID.names[-3:], "567", strict=True)}
    for each in (looks, looks | run):
        with pytest.raises(UnreadableError, match="make no combinations"):
            points_of_sheet(each)


def test_thirty_equal_digits_are_divided_among_the_boxes():
    looks = {f"p1.{square}": "digit 3 circled" for square in GRID.names[:30]}
    assert points_of_sheet(looks)["combinations"] == 30


def test_circling_the_letter_with_the_second_box_of_its_size_is_optional():
    state = state_of(f"drop p1=555..../1234...|loop:a1+b1+c1 p2=2...... {TILES} roll=1,2,3,4,O then=p1")
    assert [GAME.notation.format_turn(turn) for turn in GAME.rules.legal_turns(state)] == [
        "none",
        "loop:a2+b2+c2",
        "loop:a2+b2+c2/A",
    ]
    circled = after(state, "loop:a2+b2+c2/A")
    assert circled.sheets[0].letters == 1
    assert scores_of(GAME, circled)["p1"] == 6
    plain = after(state, "loop:a2+b2+c2")
    assert plain.sheets[0].letters == 0
    assert {**GAME.table.appearance(plain)} == {**GAME.table.appearance(circled)}
    with pytest.raises(AmbiguousError, match="a different state"):
        GAME.rules.combine(GAME.rules.legal_turns(state)[1:])


def test_a_star_lets_the_first_circled_letter_strike_all_who_have_not_circled_it():
    state = state_of(f"roll p1={LETTERED} p2=2...... p3=3...... {TILES} players=3 first=p2")
    struck = after(state, "*,1,3,4,T")
    assert GAME.rules.players_to_move(struck) == ("p2", "p3")
    assert DICE.roll_of(struck) is None
    assert {turn.player for turn in GAME.rules.perft_turns(struck)} == {"p2"}
    assert len(GAME.rules.perft_turns(struck)) == 11
    done = after(struck, "p3: g1=X,g2=X,g3=X,g4=X", "p2: d1=X,e1=X,f1=X,g1=X")
    assert done.crossed_off == 1
    assert GAME.awaits_roll(done)
    assert done.to_move == "p3"
    assert scores_of(GAME, done) == {"p1": 6, "p2": 0, "p3": 0}
    again = after(done, "*,1,3,4,T")
    assert DICE.roll_of(again) == Roll(("1", "3", "4", "*", "T"))


def test_a_roll_without_a_star_gives_no_strike():
    state = state_of(f"roll p1={LETTERED} p2=2...... {TILES}")
    assert DICE.roll_of(after(state, "1,3,4,5,T")) == Roll(("1", "3", "4", "5", "T"))


def test_the_star_of_the_shape_die_also_gives_a_strike():
    state = state_of(f"roll p1={LETTERED} p2=2...... {TILES}")
    assert GAME.rules.players_to_move(after(state, "1,3,4,5,*")) == ("p2",)


def test_the_highest_letter_strikes_first_and_only_one_strikes_in_a_turn():
    a = "555..../1234...|loop:a1+b1+c1|loop:a2+b2+c2|letters:A"
    b = "5555.../1234...|loop:a1+b1+c1+d1|loop:a2+b2+c2+d2|letters:B"
    state = state_of(f"roll p1={b} p2={a} {TILES}")
    first = after(state, "*,1,3,4,T")
    assert GAME.rules.players_to_move(first) == ("p1",)
    assert GAME.notation.format_state(first).split()[1] == "penalty"
    second = after(first, GAME.notation.format_turn(GAME.rules.legal_turns(first)[0]), "*,1,3,4,T")
    assert GAME.rules.players_to_move(second) == ("p2",)
    assert second.slot == 1


def test_a_letter_that_everyone_has_circled_is_crossed_off_and_the_turn_ends():
    state = state_of(f"roll p1={LETTERED} p2={LETTERED} {TILES}")
    done = after(state, "*,1,3,4,T")
    assert GAME.awaits_roll(done)
    assert done.to_move == "p2"
    assert done.crossed_off == 1


def test_a_crossed_off_letter_cannot_be_circled():
    state = state_of(
        f"drop p1=555..../1234...|loop:a1+b1+c1 p2={LETTERED} {TILES} crossed_off=A roll=1,2,3,4,O then=p1"
    )
    assert [GAME.notation.format_turn(turn) for turn in GAME.rules.legal_turns(state)] == ["none", "loop:a2+b2+c2"]


def test_the_game_ends_with_the_turn_in_which_someone_crosses_the_line():
    tall = "/".join(["X......"] * 11)
    state = state_of(f"drop p1={tall} p2=2...... {TILES} roll=1,3,4,5,O to=p1,p2")
    crossed = after(state, "p1: a12=1,b12=3,a13=4,b13=5")
    assert crossed.to_move == "p2"
    assert GAME.rules.outcome(crossed) is None
    over = after(crossed, "p2: f1=1,g1=3,f2=4,g2=5")
    assert over.to_move is None
    assert scores_of(GAME, over) == {"p1": -10, "p2": 0}
    assert GAME.rules.outcome(over) == Outcome("p2", "p1 crossed the Game Over line; 0 points")
    with pytest.raises(IllegalTurnError, match="game is over"):
        GAME.rules.apply(over, GAME.rules.legal_turns(state)[0])
    with pytest.raises(IllegalTurnError, match="game is over"):
        DICE.rolled(over, Roll(("1", "3", "4", "5", "T")))


@pytest.mark.parametrize(("x_counts", "phase", "points"), [("true", "over", -15), ("false", "p2 roll", 0)])
def test_crosses_above_the_line_count_as_the_option_says(x_counts, phase, points):
    tall = "/".join(["1......"] * 11)
    state = state_of(
        f"penalty p1={LETTERED} p2={tall} {TILES} slot=A to=p2 x_counts_above_line={x_counts}".replace("I4,L4", "L4,I4")
    )
    done = after(state, "p2: a12=X,a13=X,a14=X,b14=X")
    assert GAME.notation.format_state(done).startswith(phase)
    assert scores_of(GAME, done)["p2"] == points


def test_a_shape_that_fits_nowhere_ends_the_game():
    tall = "/".join(["XXXXXXX"] * 13)
    state = state_of(f"roll p1={tall} p2=2...... {TILES} x_counts_above_line=false")
    begun = after(state, "1,3,4,5,O")
    assert begun.last_turn
    assert GAME.rules.players_to_move(begun) == ("p2",)
    over = after(begun, "f1=1,g1=3,f2=4,g2=5")
    assert GAME.rules.outcome(over) == Outcome("p1", "a shape fitted nowhere; 22 points")


def test_a_tie_is_shared():
    tall = "/".join(["1......"] * 12)
    state = state_of(f"over p1={tall} p2={tall} p3={tall} players=3 gone=p3")
    assert GAME.rules.outcome(state) == Outcome(
        None, "p1 and p2 crossed the Game Over line; -5 points each", ("p1", "p2"), points_each=-5
    )


def test_a_player_who_resigns_is_out_and_the_last_one_left_wins():
    state = after(GAME.rules.new({"players": 3}), "I4,L4,O4,T4,S4", "p1: a1=1", "p2: a1=2", "p3: a1=3")
    assert [each.player for each in GAME.rules.announcements(state)] == ["p1", "p2", "p3"]
    two = GAME.rules.announce(state, Announcement("resign", "p1"))
    assert two.to_move == "p2"
    assert GAME.rules.players_to_move(after(two, "1,3,4,5,T")) == ("p2", "p3")
    one = GAME.rules.announce(two, Announcement("resign", "p3"))
    assert GAME.rules.outcome(one) == Outcome("p2", "p1 and p3 resigned")
    with pytest.raises(IllegalTurnError, match="can't be announced now: The game is over"):
        GAME.rules.announce(one, Announcement("resign", "p2"))


def test_after_a_resignation_in_the_set_up_the_next_player_rolls():
    state = after(GAME.rules.new({"players": 3}), "I4,L4,O4,T4,S4")
    state = after(GAME.rules.announce(state, Announcement("resign", "p1")), "p2: a1=2", "p3: a1=3")
    assert GAME.awaits_roll(state)
    assert state.to_move == "p2"
    assert GAME.notation.parse_state(GAME.notation.format_state(state)) == state


def test_the_next_on_the_left_who_has_not_resigned_rolls():
    state = state_of(f"drop p1=1...... p2=2...... p3=3...... {TILES} roll=1,3,4,5,T to=p1 players=3 gone=p2")
    done = after(state, "b1=1,c1=3,d1=4,c2=5")
    assert GAME.awaits_roll(done)
    assert done.to_move == "p3"


def test_a_resignation_by_the_last_player_of_a_turn_ends_the_turn():
    state = state_of(f"drop p1=1...... p2=2...... p3=3...... {TILES} roll=1,3,4,5,T to=p2 players=3")
    assert GAME.awaits_roll(GAME.rules.announce(state, Announcement("resign", "p2")))


def test_two_players_can_agree_on_a_draw_and_a_single_player_can_give_up():
    drawn = GAME.rules.announce(GAME.rules.new(), Announcement("draw"))
    assert GAME.rules.outcome(drawn) == Outcome(None, "both agreed on a draw")
    assert [said.kind for said in GAME.rules.announcements(GAME.rules.new())] == ["draw", "resign", "resign"]
    assert GAME.notation.parse_state(GAME.notation.format_state(drawn)) == drawn
    with pytest.raises(IllegalTurnError):
        GAME.rules.announce(GAME.rules.new({"players": 3}), Announcement("draw"))
    alone = GAME.rules.announce(GAME.rules.new({"players": 1}), Announcement("resign", "p1"))
    assert GAME.rules.outcome(alone) == Outcome(None, "p1 resigned", kind=OutcomeKind.GIVEN_UP)
    assert GAME.table.amend(alone, {"p1.a1": "digit 1"}).to_move is None


def test_a_player_combines_only_once_while_others_still_may():
    sheet = "555..../1234..."
    state = state_of(f"drop p1={sheet} p2={sheet} {TILES} roll=1,2,3,4,O then=p1,p2")
    none = Combination("p1")
    assert GAME.rules.certainty(state, none) is Certainty.CERTAIN
    state = GAME.rules.apply(state, none)
    assert GAME.rules.players_to_move(state) == ("p2",)
    assert GAME.rules.certainty(state, none) is Certainty.IMPOSSIBLE


@pytest.mark.parametrize("mark", [".", "a", "²", "*", "٣"])
def test_a_star_die_stands_for_a_digit_and_no_other_mark(mark: str) -> None:
    state = state_of("drop p1=1...... p2=2...... slots=O4,V3,T4,S4,I3 roll=5,*,*,*,S to=p1,p2")
    turn = next(iter(GAME.rules.legal_turns(state)))
    assert isinstance(turn, Drop)
    odd = Drop(turn.player, turn.squares, turn.digits[:3] + mark)
    assert GAME.rules.certainty(state, odd) is Certainty.IMPOSSIBLE
    with pytest.raises(IllegalTurnError):
        GAME.rules.apply(state, odd)


def test_every_arrangement_of_digits_is_drawn_equally_often():
    rng = Random(1)
    for faces, count in ((("1", "3", "4", "4", "T"), 12), (("3", "3", "3", "*", "T"), 37)):
        drawn = Counter(any_digits(faces, rng) for _ in range(200 * count))
        assert len(drawn) == count
        assert all(120 < times < 280 for times in drawn.values())


def test_the_boxes_lines_and_sums_of_the_golden_sheet_are_marked():
    marked = marked_sheets(state_of(f"over p1={GOLDEN} p2=-"))
    assert set(marked) == {"p1", "p2"}
    same, runs, bonus, letters, *sums = marked["p1"].boxes
    assert (same, runs, bonus) == (("x", "x", "x", "x", "x"), ("", "x", "", "x", ""), ("",))
    assert letters == ("", "", "", "", "")
    assert sums == [("45",), ("9",), ("54",)]
    # Lines 2, 4 and 6 to 10 are full, and line 12 has a digit above the Game Over line.
    assert marked["p1"].lines == ("", "o", "", "o", "", "o", "o", "o", "o", "o", "", "o", "", "")
    assert marked["p1"].loops[0] == ("p1.a5", "p1.a6", "p1.b6")
    assert set(marked["p2"].lines) == {""}
    assert marked["p2"].loops == ()


def test_sums_are_left_open_and_letters_circled_while_the_game_goes_on():

    marked = marked_sheets(state_of(f"roll p1={LETTERED} p2=2...... {TILES}"))["p1"]
    assert marked.boxes[3:] == (("o", "", "", "", ""), ("",), ("",), ("",))


@pytest.mark.parametrize("faces", [("1", "3", "4", "4", "T"), ("3", "*", "4", "4", "T"), ("3", "*", "4", "*", "I")])
def test_a_drop_is_found_by_its_end_whatever_its_stars_stand_for(faces):
    rng = Random(3)
    state = count_from(GAME.rules.new({"players": 1}), Roll(faces), None)
    turns = GAME.rules.legal_turns(state)
    for _ in range(6):
        after = GAME.rules.apply(state, turns[rng.randrange(len(turns))])
        looks = {place: (look,) for place, look in GAME.table.appearance(after).items()}
        found = [GAME.rules.apply(state, turn) for turn in turns_showing(GAME, state, looks)]
        assert after in found


@pytest.mark.parametrize("faces", [("1", "3", "4", "4", "T"), ("3", "*", "4", "4", "T"), ("3", "*", "4", "*", "I")])
def test_with_unclear_digits_each_legal_drop_is_found_once(faces):
    state = count_from(GAME.rules.new({"players": 1}), Roll(faces), None)
    turns = GAME.rules.legal_turns(state)
    after = GAME.table.appearance(GAME.rules.apply(state, turns[len(turns) // 2]))
    looks = {place: (look,) if look == "empty" else ("digit 1", "digit 3", "digit 4") for place, look in after.items()}
    found = list(turns_showing(GAME, state, looks))
    assert len(found) > 1
    assert len(set(found)) == len(found)
    assert all(turn in turns for turn in found)


def test_a_loop_is_found_with_and_without_its_letter_while_that_is_possible():
    sheet = "4444444/555423./1234333|loop:a2+b2+c2"
    state = state_of(f"drop p1={sheet} p2=2...... {TILES} roll=1,2,3,4,O then=p1")
    bonus = [*(f"{column}3" for column in "abcdefg"), "d2"]
    for circled, letters in ((["a1", "b1", "c1"], {None, "A"}), (["a1", "b1", "c1", "d1"], {None}), (bonus, {None})):
        looks = dict(GAME.table.appearance(state))
        looks |= {f"p1.{square}": f"{looks[f'p1.{square}']} circled" for square in circled}
        seen = {place: (look,) for place, look in looks.items()}
        found = list(turns_showing(GAME, state, seen))
        assert {turn.letter for turn in found} == letters
        assert set(found) == set(turns_by_trying(GAME, state, seen))
        assert len(found) == len(letters)


def test_a_circled_digit_may_first_appear_as_the_plain_digit():
    assert looks_before("digit 5 circled") == ("digit 5",)
    assert looks_before("digit 5") == ()


@given(positions(), st.data())
def test_what_a_turn_changes_is_known_without_playing_it(state, data):
    turns = GAME.rules.legal_turns(state)
    if not turns:
        return
    turn = turns[data.draw(st.integers(0, min(len(turns), 5000) - 1))]
    before, after = (GAME.table.appearance(each) for each in (state, GAME.rules.apply(state, turn)))
    assert GAME.change_of is not None
    assert GAME.change_of(state, turn) == {place: look for place, look in after.items() if look != before[place]}


class WholeGame(GameMachine):
    """A game with a record of everything played, from which scores are added up after every step."""

    game = GAME

    @initialize(options=OPTIONS)
    def begin(self, options):
        self.start(options)
        self.marks: Counter[Player] = Counter()
        self.loops: dict[Player, list[frozenset[str]]] = {player: [] for player in GAME.players}
        self.slides: Counter[str] = Counter()
        self.letters: set[tuple[Player, str]] = set()

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: GAME.awaits_roll(self.state))
    def roll(self, choice):
        before = GAME.table.appearance(self.state)
        self.any_of([each.roll for each in DICE.possible_rolls(self.state)], choice)
        assert GAME.table.appearance(self.state) == before

    @rule(choice=st.integers(0, 10**6), who=st.integers(0, 5))
    @precondition(lambda self: self.state.to_move is not None and not GAME.awaits_roll(self.state))
    def play(self, choice, who):
        players = GAME.rules.players_to_move(self.state)
        looks = GAME.table.appearance(self.state)
        turn = self.any_of(turns_of(self.state, players[who % len(players)]), choice)
        now = GAME.table.appearance(self.state)
        assert {place for place in now if now[place] != looks[place]} == set(turn.places)
        if not isinstance(turn, Combination | Slide):
            assert all(looks[place] == EMPTY for place in turn.places)
            self.marks[turn.player] += len(turn.places)
        if isinstance(turn, Drop):
            assert len(turn.places) == 4
        if isinstance(turn, PenaltyDrop):
            assert all(now[place] == "cross" for place in turn.places)
        if isinstance(turn, Combination) and turn.squares:
            self.loops[turn.player].append(frozenset(turn.squares))
            self.letters |= {(turn.player, letter) for letter in turn.letter or ""}
        if isinstance(turn, Slide):
            self.slides[turn.letter] += 1

    @rule(choice=st.integers(0, 100))
    @precondition(lambda self: len(self.history) > 25 and len(GAME.rules.announcements(self.state)) > 0)
    def announce(self, choice):
        said = self.any_of(GAME.rules.announcements(self.state), choice)
        self.letters |= {(said.player, letter.upper()) for letter in said.kind.partition("letter-")[2]}

    @invariant()
    def letters_earned_before_and_still_open_may_be_circled(self):
        expected = set()
        for number, (player, sheet) in enumerate(zip(GAME.players, self.state.sheets, strict=False)):
            marks = [[sheet.cells[GRID.index[name]] for name in loop] for loop in self.loops[player]]
            equal = {len(digits) for digits in marks if len(set(digits)) == 1}
            rising = {len(digits) for digits in marks if len(set(digits)) > 1}
            for slot, letter in enumerate("ABCDE"):
                closed = self.state.crossed_off >> slot & 1 or self.state.slot == slot or self.state.gone >> number & 1
                if slot + 3 in equal & rising and not closed and (player, letter) not in self.letters:
                    expected.add(Announcement(f"letter-{letter.lower()}", player))
        said = {each for each in GAME.rules.announcements(self.state) if each.kind.startswith("letter-")}
        assert said == (set() if self.state.to_move is None else expected)

    @invariant()
    def what_was_written_is_all_that_is_there(self):
        for player, sheet in zip(GAME.players, self.state.sheets, strict=False):
            assert sum(mark != "." for mark in sheet.cells) == self.marks[player]
            loops = {frozenset(GRID.names[square] for square in members(loop)) for loop in sheet.loops if loop}
            assert loops == set(self.loops[player])
        assert sum(self.slides.values()) == sum(self.state.notches)

    @invariant()
    def scores_add_up_from_the_record(self):
        x_counts = self.state.options.x_counts_above_line
        for player, sheet in zip(GAME.players, self.state.sheets, strict=False):
            cells = oracle.read(sheet.cells)
            by_name = {oracle.square(cell): cell for cell in cells}
            loops = [frozenset(by_name[name] for name in loop) for loop in self.loops[player]]
            assert scores_of(GAME, self.state)[player] == oracle.score(cells, loops, x_counts)

    @invariant()
    def the_most_points_win(self):
        outcome = GAME.rules.outcome(self.state)
        if outcome is not None and outcome.shared_by:
            scores = scores_of(GAME, self.state)
            best = max(scores[player] for player in scores if player in outcome.shared_by)
            assert all(scores[player] == best for player in outcome.shared_by)


TestWholeGame = WholeGame.TestCase
TestWholeGame.settings = settings(max_examples=cases(25, 5), stateful_step_count=60)
