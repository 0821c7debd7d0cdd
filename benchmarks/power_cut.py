"""Checks that nothing is lost: kill -9 at random moments of live games, and power cuts at every sync point of others.

Run: python benchmarks/power_cut.py --kills 1000 [--games 5] [--seed 1] | --served 1000 [--disk failing] [--seed 1]

First ``--games`` games are played on a simulated disk that loses, reorders, tears or wrecks unsynced data, and each is
cut at every sync point several times. Then the process that referees other games is killed ``--kills`` times. Exit code
1 when an event was lost, changed or added. A failing cut prints its argument for ``--replay``; kills can't be replayed,
as their exact moment depends on the machine, so failing games keep their journal.

``--served`` instead kills tables with an open page and a broker (a private Mosquitto). Orders come from the page, the
broker and a terminal. All disks but ``plain`` need root; ``slow``, ``failing`` and ``cut``, whose power is cut at each
kill, also need FUSE.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import multiprocessing
import shutil
import tempfile
import time

import click
from rich.console import Console
from rich.progress import Progress

from benchmarks.hall.brokers import Mosquitto
from benchmarks.parts.command_line import PROGRESS, counting_bar
from benchmarks.parts.power.cuts import Cut, CutError, PlayedOnDisk
from benchmarks.parts.power.disk import CutOutcome
from benchmarks.parts.power.guests import BrokerGuest
from benchmarks.parts.power.kills import KilledGame, KillError, KillTally, start_forkserver
from benchmarks.parts.power.mounted import DISKS, DiskMissingError, PlainDisk, unshare_mounts
from benchmarks.parts.power.served_kills import KILLS_AN_EVENING, Evening, ServedTally
from benchmarks.parts.power.vfs import scratch_folder

_MOST_FAULTS_SHOWN = 10


def cut_games(seed: int, games: int, turns: int, draws: int, progress: Progress, console: Console) -> int:
    """Play games on a disk that loses power, and cut each everywhere; give the number of faults."""
    faults = cuts = points = lives = played = 0
    began_s = time.monotonic()
    bar = progress.add_task("power cuts", total=games)
    for game in range(seed, seed + games):
        with tempfile.TemporaryDirectory(dir=scratch_folder()) as scratch:
            try:
                on_disk = PlayedOnDisk(game, turns, Path(scratch))
            except CutError as error:
                faults += 1
                console.print(f"{error}\n  in the game of --seed {game} --turns {turns}, at a start within it")
                progress.advance(bar)
                continue
            lives += len(on_disk.lives)
            played += len(on_disk.turns_played)
            points += sum(len(life.disk.sync_points) for life in on_disk.lives)
            if on_disk.turns_kept != on_disk.turns_played:
                faults += 1
                console.print(f"seed {game}: kept {on_disk.turns_kept}, played {on_disk.turns_played}")
            for case in on_disk.cases(draws, elsewhere=20):
                cuts += 1
                try:
                    on_disk.check(case)
                except CutError as error:
                    faults += 1
                    if faults <= _MOST_FAULTS_SHOWN:
                        console.print(f"{error}\n  again: --seed {game} --turns {turns} --replay {case}")
                progress.update(bar, description=f"power cuts ({cuts} so far)")
        progress.advance(bar)
    console.print(
        f"power cuts: {games} games of {played} turns in {lives} lives, {points} sync points, {cuts} cuts "
        f"in {time.monotonic() - began_s:.0f} s: {faults} with something lost, added or changed",
    )
    return faults


def kill_games(seed: int, kills: int, turns: int, progress: Progress, console: Console) -> int:
    """Kill the referee so many times, in as many games as needed; give the number of failing games."""
    tally, faults = KillTally(), 0
    began_s = time.monotonic()
    bar = progress.add_task("kill -9", total=kills)
    start_forkserver()
    game = seed
    while tally.kills < kills and faults < _MOST_FAULTS_SHOWN:
        scratch = Path(tempfile.mkdtemp(prefix=f"killed-game-{game}-"))
        try:
            KilledGame(game, turns, scratch / "journal.sqlite", tally).play(
                kills - tally.kills, lambda: progress.update(bar, completed=tally.kills)
            )
        except KillError as error:
            faults += 1
            console.print(f"{error}\n  in the game of --seed {game} --turns {turns}; its journal is in {scratch}")
        else:
            shutil.rmtree(scratch)
        game += 1
    aims = ", ".join(f"{count} {aim}" for aim, count in sorted(tally.by_aim.items()))
    console.print(
        f"kill -9: {tally.kills} kills ({aims}) in {tally.games} games of {tally.turns} turns played to their end "
        f"in {time.monotonic() - began_s:.0f} s; {tally.recorded_unshown} fell between journal and light: "
        f"{faults} games with something lost, added or changed",
    )
    return faults


def kill_served(seed: int, kills: int, kind: str, progress: Progress, console: Console) -> int:
    """Kill tables with a page and a broker so many times; give the number of failing evenings."""
    tally, faults, evening = ServedTally(), 0, seed
    began_s = time.monotonic()
    bar = progress.add_task(f"kills on a disk that is {kind}", total=kills)
    if DISKS[kind] is not PlainDisk:
        unshare_mounts()
    start_forkserver()
    multiprocessing.set_forkserver_preload([Evening.__module__])
    while (left := kills - tally.kills.total()) > 0 and faults < _MOST_FAULTS_SHOWN:
        scratch = Path(tempfile.mkdtemp(prefix=f"killed-evening-{evening}-", dir=scratch_folder()))
        for part in ("broker", "disk"):
            (scratch / part).mkdir()
        with Mosquitto(scratch / "broker") as broker, DISKS[kind](scratch / "disk") as disk:
            guest = BrokerGuest(broker.port)
            try:
                Evening(evening, disk, guest, tally).play(
                    min(left, KILLS_AN_EVENING), lambda: progress.update(bar, completed=tally.kills.total())
                )
            except KillError as error:
                faults += 1
                kept = shutil.copytree(
                    disk.folder, scratch / "kept", ignore=shutil.ignore_patterns("*.ask", "lost+found")
                )
                console.print(f"{error}\n  in the evening of --seed {evening}; its journal is in {kept}")
            guest.close()
        if not (scratch / "kept").exists():
            shutil.rmtree(scratch)
        evening += 1
    aims, routes = (
        ", ".join(f"{count} {name}" for name, count in sorted(each.items())) for each in (tally.kills, tally.answered)
    )
    console.print(
        f"disk: {kind}; {tally.kills.total()} kills ({aims}) in {tally.evenings} evenings of {tally.events} events in "
        f"{time.monotonic() - began_s:.0f} s; orders answered: {routes}, the slowest after "
        f"{tally.slowest_answer_s:.1f} s; {tally.in_memory} were only in memory, {tally.lost_from_memory} of "
        f"them were lost; {tally.stopped_with_reason} starts ended with a reason: "
        f"{faults} evenings with something lost, added or changed",
    )
    return faults


@click.command()
@click.option("--kills", default=100, show_default=True, type=click.IntRange(min=0), help="Number of kills.")
@click.option(
    "--games", default=2, show_default=True, type=click.IntRange(min=0), help="Games to cut at every sync point."
)
@click.option(
    "--draws", default=4, show_default=True, type=click.IntRange(min=1), help="Cuts for each point and outcome."
)
@click.option("--turns", default=12, show_default=True, type=click.IntRange(min=1), help="Turns in each game.")
@click.option("--seed", default=1, show_default=True, help="Seed of the first game of each kind.")
@click.option("--replay", metavar="LIFE:REQUESTS:OUTCOME:DRAW", help="Only this cut, as printed by a failing run.")
@click.option("--served", metavar="KILLS", type=click.IntRange(min=1), help="Kill tables with a page and a broker.")
@click.option(
    "--disk", default="plain", show_default=True, type=click.Choice(list(DISKS)), help="Kind of disk for --served."
)
def main(
    kills: int, games: int, draws: int, turns: int, seed: int, replay: str | None, served: int | None, disk: str
) -> None:
    """Check that nothing accepted is lost; exit code 1 otherwise."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    if served is not None:
        try:
            with counting_bar(PROGRESS) as progress:
                sys.exit(1 if kill_served(seed, served, disk, progress, console) else 0)
        except (DiskMissingError, RuntimeError) as error:
            raise click.ClickException(str(error)) from error
    if replay is not None:
        sys.exit(replayed(seed, turns, replay, console))
    with counting_bar(PROGRESS) as progress:
        faults = cut_games(seed, games, turns, draws, progress, console) if games else 0
        faults += kill_games(seed, kills, turns, progress, console) if kills else 0
    sys.exit(1 if faults else 0)


def replayed(seed: int, turns: int, text: str, console: Console) -> int:
    """Repeat one cut; give the exit code."""
    try:
        life, requests, outcome, draw = text.split(":")
        case = Cut(int(life), int(requests), CutOutcome[outcome], int(draw))
    except (ValueError, KeyError) as error:
        names = ", ".join(one.name for one in CutOutcome)
        raise click.BadParameter(f"{text!r}: expected LIFE:REQUESTS:OUTCOME:DRAW, outcome one of {names}") from error
    with tempfile.TemporaryDirectory(dir=scratch_folder()) as scratch:
        try:
            on_disk = PlayedOnDisk(seed, turns, Path(scratch))
        except CutError as error:
            console.print(f"{error}\n  at a start within the game, before that cut")
            return 1
        if not (case.life < len(on_disk.lives) and case.requests <= len(on_disk.lives[case.life].disk)):
            raise click.BadParameter(f"{text!r}: the game of seed {seed} has no such life or request")
        try:
            on_disk.check(case)
        except CutError as error:
            console.print(str(error))
            return 1
    console.print("Nothing is lost, added or changed.")
    return 0


if __name__ == "__main__":
    main()
