"""A failing disk reports its errors: everything synced without an error survives remounting."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.parts.power import mounted
from benchmarks.parts.power.mounted import DiskMissingError, Ext4Disk, FailingDisk, unshare_mounts

RECORDS = 60


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[FailingDisk]:
    """A private disk; skipped where none can be made."""
    made = FailingDisk(tmp_path)
    try:
        unshare_mounts()
        made.__enter__()
    except (DiskMissingError, RuntimeError) as error:
        pytest.skip(str(error))
    yield made
    made.__exit__(None, None, None)


def test_mounts_are_private(disk: FailingDisk) -> None:
    own, parents = (Path(f"/proc/{process}/mounts").read_text() for process in ("thread-self", os.getppid()))
    assert str(disk.folder) in own
    assert str(disk.folder) not in parents


def test_a_card_that_ends_at_once_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "card.py").touch()
    monkeypatch.setattr(mounted, "_CARD", tmp_path / "card.py")
    disk = FailingDisk(tmp_path)
    with pytest.raises(DiskMissingError):
        disk.__enter__()
    assert disk._card.returncode is not None
    assert [stream.closed for stream in (disk._card.stdin, disk._card.stdout) if stream] == [True, True]


def test_data_synced_without_an_error_survives_on_a_failing_disk(disk: FailingDisk) -> None:
    rng = random.Random(1)
    synced: dict[str, bytes] = {}
    disk.command("fail 0.1 1")
    for number in range(RECORDS):
        name, content = f"{number}", rng.randbytes(rng.randrange(1, 9000))
        try:
            with (disk.folder / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            # The file system shuts down after some errors; remounting repairs it.
            disk.after_kill()
            disk.command(f"fail 0.1 {number}")
            continue
        synced[name] = content
    disk.after_kill()
    kept = {name: (disk.folder / name).read_bytes() for name in synced}
    assert RECORDS / 10 < len(synced) < RECORDS
    assert [name for name in synced if kept[name] != synced[name]] == []


def test_bytes_written_to_the_device_are_counted(tmp_path: Path) -> None:
    disk, size = Ext4Disk(tmp_path, 64), 3 * 1024**2
    try:
        disk.__enter__()
    except (DiskMissingError, RuntimeError) as error:
        pytest.skip(str(error))
    try:
        before = disk.written_bytes()
        (disk.folder / "file").write_bytes(random.Random(1).randbytes(size))
        assert size <= disk.written_bytes() - before < 2 * size
    finally:
        disk.__exit__(None, None, None)
