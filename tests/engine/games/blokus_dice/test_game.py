"""Rules of the Blokus Dice Game: dice, rounds, markers, strikes, going out and winning; random whole games."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from engine.errors import AmbiguousError, IllegalTurnError, OptionError, UnreadableError
from engine.games.blokus_dice.notation import passed_over, squares
from engine.games.blokus_dice.rules import count_from, count_results
from engine.games.blokus_dice.sheet import NAMES, shape_of
from engine.games.blokus_dice.state import COLOURS, pass_markers
from engine.games.blokus_dice.table import points_of_sheet
from engine.games.blokus_dice.turns import finder_of
from engine.showing import unfinished_showing
from engine.support.chance import format_roll
from engine.support.grid import orientations
from engine.values import EMPTY, Announcement, Certainty, LookName, OptionValue, Place, Player, Roll
from tests.effort import cases
from tests.engine.game_machine import GameMachine
from tests.engine.games.blokus_dice.strategies import DICE, GAME, OPTIONS, SMALL, only_open, roll, rolled, states
from tests.engine.whole_games import scores_of
from tests.present import present


def test_there_are_21_shapes_of_89_squares_and_91_fixed_orientations():
    shapes = [shape_of(name) for name in NAMES]
    assert len(set(shapes)) == len(NAMES) == 21
    assert sum(map(len, shapes)) == 89
    assert sum(len(orientations(shape)) for shape in shapes) == 91
    assert [int(name[-1]) for name in NAMES] == [len(shape) for shape in shapes]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_game_starts_with_its_markers_and_empty_sheets(players):
    state = GAME.rules.new({"players": players})
    assert (state.to_move, GAME.awaits_roll(state), DICE.roll_of(state)) == ("p1", True, None)
    assert list(GAME.rules.legal_turns(state)) == []
    assert set(GAME.table.appearance(state).values()) == {EMPTY}
    assert len(GAME.table.appearance(state)) == 100 * players
    assert scores_of(GAME, state) == {f"p{seat + 1}": 0 for seat in range(players)}
    assert GAME.rules.players_to_move(state) == ("p1",)


def test_the_points_of_a_sheet_are_its_filled_squares():
    assert points_of_sheet({"p1.a1": "red", "p1.b1": "green", "p1.c1": EMPTY}) == {"squares filled": 2}


def test_the_default_places_are_those_of_the_house_sheet():
    assert tuple(GAME.table.appearance(GAME.rules.new())) == GAME.places
    assert GAME.places[:11] == (*(f"p1.{column}1" for column in "abcdefghij"), "p1.a2")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"players": 5}, "takes one of 2, 3, 4"),
        ({"players": "two"}, "whole number"),
        ({"standby": "somewhere"}, "takes one of fixed_ring, follows_start_player"),
        ({"sheet": "mine.toml"}, "cannot read 'mine.toml' as a sheet"),
        ({"sheet": "3x3/1/-/1/2/I3/V3/I4/L4"}, "size: got '3x3'"),
        ({"sheet": "5x6/1/f1/1/2/I3/V3/I4/L4"}, "blocked: got 'f1'; expected a square from a1 to e6"),
        ({"strikes": 2}, "there is no option 'strikes'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.rules.new(options)


def hands(options, rounds):
    """The colours in everyone's hand, round by round, if nobody goes out."""
    state, rng, found = GAME.rules.new(options), random.Random(1), []
    for _ in range(rounds):
        found.append("".join("rbyg"[colour] for colour in state.markers[: state.options.players]))
        state = DICE.rolled(state, Roll(("1",) * state.options.players))
        for _ in range(state.options.players):
            turns = [turn for turn in GAME.rules.legal_turns(state) if not turn.strike]
            state = GAME.rules.apply(state, turns[rng.randrange(len(turns))])
    return found


def test_markers_rotate_through_players_and_stand_by_places():
    assert hands({}, 4) == ["rbyg", "grby", "ygrb", "bygr"]
    assert hands({"players": 3}, 4) == ["rby", "grb", "ygr", "byg"]
    assert hands({"players": 2}, 4) == ["rb", "gr", "yg", "by"]


