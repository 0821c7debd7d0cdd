"""A session and its page in this process: the reader is told what stands where, and looks when it is asked to."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from engine.api import Game, OptionValue
from engine.registry import load
from hardware.pin_map import ButtonRole
from referee.commands.queue import CommandQueue
from referee.commands.values import Command, Press, Reply
from referee.journal import Journal
from referee.runtime.builder import open_session
from referee.session.execution import execute
from referee.session.feed import Snapshot
from referee.session.loop import serve
from referee.session.service import Service
from referee.session.settings import ServiceSettings
from referee.web.ports import PageOptions, SnapshotHub, TablePort
from referee.web.server import open_page
from vision.frame import Frame, Image
from vision.reading import PlaceReading, Reading

ANSWER_S = 20.0


class ToldReader:
    """A reader that is told what stands where; its crops show how often it has looked."""

    def __init__(self, looks: Mapping[str, str]) -> None:
        self.looks = dict(looks)

    def read(self, frame: Frame) -> Reading:
        seen = {place: PlaceReading({look: 1.0}) for place, look in self.looks.items()}
        return Reading(frame.sequence, frame.time_s, seen)

    def crop(self, frame: Frame, place: str) -> Image:
        picture: Image = np.full((24, 24, 3), 60 + 40 * (frame.sequence % 4), np.uint8)
        picture[4:20, 4:20] = (40, 160, 210) if self.looks.get(place, "empty") != "empty" else (150, 180, 210)
        return picture


@dataclass
class Session:
    """A session in a thread of its own. ``reader.looks`` is what it sees at the next end of a turn."""

    game: Game[Any, Any]
    reader: ToldReader
    commands: CommandQueue
    snapshots: SnapshotHub
    journal: Path
    _stopped: threading.Event = field(default_factory=threading.Event)

    def hear(self, snapshot: Snapshot) -> None:
        """Take a snapshot for the page that is open now."""
        self.snapshots(snapshot)

    def tell(self, command: Command) -> Reply:
        """Give a command and wait for its reply."""
        answered = threading.Event()
        replies: list[Reply | None] = []

        def hear(reply: Reply | None) -> None:
            replies.append(reply)
            answered.set()

        self.commands.submit(command, hear)
        assert answered.wait(ANSWER_S)
        assert replies[0] is not None
        return replies[0]

    def end_turn(self) -> Reply:
        """Have the table judged as it stands now."""
        return self.tell(Press(ButtonRole.END_TURN))

    def port(self) -> TablePort:
        """What a page is given; a new one, since a page that closes takes no more snapshots."""
        hub = SnapshotHub()
        newest = self.snapshots.newest
        if newest is not None:
            hub(newest.snapshot)
        self.snapshots = hub
        frame = Frame(np.full((120, 160, 3), 90, np.uint8), 0.0, 0)
        return TablePort(self.game, hub, self.commands, self.journal, lambda: frame, lambda seen: seen.image)

    def work(self, service: Service[Any, Any]) -> None:
        """Carry out what is told until the session ends."""
        sequence = 1
        blank = np.zeros((8, 8, 3), np.uint8)
        while not self._stopped.is_set():
            self.commands.wait()
            serve(service, self.commands)
            for pressed in self.commands.take_presses():
                service.step(Frame(blank, float(sequence), sequence), ends_turn=True)
                sequence += 1
                execute(service, pressed.command, pressed.respond)

    def stop(self) -> None:
        """End it."""
        self._stopped.set()
        self.commands.wake()


@contextmanager
def session(name: str, folder: Path, options: Mapping[str, OptionValue] | None = None) -> Iterator[Session]:
    """Run a session of a game that is set up."""
    game: Game[Any, Any] = load(name)
    reader = ToldReader(game.table.appearance(game.rules.new(options)))
    running = Session(game, reader, CommandQueue(time.monotonic), SnapshotHub(), folder / "journal.sqlite")
    settings = ServiceSettings(options=dict(options or {}), stills=True)
    ready = threading.Event()

    def run() -> None:
        with (
            Journal.open(running.journal, wall_clock=lambda: datetime.now(UTC)) as journal,
            open_session(game, reader, journal, settings, subscribers=(running.hear,)) as service,
        ):
            service.step(Frame(np.zeros((8, 8, 3), np.uint8), 0.0, 0))
            ready.set()
            running.work(service)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(ANSWER_S)
        yield running
    finally:
        running.stop()
        thread.join()


@contextmanager
def page_of(running: Session, port: int | None = None) -> Iterator[str]:
    """Serve a session's page and give its address, without the last slash."""
    with open_page(running.port(), PageOptions(port=port, owner="Ann"), lambda words: None) as page:
        yield page.address.rstrip("/")


@contextmanager
def served(name: str, folder: Path, options: Mapping[str, OptionValue] | None = None) -> Iterator[tuple[Session, str]]:
    """Run a session with its page."""
    with ExitStack() as stack:
        running = stack.enter_context(session(name, folder, options))
        yield running, stack.enter_context(page_of(running))
