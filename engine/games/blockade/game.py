"""Assembles Blockade from its modules."""

from __future__ import annotations

from engine.api import Game
from engine.games.blockade import hints, notation, rules, table
from engine.games.blockade.state import LOOKS, OPTIONS, PLACES, PLAYERS

GAME = Game(
    name="blockade",
    title="Blockade",
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=LOOKS,
    rules=rules,
    table=table,
    notation=notation,
    advice=hints,
    dice=rules,
    # Where colours meet, one high roll can have a million ends.
    is_slow_to_list=True,
    tapping=rules,
)
