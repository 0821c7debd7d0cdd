"""A short game on the virtual table as files, made once: the basis of every bad input."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import pytest
from click.testing import CliRunner

from app.cli.root import root
from simulator.enrolment import enrolment_images
from simulator.play.game import GameOptions, TruthLog
from simulator.play.players import Habits
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from tests.commands import Run, runner_in
from tests.guard import GUARD_S
from vision.calibration import save_calibration

ROOT = Path(__file__).resolve().parents[3]
HONEST = Habits(violation_share=0, straighten_share=0, try_out_share=0, rest_share=0)
SIZE = (960, 540)


@dataclass(frozen=True)
class Game:
    """A game's pictures in order (set-up, then the table after each turn), its film, calibration and looks."""

    folder: Path
    pictures: tuple[Path, ...]
    film: Path
    calibration: Path
    looks: Path

    @property
    def seeing(self) -> list[str]:
        """The options that tell ``watch`` how to see this table."""
        return ["--calibration", str(self.calibration), "--looks", str(self.looks)]


@pytest.fixture(scope="session")
def game(tmp_path_factory: pytest.TempPathFactory) -> Game:
    folder = tmp_path_factory.mktemp("game")
    truth = TruthLog()
    table = VirtualTable(
        5, GameOptions(turns=3, habits=HONEST), fps=4.0, truth=truth, setting=standard_setting(lens(SIZE))
    )
    frames = list(table.frames())
    ends_s = [event.gone_s for event in truth.events if event.kind == "turn"]
    at_rest = [frames[0], *(next(frame for frame in frames if frame.time_s >= end_s + 0.3) for end_s in ends_s)]
    pictures = []
    for number, frame in enumerate(at_rest):
        pictures.append(folder / f"{number:03d}.jpg")
        cv2.imwrite(str(pictures[-1]), frame.image, [cv2.IMWRITE_JPEG_QUALITY, 95])
    film = folder / "film.avi"
    writer = cv2.VideoWriter(str(film), cv2.VideoWriter.fourcc(*"MJPG"), 4.0, SIZE)
    for frame in frames:
        writer.write(frame.image)
    writer.release()
    calibration, looks = folder / "camera.json", folder / "looks.json"
    save_calibration(calibration, table.calibration())
    arguments = ["enrol"]
    for picture in enrolment_images(table.setting, table.seed):
        cv2.imwrite(str(folder / f"{picture.colour}.png"), picture.image)
        (folder / f"{picture.colour}.json").write_text(json.dumps(picture.as_json()))
        arguments += [str(folder / f"{picture.colour}.png"), "--positions", str(folder / f"{picture.colour}.json")]
    arguments += ["--calibration", str(calibration), "--out", str(looks)]
    assert CliRunner().invoke(root, arguments, prog_name="referee").exit_code == 0
    return Game(folder, tuple(pictures), film, calibration, looks)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``referee`` with arguments in an empty folder, without settings of this machine."""
    return runner_in(tmp_path, monkeypatch)


@dataclass
class Live:
    """A referee in a process of its own, whose lines are read as they come."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    _coming: queue.SimpleQueue[str | None] = field(default_factory=queue.SimpleQueue)

    def __post_init__(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._coming.put(line.rstrip("\n"))
        self._coming.put(None)

    def wait_for(self, words: str) -> str:
        """Give the next line that contains ``words``; fails if the process ends or is silent for long."""
        while True:
            line = self._next_line()
            assert line is not None, f"it ended without {words!r}:\n" + "\n".join(self.lines)
            self.lines.append(line)
            if words in line:
                return line

    def _next_line(self) -> str | None:
        """The next line, ``None`` after the last; raises queue.Empty when it says nothing for long.

        Time in which it was ready to run and no core was free does not count: only a busy machine is slow then.
        """
        began_s, before_s = time.monotonic(), self._without_core_s()
        while True:
            try:
                return self._coming.get(timeout=GUARD_S)
            except queue.Empty:
                if time.monotonic() - began_s - (self._without_core_s() - before_s) >= GUARD_S:
                    raise

    def _without_core_s(self) -> float:
        """How long its main thread has waited for a core; 0 if the system doesn't report it."""
        try:
            return int(Path(f"/proc/{self.process.pid}/schedstat").read_text(encoding="ascii").split()[1]) / 1e9
        except (OSError, IndexError):
            return 0.0

    def stop(self) -> int:
        """Press Ctrl-C, and give the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.ended()

    def kill(self) -> None:
        """As a power cut would: at once, with nothing tidied up."""
        self.process.kill()
        self.ended()

    def ended(self) -> int:
        """Wait for the end; the lines said since are in ``lines``."""
        while (line := self._next_line()) is not None:
            self.lines.append(line)
        return self.process.wait(GUARD_S)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Live]]:
    """Start ``referee`` in a process of its own; ``before`` is a command it is run by."""
    started: list[Live] = []

    def starting(*arguments: Any, before: Sequence[str] = ()) -> Live:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        process = subprocess.Popen(
            [*before, sys.executable, "-u", "-P", "-m", "app", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            cwd=tmp_path,
            env={**kept, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "NO_COLOR": "1"},
        )
        started.append(Live(process))
        return started[-1]

    yield starting
    for live in started:
        if live.process.poll() is None:
            live.process.kill()
            live.process.wait()
        assert live.process.stdout is not None
        live.process.stdout.close()
