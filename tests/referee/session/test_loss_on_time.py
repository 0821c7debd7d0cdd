"""A loss on time: recorded as a resignation, told as what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from referee.clocks import FlagRule, read_control
from referee.commands.values import EnterTurn, TakeBack
from referee.journal.exports import event_lines
from referee.journal.journal import Journal


def lost_on_time(table: Callable[..., Any], start: Any) -> Any:
    """A game that gold has just lost on time."""
    on = table(clock=read_control("game 0.1", flag=FlagRule.LOSES))
    on.service.start()
    on.show(start, 10)
    assert on.kinds()[-2:] == ["announced", "end"]
    return on


def test_a_turn_typed_after_the_flag_fell_saves_nobody(table: Callable[..., Any], start: Any) -> None:
    on = table(clock=read_control("game 0.1", flag=FlagRule.LOSES))
    on.service.start()
    on.show(start, 2)
    turn, after = on.play(start="c1", top="hoops")
    on.hand(after, 5)
    assert on.kinds() == ["new game", "set up"], "the table is not at rest"
    assert not on.tell(EnterTurn(on.game.notation.format_turn(turn), "Ann")).refused
    on.show(after, 0.1)
    assert on.snapshots[-1].outcome.reason == "gold's time is up"


def test_a_loss_on_time_is_told_as_one(table: Callable[..., Any], start: Any) -> None:
    on = lost_on_time(table, start)
    assert event_lines(on.game, on.journal.events())[-2].sentence == "Gold loses on time."
    assert on.tell(TakeBack("Ben")).words == "Gold's loss on time is taken back."
    assert event_lines(on.game, on.journal.events())[-1].sentence == "Gold's loss on time is taken back by Ben"


def test_a_loss_on_time_whose_end_a_power_cut_took_is_still_one(
    table: Callable[..., Any], start: Any, new_journal: Callable[[], Journal]
) -> None:
    cut = new_journal()
    for _, event in lost_on_time(table, start).journal.events()[:-1]:
        cut.append(event)
    again = table(cut)
    again.service.start()
    (end,) = [event for _, event in cut.events() if event.kind == "end"]
    assert end.data["reason"] == "gold's time is up"
    assert "Teal wins: gold's time is up." in again.said
