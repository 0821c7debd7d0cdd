"""A session and its page in this process, with a fake reader that reads on demand."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from app.cli.page import maintenance
from app.runtime.builder import open_session
from app.settings.configuration import load as load_settings
from engine.api import Game
from engine.registry import load
from engine.values import OptionValue
from frontends.page.access import Role
from frontends.page.server import OpenPage, open_page
from frontends.page.settings import PageOptions
from frontends.table_port import PhonePort, SnapshotHub, TablePort
from hardware.pin_map import ButtonRole
from journal.journal import Journal
from referee.commands.values import Command, CommandQueue, Press, Reply
from referee.errors import CorrectionError
from referee.hints.opponent import ImmediateHints
from referee.session.feed import TableSnapshot
from referee.session.loop import carry_out_commands
from referee.session.ports import ServiceSettings
from referee.session.service import Service
from vision.cameras.phone import PhoneCamera
from vision.frame import Frame, Image
from vision.reading import PlaceReading, Reading

ANSWER_S = 60.0
"""The most that a page or referee may take to answer, in seconds: three busy browsers on a small machine took 20."""
START_MS = 90_000
"""The most that a referee may take to start, in milliseconds."""
ROOT = Path(__file__).resolve().parents[3]


class Camera:
    """A growing folder: pictures put into it are the camera's."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self._numbers = itertools.count(1)

    def show(self, image: Image) -> None:
        written = self.folder / f".{next(self._numbers)}.png"
        cv2.imwrite(str(written), image)
        written.rename(self.folder / written.name[1:])


class GlimpseReader:
    """A fake reader of given looks, and of places in doubt: how likely each look is. Crops show how often it read."""

    def __init__(self, looks: Mapping[str, str]) -> None:
        self.looks = dict(looks)
        self.doubts: Mapping[str, Mapping[str, float]] = {}

    def read(self, frame: Frame) -> Reading:
        seen = {place: PlaceReading(self.doubts.get(place, {look: 1.0})) for place, look in self.looks.items()}
        return Reading(frame.sequence, frame.time_s, seen)

    def crop(self, frame: Frame, place: str) -> Image:
        picture: Image = np.full((24, 24, 3), 60 + 40 * (frame.sequence % 4), np.uint8)
        picture[4:20, 4:20] = (40, 160, 210) if self.looks.get(place, "empty") != "empty" else (150, 180, 210)
        return picture


@dataclass
class Session:
    """A session in a thread of its own. ``reader.looks`` is what it sees at the next end of a turn."""

    game: Game[Any, Any]
    reader: GlimpseReader
    commands: CommandQueue
    snapshots: SnapshotHub
    journal: Path
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def hear(self, snapshot: TableSnapshot) -> None:
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
        """Have the current table judged."""
        return self.tell(Press(ButtonRole.END_TURN))

    def port(self) -> TablePort:
        """A new access for a page, since a closed page takes no more snapshots."""
        hub = SnapshotHub()
        newest = self.snapshots.newest
        if newest is not None:
            hub(newest.snapshot)
        self.snapshots = hub
        frame = Frame(np.full((120, 160, 3), 90, np.uint8), 0.0, 0)
        return TablePort(
            self.game,
            hub,
            self.commands,
            self.journal,
            lambda: frame,
            lambda seen: seen.image,
            options=self.options,
            settings_for=_other_tables,
            maintenance=maintenance(load_settings(None, environment={}, folder=self.journal.parent))(
                lambda: ["The camera is back."], self.journal
            ),
            phone=PhonePort(PhoneCamera(time.monotonic)),
        )

    def work(self, service: Service[Any, Any]) -> None:
        """Carry out commands until the session ends."""
        sequence = 1
        blank = np.zeros((8, 8, 3), np.uint8)
        while not self._stopped.is_set():
            self.commands.wait()
            carry_out_commands(service, self.commands)
            for pressed in self.commands.take_presses():
                service.step(Frame(blank, float(sequence), sequence), ends_turn=True)
                sequence += 1
                service.carry_out(pressed.command, pressed.respond)

    def stop(self) -> None:
        """End it."""
        self._stopped.set()
        self.commands.wake()


def _other_tables(game: Game[Any, Any], rules: Mapping[str, OptionValue]) -> ServiceSettings:
    """Offer a table for every game but one."""
    if game.name == "deblockle":
        raise CorrectionError("the camera can't see a table of {title} yet", game.title)
    return ServiceSettings(options=rules)


