"""A crowd without a code at the page: two referees watch the same folder of frames, one of them with the crowd.

Run: python benchmarks/strangers.py [--connections N] [--addresses N] [--files N] [--turns N] [--fps F] [--seed N]

Each referee is a `watch --camera folder:` of its own, started with a soft limit of open files, and its page is open to
the network. A third of the crowd's connections are silent, a third send half a request's head, a third send one byte of
it a second. They come from several addresses of this machine, and one that is closed comes back after five seconds. An
owner's device asks both pages for the table and the history, on a new connection each time.

Printed side by side are frames judged a second, verdicts in the journal, the owner's requests, descriptors, and bytes
of log. Exit code 1 when the crowd reduces the frame rate or slows the owner's requests by more than 10 %, a request of
the owner is refused, a frame cannot be read, the journal has fewer events by more than 10 %, or the log has more than
100 kB.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import asyncio
import http.client
import json
import multiprocessing
import os
import re
import resource
import signal
import socket
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event

import click
import cv2

from benchmarks.parts.command_line import PROGRESS, console_for, figures
from referee.cli import main as run_referee
from referee.journal.reader import read_journal
from referee.session.service import Service
from simulator.play.game import GameOptions
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from vision.calibration import save_calibration
from vision.geometry import CameraModel

MOST_SLOWER = 0.10
MOST_LOG_BYTES = 100_000
GAME = "diaballik"
HERE = "127.0.0.1"
_SIZE_PX = (960, 540)
_RETRY_S = 5.0
_ASK_S = 0.25
_START_S = 60.0
_SETTLE_S = 10.0
_FAULT = re.compile(r"Too many open files|camera is back|could not answer|Traceback|failed")
_INSTANT_S = 0.05
"""A median answer within this time meets the limit however fast the other was: nobody can tell."""


@dataclass
class Measured:
    """What one referee did; ``answers_s`` are the owner's requests, ``refused`` those without a good answer."""

    frames_per_second: float = 0.0
    events: int = 0
    answers_s: list[float] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    most_files: int = 0
    computed_s: float = 0.0
    log: str = ""


def referee(link: Connection, folder: str, port: int, files: int) -> None:
    """Watch a folder until interrupted; then send the times at which frames were judged."""
    os.chdir(folder)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    log = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    judged_s: list[float] = []
    step = Service.step

    def counted(self: Service, *arguments: object, **named: object) -> object:  # type: ignore[type-arg]
        judged_s.append(time.monotonic())
        return step(self, *arguments, **named)  # type: ignore[arg-type]

    Service.step = counted  # type: ignore[method-assign, assignment]
    told = ["--camera", "folder:frames", "--calibration", "camera.json", "--journal", "game.sqlite", "--game", GAME]
    sys.argv = ["referee", "watch", *told, "--turn-end", "rest", "--page-port", str(port), "--page-address", HERE]
    with suppress(SystemExit):
        run_referee()
    link.send((judged_s, time.process_time()))


def crowd(stop: Event, port: int, count: int, addresses: int) -> None:
    """Hold connections open until told to stop. As on a machine of its own, that takes no time from the referees."""
    os.nice(19)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    asyncio.run(_hold(stop, port, count, addresses))


async def _hold(stop: Event, port: int, count: int, addresses: int) -> None:
    held = [
        asyncio.create_task(_come_again(port, number, f"127.0.1.{1 + number % addresses}")) for number in range(count)
    ]
    await asyncio.to_thread(stop.wait)
    for each in held:
        each.cancel()
    await asyncio.gather(*held, return_exceptions=True)


async def _come_again(port: int, number: int, address: str) -> None:
    """Hold one connection; when it is closed, come back."""
    while True:
        with suppress(OSError):
            reader, writer = await asyncio.open_connection(HERE, port, local_addr=(address, 0))
            try:
                await _say_little(number % 3, reader, writer)
            finally:
                writer.transport.abort()
        await asyncio.sleep(_RETRY_S)


