"""Explanations of changes to stacks, of which only the top is visible."""

import pytest

from engine.errors import IllegalTurnError
from engine.games.blockade import explanation
from tests.engine.games.blockade.strategies import GAME

TOWERS = {"a2": "RLMS+KL", "a3": "RL", "a4": "RLSS", "e5": "CL+RMMMM"}


ALL_LARGES_USED = {
    **dict.fromkeys(("a2", "a3", "a4", "b4"), "RLMS+KL"),
    "c2": "YLMS+KL",
    "d2": "YLM",
    "e2": "YLSS",
    "a1": "CL+YMMM",
    "e5": "CL+RM",
    "c4": "RLS",
}


ALL_MEDIUMS_USED = {
    **dict.fromkeys(("a2", "a3", "a4"), "RLMS+KL"),
    **dict.fromkeys(("c2", "e3"), "YLMS+KL"),
    **dict.fromkeys(("b1", "c1", "d1"), "GLMS+KM"),
    **dict.fromkeys(("b5", "c5"), "BLMS+KM"),
    "d2": "YLM",
    "e2": "YLSS",
    "a1": "CL+YMM",
    "a5": "CL+GMM",
    "e1": "CL+BMMM",
    "e5": "CL+RMM",
}

TWO_MEDIUMS_OUT = {"a2": "RLM", "a3": "RLSS", "c3": "CL+RM", "e5": "CL+RMMM"}


def with_stacks(roll, stacks):
    """The start of warm's game with some of its stacks replaced, and a roll."""
    words = GAME.notation.format_state(GAME.rules.new({"starts": "warm"})).split()
    standing = dict(word.split(":") for word in words if word[2:3] == ":")
    written = " ".join(f"{place}:{stack}" for place, stack in {**standing, **stacks}.items())
    return GAME.notation.parse_state(f"warm roll={roll} {written}")


@pytest.mark.parametrize(
    ("roll", "stacks", "change", "rule", "sentence", "remedy", "places"),
    [
        (
            "1,2",
            ALL_LARGES_USED,
            {"d2": "black large"},
            "largest-black-first",
            "The new yellow tower on d2 has a black large, but every black large is on another tower.",
            "Put a black medium on d2 instead.",
            ("d2",),
        ),
        (
            "1,2",
            ALL_MEDIUMS_USED,
            {"d2": "black medium"},
            "largest-black-first",
            "The new yellow tower on d2 has a black medium, but every black medium is on another tower.",
            "Put a black small on d2 instead.",
            ("d2",),
        ),
        (
            "1,6",
            TOWERS,
            {"a2": "red small"},
            "black-moved",
            "The black piece on a2 was taken off.",
            "Put it back on a2.",
            ("a2",),
        ),
        (
            "4,1",
            TOWERS,
            {"a2": "red small", "a3": "black large"},
            "black-moved",
            "The black piece on a2 was moved.",
            "Put it back on its tower on a2.",
            ("a2", "a3"),
        ),
        (
            "2,5",
            {**TOWERS, "a3": "RLM", "e5": "CL+RMMM"},
            {"a2": "red small", "a3": "black large"},
            "too-many-points",
            "The dice give 2 for red and 5 for yellow, but this takes at least 3 steps with red.",
            "Take back at least 1 step with red.",
            ("a4", "a3", "a2"),
        ),
        (
            "4,1",
            TOWERS,
            {"a2": "black medium"},
            "black-moved",
            "The black large on a2 was exchanged for a black medium.",
            "Put the black large back on a2.",
            ("a2",),
        ),
        (
            "4,1",
            {**TOWERS, "a2": "RLMS+KL+RS", "a4": "RLS"},
            {"a2": "black medium"},
            "black-without-tower",
            "A black medium was put on a2, where this roll makes no tower.",
            "Put the black medium back beside the board.",
            ("a2",),
        ),
        (
            "1,1",
            {"c3": "CL+RS", "c4": "RL"},
            {"c4": "black large"},
            "black-without-tower",
            "A black large was put on c4, where this roll makes no tower.",
            "Put the black large back beside the board.",
            ("c4",),
        ),
        (
            "1,1",
            {"c3": "CL+RS", "c4": "RLM", "e5": "CL+RMMMM"},
            {"c4": "black large"},
            "black-without-tower",
            "A black large was put on c4, where this roll makes no tower.",
            "Put the black large back beside the board.",
            ("c4",),
        ),
    ],
)
def test_a_misplaced_cap_is_explained(roll, stacks, change, rule, sentence, remedy, places):
    (breach,) = GAME.table.explain(with_stacks(roll, stacks), change)
    assert (breach.rule, breach.sentence, breach.remedy, breach.places) == (rule, sentence, remedy, places)


