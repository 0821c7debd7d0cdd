"""The simulated disk's possible contents after a cut."""

import os
import random
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.parts.power import mounted
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
from benchmarks.parts.power.kills import KilledGame, KillError, KillTally, Recorded, Remark, Shown
from benchmarks.parts.power.mounted import DiskMissingError, Ext4Disk, FailingDisk, unshare_mounts
from benchmarks.parts.power.served import GAMES, BelievedReader, referee_until
from engine.registry import load
from referee.commands.values import CommandQueue, EnterTurn, TakeBack
from referee.journal.events import Event, EventKind
from referee.journal.journal import Journal
from referee.runtime.builder import open_session
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.service import Service
from vision.frame import Frame

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


def test_a_table_that_is_told_to_close_plays_no_turn_by_itself() -> None:
    game, reader, stop = GAMES[0], BelievedReader(GAMES[0]), threading.Event()
    with (
        Journal.in_memory(wall_clock=lambda: datetime(2026, 5, 1, tzinfo=UTC)) as journal,
        open_session(game, reader, journal, ServiceSettings(turn_end=TurnEnd.BUTTON)) as service,
    ):
        reader.service = service
        _look_at(service, 0.0, 1.0, 2.0, 3.0)
        service.enter(EnterTurn("c3-d3=slider-d7", "order 1"))
        _look_at(service, 4.0, 4.1)
        service.take_back(TakeBack("order 2"))
        service.enter(EnterTurn("e1-d1=slider-g1", "order 3"))
        _look_at(service, 4.2)
        service.take_back(TakeBack("order 4"))
        stop.set()
        referee_until(stop, service, CommandQueue(lambda: 4.2))
        turn, take_back = EventKind.TURN, EventKind.TAKE_BACK
        kinds = [event.kind for _, event in journal.events()]
    assert kinds == [EventKind.NEW_GAME, EventKind.SET_UP, turn, take_back, turn, take_back]


def _look_at(service: Service[Any, Any], *times_s: float) -> None:
    for time_s in times_s:
        number = round(10 * time_s)
        service.step(Frame(np.full((24, 24, 3), number, np.uint8), time_s, number))
