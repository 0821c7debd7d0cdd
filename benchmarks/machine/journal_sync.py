"""What it costs that each event is merged into the journal's file, beside events that stay in SQLite's log.

Run: python benchmarks/machine/journal_sync.py [--events 200] [--folder /path/on/the/card]

Two journals on the same disk take turns to record an event, every second one with a picture, and the system syncs them.
Then other processes read both, for 50 of each 60 ms. After each event, a copy of the file alone is asked how many
events it lacks. Syncs and bytes are counted in a second run, whose disk notes them.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import shutil
import sqlite3
import statistics
import subprocess
import tempfile
import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from typing import Any, cast

import click

from benchmarks.parts.command_line import console_for, figures
from benchmarks.parts.power.disk import Disk, Sync, Write
from benchmarks.parts.power.vfs import RecordingFiles
from journal.database import connect
from journal.journal import Journal
from referee.record.events import Event, EventKind, Evidence

_BEGUN = Event(EventKind.NEW_GAME, {"game": "deblockle"})
_TURN = Event(EventKind.TURN, {"turn": "c1-c2=hoops-a1", "state": "teal " * 40})
_PICTURE = Evidence("before-c3", "image/png", bytes(9000))
_READ = """
import sqlite3, sys, time
journal = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, isolation_level=None)
print("ready", flush=True)
while True:
    journal.execute("BEGIN")
    journal.execute("SELECT count(*) FROM event").fetchone()
    time.sleep(0.05)
    journal.execute("COMMIT")
    time.sleep(0.01)
"""


class _Unmerged:
    """A connection that merges nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statement: str, *arguments: Any) -> Any:
        return self._connection.execute("SELECT 0" if "wal_checkpoint" in statement else statement, *arguments)


class _Recording:
    """A journal in a folder of its own, what each of its events cost, and how many its file lacked afterwards."""

    def __init__(self, folder: Path, *, merged: bool, files: RecordingFiles | None = None) -> None:
        folder.mkdir()
        self.path = folder / "journal.sqlite"
        self.times_ms: list[float] = []
        self.lacking: list[int] = []
        opened = connect if files is None else files.connect
        self.journal = Journal.open(
            self.path,
            wall_clock=lambda: datetime.now(UTC),
            connect=opened if merged else lambda target: cast("sqlite3.Connection", _Unmerged(opened(target))),
        )
        self.journal.append(_BEGUN)

    def record(self, number: int) -> None:
        """Record one event."""
        began = time.perf_counter()
        self.journal.append(_TURN, [_PICTURE] if number % 2 else [])
        self.times_ms.append(1000 * (time.perf_counter() - began))
        alone = self.path.with_name("alone.sqlite")
        shutil.copyfile(self.path, alone)
        with closing(sqlite3.connect(f"{alone.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as file:
            has_table = file.execute("SELECT count(*) FROM sqlite_master WHERE name = 'event'").fetchone()[0]
            (last,) = file.execute("SELECT max(number) FROM event").fetchone() if has_table else (0,)
        self.lacking.append(number + 1 - last)


def _counted(folder: Path, events: int, *, merged: bool) -> tuple[float, float]:
    """Return the syncs and the KiB written for an event."""
    disk = Disk({})
    one = _Recording(folder, merged=merged, files=RecordingFiles(disk, {}))
    begun = len(disk)
    for number in range(1, events + 1):
        one.record(number)
    requests = disk.requests[begun:]
    one.journal.close()
    written = sum(len(each.content) for each in requests if isinstance(each, Write))
    return sum(isinstance(each, Sync) for each in requests) / events, written / 1024 / events


@click.command()
@click.option("--events", default=200, show_default=True, type=click.IntRange(min=10), help="Events in each journal.")
@click.option("--folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder of the journals.")
def main(events: int, folder: Path | None) -> None:
    """Print what an event costs in either way."""
    table = figures(
        f"{events} events: merged each time, and left in the log",
        *("readers", "way", "median, ms", "longest, ms", "median, ratio", "lacking in the file", "syncs", "KiB"),
    )
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        counts = {way: _counted(Path(scratch, f"counted {way}"), events, merged=way) for way in (True, False)}
        for readers in (0, 1, 3):
            ways = {way: _Recording(Path(scratch, f"{readers} {way}"), merged=way) for way in (True, False)}
            with ExitStack() as stack:
                for one in ways.values():
                    for _ in range(readers):
                        command = [sys.executable, "-c", _READ, str(one.path)]
                        reader = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE))
                        stack.callback(reader.kill)
                        assert reader.stdout is not None
                        reader.stdout.readline()
                for number in range(1, events + 1):
                    for one in ways.values():
                        one.record(number)
            medians = {way: statistics.median(one.times_ms) for way, one in ways.items()}
            for way, one in ways.items():
                cells = [f"{medians[way]:.2f}", f"{max(one.times_ms):.0f}", f"{medians[way] / medians[False]:.1f}"]
                cells += [f"at most {max(one.lacking)}", *(f"{count:.1f}" for count in counts[way])]
                table.add_row(str(readers), "merged" if way else "left", *cells)
                one.journal.close()
    console_for(120).print(table)


if __name__ == "__main__":
    main()
