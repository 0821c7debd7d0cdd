"""What watching says when it goes on with a game."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from referee.clocks import read_control
from referee.commands.values import NewGame
from referee.journal.journal import Journal
from referee.runtime.watch import kept_clock_remark
from referee.session.log import new_game_event


@pytest.mark.parametrize(
    ("begun", "chosen", "kept"),
    [
        ("none", "fischer 5+3", "none"),
        ("game 10", "fischer 5+3", "game 10"),
        ("fischer 5+3", "fischer 5+3", None),
        ("game 10", "none", None),
    ],
)
def test_a_game_that_goes_on_with_another_clock_than_was_chosen_is_mentioned(
    new_journal: Callable[[], Journal], begun: str, chosen: str, kept: str | None
) -> None:
    journal = new_journal()
    assert kept_clock_remark(read_control(chosen), journal) == ""
    journal.append(new_game_event(NewGame("deblockle"), read_control(begun)))
    expected = f"This game goes on with the clock it began with ({kept}); `./run watch --new` begins another."
    assert kept_clock_remark(read_control(chosen), journal) == (expected if kept else "")
