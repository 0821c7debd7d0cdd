"""A folder for throw-away files, in memory if the machine has such a file system."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.parts.power.vfs import scratch_folder


@pytest.fixture
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as folder:
        yield Path(folder)
