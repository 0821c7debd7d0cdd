"""Names in place of sides, in English and in German."""

import pytest

from common.phrases import Phrase
from engine.registry import load
from referee.languages import sentences
from referee.naming import Names

GERMAN = sentences("de")
SHEETS = Names.of(load("number-drop"), {"p1": "Anna", "p2": "Hans-Peter"})
DISCS = Names.of(load("diaballik"), {"black": "Ann", "white": "Ben"})
TITLES = Names.of(load("diaballik"), {"black": "A. Black", "white": "Mr. White"})
BLOCKS = Names.of(load("deblockle"), {"teal": "Ann"})


@pytest.mark.parametrize(
    ("names", "text", "english"),
    [
        (SHEETS, "p1 writes a 2 on c1. P2 to play.", "Anna writes a 2 on c1. Hans-Peter to play."),
        (SHEETS, "Erase it from p1's sheet. p3 plays.", "Erase it from Anna's sheet. p3 plays."),
        (SHEETS, "I am not sure what p1.i1, p1.j1 and p2.a1 show.",
         "I am not sure what Anna's i1, j1 and Hans-Peter's a1 show."),
        (SHEETS, "p1: 12 points; same 3----", "Anna: 12 points; same 3----"),
        (SHEETS, "such as p2:a1=1 or `p2: a1=1`, or p1=2", "such as p2:a1=1 or `p2: a1=1`, or p1=2"),
        (SHEETS, "there is no player 'p1'", "there is no player 'p1'"),
        (DISCS, "Black moves a1 to a2. White to play.", "Ann moves a1 to a2. Ben to play."),
        (DISCS, "There are 8 black pieces, and black starts with 7.",
         "There are 8 black pieces, and Ann starts with 7."),
        (DISCS, "Ann (black) wins: white resigned.", "Ann (black) wins: Ben resigned."),
        (DISCS, "On a1 stood a black piece, and now a white one stands there.",
         "On a1 stood a black piece, and now a white one stands there."),
        (DISCS, "Put white's ball back on a1; the black one stays.", "Put Ben's ball back on a1; the black one stays."),
        (DISCS, "black:resign", "black:resign"),
        (BLOCKS, "Gold's block is teal's, not the teal block.", "Gold's block is Ann's, not the teal block."),
        (BLOCKS, "Teal's own star is g1, and teal block hops.", "Ann's own star is g1, and teal block hops."),
        (Names({}), "P1 to play.", "P1 to play."),
    ],
)  # fmt: skip
def test_whoever_gave_a_name_is_called_by_it(names, text, english):
    assert names(text) == english


@pytest.mark.parametrize(
    ("names", "text", "german"),
    [
        (SHEETS, "p1 writes a 2 on c1. P2 to play.", "Anna schreibt eine 2 auf c1. Hans-Peter ist am Zug."),
        (SHEETS, "Erase it from p1's sheet.", "Radiere es vom Blatt von Anna."),
        (
            SHEETS,
            "I am not sure what p1.i1 shows. Please have a look.",
            "Ich bin nicht sicher, was i1 von Anna zeigt. Bitte sieh nach.",
        ),
        (DISCS, "Black moves a1 to a2. White to play.", "Ann zieht a1 nach a2. Ben ist am Zug."),
        (DISCS, "It is black's turn, not white's.", None),
        (DISCS, "There are 8 black pieces, and black starts with 7.", None),
        (DISCS, "White wins: black resigned.", None),
    ],
)
def test_names_are_kept_in_another_language(names, text, german):
    said = names(text, GERMAN)
    if german is None:
        sides = {"Anna": "p1", "Hans-Peter": "p2"} if names is SHEETS else {"Ann": "Schwarz", "Ben": "Weiß"}
        for name, side in sides.items():
            said = said.replace(name, side)
        assert said.lower() == GERMAN(text).lower()
    else:
        assert said == german


def test_names_stand_in_the_parts_of_a_phrase_which_stays_a_phrase() -> None:
    said = Phrase("{fault} Or press the button again if it stands as it did.", Phrase("{player}'s time is up", "black"))
    named = DISCS(said)
    assert isinstance(named, Phrase)
    assert named == "Ann's time is up Or press the button again if it stands as it did."
    assert DISCS(said, GERMAN) == GERMAN(said).replace("Schwarz", "Ann")
    hinted = Phrase("{place} is {look}", "c3", "black piece")
    assert DISCS(hinted, GERMAN) == GERMAN(hinted)


def test_a_name_with_a_full_stop_and_a_side_in_it_is_put_in_once():
    told = TITLES("Black moves a1 to a2. White to play.")
    assert TITLES(told, GERMAN) == "A. Black zieht a1 nach a2. Mr. White ist am Zug."
    assert TITLES("Mr. White (white) wins: black resigned.", GERMAN).startswith("Mr. White (")


def test_a_text_that_has_the_names_already_is_translated_too():
    assert SHEETS("Anna writes a 2 on c1.", GERMAN) == "Anna schreibt eine 2 auf c1."
