"""What a game writes to the card: bytes the system counts for the referee's process, and what stays in the journal.

Run: python benchmarks/machine/sd_card.py [--game blockade] [--turns 8] [--folder /path/on/the/card]

Each game is played by `./run demo --fast` with its journal in ``--folder``. The page adds nothing to a turn: it writes
when devices are paired, and every ten minutes when they were seen. The system counts whole blocks, also those written
again; what is only in memory, as on tmpfs, it does not count. An hour of play is taken to be 120 turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.parts.environment import ROOT, enter_environment

enter_environment(__name__)

import os
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime

import click

from benchmarks.parts.command_line import PROGRESS, console_for, figures
from engine.registry import games
from referee.journal import Journal
from referee.journal.events import EventKind

TURNS_AN_HOUR = 120
_PLAYED = (EventKind.TURN, EventKind.ROLLED)
_BLOCK_BYTES = 512
"""What the kernel counts in, whatever the disk's blocks are."""


@dataclass(frozen=True)
class Written:
    """What one game wrote: bytes counted by the system, the journal's size, its events, and the turns among them."""

    written_bytes: int
    journal_bytes: int
    events: int
    turns: int


def play(game: str, turns: int, folder: Path) -> Written:
    """Play a game in a process of its own and count what it writes; raises ClickException when it fails."""
    journal = folder / f"{game}.sqlite"
    options = ["--fast", "--turns", str(turns), "--lights", "none", "--no-page", "--journal", str(journal)]
    process = subprocess.Popen(
        [sys.executable, "-m", "referee", "demo", game, *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise click.ClickException(f"the game of {game} ended with code {process.returncode}")
    with Journal.open(journal, wall_clock=lambda: datetime.now(UTC), read_only=True) as kept:
        events = [event.kind for _, event in kept.events()]
    played = sum(kind in _PLAYED for kind in events)
    return Written(usage.ru_oublock * _BLOCK_BYTES, journal.stat().st_size, len(events), played)


@click.command()
@click.option("--game", "names", multiple=True, type=click.Choice(games()), help="Only this one; repeatable.")
@click.option("--turns", default=8, show_default=True, type=click.IntRange(min=1), help="Turns a game.")
@click.option("--folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Where the journal is.")
def main(names: tuple[str, ...], turns: int, folder: Path | None) -> None:
    """Show what games write."""
    table = figures(
        f"Written by games of {turns} turns, and in an hour of {TURNS_AN_HOUR} turns",
        *("game", "events", "turns, rolls", "KiB an event", "MiB an hour", "kept, MiB an hour"),
    )
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        for game in names or games():
            found = play(game, turns, Path(scratch))
            an_event = found.written_bytes / 1024 / found.events
            to_an_hour = TURNS_AN_HOUR / max(found.turns, 1) / 1024**2
            hours = [count * to_an_hour for count in (found.written_bytes, found.journal_bytes)]
            cells = (str(found.events), str(found.turns), *(f"{figure:.1f}" for figure in (an_event, *hours)))
            table.add_row(game, *cells)
            PROGRESS.print(game, *cells)
    console_for(100).print(table)


if __name__ == "__main__":
    main()
