"""The real service and its journal: killed, damaged, with a full disk, failing syncs, a jumping clock, or held."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest

from benchmarks.parts.power.disk import Disk, Sync
from benchmarks.parts.power.vfs import RecordingFiles
from benchmarks.parts.power.world import GAME, SETTINGS, Glimpse, GlimpseReader, World, frame_of, show
from engine.registry import load
from hardware.lights.signals import Mood, Signal
from journal.database import connect
from journal.journal import BufferedJournal, Journal
from journal.lock import lock_holder
from journal.reader import read_journal
from referee.errors import JournalBusyError, JournalError, JournalFullError
from referee.record.events import Event, EventKind
from referee.record.fold import fold
from referee.session.feed import signal_subscriber
from referee.session.log import RETRY_EVERY_S
from referee.session.service import Service

DAY = datetime(2026, 5, 1, 18, 30, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[3]


@dataclass
class Table:
    """A world and a service that referees it, run step by step."""

    world: World
    journal: Any
    said: list[str] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    starts_at_s: float = 0.0

    def __post_init__(self) -> None:
        self.game: Any = load(GAME)
        self.reader = GlimpseReader()
        self.service: Service[Any, Any] = Service(
            self.game, self.reader, self.journal, signal_subscriber(self), SETTINGS, self.said.append
        )
        self.last: Glimpse | None = None

    def show(self, signal: Signal, time_s: float | None = None) -> None:
        self.signals.append(signal)
        self.world.show_mood(signal.mood.value)

    def referee(self, until: Callable[[], bool] = lambda: False) -> bool:
        """Run until then; give whether the game is over."""
        while not until():
            glimpse = self.world.look()
            if glimpse is None:
                return True
            self.give(glimpse)
        return False

    def give(self, glimpse: Glimpse) -> None:
        reading = replace(glimpse.reading, time_s=glimpse.reading.time_s - self.starts_at_s)
        self.last = replace(glimpse, reading=reading, presses=())
        show(self.service, self.reader, replace(glimpse, reading=reading))

    def wait(self, seconds: float) -> None:
        """Let the table lie as it is."""
        assert self.last is not None
        reading = self.last.reading
        for step in range(1, round(seconds * 4) + 1):
            following = replace(reading, sequence=reading.sequence + step, time_s=reading.time_s + step / 4)
            self.reader.reading = following
            self.service.step(frame_of(following))

    @property
    def turns(self) -> tuple[str, ...]:
        return tuple(self.folded().turns)

    def folded(self) -> Any:
        return fold(self.game, self.journal.events(self.journal.latest_game()))


class SmallDisk:
    """A disk of adjustable size, by SQLite's limit of pages."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None

    def connect(self, target: str) -> sqlite3.Connection:
        self.connection = connect(target)
        return self.connection

    def leave_pages(self, pages: int) -> None:
        assert self.connection is not None
        (used,) = self.connection.execute("PRAGMA page_count").fetchone()
        self.connection.execute(f"PRAGMA max_page_count = {used + pages}")


class FailingDisk(RecordingFiles):
    """A disk whose syncs fail while switched on."""

    fails = False

    def note(self, request: Any) -> None:
        if self.fails and isinstance(request, Sync):
            raise apsw.IOError("the disk did not write it")
        super().note(request)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.sqlite"


def test_a_full_disk_loses_no_event_once_there_is_room(path: Path) -> None:
    disk = SmallDisk()
    said: list[str] = []
    with BufferedJournal(Journal.open(path, wall_clock=lambda: DAY, connect=disk.connect), said.append) as journal:
        table = Table(World(2, 6), journal)
        table.service.start()
        table.referee(lambda: len(table.turns) == 1)
        disk.leave_pages(0)
        assert (table.referee(), type(journal.trouble)) == (True, JournalFullError)
        assert table.turns == table.world.truth.turns
        assert len(table.turns) == 6
        assert len(said) == 1
        assert "only in memory" in said[0]
        assert Mood.TROUBLE in {signal.mood for signal in table.signals}
        with read_journal(path) as on_disk:
            assert len(on_disk.events()) < len(journal.events())

        disk.leave_pages(1000)
        table.wait(2 * RETRY_EVERY_S)
        assert journal.trouble is None
        assert journal.pending == ()
        assert len(said) == 2
        assert "can be written again" in said[1]
        assert table.signals[-1].mood is not Mood.TROUBLE
        events = journal.events()
    with Journal.open(path, wall_clock=lambda: DAY) as kept:
        kept.check()
        assert kept.events() == events