def test_markers_that_follow_the_starting_player_come_unevenly_with_two_players():
    # Red always stays in a hand: the starter passes it to the left, to whoever starts the next round.
    follows = {"players": 2, "standby": "follows_start_player"}
    assert hands(follows, 4) == ["rb", "gr", "ry", "br"]
    assert hands({**follows, "players": 4}, 4) == hands({}, 4)


def test_the_players_roll_in_turn():
    state, starters = GAME.rules.new({"players": 3}), []
    for _ in range(4):
        starters.append(state.to_move)
        state = DICE.rolled(state, roll("1,1,1"))
        for _ in range(3):
            state = GAME.rules.apply(state, next(turn for turn in GAME.rules.legal_turns(state) if not turn.strike))
    assert starters == ["p1", "p2", "p3", "p1"]


def test_a_strike_allows_a_shape_of_another_row():
    state = rolled("3,3", {"players": 2})
    turns = GAME.rules.legal_turns(state)
    assert {turn.shape for turn in turns if not turn.strike} == {"I5", "L5", "Y5"}
    assert {turn.shape for turn in turns if turn.strike} == set(NAMES) - {"I5", "L5", "Y5", "X5"}
    # The cross X5 has no square that can lie in a corner.
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, "3:1:a1:strike"))
    assert after.sheets[0].strikes == 1
    # The squares do not show whether a strike was crossed out, and it matters.
    state = rolled("1,3,3,3")
    one = GAME.notation.parse_turn(state, "1:I5:a1,b1,c1,d1,e1:strike")
    other = GAME.notation.parse_turn(state, "3:I5:a1,b1,c1,d1,e1")
    assert GAME.rules.combine([one, one]) == one
    with pytest.raises(AmbiguousError, match="ask which"):
        GAME.rules.combine([one, other])
    with pytest.raises(AmbiguousError, match="no turn"):
        GAME.rules.combine([])


def test_a_player_who_can_place_nothing_is_out_at_once_and_still_passes_markers():
    state = DICE.rolled(GAME.rules.new({"players": 2, "sheet": only_open("a1 d5 e5")}), roll("1,1"))
    for _ in range(2):
        state = GAME.rules.apply(state, GAME.notation.parse_turn(state, "1:1:a1"))
    state = DICE.rolled(state, roll("1,2"))
    # p2 takes the 1 for the two squares that are left; the 2 gives nothing that fits.
    assert {turn.die for turn in GAME.rules.legal_turns(state)} == {1}
    state = GAME.rules.apply(state, GAME.notation.parse_turn(state, "1:2:d5,e5"))
    assert [filled.status for filled in state.sheets] == ["out", "playing"]
    assert (state.to_move, len(DICE.possible_rolls(state)), state.markers) == ("p2", 6, (2, 3, 0, 1))
    assert GAME.rules.announcements(state) == (Announcement("resign", "p2"),)
    over = DICE.rolled(state, roll("1"))
    assert present(GAME.rules.outcome(over)).winner == "p2"


def test_unused_strikes_keep_a_player_in_the_game():
    begin = {"players": 2, "sheet": only_open("a1 b1", strikes=1)}
    with_strike = DICE.rolled(GAME.rules.new(begin), roll("6,6"))
    assert with_strike.to_move == "p1"
    assert {turn.strike for turn in GAME.rules.legal_turns(with_strike)} == {True}
    none_left = DICE.rolled(GAME.rules.new({**begin, "sheet": only_open("a1 b1")}), roll("6,6"))
    assert none_left.to_move is None
    assert [filled.status for filled in none_left.sheets] == ["out", "out"]
    assert present(GAME.rules.outcome(none_left)).shared_by == ("p1", "p2")
    assert not len(GAME.rules.legal_turns(none_left))


def test_a_player_can_resign():
    state = rolled("1,2,3", {"players": 3})
    assert GAME.rules.announcements(state) == tuple(Announcement("resign", player) for player in ("p1", "p2", "p3"))
    one_gone = GAME.rules.announce(state, Announcement("resign", "p1"))
    assert one_gone.to_move == "p2"
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(one_gone, Announcement("resign", "p1"))
    assert [breach.rule for breach in raised.value.breaches] == ["not-in-the-game"]
    over = GAME.rules.announce(one_gone, Announcement("resign", "p3"))
    assert (over.to_move, present(GAME.rules.outcome(over)).winner) == (None, "p2")
    assert "resigned" in present(GAME.rules.outcome(over)).reason
    assert GAME.rules.announcements(over) == ()
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.announce(over, Announcement("resign", "p2"))
    assert [breach.rule for breach in raised.value.breaches] == ["game-over"]
    for odd in (Announcement("draw"), Announcement("resign"), Announcement("resign", "p4")):
        with pytest.raises(IllegalTurnError, match="what can be: "):
            GAME.rules.announce(state, odd)


