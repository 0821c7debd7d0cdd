"""A club in separate processes: a referee at a virtual table, and the hall that shows it."""

import html
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from app.runtime.command_socket import ask
from common.places import EMPTY
from engine.registry import load
from hall.database import Database
from journal.reader import read_journal
from referee.commands.values import EnterTurn
from referee.record.events import Event
from simulator.play.actions import Slack
from simulator.play.players import HANDLERS
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, lens
from simulator.table import standard_setting
from tests.guard import GUARD_S
from tests.system.mqtt.mosquitto import Client, free_port
from vision.calibration import save_calibration

ROOT = Path(__file__).resolve().parents[3]
_FRAME_S = 0.25


class Program:
    """A command of the referee in its own process, and its output lines."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        self._said: list[str] = []
        self._changed = threading.Condition()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "app", *arguments],
            cwd=folder,
            env={**own, "HOME": str(folder), "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._listening = threading.Thread(target=self._listen)
        self._listening.start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                with self._changed:
                    self._said.append(line)
                    self._changed.notify_all()

    def until(self, words: str) -> None:
        """Wait until this was printed."""
        with self._changed:
            found = self._changed.wait_for(lambda: any(words in line for line in self._said), GUARD_S)
        assert found, f"{words!r} was not said: {''.join(self._said)}"

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self._process.kill()
        self._process.wait(GUARD_S)
        self._listening.join()


class Camera:
    """Films a board of diaballik into a folder, as an owner's program might."""

    def __init__(self, folder: Path, calibration: Path) -> None:
        self._folder = folder
        self._game = load("diaballik")
        self._setting = standard_setting(lens((960, 540)), "diaballik")
        save_calibration(calibration, self._setting.camera)
        self._picture = b""
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._film)

    def show(self, looks: Mapping[str, str]) -> None:
        """Film pieces that stand like this from now on."""
        handler = HANDLERS["diaballik"](self._setting.layout, Slack(), np.random.default_rng(1))
        standing = {place: look for place, look in looks.items() if look != EMPTY}
        image = Renderer(1).render(Scene(self._setting, tuple(handler.set_up(standing).values())))
        self._picture = cv2.imencode(".png", image)[1].tobytes()

    def _film(self) -> None:
        number = 0
        while not self._closed.wait(_FRAME_S):
            number += 1
            unfinished = self._folder / ".picture"
            unfinished.write_bytes(self._picture)
            unfinished.rename(self._folder / f"{number:06d}.png")
            (self._folder / f"{number - 4:06d}.png").unlink(missing_ok=True)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Film while this is entered."""
        self._thread.start()
        try:
            yield
        finally:
            self._closed.set()
            self._thread.join()


class TableProcess:
    """A referee that watches the camera's folder, with ``[mqtt]`` in its settings."""

    def __init__(self, folder: Path, broker_port: int) -> None:
        self._folder = folder
        self.journal = folder / "game.sqlite"
        (folder / "frames").mkdir(parents=True)
        self.camera = Camera(folder / "frames", folder / "camera.json")
        (folder / "referee.toml").write_text(
            '[game]\nname = "diaballik"\n[camera]\nsource = "folder:frames"\ncalibration = "camera.json"\n'
            '[journal]\npath = "game.sqlite"\n'
            f'[mqtt]\naddress = "127.0.0.1"\nport = {broker_port}\ntable = "t1"\ntable_name = "By the door"\n'
            'commands = "own"\n',
            encoding="utf-8",
        )
        self._process: Program

    def start(self) -> None:
        """Start it; it goes on with its journal."""
        self._process = Program(self._folder, "watch")

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def enter(self, text: str, by: str) -> None:
        """Type a turn at the table."""
        reply = ask(self.journal, EnterTurn(text, by))
        assert not reply.refused, reply.words

    def events(self) -> list[tuple[int, Event]]:
        """The journal's events with their numbers."""
        with read_journal(self.journal) as journal:
            return journal.events()


class HallProcess:
    """``./run hall`` with its page, which a browser without scripts could use."""

    def __init__(self, folder: Path, broker_port: int) -> None:
        folder.mkdir()
        self._folder = folder
        self._port = free_port()
        self._broker_port = broker_port
        self.store = folder / "hall.db"
        self._process: Program

    def start(self) -> None:
        """Start it; it goes on with its store."""
        broker = f"127.0.0.1:{self._broker_port}"
        self._process = Program(self._folder, "tools", "hall", "--broker", broker, "--page-port", str(self._port))
        self._process.until("The page: ")

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def page(self, path: str, fields: Mapping[str, str] | None = None) -> str:
        """Load a page, or send a form."""
        body = None if fields is None else urllib.parse.urlencode(fields).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}{path}", body, timeout=GUARD_S) as answer:
            text: str = answer.read().decode()
        return text

    def rule(self, **fields: str) -> None:
        """Send a ruling for the table as its arbiter."""
        page = self.page("/tables/t1")
        csrf = re.search(r'name="csrf" content="([^"]+)"', page)
        seen = re.search(r'name="seen" value="(\d+)"', page)
        assert csrf is not None
        assert seen is not None
        self.page("/tables/t1/rule", {"csrf": csrf[1], "seen": seen[1], **fields})

    def until(self, fits: Callable[[str], bool]) -> str:
        """Load the page of all tables whenever it has something new, until the table's card matches; give that card."""
        card, deadline_s = "", time.monotonic() + GUARD_S
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/changes", timeout=GUARD_S) as stream:
            for line in stream:
                if line.startswith(b"data"):
                    card = html.unescape(self.page("/").partition('id="table-t1"')[2].partition('id="table-')[0])
                    if fits(card):
                        return card
                if time.monotonic() > deadline_s:
                    break
        raise AssertionError(f"the hall never told it: {card}")

    def until_it_has(self, table: TableProcess) -> None:
        """Wait until it has the table's whole journal, and shows the table as it is after that."""
        last = table.events()[-1][0]
        self.until(lambda _: self.held() == last and f'name="seen" value="{last}"' in self.page("/tables/t1"))

    def held(self) -> int:
        """Give the number of the newest event that is kept."""
        return max((number for number, _, _ in self.copy()), default=0)

    def copy(self) -> list[tuple[int, str, str]]:
        """The copy of the table's journal: number, kind and wall time of each event."""
        return [
            (number, kind, wall_time)
            for number, kind, wall_time in self._rows(
                "SELECT number, kind, wall_time FROM event WHERE seat = 't1' ORDER BY number"
            )
        ]

    def results(self) -> list[tuple[Any, ...]]:
        """How games ended: the table, the game's number and its winners."""
        return self._rows("SELECT seat, game_number, winners FROM result")

    def rulings(self) -> list[tuple[Any, ...]]:
        """Rulings in order: id, arbiter and status."""
        return self._rows("SELECT request_id, given_by, status FROM ruling ORDER BY given_at, request_id")

    def _rows(self, query: str) -> list[tuple[Any, ...]]:
        database = Database(str(self.store))
        try:
            with database.transaction() as work:
                return work.rows(query)
        finally:
            database.close()


def press(client: Client, request_id: str) -> None:
    """Press the table's button, and wait until it has been judged."""
    order = {"command": "press", "role": "end turn", "request_id": request_id}
    client.say("referee/t1/command/play", order)
    client.answer(request_id)