@pytest.mark.parametrize(
    ("roll", "stacks", "change", "given", "steps", "places"),
    [
        ("1,5", {**TOWERS, "c3": "CL+RS", "c4": "RL"}, {"a2": "red small", "c3": "clear large"},
         "1 for red and 5 for yellow", 2, ("c3", "a2")),
        ("1,1", {"c3": "CL+RS", "c4": "RL"}, {"c3": "clear large", "c4": "black large"},
         "1 for red and 1 for yellow, or their sum of 2 for one colour", 3, ("e5", "c4", "c3")),
    ],
)  # fmt: skip
def test_a_blockade_reached_with_too_many_steps_is_about_the_steps(roll, stacks, change, given, steps, places):
    (breach,) = GAME.table.explain(with_stacks(roll, stacks), change)
    assert breach.sentence == f"The dice give {given}, but this takes at least {steps} steps with red."
    assert (breach.rule, breach.remedy) == ("too-many-points", "Take back at least 1 step with red.")
    assert breach.places == places


def test_a_change_that_the_rules_accept_breaks_none(monkeypatch):
    monkeypatch.setattr(explanation, "is_whole_turn", lambda *_: False)
    assert GAME.table.explain(with_stacks("1,1", {}), {"c3": "red small", "c4": "red large"}) == ()


@pytest.mark.parametrize(
    ("roll", "change", "gone", "places"),
    [
        ("4,1", {"a2": "red large"}, "The red medium, the red small and the black large are", ("a2",)),
        ("4,1", {"a2": "empty"}, "The red large, the red medium, the red small and the black large are", ("a2",)),
        ("1,1", {"a2": "red medium", "c3": "red small"}, "The red small and the black large are", ("a2", "c3")),
        ("4,1", {"a2": "red medium", "c3": "black large"}, "The red small and the black large are", ("a2", "c3")),
    ],
)
def test_all_that_fell_off_with_a_cap_goes_back(roll, change, gone, places):
    (breach,) = GAME.table.explain(with_stacks(roll, TOWERS), change)
    assert (breach.rule, breach.sentence, breach.places) == ("black-moved", f"{gone} gone from a2.", places)
    assert breach.remedy == "Put them back on a2 in this order, lowest first."


@pytest.mark.parametrize(
    ("stacks", "change", "sentence", "remedy"),
    [
        ({}, {"c3": "red medium", "e5": "clear large"}, "4 more red mediums are gone from e5.",
         "Put 4 red mediums back on e5, or where they may go."),
        ({}, {"e5": "clear large"}, "5 red mediums are gone from e5 and haven't turned up anywhere else.",
         "Put 5 red mediums back on e5, or where they may go."),
        ({}, {"a5": "clear large"}, "5 green mediums are gone from a5 and haven't turned up anywhere else.",
         "Put 5 green mediums back on a5."),
        (TWO_MEDIUMS_OUT, {"a2": "red large", "c3": "clear large", "a4": "red medium"},
         "Another red medium is gone from c3.", "Put the red medium back on c3, or where it may go."),
    ],
)  # fmt: skip
def test_missing_pieces_are_counted(stacks, change, sentence, remedy):
    breaches = GAME.table.explain(with_stacks("1,4", stacks), change)
    assert (sentence, remedy) in {(breach.sentence, breach.remedy) for breach in breaches}


@pytest.mark.parametrize(
    ("looks", "stacks"),
    [
        ({"b4": "red medium", "e5": "red small"}, {"b4:RLM", "e5:CL+RMMMS"}),
        ({"a2": "red small", "c4": "red large"}, {"a2:RLMS+KL+RS", "c4:RL"}),
    ],
)
def test_a_correction_moves_as_few_pieces_as_possible(looks, stacks):
    amended = GAME.table.amend(with_stacks("4,1", TOWERS), looks)
    assert stacks <= set(GAME.notation.format_state(amended).split())


TWO_ON_CLEAR = {"c3": "CL+RMS", "c4": "RL", "e5": "CL+RMMMM"}


def test_of_two_pieces_from_one_stack_the_upper_one_moved_first():
    change = {"c3": "clear large", "c4": "red medium", "c5": "red small"}
    (breach,) = GAME.table.explain(with_stacks("6,1", TWO_ON_CLEAR), change)
    assert (breach.rule, breach.places) == ("rested-on-other-colour", ("c5",))
    assert "red small" in breach.sentence