@pytest.mark.parametrize(
    ("sheets", "winner", "shared", "reason"),
    [
        ("p1=-:0:out p2=5/5/5/5/r4:0:out", "p2", (), "fewest unfilled squares: 24"),
        (
            "p1=5/5/5/5/r4:1:out p2=5/5/5/5/r4:0:out",
            "p2",
            (),
            "24 unfilled squares, a tie broken by fewer strikes used: 0",
        ),
        (
            "p1=5/5/5/5/r4:0:out p2=5/5/5/5/r4:0:out p3=-:0:out",
            None,
            ("p1", "p2"),
            "24 unfilled squares and 0 strikes used each",
        ),
        (
            "p1=5/5/5/5/r4:1:out p2=5/5/5/5/r4:1:out",
            None,
            ("p1", "p2"),
            "24 unfilled squares and 1 strike used each",
        ),
        (
            "p1=5/5/5/5/r4:0:resigned p2=-:0:out p3=-:0:out",
            None,
            ("p2", "p3"),
            "25 unfilled squares and 0 strikes used each",
        ),
        ("p1=5/5/5/5/r4:0:resigned p2=-:0:out", "p2", (), "p1 resigned"),
        ("p1=-:0:resigned p2=-:0:resigned p3=-:0", "p3", (), "all the others resigned"),
    ],
)
def test_the_winner_and_the_reason_are_named(sheets, winner, shared, reason):
    outcome = present(GAME.rules.outcome(GAME.notation.parse_state(f"over {sheets} sheet={SMALL}")))
    assert (outcome.winner, outcome.shared_by) == (winner, shared)
    assert reason in outcome.reason


def test_nothing_is_played_after_the_end():
    over = GAME.notation.parse_state("over p1=-:0:out p2=-:0:out")
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(over, "1:1:a1")
    assert [breach.rule for breach in raised.value.breaches] == ["game-over"]
    assert GAME.table.unfinished(over) == []
    with pytest.raises(IllegalTurnError, match="over"):
        count_from(over, roll("1,2"), None)


def test_turns_are_certain_or_impossible():
    state = rolled("1,2,3,4")
    turn = GAME.rules.legal_turns(state)[0]
    assert GAME.rules.certainty(state, turn) is Certainty.CERTAIN
    later = GAME.rules.apply(state, turn)
    assert GAME.rules.certainty(later, turn) is Certainty.IMPOSSIBLE
    with pytest.raises(IllegalTurnError) as raised:
        GAME.rules.apply(later, turn)
    assert [breach.rule for breach in raised.value.breaches] == ["not-your-turn"]


def test_turns_of_another_game_are_refused():
    small = DICE.rolled(GAME.rules.new({"sheet": SMALL, "players": 2}), roll("1,1"))
    large = DICE.rolled(GAME.rules.new(), roll("1,1,1,1"))
    turn = next(turn for turn in GAME.rules.legal_turns(large) if "j10" in turn.squares)
    assert GAME.rules.certainty(small, turn) is Certainty.IMPOSSIBLE
    with pytest.raises(IllegalTurnError, match=r"is not a turn of this game; expected .* squares from a1 to e5"):
        GAME.rules.apply(small, turn)


def test_a_set_up_needs_empty_sheets():
    start = GAME.rules.new({"players": 2})
    assert GAME.table.set_up({}, {"players": 2}) == start
    assert GAME.table.set_up(GAME.table.appearance(start), {"players": 2}, anywhere=True) == start
    with pytest.raises(IllegalTurnError) as raised:
        GAME.table.set_up({"p2.b3": "red"}, {"players": 2})
    assert [(breach.rule, breach.places) for breach in raised.value.breaches] == [("sheet-not-clean", ("p2.b3",))]
    with pytest.raises(IllegalTurnError, match=r": There is something drawn on p1's a1 and b1\. .* on p2's c1\.$"):
        GAME.table.set_up({"p1.a1": "red", "p1.b1": "red", "p2.c1": "blue"}, {"players": 2})
    with pytest.raises(UnreadableError, match=r"p3\.a1.* a square from a1 to j10"):
        GAME.table.set_up({"p3.a1": "red"}, {"players": 2})
    with pytest.raises(UnreadableError, match="expected one of empty, red"):
        GAME.table.set_up({"p1.a1": "pink"})


