"""The tests that owners run with a real board pass on a good one, and say what is wrong with a bad one.

They run as an owner would run them, in a process of their own; a virtual board and a UDP socket stand for the real
things, and this test for the person at the keyboard.
"""

import os
import re
import select
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from firmware_bridge.pin_maps.file import parse_pin_map
from firmware_bridge.pin_maps.pin_map import example_pin_map
from hardware.pin_map import BUTTON_ROLES
from simulator.microcontroller.microcontroller import VirtualMicrocontroller
from tests.guard import GUARD_S

ROOT = Path(__file__).parents[2]


def run(test: str, answer: Callable[[str], str], step_s: float = 0.03, **environment: str) -> tuple[int, str]:
    """Run one of the owners' tests; ``answer`` gets each new line, or question, and gives what to type."""
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", f"tests/real/{test}"],
        cwd=ROOT,
        # A busy computer is no slow board.
        env={
            **os.environ,
            "REFEREE_REAL_STEP_S": str(step_s),
            "REFEREE_REAL_SLOWEST_S": str(GUARD_S),
            "PYTHONUNBUFFERED": "1",
            **environment,
        },
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.STDOUT,
    )
    os.close(write_end)
    assert process.stdin is not None
    heard, line = "", ""
    try:
        while select.select([read_end], [], [], GUARD_S)[0] and (data := os.read(read_end, 1)):
            letter = data.decode("utf-8", "replace")
            heard += letter
            line += letter
            if letter == "\n" or line.endswith("[y/n] "):
                typed = answer(line.strip())
                if typed:
                    process.stdin.write(typed.encode())
                    process.stdin.flush()
                line = ""
        process.stdin.close()
        return process.wait(GUARD_S), heard
    finally:
        os.close(read_end)
        if process.poll() is None:
            process.kill()
            process.wait()


def small_board() -> bytes:
    text = re.sub(r"^count = \d+", "count = 12", example_pin_map(), flags=re.M)
    text = re.sub(r"^rows = .*", "rows = [2, 3]", text, flags=re.M)
    text = re.sub(r"^columns = .*", "columns = [10, 11]", text, flags=re.M)
    return parse_pin_map(text, button_roles=BUTTON_ROLES).device_json()


class Person:
    """Follows the tests' instructions on a virtual board."""

    def __init__(self, board: VirtualMicrocontroller, *, dead_button: int | None = None) -> None:
        self._board = board
        self._dead_button = dead_button
        self._switch = 0

    def answer(self, line: str) -> str:
        if line.endswith("[y/n]"):
            return "y\n"
        if found := re.match(r"Close switch (\d+)", line):
            self._switch = int(found[1])
            self._board.set_switch(self._switch, True)
        elif "Now open it" in line:
            self._board.set_switch(self._switch, False)
        elif found := re.match(r"Press button (\d+)", line):
            wrong = int(found[1]) == self._dead_button
            self._board.press(int(found[1]) + 1 if wrong else int(found[1]))
        return ""


def test_a_good_board_passes() -> None:
    with VirtualMicrocontroller(small_board()) as board:
        code, heard = run("test_real_board.py", Person(board).answer, REFEREE_REAL_BOARD=board.port_name)
        alone = {frame.colours for frame in board.frames() if len(frame.colours.strip(b"\0")) == 3}
    assert code == 0, heard
    assert "12 lights, 4 switches, 3 buttons" in heard
    assert "round trip of 100 questions: median" in heard
    # A frame that comes while the strip is busy is replaced by the next, so on a busy computer some may be skipped.
    assert len(alone) >= 3


def test_a_button_on_the_wrong_pin_is_reported() -> None:
    with VirtualMicrocontroller(small_board()) as board:
        person = Person(board, dead_button=1)
        code, heard = run("test_real_board.py", person.answer, REFEREE_REAL_BOARD=board.port_name)
    assert code == 1
    assert "button 2 was pressed, and not 1" in heard
    assert len(re.findall(r"^FAILED", heard, re.M)) == 1


def test_a_correct_wled_passes() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wled:
        wled.bind(("127.0.0.1", 0))
        code, heard = run(
            "test_real_wled.py",
            lambda line: "y\n" if line.endswith("[y/n]") else "",
            step_s=0.005,
            REFEREE_REAL_WLED="127.0.0.1",
            REFEREE_REAL_WLED_PORT=str(wled.getsockname()[1]),
        )
        wled.setblocking(False)
        first = wled.recv(2000)
    assert code == 0, heard
    assert len(first) == 10 + 3 * 8


def test_answers_need_a_keyboard() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/real/test_real_wled.py"],
        cwd=ROOT,
        env={**os.environ, "REFEREE_REAL_WLED": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=GUARD_S,
        check=False,
    )
    assert done.returncode == 1
    assert "run them by ./check --real, or with -s" in done.stdout
