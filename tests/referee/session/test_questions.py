"""A question stays on the lights until it is answered, whatever hands, cables or cameras do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from hardware.lights.signals import Mood
from referee.commands.values import EnterTurn
from referee.journal.journal import Journal
from referee.judge.verdict import VerdictKind
from referee.session.ports import ServiceSettings, TurnEnd
from tests.referee.sensed_table import SensedTable
from tests.referee.service_table import wall_clock

Interrupt = Callable[[SensedTable], None]


def hand_over_the_board(table: SensedTable) -> None:
    table.sensors.put("d4", True, table.time_s)
    table.wait(0.2)
    table.sensors.put("d4", False, table.time_s)


def cable_pulled(table: SensedTable) -> None:
    table.sensors.silent = True
    table.wait(12.0)
    table.sensors.silent = False


def nothing_came_for_a_moment(table: SensedTable) -> None:
    table.sensors.heard_s = table.time_s - 2.0
    table.wait(0.2)
    table.sensors.heard_s = None


def camera_gone(table: SensedTable) -> None:
    table.service.say_trouble("The camera is gone.")
    lit = table.lamp.signals[-1]
    assert (lit.mood, lit.words) == (Mood.TROUBLE, "The camera is gone.")
    assert lit.lights
    table.service.end_trouble("The camera is back.")


@pytest.fixture
def asked(deblockle: Any) -> Iterator[SensedTable]:
    """A table with sensors alone that asks about a turn which the switches cannot tell."""
    with ExitStack() as opened:
        journal = opened.enter_context(Journal.in_memory(wall_clock=wall_clock))
        game = deblockle
        settings = ServiceSettings(turn_end=TurnEnd.BUTTON)
        table = SensedTable(game, journal, settings, dict(game.table.appearance(game.rules.new())))
        table.service.start()
        table.wait(4.0)
        turn = game.notation.parse_turn(table.service.belief[0], "c1-b1=x-a2")
        table.carry(game.table.appearance(game.rules.apply(table.service.belief[0], turn)))
        assert [verdict.kind for verdict in table.press()] == [VerdictKind.AMBIGUOUS]
        yield table


@pytest.mark.parametrize("interrupt", [hand_over_the_board, cable_pulled, nothing_came_for_a_moment, camera_gone])
def test_a_question_outlasts_an_interruption(asked: SensedTable, interrupt: Interrupt) -> None:
    question = asked.lamp.signals[-1]
    assert question.mood is Mood.QUESTION
    recorded = asked.kinds()
    interrupt(asked)
    assert asked.wait(6.0) == []
    again = asked.lamp.signals[-1]
    assert (again.mood, again.lights, again.words) == (question.mood, question.lights, question.words)
    assert asked.kinds() == recorded


@pytest.mark.parametrize("interrupt", [cable_pulled, camera_gone])
def test_a_question_can_be_answered_after_an_interruption(asked: SensedTable, interrupt: Interrupt) -> None:
    interrupt(asked)
    asked.service.enter(EnterTurn("c1-b1=x-a2", "Ann"))
    assert asked.lamp.signals[-1].mood is Mood.ACCEPTED
    asked.wait(4.0)
    assert asked.kinds()[-1] == "turn"


def test_an_accepted_turn_is_not_lit_again_after_the_camera_was_gone(asked: SensedTable) -> None:
    """Somebody may have played without the camera, and would take the light for the acceptance of that turn."""
    asked.service.enter(EnterTurn("c1-b1=x-a2", "Ann"))
    asked.service.say_trouble("The camera is gone.")
    asked.service.end_trouble("The camera is back.")
    assert [signal.mood for signal in asked.lamp.signals[-3:]] == [Mood.ACCEPTED, Mood.TROUBLE, Mood.WAITING]
    assert asked.lamp.signals[-3].lights
    assert not asked.lamp.signals[-2].lights


def test_a_question_about_a_hidden_square_ends_once_it_is_visible(deblockle: Any) -> None:
    with ExitStack() as opened:
        journal = opened.enter_context(Journal.in_memory(wall_clock=wall_clock))
        looks = dict(deblockle.table.appearance(deblockle.rules.new()))
        table = SensedTable(deblockle, journal, ServiceSettings(turn_end=TurnEnd.BUTTON), looks, with_camera=True)
        table.sensors.stands.pop("c3")
        table.service.start()
        table.wait(4.0)
        table.camera.hidden = frozenset({"c3"})
        assert [verdict.kind for verdict in table.wait(30.0)] == [VerdictKind.AMBIGUOUS]
        hand_over_the_board(table)
        table.camera.hidden = frozenset()
        assert [verdict.kind for verdict in table.wait(4.0)] == [VerdictKind.UNCHANGED]
        assert table.lamp.signals[-1].mood is Mood.WAITING


@pytest.mark.parametrize("turn_end", list(TurnEnd))
def test_a_question_about_an_unreadable_square_goes_out_once_it_can_be_read(
    table_set_up: Any, start: Any, turn_end: TurnEnd
) -> None:
    on = table_set_up(turn_end=turn_end, stall_s=2.0)
    on.show(start, 5, unreadable=("c1",))
    assert on.lamp.signals[-1].mood is Mood.QUESTION
    on.show(start, 2)
    assert (on.service.shown.kind, on.lamp.signals[-1].mood) == (VerdictKind.UNCHANGED, Mood.WAITING)


def test_putting_the_pieces_back_answers_the_question(asked: SensedTable, deblockle: Any) -> None:
    start = deblockle.table.appearance(deblockle.rules.new())
    verdicts = asked.carry(start) + asked.wait(4.0)
    assert [verdict.kind for verdict in verdicts] == [VerdictKind.UNCHANGED]
    assert asked.lamp.signals[-1].mood is Mood.WAITING
