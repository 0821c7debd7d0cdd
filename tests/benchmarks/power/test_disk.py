"""The simulated disk's possible contents after a cut."""

import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.parts.power.disk import (
    Create,
    CutOutcome,
    Disk,
    Sync,
    SyncFolder,
    Truncate,
    Write,
)
from benchmarks.parts.power.kills import KilledGame, KillError, KillTally, Recorded, Remark, Shown
from benchmarks.parts.power.mounted import DiskMissingError, FailingDisk, unshare_mounts
from engine.registry import load
from journal.journal import Journal
from referee.record.events import Event, EventKind

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


def test_a_new_name_is_only_durable_once_its_folder_was_synced() -> None:
    disk = disk_of(Create("f", FILE), Write(FILE, 0, b"x"), Sync(FILE), SyncFolder())
    assert disk.after_cut(3, CutOutcome.NONE_KEPT, random.Random(1)) == {}
    assert disk.after_cut(4, CutOutcome.NONE_KEPT, random.Random(1)) == {"f": b"x"}


# A failing disk reports its errors: everything synced without an error survives remounting.

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


# The benchmark of kills finds lost, changed and invented events.

NEW_GAME = Event(EventKind.NEW_GAME, {"game": "deblockle", "options": {}})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal:
        journal.append(NEW_GAME)
    return path


@pytest.fixture
def game(path: Path) -> KilledGame:
    return KilledGame(1, 2, path, KillTally())


def test_a_lost_event_is_found(game: KilledGame) -> None:
    game._take(Recorded(1, NEW_GAME))
    game._check()
    game._take(Recorded(2, Event(EventKind.NOTE, {"sentence": "lost"})))
    with pytest.raises(KillError, match=r"event 2 \(note\) was recorded and is lost"):
        game._check()


def test_an_event_that_changed_is_found(game: KilledGame) -> None:
    game._take(Recorded(1, Event(EventKind.NEW_GAME, {"game": "deblockle", "options": {"blocks_gold": 2}})))
    with pytest.raises(KillError, match="event 1 was recorded as"):
        game._check()


def test_events_that_were_never_recorded_are_found(game: KilledGame, path: Path) -> None:
    with Journal.open(path, wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal:
        journal.append(Event(EventKind.NOTE, {"sentence": "from nowhere"}))
    with pytest.raises(KillError, match=r"events \[1, 2\] are in the journal and were never recorded"):
        game._check()


def test_a_turn_that_was_not_played_is_found(game: KilledGame, path: Path) -> None:
    deblockle = load("deblockle")
    notation = deblockle.notation
    state = deblockle.rules.new({})
    turn = deblockle.rules.legal_turns(state)[0]
    after = deblockle.rules.apply(state, turn)
    events = [
        Event(EventKind.SET_UP, {"state": notation.format_state(state)}),
        Event(EventKind.TURN, {"turn": notation.format_turn(turn), "state": notation.format_state(after)}),
    ]
    with Journal.open(path, wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal:
        for event in events:
            journal.append(event)
    for number, event in enumerate([NEW_GAME, *events], start=1):
        game._take(Recorded(number, event))
    with pytest.raises(KillError, match=r"played were \(\)"):
        game._check()


def test_a_light_before_its_event_is_found(game: KilledGame) -> None:
    game._take(Recorded(1, NEW_GAME))
    game._take(Shown("accepted", ("c1", "c2")))
    with pytest.raises(KillError, match="was lit when the journal's new turns were on"):
        game._check()


def test_trouble_and_numbers_given_twice_are_found(game: KilledGame) -> None:
    with pytest.raises(KillError, match="the referee said: no room"):
        game._take(Remark("no room"))
    game._take(Recorded(1, NEW_GAME))
    with pytest.raises(KillError, match="event 1 was recorded twice"):
        game._take(Recorded(1, NEW_GAME))


def test_a_journal_that_cannot_be_opened_is_found(game: KilledGame, path: Path) -> None:
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(KillError, match="the referee cannot go on"):
        game._check()


# The table to be killed ends like a real one.