async def _say_little(kind: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say nothing (0), half a head (1), or a byte of it a second (2), until the other side closes."""
    if kind:
        writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    while True:
        try:
            async with asyncio.timeout(1.0):
                if not await reader.read(1024):
                    return
        except TimeoutError:
            if kind == 2:
                writer.write(b"x")


class Owner:
    """A device that owns a table and asks its page again and again."""

    def __init__(self, port: int, codes: Path, measured: Measured) -> None:
        self._port = port
        self._measured = measured
        code = re.findall(r"\d{4} \d{4}", codes.read_text(encoding="utf-8"))[-1]
        body = json.dumps({"code": code, "name": "owner"})
        with closing(http.client.HTTPConnection(HERE, port, timeout=_START_S)) as page:
            page.request("POST", "/api/pair", body, {"Content-Type": "application/json"})
            self._headers = {"Authorization": f"Bearer {json.loads(page.getresponse().read())['token']}"}

    def ask_until(self, stop: threading.Event) -> None:
        """Ask for the table and the history until told to stop, on a new connection each time."""
        while not stop.wait(_ASK_S):
            for path in ("/api/table", "/api/history"):
                began_s = time.monotonic()
                try:
                    with closing(http.client.HTTPConnection(HERE, self._port, timeout=_SETTLE_S)) as page:
                        page.request("GET", path, headers=self._headers)
                        answer = page.getresponse()
                        answer.read()
                        said = "" if answer.status == 200 else f"{path}: {answer.status}"
                except (OSError, http.client.HTTPException) as error:
                    said = f"{path}: {type(error).__name__}"
                self._measured.answers_s.append(time.monotonic() - began_s)
                if said:
                    self._measured.refused.append(said)


class Table:
    """One referee in its own process, with its folder of frames."""

    def __init__(self, folder: Path, files: int, calibration: CameraModel) -> None:
        self.folder = folder
        self.measured = Measured()
        (folder / "frames").mkdir(parents=True)
        save_calibration(folder / "camera.json", calibration)
        with socket.create_server((HERE, 0)) as free:
            self.port = int(free.getsockname()[1])
        processes = multiprocessing.get_context("spawn")
        self._link, theirs = processes.Pipe()
        self._process = processes.Process(target=referee, args=(theirs, str(folder), self.port, files))
        self._process.start()

    def owner(self) -> Owner:
        """Pair the owner's device once the page is open."""
        codes, until_s = self.folder / "game.sqlite.page-codes", time.monotonic() + _START_S
        while not codes.exists():
            if time.monotonic() > until_s or not self._process.is_alive():
                raise click.ClickException(f"the referee did not start: {(self.folder / 'log.txt').read_text()}")
            time.sleep(0.1)
        return Owner(self.port, codes, self.measured)

    def show(self, picture: bytes, number: int) -> None:
        """Put a picture into the folder."""
        unfinished = self.folder / "frames" / ".picture"
        unfinished.write_bytes(picture)
        unfinished.rename(self.folder / "frames" / f"{number:06d}.jpg")

    def count_files(self) -> None:
        """Note how many files the process has open."""
        with suppress(OSError):
            count = sum(1 for _ in Path(f"/proc/{self._process.pid}/fd").iterdir())
            self.measured.most_files = max(self.measured.most_files, count)

    def end(self) -> None:
        """Stop the referee and complete the measurements."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGINT)
        judged_s, self.measured.computed_s = self._link.recv()
        self._process.join()
        self.measured.frames_per_second = (len(judged_s) - 1) / (judged_s[-1] - judged_s[0])
        self.measured.log = (self.folder / "log.txt").read_text(encoding="utf-8", errors="replace")
        with read_journal(self.folder / "game.sqlite") as journal:
            self.measured.events = journal.last_number


def pictures_of(seed: int, turns: int, fps: float) -> tuple[list[bytes], CameraModel]:
    """Render a game; returns its frames as JPEG files, and the camera's calibration."""
    setting = standard_setting(lens(_SIZE_PX), GAME)
    table = VirtualTable(seed, GameOptions(GAME, turns=turns, turn_end="rest"), setting=setting, fps=fps)
    pictures = [cv2.imencode(".jpg", frame.image)[1].tobytes() for frame in table.frames()]
    return pictures, setting.camera


def play(tables: Sequence[Table], owners: Sequence[Owner], pictures: Sequence[bytes], fps: float) -> None:
    """Show the pictures to all tables at the camera's pace, while their owners ask."""
    stop = threading.Event()
    asking = [threading.Thread(target=owner.ask_until, args=(stop,)) for owner in owners]
    for thread in asking:
        thread.start()
    begun_s = time.monotonic()
    for number, picture in enumerate(pictures, 1):
        for table in tables:
            table.show(picture, number)
            table.count_files()
        time.sleep(max(0.0, begun_s + number / fps - time.monotonic()))
    time.sleep(1.0)
    stop.set()
    for thread in asking:
        thread.join()


def print_costs(alone: Measured, beset: Measured) -> bool:
    """Print the figures side by side; say whether the limits are kept."""
    median_s = [statistics.median(each.answers_s) for each in (alone, beset)]
    table = figures("A crowd without a code at the page", "", "without", "with")
    both = (alone, beset)
    table.add_row("frames judged a second", *(f"{each.frames_per_second:.2f}" for each in both))
    table.add_row("events in the journal", *(str(each.events) for each in both))
    table.add_row("owner's requests", *(str(len(each.answers_s)) for each in both))
    table.add_row("refused or unanswered", *(str(len(each.refused)) for each in both))
    table.add_row("answered after, median, ms", *(f"{1000 * each:.1f}" for each in median_s))
    table.add_row(
        "answered after, 99 %, ms", *(f"{1000 * statistics.quantiles(each.answers_s, n=100)[98]:.0f}" for each in both)
    )
    table.add_row("processor time, s", *(f"{each.computed_s:.1f}" for each in both))
    table.add_row("most open files", *(str(each.most_files) for each in both))
    table.add_row("bytes of log", *(str(len(each.log.encode())) for each in both))
    console_for(100).print(table)
    faults = [line for each in both for line in each.log.splitlines() if _FAULT.search(line)]
    checks = {
        "the frame rate is lower by more than 10 %": beset.frames_per_second
        < (1 - MOST_SLOWER) * alone.frames_per_second,
        "the owner's requests take longer by more than 10 %": median_s[1]
        > max((1 + MOST_SLOWER) * median_s[0], _INSTANT_S),
        f"requests of the owner were refused: {beset.refused[:5]}": bool(beset.refused),
        f"the referee was disturbed: {faults[:3]}": bool(faults),
        "the journal has fewer events by more than 10 %": beset.events < (1 - MOST_SLOWER) * alone.events,
        "the log has more than 100 kB": len(beset.log.encode()) > MOST_LOG_BYTES,
    }
    for words in (words for words, is_wrong in checks.items() if is_wrong):
        click.echo(f"NOT MET: {words}")
    return not any(checks.values())


@click.command()
@click.option("--connections", default=1100, show_default=True, type=click.IntRange(1), help="The crowd's connections.")
@click.option(
    "--addresses", default=20, show_default=True, type=click.IntRange(1, 250), help="Addresses that the crowd has."
)
@click.option("--files", default=1024, show_default=True, type=click.IntRange(64), help="Files a referee may open.")
@click.option("--turns", default=12, show_default=True, type=click.IntRange(1), help="Turns of the game.")
@click.option("--fps", default=8.0, show_default=True, type=click.FloatRange(1), help="Frames a second.")
@click.option("--seed", default=7, show_default=True, type=click.IntRange(min=0), help="Seed of the game.")
def main(connections: int, addresses: int, files: int, turns: int, fps: float, seed: int) -> None:
    """Measure what a crowd without a code takes from a referee and its owner."""
    with PROGRESS.status("A game is rendered"):
        pictures, calibration = pictures_of(seed, turns, fps)
    processes = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        tables = Table(Path(folder) / "alone", files, calibration), Table(Path(folder) / "beset", files, calibration)
        stop = processes.Event()
        holding = processes.Process(target=crowd, args=(stop, tables[1].port, connections, addresses))
        with PROGRESS.status(f"{connections} connections are held for {len(pictures) / fps:.0f} s"):
            owners = [table.owner() for table in tables]
            holding.start()
            time.sleep(_SETTLE_S)
            play(tables, owners, pictures, fps)
        stop.set()
        holding.join()
        for table in tables:
            table.end()
    if not print_costs(tables[0].measured, tables[1].measured):
        sys.exit(1)


if __name__ == "__main__":
    main()
