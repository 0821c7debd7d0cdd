"""A phone's film by HTTPS beside a USB camera's, without and with viewers of the page: frames, delay, bytes, processor.

Run: python benchmarks/cameras.py [--viewers N] [--seconds S] [--rounds N]

The same film of a virtual game of 1280 x 720 pixels comes in three ways, one after the other, again and again: from a
stand-in for a USB camera, which gives a JPEG 15 times a second, decoded as OpenCV decodes a USB camera's; from a phone,
a process that sends such JPEGs by HTTPS to the referee's page as ``phone.js`` does, one in flight and as often as it is
told; and from the phone while viewers look at the page. Each referee is a process with the whole service, reader,
journal and page; viewers are a process of their own. The delay is from when a picture was taken until the service has
judged it. Exit code 1 when the phone's film has less than 90 % of the frames that it is asked for, when its median
delay is over 100 ms, or when viewers take away more than 10 % of its frames.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import http.client
import json
import multiprocessing
import socket
import ssl
import statistics
import tempfile
import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

import click
import cv2
import numpy as np

from app.runtime.builder import attention, open_session
from benchmarks.page import Signals, viewers
from benchmarks.parts.command_line import PROGRESS, console_for, figures
from benchmarks.parts.soak.game import looks_of_pieces
from engine.registry import load
from frontends.page.access import Role
from frontends.page.server import open_page
from frontends.page.settings import PageOptions
from frontends.table_port import PhonePort, SnapshotHub, TablePort
from journal.journal import Journal
from referee.commands.values import CommandQueue
from referee.judge.verdict import Verdict
from referee.session.loop import LoopPorts, run
from referee.session.ports import ServiceSettings
from simulator.play.game import GameOptions
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from vision.cameras import LiveCamera
from vision.cameras.live import Shot
from vision.cameras.phone import PhoneCamera
from vision.frame import Frame
from vision.readers.registry import table_reader

GAME, SIZE, FPS, SEED = "diaballik", (1280, 720), 15.0, 7
JPEG_QUALITY = 80
ASKED_MS = 167
"""How often a phone is asked for a picture during a game, in milliseconds."""
LEAST_FRAMES, MOST_DELAY_MS, LEAST_WATCHED = 0.9, 100.0, 0.9
LOOPBACK = "127.0.0.1"
DEVICES = 10
"""How many devices the viewers are: each may have 16 live updates."""
SETTLED_S = 3.0
"""How long the film runs before it is measured, in seconds."""


@dataclass
class Measured:
    """What one way gave: the delay of each judged frame in seconds, and of the whole time the length, the referee's
    processor time and the bytes that came from the camera.
    """

    delays_s: list[float] = field(default_factory=list)
    lasted_s: float = 0.0
    processor_s: float = 0.0
    received_bytes: int = 0

    def __add__(self, other: "Measured") -> "Measured":
        return Measured(
            self.delays_s + other.delays_s,
            self.lasted_s + other.lasted_s,
            self.processor_s + other.processor_s,
            self.received_bytes + other.received_bytes,
        )

    @property
    def frames_per_second(self) -> float:
        """Frames judged a second."""
        return len(self.delays_s) / self.lasted_s

    @property
    def delay_ms(self) -> float:
        """The median delay, in milliseconds."""
        return 1000 * statistics.median(self.delays_s)

    @property
    def late_ms(self) -> float:
        """The delay that 95 % of the frames keep, in milliseconds."""
        return 1000 * statistics.quantiles(self.delays_s, n=20)[-1]

    @property
    def kilobytes_per_second(self) -> float:
        """What comes from the camera."""
        return self.received_bytes / self.lasted_s / 1000

    @property
    def processor_share(self) -> float:
        """Processor time of the referee's process, as a share of the time."""
        return self.processor_s / self.lasted_s

    @property
    def processor_ms(self) -> float:
        """The same for a frame, in milliseconds."""
        return 1000 * self.processor_s / len(self.delays_s)


def film(seconds: float) -> list[bytes]:
    """Film a game."""
    options = GameOptions(GAME, turns=100, turn_end="rest")
    table = VirtualTable(SEED, options, setting=standard_setting(lens(SIZE), GAME), fps=FPS)
    settings = [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY]
    return [cv2.imencode(".jpg", table.read().image, settings)[1].tobytes() for _ in range(int(seconds * FPS))]