def test_unfinished_positions_are_incomplete_shapes():
    state = rolled("2,2", {"players": 2, "sheet": SMALL.replace("5x5/1", "5x5/0")})
    begun = list(unfinished_showing(GAME, state, {}))
    edge = {square for square in state.options.sheet.grid.names if square[0] in "ae" or square[1] in "15"}
    # I3 in a corner reaches three squares along each edge: all that lie on the edge.
    assert {position.places for position in begun} == {(f"p1.{square}",) for square in edge}
    for position in begun:
        assert [breach.rule for breach in GAME.table.explain(state, position.change)] != []
        assert "Fill the other squares" in position.instruction


def test_no_shape_is_begun_on_a_closed_square():
    state = rolled("1,1", {"players": 2, "sheet": only_open("b1 c1 d1 e1")})
    assert [position.places for position in unfinished_showing(GAME, state, {})] == [("p1.d1",)]


def test_a_square_that_is_a_whole_shape_is_not_unfinished():
    state = rolled("1,1", {"players": 2, "sheet": SMALL.replace("5x5/1", "5x5/0")})
    # The corners are turns by themselves; the domino's other square is a shape begun.
    assert {position.places[0][3:] for position in unfinished_showing(GAME, state, {})} == {
        *("b1", "a2", "d1", "e2", "a4", "b5", "d5", "e4")
    }


def test_the_standing_describes_each_sheet():
    state = rolled("1,2", {"players": 2})
    lines = GAME.notation.standing(GAME.rules.apply(state, GAME.notation.parse_turn(state, "2:V3:a1,b1,a2:strike")))
    assert lines[0] == "Dice on the table: 1. p2 takes one and draws in blue."
    assert lines[2] == "p1 holds red; 3 filled, 2 strikes left."
    left = "p2 holds blue; 0 filled, 3 strikes left. Shapes left: row 1: 1, 2, I3, V3; row 2: "
    assert lines[3].startswith(left), "whoever plays sees the shapes that are left"


@pytest.mark.parametrize("standby", ["fixed_ring", "follows_start_player"])
def test_the_markers_on_standby_are_named_in_the_order_in_which_they_are_taken(standby):
    state = GAME.rules.new({"players": 2, "standby": standby})
    said = next(line for line in GAME.notation.standing(state) if line.startswith("Standing by: "))
    told = said.removeprefix("Standing by: ").rstrip(".").split(", then ")
    taken: list[str] = []
    for _ in range(len(told)):
        before = {COLOURS[colour] for colour in state.markers[:2]}
        state = replace(state, markers=pass_markers(state), starter=1 - state.starter)
        taken += {COLOURS[colour] for colour in state.markers[:2]} - before
    assert taken == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p2 dice=1,1 starter=p1 p1=-:0:out p2=-:0 p3=-:0", "P1 can draw nothing and is out."),
        ("p3 dice=1 starter=p1 p1=-:0:out p2=-:0:out p3=-:0", "P1 and p2 can draw nothing and are out."),
        ("p2 p1=-:0:out p2=5/5/5/5/r4:0 p3=5/5/5/5/r4:0", "P1 can draw nothing and is out."),
        ("p2 dice=1,1 p1=-:0:out p2=5/5/5/5/r4:0 p3=5/5/5/5/r4:0", ""),
        ("p2 dice=1,1 p1=-:0:resigned p2=-:0 p3=-:0", ""),
        ("over p1=-:0:out p2=-:0:out", ""),
    ],
)
def test_a_player_who_goes_out_is_named_until_the_next_roll(text, told):
    assert passed_over(GAME.notation.parse_state(text + " sheet=" + SMALL)) == told


