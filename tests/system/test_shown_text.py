"""What others wrote into an old journal is shown on a real terminal without commands to it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tty
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.attacks.hostile_text import COMMAND, OWN
from engine.registry import load
from referee.journal.events import Event, EventKind, JsonValue
from referee.journal.journal import Journal

HOSTILE = "Ann\x1b]52;c;Y3VybA==\x1b\\\x1b[2J\x9b5m\u202e\x07"
COMMANDS = [
    ("games", "replay", "journal.sqlite"),
    ("games", "list", "--journal", "journal.sqlite"),
    ("games", "export", "--journal", "journal.sqlite"),
    ("status", "--journal", "journal.sqlite"),
    ("tools", "devices", "--journal", "journal.sqlite"),
    ("games", "replay", f"no{HOSTILE}.txt"),
    ("--debug", "games", "replay", "damaged.txt"),
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
    (folder / "damaged.txt").write_text(f'[Game "{HOSTILE}"]\n')
    return folder


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
@pytest.mark.parametrize("is_terminal", [True, False])
def test_an_old_journal_gives_no_commands_to_the_terminal(
    folder: Path, words: tuple[str, ...], is_terminal: bool
) -> None:
    ours, theirs = pty.openpty() if is_terminal else os.pipe()
    if is_terminal:
        tty.setraw(theirs)
    environment = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    program = [sys.executable, "-m", "referee", *words]
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
