"""Turns tapped on the board: moves, passes and a final anti-play claim."""

import pytest

from engine.errors import IllegalTurnError
from engine.registry import load
from engine.tapping import tapped

GAME = load("diaballik")
START = "wwwWwww/......./......./......./......./......./bbbBbbb"
WALL = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"


def after(text, taps):
    """The squares and choices that can follow, and the turn so far as text."""
    state = GAME.notation.parse_state(text)
    found = tapped(GAME, state, taps.split())
    said = None if found.turn is None else GAME.notation.format_turn(found.turn)
    return " ".join(found.squares), list(found.choices), said


@pytest.mark.parametrize(
    ("text", "taps", "follows"),
    [
        (START, "", ("a1 b1 c1 d1 e1 f1 g1", [], None)),
        (START, "a1", ("a2", [], None)),
        (START, "d1", ("a1 b1 c1 e1 f1 g1", [], None)),
        (START, "d1 e1", ("a1 b1 c1 d1 f1 g1", [], "d1*e1")),
        (START, "d1 e1 d1", ("d2", [], None)),
        (START, "d1 e1 d1 d2", ("a1 b1 c1 f1 g1 d2", [], "d1*e1 d1-d2")),
        (START, "a1 a2 a2 a3", ("d1", [], "a1-a2 a2-a3")),
        (START, "a1 a2 a2 a3 d1 e1", ("", [], "a1-a2 a2-a3 d1*e1")),
        (f"{START} null_turn=false", "a1 a2 a2 a1", ("d1", [], None)),
        (WALL, "a3 a2", ("b1 c1 f1 g1 a2 e4 g4", [], "a3-a2")),
        (WALL, "f1 f2", ("b1 c1 g1 f2 a3 e4 g4", ["anti-play"], "f1-f2")),
        (WALL, "f1 f2 anti-play", ("", [], "f1-f2 anti-play")),
    ],
)
def test_the_next_possible_taps_and_the_turn_so_far_are_given(text, taps, follows):
    assert after(text, taps) == follows


@pytest.mark.parametrize(
    ("text", "taps"),
    [
        (START, "a1 b1"),
        (START, "a7"),
        (START, "a1 a2 anti-play"),
        (WALL, "a3 a2 anti-play"),
        (WALL, "anti-play"),
        (WALL, "f1 anti-play"),
        (WALL, "anti-play f1 f2"),
        (WALL, "f1 f2 anti-play anti-play"),
    ],
)
def test_taps_that_begin_no_turn_are_refused(text, taps):
    with pytest.raises(IllegalTurnError, match="no turn begins with"):
        after(text, taps)


def test_nothing_is_announced_where_anti_play_is_automatic():
    text = "black black:a1,b1,d1*,e2,f2,g1,c1 white:a3,b3,c3,d3*,e4,f3,g3 antiplay=automatic"
    assert tapped(GAME, GAME.notation.parse_state(text), ("a1", "a2", "b1", "b2")).choices == {}
