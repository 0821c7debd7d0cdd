"""The builder of sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.registry import load
from engine.search.budget import CountingClock
from referee.commands.values import RestoreSensor
from referee.hints.advice import Question
from referee.hints.opponent import ImmediateHints
from referee.journal.journal import Journal
from referee.runtime.builder import attention, compose_reader, open_session
from referee.sensing.readers import FusedReader, SensorReader
from referee.session.feed import TableSnapshot
from referee.session.ports import ServiceSettings
from tests.referee.sensed_table import ScriptedSensors
from tests.referee.service_table import ScriptedReader
from vision.motion.changes import Attention


class ClosedHints(ImmediateHints):
    """Remembers whether it was closed."""

    closed = False

    def ask(self, question: Question) -> None:
        raise AssertionError("no question is expected")

    def close(self) -> None:
        self.closed = True


def test_a_session_is_started_and_closed(deblockle: Any, new_journal: Callable[[], Journal]) -> None:
    journal, hints = new_journal(), ClosedHints(CountingClock(0.01))
    first: list[TableSnapshot] = []
    second: list[TableSnapshot] = []
    for resume, games in ((True, 1), (True, 1), (False, 2)):
        with open_session(
            deblockle,
            ScriptedReader(),
            journal,
            ServiceSettings(),
            subscribers=(first.append, second.append),
            hints=hints,
            resume=resume,
            seed=7,
        ) as service:
            assert service.game_number == games
        assert hints.closed
    assert first == second
    assert [snapshot.game_number for snapshot in first] == [1, 1, 2]
    assert [event.data["seed"] for _, event in journal.events()] == [7, 7]


def test_a_sensor_put_back_into_use_is_recorded_in_the_journal(
    deblockle: Any, new_journal: Callable[[], Journal]
) -> None:
    journal, said = new_journal(), list[str]()
    with open_session(
        deblockle,
        ScriptedReader(),
        journal,
        ServiceSettings(),
        say=said.append,
        restore=lambda place: f"{place} is used again.",
    ) as service:
        replies: list[Any] = []
        service.execute(RestoreSensor("c3", "Ann"), replies.append)
    assert [reply.words for reply in replies] == ["c3 is used again."]
    assert said == ["c3 is used again. Ann asked for it."]
    assert journal.events()[-1][1].data["sentence"] == said[0]


def test_a_session_is_closed_after_an_error(deblockle: Any, new_journal: Callable[[], Journal]) -> None:
    hints = ClosedHints(CountingClock(0.01))

    def fail() -> None:
        with open_session(deblockle, ScriptedReader(), new_journal(), ServiceSettings(), hints=hints):
            raise KeyError("a mistake of ours")

    with pytest.raises(KeyError, match="a mistake of ours"):
        fail()
    assert hints.closed


def test_the_reader_uses_the_available_camera_and_sensors(deblockle: Any) -> None:
    seen, sensors = ScriptedReader(), ScriptedSensors({})
    assert isinstance(compose_reader(deblockle, None, sensors), SensorReader)
    assert compose_reader(deblockle, seen, None) is seen
    assert isinstance(compose_reader(deblockle, seen, sensors), FusedReader)
    with pytest.raises(ValueError, match="got neither"):
        compose_reader(deblockle, None, None)


@pytest.mark.parametrize(("name", "while_moving"), [("deblockle", Attention.STILL), ("number-drop", Attention.MOVING)])
def test_a_hand_that_writes_does_not_keep_the_others_sheets_from_being_read(name: str, while_moving: Attention) -> None:
    assert attention(load(name)) is while_moving
    assert attention(load(name), stills=True) is Attention.ALL
