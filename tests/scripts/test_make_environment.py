"""Making the environment: whole or not at all, one at a time, and every failure told."""

import errno
import importlib.util
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.present import present

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_environment.py"


@pytest.fixture(scope="module")
def making() -> Iterator[ModuleType]:
    """The script as a module."""
    spec = present(importlib.util.spec_from_file_location("make_environment", SCRIPT))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    present(spec.loader).exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_a_failure_shows_pips_own_last_lines(making):
    said = "".join(f"line {number}\n" for number in range(20))
    error = making.failed(said)
    assert error.exit_code == 70
    first, *told = str(error).splitlines()
    assert "check the internet connection" in first
    assert told == [f"  line {number}" for number in range(12, 20)]
    with_errors = making.failed(f"ERROR: No space left on device\n{said}subprocess.CalledProcessError: exit status 1\n")
    assert str(with_errors).splitlines()[1:] == [
        "  ERROR: No space left on device",
        "  subprocess.CalledProcessError: exit status 1",
    ]
    assert str(making.failed("")).endswith("said: nothing")


def test_a_build_that_fails_leaves_what_was_there(making, tmp_path, monkeypatch, capsys):
    lock = tmp_path / "lock"
    lock.write_text("new\n", encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "lock.txt").write_text("old\n", encoding="utf-8")
    (tmp_path / ".venv-new-1").mkdir()
    (tmp_path / ".venv-old-1").mkdir()

    def half(new, venv, lock, progress):
        (new / "bin").mkdir(parents=True)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(new))

    monkeypatch.setattr(making, "build", half)
    with pytest.raises(making.SetUpError, match=r"cannot use .*: No space left on device; .* as its owner, with 1 GB"):
        making.make(tmp_path / ".venv", lock, sys.stderr)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".venv", "lock"]
    assert (tmp_path / ".venv" / "lock.txt").read_text(encoding="utf-8") == "old\n"
    assert capsys.readouterr().err.startswith("Installing")


def test_an_older_environment_that_cannot_be_removed_does_not_stop_the_next_one(making, tmp_path, monkeypatch):
    (tmp_path / "lock").write_text("new\n", encoding="utf-8")
    (tmp_path / ".venv-old-1").mkdir()

    def refused(path, ignore_errors=False):
        if not ignore_errors:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(making.shutil, "rmtree", refused)
    monkeypatch.setattr(making, "build", lambda new, *_: new.mkdir())
    making.make(tmp_path / ".venv", tmp_path / "lock", io.StringIO())
    assert (tmp_path / ".venv").is_dir()


@pytest.mark.parametrize("kind", ["link", "dangling link", "file"])
def test_something_else_in_the_environments_place_is_refused(making, tmp_path, kind):
    (tmp_path / "lock").write_text("new\n", encoding="utf-8")
    (tmp_path / "other").mkdir()
    venv = tmp_path / ".venv"
    if kind == "file":
        venv.touch()
    else:
        venv.symlink_to(tmp_path / ("other" if kind == "link" else "missing"))
    with pytest.raises(making.SetUpError, match=f"is a {kind.split()[-1]}; remove it") as refused:
        making.make(venv, tmp_path / "lock", io.StringIO())
    assert refused.value.exit_code == 73
    assert sorted(path.name for path in tmp_path.iterdir()) == [".venv", "lock", "other"]


def test_what_root_has_made_belongs_to_the_folders_owner(making, tmp_path, monkeypatch):
    new = tmp_path / ".venv-new-1"
    (new / "bin").mkdir(parents=True)
    (new / "bin" / "python").symlink_to("/no/python")
    given = {}
    monkeypatch.setattr(making.os, "chown", lambda path, *owner, follow_symlinks: given.update({path: owner}))
    making.give_to_owner(new, tmp_path)
    owner = (tmp_path.stat().st_uid, tmp_path.stat().st_gid)
    assert given == dict.fromkeys((new, new / "bin", new / "bin" / "python"), owner)


def test_an_environment_that_cannot_be_replaced_is_put_back(making, tmp_path, monkeypatch):
    (tmp_path / "lock").write_text("new\n", encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "lock.txt").write_text("old\n", encoding="utf-8")
    # It builds nothing, so there is nothing to rename once the old one is out of the way.
    monkeypatch.setattr(making, "build", lambda *_: None)
    with pytest.raises(making.SetUpError, match="cannot use"):
        making.make(tmp_path / ".venv", tmp_path / "lock", io.StringIO())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".venv", "lock"]
    assert (tmp_path / ".venv" / "lock.txt").read_text(encoding="utf-8") == "old\n"


def test_scripts_follow_the_folder_and_binaries_stay_as_they_are(making, tmp_path):
    old, new = tmp_path / "old name", tmp_path / "new"
    (old / "bin").mkdir(parents=True)
    (old / "bin" / "tool").write_text(f"#!/bin/sh\n'''exec' \"{old}/bin/python\" \"$0\"\n", encoding="utf-8")
    binary = b"\x7fELF\0" + bytes(old)
    (old / "bin" / "binary").write_bytes(binary)
    making.move_scripts(old / "bin", old, new)
    assert (old / "bin" / "tool").read_text(encoding="utf-8") == f"#!/bin/sh\n'''exec' \"{new}/bin/python\" \"$0\"\n"
    assert (old / "bin" / "binary").read_bytes() == binary


class Terminal(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, *, is_terminal):
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self):
        return self._is_terminal


PIP_SAYS = (
    "Ignoring lgpio: markers 'platform_machine == \"aarch64\"' don't match your environment",
    "Collecting markdown-it-py==4.3.0 (from -r lock (line 1))",
    "Processing /wheels/rich-15.0.0-py3-none-any.whl",
    "Installing collected packages: numpy, rich",
)


def test_progress_counts_on_a_terminal(making):
    stream = Terminal(is_terminal=True)
    progress = making.Progress(stream, 3)
    for line in ("", *PIP_SAYS):
        progress.pip_line(line)
    steps = stream.getvalue().split("\r\x1b[K")[1:]
    assert steps == ["  fetching 1 of 2: markdown-it-py", "  fetching 2 of 2: rich", "  unpacking ..."]


def test_progress_is_quiet_elsewhere(making):
    stream = Terminal(is_terminal=False)
    progress = making.Progress(stream, 2)
    progress.start()
    for line in PIP_SAYS:
        progress.pip_line(line)
    progress.end()
    assert len(stream.getvalue().splitlines()) == 2
    assert "\x1b" not in stream.getvalue()
