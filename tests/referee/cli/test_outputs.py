"""No command overwrites a file that a person named without asking, and none leaves half a file."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from referee.cli.context import OUTPUT_FILE, OUTPUT_FOLDER, agrees, ask_line
from tests.commands import COMMANDS, Run

PRINT = ("tools", "print", "charuco", "--out", "mine.json")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.json"
    file.write_text("mine")
    return file


def test_every_file_that_a_command_writes_is_asked_about() -> None:
    # A journal and the file of a game at the terminal are read too, and have rules of their own.
    kept = {("--journal",), ("--record",)}
    writes = {
        (name, tuple(parameter.opts))
        for name, command in COMMANDS.items()
        for parameter in command.params
        if isinstance(parameter.type, click.Path) and not parameter.type.exists and not parameter.type.allow_dash
        if parameter.type not in (OUTPUT_FILE, OUTPUT_FOLDER) and tuple(parameter.opts) not in kept
    }
    assert writes == {
        # Pictures of one watch after another belong in one folder; set-up goes on in its folder.
        ("watch", ("--debug-image",)),
        ("setup", ("--folder",)),
    }


def test_a_file_is_overwritten_only_if_a_person_says_so(run: Run, mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = run(*PRINT)
    assert refused.exit_code == 2
    assert "mine.json is there already; give another name, or --force to write over it." in refused.stderr
    with monkeypatch.context() as terminal:
        terminal.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
        assert "mine.json is there already. Write over it? [y/N]" in run(*PRINT, input="n\n").output
        assert mine.read_text() == "mine"
        assert run(*PRINT, input="y\n").exit_code == 0
    assert mine.read_bytes().startswith(b"%PDF")
    mine.write_text("mine")
    assert run(*PRINT, "--force").exit_code == 0
    assert mine.read_bytes().startswith(b"%PDF")


def test_a_prompt_breaks_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    question = "A game is not finished (Deblockle, 1 turn, deblockle-2026-03-01-12-00.txt). Go on with it?"

    @click.command
    def asks() -> None:
        click.echo(agrees(question, default=True))
        click.echo(ask_line("How far apart are the outer edges of the markers, in mm?", "350"))

    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True, raising=False)
    said = CliRunner().invoke(asks, input="\n\n").output
    assert said.splitlines() == [
        "A game is not finished (Deblockle, 1",
        "turn, deblockle-2026-03-01-12-00.txt).",
        "Go on with it? [Y/n]: ",
        "True",
        "How far apart are the outer edges of",
        "the markers, in mm? [350]: ",
        "350",
    ]


def test_a_full_disk_leaves_the_file_as_it_was_and_is_named(
    run: Run, mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_: int) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("common.durable.os.fsync", no_room)
    full = run(*PRINT, "--force")
    assert full.exit_code == 8
    assert full.stderr == "referee: error: mine.json: No space left on device\n"
    assert mine.read_text() == "mine"
    assert [file.name for file in mine.parent.iterdir() if file.name.endswith("draft")] == []


def test_a_folder_with_files_in_it_is_asked_about(run: Run, mine: Path) -> None:
    evidence = ("games", "replay", "mine.json", "--evidence", mine.parent)
    assert f"{mine.parent} has files in it; give another name, or --force" in run(*evidence).stderr
