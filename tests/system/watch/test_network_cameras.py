"""A game through a camera in the network that stalls, closes and comes back while a hand is over the board."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from journal.reader import read_journal
from referee.record.events import EventKind
from simulator.play.actions import ActionKind
from tests.guard import GUARD_S
from tests.system.watch.network_cameras import (
    PASSWORD,
    RTSP_MISSING,
    USER,
    FilmingCamera,
    GameFilm,
    RtspServer,
    film_of,
)
from tests.vision.cameras.answering import AnsweringCamera

ROOT = Path(__file__).resolve().parents[3]
_REFEREE = (sys.executable, "-m", "app")
TURNS, SEED = 3, 5
ADDRESS_FILE = "camera-address"
_SAID = (
    "look whether it is switched on and in this network. The game is kept as it is and goes on when the camera is back."
)


@pytest.fixture(scope="module")
def film() -> GameFilm:
    made = film_of("diaballik", turns=TURNS, seed=SEED)
    assert [one.kind for one in made.done].count(ActionKind.VIOLATION) == 2
    return made


class Refereed:
    """A referee in a process of its own, and what it wrote."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.journal, self._printed = folder / "journal.sqlite", folder / "printed.txt"
        own = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        self._environment = {**own, "HOME": str(folder), "PYTHONPATH": str(ROOT)}

    @contextmanager
    def watching(self, address: str) -> Iterator[None]:
        """Watch a camera within the context; its address stands in a file that nothing else may read."""
        (self._folder / ADDRESS_FILE).write_text(address, encoding="utf-8")
        named = f"address:{self._folder / ADDRESS_FILE}"
        told = ["watch", "--game", "diaballik", "--camera", named, "--journal", str(self.journal)]
        with (
            self._printed.open("w", encoding="utf-8") as printed,
            subprocess.Popen(
                [*_REFEREE, *told],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
            ) as self._process,
        ):
            try:
                yield
            finally:
                self._process.send_signal(signal.SIGTERM)

    def report_bugs(self, address: str) -> str:
        """Write a bug report with the camera's address in the environment's settings, and return it."""
        report = self._folder / "report.zip"
        done = subprocess.run(
            [*_REFEREE, "tools", "bug-report", "--journal", str(self.journal), "--out", str(report)],
            check=True,
            cwd=self._folder,
            env={**self._environment, "REFEREE_CAMERA_SOURCE": address},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=GUARD_S,
        )
        with zipfile.ZipFile(report) as packed:
            written = [packed.read(name).decode(errors="replace") for name in packed.namelist()]
        return "\n".join([done.stdout, done.stderr, *written])

    @property
    def is_running(self) -> bool:
        """Whether its process runs."""
        return self._process.poll() is None

    @property
    def said(self) -> str:
        """What it printed so far."""
        return self._printed.read_text(encoding="utf-8") if self._printed.exists() else ""

    def interrupt(self) -> int:
        """Press Ctrl-C, and return the exit code."""
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(GUARD_S)

    def commands(self) -> bytes:
        """The command lines of its process and of those that it started, as anybody can read them."""
        started = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text(encoding="ascii")
        return b"".join(
            Path(f"/proc/{number}/cmdline").read_bytes() for number in (self._process.pid, *started.split())
        )

    def named(self, kind: EventKind) -> list[dict[str, object]]:
        """The events of a kind in the journal."""
        if not self.journal.exists():
            return []
        with read_journal(self.journal) as journal:
            game = journal.latest_game()
            return [] if game is None else [dict(one.data) for _, one in journal.events(game) if one.kind is kind]

    def has_named(self, turns: int, faults: int) -> bool:
        """Whether the set-up, so many turns and so many faults are in the journal."""
        return bool(self.named(EventKind.SET_UP)) and (
            len(self.named(EventKind.TURN)) >= turns and len(self.named(EventKind.ILLEGAL)) >= faults
        )


def wait_until(true: Callable[[], bool], referee: Refereed) -> None:
    """Wait until something is true, as long as the referee runs and now and then says something new."""
    said, deadline_s, looks = "", 0.0, threading.Event()
    while not true():
        if referee.said != said or not deadline_s:
            said, deadline_s = referee.said, time.monotonic() + 3 * GUARD_S
        assert time.monotonic() < deadline_s, said
        assert referee.is_running, said
        looks.wait(0.1)


