"""The points of a roll, and those that the other colour's help takes."""

import pytest

from engine.games.blockade.enumeration import PointBudget
from engine.games.blockade.reach import terrain_of
from tests.engine.games.blockade.strategies import state_of
from tests.engine.games.blockade.test_oracle import locked, swapping


def terrains(*, strict=False):
    state = state_of(swapping(), "warm", (2, 2), strict=strict)
    return tuple(terrain_of(state.stacks, state.options, colour) for colour in (0, 1))


def test_points_are_divided_in_one_of_the_allowed_ways():
    budget = PointBudget(((3, 1), (1, 4)))
    assert budget.most == (3, 4)
    assert budget.covers(3, 1)
    assert budget.covers(1, 4)
    assert not budget.covers(3, 2)
    assert not budget.covers(2, 4)
    assert not budget.covers(4, 0)


def test_help_takes_points_of_both_colours():
    """Moving between two pieces and out again takes at least two points."""
    budget = PointBudget(((4, 2),))
    assert budget.covers_with_help((9, 9), (4, 0))
    assert not budget.covers_with_help((9, 9), (4, 3))
    assert not budget.covers_with_help((9, 9), (5, 0))
    assert PointBudget(((2, 4),)).covers_with_help((9, 9), (0, 4))
    assert not PointBudget(((1, 4),)).covers_with_help((9, 9), (0, 4))
    assert not PointBudget(((4, 1),)).covers_with_help((9, 9), (4, 0))
    assert PointBudget(((4, 1),)).covers_with_help((4, 1), (9, 9))


def test_a_colour_that_needs_no_help_can_give_it():
    assert PointBudget(((4, 1),)).covers_with_help((4, 9), (3, 1))
    assert PointBudget(((1, 4),)).covers_with_help((9, 4), (1, 3))
    assert not PointBudget(((4, 1),)).covers_with_help((5, 9), (3, 1))


@pytest.mark.parametrize("which", [0, 1])
def test_a_colour_gains_by_help_only_if_both_colours_have_the_points(which):
    def shared(own, other):
        return PointBudget(((own, other) if which == 0 else (other, own),)).with_help(which, terrains())

    assert shared(30, 30) == 30
    assert shared(30, 1) == 0
    assert shared(2, 30) == 0
    both = PointBudget(((30, 30), (20, 20))).with_help(which, terrains())
    assert both == 30


@pytest.mark.parametrize(
    ("loose", "fewest"),
    [
        ({"c4": ["red L", "red M"], "c3": ["clear L", "red S"], "e5": ["clear L"]}, 3),
        ({"c4": ["red L", "red M", "red M", "red S"], "b4": ["red L", "red S"], "e5": ["clear L"]}, 4),
        ({"c4": ["red L"], "c3": ["clear L", "red S"]}, 5),
        ({"c4": ["red L", "red S"]}, 6),
    ],
    ids=["a medium lies there", "a small lies on it", "a medium is two steps away", "a small is in its way"],
)
def test_help_takes_fewer_points_the_more_complete_the_tower_is(loose, fewest):
    state = state_of(locked(**loose), "warm", (2, 2))
    first, second = (terrain_of(state.stacks, state.options, colour) for colour in (0, 1))
    assert next(own for own in range(9) if PointBudget(((own, 30),)).with_help(0, (first, second))) == fewest


@pytest.mark.parametrize("which", [0, 1])
def test_under_strict_rules_any_points_can_gain_by_help(which):
    assert PointBudget(((5, 1), (1, 4))).with_help(which, terrains(strict=True)) == (5, 4)[which]
