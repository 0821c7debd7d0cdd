"""The simulated disk's possible contents after a cut."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.parts.power.disk import (
    SECTOR_BYTES,
    WRECKED_BYTES,
    Create,
    CutOutcome,
    Delete,
    Disk,
    Sync,
    SyncFolder,
    Truncate,
    Write,
)

FILE = 0
writes = st.builds(Write, st.just(FILE), st.integers(0, 6000), st.binary(min_size=1, max_size=3000))
truncations = st.builds(Truncate, st.just(FILE), st.integers(0, 6000))
seeds = st.integers(0, 2**32)


def disk_of(*requests: object, files: dict[str, bytes] | None = None) -> Disk:
    disk = Disk(files)
    disk.requests.extend(requests)  # type: ignore[arg-type]
    return disk


def plainly(requests: list[Write | Truncate]) -> bytes:
    """The content of a file after all requests in order."""
    content = bytearray()
    for request in requests:
        if isinstance(request, Truncate):
            content = content[: request.size].ljust(request.size, b"\0")
        else:
            content = content.ljust(request.offset, b"\0")
            content[request.offset : request.offset + len(request.content)] = request.content
    return bytes(content)


@given(st.lists(writes | truncations, max_size=6), st.lists(writes | truncations, max_size=6), seeds)
def test_all_kept_is_everything_and_none_kept_is_what_was_synced(
    synced: list[Write | Truncate], since: list[Write | Truncate], seed: int
) -> None:
    disk = disk_of(Create("f", FILE), SyncFolder(), *synced, Sync(FILE), *since)
    rng = random.Random(seed)
    assert disk.after_cut(len(disk), CutOutcome.ALL_KEPT, rng) == {"f": plainly(synced + since)}
    assert disk.after_cut(len(disk), CutOutcome.NONE_KEPT, rng) == {"f": plainly(synced)}


@given(st.lists(writes | truncations, max_size=8), st.sampled_from(CutOutcome), seeds)
def test_synced_data_survives_every_cut(synced: list[Write | Truncate], outcome: CutOutcome, seed: int) -> None:
    disk = disk_of(Create("f", FILE), *synced, Sync(FILE), SyncFolder(), Create("g", 1), Write(1, 0, b"x" * 9000))
    assert disk.after_cut(len(disk), outcome, random.Random(seed))["f"] == plainly(synced)


@given(st.binary(min_size=1, max_size=9000), writes, seeds)
def test_a_torn_write_leaves_each_sector_old_or_new(before: bytes, write: Write, seed: int) -> None:
    disk = disk_of(write, files={"f": before})
    old, new = before, plainly([Write(FILE, 0, before), write])
    left = disk.after_cut(1, CutOutcome.CUT_SHORT, random.Random(seed))["f"]
    for begin in range(0, len(before), SECTOR_BYTES):
        end = min(begin + SECTOR_BYTES, len(before))
        assert left[begin:end] in {old[begin:end], new[begin:end]}


@given(writes, seeds)
def test_noise_is_limited_to_the_surroundings_of_the_write(write: Write, seed: int) -> None:
    before = random.Random(seed).randbytes(20_000)
    left = disk_of(write, files={"f": before}).after_cut(1, CutOutcome.WRECKED, random.Random(seed))["f"]
    begin = write.offset // WRECKED_BYTES * WRECKED_BYTES
    end = -(-(write.offset + len(write.content)) // WRECKED_BYTES) * WRECKED_BYTES
    assert left[:begin] == before[:begin]
    assert left[end:] == before[end:]
    assert left != before


def test_random_outcomes_vary() -> None:
    changes = [Write(FILE, offset, bytes([offset // 100]) * 700) for offset in range(0, 6000, 600)]
    disk = disk_of(*changes, files={"f": b"\xff" * 6000})
    for outcome in CutOutcome:
        left = {disk.after_cut(len(disk), outcome, random.Random(seed))["f"] for seed in range(60)}
        assert (len(left) == 1) is (outcome in {CutOutcome.ALL_KEPT, CutOutcome.NONE_KEPT})


def test_writes_may_reach_the_disk_in_another_order() -> None:
    disk = disk_of(Write(FILE, 0, b"first"), Write(FILE, 600, b"second"), files={"f": bytes(1000)})
    left = {disk.after_cut(2, CutOutcome.SHUFFLED, random.Random(seed))["f"] for seed in range(80)}
    assert any(one[:5] == bytes(5) and one[600:606] == b"second" for one in left)


def test_a_new_name_is_only_durable_once_its_folder_was_synced() -> None:
    disk = disk_of(Create("f", FILE), Write(FILE, 0, b"x"), Sync(FILE), SyncFolder())
    assert disk.after_cut(3, CutOutcome.NONE_KEPT, random.Random(1)) == {}
    assert disk.after_cut(4, CutOutcome.NONE_KEPT, random.Random(1)) == {"f": b"x"}


@pytest.mark.parametrize("outcome", [CutOutcome.CUT_SHORT, CutOutcome.SHUFFLED, CutOutcome.SECTORS, CutOutcome.WRECKED])
def test_a_deleted_name_may_come_back_and_a_new_file_take_its_place(outcome: CutOutcome) -> None:
    disk = disk_of(Delete("f"), Create("f", 1), Write(1, 0, b"new"), Sync(1), files={"f": b"old"})
    left = [disk.after_cut(4, outcome, random.Random(seed)).get("f") for seed in range(60)]
    assert set(left) == {b"old", None, b"new"}


def test_going_back_to_an_earlier_cut_gives_the_same() -> None:
    disk = disk_of(*(Write(FILE, index * 100, b"x" * 90) for index in range(20)), files={"f": b""})
    first = [disk.after_cut(cut, CutOutcome.SHUFFLED, random.Random(cut)) for cut in range(21)]
    again = [disk.after_cut(cut, CutOutcome.SHUFFLED, random.Random(cut)) for cut in reversed(range(21))]
    assert first == again[::-1]


def test_the_sync_points_are_before_and_after_each_sync() -> None:
    disk = disk_of(Write(FILE, 0, b"x"), Sync(FILE), Write(FILE, 1, b"y"), SyncFolder(), files={"f": b""})
    assert disk.sync_points == [0, 1, 2, 3, 4]
    disk.requests.append(Write(FILE, 2, b"z"))
    disk.requests.append(Write(FILE, 3, b"z"))
    assert disk.sync_points == [0, 1, 2, 3, 4, 6]