def test_the_summary_and_the_next_step_cover_every_option():
    assert GAME.notation.standing(GAME.rules.new())[0] == "p1: roll the 4 dice."
    many: list[dict[str, OptionValue]]
    many = [{}, {"players": 2}, {"players": 3, "standby": "follows_start_player"}, {"sheet": "20x20" + SMALL[3:]}]
    for options in many:
        paragraphs = GAME.notation.summary(options).split("\n\n")
        assert len(paragraphs) >= 6
        lying = DICE.rolled(GAME.rules.new(options), Roll(("1",) * int(options.get("players", 4))))
        assert "takes one and draws in red" in GAME.notation.standing(lying)[0]
    assert "Standing by: green, then yellow." in GAME.notation.standing(GAME.rules.new({"players": 2}))
    assert GAME.notation.standing(GAME.notation.parse_state("over p1=-:0:out p2=-:0:out"))[0] == "The game is over."


@given(OPTIONS)
def test_the_summary_tells_the_rules_in_force(options):
    told, settings = GAME.notation.summary(options), GAME.rules.new(options).options
    assert f"There are {settings.players} players." in told
    few = settings.players < 4
    assert ("at fixed places" in told) == (few and settings.standby == "fixed_ring")
    assert ("to the right of whoever starts" in told) == (few and settings.standby == "follows_start_player")
    strikes = settings.sheet.strikes
    often = {0: "", 1: "\n\nOnce a game you may cross out a strike"}.get(
        strikes, f"\n\nUp to {strikes} times a game you may"
    )
    assert often in told
    assert ("cross out a strike" in told) == ("with any die or a strike" in told) == (strikes > 0)
    assert f"Rows of the sheet: 1: {' '.join(settings.sheet.shapes_of_row[0])}; 2: " in told


def test_closed_squares_are_marked():
    assert not squares(GAME.rules.new())
    closed = GAME.rules.new({"players": 2, "sheet": SMALL.replace("/-/", "/c3/")})
    assert squares(closed) == {"p1.c3": "#", "p2.c3": "#"}


def test_a_turn_is_described_in_a_sentence():
    state = rolled("1,2,3,4")
    assert GAME.notation.describe(GAME.notation.parse_turn(state, "1:V3:a1,a2,b1")) == (
        "p1 takes the 1 and draws V3 in red on a1, b1 and a2."
    )
    assert GAME.notation.describe(GAME.notation.parse_turn(state, "2:1:a1:strike")) == (
        "p1 takes the 2, crosses out a strike and draws 1 in red on a1."
    )


@pytest.mark.parametrize("colour", ["red", "blue", "yellow", "green", None])
def test_the_first_turns_of_a_colour_are_counted(colour):
    state = count_from(GAME.rules.new(), roll("4,2,1,3"), colour)
    assert count_results(state) == len(GAME.rules.perft_turns(state)) == 184
    assert {turn.colour for turn in GAME.rules.perft_turns(state)} == {colour or "red"}


def test_dice_are_taken_one_by_one():
    state = rolled("2,5,5,6")
    assert DICE.roll_of(state) == roll("2,5,5,6")
    after = GAME.rules.apply(state, GAME.notation.parse_turn(state, "5:T5:a1,a2,a3,b2,c2"))
    assert (after.to_move, DICE.roll_of(after)) == ("p2", roll("2,5,6"))
    assert after.sheets[0].strikes == 0
    assert GAME.table.appearance(after)["p1.c2"] == "red"
    assert scores_of(GAME, after) == {"p1": 5, "p2": 0, "p3": 0, "p4": 0}


def test_rolls_are_sorted_and_their_probabilities_add_up():
    rolls = DICE.possible_rolls(GAME.rules.new())
    assert len(rolls) == 126
    assert sum(each.probability for each in rolls) == 1
    assert all(list(each.roll.faces) == sorted(each.roll.faces) for each in rolls)
    assert DICE.possible_rolls(rolled("1,2,3,4")) == ()
    assert len(DICE.possible_rolls(GAME.rules.new({"players": 2}))) == 21
    assert DICE.parse_roll(GAME.rules.new(), " 4 1,3,1 ") == roll("1,1,3,4")
    assert DICE.parse_roll(GAME.rules.new(), "6543") == roll("3,4,5,6")
    assert format_roll(roll("1,1,3,4")) == "1,1,3,4"


@pytest.mark.parametrize("text", ["", " , ", "1,2,3,7", "1,2,3,x", "1,2,3,0", "1,2,3,-4"])
def test_unreadable_rolls_are_refused(text):
    with pytest.raises(UnreadableError) as raised:
        DICE.parse_roll(GAME.rules.new(), text)
    assert raised.value.column


