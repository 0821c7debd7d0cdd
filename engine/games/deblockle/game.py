"""Assembles Deblockle from its modules."""

from common.phrases import Phrase
from engine.api import Game
from engine.games.deblockle import hints, notation, rules, table
from engine.games.deblockle.state import LOOKS, OPTIONS, PLACES, PLAYERS

GAME = Game(
    name="deblockle",
    title="Deblockle",
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=LOOKS,
    rules=rules,
    table=table,
    notation=notation,
    advice=hints,
    side_faces=table,
    rolled_set_up=table.rolled_set_up,
    passed_over=notation.passed_over,
    goals={"d2": Phrase("teal's goal"), "d6": Phrase("gold's goal")},
    tapping=rules.tapped,
    turns_showing=rules.turns_showing,
    count_results=rules.count_results,
)
