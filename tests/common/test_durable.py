import errno
import math
import os
import stat
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import pytest

from common.durable import make_private, open_private, write_durably
from common.json_files import read_json, read_json_object
from common.toml_text import as_toml_line, parse_toml
from common.whole_files import read_text, read_whole

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


def test_a_private_file_is_its_owners_alone_whatever_the_mask(tmp_path: Path) -> None:
    made, found, read_only = (tmp_path / name for name in ("made", "found", "read-only"))
    found.write_text("old")
    found.chmod(0o666)
    read_only.touch()
    read_only.chmod(0o444)
    before = os.umask(0)
    try:
        for path in (made, found):
            os.close(open_private(path, os.O_RDWR))
    finally:
        os.umask(before)
    make_private(read_only)
    make_private(tmp_path / "missing")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (made, found, read_only)] == [0o600, 0o600, 0o400]
    assert found.read_text() == "old"


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


# Files are read as a whole only if they can be of the kind that was asked for.


def sparse(path: Path, size_bytes: int) -> Path:
    with path.open("wb") as file:
        file.truncate(size_bytes)
    return path


def test_a_file_at_the_limit_is_read_and_a_larger_one_is_refused(tmp_path: Path) -> None:
    assert read_whole(sparse(tmp_path / "a", 10), 10) == bytes(10)
    with pytest.raises(OSError, match="larger than") as refused:
        read_whole(sparse(tmp_path / "b", 11), 10)
    assert refused.value.filename == str(tmp_path / "b")


def test_a_pipe_is_read_up_to_the_limit(tmp_path: Path) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"twelve bytes"))
    writer.start()
    with pytest.raises(OSError, match="larger than"):
        read_whole(pipe, 5)
    writer.join()


def test_line_ends_are_those_of_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("\ufeffa\r\nb\rc\n".encode())
    assert read_text(tmp_path / "a", encoding="utf-8-sig") == "a\nb\nc\n"


# An error about an unreadable JSON file names the file and the reason.


class WrongFileError(ValueError):
    pass


def test_an_object_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": "é"}', encoding="utf-8")

    assert read_json_object(path, "the layout", WrongFileError) == {"a": "é"}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongFileError, match=r"^cannot read the layout .*a\.json: No such file or directory$"):
        read_json(tmp_path / "a.json", "the layout", WrongFileError)


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"{", "valid JSON: "), (b"[" * 30_000, "valid JSON: it is nested too deeply$"), (b"\xff\xfe", "UTF-8 text$")],
)
def test_invalid_json_is_reported_with_the_reason(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(data)

    with pytest.raises(WrongFileError, match=rf"^the layout .*a\.json is not {reason}"):
        read_json(path, "the layout", WrongFileError)
    with pytest.raises(WrongFileError, match=rf"^the looks .*a\.json are not {reason}"):
        read_json(path, "the looks", WrongFileError, plural=True)


def test_a_list_is_refused_where_an_object_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[]", encoding="utf-8")

    assert read_json(path, "the layout", WrongFileError) == []
    with pytest.raises(WrongFileError, match=r"the layout .*a\.json is not a JSON object, which begins with a brace$"):
        read_json_object(path, "the layout", WrongFileError)
    with pytest.raises(WrongFileError, match=r"the looks .*a\.json are not a JSON object, which begins with a brace$"):
        read_json_object(path, "the looks", WrongFileError, plural=True)


# TOML on which the library fails with another error is refused like any invalid TOML.


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a =", "Invalid value"),
        ("a = " + "[" * 3000 + "]" * 3000, "it is nested too deeply"),
        (".".join(["a"] * 51) + " = 1", "it is nested too deeply"),
        ("a = " + "[" * 50 + "]" * 50, "it is nested too deeply"),
        ("a = [1, {b = 0x8000000000000000}]", "it has an integer of more than 63 bits"),
        ("a = 0x" + "f" * 5000, "it has an integer of more than 63 bits"),
        ("a = " + "9" * 5000, "it has a value that can't be read .*digits"),
    ],
)
def test_toml_that_cannot_be_read_is_refused_with_the_reason(text: str, says: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match=says):
        parse_toml(text)


@pytest.mark.parametrize("value", [0.1, 1e22, 1e-7, math.inf, -math.inf, 3, True])
def test_a_number_can_be_read_again(value: float) -> None:
    assert parse_toml(as_toml_line("a", value)) == {"a": value}


def test_fifty_levels_are_read() -> None:
    within = parse_toml(".".join(["a"] * 50) + " = 1")
    for _ in range(49):
        within = within["a"]
    assert within == {"a": 1}
    assert parse_toml("a = " + "[" * 49 + "]" * 49)