def test_failing_syncs_lose_no_event_once_they_succeed(path: Path) -> None:
    disk = FailingDisk(Disk(), {})
    said: list[str] = []
    with BufferedJournal(Journal.open(path, wall_clock=lambda: DAY, connect=disk.connect), said.append) as journal:
        table = Table(World(2, 6), journal)
        table.service.start()
        table.referee(lambda: len(table.turns) == 1)
        disk.fails = True
        assert (table.referee(), type(journal.trouble)) == (True, JournalError)
        assert "only in memory" in said[0]
        assert table.turns == table.world.truth.turns

        disk.fails = False
        table.wait(2 * RETRY_EVERY_S)
        assert (journal.trouble, journal.pending) == (None, ())
        events = journal.events()
    with Journal.open(path, wall_clock=lambda: DAY) as kept:
        kept.check()
        assert kept.events() == events


def test_retries_on_a_full_disk_are_quiet(path: Path) -> None:
    disk = SmallDisk()
    said: list[str] = []
    journal = BufferedJournal(Journal.open(path, wall_clock=lambda: DAY, connect=disk.connect), said.append)
    table = Table(World(2, 3), journal)
    table.service.start()
    disk.leave_pages(0)
    table.referee()
    shown = len(table.signals)
    table.wait(4 * RETRY_EVERY_S)
    assert len(said) == 1
    assert len(table.signals) == shown
    pending = len(journal.pending)
    assert pending > 0
    journal.close()
    assert said[1].startswith(f"{pending} events could not be saved, since the journal can't be written")


def two_turns_early_on(table: Table) -> bool:
    return len(table.turns) == 2 and table.world.time_s < 30


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_jumping_wall_clock_changes_only_the_recorded_times(path: Path, seed: int) -> None:
    rng = random.Random(seed)

    def jumping() -> datetime:
        return DAY + timedelta(days=rng.uniform(-9000, 9000))

    def events(name: str, clock: Callable[[], datetime]) -> list[tuple[int, Event]]:
        world = World(seed, 4)
        for _ in range(2):
            with Journal.open(path.with_name(name), wall_clock=clock) as journal:
                table = Table(world, journal)
                table.service.start()
                table.referee(until=partial(two_turns_early_on, table))
        with Journal.open(path.with_name(name), wall_clock=clock) as journal:
            assert Table(world, journal).turns == world.truth.turns
            return journal.events()

    steady = events("steady", lambda: DAY)
    jumped = events("jumping", jumping)
    assert [(number, replace(event, wall_time="")) for number, event in jumped] == [
        (number, replace(event, wall_time="")) for number, event in steady
    ]
    times = [event.wall_time for _, event in jumped]
    assert times != sorted(times)


def test_frame_times_may_restart_from_zero(path: Path) -> None:
    world = World(4, 6)
    with Journal.open(path, wall_clock=lambda: DAY) as journal:
        table = Table(world, journal)
        table.service.start()
        table.referee(lambda: len(table.turns) == 3)
    with Journal.open(path, wall_clock=lambda: DAY) as journal:
        table = Table(world, journal, starts_at_s=world.time_s)
        table.service.start()
        assert table.referee()
        assert table.turns == world.truth.turns
        times = [event.frame_time_s or 0.0 for _, event in journal.events()]
    assert times != sorted(times)


