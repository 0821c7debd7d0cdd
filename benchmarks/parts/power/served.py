"""A table in a process of its own, with its page, its broker and its command socket: what the kills fall on.

It is the real service on a real file. Only the camera is replaced, by one that sees the pieces where they are believed
to be, as if players moved them after typing each turn.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn.protocols.http.auto  # noqa: F401 - loaded before the fork

from engine.api import Game
from engine.registry import load
from referee.commands.command_socket import open_command_socket
from referee.commands.messages import Role
from referee.commands.queue import CommandQueue
from referee.errors import RefereeError
from referee.journal import BufferedJournal, Journal
from referee.mqtt.options import MqttOptions
from referee.mqtt.server import connect_to_broker
from referee.runtime.builder import open_session
from referee.session.loop import LoopPorts, run
from referee.session.service import Service
from referee.session.settings import ServiceSettings, TurnEnd
from referee.session.table_port import SnapshotHub, TablePort
from referee.web.ports import PageOptions
from referee.web.server import open_page
from vision.frame import Frame, Image
from vision.reading import PlaceReading, Reading

GAMES = tuple(map(load, ("deblockle", "diaballik")))
"""Loaded before the fork, so that a start takes little."""

TABLE = "t1"
_BETWEEN_FRAMES_S = 0.1
_HASTE = 10.0
"""How much faster the frames' time runs, so that what waits five seconds waits half of one."""


@dataclass(frozen=True)
class Place:
    """Where a table is: its game, its journal, and the ports of its page and its broker."""

    game: str
    journal: Path
    page_port: int
    broker_port: int


@dataclass(frozen=True)
class Remark:
    """A sentence that the service said."""

    sentence: str


@dataclass(frozen=True)
class Ended:
    """The service has ended by itself, or as it was told to; ``reason`` is empty for that."""

    reason: str = ""


READY, CLOSE = "ready", "close"
"""What else child and parent say: that all is open, and that all is to be closed."""


class BelievedReader:
    """A reader of a table on which everything stands as the service believes, at first as the game begins."""

    def __init__(self, game: Game[Any, Any]) -> None:
        self._game = game
        self.service: Service[Any, Any] | None = None

    def read(self, frame: Frame) -> Reading:
        """Read a frame."""
        believed = self.service.belief if self.service is not None else ()
        state = believed[0] if believed else self._game.rules.new()
        looks = self._game.table.appearance(state)
        seen = {place: PlaceReading({looks[place]: 1.0}) for place in self._game.places}
        return Reading(frame.sequence, frame.time_s, seen)

    def crop(self, frame: Frame, place: str) -> Image:
        """Give a picture of a place."""
        del place
        return frame.image


class _Camera:
    """Gives a frame at once when there is a command, and else a few in a second."""

    def __init__(self, commands: CommandQueue) -> None:
        self._commands = commands
        self._sequence = 0

    def read(self, timeout_s: float) -> Frame:
        """Give the next frame."""
        self._commands.wait(min(timeout_s, _BETWEEN_FRAMES_S))
        self._sequence += 1
        picture = np.full((24, 24, 3), self._sequence % 256, np.uint8)
        return Frame(picture, _HASTE * time.monotonic(), self._sequence)


def serve_table(place: Place, parent: Connection) -> None:
    """The child: referee until ``parent`` says ``CLOSE`` or the process is killed."""
    said = threading.Lock()

    def tell(message: object) -> None:
        with said:
            parent.send(message)

    stop = threading.Event()
    try:
        _serve(place, stop, parent, tell)
    except RefereeError as error:
        tell(Ended(str(error)))
    else:
        tell(Ended())


def _serve(place: Place, stop: threading.Event, parent: Connection, tell: Callable[[object], None]) -> None:
    def say(sentence: str) -> None:
        tell(Remark(sentence))

    game = load(place.game)
    reader, hub = BelievedReader(game), SnapshotHub()
    broker = MqttOptions("127.0.0.1", place.broker_port, TABLE, "Table 1", discovery_prefix=None, allows=Role.OWN)
    with ExitStack() as stack:
        opened = stack.enter_context(Journal.open(place.journal, wall_clock=lambda: datetime.now(UTC)))
        journal = stack.enter_context(BufferedJournal(opened, say))
        commands = stack.enter_context(CommandQueue(time.monotonic))
        settings = ServiceSettings(turn_end=TurnEnd.BUTTON)
        reader.service = service = stack.enter_context(
            open_session(game, reader, journal, settings, subscribers=(hub,))
        )
        port = TablePort(game, hub, commands, place.journal)
        stack.enter_context(open_page(port, PageOptions(port=place.page_port), say))
        stack.callback(commands.close)
        stack.enter_context(connect_to_broker(port, broker, say, lambda: datetime.now(UTC)))
        stack.enter_context(open_command_socket(place.journal, commands, say))

        def close_on_order() -> None:
            parent.recv()
            stop.set()
            commands.wake()

        threading.Thread(target=close_on_order, daemon=True).start()
        tell(READY)
        referee_until(stop, service, commands)


def referee_until(stop: threading.Event, service: Service[Any, Any], commands: CommandQueue) -> None:
    """Referee until told to stop. As with a real camera the frames do not end, so the last ones end no turn."""
    run(service, _Camera(commands), LoopPorts(commands.wait, commands, stop=stop.is_set))
