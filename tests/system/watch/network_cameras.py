"""Cameras in the network that film a virtual table: real servers on loopback, which stall, close and come back."""

import base64
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import cv2

from simulator.play.actions import ActionKind
from simulator.play.game import GameOptions, TruthEvent, TruthLog
from simulator.play.players import Habits
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from tests.guard import GUARD_S

USER, PASSWORD = "ann", "k3ep-it"
_FPS = 5
_SIZE = (960, 540)
_HABITS = Habits(violation_share=0.6, straighten_share=0, try_out_share=0, rest_share=0)
_SETTLED_S = 1.0
"""Seconds after a hand left at which the table is at rest, and the players wait for the referee."""
_AT_REST = 3
"""How many pictures before then show the same."""
_SYSTEM_PYTHON = Path("/usr/bin/python3")
_RTSP_SCRIPT = Path(__file__).with_name("rtsp_server.py")


@dataclass(frozen=True)
class GameFilm:
    """A game: its pictures as JPEG, what was done, and after which picture the players wait for the referee.

    ``waits`` gives by picture the number of turns and of faults that the referee has to have named by then.
    """

    game: str
    pictures: tuple[bytes, ...]
    waits: dict[int, tuple[int, int]]
    done: tuple[TruthEvent, ...]

    def during(self, kind: ActionKind, number: int) -> int:
        """The picture in the middle of the movement of the action of that kind and number."""
        action = [one for one in self.done if one.kind is kind][number]
        return round((action.began_s + action.gone_s) / 2 * _FPS)


def film_of(game: str, *, turns: int, seed: int) -> GameFilm:
    """Play a game with faults in which each turn ends by resting."""
    truth = TruthLog()
    options = GameOptions(game, turns=turns, habits=_HABITS, turn_end="rest")
    table = VirtualTable(seed, options, setting=standard_setting(lens(_SIZE), game), fps=_FPS, truth=truth)
    pictures = tuple(cv2.imencode(".jpg", one.image)[1].tobytes() for one in table.frames())
    waits, turn, fault = {_AT_REST: (0, 0)}, 0, 0
    for one in truth.events:
        turn += one.kind is ActionKind.TURN
        fault += one.kind is ActionKind.VIOLATION
        waits[round((one.gone_s + _SETTLED_S) * _FPS)] = (turn, fault)
    return GameFilm(game, pictures, waits, tuple(truth.events))


class FilmingCamera:
    """A camera that sends a film by HTTP, picture by picture, while ``close`` was not called.

    ``has_named`` tells whether the referee has named so many turns and faults; the players wait for that. The film
    halts at the picture ``halts_at``: then nothing is sent until it goes on.
    """

    def __init__(self, film: GameFilm, has_named: Callable[[int, int], bool], *, halts_at: int) -> None:
        self._film, self._has_named, self._halts_at = film, has_named, halts_at
        self._tick, self._shown, self._number = threading.Condition(), b"", 0
        self._ended, self.halted, self.goes_on = threading.Event(), threading.Event(), threading.Event()
        self._connections: set[socket.socket] = set()
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.asked = 0
        self.open()
        self._player = threading.Thread(target=self._play)
        self._player.start()

    @property
    def address(self) -> str:
        """The address with user and password."""
        return f"http://{USER}:{PASSWORD}@127.0.0.1:{self.port}/video?password={PASSWORD}"

    def open(self) -> None:
        """Listen, at the same port as before."""
        handler = type("Handler", (_Handler,), {"camera": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self._serving = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._serving.start()

    def close(self) -> None:
        """Stop listening, and cut every connection."""
        assert self._server is not None
        self._server.shutdown()
        self._serving.join()
        self._server.server_close()
        for connection in tuple(self._connections):
            # the other side may have cut it first
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def end(self) -> None:
        """End the film, and close."""
        self._ended.set()
        self.goes_on.set()
        with self._tick:
            self._tick.notify_all()
        self._player.join()
        self.close()

    def stream(self, handler: BaseHTTPRequestHandler) -> None:
        """Send the film from now on."""
        self._connections.add(handler.connection)
        self.asked += 1
        number = self._number
        try:
            while not self._ended.is_set():
                with self._tick:
                    self._tick.wait_for(lambda: self._number != number or self._ended.is_set())  # noqa: B023
                    number, picture = self._number, self._shown
                handler.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(picture))
                handler.wfile.write(picture + b"\r\n")
        except OSError:
            return
        finally:
            self._connections.discard(handler.connection)

    def _play(self) -> None:
        for index, picture in enumerate(self._film.pictures):
            if index == self._halts_at:
                self.halted.set()
                self.goes_on.wait()
            self._show(picture)
            if (awaited := self._film.waits.get(index)) is not None:
                self._rest(index, partial(self._has_named, *awaited))
        self._rest(len(self._film.pictures) - 1, lambda: False)

    def _rest(self, index: int, is_over: Callable[[], bool]) -> None:
        """Send the last pictures again and again: no two after each other are the same, as with any camera."""
        while not self._ended.is_set() and not is_over():
            for picture in self._film.pictures[index - _AT_REST + 1 : index + 1]:
                self._show(picture)

    def _show(self, picture: bytes) -> None:
        with self._tick:
            self._shown, self._number = picture, self._number + 1
            self._tick.notify_all()
        self._ended.wait(1 / _FPS)


class _Handler(BaseHTTPRequestHandler):
    """Sends the film to who knows the password."""

    camera: FilmingCamera

    def do_GET(self) -> None:
        basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if self.headers["Authorization"] != f"Basic {basic}":
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="camera"')
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        self.camera.stream(self)

    def log_message(self, *_: Any) -> None:
        pass


def _missing() -> str:
    """Say what an RTSP server lacks here; empty if nothing."""
    wanted = ["souphttpsrc", "multipartdemux", "jpegdec", "x264enc", "rtph264pay"]
    inspect = shutil.which("gst-inspect-1.0")
    check = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer"
    commands = [[str(_SYSTEM_PYTHON), "-c", check], *([str(inspect), "--exists", one] for one in wanted)]
    if inspect is None or not _SYSTEM_PYTHON.exists():
        return _PACKAGES
    return (
        _PACKAGES if any(subprocess.run(one, check=False, capture_output=True).returncode for one in commands) else ""
    )


_PACKAGES = (
    "GStreamer's RTSP server is not installed: apt install gstreamer1.0-tools python3-gi gir1.2-gst-rtsp-server-1.0 "
    "gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly"
)
RTSP_MISSING = _missing()


class RtspServer:
    """A real RTSP server that sends what a filming camera films, at a port of its own."""

    def __init__(self, camera: FilmingCamera) -> None:
        self._camera = camera
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.port = int(listening.getsockname()[1])
        self.open()

    @property
    def address(self) -> str:
        """The address with user and password."""
        return f"rtsp://{USER}:{PASSWORD}@127.0.0.1:{self.port}/film"

    def open(self) -> None:
        """Start it, and wait until it listens."""
        film = f"http://127.0.0.1:{self._camera.port}/video"
        self._process = subprocess.Popen(
            [str(_SYSTEM_PYTHON), str(_RTSP_SCRIPT), str(self.port), USER, PASSWORD, film],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "listens\n"

    def close(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.communicate(timeout=GUARD_S)
