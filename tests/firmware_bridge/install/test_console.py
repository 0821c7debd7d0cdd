"""What a board answers at its prompt is read, or said to be something else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from firmware_bridge.install import console
from firmware_bridge.install.console import BareBoard, InstallError, read_hexadecimal, read_survey
from tests.firmware_bridge.install.conftest import InterpreterBoard

FACTS = b'["micropython", [1, 27, 0], "Raspberry Pi Pico with RP2040", 868352]\r\n'


def test_a_survey_is_read() -> None:
    survey = read_survey(b'["main.py", "5e5e"]\r\n' + FACTS)
    assert survey.hashes == {"main.py": "5e5e"}
    assert survey.title == "MicroPython 1.27.0 on Raspberry Pi Pico with RP2040"
    assert survey.free_bytes == 868352


@pytest.mark.parametrize(("file", "has"), [("main.py", False), ("firmware/a.py.new", False), ("firmware/a.py", True)])
def test_files_under_temporary_names_are_no_firmware(file: str, has: bool) -> None:
    assert read_survey(f'["{file}", "5e5e"]\r\n'.encode() + FACTS).has_firmware is has


@pytest.mark.parametrize(
    "said",
    [b"", b"\xff" + FACTS, FACTS + b"ok", FACTS.replace(b"868352", b"much"), b"[" * 5000, b'["main.py"]\r\n' + FACTS],
    ids=["nothing", "no text", "more", "no number", "nested", "no hash"],
)
def test_what_is_no_survey_is_refused(said: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_survey(said)


def test_a_file_comes_as_hexadecimal_digits() -> None:
    assert read_hexadecimal(b"00ff\r\n") == b"\0\xff"
    with pytest.raises(ValueError, match="non-hexadecimal"):
        read_hexadecimal(b"0x\r\n")


def test_a_board_that_answers_something_else_is_said(new_board: Callable[..., InterpreterBoard]) -> None:
    board = new_board({"json.py": b"def dumps(value):\n    return 'moo'\n"})
    with (
        BareBoard(board.port, 115200) as bare,
        pytest.raises(InstallError, match=r"answered something else than what was asked \('moo.*unplug it"),
    ):
        bare.survey()


def test_a_file_without_a_new_version_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.py").write_text("good")
    monkeypatch.setattr(os, "rename", lambda old, new, rename=os.rename: rename(f"{tmp_path}{old}", f"{tmp_path}{new}"))
    monkeypatch.setattr(os, "remove", lambda path, remove=os.remove: remove(f"{tmp_path}{path}"))
    with pytest.raises(OSError, match=r"main\.py\.new"):
        exec(console._SWAP.format(paths=("main.py",), suffix=".new"))
    assert (tmp_path / "main.py").read_text() == "good"
