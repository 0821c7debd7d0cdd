"""The table to be killed ends like a real one."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any

import numpy as np

from benchmarks.parts.power.served import GAMES, BelievedReader, referee_until
from referee.commands.values import CommandQueue, EnterTurn, TakeBack
from referee.journal.events import EventKind
from referee.journal.journal import Journal
from referee.runtime.builder import open_session
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.service import Service
from vision.frame import Frame


def test_a_table_that_is_told_to_close_plays_no_turn_by_itself() -> None:
    game, reader, stop = GAMES[0], BelievedReader(GAMES[0]), threading.Event()
    with (
        Journal.in_memory(wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal,
        open_session(game, reader, journal, ServiceSettings(turn_end=TurnEnd.BUTTON)) as service,
    ):
        reader.service = service
        _look_at(service, 0.0, 1.0, 2.0, 3.0)
        service.enter(EnterTurn("c3-d3=slider-d7", "order 1"))
        _look_at(service, 4.0, 4.1)
        service.take_back(TakeBack("order 2"))
        service.enter(EnterTurn("e1-d1=slider-g1", "order 3"))
        _look_at(service, 4.2)
        service.take_back(TakeBack("order 4"))
        stop.set()
        referee_until(stop, service, CommandQueue(lambda: 4.2))
        turn, take_back = EventKind.TURN, EventKind.TAKE_BACK
        kinds = [event.kind for _, event in journal.events()]
    assert kinds == [EventKind.NEW_GAME, EventKind.SET_UP, turn, take_back, turn, take_back]


def _look_at(service: Service[Any, Any], *times_s: float) -> None:
    for time_s in times_s:
        number = round(10 * time_s)
        service.step(Frame(np.full((24, 24, 3), number, np.uint8), time_s, number))
