"""Every rule is named for a change that breaks it, and not for a near miss."""

import pytest

from engine.errors import IllegalTurnError, UnreadableError
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
        {"e4": "yellow large", "c3": "yellow small", "c4": "red large"},
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
        "The dice give 3 for red and 1 for yellow; you may add them up only for one colour, but this takes 1 step with "
        "red and 2 steps with yellow.",
        "Take 1 step back with yellow, or don't move red.", ("e4", "c3", "c4", "b4"),
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
    assert breach.sentence == "The red medium from e5 can't go onto the other player's blockade on d4."
    assert breach.remedy == "Put the red medium back on e5."
    assert breach.places == ("e5", "d4")
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
    assert [breach.rule for breach in breaches] == ["rested-on-other-colour", "too-many-points"]
    assert breaches[1].places == ("c4", "c5", "e4", "c2")


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


@pytest.mark.parametrize("looks", [{"f1": "red small"}, {"a1": "pink small"}])
def test_an_unknown_place_or_look_is_unreadable(looks):
    with pytest.raises(UnreadableError):
        GAME.table.explain(ROLLED, looks)
    with pytest.raises(UnreadableError):
        GAME.table.set_up(looks)
    with pytest.raises(UnreadableError):
        GAME.table.amend(ROLLED, looks)


def test_a_missing_piece_of_the_other_player_is_not_searched_for_elsewhere():
    """Equal pieces lie beside it, and with cool's own dice it could be on top of one of them."""
    (breach,) = GAME.table.explain(state_of(START, "cool", (4, 1)), {"c4": "red large"})
    assert breach.rule == "piece-gone"
    assert breach.remedy == "Put the red small back on c4."
    assert breach.places == ("c4",)
