"""Hypothesis strategies for Diaballik, positions, and changes on the table from them."""

import random

from hypothesis import strategies as st

from engine.registry import load
from engine.values import EMPTY
from tests.engine.games.diaballik import oracle

GAME = load("diaballik")
CHOICES = {option.name: option.choices or (True, False) for option in GAME.options}
OPTIONS = st.fixed_dictionaries({}, optional={name: st.sampled_from(values) for name, values in CHOICES.items()})
"""Any options of a new game."""


def positions(**options):
    """Positions of the oracle: pieces anywhere, walls among them, any options."""
    return st.integers(0, 2**32).map(lambda seed: oracle.random_position(random.Random(seed), **options))


def states(**options):
    """The same positions as the engine's states."""
    return positions(**options).map(lambda position: GAME.notation.parse_state(oracle.drawing(position)))


START = "wwwWwww/......./......./......./......./......./bbbBbbb"
MIDDLE = "ww.W.ww/......./....wb./..b.b../b.w..../......./..B.b.b"
OVER = f"over {START} announced=white:resign"
STUCK = "wb...../wb...../wb...../wb....W/wb...../wb...../B......"
OPEN = "ww.bwww/..w.W../......./......./......./......./bb.Bbbb"
CROWDED = ".wwWwww/......./......./......./......./w....../bbbBbbb"
APART = "wwwWwww/......./b.....b/......b/......b/.b....b/B......"
WALL = "......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb"
WALL_AND_GOAL = "...b.../...B.../......./wwwWwww/bbb..../......./....b.b"
AHEAD = "wwwWwww/......./......./b....../......./......./.bbBbbb"
TWO_FOES = "..wWwww/......./b....../......./w....../w....../Bbbbbb."
TWO_PASSES = "wwbWwww/......./...Bb../......./......./......./bbb.b.w"
SAID = {
    "game-over": [(OVER, "black:resign"), (START, "black:resign")],
    "anti-play-turn": [(f"white {WALL}", "black:anti-play"), (WALL, "black:anti-play")],
    "anti-play-wall": [
        (WALL.replace("w...b.b", "....b.b").replace("w....../", "").replace("b......", "bw....."), "black:anti-play"),
        (WALL, "black:anti-play"),
    ],
    "anti-play-contacts": [
        (WALL.replace("w...b.b", "w...b..").replace(".bB..bb", "bbB..bb"), "black:anti-play"),
        (WALL, "black:anti-play"),
    ],
    "repetition-too-soon": [(f"{START} repetition_draw=true", "black:repetition"), (START, "all:draw")],
}
LOOKS = {"b": "black piece", "B": "black piece with ball", "w": "white piece", "W": "white piece with ball"}


def changed(state, text):
    after = dict(GAME.table.appearance(state))
    for part in text.split():
        after[part[:2]] = EMPTY if part.endswith("-") else LOOKS[part[3]]
    return after


def check(breaches):
    for breach in breaches:
        assert breach.rule in GAME.rules.catalogue
        assert breach.sentence.endswith(".")
        assert breach.remedy.endswith(".")
        assert set(breach.places) <= set(GAME.places)
    return [breach.rule for breach in breaches]


def seen(text, change):
    state = GAME.notation.parse_state(text)
    return check(GAME.table.explain(state, changed(state, change)))
