"""Every rule is named for a change that breaks it, and not for a near miss; of stacks only the top is visible."""

import pytest

from engine.errors import IllegalTurnError
from engine.games.blockade import explanation
from engine.values import Announcement
from tests.engine.games.blockade import oracle
from tests.engine.games.blockade.strategies import GAME, state_of


def towered(*places):
    """The set-up with a capped tower on each of these places, its medium taken from the corner."""
    board = oracle.start()
    corner = {"green": "a5", "red": "e5", "yellow": "a1", "blue": "e1"}
    for place in places:
        colour = oracle.BASE[place]
        board[corner[colour]].remove(f"{colour} M")
        board[place] = [f"{colour} L", f"{colour} M", f"{colour} S", "black L"]
    return board


def ready():
    """The set-up with a red medium on a2, and the small from there on a3."""
    board = oracle.start()
    board["e5"].pop()
    board["a2"] = ["red L", "red M"]
    board["a3"] = ["red L", "red S", "red S"]
    return board


START = oracle.start()
ROLLED = state_of(START, "warm", (4, 1))

# The state, what is seen to change, the rule that is named first; and a change close by that this rule lets pass.
CASES = {
    "roll-first": (state_of(START, "warm"), {"c4": "red large", "c3": "red small"}, (ROLLED, None)),
    "game-over": (
        GAME.rules.announce(ROLLED, Announcement("resign", "cool")),
        {"c4": "red large", "c3": "red small"},
        (ROLLED, None),
    ),
    "moved-opponent-piece": (
        ROLLED,
        {"d3": "blue large", "c3": "blue small"},
        (ROLLED, {"c4": "red large", "c3": "red small"}),
    ),
    "large-moved": (ROLLED, {"c3": "empty"}, (ROLLED, {"c3": "red small", "c4": "red large"})),
    "black-moved": (
        state_of(towered("a2"), "warm", (4, 1)),
        {"a2": "red small"},
        (state_of(towered("a2"), "warm", (4, 1)), {"a2": "red small", "a3": "red large"}),
    ),
    "too-many-points": (
        ROLLED,
        {"e4": "yellow large", "c3": "yellow small"},
        (ROLLED, {"d2": "yellow large", "c3": "yellow small"}),
    ),
    "sum-for-one-colour": (
        state_of(START, "warm", (3, 1)),
        {"e4": "yellow large", "c3": "yellow small", "c4": "red large", "e5": "red small"},
        (state_of(START, "warm", (3, 1)), {"e4": "yellow large", "c3": "yellow small"}),
    ),
    "rested-on-other-colour": (
        ROLLED,
        {"c4": "red large", "c5": "red small"},
        (ROLLED, {"c4": "red large", "b4": "red small"}),
    ),
    # With four steps the small could have made room.
    "rested-on-smaller": (
        state_of(START, "warm", (2, 6)),
        {"c4": "red medium"},
        (ROLLED, {"c4": "red medium"}),
    ),
    "rested-on-other-blockade": (
        state_of(towered("e4"), "warm", (4, 1)),
        {"e4": "red medium"},
        (state_of(towered("a2"), "warm", (4, 1)), {"a2": "red small", "a3": "red large"}),
    ),
    "tower-not-capped": (
        state_of(ready(), "warm", (1, 1)),
        {"a2": "red small"},
        (state_of(ready(), "warm", (1, 1)), {"a2": "black large"}),
    ),
    "largest-black-first": (
        state_of(ready(), "warm", (1, 1)),
        {"a2": "black medium"},
        (state_of(ready(), "warm", (1, 1)), {"a2": "black large"}),
    ),
    "black-without-tower": (
        ROLLED,
        {"a2": "black large"},
        (state_of(ready(), "warm", (1, 1)), {"a2": "black large"}),
    ),
    "piece-added": (
        ROLLED,
        {"c3": "yellow small"},
        (ROLLED, {"c3": "yellow small", "d2": "yellow large"}),
    ),
    "piece-gone": (
        state_of(ready(), "warm", (1, 1)),
        {"a2": "red large"},
        (state_of(ready(), "warm", (1, 1)), {"a4": "red large"}),
    ),
}


@pytest.mark.parametrize("rule", CASES)
def test_the_rule_is_named_first(rule):
    state, change, near = CASES[rule]
    breaches = GAME.table.explain(state, change)
    assert breaches, "a breach is found"
    assert breaches[0].rule == rule, breaches
    assert breaches[0].sentence.endswith(".")
    assert breaches[0].remedy.endswith(".")
    assert set(breaches[0].places) <= set(GAME.places)
    near_state, near_change = near
    assert rule not in {
        breach.rule for breach in GAME.table.explain(near_state, change if near_change is None else near_change)
    }