def check_game(referee: Refereed, film: GameFilm, folder: Path, address: str) -> None:
    """Check the game that was refereed, and that the password is in nothing that was written."""
    played = [one.turn for one in film.done if one.kind is ActionKind.TURN]
    assert [one["turn"] for one in referee.named(EventKind.TURN)] == played, referee.said
    faults = [one for one in film.done if one.kind is ActionKind.VIOLATION]
    assert len(referee.named(EventKind.ILLEGAL)) == len(faults), referee.said
    assert len(referee.named(EventKind.PUT_RIGHT)) == len(faults), referee.said
    report = referee.report_bugs(address)
    assert played[0] in report
    assert "source = (left out)" in report
    assert PASSWORD not in report
    for file in folder.rglob("*"):
        if file.is_file() and file.name != ADDRESS_FILE:
            assert PASSWORD.encode() not in file.read_bytes(), file


def test_mjpeg(film: GameFilm, tmp_path: Path) -> None:
    referee = Refereed(tmp_path)
    camera = FilmingCamera(film, referee.has_named, halts_at=film.during(ActionKind.TURN, 1))
    try:
        with referee.watching(camera.address):
            wait_until(camera.halted.is_set, referee)
            # it says so, and asks again, in vain
            wait_until(lambda: _SAID in referee.said, referee)
            asked = camera.asked
            wait_until(lambda: camera.asked > asked, referee)
            camera.close()
            assert len(referee.named(EventKind.TURN)) == 1
            camera.open()
            camera.goes_on.set()
            wait_until(lambda: referee.has_named(TURNS, 2), referee)
    finally:
        camera.end()
    check_game(referee, film, tmp_path, camera.address)


@pytest.mark.skipif(bool(RTSP_MISSING), reason=RTSP_MISSING)
def test_rtsp(film: GameFilm, tmp_path: Path) -> None:
    referee = Refereed(tmp_path)
    camera = FilmingCamera(film, referee.has_named, halts_at=film.during(ActionKind.TURN, 1))
    server = RtspServer(camera)
    try:
        with referee.watching(server.address):
            wait_until(camera.halted.is_set, referee)
            wait_until(lambda: _SAID in referee.said, referee)
            server.close()
            assert len(referee.named(EventKind.TURN)) == 1
            server.open()
            camera.goes_on.set()
            wait_until(lambda: referee.has_named(TURNS, 2), referee)
    finally:
        server.close()
        camera.end()
    check_game(referee, film, tmp_path, server.address)


class Flood(AnsweringCamera):
    """A camera that answers what is asked, and then sends without an end."""

    def __init__(self, film: bytes) -> None:
        self._film, self.floods = film, threading.Event()
        super().__init__(lambda connection, asked: None)

    def _talk(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            while asked := connection.recv(4096):
                number = b"".join(line for line in asked.splitlines(True) if line.lower().startswith(b"cseq"))
                if asked.startswith(b"OPTIONS"):
                    connection.sendall(b"RTSP/1.0 200 OK\r\n" + number + b"Public: DESCRIBE, SETUP, PLAY\r\n\r\n")
                    continue
                connection.sendall(self._film.replace(b"CSEQ\r\n", number))
                self.floods.set()
                while True:
                    connection.sendall(bytes(1 << 16))


_FLOODS = {
    "http": b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\n\r\n",
    "rtsp": b"RTSP/1.0 200 OK\r\nCSEQ\r\nContent-Type: application/sdp\r\nContent-Length: 2147483000\r\n\r\n",
}


@pytest.mark.parametrize("scheme", _FLOODS)
def test_ctrl_c_ends_a_referee_whose_camera_sends_without_an_end(scheme: str, film: GameFilm, tmp_path: Path) -> None:
    referee, picture = Refereed(tmp_path), film.pictures[0]
    flood = Flood(_FLOODS[scheme] + (picture + picture[:-2] if scheme == "http" else b""))
    try:
        with referee.watching(f"{scheme}://{USER}:{PASSWORD}@127.0.0.1:{flood.port}/film"):
            assert flood.floods.wait(GUARD_S)
            assert PASSWORD.encode() not in referee.commands()
            # neither a signal nor C++ ends it
            assert referee.interrupt() >= 0, referee.said
    finally:
        flood.close()
    assert PASSWORD not in referee.said
