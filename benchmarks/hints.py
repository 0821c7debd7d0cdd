"""How good hints are, and how punctual: whole games against a random and a greedy player.

Run: python benchmarks/hints.py [--games 100] [--seconds 0.2] [--jobs 2] [--game deblockle] [--quick]
     python benchmarks/hints.py --endings [--games 200] [--seconds 0.06]
     python benchmarks/hints.py --chances [--games 300] [--seconds 0.06]
     python benchmarks/hints.py --strengths [--strength-games 20] [--plot docs/pictures/hint-strength.png]

Two-player games (Deblockle, Diaballik, Blockade): at least 98 % of the points against random turns, and 80 % against a
greedy player. Draws count half, seats alternate, and pairs of games share opening and dice. Solo Number Drop and
Blokus: a mean score above the greedy player's in the same seat with the same dice. The greedy player takes the game's
gentle hint: the turn with the best evaluation just after it. ``--endings``: hints play themselves, with their time
counted in calls of the clock, a thousand a second; each game must end. ``--chances``: the chances of winning that fair
and strong hints tell in such games agree with the results within 5 points in each tenth of which there are at least a
hundred, and those of two opponents in successive turns add up to 100 %. Without these options, then how punctual hints
are, idle and with every core busy. Exit code 1 when a target is missed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context
from typing import NoReturn

import click
from rich.console import Console

from benchmarks.parts.command_line import all_played, console_for
from benchmarks.parts.hint_games import Opponent, Pairing, Played, measure_timing, plans_of, play, positions_of
from benchmarks.parts.hint_scores import PairingScore, TimingScore, plot_strength, print_scores, print_timings, score_of
from benchmarks.parts.told_chances import ChancePlan, ChanceScore, ToldGame, play_and_tell, print_chances, score_chances
from engine.registry import games as known_games
from engine.registry import load
from engine.values import OptionValue, Strength

FOR_POINTS: dict[str, tuple[tuple[str, OptionValue], ...]] = {
    "number-drop": (("players", 1),),
    "blokus-dice": (("players", 2),),
}
OPPONENTS: tuple[Opponent, ...] = ("random", "greedy")
TIMES_S = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
PICTURE = Path("docs/pictures/hint-strength.png")
_PLAIN_WIDTH = 150


def is_for_two(name: str) -> bool:
    """Return whether a game is a contest of two on a board; on sheets each player plays for points."""
    game = load(name)
    return len(game.players) == 2 and not game.has_sheets


@click.command(help=__doc__)
@click.option("--games", default=100, show_default=True, type=click.IntRange(1), help="Games of each pairing.")
@click.option("--seconds", default=0.2, show_default=True, type=click.FloatRange(0.01, 60), help="Time a turn.")
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Seed of openings, dice and turns.")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1), help="Games at a time.")
@click.option("--game", "only", multiple=True, type=click.Choice(known_games()), help="Only this game; repeatable.")
@click.option("--quick", is_flag=True, help="Few games and positions, only to check that it runs.")
@click.option("--endings", is_flag=True, help="Only check that games of hints against themselves end.")
@click.option("--chances", is_flag=True, help="Only compare the chances of winning that hints tell with the results.")
@click.option("--strengths", is_flag=True, help="Only plot how strength grows with time, from 0.05 to 1.6 s.")
@click.option("--strength-games", default=20, show_default=True, type=click.IntRange(2), help="Games at each time.")
@click.option("--plot", default=PICTURE, show_default=True, type=click.Path(path_type=Path), help="Where to plot it.")
def main(
    games: int,
    seconds: float,
    seed: int,
    jobs: int,
    only: tuple[str, ...],
    quick: bool,
    endings: bool,
    chances: bool,
    strengths: bool,
    strength_games: int,
    plot: Path,
) -> None:
    """Play, measure, report."""
    console = console_for(_PLAIN_WIDTH)
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {jobs} at a time")
    chosen = [name for name in known_games() if not only or name in only]
    games, positions = (4, 6) if quick else (games, 40)
    if chances:
        told = _tell_all([name for name in chosen if is_for_two(name)], games, seconds, seed, jobs, console)
        print_chances(told, console)
        _end(met=all(score.met for score in told), console=console)
    if strengths:
        pairings = _strength_pairings(chosen)
        played = _play_all(pairings, strength_games, seed, jobs, console)
        # The growth of strength has no target.
        scores = [replace(score, target=None) for score in played]
        print_scores(scores, console)
        plot_strength({name: [one for one in scores if one.pairing.game == name] for name in chosen}, plot)
        console.print(f"The plot is in {plot}.")
        return
    itself = [Pairing(name, "itself", seconds, FOR_POINTS.get(name, ())) for name in chosen]
    pairings = itself if endings else _judged_pairings(chosen, seconds)
    scores = _play_all(pairings, games, seed, jobs, console)
    print_scores(scores, console)
    timings = [] if endings else _time_all(chosen, seconds, positions, seed)
    if timings:
        print_timings(timings, console)
    _end(met=all(score.met for score in scores) and all(timing.met for timing in timings), console=console)


def _end(*, met: bool, console: Console) -> NoReturn:
    console.print("Every target is met." if met else "A target is NOT met.")
    sys.exit(0 if met else 1)


def _tell_all(
    chosen: Sequence[str], games: int, seconds: float, seed: int, jobs: int, console: Console
) -> list[ChanceScore]:
    """Play the games in which chances are compared, several at a time, and score each game and strength."""
    kinds = [(name, strength) for name in chosen for strength in (Strength.FAIR, Strength.STRONG)]
    plans = [
        ChancePlan(name, strength, seconds, seed * 1_000_003 + number)
        for name, strength in kinds
        for number in range(games)
    ]
    told: dict[tuple[str, Strength], list[ToldGame]] = {kind: [] for kind in kinds}
    for game in all_played(play_and_tell, plans, jobs, console, lambda game: game.plan.game):
        told[game.plan.game, game.plan.strength].append(game)
    return [score_chances(told[kind]) for kind in kinds]


def _judged_pairings(chosen: Sequence[str], seconds: float) -> list[Pairing]:
    """Give the pairings that have a target."""
    pairings = [Pairing(name, who, seconds) for name in chosen if is_for_two(name) for who in OPPONENTS]
    return pairings + [
        Pairing(name, "greedy", seconds, FOR_POINTS[name], points=True) for name in chosen if name in FOR_POINTS
    ]


def _strength_pairings(chosen: Sequence[str]) -> list[Pairing]:
    """Give the pairings that show how strength grows with time."""
    pairings = [
        Pairing(name, "hint", s, opponent_seconds=TIMES_S[0]) for name in chosen if is_for_two(name) for s in TIMES_S
    ]
    pairings += [
        Pairing(name, "greedy", s, FOR_POINTS[name], points=True)
        for name in chosen
        if name in FOR_POINTS
        for s in TIMES_S
    ]
    return pairings


def _play_all(pairings: Sequence[Pairing], games: int, seed: int, jobs: int, console: Console) -> list[PairingScore]:
    """Play all games, several at a time, and score each pairing."""
    plans = [plan for pairing in pairings for plan in plans_of(pairing, games, seed)]
    games_of: dict[Pairing, list[Played]] = {pairing: [] for pairing in pairings}

    def describe(game: Played) -> str:
        return f"{game.plan.pairing.game} against {game.plan.pairing.opponent}"

    for game in all_played(play, plans, jobs, console, describe):
        games_of[game.plan.pairing].append(game)
    return [score_of(pairing, games_of[pairing]) for pairing in pairings]


def _time_all(chosen: Sequence[str], seconds: float, positions: int, seed: int) -> list[TimingScore]:
    """Measure how punctual hints are, idle and busy."""
    timings = []
    for name in chosen:
        pairing = Pairing(name, "greedy", seconds, FOR_POINTS.get(name, ()), points=name in FOR_POINTS)
        asked = positions_of(pairing, positions, seed)
        idle = measure_timing(pairing, asked)
        with _busy():
            timings.append(TimingScore(pairing, idle, measure_timing(pairing, asked)))
    return timings


@contextmanager
def _busy() -> Iterator[None]:
    """Keep every core busy."""
    context = get_context("spawn")
    spinners = [context.Process(target=_spin, daemon=True) for _ in range(os.cpu_count() or 1)]
    for spinner in spinners:
        spinner.start()
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.join()


def _spin() -> None:
    number = 1
    while True:
        number = number * 3 % 1_000_003


if __name__ == "__main__":
    main()