@pytest.mark.parametrize("text", ["1,2,3", "1,2,3,4,5", "1"])
def test_rolls_of_the_wrong_number_of_dice_are_refused(text):
    with pytest.raises(IllegalTurnError, match="expected 4 dice"):
        DICE.parse_roll(GAME.rules.new(), text)
    with pytest.raises(IllegalTurnError, match="expected 4 dice"):
        DICE.rolled(GAME.rules.new(), roll(text))


def test_a_roll_is_accepted_only_when_awaited():
    with pytest.raises(IllegalTurnError, match=r"dice on the table \(1,2,3,4\) are still to be taken"):
        DICE.rolled(rolled("1,2,3,4"), roll("1,2,3,4"))
    over = GAME.notation.parse_state("over p1=-:0:out p2=-:0:out")
    with pytest.raises(IllegalTurnError, match="over"):
        DICE.rolled(over, roll("1,2"))
    with pytest.raises(IllegalTurnError, match="expected 4 dice from 1 to 6"):
        DICE.rolled(GAME.rules.new(), roll("1,2,3,9"))


def test_equal_dice_are_one_choice():
    once, twice = rolled("3,4", {"players": 2}), rolled("3,3", {"players": 2})
    assert {turn.die for turn in GAME.rules.legal_turns(twice)} == {3}
    assert len(GAME.rules.perft_turns(twice)) < len(GAME.rules.perft_turns(once))


def test_a_player_who_is_out_removes_one_die_from_the_next_roll():
    state = GAME.rules.announce(GAME.rules.new(), Announcement("resign", "p2"))
    assert len(DICE.possible_rolls(state)[0].roll.faces) == 3
    state = DICE.rolled(state, roll("1,2,3"))
    order = []
    while not GAME.awaits_roll(state):
        order.append((state.to_move, len(state.dice)))
        state = GAME.rules.apply(state, next(iter(GAME.rules.legal_turns(state))))
    assert order == [("p1", 3), ("p3", 2), ("p4", 1)]
    # p2 is skipped when it comes to rolling, and still passed a marker on.
    assert (state.to_move, state.markers) == ("p3", (3, 0, 1, 2))


def test_a_die_stays_on_the_table_if_a_player_resigns_during_a_round():
    state = GAME.rules.announce(rolled("1,2,3,4"), Announcement("resign", "p1"))
    assert (state.to_move, state.dice) == ("p2", (1, 2, 3, 4))
    assert GAME.notation.parse_state(GAME.notation.format_state(state)) == state


def test_legal_turns_after_a_roll():
    turns = GAME.rules.legal_turns(rolled("1,2,3,4"))
    assert turns[-1] == turns[len(turns) - 1]
    assert list(turns[3:5]) == [turns[3], turns[4]]
    with pytest.raises(IndexError, match="no item"):
        turns[len(turns)]


@pytest.mark.parametrize(
    ("colour", "roll_given"), [("pink", "1,2,3,4"), ("red", "1,2,3"), ("red", "1,2,3,7"), ("red", None)]
)
def test_counting_from_an_invalid_colour_or_roll_is_refused(colour, roll_given):
    with pytest.raises(IllegalTurnError):
        count_from(GAME.rules.new(), None if roll_given is None else roll(roll_given), colour)


def test_counting_starts_from_the_dice_on_the_table_or_a_given_roll():
    lying = rolled("1,2,3,4")
    assert count_from(lying, None, None) == lying
    assert count_from(lying, roll("6,6,6,6"), "green").dice == (6, 6, 6, 6)


@pytest.mark.parametrize("number", range(4))
def test_markers_rotate_until_the_player_to_move_holds_the_colour(number):
    state = rolled("1,2,3,4")
    state = GAME.rules.apply(state, GAME.notation.parse_turn(state, "1:1:a1"))
    counted = count_from(state, None, COLOURS[number])
    assert (counted.to_move, counted.dice) == ("p2", (2, 3, 4))
    assert counted.markers == tuple((number + place - 1) % 4 for place in range(4))
    assert {turn.colour for turn in GAME.rules.perft_turns(counted)} == {COLOURS[number]}


