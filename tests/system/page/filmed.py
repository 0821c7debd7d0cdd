"""Films of a virtual table, as Chromium takes them for its camera, and a referee that a phone films for."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import cv2

from referee.journal.events import EventKind
from referee.journal.reader import read_journal
from simulator.play.game import GameOptions, TruthLog
from simulator.play.players import Habits
from simulator.scene.paper import on_paper
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from tests.system.page.served import ANSWER_S, free_port
from vision.frame import Image

ROOT = Path(__file__).resolve().parents[3]
HONEST = Habits(violation_share=0, straighten_share=0, try_out_share=0, rest_share=0)
CHROMIUMS_FPS = 30
"""The rate at which Chromium plays such a file, again and again."""
_FPS = 5
_SIZE = (960, 540)
_LOOKS_S, _ENDS_S = 8, 30
"""How long, in seconds, the film shows the set-up first, and the last position."""


@dataclass(frozen=True)
class TableFilm:
    """A game on a virtual table: ``file`` is its film, ``turns`` what was played.

    ``positions`` are pictures of the set-up, and of the table after each turn.
    """

    game: str
    file: Path
    turns: tuple[str, ...]
    positions: tuple[Image, ...]


def film_of(
    game: str, folder: Path, *, turns: int, seed: int = 5, is_of_paper: bool = False, looks_s: int = _LOOKS_S
) -> TableFilm:
    """Film a game in which each turn ends by resting, also one of paper; the set-up is shown for ``looks_s`` first."""
    truth, positions = TruthLog(), list[Image]()
    options = GameOptions(game, turns=turns, habits=HONEST, turn_end="rest")
    setting = standard_setting(lens(_SIZE), game)
    setting = on_paper(setting, seed) if is_of_paper else setting
    table = VirtualTable(seed, options, setting=setting, fps=_FPS, truth=truth)
    file = folder / f"{game}.mjpeg"
    with file.open("wb") as written:
        encoded, played = b"", 0
        for frame in table.frames():
            encoded = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()
            first = not positions
            written.write(encoded * (CHROMIUMS_FPS * (looks_s if first else 1) // (1 if first else _FPS)))
            if first or (len(truth.played) > played and not truth.frames[-1].covered):
                positions.append(frame.image)
                played = len(truth.played)
        written.write(encoded * (CHROMIUMS_FPS * _ENDS_S))
    return TableFilm(game, file, truth.turns, tuple(positions))


class Refereed:
    """A referee in a process of its own, whose camera is a phone; ``plain`` and ``encrypted`` are its page."""

    def __init__(self, film: TableFilm, folder: Path, *more: str) -> None:
        port = free_port()
        self.journal = folder / "games" / "evening.sqlite"
        self.journal.parent.mkdir()
        self.plain, self.encrypted = f"http://127.0.0.1:{port}", f"https://127.0.0.1:{port + 443}"
        self._said = (folder / "said.txt").open("w", encoding="utf-8")
        own = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        told = ("--game", film.game, "--camera", "phone")
        page = ("--page-address", "127.0.0.1", "--page-port", str(port))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "referee", "watch", *told, *page, "--journal", str(self.journal), *more],
            cwd=folder,
            env={**own, "HOME": str(folder), "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=subprocess.STDOUT,
        )
        self.camera_code = self.play_code = self.own_code = ""

    @property
    def said(self) -> str:
        """What it printed so far."""
        return Path(self._said.name).read_text(encoding="utf-8")

    def turns(self) -> list[str]:
        """The turns that it accepted."""
        with read_journal(self.journal) as journal:
            events = journal.events(journal.latest_game())
        return [str(event.data["turn"]) for _, event in events if event.kind is EventKind.TURN]

    def wait_for_turns(self, wanted: Sequence[str], within_s: float = 3 * ANSWER_S) -> list[str]:
        """Wait until so many turns were accepted, and return them."""
        deadline_s = time.monotonic() + within_s
        while len(found := self.turns()) < len(wanted) and time.monotonic() < deadline_s:
            time.sleep(0.2)
        return found

    def wait_for_codes(self) -> None:
        """Wait until its page is open, and read the codes that pair a device."""
        codes = self.journal.with_name(f"{self.journal.name}.page-codes")
        deadline_s = time.monotonic() + 3 * ANSWER_S
        while not codes.exists() and time.monotonic() < deadline_s and self._process.poll() is None:
            time.sleep(0.1)
        assert codes.exists(), self.said
        found = re.findall(r"\d{4} \d{4}", codes.read_text(encoding="utf-8"))
        self.camera_code, self.play_code, self.own_code = found

    def close(self) -> None:
        """Stop it."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(ANSWER_S)
        self._said.close()


@contextmanager
def refereed(film: TableFilm, folder: Path, *more: str) -> Iterator[Refereed]:
    """Referee a filmed game inside the context."""
    running = Refereed(film, folder, *more)
    try:
        running.wait_for_codes()
        yield running
    finally:
        running.close()