TOLD = {
    "roll-first": (
        "Warm hasn't rolled yet.", "Put the pieces on c3 and c4 back, then roll both dice.", ("c3", "c4"),
    ),
    "game-over": ("The game is over: cool resigned.", "Put everything back, or begin a new game.", ("c3", "c4")),
    "moved-opponent-piece": (
        "Warm plays red and yellow, but a blue small was moved from d3.", "Put the blue small back on d3.",
        ("d3", "c3"),
    ),
    "large-moved": ("The clear large on c3 is gone.", "Put it back on c3.", ("c3",)),
    "too-many-points": (
        "The dice give 4 for red and 1 for yellow, but this takes at least 2 steps with yellow.",
        "Take back at least 1 step with yellow.", ("e4", "c3"),
    ),
    "sum-for-one-colour": (
        "The dice give 3 for red and 1 for yellow; you may add them up only for one colour, but this takes 2 steps "
        "with red and 2 steps with yellow.",
        "Take 1 step back with yellow, or don't move red.", ("e4", "c3", "c4", "e5"),
    ),
    "rested-on-other-colour": (
        "The red small on c5 rests on a blue small, and colours don't mix.",
        "Move the red small from c5 to where it may rest.", ("c5",),
    ),
    "rested-on-smaller": (
        "The red medium on c4 rests on a red small, which is smaller.",
        "Move the red medium from c4 to where it may rest.", ("c4",),
    ),
    "rested-on-other-blockade": (
        "The red medium on e4 rests on a yellow blockade, which is not its colour.",
        "Move the red medium from e4 to where it may rest.", ("e4",),
    ),
    "tower-not-capped": ("The red tower on a2 has no black piece yet.", "Put a black large on a2.", ("a2",)),
    "largest-black-first": (
        "The new red tower on a2 has a black medium, and a larger one is left.", "Put a black large on a2 instead.",
        ("a2",),
    ),
    "black-without-tower": (
        "A black large was put on a2, where this roll makes no tower.", "Put the black large back beside the board.",
        ("a2",),
    ),
    "piece-added": (
        "There is an extra yellow small on c3: none is missing elsewhere.", "Take the yellow small off c3.", ("c3",),
    ),
    "piece-gone": (
        "The red medium is gone from a2 and hasn't turned up anywhere else.",
        "Put the red medium back on a2, or where it may go.",
        ("a2",),
    ),
}  # fmt: skip


@pytest.mark.parametrize("rule", TOLD)
def test_one_fault_has_one_sentence_and_a_remedy(rule):
    state, change, _ = CASES[rule]
    (breach,) = GAME.table.explain(state, change)
    assert (breach.sentence, breach.remedy, breach.places) == TOLD[rule]


def test_no_piece_passes_over_the_other_players_blockades():
    """The squares around e5 are blocked, so no red medium gets out; with d4 open one does."""
    shut = towered("d5", "d4")
    shut["e5"] = ["clear L"] + ["red M"] * 5
    state = state_of(shut, "warm", (6, 1))
    (breach,) = GAME.table.explain(state, {"d4": "red medium"})
    assert breach.rule == "passed-over-blockade"
    assert breach.sentence == "A red medium was put onto the other player's blockade on d4."
    assert breach.remedy == "Put the red medium back where it came from."
    assert breach.places == ("d4",)
    out = {"c3": "red medium"}
    assert GAME.table.explain(state, out) == ()
    with pytest.raises(IllegalTurnError) as error:
        GAME.notation.parse_turn(state, "e5-d5")
    assert error.value.breaches[0].rule == "passed-over-blockade"


BESIDE_D3 = (
    "warm roll=4,2 a1:CL+YMMMMM b1:GLMS+KL c1:GL d1:GLS e1:CL+BMMMM a2:RL b2:GLMS+KL+GS c2:YLS d2:YLS e2:YLS "
    "a3:RLMS+KL b3:GLS c3:CL+RM d3:BLMS+KL e3:YLS a4:RLS b4:RLMS+KL+RS c4:RLS d4:BLS e4:YLS a5:CL+GMMM b5:BLS c5:BLS "
    "d5:BLS e5:CL+RMM"
)
"""Cool's blockade on d3 stands between warm's yellow pieces."""


