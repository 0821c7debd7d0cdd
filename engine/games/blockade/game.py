"""Assembles Blockade from its modules."""

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
    dice_names=rules.dice_names,
    decided_by=rules.told,
    heights=table.heights,
    squares=notation.squares,
    tallies=notation.tallies,
    # Where colours meet, one high roll can have a million ends.
    lists_turns_slowly=True,
    tapping=rules.tapped,
    turns_showing=rules.turns_showing,
    count_from=rules.count_from,
)
