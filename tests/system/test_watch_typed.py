"""Turns, rolls and corrections typed on the live screen of ``watch``, at a real terminal of 80 columns and 24 lines."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from datetime import date
from pathlib import Path
from typing import Any

from engine.registry import load
from referee.journal.fold import fold
from referee.journal.reader import read_journal
from simulator.scene.scene import lens
from simulator.table import standard_setting
from tests.guard import GUARD_S
from vision.calibration import Calibration, save_calibration

ROOT = Path(__file__).resolve().parents[2]
GAME = "number-drop"
TYPED = (
    ("turn d1=1", "p1 writes a 1 on d1."),
    ("turn p1 e1=1", "p1 may not play now; it is the turn of p2"),
    ("turn p2 c1=2", "p2 writes a 2 on c1."),
    ("roll 1,3,4,5,T", "1,3,4,5,T was rolled."),
    ("undo", "1,3,4,5,T is taken back."),
    ("correct p2.c1 empty p2.e1 digit 2", "p2.c1 is empty, p2.e1 is digit 2"),
    ("trun d1", "'trun d1' is not understood;"),
    ("?", "draw, resign, accept, refuse. "),
)


class Watch:
    """``watch`` at a pseudo-terminal with a saved game and a camera that sees nothing yet."""

    def __init__(self, folder: Path) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, 80))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        self._environment = {**kept, "HOME": str(folder), "PYTHONPATH": str(ROOT), "TERM": "xterm"}
        self._folder = folder
        self.journal = folder / "journal.sqlite"
        save_calibration(
            folder / "lens.json",
            Calibration(standard_setting(lens((960, 540))).camera, (), 1.0, ()),
            made_on=date(2026, 5, 1),
        )
        (folder / "incoming").mkdir()
        for words in (("games", "new", GAME, "--option", "players=2"), ("table", "roll", "I4,I3,O4,X5,T5")):
            subprocess.run(self._command(*words, "--journal", "journal.sqlite"), check=True, **self._where)
        watching = (
            "--game",
            GAME,
            "--option",
            "players=2",
            "--camera",
            "folder:incoming",
            "--calibration",
            "lens.json",
        )
        self.process = subprocess.Popen(
            self._command("watch", *watching, "--journal", "journal.sqlite"),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            **self._where,
        )
        os.close(theirs)
        self.said = ""

    @property
    def _where(self) -> dict[str, Any]:
        return {"cwd": self._folder, "env": self._environment}

    @staticmethod
    def _command(*words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "referee", *words]

    def until(self, words: str) -> None:
        """Read the screen until it shows these words, whatever it draws between them."""
        end_s = time.monotonic() + GUARD_S
        while "".join(words.split()) not in "".join(self.said.split()):
            ready, _, _ = select.select([self._ours], [], [], max(0.0, end_s - time.monotonic()))
            assert ready, f"{words!r} is not on the screen: {self.said[-4000:]}"
            self.said += os.read(self._ours, 65536).decode(errors="replace")

    def type(self, line: str) -> None:
        """Type a line; what was shown before is forgotten."""
        self.said = ""
        os.write(self._ours, line.encode() + b"\r")

    def stop(self) -> int:
        """Stop it as a person does."""
        os.kill(self.process.pid, signal.SIGINT)
        while self.process.poll() is None:
            ready, _, _ = select.select([self._ours], [], [], 0.1)
            if ready:
                try:
                    os.read(self._ours, 65536)
                except OSError:
                    break
        os.close(self._ours)
        return self.process.wait(GUARD_S)


def test_turns_rolls_and_corrections_are_typed_on_the_live_screen(tmp_path: Path) -> None:
    watching = Watch(tmp_path)
    try:
        watching.until("says more")
        for line, answer in TYPED:
            watching.type(line)
            watching.until(answer)
    finally:
        assert watching.stop() == 0
    with read_journal(watching.journal) as journal:
        folded = fold(load(GAME), journal.events(1))
    assert [step.text for step in folded.steps[:3]] == ["I4,I3,O4,X5,T5", "d1=1", "c1=2"]
    assert folded.states[0].sheets[1].cells[4] == "2"