def test_a_single_die_is_called_a_die():
    state = GAME.notation.parse_state("p1 p1=-:0 p2=-:0:out")
    assert GAME.notation.standing(state)[0] == "p1: roll the die."
    with pytest.raises(IllegalTurnError, match="expected 1 die from 1 to 6"):
        DICE.rolled(state, roll("1,2"))
    with pytest.raises(IllegalTurnError, match="give 1 die to count with"):
        count_from(state, None, None)


class WholeGame(GameMachine):
    """One game, with a record of everything drawn, rolled and announced."""

    game = GAME

    @initialize(options=OPTIONS)
    def begin(self, options):
        self.start(options)
        self.resigned = set()

    @rule(dice=st.lists(st.integers(1, 6), min_size=4, max_size=4))
    @precondition(lambda self: GAME.awaits_roll(self.state))
    def roll(self, dice):
        active = len(GAME.rules.announcements(self.state))
        roll = Roll(tuple(sorted(map(str, dice[:active]))))
        assert roll in [each.roll for each in DICE.possible_rolls(self.state)]
        self.follow(roll)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None and not GAME.awaits_roll(self.state))
    def play(self, choice):
        dice = list(self.state.dice)
        dice.remove(self.any_of(GAME.rules.legal_turns(self.state), choice).die)
        if not GAME.awaits_roll(self.state) and self.state.to_move is not None:
            assert self.state.dice == tuple(dice)

    @rule(choice=st.integers(0, 10**6))
    @precondition(lambda self: self.state.to_move is not None and len(self.history) % 7 == 6)
    def resign(self, choice):
        self.resigned.add(self.any_of(GAME.rules.announcements(self.state), choice).player)

    @invariant()
    def what_was_drawn_is_there(self):
        drawn: dict[Place, LookName] = {}
        names: dict[Player, list[str]] = {player: [] for player in self.state.options.names}
        strikes = dict.fromkeys(self.state.options.names, 0)
        for _, step in self.history:
            if hasattr(step, "squares"):
                drawn |= dict.fromkeys(step.places, step.colour)
                names[step.player].append(step.shape)
                strikes[step.player] += step.strike
        seen = {place: look for place, look in GAME.table.appearance(self.state).items() if look != EMPTY}
        assert seen == drawn
        sheet = self.state.options.sheet
        for player, filled in zip(names, self.state.sheets, strict=True):
            assert len(names[player]) == len(set(names[player])) == filled.shapes_drawn
            assert filled.used == sum(1 << sheet.number_of[name] for name in names[player])
            assert filled.strikes == strikes[player] <= sheet.strikes
            assert scores_of(GAME, self.state)[player] == sum(int(name[-1]) for name in names[player])

    @invariant()
    def markers_are_one_of_each(self):
        assert sorted(self.state.markers) == [0, 1, 2, 3]

    @invariant()
    def whoever_filled_the_most_wins(self):
        outcome = GAME.rules.outcome(self.state)
        assert (len(GAME.rules.legal_turns(self.state)) == 0) == (outcome is not None or GAME.awaits_roll(self.state))
        if outcome is not None:
            winners = outcome.shared_by or (present(outcome.winner),)
            assert not self.resigned & set(winners)
            best = max(score for player, score in scores_of(GAME, self.state).items() if player not in self.resigned)
            assert {scores_of(GAME, self.state)[winner] for winner in winners} == {best}


TestWholeGame = WholeGame.TestCase
# A game is many examples in one, so fewer games than examples elsewhere; the profile still decides how many.
TestWholeGame.settings = settings(max_examples=cases(25, 5), stateful_step_count=40)


@given(states())
def test_placements_touch_their_colour_at_corners_only(state):
    sheet, grid = state.options.sheet, state.options.sheet.grid
    for filled in state.sheets:
        unused = (1 << len(sheet.shapes)) - 1 & ~filled.used
        for colour in range(4):
            found = finder_of(sheet).placements(filled.colours[colour], filled.filled, unused)
            own = filled.colours[colour]
            closed = filled.filled | grid.adjacent_to(own)
            corners = grid.diagonal_to(own) if own else sheet.corners
            expected = [
                squares | 1 << (grid.squares + shape)
                for shape, ways in enumerate(sheet.placements)
                if unused >> shape & 1
                for squares in ways
                if squares & corners and not squares & closed
            ]
            assert sorted(found) == expected
