"""Help and errors of every command."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from engine.registry import games
from tests.commands import COMMANDS, Run

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns_has_examples_and_truncates_no_sentence(command: str, run: Run) -> None:
    result = run(*command.split(), "--help", terminal_width=80)
    said = result.output
    assert (result.exit_code, "\b" in said) == (0, False)
    assert not command or re.search(rf"\n    referee (--config club\.toml )?{command}", said)
    prose = said.partition("Examples:")[0] + said.partition("Options:")[2]
    assert "..." not in prose.replace("COMMAND ...", "").replace("[ARGS]...", "").partition("\n")[2], (
        "a sentence is truncated"
    )
    assert max(map(len, prose.splitlines())) <= 80
    assert "RANGE" not in said
    assert "Default:" not in said, "defaults are written [default: …]"
    examples = re.findall(r"^    (.*)$", said.partition("Examples:")[2].partition("Options:")[0], re.MULTILINE)
    assert all(re.match("(sudo )?referee ", example) for example in examples), examples


_SHOW_EVERY_HELP = """
import sys
from referee.cli.root import root
from tests.commands import COMMANDS

for command in ["", *COMMANDS]:
    root.main([*command.split(), "--help"], standalone_mode=False)
print("loaded:", *{"numpy", "cv2", "pydantic", "starlette", "uvicorn", "reportlab"} & {*sys.modules})
"""


def test_the_help_of_no_command_loads_a_large_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SHOW_EVERY_HELP], capture_output=True, check=True, cwd=ROOT, encoding="utf-8"
    )
    assert done.stdout.count("Usage: ") == len(COMMANDS) + 1
    assert done.stdout.splitlines()[-1] == "loaded:", "`python -X importtime -m referee COMMAND --help` shows by whom"


@pytest.mark.parametrize("width", range(60, 80, 4))
def test_no_name_is_broken_at_its_hyphen(width: int, run: Run) -> None:
    for command in COMMANDS:
        said = run(*command.split(), "--help", terminal_width=width).output
        assert re.findall(r".*\w-$", said, re.MULTILINE) == [], command


@pytest.mark.parametrize("words", [("play",), ("tools", "rules"), ("tools", "perft", "--depth", "1")], ids=" ".join)
def test_a_command_without_a_game_lists_the_games(words: tuple[str, ...], run: Run) -> None:
    told = re.sub(r"\s+", " ", run(*words).stderr) + re.sub(r"\s+", " ", run(*words, "--help").output)
    for name in games():
        assert told.count(name) >= 2


@pytest.mark.parametrize(
    ("typed", "meant"), [("wach", "watch"), ("table trun", "turn"), ("trun", "turn"), ("games lst", "list")]
)
def test_a_mistyped_command_gets_a_suggestion(typed: str, meant: str, run: Run) -> None:
    assert f"(did you mean '{meant}'?)" in run(*typed.split()).stderr


def test_an_option_of_the_program_after_the_command_is_sent_to_its_place(run: Run) -> None:
    assert "--config comes before the command." in run("games", "--config", "ours.toml").stderr


@pytest.mark.parametrize(("option", "said"), [("--turns", "whole number"), ("--time", "number")])
def test_an_invalid_number_is_reported_plainly(option: str, said: str, run: Run) -> None:
    assert f"'abc' is not a valid {said}." in run("play", "deblockle", option, "abc").stderr


def test_a_file_name_that_is_not_utf8_is_printed_as_it_is(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "referee", "print", "charuco", "--out", b"f\xfcr.pdf"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8:strict", "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0, done.stderr
    assert b" is in f\xfcr.pdf. Print at 100 %" in done.stdout


def test_a_terminal_without_unicode_shows_question_marks(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "referee", "tools", "sheet", "show"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "latin-1"},
    )
    assert done.returncode == 0, done.stderr
    assert b"?" in done.stdout


def test_warnings_of_libraries_are_not_shown_with_an_error(tmp_path: Path) -> None:
    out = str(tmp_path / "camera.json")
    command = [sys.executable, "-m", "referee", "hardware", "calibrate", "63", "--out", out]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 5
    assert ended.stderr.strip().startswith("referee: error: camera /dev/video63 cannot be opened")
    assert len(ended.stderr.strip().splitlines()) == 1


def test_an_error_wraps_between_words_on_a_terminal(tmp_path: Path) -> None:
    person, own = pty.openpty()
    environment = {**os.environ, "HOME": str(tmp_path), "COLUMNS": "60", "TERM": "xterm"}
    command = [sys.executable, "-m", "referee", "play", "deblockle", "--option", "rows=1"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, stderr=own, stdin=subprocess.DEVNULL, check=False)
    said = os.read(person, 4096).decode()
    os.close(own)
    os.close(person)
    assert ended.returncode == 4
    lines = said.splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) <= 60
    assert "hop_forfeited_when_stuck" in said
