"""Rolls and their probabilities."""

from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.support.chance import ORDINARY_DIE, drawn, every_roll
from engine.values import Roll

DICE = st.lists(st.lists(st.sampled_from("123*"), min_size=1, max_size=6), max_size=4)


def in_order(faces):
    return tuple(sorted(faces))


@given(DICE)
def test_probabilities_add_up_to_one(dice):
    for rolls in (every_roll(dice), every_roll(dice, in_order)):
        assert sum(each.probability for each in rolls) == 1
        assert all(each.probability > 0 for each in rolls)
        faces = [each.roll.faces for each in rolls]
        assert faces == sorted(set(faces))


@given(DICE)
def test_the_probabilities_of_equal_rolls_are_added_up(dice):
    apart = every_roll(dice)
    together = {each.roll: each.probability for each in every_roll(dice, in_order)}
    for roll, probability in together.items():
        assert probability == sum(each.probability for each in apart if in_order(each.roll.faces) == roll.faces)


def test_two_ordinary_dice_have_36_rolls():
    assert len(every_roll([ORDINARY_DIE] * 2)) == 36
    together = {each.roll.faces: each.probability for each in every_roll([ORDINARY_DIE] * 2, in_order)}
    assert len(together) == 21
    assert together["2", "5"] == Fraction(1, 18)
    assert together["6", "6"] == Fraction(1, 36)


def test_drawing_follows_the_probabilities():
    rolls = every_roll([("1", "1", "1", "2")])
    seen = Counter(drawn(rolls, Random(seed)) for seed in range(400))
    assert set(seen) == {Roll(("1",)), Roll(("2",))}
    assert 250 < seen[Roll(("1",))] < 350


def test_drawing_from_no_rolls_is_refused():
    with pytest.raises(ValueError, match="no roll"):
        drawn((), Random(1))
