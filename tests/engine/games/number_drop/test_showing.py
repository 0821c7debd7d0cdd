"""Turns of Number Drop found by the sheets after them, without listing all turns."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.games.number_drop.rules import count_from
from engine.games.number_drop.table import looks_before
from engine.showing import turns_by_trying, turns_showing
from engine.values import Roll
from tests.engine.games.number_drop.strategies import GAME, TILES, positions, state_of


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
