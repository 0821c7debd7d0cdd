"""Assembles Deblockle from its modules."""

from __future__ import annotations

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
    goals={"d2": "teal's goal", "d6": "gold's goal"},
    tapping=rules,
)
