"""What a person reads at a terminal: the drawn board and the rules in short."""

import pytest
from hypothesis import given

from engine.errors import OptionError
from engine.registry import load
from tests.engine.games.deblockle import oracle
from tests.engine.games.deblockle.strategies import OPTIONS, positions

GAME = load("deblockle")


def test_a_position_is_drawn():
    state = GAME.notation.parse_state("teal c3:G.hoops? e7:T.slider/north=star removed=1,2")
    assert GAME.notation.diagram(state).splitlines() == [
        "      a      b      c      d      e      f      g",
        " 7    .      .      .      .     T:<>    .      .    7",
        " 6    .      .      .      *      .      .      .    6",
        " 5    .      .      .      .      .      .      .    5",
        " 4    .      .      .      .      .      .      .    4",
        " 3    .      .    G:ooo    .      .      .      .    3",
        " 2    .      .      .      *      .      .      .    2",
        " 1    .      .      .      .      .      .      .    1",
        "      a      b      c      d      e      f      g",
        "",
        " c3 gold: hoops up, turned in one of 4 ways",
        " e7 teal: slider up, star north, cross east, stop south, x west",
        "",
        " teal to move; gold has removed 1, teal 2",
    ]


@given(positions())
def test_every_drawing_is_narrow_and_names_every_block(position):
    state = GAME.notation.parse_state(oracle.text(position))
    drawn = GAME.notation.diagram(state).splitlines()
    assert max(map(len, drawn)) <= 100
    standing = [line for line in drawn if " up, " in line]
    assert len(standing) == len(state.blocks)
    assert ("the game is over" in drawn[-1]) == (state.to_move is None)


@given(OPTIONS)
def test_the_rules_in_short_say_what_the_options_change(options):
    told = GAME.notation.summary(options)
    settings = GAME.rules.new(options).options
    assert ("side by side" in told or "right beside" in told) == (not settings.side_by_side)
    assert ("may claim a draw" in told) == settings.repetition_draw
    assert ("stays where it rolled" in told) == settings.hop_forfeited_when_stuck
    assert ("stop just before it" in told) == settings.slider_stops_before_star
    assert f"{settings.starts} begins" in told
    assert all(paragraph.strip() for paragraph in told.split("\n\n"))


def test_the_rules_of_no_such_option_are_not_told():
    with pytest.raises(OptionError, match="no option"):
        GAME.notation.summary({"bananas": 1})
