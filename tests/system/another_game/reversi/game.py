"""What Reversi is made of; each part is a module."""

from __future__ import annotations

from engine.games.reversi import advice, notation, rules, table

from engine.api import Game

GAME = Game(
    name="reversi",
    title="Reversi",
    players=rules.PLAYERS,
    options=rules.OPTIONS,
    places=rules.PLACES,
    looks=table.DISCS.names,
    rules=rules,
    table=table,
    notation=notation,
    advice=advice,
    scores=rules.scores,
    adds_pieces=True,
    turns_pieces_over=True,
)
