"""Ctrl-C at any moment while ./run starts prints one line at most."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.guard import GUARD_S

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
runpy.run_module("referee", run_name="__main__")
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