@contextmanager
def session(
    name: str,
    folder: Path,
    options: Mapping[str, OptionValue] | None = None,
    looks: Mapping[str, str] | None = None,
    wall_clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Iterator[Session]:
    """Run a session of a game that is set up, or that goes on in the folder's journal where ``looks`` stand."""
    game: Game[Any, Any] = load(name)
    reader = GlimpseReader(looks or game.table.appearance(game.rules.new(options)))
    running = Session(
        game, reader, CommandQueue(time.monotonic), SnapshotHub(), folder / "journal.sqlite", options or {}
    )
    settings = ServiceSettings(options=dict(options or {}), stills=True)
    ready = threading.Event()

    def run() -> None:
        with (
            Journal.open(running.journal, wall_clock=wall_clock) as journal,
            open_session(
                game, reader, journal, settings, subscribers=(running.hear,), hints=ImmediateHints(time.monotonic)
            ) as service,
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


def free_port() -> int:
    """Give a free port other than the defaults, which others may take while a page is down."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def page_of(running: Session, port: int | None = None) -> Iterator[str]:
    """Serve a session's page and give its address, without the last slash."""
    with open_page(running.port(), PageOptions(port=port or free_port(), owner="Ann"), lambda words: None) as page:
        yield page.address.rstrip("/")


@contextmanager
def paired_page_of(running: Session) -> Iterator[OpenPage]:
    """Serve a session's page to devices that need its codes."""
    with open_page(running.port(), PageOptions(address="127.0.0.1"), lambda words: None) as page:
        yield page


def pair(phone: Any, page: OpenPage, role: Role, name: str) -> None:
    """Fill in the pairing page on a phone."""
    phone.get_by_label("Code", exact=True).fill(page.codes[role])
    phone.get_by_label("Your name").fill(name)
    phone.get_by_role("button", name="Pair").click()
    phone.wait_for_selector("#next")


def take_back(phone: Any) -> None:
    """Take the last turn back, which the page asks about once."""
    phone.get_by_role("link", name=re.compile("Take the last turn back|zurücknehmen")).click()
    phone.get_by_role("button", name=re.compile("Yes, take it back|Ja, zurücknehmen")).click()


@contextmanager
def served(name: str, folder: Path, options: Mapping[str, OptionValue] | None = None) -> Iterator[tuple[Session, str]]:
    """Run a session with its page."""
    with ExitStack() as stack:
        running = stack.enter_context(session(name, folder, options))
        yield running, stack.enter_context(page_of(running))


@contextmanager
def by_command(
    folder: Path, *arguments: str, port: int | None = None, clone: Path | None = None
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run ``./run ARGUMENTS`` with a page in a folder; give the page's address and the process, killed at the end.

    From a ``clone`` it is run as on a machine that has nothing but Python.
    """
    port = port or free_port()
    if clone is None:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        program, own = [sys.executable, "-m", "app"], {**own, "PYTHONPATH": str(ROOT)}
    else:
        program, own = [str(clone / "run")], {"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    running = subprocess.Popen(
        [*program, *arguments, "--page-port", str(port)],
        cwd=clone or folder,
        env={**own, "HOME": str(folder), "PYTHONUNBUFFERED": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert running.stdout is not None
    said = []
    try:
        for line in running.stdout:
            said.append(line)
            if "The page: " in line:
                break
        else:
            raise AssertionError("".join(said))
        yield f"http://127.0.0.1:{port}", running
    finally:
        running.kill()
        running.communicate()


class Killable:
    """A session and its page in a process of its own, which can be killed at any moment and started again."""

    def __init__(self, name: str, folder: Path, options: Mapping[str, OptionValue] | None = None) -> None:
        self._parts = (name, folder, options)
        self._port = free_port()
        self.address = f"http://127.0.0.1:{self._port}"
        self._link: Connection
        self._process: BaseProcess

    def start(self, looks: Mapping[str, str] | None = None) -> None:
        """Start it, always at the same address; it goes on with its journal, where ``looks`` stand."""
        processes = multiprocessing.get_context("forkserver")
        processes.set_forkserver_preload([__name__])
        self._link, theirs = processes.Pipe()
        self._process = processes.Process(target=_serve, args=(theirs, *self._parts, looks, self._port), daemon=True)
        self._process.start()
        theirs.close()
        assert self._link.poll(3 * ANSWER_S)
        assert self._link.recv() == self.address

    def show(self, looks: Mapping[str, str]) -> None:
        """Show the camera these looks from now on."""
        self._link.send(dict(looks))
        assert self._link.poll(ANSWER_S)
        self._link.recv()

    def kill(self) -> None:
        """Kill it at once."""
        self._process.kill()
        self._process.join()
        self._link.close()

    def __enter__(self) -> Killable:
        """Start it for the first time."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.kill()


def _serve(
    link: Connection,
    name: str,
    folder: Path,
    options: Mapping[str, OptionValue] | None,
    looks: Mapping[str, str] | None,
    port: int,
) -> None:
    with session(name, folder, options, looks) as running, page_of(running, port) as address:
        link.send(address)
        while True:
            try:
                running.reader.looks = link.recv()
            except EOFError:
                return
            link.send(None)
