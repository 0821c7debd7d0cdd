"""Names in place of sides, in English and in German."""

import pytest

from common.phrases import Phrase, joined, listed
from engine.registry import load
from frontends.languages import sentences
from referee.naming import Names, as_name

GERMAN = sentences("de")
SHEETS = Names.of(load("number-drop"), {"p1": "Anna", "p2": "Hans-Peter"})
DISCS = Names.of(load("diaballik"), {"black": "Ann", "white": "Ben"})
COLOURS = Names.of(load("diaballik"), {"black": "White", "white": "Black"})
BLOCKS = Names.of(load("deblockle"), {"teal": "Ann"})
PROGRAM = Names.of(load("deblockle"), {"teal": "program (fair)"})


SURE = "I am not sure what {parts} show. Please have a look."


@pytest.mark.parametrize(
    ("names", "said", "english", "german"),
    [
        (SHEETS, Phrase("{who} writes a {digit} on {square}.", "p1", 2, "c1"),
         "Anna writes a 2 on c1.", "Anna schreibt eine 2 auf c1."),
        (SHEETS, Phrase("{player} to play.", "P2"), "Hans-Peter to play.", "Hans-Peter ist am Zug."),
        (SHEETS, Phrase("Erase it from {who}'s sheet.", "p1"),
         "Erase it from Anna's sheet.", "Radiere es vom Blatt von Anna."),
        (SHEETS, Phrase("{player} to play.", "P3"), "P3 to play.", "P3 ist am Zug."),
        (SHEETS, Phrase(SURE, listed(["p1.i1", "p1.j1", "p2.a1"])),
         "I am not sure what Anna's i1, j1 and Hans-Peter's a1 show. Please have a look.",
         "Ich bin nicht sicher, was i1, j1 von Anna und a1 von Hans-Peter zeigen. Bitte sieh nach."),
        (SHEETS, Phrase(SURE, listed(["p3.i1", "p1.j1"])),
         "I am not sure what p3.i1 and Anna's j1 show. Please have a look.",
         "Ich bin nicht sicher, was p3.i1 und j1 von Anna zeigen. Bitte sieh nach."),
        (SHEETS, joined([Phrase("{player}: roll the dice.", "p1"), Phrase("{player} to play.", "P2")]),
         "Anna: roll the dice. Hans-Peter to play.", "Anna: wirf die Würfel. Hans-Peter ist am Zug."),
        (SHEETS, Phrase("the turn {text!r} is empty; expected such as {example}", "p1", "p1:a1=1"),
         "the turn 'p1' is empty; expected such as p1:a1=1",
         "der Zug 'p1' ist leer; erwartet wird etwa p1:a1=1"),
        (DISCS, Phrase("There are {found} {colour} pieces, and {player} starts with {right}.", 8, "black", "black", 7),
         "There are 8 black pieces, and Ann starts with 7.", "Da stehen 8 schwarze Steine, und Ann beginnt mit 7."),
        (DISCS, Phrase("{winner} wins: {reason}.", "Ann (black)", Phrase("{player} resigned", "white")),
         "Ann (black) wins: Ben resigned.", "Ann (black) gewinnt: Ben hat aufgegeben."),
        (DISCS, Phrase("{name} ({side})", "Ann", "black"), "Ann (black)", "Ann (Schwarz)"),
        (DISCS, Phrase("On {place} stood a {before} piece, and now a {after} one stands there.",
                       "a1", "black", "white"),
         "On a1 stood a black piece, and now a white one stands there.",
         "Auf a1 stand ein schwarzer Stein, und jetzt steht dort ein weißer."),
        (DISCS, Phrase("It is {to_move}'s turn, not {player}'s.", "black", "white"),
         "It is Ann's turn, not Ben's.", "Ann ist am Zug, nicht Ben."),
        (DISCS, Phrase("{player}:resign", "black"), "black:resign", "black:resign"),
        (DISCS, "black", "Ann", "Ann"),
        (DISCS, "Black resigned, as an old journal says.", "Black resigned, as an old journal says.",
         "Black resigned, as an old journal says."),
        (BLOCKS, Phrase("{place} is {owner}'s own star; its blocks leave on {goal}.", "g1", "teal", "d2"),
         "g1 is Ann's own star; its blocks leave on d2.",
         "g1 ist der eigene Stern von Ann; diese Blöcke gehen auf d2 hinaus."),
        (COLOURS, Phrase("{player} to play.", "Black"), "White to play.", "White ist am Zug."),
        (COLOURS, Phrase("{name} ({side})", as_name("White"), "black"), "White (black)", "White (Schwarz)"),
        (COLOURS, COLOURS(Phrase("{player} to play.", "Black")), "White to play.", "White ist am Zug."),
        (PROGRAM, Phrase("{player} to play.", "Teal"), "Teal to play.", "Türkis ist am Zug."),
        (Names({}), Phrase("{player} to play.", "P1"), "P1 to play.", "P1 ist am Zug."),
    ],
)  # fmt: skip
def test_whoever_gave_a_name_is_called_by_it(names: Names, said: str, english: str, german: str) -> None:
    assert names(said) == english
    assert names(said, GERMAN) == german
    assert GERMAN(names(said)) == german


def test_a_phrase_with_names_stays_a_phrase() -> None:
    said = Phrase("{fault} Or press the button again if it stands as it did.", Phrase("{player}'s time is up", "black"))
    named = DISCS(said)
    assert isinstance(named, Phrase)
    assert named == "Ann's time is up Or press the button again if it stands as it did."
    assert DISCS(said, GERMAN) == GERMAN(said).replace("Schwarz", "Ann")
