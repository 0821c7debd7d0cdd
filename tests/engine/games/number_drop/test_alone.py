"""Number Drop for one: the tiles that slide, and the end when all are down."""

from engine.api import Outcome, Roll
from tests.engine.games.number_drop.strategies import GAME, LETTERED, after, state_of

SOLO = "I4,L4,O4,T4,S4"


def test_alone_a_tile_slides_each_turn_and_a_star_slides_its_own():
    state = after(GAME.rules.new({"players": 1}), SOLO, "d1=1", "1,3,4,5,T")
    assert [GAME.notation.format_turn(turn) for turn in GAME.rules.legal_turns(state)] == [
        f"slide:{letter}" for letter in "ABCDE"
    ]
    assert GAME.notation.format_state(after(state, "slide:A")).startswith("p1 drop")
    starred = after(GAME.rules.new({"players": 1}), SOLO, "d1=1", "1,3,4,*,T", "slide:A")
    assert [GAME.notation.format_turn(turn) for turn in GAME.rules.legal_turns(starred)] == ["slide:D"]
    assert after(starred, "slide:D").notches == (1, 0, 0, 1, 0)
    wild = after(GAME.rules.new({"players": 1}), SOLO, "d1=1", "1,3,4,5,*", "slide:A")
    assert len(GAME.rules.legal_turns(wild)) == 5


def test_alone_a_tile_at_the_bottom_does_not_slide():
    state = state_of(f"slide p1=1...... slots={SOLO} roll=1,3,4,*,T to=p1 notches=0,0,0,4,0 crossed_off=D players=1")
    assert [GAME.notation.format_turn(turn) for turn in GAME.rules.legal_turns(state)] == [
        "slide:A",
        "slide:B",
        "slide:C",
        "slide:E",
    ]
    assert GAME.notation.format_state(after(state, "slide:A")).startswith("p1 drop")


def test_alone_a_tile_at_go_drops_its_penalty_and_the_turn_goes_on():
    state = state_of(f"slide p1=1...... slots={SOLO} roll=1,3,4,*,T to=p1 notches=3,0,0,3,0 players=1")
    first = after(state, "slide:A")
    assert GAME.notation.format_state(first).split()[1] == "penalty"
    starred = after(first, "d1=X,e1=X,f1=X,g1=X")
    assert GAME.notation.format_state(starred).split()[1] == "star-slide"
    second = after(starred, "slide:D")
    assert second.slot == 3
    dropping = after(second, "d2=X,e2=X,f2=X,e3=X")
    assert GAME.dice.roll_of(dropping) == Roll(("1", "3", "4", "*", "T"))
    assert GAME.notation.format_state(dropping).split()[1] == "drop"


def test_alone_a_circled_letter_keeps_its_penalty_away():
    state = state_of(f"slide p1={LETTERED} slots={SOLO} roll=1,3,4,5,T to=p1 notches=3,0,0,3,0 players=1")
    assert GAME.notation.format_state(after(state, "slide:A")).split()[1] == "drop"


def test_alone_the_game_ends_when_all_tiles_are_down():
    state = state_of(
        f"slide p1={LETTERED} slots={SOLO} roll=1,3,4,5,T to=p1 notches=3,4,4,4,4 crossed_off=BCDE players=1"
    )
    over = after(state, "slide:A", "e1=1,f1=3,g1=4,f2=5")
    assert GAME.rules.outcome(over) == Outcome("p1", "all tiles are down; the score is 8")
