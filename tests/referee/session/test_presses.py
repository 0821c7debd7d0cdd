"""A press that ends a turn while something is in the way: it is noted, and counts once the table can be judged."""

from dataclasses import replace
from typing import Any

import pytest

from hardware.pin_map import ButtonRole
from referee.commands.values import Correct, NewGame, Overrule, Press, TakeBack
from referee.judge.verdict import VerdictKind
from referee.session.ports import TurnEnd
from tests.referee.service_table import FPS, Table, kinds_of
from vision.reading import Hindrance, HindranceKind

HIDDEN = "I can't see what happened on {place}. Please clear the view."
NOTED = "The end of the turn is noted. "
LOST = (Hindrance(HindranceKind.NOT_LOCATED, "table not located"),)


def pressed_over(table: Table) -> tuple[Any, str, dict[str, str]]:
    """A player plays and presses while something lies on the square that the block went to."""
    turn, after = table.play(start="c1", end="b1")
    assert table.show(after, 2, hidden=[turn.end]) != []
    (verdict,) = table.service.end_turn()
    assert (verdict.kind, verdict.sentence) == (VerdictKind.CANNOT_SEE, NOTED + HIDDEN.format(place=turn.end))
    return turn, turn.end, after


def test_a_press_over_a_covered_square_counts_once_that_is_uncovered(table_set_up: Any) -> None:
    table = table_set_up(turn_end=TurnEnd.BUTTON)
    _, end, after = pressed_over(table)
    assert table.show(after, 2, hidden=[end]) == []
    assert kinds_of(table.show(after, 2)) == [VerdictKind.ACCEPTED]


def test_a_press_over_a_covered_square_counts_after_a_hand_took_the_thing_away(table_set_up: Any) -> None:
    table = table_set_up(turn_end=TurnEnd.BUTTON)
    _, _, after = pressed_over(table)
    table.hand(after, 1)
    assert kinds_of(table.show(after, 2)) == [VerdictKind.ACCEPTED]


def test_a_press_while_the_markers_are_covered_is_said_to_be_noted(table_set_up: Any) -> None:
    table = table_set_up(turn_end=TurnEnd.BUTTON)
    _, after = table.play(start="c1", end="b1")
    told = table.show(after, 6, hindrances=LOST)
    assert [one.sentence for one in told] == ["table not located"]
    assert table.tell(Press(ButtonRole.END_TURN)).words == "The table is judged once it is at rest."
    (again,) = table.show(after, 3, hindrances=LOST)
    assert (again.kind, again.sentence) == (VerdictKind.CANNOT_SEE, f"{NOTED}Table not located.")
    assert kinds_of(table.show(after, 2)) == [VerdictKind.ACCEPTED]


def test_a_press_about_an_unreadable_square_counts_once_that_can_be_read(table_set_up: Any, start: Any) -> None:
    table = table_set_up(turn_end=TurnEnd.BUTTON)
    turn, after = table.play(start="c1", end="b1")
    unclear = {turn.end: {after[turn.end]: 0.6, "empty": 0.38}}
    table.show(after, 2, overrides=unclear)
    (asked,) = table.service.end_turn()
    assert (asked.kind, asked.sentence.startswith(f"{NOTED}I am not sure what b1")) == (VerdictKind.AMBIGUOUS, True)
    assert kinds_of(table.show(after, 2)) == [VerdictKind.ACCEPTED]


def test_a_noted_press_ends_no_turn_of_which_nothing_is_to_be_seen(table_set_up: Any, start: Any) -> None:
    """Once the table is clear and unchanged, the press was judged, and the next turn needs one of its own."""
    table = table_set_up(turn_end=TurnEnd.BUTTON)
    pressed_over(table)
    table.hand(start, 1)
    assert kinds_of(table.show(start, 2)) == [VerdictKind.UNCHANGED]
    _, after = table.play(start="c1", end="b1")
    table.hand(after, 1)
    assert VerdictKind.ACCEPTED not in kinds_of(table.show(after, 2))


