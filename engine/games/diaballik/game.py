"""Assembles Diaballik from its modules."""

from engine.api import Game
from engine.games.diaballik import hints, notation, rules, table
from engine.games.diaballik.state import LOOKS, OPTIONS, PLACES, PLAYERS

GAME = Game(
    name="diaballik",
    title="Diaballik",
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=LOOKS,
    rules=rules,
    table=table,
    notation=notation,
    advice=hints,
    tapping=rules.tapped,
    turns_showing=rules.turns_showing,
    count_results=rules.count_results,
)