class _StandIn:
    """A USB camera that gives a film's pictures in real time."""

    def __init__(self, pictures: Sequence[bytes], began_s: float) -> None:
        self._pictures, self._began_s, self._number = pictures, began_s, 0
        self._waits = threading.Event()
        self._given_bytes = 0

    @property
    def bytes_per_second(self) -> float:
        """What the camera gave, in bytes a second."""
        return self._given_bytes * FPS / self._number

    def read(self) -> Shot | None:
        self._number += 1
        due_s = self._began_s + self._number / FPS
        self._waits.wait(max(0.0, due_s - time.monotonic()))
        picture = self._pictures[self._number % len(self._pictures)]
        self._given_bytes += len(picture)
        image = np.asarray(cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_COLOR), dtype=np.uint8)
        return Shot(image, time.monotonic() - due_s)

    def lock(self, locked: bool) -> None:
        pass

    def release(self) -> None:
        pass


def phone(link: Connection, signals: Signals, address: str, token: str, pictures: Sequence[bytes]) -> None:
    """Send a film to a page until the signal to stop; then send when each picture was taken, and its bytes."""
    to = urlsplit(address)
    # The certificate is the referee's own.
    connection = http.client.HTTPSConnection(str(to.hostname), to.port, context=ssl._create_unverified_context())
    began_s, do, waits = time.monotonic(), "?do=begin", threading.Event()
    sent: list[tuple[float, int]] = []
    while not signals.stop.is_set():
        taken_s = time.monotonic()
        picture = pictures[int((taken_s - began_s) * FPS) % len(pictures)]
        sent.append((taken_s, len(picture)))
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "image/jpeg", "X-Age-Ms": "0"}
        connection.request("POST", f"/frame{do}", picture, headers)
        answer = json.loads(connection.getresponse().read())
        if not answer.get("films"):
            raise RuntimeError(f"the phone may not film: {answer}")
        do = ""
        waits.wait(max(0.0, taken_s + answer["every_ms"] / 1000 - time.monotonic()))
    connection.close()
    link.send(sent)


@dataclass
class _Judged:
    """When each frame was taken and judged, and the time and processor time of the first and the last."""

    begins: Callable[[], bool]
    frames: list[tuple[float, float]] = field(default_factory=list)
    marks: list[tuple[float, float]] = field(default_factory=list)

    def add(self, frame: Frame) -> None:
        """Add a frame that was judged now."""
        if self.begins():
            self.frames.append((frame.time_s, time.monotonic()))
            self.marks[1:] = [(time.monotonic(), time.process_time())]


def referee(link: Connection, signals: Signals, by_phone: bool, pictures: Sequence[bytes], folder: str) -> None:
    """Referee the film: send the page's addresses and tokens, and at the end what was judged, and the bytes read."""
    game: Any = load(GAME)
    setting = standard_setting(lens(SIZE), GAME)
    reader = table_reader(setting.camera, setting.layout, looks_of_pieces(SIZE, GAME), attention=attention(game))
    commands, hub, path = CommandQueue(time.monotonic), SnapshotHub(), Path(folder) / "journal.sqlite"
    port, judged = PhonePort(PhoneCamera(time.monotonic)) if by_phone else None, _Judged(signals.begin.is_set)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal.open(path, wall_clock=lambda: datetime.now(UTC)))
        options = PageOptions(address=LOOPBACK, port=_free_port(), https_port=_free_port())
        page = stack.enter_context(open_page(TablePort(game, hub, commands, path, phone=port), options, print))
        service = stack.enter_context(
            open_session(game, reader, journal, ServiceSettings(), subscribers=(hub,), resume=False)
        )
        tokens = [_token(page.address, page.codes[Role.LOOK], number) for number in range(DEVICES)]
        link.send((page.address, page.encrypted, _token(page.address, page.camera_code) if by_phone else "", tokens))

        def on_verdicts(frame: Frame | None, verdicts: list[Verdict]) -> None:
            if frame is not None:
                judged.add(frame)
                if port is not None:
                    port.look(frame, reader, service.reading, verdicts)

        ports = LoopPorts(lambda _: None, commands, on_verdicts=on_verdicts, stop=signals.stop.is_set)
        if port is not None:
            run(service, port.camera, ports)
            link.send((judged.frames, judged.marks, 0))
        else:
            stand_in = _StandIn(pictures, time.monotonic())
            with LiveCamera(lambda: stand_in, name="stand-in", clock=time.monotonic) as camera:
                run(service, camera, ports)
            link.send((judged.frames, judged.marks, stand_in.bytes_per_second))


def _free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as listening:
        return int(listening.getsockname()[1])


