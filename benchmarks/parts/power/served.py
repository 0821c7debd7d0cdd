"""A table in its own process, with page, broker and command socket: the process to kill.

It is the real service with a real journal file. Only the camera is replaced: pieces always appear where the service
believes them, as if players moved them after typing each turn.
"""

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

from app.runtime.builder import open_session
from app.runtime.command_socket import open_command_socket
from engine.api import Game
from engine.registry import load
from frontends.mqtt.options import MqttOptions
from frontends.mqtt.table_link import connect_to_broker
from frontends.page.server import open_page
from frontends.page.settings import PageOptions
from frontends.table_port import SnapshotHub, TablePort
from journal.journal import BufferedJournal, Journal
from referee.commands.values import CommandQueue, Role
from referee.errors import RefereeError
from referee.session.loop import LoopPorts, run
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.service import Service
from vision.frame import Frame, Image
from vision.reading import PlaceReading, Reading

GAMES = tuple(map(load, ("deblockle", "diaballik")))
"""Loaded before the fork, for a fast start."""

TABLE = "t1"
_BETWEEN_FRAMES_S = 0.1
_SPEED_UP = 10.0
"""Factor of the frames' clock, so that a wait of five seconds takes half a second."""


@dataclass(frozen=True)
class TableAddress:
    """A table's game, its journal, and the ports of its page and its broker."""

    game: str
    journal: Path
    page_port: int
    broker_port: int


@dataclass(frozen=True)
class Remark:
    """A sentence from the service."""

    sentence: str


@dataclass(frozen=True)
class Ended:
    """The service has ended; ``reason`` is empty if it was told to."""

    reason: str = ""


READY, CLOSE = "ready", "close"
"""Other messages: the child is ready; the parent tells it to close."""


class BelievedReader:
    """A reader of a table that always shows what the service believes, at first the game's start."""

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
    """Gives a frame immediately after a command, and otherwise ten a second."""

    def __init__(self, commands: CommandQueue) -> None:
        self._commands = commands
        self._sequence = 0

    def read(self, timeout_s: float) -> Frame:
        """Give the next frame."""
        self._commands.wait(min(timeout_s, _BETWEEN_FRAMES_S))
        self._sequence += 1
        picture = np.full((24, 24, 3), self._sequence % 256, np.uint8)
        return Frame(picture, _SPEED_UP * time.monotonic(), self._sequence)


def serve_table(address: TableAddress, parent: Connection) -> None:
    """The child process: referee until ``parent`` sends ``CLOSE`` or the process is killed."""
    lock = threading.Lock()

    def tell(message: object) -> None:
        with lock:
            parent.send(message)

    stop = threading.Event()
    try:
        _serve(address, stop, parent, tell)
    except RefereeError as error:
        tell(Ended(str(error)))
    else:
        tell(Ended())


def _serve(address: TableAddress, stop: threading.Event, parent: Connection, tell: Callable[[object], None]) -> None:
    def say(sentence: str) -> None:
        tell(Remark(sentence))

    game = load(address.game)
    reader, hub = BelievedReader(game), SnapshotHub()
    broker = MqttOptions("127.0.0.1", address.broker_port, TABLE, "Table 1", discovery_prefix=None, allows=Role.OWN)
    with ExitStack() as stack:
        opened = stack.enter_context(Journal.open(address.journal, wall_clock=lambda: datetime.now(UTC)))
        journal = stack.enter_context(BufferedJournal(opened, say))
        commands = stack.enter_context(CommandQueue(time.monotonic))
        settings = ServiceSettings(turn_end=TurnEnd.BUTTON)
        reader.service = service = stack.enter_context(
            open_session(game, reader, journal, settings, subscribers=(hub,))
        )
        port = TablePort(game, hub, commands, address.journal)
        stack.enter_context(open_page(port, PageOptions(port=address.page_port), say))
        stack.callback(commands.close)
        stack.enter_context(connect_to_broker(port, broker, say, lambda: datetime.now(UTC)))
        stack.enter_context(open_command_socket(address.journal, commands, say))

        def close_on_order() -> None:
            parent.recv()
            stop.set()
            commands.wake()

        threading.Thread(target=close_on_order, daemon=True).start()
        tell(READY)
        referee_until(stop, service, commands)


def referee_until(stop: threading.Event, service: Service[Any, Any], commands: CommandQueue) -> None:
    """Referee until ``stop`` is set. As with a real camera, frames never end, so the last ones don't end a turn."""
    run(service, _Camera(commands), LoopPorts(commands.wait, commands, stop=stop.is_set))
