"""Recorded events survive a killed process and a full disk."""

import os
import random
import shutil
import subprocess
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path

import pytest

from referee.journal.database import lock_holder
from referee.journal.journal import Journal

ROOT = Path(__file__).resolve().parents[3]

APPENDER = textwrap.dedent(
    """
    import sys
    from datetime import UTC, datetime
    from pathlib import Path
    from referee.journal.events import Event, Evidence, EvidenceLimits
    from referee.journal.journal import Journal

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
    from referee.journal.journal import BufferedJournal
    from referee.journal.events import Event, Evidence
    from referee.journal.journal import Journal

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
        command = [sys.executable, "-m", "referee", *map(str, arguments)]
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
