"""``./run demo --page`` as a person starts it: the page is there during the game and after it, until Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.guard import GUARD_S

ROOT = Path(__file__).resolve().parents[3]


def asked(address: str, path: str, fields: dict[str, Any] | None = None, csrf: str = "") -> Any:
    """Request the page and give its answer."""
    headers = {"Content-Type": "application/json", "X-CSRF-Token": csrf}
    body = None if fields is None else json.dumps(fields).encode()
    with urllib.request.urlopen(urllib.request.Request(address + path, body, headers), timeout=GUARD_S) as answer:
        return json.loads(answer.read())


@pytest.fixture
def demo(tmp_path: Path) -> Any:
    """A demo of one turn, and a function that waits for a line of its output."""
    command = [sys.executable, "-m", "referee", "demo", "--page", "--fast", "--turns", "1", "--lights", "none"]
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--journal", str(tmp_path / "journal.sqlite")],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        guard = threading.Timer(4 * GUARD_S, process.kill)
        guard.start()

        def wait_for(pattern: str) -> str:
            assert process.stdout is not None
            read = ""
            for line in process.stdout:
                read += line
                if found := re.search(pattern, line):
                    return found[0]
            raise AssertionError(f"{pattern!r} was not said: {read}")

        yield process, wait_for
        guard.cancel()
        process.kill()


def test_the_page_shows_the_game_and_its_end_and_takes_commands_until_ctrl_c(
    demo: tuple[subprocess.Popen[str], Callable[[str], str]],
) -> None:
    process, wait_for = demo
    address = wait_for(r"http://127\.0\.0\.1:\d+")
    assert asked(address, "/api/table")["game"]["name"] == "deblockle"
    wait_for("Ctrl-C ends it")
    ended = asked(address, "/api/table")
    assert ended["turns"] == 1
    csrf = asked(address, "/api/session")["csrf"]
    taken_back = asked(address, "/api/commands", {"command": "take back", "seen": ended["event_number"]}, csrf)
    assert not taken_back["refused"], taken_back
    assert asked(address, "/api/table")["turns"] == 0
    assert [event["kind"] for event in asked(address, "/api/history")["events"]][-2:] == ["turn", "take back"]
    with urllib.request.urlopen(f"{address}/api/camera.jpg?overlay=1", timeout=GUARD_S) as picture:
        assert picture.read(2) == b"\xff\xd8"
    process.send_signal(signal.SIGINT)
    assert process.wait(GUARD_S) == 0
