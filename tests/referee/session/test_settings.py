"""What the house's settings add to a new game."""

from __future__ import annotations

import pytest

from engine.registry import load
from referee.clocks import ClockMode, FlagRule, TimeControl
from referee.commands.values import NewGame
from referee.errors import CorrectionError, FieldError
from referee.hints.advice import HintSettings, HintStrength
from referee.session.ports import ServiceSettings

HOUSE = TimeControl(ClockMode.FISCHER, 300.0, 3.0, FlagRule.LOSES, waits=False)


@pytest.mark.parametrize(
    ("strength", "asked", "ruled_out"),
    [("fair", False, False), ("fair", True, True), ("none", False, True), ("none", True, True)],
)
def test_hints_are_ruled_out_by_the_house_or_by_the_game(strength: HintStrength, asked: bool, ruled_out: bool) -> None:
    settings = ServiceSettings(hints=HintSettings(strength))
    assert settings.complete(load("diaballik"), NewGame("diaballik", without_hints=asked))[0].without_hints is ruled_out


@pytest.mark.parametrize(
    ("command", "clock"),
    [
        (NewGame("diaballik"), HOUSE),
        (NewGame("diaballik", clock="none"), None),
        (NewGame("diaballik", clock="game 10"), TimeControl(ClockMode.GAME, 600.0, 0.0, FlagRule.LOSES, waits=False)),
    ],
    ids=["the house's", "none", "its own, by the rules of the house"],
)
def test_a_game_has_the_houses_clock_unless_it_has_its_own_or_none(command: NewGame, clock: TimeControl | None) -> None:
    settings = ServiceSettings(clock=HOUSE, flag=FlagRule.LOSES, clock_waits=False)
    assert settings.complete(load("diaballik"), command)[1] == clock


def test_a_side_is_named_once() -> None:
    command = NewGame("diaballik", {}, {"white": "Ann", "White": "Bea"})
    with pytest.raises(CorrectionError, match="a side is named twice: white, White"):
        ServiceSettings().complete(load("diaballik"), command)


def test_a_clock_that_cannot_be_read_is_told_of_its_field() -> None:
    with pytest.raises(FieldError, match="cannot read the clock 'soon'") as refused:
        ServiceSettings().complete(load("diaballik"), NewGame("diaballik", clock="soon"))
    assert refused.value.field == "clock"
