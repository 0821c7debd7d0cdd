"""At a real terminal: whole games, turns on the live screen, others' texts, and Ctrl-C at any moment of the start."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.attacks.hostile_text import COMMAND, OWN, damaged_jpeg, hostile_png
from engine import records
from engine.api import Game
from engine.registry import games, load
from engine.search.budget import CountingClock
from engine.support.chance import format_roll
from engine.values import Strength
from journal.journal import Journal
from journal.reader import events_of_game, read_journal
from referee.record.events import Event, EventKind, JsonValue
from referee.record.fold import fold
from referee.record.results import make_record, outcome_sentence
from simulator.scene.scene import lens
from simulator.table import standard_setting
from tests.engine.whole_games import any_roll
from tests.guard import GUARD_S
from vision.calibration import save_calibration

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
            ["env", "--default-signal=INT", sys.executable, "-P", "-m", "app", *arguments],
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
        assert " is not finished " in terminal.until_asked()
        said = terminal.type("y")
        for line in lines[half:]:
            said = terminal.type(line)
        outcome = game.rules.outcome(end)
        assert outcome is not None
        assert outcome_sentence(outcome) in " ".join(said.split())
        terminal.type("")
        assert terminal.process.wait(GUARD_S) == 0
    with read_journal(tmp_path / ".local/share/tabletop-referee/play.sqlite") as journal:
        kept = make_record(*events_of_game(journal, None))
    assert records.replay(kept).states[-1] == end
    assert kept.result == records.result_of(outcome)


def test_a_narrow_terminal_wraps_at_words_and_ctrl_c_ends_the_prompts_line(tmp_path: Path) -> None:
    with playing(tmp_path, "diaballik", columns=40) as terminal:
        assert max(map(len, terminal.until_asked().splitlines())) <= 40
        terminal.type("a1-a2")
        terminal.process.send_signal(signal.SIGINT)
        assert terminal.until_asked().startswith("\nKept in ")
        assert terminal.process.wait(GUARD_S) == 130


GAME = "number-drop"
TYPED = (
    ("turn d1=1", "p1 writes a 1 on d1."),
    ("turn p1 e1=1", "p1 may not play now; it is the turn of p2"),
    ("turn p2 c1=2", "p2 writes a 2 on c1."),
    ("roll 1,3,4,5,T", "1,3,4,5,T was rolled."),
    ("undo", "1,3,4,5,T was rolled. That is taken back."),
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
        save_calibration(folder / "lens.json", standard_setting(lens((960, 540))).camera)
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
        return [sys.executable, "-P", "-m", "app", *words]

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


HOSTILE = "Ann\x1b]52;c;Y3VybA==\x1b\\\x1b[2J\x9b5m\u202e\x07"
COMMANDS = [
    ("games", "replay", "journal.sqlite"),
    ("games", "list", "--journal", "journal.sqlite"),
    ("games", "export", "--journal", "journal.sqlite"),
    ("status", "--journal", "journal.sqlite"),
    ("tools", "devices", "--journal", "journal.sqlite"),
    ("games", "replay", f"no{HOSTILE}.txt"),
    ("--debug", "games", "replay", "damaged.txt"),
    ("pieces", "read", "pictures/1.png"),
    ("watch", "--game", "diaballik", "--frames", "pictures", "--lines", "--journal", "watched.sqlite"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("old")
    game: Any = load("diaballik")
    state = {"state": game.notation.format_state(game.rules.new())}
    with Journal.open(folder / "journal.sqlite", wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal:
        players: JsonValue = {"white": HOSTILE, "black": "Ben"}
        journal.append(Event(EventKind.NEW_GAME, {"game": "diaballik", "options": {}, "players": players}))
        journal.append(Event(EventKind.SET_UP, state))
        journal.append(Event(EventKind.CORRECTION, {**state, "why": HOSTILE, "by": HOSTILE}))
        journal.append(Event(EventKind.NOTE, {"sentence": HOSTILE}))
    device = {"id": "a", "name": HOSTILE, "role": 1, "paired_s": 1e9, "seen_s": 1e9}
    (folder / "journal.sqlite.page-devices").write_text(json.dumps({"devices": [device]}))
    (folder / "pictures").mkdir()
    for number, picture in enumerate((hostile_png(HOSTILE), damaged_jpeg(HOSTILE), hostile_png(HOSTILE)), 1):
        (folder / "pictures" / f"{number}.{'jpg' if number == 2 else 'png'}").write_bytes(picture)
    (folder / "damaged.txt").write_text(f'[Game "{HOSTILE}"]\n')
    return folder


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("is_terminal", [True, False])
def test_an_old_journal_or_a_picture_gives_no_commands_to_the_terminal(
    folder: Path, words: tuple[str, ...], is_terminal: bool
) -> None:
    ours, theirs = pty.openpty() if is_terminal else os.pipe()
    if is_terminal:
        tty.setraw(theirs)
    environment = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    program = [sys.executable, "-m", "app", *words]
    with subprocess.Popen(program, stdout=theirs, stderr=theirs, cwd=folder, env={**environment, "TERM": "xterm"}):
        os.close(theirs)
        received = b""
        try:
            while part := os.read(ours, 65536):
                received += part
        except OSError:
            pass  # a pseudo-terminal ends so
    os.close(ours)
    text = received.decode(errors="surrogateescape")
    assert text.strip()
    assert COMMAND.findall(OWN.sub("", text) if is_terminal else text) == []
    assert not re.search("libpng|JPEG data", text)


RUN = Path(__file__).parents[2] / "run"


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    """The first call may install what is missing."""
    subprocess.run([RUN, "--version"], check=True, capture_output=True)


@pytest.mark.parametrize("after_ms", [*range(0, 100, 7), *range(100, 400, 30)])
def test_a_start_that_is_interrupted_shows_no_traceback(after_ms: int, tmp_path: Path) -> None:
    started = subprocess.Popen(
        [RUN, "play", "diaballik", "--help"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    # To the whole group, as a terminal does.
    timer = threading.Timer(after_ms / 1000, _interrupt, (started.pid,))
    timer.start()
    _, said = started.communicate(timeout=GUARD_S)
    timer.join()
    assert said.strip() in ("", "referee: stopped")
    assert started.returncode in (0, 130, -signal.SIGINT)


_CTRL_C_AT_THE_VERY_END = """
import atexit, os, runpy, signal, sys
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.argv = ["referee", "--version"]
runpy.run_module("app", run_name="__main__")
"""


def test_ctrl_c_while_python_itself_ends_shows_no_traceback() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _CTRL_C_AT_THE_VERY_END], check=False, cwd=RUN.parent, capture_output=True, text=True
    )
    assert ended.stdout.startswith("referee ")
    assert ended.stderr == ""
    assert ended.returncode == -signal.SIGINT


def _interrupt(group: int) -> None:
    try:
        os.killpg(group, signal.SIGINT)
    except ProcessLookupError:
        # It had ended by itself.
        return
