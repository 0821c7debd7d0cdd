"""Files are read as a whole only if they can be of the kind that was asked for."""

import os
import threading
from pathlib import Path

import pytest

from common.whole_files import read_text, read_whole


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