def test_a_second_service_is_told_who_holds_the_journal_and_the_first_goes_on(path: Path) -> None:
    command = [sys.executable, "-m", "app", "new", "--journal", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with Journal.open(path, wall_clock=lambda: DAY) as journal:
        table = Table(World(6, 3), journal)
        table.service.start()
        table.referee(lambda: len(table.turns) == 1)
        second = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert second.returncode == 6
        assert f"in use by process {os.getpid()};" in second.stderr
        assert table.referee()
        assert table.turns == table.world.truth.turns
    assert subprocess.run(command, capture_output=True, check=False, env=environment).returncode == 0


def test_only_one_of_two_services_started_at_once_gets_the_journal(path: Path) -> None:
    script = (
        "import sys\n"
        "from datetime import UTC, datetime\n"
        "from pathlib import Path\n"
        "from referee.errors import JournalBusyError\n"
        "from journal.journal import Journal\n"
        "sys.stdin.readline()\n"
        "try:\n"
        "    journal = Journal.open(Path(sys.argv[1]), wall_clock=lambda: datetime.now(UTC))\n"
        "except JournalBusyError as error:\n"
        "    print('refused', error, flush=True)\n"
        "else:\n"
        "    print('has it', flush=True)\n"
        "sys.stdin.readline()\n"
    )
    several = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        for _ in range(3)
    ]
    for one in several:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    answers = [one.stdout.readline() for one in several if one.stdout is not None]
    for one in several:
        one.communicate("\n")
    assert sorted(answer.split()[0] for answer in answers) == ["has", "refused", "refused"]
    assert all(" in use by " in answer for answer in answers if answer.startswith("refused"))


def test_a_refused_service_leaves_the_journal_unchanged(path: Path) -> None:
    with Journal.open(path, wall_clock=lambda: DAY) as journal:
        journal.append(Event(EventKind.NEW_GAME, {"game": GAME}))
        with pytest.raises(JournalBusyError):
            Journal.open(path, wall_clock=lambda: DAY)
        journal.append(Event(EventKind.NOTE, {"sentence": "still mine"}))
        assert len(journal.events()) == 2


def won_game() -> tuple[list[Event], str]:
    """A game whose last turn wins: its events up to that turn, without the end."""
    game: Any = load(GAME)
    for seed in range(1000):
        rng = random.Random(seed)
        state = game.rules.new({"blocks_gold": 1, "blocks_teal": 1})
        events = [
            Event(EventKind.NEW_GAME, {"game": GAME, "options": {"blocks_gold": 1, "blocks_teal": 1}}),
            Event(EventKind.SET_UP, {"state": game.notation.format_state(state)}),
        ]
        while game.rules.outcome(state) is None and len(events) < 120:
            turn = rng.choice(game.rules.legal_turns(state))
            state = game.rules.apply(state, turn)
            events.append(
                Event(
                    EventKind.TURN,
                    {"turn": game.notation.format_turn(turn), "state": game.notation.format_state(state)},
                )
            )
        outcome = game.rules.outcome(state)
        if outcome is not None and outcome.winner is not None:
            return events, outcome.winner
    raise AssertionError("no game was won")


@pytest.mark.parametrize("ended", [False, True])
def test_a_game_cut_off_after_its_winning_turn_is_ended_at_the_next_start(path: Path, ended: bool) -> None:
    events, winner = won_game()
    if ended:
        events.append(Event(EventKind.END, {"winner": winner, "reason": "it is over"}))
    with Journal.open(path, wall_clock=lambda: DAY) as journal:
        for event in events:
            journal.append(event)
        table = Table(World(1, 1), journal)
        table.service.start()
        kinds = [event.kind for _, event in journal.events()]
        assert kinds.count(EventKind.END) == 1
        assert kinds[-2:] == ["end", "new game"]
        assert journal.games()[0].ended
        assert [sentence for sentence in table.said if "wins" in sentence] == table.said
        assert len(table.said) == (0 if ended else 1)


APPENDER = textwrap.dedent(
    """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from referee.record.events import Event, Evidence, EvidenceLimits
    from journal.journal import Journal

    limits = EvidenceLimits(picture_bytes=4000, total_bytes=200_000)
    journal = Journal.open(Path(sys.argv[1]), wall_clock=lambda: datetime.now(UTC), limits=limits)
    print(journal.append(Event("new game", {"game": "deblockle"})), flush=True)
    while True:
        number = journal.last_number + 1
        text = f"{number} " * 200
        print(journal.append(Event("note", {"text": text}), [Evidence("p", "image/png", bytes(3000))]), flush=True)
    """
)


