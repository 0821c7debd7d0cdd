"""Corrections of a position: a named place is changed, and the others stay as they were."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import UnreadableError
from engine.games.deblockle.table import rolled_set_up
from tests.engine.games.deblockle.strategies import GAME, SIDE_FACES
from tests.present import present

STATE = GAME.notation.parse_state("teal c1:G.star/north=slider d4:G.x? e7:T.hoops/north=star|x removed=2,3")


def test_blocks_not_mentioned_in_a_correction_stay_known() -> None:
    after = GAME.table.amend(STATE, {"d4": "empty", "d5": "gold block, cross up"})
    assert (
        GAME.notation.format_state(after)
        == "teal c1:G.star/north=slider d5:G.cross? e7:T.hoops/north=star|x removed=2,3"
    )


def test_confirming_a_look_keeps_the_known_side_faces() -> None:
    assert GAME.table.amend(STATE, {"e7": "teal block, hoops up", "a1": "empty"}) == STATE


def test_a_correction_can_name_the_next_player() -> None:
    assert GAME.table.amend(STATE, {}, "gold").to_move == "gold"


def test_a_correction_can_continue_a_game_that_was_over() -> None:
    over = GAME.table.amend(STATE, {"e7": "empty"})
    assert present(GAME.rules.outcome(over)).winner == "teal"
    with pytest.raises(UnreadableError, match="say who is to play: gold or teal"):
        GAME.table.amend(over, {"e7": "teal block, x up"})
    assert GAME.rules.outcome(GAME.table.amend(over, {"e7": "teal block, x up"}, "gold")) is None


def test_a_correction_can_add_more_blocks_than_at_the_start() -> None:
    start = GAME.rules.new({"blocks_gold": 1, "blocks_teal": 1})
    after = GAME.table.amend(start, {"a1": "gold block, x up"})
    assert len(after.owned("gold")) == 2
    assert GAME.notation.parse_state(GAME.notation.format_state(after)) == after


def test_a_rolled_set_up_shows_any_symbol_and_orientation() -> None:
    starts = [rolled_set_up({"blocks_gold": 4}, random.Random(seed)) for seed in range(60)]
    usual = GAME.rules.new({"blocks_gold": 4})
    stand = {place for place, look in GAME.table.appearance(usual).items() if look != "empty"}
    tops, ways = set(), set()
    for start in starts:
        looks = GAME.table.appearance(start)
        assert {place for place, look in looks.items() if look != "empty"} == stand
        for place, known in SIDE_FACES.facings(start).items():
            (facing,) = known
            tops.add(looks[place].split(", ")[1])
            ways.add((looks[place].split(", ")[1], facing["north"]))
    assert len(tops) == 6
    assert len(ways) == 24


@pytest.mark.parametrize(
    ("looks", "to_move", "message"),
    [
        ({"h9": "empty"}, None, "no square 'h9'"),
        ({"c3": "red block"}, None, "c3 shows 'red block'; expected"),
        ({"d2": "gold block, x up"}, None, "no block ever rests on a star square"),
        ({}, "red", "no player 'red'; expected gold or teal"),
        (dict.fromkeys(("a1", "a2", "a3"), "gold block, x up"), None, "gold would have 5 blocks"),
        ({"c1": "empty", "d4": "empty", "e7": "empty"}, None, "no block on the board"),
    ],
)
def test_a_correction_to_an_impossible_position_is_refused_with_the_reason(
    looks: dict[str, str], to_move: str | None, message: str
) -> None:
    with pytest.raises(UnreadableError, match=message):
        GAME.table.amend(STATE, looks, to_move)


@given(st.integers(0, 2**32))
def test_any_position_of_a_game_can_be_reached_by_correction(seed: int) -> None:
    rng = random.Random(seed)
    state = other = GAME.rules.new({"starts": rng.choice(GAME.players)})
    for _ in range(rng.randrange(8)):
        turns = GAME.rules.legal_turns(state)
        state = GAME.rules.apply(state, rng.choice(turns)) if turns else state
    if state.to_move is None:
        return
    amended = GAME.table.amend(other, GAME.table.appearance(state), state.to_move)
    assert GAME.table.appearance(amended) == GAME.table.appearance(state)
    known, possible = SIDE_FACES.facings(state), SIDE_FACES.facings(amended)
    assert known.keys() == possible.keys()
    assert GAME.notation.parse_state(GAME.notation.format_state(amended)) == amended
