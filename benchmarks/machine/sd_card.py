"""How much a game writes to the SD card, by its process and on the device, and how much the journal keeps.

Run: python benchmarks/machine/sd_card.py [--game blockade] [--turns 8] [--folder /path/on/the/card] [--image]

Each game is played by `./run demo --fast` with its journal in ``--folder``. The page writes nothing during a turn, only
when a device is paired, and every ten minutes when each was last seen. The system counts whole blocks, rewritten ones
too, but none on tmpfs. With ``--image`` the folder is an ext4 file system on a loop device, whose writes the kernel
counts with ext4's own; this needs root. Write amplification inside the card is not visible. An hour of play is taken to
be 120 turns.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import ROOT, enter_environment

enter_environment(__name__)

import os
import subprocess
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass

import click

from benchmarks.parts.command_line import PROGRESS, console_for, figures
from benchmarks.parts.power.mounted import SECTOR_BYTES, DiskMissingError, Ext4Disk
from engine.registry import games
from journal.reader import read_journal
from referee.record.events import EventKind

TURNS_AN_HOUR = 120
_PLAYED = (EventKind.TURN, EventKind.ROLLED)
_IMAGE_MIB = 1024


@dataclass(frozen=True)
class Written:
    """A game's writes counted by the system, the journal's size, its events, and the turns and rolls among them."""

    written_bytes: int
    journal_bytes: int
    events: int
    turns: int


def play(game: str, turns: int, folder: Path) -> Written:
    """Play a game in a process of its own and count what it writes; raises ClickException when it fails."""
    journal = folder / f"{game}.sqlite"
    options = ["--fast", "--turns", str(turns), "--lights", "none", "--no-page", "--journal", str(journal)]
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "demo", game, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise click.ClickException(f"the game of {game} ended with code {process.returncode}")
    with read_journal(journal) as kept:
        events = [event.kind for _, event in kept.events()]
    played = sum(kind in _PLAYED for kind in events)
    return Written(usage.ru_oublock * SECTOR_BYTES, journal.stat().st_size, len(events), played)


@click.command()
@click.option("--game", "names", multiple=True, type=click.Choice(games()), help="Only this one; repeatable.")
@click.option("--turns", default=8, show_default=True, type=click.IntRange(min=1), help="Turns in each game.")
@click.option("--folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Folder of the journals.")
@click.option("--image", is_flag=True, help="Play in an ext4 image there, and count its device's writes.")
def main(names: tuple[str, ...], turns: int, folder: Path | None, *, image: bool) -> None:
    """Print how much games write."""
    table = figures(
        f"Written by games of {turns} turns, and in an hour of {TURNS_AN_HOUR} turns",
        *("game", "events", "turns, rolls", "KiB an event", "MiB an hour", "kept, MiB an hour"),
        *(("on the device, MiB an hour",) if image else ()),
    )
    with tempfile.TemporaryDirectory(dir=folder) as scratch, ExitStack() as stack:
        disk = _mounted(stack, Path(scratch)) if image else None
        for game in names or games():
            before = disk.written_bytes() if disk else 0
            found = play(game, turns, disk.folder if disk else Path(scratch))
            counts = [found.written_bytes, found.journal_bytes, *([disk.written_bytes() - before] if disk else [])]
            an_event = found.written_bytes / 1024 / found.events
            to_an_hour = TURNS_AN_HOUR / max(found.turns, 1) / 1024**2
            hours = [count * to_an_hour for count in counts]
            cells = (str(found.events), str(found.turns), *(f"{figure:.1f}" for figure in (an_event, *hours)))
            table.add_row(game, *cells)
            PROGRESS.print(game, *cells)
    console_for(120).print(table)


def _mounted(stack: ExitStack, scratch: Path) -> Ext4Disk:
    """Mount an image until the stack closes; raises ClickException if that fails."""
    try:
        return stack.enter_context(Ext4Disk(scratch, _IMAGE_MIB))
    except DiskMissingError as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    main()
