"""Assembles the Blokus Dice Game from its modules. Places are those of four printed sheets."""

from common.phrases import Phrase
from engine.api import Game
from engine.games.blokus_dice import hints, notation, rules, sheet, table
from engine.games.blokus_dice.state import LOOKS, OPTIONS, PLAYERS
from engine.games.blokus_dice.table import marked_sheets, printed_sheet
from engine.games.blokus_dice.turns import scores_of

GAME = Game(
    name="blokus-dice",
    title=Phrase("Blokus Dice Game"),
    players=PLAYERS,
    options=OPTIONS,
    places=tuple(table.appearance(rules.new())),
    looks=LOOKS,
    rules=rules,
    table=table,
    notation=notation,
    advice=hints,
    dice=rules,
    squares=notation.squares,
    passed_over=notation.passed_over,
    scores=scores_of,
    sheet_file=sheet,
    printed_sheet=printed_sheet,
    marked_sheets=marked_sheets,
    points_of_sheet=table.points_of_sheet,
    tapping=rules.tapped,
    turns_showing=rules.turns_showing,
    count_results=rules.count_results,
    count_from=rules.count_from,
)
