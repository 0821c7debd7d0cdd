"""Assembles Blockade from its modules."""

from __future__ import annotations

from engine.api import Game
from engine.games.blockade import notation, rolls, rules, table, tapping
from engine.games.blockade.advice import hints
from engine.games.blockade.board import OPTIONS, PLACES, PLAYERS
from engine.games.blockade.state import LOOKS

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
    dice=rolls,
    # Where colours meet, one high roll can have a million ends.
    is_slow_to_list=True,
    tapping=tapping,
)
