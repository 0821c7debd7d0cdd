"""What Breakthrough is made of; each part is a module."""

from __future__ import annotations

from engine.games.breakthrough import advice, notation, rules, table

from engine.api import Game

GAME = Game(
    name="breakthrough",
    title="Breakthrough",
    players=rules.PLAYERS,
    options=rules.OPTIONS,
    places=rules.PLACES,
    looks=table.DISCS.names,
    rules=rules,
    table=table,
    notation=notation,
    advice=advice,
)