def _token(address: str, code: str, number: int = DEVICES) -> str:
    """Pair a device, from an address of its own as each may try few codes, and return its token."""
    to = urlsplit(address)
    connection = http.client.HTTPConnection(str(to.hostname), to.port, source_address=(f"127.0.1.{number + 1}", 0))
    body = json.dumps({"code": code, "name": "Ann"})
    connection.request("POST", "/api/pair", body, {"Content-Type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    if "token" not in answer:
        raise RuntimeError(f"not paired: {answer}")
    return str(answer["token"])


def measure(by_phone: bool, count: int, seconds: float, pictures: Sequence[bytes]) -> Measured:
    """Measure one way for some time, with so many viewers."""
    processes = multiprocessing.get_context("spawn")
    signals = Signals(processes.Event(), processes.Event())
    with tempfile.TemporaryDirectory() as folder:
        link, theirs = processes.Pipe()
        started = [processes.Process(target=referee, args=(theirs, signals, by_phone, pictures, folder))]
        started[0].start()
        address, encrypted, token, tokens = link.recv()
        sending, theirs = processes.Pipe()
        if by_phone:
            started.append(processes.Process(target=phone, args=(theirs, signals, encrypted, token, pictures)))
            started[-1].start()
        looking, theirs = processes.Pipe()
        if count:
            started.append(processes.Process(target=viewers, args=(theirs, address, count, tokens)))
            started[-1].start()
            looking.recv()
        time.sleep(SETTLED_S)
        signals.begin.set()
        with PROGRESS.status(f"{'phone' if by_phone else 'USB camera'}, {count} viewers: {seconds:g} s"):
            time.sleep(seconds)
        signals.stop.set()
        # the phone first: a referee that has stopped answers no more
        sent = sending.recv() if by_phone else []
        frames, marks, bytes_per_second = link.recv()
        if count:
            looking.recv()
        for process in started:
            process.join()
    (began_s, began_with_s), (ended_s, ended_with_s) = marks
    lasted_s = ended_s - began_s
    if not by_phone:
        delays_s = [judged_s - taken_s for taken_s, judged_s in frames]
        return Measured(delays_s, lasted_s, ended_with_s - began_with_s, round(bytes_per_second * lasted_s))
    # a frame came after the picture that was taken last before it
    taken = [taken_s for taken_s, _ in sent]
    delays_s = [judged_s - taken[bisect_right(taken, came_s) - 1] for came_s, judged_s in frames]
    received = sum(size for taken_s, size in sent if began_s <= taken_s <= ended_s)
    return Measured(delays_s, lasted_s, ended_with_s - began_with_s, received)


@click.command()
@click.option("--viewers", "count", default=100, show_default=True, type=click.IntRange(1, 120), help="Viewers.")
@click.option("--seconds", default=20.0, show_default=True, type=click.FloatRange(5, 60), help="Length of each turn.")
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1), help="Turns of each way.")
def main(count: int, seconds: float, rounds: int) -> None:
    """Measure a phone's film beside a USB camera's."""
    with PROGRESS.status("filming"):
        pictures = film(seconds + 2 * SETTLED_S)
    ways = {"USB camera": (False, 0), "phone": (True, 0), f"phone, {count} viewers": (True, count)}
    measured = {name: Measured() for name in ways}
    for _ in range(rounds):
        for name, (by_phone, watched) in ways.items():
            measured[name] += measure(by_phone, watched, seconds, pictures)
    _, alone, watched_too = measured.values()
    rows: tuple[tuple[str, Callable[[Measured], float], str], ...] = (
        ("frames judged a second", lambda one: one.frames_per_second, ".2f"),
        ("delay until judged, median, ms", lambda one: one.delay_ms, ".0f"),
        ("delay, 95 %, ms", lambda one: one.late_ms, ".0f"),
        ("kB a second from the camera", lambda one: one.kilobytes_per_second, ".0f"),
        ("processor time of the referee, share", lambda one: one.processor_share, ".1%"),
        ("processor time a frame, ms", lambda one: one.processor_ms, ".1f"),
    )
    table = figures("", "", *ways, "phone / USB", "viewers / none")
    for name, value, form in rows:
        of = [value(one) for one in measured.values()]
        table.add_row(name, *(f"{one:{form}}" for one in of), f"{of[1] / of[0]:.2f}", f"{of[2] / of[1]:.2f}")
    console_for(120).print(table)
    failed = [
        words
        for is_met, words in (
            (alone.frames_per_second >= LEAST_FRAMES * 1000 / ASKED_MS, "the phone has too few frames"),
            (alone.delay_ms <= MOST_DELAY_MS, "the phone's delay is too long"),
            (watched_too.frames_per_second >= LEAST_WATCHED * alone.frames_per_second, "viewers cost frames"),
        )
        if not is_met
    ]
    for words in failed:
        click.echo(f"NOT MET: {words}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
