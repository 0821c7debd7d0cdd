"""``referee hardware firmware`` as it is typed, with a board of MicroPython under Node behind a pseudo-terminal."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from firmware_bridge.install.manifest import Firmware, version_text
from firmware_bridge.pin_maps.pin_map import BOARDS
from tests.commands import Run, runner_in
from tests.firmware_bridge.install.conftest import InterpreterBoard

NewBoard = Callable[..., InterpreterBoard]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``referee hardware firmware`` with arguments, at home and at work in an empty folder."""
    return runner_in(tmp_path, monkeypatch, "firmware")


@pytest.mark.parametrize("board", sorted(BOARDS))
def test_the_example_that_is_printed_is_good(run: Run, tmp_path: Path, board: str) -> None:
    printed = run("pins", "--example", "--board", board)
    assert printed.exit_code == 0
    (tmp_path / "pins.toml").write_text(printed.output, encoding="utf-8")
    result = run("pins", "pins.toml")
    assert result.exit_code == 0
    assert result.output == (
        f"pins.toml is a good pin map ({BOARDS[board].title}): 64 lights, 64 switches, buttons: end turn, hint, "
        "take back.\n"
    )


def test_a_pin_map_with_faults_is_told_whole(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pins.toml").write_text('board = "pico"\n[lights]\npin = 2\ncount = 900\n[buttons]\nhint = 2\n')
    result = run("pins", "pins.toml")
    assert result.exit_code == 7
    assert result.stderr.splitlines() == [
        "referee: error: pins.toml: lights.count is 900; expected a whole number from 1 to 300",
        "referee: error: pins.toml: GP2 is used twice: for the lights and for the button 'hint'; give each its own pin",
    ]
    assert run("install", "--pins", "pins.toml", "--port", "/dev/nowhere").stderr == result.stderr


def test_delicate_pins_are_told_and_taken(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pins.toml").write_text('board = "esp32-s3"\n[switches]\npins = [45]\n')
    result = run("pins", "pins.toml")
    assert result.exit_code == 0
    assert result.stderr.startswith("note: pins.toml: switch 1 is on GPIO45: the chip reads it")
    assert ": 0 lights, 1 switch, buttons: none.\n" in result.stdout


def test_wrong_usage_is_told(run: Run) -> None:
    assert run("pins").exit_code == 2
    assert run("pins", "--example", "nowhere.toml").exit_code == 2


def test_a_port_that_is_not_there_is_told(run: Run) -> None:
    result = run("check", "--port", "/dev/nowhere")
    assert result.exit_code == 7
    assert "there is no port /dev/nowhere" in result.stderr


def test_install_and_check_say_what_they_did_and_found(
    run: Run, tmp_path: Path, new_board: NewBoard, firmware: Firmware, all_files: Mapping[str, bytes]
) -> None:
    version = version_text(firmware.version)
    board = new_board(all_files)
    other = run("pins", "--example").output.replace("count = 64", "count = 25")
    (tmp_path / "pins.toml").write_text(other, encoding="utf-8")
    (tmp_path / "referee.toml").write_text(f'[board]\nport = "{board.port}"\npin_map = "pins.toml"\n')
    before = run("check")
    assert before.exit_code == 1
    lines = [
        re.sub(r"(MicroPython) [\d.]+", r"\1 VERSION", " ".join(line.split())) for line in before.stdout.splitlines()
    ]
    assert lines == [
        board.port,
        "ok interpreter MicroPython VERSION on JS with Emscripten",
        f"ok firmware version {version}",
        "ok files all are correct",
        "wrong pin map the board's differs from yours",
        "→ `referee hardware firmware install --pins FILE` puts yours there",
        "ok board Raspberry Pi Pico answers: 64 lights, 64 switches, 3 buttons, a buzzer",
    ]
    installed = run("install")
    assert installed.exit_code == 0, installed.stderr
    assert installed.stdout.splitlines() == [
        f"Firmware {version} is on the board on {board.port}: 1 file written and checked.",
        "Raspberry Pi Pico answers: 25 lights, 64 switches, 3 buttons, a buzzer.",
    ]
    after = run("check", "--quick")
    assert after.exit_code == 0
    again = run("install", "--port", board.port)
    assert again.stdout.startswith(f"Firmware {version} was already on the board on {board.port}; every file is as it")
