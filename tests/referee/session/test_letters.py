"""Number Drop: a letter is announced at any time, and leaves dice and turns on the table as they are."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.registry import load
from referee.commands.values import Announce, Correct, EnterRoll, TakeBack
from referee.judge.verdict import VerdictKind
from referee.session.ports import ServiceSettings, TurnEnd
from tests.referee.judge.drawn import places_drawn
from tests.referee.judge.test_untouched_dice import NUMBER_DROP_FACES, Die
from tests.referee.service_table import Table, kinds_of
from vision.reading import Hindrance, HindranceKind, Reading, RollReading

GAME: Any = load("number-drop")
OPEN_LETTER = (
    "roll p1=8.47.../76.47../1..4461/7.....7/2....46/1.....6/1.....1|loop:d5+e5+d6|loop:a6+b6+a7 "
    "p2=7....../64.44../3677.../.71..../.16..../.14..../.64..../.47..../.62.... slots=I4,S4,O4,X5,I3 first=p2"
)
"""Player 1 may circle the letter A; dice are to be rolled."""
FACES = tuple(dict.fromkeys("".join(NUMBER_DROP_FACES)))
THROWN = [Die(30.0 * at + 9, 60.0, face) for at, face in enumerate("3461L")]


def reading(appearance: Any, dice: Any = (), hindrances: Any = ()) -> Reading:
    lying = tuple(die.reading(FACES) for die in dice)
    return Reading(0, 0.0, places_drawn(GAME, appearance), hindrances, rolls=(RollReading("tray", lying),))


@pytest.fixture
def table(new_journal: Callable[[], Any]) -> Table:
    made = Table(GAME, reading, new_journal(), ServiceSettings(rest_s=1.0, turn_end=TurnEnd.BUTTON))
    made.service.start()
    made.tell(Correct("Ann", position=OPEN_LETTER))
    made.show(believed(made), 2)
    return made


def believed(table: Table) -> Any:
    return GAME.table.appearance(table.service.belief[0])


def test_dice_of_which_some_were_hidden_are_a_roll_after_a_letter_was_announced(table: Table) -> None:
    assert VerdictKind.ACCEPTED not in kinds_of(table.show(believed(table), 3, dice=THROWN[:4]))
    table.tell(Announce("p1:letter-a", "p1"))
    (rolled,) = table.show(believed(table), 5, dice=THROWN)
    assert (rolled.kind, rolled.roll) == (VerdictKind.ACCEPTED, "1,3,4,6,L")


def test_a_noted_press_stays_noted_when_a_letter_is_announced(table: Table) -> None:
    table.show(believed(table), 2, dice=THROWN)
    state = table.service.belief[0]
    written = GAME.table.appearance(GAME.rules.apply(state, GAME.rules.legal_turns(state)[0]))
    hand = (Hindrance(HindranceKind.HAND, "a hand is over the sheet", ("p2.a1",)),)
    table.show(written, 1, dice=THROWN, hindrances=hand)
    table.service.end_turn()
    table.show(written, 6, dice=THROWN, hindrances=hand)
    table.tell(Announce("p1:letter-a", "p1"))
    assert VerdictKind.ACCEPTED in kinds_of(table.show(written, 4, dice=THROWN))


def test_a_typed_roll_replaces_the_cameras_once_a_letter_was_taken_back(table: Table) -> None:
    table.show(believed(table), 2, dice=THROWN)
    table.tell(Announce("p1:letter-a", "p1"))
    assert table.tell(EnterRoll("3,3,4,6,L", "p1")).refused
    table.tell(TakeBack("p1"))
    assert table.tell(EnterRoll("3,3,4,6,L", "p1")).words == "3,3,4,6,L was rolled."
