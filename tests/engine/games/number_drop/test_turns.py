"""Number Drop's letters and strikes, the end of a game, and resignation."""

from collections import Counter
from random import Random

import pytest

from engine.errors import AmbiguousError, IllegalTurnError
from engine.games.number_drop.sheet import any_digits
from engine.games.number_drop.state import Combination, Drop
from engine.values import Announcement, Certainty, Outcome, OutcomeKind, Roll
from tests.engine.games.number_drop.strategies import DICE, GAME, LETTERED, TILES, after, state_of
from tests.engine.whole_games import scores_of


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
