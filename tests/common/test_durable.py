from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from common.durable import write_durably

ROOT = Path(__file__).resolve().parents[2]

WRITER = """
import os, sys
from pathlib import Path
from common.durable import write_durably

def die(*_):
    os.kill(os.getpid(), 9)

setattr(os, sys.argv[2], die) if hasattr(os, sys.argv[2]) else setattr(Path, sys.argv[2], die)
write_durably(Path(sys.argv[1]), "after" * 100_000)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_created_and_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "looks.json"
    write_durably(path, "first, ä\n")
    assert path.read_text(encoding="utf-8") == "first, ä\n"
    write_durably(path, b"\x89PNG\n")
    assert path.read_bytes() == b"\x89PNG\n"
    assert names(tmp_path) == ["looks.json"]


def test_a_rewritten_file_keeps_its_permissions_unless_it_is_private(tmp_path: Path) -> None:
    path = tmp_path / "looks.json"
    for mode in (0o666, 0o600):
        path.touch()
        path.chmod(mode)
        write_durably(path, "text")
        assert stat.S_IMODE(path.stat().st_mode) == mode
    path.chmod(0o666)
    write_durably(path, "text", private=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("where", ["fsync", "replace"])
def test_a_kill_during_the_write_leaves_the_file_unchanged(tmp_path: Path, where: str) -> None:
    path = tmp_path / "looks.json"
    write_durably(path, "before")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", WRITER, str(path), where], check=False, env=environment)
    assert done.returncode == -9
    assert path.read_text(encoding="utf-8") == "before"
    write_durably(path, "after all")
    assert names(tmp_path) == ["looks.json"]


@pytest.mark.parametrize("folder", ["none", "a file"])
def test_an_error_names_the_file_to_write(tmp_path: Path, folder: str) -> None:
    (tmp_path / "a file").write_text("")
    path = tmp_path / folder / "looks.json"
    with pytest.raises((FileNotFoundError, NotADirectoryError)) as failed:
        write_durably(path, "after")
    assert failed.value.filename == str(path)


def test_a_full_disk_leaves_the_file_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "looks.json"
    write_durably(path, "before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_durably(path, "after")
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == "before"
    assert names(tmp_path) == ["looks.json"]


def test_the_content_is_synced_before_the_rename_and_the_folder_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, happened = tmp_path / "looks.json", []
    plain = os.fsync

    def fsync(descriptor: int) -> None:
        target = Path(f"/proc/self/fd/{descriptor}").readlink()
        happened.append((target.name, path.exists()))
        plain(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write_durably(path, "text")
    assert happened == [(".looks.json.draft", False), (tmp_path.name, True)]


def test_links_and_pipes_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to(real)
    write_durably(link, "text")
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "text"
    write_durably(Path("/dev/null"), "text")
    assert not Path("/dev/null").is_file()


def test_an_error_names_the_device_to_write_to() -> None:
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_durably(Path("/dev/full"), "text")


def test_an_open_pipe_is_written_to() -> None:
    reading, writing = os.pipe()
    write_durably(Path(f"/dev/fd/{writing}"), "ä")
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        assert pipe.read() == "ä"


def test_text_that_is_not_valid_unicode_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        write_durably(tmp_path / "looks.json", "\ud800")
    assert names(tmp_path) == []


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_durably(tmp_path / "nowhere" / "looks.json", "text")
