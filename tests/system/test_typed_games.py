"""A whole game of each of the five, typed at a real terminal; half-way the process is killed and the game resumed."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine import records
from engine.api import Game
from engine.registry import games, load
from engine.search.budget import CountingClock
from engine.support.chance import format_roll
from engine.values import Strength
from referee.cli.play.game import ending_sentence
from tests.engine.whole_games import any_roll
from tests.guard import GUARD_S

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = {"number-drop": "players=2", "blokus-dice": "players=2"}
PLAYTHROUGHS = {
    "number-drop": "number_drop/two-players.txt",
    "blokus-dice": "blokus_dice/two-players.txt",
}
PROMPT = re.compile(
    r"(^|\n)(\w+( rolls| draws)?> |`undo` takes it back, Enter leaves> |.*Go\s+on\s+with\s+it\?\s+\[Y/n\]: )$"
)


class Terminal:
    """A process at a pseudo-terminal of 24 lines."""

    def __init__(self, folder: Path, *arguments: str, columns: int = 80) -> None:
        self._ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (24, columns))
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("REFEREE_", "XDG_"))}
        # A dumb terminal has 80 columns unless both are given.
        size = {"COLUMNS": str(columns), "LINES": "24"}
        self.process = subprocess.Popen(
            # A test run in the background ignores Ctrl-C, and so would what it starts.
            ["env", "--default-signal=INT", sys.executable, "-P", "-m", "referee", *arguments],
            cwd=folder,
            env={**environment, **size, "HOME": str(folder), "PYTHONPATH": str(ROOT), "TERM": "dumb"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def until_asked(self) -> str:
        """Output of the process until it asks for a line, or ends."""
        said = b""
        while not PROMPT.search(text := said.decode(errors="replace").replace("\r", "")):
            readable, _, _ = select.select([self._ours], [], [], GUARD_S)
            assert readable, f"nothing more came after {text[-500:]!r}"
            try:
                more = os.read(self._ours, 65536)
            except OSError:
                more = b""
            if not more:
                # Nobody is left at the other end, which Linux tells by an error.
                return text
            said += more
        return text

    def type(self, line: str) -> str:
        """Type a line at a prompt, and give the answer."""
        os.write(self._ours, f"{line}\n".encode())
        return self.until_asked()

    def close(self) -> None:
        """End the process as a power cut would, where it still runs."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait(GUARD_S)
        os.close(self._ours)


@contextmanager
def playing(folder: Path, *arguments: str, columns: int = 80) -> Iterator[Terminal]:
    """``referee play`` at a terminal of its own."""
    terminal = Terminal(folder, "play", *arguments, columns=columns)
    try:
        yield terminal
    finally:
        terminal.close()


def typed_game(game: Game[Any, Any]) -> tuple[list[str], Any]:
    """The lines of a whole game and its final state, from a playthrough or by gentle hints."""
    kept = PLAYTHROUGHS.get(game.name)
    if kept is not None:
        text = (ROOT / "tests" / "playthroughs" / kept).read_text(encoding="utf-8")
        lines = [found[1] for found in re.finditer(r"^(?:rolls|plays): (.+?)(?: \(.*)?$", text, re.MULTILINE)]
        return lines, game.notation.parse_state(re.findall(r"^state: (.*)$", text, re.MULTILINE)[-1])
    state: Any = game.rules.new()
    lines, earlier = list[str](), list[Any]()
    while game.rules.outcome(state) is None:
        rng = Random(f"3 {len(lines)}")
        if game.dice is not None and game.dice.awaits_roll(state):
            # Where many pips make a typed turn slow to read, few are thrown.
            roll = any_roll(game, state, rng)
            lines.append(format_roll(roll))
            state = game.dice.rolled(state, roll)
            continue
        clock = CountingClock(0.001)
        turn = game.advice.hint(state, 0.02, rng, clock=clock, strength=Strength.GENTLE, earlier=earlier).turn
        earlier.append(state)
        lines.append(game.notation.format_turn(turn))
        state = game.rules.apply(state, turn)
    return lines, state


@pytest.mark.parametrize("name", games())
def test_a_whole_typed_game_survives_a_kill_half_way(name: str, tmp_path: Path) -> None:
    game = load(name)
    lines, end = typed_game(game)
    half = len(lines) // 2
    options = ["--set-up=usual", *([f"--option={OPTIONS[name]}"] if name in OPTIONS else [])]
    with playing(tmp_path, name, *options) as terminal:
        assert "help" in terminal.until_asked()
        for line in lines[:half]:
            terminal.type(line)
    assert terminal.process.returncode == -signal.SIGKILL
    with playing(tmp_path, name) as terminal:
        assert "A game is not finished" in terminal.until_asked()
        said = terminal.type("y")
        for line in lines[half:]:
            said = terminal.type(line)
        assert ending_sentence(game, end) in " ".join(said.split())
        terminal.type("")
        assert terminal.process.wait(GUARD_S) == 0
    [kept] = tmp_path.glob(f"{name}-*.txt")
    read = records.read(kept.read_text(encoding="utf-8"))
    assert records.replay(read).states[-1] == end
    outcome = game.rules.outcome(end)
    assert outcome is not None
    assert read.result == records.result_of(outcome)


def test_a_narrow_terminal_wraps_at_words_and_ctrl_c_ends_the_prompts_line(tmp_path: Path) -> None:
    with playing(tmp_path, "diaballik", columns=40) as terminal:
        assert max(map(len, terminal.until_asked().splitlines())) <= 40
        terminal.type("a1-a2")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.until_asked().startswith("\nKept as ")
        assert terminal.process.wait(GUARD_S) == 130
