"""Kills the server, the browser's tab and connections at random moments of a running game.

After each kill the screen must recover by itself and agree with the journal, which must hold everything shown before.
"""

import asyncio
import multiprocessing
import random
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import click
import numpy as np
from playwright.sync_api import Browser, Page

from app.runtime.builder import open_session
from benchmarks.parts.page.browser import PHONE, chromium
from engine.registry import load
from frontends.page.history import History
from frontends.page.server import open_page
from frontends.page.settings import PageOptions
from frontends.table_port import SnapshotHub, TablePort
from journal.journal import Journal
from referee.commands.values import Command, CommandQueue, EnterTurn, NewGame, TakeBack
from referee.session.loop import carry_out_commands
from referee.session.ports import ServiceSettings
from vision.frame import Frame, Image
from vision.reading import PlaceReading, Reading

GAME = "deblockle"
_TAKE_BACKS = 0.15
_BETWEEN_TURNS_S = 0.1
_LONGEST_S = 1.0
"""Longest time between two kills."""
_TIMEOUT_MS = 60_000
_READ_SCREEN = """() => {
    const text = (query) => [...document.querySelectorAll(query)].map((each) => each.textContent);
    return {
        number: Number(document.documentElement.dataset.live ?? NaN) || null,
        board: new XMLSerializer().serializeToString(document.querySelector("#board svg")),
        players: text("#players li span:first-child"),
        toMove: text("#players .to-move span:first-child"),
        next: text("#next")[0],
    };
}"""


class _SetUpReader:
    """Always reads the game's start, the only position that is looked at, since turns are typed."""

    def __init__(self, looks: Mapping[str, str]) -> None:
        self._seen = {place: PlaceReading({look: 1.0}) for place, look in looks.items()}

    def read(self, frame: Frame) -> Reading:
        """Read a frame."""
        return Reading(frame.sequence, frame.time_s, self._seen)

    def crop(self, frame: Frame, place: str) -> Image:
        """Give a picture of a place."""
        del place
        return frame.image


def play(link: Connection, folder: str, port: int, seed: int) -> None:
    """Referee games of random turns on the folder's journal until this process is killed."""
    game, rng = load(GAME), random.Random(seed)
    commands, hub, path = CommandQueue(time.monotonic), SnapshotHub(), Path(folder) / "journal.sqlite"
    reader = _SetUpReader(game.table.appearance(game.rules.new()))
    with (
        Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as journal,
        open_session(game, reader, journal, ServiceSettings(stills=True), subscribers=(hub,)) as service,
        open_page(TablePort(game, hub, commands, path), PageOptions(port=port), print),
    ):
        link.send("playing")
        while True:
            time.sleep(rng.uniform(0, 2 * _BETWEEN_TURNS_S))
            carry_out_commands(service, commands)
            order: Command
            if hub.newest is not None and hub.newest.snapshot.outcome is not None:
                order = NewGame(GAME)
            elif not service.belief:
                service.step(Frame(np.zeros((8, 8, 3), np.uint8), 0.0, 0))
                continue
            elif (turns := game.rules.legal_turns(service.belief[0])) and rng.random() >= _TAKE_BACKS:
                order = EnterTurn(game.notation.format_turn(rng.choice(turns)), "Ann")
            else:
                order = TakeBack("Ann")
            service.carry_out(order, lambda _: None)


class Referee:
    """The process that plays, with a journal in a folder."""

    def __init__(self, folder: str, rng: random.Random) -> None:
        self._folder, self._rng = folder, rng
        self._processes = multiprocessing.get_context("forkserver")
        self._processes.set_forkserver_preload([__name__])
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self._process: BaseProcess
        self.start()

    def start(self) -> None:
        """Start or restart it."""
        link, theirs = self._processes.Pipe()
        seed = self._rng.randrange(2**32)
        self._process = self._processes.Process(target=play, args=(theirs, self._folder, self.port, seed), daemon=True)
        self._process.start()
        theirs.close()
        link.recv()
        link.close()

    def kill(self) -> None:
        """Kill it and wait until it has ended."""
        self._process.kill()
        self._process.join()