@pytest.mark.parametrize(
    ("turn", "sentence", "remedy"),
    [
        ("e3-d3-d2", "The yellow small from e3 can't pass over the other player's blockade on d3.",
         "Put the yellow small back on e3, or go round the blockade."),
        ("e4-d3-c2", "The yellow small from e4 can't pass over the other player's blockade on d3.",
         "Put the yellow small back on e4."),
        ("e3-d3-e3", "The yellow small from e3 can't pass over the other player's blockade on d3.",
         "Put the yellow small back on e3."),
        ("e3-d3", "The yellow small from e3 can't go onto the other player's blockade on d3.",
         "Put the yellow small back on e3."),
        ("e4-c2", "The yellow small from e4 gets to c2 in 2 steps only over the other player's blockade on d3; the "
         "way round takes 3.", "Put the yellow small back on e4."),
    ],
)  # fmt: skip
def test_the_blockade_that_is_in_the_way_is_named(turn, sentence, remedy):
    state = GAME.notation.parse_state(BESIDE_D3)
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(state, turn)
    (breach,) = raised.value.breaches
    assert (breach.rule, breach.sentence, breach.remedy) == ("passed-over-blockade", sentence, remedy)
    with_a_step_more = GAME.notation.parse_state(BESIDE_D3.replace("roll=4,2", "roll=4,3"))
    assert GAME.notation.format_turn(GAME.notation.parse_turn(with_a_step_more, "e4-c2")) == "e4-c2"


def test_steps_beyond_the_dice_even_over_a_blockade_are_counted():
    with pytest.raises(IllegalTurnError) as raised:
        GAME.notation.parse_turn(GAME.notation.parse_state(BESIDE_D3.replace("roll=4,2", "roll=4,1")), "e4-c2")
    assert [breach.rule for breach in raised.value.breaches] == ["too-many-points"]


def test_a_missing_large_is_not_taken_for_one_elsewhere():
    board = oracle.start()
    board["a2"].pop()
    board["a3"].pop()
    board["e5"] += ["red S", "red S"]
    (breach,) = GAME.table.explain(state_of(board, "warm", (6, 6)), {"a2": "empty"})
    assert (breach.sentence, breach.places) == ("The red large on a2 is gone.", ("a2",))


@pytest.mark.parametrize("place", ["c4", "d3", "e5"])
def test_a_stack_that_is_gone_goes_back_as_a_whole(place):
    (breach,) = GAME.table.explain(ROLLED, {place: "empty"})
    assert (breach.rule, breach.places) == ("large-moved", (place,))
    assert breach.sentence == f"The whole stack on {place} is gone."
    assert breach.remedy == f"Put the whole stack back on {place}."


def test_a_small_that_left_a_stack_that_is_gone_may_stay_where_it_went():
    (breach,) = GAME.table.explain(ROLLED, {"c4": "empty", "c3": "red small"})
    assert (breach.sentence, breach.remedy) == ("The red large on c4 is gone.", "Put it back on c4.")


def test_a_small_may_be_hidden_as_far_away_as_both_dice_take_it():
    board = oracle.start()
    for place in ("e3", "e2", "d2"):
        board["a1"].append(board[place].pop())
    # The nearest yellow small that hides another is two steps from e4.
    change = {"e4": "yellow large", "c4": "red large", "c5": "red small"}
    breaches = GAME.table.explain(state_of(board, "warm", (1, 1)), change)
    assert [breach.rule for breach in breaches] == ["rested-on-other-colour", "piece-gone"]
    assert breaches[1].places == ("e4",)


def test_a_piece_may_rest_on_black_only_if_black_is_larger():
    board = towered("a2", "a3", "a4", "b4", "e2", "e3")
    board["a2"][-1] = "black M"
    state = state_of(board, "warm", (6, 1))
    breaches = GAME.table.explain(state, {"a2": "red medium", "e5": "clear large"})
    assert breaches[0].rule == "rested-on-black-not-larger"
    assert GAME.table.explain(state, {"a3": "red medium", "e5": "clear large"}) == ()


def test_every_rule_of_the_catalogue_has_a_case():
    elsewhere = {"wrong-start", "not-your-turn", "passed-over-blockade", "rested-on-black-not-larger"}
    assert set(CASES) | elsewhere == set(GAME.rules.catalogue)


def test_a_turn_of_the_other_player_is_not_your_turn():
    with pytest.raises(IllegalTurnError) as error:
        GAME.notation.parse_turn(ROLLED, "d3-c3", "cool")
    assert error.value.breaches[0].rule == "not-your-turn"