def test_a_noted_press_is_forgotten_when_a_person_takes_a_turn_back_or_begins_a_new_game(
    table_set_up: Any, start: Any
) -> None:
    for command in (TakeBack("p1"), NewGame("deblockle")):
        table = table_set_up(turn_end=TurnEnd.BUTTON)
        _, first = table.play(start="e1", end="f1")
        table.hand(first, 1)
        table.show(first, 1)
        table.service.end_turn()
        assert table.service.belief[0].to_move == "teal"
        turn, after = table.play(start="c5", end="b5")
        table.show(after, 2, hidden=[turn.end])
        assert table.service.end_turn()[0].sentence.startswith(NOTED)
        table.tell(command)
        said = [one for one in table.show(first, 2) if one.kind is VerdictKind.ACCEPTED]
        assert said == []


def test_a_word_of_a_person_on_the_unclear_square_is_not_asked_for_again(table_set_up: Any, start: Any) -> None:
    """A block was taken away, and its owner says that nothing stands on the square that looks as if it did."""
    table = table_set_up(turn_end=TurnEnd.BUTTON)
    look = start["c1"]
    unclear = {"a7": {look: 0.7, "empty": 0.29}}
    without = {**start, "c1": "empty"}
    table.show(without, 2, overrides=unclear)
    (asked,) = table.service.end_turn()
    assert (asked.kind, asked.places) == (VerdictKind.AMBIGUOUS, ("a7",))
    table.tell(Overrule(("a7",)))
    (named,) = table.show(without, 2, overrides=unclear)
    assert named.kind is VerdictKind.ILLEGAL


def test_a_press_before_the_set_up_is_not_said_to_be_the_end_of_a_turn(table: Any, start: Any) -> None:
    waiting = table()
    waiting.service.start()
    waiting.service.end_turn()
    told = waiting.show(start, 6, hindrances=LOST)
    assert [one.sentence for one in told] == ["table not located"]


@pytest.mark.parametrize("turn_end", [TurnEnd.BUTTON, TurnEnd.TOUCH])
def test_a_press_after_a_turn_was_accepted_ends_none_that_is_tried_later(table_set_up: Any, turn_end: TurnEnd) -> None:
    table = table_set_up(turn_end=turn_end)
    _, first = table.play(start="e1", end="f1")
    table.show(first, 2, hidden=["c7"])
    assert kinds_of(table.service.end_turn()) == [VerdictKind.ACCEPTED]
    (again,) = table.service.end_turn()
    assert again.sentence == NOTED + HIDDEN.format(place="c7")
    _, tried = table.play(start="c5", end="b5")
    table.hand(first, 1)
    assert VerdictKind.ACCEPTED not in kinds_of(table.show(tried, 4, hidden=["c7"]) + table.show(tried, 4))
    assert "The end of the turn that was noted no longer counts. Please press again." in table.said
    assert kinds_of(table.service.end_turn()) == [VerdictKind.ACCEPTED]


def test_a_photo_on_which_something_is_hidden_notes_no_press(table_set_up: Any) -> None:
    table = table_set_up(turn_end=TurnEnd.BUTTON)
    start = table.game.table.appearance(table.service.belief[0])
    reading = table.make_reading(start, hidden=["c7"])
    for _ in range(round(FPS)):
        frame = replace(table.frame(), is_still=True)
        table.reader.following = replace(reading, sequence=frame.sequence, time_s=frame.time_s)
        table.service.step(frame)
    assert table.service.shown is not None
    _, tried = table.play(start="c1", end="b1")
    assert VerdictKind.ACCEPTED not in kinds_of(table.show(tried, 4, hidden=["c7"]))


def test_a_noted_press_that_a_person_s_word_overtakes_is_said_to_be_forgotten(table_set_up: Any) -> None:
    table = table_set_up(turn_end=TurnEnd.BUTTON)
    _, end, _ = pressed_over(table)
    table.tell(Correct("Ann", looks={end: "empty"}))
    assert "The end of the turn that was noted no longer counts. Please press again." in table.said