class Proxy:
    """A TCP proxy between browser and server, whose connections can be cut at any byte."""

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        except OSError:
            writer.close()
            return
        ends = {writer, far_writer}
        self._open |= ends
        await asyncio.gather(_forward(reader, far_writer), _forward(far_reader, writer))
        self._open -= ends

    def cut(self) -> None:
        """Cut every connection."""
        self._loop.call_soon_threadsafe(self._cut)

    def _cut(self) -> None:
        for writer in self._open:
            writer.transport.abort()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Forward connections in this context."""
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        listening = asyncio.start_server(self._connect, "127.0.0.1", 0)
        server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            asyncio.run_coroutine_threadsafe(self._end(server), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()
            self._loop.close()

    async def _end(self, server: asyncio.Server) -> None:
        server.close()
        joined = asyncio.all_tasks() - {asyncio.current_task()}
        self._cut()
        await asyncio.gather(*joined)


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while part := await reader.read(4096):
            writer.write(part)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


def run_kills(count: int, seed: int) -> bool:
    """Kill so many times and print the results; say whether every screen agreed with the journal."""
    rng = random.Random(seed)
    done: Counter[str] = Counter()
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        referee = Referee(folder, rng)
        proxy = Proxy(referee.port)
        port = TablePort(load(GAME), SnapshotHub(), CommandQueue(time.monotonic), Path(folder) / "journal.sqlite")
        history = History(port)
        with proxy.running():
            page = _opened(browser, proxy.port)
            for number in range(1, count + 1):
                kind = rng.choice(("server", "tab", "connection"))
                time.sleep(rng.uniform(0, _LONGEST_S))
                shown = page.evaluate("Number(document.documentElement.dataset.live ?? 0)")
                if kind == "server":
                    referee.kill()
                    faults += _lost(history, shown, number)
                    referee.start()
                elif kind == "tab":
                    page.context.close()
                    page = _opened(browser, proxy.port)
                else:
                    proxy.cut()
                done[kind] += 1
                faults += _disagreements(page, history, shown, number, kind)
                if number % 50 == 0:
                    click.echo(f"{number} kills, {len(faults)} faults")
        referee.kill()
    for fault in faults:
        click.echo(fault)
    kinds = ", ".join(f"{times} of the {kind}" for kind, times in sorted(done.items()))
    click.echo(f"{count} kills ({kinds}), seed {seed}: {len(faults)} screens disagreed with the journal")
    return not faults


def _opened(browser: Browser, port: int) -> Page:
    page = browser.new_context(viewport=PHONE, locale="en-GB").new_page()
    page.set_default_timeout(_TIMEOUT_MS)
    page.goto(f"http://127.0.0.1:{port}/")
    return page


def _lost(history: History, shown: int, number: int) -> list[str]:
    """Report an event that a screen showed but the journal of a killed server lacks."""
    last = history.of_game(None).events[-1].number
    return [f"kill {number}: event {shown} was shown, the journal ends with {last}"] if shown > last else []


def _disagreements(page: Page, history: History, before: int, number: int, kind: str) -> list[str]:
    """Wait until the screen shows a newer event, and compare it with the journal at that event."""
    shown: dict[str, Any] = {"number": None}
    # A connection may break again between the wait and the evaluation.
    while shown["number"] is None:
        page.wait_for_selector(f"html[data-live]:not([data-live='{before}'])", state="attached")
        shown = page.evaluate(_READ_SCREEN)
    if kind != "tab" and shown["number"] < before:
        return [f"kill {number} of the {kind}: event {before} was shown, then {shown['number']}"]
    table = history.position(shown["number"]).table
    expected: dict[str, Any] = {
        "board": _canonical(table.board),
        "players": [player.name for player in table.players],
        "toMove": [player.name for player in table.players if player.to_move],
    }
    if table.outcome:
        expected["next"] = table.outcome
    shown["board"] = _canonical(shown["board"])
    differing = [name for name, value in expected.items() if shown[name] != value]
    return [f"kill {number} of the {kind}: {', '.join(differing)} at event {shown['number']}"] if differing else []


def _canonical(board: str) -> str:
    """Give a board's canonical SVG without the lights, which the journal doesn't hold."""
    root = ET.fromstring(board)
    for parent in [*root.iter()]:
        for child in [each for each in parent if (each.get("class") or "").startswith("light ")]:
            parent.remove(child)
    return ET.canonicalize(ET.tostring(root, encoding="unicode"))
