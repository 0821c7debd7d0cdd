"""Assembles Number Drop from its modules. Players and places are those of the largest game."""

from common.phrases import Phrase
from engine.api import Game
from engine.games.number_drop import hints, notation, rules, table, turns
from engine.games.number_drop.sheet import printed_sheet
from engine.games.number_drop.state import LOOKS, OPTIONS, PLACES, PLAYERS
from engine.games.number_drop.table import marked_sheets
from engine.games.number_drop.turns import scores_of

GAME = Game(
    name="number-drop",
    title=Phrase("Number Drop"),
    players=PLAYERS,
    options=OPTIONS,
    places=PLACES,
    looks=LOOKS,
    rules=rules,
    table=table,
    notation=notation,
    advice=hints,
    dice=turns,
    to_draw=turns.to_draw,
    tiles=table.tiles,
    shapes=table.shapes,
    scores=scores_of,
    printed_sheet=printed_sheet,
    marked_sheets=marked_sheets,
    points_of_sheet=table.points_of_sheet,
    looks_before=table.looks_before,
    tapping=rules.tapped,
    turns_showing=rules.turns_showing,
    change_of=turns.change_of,
    count_from=rules.count_from,
    alone=hints.alone,
)