def kill_while_appending(path: Path, appends: int) -> int:
    """Kill the appender right after it confirmed an event; give that event's number."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", APPENDER, str(path)], stdout=subprocess.PIPE, env=environment, cwd=path.parent
    ) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(appends)]
        process.kill()
        said += process.stdout.readlines()
    # The last line may be torn: the process died while printing it.
    return max(int(line) for line in said if line.endswith(b"\n"))


def check_after_kill(path: Path, last_said: int) -> None:
    assert lock_holder(path) is None
    with Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as journal:
        journal.check()
        events = journal.events()
        numbers = [number for number, _ in events]
        assert numbers == list(range(1, len(numbers) + 1))
        assert last_said <= numbers[-1] <= last_said + 1
        for number, event in events:
            if event.kind == "note":
                assert event.data["text"] == f"{number} " * 200
                assert [kept.evidence.name for kept in journal.evidence(number)] == ["p"]


def test_every_confirmed_event_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    appends = random.Random(20260501)
    for _ in range(4):
        check_after_kill(path, kill_while_appending(path, appends.randint(1, 60)))


@pytest.mark.long
def test_every_confirmed_event_survives_many_kills(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    appends = random.Random(99)
    for _ in range(60):
        check_after_kill(path, kill_while_appending(path, appends.randint(1, 400)))


FILLER = textwrap.dedent(
    """
    import shutil, subprocess, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from referee.errors import JournalFullError
    from journal.journal import BufferedJournal
    from referee.record.events import Event, Evidence
    from journal.journal import Journal

    disk = Path(sys.argv[1])
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], check=True)
    said = []
    path = disk / "journal.sqlite"
    journal = BufferedJournal(Journal.open(path, wall_clock=lambda: datetime.now(UTC)), said.append)
    journal.append(Event("new game", {"game": "deblockle"}))
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - 20_000))
    for number in range(8):
        journal.append(Event("note", {"text": str(number)}), [Evidence("p", "image/png", bytes(20_000))])
    assert isinstance(journal.trouble, JournalFullError), journal.trouble
    assert len(said) == 1, said
    assert 0 < len(journal.pending) < 9
    ballast.unlink()
    journal.close()
    with Journal.open(path, wall_clock=lambda: datetime.now(UTC)) as kept:
        kept.check()
        assert [event.data.get("text") for _, event in kept.events()] == [None, *map(str, range(8))]
    print("caught up")
    """
)


COMMANDS = textwrap.dedent(
    """
    import shutil, subprocess, sys
    from pathlib import Path

    disk, elsewhere = Path(sys.argv[1]), Path(sys.argv[2])
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)], check=True)
    old, new = disk / "old.sqlite", disk / "new.sqlite"

    def run(*arguments):
        with (disk / "ballast").open("ab", buffering=0) as ballast:
            try:
                while full:
                    ballast.write(bytes(4096))
            except OSError:
                pass
        command = [sys.executable, "-m", "app", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    full = False
    assert run("games", "new", "diaballik", "--journal", old)[0] == 0
    assert run("table", "turn", "a1-a2", "--journal", old)[0] == 0
    full = True
    for command in (["games", "new", "diaballik", "--journal", new], ["table", "turn", "a7-a6", "--journal", old]):
        code, said = run(*command)
        assert (code, "no room on the disk" in said, "I/O" in said) == (6, True, False), said
    assert run("games", "list", "--journal", old)[0] == 0
    code, said = run("hint", "--journal", old, "--strength", "gentle")
    assert (code, "This hint is not recorded: no room" in said, "Hint: look at" in said) == (0, True, True), said
    assert run("games", "backup", "--journal", old, "--out", elsewhere / "copy.sqlite")[0] == 0
    for command in (["tools", "print", "charuco", "--out"], ["games", "export", "--journal", old, "--out"]):
        code, said = run(*command, disk / "file")
        assert (code != 0, f"{disk}/file: No space left" in said) == (True, True), said
        assert not (disk / "file").exists()
    print("caught up")
    """
)


@pytest.mark.parametrize("script", [FILLER, COMMANDS], ids=["running", "commands"])
def test_a_really_full_disk_loses_nothing_and_is_named(tmp_path: Path, script: str) -> None:
    alone = shutil.which("unshare")
    private = [alone or "unshare", "--mount", "--map-root-user"]
    if alone is None or subprocess.run([*private, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk of its own")
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        [*private, sys.executable, "-c", script, str(disk), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout == "caught up\n", done.stderr