def test_a_missing_piece_may_have_been_on_one_that_moved():
    state = with_stacks("1,6", {**TWO_ON_CLEAR, "a4": "RLSS", "b4": "RL"})
    breaches = GAME.table.explain(state, {"c3": "clear large", "c4": "red medium"})
    assert ("piece-gone", ("c3",)) in {(breach.rule, breach.places) for breach in breaches}


def test_a_look_that_a_move_of_a_hidden_piece_explains_is_legal():
    assert GAME.table.explain(with_stacks("4,1", TOWERS), {"a2": "red small"}) == ()


@pytest.mark.parametrize(
    ("dice", "turn", "rule", "sentence", "remedy"),
    [
        ("3,1", "c4-c3 e2-c2", "sum-for-one-colour", "add them up only for one colour, but this takes 1 step "
         "with red and 2 steps with yellow.", "Take 1 step back with yellow, or don't move red."),
        ("3,1", "c4-c3-c2 e2-c2", "sum-for-one-colour", "add them up only for one colour, but this takes 2 steps "
         "with red and 2 steps with yellow.", "Take 1 step back with yellow, or don't move red."),
        ("1,3", "c4-c3-c2 e2-d2", "sum-for-one-colour", "add them up only for one colour, but this takes 2 steps "
         "with red and 1 step with yellow.", "Take 1 step back with red, or don't move yellow."),
        ("4,1", "c4-c3 e2-c2", "too-many-points", "but this takes at least 1 step with red and 2 steps with yellow.",
         "Take back at least 1 step with yellow."),
        ("1,4", "c4-c3-c2-c3", "too-many-points", "but this takes at least 3 steps with red.",
         "Take back at least 2 steps with red."),
        ("1,1", "c4-c3-c2 e2-c2", "too-many-points", "this takes at least 2 steps with red and 2 steps with yellow.",
         "Take back at least 1 step with red and 1 step with yellow."),
        ("2,1", "c4-c3-c2-c1-b1", "too-many-points", "but this takes at least 4 steps with red.",
         "Take back at least 1 step with red."),
    ],
)  # fmt: skip
def test_steps_beyond_the_dice_are_reported_with_their_colours(dice, turn, rule, sentence, remedy):
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(with_stacks(dice, {}), turn)
    breach = next(each for each in raised.value.breaches if each.rule == rule)
    assert breach.sentence.endswith(sentence)
    assert breach.remedy == remedy


def test_the_remedy_for_too_many_steps_says_how_many_to_take_back_and_where():
    state = with_stacks("1,4", {})
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(state, "a2-a4")
    breach = next(each for each in raised.value.breaches if each.rule == "too-many-points")
    assert breach.sentence == "The dice give 1 for red and 4 for yellow, but this takes at least 2 steps with red."
    assert (breach.remedy, breach.places) == ("Take back at least 1 step with red.", ("a2", "a4"))


@pytest.mark.parametrize("text", ["none", "nothing", "Stay.", "stay", "pass", "Nothing!"])
def test_a_turn_without_moves_can_be_typed_in_many_ways(text):
    assert GAME.notation.format_turn(GAME.notation.parse_turn(with_stacks("4,1", {}), text)) == "stay"


def test_squares_can_be_separated_by_a_space():
    state = with_stacks("4,1", TOWERS)
    assert GAME.notation.parse_turn(state, "a4 a3") == GAME.notation.parse_turn(state, "a4-a3")


def test_a_cap_on_the_square_that_the_small_left_belongs_on_the_tower():
    state = with_stacks("4,1", {"a2": "RLM", "c3": "CL+RS", "e5": "CL+RMMMM"})
    breaches = GAME.table.explain(state, {"a2": "red small", "a3": "black large"})
    assert [(each.rule, each.places, each.remedy) for each in breaches] == [
        ("tower-not-capped", ("a2",), "Put a black large on a2."),
        ("black-without-tower", ("a3",), "Put the black large back beside the board."),
    ]
    assert GAME.table.explain(state, {"a2": "black large", "a3": "red large"}) == ()


def test_a_large_that_was_moved_among_many_moves_is_named_with_where_it_stands():
    seen = {"d2": "empty", "c4": "yellow large", "a3": "red large", "b4": "red large", "e3": "yellow large"}
    breaches = GAME.table.explain(with_stacks("2,2", {}), seen)
    assert (breaches[0].rule, breaches[0].places) == ("large-moved", ("d2", "c4"))
    assert all("c4 rests" not in breach.sentence for breach in breaches)