def test_a_wrong_set_up_names_the_wrong_places():
    seen = GAME.table.appearance(GAME.rules.new())
    assert GAME.table.set_up(seen) == GAME.rules.new()
    assert GAME.table.set_up({}, {"starts": "cool"}).to_move == "cool"
    with pytest.raises(IllegalTurnError) as error:
        GAME.table.set_up({**seen, "c3": "red small"})
    assert [(breach.rule, breach.places) for breach in error.value.breaches] == [("wrong-start", ("c3",))]


def test_a_missing_piece_of_the_other_player_is_not_searched_for_elsewhere():
    """Equal pieces lie beside it, and with cool's own dice it could be on top of one of them."""
    (breach,) = GAME.table.explain(state_of(START, "cool", (4, 1)), {"c4": "red large"})
    assert breach.rule == "piece-gone"
    assert breach.remedy == "Put the red small back on c4."
    assert breach.places == ("c4",)


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
            "black-moved",
            "The black piece on a2 was moved.",
            "Put it back on its tower on a2.",
            ("a2", "a3"),
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
         "1 for red and 1 for yellow, or their sum of 2 for one colour", 3, ("c4", "c3")),
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


FOE_TOWER = {"c1": "GLMS+KL", "b1": "GLM", "b2": "GLSS", "a5": "CL+GMMM"}
OWN_TOWER = {"a2": "RLMS+KL", "a3": "RLM", "a4": "RLSS", "e5": "CL+RMMM"}


@pytest.mark.parametrize(
    ("roll", "stacks", "change", "start"),
    [
        ("1,5", FOE_TOWER, {"c1": "green small", "b1": "black large"}, "c1"),
        ("1,5", OWN_TOWER, {"a2": "red small", "a3": "black large"}, "a2"),
        ("4,5", OWN_TOWER, {"a2": "red small", "a3": "black large"}, "a2"),
        ("6,2", {"c1": "GLMS+KL", "a5": "CL+GMMMM", "d2": "YLM", "e1": "CL+BMMMMM", "a1": "CL+YMMMM", "c3": "CL+YS",
                 "b2": "GLSS", "d1": "GL"}, {"c1": "green small", "d2": "black large"}, "c1"),
    ],
)  # fmt: skip
def test_a_moved_cap_goes_back_to_its_tower_whatever_small_could_have_moved_unseen(roll, stacks, change, start):
    (breach,) = GAME.table.explain(with_stacks(roll, stacks), change)
    (end,) = (place for place in change if place != start)
    assert (breach.rule, breach.places) == ("black-moved", (start, end))
    assert breach.remedy == f"Put it back on its tower on {start}."


@pytest.mark.parametrize("below", ["YLMMS", "YLS"])
def test_a_medium_on_a_small_is_told_as_one_whether_or_not_mediums_lie_below(below):
    corner = "CL+YMM" if below == "YLMMS" else "CL+YMMMM"
    state = with_stacks("4,2", {"c2": "YLM", "e2": below, "a1": corner, "e3": "YLSS"})
    (breach,) = GAME.table.explain(state, {"c2": "yellow large", "e2": "yellow medium"})
    assert breach.rule == "rested-on-smaller"
    assert breach.sentence == "The yellow medium on e2 rests on a yellow small, which is smaller."
    assert breach.remedy == "Move the yellow medium from e2 to where it may rest."
    assert breach.places == ("e2",)


def test_a_piece_of_the_opponent_from_a_square_that_hides_it_goes_back_where_it_came_from():
    state = with_stacks("1,5", {"b2": "GLSS", "c1": "GL"})
    (breach,) = GAME.table.explain(state, {"c3": "green small"})
    assert breach.sentence == "Warm plays red and yellow, but a green small was put on c3."
    assert (breach.remedy, breach.places) == ("Put the green small back where it came from.", ("c3",))


def test_a_square_hides_only_as_many_moves_as_it_has_equal_pieces():
    stacks = {"e5": "CL+RMM", "a2": "RLM", "a3": "RLM", "b4": "RLM", "a4": "RLSSSS", "e1": "CL+BMMMMM"}
    seen = {"c3": "red medium", "c4": "red medium"}
    breaches = GAME.table.explain(with_stacks("6,1", stacks), seen)
    assert [(breach.rule, breach.places) for breach in breaches] == [("piece-added", ("c4",))]
